package settings_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/portals/portal/portaltest"
)

func TestSettings(t *testing.T) {
	w := apitest.NewWorld(t)
	p := portaltest.Portal(t, w.Tenants, w.Acme.ID, id.NewPersona()).ID
	atPortal := "?scopeKind=portal&scopeId=" + p.String()
	s := w.Get(w.Acme.New, "/settings/memory.enabled"+atPortal).Data(t)
	require.Equal(t, []any{true, true, true, true, "portal", p.String()},
		[]any{s["value"], s["default"], s["inherited"], s["editable"], s["scopeKind"], s["scopeId"]})
	require.Nil(t, s["changedAt"])

	s = w.CallAs(t, "updateSetting", "memory.enabled", w.Acme.New, map[string]any{"value": false}).Data(t)
	require.Equal(t, []any{false, false, w.Acme.ID.String()}, []any{s["value"], s["inherited"], s["scopeId"]})
	require.Equal(t, []any{"setting.changed", "memory.enabled"}, []any{w.Last(t)["action"], w.Last(t)["targetId"]})
	s = w.Get(w.Acme.New, "/settings/memory.enabled"+atPortal).Data(t)
	require.Equal(t, []any{false, true}, []any{s["value"], s["inherited"]})

	set := map[string]any{"value": true, "scopeKind": "portal", "scopeId": p.Bare()}
	s = w.CallAs(t, "updateSetting", "memory.enabled", w.Acme.New, set).Data(t)
	require.Equal(t, []any{true, false, p.String()}, []any{s["value"], s["inherited"], s["scopeId"]})
	require.Equal(t, s, w.CallAs(t, "updateSetting", "memory.enabled", w.Acme.New, set).Data(t), "again changes nothing")
	// The same as what it inherits is set, but holds already.
	w.CallAs(t, "updateSetting", "memory.enabled", w.Acme.New, map[string]any{"value": true})
	s = w.CallAs(t, "updateSetting", "sessions.max_duration_s", w.Acme.New, map[string]any{"value": 7200}).Data(t)
	require.Equal(t, []any{7200.0, false, 30.0, 7200.0}, []any{s["value"], s["inherited"], s["minimum"], s["maximum"]})
	reset := w.Do(apitest.Request{Method: http.MethodDelete, Path: "/settings/memory.enabled" + atPortal, Key: w.Acme.New}).Data(t)
	require.Equal(t, []any{true, true}, []any{reset["value"], reset["inherited"]})

	var told [][]any
	for _, e := range w.Get(w.Acme.New, "/events?type=setting.changed&order=asc").JSON(t)["data"].([]any) {
		told = append(told, []any{apitest.At(e, "data", "key"), apitest.At(e, "data", "scopeId"), apitest.At(e, "data", "value"), apitest.At(e, "data", "previousValue")})
	}
	require.Equal(t, [][]any{
		{"memory.enabled", w.Acme.ID.String(), false, true}, {"memory.enabled", p.String(), true, false}, {"memory.enabled", w.Acme.ID.String(), true, false},
	}, told, "where another value holds")
	old := w.Get(w.Acme.Old, "/settings/memory.enabled"+atPortal).Data(t)
	require.Equal(t, p.Bare(), old["scopeId"])

	var keys []any
	for _, s := range w.Get(w.Acme.New, "/settings?group=sessions&scopeKind=portal&scopeId="+p.String()).JSON(t)["data"].([]any) {
		keys = append(keys, apitest.At(s, "key"))
	}
	require.Equal(t, []any{"sessions.idle_timeout_s", "sessions.max_duration_s"}, keys, "those that a portal can set")
}

func TestBadSettings(t *testing.T) {
	w := apitest.NewWorld(t)
	theirs := portaltest.Portal(t, w.Tenants, w.Globex.ID, id.NewPersona()).ID
	for name, c := range map[string]struct {
		key   string
		body  map[string]any
		code  int
		param string
	}{
		"a number":          {"memory.enabled", map[string]any{"value": 1}, 400, "body.value"},
		"a switch":          {"sessions.max_duration_s", map[string]any{"value": true}, 400, "body.value"},
		"too few":           {"sessions.max_duration_s", map[string]any{"value": 29}, 400, "body.value"},
		"another's portal":  {"memory.enabled", map[string]any{"value": true, "scopeKind": "portal", "scopeId": theirs.String()}, 404, "body.scopeId"},
		"no portal":         {"memory.enabled", map[string]any{"value": true, "scopeKind": "portal"}, 400, "body.scopeId"},
		"a unit":            {"memory.enabled", map[string]any{"value": true, "scopeKind": "unit", "scopeId": theirs.String()}, 404, "body.scopeId"},
		"not of portals":    {"widgets.enabled", map[string]any{"value": true, "scopeKind": "portal", "scopeId": theirs.String()}, 400, "body.scopeKind"},
		"an id and no kind": {"memory.enabled", map[string]any{"value": true, "scopeId": theirs.String()}, 400, "body.scopeId"},
	} {
		t.Run(name, func(t *testing.T) {
			code := map[int]string{400: "invalid_request", 404: "not_found"}[c.code]
			apitest.RequireError(t, w.CallAs(t, "updateSetting", c.key, w.Acme.New, c.body), c.code, code, c.param)
		})
	}
	for _, value := range []any{"yes", "true", 1, 1.5, []any{}, map[string]any{}} {
		e := apitest.RequireError(t, w.CallAs(t, "updateSetting", "agents.enabled", w.Acme.New, map[string]any{"value": value}), http.StatusBadRequest, "invalid_request", "body.value")
		require.Equal(t, "Of agents.enabled, the value must be true or false.", e["message"], value)
	}
	apitest.RequireError(t, w.CallAs(t, "updateSetting", "agents.enabled", w.Acme.New, map[string]any{"value": nil}), http.StatusBadRequest, "invalid_request", "body.value")
	apitest.RequireError(t, w.Get(w.Acme.New, "/settings?scopeKind=portal&scopeId="+theirs.String()), http.StatusNotFound, "not_found", "query.scopeId")
	apitest.RequireError(t, w.Get(w.Acme.New, "/settings/widgets.enabled?scopeKind=portal&scopeId="+theirs.String()), http.StatusBadRequest, "invalid_request", "query.scopeKind")
}

