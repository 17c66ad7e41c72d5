package directory_test

import (
	"context"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	clocktest "k8s.io/utils/clock/testing"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/managed"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/store/database"
	"visavis.dev/pkg/store/database/databasetest"
	"visavis.dev/pkg/store/directory"
)

func TestMain(m *testing.M) { databasetest.Main(m) }

var now = time.Date(2026, 7, 8, 12, 0, 0, 0, time.UTC)

func newDirectory(t *testing.T) (*directory.Directory, *clocktest.FakeClock) {
	t.Helper()
	c := clocktest.NewFakeClock(now)
	d := directory.New(databasetest.Open(t, database.Directory), directory.Options{Clock: c})
	require.NoError(t, d.AddShard(context.Background(), "a", "postgres://a"))
	return d, c
}

func TestOrganization(t *testing.T) {
	d, c := newDirectory(t)
	ctx := context.Background()
	o := directory.Organization{ID: id.NewOrg(), Name: "One", Slug: "one", Shard: "a", Epoch: 1, Plan: "team", CreatedAt: now}
	for range 2 { // a run that broke off is repeated
		require.NoError(t, d.Begin(ctx, o))
	}
	twin := o
	twin.ID = id.NewOrg()
	require.ErrorIs(t, d.Begin(ctx, twin), directory.ErrSlugTaken)
	require.NoError(t, d.Activate(ctx, o.ID))

	limit := int64(7)
	require.NoError(t, d.SetPlan(ctx, o.ID, "business"))
	require.NoError(t, d.SetOverrides(ctx, o.ID, plan.Overrides{Limits: plan.Limits{plan.Members: &limit}}))
	require.NoError(t, d.Pause(ctx, o.ID, "first"))
	c.Step(time.Hour)
	require.NoError(t, d.Pause(ctx, o.ID, "second"))
	got, err := d.Organization(ctx, o.ID)
	require.NoError(t, err)
	require.Equal(t, "business", got.Plan)
	require.EqualValues(t, 7, *got.Overrides.Limits[plan.Members])
	require.True(t, got.PausedAt.Equal(now), "since the first pause")
	require.Equal(t, "second", *got.PausedReason)
	require.NoError(t, d.Resume(ctx, o.ID))
	all, err := d.Organizations(ctx)
	require.NoError(t, err)
	require.Len(t, all, 1)
	require.Nil(t, all[0].PausedAt)
	require.Nil(t, all[0].PausedReason)

	nobody := id.NewOrg()
	require.ErrorIs(t, d.Activate(ctx, nobody), directory.ErrUnknown)
	_, err = d.Organization(ctx, nobody)
	require.ErrorIs(t, err, directory.ErrUnknown)
	_, err = d.Route(ctx, nobody)
	require.ErrorIs(t, err, directory.ErrUnknown)
}

func TestRouteIsCachedAndLearned(t *testing.T) {
	d, c := newDirectory(t)
	ctx := context.Background()
	org := id.NewOrg()
	require.NoError(t, d.Begin(ctx, directory.Organization{ID: org, Slug: "one", Shard: "a", Epoch: 1, CreatedAt: now}))
	requireEpoch := func(want int64) {
		t.Helper()
		r, err := d.Route(ctx, org)
		require.NoError(t, err)
		require.Equal(t, directory.Route{Shard: "a", Epoch: want}, r)
	}
	requireEpoch(1)
	_, err := d.DB.Exec(ctx, `UPDATE organization SET epoch = 2`)
	require.NoError(t, err)
	requireEpoch(1)
	d.Forget(org)
	requireEpoch(2)
	d.Learn(org, directory.Route{Shard: "a", Epoch: 3})
	requireEpoch(3)
	c.Step(30 * time.Second)
	requireEpoch(2)
}

