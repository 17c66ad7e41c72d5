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
		said := hear(text, t.spellings)
		if _, sure := t.stands(said, "sure", farRest, nil); sure {
			agrees := slices.Contains(answering, Hear(language, text).Act) && (len(said.words) <= 2 || t.beginsAnswering(said))
			return strings.ContainsAny(text, "?？؟吗") || !agrees
		}
	}
	return false
}

// answering are the acts that agree or deny.
var answering = []Act{Yes, No, Okay}

// beginsAnswering says whether what was said begins by agreeing or denying: "are you sure" ends with it.
func (t *talk) beginsAnswering(said spoken) bool {
	rest := said.text
	if filler := t.begins["filler"]; filler != nil {
		rest = rest[len(filler.FindString(rest)):]
	}
	return slices.ContainsFunc(answering, func(act Act) bool {
		e := t.begins[string(act)]
		return e != nil && (e.FindString(said.text) != "" || e.FindString(rest) != "")
	})
}
