package search

import (
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
)

// A compound is found by the word that it is a kind of, and less surely by what belongs to it; in
// a language that writes them apart nothing is.
func TestCompoundsAreFoundByTheirParts(t *testing.T) {
	t.Parallel()

	x, kind, part, english := New(), id.NewDocument(), id.NewDocument(), id.NewDocument()
	require.NoError(t, x.Add(kind, nil, "de", one("de", "Neben dem Eingang sind 300 Stellplätze.")))
	require.NoError(t, x.Add(part, nil, "de", one("de", "Platzwunden versorgt die Ambulanz.")))
	require.NoError(t, x.Add(english, nil, "en", one("en", "Backgammon is played upstairs.")))
	hits := x.Search(Query{Language: "de", Text: "Plätze", Limit: 5})
	require.Len(t, hits, 2)
	require.Equal(t, kind, hits[0].Document)
	require.Greater(t, hits[0].Score, hits[1].Score)
	require.Empty(t, found(x, Query{Language: "de", Text: "Plätze", Plain: true}))
	require.NotContains(t, found(x, Query{Language: "en", Text: "back"}), english)
}

// The first part alone says what a compound means only where it is long: "überall" is no taxi.
func TestWhatThePartsOfACompoundMean(t *testing.T) {
	v := vocabularyOf("de")
	for word, parts := range map[string]int{"familienkarte": 2, "jareskarte": 1, "uberall": 0} {
		require.Equal(t, parts, v.compounded(word), word)
	}
}

// A compound with a part that means nothing is set right by the documents alone.
func TestMisspelledCompounds(t *testing.T) {
	s := NewSpeller("de", []string{"jahreskarte", "kundenkarte"})
	right := func(text string) string { return s.Right(text, func(string) bool { return false }) }
	require.Equal(t, "was kostet eine jahreskarte", right("was kostet eine jareskarte"))
	require.Equal(t, "eine familienkarte", right("eine familienkarte"))
}

func TestAcronymsAreNoStopWords(t *testing.T) {
	stops := func(text string) (stop []bool) {
		for _, term := range Terms("en", text) {
			stop = append(stop, term.Stop)
		}
		return stop
	}
	require.Equal(t, []bool{true, true, false}, stops("who does IT"))
	require.Equal(t, []bool{true, true, true}, stops("who does it"))
	require.Equal(t, []bool{true, true, true}, stops("WHO DOES IT"), "who shouts writes no acronyms")
}

// A word that nobody knows is not taken for one of the lexicon that has another letter: many words
// are in neither it nor the documents.
func TestUnknownWordsAreNotSetRightLightly(t *testing.T) {
	s := NewSpeller("fr", []string{"coloration"})
	right := func(text string) string { return s.Right(text, func(string) bool { return false }) }
	require.Equal(t, "une couleur", right("une couleur"))
	require.Equal(t, "une coloration", right("une colloration"))
}
