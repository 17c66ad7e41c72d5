package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"time"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/text/search"
)

// searching measures how well the index ranks beside PostgreSQL, and how fast
// it is beside a scan of the postings it has to read.
func searching(ctx context.Context, f *fixture) error {
	if err := ranking(ctx, f); err != nil {
		return err
	}
	return searchSpeed()
}

const (
	packDocuments = 10_000
	perDocument   = 5
	perPassage    = 90
	vocabulary    = 60_000
	searches      = 2_000
	hits          = 10
)

// searchSpeed fills a pack with words as frequent as those of a language (the
// n-th most frequent 1/n as often as the first) and asks it questions of eight
// words out of its passages. The floor adds up as many postings, in a plain
// slice, as the passages hold of the question's words.
func searchSpeed() error {
	random := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(random, 1.07, 8, vocabulary-1)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	x := search.New()
	start := time.Now()
	for range packDocuments {
		if err := x.Add(id.NewDocument(), nil, "xx", search.Analyze("xx", madeUp(zipf)).Marshal()); err != nil {
			return err
		}
	}
	filling := time.Since(start)
	runtime.GC()
	runtime.ReadMemStats(&after)
	documents, passages, bytes := x.Size()
	report("Search/fill", documents, figure{float64(passages) / filling.Seconds(), "passages/s"},
		figure{float64(bytes) / (1 << 20), "MiB"}, figure{float64(after.HeapAlloc-before.HeapAlloc) / (1 << 20), "heap-MiB"})

	var took, floor []time.Duration
	for range searches {
		question, words := "", map[uint64]bool{}
		for range 8 {
			w := zipf.Uint64()
			words[w] = true
			question += wordOf(w) + " "
		}
		start := time.Now()
		if len(x.Search(search.Query{Language: "xx", Text: question, Limit: hits})) == 0 {
			return fmt.Errorf("nothing found for %q", question)
		}
		took = append(took, time.Since(start))
		floor = append(floor, scan(x, words))
	}
	percentiles("Search/floor", floor)
	percentiles("Search/index", took)
	return nil
}

func madeUp(zipf *rand.Zipf) []search.Text {
	out := make([]search.Text, perDocument)
	for i := range out {
		var text strings.Builder
		for range perPassage {
			text.WriteString(wordOf(zipf.Uint64()) + " ")
		}
		out[i] = search.Text{ID: id.NewChunk(), Text: text.String()}
	}
	return out
}

// wordOf spells a number in letters.
func wordOf(n uint64) string {
	word := []byte("q")
	for n++; n > 0; n /= 20 {
		word = append(word, "bcdfghjklmnprstvwxzy"[n%20])
	}
	return string(word)
}

// scan reads one posting for each passage that the words are in, and no more.
func scan(x *search.Index, words map[uint64]bool) time.Duration {
	text := make([]string, 0, len(words))
	for w := range words {
		text = append(text, wordOf(w))
	}
	list := make([]uint32, x.Postings("xx", text...))
	start, sum := time.Now(), uint32(0)
	for i := range list {
		sum += list[i]
	}
	took := time.Since(start)
	runtime.KeepAlive(sum) // or nothing would be added up
	return took
}

func percentiles(name string, took []time.Duration) {
	slices.Sort(took)
	at := func(share float64) float64 {
		return took[int(math.Min(share*float64(len(took)), float64(len(took)-1)))].Seconds() * 1e6
	}
	report(name, len(took), figure{at(0.5), "p50-µs"}, figure{at(0.95), "p95-µs"})
}
