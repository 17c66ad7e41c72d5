package conversation

import (
	"cmp"
	"slices"
	"unicode/utf8"

	"visavis.dev/pkg/base/lru"
	"visavis.dev/pkg/text/answer"
	"visavis.dev/pkg/text/lexicon"
	"visavis.dev/pkg/text/search"
)

// wanted is one thing that a question asks for: a word, or words that mean one thing.
type wanted struct {
	// terms are the words as the search compares them, and raw as they were typed.
	terms, raw []string
	// concepts are what they mean, and sure how sure that is.
	concepts []int
	sure     float64
	// light words say little of what the question is about.
	light bool
	// phrase says that it is said in several words, which one of them is not, and parts are what
	// those mean each by itself, where several say something.
	phrase bool
	parts  []wanted
	// literal says that the passages have the very word, so that another for it counts less.
	literal bool
	// turns says that the question turns to it from the one before; carried that it is
	// that one's.
	turns, carried bool
	// told says that it stands in a clause that asks nothing.
	told bool
	// dated says that it is of the date that is asked about.
	dated bool
	// implied says that it was not said, but follows from what was.
	implied bool
	weight  float64
	// same are other words for it, of the organization's own; nil for none.
	same *same
}

// reading is the language that a question is to be read in: the one that it shows, where
// that is understood, and else the conversation's.
func reading(language, text string) string {
	shown := cmp.Or(search.Detect(text), answer.Guess(text))
	if shown == "" || shown == base(language) || !answer.Understands(shown) || len(wordsOf(text)) < 2 || search.MayBe(language, text) {
		return language
	}
	return shown
}

// wantedUnits are what an answer is to hold, not yet weighed.
func wantedUnits(q Question) []wanted {
	own := unitsOf(q.synonyms, reading(q.Language, q.Text), q.Text)
	if q.Previous == "" || !leans(q) {
		return own
	}
	turnsTo := subject(q)
	for i := range own {
		own[i].turns = slices.ContainsFunc(own[i].terms, func(t string) bool { return turnsTo[t] })
	}
	for _, u := range unitsOf(q.synonyms, reading(q.Language, q.Previous), q.Previous) {
		same := func(o wanted) bool { return slices.Equal(o.terms, u.terms) || replaces(o, u) }
		if !slices.ContainsFunc(own, same) {
			u.carried = true
			own = append(own, u)
		}
	}
	return own
}

// replaces says whether a unit takes the place of one of the question before: one day
// that of another, children that of adults, and "close" that of "open".
func replaces(now, before wanted) bool {
	if now.light || before.light {
		return false
	}
	if slices.ContainsFunc(now.concepts, func(c int) bool { return slices.Contains(before.concepts, c) }) || sameTail(now.raw, before.raw) {
		return true
	}
	return answer.OfDays(now.concepts) && answer.OfDays(before.concepts) || answer.OfPeople(now.concepts) && answer.OfPeople(before.concepts)
}

// tailLetters is how many letters two compounds have in common at their end that are of one
// kind: "Hauptsaison" and "Nebensaison".
const tailLetters = 6

func sameTail(now, before []string) bool {
	if len(now) != 1 || len(before) != 1 || len(now[0]) < tailLetters || len(before[0]) < tailLetters {
		return false
	}
	return now[0][len(now[0])-tailLetters:] == before[0][len(before[0])-tailLetters:]
}

// unitsOf are the units of a text that is read in a language, by the lexicon and the
// organization's own synonyms.
func unitsOf(synonyms *search.Synonyms, language, text string) []wanted {
	words := contentWords(language, text)
	var out []wanted
	taken := make([]bool, len(words))
	for _, m := range synonyms.Understand(language, text) {
		if m.Sure == search.SureMisspelled && len(m.Same) == 0 && !slices.ContainsFunc(m.Concepts, heavy) {
			continue // what is misspelled is not a word of every question
		}
		if m.Sure < 1 && answer.OfAsking(language, search.Fold(text[m.From:m.To])) {
			continue
		}
		u := wanted{concepts: m.Concepts, sure: m.Sure, light: len(m.Same) == 0 && !slices.ContainsFunc(m.Concepts, heavy), same: sameWords(m.Same), phrase: len(search.NewPhrase(text[m.From:m.To])) > 1 && !isWideText(text[m.From:m.To])}
		for i, w := range words {
			if w.from >= m.From && w.to <= m.To && !taken[i] {
				taken[i] = true
				u.terms, u.raw = append(u.terms, w.text), append(u.raw, search.Fold(text[w.from:w.to]))
			}
		}
		if u.phrase {
			u.parts = phraseParts(language, u, text[m.From:m.To])
		}
		at := slices.IndexFunc(out, func(o wanted) bool { return o.concepts != nil && slices.Equal(o.concepts, u.concepts) })
		if at >= 0 {
			out[at].terms, out[at].raw = append(out[at].terms, u.terms...), append(out[at].raw, u.raw...)
			out[at].same = out[at].same.with(u.same)
			continue
		}
		out = append(out, u)
	}
	for i, w := range words {
		if !taken[i] {
			out = alsoWanted(out, language, w.text, search.Fold(text[w.from:w.to]), search.Acronym(text, w.from, w.to))
		}
	}
	return out
}

// alsoWanted adds a word that means nothing known, unless it is wanted already or one of asking,
// which an acronym is not.
func alsoWanted(all []wanted, language, term, raw string, acronym bool) []wanted {
	if slices.ContainsFunc(all, func(o wanted) bool { return slices.Contains(o.terms, term) }) || answer.OfAsking(language, raw) && !acronym {
		return all
	}
	return append(all, wanted{terms: []string{term}, raw: []string{raw}, sure: 1})
}

