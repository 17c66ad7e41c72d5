package dashboards_test

import (
	"context"
	"encoding/csv"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/figures/dashboard"
	"visavis.dev/pkg/store/apikey"
)

// get reads a dashboard.
func get(t *testing.T, w *apitest.World, path string, key apikey.Secret, accept string) apitest.Answer {
	t.Helper()
	return w.Call(t, w.Operation(t, "getDashboard"), apitest.Request{Path: "/dashboards/" + path, Key: key, Header: map[string]string{"Accept": accept}})
}

// tile is a figure of an answer.
func tile(t *testing.T, answer apitest.Answer, key string) map[string]any {
	t.Helper()
	require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Raw)
	for _, shown := range answer.Data(t)["tiles"].([]any) {
		if one := shown.(map[string]any); one["key"] == key {
			return one
		}
	}
	require.FailNow(t, "there is no such tile", key)
	return nil
}

// A lead that is captured is on the dashboard once it is counted, in both forms, and on its
// portal's alone.
func TestWhatHappensIsShown(t *testing.T) {
	t.Parallel()
	w := apitest.NewWorld(t)
	w.Make(t, w.Acme, "createInboxItem")
	before := get(t, w, "inbox", w.Acme.New, "")
	require.Equal(t, 0.0, tile(t, before, "leads")["value"])

	shard, err := w.Tenants.ShardOf(context.Background(), w.Acme.ID)
	require.NoError(t, err)
	require.NoError(t, event.NumberNow(context.Background(), w.Tenants, w.Acme.ID)) // as workers do
	_, err = dashboard.Count(context.Background(), w.Tenants, shard, time.Now())
	require.NoError(t, err)
	after := get(t, w, "inbox?compare=previous&granularity=hour&timezone=Asia/Kathmandu&from="+time.Now().Add(-3*time.Hour).UTC().Format(time.RFC3339), w.Acme.New, "")
	leads := tile(t, after, "leads")
	require.Equal(t, []any{1.0, 0.0, nil, "count"}, []any{leads["value"], leads["previous"], leads["change"], leads["unit"]})
	require.Equal(t, "Asia/Kathmandu", after.Data(t)["timezone"])
	require.LessOrEqual(t, after.Data(t)["freshToS"].(float64), 60.0)

	table := get(t, w, "inbox", w.Acme.New, "text/csv")
	require.Equal(t, http.StatusOK, table.Status, "%s", table.Raw)
	lines, err := csv.NewReader(strings.NewReader(string(table.Raw))).ReadAll()
	require.NoError(t, err)
	require.Equal(t, []string{"tile", "leads", "Leads", "", "count", "1", "", ""}, lines[1])

	require.Equal(t, 0.0, tile(t, get(t, w, "inbox", w.Globex.New, ""), "leads")["value"], "another organization's are its own")
	require.Equal(t, 0.0, tile(t, get(t, w, "inbox?portalId="+w.Campus(t, w.Acme), w.Acme.New, ""), "leads")["value"])
}

// Each dashboard is for keys that may read its records.
func TestDashboardsNeedWhatTheirRecordsNeed(t *testing.T) {
	t.Parallel()
	w := apitest.NewWorld(t)
	for _, d := range dashboard.Definitions() {
		only := w.Scoped(contract.Latest, scope.DashboardsRead)
		apitest.RequireError(t, get(t, w, string(d.Key), only, ""), http.StatusForbidden, "forbidden", "")
		both := w.Scoped(contract.Latest, scope.DashboardsRead, d.Needs)
		answer := get(t, w, string(d.Key), both, "")
		require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Raw)
		require.Len(t, answer.Data(t)["tiles"], len(d.Tiles()))
		apitest.RequireError(t, get(t, w, string(d.Key), w.Scoped(contract.Latest, d.Needs), ""), http.StatusForbidden, "forbidden", "")

		listed := w.Get(both, "/dashboards").JSON(t)["data"].([]any)
		require.Len(t, listed, len(sharing(d.Needs)), d.Key)
	}
	require.Empty(t, w.Get(w.Scoped(contract.Latest, scope.DashboardsRead), "/dashboards").JSON(t)["data"])
}

// sharing are the dashboards that a scope reads.
func sharing(s scope.Scope) (found []dashboard.Key) {
	for _, d := range dashboard.Definitions() {
		if d.Needs == s {
			found = append(found, d.Key)
		}
	}
	return found
}

func TestWhatCannotBeAsked(t *testing.T) {
	t.Parallel()
	w := apitest.NewWorld(t)
	campus := w.Campus(t, w.Acme)
	for path, param := range map[string]string{
		"overview?timezone=Mars/Base":                                                 "query.timezone",
		"overview?granularity=year":                                                   "query.granularity",
		"overview?from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z":                  "query.to",
		"overview?granularity=hour&from=2026-01-01T00:00:00Z&to=2026-03-01T00:00:00Z": "query.to",
		"overview?portalId=x":                                                         "query.portalId",
		"hiring?unitId=" + id.NewUnit().String():                                      "query.unitId",
		"delivery?portalId=" + campus:                                                 "query.portalId",
		"overview?compare=next":                                                       "query.compare",
	} {
		answer := get(t, w, path, w.Acme.New, "")
		require.GreaterOrEqual(t, answer.Status, 400, path)
		require.Equal(t, param, answer.Error(t)["param"], path)
	}
	apitest.RequireError(t, get(t, w, "sales", w.Acme.New, ""), http.StatusNotFound, "not_found", "path.id")
	apitest.RequireError(t, get(t, w, "overview?portalId="+campus, w.Globex.New, ""), http.StatusNotFound, "not_found", "query.portalId")
}

// A link shows the dashboard to whoever has it, for a while.
func TestLinks(t *testing.T) {
	t.Parallel()
	w := apitest.NewWorld(t)
	made := w.CallAs(t, "createDashboardEmbedToken", "", w.Acme.New, map[string]any{"key": "inbox", "expiresInS": 600})
	require.Equal(t, http.StatusCreated, made.Status, "%s", made.Raw)
	require.Contains(t, made.Data(t)["url"], "/p/~dashboard/")
	until, err := time.Parse(time.RFC3339Nano, made.Data(t)["expiresAt"].(string))
	require.NoError(t, err)
	require.WithinDuration(t, time.Now().Add(10*time.Minute), until, time.Minute)
	apitest.RequireError(t, w.CallAs(t, "createDashboardEmbedToken", "", w.Acme.New, map[string]any{"key": "delivery", "portalId": w.Campus(t, w.Acme)}),
		http.StatusBadRequest, "invalid_request", "body.portalId")
	narrow := w.Scoped(contract.Latest, scope.DashboardsRead, scope.EmbedWrite)
	apitest.RequireError(t, w.CallAs(t, "createDashboardEmbedToken", "", narrow, map[string]any{"key": "inbox"}), http.StatusForbidden, "forbidden", "")
}
