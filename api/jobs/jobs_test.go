package jobs_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/api/route"
	"visavis.dev/hack/receiver/endpoint"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/store/apikey"
)

// Each test has an organization of its own.
func TestJobs(t *testing.T) {
	w := apitest.NewWorld(t)
	for name, test := range map[string]func(*testing.T, *apitest.World){
		"input of a recovery":          testInputOfARecovery,
		"recovery needs a receiver":    testRecoveryNeedsAReceiver,
		"recovery is proposed":         testRecoveryIsProposed,
		"recovery is proposed once":    testRecoveryIsProposedOnce,
		"jobs are seen by scope":       testJobsAreSeenByScope,
		"jobs are cancelled":           testJobsAreCancelled,
		"jobs are found":               testJobsAreFound,
		"jobs of another organization": testJobsOfAnotherOrganization,
	} {
		t.Run(name, func(t *testing.T) { test(t, w.Apart(t)) })
	}
}

// recoverable is a good request for a recovery with these properties besides.
func recoverable(properties map[string]any) map[string]any {
	body := map[string]any{"from": "2026-07-08T00:00:00Z"}
	maps.Copy(body, properties)
	return body
}

// recovery has what a webhook of Acme's missed delivered again, and answers the job.
func recovery(t *testing.T, w *apitest.World, hook string, properties map[string]any) map[string]any {
	t.Helper()
	answer := w.CallAs(t, "recoverWebhook", hook, w.Acme.New, recoverable(properties))
	require.Equal(t, http.StatusAccepted, answer.Status, "%s", answer.Raw)
	return answer.Data(t)
}

// jobs lists the ids of the jobs that a key sees.
func jobs(t *testing.T, w *apitest.World, key apikey.Secret, query string) []string {
	t.Helper()
	values, err := url.ParseQuery(query)
	require.NoError(t, err)
	items, _ := w.Page(t, w.Operation(t, "listJobs"), key, values)
	return apitest.IDs(items)
}

// A full-access key of before 2026-10-01 never reaches candidates, people, the inbox or consent records: it sees no job on them, nor that one has ended, which
// keys that are given portals:read by name do.
func TestJobsOfAnOldKeyWithFullAccess(t *testing.T) {
	w := apitest.NewWorld(t)
	begun := map[string]string{}
	for operation, run := range map[string]func(){
		"eraseCandidate": func() { w.EraseCandidates(t) }, "erasePerson": func() { w.Erase(t) }, "importPeople": func() { w.RunImports(t) },
	} {
		o := w.Operation(t, operation)
		begun[operation] = w.Call(t, o, apitest.Request{Path: w.Path(t, o, w.Acme), Key: w.Acme.New, Body: w.Body(t, o)}).Data(t)["id"].(string)
		require.True(t, strings.HasPrefix(begun[operation], "job_"), begun[operation])
		run() // at once, as what runs other kinds puts the job off
	}
	begun["recoverWebhook"] = recovery(t, w, w.Hook(t, nil)["id"].(string), nil)["id"].(string)
	named := w.Key(w.Acme, scope.Grant{Contract: contract.V20260708, Scopes: []scope.Scope{scope.PortalsRead}})
	seen, all := jobs(t, w, w.Acme.Old, "limit=200"), jobs(t, w, named, "limit=200")
	for operation, which := range begun {
		require.Contains(t, all, which)
		if operation == "recoverWebhook" {
			require.Contains(t, seen, which)
			require.Equal(t, http.StatusOK, w.CallAs(t, "getJob", which, w.Acme.Old, nil).Status)
			continue
		}
		require.NotContains(t, seen, which, operation)
		apitest.RequireError(t, w.CallAs(t, "getJob", which, w.Acme.Old, nil), http.StatusNotFound, "not_found", "path.id")
		apitest.RequireError(t, w.CallAs(t, "cancelJob", which, w.Acme.Old, nil), http.StatusNotFound, "not_found", "path.id")
	}

	ended := w.CallAs(t, "cancelJob", begun["recoverWebhook"], w.Acme.Old, nil)
	require.Equal(t, http.StatusOK, ended.Status, "%s", ended.Raw)
	named = w.Key(w.Acme, scope.Grant{Contract: contract.V20260708, Scopes: []scope.Scope{scope.EventsRead, scope.PortalsRead}})
	events := map[string]string{}
	for _, e := range w.Events(t, named, "type=job.completed") {
		events[apitest.At(e, "data", "jobId").(string)] = e.(map[string]any)["id"].(string)
	}
	for _, query := range []string{"type=job.completed&limit=1", "type=job.completed,portal.created&limit=1", "limit=1", "limit=1&to=2100-01-01"} {
		page := w.Events(t, w.Acme.Old, query)
		require.Len(t, page, 1, "a page is as full for this key: %s", query)
	}
	told := apitest.IDs(w.Events(t, w.Acme.Old, "limit=200"))
	for operation, which := range begun {
		e := events[which]
		require.NotEmpty(t, e, operation)
		if operation == "recoverWebhook" {
			require.Contains(t, told, e)
			require.Equal(t, http.StatusOK, w.CallAs(t, "getEvent", e, w.Acme.Old, nil).Status)
			continue
		}
		require.NotContains(t, told, e, operation)
		apitest.RequireError(t, w.CallAs(t, "getEvent", e, w.Acme.Old, nil), http.StatusNotFound, "not_found", "path.id")
	}
	require.Equal(t, []string{events[begun["recoverWebhook"]]}, apitest.IDs(w.Events(t, w.Acme.Old, "type=job.completed&order=asc")))
}

