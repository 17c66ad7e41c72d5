package mailer

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
)

// Candidates compose the mails to candidates, who are known to a group above this one.
type Candidates interface {
	// Invitation is what an invitation says now; false where it is not to be sent any more.
	Invitation(ctx context.Context, tx *tenant.Tx, v id.Invite, now time.Time) (Letter, bool, error)
	// Told is what the mail of a decision says, and false likewise.
	Told(ctx context.Context, tx *tenant.Tx, v id.Invite, decided, now time.Time) (Letter, bool, error)
	// Reminder is what a reminder of an invitation says, and Page what the mail of a new link to the
	// page of an application does; false likewise.
	Reminder(ctx context.Context, tx *tenant.Tx, v id.Invite, now time.Time) (Letter, bool, error)
	Page(ctx context.Context, tx *tenant.Tx, v id.Invite, now time.Time) (Letter, bool, error)
	// Link is by what the link of a mail opens an invitation that is sent now: by the token that it was
	// queued with, where that still does, or by another; empty where nothing does.
	Link(ctx context.Context, tx *tenant.Tx, v id.Invite, token string, now time.Time) (string, error)
	// Team is what one of the hiring team is told; false likewise.
	Team(ctx context.Context, tx *tenant.Tx, n TeamNotice, now time.Time) (TeamLetter, bool, error)
	// AnswerSent notes that the answer to a request was sent, and of which decision it was the
	// explanation, by its time; nil for none.
	AnswerSent(ctx context.Context, tx *tenant.Tx, q id.CandidateRequest, explains *time.Time, now time.Time) error
	// InvitationSent and DecisionSent note that a mail was sent: the first with the stamp of its
	// letter, the second of which decision it is, by its time.
	InvitationSent(ctx context.Context, tx *tenant.Tx, v id.Invite, stamp []byte, now time.Time) error
	DecisionSent(ctx context.Context, tx *tenant.Tx, v id.Invite, decided time.Time, explained bool, now time.Time) error
}

// Letter is what somebody else knows of a mail.
type Letter struct {
	To, Name, Language string
	// Title is what the mail is about, and Paragraphs what it says beside the platform's own
	// words.
	Title      string
	Paragraphs []string
	// Expires is when the link in it opens nothing any more.
	Expires time.Time
	// Stamp is for who composed it, once it is sent.
	Stamp []byte
}

// Invited is a candidate to write to.
type Invited struct {
	Portal  id.Portal
	Invite  id.Invite
	Address string
	// Token opens the invitation; nobody else keeps it. A mail without it leads to the portal.
	Token string
}

// Decision is what the mail of a decision has.
type Decision struct {
	// At is when it was made, which tells it from others.
	At time.Time
	// Why is for the candidate; empty for nothing.
	Why string
}

// Answer is what the mail of the answer to a request has.
type Answer struct {
	Request id.CandidateRequest
	// Words are for the candidate; empty for none.
	Words string
	// Explains is when the decision was made that the words explain; nil for none.
	Explains *time.Time
}

// decisionSecret is what is sealed of the mail of a decision.
type decisionSecret struct {
	Token string `json:"token,omitempty"`
	Why   string `json:"why,omitempty"`
}

// invitations is the holder of an organization's count of mails to candidates, apart from those
// that people wait for who want to sign in.
const (
	invitations       = "candidates"
	invitationsAnHour = 10_000
)

func (o *Outbox) toCandidate(ctx context.Context, tx *tenant.Tx, l input, to Invited, secret string, by activity.Actor) error {
	_, key, ok := person.Address(to.Address)
	if !ok {
		return ErrNoAddress
	}
	switch l.Kind {
	case answered: // of which there are no more than requests
		at, err := takeLater(ctx, tx, by.At)
		if err != nil {
			return err
		}
		by.At = at
	default:
		if err := take(ctx, tx, recipient(l.Kind, to.Portal, key), perRecipient, by.At); err != nil {
			return err
		}
		if err := take(ctx, tx, invitations, invitationsAnHour, by.At); err != nil {
			return err
		}
	}
	l.Portal, l.Invite = to.Portal, to.Invite
	return o.queue(ctx, tx, l, secret, job.Job{
		ResourceKind: "invite", ResourceID: to.Invite.String(), Scope: scope.CandidatesRead, CreatedBy: by.By, CreatedAt: by.At,
	})
}

// latest is for how many hours an answer waits for room.
const latest = 48

