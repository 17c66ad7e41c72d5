package setup_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/personas/knowledge"
	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/personas/voice"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/portals/setup"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
)

// built is the portal that a plan was made into, with who speaks on it.
func (w *world) built(p id.SetupPlan) (portal.Detail, persona.Persona) {
	w.t.Helper()
	found := w.plan(p)
	require.Equal(w.t, setup.Applied, found.Standing())
	made, err := portal.GetDetail(context.Background(), w.tenants, w.org, found.Portal)
	require.NoError(w.t, err)
	speaker, err := persona.Get(context.Background(), w.tenants, w.org, made.Persona)
	require.NoError(w.t, err)
	return made, speaker
}

func TestAPlanIsAppliedOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.planned(setup.Input{URL: new(start), TemplateKey: new("blank"), Languages: []string{"de", "en"}})
	steps := w.crash(job.PortalFill)
	j := w.apply(p.ID, setup.Cast{})
	w.outlast()
	require.Equal(t, 2, *steps, "the first died before its commit")
	done := w.job(j)
	require.Equal(t, job.Succeeded, done.State, done.ErrorCode)
	require.Equal(t, map[string]int64{"portals": 1, "subjects": 1, "documents": 1}, done.Counts)
	made, speaker := w.built(p.ID)
	require.Equal(t, done.Portal, made.ID)
	require.Equal(t, "Harbour School", made.Name)
	require.Equal(t, portal.Draft, made.State)
	require.Len(t, made.Subjects, 1)
	require.True(t, strings.HasPrefix(made.Slug, "harbour-school-"))
	for table, rows := range map[string]int{"portal": 1, "persona": 1, "subject": 1, "knowledge_base": 1, "knowledge_document": 1} {
		require.Equal(t, rows, w.count(table), table)
	}
	v, err := voice.Get(context.Background(), w.tenants, w.org, speaker.Voice)
	require.NoError(t, err)
	require.Equal(t, "de", v.PrimaryLanguage, "a voice that is at home in the portal's language")
	require.Equal(t, []event.Type{
		event.JobCompleted, event.WorkspaceCreated, event.PortalCreated, event.JobCompleted,
	}, w.told())
	docs, err := knowledge.ListDocuments(context.Background(), w.tenants, w.org, made.Definition.KnowledgeBaseIDs[0], knowledge.Filter{}, id.Document{}, 10)
	require.NoError(t, err)
	require.Equal(t, start, *docs[0].URL)
	require.Equal(t, job.Queued, w.job(docs[0].Job).State, "it is read by a job of its own")
}

// A process that dies before its step leaves the job to another one, which finds
// the address that the first claimed.
func TestAnotherProcessTakesOver(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.planned(setup.Input{Brief: new("A school of sailing")})
	j := w.apply(p.ID, setup.Cast{})
	work := w.runner.Works[job.PortalFill]
	died := make(chan struct{})
	// Its process ends once it has prepared.
	dying := &job.Runner{Tenants: w.tenants, Clock: w.clock, Log: w.runner.Log}
	dying.Works = map[job.Kind]job.Work{job.PortalFill: {Prepare: func(ctx context.Context, j job.Job) (job.Step, error) {
		if _, err := work.Prepare(ctx, j); err != nil {
			return nil, err
		}
		return func(context.Context, *tenant.Tx, *job.Job, time.Time) (time.Duration, error) {
			close(died)
			return 0, context.Canceled
		}, nil
	}}}
	_, err := dying.Advance(context.Background(), "a")
	require.NoError(t, err)
	<-died
	w.runDueJobs()
	require.Equal(t, setup.Applying, w.plan(p.ID).State, "the lease is the dead one's still")
	w.clock.Step(time.Minute)
	w.runDueJobs()
	require.Equal(t, job.Succeeded, w.job(j).State)
	require.Equal(t, int64(1), w.job(j).Attempts, "only a process that ends while it prepares counts")
	require.Equal(t, 1, w.count("portal"))
}

