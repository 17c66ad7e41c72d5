package avatar_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/personas/avatar"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/consent"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/store/tenant/tenanttest"
)

var library = avatar.NewLibrary()

func termsOf(limit int64) plan.Terms {
	return plan.Terms{Limits: plan.Limits{plan.CustomAvatars: &limit}}
}

func insert(tenants *tenant.Tenants, org id.Org, at time.Time, limit int64) (a avatar.Avatar, full bool, err error) {
	a = avatar.Avatar{
		ID: id.NewAvatar(), Kind: avatar.Custom, Name: "own", Gender: "female", Width: 4, Height: 3,
		Metadata: map[string]string{"k": "v"}, Picture: id.NewFile(), Thumbnail: id.NewFile(), CreatedAt: at,
	}
	c := consent.Consent{
		ID: id.NewConsent(), Kind: consent.Likeness, State: consent.Given, Avatar: a.ID, SignedAt: at, RecordedAt: at,
	}
	err = tenants.InTx(context.Background(), org, func(ctx context.Context, tx *tenant.Tx) (err error) {
		full, err = avatar.Create(ctx, tx, a, c, termsOf(limit), activity.Actor{By: "test", At: at})
		return err
	})
	return a, full, err
}

func mustInsert(t *testing.T, tenants *tenant.Tenants, org id.Org, at time.Time) avatar.Avatar {
	t.Helper()
	a, full, err := insert(tenants, org, at, 100)
	require.NoError(t, err)
	require.False(t, full)
	return a
}

func remove(tenants *tenant.Tenants, org id.Org, a id.Avatar, at time.Time) error {
	return tenants.InTx(context.Background(), org, func(ctx context.Context, tx *tenant.Tx) error {
		_, err := avatar.Delete(ctx, tx, library, a, at)
		return err
	})
}

func TestPages(t *testing.T) {
	tenants, org, other := tenanttest.New(t)
	var own []id.Avatar
	for i := range 5 {
		own = append(own, mustInsert(t, tenants, org, now.Add(time.Duration(i/2)*time.Second)).ID)
	}
	gone := mustInsert(t, tenants, org, now)
	require.NoError(t, remove(tenants, org, gone.ID, now))
	mustInsert(t, tenants, other, now)
	var all, women []id.Avatar
	for _, f := range library.Faces() {
		all = append(all, f.ID)
		if f.Gender == "female" {
			women = append(women, f.ID)
		}
	}
	for name, tt := range map[string]struct {
		filter avatar.Filter
		want   []id.Avatar
	}{
		"all":     {avatar.Filter{}, append(slices.Clip(all), own...)},
		"library": {avatar.Filter{Kind: avatar.Builtin}, all},
		"own":     {avatar.Filter{Kind: avatar.Custom}, own},
		"women":   {avatar.Filter{Gender: "female"}, append(women, own...)},
		"nobody":  {avatar.Filter{Kind: avatar.Custom, Heritage: "thai"}, nil},
	} {
		for _, size := range []int{1, 3, len(all), 1000} {
			t.Run(fmt.Sprint(name, size), func(t *testing.T) {
				var (
					got   []id.Avatar
					after *avatar.Position
				)
				for range len(tt.want) + 1 {
					page, err := avatar.List(context.Background(), tenants, library, org, tt.filter, after, size)
					require.NoError(t, err)
					require.LessOrEqual(t, len(page), size)
					for _, a := range page {
						position := avatar.PositionOf(a)
						got, after = append(got, a.ID), &position
					}
					if len(page) < size {
						break
					}
				}
				require.Equal(t, tt.want, got)
			})
		}
	}
}

func TestLimitHoldsUnderContention(t *testing.T) {
	tenants, org, _ := tenanttest.New(t)
	var (
		group sync.WaitGroup
		added atomic.Int64
	)
	for range 8 {
		group.Go(func() {
			_, full, err := insert(tenants, org, now, 3)
			if err != nil {
				t.Error(err)
			}
			if !full {
				added.Add(1)
			}
		})
	}
	group.Wait()
	require.EqualValues(t, 3, added.Load())
	n, err := avatar.Count(context.Background(), tenants, org)
	require.NoError(t, err)
	require.EqualValues(t, 3, n)
}

