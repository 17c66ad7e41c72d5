package notice_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/sessions/notice"
	"visavis.dev/pkg/store/database/databasetest"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/store/tenant/tenanttest"
)

func TestMain(m *testing.M) { databasetest.Main(m) }

// Each statement rides the index its function names, among much that was told.
func TestStatementsRideTheirIndexes(t *testing.T) {
	tenants, sent, org, _ := tenanttest.NewTraced(t)
	db, err := tenants.Shard(t.Context(), "a")
	require.NoError(t, err)
	connections, items := make([]id.Connection, 20), make([]id.InboxItem, 500)
	for i := range connections {
		connections[i] = id.NewConnection()
	}
	for i := range items {
		items[i] = id.InboxItemAt(tenanttest.Now.Add(time.Duration(i) * time.Second))
	}
	for _, sql := range []string{
		`INSERT INTO inbox_notice (org_id, connection_id, item_id, edition, told, follows, not_before, external_id, account, state, said, trouble, changed_at, created_at)
		SELECT $1, c, i, CASE WHEN random() < 0.01 THEN 2 ELSE 1 END, 1, true, now(), '7', '', '', '', '', now(), now() FROM unnest($2::UUID[]) AS c, unnest($3::UUID[]) AS i`,
		`INSERT INTO connection (org_id, id, kind, provider, name, state, config, timeout_ms, fallback, secret_last4, error_code, failures, p95_ms, settled_at, created_at, updated_at)
		SELECT $1, c, 'helpdesk', 'zendesk', '', 'active', '{}', 1000, 'fail', '', '', 0, -1, now(), now(), now() FROM unnest($2::UUID[]) AS c WHERE $3::UUID[] IS NOT NULL`,
	} {
		_, err = db.Exec(t.Context(), sql, org, connections, items)
		require.NoError(t, err)
	}
	_, err = db.Exec(t.Context(), `ANALYZE inbox_notice`)
	require.NoError(t, err)
	now := time.Now().UTC()
	in := func(fn func(context.Context, *tenant.Tx) error) func(context.Context) error {
		return func(ctx context.Context) error { return tenants.InTx(ctx, org, fn) }
	}
	one := notice.Notice{Key: notice.Key{Connection: connections[0], Item: items[0]}, Edition: 1}
	for name, tt := range map[string]struct {
		text, index string
		do          func(context.Context) error
	}{
		"who is told": {"kind IN ('chat', 'helpdesk')", "connection_pkey", in(func(ctx context.Context, tx *tenant.Tx) error {
			return notice.Begin(ctx, tx, notice.Item{ID: id.InboxItemAt(now), Kind: "lead", Edition: 1}, now)
		})},
		"changed": {"SET edition = $3", "inbox_notice_by_item", in(func(ctx context.Context, tx *tenant.Tx) error {
			return notice.Follow(ctx, tx, notice.Item{ID: items[1], Kind: "lead", Edition: 3}, now)
		})},
		"one": {"AND item_id = $3", "inbox_notice_pkey", func(ctx context.Context) error {
			_, err := notice.Get(ctx, tenants, org, one.Key)
			if errdefs.IsNotFound(err, notice.Noun) {
				return nil
			}
			return err
		}},
		"noted": {"SET external_id = $4", "inbox_notice_pkey", in(func(ctx context.Context, tx *tenant.Tx) error {
			return notice.Note(ctx, tx, one, notice.Known{External: "8"})
		})},
		"settled": {"SET external_id = $4", "inbox_notice_pkey", in(func(ctx context.Context, tx *tenant.Tx) error {
			_, err := notice.Settle(ctx, tx, one, notice.Known{})
			return err
		})},
		"stopped": {"SET trouble = CASE", "inbox_notice_pkey", in(func(ctx context.Context, tx *tenant.Tx) error {
			_, err := notice.Stop(ctx, tx, one, "x")
			return err
		})},
		"resumed": {"AND trouble <> ''", "inbox_notice_untold", in(func(ctx context.Context, tx *tenant.Tx) error {
			_, err := notice.ResumeSome(ctx, tx, connections[0], now)
			return err
		})},
		"untold": {"ORDER BY changed_at DESC", "inbox_notice_untold", func(ctx context.Context) error {
			_, err := notice.Untold(ctx, tenants, org, connections[0])
			return err
		}},
		"tickets": {"external_id <> ''", "inbox_notice_by_item", func(ctx context.Context) error {
			found, err := notice.TicketsOf(ctx, tenants, org, items[2])
			require.GreaterOrEqual(t, len(found), 19, "one of the connections may be forgotten")
			return err
		}},
		"of who is forgotten": {"DELETE FROM inbox_notice", "inbox_notice_by_item", in(func(ctx context.Context, tx *tenant.Tx) error {
			return notice.Forget(ctx, tx, items[3])
		})},
		"of a deleted connection": {"DELETE FROM inbox_notice", "inbox_notice_pkey", in(func(ctx context.Context, tx *tenant.Tx) error {
			return notice.ForgetConnection(ctx, tx, connections[2])
		})},
	} {
		t.Run(name, func(t *testing.T) {
			for _, s := range sent.Of(t, tt.text, func() error { return tt.do(t.Context()) }) {
				plan := s.Forced(t, db)
				require.Contains(t, plan, tt.index, "%s\n%s", s.SQL, plan)
			}
		})
	}

	// What the connections that are deleted were told goes, some of it at a time.
	_, err = db.Exec(t.Context(), `UPDATE connection SET deleted_at = now() WHERE org_id = $1 AND id = ANY($2)`, org, connections[5:8])
	require.NoError(t, err)
	n, err := notice.Sweep(t.Context(), tenants, "a")
	require.NoError(t, err)
	require.Equal(t, 1000, n)
	n, err = notice.Sweep(t.Context(), tenants, "a")
	require.NoError(t, err)
	require.Equal(t, 497, n, "three went with items and a change of theirs")
}
