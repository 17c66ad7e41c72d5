package conversation

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"visavis.dev/pkg/text/answer"
	"visavis.dev/pkg/text/search"
)

// maxLabel is how many characters stand before a colon that names what follows it.
const maxLabel = 60

// labeled is how far the label of a sentence is what was asked about ("Telephone: ..."),
// and whether a whole cell of a row of a table is ("Ticket: Adults; Price: $16").
func (r *rater) labeled(c *candidate) (label, cell float64) {
	text, value, ok := strings.Cut(c.text, ": ")
	if !ok || utf8.RuneCountInString(text) > maxLabel {
		return 0, 0
	}
	if !strings.Contains(c.text, "; ") || !strings.Contains(value, ": ") {
		h := held(c.held.language, text)
		return r.asked(h.raw, &h), 0
	}
	for part := range strings.SplitSeq(c.text, "; ") {
		if _, value, ok = strings.Cut(part, ": "); !ok {
			continue
		}
		if h := held(c.held.language, value); len(h.raw) > 0 && r.asked(h.raw, &h) == 1 {
			cell = 1
		}
	}
	return 0, cell
}

// asked is the share of a text's words that the question asked about.
func (r *rater) asked(words []string, h *holding) float64 {
	if len(words) == 0 {
		return 0
	}
	n := 0
	for _, word := range words {
		one := heldWord(h.language, word)
		for k := range r.units {
			if !r.units[k].light && r.units[k].in(&one) >= valueInstead {
				n++
				break
			}
		}
	}
	return float64(n) / float64(len(words))
}

// heldWord is what a single word holds. It is made anew each time: the words of headings
// and labels would soon push the sentences out of what is remembered.
func heldWord(language, word string) holding {
	h := holding{language: language, terms: map[string]bool{}, raw: []string{search.Fold(word)}, evidence: answer.Evidence{Concepts: map[int]bool{}}}
	for _, t := range search.Terms(language, word) {
		h.terms[t.Text] = true
	}
	for _, m := range search.Meanings(language, word) {
		for _, c := range m.Concepts {
			h.evidence.Concepts[c] = true
		}
	}
	return h
}

// measures are what numbers measure, and count nothing by.
var measures = map[string]bool{"m": true, "km": true, "cm": true, "mm": true, "kg": true, "g": true, "l": true, "m²": true, "Uhr": true, "h": true, "min": true, "%": true, "€": true}

// countedWithin is how many words may stand between a number and what it counts.
const countedWithin = 2

// counted says whether a number stands beside something that was asked about.
func (r *rater) counted(c *candidate) bool {
	words := strings.Fields(c.text)
	for i, word := range words {
		if !strings.ContainsFunc(word, unicode.IsDigit) || strings.ContainsAny(word, ":€$£%@") || i+1 < len(words) && measures[words[i+1]] {
			continue
		}
		beside := held(c.held.language, strings.Join(words[i+1:min(len(words), i+2+countedWithin)], " "))
		for k := range r.units {
			if !r.units[k].light && r.units[k].in(&beside) >= valueInstead {
				return true
			}
		}
	}
	return false
}
