package assignment

import (
	"context"
	"errors"
	"time"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/portals/mailer"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/store/tenant"
)

// remindBatch bounds the people that one transaction reminds.
const remindBatch = 100

// remind queues the mails to people of an organization who are to be reminded by now, and
// answers how many it looked at. A mail is queued in the commit that notes the day, so nobody
// gets a second one however often this is done. It rides assignment_person_by_reminder.
func (w *Worker) remind(ctx context.Context, tx *tenant.Tx, now time.Time) (int, error) {
	due, err := tenant.AllIn(ctx, tx, scanProgress, `
		SELECT `+progressColumns+` FROM assignment_person p
		WHERE p.org_id = $1 AND p.remind_at <= $2 ORDER BY p.assignment_id, p.person_id LIMIT $3 FOR UPDATE`, tx.Org, now, remindBatch)
	if err != nil {
		return 0, err
	}
	known := map[id.Assignment]Assignment{}
	for i := range due {
		p := &due[i]
		a, ok := known[p.Assignment]
		if !ok {
			if a, err = find(ctx, tx, p.Assignment); err != nil {
				return 0, err
			}
			known[p.Assignment] = a
		}
		after, err := w.remindOne(ctx, tx, &a, *p, now)
		if err != nil {
			return 0, err
		}
		if err := p.save(ctx, tx, after, now); err != nil {
			return 0, err
		}
	}
	return len(due), nil
}

// remindOne queues the mail to one person, and answers their part with when they are reminded
// next.
func (w *Worker) remindOne(ctx context.Context, tx *tenant.Tx, a *Assignment, p Progress, now time.Time) (Progress, error) {
	asked := p.AskedAt != nil && p.AskedAt.Equal(*p.RemindAt)
	p.RemindAt = nil
	whom, err := person.Find(ctx, tx, p.Person)
	if errdefs.IsAbsent(err, person.Noun) || err == nil && (p.done() || p.LeftAt != nil || a.StateAt(now) != Open) {
		return p, nil
	}
	if err != nil {
		return p, err
	}
	in := zone(a.Timezone)
	if whom.Timezone != nil {
		in = zone(*whom.Timezone)
	}
	if a.DueAt != nil {
		p.RemindAt = nextReminder(*a.DueAt, a.Reminders, in, now)
	}
	if w.Outbox == nil || !asked && (a.DueAt == nil || !now.Before(*a.DueAt)) {
		return p, nil
	}
	today := date(day(now, in))
	var had bool
	if err := tx.QueryRow(ctx, `
		SELECT EXISTS (SELECT 1 FROM assignment_reminder WHERE org_id = $1 AND assignment_id = $2 AND person_id = $3 AND day = $4)`,
		tx.Org, a.ID, p.Person, today).Scan(&had); err != nil || had {
		return p, err
	}
	err = w.Outbox.Remind(ctx, tx, mailer.Reminder{Assignment: a.ID, Portal: a.Portal, Person: whom, Membership: p.Membership}, now)
	switch {
	case errors.Is(err, mailer.ErrNoAddress):
		return p, nil
	case errors.Is(err, mailer.ErrTooMany):
		// As one that was asked for: no walk through the people takes it back.
		p.RemindAt = new(now.Truncate(time.Hour).Add(time.Hour))
		p.AskedAt = p.RemindAt
		return p, nil
	case err != nil:
		return p, err
	}
	tx.Touch("assignment_reminder", a.ID, p.Person, today)
	_, err = tx.Exec(ctx, `
		INSERT INTO assignment_reminder (org_id, assignment_id, person_id, day, reminded_at) VALUES ($1, $2, $3, $4, $5)`,
		tx.Org, a.ID, p.Person, today, now)
	return p, err
}
