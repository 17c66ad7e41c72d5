package organization_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	clocktest "k8s.io/utils/clock/testing"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/managed"
	"visavis.dev/pkg/store/database"
	"visavis.dev/pkg/store/database/databasetest"
	"visavis.dev/pkg/store/directory"
	"visavis.dev/pkg/store/organization"
)

func TestPlace(t *testing.T) {
	ctx := context.Background()
	now := time.Date(2026, 7, 8, 12, 0, 0, 0, time.UTC)
	d := directory.New(databasetest.Open(t, database.Directory), directory.Options{Clock: clocktest.NewFakeClock(now)})
	require.NoError(t, d.PutShard(ctx, directory.Shard{Name: "a", Tier: directory.Dedicated, ManagedBy: managed.API}))
	_, err := organization.Place(ctx, d)
	require.ErrorIs(t, err, organization.ErrNoShard, "a dedicated shard takes those that name it")

	require.NoError(t, d.AddShard(ctx, "b", "postgres://b"))
	require.NoError(t, d.AddShard(ctx, "c", "postgres://c"))
	for i, want := range []string{"b", "c", "b"} {
		shard, err := organization.Place(ctx, d)
		require.NoError(t, err)
		require.Equal(t, want, shard)
		o := directory.Organization{ID: id.NewOrg(), Slug: string(rune('a' + i)), Shard: shard, Epoch: 1, CreatedAt: now}
		require.NoError(t, d.Begin(ctx, o))
	}
}
