package candidate_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/hiring/candidate"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/store/database/databasetest"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/store/tenant/tenanttest"
)

func TestMain(m *testing.M) { databasetest.Main(m) }

// No statement looks through all interviews with people.
func TestInterviewsWithPeopleRideTheirIndexes(t *testing.T) {
	tenants, sent, org, _ := tenanttest.NewTraced(t)
	db, err := tenants.Shard(t.Context(), "a")
	require.NoError(t, err)
	_, err = db.Exec(t.Context(), `
		INSERT INTO human_interview (org_id, id, role_id, candidate_id, state, slots, timezone, mode, interviewer_ids, schedule_kind, sequence, expires_at,
			edition, created_by, created_at, updated_at)
		SELECT $1, gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'offered', '[]', 'UTC', 'video', '{}', '', 0, now(), 1, 'key_1', now(), now()
		FROM generate_series(1, 2000)`, org)
	require.NoError(t, err)
	who := id.NewCandidate()
	list := func(f candidate.HumanFilter) func() error {
		return func() error {
			_, err := candidate.ListHuman(t.Context(), tenants, org, id.NewRole(), f, id.Interview{}, 10)
			return err
		}
	}
	for name, c := range map[string]struct {
		index string
		run   func() error
	}{
		"of a role":             {"human_interview_by_role", list(candidate.HumanFilter{})},
		"of a role in a state":  {"human_interview_by_role", list(candidate.HumanFilter{States: []candidate.HumanState{candidate.InterviewBooked}})},
		"of a role's candidate": {"human_interview_by_candidate", list(candidate.HumanFilter{Candidate: who})},
		"of a candidate":        {"human_interview_by_candidate", func() error { _, err := candidate.HumanOf(t.Context(), tenants, org, who); return err }},
		"one that is not there": {"human_interview_pkey", func() error { _, _ = candidate.GetHuman(t.Context(), tenants, org, id.NewInterview()); return nil }},
	} {
		t.Run(name, func(t *testing.T) {
			for _, statement := range sent.Of(t, "FROM human_interview", c.run) {
				plan := statement.Forced(t, db)
				require.Contains(t, plan, c.index, statement.SQL)
				require.NotContains(t, plan, "Seq Scan on human_interview", statement.SQL)
			}
		})
	}
}

// No statement looks through all that systems sent.
func TestApplicationsRideTheirIndexes(t *testing.T) {
	tenants, sent, org, _ := tenanttest.NewTraced(t)
	db, err := tenants.Shard(t.Context(), "a")
	require.NoError(t, err)
	_, err = db.Exec(t.Context(), `
		INSERT INTO candidate_application (org_id, id, connection_id, provider, address, role_id, candidate_id, reference, callbacks, standing,
			standing_at, edition, dispatched, acknowledged, created_at)
		SELECT $1, gen_random_uuid(), gen_random_uuid(), 'ashby', '', gen_random_uuid(), gen_random_uuid(), n::TEXT, '{}', 'invited', now(), 1, 1, 1, now()
		FROM generate_series(1, 2000) n`, org)
	require.NoError(t, err)
	in := func(fn func(context.Context, *tenant.Tx)) func() error {
		return func() error {
			return tenants.InTx(t.Context(), org, func(ctx context.Context, tx *tenant.Tx) error {
				fn(ctx, tx)
				return nil
			})
		}
	}
	for name, c := range map[string]struct {
		index string
		run   func() error
	}{
		"of a connection": {"candidate_application_pkey", func() error {
			_, _ = candidate.SentBy(t.Context(), tenants, org, connection.Connection{}, id.NewInvite())
			return nil
		}},
		"of a job":  {"candidate_application_pkey", func() error { _, _ = candidate.ReadApplication(t.Context(), tenants, org, id.NewInvite()); return nil }},
		"to change": {"candidate_application_pkey", in(func(ctx context.Context, tx *tenant.Tx) { _, _ = candidate.FindApplication(ctx, tx, id.NewInvite()) })},
		"by the system's id": {"candidate_application_by_reference", in(func(ctx context.Context, tx *tenant.Tx) {
			_, _ = candidate.Referred(ctx, tx, candidate.Applied{Reference: "7"}, id.NewRole())
		})},
	} {
		t.Run(name, func(t *testing.T) {
			for _, statement := range sent.Of(t, "FROM candidate_application", c.run) {
				plan := statement.Forced(t, db)
				require.Contains(t, plan, c.index, statement.SQL)
				require.NotContains(t, plan, "Seq Scan on candidate_application", statement.SQL)
			}
		})
	}
}
