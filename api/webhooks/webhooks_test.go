package webhooks_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/eventing/webhook"
	"visavis.dev/pkg/store/apikey"
)

// Each test has an organization of its own.
func TestWebhooks(t *testing.T) {
	w := apitest.NewWorld(t)
	for name, test := range map[string]func(*testing.T, *apitest.World){
		"webhook lifecycle":               testWebhookLifecycle,
		"webhook input":                   testWebhookInput,
		"webhook hosts are looked up":     testWebhookHostsAreLookedUp,
		"words need transcripts":          testWordsNeedTranscripts,
		"zero retention and words":        testZeroRetentionAndWords,
		"paused webhooks":                 testPausedWebhooks,
		"webhooks of an older key":        testWebhooksOfAnOlderKey,
		"webhook secrets":                 testWebhookSecrets,
		"webhook replay shows the secret": testWebhookReplayShowsTheSecret,
		"plan limit of webhooks":          testPlanLimitOfWebhooks,
		"activity of webhooks":            testActivityOfWebhooks,
	} {
		t.Run(name, func(t *testing.T) { test(t, w.Apart(t)) })
	}
}

func testWebhookLifecycle(t *testing.T, w *apitest.World) {
	made := w.Hook(t, nil)
	require.Regexp(t, `^wh_`, made["id"])
	require.Regexp(t, `^whsec_[A-Z2-7]{52}$`, made["secret"])
	delete(made, "secret")
	require.Equal(t, map[string]any{
		"id": made["id"], "url": apitest.HookURL, "description": nil, "events": []any{"*"}, "includeConversation": false, "active": true,
		"pausedAt": nil, "apiVersion": "2026-10-01", "createdAt": made["createdAt"], "updatedAt": made["createdAt"],
		"managedBy": "api",
	}, made)
	hook := made["id"].(string)
	require.Equal(t, made, w.CallAs(t, "getWebhook", hook, w.Acme.Old, nil).Data(t), "without its secret")

	change := map[string]any{
		"url": apitest.HookURL + "/2", "events": []any{"lead.captured", "*", "lead.captured"}, "description": "mine", "active": false,
		"apiVersion": "2026-07-08", "includeConversation": true,
	}
	changed := w.CallAs(t, "updateWebhook", hook, w.Acme.New, change).Data(t)
	require.Greater(t, changed["updatedAt"], made["updatedAt"])
	change["events"] = []any{"lead.captured", "*"}
	for field, want := range change {
		require.Equal(t, want, changed[field], field)
	}
	for _, nothing := range []any{map[string]any{}, change} {
		require.Equal(t, changed, w.CallAs(t, "updateWebhook", hook, w.Acme.New, nothing).Data(t), "updatedAt too")
	}
	cleared := w.CallAs(t, "updateWebhook", hook, w.Acme.New, map[string]any{"description": nil}).Data(t)
	require.Nil(t, cleared["description"])
	for _, field := range []string{"active", "apiVersion", "events", "includeConversation", "url"} { // only a description can be null
		apitest.RequireError(t, w.CallAs(t, "updateWebhook", hook, w.Acme.New, map[string]any{field: nil}), http.StatusBadRequest, "invalid_request", "body."+field)
	}

	newer := w.Hook(t, nil)
	items, _ := w.Page(t, w.Operation(t, "listWebhooks"), w.Acme.New, nil)
	require.Equal(t, []string{newer["id"].(string), hook}, apitest.IDs(items), "newest first")
	require.Equal(t, cleared, items[1])

	w.CallAs(t, "testWebhook", newer["id"].(string), w.Acme.New, nil)
	gone := newer["id"].(string)
	require.Equal(t, map[string]any{"deleted": true, "id": gone}, w.CallAs(t, "deleteWebhook", gone, w.Acme.New, nil).Data(t))
	for _, operation := range []string{"getWebhook", "updateWebhook", "deleteWebhook", "testWebhook", "rotateWebhookSecret"} {
		answer := w.CallAs(t, operation, gone, w.Acme.New, w.Body(t, w.Operation(t, operation)))
		apitest.RequireError(t, answer, http.StatusNotFound, "not_found", "path.id")
	}
	deliveries, _ := w.Page(t, w.Operation(t, "listWebhookDeliveries"), w.Acme.New, nil)
	require.Empty(t, deliveries, "its delivery log went with it")
}

