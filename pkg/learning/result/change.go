package result

import (
	"context"
	"slices"
	"time"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/learning/certificate"
	"visavis.dev/pkg/learning/record"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/sessions/printed"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
)

// Release shows a result that Lock found to whoever may read results, which completes a review
// that is open. The error can be a
// HeldError or a conflict: ReasonReleased, ReasonNotJudged, or one of what cannot change.
func Release(ctx context.Context, tx *tenant.Tx, r Result, who activity.Actor) (Result, error) {
	if err := r.settled(); err != nil {
		return r, err
	}
	if r.Shown() {
		return r, r.conflict(ReasonReleased, "The result is released already.")
	}
	if keys := r.unjudged(); len(keys) > 0 {
		return r, &errdefs.Conflict{
			Noun: Noun, ID: r.ID.String(), Reason: ReasonNotJudged, Message: "Criteria have no score yet. PATCH /results/{id}/criteria gives them one.",
			Details: map[string]any{"criteria": keys},
		}
	}
	open, err := openReview(ctx, tx, r.ID)
	if err != nil {
		return r, err
	}
	if open != nil {
		if err := r.conclude(ctx, tx, open, open.found(), open.Note, who); err != nil {
			return r, err
		}
	}
	r.State, r.ReleasedAt, r.NeedsReview, r.Doubt = Released, &who.At, false, nil
	if err := r.save(ctx, tx, who.At); err != nil {
		return r, err
	}
	// What was told of the score before had none in it.
	event.Emit(tx, r.scored(who.At))
	if err := r.complete(ctx, tx, "", who); err != nil {
		return r, err
	}
	who.Log(tx, "result.released", "result", r.ID, r.about())
	return r, nil
}

// Void has a result that Lock found count for nothing, and the attempt with it. An open review
// is completed by that, and an objection upheld; without one, what was done is noted as one. One
// that is not scored yet can be voided once its session is over. The error can be a HeldError or
// a conflict.
func Void(ctx context.Context, tx *tenant.Tx, r Result, reason string, who activity.Actor) (Result, error) {
	if err := r.voidable(ctx, tx); err != nil {
		return r, err
	}
	open, err := openReview(ctx, tx, r.ID)
	if err != nil {
		return r, err
	}
	if open == nil {
		// Who voids a result has looked at it.
		made, err := r.enter(ctx, tx, Ask{Reason: ReasonVoided}, who.By, who.At)
		if err != nil {
			return r, err
		}
		open = &made
	}
	return r, r.conclude(ctx, tx, open, OutcomeVoided, &reason, who)
}

// voidable is settled, also of what waits to be scored, which takes its end from its session.
func (r *Result) voidable(ctx context.Context, tx *tenant.Tx) error {
	if r.State != InProgress {
		return r.settled()
	}
	s, err := session.Lock(ctx, tx, r.Session)
	switch {
	case err != nil:
		return err
	case !s.State.Over():
		return r.settled()
	}
	r.CompletedAt, r.Criteria, r.Objectives = s.EndedAt, nil, nil
	return nil
}

func (r *Result) void(ctx context.Context, tx *tenant.Tx, who activity.Actor) error {
	if r.State == Contested {
		if err := upholdOpen(ctx, tx, r, who.At); err != nil {
			return err
		}
	}
	r.State, r.NeedsReview, r.Doubt = Voided, false, nil
	if err := r.save(ctx, tx, who.At); err != nil {
		return err
	}
	if err := printed.DeleteOfResults(ctx, tx, r.ID); err != nil {
		return err
	}
	who.Log(tx, "result.voided", "result", r.ID, r.about())
	return r.complete(ctx, tx, record.ResultVoided, who)
}

// complete has the subject completed by the result, or not any more, for a reason.
func (r *Result) complete(ctx context.Context, tx *tenant.Tx, reason string, who activity.Actor) error {
	if r.Kind != session.Assessment {
		if !r.completes() { // one of a practice has no certificate but from before that was refused
			if err := certificate.RevokeOfResult(ctx, tx, r.ID, reason, who.Unlogged()); err != nil {
				return err
			}
		}
		return r.follow(ctx, tx, who.At)
	}
	k := record.Completion{Person: r.Person, Membership: r.Membership, Subject: r.Subject, Result: r.ID, Source: record.FromSession}
	if r.CompletedAt != nil {
		k.CompletedAt = *r.CompletedAt
	}
	if err := record.Rest(ctx, tx, k, r.completes(), reason, who); err != nil {
		return err
	}
	return r.follow(ctx, tx, who.At)
}

// completes says whether the result is one by which a subject is completed.
func (r *Result) completes() bool { return r.Shown() && r.Passed != nil && *r.Passed }

// Hold keeps a result that Lock found, and the words that it rests on, as they are, or with
// false ends that. Doing so again changes nothing. The error is a conflict (ReasonNotScored)
// before there are scores to keep, or errdefs.Gone of the person, who is being erased.
func Hold(ctx context.Context, tx *tenant.Tx, r Result, on bool, who activity.Actor) (Result, error) {
	if r.OnHold == on {
		return r, nil
	}
	if err := r.holdable(ctx, tx); on && err != nil {
		return r, err
	}
	r.OnHold = on
	if err := session.Hold(ctx, tx, r.Session, on); err != nil {
		return r, err
	}
	if err := r.save(ctx, tx, who.At); err != nil {
		return r, err
	}
	action := "result.held"
	if !on {
		action = "result.unheld"
	}
	who.Log(tx, action, "result", r.ID, r.about())
	return r, nil
}

