package assignment

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/learning/statement"
	"visavis.dev/pkg/store/tenant"
)

// Standing is how far somebody got with an assignment.
type Standing string

// The standings.
const (
	NotStarted Standing = "not_started"
	Started    Standing = "started"
	Completed  Standing = "completed"
	Overdue    Standing = "overdue"
	Excused    Standing = "excused"
)

// Standings lists every standing.
func Standings() []Standing { return []Standing{NotStarted, Started, Completed, Overdue, Excused} }

// Progress is one person's part of an assignment.
type Progress struct {
	Assignment id.Assignment
	Person     id.Person
	// Membership is the place by which it is for them.
	Membership id.Membership
	State      Standing
	// Attempts are those that count, and Extra those that were granted.
	Attempts, Extra int64
	// Result is the one that it was completed by, or else the latest; zero for none, as
	// Completion is.
	Result                 id.Result
	Completion             id.Completion
	StartedAt, CompletedAt *time.Time
	// Late says that it was completed after it was due, or was not and is due.
	Late bool
	// Passed says that a released result passed.
	Passed bool
	// Waiting says that what was done in time waits to be released.
	Waiting      bool
	ExcusedAt    *time.Time
	ExcuseReason *string
	// LeftAt is when it was not for them any more; nil while it is.
	LeftAt   *time.Time
	RemindAt *time.Time
	AskedAt  *time.Time
}

const progressColumns = `p.assignment_id, p.person_id, p.membership_id, p.state, p.attempts, p.extra_attempts, p.result_id, p.completion_id,
	p.started_at, p.completed_at, p.late, p.passed, p.waiting, p.excused_at, p.excuse_reason, p.left_at, p.remind_at, p.asked_at`

func scanProgress(row pgx.CollectableRow) (Progress, error) {
	return pgx.RowToStructByPos[Progress](row)
}

// Allowed is how many attempts the person has; nil for any number. of are the assignment's, or
// else the subject's.
func (p *Progress) Allowed(of *int64) *int64 {
	if of == nil {
		return nil
	}
	return new(*of + p.Extra)
}

// stand works out where the person stands at a moment.
func (p *Progress) stand(a *Assignment, now time.Time) {
	due := a.DueAt != nil && !now.Before(*a.DueAt)
	p.Late = due && !p.Waiting
	switch {
	case p.ExcusedAt != nil:
		p.State, p.Late = Excused, false
	case p.CompletedAt != nil:
		p.State, p.Late = Completed, a.DueAt != nil && p.CompletedAt.After(*a.DueAt)
	case p.Late:
		p.State = Overdue
	case p.StartedAt != nil:
		p.State = Started
	default:
		p.State = NotStarted
	}
	if p.done() || p.LeftAt != nil || a.StateAt(now) != Open {
		p.RemindAt = nil
	}
}

// done says that nothing is left to do for them.
func (p *Progress) done() bool { return p.State == Completed || p.State == Excused }

// counts is what the person adds to the counts.
func (p *Progress) counts() (c Counts) {
	if p.LeftAt != nil || p.State == Excused {
		return c
	}
	one := func(is bool) int64 {
		if is {
			return 1
		}
		return 0
	}
	// Who completed it by hand, or by what came before, need not have begun a session.
	return Counts{1, one(p.StartedAt != nil || p.CompletedAt != nil), one(p.State == Completed), one(p.State == Overdue), one(p.Passed)}
}

func (c Counts) plus(d Counts, times int64) Counts {
	return Counts{
		c.Assigned + times*d.Assigned, c.Started + times*d.Started, c.Completed + times*d.Completed, c.Overdue + times*d.Overdue,
		c.Passed + times*d.Passed,
	}
}

// counting is what a commit adds to the counts of an assignment.
type counting struct {
	of id.Assignment
	by Counts
}

// Queue is part of tenant.Write. With the commit nobody waits long for the row.
func (c counting) Queue(tx *tenant.Tx, b *pgx.Batch) error {
	tx.Touch("assignment_count", c.of)
	b.Queue(`
		UPDATE assignment_count SET assigned = assigned + $3, started = started + $4, completed = completed + $5, overdue = overdue + $6,
			passed = passed + $7
		WHERE org_id = $1 AND assignment_id = $2`, tx.Org, c.of, c.by.Assigned, c.by.Started, c.by.Completed, c.by.Overdue, c.by.Passed)
	return nil
}

