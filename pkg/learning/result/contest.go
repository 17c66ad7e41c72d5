package result

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
)

// Contest is a learner's objection to a released result. It is open, or was upheld, rejected
// or withdrawn.
type Contest struct {
	ID     id.Contest
	Result id.Result
	State  string
	// Words are the learner's, and Note is that of who decided.
	Words     string
	Note      *string
	CreatedAt time.Time
	DecidedAt *time.Time
}

// Upheld is the state of an objection that was right. The others are rejected and withdrawn.
const Upheld = "upheld"

const contestColumns = `id, result_id, state, words, note, created_at, decided_at`

func scanContest(row pgx.CollectableRow) (Contest, error) { return pgx.RowToStructByPos[Contest](row) }

// Object enters an objection to a result that Lock found. The error can be a HeldError or a
// conflict (ReasonNotReleased, ReasonContestOpen, or one of what cannot change).
func Object(ctx context.Context, tx *tenant.Tx, r Result, words string, who activity.Actor) (Contest, error) {
	if err := r.settled(); err != nil {
		return Contest{}, err
	}
	switch r.State {
	case Contested:
		return Contest{}, r.conflict(ReasonContestOpen, "The result is contested already.")
	case Released:
	case AwaitingReview, InProgress, Voided, Withdrawn:
		return Contest{}, r.conflict(ReasonNotReleased, "Only a released result can be contested.")
	}
	k := Contest{ID: id.NewContest(), Result: r.ID, State: Open, Words: words, CreatedAt: who.At}
	tx.Touch("contest", k.ID)
	if _, err := tx.Exec(ctx, `
		INSERT INTO contest (org_id, id, result_id, state, words, created_at) VALUES ($1, $2, $3, $4, $5, $6)`,
		tx.Org, k.ID, k.Result, k.State, k.Words, k.CreatedAt); err != nil {
		return k, err
	}
	r.State = Contested
	if err := r.save(ctx, tx, who.At); err != nil {
		return k, err
	}
	event.Emit(tx, r.contested(k, who.At))
	who.Log(tx, "result.contested", "result", r.ID, r.about())
	return k, nil
}

// FindContest finds an objection with its result, which nobody else changes until the commit.
// The error is errdefs.NotFound.
func FindContest(ctx context.Context, tx *tenant.Tx, which id.Contest) (Contest, Result, error) {
	const one = `SELECT ` + contestColumns + ` FROM contest WHERE org_id = $1 AND id = $2`
	k, err := tenant.OneIn(ctx, tx, scanContest, ContestNoun.NotFound(which), one, tx.Org, which)
	if err != nil {
		return k, Result{}, err
	}
	r, err := Lock(ctx, tx, k.Result)
	if err != nil {
		return k, r, err
	}
	k, err = tenant.OneIn(ctx, tx, scanContest, ContestNoun.NotFound(which), one, tx.Org, which) // as it is since
	return k, r, err
}

// Decide ends an objection that FindContest found. What is wrong with the scores is changed by
// Change; the result counts as released again. The error can be a HeldError or a conflict
// (ReasonDecided).
func Decide(ctx context.Context, tx *tenant.Tx, k Contest, r Result, state string, note *string, who activity.Actor) (Contest, Result, error) {
	if r.OnHold {
		return k, r, &HeldError{r.ID}
	}
	if k.State != Open {
		return k, r, &errdefs.Conflict{Noun: ContestNoun, ID: k.ID.String(), Reason: ReasonDecided, Message: "The objection was decided before."}
	}
	if err := r.decide(ctx, tx, &k, state, note, who.At); err != nil {
		return k, r, err
	}
	r.State = Released
	if err := r.save(ctx, tx, who.At); err != nil {
		return k, r, err
	}
	who.Log(tx, "contest.decided", "contest", k.ID, r.about())
	return k, r, nil
}

func (r *Result) decide(ctx context.Context, tx *tenant.Tx, k *Contest, state string, note *string, at time.Time) error {
	k.State, k.Note, k.DecidedAt = state, note, &at
	tx.Touch("contest", k.ID)
	if _, err := tx.Exec(ctx, `
		UPDATE contest SET state = $3, note = $4, decided_at = $5 WHERE org_id = $1 AND id = $2`, tx.Org, k.ID, k.State, k.Note, k.DecidedAt); err != nil {
		return err
	}
	event.Emit(tx, r.contested(*k, at))
	return nil
}

// upholdOpen upholds the open objection to a result that is voided. It rides contest_open.
func upholdOpen(ctx context.Context, tx *tenant.Tx, r *Result, at time.Time) error {
	open, err := tenant.AllIn(ctx, tx, scanContest, `
		SELECT `+contestColumns+` FROM contest WHERE org_id = $1 AND result_id = $2 AND state = 'open'`, tx.Org, r.ID)
	if err != nil || len(open) == 0 {
		return err
	}
	return r.decide(ctx, tx, &open[0], Upheld, nil, at)
}
