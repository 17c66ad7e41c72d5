package search

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"visavis.dev/pkg/base/id"
)

// stored is what an index keeps of a document.
func stored(x *Index, doc id.Document) Analysed {
	p := x.where[doc]
	d := Analysed{Passages: []Passage{}}
	held := p.documents[doc]
	for at := held.first; at < held.first+held.count; at++ {
		s := p.slots.at(int(at))
		d.Passages = append(d.Passages, Passage{ID: s.id, Length: int(s.length), Terms: []Frequency{}})
	}
	for n := range numbersOf(held.numbers) {
		for _, posting := range p.lists.of(p.dictionary.terms.at(int(n))) {
			if at := posting.slot() - held.first; at < held.count {
				passage := &d.Passages[at]
				passage.Terms = append(passage.Terms, Frequency{string(p.dictionary.text(n)), posting.count()})
			}
		}
	}
	for _, passage := range d.Passages {
		slices.SortFunc(passage.Terms, func(a, b Frequency) int { return strings.Compare(a.Term, b.Term) })
	}
	return d
}

func TestMarshalRoundTrip(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		var passages []Text
		for range rapid.IntRange(0, 4).Draw(t, "passages") {
			passages = append(passages, Text{ID: id.NewChunk(), Heading: rapid.String().Draw(t, "heading"), Text: rapid.String().Draw(t, "text")})
		}
		language := rapid.SampledFrom([]string{"", "en", "de", "ja"}).Draw(t, "language")
		x, doc := New(), id.NewDocument()
		require.NoError(t, x.Add(id.NewDocument(), nil, language, one(language, "words that are there before")))
		d := Analyze(language, passages)
		require.NoError(t, x.Add(doc, nil, language, d.Marshal()))
		require.Equal(t, d, stored(x, doc))
	})
}

func TestAddRefuses(t *testing.T) {
	t.Parallel()

	x := New()
	require.NoError(t, x.Add(id.NewDocument(), nil, "en", one("en", "words that are there before")))
	whole := one("en", "some words and some more")
	for n := range whole {
		require.ErrorIs(t, x.Add(id.NewDocument(), nil, "en", whole, whole[:n]), ErrCorrupt, "cut at %d", n)
	}
	require.ErrorIs(t, x.Add(id.NewDocument(), nil, "en", append(whole, 0)), ErrCorrupt)
	whole[0]++
	require.ErrorIs(t, x.Add(id.NewDocument(), nil, "de", whole), ErrVersion)
	documents, passages, _ := x.Size()
	require.Equal(t, [2]int{1, 1}, [2]int{documents, passages}, "what is refused leaves nothing")
	require.Equal(t, 5, x.parts["en"].dictionary.live)
	require.Len(t, x.parts, 1)
}

// What was stored before Polish was stemmed is as good as new in every other language.
func TestAddTakesTheFormBefore(t *testing.T) {
	t.Parallel()

	x := New()
	for _, language := range []string{"en", "de-AT", "ja", ""} {
		before := one(language, "some words and some more")
		before[0] = 1
		require.NoError(t, x.Add(id.NewDocument(), nil, language, before), language)
	}
	for _, language := range []string{"pl", "pl-PL"} {
		before := one(language, "kilka słów i jeszcze kilka")
		before[0] = 1
		require.ErrorIs(t, x.Add(id.NewDocument(), nil, language, before), ErrVersion, language)
	}
	other := one("en", "some words")
	other[0] = 0
	require.ErrorIs(t, x.Add(id.NewDocument(), nil, "en", other), ErrVersion)
}

func TestHeadingsCountMore(t *testing.T) {
	t.Parallel()

	d := Analyze("en", []Text{{Heading: "Tickets", Text: "A ticket and a bus"}})
	require.Equal(t, []Frequency{{"a", 2}, {"and", 1}, {"bus", 1}, {"ticket", 1 + headingWeight}}, d.Passages[0].Terms)
	require.Equal(t, 3, d.Passages[0].Length)
}

func FuzzAdd(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{version, 0xff, 0xff, 0xff, 0xff, 0x0f})
	f.Add(Analyze("en", []Text{{Heading: "Title", Text: "some words and some more"}, {Text: "words"}}).Marshal())
	f.Fuzz(func(t *testing.T, b []byte) {
		x, doc := New(), id.NewDocument()
		require.NoError(t, x.Add(id.NewDocument(), nil, "en", one("en", "some words")))
		err := x.Add(doc, nil, "en", b)
		x.Search(Query{Text: "words", Limit: 3})
		if err == nil {
			again := New()
			require.NoError(t, again.Add(doc, nil, "en", stored(x, doc).Marshal()))
			require.Equal(t, stored(x, doc), stored(again, doc))
			x.Remove(doc)
		}
		require.Equal(t, 2, x.parts["en"].dictionary.live)
		require.Equal(t, 1, x.parts["en"].live)
	})
}
