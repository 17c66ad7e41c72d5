// Package mailer sends what the platform writes to people: links by which members sign
// in, invitations, links to cases, and reminders of what is to be done. A mail is a job that is queued with what
// causes it; who gets it and what it says is read when it is sent, and no address and
// no token lies open in between.
package mailer

import (
	"context"
	"errors"
	"time"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/base/vault"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/store/tenant"
)

// kind is what a mail is about.
type kind string

const (
	signIn     kind = "sign_in"
	invitation kind = "invitation"
	ofCase     kind = "case"
	assigned   kind = "assigned"
	screening  kind = "screening"
	decided    kind = "decided"
	pageLink   kind = "page"
	answered   kind = "answered"
	reminded   kind = "reminded"
	team       kind = "team"
	booking    kind = "booking"
	reply      kind = "reply"
)

// job is the kind of job that a mail is. Those that came later have one of their own: a process of
// before, beside which one of now runs while a deployment is changed, leaves them to it.
func (k kind) job() job.Kind {
	switch k {
	case pageLink, answered, reminded, team:
		return job.HiringMail
	case signIn, invitation, ofCase, assigned, screening, decided, booking, reply:
	}
	return job.MailSend
}

// input is the input of a job of kind mail_send or hiring_mail.
type input struct {
	Kind   kind      `json:"kind"`
	Portal id.Portal `json:"portalId"`
	// Membership is of an invitation and of a reminder, Case of a case, Assignment of a
	// reminder.
	Membership id.Membership `json:"membershipId,omitzero"`
	Case       id.CaseLink   `json:"caseLinkId,omitzero"`
	Assignment id.Assignment `json:"assignmentId,omitzero"`
	// Invite is of mails to candidates.
	Invite id.Invite `json:"inviteId,omitzero"`
	// Item and Note are of a reply to a visitor.
	Item id.InboxItem `json:"itemId,omitzero"`
	Note id.InboxNote `json:"noteId,omitzero"`
	// Request is of the answer to what a candidate asked for.
	Request id.CandidateRequest `json:"requestId,omitzero"`
	// Notice is of a mail to the hiring team.
	Notice *TeamNotice `json:"notice,omitempty"`
	// DecidedAt tells the decision of a mail, or that an answer explains, from others, and Explained says
	// that it has why.
	DecidedAt time.Time `json:"decidedAt,omitzero"`
	Explained bool      `json:"explained,omitempty"`
	// Language is empty for the reader's own.
	Language string `json:"language,omitempty"`
	// Sealed is who asks to sign in, the token of a case or an invite, why something was
	// decided, or where answers to a reply go.
	Sealed []byte `json:"sealed,omitempty"`
}

// Outbox takes mails. A deployment that sends no mail has none.
type Outbox struct{ Vault *vault.Vault }

// ErrTooMany says that a recipient, or the organization, had all the mail of an hour.
var ErrTooMany = errors.New("too many mails in an hour")

// ErrNoAddress says that there is no address to write to.
var ErrNoAddress = errors.New("there is no e-mail address")

// AskToSignIn queues a link for whoever has an address, which may be nobody: what is
// done and how long it takes is the same. The error is ErrNoAddress or ErrTooMany.
func (o *Outbox) AskToSignIn(ctx context.Context, tx *tenant.Tx, p id.Portal, address, language string, at time.Time) error {
	_, key, ok := person.Address(address)
	if !ok {
		return ErrNoAddress
	}
	if err := take(ctx, tx, recipient(signIn, p, key), perRecipient, at); err != nil {
		return err
	}
	return o.queue(ctx, tx, input{Kind: signIn, Portal: p, Language: language}, key, job.Job{
		ResourceKind: "portal", ResourceID: p.String(), Scope: scope.PortalsRead, CreatedBy: "members_link", CreatedAt: at,
	})
}

// Invite queues the invitation to a place. The error is ErrNoAddress or ErrTooMany.
func (o *Outbox) Invite(ctx context.Context, tx *tenant.Tx, who person.Person, m person.Membership, by person.Author) error {
	if who.Email == nil {
		return ErrNoAddress
	}
	if err := takeBoth(ctx, tx, invitation, m.Portal, *who.Email, by.At); err != nil {
		return err
	}
	return o.queue(ctx, tx, input{Kind: invitation, Portal: m.Portal, Membership: m.ID}, "", job.Job{
		ResourceKind: "person", ResourceID: who.ID.String(), Scope: scope.PeopleRead, CreatedBy: by.By, CreatedAt: by.At,
	})
}

// SendCase queues the link to a case, whose token nobody else keeps. The error is
// ErrNoAddress or ErrTooMany.
func (o *Outbox) SendCase(ctx context.Context, tx *tenant.Tx, p id.Portal, which id.CaseLink, address, token string, by person.Author) error {
	if err := takeBoth(ctx, tx, ofCase, p, address, by.At); err != nil {
		return err
	}
	return o.queue(ctx, tx, input{Kind: ofCase, Portal: p, Case: which}, token, job.Job{
		ResourceKind: "case_link", ResourceID: which.String(), Scope: scope.PortalsRead, CreatedBy: by.By, CreatedAt: by.At,
	})
}

// queue seals what is secret of a mail and queues it.
func (o *Outbox) queue(ctx context.Context, tx *tenant.Tx, l input, secret string, j job.Job) error {
	j.ID, j.Kind, j.Portal = id.NewJob(), l.Kind.job(), l.Portal
	if secret != "" {
		l.Sealed = o.Vault.Seal(place(tx.Org, j.ID), []byte(secret))
	}
	_, err := job.Insert(ctx, tx, j, l)
	return err
}

// place is where the secret of a mail opens; what waits is sealed with these words.
func place(org id.Org, j id.Job) string { return "letter " + org.String() + " " + j.String() }
