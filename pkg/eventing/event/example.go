package event

import (
	"strings"
	"time"

	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/id"
)

// exampleAt is when the events of the examples happened.
var exampleAt = time.Date(2026, time.October, 1, 9, 30, 0, 0, time.UTC)

// Example is an event of the kind as a webhook receives it in a contract, with
// values that are made up. The map is the caller's own.
func (k *Kind) Example(v contract.Version) map[string]any {
	data := map[string]any{}
	for name, property := range k.Schema()["properties"].(map[string]any) {
		data[name] = exampleOf(name, property.(map[string]any))
	}
	return contract.Event(v, map[string]any{
		"id": id.Named[exampleKind]("event").String(), "type": string(k.Type), "apiVersion": string(contract.Latest),
		"organizationId": id.Org(id.Named[exampleKind]("organization")).String(), "createdAt": exampleAt.Format(time.RFC3339), "data": data,
	})
}

// exampleKind makes ids of events; another prefix makes one of another kind.
type exampleKind struct{}

// Prefix is that of events.
func (exampleKind) Prefix() string { return "evt" }

// exampleOf is a value that a field's schema allows, as its name suggests.
func exampleOf(name string, schema map[string]any) any {
	if examples, ok := schema["examples"].([]any); ok {
		return examples[0]
	}
	kind := schema["type"]
	if kinds, ok := kind.([]any); ok {
		kind = kinds[0]
	}
	switch kind {
	case "boolean":
		return true
	case "integer", "number":
		return exampleNumber(name)
	case "array":
		return []any{exampleOf(strings.TrimSuffix(name, "s"), schema["items"].(map[string]any))}
	case "object":
		object := map[string]any{}
		for member, property := range schema["properties"].(map[string]any) {
			object[member] = exampleOf(member, property.(map[string]any))
		}
		return object
	}
	if schema["format"] == "date-time" {
		return exampleAt.Format(time.RFC3339)
	}
	return exampleText(name)
}

func exampleNumber(name string) any {
	switch name {
	case "percent", "previousPercent", "threshold":
		return 80
	case "mastery":
		return 0.8
	case "index":
		return 4
	case "rating", "scale":
		return 5
	case "bytes":
		return 48213
	case "attempt", "version", "baseVersion":
		return 1
	}
	if strings.HasSuffix(name, "S") {
		return 120
	}
	return 3
}

// exampleText is a text; of a field that ends in Id, an id of that kind.
func exampleText(name string) string {
	if text, ok := exampleTexts[name]; ok {
		return text
	}
	noun, isID := strings.CutSuffix(name, "Id")
	if prefix, ok := idPrefixes[noun]; ok && isID {
		return prefix + "_" + id.Named[exampleKind](noun).Bare()
	}
	if strings.HasSuffix(name, "By") {
		return "key_" + id.Named[exampleKind]("key").Bare()
	}
	return name
}

// exampleTexts are texts by the name of their field.
var exampleTexts = map[string]string{
	"allowedOrigin": "https://www.example.com",
	"answer":        "For two people.",
	"budget":        "About 200 a month.",
	"campaign":      "autumn",
	"caseRef":       "C-1042",
	"caseSummary":   "The parcel arrived damaged.",
	"changedField":  "name",
	"comment":       "Clear and friendly.",
	"company":       "Example Ltd",
	"customerRef":   "customer-77",
	"email":         "kim@example.com",
	"field":         "contact.phone",
	"key":           "memory.enabled",
	"language":      "en",
	"line":          "Names every hazard.",
	"message":       "This is a test.",
	"name":          "Kim Doe",
	"need":          "A guided tour for a class.",
	"number":        "7K3M-9QX2-4B6D-8FHJ-0RST",
	"phone":         "+49 30 1234567",
	"policyVersion": "2026-07-01",
	"previousValue": "false",
	"question":      "When do you open on Sundays?",
	"quote":         "A wet floor is a hazard.",
	"reason":        "Wants to talk to a person.",
	"sourceUrl":     "https://www.example.com/visit",
	"summary":       "Asked about opening hours and booked a tour.",
	"text":          "We open at nine.",
	"timeline":      "Next month.",
	"timezone":      "Europe/Berlin",
	"title":         "Visitor guide",
	"value":         "true",
	"verifyUrl":     "https://visavis.example.com/verify/7K3M-9QX2-4B6D-8FHJ-0RST",
}

// idPrefixes are those of ids by the name of their field, without Id.
var idPrefixes = map[string]string{
	"assignee": "per", "assignment": "asg", "attestation": "att", "avatar": "av", "calendarConnection": "con", "candidate": "cand", "caseLink": "case",
	"certificate": "cert", "completion": "cmp", "connection": "con", "consent": "cons", "contest": "ctst", "document": "doc", "duo": "duo",
	"escalation": "esc", "gap": "gap", "grant": "grant", "inboxItem": "inb", "interview": "intv", "interviewer": "per", "invite": "inv", "job": "job",
	"knowledgeBase": "kb", "membership": "mem", "memory": "memo", "parentUnit": "unit", "person": "per", "persona": "pa", "portal": "portal",
	"report": "rpt", "resource": "doc", "result": "res", "review": "rvw", "reviewer": "per", "role": "role", "scope": "org", "screening": "scr", "session": "sess",
	"staff": "staff", "subject": "sub", "turn": "turn", "unit": "unit", "voice": "vo", "webhook": "wh", "widget": "wid", "witness": "per",
}
