package knowledge_test

import (
	"context"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/personas/knowledge"
)

// randomWords is a text of random words: hardly one comes twice.
func randomWords(seed uint64, bytes int) string {
	random := rand.New(rand.NewPCG(seed, 9))
	var text strings.Builder
	for text.Len() < bytes {
		for range 8 {
			text.WriteByte(byte('a' + random.IntN(26)))
		}
		text.WriteString(" ")
	}
	return text.String()
}

func heapInUse() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// Not parallel: it measures the heap. A pack of random words takes a small
// multiple of its text, counted and in truth, and little more on the way there.
func TestSearchingRandomWordsTakesLittle(t *testing.T) {
	const documents, size = 3, 1 << 20
	w := newWorld(t)
	b := w.base()
	first := randomWords(0, size)
	w.read(b, first)
	for seed := range uint64(documents - 1) {
		w.read(b, randomWords(seed+1, size))
	}
	word, _, _ := strings.Cut(first, " ")
	small := w.base()
	w.read(small, opening)
	w.find(knowledge.NewSearcher(w.tenants, knowledge.SearcherOptions{Memory: 1 << 20}), "opening", small) // what all packs share is read now
	s := knowledge.NewSearcher(w.tenants, knowledge.SearcherOptions{Memory: 1 << 30})
	heap := heapInUse()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	require.NotEmpty(t, w.find(s, word, b))
	runtime.ReadMemStats(&after)
	packs, held, _ := s.Held()
	require.Equal(t, 1, packs)
	require.Less(t, held, int64(6*documents*size))
	require.InDelta(t, held, heapInUse()-heap, float64(held)/4)
	require.Less(t, int64(after.TotalAlloc-before.TotalAlloc), 3*held, "all that was allocated on the way")
	runtime.KeepAlive(s)
}

func TestAFullPackTakesNoMore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.base()
	d := w.read(b, opening)
	db, err := w.tenants.Shard(context.Background(), "a")
	require.NoError(t, err)
	exec := func(sql string) {
		_, err := db.Exec(context.Background(), sql)
		require.NoError(t, err)
	}
	// It has room for a page or two: what does not fit shows when it is read.
	exec(`UPDATE knowledge_base SET postings = postings + 12500000`)
	large := w.add(w.text(b, randomWords(1, 400<<10)))
	w.runDueJobs()
	failed := w.document(large)
	require.Equal(t, []any{knowledge.Failed, knowledge.PackFull}, []any{failed.Status, failed.Error})
	require.Zero(t, w.count("knowledge_chunk WHERE document_id <> '"+uuid.UUID(d).String()+"'"))
	require.Equal(t, knowledge.Ready, w.document(w.read(b, "Tickets of the museum cost ten euros.")).Status)
	require.Len(t, w.find(w.searcher, "museum", b), 2, "what was in it before is found")

	exec(`UPDATE knowledge_base SET postings = postings + 100000`)
	_, outcome, err := w.tryAdd(w.text(b, "one more"), terms(nil))
	require.NoError(t, err)
	require.Equal(t, knowledge.FullIndex, outcome)
	exec(`UPDATE knowledge_base SET postings = postings - 12600000`)
	w.read(b, "one more")
}

// The words of documents that were deleted count no more once the pack seems full.
func TestDeletedWordsMakeRoom(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.base()
	w.delete(w.read(b, randomWords(1, 1<<20)))
	db, err := w.tenants.Shard(context.Background(), "a")
	require.NoError(t, err)
	weigh := func() (bytes int) {
		require.NoError(t, db.QueryRow(context.Background(), `SELECT sum(get_byte(vocabulary, i)) FROM knowledge_base, generate_series(0, 1023) g (i)`).Scan(&bytes))
		return bytes
	}
	kept := weigh()
	_, err = db.Exec(context.Background(), `UPDATE knowledge_base SET postings = postings + 12400000`)
	require.NoError(t, err)
	w.read(b, opening)
	require.Less(t, weigh(), kept/2)
}

func TestBytesOfAPack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.base()
	limit := int64(len(opening) + 10)
	limits := terms(plan.Limits{plan.BytesPerBase: &limit})
	for _, tt := range []struct {
		text string
		want knowledge.Outcome
	}{{opening, knowledge.Added}, {"eleven long", knowledge.FullBytes}, {"ten long.", knowledge.Added}} {
		_, outcome, err := w.tryAdd(w.text(b, tt.text), limits)
		require.NoError(t, err)
		require.Equal(t, tt.want, outcome, tt.text)
	}
}

func TestAPackFromBeforeItWasBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.base()
	w.read(b, opening)
	require.NotEmpty(t, w.find(w.searcher, "museum", b))
	large := w.read(b, randomWords(1, 100<<10))
	cold := knowledge.NewSearcher(w.tenants, knowledge.SearcherOptions{Memory: 1 << 30})
	search := func(s *knowledge.Searcher) error {
		_, err := s.Search(context.Background(), w.one, knowledge.Query{Text: "museum", Bases: []id.KnowledgeBase{b}, Limit: 5})
		return err
	}
	for _, s := range []*knowledge.Searcher{w.searcher, cold} {
		s.Bound(64 << 10)
		require.ErrorIs(t, search(s), knowledge.ErrTooLarge)
		packs, bytes, _ := s.Held()
		require.Zero(t, int64(packs)+bytes, "nothing of it is kept")
	}
	cold.Bound(1 << 30)
	require.ErrorIs(t, search(cold), knowledge.ErrTooLarge, "it is not loaded again as long as nothing changed in it")
	w.delete(large)
	require.NoError(t, search(cold))
}

// A pack that was written before packs were weighed has the room of the largest before it
// is loaded.
func TestAPackFromBeforeItWasWeighed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.base()
	w.read(b, opening)
	db, err := w.tenants.Shard(context.Background(), "a")
	require.NoError(t, err)
	_, err = db.Exec(context.Background(), `UPDATE knowledge_base SET postings = 0, vocabulary = ''`)
	require.NoError(t, err)
	s := knowledge.NewSearcher(w.tenants, knowledge.SearcherOptions{Memory: knowledge.MaxPackBytes / 2})
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	_, err = s.Search(ctx, w.one, knowledge.Query{Text: "museum", Bases: []id.KnowledgeBase{b}, Limit: 5})
	require.ErrorIs(t, err, knowledge.ErrBusy)
	require.NotEmpty(t, w.find(knowledge.NewSearcher(w.tenants, knowledge.SearcherOptions{Memory: 2 * knowledge.MaxPackBytes}), "museum", b))
}

func TestASearchWithoutRoom(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.base()
	w.read(b, randomWords(1, 100<<10))
	metrics := prometheus.NewRegistry()
	s := knowledge.NewSearcher(w.tenants, knowledge.SearcherOptions{Memory: 64 << 10, Metrics: metrics})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := s.Search(ctx, w.one, knowledge.Query{Text: "museum", Bases: []id.KnowledgeBase{b}, Limit: 5})
	require.ErrorIs(t, err, context.Canceled)
	// No pack weighs what this one is said to: it grows past its room as it is read.
	db, err := w.tenants.Shard(context.Background(), "a")
	require.NoError(t, err)
	_, err = db.Exec(context.Background(), `UPDATE knowledge_base SET postings = 1, vocabulary = ''`)
	require.NoError(t, err)
	_, err = s.Search(context.Background(), w.one, knowledge.Query{Text: "museum", Bases: []id.KnowledgeBase{b}, Limit: 5})
	require.ErrorIs(t, err, knowledge.ErrBusy)
	packs, bytes, _ := s.Held()
	require.Zero(t, int64(packs)+bytes)
	require.NoError(t, testutil.GatherAndCompare(metrics, strings.NewReader(`
		# HELP visavis_search_refused_total Searches of knowledge packs refused for want of memory or time.
		# TYPE visavis_search_refused_total counter
		visavis_search_refused_total 1
	`), "visavis_search_refused_total"))
}

// Who searches the same pack at once, when it is in memory nowhere, reads it once.
func TestAColdPackIsLoadedOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.base()
	w.read(b, opening)
	w.read(b, randomWords(1, 200<<10))
	metrics := prometheus.NewRegistry()
	s := knowledge.NewSearcher(w.tenants, knowledge.SearcherOptions{Memory: 1 << 30, Metrics: metrics})
	sent := w.sent.Of(t, "knowledge_index x", func() error {
		require.Zero(t, atOnce(t, 12, func(int) (bool, error) { return len(w.find(s, "museum", b)) != 1, nil }))
		return nil
	})
	require.Len(t, sent, 1)
	packs, bytes, evictions := s.Held()
	require.Equal(t, 1, packs)
	require.Zero(t, evictions)
	require.NoError(t, testutil.GatherAndCompare(metrics, strings.NewReader(`
		# HELP visavis_search_loads_total Knowledge packs read into memory to be searched.
		# TYPE visavis_search_loads_total counter
		visavis_search_loads_total 1
		# HELP visavis_search_packs Knowledge packs in memory.
		# TYPE visavis_search_packs gauge
		visavis_search_packs 1
	`), "visavis_search_loads_total", "visavis_search_packs"))
	require.Greater(t, bytes, int64(200<<10))
}