func TestDelete(t *testing.T) {
	tenants, org, other := tenanttest.New(t)
	ctx := context.Background()
	a := mustInsert(t, tenants, org, now)
	shard, err := tenants.Shard(ctx, "a")
	require.NoError(t, err)
	face := library.Faces()[0].ID
	for _, worn := range []id.Avatar{a.ID, face} {
		_, err = shard.Exec(ctx, `INSERT INTO avatar_use (org_id, avatar_id, wearer_kind, wearer_id) VALUES ($1, $2, 'persona', $3)`, org, worn, uuid.New())
		require.NoError(t, err)
	}
	require.ErrorIs(t, remove(tenants, org, face, now), avatar.OfLibrary(face))
	require.ErrorIs(t, remove(tenants, other, a.ID, now), errdefs.NotFound{Noun: avatar.Noun})
	var inUse *errdefs.Conflict
	require.ErrorAs(t, remove(tenants, org, a.ID, now), &inUse)
	require.Equal(t, "The avatar is worn by 1 personas and 0 duos.", inUse.Message)
	worn, err := avatar.Get(ctx, tenants, library, org, face)
	require.NoError(t, err)
	require.Equal(t, avatar.Uses{Personas: 1}, worn.Uses)

	_, err = shard.Exec(ctx, `DELETE FROM avatar_use`)
	require.NoError(t, err)
	require.NoError(t, remove(tenants, org, a.ID, now))
	require.ErrorIs(t, remove(tenants, org, a.ID, now), errdefs.Gone{Noun: avatar.Noun})
	_, err = avatar.Get(ctx, tenants, library, org, a.ID)
	require.ErrorIs(t, err, errdefs.Gone{Noun: avatar.Noun})
	n, err := avatar.Count(ctx, tenants, org)
	require.NoError(t, err)
	require.Zero(t, n)
	consents, err := consent.List(ctx, tenants, org, consent.Filter{Avatar: a.ID}, nil, 10)
	require.NoError(t, err)
	require.Len(t, consents, 1, "the consent stays")

	for _, tt := range []struct{ days, want int }{{89, 0}, {90, 1}} {
		swept, err := avatar.Sweep(ctx, tenants, "a", now.AddDate(0, 0, tt.days))
		require.NoError(t, err)
		require.Equal(t, tt.want, swept)
	}
	_, err = avatar.Get(ctx, tenants, library, org, a.ID)
	require.ErrorIs(t, err, errdefs.NotFound{Noun: avatar.Noun})
}

func TestChange(t *testing.T) {
	tenants, org, _ := tenanttest.New(t)
	ctx := context.Background()
	a := mustInsert(t, tenants, org, now)
	change := func(which id.Avatar) error {
		return tenants.InTx(ctx, org, func(ctx context.Context, tx *tenant.Tx) error {
			_, err := avatar.Change(ctx, tx, library, which, func(a *avatar.Avatar) { a.Name = "new" }, activity.Actor{By: "key_1", At: now.Add(time.Hour)})
			return err
		})
	}
	require.NoError(t, change(a.ID))
	got, err := avatar.Get(ctx, tenants, library, org, a.ID)
	require.NoError(t, err)
	require.Equal(t, "new", got.Name)
	require.True(t, got.UpdatedAt.Equal(now.Add(time.Hour)))
	require.Equal(t, a.Metadata, got.Metadata)
	require.True(t, got.Landscape())
	require.Equal(t, avatar.Ready, got.Status())
	require.ErrorIs(t, change(id.NewAvatar()), errdefs.NotFound{Noun: avatar.Noun})
	require.ErrorIs(t, change(library.Faces()[0].ID), avatar.OfLibrary(library.Faces()[0].ID))
}
