package contract_test

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"visavis.dev/pkg/base/contract"
)

// events are the data of events whose bodies the golden files hold, by type.
var events = map[string]func() map[string]any{
	"lead.updated": func() map[string]any {
		return map[string]any{
			"inboxItemId": "inb_1", "sessionId": "sess_1", "portalId": "portal_1", "widgetId": nil,
			"leadBand": "hot", "state": "open", "previousState": "new",
			"changedFields": []string{"leadBand", "state", "contact.email"},
			"contact":       map[string]any{"name": "Ada", "email": "ada@example.com", "phone": nil, "company": nil, "preferredChannel": "email"},
			"need":          "a portal_ of my own", "answers": []map[string]any{{"question": "How many?", "answer": "sub_ten"}},
		}
	},
	"booking.requested": func() map[string]any {
		return map[string]any{"inboxItemId": "inb_1", "portalId": "portal_1", "contactConsent": true, "contact": nil}
	},
	"handoff.joined": func() map[string]any {
		return map[string]any{"inboxItemId": "inb_1", "staffId": "per_1", "contact": map[string]any{
			"name": nil, "email": nil, "phone": nil, "company": nil, "preferredChannel": nil}}
	},
	"visitor.detail_removed": func() map[string]any {
		return map[string]any{"inboxItemIds": []string{"inb_1", "inb_2"}, "sessionIds": []string{"sess_1"},
			"portalId": "portal_1", "fields": []string{"contact.phone", "need"}}
	},
	"portal.created": func() map[string]any {
		return map[string]any{"portalId": "portal_1", "name": "sub_way", "subjectIds": []string{"sub_1", "sub_2"}}
	},
	"portal.updated": func() map[string]any {
		return map[string]any{"portalId": "portal_1", "changedFields": []string{"contact.page", "name"}}
	},
	"session.ended": func() map[string]any {
		return map[string]any{"sessionId": "sess_1", "portalId": nil, "subjectId": "sub_1", "personaId": "pa_1",
			"externalId": "portal_7", "durationS": 62, "summary": "They talked."}
	},
	"job.completed": func() map[string]any {
		return map[string]any{"jobId": "job_1", "portalId": "portal_1", "resourceKind": "subject", "resourceId": "sub_1"}
	},
	"setting.changed": func() map[string]any {
		return map[string]any{"key": "inbox.enabled", "scopeKind": "portal", "scopeId": "portal_1", "value": true, "previousValue": nil}
	},
}

func newestBody(eventType string) map[string]any {
	body := map[string]any{
		"id": "evt_1", "type": eventType, "apiVersion": string(contract.Latest), "organizationId": "org_1",
		"createdAt": "2026-10-02T08:00:00Z", "data": events[eventType](),
	}
	if eventType == "session.ended" {
		body["aiGenerated"] = true
	}
	return body
}

// decoded is a body as it comes back from JSON.
func decoded(t require.TestingT, body map[string]any) map[string]any {
	text, err := json.Marshal(body)
	require.NoError(t, err)
	var back map[string]any
	require.NoError(t, json.Unmarshal(text, &back))
	return back
}

func TestEvent(t *testing.T) {
	for eventType := range events {
		for _, v := range contract.Versions() {
			t.Run(eventType+"/"+string(v), func(t *testing.T) {
				path := filepath.Join("testdata", "event."+eventType+"."+string(v)+".json")
				golden(t, path, contract.Event(v, newestBody(eventType)))
				golden(t, path, contract.Event(v, decoded(t, newestBody(eventType))))
			})
		}
	}
}

func TestEventChangesStandAlone(t *testing.T) {
	types := slices.Sorted(maps.Keys(events))
	var changes []contract.Change
	for _, c := range contract.Changes() {
		if c.Event != nil {
			changes = append(changes, c)
		}
	}
	require.Len(t, changes, 5)
	rapid.Check(t, func(t *rapid.T) {
		eventType := rapid.SampledFrom(types).Draw(t, "type")
		want := decoded(t, contract.Event(contract.V20260708, newestBody(eventType)))
		body := newestBody(eventType)
		for _, c := range rapid.Permutation(changes).Draw(t, "changes") {
			body = c.Event(body)
		}
		require.Equal(t, want, decoded(t, body), "the order does not matter")
	})
}

func TestEventLeavesListsOfTexts(t *testing.T) {
	fields, subjects := []string{"leadBand"}, []any{"sub_1"}
	contract.Event(contract.V20260708, map[string]any{"type": "lead.updated", "data": map[string]any{
		"changedFields": fields, "subjectIds": subjects}})
	require.Equal(t, []string{"leadBand"}, fields)
	require.Equal(t, []any{"sub_1"}, subjects)
}

func TestEventWithin(t *testing.T) {
	for name, list := range map[string]any{
		"decoded": []any{map[string]any{"subjectId": "sub_1"}},
		"built":   []map[string]any{{"subjectId": "sub_1"}},
	} {
		data := map[string]any{"of": map[string]any{"portalId": "portal_1", "list": list}}
		older := contract.Event(contract.V20260708, map[string]any{"type": "later.type", "data": data})
		text, err := json.Marshal(older)
		require.NoError(t, err)
		require.JSONEq(t, `{"type": "later.type", "data": {"of": {"portalId": "1", "list": [{"subjectId": "1"}]}}}`, string(text), name)
	}
}

func TestEventWithoutData(t *testing.T) {
	for _, data := range []any{nil, map[string]any(nil), map[string]any{}} {
		older := contract.Event(contract.V20260708, map[string]any{"id": "evt_1", "type": "lead.captured", "data": data})
		require.Equal(t, map[string]any{"id": "evt_1", "type": "lead.captured", "data": data}, older)
	}
}
