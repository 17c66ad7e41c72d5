package signin

import (
	"context"
	"errors"
	"slices"
	"time"

	"k8s.io/utils/clock"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/base/vault"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/portals/door"
	"visavis.dev/pkg/portals/mailer"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/provider/lti"
	"visavis.dev/pkg/store/directory"
	"visavis.dev/pkg/store/limits"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/visits/identity"
)

// The ways in that are no doors of their own: they go by the customers'.
const (
	ByEscalation = "escalation"
	ByCase       = "case"
)

// Gate lets people in.
type Gate struct {
	Tenants *tenant.Tenants
	Vault   *vault.Vault
	Clock   clock.PassiveClock
	// Limiter bounds how often codes can be tried.
	Limiter *limits.Limiter
	// Post takes letters; nil where the deployment sends no mail.
	Mails *mailer.Outbox
	// Asker asks the identity providers that Connections opens.
	Asker       *identity.Asker
	Connections *connection.Opener
	// Platforms are the keys of the learning platforms that Connections opens.
	Platforms *lti.Keys
	// Terms are what an organization may have: those who join by a code count.
	Terms func(ctx context.Context, org id.Org) (plan.Terms, error)
}

// Entered is a visit that begins. Secret is for the browser's cookie.
type Entered struct {
	Guest
	Secret Secret
}

// entrance is where somebody stands who comes to a portal: before a door, once one
// was opened.
type entrance struct {
	now     time.Time
	portal  portal.Portal
	version portal.Version
	door    door.Door
}

// enter lets somebody in: through opens a door and makes the visit, or refuses.
func (g *Gate) enter(ctx context.Context, org id.Org, p id.Portal, through func(context.Context, *tenant.Tx, *entrance) (Visit, error)) (Entered, error) {
	var in Entered
	err := g.Tenants.InTx(ctx, org, func(ctx context.Context, tx *tenant.Tx) error {
		e, err := g.before(ctx, tx, p)
		if err != nil {
			return err
		}
		v, err := through(ctx, tx, e)
		if err != nil {
			return err
		}
		v.Portal, v.CreatedAt, v.ExpiresAt = p, e.now, e.now.Add(VisitFor)
		if v.Door == "" {
			v.Door = string(e.door.Key)
		}
		in = Entered{Guest: Guest{Org: org, Visit: v}, Secret: newSecret(org)}
		if err := v.keep(ctx, tx, in.Secret); err != nil {
			return err
		}
		return in.look(ctx, tx, e)
	})
	return in, asRefusal(unpublished(err))
}

// unpublished says that an organization that is not there has no portals.
func unpublished(err error) error {
	if errors.Is(err, directory.ErrUnknown) {
		return refuse(NotPublished)
	}
	return err
}

// before is where somebody stands who comes to a portal. The error is a Refusal where
// it is not published.
func (g *Gate) before(ctx context.Context, tx *tenant.Tx, p id.Portal) (*entrance, error) {
	e := &entrance{now: g.Clock.Now().UTC().Truncate(time.Microsecond)}
	var err error
	e.portal, err = portal.Find(ctx, tx, p)
	switch {
	case errdefs.IsNotFound(err, portal.Noun):
		return nil, refuse(NotPublished)
	case err != nil:
		return nil, err
	case e.portal.State != portal.Published || e.portal.PublishedVersion == nil:
		return nil, refuse(NotPublished)
	}
	e.version, err = portal.FindVersion(ctx, tx, p, *e.portal.PublishedVersion)
	return e, err
}

// open goes to a door. The error is a Refusal where it is closed.
func (e *entrance) open(ctx context.Context, tx *tenant.Tx, key door.Key) (err error) {
	if e.door, err = door.Find(ctx, tx, e.portal.ID, key); err == nil && !e.door.Open {
		err = refuse(DoorClosed)
	}
	return err
}

// seat lets somebody in who has a place: the person and the place learn of it, and
// so does who asked to hear of learners.
func (e *entrance) seat(ctx context.Context, tx *tenant.Tx, who id.Person, which id.Membership) (Visit, error) {
	if _, err := person.LockMembership(ctx, tx, which); err != nil {
		return Visit{}, err
	}
	sits, err := person.Seat(ctx, tx, e.portal.ID, who, which, e.now)
	if err != nil {
		return Visit{}, err
	}
	m := sits.Membership
	if err := person.SignedIn(ctx, tx, who, m.ID, string(e.door.Key), e.now); err != nil {
		return Visit{}, err
	}
	if m.Role == person.Learner {
		event.Emit(tx, e.signedIn(m))
	}
	return Visit{Person: who, Membership: m.ID}, nil
}

// signedIn is learner.signed_in.
func (e *entrance) signedIn(m person.Membership) event.Draft {
	fields := map[string]any{
		"personId": m.Person, "membershipId": m.ID, "portalId": m.Portal, "door": e.door.Key, "firstTime": m.LastSignInAt == nil, "signedInAt": e.now,
	}
	if !m.Unit.IsZero() {
		fields["unitId"] = m.Unit
	}
	return event.Draft{Type: event.LearnerSignedIn, At: e.now, Fields: fields}
}

// requires says whether the door asks for something.
func (e *entrance) requires(what string) bool { return slices.Contains(e.door.Requires, what) }
