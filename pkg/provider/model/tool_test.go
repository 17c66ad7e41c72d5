package model_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/provider/model"
	"visavis.dev/pkg/provider/model/modeltest"
)

var weather = model.Tool{Name: "weather", Description: "Tells the weather.", Parameters: json.RawMessage(`{"type":"object"}`)}

// A model is offered tools, asks for some, and is told their results, by both protocols.
func TestTools(t *testing.T) {
	t.Parallel()
	calls := []model.ToolCall{{ID: "c1", Name: "weather", Arguments: `{"place":"Bern"}`}, {ID: "c2", Name: "weather", Arguments: `{}`}}
	told := []model.Message{
		{Role: "user", Content: "How is it?"}, {Role: "assistant", Calls: calls},
		{Role: "tool", ResultOf: "c1", Content: "Sun"}, {Role: "tool", ResultOf: "c2", Content: "Rain"},
	}
	for protocol, want := range map[model.Protocol]string{
		model.ChatCompletions: `{"tools":[{"type":"function","function":{"name":"weather","description":"Tells the weather.","parameters":{"type":"object"}}}],
			"messages":[{"role":"user","content":"How is it?"},
			{"role":"assistant","content":"","tool_calls":[{"id":"c1","type":"function","function":{"name":"weather","arguments":"{\"place\":\"Bern\"}"}},{"id":"c2","type":"function","function":{"name":"weather","arguments":"{}"}}]},
			{"role":"tool","tool_call_id":"c1","content":"Sun"},{"role":"tool","tool_call_id":"c2","content":"Rain"}]}`,
		model.Responses: `{"tools":[{"type":"function","name":"weather","description":"Tells the weather.","parameters":{"type":"object"},"strict":false}],
			"input":[{"role":"user","content":"How is it?"},
			{"type":"function_call","call_id":"c1","name":"weather","arguments":"{\"place\":\"Bern\"}"},{"type":"function_call","call_id":"c2","name":"weather","arguments":"{}"},
			{"type":"function_call_output","call_id":"c1","output":"Sun"},{"type":"function_call_output","call_id":"c2","output":"Rain"}]}`,
	} {
		s, c := service(t, modeltest.Calls("", calls...))
		c.Protocol = protocol
		heard, err := stream(c, model.Request{Messages: told, Tools: []model.Tool{weather}})
		require.NoError(t, err, protocol)
		require.Equal(t, `weather({"place":"Bern"})#c1 weather({})#c2 `, heard, protocol)
		sent := s.Requests()[0].Body
		for _, name := range []string{"model", "stream", "temperature", "store"} {
			delete(sent, name)
		}
		text, err := json.Marshal(sent)
		require.NoError(t, err)
		require.JSONEq(t, want, string(text), protocol)
	}
}

// Services differ in how they stream calls; what makes no sense is malformed.
func TestCallsAsServicesSendThem(t *testing.T) {
	t.Parallel()
	delta := func(calls string) string {
		return `data: {"choices":[{"index":0,"delta":{"tool_calls":[` + calls + `]}}]}`
	}
	const end = `data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`
	many := make([]string, 9)
	for i := range many {
		many[i] = fmt.Sprintf(`{"index":%d,"id":"x","function":{"name":"a"}}`, i)
	}
	for name, test := range map[string]struct {
		events []string
		heard  string
		err    error
	}{
		"words first":       {[]string{`data: {"choices":[{"index":0,"delta":{"content":"One moment. "}}]}`, delta(`{"index":0,"id":"a","function":{"name":"go","arguments":"{}"}}`), end}, "One moment. go({})#a ", nil},
		"without an index":  {[]string{delta(`{"id":"a","function":{"name":"go","arguments":"{}"}}`), delta(`{"id":"b","function":{"name":"stay","arguments":"{}"}}`), end}, "go({})#a stay({})#b ", nil},
		"a gap":             {[]string{delta(`{"index":3,"id":"a","function":{"name":"go"}}`), end}, "", model.ErrMalformed},
		"too many":          {[]string{delta(strings.Join(many, ",")), end}, "", model.ErrMalformed},
		"endless arguments": {[]string{delta(`{"index":0,"id":"a","function":{"name":"go","arguments":"` + strings.Repeat("x", 17<<10) + `"}}`), end}, "", model.ErrMalformed},
		"broken off":        {[]string{delta(`{"index":0,"id":"a","function":{"name":"go"}}`)}, "", model.ErrTruncated},
		"cut at its length": {[]string{delta(`{"index":0,"id":"a","function":{"name":"go","arguments":"{"}}`), `data: {"choices":[{"index":0,"delta":{},"finish_reason":"length"}]}`}, "", model.ErrLength},
	} {
		_, c := service(t, modeltest.Events(test.events...))
		heard, err := stream(c, question)
		require.Equal(t, test.heard, heard, name)
		if test.err == nil {
			require.NoError(t, err, name)
		} else {
			require.ErrorIs(t, err, test.err, name)
		}
	}
	_, c := service(t, modeltest.Raw("application/json", `{"choices":[{"message":{"content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"go","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}`))
	heard, err := stream(c, question)
	require.NoError(t, err)
	require.Equal(t, "go({})#a ", heard, "a service that does not stream")
}
