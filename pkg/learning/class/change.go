package class

import (
	"context"
	"time"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/learning/result"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
)

// Change has somebody change a result as they looked at it: by the edition that they saw. Their
// place is asked for in the transaction, so that whoever lost it meanwhile changes nothing. The
// error is errdefs.NotFound, ErrNone, ErrStale, or the rule's.
func Change(
	ctx context.Context, tx *tenant.Tx, by Visitor, which id.Result, edition int64, address string, now time.Time,
	rule func(context.Context, *tenant.Tx, result.Result, activity.Actor) error,
) error {
	s, err := Of(ctx, tx, by, now)
	if err != nil {
		return err
	}
	r, err := s.Lock(ctx, tx, which)
	if err != nil {
		return err
	}
	if r.Edition != edition {
		return ErrStale
	}
	return rule(ctx, tx, r, Actor(by.Person, address, now))
}

// Actor is a person as the log names who did something.
func Actor(p id.Person, address string, now time.Time) activity.Actor {
	return activity.Actor{By: p.String(), At: now, Address: address}
}

// OpenContest is the objection to a result that is to be decided. The error is a conflict
// (result.ReasonDecided) where there is none.
func OpenContest(ctx context.Context, tx *tenant.Tx, r result.Result) (result.Contest, error) {
	look, err := result.LookIn(ctx, tx, r)
	if err != nil {
		return result.Contest{}, err
	}
	if look.Contest == nil || look.Contest.State != result.Open {
		return result.Contest{}, &errdefs.Conflict{Noun: result.ContestNoun, Reason: result.ReasonDecided, Message: "The objection was decided before."}
	}
	return *look.Contest, nil
}

// Object enters a learner's objection to a result of their own as they saw it, by its edition. The
// error is errdefs.NotFound, also of another's, ErrStale, or one of result.Object.
func Object(ctx context.Context, tx *tenant.Tx, by Visitor, which id.Result, edition int64, words, address string, now time.Time) error {
	r, err := result.Lock(ctx, tx, which)
	if err != nil {
		return err
	}
	if r.Person != by.Person || r.Portal != by.Portal {
		return result.Noun.NotFound(which)
	}
	// Of one that they object to already that is said, and not that it was changed by it.
	if r.Edition != edition && r.State != result.Contested {
		return ErrStale
	}
	_, err = result.Object(ctx, tx, r, words, Actor(by.Person, address, now))
	return err
}

// Complete ends the review of a result that is open, by what it changed. The error can be a
// conflict (result.ReasonCompleted) where none is.
func Complete(ctx context.Context, tx *tenant.Tx, r result.Result, who activity.Actor) error {
	look, err := result.LookIn(ctx, tx, r)
	if err != nil {
		return err
	}
	if look.Review == nil || look.Review.State != result.Open {
		return &errdefs.Conflict{Noun: result.ReviewNoun, Reason: result.ReasonCompleted, Message: "The review is completed."}
	}
	outcome := result.OutcomeUpheld
	if len(look.Review.Changes) > 0 {
		outcome = result.OutcomeChanged
	}
	_, _, err = result.UpdateReview(ctx, tx, *look.Review, r, result.ReviewChange{Outcome: &outcome}, who)
	return err
}
