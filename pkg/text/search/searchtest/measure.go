package searchtest

import (
	"math"
	"slices"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/text/search"
)

// Depth is how many passages of a ranking are judged.
const Depth = 10

// Ranking answers the passages for a question, the best first.
type Ranking func(question string) ([]id.Chunk, error)

// NDCG is the mean nDCG@10 of a ranking over the questions that something
// answers, and how many they are.
func NDCG(questions []Question, rank Ranking) (mean float64, n int, err error) {
	sum := 0.0
	for _, q := range questions {
		if len(q.Grades) == 0 {
			continue
		}
		ranked, err := rank(q.Text)
		if err != nil {
			return 0, 0, err
		}
		sum += ndcg(ranked, q.Grades)
		n++
	}
	return sum / float64(max(n, 1)), n, nil
}

func ndcg(ranked []id.Chunk, grades map[id.Chunk]int) float64 {
	got, ideal := 0.0, 0.0
	for i, p := range ranked[:min(len(ranked), Depth)] {
		got += gain(grades[p], i)
	}
	all := make([]int, 0, len(grades))
	for _, g := range grades {
		all = append(all, -g)
	}
	slices.Sort(all)
	for i, g := range all[:min(len(all), Depth)] {
		ideal += gain(-g, i)
	}
	return got / ideal
}

func gain(grade, position int) float64 {
	return (math.Exp2(float64(grade)) - 1) / math.Log2(float64(position)+2)
}

// Ours ranks by an index.
func Ours(x *search.Index, language string) Ranking {
	return func(question string) ([]id.Chunk, error) {
		var out []id.Chunk
		for _, h := range x.Search(search.Query{Language: language, Text: question, Limit: Depth}) {
			out = append(out, h.Passage)
		}
		return out, nil
	}
}

// Supports are the supports of the best hits: of the questions that something
// answers, and of those that nothing does.
func Supports(questions []Question, x *search.Index, language string) (answerable, not []float64) {
	for _, q := range questions {
		support := 0.0
		for _, h := range x.Search(search.Query{Language: language, Text: q.Text, Limit: 1}) {
			support = h.Support
		}
		if len(q.Grades) > 0 {
			answerable = append(answerable, support)
		} else {
			not = append(not, support)
		}
	}
	return answerable, not
}

// AUC is how likely one of the high is above one of the low: 0.5 by chance,
// 1 when they are apart.
func AUC(high, low []float64) float64 {
	sum := 0.0
	for _, h := range high {
		for _, l := range low {
			switch {
			case h > l:
				sum++
			case h == l:
				sum += 0.5
			}
		}
	}
	return sum / float64(len(high)*len(low))
}
