package portal_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/portals/portal/portaltest"
	"visavis.dev/pkg/portals/subject"
	"visavis.dev/pkg/store/database/databasetest"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/store/tenant/tenanttest"
)

func TestMain(m *testing.M) { databasetest.Main(m) }

func TestAPortalIsItsOrganizations(t *testing.T) {
	tenants, one, two := tenanttest.New(t)
	ctx := context.Background()
	made := portaltest.Portal(t, tenants, one, id.NewPersona())
	taught := portaltest.Subject(t, tenants, one, made.ID)

	found, err := portal.Get(ctx, tenants, one, made.ID)
	require.NoError(t, err)
	require.Equal(t, made.Definition, found.Definition)
	require.False(t, found.Changed())
	_, err = portal.Get(ctx, tenants, two, made.ID)
	require.ErrorIs(t, err, errdefs.NotFound{Noun: portal.Noun})
	_, err = subject.Get(ctx, tenants, two, taught.ID)
	require.ErrorIs(t, err, errdefs.NotFound{Noun: subject.Noun})

	require.NoError(t, tenants.InTx(ctx, one, func(ctx context.Context, tx *tenant.Tx) error {
		require.NoError(t, portal.Refresh(ctx, tx, made.ID))
		version, err := portal.FindVersion(ctx, tx, made.ID, 1)
		require.NoError(t, err)
		require.Equal(t, made.Definition, version.Definition)
		_, err = portal.FindVersion(ctx, tx, made.ID, 2)
		require.ErrorIs(t, err, errdefs.NotFound{Noun: portal.VersionNoun})
		subjects, err := subject.OfPortal(ctx, tx, made.ID)
		require.NoError(t, err)
		require.Len(t, subjects, 1)
		content, err := subject.FindVersion(ctx, tx, taught.ID, 1)
		require.NoError(t, err)
		require.Equal(t, "The bowline", content.Content.Sections[0].Title["en"])
		return nil
	}))
	found, err = portal.Get(ctx, tenants, one, made.ID)
	require.NoError(t, err)
	require.Equal(t, made.PageStamp+1, found.PageStamp)
}
