package signin

import (
	"context"
	"errors"
	"time"

	"visavis.dev/pkg/admission"
	"visavis.dev/pkg/door"
	"visavis.dev/pkg/event"
	"visavis.dev/pkg/id"
	"visavis.dev/pkg/tenant"
)

// ErrNobodyAdded says that tokens are for people who are known.
var ErrNobodyAdded = errors.New("people cannot be added here")

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
	// Drafts are what is to be told, last in the transaction.
	Drafts []event.Draft
}

// IssueEmbed makes the token by which somebody is signed in. The error is
// ErrNobodyAdded, what Add answers, or a Refusal: of the portal, the door, or their
// place.
func (g *Gate) IssueEmbed(ctx context.Context, tx *tenant.Tx, w Embed) (made EmbedToken, err error) {
	e, err := g.before(ctx, tx, w.Portal)
	if err != nil {
		return made, err
	}
	made.Person = w.Person
	if made.Person.IsZero() {
		if g.Add == nil {
			return made, ErrNobodyAdded
		}
		w.Newcomer.At = e.now
		if made.Person, made.Membership, made.Drafts, err = g.Add(ctx, tx, w.Newcomer); err != nil {
			return made, err
		}
	}
	_, m, err := admission.Seat(ctx, tx, e.version.Definition, w.Portal, made.Person, made.Membership, e.now)
	if err != nil {
		return made, asRefusal(err)
	}
	made.Membership = m.ID
	if err := e.open(ctx, tx, doorOf(m.Role)); err != nil {
		return made, err
	}
	said := claims{Membership: &m.ID, Details: w.Details}
	said.Subject = made.Person.String()
	made.Issued, err = issue(ctx, tx, g.Vault, w.Portal, forEmbed, said, w.GoodFor, e.now)
	return made, err
}

// IssueCustomer makes a token that says who a customer is. The error can be a Refusal.
func (g *Gate) IssueCustomer(ctx context.Context, tx *tenant.Tx, p id.Portal, who Details, goodFor time.Duration) (Issued, error) {
	e, err := g.before(ctx, tx, p)
	if err != nil {
		return Issued{}, err
	}
	if err := e.open(ctx, tx, door.Customers); err != nil {
		return Issued{}, err
	}
	said := claims{Details: who}
	said.Subject = who.Ref
	return issue(ctx, tx, g.Vault, p, forCustomer, said, goodFor, e.now)
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
