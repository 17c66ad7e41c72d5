package persona_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/personas/avatar"
	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/personas/voice"
	"visavis.dev/pkg/store/database/databasetest"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/store/tenant/tenanttest"
)

func TestMain(m *testing.M) { databasetest.Main(m) }

var (
	library = avatar.NewLibrary()
	who     = persona.Author{By: "key_1", At: tenanttest.Now}
)

func inTx(t *testing.T, tenants *tenant.Tenants, org id.Org, fn func(context.Context, *tenant.Tx) error) {
	t.Helper()
	require.NoError(t, tenants.InTx(context.Background(), org, fn))
}

func draft(t *testing.T) persona.Persona {
	return persona.Persona{
		ID: id.NewPersona(), Name: "Mira", Kind: persona.Standard, Avatar: id.NamedAvatar("amara"), Voice: id.NamedVoice("nora"),
		Definition: persona.Defaults(find(t, "nora")),
	}
}

func insert(t *testing.T, tenants *tenant.Tenants, org id.Org, p persona.Persona) (made persona.Persona) {
	t.Helper()
	inTx(t, tenants, org, func(ctx context.Context, tx *tenant.Tx) (err error) {
		made, err = persona.Insert(ctx, tx, library, p, who)
		return err
	})
	return made
}

func TestStore(t *testing.T) {
	tenants, one, two := tenanttest.New(t)
	ctx := context.Background()
	made := insert(t, tenants, one, draft(t))
	read, err := persona.Get(ctx, tenants, one, made.ID)
	require.NoError(t, err)
	require.Equal(t, made, read)
	_, err = persona.Get(ctx, tenants, two, made.ID)
	require.ErrorIs(t, err, errdefs.NotFound{Noun: persona.Noun}, "of another organization")

	inTx(t, tenants, one, func(ctx context.Context, tx *tenant.Tx) error {
		before, err := persona.Lock(ctx, tx, made.ID)
		require.NoError(t, err)
		same, changed, err := persona.Update(ctx, tx, library, before, before, who)
		require.NoError(t, err)
		require.Empty(t, changed)
		require.Equal(t, made, same)
		after := before
		after.Name, after.Avatar = "Ada", id.NamedAvatar("grace")
		after.Definition.Instructions = "Be brief."
		now, changed, err := persona.Update(ctx, tx, library, before, after, who)
		require.NoError(t, err)
		require.Equal(t, []string{"name", "avatarId", "instructions"}, changed)
		require.EqualValues(t, 2, now.Version)
		loaded, err := persona.Load(ctx, tx, made.ID)
		require.NoError(t, err)
		require.NoError(t, loaded.Startable(tenanttest.Now))
		first, err := persona.FindVersion(ctx, tx, made.ID, 1)
		require.NoError(t, err)
		require.Equal(t, made.Definition, first.Definition)
		_, err = persona.FindVersion(ctx, tx, made.ID, 3)
		require.ErrorIs(t, err, errdefs.NotFound{Noun: persona.VersionNoun})
		return nil
	})
	first, err := persona.GetVersion(ctx, tenants, one, made.ID, 1)
	require.NoError(t, err)
	require.Equal(t, made.Name, first.Name)
	for version, of := range map[int64]id.Org{3: one, 1: two} {
		_, err = persona.GetVersion(ctx, tenants, of, made.ID, version)
		require.ErrorIs(t, err, errdefs.NotFound{Noun: persona.VersionNoun})
	}
	worn, err := avatar.Get(ctx, tenants, library, one, id.NamedAvatar("amara"))
	require.NoError(t, err)
	require.Zero(t, worn.Uses, "taken off")

	inTx(t, tenants, one, func(ctx context.Context, tx *tenant.Tx) error {
		_, err := persona.Delete(ctx, tx, made.ID, id.Duo{}, who)
		return err
	})
	_, err = persona.Get(ctx, tenants, one, made.ID)
	require.ErrorIs(t, err, errdefs.Gone{Noun: persona.Noun})
	swept := func(after time.Duration) int {
		n, err := persona.Sweep(ctx, tenants, "a", tenanttest.Now.Add(after))
		require.NoError(t, err)
		return n
	}
	require.Zero(t, swept(89*24*time.Hour))
	require.Equal(t, 2, swept(91*24*time.Hour), "its versions first")
	require.Equal(t, 1, swept(91*24*time.Hour))
	_, err = persona.Get(ctx, tenants, one, made.ID)
	require.ErrorIs(t, err, errdefs.NotFound{Noun: persona.Noun})
}

