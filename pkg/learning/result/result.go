// Package result keeps what came of practices and assessments: the scores with what they
// rest on, whether they are released, who looks at them and who objects (spec, Results).
// Scoring an answer is package rubric's, holding the conversation package conversation's.
//
// A result begins with its session and is scored by a job once that has ended. Nobody but
// who may change results is shown what it is worth before it is released.
package result

import (
	"context"
	"encoding/json"
	"math"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/learning/mastery"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/tenant"
)

// State is where a result stands.
type State string

// The states.
const (
	// InProgress: the session is not over, or was not scored yet.
	InProgress     State = "in_progress"
	AwaitingReview State = "awaiting_review"
	Released       State = "released"
	// Contested: released, and the learner objects.
	Contested State = "contested"
	// Withdrawn: the person took their consent back meanwhile; there are no scores.
	Withdrawn State = "withdrawn"
	Voided    State = "voided"
)

// States lists every state.
func States() []State {
	return []State{InProgress, AwaitingReview, Released, Contested, Withdrawn, Voided}
}

// Who decided a score.
const (
	ByAvatar = "avatar"
	ByPerson = "person"
	Mixed    = "mixed"
)

// Criterion is the score of one criterion, and what it rests on.
type Criterion struct {
	Key   string `json:"key"`
	Label string `json:"label"`
	// Score is nil where nobody could judge the answer yet.
	Score      *float64 `json:"score"`
	MaxScore   float64  `json:"maxScore"`
	Weight     float64  `json:"weight"`
	Level      *int64   `json:"level"`
	Confidence float64  `json:"confidence"`
	Rationale  string   `json:"rationale"`
	// Quotes are where the learner's own words are, which are gone once those are.
	Quotes []Quote `json:"quotes"`
	// Time is what came of the question in the time that there was; empty where it had no limit.
	Time session.Came `json:"time,omitempty"`
	// Connection is that of the model that scored it; nil where none did.
	Connection *id.Connection `json:"connection,omitempty"`
	// DecidedBy is avatar, or the id of the key or person that decided, for Reason.
	DecidedBy string    `json:"decidedBy"`
	DecidedAt time.Time `json:"decidedAt"`
	Reason    *string   `json:"reason"`
}

// Quote is a part of a turn, in bytes of what was heard of it.
type Quote struct {
	Turn  id.Turn `json:"turn"`
	Index int64   `json:"index"`
	From  int     `json:"from"`
	To    int     `json:"to"`
}

// Result is what came of a practice or an assessment.
type Result struct {
	ID         id.Result
	State      State
	Kind       string
	Subject    id.Subject
	Portal     id.Portal
	Person     id.Person
	Membership id.Membership
	Unit       id.Unit
	Session    id.Session
	// Assignment is the work that it is part of; zero for none.
	Assignment id.Assignment
	// Attempt counts from 1. AttemptsAllowed is nil for any number, PassPercent where nobody
	// can fail.
	Attempt         int64
	AttemptsAllowed *int64
	PassPercent     *int64
	// RubricVersion is the version of the subject whose rubrics count.
	RubricVersion int64
	Language      string
	// Asked are the keys of the questions that were to be asked.
	Asked                   []string
	StartedAt               time.Time
	CompletedAt, ReleasedAt *time.Time
	Percent, Score          *float64
	MaxScore                float64
	Band                    *string
	Passed                  *bool
	// Criteria have no scores before the result is scored.
	Criteria []Criterion
	// Objectives are those of the subject with how well they are mastered, before the result and after it, as
	// that was when it was scored last; nil of what was scored before that was kept.
	Objectives           []mastery.Shift
	Confidence           *float64
	ScoredBy             *string
	NeedsReview          bool
	Doubt                *string
	OnHold               bool
	Edition              int64
	CreatedAt, UpdatedAt time.Time
}

const columns = `id, state, kind, subject_id, portal_id, person_id, membership_id, unit_id, session_id, assignment_id, attempt, attempts_allowed,
	pass_percent, rubric_version, language, asked, started_at, completed_at, released_at, percent, score, max_score, band, passed,
	criteria, objectives, confidence, scored_by, needs_review, doubt, on_hold, edition, created_at, updated_at`

func scan(row pgx.CollectableRow) (Result, error) { return pgx.RowToStructByPos[Result](row) }

// Shown says whether what the result is worth may be told to whoever may read results.
func (r *Result) Shown() bool { return r.State == Released || r.State == Contested }

// The nouns that errors of this package are about.
const (
	Noun        errdefs.Noun = "result"
	ReviewNoun  errdefs.Noun = "review"
	ContestNoun errdefs.Noun = "contest"
)

