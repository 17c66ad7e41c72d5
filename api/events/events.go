// Package events declares the operations that read the event log and the
// catalogue of event types (spec, Events).
package events

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/store/tenant"
)

// API is what the operations work with.
type API struct {
	Tenants  *tenant.Tenants
	Renderer *event.Renderer
}

// Register declares the operations.
func (a *API) Register(s *route.Service) {
	one := route.Operation{Group: "Events", Method: http.MethodGet, Since: contract.V20261001}

	list := one
	list.ID, list.Path, list.Class, list.Scope, list.Items = "listEvents", "/events", "search", scope.EventsRead, contract.EventItem
	list.Summary = "What happened, as a webhook with this key's rights would receive it"
	list.Description = "Each kind of event is listed only for a key that also holds the scope that reads its records. " +
		"To catch up after an outage, pass after, the last event that was handled, with order=asc."
	route.List(s, list, a.list)

	get := one
	get.ID, get.Path, get.Class, get.Scope, get.Items = "getEvent", "/events/{id}", "read", scope.EventsRead, contract.EventItem
	get.Summary = "One event"
	route.Handle(s, get, a.get)

	types := one
	types.ID, types.Path, types.Class = "listEventTypes", "/event-types", "read"
	types.Summary = "The catalogue of event types"
	route.List(s, types, listTypes)
}

// Event is a recorded event (spec, Event).
type Event struct {
	ID             id.Event         `json:"id" doc:"Id of the event, with the prefix evt_."`
	Type           event.Type       `json:"type" doc:"What happened. GET /event-types lists every type."`
	APIVersion     contract.Version `json:"apiVersion" enum:"2026-07-08,2026-10-01" doc:"The contract data is written in."`
	OrganizationID id.Org           `json:"organizationId" doc:"Whose event it is: your organization."`
	CreatedAt      time.Time        `json:"createdAt" doc:"When it happened."`
	Data           route.Object     `json:"data" doc:"As GET /event-types describes it for the type. A field that the rules hold back is null."`
	AIGenerated    bool             `json:"aiGenerated,omitempty" enum:"true" doc:"There, and true, when data carries words an avatar wrote."`
}

func show(e event.Event, t event.Rendered) Event {
	return Event{e.ID, e.Type, contract.Latest, e.Org, e.At.UTC(), route.Object(t.Data), t.AIGenerated}
}

// Words asks for conversation words.
type Words struct {
	IncludeConversation string `query:"includeConversation" enum:"true,false" doc:"Whether to show conversation words where the privacy rules allow; true needs transcripts:read."`
}

func (w Words) wanted(c *route.Call) (bool, error) {
	if w.IncludeConversation != "true" {
		return false, nil
	}
	if !c.Principal.Key.Grant().Holds(scope.TranscriptsRead) {
		return false, problem.New(problem.Forbidden, "This key lacks the scope %s, which includeConversation needs.", scope.TranscriptsRead).
			WithParam("query.includeConversation")
	}
	return true, nil
}

// may says whether the caller's webhooks would receive events of a kind, and
// the caller may list them (Events, rules 2 and 3).
func may(c *route.Call, k *event.Kind, words bool) bool {
	return c.Principal.Key.Grant().Holds(k.Scope) && (words || !k.RequiresConversation)
}

// closed are the kinds of jobs of which the caller is told nothing, as GET /jobs shows none.
func closed(c *route.Call) []job.Kind { return job.Under(c.Principal.Key.Grant().Closed()) }

// Query filters and pages the log.
type Query struct {
	route.Paging
	Words
	Type      string       `query:"type" maxLength:"4000" doc:"One or more event types, separated by commas."`
	After     string       `query:"after" maxLength:"80" doc:"An event's id; only events after it. Use it with order=asc."`
	From      route.Moment `query:"from" doc:"Events at or after this moment: an ISO date, midnight in UTC, or a date-time."`
	To        route.Moment `query:"to" doc:"Events before this moment: an ISO date, midnight in UTC, or a date-time."`
	SessionID string       `query:"sessionId" maxLength:"80" doc:"Only events of this session."`
	SubjectID string       `query:"subjectId" maxLength:"80" doc:"Only events of this subject."`
	Order     string       `query:"order" enum:"desc,asc" default:"desc" doc:"desc for newest first"`
}