// Each field at its bounds and beyond them, on both contracts.
func testInputOfARecovery(t *testing.T, w *apitest.World) {
	hook := w.Hook(t, nil)["id"].(string)
	const to = "2026-08-01T00:00:00Z"
	for name, test := range map[string]struct {
		properties map[string]any
		param      string
	}{
		"from alone":               {nil, ""},
		"the first moment":         {map[string]any{"from": "0001-01-01T00:00:00Z"}, ""},
		"before it":                {map[string]any{"from": "0000-12-31T23:59:59Z"}, "body.from"},
		"before it, elsewhere":     {map[string]any{"from": "0001-01-01T00:00:00+00:01"}, "body.from"},
		"no time":                  {map[string]any{"from": "yesterday"}, "body.from"},
		"a date":                   {map[string]any{"from": "2026-07-08"}, "body.from"},
		"a number":                 {map[string]any{"from": 1783468800}, "body.from"},
		"null":                     {map[string]any{"from": nil}, "body.from"},
		"the future":               {map[string]any{"from": "2099-01-01T00:00:00Z"}, "body.from"},
		"to":                       {map[string]any{"to": to}, ""},
		"to in the future":         {map[string]any{"to": "2099-01-01T00:00:00Z"}, ""},
		"the last moment":          {map[string]any{"to": "9999-12-31T23:59:59.999999Z"}, ""},
		"after it":                 {map[string]any{"to": "9999-12-31T23:59:59-00:01"}, "body.to"},
		"to is no time":            {map[string]any{"to": "now"}, "body.to"},
		"to is a number":           {map[string]any{"to": 1}, "body.to"},
		"from just before to":      {map[string]any{"from": "2026-07-31T23:59:59.999999Z", "to": to}, ""},
		"from at to":               {map[string]any{"from": to, "to": to}, "body.from"},
		"from at to, elsewhere":    {map[string]any{"from": "2026-08-01T02:00:00+02:00", "to": to}, "body.from"},
		"from after to":            {map[string]any{"from": "2026-08-01T00:00:00.000001Z", "to": to}, "body.from"},
		"one state":                {map[string]any{"states": []any{"delivered"}}, ""},
		"all states":               {map[string]any{"states": []any{"pending", "retrying", "delivered", "failed"}}, ""},
		"no states":                {map[string]any{"states": []any{}}, "body.states"},
		"five states":              {map[string]any{"states": []any{"pending", "retrying", "delivered", "failed", "failed"}}, "body.states"},
		"an unknown state":         {map[string]any{"states": []any{"failed", "lost"}}, "body.states[1]"},
		"a state of another case":  {map[string]any{"states": []any{"Failed"}}, "body.states[0]"},
		"a state that is null":     {map[string]any{"states": []any{nil}}, "body.states[0]"},
		"states in a text":         {map[string]any{"states": "failed"}, "body.states"},
		"missed":                   {map[string]any{"missed": true}, ""},
		"not missed":               {map[string]any{"missed": false}, ""},
		"missed in a text":         {map[string]any{"missed": "yes"}, "body.missed"},
		"missed in a number":       {map[string]any{"missed": 1}, "body.missed"},
		"what there is no such of": {map[string]any{"events": []any{"*"}}, "body.events"},
		"to is null":               {map[string]any{"to": nil}, ""},
		"states are null":          {map[string]any{"states": nil}, ""},
		"missed is null":           {map[string]any{"missed": nil}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			for _, key := range []apikey.Secret{w.Acme.New, w.Acme.Old} {
				answer := w.CallAs(t, "recoverWebhook", hook, key, recoverable(test.properties))
				if test.param == "" {
					require.Equal(t, http.StatusAccepted, answer.Status, "%s", answer.Raw)
				} else {
					apitest.RequireError(t, answer, http.StatusBadRequest, "invalid_request", test.param)
				}
			}
		})
	}
	before := len(jobs(t, w, w.Acme.New, "limit=200"))
	for _, key := range []apikey.Secret{w.Acme.New, w.Acme.Old} {
		apitest.RequireError(t, w.CallAs(t, "recoverWebhook", hook, key, map[string]any{"to": to}), http.StatusBadRequest, "invalid_request", "body.from")
		apitest.RequireError(t, w.CallAs(t, "recoverWebhook", hook, key, nil), http.StatusBadRequest, "invalid_request", "body")
		for _, unknown := range []string{"wh_0683mPq2v9XKf1sTn7ZQ4b", "x"} {
			apitest.RequireError(t, w.CallAs(t, "recoverWebhook", unknown, key, recoverable(nil)), http.StatusNotFound, "not_found", "path.id")
		}
	}
	require.Len(t, jobs(t, w, w.Acme.New, "limit=200"), before, "what is refused makes no job")
}

