package connections_test

import (
	"crypto/x509"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/provider/slack/slacktest"
	"visavis.dev/pkg/provider/zendesk/zendesktest"
	"visavis.dev/pkg/store/apikey"
)

// What is left becomes a message in a chat and a ticket of a helpdesk, which the item names.
func TestAChatAndAHelpdeskAreTold(t *testing.T) {
	s, z := slacktest.Start(), zendesktest.Start()
	t.Cleanup(s.Close)
	t.Cleanup(z.Close)
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	roots.AddCert(z.Certificate())
	c := apitest.NewConnections(t, func(o *apitest.Options) { o.RootCAs = roots })
	worker := c.Worker()
	worker.Start()
	t.Cleanup(worker.Stop)
	chat := c.Connect(t, func(b, _ map[string]any) {
		b["kind"], b["provider"], b["secret"], b["config"] = "chat", "slack", s.Hook(), map[string]any{}
	})
	require.Equal(t, http.StatusCreated, chat.Status, "%s", chat.Raw)
	desk := c.Connect(t, func(b, _ map[string]any) {
		b["kind"], b["provider"], b["secret"] = "helpdesk", "zendesk", zendesktest.Token
		b["config"] = map[string]any{"baseUrl": z.URL, "email": zendesktest.Email, "tells": []any{"lead"}}
	})
	require.Equal(t, http.StatusCreated, desk.Status, "%s", desk.Raw)
	tested := func(which string) bool {
		return c.CallAs(t, "testConnection", which, c.Acme.New, nil).Data(t)["ok"].(bool)
	}
	hook, helpdesk := chat.Data(t)["id"].(string), desk.Data(t)["id"].(string)
	require.True(t, tested(hook))
	require.True(t, tested(helpdesk))
	require.Equal(t, "A test of the connection", s.Messages()[0].Text)

	body := map[string]any{"need": "A guide", "contact": map[string]any{"name": "Kim Lee", "email": "kim@example.com"}}
	made := c.Call(t, c.Operation(t, "createInboxItem"), apitest.Request{Path: "/inbox", Key: c.Acme.New, Body: body})
	require.Equal(t, http.StatusCreated, made.Status, "%s", made.Raw)
	require.Empty(t, made.Data(t)["externalRefs"])
	item := made.Data(t)["id"].(string)
	require.Eventually(t, func() bool { return len(s.Messages()) == 2 && len(z.Tickets()) == 1 }, 20*time.Second, 20*time.Millisecond)
	require.NotContains(t, s.Messages()[1].Raw, "guide")
	require.Eventually(t, func() bool {
		refs, _ := c.CallAs(t, "getInboxItem", item, c.Acme.New, nil).Data(t)["externalRefs"].([]any)
		return len(refs) == 1 && apitest.At(refs[0], "url") == z.URL+"/agent/tickets/101" && apitest.At(refs[0], "connectionId") == helpdesk
	}, 20*time.Second, 20*time.Millisecond)
	done := c.CallAs(t, "updateInboxItem", item, c.Acme.New, map[string]any{"state": "done"})
	require.Equal(t, http.StatusOK, done.Status, "%s", done.Raw)
	require.Eventually(t, func() bool { return z.Tickets()[0].Status == "solved" }, 20*time.Second, 20*time.Millisecond)

	// A secret that is not taken shows, and what waits is told by the next one.
	require.Equal(t, http.StatusOK, c.CallAs(t, "rotateConnectionSecret", helpdesk, c.Acme.New, map[string]any{"secret": "wrong-0123456789"}).Status)
	require.False(t, tested(helpdesk))
	made = c.Call(t, c.Operation(t, "createInboxItem"), apitest.Request{Path: "/inbox", Key: c.Acme.New, Body: body})
	require.Eventually(t, func() bool {
		all := c.Get(c.Acme.New, "/connections/"+helpdesk+"/untold").JSON(t)["data"].([]any)
		return len(all) == 1 && apitest.At(all[0], "kind") == "item" && apitest.At(all[0], "objectId") == made.Data(t)["id"]
	}, 20*time.Second, 20*time.Millisecond)
	require.Equal(t, http.StatusOK, c.CallAs(t, "rotateConnectionSecret", helpdesk, c.Acme.New, map[string]any{"secret": zendesktest.Token}).Status)
	require.Eventually(t, func() bool { return len(z.Tickets()) == 2 }, 20*time.Second, 20*time.Millisecond)

	// The address of a webhook is a secret.
	shown := c.CallAs(t, "getConnection", hook, c.Acme.New, nil)
	require.Equal(t, []any{true, "good"}, []any{shown.Data(t)["secretSet"], shown.Data(t)["secretLast4"]})
	require.NotContains(t, string(shown.Raw), slacktest.Path)
	require.NotContains(t, c.Log.String(), "goodgood")
	require.NotContains(t, c.Log.String(), zendesktest.Token)
	calls := c.Get(c.Acme.New, "/connections/"+hook+"/calls")
	require.NotContains(t, string(calls.Raw), "goodgood")
	require.Equal(t, http.StatusOK, c.CallAs(t, "deleteConnection", helpdesk, c.Acme.New, nil).Status)
	require.Empty(t, c.CallAs(t, "getInboxItem", item, c.Acme.New, nil).Data(t)["externalRefs"])
}

