package result

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
)

// The states of a review.
const (
	Open      = "open"
	Completed = "completed"
)

// The outcomes of a review.
const (
	OutcomeUpheld  = "upheld"
	OutcomeChanged = "changed"
	OutcomeVoided  = "voided"
)

// ScoreChange is what a review changed of a criterion.
type ScoreChange struct {
	Criterion string `json:"criterion"`
	// From is nil where it had no score.
	From *float64 `json:"from"`
	To   float64  `json:"to"`
}

// Review is a person's look at a result.
type Review struct {
	ID          id.Review
	Result      id.Result
	State       string
	RequestedBy string
	ReasonCode  string
	Assignee    id.Person
	DueAt       *time.Time
	// Reviewer is the id of the key or person that completed it, and Outcome what came of it.
	Reviewer, Outcome *string
	Changes           []ScoreChange
	// PreviousPercent is that of the result when the review was asked for.
	PreviousPercent *float64
	Note            *string
	CreatedAt       time.Time
	CompletedAt     *time.Time
}

const reviewColumns = `id, result_id, state, requested_by, reason_code, assignee_id, due_at, reviewer, outcome, changes, previous_percent,
	note, created_at, completed_at`

func scanReview(row pgx.CollectableRow) (Review, error) { return pgx.RowToStructByPos[Review](row) }

// Ask is a request for a review.
type Ask struct {
	Reason   string
	Assignee id.Person
	DueAt    *time.Time
	Note     *string
}

// AskReview asks for a review of a result that Lock found. The error can be a HeldError, an
// errdefs.NotFound of the assignee, or a conflict (ReasonReviewOpen, or one of what cannot
// change).
func AskReview(ctx context.Context, tx *tenant.Tx, r Result, a Ask, who activity.Actor) (Review, error) {
	if err := r.settled(); err != nil {
		return Review{}, err
	}
	if err := known(ctx, tx, a.Assignee); err != nil {
		return Review{}, err
	}
	open, err := openReview(ctx, tx, r.ID)
	if err != nil {
		return Review{}, err
	}
	if open != nil {
		return *open, &errdefs.Conflict{
			Noun: Noun, ID: r.ID.String(), Reason: ReasonReviewOpen, Message: "A review of the result is open.",
			Details: map[string]any{"reviewId": open.ID.String()},
		}
	}
	r.NeedsReview = true
	if err := r.save(ctx, tx, who.At); err != nil {
		return Review{}, err
	}
	v, err := r.ask(ctx, tx, a, who.By, who.At)
	if err == nil {
		who.Log(tx, "review.requested", "review", v.ID, r.about())
	}
	return v, err
}

func known(ctx context.Context, tx *tenant.Tx, p id.Person) error {
	if p.IsZero() {
		return nil
	}
	_, err := person.Find(ctx, tx, p)
	return err
}

// ask enters a review and tells of it.
func (r *Result) ask(ctx context.Context, tx *tenant.Tx, a Ask, by string, now time.Time) (Review, error) {
	v, err := r.enter(ctx, tx, a, by, now)
	if err != nil {
		return v, err
	}
	fields := r.attempt()
	fields["reviewId"], fields["requestedBy"], fields["reasonCode"] = v.ID.String(), by, v.Why()
	fields["dueAt"], fields["requestedAt"] = moment(v.DueAt), now.UTC()
	event.Emit(tx, r.draft(event.ReviewRequested, now, fields))
	return v, nil
}

func (r *Result) enter(ctx context.Context, tx *tenant.Tx, a Ask, by string, now time.Time) (Review, error) {
	v := Review{
		ID: id.NewReview(), Result: r.ID, State: Open, RequestedBy: by, ReasonCode: a.Reason, Assignee: a.Assignee, DueAt: a.DueAt,
		Changes: []ScoreChange{}, PreviousPercent: r.Percent, Note: a.Note, CreatedAt: now,
	}
	tx.Touch("review", v.ID)
	_, err := tx.Exec(ctx, `
		INSERT INTO review (org_id, id, result_id, state, requested_by, reason_code, assignee_id, due_at, changes, previous_percent, note, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, '[]', $9, $10, $11)`,
		tx.Org, v.ID, v.Result, v.State, v.RequestedBy, v.ReasonCode, v.Assignee, v.DueAt, v.PreviousPercent, v.Note, v.CreatedAt)
	return v, err
}

// NeedsReview stands for a reason of the platform's that only who may change results is told.
const NeedsReview = "needs_review"