func testRecoveryNeedsAReceiver(t *testing.T, w *apitest.World) {
	hook := w.Hook(t, nil)["id"].(string)
	refused := func(reason string) {
		t.Helper()
		for _, key := range []apikey.Secret{w.Acme.New, w.Acme.Old} {
			e := apitest.RequireError(t, w.CallAs(t, "recoverWebhook", hook, key, recoverable(nil)), http.StatusConflict, "conflict", "")
			require.Equal(t, reason, e["details"].(map[string]any)["reason"])
			apitest.RequireError(t, w.CallAs(t, "recoverWebhook", hook, key, map[string]any{}), http.StatusBadRequest, "invalid_request", "body.from")
		}
	}
	w.CallAs(t, "updateWebhook", hook, w.Acme.New, map[string]any{"active": false})
	refused("webhook_inactive")
	w.Pause(t, hook)
	refused("webhook_paused")
	require.Empty(t, jobs(t, w, w.Acme.New, ""))
	w.CallAs(t, "updateWebhook", hook, w.Acme.New, map[string]any{"active": true})
	require.Equal(t, []string{recovery(t, w, hook, nil)["id"].(string)}, jobs(t, w, w.Acme.New, ""))
	w.CallAs(t, "deleteWebhook", hook, w.Acme.New, nil)
	apitest.RequireError(t, w.CallAs(t, "recoverWebhook", hook, w.Acme.New, recoverable(nil)), http.StatusNotFound, "not_found", "path.id")
}

