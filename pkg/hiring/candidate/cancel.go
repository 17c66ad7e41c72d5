package candidate

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/hiring/record"
	"visavis.dev/pkg/hiring/role"
	"visavis.dev/pkg/portals/mailer"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
)

func (v *Invite) conflict(reason, message string) error {
	return &errdefs.Conflict{Noun: InviteNoun, ID: v.ID.String(), Reason: reason, Message: message}
}

// lockInvite finds an invitation with its candidate, whom nobody else changes until the commit.
func lockInvite(ctx context.Context, tx *tenant.Tx, which id.Invite) (v Invite, c Candidate, err error) {
	if v, err = FindInvite(ctx, tx, which); err != nil {
		return v, c, err
	}
	if c, err = Lock(ctx, tx, v.Candidate); err != nil {
		return v, c, err
	}
	v, err = FindInvite(ctx, tx, which)
	return v, c, err
}

// Cancel takes an invitation back: it opens nothing any more. One that was cancelled is answered
// as it is. The error is errdefs.NotFound, errdefs.Gone, or a conflict once the interview began.
func Cancel(ctx context.Context, tx *tenant.Tx, which id.Invite, who activity.Actor) (Invite, error) {
	v, c, err := lockInvite(ctx, tx, which)
	switch {
	case err != nil || v.CancelledAt != nil:
		return v, err
	case v.StartedAt != nil:
		return v, v.conflict(ReasonUsed, "The interview has begun.")
	}
	v.CancelledAt, v.DueAt, v.RemindAt = &who.At, nil, nil
	if err := v.save(ctx, tx); err != nil {
		return v, err
	}
	if c.State == Invited || c.State == Opened {
		r, err := c.FindRole(ctx, tx)
		if err != nil {
			return v, err
		}
		c.State, c.Stage = Withdrawn, AtEnd
		c.keep(&r, who.At)
	}
	if err := c.Note(ctx, tx, record.Fact{At: who.At, Actor: who.By, Action: "invite.cancelled", Data: map[string]any{"inviteId": v.ID}}); err != nil {
		return v, err
	}
	if err := c.Save(ctx, tx, who.At); err != nil {
		return v, err
	}
	c.Tell(tx, event.CandidateInviteCancelled, who.At, map[string]any{"cancelledBy": who.By, "cancelledAt": who.At.UTC()})
	who.Log(tx, "candidate.invite_cancelled", "candidate", c.ID, map[string]any{"inviteId": v.ID})
	return v, nil
}

// Resend makes a new link of an invitation, in the place of all before, and mails it where
// there is an outbox. Who is not interviewed any more comes to their page by it, where they ask for
// what is theirs to ask for, whatever became of the role. The error is errdefs.NotFound, errdefs.Gone, an errdefs.Invalid of the term, or a conflict.
func Resend(ctx context.Context, tx *tenant.Tx, which id.Invite, t Term, o *mailer.Outbox, who activity.Actor) (Issued, error) {
	v, c, err := lockInvite(ctx, tx, which)
	made := Issued{Invite: v, Candidate: c, Token: NewToken()}
	if err != nil {
		return made, err
	}
	r, err := c.FindRole(ctx, tx)
	if err != nil {
		return made, err
	}
	switch err := c.takes(&r, who.At); {
	case v.CancelledAt != nil:
		return made, v.conflict(ReasonCancelled, "The invite was cancelled. Invite them again.")
	case c.refused() != nil:
		return made, c.resendPage(ctx, tx, &made, &r, t, o, who)
	case err != nil:
		return made, err
	case o != nil && c.Email == nil:
		return made, v.conflict(ReasonNoAddress, "The candidate has no e-mail address.")
	}
	until, err := c.until(ctx, tx, &r, t, who.At)
	if err != nil {
		return made, err
	}
	v.ExpiresAt, v.Channel, c.LinkAt = until, ByLink, &who.At
	if v.StartedAt == nil {
		v.DueAt = &until
	}
	if !c.decided() {
		c.keep(&r, until)
	}
	if o != nil {
		v.Channel, v.RemindersSent = ByEmail, v.RemindersSent+1
	}
	v.schedule(who.At)
	if err := v.save(ctx, tx); err != nil {
		return made, err
	}
	if err := v.reopen(ctx, tx, made.Token); err != nil {
		return made, err
	}
	if err := c.Note(ctx, tx, record.Fact{At: who.At, Actor: who.By, Action: "invite.resent", Data: map[string]any{"inviteId": v.ID, "channel": v.Channel}}); err != nil {
		return made, err
	}
	if err := c.Save(ctx, tx, who.At); err != nil {
		return made, err
	}
	who.Log(tx, "candidate.invite_resent", "candidate", c.ID, map[string]any{"inviteId": v.ID})
	made.Invite, made.Candidate = v, c
	if o == nil {
		return made, nil
	}
	return made, o.SendInvite(ctx, tx, mailer.Invited{Portal: r.Portal, Invite: v.ID, Address: *c.Email, Token: string(made.Token)}, who)
}

