package rehearsal_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gocloud.dev/blob/memblob"
	"k8s.io/utils/clock"
	clocktest "k8s.io/utils/clock/testing"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/personas/avatar"
	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/personas/voice"
	"visavis.dev/pkg/provider/model"
	"visavis.dev/pkg/provider/model/modeltest"
	"visavis.dev/pkg/sessions/conversation"
	"visavis.dev/pkg/sessions/rehearsal"
	"visavis.dev/pkg/store/database"
	"visavis.dev/pkg/store/database/databasetest"
	"visavis.dev/pkg/store/file"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/store/tenant/tenanttest"
)

func TestMain(m *testing.M) { databasetest.Main(m) }

// world is an organization with a persona, and what rehearses with it.
type world struct {
	t         *testing.T
	tenants   *tenant.Tenants
	sent      *tenanttest.Statements
	db        *database.DB
	org       id.Org
	files     *file.Store
	clock     *clocktest.FakeClock
	minds     *minds
	rehearser *rehearsal.Rehearser
	runner    *job.Runner
	persona   persona.Persona
}

var library = avatar.NewLibrary()

func newWorld(t *testing.T, change ...func(*persona.Definition)) *world {
	t.Helper()
	w := &world{t: t, clock: clocktest.NewFakeClock(tenanttest.Now), minds: &minds{}}
	w.tenants, w.sent, w.org, _ = tenanttest.NewTraced(t)
	var err error
	w.db, err = w.tenants.Shard(context.Background(), "a")
	require.NoError(t, err)
	bucket := memblob.OpenBucket(nil)
	t.Cleanup(func() { _ = bucket.Close() })
	w.files = file.New(bucket, w.tenants, w.clock)
	w.rehearser = &rehearsal.Rehearser{
		Tenants: w.tenants, Files: w.files, Minds: w.minds, Clock: clock.RealClock{}, Log: slog.New(slog.DiscardHandler),
	}
	w.runner = w.process()
	w.persona = w.insert(change...)
	return w
}

// process is one that runs jobs.
func (w *world) process() *job.Runner {
	return &job.Runner{
		Tenants: w.tenants, Clock: w.clock, Log: slog.New(slog.DiscardHandler), Works: map[job.Kind]job.Work{job.Simulate: w.rehearser.Work()},
	}
}

func author() persona.Author { return persona.Author{By: "key_test", At: tenanttest.Now} }

// insert makes a persona.
func (w *world) insert(change ...func(*persona.Definition)) (p persona.Persona) {
	w.t.Helper()
	studio := voice.Studio()
	nora := studio[slices.IndexFunc(studio, func(v voice.Voice) bool { return v.Key == "nora" })]
	draft := persona.Persona{
		ID: id.NewPersona(), Name: "Mira", Kind: persona.Standard, Avatar: id.NamedAvatar("amara"), Voice: nora.ID, Definition: persona.Defaults(nora),
	}
	for _, change := range change {
		change(&draft.Definition)
	}
	w.must(func(ctx context.Context, tx *tenant.Tx) (err error) {
		p, err = persona.Insert(ctx, tx, library, draft, author())
		return err
	})
	return p
}

// change makes a new version of the persona.
func (w *world) change(to func(*persona.Persona)) {
	w.t.Helper()
	w.must(func(ctx context.Context, tx *tenant.Tx) error {
		after := w.persona
		to(&after)
		now, _, err := persona.Update(ctx, tx, library, w.persona, after, author())
		w.persona = now
		return err
	})
}

// museum is the document that the pack knows.
var museum = id.NewDocument()

// minds know the museum, and the model if there is one.
type minds struct {
	model     *modeltest.Server
	modelOnly bool
	// refused makes Furnish fail, and away the packs.
	refused, away error
}

func (m *minds) Knowledge(id.Org) conversation.Knowledge { return m }

func (m *minds) Search(_ context.Context, q conversation.Query) ([]conversation.Passage, error) {
	if m.away != nil {
		return nil, m.away
	}
	if !strings.Contains(strings.ToLower(q.Text), "museum") {
		return nil, nil
	}
	return []conversation.Passage{{
		Document: museum, Chunk: id.NewChunk(), Title: "Guide", Language: "en", Score: 0.9,
		Text: "The museum opens at nine. Admission costs 12,50 euros.",
	}}, nil
}

func (m *minds) Furnish(_ context.Context, _ id.Org, c *conversation.Config) error {
	if m.model != nil {
		c.Model = &model.Client{HTTP: m.model.Guard().Client(), BaseURL: m.model.URL(), Name: "small"}
	}
	c.ModelOnly = m.modelOnly
	return m.refused
}