func testRecoveryIsProposed(t *testing.T, w *apitest.World) {
	hook := w.Hook(t, nil)["id"].(string)
	for _, key := range []apikey.Secret{w.Acme.New, w.Acme.Old} {
		answer := w.CallAs(t, "recoverWebhook", hook, key, recoverable(map[string]any{"to": "2026-08-01T00:00:00+02:00", "states": []any{"failed", "delivered"}}))
		require.Equal(t, http.StatusAccepted, answer.Status, "%s", answer.Raw)
		job := answer.Data(t)
		require.Regexp(t, `^job_`, job["id"])
		at, err := time.Parse(time.RFC3339, job["createdAt"].(string))
		require.NoError(t, err)
		require.WithinDuration(t, time.Now(), at, time.Minute)
		caller := w.Get(key, "/me").Data(t)["key"].(map[string]any)["id"]
		require.Equal(t, map[string]any{
			"portalId": nil, "subjectId": nil, "retryable": false, "result": map[string]any{"counts": map[string]any{}, "refused": []any{}, "file": nil},
			"id": job["id"], "kind": "webhook_recover", "state": "queued", "progress": nil, "done": 0.0, "total": nil,
			"resourceKind": "webhook", "resourceId": hook, "error": nil, "attempts": 0.0, "createdBy": caller, "createdAt": job["createdAt"],
			"startedAt": nil, "finishedAt": nil, "expiresAt": nil,
		}, job)
		for _, reader := range []apikey.Secret{w.Acme.New, w.Acme.Old} {
			require.Equal(t, job, w.CallAs(t, "getJob", job["id"].(string), reader, nil).Data(t))
		}
		entries, _ := w.Page(t, w.Operation(t, "listActivity"), w.Acme.New, url.Values{"limit": {"1"}})
		entry := entries[0].(map[string]any)
		require.Equal(t, []any{"webhook.recovered", hook, caller}, []any{entry["action"], entry["targetId"], entry["actor"]})
		require.Equal(t, map[string]any{
			"from": "2026-07-08T00:00:00Z", "to": "2026-07-31T22:00:00Z", "states": []any{"failed", "delivered"}, "missed": true, "jobId": job["id"],
		}, entry["changes"])
	}
}

func testRecoveryIsProposedOnce(t *testing.T, w *apitest.World) {
	hook := w.Hook(t, nil)["id"].(string)
	o := w.Operation(t, "recoverWebhook")
	for i, key := range []apikey.Secret{w.Acme.New, w.Acme.Old} {
		send := func(properties map[string]any) apitest.Answer {
			return w.Call(t, o, apitest.Request{
				Path: apitest.WithID(o, hook), Key: key, Body: recoverable(properties), Header: map[string]string{route.IdempotencyHeader: "again"},
			})
		}
		first := send(nil)
		require.Equal(t, http.StatusAccepted, first.Status, "%s", first.Raw)
		again := send(nil)
		require.Equal(t, "true", again.Header.Get("Idempotency-Replayed"))
		require.Equal(t, first.Status, again.Status)
		require.Equal(t, first.Data(t), again.Data(t))
		require.Len(t, jobs(t, w, key, ""), i+1)
		apitest.RequireError(t, send(map[string]any{"missed": false}), http.StatusConflict, "idempotency_conflict", "header.Idempotency-Key")
		require.Len(t, jobs(t, w, key, ""), i+1)
	}
}

func testJobsAreSeenByScope(t *testing.T, w *apitest.World) {
	hook := w.Hook(t, nil)["id"].(string)
	for _, v := range contract.Versions() {
		job := recovery(t, w, hook, nil)["id"].(string)
		key := func(scopes ...scope.Scope) apikey.Secret {
			return w.Key(w.Acme, scope.Grant{Contract: v, Scopes: scopes})
		}
		stranger := key(scope.AvatarsRead, scope.PortalsWrite, scope.EventsRead)
		require.Empty(t, jobs(t, w, stranger, ""))
		require.Empty(t, jobs(t, w, stranger, "kind=webhook_recover&state=queued"))
		for _, operation := range []string{"getJob", "cancelJob"} {
			apitest.RequireError(t, w.CallAs(t, operation, job, stranger, nil), http.StatusNotFound, "not_found", "path.id")
		}
		reader := key(scope.PortalsRead)
		require.Contains(t, jobs(t, w, reader, ""), job)
		require.Equal(t, job, w.CallAs(t, "getJob", job, reader, nil).Data(t)["id"])
		e := apitest.RequireError(t, w.CallAs(t, "cancelJob", job, reader, nil), http.StatusForbidden, "forbidden", "")
		require.Contains(t, e["message"], "webhooks:manage")
		require.Equal(t, "queued", w.CallAs(t, "getJob", job, reader, nil).Data(t)["state"])

		manager := key(scope.WebhooksManage)
		require.Contains(t, jobs(t, w, manager, ""), job)
		require.Equal(t, "queued", w.CallAs(t, "getJob", job, manager, nil).Data(t)["state"])
		require.Equal(t, "cancelled", w.CallAs(t, "cancelJob", job, manager, nil).Data(t)["state"])
		apitest.RequireError(t, w.CallAs(t, "cancelJob", job, reader, nil), http.StatusForbidden, "forbidden", "")
	}
}

