package translation_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	clocktest "k8s.io/utils/clock/testing"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/language"
	"visavis.dev/pkg/base/vault"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/portals/portal/portaltest"
	"visavis.dev/pkg/portals/subject"
	"visavis.dev/pkg/portals/translation"
	"visavis.dev/pkg/provider/model/modeltest"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/database/databasetest"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/store/tenant/tenanttest"
)

func TestMain(m *testing.M) { databasetest.Main(m) }

// world is an organization with a subject, a model that translates, and what makes
// the jobs.
type world struct {
	t        *testing.T
	tenants  *tenant.Tenants
	vault    *vault.Vault
	org      id.Org
	subject  subject.Subject
	model    *modeltest.Server
	clock    *clocktest.FakeClock
	reporter *connection.Reporter
	runner   *job.Runner
}

func newWorld(t *testing.T, count int) *world {
	t.Helper()
	w := &world{t: t, model: modeltest.Start(), clock: clocktest.NewFakeClock(portaltest.At)}
	t.Cleanup(w.model.Close)
	w.tenants, w.org, _ = tenanttest.New(t)
	var err error
	w.vault, err = vault.New(vault.NewKey())
	require.NoError(t, err)
	w.reporter = &connection.Reporter{Tenants: w.tenants, Clock: w.clock, Log: slog.New(slog.DiscardHandler)}
	translator := &translation.Translator{
		Tenants: w.tenants, Opener: connection.NewOpener(w.tenants, w.vault, w.clock), Report: w.reporter, Egress: w.model.Guard(), Clock: w.clock,
	}
	w.runner = &job.Runner{
		Tenants: w.tenants, Clock: w.clock, Log: slog.New(slog.DiscardHandler), Works: map[job.Kind]job.Work{job.Translate: translator.Work()},
	}
	w.model.Behave(translate)
	p := portaltest.Portal(t, w.tenants, w.org, id.NewPersona())
	w.subject = portaltest.Subject(t, w.tenants, w.org, p.ID, func(_ *subject.Subject, c *subject.Content) {
		c.Questions = nil
		for i := range count {
			c.Questions = append(c.Questions, subject.Question{Key: fmt.Sprint("q", i), Kind: "open", Text: language.Words{"en": fmt.Sprint("Question ", i)}})
		}
	})
	return w
}

// translate answers every text with itself and its language.
func translate(rw http.ResponseWriter, r *http.Request, asked modeltest.Request) {
	modeltest.Stream(translated(asked))(rw, r, asked)
}

func translated(asked modeltest.Request) string {
	var texts map[string]string
	if err := json.Unmarshal([]byte(asked.Messages[1].Content), &texts); err != nil {
		return err.Error()
	}
	_, to, _ := strings.Cut(asked.Messages[0].Content, " to ")
	to, _, _ = strings.Cut(to, " ")
	for n, text := range texts {
		texts[n] = text + " in " + to
	}
	answer, _ := json.Marshal(texts)
	return string(answer)
}

// connect gives the organization the model.
func (w *world) connect(state connection.State) id.Connection {
	w.t.Helper()
	offer, ok := connection.FindOffer(connection.Model, "openai_compatible")
	require.True(w.t, ok)
	c := connection.New(offer, "model", connection.Config{"baseUrl": w.model.URL(), "model": "m"}, "sk", portaltest.At)
	c.State, c.Fallback, c.TimeoutMs = state, connection.FallbackFail, 5000
	require.NoError(w.t, w.inTx(func(ctx context.Context, tx *tenant.Tx) error {
		return connection.Create(ctx, tx, w.vault, c, "sk", activity.Actor{By: "test", At: c.CreatedAt})
	}))
	return c.ID
}

func (w *world) inTx(fn func(context.Context, *tenant.Tx) error) error {
	return w.tenants.InTx(context.Background(), w.org, fn)
}

// order queues a translation of all questions.
func (w *world) order(languages ...string) id.Job {
	w.t.Helper()
	var made job.Job
	require.NoError(w.t, w.inTx(func(ctx context.Context, tx *tenant.Tx) error {
		v, err := subject.FindVersion(ctx, tx, w.subject.ID, w.subject.DraftVersion)
		require.NoError(w.t, err)
		pieces, err := translation.Plan(v.Content, translation.Request{Languages: languages, Source: "en"})
		require.NoError(w.t, err)
		made, err = translation.Insert(ctx, tx, w.subject.ID, []string{"de"}, pieces, subject.Author{By: "key_1", At: w.clock.Now()})
		return err
	}))
	return made.ID
}

func (w *world) advance() int {
	w.t.Helper()
	made, err := w.runner.Advance(context.Background(), "a")
	require.NoError(w.t, err)
	return made
}

func (w *world) runDueJobs() {
	w.t.Helper()
	for w.advance() > 0 {
	}
}

