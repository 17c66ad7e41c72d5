package signin

import (
	"context"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/rate"
	"visavis.dev/pkg/portals/door"
	"visavis.dev/pkg/portals/mailer"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/store/tenant"
)

// asks is the class that wishes for links are counted in, beside the limit that each
// address has.
const asks rate.Class = "members_link"

// AskForLink mails a link to the member who has an address. Of an address that
// nobody has, or whose member may not come in, the answer is the same, and takes as
// long: whose it is, is found out when the mail is sent. The error can be a Refusal.
func (g *Gate) AskForLink(ctx context.Context, org id.Org, p id.Portal, c Card, household string) error {
	if g.Mails == nil {
		return refuse(NoMail)
	}
	if _, err := g.try(ctx, asks, org, p, household); err != nil {
		return err
	}
	err := g.Tenants.InTx(ctx, org, func(ctx context.Context, tx *tenant.Tx) error {
		e, err := g.before(ctx, tx, p)
		if err != nil {
			return err
		}
		if err := e.open(ctx, tx, door.MembersLink); err != nil {
			return err
		}
		if e.requires("consent") && !c.Consent {
			return refuse(ConsentRequired)
		}
		return g.Mails.AskToSignIn(ctx, tx, p, c.Email, c.Language, e.now)
	})
	return asRefusal(unpublished(err))
}

// ByMembersLink lets in the member whom a mailed link is of. A link opens once, and
// shows that the mailbox is theirs.
func (g *Gate) ByMembersLink(ctx context.Context, org id.Org, p id.Portal, token mailer.Token) (Entered, error) {
	return g.enter(ctx, org, p, func(ctx context.Context, tx *tenant.Tx, e *entrance) (Visit, error) {
		if err := e.open(ctx, tx, door.MembersLink); err != nil {
			return Visit{}, err
		}
		l, err := mailer.Use(ctx, tx, p, token, e.now)
		if err != nil {
			return Visit{}, err
		}
		m, err := person.LockMembership(ctx, tx, l.Membership)
		if err != nil {
			return Visit{}, err
		}
		who, err := person.Find(ctx, tx, m.Person)
		if err != nil {
			return Visit{}, err
		}
		if err := l.Reached(who); err != nil {
			return Visit{}, err
		}
		if _, err := person.Vouch(ctx, tx, who, person.Author{By: string(door.MembersLink), At: e.now}); err != nil {
			return Visit{}, err
		}
		return e.seat(ctx, tx, who.ID, m.ID)
	})
}

// Invite mails somebody the link to a place that they were given. The error is a
// Refusal, of the portal, the door, or the mail.
func (g *Gate) Invite(ctx context.Context, tx *tenant.Tx, who person.Person, m person.Membership, by person.Author) error {
	if g.Mails == nil {
		return refuse(NoMail)
	}
	if err := g.Opens(ctx, tx, m.Portal, door.MembersLink); err != nil {
		return err
	}
	return asRefusal(g.Mails.Invite(ctx, tx, who, m, by))
}

// SendCase mails a customer the link to their case; of one that is open, as Opens
// says. The error is a Refusal.
func (g *Gate) SendCase(ctx context.Context, tx *tenant.Tx, p id.Portal, which id.CaseLink, address, token string, by person.Author) error {
	if g.Mails == nil {
		return refuse(NoMail)
	}
	return asRefusal(g.Mails.SendCase(ctx, tx, p, which, address, token, by))
}
