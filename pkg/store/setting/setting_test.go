package setting_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/setting"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/store/tenant/tenanttest"
)

func (w world) set(org id.Org, on bool, by string, at time.Time) {
	require.NoError(w.t, w.InTx(context.Background(), org, func(ctx context.Context, tx *tenant.Tx) error {
		return setting.Set(ctx, tx, setting.ZeroRetention, on, by, at)
	}))
}

// on reads a switch both ways, which must agree. The read begins with true, so
// that it has to be written.
func (w world) on(org id.Org, s setting.Key) bool {
	ctx := context.Background()
	read, inTx := true, true
	require.NoError(w.t, w.Read(ctx, org, func(r *tenant.Reads) { setting.Queue(r, org, s, &read) }))
	require.NoError(w.t, w.InTx(ctx, org, func(ctx context.Context, tx *tenant.Tx) (err error) {
		inTx, err = setting.On(ctx, tx, s)
		return err
	}))
	require.Equal(w.t, read, inTx)
	return read
}

func TestASwitch(t *testing.T) {
	tenants, one, two := tenanttest.New(t)
	w, at := world{tenants, t}, tenanttest.Now
	require.False(t, w.on(one, setting.ZeroRetention), "it is off until it is set")
	w.set(one, true, "key_1", at)
	require.True(t, w.on(one, setting.ZeroRetention))
	w.set(one, true, "key_1", at)
	require.True(t, w.on(one, setting.ZeroRetention))
	require.False(t, w.on(two, setting.ZeroRetention), "another organization's")
	require.False(t, w.on(one, "another"))
	w.set(one, false, "operator", at.Add(time.Hour))
	require.False(t, w.on(one, setting.ZeroRetention))

	db, err := w.Shard(context.Background(), "a")
	require.NoError(t, err)
	type change struct {
		At time.Time
		By string
	}
	rows, err := db.Query(context.Background(), `SELECT changed_at, changed_by FROM setting WHERE org_id = $1`, one)
	require.NoError(t, err)
	last, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[change])
	require.NoError(t, err)
	require.Equal(t, change{at.Add(time.Hour), "operator"}, change{last.At.UTC(), last.By}, "who changed it last, and when")
}

func TestASwitchIsCopiedInAMove(t *testing.T) {
	tenants, one, _ := tenanttest.New(t)
	w, ctx := world{tenants, t}, context.Background()
	db, err := w.Shard(ctx, "a")
	require.NoError(t, err)
	_, err = db.Exec(ctx, `UPDATE org_fence SET state = 'capture'`)
	require.NoError(t, err)
	w.set(one, true, "key_1", tenanttest.Now)
	var noted string
	require.NoError(t, db.QueryRow(ctx, `
		SELECT d.pk FROM move_dirty d
		JOIN setting s ON s.org_id = d.org_id AND d.table_name = 'setting' AND d.pk = s.scope_kind || '/' || s.scope_id || '/' || s.key`).
		Scan(&noted))
	require.Equal(t, "organization//privacy.zero_data_retention", noted)
}

// A switch guards what may be kept: one that cannot be read is not off.
func TestASwitchThatIsNotOne(t *testing.T) {
	tenants, one, _ := tenanttest.New(t)
	ctx := context.Background()
	world{tenants, t}.set(one, true, "key_1", tenanttest.Now)
	db, err := tenants.Shard(ctx, "a")
	require.NoError(t, err)
	_, err = db.Exec(ctx, `UPDATE setting SET value = '"yes"'`)
	require.NoError(t, err)
	var on bool
	require.Error(t, tenants.Read(ctx, one, func(r *tenant.Reads) { setting.Queue(r, one, setting.ZeroRetention, &on) }))
	require.Error(t, tenants.InTx(ctx, one, func(ctx context.Context, tx *tenant.Tx) error {
		_, err := setting.On(ctx, tx, setting.ZeroRetention)
		return err
	}))
}