func TestLockedSettings(t *testing.T) {
	w := apitest.NewWorld(t)
	e := apitest.RequireError(t, w.CallAs(t, "updateSetting", "privacy.ai_notice", w.Acme.New, map[string]any{"value": false}), http.StatusConflict, "conflict", "")
	require.Equal(t, map[string]any{"reason": "region_locked", "setting": "privacy.ai_notice"}, e["details"])
	s := w.Get(w.Acme.New, "/settings/privacy.ai_notice").Data(t)
	require.Equal(t, []any{true, false, "region"}, []any{s["value"], s["editable"], s["lockedBy"]})

	writer := w.Key(w.Acme, scope.Grant{Contract: contract.Latest, Scopes: []scope.Scope{scope.SettingsRead, scope.SettingsWrite}})
	zero := map[string]any{"value": true}
	e = apitest.RequireError(t, w.CallAs(t, "updateSetting", "privacy.zero_data_retention", writer, zero), http.StatusForbidden, "forbidden", "")
	require.Contains(t, e["message"], "keys:manage")
	apitest.RequireError(t, w.CallAs(t, "resetSetting", "privacy.zero_data_retention", writer, nil), http.StatusForbidden, "forbidden", "")
	require.Equal(t, "owner", w.Get(writer, "/settings/privacy.zero_data_retention").Data(t)["lockedBy"])
	require.Equal(t, http.StatusOK, w.CallAs(t, "updateSetting", "privacy.zero_data_retention", w.Acme.New, zero).Status)
	require.Equal(t, true, w.Get(w.Acme.New, "/me").Data(t)["zeroDataRetention"])

	poor := w.NewOrg("Poor", "shard-1", "starter")
	e = apitest.RequireError(t, w.CallAs(t, "updateSetting", "privacy.zero_data_retention", poor.New, zero), http.StatusForbidden, "upgrade_required", "")
	require.Equal(t, map[string]any{"feature": "zero_data_retention", "plan": "business", "reason": "plan_required"}, e["details"])
	require.Equal(t, http.StatusOK, w.CallAs(t, "resetSetting", "privacy.zero_data_retention", poor.New, nil).Status, "what is inherited already")
}

// While widgets are off no page shows one, and none can be switched on.
func TestWidgetsAreOff(t *testing.T) {
	w := apitest.NewWorld(t)
	own := w.Widget(t, w.Acme)["id"].(string)
	config := func() int {
		return w.Call(t, w.Operation(t, "getWidgetConfig"), apitest.Request{Path: "/widgets/" + own + "/config", Header: map[string]string{"Origin": "http://localhost:5173"}}).Status
	}
	require.Equal(t, http.StatusOK, config())
	w.CallAs(t, "updateSetting", "widgets.enabled", w.Acme.New, map[string]any{"value": false})
	require.Equal(t, http.StatusNotFound, config())
	require.Equal(t, http.StatusNotFound, w.Visitor(t, own, nil, map[string]string{"Origin": "http://localhost:5173"}).Status)
	e := apitest.RequireError(t, w.CallAs(t, "createWidget", "", w.Acme.New, apitest.WidgetBody(1, w.Shown(t, w.Acme))), http.StatusConflict, "conflict", "")
	require.Equal(t, map[string]any{"reason": "switched_off", "setting": "widgets.enabled"}, e["details"])
	require.Equal(t, http.StatusOK, w.CallAs(t, "updateWidget", own, w.Acme.New, map[string]any{"enabled": false}).Status)
	apitest.RequireError(t, w.CallAs(t, "updateWidget", own, w.Acme.New, map[string]any{"enabled": true}), http.StatusConflict, "conflict", "")
	w.CallAs(t, "updateSetting", "widgets.enabled", w.Acme.New, map[string]any{"value": true})
	require.Equal(t, http.StatusOK, w.CallAs(t, "updateWidget", own, w.Acme.New, map[string]any{"enabled": true}).Status)
	require.Equal(t, http.StatusOK, config())
}

// What an organization bounds itself shows where the plan's bound would.
func TestBoundsThatAreShown(t *testing.T) {
	w := apitest.NewWorld(t)
	w.CallAs(t, "updateSetting", "sessions.max_concurrent", w.Acme.New, map[string]any{"value": 3})
	w.CallAs(t, "updateSetting", "usage.monthly_cap_minutes", w.Acme.New, map[string]any{"value": 1000})
	require.EqualValues(t, 3, apitest.At(w.Get(w.Acme.New, "/me").Data(t), "limits", "maxConcurrentSessions"))
	require.EqualValues(t, 1000, apitest.At(w.Get(w.Acme.New, "/usage").Data(t), "minutes", "monthlyCap"))
}
