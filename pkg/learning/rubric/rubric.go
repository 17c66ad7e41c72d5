// Package rubric scores answers by the rubrics of a subject's questions: whether they cover,
// deny or miss what the rubric wants said, and how sure that is. Their words are weighed
// without a model; package scoring asks one. It reads no database and keeps nothing.
//
// What it cannot judge it scores as nothing with no confidence, for a person to look at.
package rubric

import (
	"math"
	"slices"
	"strings"

	"visavis.dev/pkg/base/language"
	"visavis.dev/pkg/portals/subject"
	"visavis.dev/pkg/sessions/conversation"
)

// noAnswer is how sure it is that nothing is worth nothing.
const noAnswer = 0.95

// Least is the confidence below which a person looks at a score.
const Least = 0.6

// Answer is what somebody said to a question; empty for nothing.
type Answer struct {
	Text string
	// Kept says that what was said could be kept. Where it could not, nothing is known of it.
	Kept bool
	// Unasked says that the question never was asked, so that nobody could answer it.
	Unasked bool
	// Foreign says that it was given in another language than it is judged in.
	Foreign bool
}

func (a *Answer) empty() bool { return strings.TrimSpace(a.Text) == "" }

// Score is how far an answer meets a criterion.
type Score struct {
	// Key is that of the question and, after a full stop, of the criterion.
	Key, Label string
	// Score of Max points. Weight is that of the criterion within its question.
	Score, Max, Weight float64
	// Level is the place of the level that is reached; nil where there are none, or it is
	// not known.
	Level *int64
	// Confidence is from 0, for what was not judged, to 1.
	Confidence float64
	// Rationale says why, in English, and Quotes are the answer's own words.
	Rationale string
	Quotes    []string
}

// Text is the words of a language, or of another that the portal has.
type Text func(language.Words) string

// foreign says whether a line of the answer is in another language.
func (a *Answer) foreign(code string) bool {
	return a.Foreign || slices.ContainsFunc(strings.Split(a.Text, "\n"), func(line string) bool { return !conversation.Reads(code, line) })
}

// Judge scores an answer to a question that was asked, criterion by criterion. Ratings give
// nothing to score.
func Judge(code string, q subject.Question, a Answer, in Text) []Score {
	q.Points = round(q.Points)
	switch {
	case q.Kind == "rating" && len(q.Rubric) == 0:
		return nil
	case q.Kind == "choice":
		return []Score{chosen(code, q, a, in)}
	case len(q.Rubric) == 0:
		return []Score{unjudged(Score{Key: q.Key, Label: in(q.Text), Max: q.Points, Weight: 1}, a, false)}
	}
	weigh := Words(code, q, a, in)
	scores := make([]Score, 0, len(q.Rubric))
	for i, s := range blank(q, in) {
		scores = append(scores, met(code, s, q.Rubric[i], a, weigh, in))
	}
	return scores
}

// blank are the scores of a question's criteria before anything is scored.
func blank(q subject.Question, in Text) (scores []Score) {
	shares := shared(q)
	for i, c := range q.Rubric {
		scores = append(scores, Score{Key: q.Key + "." + c.Key, Label: in(c.Label), Max: shares[i], Weight: c.Weight, Quotes: []string{}})
	}
	return scores
}

// Weigh says how an answer stands to a point, in the words of a language.
type Weigh func(point string) Verdict

// Words weighs an answer to a question by its words alone.
func Words(code string, q subject.Question, a Answer, in Text) Weigh {
	beside := conversation.Beside(code, points(q, in), a.Text)
	return func(point string) Verdict { return weigh(code, point, a.Text, beside) }
}

// points are what the criteria of a question want said.
func points(q subject.Question, in Text) (texts []string) {
	for _, c := range q.Rubric {
		for _, p := range c.Points {
			texts = append(texts, in(p.Text))
		}
	}
	return texts
}

// shared are the points of a question's criteria, by their weights, in four digits. They add
// up to those of the question: the last that weighs anything has what is left.
func shared(q subject.Question) []float64 {
	var weights, given float64
	last := -1
	for i, c := range q.Rubric {
		if weights += c.Weight; c.Weight > 0 {
			last = i
		}
	}
	shares := make([]float64, len(q.Rubric))
	for i, c := range q.Rubric {
		switch {
		case i == last:
			shares[i] = max(0, round(q.Points-given))
		case c.Weight > 0:
			shares[i] = round(q.Points * c.Weight / weights)
			given += shares[i]
		}
	}
	return shares
}

