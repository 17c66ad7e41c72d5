package subject_test

import (
	"context"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"
	"gocloud.dev/blob/memblob"
	clocktest "k8s.io/utils/clock/testing"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/language"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/personas/knowledge"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/portals/subject"
	"visavis.dev/pkg/store/file"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/text/extract"
)

// school is a world in which the portal's pack is kept.
type school struct {
	*world
	runner   *job.Runner
	searcher *knowledge.Searcher
}

func newSchool(t *testing.T) *school {
	t.Helper()
	w := newWorld(t)
	clock := clocktest.NewFakeClock(who.At)
	bucket := memblob.OpenBucket(nil)
	t.Cleanup(func() { require.NoError(t, bucket.Close()) })
	files := file.New(bucket, w.tenants, clock)
	return &school{world: w, searcher: knowledge.NewSearcher(w.tenants, knowledge.SearcherOptions{Memory: 1 << 30}), runner: &job.Runner{
		Tenants: w.tenants, Clock: clock, Log: slog.New(slog.DiscardHandler),
		Works: map[job.Kind]job.Work{
			job.SubjectSync:   (&subject.Teacher{Tenants: w.tenants, Files: files, Clock: clock}).Work(),
			job.KnowledgeSync: (&knowledge.Reader{Tenants: w.tenants, Files: files, Extract: extract.Here, Clock: clock}).Work(),
		},
	}}
}

// runDueJobs makes all that is due.
func (w *school) runDueJobs() {
	w.t.Helper()
	for {
		made, err := w.runner.Advance(context.Background(), "a")
		require.NoError(w.t, err)
		if made == 0 {
			return
		}
	}
}

// base is the pack of the portal's subjects, which its draft and what visitors see
// both name.
func (w *school) base() *id.KnowledgeBase {
	w.t.Helper()
	p, err := portal.Get(context.Background(), w.tenants, w.one, w.portal.ID)
	require.NoError(w.t, err)
	require.False(w.t, p.Changed(), "it is no change of the draft")
	require.NoError(w.t, w.inTx(func(ctx context.Context, tx *tenant.Tx) error {
		seen, err := portal.FindVersion(ctx, tx, p.ID, *p.PublishedVersion)
		require.Equal(w.t, p.Definition, seen.Definition)
		return err
	}))
	return p.Definition.SubjectBaseID
}

func (w *school) documents() []knowledge.Document {
	w.t.Helper()
	found, err := knowledge.ListDocuments(context.Background(), w.tenants, w.one, *w.base(), knowledge.Filter{}, id.Document{}, 100)
	require.NoError(w.t, err)
	return found
}

// finds says whether a search of the pack finds a text.
func (w *school) finds(text string) bool {
	w.t.Helper()
	found, err := w.searcher.Search(context.Background(), w.one, knowledge.Query{Text: text, Bases: []id.KnowledgeBase{*w.base()}, Limit: 5})
	require.NoError(w.t, err)
	return len(found) > 0
}

func TestWhatIsPublishedIsAnsweredFrom(t *testing.T) {
	t.Parallel()
	w := newSchool(t)
	s := w.insert("Knots").ID
	w.runDueJobs()
	require.Nil(t, w.base(), "nothing was published")

	w.publish(s)
	w.runDueJobs()
	before := w.documents()
	require.Len(t, before, 2, "one a language")
	require.True(t, w.finds("bowline loop"))
	pack, err := knowledge.GetBase(context.Background(), w.tenants, w.one, *w.base())
	require.NoError(t, err)
	require.Equal(t, "Harbour school: subjects", pack.Name)
	require.Equal(t, []id.Portal{w.portal.ID}, pack.Portals)

	w.save(s, "The sheepshank shortens a rope.")
	w.runDueJobs()
	require.False(t, w.finds("sheepshank"), "a draft is nobody's")
	w.publish(s)
	w.runDueJobs()
	require.True(t, w.finds("sheepshank"))
	require.Len(t, w.documents(), 2)
	require.NotContains(t, ids(w.documents()), before[0].ID)

	_, _, err = w.trySave(s, nil, func(c *subject.Content) { c.Intro["de"] = "Der Trompetenstek kürzt ein Seil." })
	require.NoError(t, err)
	before = w.documents()
	w.publish(s)
	w.runDueJobs()
	after := w.documents()
	require.Len(t, after, 2)
	require.NotEqual(t, ids(before), ids(after))
	require.Contains(t, ids(before), after[1].ID, "what says the same stays")

	w.change(s, func(s *subject.Subject) { s.Title = "Ropes" })
	w.runDueJobs()
	require.Equal(t, "Ropes", w.documents()[0].Title)
	w.change(s, func(s *subject.Subject) { s.State = subject.Archived })
	w.runDueJobs()
	require.Empty(t, w.documents())
}

// Two subjects that say the same share their documents, until one says otherwise.
func TestTheSameIsKeptOnce(t *testing.T) {
	t.Parallel()
	w := newSchool(t)
	a, b := w.insert("Knots").ID, w.insert("Knots").ID
	w.publish(a)
	w.publish(b)
	w.runDueJobs()
	require.Len(t, w.documents(), 2)
	require.ElementsMatch(t, []string{a.String(), b.String()}, w.documents()[0].Tags)
	w.change(a, func(s *subject.Subject) { s.State = subject.Archived })
	w.runDueJobs()
	require.Len(t, w.documents(), 2)
	require.Equal(t, []string{b.String()}, w.documents()[0].Tags)
	require.True(t, w.finds("bowline loop"))
	w.save(b, "Other words.")
	w.publish(b)
	w.runDueJobs()
	require.True(t, w.finds("other words"))
	require.Len(t, w.documents(), 2)
}

// A subject that changes between the preparation and the step is taught as it is then.
func TestAChangeMeanwhileIsTaught(t *testing.T) {
	t.Parallel()
	w := newSchool(t)
	s := w.insert("Knots").ID
	w.publish(s)
	work := w.runner.Works[job.SubjectSync]
	prepare, changed := work.Prepare, false
	work.Prepare = func(ctx context.Context, j job.Job) (job.Step, error) {
		step, err := prepare(ctx, j)
		if !changed {
			changed = true
			_, _, err := w.trySave(s, nil, func(c *subject.Content) { c.Intro = language.Words{"en": "The sheepshank shortens a rope."} })
			require.NoError(t, err)
			w.publish(s)
		}
		return step, err
	}
	w.runner.Works[job.SubjectSync] = work
	w.runDueJobs()
	require.True(t, w.finds("sheepshank"))
	require.Len(t, w.documents(), 2)
}

func ids(documents []knowledge.Document) []id.Document {
	list := make([]id.Document, len(documents))
	for i, d := range documents {
		list[i] = d.ID
	}
	return list
}
