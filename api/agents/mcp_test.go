package agents_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
)

// fromAddress sends requests as if from an address.
type fromAddress string

// RoundTrip implements http.RoundTripper.
func (a fromAddress) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("X-Forwarded-For", string(a))
	return http.DefaultTransport.RoundTrip(r)
}

// connect opens an agent with the protocol's own client.
func connect(t *testing.T, w *apitest.World, slug, address string) *mcp.ClientSession {
	t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	s, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{
		Endpoint: w.URL + "/agents/" + slug + "/mcp", HTTPClient: &http.Client{Transport: fromAddress(address)}, DisableStandaloneSSE: true,
	}, nil)
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// call calls a tool, and answers what it says in its structured form.
func call(t *testing.T, s *mcp.ClientSession, tool string, arguments map[string]any) (*mcp.CallToolResult, map[string]any) {
	t.Helper()
	result, err := s.CallTool(context.Background(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
	require.NoError(t, err)
	said, _ := result.StructuredContent.(map[string]any)
	return result, said
}

func told(r *mcp.CallToolResult) string { return r.Content[0].(*mcp.TextContent).Text }

func TestAnAgentOverMCP(t *testing.T) {
	w := apitest.NewWorld(t, behindProxy)
	slug := w.Agent(t, w.Acme)
	shown := get(t, w, "getAgent", slug).Data(t)
	require.Equal(t, w.URL+"/agents/"+slug+"/mcp", apitest.At(shown, "endpoints", "mcp"))
	s := connect(t, w, slug, "192.0.2.1")
	tools, err := s.ListTools(t.Context(), nil)
	require.NoError(t, err)
	names := []string{}
	for _, tool := range tools.Tools {
		names = append(names, tool.Name)
		require.True(t, tool.Annotations.ReadOnlyHint, tool.Name)
		require.False(t, *tool.Annotations.DestructiveHint, tool.Name)
	}
	require.ElementsMatch(t, []string{"ask", "list_topics", "contact_options"}, names)

	// The same answer as over the API.
	_, first := call(t, s, "ask", map[string]any{"question": "When does the museum open?", "language": "English"})
	plain := ask(t, w, slug, map[string]any{"question": "When does the museum open?", "language": "en"}).Data(t)
	require.Contains(t, first["answer"], "nine")
	delete(plain, "conversationId") // sealed anew each time
	thread := first["conversationId"]
	delete(first, "conversationId")
	require.Equal(t, plain, first)
	_, next := call(t, s, "ask", map[string]any{"question": "And when does it close?", "language": "en", "conversationId": thread})
	require.Contains(t, next["answer"], "six")

	_, topics := call(t, s, "list_topics", nil)
	require.Contains(t, topics["topics"], "Hours")
	require.Equal(t, shown["languages"], topics["languages"])
	_, contact := call(t, s, "contact_options", nil)
	require.Equal(t, map[string]any{"organizationName": "Acme", "humanUrl": shown["humanUrl"]}, contact)

	for name, arguments := range map[string]map[string]any{
		"no words": {"question": "  "}, "a long one": {"question": strings.Repeat("why ", 251)}, "no language of its": {"question": "Why?", "language": "Klingon"},
		"a strange conversation": {"question": "Why?", "conversationId": "x"}, "nothing": {}, "another type": {"question": 7},
	} {
		result, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "ask", Arguments: arguments})
		require.True(t, err != nil || result.IsError, name)
	}
	_, err = s.CallTool(t.Context(), &mcp.CallToolParams{Name: "delete_everything"})
	require.Error(t, err)
}

// Questions count the same, however they come.
func TestMCPHasTheSameLimits(t *testing.T) {
	w := apitest.NewWorld(t, behindProxy)
	slug := w.Agent(t, w.Acme)
	o := w.Operation(t, "askAgent")
	apitest.Within(t, func() []apitest.Answer {
		s := connect(t, w, slug, "192.0.2.1")
		for i := range 15 {
			result, _ := call(t, s, "ask", map[string]any{"question": fmt.Sprintf("Hello %d?", i)})
			require.False(t, result.IsError, "%d: %v", i, result.Content)
			answer := w.Do(apitest.Request{Method: o.Method, Path: apitest.WithID(o, slug), Body: map[string]any{"question": fmt.Sprintf("Hello again %d?", i)}, Header: map[string]string{"X-Forwarded-For": "192.0.2.1"}})
			require.Equal(t, http.StatusOK, answer.Status)
		}
		return nil
	})
	s := connect(t, w, slug, "192.0.2.2")
	var last *mcp.CallToolResult
	for n := range 61 { // more than two minutes allow
		if last, _ = call(t, s, "ask", map[string]any{"question": fmt.Sprintf("Hello %d?", n)}); last.IsError {
			break
		}
	}
	require.True(t, last.IsError)
	require.Contains(t, told(last), "Ask again in ")
	topics, _ := call(t, s, "list_topics", nil)
	require.False(t, topics.IsError, "what costs nothing goes on")
}