func (w *world) job(j id.Job) job.Job {
	w.t.Helper()
	found, err := job.Get(context.Background(), w.tenants, w.org, j)
	require.NoError(w.t, err)
	return found
}

func (w *world) content() subject.Version {
	w.t.Helper()
	_, v, err := subject.GetContent(context.Background(), w.tenants, w.org, w.subject.ID, 0)
	require.NoError(w.t, err)
	return v
}

func (w *world) told() (types []event.Type) {
	w.t.Helper()
	events, err := event.List(context.Background(), w.tenants, w.org, event.Filter{Ascending: true}, event.Position{}, 100)
	require.NoError(w.t, err)
	for _, e := range events {
		types = append(types, e.Type)
	}
	return types
}

func TestTranslate(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 30)
	w.connect(connection.Active)
	j := w.order("de", "fr")
	require.Equal(t, 1, w.advance())
	half := w.job(j)
	require.Equal(t, []int64{25, 60}, []int64{half.Done, half.Total}, "a batch a step")
	require.Equal(t, int64(1), w.content().Version, "nothing is saved by halves")
	w.runDueJobs()
	require.Equal(t, job.Succeeded, w.job(j).State)
	v := w.content()
	require.Equal(t, []int64{2, 1}, []int64{v.Version, v.BaseVersion})
	require.Equal(t, []string{"questions"}, v.ChangedSections)
	require.Equal(t, "key_1", v.SavedBy)
	for i, q := range v.Content.Questions {
		text := fmt.Sprint("Question ", i)
		require.Equal(t, language.Words{"en": text, "de": text + " in German", "fr": text + " in French"}, q.Text)
	}
	require.Equal(t, []event.Type{event.SubjectDraftSaved, event.JobCompleted}, w.told())
	require.Len(t, w.model.Requests(), 4)
	require.Equal(t, "m", w.model.Requests()[0].Model)

	again := w.order("de")
	w.runDueJobs()
	require.Equal(t, job.Succeeded, w.job(again).State, "nothing was left to translate")
	require.Equal(t, int64(2), w.content().Version)
}

// Somebody who writes while the model does keeps their words.
func TestSomebodyWritesMeanwhile(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	w.connect(connection.Active)
	w.model.Behave(func(rw http.ResponseWriter, r *http.Request, asked modeltest.Request) {
		assertNoError(t, w.inTx(func(ctx context.Context, tx *tenant.Tx) error {
			s, err := subject.Lock(ctx, tx, w.subject.ID)
			if err != nil {
				return err
			}
			v, err := subject.FindVersion(ctx, tx, s.ID, s.DraftVersion)
			if err != nil {
				return err
			}
			v.Content.Intro = language.Words{"en": "Written meanwhile"}
			v.Content.Questions[0].Text = language.Words{"en": "Question 0", "de": "Von Hand"}
			v.Content.Questions[1].Text = language.Words{"en": "Another question"}
			_, _, err = subject.Save(ctx, tx, s, v.Content, nil, subject.Author{By: "key_2", At: w.clock.Now()}, nil)
			return err
		}))
		translate(rw, r, asked)
	})
	w.order("de")
	w.runDueJobs()
	v := w.content()
	require.Equal(t, []int64{3, 2}, []int64{v.Version, v.BaseVersion})
	require.Equal(t, language.Words{"en": "Written meanwhile"}, v.Content.Intro)
	require.Equal(t, language.Words{"en": "Question 0", "de": "Von Hand"}, v.Content.Questions[0].Text)
	require.Equal(t, language.Words{"en": "Another question"}, v.Content.Questions[1].Text)
	require.Equal(t, language.Words{"en": "Question 2", "de": "Question 2 in German"}, v.Content.Questions[2].Text)
}

// assertNoError may be called by the model's goroutines.
func assertNoError(t *testing.T, err error) {
	if err != nil {
		t.Error(err)
	}
}

func TestAnAnswerThatMakesNoSense(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	w.connect(connection.Active)
	var asked atomic.Int64
	w.model.Behave(func(rw http.ResponseWriter, r *http.Request, q modeltest.Request) {
		if asked.Add(1) == 1 {
			modeltest.Stream("Of course! Here they are.")(rw, r, q)
			return
		}
		translate(rw, r, q)
	})
	j := w.order("de")
	w.runDueJobs()
	require.Equal(t, job.Succeeded, w.job(j).State, "it is asked once more")
	require.Equal(t, int64(2), asked.Load())

	w.model.Behave(modeltest.Stream(`{"0": "only one"}`))
	j = w.order("fr")
	w.runDueJobs()
	failed := w.job(j)
	require.Equal(t, job.Failed, failed.State)
	require.Equal(t, "malformed", failed.ErrorCode)
	require.Equal(t, int64(2), w.content().Version)
	require.Equal(t, []event.Type{event.SubjectDraftSaved, event.JobCompleted, event.JobCompleted}, w.told())
}

