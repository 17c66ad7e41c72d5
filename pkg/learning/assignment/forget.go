package assignment

import (
	"context"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/tenant"
)

// ForgetPerson deletes the parts that somebody who may be erased has in assignments, that they
// were reminded, and what was granted to them; it answers how many parts there were. Nothing is
// for them by their name any more. What is locked is so in the order of everybody else:
// assignments, parts, counts. It rides assignment_person_by_person,
// assignment_reminder_by_person and attempt_grant_by_person.
func ForgetPerson(ctx context.Context, tx *tenant.Tx, of id.Person) (int, error) {
	if err := forgetName(ctx, tx, of); err != nil {
		return 0, err
	}
	parts, err := tenant.AllIn(ctx, tx, scanProgress, `
		SELECT `+progressColumns+` FROM assignment_person p WHERE p.org_id = $1 AND p.person_id = $2 ORDER BY p.assignment_id FOR UPDATE`, tx.Org, of)
	if err != nil {
		return 0, err
	}
	for _, p := range parts {
		tx.Touch("assignment_person", p.Assignment, of)
		tx.AtCommit(counting{p.Assignment, Counts{}.plus(p.counts(), -1)})
	}
	if _, err := tx.Exec(ctx, `DELETE FROM assignment_person WHERE org_id = $1 AND person_id = $2`, tx.Org, of); err != nil {
		return 0, err
	}
	if err := forgetReminders(ctx, tx, of); err != nil {
		return 0, err
	}
	grants, err := tenant.AllIn(ctx, tx, pgx.RowTo[id.AttemptGrant], `DELETE FROM attempt_grant WHERE org_id = $1 AND person_id = $2 RETURNING id`, tx.Org, of)
	if err != nil {
		return 0, err
	}
	for _, g := range grants {
		tx.Touch("attempt_grant", g)
	}
	return len(parts), nil
}

// forgetName takes somebody out of the assignments that name them.
func forgetName(ctx context.Context, tx *tenant.Tx, of id.Person) error {
	named, err := tenant.AllIn(ctx, tx, pgx.RowTo[id.Assignment], `
		SELECT id FROM assignment WHERE org_id = $1 AND $2::UUID = ANY(person_ids) ORDER BY id FOR UPDATE`, tx.Org, of)
	if err != nil || len(named) == 0 {
		return err
	}
	for _, a := range named {
		tx.Touch("assignment", a)
	}
	_, err = tx.Exec(ctx, `
		UPDATE assignment SET person_ids = array_remove(person_ids, $2::UUID) WHERE org_id = $1 AND id = ANY($3)`, tx.Org, of, named)
	return err
}

func forgetReminders(ctx context.Context, tx *tenant.Tx, of id.Person) error {
	rows, err := tx.Query(ctx, `DELETE FROM assignment_reminder WHERE org_id = $1 AND person_id = $2 RETURNING assignment_id, day`, tx.Org, of)
	if err != nil {
		return err
	}
	var (
		a   id.Assignment
		day date
	)
	_, err = pgx.ForEachRow(rows, []any{&a, &day}, func() error {
		tx.Touch("assignment_reminder", a, of, day)
		return nil
	})
	return err
}

// date is a day that is part of a row's key.
type date string

func (d date) String() string { return string(d) }