// Each field at, below and beyond its bound, when a webhook is made and when
// it is changed.
func testWebhookInput(t *testing.T, w *apitest.World) {
	hook := w.Hook(t, nil)["id"].(string)
	long := func(length int) string {
		return apitest.HookURL + "/" + strings.Repeat("é", length-len(apitest.HookURL)-1)
	}
	types := func(n int, last string) []any { return append(slices.Repeat([]any{"lead.captured"}, n-1), last) }
	for name, test := range map[string]struct {
		field string
		value any
		param string // empty for a good value
	}{
		"longest address":    {"url", long(2048), ""},
		"too long an URL":    {"url", long(2049), "body.url"},
		"empty":              {"url", "", "body.url"},
		"no URL":             {"url", "hook", "body.url"},
		"http":               {"url", "http://127.0.0.1/hook", "body.url"},
		"private":            {"url", "https://10.0.0.1/hook", "body.url"},
		"metadata":           {"url", "https://169.254.169.254/", "body.url"},
		"a private name":     {"url", "https://[fd00::1]/hook", "body.url"},
		"password":           {"url", "https://user:pass@127.0.0.1/", "body.url"},
		"a number":           {"url", 1, "body.url"},
		"unknown host":       {"url", "https://no-such-host.invalid/", ""},
		"no events":          {"events", []any{}, ""},
		"a type twice":       {"events", []any{"*", "lead.captured", "*"}, ""},
		"100 events":         {"events", types(100, "*"), ""},
		"101 events":         {"events", types(101, "*"), "body.events"},
		"unknown type":       {"events", types(3, "lead.lost"), "body.events[2]"},
		"any of a kind":      {"events", []any{"lead.*"}, "body.events[0]"},
		"null in events":     {"events", []any{nil}, "body.events[0]"},
		"words unasked":      {"events", []any{"*", "transcript.final"}, "body.events[1]"},
		"events of a text":   {"events", "*", "body.events"},
		"description":        {"description", strings.Repeat("é", 200), ""},
		"empty description":  {"description", "", ""},
		"a long description": {"description", strings.Repeat("é", 201), "body.description"},
		"words":              {"includeConversation", "yes", "body.includeConversation"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, key := range []apikey.Secret{w.Acme.New, w.Acme.Old} {
				created := w.CallAs(t, "createWebhook", "", key, apitest.HookInput(map[string]any{test.field: test.value}))
				updated := w.CallAs(t, "updateWebhook", hook, key, map[string]any{test.field: test.value})
				if test.param != "" {
					apitest.RequireError(t, created, http.StatusBadRequest, "invalid_request", test.param)
					apitest.RequireError(t, updated, http.StatusBadRequest, "invalid_request", test.param)
					continue
				}
				require.Equal(t, http.StatusCreated, created.Status, "%s", created.Raw)
				require.Equal(t, http.StatusOK, updated.Status, "%s", updated.Raw)
				require.Equal(t, created.Data(t)[test.field], updated.Data(t)[test.field])
			}
		})
	}
	apitest.RequireError(t, w.CallAs(t, "createWebhook", "", w.Acme.New, map[string]any{}), http.StatusBadRequest, "invalid_request", "body.url")
	apitest.RequireError(t, w.CallAs(t, "createWebhook", "", w.Acme.New, apitest.HookInput(map[string]any{"active": true})), http.StatusBadRequest, "invalid_request", "body.active")
	for _, version := range []any{"2026-07-09", "", 20260708} {
		answer := w.CallAs(t, "updateWebhook", hook, w.Acme.New, map[string]any{"apiVersion": version})
		apitest.RequireError(t, answer, http.StatusBadRequest, "invalid_request", "body.apiVersion")
	}
	apitest.RequireError(t, w.CallAs(t, "updateWebhook", hook, w.Acme.New, map[string]any{"active": "no"}), http.StatusBadRequest, "invalid_request", "body.active")
	for graceS, param := range map[any]string{-1: "body.graceS", 0: "", 604800: "", 604801: "body.graceS", 1.5: "body.graceS"} {
		answer := w.CallAs(t, "rotateWebhookSecret", hook, w.Acme.New, map[string]any{"graceS": graceS})
		if param == "" {
			require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Raw)
		} else {
			apitest.RequireError(t, answer, http.StatusBadRequest, "invalid_request", param)
		}
	}
}