func TestAModelThatFails(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	w.connect(connection.Active)
	w.model.Behave(modeltest.Status(http.StatusServiceUnavailable, nil))
	j := w.order("de")
	w.runDueJobs()
	require.Equal(t, job.Running, w.job(j).State)
	require.Len(t, w.model.Requests(), 1)
	w.clock.Step(30 * time.Second)
	w.model.Behave(translate)
	w.runDueJobs()
	require.Equal(t, job.Succeeded, w.job(j).State, "it was tried again")

	w.model.Behave(modeltest.Status(http.StatusServiceUnavailable, nil))
	j = w.order("fr")
	for range 4 {
		w.runDueJobs()
		w.clock.Step(10 * time.Minute)
	}
	require.Equal(t, "unavailable", w.job(j).ErrorCode)
	require.Len(t, w.model.Requests(), 2+4)

	w.model.Behave(modeltest.Status(http.StatusUnauthorized, nil))
	j = w.order("fr")
	w.runDueJobs()
	require.Equal(t, "refused", w.job(j).ErrorCode, "which trying again does not mend")
}

// A process that dies between the model's answer and the commit repeats the
// question, and nothing else.
func TestACrashRepeatsNothingThatCounts(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 30)
	w.connect(connection.Active)
	work, crashes := w.runner.Works[job.Translate], 0
	w.runner.Works[job.Translate] = job.Work{Prepare: func(ctx context.Context, j job.Job) (job.Step, error) {
		step, err := work.Prepare(ctx, j)
		if err != nil {
			return nil, err
		}
		return func(ctx context.Context, tx *tenant.Tx, j *job.Job, now time.Time) (time.Duration, error) {
			wait, err := step(ctx, tx, j, now)
			if crashes++; err == nil && crashes%2 == 1 {
				err = errors.New("the process died before its commit")
			}
			return wait, err
		}, nil
	}}
	j := w.order("de")
	for range 4 {
		w.runDueJobs()
		w.clock.Step(time.Minute) // the lease ends
	}
	require.Equal(t, job.Succeeded, w.job(j).State)
	require.Equal(t, 4, crashes)
	require.Equal(t, int64(2), w.content().Version)
	require.Equal(t, []event.Type{event.SubjectDraftSaved, event.JobCompleted}, w.told())
}

func TestTheSubjectIsGone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	w.connect(connection.Active)
	j := w.order("de")
	w.archive()
	w.runDueJobs()
	require.Equal(t, job.Cancelled, w.job(j).State)
	require.Empty(t, w.model.Requests())
}

func (w *world) archive() {
	w.t.Helper()
	require.NoError(w.t, w.inTx(func(ctx context.Context, tx *tenant.Tx) error {
		_, err := tx.Exec(ctx, `UPDATE subject SET state = 'archived', archived_at = now() WHERE org_id = $1 AND id = $2`, w.org, w.subject.ID)
		return err
	}))
}

func TestChoose(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	choose := func() (translation.Choice, error) {
		return translation.Choose(context.Background(), w.tenants, w.org, w.subject)
	}
	w.connect(connection.Unverified)
	w.connect(connection.Disabled)
	_, err := choose()
	require.ErrorIs(t, err, translation.ErrNoModel, "what was never tested is not any one's choice")
	j := w.order("de")
	w.runDueJobs()
	require.Equal(t, "no_connection", w.job(j).ErrorCode)

	anyone := w.connect(connection.Active)
	got, err := choose()
	require.NoError(t, err)
	require.Equal(t, translation.Choice{Connection: anyone}, got)

	own := w.connect(connection.Unverified)
	speaker := id.NewPersona()
	require.NoError(t, w.inTx(func(ctx context.Context, tx *tenant.Tx) error {
		_, err := tx.Exec(ctx, `
			INSERT INTO persona (org_id, id, name, kind, avatar_id, voice_id, definition, version, created_at, updated_at)
			VALUES ($1, $2, 'Mira', 'standard', $3, $4, $5, 1, $6, $6)`, w.org, speaker, id.NewAvatar(), id.NewVoice(),
			map[string]any{"model": map[string]any{"connectionId": own, "name": "large"}}, portaltest.At)
		return err
	}))
	w.subject.Definition.PersonaID = &speaker
	got, err = choose()
	require.NoError(t, err)
	require.Equal(t, translation.Choice{Connection: own, Name: "large"}, got)

	require.NoError(t, w.inTx(func(ctx context.Context, tx *tenant.Tx) error {
		_, err := tx.Exec(ctx, `UPDATE connection SET state = 'disabled' WHERE org_id = $1 AND id = $2`, w.org, own)
		return err
	}))
	got, err = choose()
	require.NoError(t, err)
	require.Equal(t, anyone, got.Connection, "its own is switched off")
}
