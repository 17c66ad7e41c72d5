package signin

import (
	"context"
	"errors"
	"net/mail"
	"strings"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/rate"
	"visavis.dev/pkg/hiring/candidate"
	"visavis.dev/pkg/portals/door"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/sessions/caselink"
	"visavis.dev/pkg/sessions/escalation"
	"visavis.dev/pkg/store/limits"
	"visavis.dev/pkg/store/tenant"
)

// Card is what somebody says of themselves at a door.
type Card struct {
	// Name and Email are empty where they are not given.
	Name, Email string
	// Consent says that the privacy notice was agreed to, OldEnough that they are as
	// old as the portal asks.
	Consent, OldEnough bool
	Language           string
}

// check refuses a card that lacks what the door asks for. A portal that asks for an
// age is told it by everybody who has no place there.
func (c *Card) check(e *entrance) error {
	c.Name, c.Email = strings.TrimSpace(c.Name), strings.TrimSpace(c.Email)
	d := e.version.Definition
	switch {
	case e.requires("name") && c.Name == "":
		return refuse(NameRequired)
	case e.requires("email") && c.Email == "", c.Email != "" && !isAddress(c.Email):
		return refuse(EmailRequired)
	case e.requires("consent") && !c.Consent:
		return refuse(ConsentRequired)
	case (e.requires("age_check") || d.MinAge != nil || d.GuardianConsentUnder != nil) && !c.OldEnough:
		return refuse(AgeRequired)
	}
	return nil
}

// isAddress says whether a text is an e-mail address and nothing more.
func isAddress(text string) bool {
	a, err := mail.ParseAddress(text)
	return err == nil && a.Address == text
}

// AsVisitor lets in whoever comes. The error can be a Refusal, as with every way in.
func (g *Gate) AsVisitor(ctx context.Context, org id.Org, p id.Portal, c Card) (Entered, error) {
	return g.enter(ctx, org, p, func(ctx context.Context, tx *tenant.Tx, e *entrance) (Visit, error) {
		if err := e.open(ctx, tx, door.Visitors); err != nil {
			return Visit{}, err
		}
		if err := c.check(e); err != nil {
			return Visit{}, err
		}
		return Visit{Details: Details{Name: c.Name, Email: c.Email}}, nil
	})
}

// How many wrong codes can be tried in a minute: from an address, which may be a whole
// school's, and on a portal. The second is far above the first, so that nobody shuts
// a class out, and far below what finds one of 31^8 codes.
const (
	triesOfAddress = 30
	triesOnPortal  = 5000
	// tries is the class that they are counted in.
	tries rate.Class = "join_code"
)

// ByJoinCode lets in who knows the code. Whoever comes is added, with a learner's place,
// and is answered the same whether somebody has their address or not: what a whole class
// knows makes nobody anybody else. Who was there before comes in as themselves by a link
// that is mailed to their address. household is where they come from,
// as the limits count it: an IPv6 address by its /64.
func (g *Gate) ByJoinCode(ctx context.Context, org id.Org, p id.Portal, code string, c Card, household string) (Entered, error) {
	counted, err := g.try(ctx, tries, org, p, household)
	if err != nil {
		return Entered{}, err
	}
	terms, err := g.Terms(ctx, org)
	if err != nil {
		counted.putBack(g.Limiter)
		return Entered{}, unpublished(err)
	}
	in, err := g.enter(ctx, org, p, func(ctx context.Context, tx *tenant.Tx, e *entrance) (Visit, error) {
		if err := e.open(ctx, tx, door.JoinCode); err != nil {
			return Visit{}, err
		}
		switch {
		case e.door.Code == nil || !door.SameCode(*e.door.Code, code):
			return Visit{}, refuse(CodeUnknown)
		case c.Name == "" && c.Email == "":
			return Visit{}, refuse(NameRequired)
		}
		if err := c.check(e); err != nil {
			return Visit{}, err
		}
		n := Newcomer{Portal: p, Role: person.Learner, Name: c.Name, Language: c.Language, Claimed: true, Terms: terms, By: string(door.JoinCode), At: e.now}
		if n.Name == "" {
			n.Name = c.Email
		}
		if c.Email != "" {
			n.Email = &c.Email
		}
		m, err := n.join(ctx, tx)
		if err != nil {
			return Visit{}, err
		}
		return e.seat(ctx, tx, m.Person, m.ID)
	})
	if r, ok := errors.AsType[*Refusal](err); !ok || r.Code != CodeUnknown {
		counted.putBack(g.Limiter) // only what is wrong counts: a class comes from one address at once
	}
	return in, err
}

// counted are the tries that were counted.
type counted map[limits.Counter]limits.Reading

func (c counted) putBack(l *limits.Limiter) {
	for counter, reading := range c {
		l.PutBack(counter, reading)
	}
}

