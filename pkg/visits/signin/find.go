package signin

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/hiring/candidate"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/sessions/caselink"
	"visavis.dev/pkg/sessions/escalation"
	"visavis.dev/pkg/store/directory"
	"visavis.dev/pkg/store/tenant"
)

// Find finds who is in on a portal by the secret that a browser holds. Whoever would
// not be let in any more is not in any more: the error is a Refusal then, and of the
// guest nothing is answered but Details.AllowedOrigins, which say who may show the
// refusal in a frame.
//
// Every page that somebody looks at asks, so it reads and takes no locks: the visit in
// one trip, and in another whether it still holds. When people were seen is noted once
// in a while (person.Seen).
func (g *Gate) Find(ctx context.Context, p id.Portal, s Secret) (Guest, error) {
	in, err := g.find(ctx, p, s)
	if err != nil {
		in = Guest{Org: in.Org, Visit: Visit{Details: Details{AllowedOrigins: in.Details.AllowedOrigins}}}
	}
	if errors.Is(err, directory.ErrUnknown) {
		err = refuse(VisitEnded)
	}
	return in, asRefusal(err)
}

func (g *Gate) find(ctx context.Context, p id.Portal, s Secret) (in Guest, err error) {
	org, ok := s.Org()
	if !ok {
		return in, refuse(VisitEnded)
	}
	in.Org = org
	v, known, err := g.visit(ctx, org, s)
	if err != nil {
		return in, err
	}
	if !known || v.Portal != p {
		return in, refuse(VisitEnded)
	}
	in.Visit, in.Name = v, v.Details.Name
	now := g.Clock.Now().UTC().Truncate(time.Microsecond)
	if !now.Before(v.ExpiresAt) {
		return in, refuse(VisitEnded)
	}
	return in, g.stillIn(ctx, &in, now)
}

// visit finds the visit of a secret, also one that is over; false for none. It rides
// portal_visit_pkey.
func (g *Gate) visit(ctx context.Context, org id.Org, s Secret) (Visit, bool, error) {
	var found []Visit
	err := g.Tenants.Read(ctx, org, func(r *tenant.Reads) {
		r.Query(func(rows pgx.Rows) (err error) {
			found, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Visit])
			return err
		}, `SELECT `+visitColumns+` FROM portal_visit WHERE org_id = $1 AND hash = $2`, org, []byte(s.hash()))
	})
	if err != nil || len(found) == 0 {
		return Visit{}, false, err
	}
	v := found[0]
	v.CreatedAt, v.ExpiresAt = v.CreatedAt.UTC(), v.ExpiresAt.UTC()
	return v, true, nil
}

// stillIn refuses a guest who would not be let in any more, and says what is known of
// them now.
func (g *Gate) stillIn(ctx context.Context, in *Guest, now time.Time) error {
	var (
		shown, open bool
		one         int
		seating     person.Seating
		sits        = !in.Membership.IsZero()
	)
	err := g.Tenants.Read(ctx, in.Org, func(r *tenant.Reads) {
		seating = person.Seating{}
		r.QueryRow(&shown, []any{&one}, `
			SELECT 1 FROM portal WHERE org_id = $1 AND id = $2 AND state = 'published' AND published_version IS NOT NULL`, in.Org, in.Portal)
		r.QueryRow(&open, []any{&one}, `
			SELECT 1 FROM portal_door WHERE org_id = $1 AND portal_id = $2 AND key = $3 AND open`, in.Org, in.Portal, in.doorKey())
		if sits {
			seating.Queue(r, in.Org, in.Portal, in.Person, in.Membership, now)
		}
	})
	switch {
	case err != nil:
		return err
	case !shown:
		return refuse(NotPublished)
	case !open:
		return refuse(DoorClosed)
	case sits:
		return g.stillSits(ctx, in, &seating, now)
	case !in.Escalation.IsZero():
		chat, err := escalation.Get(ctx, g.Tenants, in.Org, in.Escalation)
		if err != nil {
			return err
		}
		return in.goOn(chat, now)
	case !in.Candidate.IsZero():
		c, err := candidate.Get(ctx, g.Tenants, in.Org, in.Candidate)
		if err != nil {
			return err
		}
		v, err := candidate.GetInvite(ctx, g.Tenants, in.Org, c.Invite)
		if err != nil {
			return err
		}
		return in.apply(c, v, now)
	case !in.CaseLink.IsZero():
		l, err := caselink.Get(ctx, g.Tenants, in.Org, in.CaseLink)
		if err != nil {
			return err
		}
		return in.see(l, now)
	}
	return nil
}

func (g *Gate) stillSits(ctx context.Context, in *Guest, s *person.Seating, now time.Time) error {
	sits, err := s.Seat()
	if err != nil {
		return err
	}
	in.sit(sits)
	return person.Seen(ctx, g.Tenants, in.Org, sits.Person, now)
}