func TestRouteOutlivesTheDirectory(t *testing.T) {
	// Nothing listens there any more.
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, l.Close())
	db, err := database.Open("postgres://x@"+l.Addr().String()+"/x?sslmode=disable", database.PoolOptions{})
	require.NoError(t, err)
	defer db.Close()
	c := clocktest.NewFakeClock(now)
	d := directory.New(db, directory.Options{Clock: c})
	org, want := id.NewOrg(), directory.Route{Shard: "a", Epoch: 1}
	d.Learn(org, want)
	c.Step(23 * time.Hour)
	got, err := d.Route(context.Background(), org)
	require.NoError(t, err)
	require.Equal(t, want, got)
	c.Step(time.Hour)
	_, err = d.Route(context.Background(), org)
	require.True(t, database.Unavailable(err), "%v", err)
}

func TestShards(t *testing.T) {
	d, _ := newDirectory(t)
	ctx := context.Background()
	require.NoError(t, d.AddShard(ctx, "b", "postgres://old"))
	require.NoError(t, d.AddShard(ctx, "b", "postgres://new"))
	shards, err := d.Shards(ctx)
	require.NoError(t, err)
	require.Len(t, shards, 2)
	url, err := d.ShardURL(ctx, "b")
	require.NoError(t, err)
	require.Equal(t, "postgres://new", url)
	_, err = d.ShardURL(ctx, "c")
	require.ErrorIs(t, err, directory.ErrUnknown)
}

func TestSecretIsMadeOnce(t *testing.T) {
	d, _ := newDirectory(t)
	var group sync.WaitGroup
	made := make([]string, 8)
	for i := range made {
		group.Go(func() {
			s, err := d.Secret(context.Background(), "cursor", func() []byte { return []byte{byte(i)} })
			if err != nil {
				t.Error(err)
			}
			made[i] = string(s)
		})
	}
	group.Wait()
	for _, s := range made {
		require.Equal(t, made[0], s)
		require.Len(t, s, 1)
	}
}

func TestShardsAreManaged(t *testing.T) {
	d, _ := newDirectory(t)
	ctx := context.Background()
	mine := managed.Resource{Kind: "Shard", Name: "b", UID: "1"}.By()
	s := directory.Shard{Name: "b", URL: "postgres://b", Tier: directory.Dedicated, ManagedBy: mine}
	for range 2 {
		require.NoError(t, d.PutShard(ctx, s))
	}
	got, err := d.Shard(ctx, "b")
	require.NoError(t, err)
	s.CreatedAt = got.CreatedAt
	require.Equal(t, s, got)

	// Nobody else changes it, or takes it off.
	var refused *managed.Error
	require.ErrorAs(t, d.AddShard(ctx, "b", "postgres://else"), &refused)
	require.Equal(t, mine, refused.By)
	require.ErrorAs(t, d.RemoveShard(ctx, "b", managed.API), &refused)
	require.ErrorAs(t, d.HandShard(ctx, "b", managed.API, "another"), &refused)
	require.ErrorIs(t, d.HandShard(ctx, "c", managed.API, mine), directory.ErrUnknown)
	require.NoError(t, d.HandShard(ctx, "b", mine, managed.API))
	require.NoError(t, d.HandShard(ctx, "b", mine, managed.API), "a run that broke off is repeated")
	require.NoError(t, d.AddShard(ctx, "b", "postgres://else"))

	require.NoError(t, d.Begin(ctx, directory.Organization{ID: id.NewOrg(), Slug: "one", Shard: "b", Epoch: 1, CreatedAt: now}))
	n, err := d.Inhabitants(ctx, "b")
	require.NoError(t, err)
	require.EqualValues(t, 1, n)
	require.ErrorIs(t, d.RemoveShard(ctx, "b", managed.API), directory.ErrInhabited)
	require.NoError(t, d.RemoveShard(ctx, "a", managed.API))
	require.NoError(t, d.RemoveShard(ctx, "a", managed.API))
	shards, err := d.Shards(ctx)
	require.NoError(t, err)
	require.Len(t, shards, 1)
}
