package conversation

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"visavis.dev/pkg/text/answer"
	"visavis.dev/pkg/text/search"
)

// excepted is whether what is asked leave for is so as an exception of the sentence's has it: "dogs are
// not allowed, except guide dogs", of a guide dog. The rule itself is said as it stands. A wrong yes to
// what is forbidden is far worse than none: the sentence has to hold all that is asked, and to name it.
func (i *inquiry) excepted(c *candidate) answer.Verdict {
	language := c.held.language
	if i.kind != answer.May || i.onDay || i.age >= 0 || c.own < leastOwn || answer.Denied(i.language, i.Text) || answer.Near(i.Text) && !answer.Near(c.text) || !i.within(c) {
		return answer.Unclear
	}
	e, ok := answer.ExceptionIn(language, c.text)
	if !ok || e.Condition || !slices.ContainsFunc(e.Items(language), func(item string) bool { return i.names(language, item) }) {
		return answer.Unclear
	}
	v := answer.Excepted(language, e)
	if v == answer.Fails && !i.general(language, e.Rule) {
		return answer.Unclear
	}
	return v
}

// framing are what a question for leave has in a script without blanks besides what it asks leave for:
// unknown words of it are no units.
var framing = map[string]*regexp.Regexp{
	"zh": regexp.MustCompile(`能不能|可不可以|可以|是否|可否|允许|请问|我们|携带|进入|进去|进来|[我你您能带进入去来让在里吗呢的]`),
	"ja": regexp.MustCompile(`連れて|一緒|持ち込|持って|入れ|入っ|入り|行け|行っ|行き|来て|来られ|大丈夫|可能|許可|同伴|使え|できる|でき|いい|よい|です|ます|ません|られ|され|いる|ても|まで|たち|[かはをにがとでもの私てれるい]`),
}

// within says whether a sentence holds all that leave is asked for.
func (i *inquiry) within(c *candidate) bool {
	if frame := framing[base(i.language)]; frame != nil {
		rest := frame.ReplaceAllString(i.Text, "")
		if strings.ContainsFunc(rest, func(r rune) bool { return unicode.IsLetter(r) && !strings.ContainsRune(c.text, r) }) {
			return false
		}
	}
	for n := range i.units {
		if u := &i.units[n]; !u.light && !answer.OfLeave(u.concepts) && !answer.OfEntering(u.concepts) && (c.had[n] < valueInstead || i.kindOnly(n, c)) {
			return false
		}
	}
	return true
}

// kindOnly says whether a sentence holds a unit, the nth, by what it means alone, and the question names
// the thing itself beside it, so that this says something else: "may I pet the guide dog?".
func (i *inquiry) kindOnly(n int, c *candidate) bool {
	u := &i.units[n]
	if len(u.concepts) == 0 || slices.ContainsFunc(u.terms, func(t string) bool { return c.held.terms[t] }) {
		return false
	}
	for k := range i.units {
		if o := &i.units[k]; k != n && !o.light && !slices.ContainsFunc(u.concepts, func(c int) bool { return !slices.Contains(o.concepts, c) }) {
			return true
		}
	}
	return false
}

// general says whether a rule has nothing but what is asked about and that it may be: "dogs are welcome
// everywhere", but not "dogs pay half".
func (i *inquiry) general(language, rule string) bool {
	known := search.Meanings(language, rule)
	return !slices.ContainsFunc(contentWords(language, rule), func(w term) bool {
		if answer.General(language, rule[w.from:w.to]) {
			return false
		}
		var of []int
		for _, m := range known {
			if m.From <= w.from && w.to <= m.To {
				of = append(of, m.Concepts...)
			}
		}
		return !answer.OfLeave(of) && !answer.OfPermission(of) && !slices.ContainsFunc(i.units, func(u wanted) bool {
			return slices.Contains(u.terms, w.text) || !u.light && u.means(of)
		})
	})
}

// names says whether the question has the words of a thing one after the other, or another name for the
// whole of it: a dog is none that guides, nor is the guide's.
func (i *inquiry) names(language, item string) bool {
	words := contentWords(language, item)
	if len(words) == 0 {
		return false
	}
	first, last := words[0].from, words[len(words)-1].to
	if slices.ContainsFunc(search.Meanings(language, item), func(m search.Meaning) bool {
		return m.Sure == 1 && m.From <= first && last <= m.To && slices.ContainsFunc(i.units, func(u wanted) bool { return !u.light && !u.carried && u.means(m.Concepts) })
	}) {
		return true
	}
	asked := contentWords(i.language, i.Text)
	for from := range asked {
		if len(asked)-from >= len(words) && i.follow(language, item, words, asked[from:]) {
			return true
		}
	}
	return false
}

// follow says whether some words of the question begin with those of a thing, in whatever form, with the
// same between them.
func (i *inquiry) follow(language, item string, words, asked []term) bool {
	for n, w := range words {
		if asked[n].text != w.text && !sameThing(language, item[w.from:w.to], i.language, i.Text[asked[n].from:asked[n].to]) {
			return false
		}
		if n > 0 && !slices.Equal(search.NewPhrase(between(item, words[n-1], w)), search.NewPhrase(between(i.Text, asked[n-1], asked[n]))) {
			return false
		}
	}
	return true
}

// sameThing says whether a word surely means the same as another.
func sameThing(language, word, other, asked string) bool {
	for _, m := range search.Meanings(language, word) {
		for _, of := range search.Meanings(other, asked) {
			u := wanted{concepts: of.Concepts}
			if m.Sure == 1 && of.Sure == 1 && slices.ContainsFunc(m.Concepts, heavy) && u.means(m.Concepts) {
				return true
			}
		}
	}
	return false
}

// between is what stands between two words of a text; of a script without blanks they may overlap.
func between(text string, first, next term) string { return text[first.to:max(first.to, next.from)] }

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
