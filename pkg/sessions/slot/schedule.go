package slot

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
)

// Schedule is a plan with a name, whose times are reserved.
type Schedule struct {
	ID                   id.Schedule
	Name                 string
	Plan                 Plan
	Edition              int64
	CreatedAt, UpdatedAt time.Time
}

// Noun is what errors call a schedule, and ReasonReserved that of a conflict: times of it are
// reserved.
const (
	Noun errdefs.Noun = "schedule"

	ReasonReserved = "in_use"
)

const columns = `id, name, plan, edition, created_at, updated_at`

func scan(row pgx.CollectableRow) (Schedule, error) { return pgx.RowToStructByPos[Schedule](row) }

const selectOne = `SELECT ` + columns + ` FROM schedule WHERE org_id = $1 AND id = $2`

// Get finds a schedule. It rides schedule_pkey. The error is errdefs.NotFound.
func Get(ctx context.Context, t *tenant.Tenants, org id.Org, which id.Schedule) (Schedule, error) {
	return tenant.One(ctx, t, org, scan, Noun.NotFound(which), selectOne, org, which)
}

// Find is Get in a transaction.
func Find(ctx context.Context, tx *tenant.Tx, which id.Schedule) (Schedule, error) {
	return tenant.OneIn(ctx, tx, scan, Noun.NotFound(which), selectOne, tx.Org, which)
}

// Lock is Find of a schedule that nobody else changes until the commit.
func Lock(ctx context.Context, tx *tenant.Tx, which id.Schedule) (Schedule, error) {
	return tenant.OneIn(ctx, tx, scan, Noun.NotFound(which), selectOne+` FOR UPDATE`, tx.Org, which)
}

// List is a page of the schedules, newest first, after one of them; the zero id for the first
// page. It rides schedule_pkey.
func List(ctx context.Context, t *tenant.Tenants, org id.Org, after id.Schedule, limit int) ([]Schedule, error) {
	return tenant.All(ctx, t, org, scan, `
		SELECT `+columns+` FROM schedule WHERE org_id = $1 AND ($2::UUID IS NULL OR id < $2) ORDER BY id DESC LIMIT $3`, org, after, limit)
}

// Create enters a schedule. The error is an errdefs.Invalid, or a connection.UnusableError of its calendar's.
func Create(ctx context.Context, tx *tenant.Tx, name string, p Plan, who activity.Actor) (Schedule, error) {
	s := Schedule{ID: id.NewSchedule(), Name: name, Plan: p, Edition: 1, CreatedAt: who.At, UpdatedAt: who.At}
	if err := p.Check(); err != nil {
		return s, err
	}
	tx.Touch("schedule", s.ID)
	if _, err := tx.Exec(ctx, `
		INSERT INTO schedule (org_id, id, name, plan, edition, created_at, updated_at) VALUES ($1, $2, $3, $4, $5, $6, $6)`,
		tx.Org, s.ID, s.Name, s.Plan, s.Edition, who.At); err != nil {
		return s, err
	}
	who.Log(tx, "schedule.created", "schedule", s.ID, nil)
	return s, s.join(ctx, tx, nil, who.At)
}

// Change writes the name and the plan of a schedule that is locked. What is reserved stays as it
// is. The error is that of Create.
func (s *Schedule) Change(ctx context.Context, tx *tenant.Tx, name string, p Plan, who activity.Actor) error {
	if err := p.Check(); err != nil {
		return err
	}
	before := s.Plan.Calendar
	s.Name, s.Plan, s.Edition, s.UpdatedAt = name, p, s.Edition+1, who.At
	tx.Touch("schedule", s.ID)
	if _, err := tx.Exec(ctx, `UPDATE schedule SET name = $3, plan = $4, edition = $5, updated_at = $6 WHERE org_id = $1 AND id = $2`,
		tx.Org, s.ID, s.Name, s.Plan, s.Edition, s.UpdatedAt); err != nil {
		return err
	}
	who.Log(tx, "schedule.updated", "schedule", s.ID, nil)
	return s.join(ctx, tx, before, who.At)
}

// Delete deletes a schedule of which nothing is reserved from now on, with what is left of a time that
// has begun. It rides slot_reservation_by_time. The error is errdefs.NotFound or an errdefs.Conflict.
func Delete(ctx context.Context, tx *tenant.Tx, which id.Schedule, who activity.Actor) error {
	if err := hold(ctx, tx, []holder{holder(which)}); err != nil {
		return err
	}
	s, err := Lock(ctx, tx, which)
	if err != nil {
		return err
	}
	var ahead bool
	if err := tx.QueryRow(ctx, `
		SELECT EXISTS (SELECT 1 FROM slot_reservation WHERE org_id = $1 AND holder_id = $2 AND busy_from > $3 AND busy_to > $4)`,
		tx.Org, which, who.At.Add(-longest), who.At).Scan(&ahead); err != nil {
		return err
	}
	if ahead {
		return s.conflict(ReasonReserved, "Times of the schedule are reserved. Move or cancel those first.")
	}
	tx.Touch("slot_holder", holder(which))
	if _, err := tx.Exec(ctx, `DELETE FROM slot_holder WHERE org_id = $1 AND holder_id = $2`, tx.Org, which); err != nil {
		return err
	}
	before := s.Plan.Calendar
	s.Plan.Calendar = nil
	if err := s.join(ctx, tx, before, who.At); err != nil {
		return err
	}
	tx.Touch("schedule", which)
	if _, err := tx.Exec(ctx, `DELETE FROM schedule WHERE org_id = $1 AND id = $2`, tx.Org, which); err != nil {
		return err
	}
	who.Log(tx, "schedule.deleted", "schedule", which, nil)
	return nil
}
