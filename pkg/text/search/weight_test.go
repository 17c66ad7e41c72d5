package search

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"visavis.dev/pkg/base/id"
)

// hostile is a text of random words: hardly one comes twice.
func hostile(bytes int) []Text {
	random := rand.New(rand.NewPCG(5, 6))
	var passages []Text
	for bytes > 0 {
		var text strings.Builder
		for range 150 {
			for range 8 {
				text.WriteByte(byte('a' + random.IntN(26)))
			}
			text.WriteByte(' ')
		}
		bytes -= text.Len()
		passages = append(passages, Text{ID: id.NewChunk(), Text: text.String()})
	}
	return passages
}

// written is a text of some passages, its words as frequent as those of a language.
func written(seed uint64, passages int, word func(n uint64) string) []Text {
	random := rand.New(rand.NewPCG(seed, 8))
	zipf := rand.NewZipf(random, 1.07, 8, 60_000)
	out := make([]Text, passages)
	for i := range out {
		var text strings.Builder
		for range 200 {
			text.WriteString(word(zipf.Uint64()))
		}
		out[i] = Text{ID: id.NewChunk(), Text: text.String()}
	}
	return out
}

// scripts that a thousand pages are written in: with spaces, and without.
var spellings = map[string]func(uint64) string{
	"latin":  func(n uint64) string { return strings.Map(letterOf('a', 20), fmt.Sprint("1", n)) + " " },
	"arabic": func(n uint64) string { return strings.Map(letterOf('ب', 10), fmt.Sprint("1", n)) + " " },
	"han": func(n uint64) string {
		return string([]rune{rune(0x4e00 + n*7919%3500), rune(0x4e00 + n*104729%3500)})
	},
	"kana": func(n uint64) string {
		return string([]rune{rune(0x3042 + n*31%80), rune(0x3042 + n*17%80), rune(0x4e00 + n*104729%2000)})
	},
}

func letterOf(first rune, step int) func(rune) rune {
	return func(digit rune) rune { return first + (digit-'0')*rune(step)/10 }
}

// Not parallel: it measures the heap. What is read goes into the index as it is
// read, so that adding takes little more than what is held then.
func TestRandomWordsTakeLittle(t *testing.T) {
	const text = 2 << 20
	forms, weight, err := Build("xx", hostile(text))
	require.NoError(t, err)
	x := New()
	var before, after runtime.MemStats
	heap := heapInUse()
	runtime.ReadMemStats(&before)
	require.NoError(t, x.Add(id.NewDocument(), nil, "xx", forms...))
	runtime.ReadMemStats(&after)
	_, _, held := x.Size()
	require.InEpsilon(t, heapInUse()-heap, held, 0.2)
	require.Less(t, held, int64(6*text))
	require.Less(t, int64(after.TotalAlloc-before.TotalAlloc), held*5/2, "all that was allocated on the way")
	require.Less(t, held, weight.Bytes(1), "no more than it was weighed at")
	runtime.KeepAlive(x)
	runtime.KeepAlive(forms)
}

func TestADocumentOfRandomWordsIsTooLarge(t *testing.T) {
	t.Parallel()

	_, _, err := Build("xx", hostile(9<<20))
	require.ErrorIs(t, err, ErrTooLarge)
}

// What a pack weighs is at least what its index takes, whatever it is written in
// and however it is cut into documents; and a thousand pages fit many times.
func TestWeightIsWhatAnIndexTakesAtMost(t *testing.T) {
	t.Parallel()

	for name, word := range spellings {
		for _, documents := range []int{1, 50} {
			x, all, passages := New(), Weight{}, 1000/documents
			for i := range documents {
				forms, weight, err := Build("", written(uint64(i), passages, word))
				require.NoError(t, err)
				require.NoError(t, x.Add(id.NewDocument(), nil, "", forms...))
				all.Add(weight)
			}
			_, _, held := x.Size()
			weight := all.Bytes(int64(documents))
			t.Logf("%s in %d documents: held %d KiB, weighs %d KiB", name, documents, held>>10, weight>>10)
			require.Less(t, held, weight, name)
			require.Less(t, weight, 3*held, name)
			require.Less(t, 5*weight/2, int64(MaxDocumentBytes), "2,500 passages, as on a thousand pages")
		}
	}
}

