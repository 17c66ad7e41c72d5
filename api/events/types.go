package events

import (
	"context"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/eventing/event"
)

// EventType is an entry of the catalogue (spec, EventType).
type EventType struct {
	Type                 event.Type       `json:"type" doc:"The type's name, as webhooks and lists take it."`
	Description          string           `json:"description" doc:"When an event of the type is sent."`
	Since                contract.Version `json:"since" enum:"2026-07-08,2026-10-01" doc:"The contract it appeared in."`
	ExplicitOnly         bool             `json:"explicitOnly" doc:"Never part of *; received only by naming it."`
	RequiresConversation bool             `json:"requiresConversation" doc:"Only for a webhook with includeConversation."`
	Fields               EventTypeFields  `json:"fields" doc:"data's fields by class: dotted paths a.b, and [] marks a list's items."`
	DataSchema           map[string]any   `json:"dataSchema" doc:"data's JSON Schema in the newest contract."`
}

// EventTypeFields are the fields of a type by class.
type EventTypeFields struct {
	Structure    []string `json:"structure" doc:"Always there: ids, states, counts and times."`
	Contact      []string `json:"contact" doc:"Only on leads, bookings and hand-offs."`
	Result       []string `json:"result" doc:"Only for released results."`
	Conversation []string `json:"conversation" doc:"Only with includeConversation, where allowed."`
}

// TypesQuery is empty: the catalogue is one page.
type TypesQuery struct{}

func listTypes(context.Context, *route.Call, *TypesQuery) (route.Page[EventType], error) {
	var page route.Page[EventType]
	for _, k := range event.Kinds() {
		page.Items = append(page.Items, EventType{
			k.Type, k.Description, k.Since, k.ExplicitOnly, k.RequiresConversation, EventTypeFields(k.Fields), k.Schema(),
		})
	}
	return page, nil
}
