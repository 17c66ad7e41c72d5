package main

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/sessions/conversation"
)

// depth is how many passages of a ranking are judged.
const depth = 10

// ranking sums up nDCG@10 over questions: of the product's search, and of plain BM25.
type ranking struct {
	ours, plain float64
	questions   int
}

// ranked are the classes whose questions are looked for as they stand, and whose facts
// stand in the text.
var ranked = []string{"direct", "paraphrase", "typo", "inflection", "crosslanguage", "kind", "several", "list", "emergency"}

// mostRelevant is how many passages may hold the facts of a question before these are
// too general to tell which passage answers it.
const mostRelevant = 3

// rank ranks the passages of a persona for the questions of its set. Relevant are those
// that hold all the facts of a question; one whose facts none holds, or too many do, is
// left out.
func (p *stage) rank(ctx context.Context, s *set) (ranking, error) {
	var r ranking
	said := make([]string, len(p.passages))
	for i, c := range p.passages {
		said[i] = normalize(c.Heading + "\n" + c.Text)
	}
	x := newBM25(said)
	for i := range s.Questions {
		q := &s.Questions[i]
		if q.Expect != expectKnow || !slices.Contains(ranked, q.Class) {
			continue
		}
		relevant := map[id.Chunk]bool{}
		for i, c := range p.passages {
			if holdsAll(said[i], q.Facts) {
				relevant[c.ID] = true
			}
		}
		if len(relevant) == 0 || len(relevant) > mostRelevant {
			continue
		}
		found, err := p.config.Knowledge.Search(ctx, conversation.Query{
			Text: q.lastAsked(), Language: cmp.Or(q.Language, s.Language), Bases: p.config.Bases, Limit: depth,
		})
		if err != nil {
			return r, err
		}
		ours := make([]id.Chunk, len(found))
		for i, f := range found {
			ours[i] = f.Chunk
		}
		var plain []id.Chunk
		for _, i := range x.search(normalize(q.lastAsked())) {
			plain = append(plain, p.passages[i].ID)
		}
		r.ours += ndcg(ours, relevant)
		r.plain += ndcg(plain, relevant)
		r.questions++
	}
	return r, nil
}

// ndcg is the nDCG@10 of a ranking, where passages are relevant or not.
func ndcg(ranked []id.Chunk, relevant map[id.Chunk]bool) float64 {
	got, ideal := 0.0, 0.0
	for i, c := range ranked[:min(len(ranked), depth)] {
		if relevant[c] {
			got += 1 / math.Log2(float64(i)+2)
		}
	}
	for i := range min(len(relevant), depth) {
		ideal += 1 / math.Log2(float64(i)+2)
	}
	return got / ideal
}

// The constants of BM25 as they are commonly set.
const (
	saturation = 1.2
	lengthness = 0.75
)

// bm25 ranks texts by the words that they share with a question, without stems, lists
// or tuning: what anybody has within an hour. Characters of unspaced scripts are words.
type bm25 struct {
	counts  []map[string]float64
	lengths []float64
	average float64
	holders map[string]float64
}

func newBM25(texts []string) *bm25 {
	x := &bm25{holders: map[string]float64{}}
	for _, text := range texts {
		counts, words := map[string]float64{}, plainWords(text)
		for _, w := range words {
			counts[w]++
		}
		for w := range counts {
			x.holders[w]++
		}
		x.counts, x.lengths = append(x.counts, counts), append(x.lengths, float64(len(words)))
		x.average += float64(len(words)) / float64(len(texts))
	}
	return x
}

func plainWords(text string) (words []string) {
	for word := range strings.FieldsSeq(splitUnspaced(text)) {
		if !strings.ContainsFunc(word, unspaced) {
			words = append(words, word)
			continue
		}
		words = append(words, strings.Split(word, "")...)
	}
	return words
}

// search answers the indexes of the best texts, best first.
func (x *bm25) search(question string) []int {
	scores := make([]float64, len(x.counts))
	for _, w := range plainWords(question) {
		n := x.holders[w]
		idf := math.Log(1 + (float64(len(x.counts))-n+0.5)/(n+0.5))
		for i, counts := range x.counts {
			f := counts[w]
			scores[i] += idf * f * (saturation + 1) / (f + saturation*(1-lengthness+lengthness*x.lengths[i]/x.average))
		}
	}
	var found []int
	for i, score := range scores {
		if score > 0 {
			found = append(found, i)
		}
	}
	slices.SortStableFunc(found, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	return found[:min(len(found), depth)]
}
