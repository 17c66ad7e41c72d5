package webhooks_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/delivery"
	"visavis.dev/pkg/store/apikey"
	"visavis.dev/pkg/store/tenant"
)

// Each test has an organization of its own.
func TestDeliveries(t *testing.T) {
	w := apitest.NewWorld(t)
	for name, test := range map[string]func(*testing.T, *apitest.World){
		"testing a webhook":                testTestingAWebhook,
		"what webhooks receive":            testWhatWebhooksReceive,
		"deliveries are found":             testDeliveriesAreFound,
		"attempts of a delivery":           testAttemptsOfADelivery,
		"retrying a delivery":              testRetryingADelivery,
		"deliveries on the older contract": testDeliveriesOnTheOlderContract,
	} {
		t.Run(name, func(t *testing.T) { test(t, w.Apart(t)) })
	}
}

// finishDelivery notes what became of a delivery, as a worker does, with its attempts.
func finishDelivery(t *testing.T, w *apitest.World, on any, state delivery.State, dueAt *time.Time, attempts ...delivery.Attempt) {
	t.Helper()
	parsed, err := id.ParseDelivery(on.(string))
	require.NoError(t, err)
	var last delivery.Attempt
	if len(attempts) > 0 {
		last = attempts[len(attempts)-1]
	} else {
		attempts = []delivery.Attempt{}
	}
	w.InTx(t, func(ctx context.Context, tx *tenant.Tx) error {
		_, err := tx.Exec(ctx, `
			UPDATE delivery SET state = $3, due_at = $4, attempts = $5, status = $6, response_ms = $7, error_code = $8, log = $9,
				first_attempt_at = $10
			WHERE org_id = $1 AND id = $2`,
			tx.Org, parsed, state, dueAt, len(attempts), last.Status, last.ResponseMs, last.Code, attempts, time.Now())
		return err
	})
}

func testTestingAWebhook(t *testing.T, w *apitest.World) {
	hook, other := w.Hook(t, map[string]any{"events": []any{"session.started"}})["id"].(string), w.Hook(t, nil)["id"].(string)
	d := w.CallAs(t, "testWebhook", hook, w.Acme.New, nil).Data(t)
	require.Regexp(t, `^whd_`, d["id"])
	require.Equal(t, map[string]any{
		"id": d["id"], "webhookId": hook, "eventId": d["eventId"], "event": "webhook.test", "state": "pending", "attempts": 0.0, "status": nil,
		"ok": false, "responseMs": nil, "errorCode": nil, "nextAttemptAt": nil, "createdAt": d["createdAt"],
	}, d)
	deliveries, _ := w.Page(t, w.Operation(t, "listWebhookDeliveries"), w.Acme.New, nil)
	require.Equal(t, []any{d}, deliveries, "to this webhook whatever it asks for, and to no other: %s", other)

	e := w.CallAs(t, "getEvent", d["eventId"].(string), w.Acme.New, nil).Data(t)
	caller := w.Get(w.Acme.New, "/me").Data(t)["key"].(map[string]any)["id"]
	require.Equal(t, map[string]any{"webhookId": hook, "message": "This is a test of your webhook.", "requestedBy": caller}, e["data"])
}

// Who asked for what gets a delivery of it.
func testWhatWebhooksReceive(t *testing.T, w *apitest.World) {
	hooks := map[string]any{}
	for name, properties := range map[string]map[string]any{
		"any": nil, "named": {"events": []any{"lead.captured", "consent.recorded"}}, "both": {"events": []any{"*", "consent.recorded"}},
		"another": {"events": []any{"lead.captured"}}, "none": {"events": []any{}},
		"any and words": {"events": []any{"*", "transcript.final"}, "includeConversation": true}, "switched off": nil,
	} {
		hooks[name] = w.Hook(t, properties)["id"]
	}
	w.CallAs(t, "updateWebhook", hooks["switched off"].(string), w.Acme.New, map[string]any{"active": false})
	w.Make(t, w.Acme, "createAvatar")
	w.Make(t, w.Globex, "createAvatar") // nobody's business here
	deliveries, _ := w.Page(t, w.Operation(t, "listWebhookDeliveries"), w.Acme.New, nil)
	var received []any
	events := map[any]bool{}
	for _, d := range deliveries {
		d := d.(map[string]any)
		require.Equal(t, "consent.recorded", d["event"])
		events[d["eventId"]] = true
		received = append(received, d["webhookId"])
	}
	require.Len(t, events, 1, "one id for all webhooks")
	require.ElementsMatch(t, []any{hooks["any"], hooks["named"], hooks["both"], hooks["any and words"]}, received)
}

