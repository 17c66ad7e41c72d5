package portal_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/managed"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/portals/portal/portaltest"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/store/tenant/tenanttest"
)

func TestLists(t *testing.T) {
	tenants, sent, one, two := tenanttest.NewTraced(t)
	ctx, speaker := context.Background(), id.NewPersona()
	made := portaltest.Portal(t, tenants, one, speaker)
	taught := portaltest.Subject(t, tenants, one, made.ID)
	who := portal.Author{By: "key_1", At: tenanttest.Now}
	db, err := tenants.Shard(ctx, "a")
	require.NoError(t, err)

	list := func(org id.Org, f portal.Filter) []portal.Detail {
		found, err := portal.List(ctx, tenants, org, f, id.Portal{}, 10)
		require.NoError(t, err)
		return found
	}
	found := list(one, portal.Filter{Kind: portal.Learning, State: portal.Published, Persona: speaker})
	require.Len(t, found, 1)
	require.Equal(t, []id.Subject{taught.ID}, found[0].Subjects)
	require.Equal(t, []string{"visitors"}, found[0].Open)
	require.False(t, found[0].Unpublished())
	require.Empty(t, list(two, portal.Filter{}))
	require.Empty(t, list(one, portal.Filter{State: portal.Draft}))

	for _, s := range sent.Of(t, "FROM portal p", func() error { list(one, portal.Filter{}); return nil }) {
		require.Contains(t, s.Forced(t, db), "Index Scan Backward using portal_pkey")
	}
	for _, s := range sent.Of(t, "FROM portal_version", func() error {
		found, err := portal.Versions(ctx, tenants, one, made.ID, 0, 10)
		require.Len(t, found, 1)
		return err
	}) {
		require.Contains(t, s.Forced(t, db), "portal_version_pkey")
	}

	require.NoError(t, tenants.InTx(ctx, one, func(ctx context.Context, tx *tenant.Tx) error {
		held, err := portal.Edit(ctx, tx, made.ID)
		require.NoError(t, err)
		_, err = portal.Archive(ctx, tx, held, who)
		require.NoError(t, err)
		_, err = portal.Edit(ctx, tx, made.ID)
		require.ErrorIs(t, err, errdefs.Archived{Noun: portal.Noun})
		return nil
	}))
	require.Empty(t, list(one, portal.Filter{}))
	require.Len(t, list(one, portal.Filter{State: portal.Archived}), 1)
}

func TestAManagedPortalIsChangedElsewhere(t *testing.T) {
	tenants, one, _ := tenanttest.New(t)
	museum := managed.Resource{Kind: "Portal", Namespace: "acme", Name: "museum", UID: "42"}.By()
	made := portaltest.Portal(t, tenants, one, id.NewPersona(), func(p *portal.Portal) { p.ManagedBy = museum })
	require.NoError(t, tenants.InTx(context.Background(), one, func(ctx context.Context, tx *tenant.Tx) error {
		_, err := portal.Edit(ctx, tx, made.ID)
		var refused *managed.Error
		require.ErrorAs(t, err, &refused)
		require.Equal(t, museum, refused.By)
		held, err := portal.Lock(ctx, tx, made.ID)
		require.NoError(t, err)
		_, err = portal.HandOver(ctx, tx, held, managed.API)
		require.NoError(t, err)
		_, err = portal.Edit(ctx, tx, made.ID)
		return err
	}))
}
