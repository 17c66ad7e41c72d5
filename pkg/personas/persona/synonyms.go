package persona

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"visavis.dev/pkg/personas/voice"
	"visavis.dev/pkg/text/search"
)

// The bounds of synonyms: of groups, of the words of one, and of the characters of a word.
const (
	maxSynonymGroups = 100
	minSynonyms      = 2
	maxSynonyms      = 8
	maxSynonym       = 60
)

// normalizeSynonyms: a word has letters or digits and stands in one group, once.
func (d *Definition) normalizeSynonyms(voice.Voice) error {
	given := d.Knowledge.Synonyms
	if len(given) > maxSynonymGroups {
		return invalid("knowledge.synonyms", "must have at most %d groups", maxSynonymGroups)
	}
	d.Knowledge.Synonyms = make(Synonyms, len(given))
	groupOf := map[string]int{}
	for i, g := range given {
		field := fmt.Sprintf("knowledge.synonyms[%d].words", i)
		if len(g.Words) < minSynonyms || len(g.Words) > maxSynonyms {
			return invalid(field, "must have %d to %d words", minSynonyms, maxSynonyms)
		}
		words := make([]string, len(g.Words))
		for j, word := range g.Words {
			word = strings.Join(strings.Fields(word), " ")
			phrase := strings.Join(search.NewPhrase(word), " ")
			at := fmt.Sprintf("%s[%d]", field, j)
			switch before, twice := groupOf[phrase]; {
			case phrase == "":
				return invalid(at, "has no letters or digits")
			case utf8.RuneCountInString(word) > maxSynonym:
				return invalid(at, "must have at most %d characters", maxSynonym)
			case twice:
				return invalid(at, "stands in knowledge.synonyms[%d] already", before)
			}
			groupOf[phrase], words[j] = i, word
		}
		d.Knowledge.Synonyms[i].Words = words
	}
	return nil
}
