package conversation

import (
	"math"
	"slices"
)

// compare sets what the sentences are beside each other, the best first. Those that are said
// together with the best, as the items of a list, are no rivals of it.
func (i *inquiry) compare(ranked []candidate) {
	if len(ranked) == 0 {
		return
	}
	total := 0.0
	for n := range ranked {
		total += math.Exp(ranked[n].score - ranked[0].score)
	}
	together := ranked[:1]
	if ranked[0].features.absent() < mostUnheard {
		together = i.companions(ranked)
	}
	for n := range ranked {
		c := &ranked[n]
		rival := math.Inf(-1)
		for m := range ranked {
			if ranked[m].passage != c.passage && (n > 0 || !among(together, &ranked[m])) {
				rival = ranked[m].score
				break
			}
		}
		c.features[margin] = max(-maxMargin, min(maxMargin, c.score-rival))
		said := math.Exp(c.score - ranked[0].score)
		if n == 0 {
			said = 0
			for k := range together {
				said += math.Exp(together[k].score - ranked[0].score)
			}
		}
		c.features[share] = said / total
	}
}

// mostUnheard is the share of a question that no passage has from which sentences that say alike
// are no sign that they answer it: they may all be about something else.
const mostUnheard = 0.3

// among says whether a sentence is one of some.
func among(some []candidate, c *candidate) bool {
	return slices.ContainsFunc(some, func(o candidate) bool { return o.passage == c.passage && o.place == c.place })
}

// maxMargin is how much better a sentence can be than another, in log-odds.
const maxMargin = 4
