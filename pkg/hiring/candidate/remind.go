package candidate

import (
	"context"
	"errors"
	"time"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/hiring/record"
	"visavis.dev/pkg/hiring/role"
	"visavis.dev/pkg/portals/mailer"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/sweep"
	"visavis.dev/pkg/store/tenant"
)

// remindBefore is how long before an invitation ends its candidate is reminded, each time once.
var remindBefore = []time.Duration{7 * aDay, aDay}

// rest is how long somebody is left alone after a mail.
const rest = 2 * aDay

// schedule sets when the candidate is reminded next, after a mail at a moment: who was mailed the
// invitation, and has not begun.
func (v *Invite) schedule(mailed time.Time) {
	v.RemindAt = nil
	if v.Channel != ByEmail || v.StartedAt != nil || v.CancelledAt != nil || v.DueAt == nil {
		return
	}
	for _, before := range remindBefore {
		if at := v.ExpiresAt.Add(-before); at.After(mailed.Add(rest)) {
			v.RemindAt = &at
			return
		}
	}
}

// Reminders reminds candidates of interviews that they have not begun.
type Reminders struct {
	// Outbox is nil where the deployment sends no mail.
	Outbox *mailer.Outbox
}

// Background is what workers do for reminders.
func (w *Reminders) Background(d sweep.Deps) job.Background {
	return job.Background{Tasks: []sweep.Task{{Name: "remind candidates", Every: time.Minute, Batch: SweepBatch, Run: d.Dated(w.Remind)}}}
}

// Remind reminds the candidates of a shard who are to be by now. A mail is queued in the commit that
// notes the next one, so nobody gets a second one however often this is done. It rides
// candidate_invite_by_reminder.
func (w *Reminders) Remind(ctx context.Context, t *tenant.Tenants, shard string, now time.Time) (int, error) {
	return eachDue(ctx, t, shard, func(ctx context.Context, tx *tenant.Tx, which id.Invite) error {
		v, c, err := lockInvite(ctx, tx, which)
		if errdefs.IsAbsent(err, Noun) {
			v.RemindAt = nil
			return v.save(ctx, tx)
		}
		if err != nil || v.RemindAt == nil || v.RemindAt.After(now) {
			return err // another worker was faster, or it was sent again
		}
		r, err := c.FindRole(ctx, tx)
		if err != nil {
			return err
		}
		if w.Outbox == nil || !v.remindable(&c, &r, now) {
			v.schedule(now.Add(-rest))
			return v.save(ctx, tx)
		}
		token := NewToken()
		err = w.Outbox.SendReminder(ctx, tx, mailer.Invited{Portal: r.Portal, Invite: v.ID, Address: *c.Email, Token: string(token)},
			activity.Actor{By: byPlatform, At: now})
		switch {
		case errors.Is(err, mailer.ErrTooMany):
			v.RemindAt = new(now.Truncate(time.Hour).Add(time.Hour))
			return v.save(ctx, tx)
		case errors.Is(err, mailer.ErrNoAddress):
			v.RemindAt = nil
			return v.save(ctx, tx)
		case err != nil:
			return err
		}
		v.RemindersSent++
		v.schedule(now)
		if err := v.save(ctx, tx); err != nil {
			return err
		}
		// The links before stay good: they may look for the first mail.
		if err := v.also(ctx, tx, token, now); err != nil {
			return err
		}
		if err := c.Note(ctx, tx, record.Fact{At: now, Actor: byPlatform, Action: "invite.reminded", Data: map[string]any{"inviteId": v.ID}}); err != nil {
			return err
		}
		return c.Save(ctx, tx, now)
	}, `
		SELECT v.org_id, v.id FROM candidate_invite v JOIN org_fence f ON f.org_id = v.org_id AND f.state IN ('open', 'capture')
		WHERE v.remind_at <= $1 ORDER BY v.remind_at LIMIT $2`, now)
}

// remindable says whether a candidate is reminded of their invitation now: it was mailed, it is
// good, and they can come.
func (v *Invite) remindable(c *Candidate, r *role.Role, now time.Time) bool {
	return v.SentAt != nil && v.StartedAt == nil && v.Good(now) == nil && c.Email != nil && c.refused() == nil && c.takes(r, now) == nil
}

// Reminder implements mailer.Candidates.
func (Letters) Reminder(ctx context.Context, tx *tenant.Tx, which id.Invite, now time.Time) (mailer.Letter, bool, error) {
	v, c, r, found, err := read(ctx, tx, which)
	if err != nil || !found || !v.remindable(&c, &r, now) {
		return mailer.Letter{}, false, err
	}
	l := c.letter(&r)
	l.Expires = v.ExpiresAt
	return l, true, nil
}