func testJobsAreCancelled(t *testing.T, w *apitest.World) {
	hook := w.Hook(t, nil)["id"].(string)
	job := recovery(t, w, hook, nil)
	cancelled := w.CallAs(t, "cancelJob", job["id"].(string), w.Acme.New, nil).Data(t)
	finished, err := time.Parse(time.RFC3339, cancelled["finishedAt"].(string))
	require.NoError(t, err)
	require.WithinDuration(t, time.Now(), finished, time.Minute)
	want := maps.Clone(job)
	want["state"], want["finishedAt"] = "cancelled", cancelled["finishedAt"]
	want["expiresAt"] = finished.AddDate(0, 0, 30).Format(time.RFC3339Nano)
	require.Equal(t, want, cancelled)
	for _, key := range []apikey.Secret{w.Acme.Old, w.Acme.New} {
		require.Equal(t, cancelled, w.CallAs(t, "cancelJob", job["id"].(string), key, nil).Data(t), "again is the same")
	}
	require.Equal(t, cancelled, w.CallAs(t, "getJob", job["id"].(string), w.Acme.New, nil).Data(t))

	entries, _ := w.Page(t, w.Operation(t, "listActivity"), w.Acme.New, nil)
	var actions []any
	for _, entry := range entries {
		if entry := entry.(map[string]any); entry["targetKind"] == "job" {
			require.Equal(t, job["id"], entry["targetId"])
			actions = append(actions, entry["action"])
		}
	}
	require.Equal(t, []any{"job.cancelled"}, actions)
	events, _ := w.Page(t, w.Operation(t, "listEvents"), w.Acme.New, url.Values{"type": {"job.completed"}})
	require.Len(t, events, 1)
	require.Subset(t, events[0].(map[string]any)["data"], map[string]any{"jobId": job["id"], "state": "cancelled", "resourceId": hook})
}

func testJobsAreFound(t *testing.T, w *apitest.World) {
	hook := w.Hook(t, nil)["id"].(string)
	var made []string
	for range 3 {
		made = append(made, recovery(t, w, hook, nil)["id"].(string))
	}
	w.CallAs(t, "cancelJob", made[1], w.Acme.New, nil)
	all := []string{made[2], made[1], made[0]}
	for query, want := range map[string][]string{
		"":                                     all,
		"kind=":                                all,
		"state=":                               all,
		"kind=webhook_recover":                 all,
		"kind=webhook_recover,webhook_recover": all,
		"state=queued":                         {made[2], made[0]},
		"state=cancelled":                      {made[1]},
		"state=cancelled,queued":               all,
		"state=running":                        {},
		"state=succeeded,failed":               {},
		"kind=webhook_recover&state=running":   {},
		"kind=webhook_recover&state=cancelled,cancelled": {made[1]},
	} {
		for _, key := range []apikey.Secret{w.Acme.New, w.Acme.Old} {
			require.Equal(t, want, jobs(t, w, key, query), query)
		}
	}
	for query, param := range map[string]string{
		"kind=webhook": "query.kind", "kind=webhook_recover,": "query.kind", "kind=WEBHOOK_RECOVER": "query.kind",
		"state=done": "query.state", "state=queued,done": "query.state", "state=queued,%20running": "query.state", "state=,": "query.state",
		"scope=webhooks:manage": "query.scope",
	} {
		for _, key := range []apikey.Secret{w.Acme.New, w.Acme.Old} {
			values, err := url.ParseQuery(query)
			require.NoError(t, err)
			apitest.RequireError(t, w.List(t, w.Operation(t, "listJobs"), key, values), http.StatusBadRequest, "invalid_request", param)
		}
	}
}

