package search_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/text/lexicon"
	"visavis.dev/pkg/text/search"
)

func keysOf(meanings []search.Meaning) (keys []string) {
	for _, m := range meanings {
		for _, c := range m.Concepts {
			keys = append(keys, lexicon.Concepts()[c].Key)
		}
	}
	return keys
}

func TestUnderstand(t *testing.T) {
	for _, c := range []struct{ language, text, want string }{
		{"en", "Is there a car park?", "parking"}, {"en", "is there parkng", "parking"}, {"de", "Hundeverbot", "pets"},
		{"de", "wann habt ihr geöffnet", "hours"}, {"pl", "Czy można wejść z psem?", "pets"}, {"zh", "停车多少钱", "price"},
		{"ja", "駐車場はありますか", "parking"}, {"ar", "هل المواقف مجانية", "free"}, {"tr", "köpeğimi getirebilir miyim", "pets"},
	} {
		require.Contains(t, keysOf(search.Understand(c.language, c.text)), c.want, c.text)
	}
	require.Empty(t, search.Meanings("xx", "parking"))
}

// A stop word means nothing that is only written alike but for its diacritics.
func TestStopWordsAreNotTheirLookalikes(t *testing.T) {
	for _, c := range []struct{ language, text, not string }{
		{"fr", "posez le sac sur le banc", "security"}, {"es", "te puedo ayudar", "coffee_tea"}, {"de", "über den Hof", "taxi_word"},
	} {
		require.NotContains(t, keysOf(search.Meanings(c.language, c.text)), c.not, c.text)
	}
	require.Contains(t, keysOf(search.Meanings("es", "té verde")), "coffee_tea")
	require.Contains(t, keysOf(search.Meanings("de", "ein Uber rufen")), "taxi_word")
	require.Contains(t, keysOf(search.Meanings("fr", "en ete")), "summer", "typed without its accents")
}

// Short words of languages that write no spaces, and words that mean much else, are no concepts by themselves.
func TestOrdinaryWordsMeanNothingElse(t *testing.T) {
	for _, c := range []struct{ language, text, not string }{
		{"ja", "館内のどこですか", "ear_nose_throat"}, {"ja", "スタイリストを選べますか", "wild_animal"}, {"ja", "腕時計をなくしました", "arm_hand"},
		{"pl", "Jak zostać wolontariuszem?", "remain_stay"}, {"ar", "ما هي طرق الدفع", "road_way"}, {"es", "¿Dónde puedo retirar mi pedido?", "take_off_remove"},
		{"fr", "pas avant l'âge de 6 ans", "after_hours"}, {"de", "Öffnen Sie erst um 10?", "after_hours"}, {"fr", "le parking sous le bâtiment", "money_light"},
	} {
		require.NotContains(t, keysOf(search.Understand(c.language, c.text)), c.not, c.text)
	}
}

// A question finds what means the same, in its own language and in another, and what is
// only misspelled.
func TestFindsByMeaning(t *testing.T) {
	x := search.New()
	texts := []search.Text{
		{ID: id.NewChunk(), Text: "Dogs are welcome on a leash."}, {ID: id.NewChunk(), Text: "The apprenticeship begins in September."},
		{ID: id.NewChunk(), Text: "Our restaurant serves soup at noon."}, {ID: id.NewChunk(), Text: "The car park behind the house has 40 spaces."},
	}
	require.NoError(t, x.Add(id.NewDocument(), nil, "en", search.Analyze("en", texts).Marshal()))
	for _, c := range []struct {
		language, text string
		want           int
	}{
		{"en", "can I bring my puppy?", 0}, {"de", "Darf mein Hund mit?", 0}, {"ja", "犬は入れますか", 0}, {"en", "aprenticeship", 1},
		{"fr", "où peut-on manger ?", 2}, {"es", "¿dónde puedo aparcar?", 3}, {"zh", "可以停车吗", 3},
	} {
		hits := x.Search(search.Query{Language: c.language, Text: c.text, Limit: 1})
		require.NotEmpty(t, hits, c.text)
		require.Equal(t, c.want, slices.IndexFunc(texts, func(p search.Text) bool { return p.ID == hits[0].Passage }), c.text)
		require.Empty(t, x.Search(search.Query{Language: c.language, Text: c.text, Limit: 1, Plain: true}), "the words alone do not find %s", c.text)
	}
}

func TestHostileQuestionsAreBounded(t *testing.T) {
	x := search.New()
	require.NoError(t, x.Add(id.NewDocument(), nil, "en", search.Analyze("en", []search.Text{{ID: id.NewChunk(), Text: "Dogs are welcome."}}).Marshal()))
	for _, text := range []string{strings.Repeat("dgo parkng ", 20_000), strings.Repeat("é́", 10_000), "\x00\xff\xfe", strings.Repeat("犬", 50_000)} {
		require.NotPanics(t, func() { x.Search(search.Query{Text: text, Limit: 5}) })
		require.NotPanics(t, func() { search.Understand("de", text) })
	}
}

// A word means what the nearest with its stem does, and not what others with that stem do.
func TestMeaningsOfWordsThatShareAStem(t *testing.T) {
	keys := func(language, text string) (all []string) {
		for _, m := range search.Meanings(language, text) {
			for _, c := range m.Concepts {
				all = append(all, lexicon.Concepts()[c].Key)
			}
		}
		return all
	}
	require.NotContains(t, keys("es", "plazas"), "deadline", "plazos have one")
	require.Contains(t, keys("es", "plazas"), "capacity")
	require.Contains(t, keys("es", "plazos"), "deadline")
	require.NotContains(t, keys("es", "plazos"), "parking")
}
