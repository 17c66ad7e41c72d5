// Package duos declares the operations on two-person avatars (spec, Duos).
package duos

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"net/http"
	"time"

	"visavis.dev/api/personas"
	"visavis.dev/api/route"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/personas/avatar"
	"visavis.dev/pkg/personas/duo"
	"visavis.dev/pkg/personas/persona"
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
}

// feature is what a plan must include for duos to be made.
const feature = "duos"

// Register declares the operations.
func (a *API) Register(s *route.Service) {
	s.Examples(examples)
	read := route.Operation{Group: "Duos", Class: "read", Scope: scope.DuosRead, Errors: []problem.Code{problem.Gone}}
	write := route.Operation{Group: "Duos", Class: "write", Scope: scope.DuosWrite, Errors: []problem.Code{problem.Gone, problem.Conflict}}

	list := read
	list.ID, list.Method, list.Path, list.Errors = "listDuos", http.MethodGet, "/duos", nil
	list.Summary = "The organization's duos, newest first"
	route.List(s, list, a.list)

	create := write
	create.ID, create.Method, create.Path = "createDuo", http.MethodPost, "/duos"
	create.Status, create.Idempotent, create.Errors = http.StatusCreated, true, []problem.Code{problem.Conflict}
	create.Summary = "Make a duo, as a draft, and the persona that wears it"
	create.Description = "What the two know and how they behave is their persona's: PATCH /personas/{id} with its personaId."
	create.Feature = feature
	route.Handle(s, create, a.create)

	get := read
	get.ID, get.Method, get.Path, get.Summary = "getDuo", http.MethodGet, "/duos/{id}", "One duo"
	route.Handle(s, get, a.get)

	update := write
	update.ID, update.Method, update.Path = "updateDuo", http.MethodPatch, "/duos/{id}"
	update.Summary = "Change a duo"
	update.Description = "A duo whose hosts or languages change is a draft again and must be made live anew. " +
		"Sending the same hosts tries again to prepare a face that could not be."
	route.Handle(s, update, a.update)

	remove := write
	remove.ID, remove.Method, remove.Path = "deleteDuo", http.MethodDelete, "/duos/{id}"
	remove.Summary = "Delete a duo and its persona, which nothing must use"
	route.Handle(s, remove, a.delete)

	check := read
	check.ID, check.Method, check.Path, check.Summary = "checkDuo", http.MethodGet, "/duos/{id}/go-live", "What keeps a duo from going live"
	route.Handle(s, check, a.check)

	live := write
	live.ID, live.Method, live.Path, live.Summary = "goLiveDuo", http.MethodPost, "/duos/{id}/live", "Make a duo live, so that it can start sessions"
	live.Errors = append(live.Errors, problem.GoLiveRefused)
	route.Handle(s, live, a.live)

	pause := write
	pause.ID, pause.Method, pause.Path, pause.Summary = "pauseDuo", http.MethodPost, "/duos/{id}/pause", "Let a duo start no more sessions"
	route.Handle(s, pause, a.pause)
}

// Duo is one duo.
type Duo struct {
	ID        id.Duo            `json:"id" doc:"Id of the duo, with the prefix duo_."`
	Name      string            `json:"name" doc:"What the duo is called, for people."`
	Status    string            `json:"status" enum:"draft,checking,live,paused" doc:"checking: a draft of which a face is being prepared."`
	Hosts     []persona.Host    `json:"hosts" minItems:"2" maxItems:"2" doc:"The two who speak: one on the left, one on the right."`
	Languages []string          `json:"languages" doc:"The languages that the duo speaks, by code; of those that GET /languages flags as duo."`
	PersonaID id.Persona        `json:"personaId" doc:"The persona that wears the duo."`
	Interplay persona.Interplay `json:"interplay" doc:"How the two share a conversation."`
	LiveAt    *time.Time        `json:"liveAt" doc:"When it went live, in UTC; null while it is not."`
	CreatedAt time.Time         `json:"createdAt" doc:"When the duo was made, in UTC."`
	UpdatedAt time.Time         `json:"updatedAt" doc:"When it was last changed, in UTC."`
}

func show(d duo.Duo) Duo {
	return Duo{
		ID: d.ID, Name: d.Name, Status: string(d.Status), Hosts: d.Hosts, Languages: d.Languages, PersonaID: d.Persona,
		Interplay: d.Interplay, LiveAt: route.UTC(d.LiveAt), CreatedAt: d.CreatedAt.UTC(), UpdatedAt: d.UpdatedAt.UTC(),
	}
}

// Path names a duo.
type Path struct {
	ID string `path:"id" doc:"The duo's id, with or without duo_."`
}

func (p Path) duo() (id.Duo, error) { return route.Lookup(id.ParseDuo, p.ID, "duo") }

// Query filters and pages the duos.
type Query struct {
	route.Paging
	Status string `query:"status" enum:"draft,checking,live,paused" doc:"Only duos that are so far."`
}

func (a *API) list(ctx context.Context, c *route.Call, q *Query) (route.Page[Duo], error) {
	return route.Listed(c, q.Paging, func(after id.Duo, limit int) ([]duo.Duo, error) {
		return duo.List(ctx, a.Tenants, c.Org(), duo.Status(q.Status), after, limit)
	}, func(d duo.Duo) id.Duo { return d.ID }, show)
}

func (a *API) get(ctx context.Context, c *route.Call, p *Path) (Duo, error) {
	wanted, err := p.duo()
	if err != nil {
		return Duo{}, err
	}
	found, err := duo.Get(ctx, a.Tenants, c.Org(), wanted)
	return show(found), err
}

// asProblem says which host has a face or a voice that cannot be chosen.
func asProblem(err error) error {
	if host, ok := errors.AsType[*duo.HostError](err); ok {
		return personas.Chosen(host.Err, fmt.Sprintf("body.hosts[%d].", host.Index))
	}
	return err
}
