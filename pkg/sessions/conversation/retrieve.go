package conversation

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"visavis.dev/pkg/text/answer"
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
	texts := []string{searchText(q)}
	found, err := r.search(ctx, q, texts[0], limit)
	if err == nil && len(subject(q)) > 0 {
		// What it turns to may stand where nothing of the question before does.
		var own []Passage
		texts = append(texts, q.Text)
		own, err = r.search(ctx, q, q.Text, limit)
		found = merged(found, own)
	}
	if err == nil && inquire(q).kind == answer.Address {
		// An address may stand under no word for it.
		var streets []Passage
		streets, err = r.searchStreets(ctx, q)
		found = merged(found, streets)
	}
	took := r.Clock.Since(from)
	if err != nil {
		return nil, took, err
	}
	least := r.leastOf(found)
	q.explain.searched(texts, found, least)
	found = slices.DeleteFunc(found, func(p Passage) bool { return !(p.Score >= least) })
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

func (r retrieval) search(ctx context.Context, q Question, text string, limit int) ([]Passage, error) {
	found, err := r.Knowledge.Search(ctx, Query{
		Text: text, Language: q.Language, Bases: r.Bases, Tags: r.Tags, Limit: limit, Synonyms: q.synonyms,
		Languages: []string{base(reading(q.Language, q.Text)), base(q.Language)},
	})
	return slices.Clone(found), err
}

// mostStreets is how many passages are looked at for an address besides.
const mostStreets = 3

// searchStreets finds passages with an address, by what streets are called in the
// persona's language. They come after all others.
func (r retrieval) searchStreets(ctx context.Context, q Question) ([]Passage, error) {
	named := q
	named.Language = cmp.Or(r.Persona.Settings.Language, q.Language)
	streets, err := r.search(ctx, named, answer.Streets(named.Language), mostStreets)
	streets = slices.DeleteFunc(streets, func(p Passage) bool { e := answer.EvidenceIn(p.Language, p.Text); return !e.Street })
	for i := range streets {
		streets[i].Score = r.minScore()
	}
	return streets, err
}

// bestShare is what a passage has at least of the best one's score, where none is good.
const bestShare = 0.5

// leastOf is the score that passages have at least. Where the packs lack most words of a
// question none has a high one, as in another language than theirs: then the best are
// looked at, and how likely they answer is told by their sentences.
func (r retrieval) leastOf(found []Passage) float64 {
	least := r.minScore()
	if r.MinScore > 0 || len(found) == 0 {
		return least
	}
	best := 0.0
	for _, p := range found {
		best = max(best, p.Score)
	}
	return min(least, bestShare*best)
}

// merged are the passages of two searches, each once and as good as it was in the better.
func merged(one, other []Passage) []Passage {
	for _, p := range other {
		at := slices.IndexFunc(one, func(had Passage) bool { return had.Chunk == p.Chunk && had.Text == p.Text })
		if at < 0 {
			one = append(one, p)
		} else {
			one[at].Score = max(one[at].Score, p.Score)
		}
	}
	return one
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
func leans(q Question) bool { return points(q) || elliptic(q) }

// elliptic says whether a question leaves out what it is about: "and on Sundays?".
func elliptic(q Question) bool {
	telling := len(contentWords(q.Language, q.Text))
	return continues(q) || telling == 0 || telling < fewWords && (len(wordsOf(q.Text)) < wholeWords || answer.GoesOn(q.Language, q.Text)) || q.leaning
}

// continues says whether a question asks for another thing the same as the one before, without
// asking anything itself: "and the notice after that?".
func continues(q Question) bool {
	return q.Previous != "" && len(wordsOf(q.Text)) <= maxLeaning && answer.GoesOn(q.Language, q.Text) && answer.KindOf(q.Language, q.Text) == answer.Anything
}

// points says whether a question has a pronoun for what it is about: "how much is it?".
func points(q Question) bool {
	book, words := bookOf(q.Language), wordsOf(q.Text)
	tells := map[int]bool{}
	for _, w := range contentWords(q.Language, q.Text) {
		tells[w.from] = true
	}
	for i, w := range words {
		// Inside a sentence a capital is an address: German "Sie" is whoever is asked.
		addressed := i > 0 && q.Text[w.from:w.to] != strings.ToLower(q.Text[w.from:w.to])
		belongs := book.attached[w.text] && i+1 < len(words) && (tells[words[i+1].from] || book.attached[words[i+1].text]) &&
			!answer.OfState(q.Language, q.Text[words[i+1].from:words[i+1].to])
		if book.pointing[w.text] && !addressed && !belongs {
			return true
		}
	}
	return false
}

// subject are the words of a question that leans on the one before which say what it turns
// to: an answer that holds none of them is one to the question before. Words that only ask,
// as "price" does, turn to nothing.
func subject(q Question) map[string]bool {
	if q.Previous == "" || !leans(q) {
		return nil
	}
	book, words := bookOf(q.Language), map[string]bool{}
	for _, w := range contentWords(reading(q.Language, q.Text), q.Text) {
		said := lower(q.Text[w.from:w.to])
		if !containsAny(said, book.askWhen) && !containsAny(said, book.askNumber) && !containsAny(said, book.askWhere) {
			words[w.text] = true
		}
	}
	return words
}