// resendPage is Resend for who is not interviewed any more. How long they are kept stays as it is.
func (c *Candidate) resendPage(ctx context.Context, tx *tenant.Tx, made *Issued, r *role.Role, t Term, o *mailer.Outbox, who activity.Actor) error {
	v := &made.Invite
	if o != nil && c.Email == nil {
		return v.conflict(ReasonNoAddress, "The candidate has no e-mail address.")
	}
	until, err := t.end(who.At, who.At)
	if err != nil {
		return err
	}
	v.ExpiresAt, v.Channel, c.LinkAt = later(v.ExpiresAt, until), ByLink, &who.At
	if o != nil {
		v.Channel = ByEmail
	}
	if err := v.save(ctx, tx); err != nil {
		return err
	}
	if err := v.reopen(ctx, tx, made.Token); err != nil {
		return err
	}
	if err := c.Note(ctx, tx, record.Fact{At: who.At, Actor: who.By, Action: "invite.resent", Data: map[string]any{"inviteId": v.ID, "channel": v.Channel}}); err != nil {
		return err
	}
	if err := c.Save(ctx, tx, who.At); err != nil {
		return err
	}
	who.Log(tx, "candidate.invite_resent", "candidate", c.ID, map[string]any{"inviteId": v.ID})
	if made.Candidate = *c; o == nil {
		return nil
	}
	return o.SendPage(ctx, tx, mailer.Invited{Portal: r.Portal, Invite: v.ID, Address: *c.Email, Token: string(made.Token)}, who)
}

// SweepBatch is how many rows a run of a recurring task looks at.
const SweepBatch = 100

// due is something of an organization whose time has come.
type due[T any] struct {
	Org id.Org
	ID  T
}

// eachDue does something for each that a statement finds on a shard.
func eachDue[T any](ctx context.Context, t *tenant.Tenants, shard string, do func(context.Context, *tenant.Tx, T) error, sql string, now time.Time) (int, error) {
	db, err := t.Shard(ctx, shard)
	if err != nil {
		return 0, err
	}
	rows, err := db.Query(ctx, sql, now, SweepBatch)
	if err != nil {
		return 0, err
	}
	found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[due[T]])
	if err != nil {
		return 0, err
	}
	var failed []error
	for _, d := range found {
		failed = append(failed, t.InTx(ctx, d.Org, func(ctx context.Context, tx *tenant.Tx) error { return do(ctx, tx, d.ID) }, tenant.Idempotent(true)))
	}
	return len(found), errors.Join(failed...) // of one nobody else waits
}

// Expire tells of the invitations of a shard that were not used in time. It rides
// candidate_invite_by_due.
func Expire(ctx context.Context, t *tenant.Tenants, shard string, now time.Time) (int, error) {
	return eachDue(ctx, t, shard, func(ctx context.Context, tx *tenant.Tx, which id.Invite) error {
		v, c, err := lockInvite(ctx, tx, which)
		if errdefs.IsAbsent(err, Noun) {
			v.DueAt, v.RemindAt = nil, nil
			return v.save(ctx, tx)
		}
		if err != nil || v.DueAt == nil || v.DueAt.After(now) {
			return err // another worker was faster, or it was sent again
		}
		v.DueAt, v.RemindAt = nil, nil
		if err := v.save(ctx, tx); err != nil {
			return err
		}
		if err := c.Note(ctx, tx, record.Fact{At: now, Actor: byPlatform, Action: "invite.expired", Data: map[string]any{"inviteId": v.ID}}); err != nil {
			return err
		}
		if err := c.Save(ctx, tx, now); err != nil {
			return err
		}
		c.Tell(tx, event.CandidateInviteExpired, now, map[string]any{"expiredAt": v.ExpiresAt.UTC(), "opened": v.OpenedAt != nil})
		return nil
	}, `
		SELECT v.org_id, v.id FROM candidate_invite v JOIN org_fence f ON f.org_id = v.org_id AND f.state IN ('open', 'capture')
		WHERE v.due_at <= $1 ORDER BY v.due_at LIMIT $2`, now)
}