// try counts a try in a class. The error is a Refusal where there were too many.
func (g *Gate) try(ctx context.Context, of rate.Class, org id.Org, p id.Portal, household string) (counted, error) {
	done := counted{}
	for _, bound := range []struct {
		counter limits.Counter
		limit   int64
	}{
		{limits.Counter{Holder: string(of) + " " + household}, triesOfAddress},
		{limits.Counter{Org: org, Holder: p.String(), Class: of}, triesOnPortal},
	} {
		reading, err := g.Limiter.Take(ctx, bound.counter, bound.limit)
		switch {
		case err != nil:
			return nil, err
		case reading.Refused:
			done.putBack(g.Limiter)
			return nil, &Refusal{Code: TooManyTries, RetryAfter: reading.Reset}
		}
		done[bound.counter] = reading
	}
	return done, nil
}

// ByEmbedToken lets in whom the organization's own system signed in. A token opens
// once. With a Refusal of a token that the organization made for the portal,
// Details.AllowedOrigins says who may show the refusal in a frame; a token that does not
// hold says nothing.
func (g *Gate) ByEmbedToken(ctx context.Context, org id.Org, p id.Portal, token string) (Entered, error) {
	var said claims
	in, err := g.enter(ctx, org, p, func(ctx context.Context, tx *tenant.Tx, e *entrance) (_ Visit, err error) {
		said, err = read(ctx, tx, g.Vault, p, forEmbed, token, e.now)
		if err != nil {
			return Visit{}, err
		}
		m, err := said.place(ctx, tx)
		if err != nil {
			return Visit{}, err
		}
		if err := e.open(ctx, tx, doorOf(m.Role)); err != nil {
			return Visit{}, err
		}
		if err := spend(ctx, tx, said); err != nil {
			return Visit{}, err
		}
		v, err := e.seat(ctx, tx, m.Person, m.ID)
		v.Details = said.Details
		return v, err
	})
	if err != nil {
		in = Entered{Guest: Guest{Org: org, Visit: Visit{Details: Details{AllowedOrigins: said.Details.AllowedOrigins}}}}
	}
	return in, err
}

// doorOf is the door that a place's people are signed in by.
func doorOf(r person.Role) door.Key {
	if r == person.Learner {
		return door.Embed
	}
	return door.Staff
}

// ByCustomerToken lets in a customer that the organization vouches for. A token opens
// as often as it is shown, while it is good.
func (g *Gate) ByCustomerToken(ctx context.Context, org id.Org, p id.Portal, token string) (Entered, error) {
	return g.enter(ctx, org, p, func(ctx context.Context, tx *tenant.Tx, e *entrance) (Visit, error) {
		if err := e.open(ctx, tx, door.Customers); err != nil {
			return Visit{}, err
		}
		said, err := read(ctx, tx, g.Vault, p, forCustomer, token, e.now)
		return Visit{Details: said.Details}, err
	})
}

// ByEscalation lets in the customer whose chat is handed over. They may come again
// while the conversation is not over.
func (g *Gate) ByEscalation(ctx context.Context, org id.Org, p id.Portal, token escalation.Token) (Entered, error) {
	return g.enter(ctx, org, p, func(ctx context.Context, tx *tenant.Tx, e *entrance) (Visit, error) {
		if err := e.open(ctx, tx, door.Customers); err != nil {
			return Visit{}, err
		}
		chat, err := escalation.Opened(ctx, tx, p, token)
		return Visit{Door: ByEscalation, Escalation: chat.ID}, err // what look refuses is not kept
	})
}

// ByCaseLink lets in a customer by the link to their case.
func (g *Gate) ByCaseLink(ctx context.Context, org id.Org, p id.Portal, token caselink.Token) (Entered, error) {
	return g.enter(ctx, org, p, func(ctx context.Context, tx *tenant.Tx, e *entrance) (Visit, error) {
		if err := e.open(ctx, tx, door.Customers); err != nil {
			return Visit{}, err
		}
		l, err := caselink.Open(ctx, tx, p, token, e.now)
		return Visit{Door: ByCase, CaseLink: l.ID}, err
	})
}

// ByInvite lets in a candidate by their invitation.
func (g *Gate) ByInvite(ctx context.Context, org id.Org, p id.Portal, token candidate.Token) (Entered, error) {
	return g.enter(ctx, org, p, func(ctx context.Context, tx *tenant.Tx, e *entrance) (Visit, error) {
		if err := e.open(ctx, tx, door.Candidates); err != nil {
			return Visit{}, err
		}
		c, err := candidate.Open(ctx, tx, p, token, e.now)
		if err != nil {
			return Visit{}, err
		}
		mailed, err := candidate.Mailed(ctx, tx, token)
		return Visit{Candidate: c.ID, Details: Details{Mailed: mailed}}, err
	})
}
