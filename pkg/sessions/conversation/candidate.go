package conversation

import (
	"cmp"
	"regexp"
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
	// had is how far it holds each unit of the question.
	had []float64
	// topic is the first word that says something, of a whole sentence: not of
	// a line of code or a list.
	topic string
	// lead is a heading within the passage that it stands under: "Tower. 112 steps lead up."
	lead *holding
	// inquires is of sentences that are questions themselves, as in lists of
	// frequent questions: what follows them is the answer. item is of a list or a table.
	inquires, item bool
	// refers says that it begins with a pronoun for what the sentence before is about: "It
	// takes one hour."
	refers bool
	// turns says that it holds what the question turns to.
	turns bool
	// own is the share of the question that it holds itself, and cover the one that it
	// holds with what stands around it.
	cover, own float64
	// beside is cover of what is asked besides a day; 1 where nothing is.
	beside float64
	// days and age are what it says of the day and the age that are asked about; told
	// says that it names days.
	days, age answer.Verdict
	// aged is the clause that speaks of the age, where one is asked about.
	aged string
	// schedule is what it says of days, where one is asked about.
	schedule answer.Schedule
	// whole says that it names all items of a list.
	whole    bool
	told     bool
	features features
	// score orders the candidates of a question: the log-odds against each other.
	score float64
}

func candidatesOf(language string, passages []Passage) []candidate {
	var all []candidate
	seen := map[string]bool{}
	for p, passage := range passages {
		spoken := cmp.Or(passage.Language, language)
		var lead *holding
		sentences := sentencesOf(passage.Text)
		for place, text := range sentences {
			item := strings.HasPrefix(text, "- ") || strings.Contains(text, "; ") && strings.Contains(text, ": ")
			text = strings.TrimPrefix(text, "- ") // the mark of a list is not spoken
			if seen[text] || unspeakable(text) {
				continue
			}
			seen[text] = true
			c := candidate{text: text, passage: p, place: place, held: held(spoken, text), item: item, lead: lead}
			if place+1 < len(sentences) && !item && isLead(text, &c.held) {
				lead = &c.held
				continue
			}
			if words := contentWords(spoken, text); len(words) > 0 && isWhole(text) {
				c.topic = words[0].text
			}
			c.refers = refers(spoken, text)
			c.inquires = inquires(text)
			all = append(all, c)
		}
	}
	return all
}

// inquires says whether a sentence is a question.
func inquires(text string) bool {
	return strings.HasSuffix(text, "?") || strings.HasSuffix(text, "？") || strings.HasSuffix(text, "؟")
}

// refers says whether a sentence begins with a pronoun for what the one before is about.
func refers(language, text string) bool {
	book, words := bookOf(language), wordsOf(text)
	if len(words) < 2 || !book.pointing[words[0].text] || impersonal.MatchString(text) || base(language) == "nl" && words[0].text == "er" {
		return false
	}
	if !book.attached[words[0].text] {
		return true
	}
	content := contentWords(language, text)
	return len(content) == 0 || content[0].from != words[1].from // else an article
}

// impersonal are beginnings that stand for nothing: "There is", "Es gibt", "Il y a"; Dutch "er" is
// another, which is German for "he".
var impersonal = regexp.MustCompile(`(?i)^(?:there|one|es|da|dort|il (?:y|faut|n['’]?|est (?:interdit|possible|recommandé|conseillé))|it (?:is|was) (?:not )?(?:forbidden|allowed|possible|recommended|necessary|important)|het is|en|y|lo que|to|tam)\b`)

// maxLead is how many characters a heading within a passage has.
const maxLead = 40

// isLead says whether a sentence is a heading for those after it: a word or two and a full
// stop, without a number.
func isLead(text string, h *holding) bool {
	words := len(strings.Fields(text))
	return words <= 2 && words == len(h.raw) && utf8.RuneCountInString(text) <= maxLead && strings.HasSuffix(text, ".") && !h.evidence.Number
}

// isWhole says whether a text ends as a sentence that states something does.
func isWhole(text string) bool {
	last, _ := utf8.DecodeLastRuneInString(text)
	return strings.ContainsRune(".!。！।", last)
}
