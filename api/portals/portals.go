// Package portals declares the operations on portals: what they say, who speaks on
// them, and publishing (spec, Portals).
package portals

import (
	"context"
	_ "embed"
	"net/http"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/personas/avatar"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/portals/portal/artwork"
	"visavis.dev/pkg/portals/portal/template"
	"visavis.dev/pkg/store/tenant"
)

// examples are bodies of requests, by operation.
//
//go:embed examples.json
var examples []byte

// API is what the operations work with.
type API struct {
	Tenants   *tenant.Tenants
	Addresses *portal.Addresses
	Gallery   *template.Gallery
	Library   *avatar.Library
	Plans     *plan.Catalogue
	// Artwork fetches the pictures of the pages.
	Artwork *artwork.Collector
	// PortalURL is where the portals' pages are, without a path.
	PortalURL string
	// LiveURL is where clients reach the sockets of live conversations: no portal's.
	LiveURL string
}

const group = "Portals"

// Register declares the operations.
func (a *API) Register(s *route.Service) {
	s.Examples(examples)
	read := route.Operation{Group: group, Class: "read", Scope: scope.PortalsRead}
	write := route.Operation{Group: group, Class: "write", Scope: scope.PortalsWrite, Errors: []problem.Code{problem.Conflict}}

	list := read
	list.ID, list.Method, list.Path, list.Items = "listPortals", http.MethodGet, "/portals", contract.PortalItem
	list.Summary = "The organization's portals, newest first"
	list.Description = "Those that are archived are left out unless they are asked for by their state."
	route.List(s, list, a.list)

	create := write
	create.ID, create.Method, create.Path, create.Items = "createPortal", http.MethodPost, "/portals", contract.PortalItem
	create.Status, create.Idempotent = http.StatusCreated, true
	create.Summary = "Build a portal from a template"
	create.Description = "Who speaks on it is a persona there is, or one that is made of a face and a voice as the template has it. " +
		"With publish it goes live too; where the check refuses that, it stays a draft and publishRefused says why."
	route.Handle(s, create, a.create)

	a.registerTemplates(s, read)

	get := read
	get.ID, get.Method, get.Path, get.Items = "getPortal", http.MethodGet, "/portals/{id}", contract.PortalItem
	get.Summary = "One portal; its ETag is its draftVersion"
	route.Handle(s, get, a.get)

	update := write
	update.ID, update.Method, update.Path, update.Items = "updatePortal", http.MethodPatch, "/portals/{id}", contract.PortalItem
	update.Errors = append(update.Errors, problem.VersionConflict)
	update.Summary = "Change the draft of a portal"
	update.Description = "Objects are merged member by member, lists replaced; a null empties what can be null and removes a text. " +
		"Visitors see it once it is published, but for the address: a new slug or customDomain holds at once, and the former slug leads there."
	route.Handle(s, update, a.update)

	archive := write
	archive.ID, archive.Method, archive.Path, archive.Items = "archivePortal", http.MethodDelete, "/portals/{id}", contract.PortalItem
	archive.Since = contract.V20261001
	archive.Summary = "Archive a portal for good; its page is closed"
	route.Handle(s, archive, a.archive)

	a.registerPersona(s, read, write)
	a.registerPublishing(s, read, write)
}

// Path names a portal.
type Path struct {
	ID string `path:"id" doc:"The portal's id, with or without portal_."`
}

func (p Path) portal() (id.Portal, error) { return route.Lookup(id.ParsePortal, p.ID, "portal") }

// Query filters and pages the portals.
type Query struct {
	route.Paging
	Kind      string `query:"kind" enum:"learning,support,sales,hiring,reception,custom" doc:"Only portals for this."`
	State     string `query:"state" enum:"draft,published,unpublished,archived" doc:"Only portals in this state."`
	PersonaID string `query:"personaId" doc:"Those on whose drafts this persona speaks."`
}

func (a *API) list(ctx context.Context, c *route.Call, q *Query) (route.Page[Portal], error) {
	return route.Listed(c, q.Paging, func(after id.Portal, limit int) ([]portal.Detail, error) {
		var err error
		filter := portal.Filter{Kind: portal.Kind(q.Kind), State: portal.State(q.State)}
		if filter.Persona, err = route.QueryID(id.ParsePersona, "personaId", q.PersonaID); err != nil {
			return nil, err
		}
		return portal.List(ctx, a.Tenants, c.Org(), filter, after, limit)
	}, func(p portal.Detail) id.Portal { return p.ID }, func(p portal.Detail) Portal { return a.show(c.Org(), p) })
}

func (a *API) get(ctx context.Context, c *route.Call, p *Path) (Portal, error) {
	wanted, err := p.portal()
	if err != nil {
		return Portal{}, err
	}
	found, err := portal.GetDetail(ctx, a.Tenants, c.Org(), wanted)
	return versioned(c, a.show(c.Org(), found), err)
}

// shown is the answer to a change in the transaction that makes it.
func (a *API) shown(ctx context.Context, tx *tenant.Tx, p id.Portal) (Portal, error) {
	found, err := portal.FindDetail(ctx, tx, p)
	return a.show(tx.Org, found), err
}

// versioned gives the answer its ETag.
func versioned(c *route.Call, p Portal, err error) (Portal, error) {
	if err == nil {
		c.SetVersion(p.DraftVersion)
	}
	return p, err
}
