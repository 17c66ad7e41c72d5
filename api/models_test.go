package api_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/pkg/provider/model/modeltest"
)

// modelled is a connection to the scripted model's service.
func (c *connections) modelled(t *testing.T, config map[string]any) string {
	t.Helper()
	config["baseUrl"], config["model"] = c.models.URL(), "m"
	made := c.do(t, "createConnection", "", c.Acme.New, map[string]any{
		"name": "model", "kind": "model", "provider": "openai_compatible", "secret": "sk-tests-of-asking-personas", "config": config,
	})
	require.Equal(t, http.StatusCreated, made.Status, "%s", made.Raw)
	return made.Data(t)["id"].(string)
}

// A connection's model that fails three times in a row is left alone by all of its
// personas, until the connection is changed.
func TestAModelThatFailsIsLeftAlone(t *testing.T) {
	c := newConnections(t)
	connection := c.modelled(t, map[string]any{})
	own := c.guide(t, map[string]any{"model": map[string]any{"connectionId": connection}})
	other := c.guide(t, map[string]any{"model": map[string]any{"connectionId": connection}})
	c.models.Behave(modeltest.Status(http.StatusTooManyRequests, map[string]string{"Retry-After": "60"}))
	before := len(c.models.Requests())
	for _, persona := range []string{own, other, own, other, own} {
		require.Equal(t, "The museum opens at nine in the morning.", c.ask(t, persona, "When does the museum open?")["answer"])
	}
	require.Len(t, c.models.Requests(), before+3)

	c.models.Behave(modeltest.Stream("We open at nine [1]."))
	require.Equal(t, "The museum opens at nine in the morning.", c.ask(t, own, "When does the museum open?")["answer"])
	changed := c.do(t, "updateConnection", connection, c.Acme.New, map[string]any{"config": map[string]any{
		"baseUrl": c.models.URL(), "model": "m2",
	}})
	require.Equal(t, http.StatusOK, changed.Status, "%s", changed.Raw)
	require.Eventually(t, func() bool { return c.ask(t, other, "When does the museum open?")["answer"] == "We open at nine." }, 10*time.Second, 100*time.Millisecond)
}

// A model's server beside the product is reached without TLS, where the operator lists its
// address; other services are not.
func TestAModelBesideTheProduct(t *testing.T) {
	c := newConnections(t)
	beside := modeltest.StartPlain()
	t.Cleanup(beside.Close)
	require.Contains(t, beside.URL(), "http://127.0.0.1:")
	make := func(kind string, config map[string]any) apitest.Answer {
		return c.do(t, "createConnection", "", c.Acme.New, map[string]any{"name": "beside", "kind": kind, "provider": "openai_compatible", "config": config})
	}
	made := make("model", map[string]any{"baseUrl": beside.URL(), "model": "m"})
	require.Equal(t, http.StatusCreated, made.Status, "%s", made.Raw)
	connection := made.Data(t)["id"].(string)
	tried := c.do(t, "testConnection", connection, c.Acme.New, nil)
	require.Equal(t, http.StatusOK, tried.Status, "%s", tried.Raw)
	require.Equal(t, true, tried.Data(t)["ok"], "%s", tried.Raw)

	beside.Behave(modeltest.Stream("We open at nine [1]."))
	own := c.guide(t, map[string]any{"model": map[string]any{"connectionId": connection}})
	require.Equal(t, "We open at nine.", c.ask(t, own, "When does the museum open?")["answer"])

	made = make("model", map[string]any{"baseUrl": beside.URL(), "model": "m", "protocol": "responses"})
	require.Equal(t, http.StatusCreated, made.Status, "%s", made.Raw)
	own = c.guide(t, map[string]any{"model": map[string]any{"connectionId": made.Data(t)["id"]}})
	require.Equal(t, "We open at nine.", c.ask(t, own, "When does the museum open?")["answer"])
	requests := beside.Requests()
	require.Equal(t, "/v1/responses", requests[len(requests)-1].Path)

	requireError(t, make("model", map[string]any{"baseUrl": "http://8.8.8.8/v1", "model": "m"}), http.StatusBadRequest, "invalid_request", "body.config.baseUrl")
	requireError(t, make("model", map[string]any{"baseUrl": "http://10.0.0.1/v1", "model": "m"}), http.StatusBadRequest, "invalid_request", "body.config.baseUrl")
	for kind, want := range map[string]int{"recognition": http.StatusCreated, "speech": http.StatusBadRequest} {
		got := make(kind, map[string]any{"baseUrl": beside.URL(), "model": "m"})
		require.Equal(t, want, got.Status, "%s: %s", kind, got.Raw)
	}
}