// change is somebody's part before and after; Before is nil for somebody new.
type change struct {
	Before *Progress
	After  Progress
}

// write writes what changed of people of one assignment, who are locked or new, and answers what
// the counts grow by. met are those of the new who were entered by somebody else meanwhile: they
// stay as they are.
func write(ctx context.Context, tx *tenant.Tx, of id.Assignment, changes []change, now time.Time) (grown Counts, met []id.Person, err error) {
	var fresh, held []Progress
	for _, c := range changes {
		switch {
		case c.Before == nil:
			fresh = append(fresh, c.After)
		case !same(*c.Before, c.After):
			grown = grown.plus(c.Before.counts(), -1).plus(c.After.counts(), 1)
			held = append(held, c.After)
		}
	}
	entered, err := insertRows(ctx, tx, of, fresh)
	if err != nil {
		return grown, nil, err
	}
	for _, p := range fresh {
		if entered[p.Person] {
			grown = grown.plus(p.counts(), 1)
		} else {
			met = append(met, p.Person)
		}
	}
	if grown != (Counts{}) {
		tx.AtCommit(counting{of, grown})
	}
	if err := updateRows(ctx, tx, of, held); err != nil {
		return grown, met, err
	}
	for i := range changes {
		if err := changes[i].told(ctx, tx, now); err != nil {
			return grown, met, err
		}
	}
	return grown, met, nil
}

// told has record stores told where somebody completed an assignment, or has not any more.
func (c *change) told(ctx context.Context, tx *tenant.Tx, now time.Time) error {
	if before := c.Before != nil && c.Before.State == Completed; before == (c.After.State == Completed) {
		return nil
	}
	o := statement.Object{Kind: statement.Assignment, ID: uuid.UUID(c.After.Assignment), Person: c.After.Person}
	return statement.Follow(ctx, tx, o, now)
}

// save is write of one person's part, which is locked.
func (p *Progress) save(ctx context.Context, tx *tenant.Tx, after Progress, now time.Time) error {
	_, _, err := write(ctx, tx, p.Assignment, []change{{p, after}}, now)
	return err
}

func same(a, b Progress) bool {
	at := func(x, y *time.Time) bool { return x == nil && y == nil || x != nil && y != nil && x.Equal(*y) }
	word := func(x, y *string) bool { return x == nil && y == nil || x != nil && y != nil && *x == *y }
	return a.Membership == b.Membership && a.State == b.State && a.Attempts == b.Attempts && a.Extra == b.Extra && a.Result == b.Result &&
		a.Completion == b.Completion && a.Late == b.Late && a.Passed == b.Passed && a.Waiting == b.Waiting &&
		at(a.StartedAt, b.StartedAt) && at(a.CompletedAt, b.CompletedAt) && at(a.ExcusedAt, b.ExcusedAt) && at(a.LeftAt, b.LeftAt) &&
		at(a.RemindAt, b.RemindAt) && at(a.AskedAt, b.AskedAt) && word(a.ExcuseReason, b.ExcuseReason)
}

// rowsOf is the list of rows that rowValues are the columns of.
const rowsOf = `unnest($3::UUID[], $4::UUID[], $5::TEXT[], $6::BIGINT[], $7::BIGINT[], $8::UUID[], $9::UUID[],
			$10::TIMESTAMPTZ[], $11::TIMESTAMPTZ[], $12::BOOLEAN[], $13::BOOLEAN[], $14::BOOLEAN[], $15::TIMESTAMPTZ[], $16::TEXT[],
			$17::TIMESTAMPTZ[], $18::TIMESTAMPTZ[], $19::TIMESTAMPTZ[])`

