package question_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/hiring/question"
	"visavis.dev/pkg/store/database/databasetest"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/store/tenant/tenanttest"
)

func TestMain(m *testing.M) { databasetest.Main(m) }

// No statement looks through all sets of questions. Without figures about a table either index leads to those of a role.
func TestSetsOfQuestionsRideTheirIndexes(t *testing.T) {
	tenants, sent, org, _ := tenanttest.NewTraced(t)
	db, err := tenants.Shard(t.Context(), "a")
	require.NoError(t, err)
	_, err = db.Exec(t.Context(), `
		INSERT INTO hiring_question_set (org_id, role_id, version, hash, document, subject_id, subject_version, questions, invited, interviewed, created_at)
		SELECT $1, ('00000000-0000-7000-8000-' || lpad((n % 20)::TEXT, 12, '0'))::UUID, n, gen_random_uuid()::TEXT, '{}', gen_random_uuid(), 1, 0, 0, 0, now()
		FROM generate_series(1, 2000) AS n`, org)
	require.NoError(t, err)
	r := id.NewRole()
	for name, c := range map[string]struct {
		index string
		run   func() error
	}{
		"one":           {"hiring_question_set_", func() error { _, _ = question.Get(t.Context(), tenants, org, r, 1); return nil }},
		"by hashes":     {"hiring_question_set_", func() error { _, err := question.Hashed(t.Context(), tenants, org, r, []string{"a"}); return err }},
		"a page":        {"hiring_question_set_", func() error { _, err := question.List(t.Context(), tenants, org, r, 3, 10); return err }},
		"of some roles": {"hiring_question_set_", func() error { _, err := question.Of(t.Context(), tenants, org, []id.Role{r}); return err }},
		"counting": {"hiring_question_set_", func() error {
			return tenants.InTx(t.Context(), org, func(ctx context.Context, tx *tenant.Tx) error {
				return (&question.Set{Role: r, Version: 1}).Count(ctx, tx, 1, 0)
			})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, statement := range sent.Of(t, "hiring_question_set", c.run) {
				plan := statement.Forced(t, db)
				require.Contains(t, plan, c.index, statement.SQL)
				require.NotContains(t, plan, "Seq Scan on hiring_question_set", statement.SQL)
			}
		})
	}
}
