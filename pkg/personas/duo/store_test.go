package duo_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/personas/avatar"
	"visavis.dev/pkg/personas/duo"
	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/store/database/databasetest"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/store/tenant/tenanttest"
)

func TestMain(m *testing.M) { databasetest.Main(m) }

func TestStore(t *testing.T) {
	tenants, sent, one, two := tenanttest.NewTraced(t)
	ctx, library, who := context.Background(), avatar.NewLibrary(), persona.Author{By: "key_1", At: tenanttest.Now}
	in := func(fn func(context.Context, *tenant.Tx) error) { require.NoError(t, tenants.InTx(ctx, one, fn)) }
	face := id.NamedAvatar("amara")
	d := duo.Duo{
		ID: id.NewDuo(), Persona: id.NewPersona(), Name: "Ada and Ben", Languages: []string{"en"}, Interplay: duo.Defaults(),
		Hosts: []persona.Host{
			{Seat: duo.Left, Name: "Ada", Avatar: face, Voice: id.NamedVoice("nora"), Role: duo.Lead},
			{Seat: duo.Right, Name: "Ben", Avatar: face, Voice: id.NamedVoice("owen"), Role: duo.Partner},
		},
	}
	in(func(ctx context.Context, tx *tenant.Tx) error {
		made, err := duo.Insert(ctx, tx, library, d, who)
		require.NoError(t, err)
		require.Equal(t, duo.Draft, made.Status)
		loaded, err := persona.Load(ctx, tx, d.Persona)
		require.NoError(t, err)
		var notLive *persona.DuoNotLiveError
		require.ErrorAs(t, loaded.Startable(tenanttest.Now), &notLive)
		require.Equal(t, d.Hosts, loaded.Duo.Hosts)
		live, problems, err := duo.GoLive(ctx, tx, library, made, who)
		require.NoError(t, err)
		require.Empty(t, problems)
		require.Equal(t, duo.Live, live.Status)
		loaded, err = persona.Load(ctx, tx, d.Persona)
		require.NoError(t, err)
		require.NoError(t, loaded.Startable(tenanttest.Now))
		return nil
	})
	_, err := duo.Get(ctx, tenants, two, d.ID)
	require.ErrorIs(t, err, errdefs.NotFound{Noun: duo.Noun})
	db, err := tenants.Shard(ctx, "a")
	require.NoError(t, err)
	for _, s := range sent.Of(t, "FROM duo d", func() error {
		found, err := duo.List(ctx, tenants, one, duo.Live, id.Duo{}, 10)
		require.Len(t, found, 1)
		return err
	}) {
		require.Contains(t, s.Forced(t, db), "Index Scan Backward using duo_pkey")
	}

	in(func(ctx context.Context, tx *tenant.Tx) error { return duo.Delete(ctx, tx, d.ID, who) })
	worn, err := avatar.Get(ctx, tenants, library, one, face)
	require.NoError(t, err)
	require.Zero(t, worn.Uses)
	_, err = duo.Get(ctx, tenants, one, d.ID)
	require.ErrorIs(t, err, errdefs.Gone{Noun: duo.Noun})
	swept, err := duo.Sweep(ctx, tenants, "a", tenanttest.Now.Add(89*24*time.Hour))
	require.NoError(t, err)
	require.Zero(t, swept)
	swept, err = duo.Sweep(ctx, tenants, "a", tenanttest.Now.Add(91*24*time.Hour))
	require.NoError(t, err)
	require.Equal(t, 1, swept)
}