func rowValues(tx *tenant.Tx, of id.Assignment, rows []Progress) []any {
	for _, p := range rows {
		tx.Touch("assignment_person", of, p.Person)
	}
	return []any{
		tx.Org, of, column(rows, func(p Progress) id.Person { return p.Person }), column(rows, func(p Progress) id.Membership { return p.Membership }),
		column(rows, func(p Progress) Standing { return p.State }), column(rows, func(p Progress) int64 { return p.Attempts }),
		column(rows, func(p Progress) int64 { return p.Extra }), column(rows, func(p Progress) id.Result { return p.Result }),
		column(rows, func(p Progress) id.Completion { return p.Completion }), column(rows, func(p Progress) *time.Time { return p.StartedAt }),
		column(rows, func(p Progress) *time.Time { return p.CompletedAt }), column(rows, func(p Progress) bool { return p.Late }),
		column(rows, func(p Progress) bool { return p.Passed }), column(rows, func(p Progress) bool { return p.Waiting }),
		column(rows, func(p Progress) *time.Time { return p.ExcusedAt }), column(rows, func(p Progress) *string { return p.ExcuseReason }),
		column(rows, func(p Progress) *time.Time { return p.LeftAt }), column(rows, func(p Progress) *time.Time { return p.RemindAt }),
		column(rows, func(p Progress) *time.Time { return p.AskedAt }),
	}
}

// insertRows enters people in one statement, and answers who was: not who is there already.
func insertRows(ctx context.Context, tx *tenant.Tx, of id.Assignment, rows []Progress) (map[id.Person]bool, error) {
	entered := map[id.Person]bool{}
	if len(rows) == 0 {
		return entered, nil
	}
	all, err := tenant.AllIn(ctx, tx, pgx.RowTo[id.Person], `
		INSERT INTO assignment_person (org_id, assignment_id, person_id, membership_id, state, attempts, extra_attempts, result_id,
			completion_id, started_at, completed_at, late, passed, waiting, excused_at, excuse_reason, left_at, remind_at, asked_at)
		SELECT $1, $2, p.* FROM `+rowsOf+` AS p
		ON CONFLICT (org_id, assignment_id, person_id) DO NOTHING RETURNING person_id`, rowValues(tx, of, rows)...)
	for _, who := range all {
		entered[who] = true
	}
	return entered, err
}

// updateRows writes rows that are locked in one statement.
func updateRows(ctx context.Context, tx *tenant.Tx, of id.Assignment, rows []Progress) error {
	if len(rows) == 0 {
		return nil
	}
	_, err := tx.Exec(ctx, `
		UPDATE assignment_person AS p SET membership_id = n.membership_id, state = n.state, attempts = n.attempts,
			extra_attempts = n.extra_attempts, result_id = n.result_id, completion_id = n.completion_id, started_at = n.started_at,
			completed_at = n.completed_at, late = n.late, passed = n.passed, waiting = n.waiting, excused_at = n.excused_at,
			excuse_reason = n.excuse_reason, left_at = n.left_at, remind_at = n.remind_at, asked_at = n.asked_at
		FROM `+rowsOf+` AS n (person_id, membership_id, state, attempts, extra_attempts, result_id, completion_id, started_at,
			completed_at, late, passed, waiting, excused_at, excuse_reason, left_at, remind_at, asked_at)
		WHERE p.org_id = $1 AND p.assignment_id = $2 AND p.person_id = n.person_id`, rowValues(tx, of, rows)...)
	return err
}

func column[T any](rows []Progress, of func(Progress) T) []T {
	values := make([]T, len(rows))
	for i, p := range rows {
		values[i] = of(p)
	}
	return values
}

// lockProgress finds somebody's part of an assignment, which nobody else changes until the
// commit; nil where they have none. It rides assignment_person_pkey.
func lockProgress(ctx context.Context, tx *tenant.Tx, a id.Assignment, who id.Person) (*Progress, error) {
	found, err := tenant.AllIn(ctx, tx, scanProgress, `
		SELECT `+progressColumns+` FROM assignment_person p WHERE p.org_id = $1 AND p.assignment_id = $2 AND p.person_id = $3 FOR UPDATE`,
		tx.Org, a, who)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return &found[0], nil
}

