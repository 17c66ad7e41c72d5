package knowledge_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/personas/knowledge"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/text/crawl"
	"visavis.dev/pkg/text/extract"
)

const opening = "The museum opens at nine in the morning and closes at six in the evening, every day but Monday."

func TestADocumentIsRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.base()
	d := w.add(w.text(b, opening))
	require.Equal(t, knowledge.Processing, w.document(d).Status)
	require.Equal(t, [5]int64{1, 0, 0, int64(len(opening)), 0}, w.figures(b))
	require.Empty(t, w.find(w.searcher, "when does the museum open", b))

	w.runDueJobs()
	got := w.document(d)
	require.Equal(t, knowledge.Ready, got.Status)
	require.True(t, got.Job.IsZero())
	require.EqualValues(t, 1, got.Chunks)
	require.Equal(t, "en", *got.Language)
	require.Equal(t, [5]int64{1, 1, 0, int64(len(opening)), 1}, w.figures(b))
	require.Equal(t, []string{opening}, w.find(w.searcher, "when does the museum open", b))
	chunks, err := knowledge.ListChunks(context.Background(), w.tenants, w.one, d, 0, 10)
	require.NoError(t, err)
	require.Len(t, chunks, 1)
	require.Equal(t, opening, chunks[0].Text)

	require.Equal(t, []event.Type{event.KnowledgeDocumentProcessed, event.JobCompleted}, w.told())
	require.Contains(t, string(w.events()[0].Structure), d.String())
	require.Contains(t, string(w.events()[1].Structure), `"succeeded"`)
}

func TestADocumentThatCannotBeRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.base()
	d := w.add(w.text(b, "  \n "))
	w.runDueJobs()
	got := w.document(d)
	require.Equal(t, knowledge.Failed, got.Status)
	require.Equal(t, knowledge.Empty, got.Error)
	require.Equal(t, [5]int64{1, 0, 1, 4, 0}, w.figures(b))
	require.Equal(t, []event.Type{event.KnowledgeDocumentFailed, event.JobCompleted}, w.told())
	require.Contains(t, string(w.events()[1].Structure), `"empty"`)
	w.delete(d)
	require.Equal(t, [5]int64{}, w.figures(b))
}

// A process that dies at any line leaves what the next run replaces: the
// effect is there once.
func TestReadingIsRepeatedAfterACrash(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.base()
	text := strings.Repeat("Another passage of the long story of the museum.\n\n", 1500)
	d := w.add(w.text(b, text))
	// The first run gets as far as it can without its commit.
	work := w.reader.Work()
	_, err := work.Prepare(context.Background(), w.claimed(d))
	require.NoError(t, err)
	half := w.count("knowledge_chunk")
	require.Positive(t, half)
	require.Empty(t, w.find(w.searcher, "museum story", b), "what is not committed is not found")
	// The second one commits, the third is one that did not notice.
	step, err := work.Prepare(context.Background(), w.claimed(d))
	require.NoError(t, err)
	require.NotNil(t, step)
	w.runDueJobs()
	require.Equal(t, half, w.count("knowledge_chunk"))
	require.EqualValues(t, half, w.document(d).Chunks)
	require.Equal(t, [5]int64{1, 1, 0, int64(len(text)), int64(half)}, w.figures(b))
	require.Equal(t, []event.Type{event.KnowledgeDocumentProcessed, event.JobCompleted}, w.told())
	require.NotEmpty(t, w.find(w.searcher, "museum story", b))
}

// claimed is a document's job, as a runner that claimed it sees it.
func (w *world) claimed(d id.Document) job.Job {
	w.t.Helper()
	j, err := job.Get(context.Background(), w.tenants, w.one, w.document(d).Job)
	require.NoError(w.t, err)
	j.Attempts++
	return j
}