// What a host's name resolves to counts as the address itself does.
func testWebhookHostsAreLookedUp(t *testing.T, w *apitest.World) {
	hook := w.Hook(t, nil)["id"].(string)
	o := w.Options
	o.AllowAddresses = nil
	strict := apitest.Serve(t, o).URL
	for _, address := range []string{"https://localhost/hook", apitest.HookURL} {
		body := map[string]any{"url": address}
		for _, r := range []apitest.Request{{Method: http.MethodPost, Path: "/webhooks"}, {Method: http.MethodPatch, Path: "/webhooks/" + hook}} {
			r.Key, r.Base, r.Body = w.Acme.New, strict, body
			e := apitest.RequireError(t, w.Do(r), http.StatusBadRequest, "invalid_request", "body.url")
			require.NotContains(t, e["message"], "127.0.0.1", "what names resolve to in here is not said")
		}
	}
}

func testPausedWebhooks(t *testing.T, w *apitest.World) {
	hook := w.Hook(t, nil)["id"].(string)
	delivery := w.CallAs(t, "testWebhook", hook, w.Acme.New, nil).Data(t)["id"].(string)
	refused := func(reason string) {
		t.Helper()
		for operation, on := range map[string]string{"testWebhook": hook, "retryWebhookDelivery": delivery} {
			e := apitest.RequireError(t, w.CallAs(t, operation, on, w.Acme.New, nil), http.StatusConflict, "conflict", "path.id")
			require.Equal(t, reason, e["details"].(map[string]any)["reason"])
		}
	}
	change := func(body map[string]any) map[string]any {
		t.Helper()
		return w.CallAs(t, "updateWebhook", hook, w.Acme.New, body).Data(t)
	}
	w.Pause(t, hook)
	refused("webhook_paused")
	paused := w.CallAs(t, "getWebhook", hook, w.Acme.New, nil).Data(t)
	require.Equal(t, false, paused["active"])
	require.NotNil(t, paused["pausedAt"])
	require.Equal(t, paused, change(map[string]any{"active": false}), "a paused one stays so")
	require.Equal(t, paused["pausedAt"], change(map[string]any{"description": "mine"})["pausedAt"])

	resumed := change(map[string]any{"active": true})
	require.Equal(t, []any{true, nil}, []any{resumed["active"], resumed["pausedAt"]})
	parsed, err := id.ParseWebhook(hook)
	require.NoError(t, err)
	found, err := webhook.Get(context.Background(), w.Tenants, w.Acme.ID, parsed)
	require.NoError(t, err)
	require.Nil(t, found.FailingSince, "its failing run starts again")
	require.Equal(t, http.StatusAccepted, w.CallAs(t, "testWebhook", hook, w.Acme.New, nil).Status)

	off := change(map[string]any{"active": false})
	require.Equal(t, []any{false, nil}, []any{off["active"], off["pausedAt"]})
	refused("webhook_inactive")
}

func testWebhooksOfAnOlderKey(t *testing.T, w *apitest.World) {
	for _, header := range []map[string]string{nil, {contract.Header: "2026-10-01"}} {
		o := w.Operation(t, "createWebhook")
		made := w.Call(t, o, apitest.Request{Path: o.Path, Key: w.Acme.Old, Body: apitest.HookInput(nil), Header: header})
		require.Equal(t, "2026-07-08", made.Data(t)["apiVersion"], "the key's contract, not the call's")
	}
}

