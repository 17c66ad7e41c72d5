package search

import (
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/text/lexicon"
)

// keysOf are the keys of what a text means.
func keysOf(language, text string) (keys []string) {
	for _, m := range Meanings(language, text) {
		for _, c := range m.Concepts {
			keys = append(keys, lexicon.Concepts()[c].Key)
		}
	}
	return keys
}

func TestPhrasesWhateverArticlesStandInThem(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"leave my coat", "leave your coat", "leave the coat", "leave coats"} {
		require.Contains(t, keysOf("en", "Where can people "+text+"?"), "cloakroom_place", text)
	}
	require.Contains(t, keysOf("de", "Kann ich den Koffer hier abstellen, oder Gepäck abstellen?"), "locker_box")
	require.NotContains(t, keysOf("en", "Leave the room and put on a coat."), "cloakroom_place")
	require.NotContains(t, keysOf("en", "am I allowed in?"), "morning")
}

// German parts its verbs: what belongs to "hat" stands at the end.
func TestVerbsInTwoParts(t *testing.T) {
	t.Parallel()
	for text, key := range map[string]string{
		"Hat das Café heute auf?": "open_word", "Wann macht ihr morgen auf": "open_word", "Habt ihr sonntags zu?": "close_word", "Ist der Laden am Montag zu?": "close_word",
	} {
		require.Contains(t, keysOf("de", text), key, text)
	}
	for _, text := range []string{"Was gibt es zu essen?", "Passt jemand auf?", "Wir haben Lust auf Eis."} {
		require.NotContains(t, keysOf("de", text), "close_word", text)
		require.NotContains(t, keysOf("de", text), "open_word", text)
	}
}
