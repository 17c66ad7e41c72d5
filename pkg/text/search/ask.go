package search

import (
	"cmp"
	"slices"

	"visavis.dev/pkg/text/lexicon"
)

// lightShare is what a word counts that says little of what a question is about.
const lightShare = 0.3

// unheardShare is what a word counts that documents in another language do not have: they
// would have another for it.
const unheardShare = 0.15

// unit is one thing that a question asks for: a word, or words that together mean one.
type unit struct {
	from, to int // bytes of the question
	// own are the words themselves, by part; none where they only mean something.
	own [][]string
	// concepts are what the words mean, and sure how sure that is.
	concepts []int
	sure     float64
	// same are other words for it, of the organization's own.
	same  []string
	worth float64
	// joins says that compounds with it are looked for.
	joins bool
	// foreign says that no documents are in the language of the question.
	foreign bool
}

// ask is what a question asks for, each once.
func ask(q Query, parts []*part) []unit {
	found := split(q.Text)
	language := asker(q, parts)
	a := newAnalyser(language)
	own := make([]Term, len(found))
	for i, w := range found {
		own[i] = a.term(q.Text, w)
	}
	worth := map[int]bool{} // by where they stand
	for _, t := range essential(language, own) {
		worth[t.To<<32|t.From] = true
	}
	analysers := make([]*analyser, len(parts))
	for i, p := range parts {
		analysers[i] = newAnalyser(p.language)
	}
	var out []unit
	for i, w := range found {
		if !worth[own[i].To<<32|own[i].From] || own[i].Text == "" {
			continue
		}
		u := unit{from: w.from, to: w.to, own: make([][]string, len(parts)), worth: 1}
		for j, a := range analysers {
			u.own[j] = []string{a.term(q.Text, w).Text}
		}
		if !slices.ContainsFunc(out, func(o unit) bool { return slices.EqualFunc(o.own, u.own, slices.Equal) }) {
			out = append(out, u)
		}
	}
	if q.Plain {
		return out
	}
	foreign := !slices.ContainsFunc(parts, func(p *part) bool { return p.language == language })
	return understood(q, language, out, len(parts), foreign)
}

// understood joins to a question's words what they mean.
func understood(q Query, language string, units []unit, parts int, foreign bool) []unit {
	seen := []string{language}
	for i := range units {
		units[i].foreign = foreign
	}
	for _, m := range readings(q, language, &seen) {
		units = meant(units, m, parts)
	}
	return units
}

// readings are the meanings of a question in the languages it may be in.
func readings(q Query, language string, read *[]string) []Meaning {
	out := q.Synonyms.Understand(language, q.Text)
	for _, other := range []string{Detect(q.Text), base(q.Language)} {
		if other == "" || slices.Contains(*read, other) {
			continue
		}
		*read = append(*read, other)
		for _, m := range Meanings(other, q.Text) {
			if !slices.ContainsFunc(out, func(had Meaning) bool { return had.From < m.To && m.From < had.To }) {
				out = append(out, m)
			}
		}
	}
	return out
}

// meant joins a meaning to the words that it is of, which become one unit.
func meant(units []unit, m Meaning, parts int) []unit {
	joined := unit{from: m.From, to: m.To, own: make([][]string, parts), concepts: m.Concepts, sure: m.Sure, same: m.Same, worth: 1}
	rest := units[:0:0]
	place := -1
	for _, u := range units {
		if u.from < m.From || u.to > m.To {
			rest = append(rest, u)
			continue
		}
		if place < 0 {
			place = len(rest)
		}
		for j := range joined.own {
			joined.own[j] = append(joined.own[j], u.own[j]...)
		}
	}
	if place < 0 {
		place = len(rest)
	}
	if light(m.Concepts) && len(m.Same) == 0 {
		joined.worth = lightShare
	}
	same := func(o unit) bool { return o.concepts != nil && slices.Equal(o.concepts, m.Concepts) }
	if at := slices.IndexFunc(rest, same); at >= 0 {
		for j := range joined.own {
			rest[at].own[j] = append(rest[at].own[j], joined.own[j]...)
		}
		rest[at].same = append(rest[at].same, joined.same...)
		return rest
	}
	return slices.Insert(rest, place, joined)
}

// light says whether concepts say little of what a question is about.
func light(concepts []int) bool {
	all := lexicon.Concepts()
	return !slices.ContainsFunc(concepts, func(c int) bool { return !all[c].Light })
}

