package webhooks_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/store/apikey"
)

func testWordsNeedTranscripts(t *testing.T, w *apitest.World) {
	manage := w.Key(w.Acme, scope.Grant{Contract: contract.Latest, Scopes: []scope.Scope{scope.WebhooksManage, scope.SessionsRead}})
	folded := w.Key(w.Acme, scope.Grant{Contract: contract.V20260708, Scopes: []scope.Scope{scope.WebhooksManage, scope.SessionsRead}})
	telling := map[string]any{"includeConversation": true, "events": []any{"transcript.final", "*"}}
	forbidden := func(a apitest.Answer) {
		t.Helper()
		require.Contains(t, apitest.RequireError(t, a, http.StatusForbidden, "forbidden", "")["message"], "transcripts:read")
	}
	forbidden(w.CallAs(t, "createWebhook", "", manage, apitest.HookInput(telling)))
	require.Equal(t, http.StatusCreated, w.CallAs(t, "createWebhook", "", folded, apitest.HookInput(telling)).Status, "sessions:read included it")

	hook := w.Hook(t, telling)
	change := func(key apikey.Secret, body map[string]any) apitest.Answer {
		return w.CallAs(t, "updateWebhook", hook["id"].(string), key, body)
	}
	for name, body := range map[string]map[string]any{
		"address": {"url": apitest.HookURL + "/2"}, "events": {"events": []any{"lead.captured"}}, "contract": {"apiVersion": "2026-07-08"},
		"words": {"includeConversation": true},
	} {
		t.Run(name, func(t *testing.T) { forbidden(change(manage, body)) })
	}
	for _, free := range []map[string]any{
		{}, {"url": apitest.HookURL, "apiVersion": "2026-10-01", "active": true}, {"description": "mine"}, {"active": false},
	} {
		require.Equal(t, http.StatusOK, change(manage, free).Status, "%v", free)
	}
	forbidden(change(manage, map[string]any{"active": true}))
	require.Equal(t, true, change(w.Acme.New, map[string]any{"active": true}).Data(t)["active"])

	off := change(manage, map[string]any{"includeConversation": false}).Data(t)
	require.Equal(t, hook["events"], off["events"], "transcript.final stays, and is dormant")
	moved := change(manage, map[string]any{"url": apitest.HookURL + "/2", "apiVersion": "2026-07-08", "active": false})
	require.Equal(t, http.StatusOK, moved.Status, "%s", moved.Raw)
	apitest.RequireError(t, change(manage, map[string]any{"events": hook["events"]}), http.StatusBadRequest, "invalid_request", "body.events[0]")
	forbidden(change(manage, map[string]any{"includeConversation": true}))
}

func testZeroRetentionAndWords(t *testing.T, w *apitest.World) {
	hook, quiet := w.Hook(t, map[string]any{"includeConversation": true})["id"].(string), w.Hook(t, nil)["id"].(string)
	w.ZeroRetention(t, true)
	refused := func(a apitest.Answer) {
		t.Helper()
		e := apitest.RequireError(t, a, http.StatusConflict, "conflict", "")
		require.Equal(t, "zero_retention", e["details"].(map[string]any)["reason"])
	}
	for _, key := range []apikey.Secret{w.Acme.New, w.Acme.Old} {
		refused(w.CallAs(t, "createWebhook", "", key, apitest.HookInput(map[string]any{"includeConversation": true})))
		refused(w.CallAs(t, "updateWebhook", quiet, key, map[string]any{"includeConversation": true}))
		for _, body := range []map[string]any{{"description": "mine"}, {"url": apitest.HookURL + "/2"}, {"active": false}, {"includeConversation": true}} {
			refused(w.CallAs(t, "updateWebhook", hook, key, body))
		}
	}
	w.Hook(t, nil)
	for _, body := range []map[string]any{{}, {"includeConversation": false, "description": "mine"}, {"active": false}} {
		require.Equal(t, http.StatusOK, w.CallAs(t, "updateWebhook", hook, w.Acme.New, body).Status, "%v", body)
	}
	w.ZeroRetention(t, false)
	require.Equal(t, true, w.CallAs(t, "updateWebhook", hook, w.Acme.New, map[string]any{"includeConversation": true}).Data(t)["includeConversation"])
}