func testJobsOfAnotherOrganization(t *testing.T, w *apitest.World) {
	foreign := apitest.Kinds["/jobs/{id}"](t, w, w.Globex)
	neighbour := w.NewOrg("Neighbour", "shard-1", "business") // on the same shard
	near := apitest.Kinds["/jobs/{id}"](t, w, neighbour)
	for _, key := range []apikey.Secret{w.Acme.New, w.Acme.Old} {
		require.Empty(t, jobs(t, w, key, ""))
		for _, job := range []string{foreign, near} {
			for _, operation := range []string{"getJob", "cancelJob"} {
				apitest.RequireError(t, w.CallAs(t, operation, job, key, nil), http.StatusNotFound, "not_found", "path.id")
			}
		}
	}
	require.Equal(t, "queued", w.CallAs(t, "getJob", near, neighbour.New, nil).Data(t)["state"])
}

// recovering is a world with a receiver and a worker.
type recovering struct {
	*apitest.World
	receiver *endpoint.Server
}

func newRecovering(t *testing.T) *recovering {
	t.Helper()
	receiver, err := endpoint.Start(endpoint.Options{})
	require.NoError(t, err)
	w := apitest.NewWorld(t, func(o *apitest.Options) { o.RootCAs = receiver.RootCAs() })
	worker := w.Worker()
	worker.Start()
	t.Cleanup(worker.Stop)
	t.Cleanup(receiver.Close) // first, or the worker waits for what hangs
	return &recovering{w, receiver}
}

// end waits until a job of Acme's ended. It is never less far than before.
func (r *recovering) end(t *testing.T, job map[string]any) map[string]any {
	t.Helper()
	progress := -1.0
	for deadline := time.Now().Add(30 * time.Second); ; {
		found := r.CallAs(t, "getJob", job["id"].(string), r.Acme.New, nil).Data(t)
		if now, counted := found["progress"].(float64); counted {
			require.GreaterOrEqual(t, now, progress)
			require.LessOrEqual(t, now, 100.0)
			progress = now
		}
		if found["finishedAt"] != nil {
			return found
		}
		require.True(t, time.Now().Before(deadline), "%v does not end", found)
		<-time.After(20 * time.Millisecond)
	}
}

// await waits until a path received so many distinct events.
func (r *recovering) await(t *testing.T, path string, n int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Second)
	defer cancel()
	require.NoError(t, r.receiver.Await(ctx, path, n))
}

func TestARecoveryDeliversWhatWasMissed(t *testing.T) {
	r := newRecovering(t)
	made := r.Hook(t, map[string]any{"url": r.receiver.URL("/hook"), "events": []any{"unit.created", "job.completed"}})
	hook := made["id"].(string)
	r.receiver.Set("/hook", endpoint.Behaviour{Secret: made["secret"].(string)})
	change := func(active bool) {
		require.Equal(t, active, r.CallAs(t, "updateWebhook", hook, r.Acme.New, map[string]any{"active": active}).Data(t)["active"])
	}
	r.Emit(t, event.Draft{Type: event.UnitCreated}) // before
	r.await(t, "/hook", 1)
	from := time.Now().UTC()
	change(false)
	drafts := make([]event.Draft, 300)
	for i := range drafts {
		drafts[i] = event.Draft{Type: event.UnitCreated, Fields: map[string]any{"unitId": fmt.Sprint("unit_", i)}}
	}
	missed := map[string]int{}
	for _, e := range r.Emit(t, drafts...) {
		missed[e.ID.String()] = 1
	}
	r.Emit(t, event.Draft{Type: event.PortalCreated}) // not asked for
	change(true)
	require.Equal(t, 1, r.receiver.Count("/hook").Requests)

	done := r.end(t, recovery(t, r.World, hook, map[string]any{"from": from.Format(time.RFC3339Nano)}))
	require.Equal(t, []any{"succeeded", 100.0, 300.0, 300.0, nil}, []any{done["state"], done["progress"], done["done"], done["total"], done["error"]})
	require.NotNil(t, done["startedAt"])
	require.Positive(t, done["attempts"])
	r.await(t, "/hook", 302) // and the end of the job itself
	arrived := r.receiver.Events("/hook")
	for e := range missed {
		require.Equal(t, 1, arrived[e], e)
	}
	count := r.receiver.Count("/hook")
	require.Equal(t, []int{302, 302, 0}, []int{count.Requests, count.Verified, count.Repeats})

	events, _ := r.Page(t, r.Operation(t, "listEvents"), r.Acme.New, url.Values{"type": {"job.completed"}})
	require.Len(t, events, 1)
	completed := events[0].(map[string]any)
	require.Equal(t, 1, arrived[completed["id"].(string)])
	require.Subset(t, completed["data"], map[string]any{
		"jobId": done["id"], "kind": "webhook_recover", "state": "succeeded", "resourceKind": "webhook", "resourceId": hook,
		"startedAt": done["startedAt"], "finishedAt": done["finishedAt"],
	})
	ended := apitest.RequireError(t, r.CallAs(t, "cancelJob", done["id"].(string), r.Acme.New, nil), http.StatusConflict, "conflict", "")
	require.Equal(t, "job_ended", ended["details"].(map[string]any)["reason"])
	require.Equal(t, []string{done["id"].(string)}, jobs(t, r.World, r.Acme.New, "state=succeeded"))
	testRecoveryOfAllTime(t, r, hook)
	testRecoveryOfNothing(t, r, hook)
}