// alternatives are the terms of a unit in a part, each once, the best first.
func (u *unit) alternatives(i int, p *part, rest bool) []alternative {
	var out []alternative
	add := func(a alternative) {
		if at := slices.IndexFunc(out, func(had alternative) bool { return had.term == a.term }); at < 0 {
			out = append(out, a)
		} else {
			out[at].share = max(out[at].share, a.share)
		}
	}
	for _, term := range u.own[i] {
		share := 1.0
		if len(u.own[i]) > 1 {
			share = meansWord // a word of a phrase is not the phrase
		}
		add(alternative{term, share})
	}
	v := vocabularyOf(p.language)
	if v == nil {
		v = vocabularyOf("en")
	}
	for _, c := range u.concepts {
		for _, a := range v.means[c] {
			add(alternative{a.term, a.share * u.sure})
		}
	}
	for _, word := range u.same {
		for _, a := range inOtherWords(p.language, word) {
			add(alternative{a.term, a.share * u.sure})
		}
	}
	for _, term := range u.own[i] {
		if u.joins {
			for _, a := range p.compounds(term) {
				add(a)
			}
		}
		if rest {
			for _, a := range p.near(term) {
				add(a)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b alternative) int { return cmp.Compare(b.share, a.share) })
	return out[:min(len(out), maxAlternatives)]
}

// inOtherWords are the terms by which a synonym is found in documents of a language.
func inOtherWords(language, word string) []alternative {
	terms := Terms(language, word)
	share := meansWord
	if len(apart(terms)) > 1 {
		share = meansPhrase
	}
	var out []alternative
	for _, t := range terms {
		if !t.Stop || len(terms) == 1 {
			out = append(out, alternative{t.Text, share})
		}
	}
	return out
}

const (
	// maxAlternatives bounds the terms of a unit in a part.
	maxAlternatives = 96
	// maxNear bounds how many words like one are taken for it.
	maxNear = 8
	// maxJoined bounds for how many words of a question compounds are looked for, and
	// maxLikened for how many words of a question the dictionary is read.
	maxJoined, maxLikened = 6, 12
)

const (
	// leastPart is how many letters a word has that is looked for in compounds, and
	// leastRest how many the rest of one has.
	leastPart, leastRest = 4, 3
	// maxCompounds is how many compounds with a word are taken for it at most.
	maxCompounds = 16
	// What a compound counts that is a kind of what was asked for ("Stellplatz", of "Platz"),
	// and one of something that belongs to it ("Familienkarte", of "Familie").
	likeHead     = 0.5
	likeModifier = 0.3
)

// compounds are the terms of a part that a word is the head or the first part of, in a language
// that writes them as one word.
func (p *part) compounds(word string) []alternative {
	if !compounding[p.language] || len(word) < leastPart {
		return nil
	}
	var out []alternative
	for n := range p.dictionary.terms.length {
		t := p.dictionary.terms.at(n)
		if t.count == 0 || int(t.length) < len(word)+leastRest {
			continue
		}
		switch held := p.dictionary.text(uint32(n)); {
		case string(held[len(held)-len(word):]) == word:
			out = append(out, alternative{string(held), likeHead})
		case string(held[:len(word)]) == word:
			out = append(out, alternative{string(held), likeModifier})
		}
	}
	slices.SortStableFunc(out, func(a, b alternative) int {
		return cmp.Or(cmp.Compare(b.share, a.share), cmp.Compare(a.term, b.term))
	})
	return out[:min(len(out), maxCompounds)]
}

// near are the terms of a part that a word may be in another form: what is not there
// as it was written.
func (p *part) near(word string) []alternative {
	var out []alternative
	for n := range p.dictionary.terms.length {
		t := p.dictionary.terms.at(n)
		if t.count == 0 || int(t.length) < 3 {
			continue
		}
		held := p.dictionary.text(uint32(n))
		if !mayBeLike(word, held) {
			continue
		}
		if like := Likeness(p.language, word, string(held)); like > 0 {
			out = append(out, alternative{string(held), like})
		}
	}
	slices.SortStableFunc(out, func(a, b alternative) int {
		return cmp.Or(cmp.Compare(b.share, a.share), cmp.Compare(a.term, b.term))
	})
	return out[:min(len(out), maxNear)]
}

// mayBeLike sorts out what cannot be like a word, at a glance: a dictionary is long.
func mayBeLike(word string, held []byte) bool {
	if len(word) < 4 {
		return false
	}
	if word[0] == held[0] || word[1] == held[0] && word[0] == held[1] {
		return true
	}
	if word[0] >= 0x80 {
		return true // Arabic and its like: the article comes first
	}
	n := min(len(word), len(held))
	return n >= 5 && len(word) != len(held) && (word[len(word)-n:] == string(held[len(held)-n:]))
}