// takeLater counts a mail to a candidate that is not refused where an hour is full: it goes out in the
// first that has room.
func takeLater(ctx context.Context, tx *tenant.Tx, at time.Time) (time.Time, error) {
	for range latest {
		err := take(ctx, tx, invitations, invitationsAnHour, at)
		if !errors.Is(err, ErrTooMany) {
			return at, err
		}
		at = at.Truncate(time.Hour).Add(time.Hour)
	}
	return at, ErrTooMany
}

// SendInvite queues an invitation to an interview. The error is ErrNoAddress or ErrTooMany.
func (o *Outbox) SendInvite(ctx context.Context, tx *tenant.Tx, to Invited, by activity.Actor) error {
	return o.toCandidate(ctx, tx, input{Kind: screening}, to, to.Token, by)
}

// SendDecision queues what was decided. The error is likewise.
func (o *Outbox) SendDecision(ctx context.Context, tx *tenant.Tx, to Invited, d Decision, by activity.Actor) error {
	secret, err := json.Marshal(decisionSecret{Token: to.Token, Why: d.Why})
	if err != nil {
		return err
	}
	return o.toCandidate(ctx, tx, input{Kind: decided, DecidedAt: d.At, Explained: d.Why != ""}, to, string(secret), by)
}

// SendPage queues a new link to the page of an application. The error is likewise.
func (o *Outbox) SendPage(ctx context.Context, tx *tenant.Tx, to Invited, by activity.Actor) error {
	return o.toCandidate(ctx, tx, input{Kind: pageLink}, to, to.Token, by)
}

// SendReminder queues a reminder of an interview, with another link to it. The error is likewise.
func (o *Outbox) SendReminder(ctx context.Context, tx *tenant.Tx, to Invited, by activity.Actor) error {
	return o.toCandidate(ctx, tx, input{Kind: reminded}, to, to.Token, by)
}

// SendAnswer queues the answer to what a candidate asked for, for the next hour with room. The error
// is likewise.
func (o *Outbox) SendAnswer(ctx context.Context, tx *tenant.Tx, to Invited, a Answer, by activity.Actor) error {
	secret, err := json.Marshal(decisionSecret{Token: to.Token, Why: a.Words})
	if err != nil {
		return err
	}
	l := input{Kind: answered, Request: a.Request}
	if a.Explains != nil {
		l.DecidedAt, l.Explained = *a.Explains, true
	}
	return o.toCandidate(ctx, tx, l, to, string(secret), by)
}

// candidate writes to a candidate.
func (a *addressed) candidate(ctx context.Context, tx *tenant.Tx, l input, secret string, from Candidates, now time.Time) error {
	if from == nil {
		return errNobody
	}
	compose := from.Invitation
	opens := func(token string) (err error) {
		if token, err = from.Link(ctx, tx, l.Invite, token, now); err == nil && token != "" {
			a.opens, a.token = "invite", token
		}
		return err
	}
	switch l.Kind {
	case decided:
		return a.decision(secret, opens, func() (Letter, bool, error) { return from.Told(ctx, tx, l.Invite, l.DecidedAt, now) })
	case answered:
		return a.decision(secret, opens, func() (Letter, bool, error) { return from.Page(ctx, tx, l.Invite, now) })
	case pageLink:
		compose = from.Page
	case reminded:
		compose = from.Reminder
	case signIn, invitation, ofCase, assigned, screening, booking, reply, team:
	}
	letter, found, err := compose(ctx, tx, l.Invite, now)
	if err != nil || !found {
		return errOr(err, errNobody)
	}
	a.letter(letter)
	a.expires = letter.Expires
	return opens(secret)
}

func (a *addressed) letter(l Letter) {
	a.to, a.name, a.language, a.title, a.paragraphs, a.stamp = l.To, l.Name, l.Language, l.Title, l.Paragraphs, l.Stamp
}

// decision writes what was decided or answered.
func (a *addressed) decision(secret string, opens func(token string) error, compose func() (Letter, bool, error)) error {
	var sealed decisionSecret
	if err := json.Unmarshal([]byte(secret), &sealed); err != nil {
		return err
	}
	letter, found, err := compose()
	if err != nil || !found {
		return errOr(err, errNobody)
	}
	a.letter(letter)
	if sealed.Why != "" {
		a.paragraphs = append(a.paragraphs, sealed.Why)
	}
	if sealed.Token == "" {
		return nil
	}
	return opens(sealed.Token)
}

func errOr(err, otherwise error) error {
	if err != nil {
		return err
	}
	return otherwise
}
