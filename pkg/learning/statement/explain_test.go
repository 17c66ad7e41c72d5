package statement_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/learning/statement"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/store/tenant/tenanttest"
)

// Each statement rides the index its function names, among much that was told.
func TestStatementsRideTheirIndexes(t *testing.T) {
	tenants, sent, org, _ := tenanttest.NewTraced(t)
	db, err := tenants.Shard(t.Context(), "a")
	require.NoError(t, err)
	connections, people := make([]id.Connection, 20), make([]id.Person, 500)
	for i := range connections {
		connections[i] = id.NewConnection()
	}
	for i := range people {
		people[i] = id.NewPerson()
	}
	for _, sql := range []string{
		`INSERT INTO record_statement (org_id, connection_id, id, kind, object_id, person_id, edition, sending, told, stands, store, said, trouble, changed_at, created_at)
		SELECT $1, ($3::UUID[])[1 + i % 20], gen_random_uuid(), 'result', gen_random_uuid(), ($2::UUID[])[1 + i % 500],
			CASE i % 100 WHEN 0 THEN 2 ELSE 1 END, 0, 1, true, '', '', '', now(), now()
		FROM generate_series(1, 10000) AS g (i)`,
		`INSERT INTO connection (org_id, id, kind, provider, name, state, config, timeout_ms, fallback, secret_last4, error_code, failures, p95_ms, settled_at, created_at, updated_at)
		SELECT $1, c, 'lms', 'xapi', '', 'active', '{}', 1000, 'fail', '', '', 0, -1, now(), now(), now() FROM unnest($3::UUID[]) AS c WHERE $2::UUID[] IS NOT NULL LIMIT 2`,
	} {
		_, err = db.Exec(t.Context(), sql, org, people, connections)
		require.NoError(t, err)
	}
	_, err = db.Exec(t.Context(), `ANALYZE record_statement`)
	require.NoError(t, err)
	now := time.Now().UTC()
	in := func(fn func(context.Context, *tenant.Tx) error) func(context.Context) error {
		return func(ctx context.Context) error { return tenants.InTx(ctx, org, fn) }
	}
	known := statement.Object{Kind: statement.Result, ID: uuid.New(), Person: people[0]}
	one := statement.Record{Key: statement.Key{Connection: connections[0], ID: uuid.New()}}
	for name, tt := range map[string]struct {
		text, index string
		do          func(context.Context) error
	}{
		"the stores": {"FROM connection WHERE", "connection_pkey", in(func(ctx context.Context, tx *tenant.Tx) error {
			return statement.Follow(ctx, tx, known, now)
		})},
		"one": {"AND id = $3", "record_statement_pkey", func(ctx context.Context) error {
			_, err := statement.Get(ctx, tenants, org, one.Key)
			if errdefs.IsNotFound(err, statement.Noun) {
				return nil
			}
			return err
		}},
		"claimed": {"SET sending = CASE", "record_statement_pkey", in(func(ctx context.Context, tx *tenant.Tx) error {
			return statement.Claim(ctx, tx, one.Key, "x")
		})},
		"settled": {"SET told = $4", "record_statement_pkey", in(func(ctx context.Context, tx *tenant.Tx) error {
			_, err := statement.Settle(ctx, tx, one, true, "")
			return err
		})},
		"the same": {"SET edition = told", "record_statement_pkey", in(func(ctx context.Context, tx *tenant.Tx) error {
			_, err := statement.Same(ctx, tx, one)
			return err
		})},
		"stopped": {"SET trouble = $5", "record_statement_pkey", in(func(ctx context.Context, tx *tenant.Tx) error {
			_, err := statement.Stop(ctx, tx, one, "x")
			return err
		})},
		"untold": {"ORDER BY changed_at DESC", "record_statement_untold", func(ctx context.Context) error {
			found, err := statement.Untold(ctx, tenants, org, connections[0])
			require.NotEmpty(t, found)
			return err
		}},
		"of who is erased": {"person_id IS NOT NULL", "record_statement_by_person", in(func(ctx context.Context, tx *tenant.Tx) error {
			n, err := statement.ForgetPerson(ctx, tx, people[1])
			require.Equal(t, 20, n)
			return err
		})},
		"of a deleted connection": {"DELETE FROM record_statement", "record_statement_pkey", in(func(ctx context.Context, tx *tenant.Tx) error {
			return statement.ForgetConnection(ctx, tx, connections[2])
		})},
	} {
		t.Run(name, func(t *testing.T) {
			for _, s := range sent.Of(t, tt.text, func() error { return tt.do(t.Context()) }) {
				plan := s.Forced(t, db)
				require.Contains(t, plan, tt.index, "%s\n%s", s.SQL, plan)
			}
		})
	}
}

// Ids of statements are the same whoever makes them, and no others'.
func TestIdsOfStatements(t *testing.T) {
	t.Parallel()
	org, other := id.NewOrg(), id.NewOrg()
	r := statement.Record{Key: statement.Key{Connection: id.NewConnection(), ID: uuid.New()}}
	elsewhere := r
	elsewhere.Connection = id.NewConnection()
	again := r
	require.Equal(t, r.Statement(org, 1), again.Statement(org, 1))
	seen := map[uuid.UUID]bool{}
	for _, each := range []uuid.UUID{r.Statement(org, 1), r.Statement(org, 2), r.Void(org, 1), r.Statement(other, 1), elsewhere.Statement(org, 1)} {
		require.Equal(t, uuid.Version(5), each.Version())
		require.False(t, seen[each])
		seen[each] = true
	}
}