// Why is the reason as everybody may know it: nothing tells that a conversation was flagged.
func (v *Review) Why() string { return told(v.RequestedBy, v.ReasonCode) }

// Why is that of Review.
func (v *Reviewed) Why() string { return told(v.RequestedBy, v.ReasonCode) }

func told(by, reason string) string {
	if by == byPlatform && reason == SafetyFlag {
		return NeedsReview
	}
	return reason
}

// found is the outcome of a review that does not void: whether it changed scores.
func (v *Review) found() string {
	if len(v.Changes) > 0 {
		return OutcomeChanged
	}
	return OutcomeUpheld
}

// note adds changes to those of the review. What was changed twice has one entry, and what was
// changed back none.
func (v *Review) note(changes []ScoreChange) {
	for _, c := range changes {
		had := false
		for i := range v.Changes {
			if v.Changes[i].Criterion == c.Criterion {
				v.Changes[i].To, had = c.To, true
			}
		}
		if !had {
			v.Changes = append(v.Changes, c)
		}
	}
	v.Changes = slices.DeleteFunc(v.Changes, func(c ScoreChange) bool { return c.From != nil && *c.From == c.To })
}

func (v *Review) save(ctx context.Context, tx *tenant.Tx) error {
	tx.Touch("review", v.ID)
	_, err := tx.Exec(ctx, `
		UPDATE review SET state = $3, assignee_id = $4, due_at = $5, reviewer = $6, outcome = $7, changes = $8, note = $9, completed_at = $10
		WHERE org_id = $1 AND id = $2`,
		tx.Org, v.ID, v.State, v.Assignee, v.DueAt, v.Reviewer, v.Outcome, written(listed(v.Changes)), v.Note, v.CompletedAt)
	return err
}

// FindReview finds a review with its result, which nobody else changes until the commit. The
// error is errdefs.NotFound.
func FindReview(ctx context.Context, tx *tenant.Tx, which id.Review) (Review, Result, error) {
	v, err := tenant.OneIn(ctx, tx, scanReview, ReviewNoun.NotFound(which), selectReview, tx.Org, which)
	if err != nil {
		return v, Result{}, err
	}
	r, err := Lock(ctx, tx, v.Result)
	if err != nil {
		return v, r, err
	}
	v, err = tenant.OneIn(ctx, tx, scanReview, ReviewNoun.NotFound(which), selectReview, tx.Org, which) // as it is since
	return v, r, err
}

const selectReview = `SELECT ` + reviewColumns + ` FROM review WHERE org_id = $1 AND id = $2`

// openReview is the review of a result that is open; nil for none. It rides review_open.
func openReview(ctx context.Context, tx *tenant.Tx, of id.Result) (*Review, error) {
	found, err := tenant.AllIn(ctx, tx, scanReview, `
		SELECT `+reviewColumns+` FROM review WHERE org_id = $1 AND result_id = $2 AND state = 'open'`, tx.Org, of)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return &found[0], nil
}

// ReviewChange is what to change of a review; nil fields stay.
type ReviewChange struct {
	Assignee *id.Person
	DueAt    **time.Time
	Note     **string
	Outcome  *string
}

// UpdateReview changes a review that FindReview found, or with an outcome completes it. The
// error can be a HeldError, errdefs.NotFound of the assignee, or a conflict (ReasonCompleted,
// ReasonOutcome).
func UpdateReview(ctx context.Context, tx *tenant.Tx, v Review, r Result, to ReviewChange, who activity.Actor) (Review, Result, error) {
	if r.OnHold {
		return v, r, &HeldError{r.ID}
	}
	if v.State == Completed {
		return v, r, &errdefs.Conflict{Noun: ReviewNoun, ID: v.ID.String(), Reason: ReasonCompleted, Message: "The review is completed."}
	}
	if to.Assignee != nil {
		if err := known(ctx, tx, *to.Assignee); err != nil {
			return v, r, err
		}
		v.Assignee = *to.Assignee
	}
	if to.DueAt != nil {
		v.DueAt = *to.DueAt
	}
	if to.Note != nil {
		v.Note = *to.Note
	}
	if to.Outcome != nil {
		err := r.conclude(ctx, tx, &v, *to.Outcome, v.Note, who)
		return v, r, err
	}
	if err := v.save(ctx, tx); err != nil {
		return v, r, err
	}
	who.Log(tx, "review.updated", "review", v.ID, r.about())
	return v, r, nil
}

