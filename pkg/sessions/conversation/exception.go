package conversation

import (
	"regexp"
	"slices"
	"unicode/utf8"

	"visavis.dev/pkg/text/answer"
	"visavis.dev/pkg/text/search"
)

// exceptedForm parts the things that an exception names: "guide dogs, police dogs and hawks".
var exceptedForm = regexp.MustCompile(`[,،、;]|\s(?:and|or|und|oder|sowie|et|ou|y|e|o|u|en|of|i|oraz|lub|ve|veya)\s|和|或|や`)

// excepted is whether what is asked is so as an exception of the sentence's has it: "dogs are not
// allowed, except guide dogs", of a guide dog. The rule itself is said as it stands.
func (i *inquiry) excepted(c *candidate) answer.Verdict {
	if i.kind != answer.May && i.kind != answer.YesNo || i.onDay || i.age >= 0 || c.cover < leastOwn || answer.Forbids(i.language, i.Text) {
		return answer.Unclear
	}
	e, ok := answer.ExceptionIn(c.held.language, c.text)
	if !ok || e.Condition {
		return answer.Unclear
	}
	for _, item := range exceptedForm.Split(e.Except, -1) {
		if i.names(c.held.language, item) {
			return answer.Excepted(c.held.language, e.Rule)
		}
	}
	return answer.Unclear
}

// names says whether the question asks about a thing in all of its words: a dog is none that guides.
func (i *inquiry) names(language, item string) bool {
	words := contentWords(language, item)
	if len(words) == 0 {
		return false
	}
	known := search.Meanings(language, item)
	return !slices.ContainsFunc(words, func(w term) bool {
		return !slices.ContainsFunc(i.units, func(u wanted) bool {
			if slices.Contains(u.terms, w.text) {
				return true
			}
			return !u.light && slices.ContainsFunc(known, func(m search.Meaning) bool {
				return m.Sure == 1 && m.From <= w.from && w.to <= m.To && u.means(m.Concepts)
			})
		})
	})
}

// means says whether a unit means the same as some concepts, and nothing broader.
func (u *wanted) means(concepts []int) bool {
	strict := slices.ContainsFunc(concepts, narrow)
	return slices.ContainsFunc(concepts, func(c int) bool { return (!strict || narrow(c)) && slices.Contains(u.concepts, c) })
}

// exempting adds to an answer the sentence that excepts from it, or the rule that the answer is an
// exception to: neither is true alone.
func (i *inquiry) exempting(ranked, chosen []candidate) []candidate {
	first := &chosen[0]
	if !i.decides() || first.item {
		return chosen
	}
	length := 0
	for n := range chosen {
		length += utf8.RuneCountInString(chosen[n].text)
	}
	for n := range ranked {
		c := &ranked[n]
		if c.passage != first.passage || c.item || c.inquires || among(chosen, c) || length+utf8.RuneCountInString(c.text) > maxAnswer {
			continue
		}
		after := c.place == first.place+1 && answer.Exempts(c.held.language, c.text)
		before := c.place == first.place-1 && answer.Exempts(first.held.language, first.text)
		if after || before {
			length += utf8.RuneCountInString(c.text)
			chosen = append(chosen, *c)
		}
	}
	return chosen
}