// unjudged is what a person has to look at, but where nothing was said at all.
func unjudged(s Score, a Answer, foreign bool) Score {
	s.Quotes = []string{}
	switch {
	case !a.Kept:
		s.Rationale = "What was said was not kept."
	case a.empty() && a.Unasked:
		s.Rationale = "The question was not asked."
	case a.empty():
		s.Confidence, s.Rationale = noAnswer, "No answer was given."
	case foreign:
		s.Rationale, s.Quotes = "The answer is in another language than the rubric.", []string{a.Text}
	default:
		s.Rationale, s.Quotes = "The rubric names nothing that an answer is to say, so a person has to judge it.", []string{a.Text}
	}
	return s
}

// met holds an answer against the points of a criterion.
func met(code string, s Score, c subject.Criterion, a Answer, weigh Weigh, in Text) Score {
	points := Told(c, in)
	if foreign := a.foreign(code); !a.Kept || a.empty() || len(points) == 0 || foreign {
		return unjudged(s, a, foreign)
	}
	return weighed(s, c.Levels, points, weigh, in)
}

// Told are the points of a criterion that a language has words for.
func Told(c subject.Criterion, in Text) []subject.Point {
	return slices.DeleteFunc(slices.Clone(c.Points), func(p subject.Point) bool { return in(p.Text) == "" })
}

// weighed is what the points of a criterion come to.
func weighed(s Score, levels []subject.Level, points []subject.Point, weigh Weigh, in Text) Score {
	var covered float64
	s.Confidence = 1
	var reasons []string
	lacks := false
	for _, p := range points {
		v := weigh(in(p.Text))
		covered += v.Covered
		s.Confidence = min(s.Confidence, v.Confidence)
		lacks = lacks || p.Required && v.Covered < 1
		reasons = append(reasons, string(v.Stance)+`: "`+in(p.Text)+`"`)
		if v.Quote != "" && !slices.Contains(s.Quotes, v.Quote) {
			s.Quotes = append(s.Quotes, v.Quote)
		}
	}
	n := float64(len(points))
	s.Confidence, s.Rationale = round(s.Confidence), strings.Join(reasons, "; ")+"."
	s.Level, s.Score = reached(levels, covered/n, lacks)
	s.Score = min(round(s.Score*s.Max), s.Max)
	return s
}

// reached is the highest level that a share of the points reaches, and what share of the
// criterion's it gives. Without levels it is the share itself.
func reached(levels []subject.Level, share float64, lacks bool) (level *int64, of float64) {
	var top float64
	for _, l := range levels {
		top = max(top, l.Score)
	}
	if top <= 0 {
		if lacks {
			share = min(share, 0.99)
		}
		return nil, share
	}
	best := -1
	for i, l := range levels {
		if at := l.Score / top; at <= share+1e-9 && !(lacks && l.Score == top) && (best < 0 || l.Score > levels[best].Score) {
			best = i
		}
	}
	if best < 0 {
		return nil, 0
	}
	n := int64(best)
	return &n, levels[best].Score / top
}

// Stance is how an answer stands to a point.
type Stance string

// The stances.
const (
	Covers       Stance = "covers"
	Denies       Stance = "denies"
	Misses       Stance = "misses"
	MayCover     Stance = "may cover"
	MayCoverDeny Stance = "may cover or deny"
)

// Verdict is how an answer stands to a point: its share that is covered and how sure that is,
// each from 0 to 1, and the answer's own words that it rests on, if any.
type Verdict struct {
	Stance              Stance
	Covered, Confidence float64
	Quote               string
}

// Perhaps is the confidence of what may be either.
const Perhaps = 0.35

// The shares of a point from which an answer covers it, and below which it misses it.
const (
	covers = 0.7
	misses = 0.35
)

// besides is how much less sure a miss is for each thing that an answer speaks of and no point
// does: it may be what the point says, in other words.
const besides = 0.14

// weigh holds an answer against a point; beside is how many things it speaks of that no point
// does.
func weigh(code, point, said string, beside int) Verdict {
	c := conversation.Weigh(code, point, said)
	switch {
	case c.Unclear:
		return Verdict{MayCoverDeny, min(1, max(0, c.Share-misses)/(covers-misses)), Perhaps, c.Sentence}
	case c.Denied:
		return Verdict{Denies, 0, 0.7, c.Sentence}
	case c.Share >= covers:
		return Verdict{Covers, 1, 0.75 + 0.25*(c.Share-covers)/(1-covers), c.Sentence}
	case c.Share <= misses:
		// What is said in wholly other words is not found: the more was said, the less sure.
		return Verdict{Misses, 0, max(0, 0.9-0.5*min(1, c.Share/misses)-besides*float64(beside)), ""}
	}
	return Verdict{MayCover, (c.Share - misses) / (covers - misses), Perhaps, c.Sentence}
}

// round leaves four digits, so that what is kept is what is shown.
func round(x float64) float64 { return math.Round(x*1e4) / 1e4 }
