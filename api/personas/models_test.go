package personas_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/pkg/provider/model/modeltest"
)

// A connection's model that fails three times in a row is left alone by all of its
// personas, until the connection is changed.
func TestAModelThatFailsIsLeftAlone(t *testing.T) {
	c := apitest.NewConnections(t)
	connection := c.Modelled(t, map[string]any{})
	own := guide(t, c.World, map[string]any{"model": map[string]any{"connectionId": connection}})
	other := guide(t, c.World, map[string]any{"model": map[string]any{"connectionId": connection}})
	c.Models.Behave(modeltest.Status(http.StatusTooManyRequests, map[string]string{"Retry-After": "60"}))
	before := len(c.Models.Requests())
	for _, persona := range []string{own, other, own, other, own} {
		require.Equal(t, "The museum opens at nine in the morning.", ask(t, c.World, persona, "When does the museum open?")["answer"])
	}
	require.Len(t, c.Models.Requests(), before+3)

	c.Models.Behave(modeltest.Stream("We open at nine [1]."))
	require.Equal(t, "The museum opens at nine in the morning.", ask(t, c.World, own, "When does the museum open?")["answer"])
	changed := c.CallAs(t, "updateConnection", connection, c.Acme.New, map[string]any{"config": map[string]any{
		"baseUrl": c.Models.URL(), "model": "m2",
	}})
	require.Equal(t, http.StatusOK, changed.Status, "%s", changed.Raw)
	require.Eventually(t, func() bool {
		return ask(t, c.World, other, "When does the museum open?")["answer"] == "We open at nine."
	}, 20*time.Second, 100*time.Millisecond)
}

// A model's server beside the product is reached without TLS, where the operator lists its
// address; other services are not.
func TestAModelBesideTheProduct(t *testing.T) {
	c := apitest.NewConnections(t)
	beside := modeltest.StartPlain()
	t.Cleanup(beside.Close)
	require.Contains(t, beside.URL(), "http://127.0.0.1:")
	make := func(kind string, config map[string]any) apitest.Answer {
		return c.CallAs(t, "createConnection", "", c.Acme.New, map[string]any{"name": "beside", "kind": kind, "provider": "openai_compatible", "config": config})
	}
	made := make("model", map[string]any{"baseUrl": beside.URL(), "model": "m"})
	require.Equal(t, http.StatusCreated, made.Status, "%s", made.Raw)
	connection := made.Data(t)["id"].(string)
	tried := c.CallAs(t, "testConnection", connection, c.Acme.New, nil)
	require.Equal(t, http.StatusOK, tried.Status, "%s", tried.Raw)
	require.Equal(t, true, tried.Data(t)["ok"], "%s", tried.Raw)

	beside.Behave(modeltest.Stream("We open at nine [1]."))
	own := guide(t, c.World, map[string]any{"model": map[string]any{"connectionId": connection}})
	require.Equal(t, "We open at nine.", ask(t, c.World, own, "When does the museum open?")["answer"])

	made = make("model", map[string]any{"baseUrl": beside.URL(), "model": "m", "protocol": "responses"})
	require.Equal(t, http.StatusCreated, made.Status, "%s", made.Raw)
	own = guide(t, c.World, map[string]any{"model": map[string]any{"connectionId": made.Data(t)["id"]}})
	require.Equal(t, "We open at nine.", ask(t, c.World, own, "When does the museum open?")["answer"])
	requests := beside.Requests()
	require.Equal(t, "/v1/responses", requests[len(requests)-1].Path)

	apitest.RequireError(t, make("model", map[string]any{"baseUrl": "http://8.8.8.8/v1", "model": "m"}), http.StatusBadRequest, "invalid_request", "body.config.baseUrl")
	apitest.RequireError(t, make("model", map[string]any{"baseUrl": "http://10.0.0.1/v1", "model": "m"}), http.StatusBadRequest, "invalid_request", "body.config.baseUrl")
	for kind, want := range map[string]int{"recognition": http.StatusCreated, "speech": http.StatusBadRequest} {
		got := make(kind, map[string]any{"baseUrl": beside.URL(), "model": "m"})
		require.Equal(t, want, got.Status, "%s: %s", kind, got.Raw)
	}
}
