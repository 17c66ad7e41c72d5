package doors_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/pkg/base/id"
)

// testSSO opens the door of an identity provider.
func testSSO(t *testing.T, w *apitest.World) {
	own := w.Entrance(t, w.Acme)
	connect := func(body map[string]any) string {
		made := w.CallAs(t, "createConnection", "", w.Acme.New, body)
		require.Equal(t, http.StatusCreated, made.Status, "%s", made.Raw)
		return made.Data(t)["id"].(string)
	}
	provider := connect(map[string]any{
		"kind": "identity", "provider": "oidc", "name": "Staff", "secret": "s3cret-of-the-client",
		"config": map[string]any{"issuer": "https://127.0.0.1:1", "clientId": "visavis", "emailDomains": []any{"example.com"}},
	})
	model := connect(map[string]any{
		"kind": "model", "provider": "openai_compatible", "name": "m", "config": map[string]any{"baseUrl": "https://127.0.0.1:1", "model": "m"},
	})
	set := func(body map[string]any) apitest.Answer { return w.CallAs(t, "setSSODoor", own, w.Acme.New, body) }

	opened := set(map[string]any{"open": true, "connectionId": provider, "message": "Hello"})
	require.Equal(t, http.StatusOK, opened.Status, "%s", opened.Raw)
	require.Equal(t, []any{"sso", true, provider, "sso", "Hello"},
		[]any{opened.Data(t)["key"], opened.Data(t)["open"], opened.Data(t)["connectionId"], opened.Data(t)["planFeature"], opened.Data(t)["message"]})
	require.NotNil(t, opened.Data(t)["url"])
	used := w.CallAs(t, "getConnection", provider, w.Acme.New, nil).Data(t)
	require.Equal(t, []any{own}, apitest.At(used, "usedBy", "portalIds"))
	require.Equal(t, "in_use", apitest.Reason(t, w.CallAs(t, "deleteConnection", provider, w.Acme.New, nil), "path.id"))

	for _, c := range []struct {
		connection, code, param string
		status                  int
	}{
		{"", "invalid_request", "body.connectionId", http.StatusBadRequest},
		{"x", "not_found", "body.connectionId", http.StatusNotFound},
		{id.NewConnection().String(), "not_found", "body.connectionId", http.StatusNotFound},
		{model, "invalid_request", "body.connectionId", http.StatusBadRequest},
	} {
		apitest.RequireError(t, set(map[string]any{"open": true, "connectionId": c.connection}), c.status, c.code, c.param)
	}
	require.Nil(t, set(map[string]any{"open": false}).Data(t)["connectionId"])
	require.Equal(t, http.StatusOK, w.CallAs(t, "deleteConnection", provider, w.Acme.New, nil).Status)
	apitest.RequireError(t, set(map[string]any{"open": true, "connectionId": provider}), http.StatusGone, "gone", "body.connectionId")
}
