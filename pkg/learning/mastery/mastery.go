// Package mastery keeps how well people master the objectives of subjects (spec, Results):
// learned by Bayesian knowledge tracing from what their results show, and forgotten by FSRS.
//
// All of it follows from the results that are shown, in their order: what is withheld tells
// nothing, and what is voided or scored again is as if it never had been, or always so.
package mastery

import (
	"math"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/open-spaced-repetition/go-fsrs/v3"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/portals/subject"
)

// Level is how well something is mastered, in a word.
type Level string

// The levels.
const (
	None     Level = "none"
	Emerging Level = "emerging"
	Secure   Level = "secure"
	Strong   Level = "strong"
)

// The mastery from which a level is reached.
const (
	emerging = 0.3
	secure   = 0.7
	strong   = 0.85
)

// Objective is how well somebody masters an objective of a subject.
type Objective struct {
	Person  id.Person
	Subject id.Subject
	Key     string
	// Known is how likely it was mastered at the last evidence, from 0 to 1, and Stability in how
	// many days nine of ten remember it still.
	Known, Stability float64
	// Evidence counts the results that showed something of it, the last of them then.
	Evidence   int64
	EvidenceAt *time.Time
	// DueAt is when it is to be practiced again; nil where nothing is known of it.
	DueAt *time.Time
	// Previous is the level before the last change.
	Previous  Level
	UpdatedAt time.Time
}

const columns = `person_id, subject_id, objective_key, known, stability, evidence_count, evidence_at, due_at, previous_level, updated_at`

func scan(row pgx.CollectableRow) (Objective, error) { return pgx.RowToStructByPos[Objective](row) }

// At is how likely it is mastered at a moment, from 0 to 1: what was known and is not forgotten.
func (o *Objective) At(now time.Time) float64 {
	if o.EvidenceAt == nil {
		return 0
	}
	card := fsrs.Card{Stability: o.Stability, LastReview: *o.EvidenceAt, State: fsrs.Review}
	if now.Before(card.LastReview) {
		now = card.LastReview
	}
	return round(o.Known * forgetting().GetRetrievability(card, now))
}

// LevelAt is At as a level.
func (o *Objective) LevelAt(now time.Time) Level { return LevelOf(o.At(now)) }

// LevelOf is a mastery, from 0 to 1, in a word.
func LevelOf(m float64) Level {
	switch {
	case m >= strong:
		return Strong
	case m >= secure:
		return Secure
	case m >= emerging:
		return Emerging
	}
	return None
}

// The parameters of knowledge tracing, as they are usual where none were fitted: how likely
// something is known before, is learned by an attempt, fails though known, and succeeds by a guess.
const (
	before = 0.2
	learns = 0.15
	slips  = 0.1
	guess  = 0.2
)

// observation is what one result shows of an objective.
type observation struct {
	at time.Time
	// share of the points, and how sure that is, from 0 to 1.
	share, confidence float64
}

// trace is how likely it is known after an observation, if it was so likely before.
func trace(known float64, o observation) float64 {
	right := known * (1 - slips) / (known*(1-slips) + (1-known)*guess)
	wrong := known * slips / (known*slips + (1-known)*(1-guess))
	// A part of the points is a success as far as it goes, and what is not sure says less.
	known += o.confidence * (o.share*right + (1-o.share)*wrong - known)
	return known + (1-known)*learns
}

// forgetting is the scheduler of reviews, by days. It notes something in itself when it is used.
func forgetting() *fsrs.FSRS {
	p := fsrs.DefaultParam()
	p.EnableShortTerm = false
	return fsrs.NewFSRS(p)
}

// The shares of the points from which something was remembered, with ease, or hardly.
const (
	hardly = 0.5
	well   = 0.7
	easily = 0.95
)

func rating(share float64) fsrs.Rating {
	switch {
	case share >= easily:
		return fsrs.Easy
	case share >= well:
		return fsrs.Good
	case share >= hardly:
		return fsrs.Hard
	}
	return fsrs.Again
}

// learn works out what observations, oldest first, say of an objective.
func (o *Objective) learn(seen []observation) {
	o.Known, o.Stability, o.Evidence, o.EvidenceAt, o.DueAt = 0, 0, int64(len(seen)), nil, nil
	if len(seen) == 0 {
		return
	}
	card, known := fsrs.NewCard(), before
	for _, s := range seen {
		known = trace(known, s)
		card = forgetting().Next(card, s.at, rating(s.share)).Card
	}
	last := seen[len(seen)-1].at
	o.Known, o.Stability, o.EvidenceAt, o.DueAt = round(known), round(card.Stability), &last, new(card.Due.UTC().Truncate(time.Microsecond))
}

// Criterion is what a criterion of a result that is shown is worth.
type Criterion struct {
	// Key is the question's and, after a full stop, the criterion's.
	Key string `json:"key"`
	// Score is nil where nobody could judge the answer.
	Score      *float64 `json:"score"`
	MaxScore   float64  `json:"maxScore"`
	Confidence float64  `json:"confidence"`
}

// observe is what the criteria of a result show of an objective; false for nothing.
func observe(key string, all []subject.Objective, of []Criterion, at time.Time) (observation, bool) {
	var score, most, sure float64
	for _, c := range of {
		if c.Score != nil && c.MaxScore > 0 && shows(key, all, c.Key) {
			score, most, sure = score+*c.Score, most+c.MaxScore, sure+c.MaxScore*c.Confidence
		}
	}
	if most == 0 {
		return observation{}, false
	}
	return observation{at, min(1, score/most), min(1, sure/most)}, true
}

// shows says whether a criterion shows something of an objective: of those after which it or its
// question is named, or else of all.
func shows(key string, all []subject.Objective, criterion string) bool {
	question, part, _ := strings.Cut(criterion, ".")
	for _, name := range []string{part, question} {
		if of := Named(all, name); of != "" {
			return of == key
		}
	}
	return true
}

// Named is the key of the objective after which a question or a criterion is named: its key is
// the objective's, or begins with that and an underscore. Of several it is the longest; empty
// for none.
func Named(all []subject.Objective, name string) (key string) {
	for _, o := range all {
		if (name == o.Key || strings.HasPrefix(name, o.Key+"_")) && len(o.Key) > len(key) {
			key = o.Key
		}
	}
	return key
}

const digits = 1e4

func round(x float64) float64 { return math.Round(x*digits) / digits }
