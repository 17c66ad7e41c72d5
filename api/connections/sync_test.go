package connections_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/provider/hubspot/hubspottest"
)

// A CRM is tested and synced, and written what is left afterwards.
func TestACRMIsKeptInStep(t *testing.T) {
	c := apitest.NewConnections(t)
	s := hubspottest.Start()
	t.Cleanup(s.Close)
	worker := c.Worker()
	worker.Start()
	t.Cleanup(worker.Stop)
	leave := func(name, email string) string {
		t.Helper()
		body := map[string]any{"contact": map[string]any{"name": name, "email": email}}
		made := c.Call(t, c.Operation(t, "createInboxItem"), apitest.Request{Path: "/inbox", Key: c.Acme.New, Body: body})
		require.Equal(t, http.StatusCreated, made.Status, "%s", made.Raw)
		return made.Data(t)["id"].(string)
	}
	before := leave("Kim Lee", "kim@example.com")
	connect := func(b, _ map[string]any) {
		b["kind"], b["provider"], b["secret"] = "crm", "hubspot", "pat-good"
		b["config"] = map[string]any{"baseUrl": s.URL}
	}
	which := c.Connect(t, connect).Data(t)["id"].(string)
	require.Equal(t, true, c.CallAs(t, "testConnection", which, c.Acme.New, nil).Data(t)["ok"])

	sync := func(body map[string]any) map[string]any {
		t.Helper()
		begun := c.CallAs(t, "syncConnection", which, c.Acme.New, body)
		require.Equal(t, http.StatusAccepted, begun.Status, "%s", begun.Raw)
		return ended(t, c.World, begun.Data(t)["id"].(string))
	}
	require.Equal(t, map[string]any{"written": 1.0}, apitest.At(sync(map[string]any{"dryRun": true}), "result", "counts"))
	require.Empty(t, s.Contacts())
	require.Equal(t, map[string]any{"written": 1.0}, apitest.At(sync(map[string]any{}), "result", "counts"))
	require.Len(t, s.Contacts(), 1)

	leave("Lee", "lee@example.com")
	require.Eventually(t, func() bool { return len(s.Contacts()) == 2 }, 20*time.Second, 20*time.Millisecond)
	forgotten := c.CallAs(t, "forgetInboxItem", before, c.Acme.New, nil)
	require.Equal(t, http.StatusOK, forgotten.Status, "%s", forgotten.Raw)
	require.Eventually(t, func() bool {
		again := sync(map[string]any{"dryRun": true})
		return apitest.At(again, "result", "counts", "skipped") == 1.0
	}, 20*time.Second, 20*time.Millisecond)
	require.Len(t, s.Contacts(), 2, "what is there is the organization's to delete")

	other := c.Connect(t, apitest.Same).Data(t)["id"].(string)
	e := apitest.RequireError(t, c.CallAs(t, "syncConnection", other, c.Acme.New, map[string]any{}), http.StatusConflict, "conflict", "path.id")
	require.Equal(t, "no_sync", e["details"].(map[string]any)["reason"])
	apitest.RequireError(t, c.CallAs(t, "syncConnection", which, c.Globex.New, map[string]any{}), http.StatusNotFound, "not_found", "path.id")
}

// Where the mapping is refused of everything, the sync says so and the connection fails.
func TestAMappingThatIsRefusedShows(t *testing.T) {
	c := apitest.NewConnections(t)
	s := hubspottest.Start()
	t.Cleanup(s.Close)
	worker := c.Worker()
	worker.Start()
	t.Cleanup(worker.Stop)
	for n := range 3 {
		body := map[string]any{"contact": map[string]any{"name": "Kim", "email": fmt.Sprintf("kim%d@example.com", n)}}
		made := c.Call(t, c.Operation(t, "createInboxItem"), apitest.Request{Path: "/inbox", Key: c.Acme.New, Body: body})
		require.Equal(t, http.StatusCreated, made.Status, "%s", made.Raw)
	}
	which := c.Connect(t, func(b, _ map[string]any) {
		b["kind"], b["provider"], b["secret"] = "crm", "hubspot", "pat-good"
		b["config"] = map[string]any{"baseUrl": s.URL, "properties": map[string]any{"name": "no_such_property"}}
	}).Data(t)["id"].(string)
	require.Equal(t, true, c.CallAs(t, "testConnection", which, c.Acme.New, nil).Data(t)["ok"])
	begun := c.CallAs(t, "syncConnection", which, c.Acme.New, map[string]any{})
	require.Equal(t, http.StatusAccepted, begun.Status, "%s", begun.Raw)
	j := c.Get(c.Acme.New, "/jobs/"+begun.Data(t)["id"].(string)+"?waitS=20").Data(t)
	require.Equal(t, "failed", j["state"], "%v", j)
	require.Equal(t, "rejected", apitest.At(j, "error", "code"))
	require.Equal(t, map[string]any{"unmapped": 3.0}, apitest.At(j, "result", "counts"))
	require.Eventually(t, func() bool {
		now := c.CallAs(t, "getConnection", which, c.Acme.New, nil).Data(t)
		return now["state"] == "failing" && apitest.At(now, "health", "errorCode") == "rejected"
	}, 20*time.Second, 20*time.Millisecond)
}

