// Package subjects declares the operations on what portals teach and ask (spec,
// Subjects).
package subjects

import (
	"context"
	_ "embed"
	"net/http"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/portals/subject"
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
	read := route.Operation{Group: "Subjects", Class: "read", Scope: scope.PortalsRead, Items: contract.SubjectItem}
	write := route.Operation{
		Group: "Subjects", Class: "write", Scope: scope.ContentWrite, Items: contract.SubjectItem, Errors: []problem.Code{problem.Conflict},
	}

	list := read
	list.ID, list.Method, list.Path = "listSubjects", http.MethodGet, "/portals/{id}/subjects"
	list.Since, list.Summary = contract.V20261001, "The subjects of a portal, in their order"
	route.List(s, list, a.list)

	create := write
	create.ID, create.Method, create.Path = "createSubject", http.MethodPost, "/portals/{id}/subjects"
	create.Since, create.Status, create.Idempotent, create.MaxBody = contract.V20261001, http.StatusCreated, true, maxBody
	create.Summary = "Add a subject to a portal, as the last"
	create.Description = "Everything but title and kind has a default. Nobody sees the subject until it is published."
	route.Handle(s, create, a.create)

	get := read
	get.ID, get.Method, get.Path, get.Summary = "getSubject", http.MethodGet, "/subjects/{id}", "One subject without its content; its ETag is its edition"
	route.Handle(s, get, a.get)

	update := write
	update.ID, update.Method, update.Path = "updateSubject", http.MethodPatch, "/subjects/{id}"
	update.Errors = append(update.Errors, problem.VersionConflict)
	update.Summary = "Change a subject, but for its content"
	update.Description = "It holds at once, for people too. order moves the subject to another place among the portal's, from zero. " +
		"An archived subject is on no page any more and cannot be changed."
	route.Handle(s, update, a.update)

	a.registerContent(s, read, write)
	a.registerPublish(s, read, write)
	a.registerTranslate(s, write)
}

// maxBody holds the largest content, however it is written.
const maxBody = 2 * subject.MaxContent

// Path names a subject.
type Path struct {
	ID string `path:"id" doc:"The subject's id, with or without sub_."`
}

func (p Path) subject() (id.Subject, error) { return route.Lookup(id.ParseSubject, p.ID, "subject") }

// PortalPath names a portal.
type PortalPath struct {
	ID string `path:"id" doc:"The portal's id, with or without portal_."`
}

func (p PortalPath) portal() (id.Portal, error) { return route.Lookup(id.ParsePortal, p.ID, "portal") }

// Query pages through the subjects of a portal.
type Query struct {
	PortalPath
	route.Paging
}

func (a *API) list(ctx context.Context, c *route.Call, q *Query) (route.Page[Subject], error) {
	of, err := q.portal()
	if err != nil {
		return route.Page[Subject]{}, err
	}
	return route.Listed(c, q.Paging, func(after subject.Position, limit int) ([]subject.Summary, error) {
		if _, err := portal.Get(ctx, a.Tenants, c.Org(), of); err != nil {
			return nil, asProblem(err)
		}
		return subject.List(ctx, a.Tenants, c.Org(), of, after, limit)
	}, func(s subject.Summary) subject.Position { return subject.Position{Place: s.Place, ID: s.ID} }, show)
}

func (a *API) get(ctx context.Context, c *route.Call, p *Path) (Subject, error) {
	wanted, err := p.subject()
	if err != nil {
		return Subject{}, err
	}
	found, err := subject.GetSummary(ctx, a.Tenants, c.Org(), wanted)
	if err != nil {
		return Subject{}, asProblem(err)
	}
	return versioned(c, show(found), nil)
}

// versioned gives the answer its ETag.
func versioned(c *route.Call, s Subject, err error) (Subject, error) {
	if err == nil {
		c.SetVersion(s.Edition)
	}
	return s, err
}
