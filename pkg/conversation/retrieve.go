package conversation

import (
	"context"
	"slices"
	"strings"
	"time"
)

// How many passages a persona's retrieval setting looks at.
var retrievalLimits = map[string]int{"fast": 4, "balanced": 8, "thorough": 16}

// fewWords is how many words of meaning a question has that cannot stand alone:
// "and on Sundays?" belongs to the question before.
const fewWords = 2

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
	if len(contentWords(q.Language, q.Text)) < fewWords {
		return true
	}
	pronouns := bookOf(q.Language).pointing
	return slices.ContainsFunc(wordsOf(q.Text), func(w term) bool { return pronouns[w.text] })
}