// A key that may not read the inbox has it written nowhere else.
func TestACRMNeedsTheInbox(t *testing.T) {
	c := apitest.NewConnections(t)
	o := c.Operation(t, "createConnection")
	body := map[string]any{"kind": "crm", "provider": "hubspot", "name": "CRM", "secret": "pat-good", "config": map[string]any{"baseUrl": c.Models.URL()}}
	half := c.Scoped(contract.V20261001, scope.ConnectionsRead, scope.ConnectionsWrite)
	apitest.RequireError(t, c.Call(t, o, apitest.Request{Path: o.Path, Key: half, Body: body}), http.StatusForbidden, "forbidden", "")
	made := c.Call(t, o, apitest.Request{Path: o.Path, Key: c.Acme.New, Body: body})
	require.Equal(t, http.StatusCreated, made.Status, "%s", made.Raw)
	which := made.Data(t)["id"].(string)
	for _, change := range []map[string]any{{"secret": "pat-other"}, {"config": map[string]any{}}, {"enabled": false}} {
		apitest.RequireError(t, c.CallAs(t, "updateConnection", which, half, change), http.StatusForbidden, "forbidden", "")
	}
	apitest.RequireError(t, c.CallAs(t, "rotateConnectionSecret", which, half, map[string]any{"secret": "pat-other"}), http.StatusForbidden, "forbidden", "")
	apitest.RequireError(t, c.CallAs(t, "syncConnection", which, half, map[string]any{}), http.StatusForbidden, "forbidden", "")
	renamed := c.CallAs(t, "updateConnection", which, half, map[string]any{"name": "Sales"})
	require.Equal(t, http.StatusOK, renamed.Status, "%s", renamed.Raw)
}

// A key that may not change the inbox has nothing taken back into it.
func TestTakingBackNeedsTheInbox(t *testing.T) {
	c := apitest.NewConnections(t)
	o := c.Operation(t, "createConnection")
	body := map[string]any{
		"kind": "crm", "provider": "hubspot", "name": "CRM", "secret": "pat-good", "config": map[string]any{"baseUrl": c.Models.URL(), "takesBack": true},
	}
	half := c.Scoped(contract.V20261001, scope.ConnectionsRead, scope.ConnectionsWrite, scope.InboxRead)
	apitest.RequireError(t, c.Call(t, o, apitest.Request{Path: o.Path, Key: half, Body: body}), http.StatusForbidden, "forbidden", "")
	made := c.Call(t, o, apitest.Request{Path: o.Path, Key: c.Acme.New, Body: body})
	require.Equal(t, http.StatusCreated, made.Status, "%s", made.Raw)
	which := made.Data(t)["id"].(string)
	apitest.RequireError(t, c.CallAs(t, "syncConnection", which, half, map[string]any{}), http.StatusForbidden, "forbidden", "")
	apitest.RequireError(t, c.CallAs(t, "rotateConnectionSecret", which, half, map[string]any{"secret": "pat-other"}), http.StatusForbidden, "forbidden", "")
	apitest.RequireError(t, c.CallAs(t, "updateConnection", which, half, map[string]any{"secret": "pat-other"}), http.StatusForbidden, "forbidden", "")
	dry := c.CallAs(t, "syncConnection", which, half, map[string]any{"dryRun": true})
	require.Equal(t, http.StatusAccepted, dry.Status, "%s", dry.Raw)

	for field, values := range map[string]any{
		"body.config.values.leadBand":  map[string]any{"leadBand": map[string]any{"hot": []any{"1"}}},
		"body.config.values.state.won": map[string]any{"state": map[string]any{"open": []any{"A"}, "won": []any{"A"}}},
		"body.config":                  map[string]any{"state": map[string]any{"forgotten": []any{"A"}}},
	} {
		config := map[string]any{"baseUrl": c.Models.URL(), "properties": map[string]any{"state": "hs_lead_status"}, "values": values}
		body["config"] = config
		apitest.RequireError(t, c.Call(t, o, apitest.Request{Path: o.Path, Key: c.Acme.New, Body: body}), http.StatusBadRequest, "invalid_request", field)
	}
}

// ended is a job once it has succeeded.
func ended(t *testing.T, w *apitest.World, which string) map[string]any {
	t.Helper()
	j := w.Get(w.Acme.New, "/jobs/"+which+"?waitS=20").Data(t)
	require.Equal(t, "succeeded", j["state"], "%v", j)
	return j
}
