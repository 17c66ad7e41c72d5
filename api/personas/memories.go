package personas

import (
	"context"
	"net/http"
	"time"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/visits/memory"
)

func (a *API) registerMemories(s *route.Service) {
	list := route.Operation{
		ID: "listMemories", Method: http.MethodGet, Path: "/personas/{id}/memories", Group: "Personas", Class: "read", Scope: scope.PeopleRead,
		Since: contract.V20261001, Errors: []problem.Code{problem.Gone},
	}
	list.Summary = "What a persona remembers of people"
	list.Description = "Of each person at most 20 things, the newest first: what the goals of conversations collected, and what the person said of themselves. " +
		"Needs personas:read too."
	route.List(s, list, a.memories)

	forget := route.Operation{
		ID: "deleteMemories", Method: http.MethodDelete, Path: "/personas/{id}/memories", Group: "Personas", Class: "write", Scope: scope.PeopleWrite,
		Since: contract.V20261001, Errors: []problem.Code{problem.Gone},
	}
	forget.Summary = "Have a persona forget a person, or everybody"
	forget.Description = "Without a personId everybody is forgotten. Needs personas:write too."
	route.Handle(s, forget, a.forget)
}

// Memory is what a persona remembers of a person.
type Memory struct {
	ID        id.Memory    `json:"id" doc:"Id of the memory, with the prefix memo_."`
	PersonaID id.Persona   `json:"personaId" doc:"The persona that remembers it."`
	PersonID  id.Person    `json:"personId" doc:"Whom it is about."`
	Items     []MemoryItem `json:"items" doc:"What is remembered, oldest first."`
	SessionID id.Session   `json:"sessionId" doc:"The one that wrote it last."`
	WrittenAt time.Time    `json:"writtenAt" doc:"When something was last added, in UTC."`
	ExpiresAt time.Time    `json:"expiresAt" doc:"A year after it was written, unless another session refreshes it."`
}

// MemoryItem is one thing that is remembered.
type MemoryItem struct {
	Key       *string    `json:"key" doc:"The output of a goal; null for what the person just said."`
	Text      string     `json:"text" doc:"What is remembered, in a sentence."`
	SessionID id.Session `json:"sessionId" doc:"Where it was said."`
	At        time.Time  `json:"at" doc:"When it was said, in UTC."`
}

func showMemory(m memory.Memory) Memory {
	shown := Memory{
		ID: m.ID, PersonaID: m.Persona, PersonID: m.Person, Items: make([]MemoryItem, len(m.Items)), SessionID: m.Session,
		WrittenAt: m.WrittenAt.UTC(), ExpiresAt: m.ExpiresAt.UTC(),
	}
	for i, item := range m.Items {
		shown.Items[i] = MemoryItem{Text: item.Text, SessionID: item.Session, At: item.At.UTC()}
		if item.Key != "" {
			shown.Items[i].Key = &item.Key
		}
	}
	return shown
}

// MemoryQuery pages through what a persona remembers.
type MemoryQuery struct {
	Path
	route.Paging
	PersonID string `query:"personId" maxLength:"80" doc:"Of this person alone."`
}

func (a *API) memories(ctx context.Context, c *route.Call, q *MemoryQuery) (route.Page[Memory], error) {
	if err := alsoHolds(c, scope.PersonasRead); err != nil {
		return route.Page[Memory]{}, err
	}
	wanted, err := q.persona()
	if err != nil {
		return route.Page[Memory]{}, err
	}
	return route.Listed(c, q.Paging, func(after id.Person, limit int) ([]memory.Memory, error) {
		of, err := route.QueryID(id.ParsePerson, "personId", q.PersonID)
		if err != nil {
			return nil, err
		}
		if _, err := persona.Get(ctx, a.Tenants, c.Org(), wanted); err != nil {
			return nil, err
		}
		return memory.List(ctx, a.Tenants, c.Org(), wanted, of, after, limit, c.Now())
	}, func(m memory.Memory) id.Person { return m.Person }, showMemory)
}

// ForgetInput says whom a persona is to forget.
type ForgetInput struct {
	Path
	PersonID string `query:"personId" maxLength:"80" doc:"This person alone; everybody unless given."`
}

// Forgotten is how many people a persona forgot.
type Forgotten struct {
	Deleted bool       `json:"deleted" enum:"true" doc:"Always true."`
	ID      id.Persona `json:"id" doc:"The persona that forgot."`
	Count   int        `json:"count" doc:"How many people it remembered until now."`
}

func (a *API) forget(ctx context.Context, c *route.Call, in *ForgetInput) (Forgotten, error) {
	if err := alsoHolds(c, scope.PersonasWrite); err != nil {
		return Forgotten{}, err
	}
	wanted, err := in.persona()
	if err != nil {
		return Forgotten{}, err
	}
	of, err := route.QueryID(id.ParsePerson, "personId", in.PersonID)
	if err != nil {
		return Forgotten{}, err
	}
	// A caller who lost the id does not mean everybody.
	if of.IsZero() && c.Queried("personId") {
		return Forgotten{}, problem.Invalid("query.personId", "personId is empty. Leave it out to forget everybody.")
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (Forgotten, error) {
		if _, err := persona.Lock(ctx, tx, wanted); err != nil {
			return Forgotten{}, err
		}
		n, err := memory.Forget(ctx, tx, wanted, of, c.Actor())
		return Forgotten{true, wanted, n}, err
	})
}

// alsoHolds refuses a key without a second scope.
func alsoHolds(c *route.Call, s scope.Scope) error {
	if c.Principal.Key.Grant().Holds(s) {
		return nil
	}
	return problem.New(problem.Forbidden, "This key lacks the scope %s.", s)
}
