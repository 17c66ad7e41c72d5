package knowledge_test

import (
	"context"
	"crypto/sha256"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gocloud.dev/blob/memblob"
	clocktest "k8s.io/utils/clock/testing"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/personas/knowledge"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/database/databasetest"
	"visavis.dev/pkg/store/file"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/store/tenant/tenanttest"
	"visavis.dev/pkg/text/crawl"
	"visavis.dev/pkg/text/extract"
	"visavis.dev/pkg/text/extract/sandbox"
)

func TestMain(m *testing.M) {
	sandbox.Become()
	databasetest.Main(m)
}

// world is a shard with two organizations and what reads documents, on a clock
// that the test moves.
type world struct {
	t        *testing.T
	tenants  *tenant.Tenants
	sent     *tenanttest.Statements
	one, two id.Org
	clock    *clocktest.FakeClock
	files    *file.Store
	reader   *knowledge.Reader
	runner   *job.Runner
	searcher *knowledge.Searcher
	// pages is what an address answers; fetch replaces it.
	pages map[string]string
	fetch knowledge.Fetch
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, clock: clocktest.NewFakeClock(tenanttest.Now), pages: map[string]string{}}
	w.tenants, w.sent, w.one, w.two = tenanttest.NewTraced(t)
	bucket := memblob.OpenBucket(nil)
	t.Cleanup(func() { require.NoError(t, bucket.Close()) })
	w.files = file.New(bucket, w.tenants, w.clock)
	w.fetch = w.answer
	w.reader = &knowledge.Reader{Tenants: w.tenants, Files: w.files, Extract: extract.Here, Clock: w.clock,
		Fetch: func(ctx context.Context, url string, o crawl.Options, each func(crawl.Page) error) error {
			return w.fetch(ctx, url, o, each)
		}}
	w.runner = w.newRunner()
	w.searcher = knowledge.NewSearcher(w.tenants, knowledge.SearcherOptions{Memory: 1 << 30})
	return w
}

func (w *world) newRunner() *job.Runner {
	return &job.Runner{
		Tenants: w.tenants, Works: map[job.Kind]job.Work{job.KnowledgeSync: w.reader.Work()},
		Shards: func(context.Context) ([]string, error) { return []string{"a"}, nil }, Clock: w.clock, Log: slog.New(slog.DiscardHandler),
	}
}

// answer hands out the one page of an address.
func (w *world) answer(_ context.Context, url string, _ crawl.Options, each func(crawl.Page) error) error {
	return each(crawl.Page{URL: url, ContentType: "text/plain", Data: []byte(w.pages[url])})
}

func (w *world) now() time.Time { return w.clock.Now().UTC() }

func (w *world) who() activity.Actor { return activity.Actor{By: "key_1", At: w.now()} }

func (w *world) inTx(fn func(context.Context, *tenant.Tx) error) error {
	return w.tenants.InTx(context.Background(), w.one, fn)
}

// advance makes the steps that are due.
func (w *world) advance() (made int) {
	w.t.Helper()
	made, err := w.runner.Advance(context.Background(), "a")
	require.NoError(w.t, err)
	return made
}

// runDueJobs makes all that is due.
func (w *world) runDueJobs() {
	w.t.Helper()
	for w.advance() > 0 {
	}
}

func terms(limits plan.Limits) plan.Terms { return plan.Terms{Limits: limits} }

func (w *world) base() id.KnowledgeBase {
	w.t.Helper()
	b := knowledge.Base{ID: id.NewKnowledgeBase(), Name: "Pack", CreatedAt: w.now(), UpdatedAt: w.now()}
	require.NoError(w.t, w.inTx(func(ctx context.Context, tx *tenant.Tx) error {
		full, err := knowledge.InsertBase(ctx, tx, b, terms(nil), w.who())
		require.False(w.t, full)
		return err
	}))
	return b.ID
}

// text is a document of kind text, its content stored.
func (w *world) text(b id.KnowledgeBase, text string) knowledge.Document {
	w.t.Helper()
	sum := sha256.Sum256([]byte(text))
	stored, err := w.files.Put(context.Background(), w.one, "text/plain", []byte(text))
	require.NoError(w.t, err)
	return knowledge.Document{
		ID: id.NewDocument(), Base: b, Kind: knowledge.Text, Title: "Title", ContentType: "text/plain", Bytes: int64(len(text)),
		SHA256: sum[:], File: stored, Tags: []string{}, Refresh: knowledge.Never, CreatedAt: w.now(), UpdatedAt: w.now(),
	}
}

