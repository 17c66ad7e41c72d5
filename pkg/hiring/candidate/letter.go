package candidate

import (
	"context"
	"encoding/json"
	"time"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/hiring/record"
	"visavis.dev/pkg/hiring/role"
	"visavis.dev/pkg/portals/mailer"
	"visavis.dev/pkg/store/tenant"
)

// Letters compose the mails to candidates (mailer.Candidates).
type Letters struct{}

var _ mailer.Candidates = Letters{}

// read finds who an invitation is for; false where nothing is to be sent any more.
func read(ctx context.Context, tx *tenant.Tx, which id.Invite) (v Invite, c Candidate, r role.Role, found bool, err error) {
	v, c, err = lockInvite(ctx, tx, which)
	if errdefs.IsAbsent(err, Noun) || errdefs.IsNotFound(err, InviteNoun) {
		return v, c, r, false, nil
	}
	if err == nil && c.Email != nil {
		r, err = c.FindRole(ctx, tx)
		return v, c, r, err == nil, err
	}
	return v, c, r, false, err
}

// letter is a mail to a candidate about a role.
func (c *Candidate) letter(r *role.Role) mailer.Letter {
	return mailer.Letter{To: *c.Email, Name: c.Name, Language: c.Language, Title: r.Title, Paragraphs: []string{}}
}

// Invitation implements mailer.Candidates. It has the notice, word for word.
func (Letters) Invitation(ctx context.Context, tx *tenant.Tx, which id.Invite, now time.Time) (l mailer.Letter, found bool, err error) {
	v, c, r, found, err := read(ctx, tx, which)
	if err != nil || !found || v.Good(now) != nil || c.refused() != nil || r.State == role.Closed {
		return l, false, err
	}
	l = c.letter(&r)
	l.Expires = v.ExpiresAt
	if v.Message != nil {
		l.Paragraphs = append(l.Paragraphs, *v.Message)
	}
	l.Paragraphs = append(l.Paragraphs, r.NoticeIn(c.Language)...)
	n, err := c.notice(ctx, tx, &r)
	if err != nil {
		return l, false, err
	}
	l.Stamp, err = json.Marshal(n)
	return l, err == nil, err
}

// InvitationSent implements mailer.Candidates: the candidate has the notice from then on.
func (Letters) InvitationSent(ctx context.Context, tx *tenant.Tx, which id.Invite, stamp []byte, now time.Time) error {
	v, c, r, found, err := read(ctx, tx, which)
	if err != nil || !found {
		return err
	}
	var n Notice // as the mail had it, whatever the role says by now
	if err := json.Unmarshal(stamp, &n); err != nil {
		return err
	}
	v.SentAt = &now
	if err := v.save(ctx, tx); err != nil {
		return err
	}
	if err := c.Note(ctx, tx, record.Fact{At: now, Actor: byPlatform, Action: "invite.sent", Data: map[string]any{"inviteId": v.ID}}); err != nil {
		return err
	}
	if err := c.tell(ctx, tx, &v, &r, n, ByEmail, now); err != nil {
		return err
	}
	return c.Save(ctx, tx, now)
}

// Told implements mailer.Candidates. What another decision followed is not sent any more.
func (Letters) Told(ctx context.Context, tx *tenant.Tx, which id.Invite, decided, _ time.Time) (mailer.Letter, bool, error) {
	v, c, r, found, err := read(ctx, tx, which)
	if err != nil || !found || !c.decidedAt(decided) {
		return mailer.Letter{}, false, err
	}
	l := c.letter(&r)
	l.Expires = v.ExpiresAt
	return l, true, nil
}

// decidedAt says whether the last decision is of a moment.
func (c *Candidate) decidedAt(at time.Time) bool { return c.Decision != nil && c.Decision.At.Equal(at) }

// DecisionSent implements mailer.Candidates.
func (Letters) DecisionSent(ctx context.Context, tx *tenant.Tx, which id.Invite, decided time.Time, explained bool, now time.Time) error {
	_, c, _, found, err := read(ctx, tx, which)
	if err != nil || !found {
		return err
	}
	if explained && c.decidedAt(decided) { // it is another's otherwise
		c.explained(now)
	}
	if err := c.Note(ctx, tx, record.Fact{At: now, Actor: byPlatform, Action: "decision.sent", Data: map[string]any{
		"decidedAt": decided.UTC(), "explained": explained,
	}}); err != nil {
		return err
	}
	return c.Save(ctx, tx, now)
}
