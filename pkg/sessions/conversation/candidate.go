package conversation

import (
	"cmp"
	"strings"
	"unicode/utf8"

	"visavis.dev/pkg/text/answer"
)

// candidate is a sentence that may answer.
type candidate struct {
	text string
	// passage and place are where it stands.
	passage, place int
	held           holding
	// topic is the first word that says something, of a whole sentence: not of
	// a line of code or a list.
	topic string
	// inquires is of sentences that are questions themselves, as in lists of
	// frequent questions: what follows them is the answer. item is of a list or a table.
	inquires, item bool
	// turns says that it holds what the question turns to.
	turns bool
	// own is the share of the question that it holds itself, and cover the one that it
	// holds with what stands around it.
	cover, own float64
	// days and age are what it says of the day and the age that are asked about; told
	// says that it names days.
	days, age answer.Verdict
	told      bool
	features  features
	// score orders the candidates of a question: the log-odds against each other.
	score float64
}

func candidatesOf(language string, passages []Passage) []candidate {
	var all []candidate
	seen := map[string]bool{}
	for p, passage := range passages {
		spoken := cmp.Or(passage.Language, language)
		for place, text := range sentencesOf(passage.Text) {
			item := strings.HasPrefix(text, "- ") || strings.Contains(text, "; ") && strings.Contains(text, ": ")
			text = strings.TrimPrefix(text, "- ") // the mark of a list is not spoken
			if seen[text] {
				continue
			}
			seen[text] = true
			c := candidate{text: text, passage: p, place: place, held: held(spoken, text), item: item}
			if words := contentWords(spoken, text); len(words) > 0 && isWhole(text) {
				c.topic = words[0].text
			}
			c.inquires = strings.HasSuffix(text, "?") || strings.HasSuffix(text, "？") || strings.HasSuffix(text, "؟")
			all = append(all, c)
		}
	}
	return all
}

// isWhole says whether a text ends as a sentence that states something does.
func isWhole(text string) bool {
	last, _ := utf8.DecodeLastRuneInString(text)
	return strings.ContainsRune(".!。！।", last)
}