func (q Query) filter(c *route.Call, words bool) (event.Filter, error) {
	f := event.Filter{From: q.From.Time, To: q.To.Time, Ascending: q.Order == "asc"}
	for _, kind := range closed(c) {
		f.WithoutJobs = append(f.WithoutJobs, string(kind))
	}
	var err error
	if f.After, err = route.QueryID(parseAfter, "after", q.After); err != nil {
		return f, err
	}
	if f.Session, err = route.QueryID(id.ParseSession, "sessionId", q.SessionID); err != nil {
		return f, err
	}
	if f.Subject, err = route.QueryID(id.ParseSubject, "subjectId", q.SubjectID); err != nil {
		return f, err
	}
	f.Types, err = q.types(c, words)
	return f, err
}

// types are the types to list: those asked for that the caller may see. nil is
// every type.
func (q Query) types(c *route.Call, words bool) ([]event.Type, error) {
	kinds := event.Kinds()
	if q.Type != "" {
		kinds = nil
		for name := range strings.SplitSeq(q.Type, ",") {
			k, known := event.Find(event.Type(name))
			if !known {
				return nil, problem.Invalid("query.type", "type takes event types, separated by commas; GET /event-types lists them.")
			}
			if !slices.Contains(kinds, k) {
				kinds = append(kinds, k)
			}
		}
	}
	types := make([]event.Type, 0, len(kinds))
	for _, k := range kinds {
		if may(c, k, words) {
			types = append(types, k.Type)
		}
	}
	if len(types) == len(event.Kinds()) {
		return nil, nil
	}
	return types, nil
}

func (a *API) list(ctx context.Context, c *route.Call, q *Query) (route.Page[Event], error) {
	after, err := route.After[event.Position](c, q.Paging)
	if err != nil {
		return route.Page[Event]{}, err
	}
	if after == nil {
		after = &event.Position{}
	}
	words, err := q.wanted(c)
	if err != nil {
		return route.Page[Event]{}, err
	}
	filter, err := q.filter(c, words)
	if err != nil {
		return route.Page[Event]{}, err
	}
	found, err := event.List(ctx, a.Tenants, c.Org(), filter, *after, q.Limit+1)
	if err != nil {
		return route.Page[Event]{}, err
	}
	page, err := route.Paged(c, q.Paging, found, func(e event.Event) event.Position { return e.ID })
	if err != nil {
		return route.Page[Event]{}, err
	}
	if words, err = a.Renderer.Words(ctx, c.Org(), words); err != nil {
		return route.Page[Event]{}, err
	}
	told := route.Page[Event]{Next: page.Next}
	for _, e := range page.Items {
		t, err := a.Renderer.Render(ctx, e, words)
		if err != nil {
			return route.Page[Event]{}, err
		}
		if t.Standing == event.Stands {
			told.Items = append(told.Items, show(e, t))
		}
	}
	return told, nil
}

// One names an event.
type One struct {
	ID string `path:"id" doc:"The event's id, with or without evt_."`
	Words
}

// get answers what a list would hold; anything else does not exist (Events, rule 3).
func (a *API) get(ctx context.Context, c *route.Call, q *One) (Event, error) {
	words, err := q.wanted(c)
	if err != nil {
		return Event{}, err
	}
	wanted, err := route.Lookup(id.ParseEvent, q.ID, "event")
	if err != nil {
		return Event{}, err
	}
	missing := problem.Missing("event").WithParam("path.id")
	e, err := event.Get(ctx, a.Tenants, c.Org(), wanted)
	if err != nil {
		return Event{}, err
	}
	if kind, known := event.Find(e.Type); known && !may(c, kind, words) {
		return Event{}, missing
	}
	if e.Type == event.JobCompleted {
		var of struct{ Kind job.Kind }
		if err := json.Unmarshal(e.Structure, &of); err != nil {
			return Event{}, err
		}
		if slices.Contains(closed(c), of.Kind) {
			return Event{}, missing
		}
	}
	if words, err = a.Renderer.Words(ctx, c.Org(), words); err != nil {
		return Event{}, err
	}
	t, err := a.Renderer.Render(ctx, e, words)
	if err != nil {
		return Event{}, err
	}
	if t.Standing != event.Stands {
		return Event{}, missing
	}
	return show(e, t), nil
}

// parseAfter reads the id of an event, or one that comes before all: nothing but zeros.
func parseAfter(text string) (e id.Event, err error) {
	err = e.UnmarshalText([]byte(text))
	return e, err
}