func testPlanLimitOfWebhooks(t *testing.T, w *apitest.World) {
	two := int64(2)
	org := w.NewOrg("Initech", "shard-1", "starter")
	require.NoError(t, w.Directory.SetOverrides(context.Background(), org.ID, plan.Overrides{Limits: plan.Limits{plan.Webhooks: &two}}))
	var first string
	for range two {
		answer := w.CallAs(t, "createWebhook", "", org.New, apitest.HookInput(nil))
		require.Equal(t, http.StatusCreated, answer.Status, "%s", answer.Raw)
		first = answer.Data(t)["id"].(string)
	}
	e := apitest.RequireError(t, w.CallAs(t, "createWebhook", "", org.New, apitest.HookInput(nil)), http.StatusForbidden, "upgrade_required", "")
	require.Equal(t, map[string]any{"feature": "webhooks", "limit": 2.0, "plan": "starter"}, e["details"])
	older := w.CallAs(t, "createWebhook", "", org.Old, apitest.HookInput(nil)).JSON(t)
	require.Equal(t, []any{"upgrade_required", "webhooks", 2.0}, []any{older["error"], older["feature"], older["limit"]})
	w.CallAs(t, "deleteWebhook", first, org.New, nil)
	require.Equal(t, http.StatusCreated, w.CallAs(t, "createWebhook", "", org.New, apitest.HookInput(nil)).Status, "there is room again")
}

func testActivityOfWebhooks(t *testing.T, w *apitest.World) {
	hook := w.Hook(t, map[string]any{"url": apitest.HookURL + "/token?secret=token", "includeConversation": true})["id"].(string)
	delivery := w.CallAs(t, "testWebhook", hook, w.Acme.New, nil).Data(t)
	change := func(body map[string]any) { w.CallAs(t, "updateWebhook", hook, w.Acme.New, body) }
	change(map[string]any{"url": "https://127.0.0.1:10/token", "description": "mine", "active": true})
	change(map[string]any{"includeConversation": false})
	change(map[string]any{"includeConversation": false, "active": true})
	w.CallAs(t, "retryWebhookDelivery", delivery["id"].(string), w.Acme.New, nil)
	w.CallAs(t, "rotateWebhookSecret", hook, w.Acme.New, map[string]any{"graceS": 5})
	w.CallAs(t, "deleteWebhook", hook, w.Acme.New, nil)

	entries, _ := w.Page(t, w.Operation(t, "listActivity"), w.Acme.New, nil)
	var log []map[string]any
	for _, entry := range entries {
		entry := entry.(map[string]any)
		log = append(log, map[string]any{"action": entry["action"], "changes": entry["changes"]})
		if entry["targetKind"] == "webhook" {
			require.Equal(t, hook, entry["targetId"])
		} else {
			require.Equal(t, delivery["id"], entry["targetId"])
		}
	}
	require.Equal(t, []map[string]any{
		{"action": "webhook.deleted", "changes": map[string]any{}},
		{"action": "webhook.secret_rotated", "changes": map[string]any{"graceS": 5.0}},
		{"action": "webhook.delivery_retried", "changes": map[string]any{"webhookId": hook, "eventId": delivery["eventId"]}},
		{"action": "webhook.updated", "changes": map[string]any{"includeConversation": false}},
		{"action": "webhook.updated", "changes": map[string]any{"url": "https://127.0.0.1:10", "description": "mine"}},
		{"action": "webhook.tested", "changes": map[string]any{"eventId": delivery["eventId"]}},
		{"action": "webhook.created", "changes": map[string]any{"url": "https://127.0.0.1:9", "events": []any{"*"}, "includeConversation": true, "apiVersion": "2026-10-01"}},
	}, log)
	require.NotContains(t, string(w.Get(w.Acme.New, "/activity").Raw), "token")
}
