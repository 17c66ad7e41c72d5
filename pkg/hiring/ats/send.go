package ats

import (
	"context"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/hiring/candidate"
	"visavis.dev/pkg/hiring/role"
	"visavis.dev/pkg/hiring/screening"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/setting"
	"visavis.dev/pkg/store/tenant"
)

// Sent is somebody whom a system sends.
type Sent struct {
	// Test is the id of a role, with or without its prefix, or as a UUID.
	Test string
	// Reference is the application's id there.
	Reference, Name, Email, Phone string
	// Callback is where the system is told that there is something new; empty for none.
	Callback string
	// Metadata is kept with the candidate.
	Metadata map[string]string
}

const (
	longestName      = 200
	longestReference = 200
	longestPhone     = 40
	longestAddress   = 2048
	longestNote      = 500
)

// check says what of it is not as it has to be.
func (s *Sent) check() error {
	switch {
	case s.Reference == "" || utf8.RuneCountInString(s.Reference) > longestReference:
		return refuse(Wrong, "The application has no id of 1 to %d characters.", longestReference)
	case !utf8.ValidString(s.Reference) || strings.ContainsFunc(s.Reference, unicode.IsControl):
		return refuse(Wrong, "The application's id has a character that no id has.")
	case s.Name == "" || utf8.RuneCountInString(s.Name) > longestName:
		return refuse(Wrong, "The candidate has no name of 1 to %d characters.", longestName)
	case s.Email == "":
		return refuse(Wrong, "The candidate has no e-mail address, which the invite is sent to.")
	case len(s.Callback) > longestAddress:
		return refuse(Wrong, "The address to call has more than %d characters.", longestAddress)
	}
	return nil
}

// offers finds a role that a connection offers by the id of a test.
func offers(by *connection.Opened, test string) (id.Role, error) {
	u, err := id.UUIDOf(test)
	if r := id.Role(u); err == nil && slices.Contains(by.Config.Roles(), r) {
		return r, nil
	}
	return id.Role{}, refuse(Unknown, "There is no such test.")
}

// Send invites somebody to a role by the rules of any invite, and mails them. An application that was
// sent before is answered as it is: nobody is entered or mailed twice. Where the invite expired unused it is
// mailed again, and where the candidate withdrew and the system has acknowledged that, they are invited anew. The
// error can be a RefusalError.
func (d *Desk) Send(ctx context.Context, by connection.Opened, s Sent, who activity.Actor) (candidate.Application, error) {
	var a candidate.Application
	if err := d.allow(ctx, by.Org); err != nil {
		return a, err
	}
	which, err := offers(&by, s.Test)
	if err != nil {
		return a, err
	}
	if err := s.check(); err != nil {
		return a, err
	}
	if d.Mails == nil {
		return a, refuse(Barred, "This deployment sends no mail, so nobody can be invited.")
	}
	err = d.Tenants.InTx(ctx, by.Org, func(ctx context.Context, tx *tenant.Tx) (err error) {
		a, err = d.send(ctx, tx, &by, which, s, who)
		return err
	}, tenant.Idempotent(true)) // by the application's id
	return a, refusal(err)
}

func (d *Desk) send(ctx context.Context, tx *tenant.Tx, by *connection.Opened, which id.Role, s Sent, who activity.Actor) (candidate.Application, error) {
	var none candidate.Application
	r, err := role.Lock(ctx, tx, which) // whoever sends the same waits here
	if errdefs.IsNotFound(err, role.Noun) {
		return none, refuse(Unknown, "There is no such test.")
	}
	if err != nil {
		return none, err
	}
	applied := candidate.Applied{By: by.Connection, Reference: s.Reference}
	if s.Callback != "" {
		applied.Callbacks = []string{s.Callback}
	}
	before, stays, err := d.again(ctx, tx, by, &r, applied, who)
	if err != nil || stays {
		return before, err
	}
	set, err := setting.At(ctx, tx, setting.Place{Portal: r.Portal})
	if err != nil {
		return none, err
	}
	if set.Require(setting.Hiring) != nil {
		return none, refuse(Barred, "Hiring is switched off in the settings.")
	}
	applied.Callbacks = append(before.Callbacks, applied.Callbacks...) // so that the calls before are remembered
	issued, err := candidate.InviteAll(ctx, tx, &r, candidate.Batch{
		People: []candidate.Wanted{{
			Name: s.Name, Email: &s.Email, Phone: phone(s.Phone), ExternalID: &s.Reference, Language: r.Languages[0], Metadata: notes(s.Metadata), Applied: &applied,
		}},
		Term: term(by), Outbox: d.Mails, Message: orNil(by.Config.Text("message")), Sandbox: by.Config.On("sandbox"),
	}, who)
	if err != nil {
		return none, err
	}
	return candidate.FindApplication(ctx, tx, issued[0].Invite.ID)
}

// again is an application that was sent before; false where its candidate is to be invited, with what is
// to be remembered of the first time.
func (d *Desk) again(
	ctx context.Context, tx *tenant.Tx, by *connection.Opened, r *role.Role, s candidate.Applied, who activity.Actor,
) (a candidate.Application, stays bool, err error) {
	a, err = candidate.Referred(ctx, tx, s, r.ID)
	if errdefs.IsNotFound(err, candidate.ApplicationNoun) {
		return a, false, nil
	}
	if err != nil {
		return a, false, err
	}
	// Whoever changes both locks the candidate first.
	c, err := candidate.Lock(ctx, tx, a.Candidate)
	if err == nil {
		a, err = candidate.FindApplication(ctx, tx, a.ID)
	}
	if errdefs.IsAbsent(err, candidate.Noun) || errdefs.IsNotFound(err, candidate.ApplicationNoun) {
		return candidate.Application{}, false, nil // erased meanwhile, with what the system knew them by
	}
	if err != nil {
		return a, false, err
	}
	if a.Standing == candidate.StandsCancelled && c.State == candidate.Withdrawn && anew(&a, s) {
		return a, false, a.Release(ctx, tx)
	}
	if err := a.Resent(ctx, tx, s); err != nil || a.Standing.Final() {
		return a, true, err
	}
	v, err := candidate.FindInvite(ctx, tx, a.ID)
	if err != nil || v.State(who.At) != candidate.InviteExpired {
		return a, true, err
	}
	if _, err := screening.Resend(ctx, tx, a.ID, term(by), d.Mails, who); err != nil {
		return a, true, err
	}
	a, err = candidate.FindApplication(ctx, tx, a.ID)
	return a, true, err
}

// anew says whether a system sends somebody who withdrew once more, and does not repeat a call
// whose answer it never saw: it names another address to be called, or where it names none it has acknowledged that they withdrew.
func anew(a *candidate.Application, s candidate.Applied) bool {
	if len(s.Callbacks) > 0 {
		return !slices.Contains(a.Callbacks, s.Callbacks[0])
	}
	return a.Acknowledged >= a.Edition
}

// term is how long an invite is good: as the connection has it, or longer where a role's notice
// asks for more, of which nobody is told before.
func term(by *connection.Opened) candidate.Term {
	return candidate.Term{Days: by.Config.Whole("expiresInDays", 0), Stretches: true}
}

func orNil(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// phone leaves out what is no number that a candidate can have.
func phone(text string) *string {
	if utf8.RuneCountInString(text) > longestPhone {
		return nil
	}
	return orNil(text)
}

// notes leaves out what is empty or too long to be kept.
func notes(all map[string]string) map[string]string {
	kept := map[string]string{}
	for name, text := range all {
		if text != "" && utf8.RuneCountInString(text) <= longestNote {
			kept[name] = text
		}
	}
	return kept
}