// A document whose reading ends the process again and again is given up.
func TestADocumentThatCrashesItsReaderIsGivenUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.add(w.text(w.base(), opening))
	db, err := w.tenants.Shard(context.Background(), "a")
	require.NoError(t, err)
	_, err = db.Exec(context.Background(), `UPDATE job SET attempts = 5`)
	require.NoError(t, err)
	w.runDueJobs()
	require.Equal(t, knowledge.Unreadable, w.document(d).Error)
}

// What keeps a document from being read and is not its fault is waited for: for long where
// nothing is known of the cause, and a few times where its reader is killed.
func TestADocumentIsReadLaterWhenItCannotBeReadNow(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		failures int
		fail     error
		want     knowledge.Status
	}{
		"the bucket is away":                   {12, errors.New("the bucket is away"), knowledge.Ready},
		"its reader is killed at times":        {2, fmt.Errorf("out of memory: %w", extract.ErrKilled), knowledge.Ready},
		"its reader is killed again and again": {3, fmt.Errorf("out of memory: %w", extract.ErrKilled), knowledge.Failed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			tries := 0
			w.reader.Extract = func(ctx context.Context, contentType string, size int64, document io.Reader) (extract.Document, error) {
				if tries++; tries <= c.failures {
					return extract.Document{}, c.fail
				}
				return extract.Here(ctx, contentType, size, document)
			}
			w.runner = w.newRunner()
			d := w.add(w.text(w.base(), opening))
			for range c.failures + 1 {
				w.runDueJobs()
				w.clock.Step(2 * time.Minute)
			}
			require.Equal(t, c.want, w.document(d).Status, "%v", w.document(d).Error)
		})
	}
}

// What is read of a document that is deleted meanwhile, or whose pack is, ends soon.
func TestTheReadingOfADeletedDocumentEnds(t *testing.T) {
	t.Parallel()
	for name, remove := range map[string]func(*world, knowledge.Document){
		"the document": func(w *world, d knowledge.Document) { w.delete(d.ID) },
		"its pack": func(w *world, d knowledge.Document) {
			require.NoError(w.t, w.inTx(func(ctx context.Context, tx *tenant.Tx) error {
				_, err := knowledge.DeleteBase(ctx, tx, d.Base, w.who())
				return err
			}))
			_, err := knowledge.SweepDocuments(context.Background(), w.tenants, w.files, "a", w.now())
			require.NoError(w.t, err)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			d := w.address(w.base(), "https://example.com/")
			w.add(d)
			began, ended := make(chan struct{}), make(chan struct{})
			w.fetch = func(ctx context.Context, _ string, _ crawl.Options, _ func(crawl.Page) error) error {
				close(began)
				<-ctx.Done()
				close(ended)
				return ctx.Err()
			}
			done := make(chan struct{})
			go func() { w.advance(); close(done) }()
			<-began
			remove(w, d)
			w.clock.Step(15 * time.Second) // the claim is renewed
			<-ended
			<-done
			w.runDueJobs()
			require.Equal(t, []event.Type{event.JobCompleted}, w.told())
			require.Contains(t, string(w.events()[0].Structure), `"cancelled"`)
		})
	}
}

func TestADocumentDeletedWhileItIsReadStaysDeleted(t *testing.T) {
	t.Parallel()
	for name, moment := range map[string]string{"before": "before", "while it is fetched": "while"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			b := w.base()
			d := w.add(w.address(b, "https://example.com/"))
			w.pages["https://example.com/"] = opening
			if moment == "before" {
				w.delete(d)
			} else {
				w.fetch = func(ctx context.Context, url string, o crawl.Options, each func(crawl.Page) error) error {
					w.delete(d)
					return w.answer(ctx, url, o, each)
				}
			}
			w.runDueJobs()
			_, err := knowledge.GetDocument(context.Background(), w.tenants, w.one, d)
			require.ErrorIs(t, err, errdefs.Gone{Noun: knowledge.DocumentNoun})
			require.Equal(t, [5]int64{}, w.figures(b))
			require.Zero(t, w.count("knowledge_chunk"))
			require.Empty(t, w.find(w.searcher, "museum", b))
			require.Equal(t, []event.Type{event.JobCompleted}, w.told())
			require.Contains(t, string(w.events()[0].Structure), `"cancelled"`)
		})
	}
}

func TestAddressesAreTriedAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.base()
	tries := 0
	w.fetch = func(context.Context, string, crawl.Options, func(crawl.Page) error) error {
		tries++
		return &crawl.Error{Code: "timeout", Retryable: true}
	}
	d := w.add(w.address(b, "https://example.com/"))
	for i, wait := range []time.Duration{30 * time.Second, 2 * time.Minute, 8 * time.Minute} {
		require.Equal(t, 1, w.advance())
		require.Equal(t, i+1, tries)
		require.Equal(t, knowledge.Processing, w.document(d).Status)
		w.clock.Step(wait - time.Microsecond)
		require.Zero(t, w.advance(), "not a moment too early")
		w.clock.Step(time.Microsecond)
	}
	require.Equal(t, 1, w.advance())
	got := w.document(d)
	require.Equal(t, knowledge.Failed, got.Status)
	require.Equal(t, knowledge.Timeout, got.Error)
	require.Contains(t, string(w.events()[0].Structure), `"retryable": true`)

	// It can be read again, and then it is.
	w.fetch = w.answer
	w.pages["https://example.com/"] = opening
	require.Equal(t, knowledge.Processing, w.readAgain(d).Status)
	require.Equal(t, [5]int64{1, 0, 0, 0, 0}, w.figures(b))
	w.runDueJobs()
	require.Equal(t, knowledge.Ready, w.document(d).Status)
	require.Equal(t, [5]int64{1, 1, 0, int64(len(opening)), 1}, w.figures(b))
}

func TestARefusedAddressFailsAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fetch = func(context.Context, string, crawl.Options, func(crawl.Page) error) error {
		return &crawl.Error{Code: "address_refused"}
	}
	d := w.add(w.address(w.base(), "https://example.com/"))
	w.runDueJobs()
	require.Equal(t, knowledge.AddressRefused, w.document(d).Error)
}

func TestRefreshing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const url = "https://example.com/"
	b := w.base()
	w.pages[url] = opening
	d := w.add(w.address(b, url))
	w.runDueJobs()
	first := w.document(d)
	require.Equal(t, knowledge.Ready, first.Status)
	require.Equal(t, w.now(), first.FetchedAt.UTC())
	sweep := func() int {
		n, err := knowledge.Refreshed(context.Background(), w.tenants, "a", w.now())
		require.NoError(t, err)
		return n
	}

	// Unchanged content changes nothing but the moment.
	require.Zero(t, sweep())
	w.clock.Step(24 * time.Hour)
	require.Equal(t, 1, sweep())
	require.Zero(t, sweep(), "it is on its way")
	w.runDueJobs()
	same := w.document(d)
	require.Equal(t, w.now(), same.FetchedAt.UTC())
	same.FetchedAt = first.FetchedAt
	require.Equal(t, first, same)
	require.Len(t, w.events(), 3, "processed and two jobs")

	// A refresh that fails leaves what is found, and says so once.
	for range 2 {
		w.fetch = func(context.Context, string, crawl.Options, func(crawl.Page) error) error {
			return &crawl.Error{Code: "blocked"}
		}
		w.clock.Step(24 * time.Hour)
		require.Equal(t, 1, sweep())
		w.runDueJobs()
		broken := w.document(d)
		require.Equal(t, knowledge.Ready, broken.Status)
		require.Equal(t, knowledge.Blocked, broken.Error)
		require.Equal(t, []string{opening}, w.find(w.searcher, "museum", b))
	}
	require.Len(t, w.events(), 3+3, "failed once, and two jobs")

	// What changed replaces what was found.
	w.fetch = w.answer
	w.pages[url] = "The museum is closed for ever."
	w.clock.Step(24 * time.Hour)
	require.Equal(t, 1, sweep())
	w.runDueJobs()
	require.Equal(t, []string{w.pages[url]}, w.find(w.searcher, "museum", b))
	require.Empty(t, w.document(d).Error)
	require.Equal(t, [5]int64{1, 1, 0, int64(len(w.pages[url])), 1}, w.figures(b))
	require.Equal(t, 2, w.count("knowledge_chunk"))
	n, err := knowledge.SweepPassages(context.Background(), w.tenants, "a")
	require.NoError(t, err)
	require.Equal(t, 1, n)
	require.Equal(t, 1, w.count("knowledge_chunk"))
	require.Zero(t, w.count("knowledge_litter"))
}

