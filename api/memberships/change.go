package memberships

import (
	"context"
	"time"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/store/tenant"
)

// UpdateInput is the request for a change of a place.
type UpdateInput struct {
	Path
	route.Edition
	Body MembershipChange
}

// MembershipChange is what to change of a place.
type MembershipChange struct {
	Role       route.Opt[person.Role]       `json:"role,omitzero" enum:"learner,manager,reviewer,teacher,staff,admin" doc:"What the person is there."`
	UnitID     route.OptNull[string]        `json:"unitId,omitzero" maxLength:"80" doc:"A unit of the same portal; null for none."`
	StartsAt   route.OptNull[time.Time]     `json:"startsAt,omitzero" doc:"From when it counts; null for at once."`
	EndsAt     route.OptNull[time.Time]     `json:"endsAt,omitzero" doc:"From when it no longer counts; null for never."`
	Enabled    route.Opt[bool]              `json:"enabled,omitzero" doc:"Whether the person can come in; false shuts them out and keeps the place."`
	ExternalID route.OptNull[string]        `json:"externalId,omitzero" maxLength:"200" doc:"The place's id in your own system; null for none."`
	Metadata   route.Opt[map[string]string] `json:"metadata,omitzero" doc:"In place of what there was: 20 keys of 40 characters at most, with values of 500."`
}

// apply is a place with what was sent of it.
func (b MembershipChange) apply(m person.Membership) (person.Membership, error) {
	if b.Role.Set {
		m.Role = b.Role.Value
	}
	if b.UnitID.Set {
		m.Unit = id.Unit{}
		if b.UnitID.Value != nil {
			u, err := id.ParseUnit(*b.UnitID.Value)
			if err != nil {
				return m, problem.Missing("unit of the portal").WithParam("body.unitId")
			}
			m.Unit = u
		}
	}
	if b.StartsAt.Set {
		m.StartsAt = b.StartsAt.Value
	}
	if b.EndsAt.Set {
		m.EndsAt = b.EndsAt.Value
	}
	if b.Enabled.Set {
		m.Enabled = b.Enabled.Value
	}
	if b.ExternalID.Set {
		m.ExternalID = b.ExternalID.Value
	}
	if b.Metadata.Set {
		m.Metadata = b.Metadata.Value
	}
	if err := checkTimes("body.", b.StartsAt.Value, b.EndsAt.Value); err != nil {
		return m, err
	}
	return m, route.CheckMetadata(b.Metadata.Value)
}

func (a *API) update(ctx context.Context, c *route.Call, in *UpdateInput) (Membership, error) {
	wanted, err := in.membership()
	if err != nil {
		return Membership{}, err
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (Membership, error) {
		before, err := person.LockMembership(ctx, tx, wanted)
		if err != nil {
			return Membership{}, AsProblem(err, "body.")
		}
		if err := in.Check(before.Edition, nil); err != nil {
			return Membership{}, err
		}
		after, err := in.Body.apply(before)
		if err != nil {
			return Membership{}, err
		}
		if _, _, err := person.UpdateMembership(ctx, tx, before, after, c.Actor()); err != nil {
			return Membership{}, AsProblem(err, "body.")
		}
		return Read(ctx, c, tx, wanted)
	})
}

func (a *API) delete(ctx context.Context, c *route.Call, p *Path) (route.Deleted, error) {
	wanted, err := p.membership()
	if err != nil {
		return route.Deleted{}, err
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (route.Deleted, error) {
		m, err := person.LockMembership(ctx, tx, wanted)
		if err != nil {
			return route.Deleted{}, AsProblem(err, "body.")
		}
		if err := person.Leave(ctx, tx, m, c.Actor()); err != nil {
			return route.Deleted{}, err
		}
		return route.Deleted{Deleted: true, ID: wanted.String()}, nil
	})
}