// phraseParts are what the words of a phrase mean each by itself; nil where none of them says
// something, or where the phrase denies what they say.
func phraseParts(language string, phrase wanted, text string) (parts []wanted) {
	if n, _ := answer.NegationIn(language, text); n.Any() || len(phrase.raw) < 2 {
		return nil
	}
	for i, word := range phrase.raw {
		part := wanted{terms: phrase.terms[i : i+1], raw: phrase.raw[i : i+1], sure: 1}
		for _, m := range search.Understand(language, word) {
			part.concepts, part.sure = append(part.concepts, m.Concepts...), min(part.sure, m.Sure)
		}
		if len(part.concepts) == 0 || slices.ContainsFunc(part.concepts, heavy) {
			parts = append(parts, part)
		}
	}
	return parts
}

func isWideText(text string) bool {
	first, _ := utf8.DecodeRuneInString(text)
	return isWide(first)
}

func heavy(concept int) bool { return !lexicon.Concepts()[concept].Light }

func narrow(concept int) bool { return lexicon.Concepts()[concept].Narrow }

// What a unit counts that a text holds in another way than word for word.
const (
	valueMeans   = 0.9 // another word for it
	valueInstead = 0.7 // the same, where the word itself stands elsewhere
	valueParts   = 0.7 // all that the words of a phrase mean, each by itself
	valueBroad   = 0.5 // something of its kind: a cat, of a dog
	valuePhrase  = 0.4 // a word of the phrase that it is
)

// in is how far a text holds a unit, from 0 to 1.
func (u *wanted) in(held *holding) float64 {
	value := u.whole(held)
	if len(u.parts) == 0 || value >= valueParts || slices.ContainsFunc(u.parts, func(p wanted) bool { return p.whole(held) < valueInstead }) {
		return value
	}
	return valueParts
}

// whole is how far a text holds a unit as one thing, from 0 to 1.
func (u *wanted) whole(held *holding) float64 {
	value, n := 0.0, 0
	for _, t := range u.terms {
		switch {
		case held.terms[t] && !u.phrase && len(u.concepts) > 0 && held.asMeans(t, u.concepts):
			value = valuePhrase
		case held.terms[t]:
			n++
		}
	}
	if n > 0 {
		value = valuePhrase
		if !u.phrase && (n == len(u.terms) || len(u.concepts) == 0) || n > 1 && n == len(u.terms) {
			return 1
		}
	}
	if u.same.in(held) {
		if u.literal {
			return max(value, valueInstead)
		}
		return max(value, valueMeans*u.sure)
	}
	if slices.ContainsFunc(u.concepts, func(c int) bool { return held.evidence.Concepts[c] }) {
		if slices.ContainsFunc(u.concepts, narrow) && !slices.ContainsFunc(u.concepts, func(c int) bool { return narrow(c) && held.evidence.Concepts[c] }) {
			return max(value, valueBroad*u.sure)
		}
		if u.literal {
			return max(value, valueInstead)
		}
		return max(value, valueMeans*u.sure)
	}
	if value > 0 {
		return value
	}
	for _, asked := range u.raw {
		for _, word := range held.raw {
			value = max(value, search.Likeness(held.language, asked, word))
		}
	}
	if slices.ContainsFunc(u.concepts, narrow) {
		return min(value, valuePhrase) // a tennis court is more than a court
	}
	return value * valueMeans
}

// holding is what a text holds.
type holding struct {
	language string
	terms    map[string]bool
	raw      []string
	evidence answer.Evidence
	// within are what the means are called as which terms stand, and as nothing else: the internet,
	// of "book on the internet".
	within map[string][]int
}

// means are what the phrases mean of a single word that says something and those that bind it: "on
// the internet", but not "no appointment".
func means(language, text string, words []term, phrases []search.Meaning) map[string][]int {
	var out map[string][]int
	for _, m := range phrases {
		var inside []term
		for _, w := range words {
			if w.from >= m.From && w.to <= m.To {
				inside = append(inside, w)
			}
		}
		if n, _ := answer.NegationIn(language, text[m.From:m.To]); len(inside) != 1 || n.Any() {
			continue
		}
		if out == nil {
			out = map[string][]int{}
		}
		out[inside[0].text] = m.Concepts
	}
	for _, w := range words {
		if out[w.text] != nil && !slices.ContainsFunc(phrases, func(m search.Meaning) bool { return w.from >= m.From && w.to <= m.To }) {
			delete(out, w.text)
		}
	}
	return out
}

// asMeans says whether a text has a term only as the means of something, which is another thing
// than some concepts.
func (h *holding) asMeans(term string, concepts []int) bool {
	of := h.within[term]
	return len(of) > 0 && !slices.ContainsFunc(of, func(c int) bool { return slices.Contains(concepts, c) })
}

// holdings are those of texts that were looked at lately; nobody changes one. The same
// sentences are candidates for one question after another.
var holdings = func() lru.Cache[[2]string, holding] {
	cache, err := lru.New[[2]string, holding](4096)
	if err != nil {
		panic(err) // the size is positive
	}
	return cache
}()

func held(language, text string) holding {
	key := [2]string{language, text}
	if h, ok := holdings.Get(key); ok {
		return h
	}
	h := holding{language: language, terms: map[string]bool{}, evidence: answer.EvidenceIn(language, text)}
	words := contentWords(language, text)
	for _, w := range words {
		h.terms[w.text] = true
		h.raw = append(h.raw, search.Fold(text[w.from:w.to]))
	}
	h.within = means(language, text, words, h.evidence.Phrases)
	holdings.Add(key, h)
	return h
}
