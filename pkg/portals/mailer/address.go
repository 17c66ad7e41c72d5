package mailer

import (
	"cmp"
	"context"
	"errors"
	"time"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/portals/door"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/sessions/caselink"
	"visavis.dev/pkg/store/tenant"
)

// addressed is a mail with who gets it and what it says.
type addressed struct {
	kind kind
	to   string
	// name is of the reader; empty where nobody knows.
	name, language string
	portal         portal.Portal
	version        portal.Version
	// title is of a case or an assignment, and due when that is due; empty for never.
	title, due string
	// paragraphs are what somebody else has the mail say.
	paragraphs []string
	// stamp is what they want to know again once it is sent.
	stamp []byte
	// opens is what the link opens with: a door and a token.
	opens, token string
	expires      time.Time
}

// resolve finds who a mail is for, and makes the link in it. The error is errNobody
// where the portal, the door, the place or the person is gone.
func resolve(ctx context.Context, tx *tenant.Tx, l input, secret string, from Candidates, now time.Time) (addressed, error) {
	a := addressed{kind: l.Kind, language: l.Language}
	// What was asked for while a way was open goes out only while it is open.
	if err := a.enter(ctx, tx, l); err != nil {
		return a, err
	}
	switch l.Kind {
	case signIn:
		return a, a.member(ctx, tx, secret, now)
	case invitation:
		return a, a.invited(ctx, tx, l.Membership, now)
	case ofCase:
		return a, a.customer(ctx, tx, l.Case, secret, now)
	case assigned:
		return a, a.reminded(ctx, tx, l, now)
	case screening, decided, pageLink, answered, reminded:
		return a, a.candidate(ctx, tx, l, secret, from, now)
	}
	return a, errNobody
}

// enter finds the portal as visitors see it, with the door that the mail goes by.
func (a *addressed) enter(ctx context.Context, tx *tenant.Tx, l input) (err error) {
	a.portal, err = portal.Find(ctx, tx, l.Portal)
	switch {
	case errdefs.IsNotFound(err, portal.Noun):
		return errNobody
	case err != nil:
		return err
	case a.portal.State != portal.Published || a.portal.PublishedVersion == nil:
		return errNobody
	}
	if a.version, err = portal.FindVersion(ctx, tx, l.Portal, *a.portal.PublishedVersion); err != nil {
		return err
	}
	switch l.Kind {
	case assigned, decided, pageLink, answered:
		return nil // it opens a page alone, whatever lets people in there
	case signIn, invitation, ofCase, screening, reminded, booking, reply, team:
	}
	way := door.MembersLink
	switch l.Kind {
	case ofCase:
		way = door.Customers
	case screening, reminded:
		way = door.Candidates
	case signIn, invitation, assigned, decided, pageLink, answered, booking, reply, team:
	}
	d, err := door.Find(ctx, tx, l.Portal, way)
	if err == nil && !d.Open {
		err = errNobody
	}
	return err
}

// member writes to whoever has an address and a place that can be used now.
func (a *addressed) member(ctx context.Context, tx *tenant.Tx, key string, now time.Time) error {
	p, err := person.ByAddress(ctx, tx, key)
	if err != nil {
		return orNobody(err)
	}
	s, err := person.Seat(ctx, tx, a.portal.ID, p.ID, id.Membership{}, now)
	if err != nil {
		return orNobody(err)
	}
	if err := take(ctx, tx, everybody, perOrganization, now); err != nil {
		return orNobody(err)
	}
	return a.opensFor(ctx, tx, p, s.Membership, signInFor, now)
}

// invited writes to whoever was given a place, which may begin later.
func (a *addressed) invited(ctx context.Context, tx *tenant.Tx, which id.Membership, now time.Time) error {
	m, err := person.FindMembership(ctx, tx, which)
	if err != nil {
		return orNobody(err)
	}
	p, err := person.Find(ctx, tx, m.Person)
	switch {
	case err != nil:
		return orNobody(err)
	case p.State == person.Disabled || !m.Enabled:
		return errNobody
	}
	return a.opensFor(ctx, tx, p, m, invitationFor, now)
}

// opensFor makes the link by which somebody comes in.
func (a *addressed) opensFor(ctx context.Context, tx *tenant.Tx, p person.Person, m person.Membership, goodFor time.Duration, now time.Time) error {
	if p.Email == nil {
		return errNobody
	}
	token, err := link(ctx, tx, m, *p.Email, goodFor, now)
	if err != nil {
		return orNobody(err)
	}
	a.to, a.name, a.opens, a.token, a.expires = *p.Email, p.Name, "member", string(token), now.Add(goodFor)
	if a.language == "" && p.Language != nil {
		a.language = *p.Language
	}
	return nil
}

// customer writes to whom a case is about.
func (a *addressed) customer(ctx context.Context, tx *tenant.Tx, which id.CaseLink, token string, now time.Time) error {
	l, err := caselink.Find(ctx, tx, which)
	switch {
	case err != nil:
		return orNobody(err)
	case l.Good(now) != nil || l.SentAt != nil || l.Contact == nil || l.Contact.Email == nil:
		return errNobody
	}
	a.to, a.language, a.title, a.opens, a.token, a.expires = *l.Contact.Email, l.Language, l.Title, "case", token, l.ExpiresAt
	if l.Contact.Name != nil {
		a.name = *l.Contact.Name
	}
	return nil
}

// orNobody says that who is not there, or may not come in, is nobody to write to.
func orNobody(err error) error {
	var stands *person.StandingError
	switch {
	case errors.As(err, &stands):
		return errNobody
	case errdefs.IsAbsent(err, person.Noun), errdefs.IsNotFound(err, person.MembershipNoun),
		errdefs.IsGone(err, person.MembershipNoun), errdefs.IsNotFound(err, caselink.Noun), errors.Is(err, ErrTooMany), errors.Is(err, ErrNoAddress):
		return errNobody
	}
	return err
}

// page is where the portal's page is.
func (a *addressed) page(portalURL string) string {
	if a.portal.Host != "" {
		return "https://" + a.portal.Host
	}
	return portalURL + "/p/" + a.portal.Slug
}

// called is the portal's name in a language.
func (a *addressed) called(language string) string {
	return cmp.Or(a.version.Definition.Pages.Title.In(language, a.version.Definition.DefaultLanguage), a.version.Name)
}
