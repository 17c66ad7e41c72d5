package model

import (
	"encoding/json"
	"strings"

	"visavis.dev/pkg/provider/upstream"
)

// Protocol is how a service is asked.
type Protocol string

// The protocols. The first is what nearly every service speaks.
const (
	ChatCompletions Protocol = "chat_completions"
	Responses       Protocol = "responses"
)

// functionCall is the type of an item that calls a tool.
const functionCall = "function_call"

// path is what a service is asked under.
func (p Protocol) path() string {
	if p == Responses {
		return "/responses"
	}
	return "/chat/completions"
}

// responsesBody is a request of the responses protocol. Nothing is to be stored there.
func (c *Client) responsesBody(r Request, stream bool) ([]byte, error) {
	body := map[string]any{"model": c.Name, "input": responsesInput(r.Messages), "stream": stream, "store": false}
	if len(r.Tools) > 0 {
		body["tools"] = responsesTools(r.Tools)
	}
	if r.MaxTokens > 0 {
		body["max_output_tokens"] = r.MaxTokens
	}
	if !c.OmitTemperature {
		body["temperature"] = r.Temperature
	}
	return json.Marshal(body)
}

// responsesEvent is an event of a stream of the responses protocol; of most only the type
// is looked at.
type responsesEvent struct {
	Type     string   `json:"type"`
	Delta    string   `json:"delta"`
	Response response `json:"response"`
	// Item is of a part of the output that is whole.
	Item responsesItem `json:"item"`
	// Code is of an event of the type error.
	Code string `json:"code"`
}

// response is an answer of the responses protocol.
type response struct {
	Status     string          `json:"status"`
	Error      json.RawMessage `json:"error"`
	Incomplete struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
	Output []responsesItem `json:"output"`
}

// responsesItem is a part of an answer's output: a message, or a call of a tool.
type responsesItem struct {
	Type    string `json:"type"`
	Content []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	} `json:"content"`
	CallID    string `json:"call_id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// call is the call that an item is.
func (i *responsesItem) call() callDelta {
	d := callDelta{ID: i.CallID}
	d.Function.Name, d.Function.Arguments = i.Name, i.Arguments
	return d
}

// finish is why a response ended, as the other protocol calls it; empty where it did not.
func (r *response) finish() string {
	switch {
	case r.Incomplete.Reason == "max_output_tokens":
		return "length"
	case r.Incomplete.Reason == "content_filter":
		return "content_filter"
	case r.Status == "completed":
		return "stop"
	}
	return ""
}

func (r *response) text() string {
	var text strings.Builder
	for _, item := range r.Output {
		for _, part := range item.Content {
			if item.Type == "message" && part.Type == "output_text" {
				text.WriteString(part.Text)
			}
		}
	}
	return text.String()
}

// takeResponses takes an event of the responses protocol; done says that no more is to come.
func (a *answer) takeResponses(data string) (done bool, err error) {
	if data == "" || data == "[DONE]" {
		return false, nil
	}
	var e responsesEvent
	if err := decode(data, &e); err != nil {
		return false, err
	}
	switch e.Type {
	case "response.output_text.delta":
		return false, a.write(e.Delta)
	case "response.output_item.done":
		if e.Item.Type == functionCall {
			return false, a.calls.add(e.Item.call())
		}
	case "response.completed", "response.incomplete":
		if a.finish = e.Response.finish(); a.finish == "" {
			return false, &upstream.Error{Code: upstream.Malformed}
		}
		return true, a.end()
	case "response.failed":
		err := (&chunk{Error: e.Response.Error}).failed()
		if err == nil {
			err = &upstream.Error{Code: upstream.Unavailable} // it does not say why
		}
		return false, a.late(err)
	case "error":
		return false, a.late(&upstream.Error{Code: failure(e.Code)})
	}
	return false, nil
}

// wholeResponse reads an answer of the responses protocol that is not a stream.
func wholeResponse(body string) (a answered, err error) {
	var r response
	if err := decode(body, &r); err != nil {
		return a, err
	}
	if err := (&chunk{Error: r.Error}).failed(); err != nil {
		return a, err
	}
	if a.finish = r.finish(); a.finish == "" {
		return a, &upstream.Error{Code: upstream.Malformed}
	}
	for i := range r.Output {
		if r.Output[i].Type == functionCall {
			if err := a.calls.add(r.Output[i].call()); err != nil {
				return a, err
			}
		}
	}
	a.text = r.text()
	return a, nil
}
