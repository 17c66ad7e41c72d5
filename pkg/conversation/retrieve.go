package conversation

import (
	"context"
	"slices"
	"strings"
	"time"
)

// How many passages a persona's retrieval setting looks at.
var retrievalLimits = map[string]int{"fast": 4, "balanced": 8, "thorough": 16}

// A question with fewer words of meaning than fewWords, and fewer of all than
// wholeWords, cannot stand alone: "and on Sundays?" belongs to the question
// before, "what is a fresco?" does not.
const (
	fewWords   = 2
	wholeWords = 4
)

// retrieval finds the passages that support an answer.
type retrieval struct{ *Config }

// find returns the passages above the threshold, best first, and how long it took.
func (r retrieval) find(ctx context.Context, q Question) ([]Passage, time.Duration, error) {
	if r.Knowledge == nil {
		return nil, untold, nil
	}
	limit := retrievalLimits[r.Persona.Knowledge.Retrieval]
	if limit == 0 {
		limit = retrievalLimits["balanced"]
	}
	from := r.Clock.Now()
	found, err := r.Knowledge.Search(ctx, Query{
		Text: searchText(q), Language: q.Language, Bases: r.Bases, Tags: r.Tags, Limit: limit,
	})
	took := r.Clock.Since(from)
	if err != nil {
		return nil, took, err
	}
	least := r.minScore()
	found = slices.DeleteFunc(slices.Clone(found), func(p Passage) bool { return !(p.Score >= least) })
	slices.SortStableFunc(found, func(a, b Passage) int {
		switch {
		case a.Score > b.Score:
			return -1
		case a.Score < b.Score:
			return 1
		default:
			return 0
		}
	})
	return found[:min(len(found), limit)], took, nil
}

// searchText is what to look for: the question, with the words of the one
// before when it leans on it.
func searchText(q Question) string {
	if q.Previous == "" || !leans(q) {
		return q.Text
	}
	words := []string{q.Text}
	for _, w := range contentWords(q.Language, q.Previous) {
		words = append(words, q.Previous[w.from:w.to])
	}
	return strings.Join(words, " ")
}

// leans says whether a question is understood from the one before alone.
func leans(q Question) bool {
	words, telling := wordsOf(q.Text), len(contentWords(q.Language, q.Text))
	if telling == 0 || telling < fewWords && len(words) < wholeWords {
		return true
	}
	pronouns := bookOf(q.Language).pointing
	for i, w := range words {
		// Inside a sentence a capital is an address: German "Sie" is whoever is asked.
		addressed := i > 0 && q.Text[w.from:w.to] != strings.ToLower(q.Text[w.from:w.to])
		if pronouns[w.text] && !addressed {
			return true
		}
	}
	return false
}