// address is a document of kind url.
func (w *world) address(b id.KnowledgeBase, url string) knowledge.Document {
	return knowledge.Document{
		ID: id.NewDocument(), Base: b, Kind: knowledge.Address, Title: url, URL: &url, SHA256: []byte{}, Tags: []string{},
		Refresh: knowledge.Daily, CreatedAt: w.now(), UpdatedAt: w.now(),
	}
}

func (w *world) tryAdd(d knowledge.Document, t plan.Terms) (added knowledge.Document, outcome knowledge.Outcome, err error) {
	err = w.inTx(func(ctx context.Context, tx *tenant.Tx) error {
		if added, outcome, err = knowledge.Add(ctx, tx, d, t, w.who()); err != nil || outcome != knowledge.Added || d.File.IsZero() {
			return err
		}
		return w.files.Keep(ctx, tx, d.File)
	})
	return added, outcome, err
}

func (w *world) add(d knowledge.Document) id.Document {
	w.t.Helper()
	added, outcome, err := w.tryAdd(d, terms(nil))
	require.NoError(w.t, err)
	require.Equal(w.t, knowledge.Added, outcome)
	return added.ID
}

// read adds a text and reads it.
func (w *world) read(b id.KnowledgeBase, text string) id.Document {
	w.t.Helper()
	d := w.add(w.text(b, text))
	w.runDueJobs()
	require.Equal(w.t, knowledge.Ready, w.document(d).Status)
	return d
}

func (w *world) document(d id.Document) knowledge.Document {
	w.t.Helper()
	found, err := knowledge.GetDocument(context.Background(), w.tenants, w.one, d)
	require.NoError(w.t, err)
	return found
}

func (w *world) delete(d id.Document) {
	w.t.Helper()
	require.NoError(w.t, w.inTx(func(ctx context.Context, tx *tenant.Tx) error {
		gone, err := knowledge.DeleteDocument(ctx, tx, d, w.who())
		if err != nil || gone.File.IsZero() {
			return err
		}
		return w.files.Discard(ctx, tx, gone.File)
	}))
}

func (w *world) readAgain(d id.Document) knowledge.Document {
	w.t.Helper()
	var again knowledge.Document
	require.NoError(w.t, w.inTx(func(ctx context.Context, tx *tenant.Tx) (err error) {
		again, err = knowledge.ReadAgain(ctx, tx, d, w.who())
		return err
	}))
	return again
}

// figures are a pack's: documents, ready, failed, bytes and passages.
func (w *world) figures(b id.KnowledgeBase) [5]int64 {
	w.t.Helper()
	found, err := knowledge.GetBase(context.Background(), w.tenants, w.one, b)
	require.NoError(w.t, err)
	return [5]int64{found.Documents, found.Ready, found.Failed, found.Bytes, found.Chunks}
}

// find are the texts that a search finds.
func (w *world) find(s *knowledge.Searcher, text string, bases ...id.KnowledgeBase) (texts []string) {
	w.t.Helper()
	found, err := s.Search(context.Background(), w.one, knowledge.Query{Text: text, Bases: bases, Limit: 5})
	require.NoError(w.t, err)
	for _, p := range found {
		texts = append(texts, p.Text)
	}
	return texts
}

// told are the types of the organization's events, oldest first.
func (w *world) told() (types []event.Type) {
	w.t.Helper()
	for _, e := range w.events() {
		types = append(types, e.Type)
	}
	return types
}

func (w *world) events() []event.Event {
	w.t.Helper()
	events, err := event.List(context.Background(), w.tenants, w.one, event.Filter{Ascending: true}, event.Position{}, 100)
	require.NoError(w.t, err)
	return events
}

// count counts the rows of a table.
func (w *world) count(table string) (n int) {
	w.t.Helper()
	db, err := w.tenants.Shard(context.Background(), "a")
	require.NoError(w.t, err)
	require.NoError(w.t, db.QueryRow(context.Background(), `SELECT count(*) FROM `+table).Scan(&n))
	return n
}
