// Package ats has applicant tracking systems send candidates to roles, and tells them what came of it:
// how far somebody is, and what a person has released. No words of a candidate go there.
package ats

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/hiring/candidate"
	"visavis.dev/pkg/hiring/role"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/portals/mailer"
	"visavis.dev/pkg/provider/greenhouse"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/directory"
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
	a, err := candidate.SentBy(ctx, d.Tenants, by.Org, by.Connection, v)
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
			return a.Acknowledge(ctx, tx)
		case candidate.StandsComplete:
			return refuse(Begun, "The interview is over.")
		case candidate.StandsInvited, candidate.StandsOpened, candidate.StandsStarted, candidate.StandsInReview, candidate.StandsExpired,
			candidate.StandsReopened:
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
