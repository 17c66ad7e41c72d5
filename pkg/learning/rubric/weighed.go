package rubric

import (
	"math"
	"slices"
	"strings"

	"visavis.dev/pkg/portals/subject"
)

// Judged is what somebody who can read says of a criterion.
type Judged struct {
	// Weigh weighs its points; nil where it has none.
	Weigh Weigh
	// Level is the level that an answer reaches where the criterion has no points; nil for
	// none.
	Level *Leveled
	// Reason says why, in a sentence.
	Reason string
}

// Leveled is a level of a criterion, by its place, and how sure it is, with the answer's own
// words that it rests on.
type Leveled struct {
	Level      int
	Confidence float64
	Quotes     []string
}

// Apply scores an answer by what is said of each criterion, by its key. Criteria of which
// nothing is said are scored as Judge scores them; so is all that needs no reading: a
// choice, a rating, and an answer that was not given or not kept.
func Apply(code string, q subject.Question, a Answer, in Text, said map[string]Judged) []Score {
	scores := Judge(code, q, a, in)
	if q.Kind == "choice" || len(q.Rubric) == 0 || !a.Kept || a.empty() {
		return scores
	}
	for i, s := range blank(q, in) {
		c := q.Rubric[i]
		j, ok := said[c.Key]
		points := Told(c, in)
		switch {
		case !ok:
			continue
		case len(points) > 0 && j.Weigh != nil:
			s = weighed(s, c.Levels, points, j.Weigh, in)
		case len(points) == 0 && j.Level != nil:
			s = leveled(s, c.Levels, *j.Level)
		default:
			continue
		}
		s.Rationale = strings.TrimSpace(s.Rationale + " " + j.Reason)
		scores[i] = s
	}
	return scores
}

// leveled is a criterion that reaches a level.
func leveled(s Score, levels []subject.Level, l Leveled) Score {
	var top float64
	for _, each := range levels {
		top = math.Max(top, each.Score)
	}
	if l.Level < 0 || l.Level >= len(levels) || top <= 0 {
		return s
	}
	at := int64(l.Level)
	s.Level, s.Score = &at, min(round(s.Max*levels[l.Level].Score/top), s.Max)
	s.Confidence, s.Quotes = round(l.Confidence), slices.Clone(l.Quotes)
	return s
}