func testDeliveriesAreFound(t *testing.T, w *apitest.World) {
	hook := w.Hook(t, nil)["id"].(string)
	var made []map[string]any
	for range 4 {
		made = append(made, w.CallAs(t, "testWebhook", hook, w.Acme.New, nil).Data(t))
	}
	other := w.Deliver(t, w.Acme)
	foreign := w.Deliver(t, w.Globex)
	due := time.Now().Add(time.Hour)
	finishDelivery(t, w, made[1]["id"], delivery.Retrying, &due, delivery.Attempt{At: time.Now(), Code: new(delivery.Timeout)})
	finishDelivery(t, w, made[2]["id"], delivery.Delivered, nil, delivery.Attempt{At: time.Now(), Status: new(int64(204))})
	finishDelivery(t, w, made[3]["id"], delivery.Failed, nil)

	o := w.Operation(t, "listWebhookDeliveries")
	all := []string{other["id"].(string), made[3]["id"].(string), made[2]["id"].(string), made[1]["id"].(string), made[0]["id"].(string)}
	bare := func(text any) string { return text.(string)[strings.Index(text.(string), "_")+1:] }
	at := made[2]["createdAt"].(string)
	for query, want := range map[string][]string{
		"":                                       all,
		"webhookId=" + hook:                      all[1:],
		"webhookId=" + bare(hook):                all[1:],
		"eventId=" + made[1]["eventId"].(string): {all[3]},
		"eventId=" + bare(made[1]["eventId"]):    {all[3]},
		"eventId=" + made[1]["eventId"].(string) + "&webhookId=" + other["webhookId"].(string): {},
		"eventId=" + foreign["eventId"].(string):                                               {},
		"webhookId=" + foreign["webhookId"].(string):                                           {},
		"state=pending":                {all[0], all[4]},
		"state=retrying":               {all[3]},
		"state=delivered":              {all[2]},
		"state=failed":                 {all[1]},
		"state=failed,retrying,failed": {all[1], all[3]},
		"state=":                       all,
		"ok=true":                      {all[2]},
		"ok=false":                     {all[0], all[1], all[3], all[4]},
		"ok=true&state=failed":         {},
		"from=" + at:                   all[:3],
		"to=" + at:                     all[3:],
		"from=" + at + "&to=" + at:     {},
		"webhookId=" + hook + "&ok=false&state=failed,pending": {all[1], all[4]},
	} {
		values, err := url.ParseQuery(query)
		require.NoError(t, err)
		items, _ := w.Page(t, o, w.Acme.New, values)
		require.Equal(t, want, apitest.IDs(items), query)
	}
	for query, param := range map[string]string{
		"webhookId=evt_" + bare(hook): "query.webhookId", "webhookId=x": "query.webhookId", "eventId=" + hook: "query.eventId",
		"state=lost": "query.state", "state=failed,": "query.state", "state=failed%20": "query.state", "ok=yes": "query.ok", "ok=1": "query.ok",
		"from=yesterday": "query.from", "to=2026-10-32": "query.to", "event=webhook.test": "query.event",
	} {
		for _, key := range []apikey.Secret{w.Acme.New, w.Acme.Old} {
			values, err := url.ParseQuery(query)
			require.NoError(t, err)
			apitest.RequireError(t, w.List(t, o, key, values), http.StatusBadRequest, "invalid_request", param)
		}
	}
}