// What is sent to the door by hand.
func TestTheDoorOfMCP(t *testing.T) {
	w := apitest.NewWorld(t)
	slug := w.Agent(t, w.Acme)
	send := func(method, slug string, body any, header map[string]string) apitest.Answer {
		all := map[string]string{"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
		maps.Copy(all, header)
		return w.Do(apitest.Request{Method: method, Path: "/agents/" + slug + "/mcp", Body: body, Header: all})
	}
	for _, method := range []string{http.MethodGet, http.MethodDelete, http.MethodPut} {
		answer := send(method, slug, nil, nil)
		require.Equal(t, http.StatusMethodNotAllowed, answer.Status, method)
		require.Contains(t, answer.Header.Get("Allow"), http.MethodPost)
	}
	list := map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
	older := send(http.MethodPost, slug, list, map[string]string{"Mcp-Protocol-Version": "2025-06-18"})
	require.Equal(t, http.StatusOK, older.Status, "%s", older.Raw)
	require.Len(t, apitest.At(older.JSON(t), "result", "tools"), 3)
	require.Empty(t, older.Header.Get("Mcp-Session-Id"), "nothing is kept")
	newest := send(http.MethodPost, slug, map[string]any{
		"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": map[string]any{"_meta": map[string]any{
			"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientInfo": map[string]any{"name": "test", "version": "1"},
			"io.modelcontextprotocol/clientCapabilities": map[string]any{},
		}},
	}, map[string]string{"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/list"})
	require.Equal(t, http.StatusOK, newest.Status, "%s", newest.Raw)
	require.Len(t, apitest.At(newest.JSON(t), "result", "tools"), 3)

	text, err := json.Marshal(list)
	require.NoError(t, err)
	require.Equal(t, http.StatusRequestEntityTooLarge, send(http.MethodPost, slug, append(bytes.Repeat([]byte(" "), 16<<10), text...), nil).Status)
	require.Equal(t, http.StatusUnsupportedMediaType, send(http.MethodPost, slug, text, map[string]string{"Content-Type": "text/plain"}).Status)
	apitest.RequireError(t, send(http.MethodPost, slug, []byte("{"), nil), http.StatusBadRequest, "invalid_request", "body")
	for i, body := range []string{`[]`, `7`, `{"jsonrpc":"2.0"}`, `{"jsonrpc":"2.0","id":1,"method":"no/such"}`, `{"jsonrpc":"1.0","id":1,"method":"tools/list"}`} {
		answer := send(http.MethodPost, slug, []byte(body), nil)
		require.Less(t, answer.Status, http.StatusInternalServerError, fmt.Sprint(i, body))
		require.NotContains(t, string(answer.Raw), `"result"`, body)
		if answer.Status != http.StatusAccepted {
			e := apitest.RequireError(t, answer, http.StatusBadRequest, "invalid_request", "body")
			require.NotContains(t, e["message"], "Go value", body)
		}
	}
	unknown := apitest.RequireError(t, send(http.MethodPost, slug, list, map[string]string{"Mcp-Protocol-Version": "1999-01-01"}), http.StatusBadRequest, "invalid_request", "")
	require.Contains(t, unknown["message"], "2025-06-18", "which there are")
	apitest.RequireError(t, send(http.MethodPost, "nobody-has-this", list, nil), http.StatusNotFound, "not_found", "path.id")
	w.LetAgentsAsk(t, w.Acme, false)
	requireRefused(t, w, slug)
	apitest.RequireError(t, send(http.MethodPost, slug, list, nil), http.StatusNotFound, "not_found", "path.id")
}

// What cannot be read is told by the name of the field, by both protocols, and in words of no program's.
func TestFieldsThatCannotBeRead(t *testing.T) {
	w := apitest.NewWorld(t)
	slug := w.Agent(t, w.Acme)
	request := func(method, params string) string {
		return `{"jsonrpc":"2.0","id":1234567,"method":"` + method + `","params":` + params + `}`
	}
	message := func(fields string) string { return `{"message":{"messageId":"m",` + fields + `}}` }
	for _, tt := range []struct{ at, version, body, want string }{
		{"mcp", "", request("initialize", `{"protocolVersion":7}`), "params.protocolVersion is of the wrong type, a string is expected."},
		{"mcp", "", request("initialize", `[]`), "params is of the wrong type, an object is expected."},
		{"mcp", "", request("tools/call", `{"name":5}`), "params.name is of the wrong type, a string is expected."},
		{"mcp", "", request("tools/call", `{"name":"ask","_meta":5}`), "params._meta is of the wrong type, an object is expected."},
		{"mcp", "", request("tools/call", `{"name":"ask","arguments":5}`), "arguments is of the wrong type, an object is expected."},
		{"mcp", "", request("tools/call", `{"name":"ask","arguments":{"question":5}}`), `/properties/question: type: 5 has type "integer", want "string"`},
		{"mcp", "", request("completion/complete", `{"ref":{"type":"hush"},"argument":{"name":"a","value":"b"}}`), `"params cannot be read."`},
		{"mcp", "", request("completion/complete", `{"ref":{"type":"hush, cannot unmarshal 1 into Go value of type string"}}`), `"params cannot be read."`},
		{"mcp", "", request("tools/call", `{"name":"ask","inputResponses":{"hush":{}}}`), `"params cannot be read."`},
		{"mcp", "", `{"jsonrpc":"2.0","id":{},"method":"tools/list"}`, "id is of the wrong type, a string or a number is expected."},
		{"mcp", "", `{"jsonrpc":"2.0","id":1,"method":7}`, "one of its fields is of the wrong type."},
		{"a2a", "1.0", request("SendMessage", `{"message":5}`), "params.message is of the wrong type, an object is expected."},
		{"a2a", "1.0", request("SendMessage", `[]`), "params is of the wrong type, an object is expected."},
		{"a2a", "1.0", request("SendMessage", message(`"contextId":5`)), "params.message.contextId is of the wrong type, a string is expected."},
		{"a2a", "1.0", request("SendStreamingMessage", message(`"contextId":5`)), "params.message.contextId is of the wrong type, a string is expected."},
		{"a2a", "1.0", request("GetTask", `{"id":5}`), "params.id is of the wrong type, a string is expected."},
		{"a2a", "1.0", `{"jsonrpc":"2.0","id":1,"method":5}`, "method is of the wrong type, a string is expected."},
		{"a2a", "1.0", `{"jsonrpc":"2.0","id":1,"method":"SendMessage"}`, "params is missing."},
		{"a2a", "1.0", `5`, "The body is of the wrong type, an object is expected."},
		{"a2a", "1.0", ``, "The body is empty."},
		{"a2a", "", request("message/send", `{"message":5}`), "params.message is of the wrong type, an object is expected."},
		{"a2a", "", request("message/send", message(`"role":"user","parts":[{"kind":"text","text":5}]`)), "params.message.parts.text is of the wrong type, a string is expected."},
		{"a2a", "", request("message/send", message(`"role":"user","parts":{}`)), "params.message.parts is of the wrong type, a list is expected."},
		{"a2a", "", request("message/send", message(`"role":"user","parts":[5]`)), "An item of params.message.parts is of the wrong type."},
		{"a2a", "1.0", request("SendMessage", message(`"role":"ROLE_USER","parts":[5]`)), "An item of params.message.parts is of the wrong type, an object is expected."},
		{"a2a", "1.0", request("SendMessage", message(`"role":"ROLE_USER","parts":{}`)), "params.message.parts is of the wrong type, a list is expected."},
		{"a2a", "1.0", request("SendMessage", message(`"role":"ROLE_USER","parts":[],"extensions":[5]`)), "An item of params.message.extensions is of the wrong type, a string is expected."},
		{"a2a", "1.0", request("SendMessage", message(`"role":5`)), "params.message.role is of the wrong type, a string is expected."},
		{"a2a", "", request("message/send", message(`"role":5`)), "params.message.role is of the wrong type, a string is expected."},
		{"a2a", "", request("message/stream", message(`"contextId":5`)), "params.message.contextId is of the wrong type, a string is expected."},
	} {
		header := map[string]string{"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
		if tt.version != "" {
			header["A2A-Version"] = tt.version
		}
		answer := w.Do(apitest.Request{Method: http.MethodPost, Path: "/agents/" + slug + "/" + tt.at, Body: []byte(tt.body), Header: header})
		said := strings.ReplaceAll(string(answer.Raw), `\"`, `"`)
		require.Contains(t, said, tt.want, tt.body)
		for _, word := range []string{"unmarshal", "Go ", "struct", "interface {}", "mcp.", "a2a.", "hush"} {
			require.NotContains(t, said, word, tt.body)
		}
		if strings.Contains(tt.body, "1234567") {
			require.Contains(t, said, "1234567", "the id is answered as it was sent")
		}
	}
}

// A request is one message: a batch could ask for many answers at the price of one.
func TestMCPTakesNoBatches(t *testing.T) {
	t.Parallel()
	w := apitest.NewWorld(t)
	slug := w.Agent(t, w.Acme)
	call := map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
	answer := w.Do(apitest.Request{Method: http.MethodPost, Path: "/agents/" + slug + "/mcp", Body: []any{call, call}, Header: map[string]string{
		"Accept": "application/json, text/event-stream", "Content-Type": "application/json",
	}})
	apitest.RequireError(t, answer, http.StatusBadRequest, "invalid_request", "body")
}
