package portal

import (
	"context"
	"errors"
	"fmt"

	"visavis.dev/api/route"
	"visavis.dev/pkg/hiring/candidate"
	"visavis.dev/pkg/portals/mailer"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/portals/portal/published"
	"visavis.dev/pkg/sessions/caselink"
	"visavis.dev/pkg/sessions/escalation"
	"visavis.dev/pkg/visits/signin"
	"visavis.dev/web/page"
)

// doors are the gate as pages ask it.
type doors struct{ gate *signin.Gate }

// Visit implements page.Doors.
func (d doors) Visit(ctx context.Context, site *published.Site, secret string) (page.Visit, error) {
	in, err := d.gate.Find(ctx, site.Portal, signin.Secret(secret))
	if err != nil {
		return page.Visit{AllowedOrigins: in.Details.AllowedOrigins}, atDoor(err)
	}
	return visitOf(in), nil
}

// Enter implements page.Doors.
func (d doors) Enter(ctx context.Context, site *published.Site, e page.Entry) (page.Entered, error) {
	in, err := d.enter(ctx, site, e)
	if err != nil {
		// Whoever knocks at a portal that is just being closed has no visit to lose.
		if r, ok := errors.AsType[*signin.Refusal](err); ok {
			err = r.Problem()
		}
		return page.Entered{Visit: page.Visit{AllowedOrigins: in.Details.AllowedOrigins}}, err
	}
	return page.Entered{Visit: visitOf(in.Guest), Secret: string(in.Secret)}, nil
}

func (d doors) enter(ctx context.Context, site *published.Site, e page.Entry) (signin.Entered, error) {
	card := signin.Card{Name: e.Name, Email: e.Email, Consent: e.Consent, OldEnough: e.OldEnough, Language: e.Language}
	switch e.Door {
	case page.DoorVisitors:
		return d.gate.AsVisitor(ctx, site.Org, site.Portal, card)
	case page.DoorJoinCode:
		return d.gate.ByJoinCode(ctx, site.Org, site.Portal, e.Code, card, route.Household(e.Address))
	case page.DoorMembersLink:
		return d.gate.ByMembersLink(ctx, site.Org, site.Portal, mailer.Token(e.Token))
	case page.DoorSSO:
		return d.gate.BySSO(ctx, site.Org, site.Portal, e.Token, e.Answer)
	case page.DoorEmbed:
		return d.gate.ByEmbedToken(ctx, site.Org, site.Portal, e.Token)
	case page.DoorCustomers:
		return d.gate.ByCustomerToken(ctx, site.Org, site.Portal, e.Token)
	case page.DoorCase:
		return d.gate.ByCaseLink(ctx, site.Org, site.Portal, caselink.Token(e.Token))
	case page.DoorCandidates:
		return d.gate.ByInvite(ctx, site.Org, site.Portal, candidate.Token(e.Token))
	case page.DoorEscalation:
		return d.gate.ByEscalation(ctx, site.Org, site.Portal, escalation.Token(e.Token))
	}
	return signin.Entered{}, fmt.Errorf("the door %q is unknown", e.Door)
}

// AskProvider implements page.Doors.
func (d doors) AskProvider(ctx context.Context, site *published.Site, redirect string) (page.Question, error) {
	q, err := d.gate.AskProvider(ctx, site.Org, site.Portal, redirect)
	if r, ok := errors.AsType[*signin.Refusal](err); ok {
		err = r.Problem()
	}
	return page.Question{URL: q.URL, Cookie: q.Cookie, ExpiresAt: q.ExpiresAt}, err
}

// Ask implements page.Doors.
func (d doors) Ask(ctx context.Context, site *published.Site, e page.Entry) error {
	err := d.gate.AskForLink(ctx, site.Org, site.Portal, signin.Card{Email: e.Email, Consent: e.Consent, Language: e.Language}, route.Household(e.Address))
	if r, ok := errors.AsType[*signin.Refusal](err); ok {
		return r.Problem()
	}
	return err
}

// Leave implements page.Doors.
func (d doors) Leave(ctx context.Context, _ *published.Site, secret string) error {
	return d.gate.Leave(ctx, signin.Secret(secret))
}

// atDoor says what a refusal of somebody who was in is to a page.
func atDoor(err error) error {
	r, ok := errors.AsType[*signin.Refusal](err)
	switch {
	case !ok:
		return err
	case r.Code == signin.VisitEnded, r.Code == signin.NotPublished:
		return page.ErrNoVisit
	}
	return r.Problem()
}

// visitOf is a guest as pages show them.
func visitOf(in signin.Guest) page.Visit {
	v := page.Visit{
		Door: in.Door, Name: in.Name, Member: isMember(in), Supervises: isMember(in) && supervises(in.Role), AllowedOrigins: in.Details.AllowedOrigins, ReturnURL: in.Details.ReturnURL, ExpiresAt: in.ExpiresAt,
	}
	if in.Details.Subject != nil {
		v.Subject = *in.Details.Subject
	}
	return v
}

// supervises says whether people in a role have a class (package class).
func supervises(r person.Role) bool {
	return r == person.Teacher || r == person.Manager || r == person.Reviewer
}