// The reasons of this package's conflicts.
const (
	ReasonReleased    = "already_released"
	ReasonNotScored   = "not_scored"
	ReasonNotJudged   = "not_judged"
	ReasonNotReleased = "not_released"
	ReasonVoided      = "voided"
	ReasonWithdrawn   = "withdrawn"
	ReasonReviewOpen  = "review_open"
	ReasonCompleted   = "review_completed"
	ReasonContestOpen = "already_contested"
	ReasonDecided     = "already_decided"
	ReasonOutcome     = "outcome"
	ReasonNoAttempts  = "no_attempts_left"
)

// HeldError says that a result is on hold, so that nothing of it may change.
type HeldError struct{ ID id.Result }

func (e *HeldError) Error() string { return "the result " + e.ID.String() + " is on hold" }

func (r *Result) conflict(reason, message string) error {
	return &errdefs.Conflict{Noun: Noun, ID: r.ID.String(), Reason: reason, Message: message}
}

// settled refuses to change what was not scored yet, or does not count any more.
func (r *Result) settled() error {
	switch {
	case r.OnHold:
		return &HeldError{r.ID}
	case r.State == InProgress:
		return r.conflict(ReasonNotScored, "The result is not scored yet.")
	case r.State == Voided:
		return r.conflict(ReasonVoided, "The result was voided.")
	case r.State == Withdrawn:
		return r.conflict(ReasonWithdrawn, "The result was withdrawn.")
	}
	return nil
}

// tally adds the criteria up. What is not judged leaves the whole without a score.
func (r *Result) tally() {
	var score, most float64
	sure, judged := 1.0, true
	avatar, person := false, false
	for _, c := range r.Criteria {
		most += c.MaxScore
		sure = min(sure, c.Confidence)
		if c.Score == nil {
			judged = false
			continue
		}
		score += *c.Score
		avatar, person = avatar || c.DecidedBy == ByAvatar, person || c.DecidedBy != ByAvatar
	}
	r.MaxScore, r.Confidence = round(most, 1e4), &sure
	r.ScoredBy = new(ByAvatar)
	if person {
		r.ScoredBy = new(ByPerson)
		if avatar {
			r.ScoredBy = new(Mixed)
		}
	}
	r.Score, r.Percent, r.Band, r.Passed = nil, nil, nil, nil
	if !judged || most <= 0 {
		return
	}
	r.Score, r.Percent = new(round(score, 1e4)), new(round(100*score/most, 10))
	if r.PassPercent != nil {
		r.Passed = new(*r.Percent >= float64(*r.PassPercent))
		r.Band = new(band(*r.Percent, float64(*r.PassPercent)))
	}
}

// weigh adds the criteria up, and works out what they change of what the person masters.
func (r *Result) weigh(ctx context.Context, tx *tenant.Tx) error {
	r.tally()
	of := mastery.Scored{ID: r.ID, Person: r.Person, Subject: r.Subject, At: r.StartedAt}
	if r.CompletedAt != nil {
		of.At = *r.CompletedAt
	}
	for _, c := range r.Criteria {
		of.Criteria = append(of.Criteria, mastery.Criterion{Key: c.Key, Score: c.Score, MaxScore: c.MaxScore, Confidence: c.Confidence})
	}
	shifts, err := mastery.Shifts(ctx, tx, of)
	if shifts != nil { // the subject is still there
		r.Objectives = shifts
	}
	return err
}

// The shares of the points, in percent, that merit and distinction take at least.
const (
	merit       = 75
	distinction = 90
)

func band(percent, pass float64) string {
	switch {
	case percent < pass:
		return "fail"
	case percent >= distinction:
		return "distinction"
	case percent >= merit:
		return "merit"
	}
	return "pass"
}

func round(x, digits float64) float64 { return math.Round(x*digits) / digits }

// unjudged are the keys of the criteria that nobody could judge yet.
func (r *Result) unjudged() (keys []string) {
	for _, c := range r.Criteria {
		if c.Score == nil {
			keys = append(keys, c.Key)
		}
	}
	return keys
}

// Scores says whether a result comes of a session: a practice or an assessment of a subject
// by somebody who is known, that is no trial.
func Scores(s session.Session) bool {
	return (s.Kind == session.Practice || s.Kind == session.Assessment) && !s.Subject.IsZero() && !s.Person.IsZero() && !s.Sandbox
}

// plain is a value as JSON reads it back: nil lists become empty.
func listed[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

func written(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // there is nothing in it that JSON has not
	}
	return b
}
