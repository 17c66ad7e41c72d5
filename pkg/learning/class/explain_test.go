package class_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/learning/assignment"
	"visavis.dev/pkg/learning/class"
	"visavis.dev/pkg/learning/record"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/store/tenant/tenanttest"
)

func ignore[T any](_ T, err error) error { return err }

// Each statement rides the index its function names, among many people and results.
func TestStatementsRideTheirIndexes(t *testing.T) {
	tenants, sent, org, _ := tenanttest.NewTraced(t)
	db, err := tenants.Shard(t.Context(), "a")
	require.NoError(t, err)
	on := id.NewPortal()
	units := []id.Unit{id.NewUnit(), id.NewUnit()}
	_, err = db.Exec(t.Context(), `
		INSERT INTO result (org_id, id, state, kind, subject_id, portal_id, person_id, membership_id, session_id, attempt, rubric_version,
			language, asked, started_at, max_score, criteria, needs_review, on_hold, edition, created_at, updated_at)
		SELECT $1, gen_random_uuid(), CASE i % 50 WHEN 0 THEN 'awaiting_review' ELSE 'released' END, 'assessment', gen_random_uuid(), gen_random_uuid(),
			gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 1, 1, 'en', '[]', now(), 1, '[]', false, false, 1, now(), now()
		FROM generate_series(1, 5000) AS g (i)`, org)
	require.NoError(t, err)
	_, err = db.Exec(t.Context(), `
		INSERT INTO membership (org_id, id, person_id, portal_id, unit_id, role, enabled, metadata, edition, created_at, updated_at, told_on)
		SELECT $1::UUID, gen_random_uuid(), gen_random_uuid(), $2::UUID, CASE i % 20 WHEN 0 THEN $3::UUID ELSE gen_random_uuid() END, 'learner', true, '{}'::JSONB, 1, now(), now(), true
		FROM generate_series(1, 2000) AS g (i)
		UNION ALL
		SELECT $1::UUID, gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'learner', true, '{}'::JSONB, 1, now(), now(), true
		FROM generate_series(1, 20000) AS g (i)`, org, on, units[0])
	require.NoError(t, err)
	for _, table := range []string{"result", "membership"} {
		_, err = db.Exec(t.Context(), `ANALYZE `+table)
		require.NoError(t, err)
	}
	in := class.Scope{Units: units}
	s := class.Supervisor{Person: person.Person{ID: id.NewPerson()}, Portal: on, Teaches: in, Reviews: in}
	for name, tt := range map[string]struct {
		text, index string
		do          func(context.Context) error
	}{
		"members of a portal": {"FROM membership m JOIN", "membership_by_portal", func(ctx context.Context) error {
			return ignore(class.Members(ctx, tenants, org, on, class.Scope{All: true}, time.Now(), id.Person{}, 10))
		}},
		"members of units": {"CROSS JOIN LATERAL", "membership_by_unit", func(ctx context.Context) error {
			return ignore(class.Members(ctx, tenants, org, on, in, time.Now(), id.Person{}, 10))
		}},
		"what waits": {"FROM result r JOIN person", "result_waiting", func(ctx context.Context) error {
			return ignore(class.ListWaiting(ctx, tenants, org, s, id.Result{}, 10))
		}},
		"assignments": {"a.created_by", "assignment_by_portal", func(ctx context.Context) error {
			return ignore(s.Assignments(ctx, tenants, org, id.Assignment{}, 10))
		}},
		"takers": {"FROM assignment_person p JOIN person", "assignment_person_pkey", func(ctx context.Context) error {
			return ignore(s.Takers(ctx, tenants, org, id.NewAssignment(), id.Person{}, 10))
		}},
		"parts on a portal": {"a.portal_id = $6", "assignment_person_by_person", func(ctx context.Context) error {
			return ignore(assignment.OfPersonOn(ctx, tenants, org, on, s.Person.ID, id.Assignment{}, 10))
		}},
		"what comes before": {"s.state = 'published'", "completion_by_person", func(ctx context.Context) error {
			return tenants.InTx(ctx, org, func(ctx context.Context, tx *tenant.Tx) error {
				return ignore(record.Unmet(ctx, tx, s.Person.ID, []id.Subject{id.NewSubject()}, time.Now()))
			})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, one := range sent.Of(t, tt.text, func() error { return tt.do(t.Context()) }) {
				plan := one.Forced(t, db)
				require.Contains(t, plan, tt.index, "%s\n%s", one.SQL, plan)
			}
		})
	}
}