// Everything there was, as far as times go, whatever became of it.
func testRecoveryOfAllTime(t *testing.T, r *recovering, hook string) {
	before := r.receiver.Count("/hook")
	all := map[string]any{"from": "0001-01-01T00:00:00Z", "to": "9999-12-31T23:59:59.999999Z", "states": []any{"delivered", "failed", "pending", "retrying"}}
	done := r.end(t, recovery(t, r.World, hook, all))
	require.Equal(t, []any{"succeeded", 100.0}, []any{done["state"], done["progress"]})
	require.EqualValues(t, before.Events, done["done"])
	r.await(t, "/hook", before.Events+1) // the end of this job
	require.Equal(t, before.Events, r.receiver.Count("/hook").Repeats)
}

func testRecoveryOfNothing(t *testing.T, r *recovering, hook string) {
	before := r.receiver.Count("/hook")
	done := r.end(t, recovery(t, r.World, hook, map[string]any{"from": "2020-01-01T00:00:00Z", "to": "2020-01-02T00:00:00Z"}))
	require.Equal(t, []any{"succeeded", 100.0, 0.0, 0.0}, []any{done["state"], done["progress"], done["done"], done["total"]})
	r.await(t, "/hook", before.Events+1)
	require.Equal(t, before.Requests+1, r.receiver.Count("/hook").Requests)
}

// A webhook that stops receiving ends its recovery.
func TestARecoveryOfAWebhookThatIsSwitchedOff(t *testing.T) {
	r := newRecovering(t)
	made := r.Hook(t, map[string]any{"url": r.receiver.URL("/hook"), "events": []any{"unit.created"}})
	hook := made["id"].(string)
	r.receiver.Set("/hook", endpoint.Behaviour{Hang: true})
	drafts := make([]event.Draft, 300)
	for i := range drafts {
		drafts[i] = event.Draft{Type: event.UnitCreated}
	}
	r.CallAs(t, "updateWebhook", hook, r.Acme.New, map[string]any{"active": false})
	r.Emit(t, drafts...)
	r.CallAs(t, "updateWebhook", hook, r.Acme.New, map[string]any{"active": true})
	job := recovery(t, r.World, hook, nil)
	r.await(t, "/hook", 1)
	running := r.CallAs(t, "getJob", job["id"].(string), r.Acme.New, nil).Data(t)
	require.Equal(t, []any{"running", 300.0}, []any{running["state"], running["total"]})
	require.Less(t, running["progress"], 100.0, "a bounded number waits at a time")
	require.Equal(t, []string{job["id"].(string)}, jobs(t, r.World, r.Acme.New, "state=running"))
	r.CallAs(t, "updateWebhook", hook, r.Acme.New, map[string]any{"active": false})
	failed := r.end(t, job)
	require.Equal(t, "failed", failed["state"])
	require.Equal(t, "webhook_inactive", failed["error"].(map[string]any)["code"])
	require.NotEmpty(t, failed["error"].(map[string]any)["message"])
	events, _ := r.Page(t, r.Operation(t, "listEvents"), r.Acme.New, url.Values{"type": {"job.completed"}})
	require.Len(t, events, 1)
	require.Subset(t, events[0].(map[string]any)["data"], map[string]any{"jobId": job["id"], "state": "failed", "errorCode": "webhook_inactive"})
}
