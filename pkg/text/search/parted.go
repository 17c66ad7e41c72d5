package search

// partedVerbs are the verbs of being open that German parts, as they stand in a question, and
// partedAs what they mean with their other part, by that.
var (
	partedVerbs = set("hat habt haben hast macht machen machst ist sind seid")
	partedAs    = map[string]string{"auf": "geöffnet", "zu": "geschlossen"}
)

// parted adds what a German verb means whose other part stands at the end: "Hat das Café heute
// auf?".
func (v *wording) parted(terms []Term, text string, found []Meaning) []Meaning {
	if v.language != "de" || len(terms) < 3 {
		return found
	}
	last := terms[len(terms)-1]
	concepts := v.words[Fold(partedAs[Fold(text[last.From:last.To])])]
	if concepts == nil || len(found) > 0 && found[len(found)-1].To > last.From {
		return found
	}
	for _, t := range terms[:len(terms)-2] {
		if partedVerbs[Fold(text[t.From:t.To])] {
			return append(found, Meaning{Concepts: concepts, From: last.From, To: last.To, Sure: 1})
		}
	}
	return found
}
