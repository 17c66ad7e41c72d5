package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/provider/model"
	"visavis.dev/pkg/provider/model/modeltest"
)

// A visitor asks for their order, and the persona's model finds it in the organization's own
// system; on the page it shows it, once the visitor said that it may.
func TestAModelsToolsStory(t *testing.T) {
	t.Parallel()
	m := newModelled(t)
	requests := make(chan string, 10)
	shop := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/api" { // as its test asks
			requests <- r.Method + " " + r.URL.RequestURI() + " " + r.Header.Get("X-Api-Key")
		}
		_, _ = io.WriteString(w, `{"state":"shipped","parcel":"AB 12"}`)
	}))
	t.Cleanup(shop.Close)
	system := m.makes(t, "/connections", map[string]any{
		"kind": "http", "provider": "http", "name": "Shop", "secret": "shop-secret-1",
		"config": map[string]any{"baseUrl": shop.URL + "/api", "secretHeader": "X-API-Key", "tools": []any{map[string]any{
			"name": "order", "description": "Finds an order by its number.", "method": "GET", "path": "/orders/{number}",
			"parameters": map[string]any{"type": "object", "required": []any{"number"}, "properties": map[string]any{"number": map[string]any{"type": "string"}}},
		}}},
	})
	tested := data[struct{ OK bool }](t, post(t, m.base+"/connections/"+system+"/test", m.caller.key, nil))
	require.True(t, tested.OK)
	base := m.makes(t, "/knowledge/bases", map[string]any{"name": "Pack"})
	persona := m.persona(t, base, map[string]any{
		"greeting": map[string]any{"mode": "none"}, "knowledge": map[string]any{"baseIds": []string{base}, "retrieval": "fast"},
		"model": map[string]any{"connectionId": m.connect(m.caller, acmeSecret, "builtin"), "timeoutMs": modelPatience.Milliseconds()},
		"tools": []any{
			map[string]any{"kind": "http", "connectionId": system, "enabled": true, "config": map[string]any{}},
			map[string]any{"kind": "client", "connectionId": nil, "enabled": true, "config": map[string]any{
				"name": "show_parcel", "title": "Show the parcel on the map", "description": "Shows it.", "confirm": "visitor",
			}},
		},
	})
	session, visitor := m.enter(m.caller, persona)

	m.models.Behave(modeltest.InTurn(
		modeltest.Calls("", model.ToolCall{ID: "1", Name: "order", Arguments: `{"number":"7/8"}`}),
		modeltest.Stream("It was shipped, as parcel AB 12."),
	))
	text, _ := visitor.ask("Where is my order?")
	require.Equal(t, "It was shipped, as parcel AB 12.", text)
	select {
	case asked := <-requests:
		require.Equal(t, "GET /api/orders/7%2F8 shop-secret-1", asked)
	case <-time.After(patience):
		t.Fatal("the shop was not asked")
	}

	m.models.Behave(modeltest.InTurn(
		modeltest.Calls("", model.ToolCall{ID: "2", Name: "show_parcel", Arguments: `{}`}),
		modeltest.Stream("Here it is."),
	))
	text, _ = visitor.ask("Show me where it is")
	require.Equal(t, "Show the parcel on the map. Is that right?", text)
	visitor.send("user-text", map[string]string{"text": "yes"})
	var call struct{ CallID, Name string }
	require.NoError(t, json.Unmarshal(visitor.await("llm-function-call", nil).Data, &call))
	require.Equal(t, "show_parcel", call.Name)
	visitor.send("llm-function-call-result", map[string]any{"callId": call.CallID, "result": map[string]any{"shown": true}})
	text, _ = visitor.hear()
	require.Equal(t, "Here it is.", text)

	transcript := data[struct {
		Turns []struct {
			ToolCalls []struct{ Name, Status string }
		}
	}](t, get(t, m.base+"/sessions/"+session+"/transcript", m.caller.key))
	var used []string
	for _, turn := range transcript.Turns {
		for _, tool := range turn.ToolCalls {
			used = append(used, tool.Name+" "+tool.Status)
		}
	}
	require.Equal(t, []string{"order completed", "show_parcel completed"}, used)
	require.Eventually(t, func() bool {
		calls := data[[]struct{ Name string }](t, get(t, m.base+"/connections/"+system+"/calls", m.caller.key))
		return len(calls) == 2 && calls[0].Name == "tool.order"
	}, patience, 20*time.Millisecond)
}
