package answer

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// phrasings reads a file of phrases: a language and what is said in it.
func phrasings(t *testing.T, name string) map[string][]string {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name)
	require.NoError(t, err)
	all := map[string][]string{}
	for line := range strings.Lines(string(text)) {
		language, said, ok := strings.Cut(strings.TrimSpace(line), ":")
		if !ok || line[0] == '#' {
			continue
		}
		for one := range strings.SplitSeq(said, "|") {
			all[language] = append(all[language], strings.TrimSpace(one))
		}
	}
	return all
}

// Whoever asks whether they talk with a machine is told, however they ask, and also
// where the conversation is held in another language.
func TestDisclosureNeverFails(t *testing.T) {
	for _, name := range []string{"disclosure.txt", "disclosure_more.txt"} {
		n := 0
		for language, said := range phrasings(t, name) {
			for _, text := range said {
				n++
				heard := Hear(language, text)
				assert.Equal(t, Disclosure, heard.Act, "%s: %s", language, text)
				assert.Equal(t, Disclosure, Hear("en", text).Act, "in an English conversation: %s", text)
				assert.Equal(t, Disclosure, Hear("fr", text).Act, "in a French conversation: %s", text)
			}
		}
		require.GreaterOrEqual(t, n, 200, name)
	}
}

func TestWhatOnlyLooksLikeAskingForDisclosure(t *testing.T) {
	for language, said := range phrasings(t, "lookalikes.txt") {
		for _, text := range said {
			assert.NotEqual(t, Disclosure, Hear(language, text).Act, "%s: %s", language, text)
		}
	}
}