// Only the addresses of a provider are taken, or those that the operator lists.
func TestTheAddressesOfChatsAndHelpdesks(t *testing.T) {
	c := apitest.NewConnections(t)
	connect := func(kind, provider, secret string, config map[string]any) apitest.Answer {
		return c.Connect(t, func(b, _ map[string]any) {
			b["kind"], b["provider"], b["secret"], b["config"] = kind, provider, secret, config
		})
	}
	for _, secret := range []string{
		"https://hooks.slack.com.evil.example/services/T0/B0/x", "https://evil.example/services/T0/B0/x", "http://hooks.slack.com/services/T0/B0/x",
		"https://hooks.slack.com/triggers/T0/x", "https://user:pw@hooks.slack.com/services/T0/B0/x", "https://hooks.slack.com:8443/services/T0/B0/x",
		"https://10.0.0.1/services/T0/B0/x", "xoxb-a-token-and-no-address", "https://hooks.slack.com/services/T0/B0/x#y",
	} {
		e := apitest.RequireError(t, connect("chat", "slack", secret, map[string]any{}), http.StatusBadRequest, "invalid_request", "body.secret")
		require.NotContains(t, e["message"], secret)
	}
	for _, secret := range []string{"https://hooks.slack.com/services/T0/B0/x", "https://HOOKS.slack.com:443/services/T0/B0/x"} {
		require.Equal(t, http.StatusCreated, connect("chat", "slack", secret, map[string]any{}).Status)
	}
	for secret, want := range map[string]int{
		"https://prod-12.westeurope.logic.azure.com:443/workflows/0/triggers/manual/paths/invoke?sig=x":               http.StatusCreated,
		"https://default0.1.environment.api.powerplatform.com:443/powerautomate/automations/direct/workflows/0?sig=x": http.StatusCreated,
		"https://acme.webhook.office.com/webhookb2/0@0/IncomingWebhook/0/0":                                           http.StatusCreated,
		"https://logic.azure.com.evil.example/workflows/0?sig=x":                                                      http.StatusBadRequest,
		"https://evillogic.azure.com/workflows/0?sig=x":                                                               http.StatusBadRequest,
		"https://acme.webhook.office.com/":                                                                            http.StatusBadRequest,
	} {
		require.Equal(t, want, connect("chat", "teams", secret, map[string]any{}).Status, secret)
	}
	for base, want := range map[string]int{
		"https://acme.zendesk.com": http.StatusCreated, "https://acme.zendesk.com/": http.StatusCreated, "https://a.b.zendesk.com": http.StatusBadRequest,
		"https://acme.zendesk.com.evil.example": http.StatusBadRequest, "https://zendesk.com": http.StatusBadRequest, "https://acme.zendesk.com/api": http.StatusBadRequest,
	} {
		got := connect("helpdesk", "zendesk", "token-0123456789", map[string]any{"baseUrl": base, "email": "a@example.com"})
		require.Equal(t, want, got.Status, base)
		if want == http.StatusBadRequest {
			apitest.RequireError(t, got, want, "invalid_request", "body.config.baseUrl")
		}
	}
	apitest.RequireError(t, connect("chat", "slack", "https://hooks.slack.com/services/T0/B0/x", map[string]any{"itemUrl": "https://people.example.com/inbox"}),
		http.StatusBadRequest, "invalid_request", "body.config.itemUrl")
	apitest.RequireError(t, connect("chat", "slack", "https://hooks.slack.com/services/T0/B0/x", map[string]any{"tells": []any{"gap"}}),
		http.StatusBadRequest, "invalid_request", "body.config.tells.0")

	// Nor by a change.
	which := connect("chat", "slack", "https://hooks.slack.com/services/T0/B0/x", map[string]any{}).Data(t)["id"].(string)
	apitest.RequireError(t, c.CallAs(t, "updateConnection", which, c.Acme.New, map[string]any{"secret": "https://evil.example/services/x"}), http.StatusBadRequest, "invalid_request", "body.secret")
	apitest.RequireError(t, c.CallAs(t, "rotateConnectionSecret", which, c.Acme.New, map[string]any{"secret": "https://evil.example/services/x"}), http.StatusBadRequest, "invalid_request", "body.secret")
}

