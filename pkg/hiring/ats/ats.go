// Package ats has applicant tracking systems send candidates to roles, and tells them what came of it:
// how far somebody is, and what a person has released. No words of a candidate go there.
package ats

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/hiring/candidate"
	"visavis.dev/pkg/hiring/role"
	"visavis.dev/pkg/hiring/screening"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/portals/mailer"
	"visavis.dev/pkg/provider/greenhouse"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/directory"
	"visavis.dev/pkg/store/setting"
	"visavis.dev/pkg/store/tenant"
)

// Why is what kind of refusal something is; each protocol has answers of its own for them.
type Why int

// The kinds of refusals.
const (
	// Unknown: there is no such test, or it was not sent by the connection.
	Unknown Why = iota
	// Closed: the role takes nobody at the moment.
	Closed
	// Duplicate: somebody else's application has the same address or id in the role.
	Duplicate
	// Wrong: the request is not as it has to be.
	Wrong
	// Barred: the organization cannot invite anybody.
	Barred
	// Begun: what is to be cancelled has begun, or is over.
	Begun
	// TooMany: as many mails as may be went out in this hour.
	TooMany
)

// RefusalError says in words for people why something was not done.
type RefusalError struct {
	Why     Why
	Message string
	// Err is the cause; nil for none.
	Err error
}

func (e *RefusalError) Error() string { return e.Message }

// Unwrap gives the cause.
func (e *RefusalError) Unwrap() error { return e.Err }

func refuse(why Why, message string, args ...any) error {
	return &RefusalError{Why: why, Message: fmt.Sprintf(message, args...)}
}

// Desk takes what systems send.
type Desk struct {
	Tenants *tenant.Tenants
	// Organization finds an organization and what it may have.
	Organization func(ctx context.Context, org id.Org) (directory.Organization, plan.Terms, error)
	// Mails mails the invites; nil where the deployment sends no mail.
	Mails *mailer.Outbox
}

// features are what a plan must include.
var features = []string{"connections", "hiring"}

// allow refuses an organization that cannot invite anybody.
func (d *Desk) allow(ctx context.Context, org id.Org) error {
	o, terms, err := d.Organization(ctx, org)
	switch {
	case err != nil:
		return err
	case o.PausedAt != nil:
		return refuse(Barred, "The account is paused.")
	}
	for _, feature := range features {
		if !terms.Has(feature) {
			return refuse(Barred, "The plan %s does not include %s.", terms.Plan.Name, feature)
		}
	}
	return nil
}

