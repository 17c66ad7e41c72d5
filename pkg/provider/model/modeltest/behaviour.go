package modeltest

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"

	"visavis.dev/pkg/provider/model"
)

// Stream answers well, piece by piece, or all at once where no stream was
// asked for.
func Stream(pieces ...string) Behaviour {
	return func(w http.ResponseWriter, _ *http.Request, asked Request) {
		switch {
		case asked.Path == "/v1/responses":
			respond(w, asked.Stream, pieces...)
		case !asked.Stream:
			whole(w, strings.Join(pieces, ""), "stop")
		default:
			begin(w)
			words(w, pieces...)
			finish(w, "stop")
		}
	}
}

// respond answers well by the responses protocol.
func respond(w http.ResponseWriter, stream bool, pieces ...string) {
	done := map[string]any{"status": "completed", "error": nil, "incomplete_details": nil, "output": []any{
		map[string]any{"type": "reasoning", "summary": []any{}},
		map[string]any{"type": "message", "content": []any{map[string]any{"type": "output_text", "text": strings.Join(pieces, "")}}},
	}}
	if !stream {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(done)
		return
	}
	begin(w)
	tell := func(kind string, more map[string]any) {
		more["type"] = kind
		_, _ = io.WriteString(w, "event: "+kind+"\n"+event(more))
		flush(w)
	}
	tell("response.created", map[string]any{"response": map[string]any{"status": "in_progress"}})
	for _, text := range pieces {
		tell("response.output_text.delta", map[string]any{"delta": text})
	}
	tell("response.output_text.done", map[string]any{"text": strings.Join(pieces, "")})
	tell("response.completed", map[string]any{"response": done})
}

// Calls asks for tools, after some words if there are any.
func Calls(said string, calls ...model.ToolCall) Behaviour {
	return func(w http.ResponseWriter, _ *http.Request, asked Request) {
		begin(w)
		if asked.Path == "/v1/responses" {
			var output []any
			for _, c := range calls {
				item := map[string]any{"type": "function_call", "call_id": c.ID, "name": c.Name, "arguments": c.Arguments}
				output = append(output, item)
				_, _ = io.WriteString(w, event(map[string]any{"type": "response.output_item.done", "item": item}))
			}
			_, _ = io.WriteString(w, event(map[string]any{"type": "response.completed", "response": map[string]any{"status": "completed", "output": output}}))
			return
		}
		if said != "" {
			words(w, said)
		}
		for i, c := range calls {
			half := len(c.Arguments) / 2
			_, _ = io.WriteString(w, event(calling(map[string]any{"index": i, "id": c.ID, "type": "function", "function": map[string]any{"name": c.Name, "arguments": c.Arguments[:half]}}))+
				event(calling(map[string]any{"index": i, "function": map[string]any{"arguments": c.Arguments[half:]}})))
		}
		finish(w, "tool_calls")
	}
}

func calling(call map[string]any) map[string]any {
	return map[string]any{"choices": []any{map[string]any{"index": 0, "delta": map[string]any{"content": nil, "tool_calls": []any{call}}}}}
}

// InTurn answers each request by the next of some behaviours, and by the last from then on.
func InTurn(behaviours ...Behaviour) Behaviour {
	var asked atomic.Int64
	return func(w http.ResponseWriter, r *http.Request, q Request) {
		behaviours[min(int(asked.Add(1)), len(behaviours))-1](w, r, q)
	}
}

// Pause answers a piece, and the rest once open is closed.
func Pause(first string, open <-chan struct{}, rest ...string) Behaviour {
	return func(w http.ResponseWriter, r *http.Request, _ Request) {
		begin(w)
		words(w, first)
		select {
		case <-open:
		case <-r.Context().Done():
			return
		}
		words(w, rest...)
		finish(w, "stop")
	}
}

// Echo answers with words found in what was asked, such as the retrieved
// sources.
func Echo(find func([]model.Message) string) Behaviour {
	return func(w http.ResponseWriter, r *http.Request, asked Request) {
		Stream(strings.SplitAfter(find(asked.Messages), " ")...)(w, r, asked)
	}
}

// Instructions finds the last system message, which holds the sources of an
// answer.
func Instructions(messages []model.Message) string {
	var last string
	for _, m := range messages {
		if m.Role == "system" {
			last = m.Content
		}
	}
	return last
}

// Status answers with a status, headers, and words that nobody should repeat.
func Status(status int, header map[string]string) Behaviour {
	return func(w http.ResponseWriter, _ *http.Request, asked Request) {
		for name, value := range header {
			w.Header().Set(name, value)
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, `{"error":{"message":"you sent `+asked.Authorization+`"}}`)
	}
}