// modelled gives the minds a model's service.
func (w *world) modelled(b modeltest.Behaviour) *modeltest.Server {
	w.minds.model = modeltest.Start()
	w.t.Cleanup(w.minds.model.Close)
	w.minds.model.Behave(b)
	return w.minds.model
}

func (w *world) must(fn func(context.Context, *tenant.Tx) error) {
	w.t.Helper()
	require.NoError(w.t, w.tenants.InTx(context.Background(), w.org, fn))
}

// begin queues the job of a script.
func (w *world) begin(s rehearsal.Script) id.Job {
	w.t.Helper()
	source, err := rehearsal.Put(context.Background(), w.files, w.org, s)
	require.NoError(w.t, err)
	var j job.Job
	w.must(func(ctx context.Context, tx *tenant.Tx) (err error) {
		j, err = rehearsal.Begin(ctx, tx, w.files, w.persona.ID, w.persona.Version, source, author())
		return err
	})
	return j.ID
}

// test adds a test to the persona.
func (w *world) test(question string, e rehearsal.Expectation) rehearsal.Test {
	w.t.Helper()
	t := rehearsal.Test{
		ID: id.NewPersonaTest(), Persona: w.persona.ID, Name: question, Question: question, Enabled: true, Expect: e,
		CreatedAt: w.clock.Now(), UpdatedAt: w.clock.Now(),
	}
	w.must(func(ctx context.Context, tx *tenant.Tx) error {
		_, err := rehearsal.Create(ctx, tx, t, author())
		return err
	})
	return t
}

// tests are those of the persona, the oldest first.
func (w *world) tests() []rehearsal.Test {
	w.t.Helper()
	all, err := rehearsal.List(context.Background(), w.tenants, w.org, w.persona.ID, id.PersonaTest{}, rehearsal.MaxTests)
	require.NoError(w.t, err)
	slices.Reverse(all)
	return all
}

func (w *world) beginTests(of []rehearsal.Test) (j job.Job, err error) {
	source, err := rehearsal.Put(context.Background(), w.files, w.org, of)
	if err != nil {
		return j, err
	}
	err = w.tenants.InTx(context.Background(), w.org, func(ctx context.Context, tx *tenant.Tx) (err error) {
		j, err = rehearsal.BeginTests(ctx, tx, w.files, w.persona.ID, w.persona.Version, source, len(of), author())
		return err
	})
	return j, err
}

// run runs every test of the persona to the end.
func (w *world) run() (job.Job, rehearsal.Run) {
	w.t.Helper()
	begun, err := w.beginTests(w.tests())
	require.NoError(w.t, err)
	j := w.end(begun.ID)
	return j, read[rehearsal.Run](w, j)
}

// end runs a job to its end.
func (w *world) end(which id.Job) job.Job {
	w.t.Helper()
	for range 200 {
		j := w.job(which)
		if j.State.Ended() {
			return j
		}
		w.clock.Step(time.Minute) // past the lease of a step that was lost
		_, err := w.runner.Advance(context.Background(), "a")
		require.NoError(w.t, err)
	}
	require.Fail(w.t, "the job does not end")
	return job.Job{}
}

func (w *world) job(which id.Job) job.Job {
	w.t.Helper()
	j, err := job.Get(context.Background(), w.tenants, w.org, which)
	require.NoError(w.t, err)
	return j
}

// read is the file that came of a job.
func read[T any](w *world, j job.Job) (file T) {
	w.t.Helper()
	require.False(w.t, j.File.IsZero())
	data, err := w.files.Read(context.Background(), w.org, j.File)
	require.NoError(w.t, err)
	require.NoError(w.t, json.Unmarshal(data, &file))
	return file
}

// crash lets every first try of a step die before its commit.
func (w *world) crash() {
	work, died := w.rehearser.Work(), false
	w.runner.Works[job.Simulate] = job.Work{Prepare: func(ctx context.Context, j job.Job) (job.Step, error) {
		step, err := work.Prepare(ctx, j)
		return func(ctx context.Context, tx *tenant.Tx, j *job.Job, now time.Time) (time.Duration, error) {
			wait, err := step(ctx, tx, j, now)
			if died = !died; died && err == nil {
				return 0, errors.New("the process died")
			}
			return wait, err
		}, err
	}}
}

func (w *world) count(sql string) (n int) {
	w.t.Helper()
	require.NoError(w.t, w.db.QueryRow(context.Background(), sql, w.org).Scan(&n))
	return n
}

// silence is a model that is away.
var silence = modeltest.Status(http.StatusInternalServerError, nil)
