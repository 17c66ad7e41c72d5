package search

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"visavis.dev/pkg/base/id"
)

func one(language, text string) []byte {
	return Analyze(language, []Text{{ID: id.NewChunk(), Text: text}}).Marshal()
}

// found are the supports of the documents that a query finds.
func found(x *Index, q Query) map[id.Document]float64 {
	out := map[id.Document]float64{}
	q.Limit = 100
	for _, h := range x.Search(q) {
		out[h.Document] = h.Support
	}
	return out
}

func TestAQuestionMeetsDocumentsOfOtherLanguages(t *testing.T) {
	t.Parallel()

	x, german, mistaken := New(), id.NewDocument(), id.NewDocument()
	require.NoError(t, x.Add(german, nil, "de", one("de", "Die Häuser von A-113")))
	require.NoError(t, x.Add(mistaken, nil, "en", one("en", "Häuser stehen leer")))
	for _, language := range []string{"de", "en", "fr", ""} {
		got := found(x, Query{Language: language, Text: "Häuser"})
		require.Len(t, got, 2, language)
		require.InDelta(t, 1, got[german], 1e-6)
	}
	require.Contains(t, found(x, Query{Language: "ja", Text: "a113"}), german)
	require.Contains(t, found(x, Query{Language: "de", Text: "ein haeuser"}), german)
}

func TestSupportIsTheShareThatIsThere(t *testing.T) {
	t.Parallel()

	x, doc := New(), id.NewDocument()
	require.NoError(t, x.Add(doc, nil, "en", one("en", "The warranty of the bicycle is two years")))
	for range 20 {
		require.NoError(t, x.Add(id.NewDocument(), nil, "en", one("en", "Other bicycles cost money")))
	}
	require.InDelta(t, 1, found(x, Query{Text: "What is the warranty of the bicycle?"})[doc], 1e-6)
	low := found(x, Query{Text: "Does the bicycle have a saxophone?"})[doc]
	require.Less(t, low, 0.3)
	require.Greater(t, low, 0.0)
	require.Empty(t, x.Search(Query{Text: "saxophone", Limit: 5}))
	require.Empty(t, x.Search(Query{Text: "", Limit: 5}))
	require.Empty(t, x.Search(Query{Text: "bicycle"}))
	require.Empty(t, New().Search(Query{Text: "bicycle", Limit: 5}))
}

func TestFilters(t *testing.T) {
	t.Parallel()

	x, a, b, c := New(), id.NewDocument(), id.NewDocument(), id.NewDocument()
	require.NoError(t, x.Add(a, []string{"x", "y"}, "en", one("en", "Berlin")))
	require.NoError(t, x.Add(b, []string{"z"}, "de-CH", one("de", "Berlin")))
	require.NoError(t, x.Add(c, nil, "", one("", "Berlin")))
	require.Len(t, found(x, Query{Text: "Berlin"}), 3)
	require.Len(t, found(x, Query{Text: "Berlin", Tags: []string{"y", "z"}}), 2)
	require.Empty(t, found(x, Query{Text: "Berlin", Tags: []string{"none"}}))
	require.Contains(t, found(x, Query{Text: "Berlin", DocumentLanguage: "de"}), b)
	require.Len(t, found(x, Query{Text: "Berlin", DocumentLanguage: "de"}), 1)
	require.Len(t, x.Search(Query{Text: "Berlin", Limit: 2}), 2)
}

func TestTiesAreInTheOrderOfIDs(t *testing.T) {
	t.Parallel()

	x := New()
	for range 30 {
		require.NoError(t, x.Add(id.Document(uuid.New()), nil, "en", one("en", "the same words")))
	}
	hits := x.Search(Query{Text: "same words", Limit: 10})
	require.Len(t, hits, 10)
	all := x.Search(Query{Text: "same words", Limit: 30})
	require.Equal(t, all[:10], hits)
	for i := range all[1:] {
		require.Less(t, uuid.UUID(all[i].Document).String(), uuid.UUID(all[i+1].Document).String())
	}
}

