package answer

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// What a form leaves out would not have matched: it finds what all its patterns in one
// alternation find.
func TestFormsFindWhatTheirPatternsFind(t *testing.T) {
	var texts []string
	for _, name := range phrasingFiles {
		for _, p := range phrasedIn(t, name) {
			texts = append(texts, p.text)
		}
	}
	texts = append(texts, mixed(texts, 200)...)
	sections := []string{"peril", "calm", "emergency", "disclosure", "person", "insult", "nature", "self", "aside", "filler", "summons", "plain"}
	for _, language := range Languages() {
		read := talkOf(language)
		for i, text := range texts {
			said := hear(text, read.spellings)
			section := sections[i%len(sections)]
			f := read.anywhere[section]
			require.Equal(t, f.joined().FindStringIndex(said.text), f.FindStringIndex(said.text), "%s %s: %s", language, section, text)
			require.Equal(t, f.joined().MatchString(said.text), f.MatchString(said.text), "%s %s: %s", language, section, text)
		}
	}
}
