package tenant_test

import (
	"context"
	"net/url"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/database"
	"visavis.dev/pkg/store/database/databasetest"
	"visavis.dev/pkg/store/directory"
	"visavis.dev/pkg/store/organization"
	"visavis.dev/pkg/store/tenant"
)

// A query that was answered in part cannot be run again by CockroachDB itself.
func TestReadsAreRunAgain(t *testing.T) {
	w := newWorld(t)
	org := w.organization(t)
	require.NoError(t, w.set(t.Context(), org, "there"))
	for code, runs := range map[string]int{"40001": 3, "23505": 1} {
		t.Run(code, func(t *testing.T) {
			ran := 0
			var keys []string
			err := w.Read(t.Context(), org, func(r *tenant.Reads) {
				ran++
				keys = nil
				r.Query(func(rows pgx.Rows) (err error) {
					keys, err = pgx.CollectRows(rows, pgx.RowTo[string])
					return err
				}, `SELECT key FROM setting WHERE org_id = $1`, org)
				if ran < 3 {
					r.Query(func(pgx.Rows) error { return nil }, `DO $$ BEGIN RAISE EXCEPTION SQLSTATE '`+code+`'; END $$`)
				}
			})
			require.Equal(t, runs, ran)
			if runs == 1 {
				require.Error(t, err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, []string{"there"}, keys)
		})
	}
}

// A fence that somebody keeps must not keep whoever changes it, and everybody behind them,
// for as long as a statement may take.
func TestAChangeOfAFenceWaitsBriefly(t *testing.T) {
	databasetest.OnlyPostgres(t, "the server behind the disguise is PostgreSQL")
	for _, engine := range []database.Engine{database.Postgres, database.Cockroach} {
		t.Run(engine.Name(), func(t *testing.T) {
			w := newWorld(t)
			address := databasetest.URL(t, database.Shard)
			u, err := url.Parse(address)
			require.NoError(t, err)
			p := databasetest.NewProxy(t, u.Host)
			p.Cockroach.Store(engine == database.Cockroach)
			u.Host = p.Address()
			require.NoError(t, w.directory.AddShard(t.Context(), "c", u.String()))
			org := id.NewOrg()
			require.NoError(t, organization.Create(t.Context(), w.directory, w.Tenants,
				directory.Organization{ID: org, Slug: org.Bare(), Shard: "c", Epoch: 1, CreatedAt: now}))

			keeper, err := pgx.Connect(t.Context(), address)
			require.NoError(t, err)
			defer keeper.Close(context.Background())
			tx, err := keeper.Begin(t.Context())
			require.NoError(t, err)
			_, err = tx.Exec(t.Context(), `SELECT 1 FROM org_fence WHERE org_id = $1 FOR UPDATE`, org)
			require.NoError(t, err)

			open, fenced := tenant.Fence{Epoch: 1, State: tenant.Open}, tenant.Fence{Epoch: 2, State: tenant.Fenced}
			_, err = w.Turn(t.Context(), "c", org, open, fenced)
			var pg *pgconn.PgError
			require.ErrorAs(t, err, &pg)
			require.Equal(t, "55P03", pg.Code, "lock_not_available")
			require.NoError(t, tx.Rollback(t.Context()))
			done, err := w.Turn(t.Context(), "c", org, open, fenced)
			require.NoError(t, err)
			require.True(t, done)
		})
	}
}
