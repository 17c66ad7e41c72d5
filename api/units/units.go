// Package units declares the operations on classes, teams and groups (spec,
// People).
package units

import (
	"context"
	_ "embed"
	"errors"
	"net/http"
	"time"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/portals/unit"
	"visavis.dev/pkg/store/tenant"
)

// examples are bodies of requests, by operation.
//
//go:embed examples.json
var examples []byte

// API is what the operations work with.
type API struct{ Tenants *tenant.Tenants }

// Register declares the operations.
func (a *API) Register(s *route.Service) {
	s.Examples(examples)
	one := route.Operation{Group: "People", Items: contract.UnitItem}

	list := one
	list.ID, list.Method, list.Path, list.Class, list.Scope = "listUnits", http.MethodGet, "/units", "read", scope.PeopleRead
	list.Summary = "Units, newest first"
	route.List(s, list, a.list)

	create := one
	create.ID, create.Method, create.Path, create.Class, create.Scope = "createUnit", http.MethodPost, "/units", "write", scope.PeopleWrite
	create.Status, create.Idempotent, create.Errors = http.StatusCreated, true, []problem.Code{problem.NotFound, problem.Conflict}
	create.Summary = "Add a class, team or group to a portal"
	route.Handle(s, create, a.create)

	get := one
	get.ID, get.Method, get.Path, get.Class, get.Scope = "getUnit", http.MethodGet, "/units/{id}", "read", scope.PeopleRead
	get.Summary = "One unit"
	route.Handle(s, get, a.get)

	update := one
	update.ID, update.Method, update.Path, update.Class, update.Scope = "updateUnit", http.MethodPatch, "/units/{id}", "write", scope.PeopleWrite
	update.Errors = []problem.Code{problem.Conflict, problem.VersionConflict}
	update.Summary = "Rename a unit, move it or switch it off"
	update.Description = "A unit that is switched off switches off everybody in it and in the units below, and their conversations end."
	route.Handle(s, update, a.update)
}

// Unit is one class, team or group.
type Unit struct {
	ID          id.Unit           `json:"id" doc:"Id of the unit, with the prefix unit_."`
	PortalID    id.Portal         `json:"portalId" doc:"The portal that it belongs to."`
	ParentID    *id.Unit          `json:"parentId" nullable:"true" doc:"The unit that it is part of; null for none."`
	Kind        unit.Kind         `json:"kind" enum:"class,team,group,department,site" doc:"What kind of group it is."`
	Name        string            `json:"name" doc:"What the unit is called, for people."`
	Code        *string           `json:"code" doc:"A short name of your own, such as 7B; null for none."`
	Enabled     bool              `json:"enabled" doc:"Its own switch; those of the units above count beside it."`
	MemberCount int64             `json:"memberCount" doc:"The places in it, without those in the units below."`
	ManagerIDs  []id.Person       `json:"managerIds" doc:"People who manage or teach in the portal."`
	ExternalID  *string           `json:"externalId" doc:"The unit's id in your own system; null where none was given."`
	Metadata    map[string]string `json:"metadata" doc:"Your own notes on it: at most 20 keys of 40 characters, with values of 500."`
	CreatedAt   time.Time         `json:"createdAt" doc:"When the unit was made, in UTC."`
	UpdatedAt   time.Time         `json:"updatedAt" doc:"When it was last changed, in UTC."`
}

func show(u unit.Unit) Unit {
	shown := Unit{
		ID: u.ID, PortalID: u.Portal, Kind: u.Kind, Name: u.Name, Code: u.Code, Enabled: u.Enabled, MemberCount: u.Members,
		ManagerIDs: u.Managers, ExternalID: u.ExternalID, Metadata: u.Metadata, CreatedAt: u.CreatedAt.UTC(), UpdatedAt: u.UpdatedAt.UTC(),
	}
	if !u.Parent.IsZero() {
		shown.ParentID = &u.Parent
	}
	return shown
}

// Path names a unit.
type Path struct {
	ID string `path:"id" doc:"The unit's id, with or without unit_."`
}

func (p *Path) unit() (id.Unit, error) { return route.Lookup(id.ParseUnit, p.ID, "unit") }

// Query filters and pages the units.
type Query struct {
	route.Paging
	PortalID string `query:"portalId" maxLength:"80" doc:"Only units of this portal."`
	ParentID string `query:"parentId" maxLength:"80" doc:"Units that lie right in this one."`
}

func (a *API) list(ctx context.Context, c *route.Call, q *Query) (route.Page[Unit], error) {
	return route.Listed(c, q.Paging, func(after id.Unit, limit int) ([]unit.Unit, error) {
		var (
			f   unit.Filter
			err error
		)
		if f.Portal, err = route.QueryID(id.ParsePortal, "portalId", q.PortalID); err != nil {
			return nil, err
		}
		if f.Parent, err = route.QueryID(id.ParseUnit, "parentId", q.ParentID); err != nil {
			return nil, err
		}
		return unit.List(ctx, a.Tenants, c.Org(), f, after, limit)
	}, func(u unit.Unit) id.Unit { return u.ID }, show)
}

func (a *API) get(ctx context.Context, c *route.Call, p *Path) (Unit, error) {
	which, err := p.unit()
	if err != nil {
		return Unit{}, err
	}
	u, err := unit.Get(ctx, a.Tenants, c.Org(), which)
	if err != nil {
		return Unit{}, err
	}
	c.SetVersion(u.Edition)
	return show(u), nil
}

// asProblem answers for what the body names.
func asProblem(err error) error {
	switch {
	case errdefs.IsNotFound(err, portal.Noun):
		return route.At(err, "body.portalId")
	case errdefs.IsArchived(err, portal.Noun):
		return problem.Conflicting("archived", "The portal is archived.")
	case errdefs.IsNotFound(err, unit.OfPortal):
		return route.At(err, "body.parentId")
	case errors.Is(err, unit.ErrRing):
		return problem.Invalid("body.parentId", "A unit cannot lie in itself, nor in one that lies in it.")
	case errors.Is(err, unit.ErrTooDeep):
		return problem.Invalid("body.parentId", "At most %d units can lie one in another.", unit.MaxDepth)
	case errors.Is(err, unit.ErrNoManager):
		return problem.Invalid("body.managerIds", "Managers are people with a place in the portal as manager, teacher or admin.")
	}
	return err
}
