package search_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/text/lexicon"
	"visavis.dev/pkg/text/search"
)

func TestSynonyms(t *testing.T) {
	s := search.NewSynonyms([][]string{{"Rezi", "front desk"}, {"Schwimmbad", "Blue Lagoon"}, {"総合受付", "受付窓口"}, {"VPN", "tunnel access"}}, []string{"de", "en"})
	for name, c := range map[string]struct {
		language, text string
		stretch        string
		same           []string
	}{
		"a word":                          {"de", "wann macht die rezi auf", "rezi", []string{"front desk"}},
		"a phrase":                        {"en", "Where is the front desk?", "front desk", []string{"Rezi"}},
		"inflected":                       {"en", "are there front desks", "front desks", []string{"Rezi"}},
		"misspelled":                      {"de", "Wo ist das Schwimbad?", "Schwimbad", []string{"Blue Lagoon"}},
		"by what the lexicon says":        {"en", "is the swimming pool open", "swimming pool", []string{"Schwimmbad", "Blue Lagoon"}},
		"without spaces":                  {"ja", "総合受付はどこですか", "総合受付", []string{"受付窓口"}},
		"an abbreviation":                 {"en", "my vpn is broken", "vpn", []string{"tunnel access"}},
		"a short word is not another one": {"en", "the vpns of it", "vpns", nil},
	} {
		t.Run(name, func(t *testing.T) {
			var same []string
			for _, m := range s.Understand(c.language, c.text) {
				if c.text[m.From:m.To] == c.stretch {
					same = m.Same
				}
			}
			require.Equal(t, c.same, same)
		})
	}
	var none *search.Synonyms
	require.Equal(t, search.Understand("en", "Where is the front desk?"), none.Understand("en", "Where is the front desk?"))
	require.Nil(t, search.NewSynonyms(nil, []string{"en"}))
}

// Who knows a word by the lexicon is understood by it, in every language.
func TestSynonymsMeanWhatOneOfThemMeans(t *testing.T) {
	s := search.NewSynonyms([][]string{{"Kuschelzoo", "swimming pool"}}, []string{"en"})
	for _, m := range s.Understand("de", "Wo ist der Kuschelzoo?") {
		for _, c := range m.Concepts {
			if lexicon.Concepts()[c].Key == "swim_pool" {
				return
			}
		}
	}
	t.Fatal("the other word's concept is not understood")
}

// A question with one word finds passages with another, and what it is about is held by them.
func TestSearchBySynonyms(t *testing.T) {
	x := search.New()
	for _, text := range []string{"The Rezi is on the ground floor.", "The sauna is on the second floor.", "Lifts stop on every floor."} {
		form := search.Analyze("en", []search.Text{{ID: id.NewChunk(), Text: text}}).Marshal()
		require.NoError(t, x.Add(id.NewDocument(), nil, "en", form))
	}
	q := search.Query{Language: "en", Text: "where is the welcome counter", Limit: 1}
	for _, h := range x.Search(q) {
		require.Less(t, h.Support, 0.3, "nobody said so")
	}
	q.Synonyms = search.NewSynonyms([][]string{{"welcome counter", "Rezi"}}, []string{"en"})
	hits := x.Search(q)
	require.Len(t, hits, 1)
	require.Greater(t, hits[0].Support, 0.7)
}
