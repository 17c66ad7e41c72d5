package subject

import (
	"cmp"
	"math/rand/v2"
	"slices"
)

// Drawn are the questions that are asked at a time, in their order: the required ones, and of the
// others as many as are picked. What is random is by chance. Where needs say so, those that need it
// most are picked, and come first unless the order is given.
func (c *Content) Drawn(chance *rand.Rand, needs func(Question) float64) []Question {
	places := make([]int, len(c.Questions))
	for i := range places {
		places[i] = i
	}
	if c.Rules.Pick != nil || c.Rules.Order == "random" {
		chance.Shuffle(len(places), func(i, j int) { places[i], places[j] = places[j], places[i] })
	}
	if needs != nil && (c.Rules.Pick != nil || c.Rules.Order == "random") {
		slices.SortStableFunc(places, func(i, j int) int { return cmp.Compare(needs(c.Questions[j]), needs(c.Questions[i])) })
	}
	if c.Rules.Pick != nil {
		places = pick(places, c.Questions, int(*c.Rules.Pick))
	}
	if c.Rules.Order != "random" {
		slices.Sort(places)
	}
	drawn := make([]Question, len(places))
	for i, place := range places {
		drawn[i] = c.Questions[place]
	}
	return drawn
}

// pick leaves the required questions, and others up to a number, in their order.
func pick(places []int, of []Question, number int) []int {
	others := number
	for _, i := range places {
		if of[i].Required {
			others--
		}
	}
	return slices.DeleteFunc(places, func(i int) bool {
		if of[i].Required {
			return false
		}
		others--
		return others < 0
	})
}
