package build_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/language"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/personas/avatar"
	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/portals/portal/build"
	"visavis.dev/pkg/portals/portal/template"
	"visavis.dev/pkg/portals/subject"
	"visavis.dev/pkg/store/database/databasetest"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/store/tenant/tenanttest"
)

func TestMain(m *testing.M) { databasetest.Main(m) }

var who = portal.Author{By: "key_test", At: tenanttest.Now}

// world is an organization without portals, and the shipped templates.
type world struct {
	t       *testing.T
	tenants *tenant.Tenants
	org     id.Org
	gallery *template.Gallery
	library *avatar.Library
	// told are the events of the last build.
	told []event.Draft
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, library: avatar.NewLibrary()}
	w.tenants, w.org, _ = tenanttest.New(t)
	var err error
	w.gallery, err = template.Load()
	require.NoError(t, err)
	return w
}

// draft is a portal of a template, with somebody to speak on it.
func (w *world) draft(key string, languages ...string) build.Draft {
	w.t.Helper()
	filled, ok := w.gallery.Filled(key, nil)
	require.True(w.t, ok)
	d := build.New(filled, "Harbour School", languages)
	d.Cast(id.NamedAvatar("amara"), id.NamedVoice("nora"))
	d.Portal.Slug = "harbour-" + d.Portal.ID.Bare()
	return d
}

// build builds a draft, and publishes it in the same transaction where that is wanted.
func (w *world) build(d build.Draft, terms plan.Terms, publish bool) (b build.Built, err error) {
	err = w.tenants.InTx(context.Background(), w.org, func(ctx context.Context, tx *tenant.Tx) error {
		if b, err = d.Build(ctx, tx, w.library, terms, who); err == nil && publish {
			err = b.Publish(ctx, tx, "eu")
		}
		w.told = event.Emitted(tx)
		return err
	})
	return b, err
}

func (w *world) count(table string) (n int) {
	w.t.Helper()
	db, err := w.tenants.Shard(context.Background(), "a")
	require.NoError(w.t, err)
	require.NoError(w.t, db.QueryRow(context.Background(), `SELECT count(*) FROM `+table+` WHERE org_id = $1`, w.org).Scan(&n))
	return n
}

func TestBuild(t *testing.T) {
	w := newWorld(t)
	d := w.draft("course", "en", "de")
	d.Tune = func(p *persona.Definition) { p.Instructions = "Be brief." }
	b, err := w.build(d, plan.Terms{}, false)
	require.NoError(t, err)
	made, err := portal.GetDetail(context.Background(), w.tenants, w.org, b.Portal.ID)
	require.NoError(t, err)
	require.Equal(t, portal.Draft, made.State)
	require.Equal(t, []any{"Harbour School", "course", d.Portal.Slug, d.Speaker.ID}, []any{made.Name, made.TemplateKey, made.Slug, made.Persona})
	require.Equal(t, []string{"en", "de"}, made.Definition.Languages)
	require.Len(t, made.Subjects, len(d.Lessons))
	require.NotEmpty(t, d.Lessons)
	require.Equal(t, len(b.Subjects), w.count("subject"))
	speaker, err := persona.Get(context.Background(), w.tenants, w.org, made.Persona)
	require.NoError(t, err)
	require.Equal(t, "Be brief.", speaker.Definition.Instructions)
	require.Equal(t, "en", speaker.Definition.Settings.Language)

	told := w.told
	require.Equal(t, event.WorkspaceCreated, told[0].Type)
	require.Equal(t, event.PortalCreated, told[1].Type)
	require.Len(t, told, 2)
}

// One that is there speaks as it does.
func TestBuildWithAPersonaThatIsThere(t *testing.T) {
	w := newWorld(t)
	first := w.draft("blank", "en")
	_, err := w.build(first, plan.Terms{}, false)
	require.NoError(t, err)
	second := w.draft("blank", "en")
	second.Speaker, second.Portal.Persona = nil, first.Portal.Persona
	b, err := w.build(second, plan.Terms{}, false)
	require.NoError(t, err)
	require.Equal(t, first.Portal.Persona, b.Portal.Persona)
	require.Equal(t, 1, w.count("persona"))
}

// What cannot be built leaves nothing.
func TestBuildIsRefused(t *testing.T) {
	w := newWorld(t)
	none := int64(0)
	t.Run("for want of room", func(t *testing.T) {
		_, err := w.build(w.draft("blank", "en"), plan.Terms{Limits: plan.Limits{plan.Portals: &none}}, false)
		require.ErrorIs(t, err, build.ErrFull)
	})
	t.Run("for a subject, which it names", func(t *testing.T) {
		d := w.draft("course", "en")
		d.Lessons = append(d.Lessons, template.Lesson{Subject: subject.Subject{
			Title: "After nothing", Kind: subject.Course, Definition: subject.Definition{Prerequisites: []id.Subject{id.NewSubject()}},
		}})
		_, err := w.build(d, plan.Terms{}, false)
		lesson, ok := errors.AsType[*build.LessonError](err)
		require.True(t, ok, "%v", err)
		require.Equal(t, len(d.Lessons)-1, lesson.Index)
		require.ErrorIs(t, err, lesson.Err)
	})
	t.Run("for a voice of another language", func(t *testing.T) {
		d := w.draft("blank", "en")
		d.Tune = func(p *persona.Definition) { p.Settings.Language = "xx" }
		_, err := w.build(d, plan.Terms{}, false)
		voice, ok := errors.AsType[*build.VoiceError](err)
		require.True(t, ok, "%v", err)
		require.Contains(t, voice.Field.Field, "settings.")
	})
	t.Run("for a voice that is not there", func(t *testing.T) {
		d := w.draft("blank", "en")
		d.Speaker.Voice = id.NewVoice()
		_, err := w.build(d, plan.Terms{}, false)
		require.Error(t, err)
	})
	for _, table := range []string{"portal", "persona", "subject"} {
		require.Zero(t, w.count(table), table)
	}
}

// Whether it is shown is the check's to say: what it refuses stays a draft, and is
// told as one that was made.
func TestPublish(t *testing.T) {
	w := newWorld(t)
	refused := w.draft("blank", "en")
	refused.Portal.Definition.Pages.Title = language.Words{}
	b, err := w.build(refused, plan.Terms{}, true)
	require.NoError(t, err)
	require.False(t, b.Launch.Changed)
	require.False(t, b.Launch.Report.Ready())
	require.Equal(t, portal.Draft, b.Portal.State)
	made, err := portal.GetDetail(context.Background(), w.tenants, w.org, b.Portal.ID)
	require.NoError(t, err)
	require.Equal(t, portal.Draft, made.State)
	require.Equal(t, event.PortalCreated, w.told[1].Type)
}