// holdable refuses to hold what will change, or is to go. The person is not erased until the
// commit.
func (r *Result) holdable(ctx context.Context, tx *tenant.Tx) error {
	if r.State == InProgress {
		return r.settled()
	}
	if err := person.Keep(ctx, tx, id.Portal{}, r.Person); err != nil {
		return err
	}
	_, err := person.Find(ctx, tx, r.Person)
	return err
}

// WithdrawCompletion has a completion count no more, by hand. The error is errdefs.NotFound,
// errdefs.Gone, or a HeldError where it rests on a result on hold.
func WithdrawCompletion(ctx context.Context, tx *tenant.Tx, which id.Completion, who activity.Actor) error {
	on, err := record.RestsOn(ctx, tx, which)
	if err != nil {
		return err
	}
	if !on.IsZero() {
		// Before the completion, as whoever changes the result locks them.
		r, err := Lock(ctx, tx, on)
		switch {
		case errdefs.IsNotFound(err, Noun): // it was erased
		case err != nil:
			return err
		case r.OnHold:
			return &HeldError{r.ID}
		}
	}
	k, err := record.FindCompletion(ctx, tx, which)
	if err != nil {
		return err
	}
	return record.Withdraw(ctx, tx, k, record.ByHand, who)
}

// Rescore is another score of one criterion.
type Rescore struct {
	Key   string
	Score float64
	// Rationale stands in the place of what there was, where it is not nil.
	Rationale *string
}

// Change gives criteria of a result that Lock found other scores, for a reason. An open
// review notes what changed. Where nothing does, it does nothing. The error can be a HeldError, an errdefs.Invalid or a conflict.
func Change(ctx context.Context, tx *tenant.Tx, r Result, to []Rescore, reason string, who activity.Actor) (Result, error) {
	if err := r.settled(); err != nil {
		return r, err
	}
	open, err := openReview(ctx, tx, r.ID)
	if err != nil {
		return r, err
	}
	completes := r.completes()
	changes, changed, err := r.rescore(to, reason, who)
	if err != nil || !changed {
		return r, err
	}
	if open != nil {
		open.note(changes)
		if err := open.save(ctx, tx); err != nil {
			return r, err
		}
	}
	if err := r.weigh(ctx, tx); err != nil {
		return r, err
	}
	if err := r.save(ctx, tx, who.At); err != nil {
		return r, err
	}
	event.Emit(tx, r.scored(who.At))
	// A completion that somebody withdrew does not come back with a score that passes as before.
	if r.completes() != completes {
		if err := r.complete(ctx, tx, record.ResultChanged, who); err != nil {
			return r, err
		}
	}
	about := r.about()
	about["criteria"] = len(changes)
	who.Log(tx, "result.rescored", "result", r.ID, about)
	return r, nil
}

// rescore sets scores. It answers which are others by that, and whether anything changed.
func (r *Result) rescore(to []Rescore, reason string, who activity.Actor) (changes []ScoreChange, changed bool, err error) {
	r.Criteria = slices.Clone(r.Criteria)
	for i, wanted := range to {
		at := slices.IndexFunc(r.Criteria, func(c Criterion) bool { return c.Key == wanted.Key })
		if at < 0 {
			return nil, false, errdefs.InvalidField(field(i, "key"), "is no criterion of the result")
		}
		if slices.ContainsFunc(to[:i], func(o Rescore) bool { return o.Key == wanted.Key }) {
			return nil, false, errdefs.InvalidField(field(i, "key"), "is there twice")
		}
		c := &r.Criteria[at]
		wanted.Score = round(wanted.Score, 1e4) // as all scores are kept
		if wanted.Score < 0 || wanted.Score > c.MaxScore {
			return nil, false, errdefs.InvalidField(field(i, "score"), "must lie between 0 and %g", c.MaxScore)
		}
		same := c.Score != nil && *c.Score == wanted.Score
		switch {
		case same && (wanted.Rationale == nil || *wanted.Rationale == c.Rationale):
			continue
		case !same:
			changes = append(changes, ScoreChange{Criterion: c.Key, From: c.Score, To: wanted.Score})
		}
		changed = true
		c.Score, c.Level, c.Confidence, c.Connection = &wanted.Score, nil, 1, nil
		c.DecidedBy, c.DecidedAt, c.Reason = who.By, who.At, &reason
		if wanted.Rationale != nil {
			c.Rationale = *wanted.Rationale
		}
	}
	return changes, changed, nil
}

// about is what the activity log tells of a result: never what it is worth.
func (r *Result) about() map[string]any {
	return map[string]any{"subjectId": r.Subject, "portalId": r.Portal, "personId": r.Person}
}

// moment is a time as events tell it; nil for none.
func moment(t *time.Time) any {
	if t == nil {
		return nil
	}
	return t.UTC()
}
