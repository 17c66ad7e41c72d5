package signin

import (
	"context"
	"time"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/store/tenant"
)

// Newcomer is somebody who is to have a place on a portal.
type Newcomer struct {
	Portal     id.Portal
	Unit       id.Unit
	Role       person.Role
	ExternalID *string
	Name       string
	Email      *string
	// Language is empty where it is not known.
	Language string
	// Claimed says that nobody vouches for the address.
	Claimed bool
	// Terms bound how many people there are.
	Terms plan.Terms
	// By is who gives the place: a key's id, or the door.
	By string
	At time.Time
}

// join finds or adds the newcomer and gives them the place, unless they have it. The
// person is locked until the commit.
// The errors are those of person.Hold, person.FindOrAdd and person.Join.
func (n Newcomer) join(ctx context.Context, tx *tenant.Tx) (person.Membership, error) {
	if err := person.Hold(ctx, tx, n.Portal); err != nil {
		return person.Membership{}, err
	}
	wanted := person.Wanted{Name: n.Name, Email: n.Email, ExternalID: n.ExternalID, Claimed: n.Claimed, Terms: n.Terms, At: n.At}
	if n.Language != "" {
		wanted.Language = &n.Language
	}
	p, _, err := person.FindOrAdd(ctx, tx, wanted)
	if err != nil {
		return person.Membership{}, err
	}
	who := person.Author{By: n.By, At: n.At}.Unlogged()
	m, _, err := person.Join(ctx, tx, p, person.Place{Portal: n.Portal, Unit: n.Unit, Role: n.Role, Find: true}, who)
	return m, err
}
