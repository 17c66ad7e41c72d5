package apitest

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

// Modelled is a connection to the scripted model's service.
func (c *connections) Modelled(t *testing.T, config map[string]any) string {
	t.Helper()
	config["baseUrl"], config["model"] = c.Models.URL(), "m"
	made := c.CallAs(t, "createConnection", "", c.Acme.New, map[string]any{
		"name": "model", "kind": "model", "provider": "openai_compatible", "secret": "sk-tests-of-asking-personas", "config": config,
	})
	require.Equal(t, http.StatusCreated, made.Status, "%s", made.Raw)
	return made.Data(t)["id"].(string)
}
