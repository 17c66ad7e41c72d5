package api_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

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
