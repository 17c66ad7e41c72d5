// Package activity declares the operation that shows an organization's
// activity log.
package activity

import (
	"context"
	"net/http"
	"time"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
)

// API is what the operation works with.
type API struct {
	Tenants *tenant.Tenants
}

// Register declares the operation.
func (a *API) Register(s *route.Service) {
	route.List(s, route.Operation{
		ID: "listActivity", Method: http.MethodGet, Path: "/activity", Group: "Settings", Class: "read",
		Scope: scope.SettingsRead, Since: contract.V20261001, Items: contract.LogEntryItem,
		Summary: "Who changed what, newest first",
		Description: "What was done to candidates and roles is listed only for a key that also holds candidates:read, to people, their places and units, " +
			"and the team of the inbox, with people:read, to consents with consents:read, and to what visitors left with inbox:read.",
	}, a.list)
}

// LogEntry is one line of the log.
type LogEntry struct {
	ID         id.Activity    `json:"id" doc:"Id of the line of the log, with the prefix act_."`
	At         time.Time      `json:"at" doc:"When it was done, in UTC."`
	Actor      string         `json:"actor" doc:"A key's id, or a name such as operator."`
	Action     string         `json:"action" example:"key.created" doc:"What was done, as the kind of thing and the verb: key.created."`
	TargetKind string         `json:"targetKind" doc:"The kind of thing that it was done to, such as key, webhook or persona."`
	TargetID   string         `json:"targetId" doc:"Id of the thing that it was done to."`
	Changes    map[string]any `json:"changes" doc:"The new values by field."`
	Address    *string        `json:"address" doc:"The network address that the request came from; null for what the system did."`
}

// Query filters and pages the log.
type Query struct {
	route.Paging
	Action   string       `query:"action" maxLength:"80" doc:"Only what was done so, such as key.created."`
	TargetID string       `query:"targetId" maxLength:"80" doc:"Only what was done to the thing with this id."`
	From     route.Moment `query:"from" doc:"Entries at or after this moment: an ISO date, midnight in UTC, or a date-time."`
	To       route.Moment `query:"to" doc:"Entries before this moment: an ISO date, midnight in UTC, or a date-time."`
}

func (a *API) list(ctx context.Context, c *route.Call, q *Query) (route.Page[LogEntry], error) {
	after, err := route.After[activity.Position](c, q.Paging)
	if err != nil {
		return route.Page[LogEntry]{}, err
	}
	filter := activity.Filter{Action: q.Action, TargetID: q.TargetID, From: q.From.Time, To: q.To.Time, Without: hidden(c.Principal.Key.Grant())}
	found, err := activity.List(ctx, a.Tenants, c.Org(), filter, after, q.Limit+1)
	if err != nil {
		return route.Page[LogEntry]{}, err
	}
	page, err := route.Paged(c, q.Paging, found, func(e activity.Entry) activity.Position {
		return activity.Position{At: e.At, ID: e.ID}
	})
	return route.Map(page, show), err
}

func show(e activity.Entry) LogEntry {
	shown := LogEntry{e.ID, e.At.UTC(), e.Actor, e.Action, e.TargetKind, e.TargetID, e.Changes, nil}
	if e.Address != "" {
		shown.Address = &e.Address
	}
	return shown
}

// guarded are the kinds of things whose entries take the scope that reads them as well, of every key.
var guarded = map[scope.Scope][]string{
	scope.CandidatesRead: {"candidate", "role"},
	scope.PeopleRead:     {"person", "membership", "unit"},
	scope.ConsentsRead:   {"consent"},
	scope.InboxRead:      {"inbox_item", "inbox_rule", "schedule", "gap"},
}

// hidden are the kinds of things that a key does not read of.
func hidden(g scope.Grant) (kinds []string) {
	for s, of := range guarded {
		if !g.Holds(s) {
			kinds = append(kinds, of...)
		}
	}
	return kinds
}
