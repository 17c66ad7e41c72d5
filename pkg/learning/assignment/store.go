package assignment

import (
	"context"
	"time"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/tenant"
)

const selectCounted = `
	SELECT ` + columns + counted + ` FROM assignment a JOIN assignment_count c ON c.org_id = a.org_id AND c.assignment_id = a.id
	WHERE a.org_id = $1`

// Get finds an assignment. It rides assignment_pkey. The error is errdefs.NotFound.
func Get(ctx context.Context, t *tenant.Tenants, org id.Org, a id.Assignment) (Assignment, error) {
	return tenant.One(ctx, t, org, scan, Noun.NotFound(a), selectCounted+` AND a.id = $2`, org, a)
}

// Read is Get in a transaction.
func Read(ctx context.Context, tx *tenant.Tx, a id.Assignment) (Assignment, error) {
	return tenant.OneIn(ctx, tx, scan, Noun.NotFound(a), selectCounted+` AND a.id = $2`, tx.Org, a)
}

const selectBare = `SELECT ` + columns + ` FROM assignment a WHERE a.org_id = $1`

// find is Read without the counts.
func find(ctx context.Context, tx *tenant.Tx, a id.Assignment) (Assignment, error) {
	return tenant.OneIn(ctx, tx, scanBare, Noun.NotFound(a), selectBare+` AND a.id = $2`, tx.Org, a)
}

// Lock finds an assignment, without its counts, that nobody else changes until the commit. Its
// people go on meanwhile: whoever locks both locks the assignment first. The error is
// errdefs.NotFound.
func Lock(ctx context.Context, tx *tenant.Tx, a id.Assignment) (Assignment, error) {
	return tenant.OneIn(ctx, tx, scanBare, Noun.NotFound(a), selectBare+` AND a.id = $2 FOR UPDATE`, tx.Org, a)
}

// Filter narrows a list; zero fields do not.
type Filter struct {
	// States are all but archived unless given.
	States  []State
	Subject id.Subject
	Portal  id.Portal
}

// List is a page of the assignments, newest first, after one of them; the zero id for the first
// page. It rides assignment_pkey, or, where that is asked for, assignment_by_subject,
// assignment_by_portal, or assignment_by_state for one state.
func List(ctx context.Context, t *tenant.Tenants, org id.Org, f Filter, after id.Assignment, limit int) ([]Assignment, error) {
	if len(f.States) == 0 {
		f.States = []State{Scheduled, Open, Closed}
	}
	args := []any{org, after, f.States, f.Subject, f.Portal, limit}
	sql := selectCounted + ` AND ($2::UUID IS NULL OR a.id < $2) AND a.state = ANY($3) AND ($4::UUID IS NULL OR a.subject_id = $4)
		AND ($5::UUID IS NULL OR a.portal_id = $5)`
	const order = ` ORDER BY a.id DESC LIMIT $6`
	switch {
	case !f.Subject.IsZero():
		return tenant.All(ctx, t, org, scan, sql+` AND a.subject_id = $7`+order, append(args, f.Subject)...)
	case !f.Portal.IsZero():
		return tenant.All(ctx, t, org, scan, sql+` AND a.portal_id = $7`+order, append(args, f.Portal)...)
	case len(f.States) == 1:
		return tenant.All(ctx, t, org, scan, sql+` AND a.state = $7`+order, append(args, f.States[0])...)
	}
	return tenant.All(ctx, t, org, scan, sql+order, args...)
}

// save writes an assignment that is new or locked, and has the clock turn it when it is time.
// Its people are looked through at once, unless walk is nil.
func (a *Assignment) save(ctx context.Context, tx *tenant.Tx, now time.Time, walk *time.Time) error {
	a.State, a.TurnAt, a.WalkAt = a.StateAt(now), a.turnsAt(now), walk
	tx.Touch("assignment", a.ID)
	_, err := tx.Exec(ctx, `
		INSERT INTO assignment (org_id, id, title, subject_id, portal_id, kind, state, unit_ids, person_ids, everyone, opens_at, due_at,
			closes_at, timezone, every_months, first_opens_at, first_due_at, first_closes_at, occurrence, attempts_allowed, pass_percent,
			required, reminders, remind_all_at, turn_at, walk_at, walk_after, places, archived_at, created_by, external_id, metadata,
			edition, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26,
			$27, $28, $29, $30, $31, $32, $33, $34, $35)
		ON CONFLICT (org_id, id) DO UPDATE SET title = $3, state = $7, unit_ids = $8, person_ids = $9, everyone = $10, opens_at = $11,
			due_at = $12, closes_at = $13, timezone = $14, every_months = $15, first_opens_at = $16, first_due_at = $17,
			first_closes_at = $18, occurrence = $19, attempts_allowed = $20, pass_percent = $21, required = $22, reminders = $23,
			remind_all_at = $24, turn_at = $25, walk_at = $26, walk_after = $27, places = $28, archived_at = $29, external_id = $31,
			metadata = $32, edition = $33, updated_at = $35`,
		tx.Org, a.ID, a.Title, a.Subject, a.Portal, a.Kind, a.State, listed(a.Units), listed(a.People), a.Everyone, a.OpensAt, a.DueAt,
		a.ClosesAt, a.Timezone, a.EveryMonths, a.FirstOpensAt, a.FirstDueAt, a.FirstClosesAt, a.Occurrence, a.AttemptsAllowed,
		a.PassPercent, a.Required, listed(a.Reminders), a.RemindAllAt, a.TurnAt, a.WalkAt, a.WalkAfter, a.Places, a.ArchivedAt,
		a.CreatedBy, a.ExternalID, a.Metadata, a.Edition, a.CreatedAt, a.UpdatedAt)
	return err
}

// listed is a list that is not NULL in the database.
func listed[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