// Who may not read the inbox, or the words of conversations, has them told to nobody else.
func TestAChatNeedsTheInboxAndTheWords(t *testing.T) {
	c := apitest.NewConnections(t)
	o := c.Operation(t, "createConnection")
	body := func(words bool) map[string]any {
		return map[string]any{"kind": "chat", "provider": "slack", "name": "Chat", "secret": "https://hooks.slack.com/services/T0/B0/x", "config": map[string]any{"includeConversation": words}}
	}
	none := c.Scoped(contract.V20261001, scope.ConnectionsRead, scope.ConnectionsWrite)
	half := c.Scoped(contract.V20261001, scope.ConnectionsRead, scope.ConnectionsWrite, scope.InboxRead)
	full := c.Scoped(contract.V20261001, scope.ConnectionsRead, scope.ConnectionsWrite, scope.InboxRead, scope.TranscriptsRead)
	apitest.RequireError(t, c.Call(t, o, apitest.Request{Path: o.Path, Key: none, Body: body(false)}), http.StatusForbidden, "forbidden", "")
	apitest.RequireError(t, c.Call(t, o, apitest.Request{Path: o.Path, Key: half, Body: body(true)}), http.StatusForbidden, "forbidden", "")
	plain := c.Call(t, o, apitest.Request{Path: o.Path, Key: half, Body: body(false)}).Data(t)["id"].(string)
	words := c.Call(t, o, apitest.Request{Path: o.Path, Key: full, Body: body(true)}).Data(t)["id"].(string)
	apitest.RequireError(t, c.CallAs(t, "updateConnection", plain, half, map[string]any{"config": map[string]any{"includeConversation": true}}), http.StatusForbidden, "forbidden", "")
	other := map[string]any{"secret": "https://hooks.slack.com/services/T1/B1/elsewhere"}
	apitest.RequireError(t, c.CallAs(t, "updateConnection", words, half, other), http.StatusForbidden, "forbidden", "")
	apitest.RequireError(t, c.CallAs(t, "rotateConnectionSecret", words, half, other), http.StatusForbidden, "forbidden", "")
	require.Equal(t, http.StatusOK, c.CallAs(t, "updateConnection", words, half, map[string]any{"config": map[string]any{}}).Status)

	for _, key := range []apikey.Secret{c.Scoped(contract.V20261001, scope.ConnectionsRead, scope.ResultsRead), none} {
		apitest.RequireError(t, c.CallAs(t, "listConnectionUntold", plain, key, nil), http.StatusForbidden, "forbidden", "")
	}
	require.Equal(t, http.StatusOK, c.CallAs(t, "listConnectionUntold", plain, half, nil).Status)

	c.ZeroRetention(t, true)
	e := apitest.RequireError(t, c.Call(t, o, apitest.Request{Path: o.Path, Key: full, Body: body(true)}), http.StatusConflict, "conflict", "body.config.includeConversation")
	require.Equal(t, "zero_retention", e["details"].(map[string]any)["reason"])
	apitest.RequireError(t, c.CallAs(t, "updateConnection", plain, full, map[string]any{"config": map[string]any{"includeConversation": true}}),
		http.StatusConflict, "conflict", "body.config.includeConversation")
}
