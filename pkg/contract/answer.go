package contract

import (
	"slices"
	"strings"
)

// Item is a kind of thing in the data of successful answers that contracts
// write differently. It is the name of its schema too.
type Item string

// The items.
const (
	// EventItem is an event, which reads as a webhook's body does.
	EventItem Item = "Event"
	// DeliveryItem is the delivery of an event to a webhook.
	DeliveryItem Item = "WebhookDelivery"
	// GapItem is a question that the knowledge does not answer.
	GapItem Item = "Gap"
	// KnowledgeBaseItem is a knowledge pack.
	KnowledgeBaseItem Item = "KnowledgeBase"
	// MembershipItem is a person's place in a portal.
	MembershipItem Item = "Membership"
	// PersonItem is a person with their places.
	PersonItem Item = "Person"
	// SessionItem is a live conversation.
	SessionItem Item = "Session"
	// SessionTicketItem is a session with what its client needs to connect.
	SessionTicketItem Item = "SessionTicket"
	// UnitItem is a class, team or group of a portal.
	UnitItem Item = "Unit"
)

// Answer writes an item of a successful answer in a contract. The item is as
// it comes back from JSON, in the newest contract's form; it may be changed and
// be part of the answer.
func Answer(v Version, kind Item, item map[string]any) map[string]any {
	if kind == EventItem {
		return Event(v, item)
	}
	for _, c := range Changes() {
		if v.Before(c.Since) && c.Answer != nil {
			item = c.Answer(kind, item)
		}
	}
	return item
}

// Lacks lists the fields that items of a kind do not have in a contract.
func Lacks(v Version, kind Item) []string {
	var fields []string
	for _, c := range Changes() {
		if v.Before(c.Since) {
			fields = append(fields, c.Newer[kind]...)
		}
	}
	slices.Sort(fields)
	return fields
}

// bareDelivery: ids of deliveries had no prefix (Id prefixes).
var bareDelivery = Change{
	Since:   V20261001,
	Summary: "Ids of webhook deliveries start with whd_; before, they were bare.",
	Answer: func(kind Item, item map[string]any) map[string]any {
		if text, ok := item["id"].(string); ok && kind == DeliveryItem {
			item["id"] = strings.TrimPrefix(text, "whd_")
		}
		return item
	},
}
