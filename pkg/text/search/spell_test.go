package search_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/text/search"
)

func right(t *testing.T, language, text string, own ...string) string {
	t.Helper()
	s := search.NewSpeller(language, own)
	require.NotNil(t, s)
	return s.Right(text, func(string) bool { return false })
}

func TestMisspelledWordsAreSetRight(t *testing.T) {
	for _, c := range []struct{ language, typed, meant, own string }{
		{"en", "is parkng free", "is parking free", ""},
		{"en", "an apointment on wednesdya", "an appointment on wednesday", ""},
		{"en", "how mcuh", "how much", ""},
		{"en", "the ruoter", "the router", "router"},
		{"en", "uthenasia", "euthanasia", "euthanasia"},
		{"en", "lighthose", "lighthouse", "lighthouse"},
		{"en", "howmuch", "how much", ""},
		{"de", "ofnungszeiten", "offnungszeiten", ""},
		{"de", "Lymfdrainage", "lymphdrainage", "lymphdrainage"},
		{"fr", "oraires du mercerdi", "horaires du mercredi", ""},
		{"es", "horario de la bibloteca", "horario de la biblioteca", ""},
		{"it", "prenotazzione", "prenotazione", ""},
	} {
		require.Equal(t, c.meant, right(t, c.language, c.typed, c.own), c.typed)
	}
}

func TestWordsThatAreRightStay(t *testing.T) {
	for _, c := range []struct{ language, text, own string }{
		{"en", "my dog has long claws", "class"},           // another word
		{"en", "the hamsters", "hamster"},                  // another form
		{"en", "room B204 and ACME-7", "b205"},             // a code
		{"en", "Thornbeck", "thornbeck"},                   // the documents' own
		{"de", "er verleiht Boote", "verleih"},             // another form
		{"es", "la visita guiada", "guiadas"},              // another form
		{"fr", "je perds ma clé", "perdus"},                // another form
		{"en", "the boat", "goat"},                         // known, as short as it is
		{"de", "Kursrücktrittsgebühr", "rücktrittsgebühr"}, // far from any
	} {
		require.Equal(t, c.text, right(t, c.language, c.text, c.own))
	}
}

func TestNothingIsSpelledWithoutSpaces(t *testing.T) {
	require.Nil(t, search.NewSpeller("ja", nil))
	require.Nil(t, search.NewSpeller("xx", nil))
}

func TestFewWordsMayBeOfSeveralLanguages(t *testing.T) {
	for _, c := range []struct{ language, text string }{
		{"en", "no i meant glow"},
	} {
		require.True(t, search.MayBe(c.language, c.text), c.text)
	}
	for _, c := range []struct{ language, text string }{
		{"de", "where is the museum and when does it open"}, {"en", "wann habt ihr am Sonntag geöffnet"}, {"en", "何時に開きますか"},
	} {
		require.False(t, search.MayBe(c.language, c.text), c.text)
	}
}

func TestLanguagesAreKnownWithoutAccents(t *testing.T) {
	for text, language := range map[string]string{
		"cuanto cuesta el plan mas rapido": "es", "do you sell cell phone plans": "en", "telefon numaranız nedir?": "tr", "was kostet ein Hund pro Nacht?": "de",
	} {
		require.Equal(t, language, search.Detect(text), text)
	}
}