// Whatever was added, replaced and removed on the way, an index answers as a
// fresh one of what is left.
func TestAnIndexForgets(t *testing.T) {
	t.Parallel()

	words := []string{"one", "two", "three", "vier", "fünf", "six", "seven"}
	rapid.Check(t, func(t *rapid.T) {
		type entry struct {
			tags     []string
			language string
			form     []byte
			passages int
		}
		x, left := New(), map[id.Document]entry{}
		ids := make([]id.Document, 6)
		for i := range ids {
			ids[i] = id.Document{15: byte(i)}
		}
		for range rapid.IntRange(0, 40).Draw(t, "steps") {
			doc := rapid.SampledFrom(ids).Draw(t, "doc")
			if rapid.Bool().Draw(t, "remove") {
				x.Remove(doc)
				delete(left, doc)
				continue
			}
			var passages []Text
			for n := range rapid.IntRange(0, 3).Draw(t, "passages") {
				text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 1, 6).Draw(t, "words"), " ")
				passages = append(passages, Text{ID: id.Chunk{0: doc[15], 15: byte(n)}, Text: text})
			}
			language := rapid.SampledFrom([]string{"en", "de"}).Draw(t, "language")
			e := entry{rapid.SliceOf(rapid.SampledFrom(words)).Draw(t, "tags"), language, Analyze(language, passages).Marshal(), len(passages)}
			require.NoError(t, x.Add(doc, e.tags, e.language, e.form))
			left[doc] = e
			if rapid.IntRange(0, 9).Draw(t, "close up") == 0 {
				for _, p := range x.parts {
					p.compact()
				}
			}
		}
		fresh, passages := New(), 0
		for doc, e := range left {
			require.NoError(t, fresh.Add(doc, e.tags, e.language, e.form))
			passages += e.passages
		}
		gotDocuments, gotPassages, _ := x.Size()
		require.Equal(t, len(left), gotDocuments)
		require.Equal(t, passages, gotPassages)
		for _, q := range []Query{{Text: "one"}, {Text: "two fünf six"}, {Language: "de", Text: "seven vier"}, {Text: "one two", Tags: words[:3]}} {
			q.Limit = 5
			require.Equal(t, fresh.Search(q), x.Search(q), q.Text)
		}
	})
}

// filled is an index of made-up documents, with their ids.
func filled(documents int) (*Index, []id.Document) {
	random := rand.New(rand.NewPCG(3, 4))
	zipf := rand.NewZipf(random, 1.1, 4, 30_000)
	x, ids := New(), make([]id.Document, documents)
	for i := range ids {
		var passages []Text
		for range 5 {
			var text strings.Builder
			for range 60 {
				fmt.Fprintf(&text, "w%c%x ", 'g'+rune(zipf.Uint64()%7), zipf.Uint64())
			}
			passages = append(passages, Text{ID: id.NewChunk(), Text: text.String()})
		}
		ids[i] = id.NewDocument()
		if err := x.Add(ids[i], []string{"tag"}, "xx", Analyze("xx", passages).Marshal()); err != nil {
			panic(err)
		}
	}
	return x, ids
}

func heapInUse() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// Not parallel: it measures the heap.
func TestSizeIsTheTruth(t *testing.T) {
	for _, documents := range []int{200, 2000} {
		before := heapInUse()
		x, ids := filled(documents)
		held := heapInUse() - before
		_, passages, bytes := x.Size()
		require.Equal(t, documents*5, passages)
		require.InEpsilon(t, held-int64(len(ids)*16), bytes, 0.2)
		for _, doc := range ids[10:] {
			x.Remove(doc)
		}
		_, _, less := x.Size()
		require.Less(t, less, bytes/2, "what was removed is given back")
		require.Less(t, heapInUse()-before, held*2/3)
		runtime.KeepAlive(ids)
	}
}

func TestSearchBesideAWriter(t *testing.T) {
	t.Parallel()

	x, ids := filled(50)
	var group sync.WaitGroup
	for range 3 {
		group.Go(func() {
			for range 200 {
				for _, h := range x.Search(Query{Text: "wg0 wh1 wi2", Limit: 5}) {
					if h.Support < 0 || h.Support > 1 || h.Document.IsZero() {
						t.Error("a hit of nothing", h)
					}
				}
			}
		})
	}
	for i := range 200 {
		require.NoError(t, x.Add(ids[i%50], nil, "xx", one("xx", "wg0 wh1")))
		x.Remove(ids[(i*7)%50])
	}
	group.Wait()
}

func BenchmarkSearch(b *testing.B) {
	x, _ := filled(2000)
	b.ReportAllocs()
	for b.Loop() {
		x.Search(Query{Language: "xx", Text: "wg0 wh1 wi2 wj3f wk4", Limit: 10})
	}
}
