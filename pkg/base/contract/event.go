package contract

import (
	"encoding/json"
	"slices"
	"strings"
)

// Event writes an event's body in a contract. The body is the whole of what a
// webhook receives, as the newest contract has it: id, type, apiVersion,
// organizationId, createdAt, data and, where it applies, aiGenerated, its lists
// []any, []string or []map[string]any. The maps that are given may be changed
// and be part of the answer; give Event its own. Lists of texts are copied.
func Event(v Version, body map[string]any) map[string]any {
	for _, c := range Changes() {
		if v.Before(c.Since) && c.Event != nil {
			body = c.Event(body)
		}
	}
	return body
}

// smallEnvelope: the body was { id, type, createdAt, data } (Events, Delivery).
var smallEnvelope = Change{
	Since:   V20261001,
	Summary: "An event's body has apiVersion and organizationId; before, it had neither.",
	Event: func(body map[string]any) map[string]any {
		older := map[string]any{}
		// aiGenerated is in every contract (Event).
		for _, name := range []string{"id", "type", "createdAt", "data", "aiGenerated"} {
			if value, ok := body[name]; ok {
				older[name] = value
			}
		}
		return older
	},
	Newer: map[Item][]string{EventItem: {"apiVersion", "organizationId"}},
}

// bareIDs: ids of portals and subjects had no prefix (Id prefixes).
var bareIDs = Change{
	Since:   V20261001,
	Summary: "Ids of portals and subjects start with portal_ and sub_; before, they were bare.",
	Event: func(body map[string]any) map[string]any {
		bareWithin(body["data"])
		return body
	},
	Answer: func(kind Item, item map[string]any) map[string]any {
		switch kind {
		case GapItem, KnowledgeBaseItem, SettingItem:
			bareWithin(item)
		case BiasAuditItem, CaseLinkItem, EscalationItem, InboxItemItem, MembershipItem, UnitItem:
			bareOf(item, "portalId")
		case ConnectionItem:
			bareOf(item["config"], "portalId")
		case JobItem:
			bareOf(item, "portalId", "subjectId", "resourceId")
		case LogEntryItem:
			bareOf(item, "targetId")
			bareOf(item["changes"], "portalId", "subjectId", "scopeId")
		case PersonItem:
			places, _ := item["memberships"].([]any)
			for _, place := range places {
				bareOf(place, "portalId")
			}
		case PersonaItem:
			bareOf(item, "portalIds")
		case PortalItem:
			bareOf(item, "id", "subjectIds")
		case AssignmentItem, AssignmentProgressItem, AttemptGrantItem, AttestationItem, CertificateItem, CompletionItem, MasteryItem, ReportItem, ResultItem, RoleItem,
			SessionItem, SetupPlanItem, TranscriptEntryItem:
			bareOf(item, "portalId", "subjectId")
		case SessionTicketItem:
			bareOf(item["session"], "portalId", "subjectId")
		case SubjectItem:
			bareOf(item, "id", "portalId", "prerequisites")
		case SubjectContentItem:
			bareOf(item, "subjectId")
		}
		return item
	},
}

// bareOf takes the prefixes off an item's own ids: what else it holds, such as a
// session's metadata, is the customer's, whatever its name.
func bareOf(item any, names ...string) {
	fields, _ := item.(map[string]any)
	for _, name := range names {
		if value, ok := fields[name]; ok {
			fields[name] = eachText(value, bare)
		}
	}
}

// bareWithin takes the prefixes off the ids in data or in a part of it.
func bareWithin(part any) {
	switch part := part.(type) {
	case map[string]any:
		for name, value := range part {
			switch name {
			// resourceId and scopeId are whatever the kind beside them says.
			case "portalId", "portalIds", "subjectId", "subjectIds", "resourceId", "scopeId":
				part[name] = eachText(value, bare)
			default:
				bareWithin(value)
			}
		}
	case []any:
		for _, item := range part {
			bareWithin(item)
		}
	case []map[string]any:
		for _, item := range part {
			bareWithin(item)
		}
	}
}

// Bare is the id of a portal or a subject as contracts before 2026-10-01 write it; another id is
// as it was.
func Bare(id string) string { return bare(id) }

// BareIDs is a JSON text with the ids of portals and subjects as contracts before 2026-10-01 write
// them.
func BareIDs(text []byte) ([]byte, error) {
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		return nil, err
	}
	bareWithin(v)
	return json.Marshal(v)
}

func bare(id string) string {
	if rest, ok := strings.CutPrefix(id, "portal_"); ok {
		return rest
	}
	return strings.TrimPrefix(id, "sub_")
}

// flatContact: visitors' details lay beside the other fields (Events, Delivery).
var flatContact = Change{
	Since:   V20261001,
	Summary: "A visitor's name, email, phone, company and preferredChannel on leads, bookings and hand-offs are under contact; before, they lay in data itself.",
	Event: func(body map[string]any) map[string]any {
		data, _ := body["data"].(map[string]any)
		if !ofVisitor(body["type"]) {
			return body
		}
		if contact, ok := data["contact"]; ok {
			delete(data, "contact")
			details, _ := contact.(map[string]any)
			for _, name := range []string{"name", "email", "phone", "company", "preferredChannel"} {
				data[name] = details[name] // null where it is held back
			}
		}
		renameFields(data, func(name string) string { return strings.TrimPrefix(name, "contact.") })
		return body
	},
}

// leadScore: a lead's band had another name (Events, Delivery).
var leadScore = Change{
	Since:   V20261001,
	Summary: "A lead's band is called leadBand; before, leadScore.",
	Answer: func(kind Item, item map[string]any) map[string]any {
		if band, ok := item["leadBand"]; ok && kind == InboxItemItem {
			delete(item, "leadBand")
			item["leadScore"] = band
		}
		return item
	},
	Renamed: map[Item]map[string]string{InboxItemItem: {"leadBand": "leadScore"}},
	Event: func(body map[string]any) map[string]any {
		data, _ := body["data"].(map[string]any)
		if band, ok := data["leadBand"]; ok {
			delete(data, "leadBand")
			data["leadScore"] = band
		}
		renameFields(data, func(name string) string {
			if name == "leadBand" {
				return "leadScore"
			}
			return name
		})
		return body
	},
}

// noInboxItem: events did not name the inbox item (Events, Delivery).
var noInboxItem = Change{
	Since:   V20261001,
	Summary: "Events of a visitor name the inbox item in inboxItemId; before, they did not.",
	Event: func(body map[string]any) map[string]any {
		data, _ := body["data"].(map[string]any)
		delete(data, "inboxItemId")
		return body
	},
}

// ofVisitor says whether events of a type carry a visitor's details or speak of
// them.
func ofVisitor(eventType any) bool {
	name, _ := eventType.(string)
	family, _, _ := strings.Cut(name, ".")
	return slices.Contains([]string{"lead", "booking", "handoff", "visitor"}, family)
}

// renameFields renames the fields that data speaks of: those that changed, or
// were removed.
func renameFields(data map[string]any, rename func(string) string) {
	for _, list := range []string{"changedFields", "fields"} {
		if names, ok := data[list]; ok {
			data[list] = eachText(names, rename)
		}
	}
}

// eachText changes a text, or the texts of a list, which is copied. Anything
// else stays as it is.
func eachText(value any, change func(string) string) any {
	switch value := value.(type) {
	case string:
		return change(value)
	case []string:
		list := make([]string, len(value))
		for i, text := range value {
			list[i] = change(text)
		}
		return list
	case []any:
		list := make([]any, len(value))
		for i, item := range value {
			list[i] = eachText(item, change)
		}
		return list
	}
	return value
}
