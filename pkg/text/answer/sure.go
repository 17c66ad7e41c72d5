package answer

import (
	"slices"
	"strings"
)

// AsksSure says whether what was said asks no more than whether what was answered is sure ([sure] in
// the files under talk): "are you sure?". What agrees or denies asks only with a question mark: "that
// is right".
func AsksSure(language, text string) bool {
	for _, t := range likely(language, text) {
		if _, sure := t.stands(hear(text, t.spellings), "sure", farRest, nil); sure {
			return strings.ContainsAny(text, "?？؟吗") || !slices.Contains([]Act{Yes, No, Okay}, Hear(language, text).Act)
		}
	}
	return false
}
