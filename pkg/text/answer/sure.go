package answer

import (
	"slices"
	"strings"
)

// AsksSure says whether what was said asks no more than whether what was answered is sure ([sure] in
// the files under talk): "are you sure?". A word that may agree as well asks with a question mark.
func AsksSure(language, text string) bool {
	asked := strings.ContainsAny(text, "?？؟")
	for _, t := range likely(language, text) {
		said := hear(text, t.spellings)
		if _, sure := t.stands(said, "sure", farRest, nil); sure {
			agrees := len(said.words) == 1 && slices.Contains([]Act{Yes, No, Okay}, t.courtesy(said, text))
			return asked || !agrees
		}
	}
	return false
}