func testAttemptsOfADelivery(t *testing.T, w *apitest.World) {
	hook := w.Hook(t, nil)["id"].(string)
	made := w.CallAs(t, "testWebhook", hook, w.Acme.New, nil).Data(t)["id"].(string)
	require.Equal(t, []any{}, w.CallAs(t, "getWebhookDelivery", made, w.Acme.New, nil).Data(t)["attemptLog"])

	began := time.Date(2026, 10, 2, 8, 0, 0, 0, time.UTC)
	due := began.Add(5 * time.Minute)
	finishDelivery(t, w, made, delivery.Retrying, &due,
		delivery.Attempt{At: began, Code: new(delivery.AddressRefused)},
		delivery.Attempt{At: began.Add(time.Minute), Status: new(int64(503)), ResponseMs: new(int64(12)), Code: new(delivery.HTTPStatus), Address: new("203.0.113.7:443")})
	shown := w.CallAs(t, "getWebhookDelivery", made, w.Acme.New, nil).Data(t)
	require.Equal(t, []any{
		map[string]any{"at": "2026-10-02T08:00:00Z", "status": nil, "responseMs": nil, "errorCode": "address_refused", "address": nil},
		map[string]any{"at": "2026-10-02T08:01:00Z", "status": 503.0, "responseMs": 12.0, "errorCode": "http_status", "address": "203.0.113.7:443"},
	}, shown["attemptLog"])
	delete(shown, "attemptLog")
	items, _ := w.Page(t, w.Operation(t, "listWebhookDeliveries"), w.Acme.New, nil)
	require.Equal(t, []any{shown}, items)
	require.Equal(t, []any{"retrying", 2.0, 503.0, false, 12.0, "http_status", "2026-10-02T08:05:00Z"}, []any{
		shown["state"], shown["attempts"], shown["status"], shown["ok"], shown["responseMs"], shown["errorCode"], shown["nextAttemptAt"],
	})
}

func testRetryingADelivery(t *testing.T, w *apitest.World) {
	hook := w.Hook(t, nil)["id"].(string)
	made := w.CallAs(t, "testWebhook", hook, w.Acme.New, nil).Data(t)["id"].(string)
	retry := func() map[string]any {
		t.Helper()
		answer := w.CallAs(t, "retryWebhookDelivery", made, w.Acme.New, nil)
		require.Equal(t, http.StatusAccepted, answer.Status, "%s", answer.Raw)
		return answer.Data(t)
	}
	require.Equal(t, "pending", retry()["state"], "it was due already")
	attempt := delivery.Attempt{At: time.Now(), Status: new(int64(204)), ResponseMs: new(int64(3))}
	later := time.Now().Add(time.Hour)
	for state, due := range map[delivery.State]*time.Time{delivery.Failed: nil, delivery.Delivered: nil, delivery.Retrying: &later} {
		finishDelivery(t, w, made, state, due, attempt)
		retried := retry()
		require.Equal(t, []any{"retrying", false, 1.0}, []any{retried["state"], retried["ok"], retried["attempts"]})
		at, err := time.Parse(time.RFC3339, retried["nextAttemptAt"].(string))
		require.NoError(t, err)
		require.WithinDuration(t, time.Now(), at, time.Minute, "now")
		require.Equal(t, retried["nextAttemptAt"], w.CallAs(t, "getWebhookDelivery", made, w.Acme.New, nil).Data(t)["nextAttemptAt"])
	}
	require.Equal(t, "retrying", retry()["state"], "again is fine")
	w.CallAs(t, "deleteWebhook", hook, w.Acme.New, nil)
	for _, operation := range []string{"retryWebhookDelivery", "getWebhookDelivery"} {
		apitest.RequireError(t, w.CallAs(t, operation, made, w.Acme.New, nil), http.StatusNotFound, "not_found", "path.id")
	}
}

func testDeliveriesOnTheOlderContract(t *testing.T, w *apitest.World) {
	hook := w.Hook(t, nil)["id"].(string)
	older := w.CallAs(t, "testWebhook", hook, w.Acme.Old, nil).Data(t)
	bare := older["id"].(string)
	require.Regexp(t, `^[0-9A-Za-z]{22}$`, bare)
	require.Regexp(t, `^evt_`, older["eventId"])
	require.Equal(t, hook, older["webhookId"])

	newer := w.CallAs(t, "getWebhookDelivery", bare, w.Acme.New, nil).Data(t)
	require.Equal(t, "whd_"+bare, newer["id"])
	for _, given := range []string{bare, "whd_" + bare} {
		require.Equal(t, bare, w.CallAs(t, "getWebhookDelivery", given, w.Acme.Old, nil).Data(t)["id"])
		require.Equal(t, bare, w.CallAs(t, "retryWebhookDelivery", given, w.Acme.Old, nil).Data(t)["id"])
	}
	items, _ := w.Page(t, w.Operation(t, "listWebhookDeliveries"), w.Acme.Old, nil)
	require.Equal(t, []string{bare}, apitest.IDs(items))
	newer["id"] = bare
	delete(newer, "attemptLog")
	require.Equal(t, newer, items[0], "nothing else differs")
}