// Stall answers some pieces and then nothing, until the caller leaves. Without
// pieces not even the status comes.
func Stall(pieces ...string) Behaviour {
	return func(w http.ResponseWriter, r *http.Request, _ Request) {
		if len(pieces) > 0 {
			begin(w)
			words(w, pieces...)
		}
		<-r.Context().Done()
	}
}

// Babble keeps the stream open with comments and never says a word.
func Babble() Behaviour {
	return func(w http.ResponseWriter, r *http.Request, _ Request) {
		begin(w)
		for r.Context().Err() == nil {
			if _, err := io.WriteString(w, ": processing\n\n"); err != nil {
				return
			}
			flush(w)
		}
	}
}

// Events answers with events as they are given, each followed by an empty line.
func Events(events ...string) Behaviour {
	return func(w http.ResponseWriter, _ *http.Request, _ Request) {
		begin(w)
		for _, e := range events {
			_, _ = io.WriteString(w, e+"\n\n")
			flush(w)
		}
	}
}

// Raw answers with bytes.
func Raw(contentType, body string) Behaviour {
	return func(w http.ResponseWriter, _ *http.Request, _ Request) {
		w.Header().Set("Content-Type", contentType)
		_, _ = io.WriteString(w, body)
	}
}

// EarlyClose answers some pieces and closes the stream properly, without a word
// of why.
func EarlyClose(pieces ...string) Behaviour {
	return func(w http.ResponseWriter, _ *http.Request, _ Request) {
		begin(w)
		words(w, pieces...)
	}
}

// Abort answers some pieces and drops the connection.
func Abort(pieces ...string) Behaviour {
	return func(w http.ResponseWriter, _ *http.Request, _ Request) {
		begin(w)
		words(w, pieces...)
		panic(http.ErrAbortHandler)
	}
}

// LongerThanSent announces more bytes than it sends.
func LongerThanSent(pieces ...string) Behaviour {
	return func(w http.ResponseWriter, _ *http.Request, _ Request) {
		w.Header().Set("Content-Length", "100000")
		begin(w)
		words(w, pieces...)
	}
}

// ShorterThanMeant announces so few bytes that the stream ends within it.
func ShorterThanMeant(pieces ...string) Behaviour {
	return func(w http.ResponseWriter, _ *http.Request, _ Request) {
		w.Header().Set("Content-Length", strconv.Itoa(len(event(piece(pieces[0], nil)))))
		begin(w)
		words(w, pieces...)
		finish(w, "stop")
	}
}

// Endless never stops saying a piece, whatever was asked for.
func Endless(text string) Behaviour {
	return func(w http.ResponseWriter, r *http.Request, _ Request) {
		begin(w)
		for r.Context().Err() == nil {
			if _, err := io.WriteString(w, event(piece(text, nil))); err != nil {
				return
			}
		}
	}
}

// HugeLine sends a piece of so many bytes in one line.
func HugeLine(bytes int) Behaviour {
	return func(w http.ResponseWriter, _ *http.Request, _ Request) {
		begin(w)
		words(w, strings.Repeat("x", bytes))
		finish(w, "stop")
	}
}

// FinishedFor answers some pieces and names the reason for the end.
func FinishedFor(reason string, pieces ...string) Behaviour {
	return func(w http.ResponseWriter, _ *http.Request, asked Request) {
		if !asked.Stream {
			whole(w, strings.Join(pieces, ""), reason)
			return
		}
		begin(w)
		words(w, pieces...)
		finish(w, reason)
	}
}

func begin(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/event-stream")
	flush(w)
}

func flush(w http.ResponseWriter) { _ = http.NewResponseController(w).Flush() }

func words(w http.ResponseWriter, pieces ...string) {
	_, _ = io.WriteString(w, event(map[string]any{"choices": []any{map[string]any{"index": 0, "delta": map[string]any{"role": "assistant"}}}}))
	for _, text := range pieces {
		_, _ = io.WriteString(w, event(piece(text, nil)))
		flush(w)
	}
}

func finish(w http.ResponseWriter, reason string) {
	_, _ = io.WriteString(w, event(piece("", reason))+
		event(map[string]any{"choices": []any{}, "usage": map[string]any{"total_tokens": 9}})+"data: [DONE]\n\n")
	flush(w)
}

func piece(text string, finish any) map[string]any {
	return map[string]any{"object": "chat.completion.chunk", "choices": []any{
		map[string]any{"index": 0, "delta": map[string]any{"content": text}, "finish_reason": finish},
	}}
}

func event(v map[string]any) string {
	text, err := json.Marshal(maps.Clone(v))
	if err != nil {
		panic(err) // it is made of strings and numbers
	}
	return fmt.Sprintf("data: %s\n\n", text)
}

func whole(w http.ResponseWriter, text, reason string) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"choices": []any{
		map[string]any{"index": 0, "message": map[string]any{"role": "assistant", "content": text}, "finish_reason": reason},
	}})
}
