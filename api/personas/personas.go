// Package personas declares the operations on personas (spec, Personas).
package personas

import (
	"context"
	_ "embed"
	"net/http"

	"k8s.io/utils/clock"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/personas/avatar"
	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/sessions/conversation"
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
	// Files keeps what rehearsals work from.
	Files *file.Store
	// Minds and Clock are what personas answer with.
	Minds conversation.Minds
	Clock clock.WithDelayedExecution
}

// feature is what a plan must include for personas to be made.
const feature = "personas"

// Register declares the operations.
func (a *API) Register(s *route.Service) {
	s.Examples(examples)
	read := route.Operation{
		Group: "Personas", Class: "read", Scope: scope.PersonasRead, Items: contract.PersonaItem, Errors: []problem.Code{problem.Gone},
	}
	write := route.Operation{
		Group: "Personas", Class: "write", Scope: scope.PersonasWrite, Items: contract.PersonaItem,
		Errors: []problem.Code{problem.Gone, problem.Conflict},
	}

	list := read
	list.ID, list.Method, list.Path, list.Errors = "listPersonas", http.MethodGet, "/personas", nil
	list.Summary = "The organization's personas, newest first"
	route.List(s, list, a.list)

	create := write
	create.ID, create.Method, create.Path = "createPersona", http.MethodPost, "/personas"
	create.Status, create.Idempotent, create.Errors = http.StatusCreated, true, []problem.Code{problem.Conflict}
	create.Summary = "Make a persona: a face, a voice, and how it talks"
	create.Description = "Everything but name, avatarId and voiceId has a default. settings.engine and settings.globalVoice follow from " +
		"the voice. On 2026-07-08 they may be sent: where they ask for another engine than the voice's, the persona takes the nearest " +
		"voice of that engine, of the same gender and for its languages. From 2026-10-01 they may not be sent."
	create.Feature = feature
	route.Handle(s, create, a.create)

	get := read
	get.ID, get.Method, get.Path, get.Summary = "getPersona", http.MethodGet, "/personas/{id}", "One persona; its ETag is its version"
	route.Handle(s, get, a.get)

	update := write
	update.ID, update.Method, update.Path = "updatePersona", http.MethodPatch, "/personas/{id}"
	update.Errors = append(update.Errors, problem.VersionConflict)
	update.Summary = "Change a persona, which makes a new version of it"
	update.Description = "Objects are merged member by member, lists replaced; a null empties what can be null and removes a text. " +
		"A new own face is prepared first, which takes about a minute; until then the persona's status is preparing. " +
		"If that failed, sending the same avatarId tries again. A change of nothing makes no version."
	route.Handle(s, update, a.update)

	remove := write
	remove.ID, remove.Method, remove.Path = "deletePersona", http.MethodDelete, "/personas/{id}"
	remove.Summary = "Delete a persona that nothing uses"
	route.Handle(s, remove, a.delete)

	duplicate := write
	duplicate.ID, duplicate.Method, duplicate.Path = "duplicatePersona", http.MethodPost, "/personas/{id}/duplicate"
	duplicate.Since, duplicate.Status, duplicate.Idempotent = contract.V20261001, http.StatusCreated, true
	duplicate.Summary = "Make another persona like this one"
	duplicate.Feature = feature
	route.Handle(s, duplicate, a.duplicate)

	versions := read
	versions.ID, versions.Method, versions.Path = "listPersonaVersions", http.MethodGet, "/personas/{id}/versions"
	versions.Since, versions.Summary = contract.V20261001, "Every version of a persona, newest first"
	route.List(s, versions, a.versions)

	restore := write
	restore.ID, restore.Method, restore.Path = "restorePersona", http.MethodPost, "/personas/{id}/restore"
	restore.Since = contract.V20261001
	restore.Errors = append(restore.Errors, problem.VersionConflict)
	restore.Summary = "Make a persona what it was in a version, which makes a new one"
	route.Handle(s, restore, a.restore)

	a.registerAsk(s, read)
	a.registerMemories(s)
	a.registerSimulate(s, write)
	a.registerTests(s, read, write)
	a.registerCoverage(s, write)
}

// Path names a persona.
type Path struct {
	ID string `path:"id" doc:"The persona's id, with or without pa_."`
}

func (p Path) persona() (id.Persona, error) { return route.Lookup(id.ParsePersona, p.ID, "persona") }

// Query filters and pages the personas.
type Query struct {
	route.Paging
	Kind     string `query:"kind" enum:"standard,duo" doc:"Only personas with one face, or only those with two."`
	Status   string `query:"status" enum:"ready,preparing,paused" doc:"Only personas in this state."`
	AvatarID string `query:"avatarId" doc:"Those that wear this face."`
}

func (a *API) list(ctx context.Context, c *route.Call, q *Query) (route.Page[Persona], error) {
	return route.Listed(c, q.Paging, func(after id.Persona, limit int) ([]persona.Persona, error) {
		var err error
		filter := persona.Filter{Kind: persona.Kind(q.Kind), Status: persona.Status(q.Status)}
		if filter.Avatar, err = route.QueryID(id.ParseAvatar, "avatarId", q.AvatarID); err != nil {
			return nil, err
		}
		return persona.List(ctx, a.Tenants, c.Org(), filter, after, limit)
	}, func(p persona.Persona) id.Persona { return p.ID }, func(p persona.Persona) Persona { return show(c, p) })
}

func (a *API) get(ctx context.Context, c *route.Call, p *Path) (Persona, error) {
	wanted, err := p.persona()
	if err != nil {
		return Persona{}, err
	}
	return answer(c)(persona.Get(ctx, a.Tenants, c.Org(), wanted))
}

// VersionQuery pages through the versions of a persona.
type VersionQuery struct {
	Path
	route.Paging
}

func (a *API) versions(ctx context.Context, c *route.Call, q *VersionQuery) (route.Page[PersonaVersion], error) {
	wanted, err := q.persona()
	if err != nil {
		return route.Page[PersonaVersion]{}, err
	}
	before, err := route.After[int64](c, q.Paging)
	if err != nil {
		return route.Page[PersonaVersion]{}, err
	}
	if before == nil {
		before = new(int64)
	}
	if _, err := persona.Get(ctx, a.Tenants, c.Org(), wanted); err != nil {
		return route.Page[PersonaVersion]{}, err
	}
	found, err := persona.Versions(ctx, a.Tenants, c.Org(), wanted, *before, q.Limit+1)
	if err != nil {
		return route.Page[PersonaVersion]{}, err
	}
	page, err := route.Paged(c, q.Paging, found, func(v persona.Version) int64 { return v.Version })
	return route.Map(page, showVersion), err
}
