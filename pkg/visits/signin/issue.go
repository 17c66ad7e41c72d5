package signin

import (
	"context"
	"time"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/portals/door"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
)

// Embed is somebody who is to be signed in: a person with a place, or a newcomer.
type Embed struct {
	Portal id.Portal
	// Person is zero for a newcomer.
	Person   id.Person
	Newcomer Newcomer
	Details  Details
	GoodFor  time.Duration
}

// EmbedToken is a token that was made for somebody.
type EmbedToken struct {
	Issued
	Person     id.Person
	Membership id.Membership
}

// IssueEmbed makes the token by which somebody is signed in. The error is a Refusal,
// of the portal, the door, or their place, or, for a newcomer, of person.FindOrAdd or
// person.Join.
func (g *Gate) IssueEmbed(ctx context.Context, tx *tenant.Tx, w Embed, who activity.Actor) (made EmbedToken, err error) {
	e, err := g.before(ctx, tx, w.Portal)
	if err != nil {
		return made, err
	}
	made.Person = w.Person
	if made.Person.IsZero() {
		w.Newcomer.Portal, w.Newcomer.At = w.Portal, e.now
		var joined person.Membership
		if joined, err = w.Newcomer.join(ctx, tx); err != nil {
			return made, err
		}
		made.Person, made.Membership = joined.Person, joined.ID
	}
	sits, err := person.Seat(ctx, tx, w.Portal, made.Person, made.Membership, e.now)
	if err != nil {
		return made, asRefusal(err)
	}
	m := sits.Membership
	made.Membership = m.ID
	if err := e.open(ctx, tx, doorOf(m.Role)); err != nil {
		return made, err
	}
	said := claims{Membership: &m.ID, Details: w.Details}
	said.Subject = made.Person.String()
	if made.Issued, err = issue(ctx, tx, g.Vault, w.Portal, forEmbed, said, w.GoodFor, e.now); err != nil {
		return made, err
	}
	who.Log(tx, "portal.embed_token_created", "portal", w.Portal, map[string]any{"personId": made.Person})
	return made, nil
}

// IssueCustomer makes a token that says who a customer is. The error can be a Refusal.
func (g *Gate) IssueCustomer(
	ctx context.Context, tx *tenant.Tx, p id.Portal, is Details, goodFor time.Duration, who activity.Actor,
) (Issued, error) {
	e, err := g.before(ctx, tx, p)
	if err != nil {
		return Issued{}, err
	}
	if err := e.open(ctx, tx, door.Customers); err != nil {
		return Issued{}, err
	}
	said := claims{Details: is}
	said.Subject = is.Ref
	made, err := issue(ctx, tx, g.Vault, p, forCustomer, said, goodFor, e.now)
	if err != nil {
		return made, err
	}
	who.Log(tx, "portal.customer_token_created", "portal", p, map[string]any{"customerRef": is.Ref})
	return made, nil
}

// Opens says whether a door of a portal that is published is open, for what goes by
// it. The error can be a Refusal.
func (g *Gate) Opens(ctx context.Context, tx *tenant.Tx, p id.Portal, key door.Key) error {
	e, err := g.before(ctx, tx, p)
	if err != nil {
		return err
	}
	return e.open(ctx, tx, key)
}
