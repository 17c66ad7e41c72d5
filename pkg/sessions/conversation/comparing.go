package conversation

import "math"

// compare sets what the sentences are beside each other, the best first. The items of a list
// that are said together are one.
func (i *inquiry) compare(ranked []candidate) {
	total := 0.0
	for n := range ranked {
		total += math.Exp(ranked[n].score - ranked[0].score)
	}
	for n := range ranked {
		c := &ranked[n]
		rival := math.Inf(-1)
		for m := range ranked {
			if ranked[m].passage != c.passage {
				rival = ranked[m].score
				break
			}
		}
		c.features[margin] = max(-maxMargin, min(maxMargin, c.score-rival))
		said := math.Exp(c.score - ranked[0].score)
		if n == 0 {
			said = 1
			if rows := i.list(ranked); len(rows) > 2 {
				said = 0
				for _, row := range rows {
					said += math.Exp(row.score - ranked[0].score)
				}
			}
		}
		c.features[share] = said / total
	}
}

// maxMargin is how much better a sentence can be than another, in log-odds.
const maxMargin = 4