func TestVocabularyCounts(t *testing.T) {
	t.Parallel()

	for _, n := range []int{0, 1, 100, 5_000, 300_000} {
		half, other, want := make(Vocabulary, registers), make(Vocabulary, registers), 0
		for i := range n {
			term := fmt.Sprint("term", i)
			want += (termBytes + len(term) + unitBytes - 1) / unitBytes * unitBytes
			half.enter(term)
			half.enter(term)
			if i%2 == 0 {
				other.enter(term)
			}
		}
		require.InDelta(t, want, half.With(other).bytes(), float64(want)/8, "%d terms", n)
		require.Equal(t, half.bytes(), other.With(half).bytes())
	}
	require.Nil(t, Vocabulary(nil).With(nil))
	require.Zero(t, Vocabulary("of another release").bytes())
}

// recount is what an index takes, by walking it.
func (x *Index) recount() (bytes int64) {
	for _, p := range x.parts {
		counted := p.dictionary.bytes() + p.lists.blocks.bytes() + p.slots.bytes()
		lists := p.lists
		idle, long := 0, 0
		for class, free := range lists.free {
			idle += len(free) << class
			counted += allocated(4 * cap(free))
		}
		for _, list := range lists.long {
			long += cap(list)
		}
		if idle != lists.idle || long != lists.longCap {
			panic(fmt.Sprintf("%d postings are idle and %d long, but %d and %d are counted", idle, long, lists.idle, lists.longCap))
		}
		counted += allocated(4*long) + allocated(24*cap(lists.long)) + allocated(4*cap(lists.longFree))
		for _, d := range p.documents {
			counted += d.bytes()
		}
		bytes += counted
	}
	return bytes
}

// Whatever comes and goes, the bytes that are counted on the way are those of a
// recount, and no posting is lost or doubled.
func TestBytesAreThoseOfARecount(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		x, postings := New(), map[id.Document]int{}
		for range rapid.IntRange(1, 25).Draw(t, "steps") {
			doc := id.Document{15: byte(rapid.IntRange(1, 5).Draw(t, "doc"))}
			if rapid.IntRange(0, 2).Draw(t, "remove") == 0 {
				x.Remove(doc)
				delete(postings, doc)
			} else {
				forms, weight, err := Build("", written(rapid.Uint64().Draw(t, "seed"), rapid.IntRange(0, 12).Draw(t, "passages"), spellings["latin"]))
				require.NoError(t, err)
				require.NoError(t, x.Add(doc, []string{"tag"}, "", forms...))
				postings[doc] = int(weight.Postings)
			}
			_, _, bytes := x.Size()
			require.Equal(t, x.recount(), bytes)
			want, got := 0, 0
			for _, n := range postings {
				want += n
			}
			for _, p := range x.parts {
				for i := range p.dictionary.terms.length {
					got += len(p.lists.of(p.dictionary.terms.at(i)))
				}
			}
			require.Equal(t, want, got)
		}
	})
}

func TestASearchGivesUpAtItsDeadline(t *testing.T) {
	t.Parallel()

	x, _ := filled(200)
	q := Query{Text: "wg0 wh1 wi2", Limit: 5}
	want := x.Search(q)
	require.Len(t, want, 5)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := x.Find(ctx, q)
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, want, x.Search(q), "nothing of the one before is left")
}

func TestTheRarestWordsAreAfforded(t *testing.T) {
	t.Parallel()

	words := []asked{{found: 90}, {found: 5}, {found: 40}, {found: 30}}
	found := func(words []asked) (n []int) {
		for _, w := range words {
			n = append(n, w.found)
		}
		return n
	}
	require.Equal(t, words, affordable(words, 4, 165))
	require.Equal(t, []int{5, 40, 30}, found(affordable(words, 4, 164)))
	require.Equal(t, []int{5, 30}, found(affordable(words, 2, 1000)))
	require.Empty(t, affordable(words, 4, 4))
}