func TestASiteIsOneDocument(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fetch = func(_ context.Context, _ string, o crawl.Options, each func(crawl.Page) error) error {
		o.Cut = nil
		require.Equal(t, crawl.Options{Depth: 1, MaxPages: 9, MaxBytes: 50 << 20}, o)
		return errors.Join(
			each(crawl.Page{URL: "https://example.com/", ContentType: "text/plain", Data: []byte("Welcome to the museum.")}),
			each(crawl.Page{URL: "https://example.com/a", ContentType: "text/plain", Data: []byte("Tickets cost ten euros.")}),
			each(crawl.Page{URL: "https://example.com/b", ContentType: "image/png", Data: []byte("\x89PNG\r\n\x1a\n")}))
	}
	b := w.base()
	site := w.address(b, "https://example.com/")
	site.CrawlDepth, site.CrawlPages = 1, 9
	d := w.add(site)
	w.runDueJobs()
	chunks, err := knowledge.ListChunks(context.Background(), w.tenants, w.one, d, 0, 10)
	require.NoError(t, err)
	require.Len(t, chunks, 2)
	require.Equal(t, "https://example.com/a", *chunks[1].URL)
	found, err := w.searcher.Search(context.Background(), w.one, knowledge.Query{Text: "tickets", Bases: []id.KnowledgeBase{b}, Limit: 1})
	require.NoError(t, err)
	require.Equal(t, "https://example.com/a", *found[0].URL)
}

func TestOnlyAddressesAreReadAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.read(w.base(), opening)
	err := w.inTx(func(ctx context.Context, tx *tenant.Tx) error {
		_, err := knowledge.ReadAgain(ctx, tx, d, w.who())
		return err
	})
	require.ErrorIs(t, err, &errdefs.Conflict{Noun: knowledge.DocumentNoun, Reason: knowledge.ReasonNoAddress})
}

// A refresh that a slow site did not answer in time leaves the pages that are found, and
// says so; a first reading takes what there is.
func TestARefreshThatIsCutKeepsWhatIsFound(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	pages, cut := 2, true
	w.fetch = func(_ context.Context, _ string, o crawl.Options, each func(crawl.Page) error) error {
		for n := range pages {
			url := fmt.Sprint("https://example.com/", n)
			if err := each(crawl.Page{URL: url, ContentType: "text/plain", Data: []byte("The museum, page " + url)}); err != nil {
				return err
			}
		}
		if cut {
			o.Cut()
		}
		return nil
	}
	b := w.base()
	site := w.address(b, "https://example.com/")
	site.CrawlDepth, site.CrawlPages = 1, 9
	d := w.add(site)
	w.runDueJobs()
	require.Equal(t, knowledge.Ready, w.document(d).Status)
	require.Len(t, w.find(w.searcher, "museum", b), 2)

	refresh := func() knowledge.Document {
		w.readAgain(d)
		for range 4 {
			w.runDueJobs()
			w.clock.Step(10 * time.Minute)
		}
		return w.document(d)
	}
	pages = 1
	got := refresh()
	require.Equal(t, []any{knowledge.Ready, knowledge.Timeout}, []any{got.Status, got.Error})
	require.Len(t, w.find(w.searcher, "museum", b), 2)
	pages = 3
	require.Empty(t, refresh().Error)
	require.Len(t, w.find(w.searcher, "museum", b), 3)
	pages, cut = 1, false
	require.Empty(t, refresh().Error)
	require.Len(t, w.find(w.searcher, "museum", b), 1, "a site that became smaller is so")
}
