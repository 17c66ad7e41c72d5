package contract_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/contract"
)

func delivery() map[string]any {
	return map[string]any{"id": "whd_1", "webhookId": "wh_1", "eventId": "evt_1", "event": "webhook.test"}
}

func TestAnswerWithADelivery(t *testing.T) {
	require.Equal(t, delivery(), contract.Answer(contract.V20261001, contract.DeliveryItem, delivery()))
	older := delivery()
	older["id"] = "1"
	require.Equal(t, older, contract.Answer(contract.V20260708, contract.DeliveryItem, delivery()))
	require.Equal(t, older, contract.Answer(contract.V20260708, contract.DeliveryItem, older), "twice changes nothing")
	require.Equal(t, delivery(), contract.Answer(contract.V20260708, "Other", delivery()), "only deliveries")
}

func TestAnswerWithAnEvent(t *testing.T) {
	for eventType := range events {
		for _, v := range contract.Versions() {
			want := decoded(t, contract.Event(v, newestBody(eventType)))
			got := contract.Answer(v, contract.EventItem, decoded(t, newestBody(eventType)))
			require.Equal(t, want, decoded(t, got), "%s on %s", eventType, v)
			for _, name := range contract.Lacks(v, contract.EventItem) {
				require.NotContains(t, got, name)
				require.Contains(t, newestBody(eventType), name)
			}
		}
	}
}

func TestLacks(t *testing.T) {
	require.Equal(t, []string{"apiVersion", "organizationId"}, contract.Lacks(contract.V20260708, contract.EventItem))
	require.Empty(t, contract.Lacks(contract.V20260708, contract.DeliveryItem))
	require.Empty(t, contract.Lacks(contract.Latest, contract.EventItem))
}

func TestAnswerWithASubject(t *testing.T) {
	item := func(sub, portal string) map[string]any {
		return map[string]any{
			"id": sub + "1", "portalId": portal + "1", "personaId": "pa_1", "title": "sub_way", "prerequisites": []any{sub + "2"},
			"objectives": []any{map[string]any{"key": "a", "text": map[string]any{"en": "portal_"}}},
		}
	}
	require.Equal(t, item("sub_", "portal_"), contract.Answer(contract.V20261001, contract.SubjectItem, item("sub_", "portal_")))
	require.Equal(t, item("", ""), contract.Answer(contract.V20260708, contract.SubjectItem, item("sub_", "portal_")))
	content := func(sub string) map[string]any {
		return map[string]any{"subjectId": sub + "1", "intro": map[string]any{"en": "sub_x"}, "sections": []any{map[string]any{"key": "sub_1"}}}
	}
	require.Equal(t, content(""), contract.Answer(contract.V20260708, contract.SubjectContentItem, content("sub_")))
	work := func(sub string) map[string]any {
		return map[string]any{"id": "job_1", "resourceKind": "subject", "resourceId": sub + "1"}
	}
	require.Equal(t, work(""), contract.Answer(contract.V20260708, contract.JobItem, work("sub_")))
}

func TestAnswerWithASession(t *testing.T) {
	session := func(prefix string) map[string]any {
		return map[string]any{
			"id": "sess_1", "personaId": "pa_1", "subjectId": prefix + "1", "metadata": map[string]any{"subjectId": "sub_1"},
			"collected": map[string]any{"portalId": "portal_1"},
		}
	}
	require.Equal(t, session("sub_"), contract.Answer(contract.V20261001, contract.SessionItem, session("sub_")))
	require.Equal(t, session(""), contract.Answer(contract.V20260708, contract.SessionItem, session("sub_")), "what is the customer's stays")
	ticket := func(prefix string) map[string]any {
		return map[string]any{"session": session(prefix), "token": "vst_1"}
	}
	require.Equal(t, ticket(""), contract.Answer(contract.V20260708, contract.SessionTicketItem, ticket("sub_")))
}

func TestAnswerWithALogEntry(t *testing.T) {
	entry := func(sub, portal string) map[string]any {
		return map[string]any{
			"id": "act_1", "targetKind": "subject", "targetId": sub + "1", "changes": map[string]any{"portalId": portal + "1", "title": "sub_way"},
		}
	}
	require.Equal(t, entry("sub_", "portal_"), contract.Answer(contract.V20261001, contract.LogEntryItem, entry("sub_", "portal_")))
	require.Equal(t, entry("", ""), contract.Answer(contract.V20260708, contract.LogEntryItem, entry("sub_", "portal_")))
	entryOfNothing := map[string]any{"targetId": "pa_1", "changes": nil}
	require.Equal(t, map[string]any{"targetId": "pa_1", "changes": nil}, contract.Answer(contract.V20260708, contract.LogEntryItem, entryOfNothing))
}

func TestAnswerWithASetting(t *testing.T) {
	setting := func(scope string) map[string]any {
		return map[string]any{"key": "memory.enabled", "value": true, "scopeKind": "portal", "scopeId": scope}
	}
	require.Equal(t, setting("portal_1"), contract.Answer(contract.V20261001, contract.SettingItem, setting("portal_1")))
	require.Equal(t, setting("1"), contract.Answer(contract.V20260708, contract.SettingItem, setting("portal_1")))
}
