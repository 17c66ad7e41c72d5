package model

import (
	"encoding/json"
	"slices"

	"visavis.dev/pkg/provider/upstream"
)

// Tool is something that a model may ask to be done.
type Tool struct {
	Name, Description string
	// Parameters is the JSON Schema of the arguments, an object's.
	Parameters json.RawMessage
}

// ToolCall is a model asking for a tool. Nothing of it is checked: a model may name a tool that
// it was not offered, and write arguments that are not even JSON.
type ToolCall struct {
	// ID is the service's, by which the result is told to be of it.
	ID, Name, Arguments string
}

// The bounds of what a model may ask for in one answer.
const (
	maxCalls     = 8
	maxArguments = 16 << 10
)

// callDelta is a part of a call in a stream: the first has the id and the name, all have some
// of the arguments.
type callDelta struct {
	Index    *int   `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

// calls gathers those of an answer.
type calls []ToolCall

// add adds a part of a call. Some services send no index, and each call in one part.
func (c *calls) add(d callDelta) error {
	at := len(*c)
	switch {
	case d.Index != nil:
		at = *d.Index
	case d.ID == "" && at > 0:
		at--
	}
	if at < 0 || at > len(*c) || at >= maxCalls {
		return &upstream.Error{Code: upstream.Malformed}
	}
	if at == len(*c) {
		*c = append(*c, ToolCall{})
	}
	call := &(*c)[at]
	if d.ID != "" {
		call.ID = d.ID
	}
	call.Name += d.Function.Name
	call.Arguments += d.Function.Arguments
	if len(call.Name) > maxArguments || len(call.Arguments) > maxArguments {
		return &upstream.Error{Code: upstream.Malformed}
	}
	return nil
}

// chatMessages are messages as /chat/completions takes them.
func chatMessages(messages []Message) []any {
	out := make([]any, 0, len(messages))
	for _, m := range messages {
		switch {
		case len(m.Calls) > 0:
			asked := make([]any, len(m.Calls))
			for i, c := range m.Calls {
				asked[i] = map[string]any{"id": c.ID, "type": "function", "function": map[string]any{"name": c.Name, "arguments": c.Arguments}}
			}
			out = append(out, map[string]any{"role": m.Role, "content": m.Content, "tool_calls": asked})
		case m.ResultOf != "":
			out = append(out, map[string]any{"role": m.Role, "tool_call_id": m.ResultOf, "content": m.Content})
		default:
			out = append(out, m)
		}
	}
	return out
}

// chatTools are tools as /chat/completions takes them.
func chatTools(tools []Tool) []any {
	out := make([]any, len(tools))
	for i, t := range tools {
		out[i] = map[string]any{"type": "function", "function": map[string]any{
			"name": t.Name, "description": t.Description, "parameters": t.Parameters,
		}}
	}
	return out
}

// responsesInput are messages as /responses takes them.
func responsesInput(messages []Message) []any {
	out := make([]any, 0, len(messages))
	for _, m := range messages {
		if m.ResultOf != "" {
			out = append(out, map[string]any{"type": "function_call_output", "call_id": m.ResultOf, "output": m.Content})
			continue
		}
		if m.Content != "" || len(m.Calls) == 0 {
			out = append(out, Message{Role: m.Role, Content: m.Content})
		}
		for _, c := range m.Calls {
			out = append(out, map[string]any{"type": "function_call", "call_id": c.ID, "name": c.Name, "arguments": c.Arguments})
		}
	}
	return out
}

// responsesTools are tools as /responses takes them.
func responsesTools(tools []Tool) []any {
	out := make([]any, len(tools))
	for i, t := range tools {
		out[i] = map[string]any{
			"type": "function", "name": t.Name, "description": t.Description, "parameters": t.Parameters, "strict": false,
		}
	}
	return out
}

// pass hands the calls of an answer on, in order.
func (c *calls) pass(each func(Piece) error) error {
	for _, call := range slices.Clone(*c) {
		if err := each(Piece{Call: &call}); err != nil {
			return err
		}
	}
	return nil
}