// enter makes somebody's part of an assignment, unless somebody else did a moment ago, and locks
// it.
func (a *Assignment) enter(ctx context.Context, tx *tenant.Tx, c candidate, now time.Time) (*Progress, error) {
	p := Progress{Assignment: a.ID, Person: c.Person, Membership: c.Place}
	p.stand(a, now)
	tx.Touch("assignment_person", a.ID, p.Person)
	tag, err := tx.Exec(ctx, `
		INSERT INTO assignment_person (org_id, assignment_id, person_id, membership_id, state, attempts, extra_attempts, late, passed, waiting)
		VALUES ($1, $2, $3, $4, $5, 0, 0, $6, false, false) ON CONFLICT (org_id, assignment_id, person_id) DO NOTHING`,
		tx.Org, a.ID, p.Person, p.Membership, p.State, p.Late)
	if err != nil {
		return nil, err
	}
	if tag.RowsAffected() > 0 {
		tx.AtCommit(counting{a.ID, p.counts()})
	}
	found, err := lockProgress(ctx, tx, a.ID, c.Person)
	if err != nil || found == nil {
		return nil, err
	}
	after, err := a.follow(ctx, tx, found, now)
	return &after, err
}

// PartOf is somebody's part of an assignment, also of one that is not for them any more. It rides assignment_person_pkey. The error is
// errdefs.NotFound.
func PartOf(ctx context.Context, t *tenant.Tenants, org id.Org, a id.Assignment, who id.Person) (Part, error) {
	return tenant.One(ctx, t, org, scanPart, Noun.NotFound(a), `
		SELECT `+columns+`, `+progressColumns+`
		FROM assignment_person p JOIN assignment a ON a.org_id = p.org_id AND a.id = p.assignment_id
		WHERE p.org_id = $1 AND p.assignment_id = $2 AND p.person_id = $3`, org, a, who)
}

// ProgressFilter narrows a list; zero fields do not.
type ProgressFilter struct {
	States []Standing
}

// ListProgress is a page of the people whom an assignment is for, in the order of their ids, the
// newest first, after one of them. It rides assignment_person_pkey, or assignment_person_by_state
// for one state.
func ListProgress(
	ctx context.Context, t *tenant.Tenants, org id.Org, a id.Assignment, f ProgressFilter, after id.Person, limit int,
) ([]Progress, error) {
	sql := `
		SELECT ` + progressColumns + ` FROM assignment_person p
		WHERE p.org_id = $1 AND p.assignment_id = $2 AND ($3::UUID IS NULL OR p.person_id < $3) AND p.left_at IS NULL
			AND ($4::TEXT[] IS NULL OR p.state = ANY($4))`
	const order = ` ORDER BY p.person_id DESC LIMIT $5`
	args := []any{org, a, after, f.States, limit}
	if len(f.States) == 1 {
		return tenant.All(ctx, t, org, scanProgress, sql+` AND p.state = $6`+order, append(args, f.States[0])...)
	}
	return tenant.All(ctx, t, org, scanProgress, sql+order, args...)
}

// Part is somebody's part of an assignment, with it.
type Part struct {
	Progress   Progress
	Assignment Assignment
}

// OfPerson is a page of what is set for somebody, the newest first, after one of them. It rides
// assignment_person_by_person.
func OfPerson(
	ctx context.Context, t *tenant.Tenants, org id.Org, who id.Person, states []State, after id.Assignment, limit int,
) ([]Part, error) {
	if len(states) == 0 {
		states = []State{Scheduled, Open, Closed}
	}
	return tenant.All(ctx, t, org, scanPart, selectParts+partsOrder, org, who, after, states, limit)
}

const (
	selectParts = `
		SELECT ` + columns + `, ` + progressColumns + `
		FROM assignment_person p JOIN assignment a ON a.org_id = p.org_id AND a.id = p.assignment_id
		WHERE p.org_id = $1 AND p.person_id = $2 AND ($3::UUID IS NULL OR p.assignment_id < $3) AND p.left_at IS NULL AND a.state = ANY($4)`
	partsOrder = ` ORDER BY p.assignment_id DESC LIMIT $5`
)