func TestAPlanThatCannotBeApplied(t *testing.T) {
	t.Parallel()
	limit := func(l plan.Limit, n int64) plan.Terms { return plan.Terms{Limits: plan.Limits{l: &n}} }
	for code, test := range map[string]struct {
		terms plan.Terms
		cast  setup.Cast
	}{
		setup.CodePortalsFull:   {limit(plan.Portals, 0), setup.Cast{}},
		setup.CodePacksFull:     {limit(plan.KnowledgeBases, 0), setup.Cast{}},
		setup.CodeDocumentsFull: {limit(plan.DocumentsPerBase, 0), setup.Cast{}},
		setup.CodePersonaGone:   {plan.Terms{}, setup.Cast{Persona: id.NewPersona()}},
		setup.CodeFaceGone:      {plan.Terms{}, setup.Cast{Avatar: id.NewAvatar()}},
		setup.CodeVoiceUnfit:    {plan.Terms{}, setup.Cast{Voice: id.NewVoice()}},
	} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			p := w.planned(setup.Input{URL: new(start), TemplateKey: new("blank")})
			w.terms = test.terms
			j := w.apply(p.ID, test.cast)
			w.runDueJobs()
			require.Equal(t, code, w.job(j).ErrorCode)
			for _, table := range []string{"portal", "persona", "subject", "knowledge_base", "knowledge_document"} {
				require.Zero(t, w.count(table), table)
			}
			again := w.plan(p.ID)
			require.Equal(t, setup.Ready, again.Standing())
			require.Equal(t, code, again.JobError)

			w.terms = plan.Terms{}
			w.apply(p.ID, setup.Cast{})
			w.runDueJobs()
			w.built(p.ID)
		})
	}
}

func TestACancelledApplicationChangesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.planned(setup.Input{URL: new(start)})
	j := w.apply(p.ID, setup.Cast{})
	w.inTx(func(ctx context.Context, tx *tenant.Tx) error {
		_, err := job.Cancel(ctx, tx, j, activity.Actor{By: "test", At: w.clock.Now()})
		return err
	})
	w.runDueJobs()
	require.Zero(t, w.count("portal"))
	ready := w.plan(p.ID)
	require.Equal(t, setup.Ready, ready.Standing())
	other := *ready.Proposal
	other.Name = "Another name"
	w.inTx(func(ctx context.Context, tx *tenant.Tx) error {
		found, err := setup.Lock(ctx, tx, p.ID)
		require.NoError(t, err)
		_, err = setup.Change(ctx, tx, w.gallery.Templates(), found, other, activity.Actor{By: by, At: w.clock.Now()})
		return err
	})
	w.apply(p.ID, setup.Cast{})
	w.runDueJobs()
	made, _ := w.built(p.ID)
	require.Equal(t, "Another name", made.Name)
}

// What is not ready is neither changed nor applied, and what is another
// organization's is not there.
func TestPlansThatAreNotReady(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.begin(setup.Input{URL: new(start)})
	w.inTx(func(ctx context.Context, tx *tenant.Tx) error {
		found, err := setup.Lock(ctx, tx, p.ID)
		require.NoError(t, err)
		_, err = setup.Apply(ctx, tx, found, setup.Cast{}, activity.Actor{By: by, At: w.clock.Now()})
		require.ErrorIs(t, err, setup.NotReady())
		_, err = setup.Change(ctx, tx, w.gallery.Templates(), found, setup.Proposal{}, activity.Actor{By: by, At: w.clock.Now()})
		require.ErrorIs(t, err, setup.NotReady())
		return nil
	})
	w.runDueJobs()
	w.apply(p.ID, setup.Cast{})
	w.inTx(func(ctx context.Context, tx *tenant.Tx) error {
		found, err := setup.Lock(ctx, tx, p.ID)
		require.NoError(t, err)
		require.ErrorIs(t, setup.Discard(ctx, tx, found, activity.Actor{By: by, At: w.clock.Now()}), setup.NotReady())
		return nil
	})
	_, err := setup.Get(context.Background(), w.tenants, w.other, p.ID)
	require.ErrorIs(t, err, errdefs.NotFound{Noun: setup.Noun})
	listed, err := setup.List(context.Background(), w.tenants, w.other, id.SetupPlan{}, 10)
	require.NoError(t, err)
	require.Empty(t, listed)
}