// Offered are the roles that a connection offers as tests, in the order of its config: those that
// take candidates now.
func (d *Desk) Offered(ctx context.Context, by connection.Opened, now time.Time) ([]role.Role, error) {
	if err := d.allow(ctx, by.Org); err != nil {
		return nil, err
	}
	named := by.Config.Roles()
	found, err := role.Several(ctx, d.Tenants, by.Org, named)
	if err != nil {
		return nil, err
	}
	var offered []role.Role
	for _, which := range named {
		if r, ok := found[which]; ok && r.Takes(now) == nil {
			offered = append(offered, r)
		}
	}
	return offered, nil
}

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
// mailed again, and where the candidate withdrew and the system knows that, they are invited anew. The
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
	applied := candidate.Applied{System: candidate.SystemOf(by.Connection), Reference: s.Reference}
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
	applied.Callbacks = append(before.Callbacks, applied.Callbacks...) // so that the calls before stay known
	issued, err := candidate.InviteAll(ctx, tx, &r, candidate.Batch{
		People: []candidate.Wanted{{
			Name: s.Name, Email: &s.Email, Phone: phone(s.Phone), ExternalID: &s.Reference, Language: r.Languages[0], Metadata: notes(s.Metadata), Applied: &applied,
		}},
		ExpiresAt: until(by, who.At), Outbox: d.Mails, Message: orNil(by.Config.Text("message")), Sandbox: by.Config.On("sandbox"),
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
	if _, err := screening.Resend(ctx, tx, a.ID, until(by, who.At), d.Mails, who); err != nil {
		return a, true, err
	}
	a, err = candidate.FindApplication(ctx, tx, a.ID)
	return a, true, err
}

// anew says whether a system sends somebody who withdrew once more, and does not repeat a call
// whose answer it never saw: it names another address to be called, or where there is none it knows that they withdrew.
func anew(a *candidate.Application, s candidate.Applied) bool {
	if len(s.Callbacks) > 0 {
		return !slices.Contains(a.Callbacks, s.Callbacks[0])
	}
	return a.Acknowledged >= a.Edition
}

const (
	defaultDays = 30
	aDay        = 24 * time.Hour
)

// until is until when an invite is good that is made now.
func until(by *connection.Opened, now time.Time) time.Time {
	return now.Add(time.Duration(by.Config.Whole("expiresInDays", defaultDays)) * aDay)
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

// refusal says in words why a rule of candidates or roles does not take something.
func refusal(err error) error {
	var (
		conflict *errdefs.Conflict
		faults   *candidate.FaultsError
	)
	switch {
	case errors.Is(err, mailer.ErrTooMany):
		return &RefusalError{TooMany, "As many mails as may be went to candidates in this hour.", err}
	case errors.Is(err, mailer.ErrNoAddress):
		return &RefusalError{Wrong, "The candidate's e-mail address is none.", err}
	case errors.As(err, &faults) && faults.Duplicate():
		return &RefusalError{Duplicate, "The candidate was invited to this role already.", err}
	case errors.As(err, &faults):
		return &RefusalError{Wrong, fmt.Sprintf("The candidate's %s %s.", faults.Faults[0].Field, faults.Faults[0].Message), err}
	case errors.As(err, &conflict) && conflict.Noun == role.Noun:
		return &RefusalError{Closed, conflict.Message, err}
	case errors.As(err, &conflict):
		return &RefusalError{Begun, conflict.Message, err}
	}
	return err
}

// Find is what became of somebody whom a connection sent, by what the system was given for it. The
// error can be a RefusalError.
func (d *Desk) Find(ctx context.Context, by connection.Opened, which string) (candidate.Application, error) {
	v, err := instance(which)
	if err != nil {
		return candidate.Application{}, err
	}
	a, err := candidate.SentBy(ctx, d.Tenants, by.Org, candidate.SystemOf(by.Connection), v)
	if errdefs.IsNotFound(err, candidate.ApplicationNoun) {
		err = refuse(Unknown, "Nobody was sent by that id.")
	}
	return a, err
}

// GreenhouseStatus is where somebody stands whom a connection sent, as test_status answers it. Before it is
// complete it says until when a law's notice period holds the interview back. The error can be a RefusalError.
func (d *Desk) GreenhouseStatus(ctx context.Context, by connection.Opened, which string, now time.Time) (greenhouse.Status, error) {
	a, err := d.Find(ctx, by, which)
	if err != nil {
		return greenhouse.Status{}, err
	}
	s := greenhouseStatus(by, a)
	if a.Standing.Final() {
		return s, nil
	}
	c, err := candidate.Get(ctx, d.Tenants, by.Org, a.Candidate)
	if errdefs.IsAbsent(err, candidate.Noun) {
		return s, refuse(Unknown, "Nobody was sent by that id.")
	}
	if err == nil && c.StartsFrom != nil && now.Before(*c.StartsFrom) {
		s.Metadata["Interview not before"] = moment(*c.StartsFrom)
	}
	return s, err
}

// instance reads what a system was given for somebody whom it sent.
func instance(text string) (id.Invite, error) {
	u, err := id.UUIDOf(text)
	if err != nil {
		return id.Invite{}, refuse(Unknown, "Nobody was sent by that id.")
	}
	return id.Invite(u), nil
}

// Cancel takes an invite back that a connection sent. One that was cancelled is answered as it is. The
// error can be a RefusalError: an interview that has begun is not cancelled from outside.
func (d *Desk) Cancel(ctx context.Context, by connection.Opened, which string, who activity.Actor) (candidate.Application, error) {
	a, err := d.Find(ctx, by, which)
	if err != nil {
		return a, err
	}
	err = d.Tenants.InTx(ctx, by.Org, func(ctx context.Context, tx *tenant.Tx) error {
		if _, err := candidate.Lock(ctx, tx, a.Candidate); err != nil {
			return err
		}
		now, err := candidate.FindApplication(ctx, tx, a.ID)
		if err != nil {
			return err
		}
		switch now.Standing {
		case candidate.StandsCancelled:
			a = now
			return nil
		case candidate.StandsComplete:
			return refuse(Begun, "The interview is over.")
		case candidate.StandsInvited, candidate.StandsOpened, candidate.StandsStarted, candidate.StandsInReview, candidate.StandsExpired:
		}
		if _, err := candidate.Cancel(ctx, tx, a.ID, who); err != nil {
			return err
		}
		if a, err = candidate.FindApplication(ctx, tx, a.ID); err != nil {
			return err
		}
		return a.Acknowledge(ctx, tx)
	}, tenant.Idempotent(true))
	if errdefs.IsAbsent(err, candidate.Noun) || errdefs.IsNotFound(err, candidate.ApplicationNoun) {
		err = refuse(Unknown, "Nobody was sent by that id.")
	}
	return a, refusal(err)
}

// UUID is an id in the form that Ashby takes.
func UUID[K id.Kind](of id.ID[K]) string { return uuid.UUID(of).String() }
