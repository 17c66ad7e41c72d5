package tenant_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	clocktesting "k8s.io/utils/clock/testing"

	"visavis.dev/pkg/activity"
	"visavis.dev/pkg/apikey"
	"visavis.dev/pkg/avatar"
	"visavis.dev/pkg/consent"
	"visavis.dev/pkg/database"
	"visavis.dev/pkg/database/databasetest"
	"visavis.dev/pkg/directory"
	"visavis.dev/pkg/id"
	"visavis.dev/pkg/organization"
	"visavis.dev/pkg/tenant"
	"visavis.dev/pkg/usage"
)

// statements records what a pool sends.
type statements struct {
	mu  sync.Mutex
	all []statement
}

type statement struct {
	sql  string
	args []any
}

func (s *statements) note(sql string, args []any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, statement{sql, args})
}

func (s *statements) TraceQueryStart(ctx context.Context, _ *pgx.Conn, d pgx.TraceQueryStartData) context.Context {
	s.note(d.SQL, d.Args)
	return ctx
}

func (*statements) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func (*statements) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	return ctx
}

func (s *statements) TraceBatchQuery(_ context.Context, _ *pgx.Conn, d pgx.TraceBatchQueryData) {
	s.note(d.SQL, d.Args)
}

func (*statements) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

// TestStatementsRideTheirIndexes explains every statement of the stores that
// lists: with a planner that scans a whole table only where it must, each
// rides the index its function names.
func TestStatementsRideTheirIndexes(t *testing.T) {
	ctx, org := context.Background(), id.NewOrg()
	sent := &statements{}
	pool := database.PoolOptions{Tracer: sent}
	directoryURL := databasetest.URL(t, database.Directory)
	db, err := database.Open(directoryURL, pool)
	require.NoError(t, err)
	t.Cleanup(db.Close)
	clock := clocktesting.NewFakeClock(time.Now())
	d := directory.New(db, directory.Options{Clock: clock})
	shard := databasetest.Open(t, database.Shard)
	require.NoError(t, d.AddShard(ctx, "a", shard.Config().ConnString()))
	tenants := tenant.New(d, pool)
	t.Cleanup(tenants.Close)
	require.NoError(t, organization.Create(ctx, d, tenants, directory.Organization{ID: org, Name: "A", Slug: "a", Shard: "a", Epoch: 1}))
	keys := &apikey.Store{DB: db}
	now := clock.Now()

	cases := map[string]struct {
		on    *database.DB
		table string
		index string
		run   func() error
	}{
		"activity": {shard, "activity", "activity_by_time", func() error {
			_, err := activity.List(ctx, tenants, org, activity.Filter{Action: "x"}, nil, 50)
			return err
		}},
		"avatars": {shard, "avatar a", "avatar_by_age", func() error {
			_, err := avatar.List(ctx, tenants, avatar.NewLibrary(), org, avatar.Filter{Kind: avatar.Custom}, nil, 50)
			return err
		}},
		"consents": {shard, "consent", "consent_by_time", func() error {
			_, err := consent.List(ctx, tenants, org, consent.Filter{}, nil, 50)
			return err
		}},
		"keys": {db, "api_key k", "api_key_by_org", func() error {
			_, err := keys.List(ctx, org, nil, 50)
			return err
		}},
		"usage": {shard, "usage_block", "usage_block_by_time", func() error {
			_, err := usage.Of(ctx, tenants, org, now.Add(-time.Hour), now, now)
			return err
		}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			sent.mu.Lock()
			sent.all = nil
			sent.mu.Unlock()
			require.NoError(t, c.run())
			found := 0
			for _, s := range sent.all {
				if !strings.Contains(s.sql, "FROM "+c.table) {
					continue
				}
				found++
				plan := explain(t, c.on, s)
				require.Contains(t, plan, c.index, "%s\n%s", s.sql, plan)
				require.NotContains(t, plan, "Seq Scan on "+strings.Fields(c.table)[0], "%s", s.sql)
			}
			require.Positive(t, found, "no statement reads %s", c.table)
		})
	}
}

func explain(t *testing.T, db *database.DB, s statement) string {
	t.Helper()
	ctx := context.Background()
	var plan []string
	require.NoError(t, pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
		for _, setting := range []string{"enable_seqscan", "enable_bitmapscan"} {
			if _, err := tx.Exec(ctx, "SET LOCAL "+setting+" = off"); err != nil {
				return err
			}
		}
		rows, err := tx.Query(ctx, "EXPLAIN "+s.sql, s.args...)
		if err != nil {
			return err
		}
		plan, err = pgx.CollectRows(rows, pgx.RowTo[string])
		return err
	}))
	return strings.Join(plan, "\n")
}
