package exports_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/store/database/databasetest"
)

func TestMain(m *testing.M) { databasetest.Main(m) }

// An export needs what reads its records, and its file what reads all that is in it.
func TestExportsNeedWhatTheirRecordsNeed(t *testing.T) {
	t.Parallel()
	w := apitest.NewWorld(t)
	o := w.Operation(t, "createExport")
	order := func(kind string) map[string]any {
		return map[string]any{"kind": kind, "from": "2026-01-01T00:00:00Z", "to": "2027-01-01T00:00:00Z"}
	}
	for kind, needed := range map[string]scope.Scope{
		"results": scope.ResultsRead, "sessions": scope.SessionsRead, "leads": scope.InboxRead, "people": scope.PeopleRead,
		"candidates": scope.CandidatesRead, "consents": scope.ConsentsRead,
	} {
		with := w.Scoped(contract.Latest, needed)
		made := w.Call(t, o, apitest.Request{Path: o.Path, Key: with, Body: order(kind)})
		require.Equal(t, http.StatusAccepted, made.Status, "%s", made.Raw)
		require.Equal(t, "export", made.Data(t)["kind"])
		without := w.Call(t, o, apitest.Request{Path: o.Path, Key: w.Scoped(contract.Latest, scope.DashboardsRead), Body: order(kind)})
		apitest.RequireError(t, without, http.StatusForbidden, "forbidden", "")
	}
	worded := w.Call(t, o, apitest.Request{Path: o.Path, Key: w.Scoped(contract.Latest, scope.InboxRead, scope.TranscriptsRead), Body: order("leads")})
	which := worded.Data(t)["id"].(string)
	apitest.RequireError(t, w.CallAs(t, "downloadJob", which, w.Scoped(contract.Latest, scope.InboxRead), nil), http.StatusForbidden, "forbidden", "path.id")
	apitest.RequireError(t, w.CallAs(t, "downloadJob", which, w.Scoped(contract.Latest, scope.InboxRead, scope.TranscriptsRead), nil),
		http.StatusConflict, "conflict", "path.id")

	wrong := order("people")
	wrong["filters"] = map[string]any{"unitId": id.NewUnit().String()}
	apitest.RequireError(t, w.Call(t, o, apitest.Request{Path: o.Path, Key: w.Acme.New, Body: wrong}), http.StatusBadRequest, "invalid_request", "body.filters.unitId")
}

// What an export is narrowed to must be there.
func TestExportsOfWhatIsNotThere(t *testing.T) {
	t.Parallel()
	w := apitest.NewWorld(t)
	o := w.Operation(t, "createExport")
	for name, c := range map[string]struct {
		kind, value string
		status      int
		code        string
	}{
		"portalId":  {"results", id.NewPortal().String(), http.StatusNotFound, "not_found"},
		"unitId":    {"results", id.NewUnit().String(), http.StatusNotFound, "not_found"},
		"subjectId": {"sessions", "sub_" + strings.Repeat("0", 22), http.StatusNotFound, "not_found"},
		"roleId":    {"candidates", id.NewPortal().String(), http.StatusNotFound, "not_found"},
		"state":     {"leads", "zz", http.StatusBadRequest, "invalid_request"},
	} {
		body := map[string]any{"kind": c.kind, "from": "2026-01-01T00:00:00Z", "to": "2027-01-01T00:00:00Z", "filters": map[string]any{name: c.value}}
		apitest.RequireError(t, w.Call(t, o, apitest.Request{Path: o.Path, Key: w.Acme.New, Body: body}), c.status, c.code, "body.filters."+name)
	}
}