// conclude ends a review. Releasing what waits for it is a step of its own.
func (r *Result) conclude(ctx context.Context, tx *tenant.Tx, v *Review, outcome string, note *string, who activity.Actor) error {
	if outcome != OutcomeVoided && outcome != v.found() {
		why := "The review changed no score. Its outcome is upheld, unless PATCH /results/{id}/criteria changes one."
		if outcome == OutcomeUpheld {
			why = "The review changed scores. Its outcome is changed."
		}
		return &errdefs.Conflict{Noun: ReviewNoun, ID: v.ID.String(), Reason: ReasonOutcome, Message: why}
	}
	v.State, v.Outcome, v.Reviewer, v.CompletedAt, v.Note = Completed, &outcome, &who.By, &who.At, note
	if err := v.save(ctx, tx); err != nil {
		return err
	}
	r.NeedsReview, r.Doubt = false, nil
	var err error
	if outcome == OutcomeVoided {
		err = r.void(ctx, tx, who)
	} else {
		err = r.save(ctx, tx, who.At)
	}
	if err != nil {
		return err
	}
	fields := r.attempt()
	fields["reviewId"], fields["outcome"], fields["completedAt"] = v.ID.String(), outcome, who.At.UTC()
	if !v.Assignee.IsZero() {
		fields["reviewerId"] = v.Assignee.String()
	}
	event.Emit(tx, r.draft(event.ReviewCompleted, who.At, fields))
	who.Log(tx, "review.completed", "review", v.ID, r.about())
	return nil
}

// ReviewFilter narrows a list; zero fields do not.
type ReviewFilter struct {
	State    string
	Result   id.Result
	Assignee id.Person
}

// ListReviews is a page of the reviews with their results, newest first, after one of them;
// the zero id for the first page. It rides review_pkey, or review_by_result.
func ListReviews(ctx context.Context, t *tenant.Tenants, org id.Org, f ReviewFilter, after id.Review, limit int) (found []Reviewed, err error) {
	err = t.Read(ctx, org, func(r *tenant.Reads) {
		r.Query(func(rows pgx.Rows) (err error) {
			found, err = pgx.CollectRows(rows, pgx.RowToStructByName[Reviewed])
			return err
		}, `
			SELECT v.id, v.result_id, r.person_id, v.state, v.requested_by, v.reason_code, v.assignee_id, v.due_at, v.reviewer, v.outcome, v.changes,
				v.previous_percent, v.note, v.created_at, v.completed_at, r.state IN ('released', 'contested') AS shown
			FROM review v JOIN result r ON r.org_id = v.org_id AND r.id = v.result_id
			WHERE v.org_id = $1 AND ($2::UUID IS NULL OR v.id < $2) AND ($3 = '' OR v.state = $3) AND ($4::UUID IS NULL OR v.result_id = $4)
				AND ($5::UUID IS NULL OR v.assignee_id = $5)
			ORDER BY v.id DESC LIMIT $6`, org, after, f.State, f.Result, f.Assignee, limit)
	})
	return found, err
}

// Reviewed is a review, with whose result it is of, and whether that is shown.
type Reviewed struct {
	ID              id.Review     `db:"id"`
	Result          id.Result     `db:"result_id"`
	Person          id.Person     `db:"person_id"`
	State           string        `db:"state"`
	RequestedBy     string        `db:"requested_by"`
	ReasonCode      string        `db:"reason_code"`
	Assignee        id.Person     `db:"assignee_id"`
	DueAt           *time.Time    `db:"due_at"`
	Reviewer        *string       `db:"reviewer"`
	Outcome         *string       `db:"outcome"`
	Changes         []ScoreChange `db:"changes"`
	PreviousPercent *float64      `db:"previous_percent"`
	Note            *string       `db:"note"`
	CreatedAt       time.Time     `db:"created_at"`
	CompletedAt     *time.Time    `db:"completed_at"`
	Shown           bool          `db:"shown"`
}

// With is the review with what is told of its result.
func (v *Review) With(r *Result) Reviewed {
	return Reviewed{
		v.ID, v.Result, r.Person, v.State, v.RequestedBy, v.ReasonCode, v.Assignee, v.DueAt, v.Reviewer, v.Outcome, v.Changes, v.PreviousPercent, v.Note,
		v.CreatedAt, v.CompletedAt, r.Shown(),
	}
}

func field(i int, name string) string { return fmt.Sprintf("criteria[%d].%s", i, name) }

var errNoReview = errors.New("the event names no review")
