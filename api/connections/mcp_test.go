package connections_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/provider/mcpclient/mcptest"
	"visavis.dev/pkg/sessions/conversation"
)

// A server's tools are found by a test, switched on by the config, and used by a persona's
// conversation; what came of that is listed with the connection's calls.
func TestAServerOfToolsIsConnected(t *testing.T) {
	c := apitest.NewConnections(t)
	s := mcptest.Start(true)
	t.Cleanup(s.Close)
	s.Accept("shop-secret")
	s.Add("find_order", "Finds an order.", `{"type":"object","required":["number"],"properties":{"number":{"type":"string"}}}`,
		func(_ context.Context, call mcptest.Call) *mcp.CallToolResult {
			return mcptest.Says("Order " + call.Arguments["number"].(string) + " is on its way.")
		})
	s.Add("delete_all", "Deletes everything.", `{"type":"object"}`, nil)
	made := c.Connect(t, func(b, _ map[string]any) {
		b["kind"], b["provider"], b["secret"], b["config"] = "mcp", "mcp", "shop-secret", map[string]any{"baseUrl": s.URL + "/mcp"}
	}).Data(t)
	which := made["id"].(string)
	require.Equal(t, []any{"unverified", []any{}}, []any{made["state"], made["tools"]})

	tested := c.CallAs(t, "testConnection", which, c.Acme.New, nil).Data(t)
	require.Equal(t, true, tested["ok"], "%v", tested)
	require.Equal(t, []any{map[string]any{
		"name": "delete_all", "title": "", "description": "Deletes everything.", "inputSchema": map[string]any{"type": "object"}, "enabled": false, "confirm": nil, "problem": nil,
	}}, apitest.At(tested, "connection", "tools").([]any)[:1])

	config := map[string]any{"baseUrl": s.URL + "/mcp", "tools": []any{
		map[string]any{"name": "find_order", "title": "Find the order", "confirm": "visitor"}, map[string]any{"name": "gone"},
	}}
	changed := c.CallAs(t, "updateConnection", which, c.Acme.New, map[string]any{"config": config}).Data(t)
	shown := map[string]map[string]any{}
	for _, each := range changed["tools"].([]any) {
		shown[each.(map[string]any)["name"].(string)] = each.(map[string]any)
	}
	require.Equal(t, []any{true, "visitor", "Find the order"}, []any{shown["find_order"]["enabled"], shown["find_order"]["confirm"], shown["find_order"]["title"]})
	require.Equal(t, []any{false, nil}, []any{shown["gone"]["enabled"], shown["gone"]["inputSchema"]})
	require.NotNil(t, shown["gone"]["problem"])
	require.Equal(t, false, shown["delete_all"]["enabled"])

	remotes := lent(t, c.World, which, c.Connect(t, apitest.Same).Data(t)["id"].(string))
	require.Len(t, remotes, 1, "what is not switched on is not lent")
	answer, err := remotes[0].Use(t.Context(), map[string]any{"number": "7"}, "key-1")
	require.NoError(t, err)
	require.Equal(t, "Order 7 is on its way.", answer)
	require.Len(t, s.Calls(), 1)
	s.Behave(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) })
	_, err = remotes[0].Use(t.Context(), map[string]any{"number": "7"}, "key-2")
	require.Error(t, err)
	c.Reporter.Flush(t.Context())

	calls := c.CallAs(t, "listConnectionCalls", which, c.Acme.New, nil).JSON(t)["data"].([]any)
	require.Len(t, calls, 3)
	newest, before := calls[0].(map[string]any), calls[1].(map[string]any)
	require.Equal(t, []any{"tool.find_order", 502.0, "unavailable"}, []any{newest["name"], newest["status"], newest["errorCode"]})
	require.Equal(t, []any{"tool.find_order", nil}, []any{before["name"], before["errorCode"]})
	require.Equal(t, 1.0, apitest.At(c.CallAs(t, "getConnection", which, c.Acme.New, nil).Data(t), "health", "consecutiveFailures"))
}

// lent are the tools that a conversation of Acme's gets of a connection.
func lent(t *testing.T, w *apitest.World, tools, model string) []conversation.Remote {
	t.Helper()
	thinks, err := id.ParseConnection(model)
	require.NoError(t, err)
	has, err := id.ParseConnection(tools)
	require.NoError(t, err)
	var config conversation.Config
	config.Persona.Model.ConnectionID = &thinks
	config.Persona.Tools = []persona.Tool{{Kind: "mcp", ConnectionID: &has, Enabled: true}}
	require.NoError(t, w.Furnish(t.Context(), w.Acme.ID, &config))
	return config.Remotes
}
