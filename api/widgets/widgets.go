// Package widgets declares the operations on widgets (spec, Widget).
package widgets

import (
	"context"
	_ "embed"
	"fmt"
	"html"
	"net/http"
	"time"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/personas/avatar"
	"visavis.dev/pkg/portals/widget"
	"visavis.dev/pkg/store/file"
	"visavis.dev/pkg/store/tenant"
)

// examples are bodies of requests, by operation.
//
//go:embed examples.json
var examples []byte

// API is what the operations work with.
type API struct {
	Tenants *tenant.Tenants
	Library *avatar.Library
	Files   *file.Store
}

// feature is what a plan must include for widgets to be made.
const feature = "widgets"

// Register declares the operations.
func (a *API) Register(s *route.Service) {
	s.Examples(examples)
	read := route.Operation{Group: "Widget", Class: "read", Scope: scope.WidgetsRead, Errors: []problem.Code{problem.Gone}}
	write := route.Operation{Group: "Widget", Class: "write", Scope: scope.WidgetsWrite, Errors: []problem.Code{problem.Gone}}

	list := read
	list.ID, list.Method, list.Path, list.Errors = "listWidgets", http.MethodGet, "/widgets", nil
	list.Summary = "The organization's widgets, newest first"
	route.List(s, list, a.list)

	create := write
	create.ID, create.Method, create.Path = "createWidget", http.MethodPost, "/widgets"
	create.Status, create.Idempotent, create.Errors = http.StatusCreated, true, []problem.Code{problem.Conflict}
	create.Summary = "Make a widget that shows a persona on websites"
	create.Description = "Everything but name and personaId has a default. It shows on no page until allowedOrigins says on which. " +
		"While the setting widgets.enabled is off, none can be switched on."
	create.Feature = feature
	route.Handle(s, create, a.create)

	get := read
	get.ID, get.Method, get.Path, get.Summary = "getWidget", http.MethodGet, "/widgets/{id}", "One widget; its ETag is its version"
	route.Handle(s, get, a.get)

	update := write
	update.ID, update.Method, update.Path = "updateWidget", http.MethodPatch, "/widgets/{id}"
	update.Errors = append(update.Errors, problem.Conflict, problem.VersionConflict)
	update.Summary = "Change a widget, which makes a new version of it"
	update.Description = "Objects are merged member by member, lists replaced; a null empties what can be null and removes the texts of a language."
	route.Handle(s, update, a.update)

	remove := write
	remove.ID, remove.Method, remove.Path, remove.Summary = "deleteWidget", http.MethodDelete, "/widgets/{id}", "Delete a widget; pages show it no more"
	route.Handle(s, remove, a.delete)

	rotate := write
	rotate.ID, rotate.Method, rotate.Path = "rotateWidgetKey", http.MethodPost, "/widgets/{id}/rotate-key"
	rotate.Since, rotate.Errors = contract.V20261001, append(rotate.Errors, problem.VersionConflict)
	rotate.Summary = "Give a widget another public key; pages with the old one show it no more"
	route.Handle(s, rotate, a.rotate)

	config := route.Operation{
		ID: "getWidgetConfig", Method: http.MethodGet, Path: "/widgets/{id}/config", Group: "Widget", Auth: route.Open,
		Since: contract.V20261001, Revalidates: true, FromPages: true,
		Summary: "What a page needs to show a widget",
		Description: "Asked by browsers, with the widget's public key, from a page of an allowed origin. " +
			"Anything else, and a widget that is not enabled, is 404.",
	}
	route.Handle(s, config, a.config)
	a.registerPicture(s)
	registerScript(s)
}

// Widget is one widget.
type Widget struct {
	ID        id.Widget   `json:"id" doc:"Id of the widget, with the prefix wid_."`
	Name      string      `json:"name" doc:"What the widget is called, for people."`
	PortalID  *route.Null `json:"portalId" doc:"Always null for now."`
	PersonaID id.Persona  `json:"personaId" doc:"The persona that it shows."`
	Enabled   bool        `json:"enabled" doc:"Whether it is shown and can be talked with."`
	widget.Definition
	PublicKey  widget.PublicKey `json:"publicKey" doc:"Not secret: it stands in the pages that show the widget."`
	Embed      Embed            `json:"embed" doc:"What to put on a page to show it."`
	LastSeenAt *time.Time       `json:"lastSeenAt" doc:"When a page loaded it last, to the hour."`
	Version    int64            `json:"version" doc:"How many times it was changed, from 1; what baseVersion and If-Match are held against."`
	CreatedAt  time.Time        `json:"createdAt" doc:"When the widget was made, in UTC."`
	UpdatedAt  time.Time        `json:"updatedAt" doc:"When it was last changed, in UTC."`
}

// Embed is what a page needs to show a widget.
type Embed struct {
	Script string `json:"script" format:"uri" doc:"Where the script is."`
	HTML   string `json:"html" doc:"The tag that shows the widget; an inline one where it stands."`
}

func embed(c *route.Call, w widget.Widget) Embed {
	script := c.URL(scriptPath)
	return Embed{script, fmt.Sprintf(`<script async src="%s" data-widget="%s" data-key="%s"></script>`,
		html.EscapeString(script), w.ID, html.EscapeString(string(w.PublicKey)))}
}

func show(c *route.Call, w widget.Widget) Widget {
	return Widget{
		Embed: embed(c, w),
		ID:    w.ID, Name: w.Name, PersonaID: w.Persona, Enabled: w.Enabled, Definition: w.Definition, PublicKey: w.PublicKey,
		LastSeenAt: route.UTC(w.LastSeenAt), Version: w.Version, CreatedAt: w.CreatedAt.UTC(), UpdatedAt: w.UpdatedAt.UTC(),
	}
}

// Path names a widget.
type Path struct {
	ID string `path:"id" doc:"The widget's id, with or without wid_."`
}

func (p Path) widget() (id.Widget, error) { return route.Lookup(id.ParseWidget, p.ID, "widget") }

// Query filters and pages the widgets.
type Query struct {
	route.Paging
	PersonaID string `query:"personaId" doc:"Those that show this persona."`
}

func (a *API) list(ctx context.Context, c *route.Call, q *Query) (route.Page[Widget], error) {
	return route.Listed(c, q.Paging, func(after id.Widget, limit int) ([]widget.Widget, error) {
		of, err := route.QueryID(id.ParsePersona, "personaId", q.PersonaID)
		if err != nil {
			return nil, err
		}
		return widget.List(ctx, a.Tenants, c.Org(), of, after, limit)
	}, func(w widget.Widget) id.Widget { return w.ID }, func(w widget.Widget) Widget { return show(c, w) })
}

func (a *API) get(ctx context.Context, c *route.Call, p *Path) (Widget, error) {
	wanted, err := p.widget()
	if err != nil {
		return Widget{}, err
	}
	found, err := widget.Get(ctx, a.Tenants, c.Org(), wanted)
	return versioned(c, show(c, found), err)
}

// versioned gives the answer its ETag.
func versioned(c *route.Call, w Widget, err error) (Widget, error) {
	if err == nil {
		c.SetVersion(w.Version)
	}
	return w, err
}