func TestListsRideTheirIndexes(t *testing.T) {
	tenants, sent, one, _ := tenanttest.NewTraced(t)
	ctx := context.Background()
	var of id.Persona
	for range 3 {
		of = insert(t, tenants, one, draft(t)).ID
	}
	db, err := tenants.Shard(ctx, "a")
	require.NoError(t, err)
	for _, status := range []persona.Status{"", persona.Ready, persona.Paused} {
		for _, s := range sent.Of(t, "FROM persona p", func() error {
			found, err := persona.List(ctx, tenants, one, persona.Filter{Status: status}, of, 10)
			require.Len(t, found, map[persona.Status]int{"": 2, persona.Ready: 2, persona.Paused: 0}[status])
			return err
		}) {
			plan := s.Forced(t, db)
			require.Contains(t, plan, "Index Scan Backward using persona_pkey", "%s", plan)
			require.NotContains(t, plan, "Seq Scan", "%s", plan)
		}
	}
	for _, s := range sent.Of(t, "FROM persona_version", func() error {
		_, err := persona.Versions(ctx, tenants, one, of, 0, 10)
		return err
	}) {
		plan := s.Forced(t, db)
		require.Contains(t, plan, "persona_version_pkey", "%s", plan)
		require.NotContains(t, plan, "Sort", "%s", plan)
	}
}

func TestStartable(t *testing.T) {
	soon, duo := tenanttest.Now.Add(30*time.Second), &persona.Duo{ID: id.NewDuo()}
	for name, c := range map[string]struct {
		p      persona.Persona
		code   problem.Code
		reason string
	}{
		"ready":      {persona.Persona{VoiceStatus: voice.Ready}, "", ""},
		"no voice":   {persona.Persona{VoiceStatus: voice.Training}, problem.Conflict, "voice_not_ready"},
		"bad voice":  {persona.Persona{VoiceStatus: voice.Failed}, problem.Conflict, "voice_not_ready"},
		"voice gone": {persona.Persona{VoiceStatus: voice.Withdrawn}, problem.Conflict, "consent_withdrawn"},
		"preparing":  {persona.Persona{Preparation: &soon}, problem.FaceNotReady, ""},
		"withdrawn":  {persona.Persona{Obstacle: persona.ConsentWithdrawn, Preparation: &soon}, problem.Conflict, "consent_withdrawn"},
		"failed":     {persona.Persona{Obstacle: persona.FaceFailed}, problem.Conflict, "paused"},
		"a draft":    {persona.Persona{Duo: duo, Preparation: &soon}, problem.DuoNotLive, ""},
		"a live duo": {persona.Persona{Duo: &persona.Duo{Live: true}, VoiceStatus: voice.Ready}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			err := c.p.Startable(tenanttest.Now)
			if c.code == "" {
				require.NoError(t, err)
				return
			}
			var p *problem.Problem
			require.ErrorAs(t, persona.AsProblem(err), &p)
			require.Equal(t, c.code, p.Code)
			require.Equal(t, http.StatusConflict, p.Code.Status())
			if c.reason != "" {
				require.Equal(t, c.reason, p.Details["reason"])
			}
			if c.code == problem.FaceNotReady {
				require.EqualValues(t, 30, p.Details["etaS"])
				require.Equal(t, 30*time.Second, p.RetryAfter)
			}
		})
	}
	late := persona.Persona{Preparation: &soon}
	require.Equal(t, tenanttest.Now.Add(time.Hour+5*time.Second), *late.FaceReadyAt(tenanttest.Now.Add(time.Hour)), "late is soon, never past")
}
