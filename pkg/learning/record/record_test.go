package record_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/learning/record"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/database/databasetest"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/store/tenant/tenanttest"
)

func TestMain(m *testing.M) { databasetest.Main(m) }

func ignore[T any](_ T, err error) error { return err }

// A completion counts until its time is over, or it is withdrawn.
func TestStates(t *testing.T) {
	now := tenanttest.Now
	until := now.Add(time.Hour)
	for name, tt := range map[string]struct {
		k    record.Completion
		at   time.Time
		want string
	}{
		"for ever":  {record.Completion{}, now, record.Valid},
		"for now":   {record.Completion{ValidUntil: &until}, until.Add(-time.Microsecond), record.Valid},
		"over":      {record.Completion{ValidUntil: &until}, until, record.Expired},
		"withdrawn": {record.Completion{ValidUntil: &until, WithdrawnAt: &now}, until, record.Withdrawn},
	} {
		require.Equal(t, tt.want, tt.k.State(tt.at), name)
	}
}

// Each statement rides the index its function names, among many records.
func TestStatementsRideTheirIndexes(t *testing.T) {
	tenants, sent, org, _ := tenanttest.NewTraced(t)
	db, err := tenants.Shard(t.Context(), "a")
	require.NoError(t, err)
	for _, sql := range []string{
		`INSERT INTO completion (org_id, id, person_id, subject_id, portal_id, result_id, source, evidence, completed_at, created_at)
		SELECT $1, gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'api', '{}', now(), now() FROM generate_series(1, 5000)`,
		`INSERT INTO attestation (org_id, id, person_id, subject_id, portal_id, statement_key, statement_version, text, method, witness_id, recorded_at)
		SELECT org_id, gen_random_uuid(), person_id, subject_id, portal_id, 'k', '1', '', 'witness', gen_random_uuid(), now() FROM completion WHERE org_id = $1`,
		`ANALYZE completion`, `ANALYZE attestation`,
	} {
		args := []any{org}
		if sql[:7] == "ANALYZE" {
			args = nil
		}
		_, err := db.Exec(t.Context(), sql, args...)
		require.NoError(t, err)
	}
	var person id.Person
	var subject id.Subject
	var result id.Result
	require.NoError(t, db.QueryRow(t.Context(), `SELECT person_id, subject_id, result_id FROM completion WHERE org_id = $1 LIMIT 1`, org).Scan(&person, &subject, &result))
	who := activity.Actor{By: "test", At: tenanttest.Now}
	list := func(f record.Filter) func(context.Context) error {
		return func(ctx context.Context) error {
			return ignore(record.Completions(ctx, tenants, org, f, id.NewCompletion(), 50))
		}
	}
	attested := func(f record.Filter) func(context.Context) error {
		return func(ctx context.Context) error {
			return ignore(record.Attestations(ctx, tenants, org, f, id.NewAttestation(), 50))
		}
	}
	in := func(fn func(context.Context, *tenant.Tx) error) func(context.Context) error {
		return func(ctx context.Context) error { return tenants.InTx(ctx, org, fn) }
	}
	forget := in(func(ctx context.Context, tx *tenant.Tx) error {
		return ignore(record.ForgetPerson(ctx, tx, id.NewPerson()))
	})
	for name, tt := range map[string]struct {
		text, index string
		do          func(context.Context) error
	}{
		"completions":                   {"FROM completion", "completion_pkey", list(record.Filter{Now: who.At})},
		"completions of a person":       {"FROM completion", "completion_by_person", list(record.Filter{Person: person, Now: who.At})},
		"completions of a subject":      {"FROM completion", "completion_by_subject", list(record.Filter{Subject: subject, Now: who.At})},
		"attestations":                  {"FROM attestation", "attestation_pkey", attested(record.Filter{})},
		"attestations of a person":      {"FROM attestation", "attestation_by_person", attested(record.Filter{Person: person})},
		"completions of who is erased":  {"DELETE FROM completion", "completion_by_person", forget},
		"attestations of who is erased": {"DELETE FROM attestation", "attestation_by_person", forget},
		"who is erased as a witness":    {"UPDATE attestation", "attestation_by_witness", forget},
		"what rests on a result": {"result_id = $2 AND withdrawn_at IS NULL", "completion_by_result", in(func(ctx context.Context, tx *tenant.Tx) error {
			return record.Rest(ctx, tx, record.Completion{Result: result}, true, "", who)
		})},
		"what rests on results": {"result_id = ANY($2)", "completion_by_result", func(ctx context.Context) error {
			found := 0
			err := tenants.Read(ctx, org, func(r *tenant.Reads) {
				record.OfResults(r, org, []id.Result{result}, func(id.Result, id.Completion) { found++ })
			})
			require.Equal(t, 1, found)
			return err
		}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, s := range sent.Of(t, tt.text, func() error { return tt.do(t.Context()) }) {
				plan := s.Forced(t, db)
				require.Contains(t, plan, tt.index, "%s\n%s", s.SQL, plan)
			}
		})
	}
}
