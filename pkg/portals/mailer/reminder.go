package mailer

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/store/tenant"
)

// Reminder reminds somebody of an assignment.
type Reminder struct {
	Assignment id.Assignment
	Portal     id.Portal
	Person     person.Person
	Membership id.Membership
}

// reminders is the holder of an organization's count of them: so many that somebody who waits
// for a link would wait for them are counted apart.
const (
	reminders       = "reminders"
	remindersAnHour = 10_000
)

// Remind queues a reminder. Who gets it is asked again when it is sent: nobody is reminded of
// what they have done meanwhile, nor while they cannot come in. The error is ErrNoAddress or
// ErrTooMany.
func (o *Outbox) Remind(ctx context.Context, tx *tenant.Tx, r Reminder, at time.Time) error {
	if r.Person.Email == nil {
		return ErrNoAddress
	}
	_, key, ok := person.Address(*r.Person.Email)
	if !ok {
		return ErrNoAddress
	}
	if err := take(ctx, tx, recipient(assigned, r.Portal, key), perRecipient, at); err != nil {
		return err
	}
	if err := take(ctx, tx, reminders, remindersAnHour, at); err != nil {
		return err
	}
	return o.queue(ctx, tx, input{Kind: assigned, Portal: r.Portal, Membership: r.Membership, Assignment: r.Assignment}, "", job.Job{
		ResourceKind: "person", ResourceID: r.Person.ID.String(), Scope: scope.AssignmentsRead, CreatedBy: "platform", CreatedAt: at,
	})
}

// reminded writes to whom an assignment is still to be done by. What it is called and when it is
// due is as it is now. It rides assignment_pkey, assignment_person_pkey.
func (a *addressed) reminded(ctx context.Context, tx *tenant.Tx, l input, now time.Time) error {
	s, err := person.Effective(ctx, tx, l.Membership, now)
	switch {
	case err != nil:
		return orNobody(err)
	case !s.Usable || s.Person.Email == nil:
		return errNobody
	}
	var due *time.Time
	err = tx.QueryRow(ctx, `
		SELECT a.title, a.due_at FROM assignment a JOIN assignment_person p ON p.org_id = a.org_id AND p.assignment_id = a.id
		WHERE a.org_id = $1 AND a.id = $2 AND p.person_id = $3 AND p.left_at IS NULL AND p.state NOT IN ('completed', 'excused')
			AND a.archived_at IS NULL AND (a.closes_at IS NULL OR a.closes_at > $4)`,
		tx.Org, l.Assignment, s.Person.ID, now).Scan(&a.title, &due)
	if errors.Is(err, pgx.ErrNoRows) {
		return errNobody
	}
	if err != nil {
		return err
	}
	a.to, a.name = *s.Person.Email, s.Person.Name
	if s.Person.Language != nil {
		a.language = *s.Person.Language
	}
	if due != nil {
		a.due = due.In(in(s.Person.Timezone)).Format("2006-01-02 15:04 MST")
	}
	return nil
}

// in is a person's time zone; UTC where nobody knows.
func in(name *string) *time.Location {
	if name != nil {
		if l, err := time.LoadLocation(*name); err == nil {
			return l
		}
	}
	return time.UTC
}
