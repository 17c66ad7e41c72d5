package units

import (
	"context"
	"fmt"
	"slices"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/portals/unit"
	"visavis.dev/pkg/store/tenant"
)

// Input is the request for a new unit.
type Input struct{ Body UnitInput }

// UnitInput is a unit to be made.
type UnitInput struct {
	PortalID   string            `json:"portalId" maxLength:"80" doc:"The portal that it is to belong to."`
	ParentID   *string           `json:"parentId,omitempty" maxLength:"80" nullable:"true" doc:"A unit of the same portal to lie in."`
	Kind       unit.Kind         `json:"kind" enum:"class,team,group,department,site" doc:"What kind of group it is."`
	Name       string            `json:"name" minLength:"1" maxLength:"200" doc:"What to call the unit, for people."`
	Code       *string           `json:"code,omitempty" maxLength:"60" nullable:"true" doc:"A short name of your own, such as 7B; null for none."`
	ManagerIDs []string          `json:"managerIds,omitempty" maxItems:"20" doc:"People who manage or teach in the portal."`
	ExternalID *string           `json:"externalId,omitempty" maxLength:"200" nullable:"true" doc:"The unit's id in your own system, to find it by; null for none."`
	Metadata   map[string]string `json:"metadata,omitempty" doc:"20 keys of 40 characters at most, with values of 500."`
}

func parseParent(s *string) (id.Unit, error) {
	if s == nil {
		return id.Unit{}, nil
	}
	u, err := id.ParseUnit(*s)
	if err != nil {
		return u, problem.Missing(string(unit.OfPortal)).WithParam("body.parentId")
	}
	return u, nil
}

// parseManagers reads people's ids, each once.
func parseManagers(sent []string) ([]id.Person, error) {
	people := []id.Person{}
	for i, s := range sent {
		p, err := id.ParsePerson(s)
		if err != nil {
			return nil, problem.Invalid(fmt.Sprintf("body.managerIds[%d]", i), "That is not the id of a person.")
		}
		if !slices.Contains(people, p) {
			people = append(people, p)
		}
	}
	return people, nil
}

func (a *API) create(ctx context.Context, c *route.Call, in *Input) (Unit, error) {
	b := in.Body
	u := unit.Unit{ID: id.NewUnit(), Kind: b.Kind, Name: b.Name, Code: b.Code, ExternalID: b.ExternalID, Metadata: b.Metadata}
	if u.Metadata == nil {
		u.Metadata = map[string]string{}
	}
	var err error
	if u.Portal, err = id.ParsePortal(b.PortalID); err != nil {
		return Unit{}, problem.Missing("portal").WithParam("body.portalId")
	}
	if u.Parent, err = parseParent(b.ParentID); err != nil {
		return Unit{}, err
	}
	if u.Managers, err = parseManagers(b.ManagerIDs); err != nil {
		return Unit{}, err
	}
	if err := route.CheckMetadata(b.Metadata); err != nil {
		return Unit{}, err
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (Unit, error) {
		made, err := unit.Insert(ctx, tx, u, c.Actor())
		if err != nil {
			return Unit{}, asProblem(err)
		}
		c.SetVersion(made.Edition)
		return show(made), nil
	})
}

// UpdateInput is the request for a change of a unit.
type UpdateInput struct {
	Path
	route.Edition
	Body UnitChange
}

// UnitChange is what to change of a unit.
type UnitChange struct {
	ParentID   route.OptNull[string]        `json:"parentId,omitzero" maxLength:"80" doc:"A unit of the same portal to lie in; null for none."`
	Kind       route.Opt[unit.Kind]         `json:"kind,omitzero" enum:"class,team,group,department,site" doc:"What kind of group it is."`
	Name       route.Opt[string]            `json:"name,omitzero" minLength:"1" maxLength:"200" doc:"A new name, for people."`
	Code       route.OptNull[string]        `json:"code,omitzero" maxLength:"60" doc:"A short name of your own, such as 7B; null for none."`
	Enabled    route.Opt[bool]              `json:"enabled,omitzero" doc:"Whether its people can come in; false shuts them out."`
	ManagerIDs route.Opt[[]string]          `json:"managerIds,omitzero" maxItems:"20" doc:"People who manage or teach in the portal."`
	ExternalID route.OptNull[string]        `json:"externalId,omitzero" maxLength:"200" doc:"The unit's id in your own system; null for none."`
	Metadata   route.Opt[map[string]string] `json:"metadata,omitzero" doc:"In place of what there was: 20 keys of 40 characters at most, with values of 500."`
}

// apply is a unit with what was sent of it.
func (b UnitChange) apply(u unit.Unit) (unit.Unit, error) {
	var err error
	if b.ParentID.Set {
		if u.Parent, err = parseParent(b.ParentID.Value); err != nil {
			return u, err
		}
	}
	if b.Kind.Set {
		u.Kind = b.Kind.Value
	}
	if b.Name.Set {
		u.Name = b.Name.Value
	}
	if b.Code.Set {
		u.Code = b.Code.Value
	}
	if b.Enabled.Set {
		u.Enabled = b.Enabled.Value
	}
	if b.ManagerIDs.Set {
		if u.Managers, err = parseManagers(b.ManagerIDs.Value); err != nil {
			return u, err
		}
	}
	if b.ExternalID.Set {
		u.ExternalID = b.ExternalID.Value
	}
	if b.Metadata.Set {
		u.Metadata = b.Metadata.Value
	}
	return u, route.CheckMetadata(b.Metadata.Value)
}

func (a *API) update(ctx context.Context, c *route.Call, in *UpdateInput) (Unit, error) {
	wanted, err := in.unit()
	if err != nil {
		return Unit{}, err
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (Unit, error) {
		before, err := unit.Lock(ctx, tx, wanted)
		if err != nil {
			return Unit{}, asProblem(err)
		}
		if err := in.Check(before.Edition, nil); err != nil {
			return Unit{}, err
		}
		after, err := in.Body.apply(before)
		if err != nil {
			return Unit{}, err
		}
		now, change, err := unit.Update(ctx, tx, before, after, c.Actor())
		if err != nil {
			return Unit{}, asProblem(err)
		}
		c.SetVersion(now.Edition)
		if change.Switches() {
			err = person.FollowUnit(ctx, tx, now, c.Actor())
		}
		return show(now), err
	})
}
