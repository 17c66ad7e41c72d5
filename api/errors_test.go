package api_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
)

// What is wrong is told so that whoever reads it can mend it.
func TestErrorsSayWhatToMend(t *testing.T) {
	w := apitest.NewWorld(t)
	send := func(body any) apitest.Answer {
		return w.Do(apitest.Request{Method: http.MethodPost, Path: "/keys", Key: w.Acme.New, Body: body})
	}
	for name, c := range map[string]struct {
		body         string
		line, column float64
		message      string
	}{
		"a quote":        {"{\n  \"name\": \"x,\n}", 2, 14, "line break"},
		"the end":        {`{"name": "x"`, 1, 12, "too early"},
		"a comma":        {"{\"name\": \"x\"\n \"scopes\": []}", 2, 2, "comma"},
		"one comma more": {"{\"name\": \"ä\",}", 1, 14, "no comma"},
		"a value":        {"{\"name\": undefined}", 1, 10, "expected a value"},
		"something more": {"{} {}", 1, 4, "nothing more"},
	} {
		e := apitest.RequireError(t, send([]byte(c.body)), http.StatusBadRequest, "invalid_request", "body")
		details := e["details"].(map[string]any)
		require.Equal(t, []any{c.line, c.column}, []any{details["line"], details["column"]}, "%s: %v", name, e)
		require.Contains(t, e["message"], c.message, name)
	}

	all := apitest.RequireError(t, w.Do(apitest.Request{Method: http.MethodPost, Path: "/avatars", Key: w.Acme.New, Body: map[string]any{
		"gender": "none", "consent": map[string]any{"statement": "own_likeness"},
	}}), http.StatusBadRequest, "consent_invalid", "")
	var fields []any
	for _, p := range all["details"].(map[string]any)["problems"].([]any) {
		fields = append(fields, p.(map[string]any)["field"])
	}
	require.Subset(t, fields, []any{"body.name", "body.picture", "body.gender", "body.consent.policyVersion", "body.consent.personName", "body.consent.signedAt"})
	require.Equal(t, fields[0], all["param"], "the first is the param")

	none := apitest.RequireError(t, send(map[string]any{"name": "x", "scopes": []string{"avatars:read"}, "environment": "staging"}),
		http.StatusBadRequest, "invalid_request", "body.environment")
	require.Equal(t, "body.environment must be live or test.", none["message"])

	blank := apitest.RequireError(t, send(map[string]any{"name": " \t", "scopes": []string{"avatars:read"}}), http.StatusBadRequest, "invalid_request", "body.name")
	require.Equal(t, "body.name must be text that is more than spaces.", blank["message"])

	blank = apitest.RequireError(t, send(map[string]any{"name": "", "scopes": []string{"avatars:read"}}), http.StatusBadRequest, "invalid_request", "body.name")
	require.NotContains(t, blank["message"], "more", "one fault is told once")

	number := apitest.RequireError(t, w.Do(apitest.Request{
		Method: http.MethodPost, Path: "/sessions/tokens", Key: w.Acme.New, Body: []byte(`{"personaId": "pers_x", "maxDurationS": 60.0}`),
	}), http.StatusBadRequest, "invalid_request", "body.maxDurationS")
	require.Contains(t, number["message"], "without a fraction")

	apitest.RequireError(t, w.Do(apitest.Request{
		Method: http.MethodPost, Path: "/personas", Key: w.Acme.New, Body: []byte(`{"name": "x", "goals": [{"key": "a"}, {"key": 1e400}]}`),
	}), http.StatusBadRequest, "invalid_request", "body.goals[1].key")

	texts := map[string]bool{}
	for _, header := range []map[string]string{
		{}, {"X-API-Key": string(w.Acme.New)}, {"Authorization": "Basic " + string(w.Acme.New)}, {"Authorization": "Bearer vsk_live_none"}, {"Authorization": string(w.Acme.New)},
	} {
		answer := w.Do(apitest.Request{Method: http.MethodGet, Path: "/me", Header: header})
		e := apitest.RequireError(t, answer, http.StatusUnauthorized, "unauthorized", "header.Authorization")
		require.NotContains(t, string(answer.Raw), `\u003c`)
		texts[e["message"].(string)] = true
	}
	require.Len(t, texts, 5, "each says what is wrong with it: %v", texts)
}
