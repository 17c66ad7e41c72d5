package conversation

import (
	"context"
	"encoding/json"
	"maps"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/provider/model"
	"visavis.dev/pkg/provider/model/modeltest"
	"visavis.dev/pkg/sessions/session"
)

// tools gives a persona tools of these kinds.
func tools(kinds ...string) func(*Config) {
	return func(c *Config) {
		c.Persona.Tools = nil
		for _, kind := range kinds {
			c.Persona.Tools = append(c.Persona.Tools, persona.Tool{Kind: kind, Enabled: true})
		}
	}
}

// weather is a tool of the client's.
func weather(more map[string]any) func(*Config) {
	return func(c *Config) {
		config := map[string]any{
			"name": "weather", "title": "Look up the weather", "description": "Tells the weather at a place.",
			"parameters": map[string]any{"type": "object", "required": []any{"place"}, "properties": map[string]any{"place": map[string]any{"type": "string"}}},
		}
		maps.Copy(config, more)
		c.Persona.Tools = []persona.Tool{{Kind: persona.ClientTool, Enabled: true, Config: config}}
	}
}

func asking(name, arguments string) modeltest.Behaviour {
	return modeltest.Calls("", model.ToolCall{ID: "c1", Name: name, Arguments: arguments})
}

// talk holds a conversation with a client that answers calls, and says each line when the
// avatar has answered the one before.
type talk struct {
	mu    sync.Mutex
	turns []session.Turn
	calls []FunctionCall
	uses  []ToolUse
	ended string
}

func (k *talk) Keep(_ context.Context, t session.Turn) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if t.Index < int64(len(k.turns)) {
		k.turns[t.Index] = t
	} else {
		k.turns = append(k.turns, t)
	}
	return nil
}

func (k *talk) Gap(context.Context, string, string) error { return nil }

func (k *talk) Collected(context.Context, session.Found) error { return nil }

func (k *talk) said() []string {
	var out []string
	for _, t := range k.turns {
		out = append(out, string(t.Speaker)+": "+t.Text)
	}
	return out
}

// used are the tools that the transcript names, each with what came of it.
func (k *talk) used() []string {
	var out []string
	for _, t := range k.turns {
		for _, call := range t.ToolCalls {
			out = append(out, call.Name+" "+call.Status)
		}
	}
	return out
}

// hold holds the conversation. answer is what the client does when it is asked to use a tool.
func hold(t *testing.T, config Config, answer func(c *Conversation, call FunctionCall), lines ...string) *talk {
	t.Helper()
	return holdWith(t, config, answer, func(*Conversation) {}, lines...)
}

// holdWith is hold with something that happens before each line but the first.
func holdWith(t *testing.T, config Config, answer func(c *Conversation, call FunctionCall), before func(*Conversation), lines ...string) *talk {
	t.Helper()
	config.Persona.Knowledge.Retrieval = "fast" // no question is rewritten
	k := &talk{}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	config.Session.Channel, config.Journal = Chat, k
	config.End = func(reason string) { k.ended = reason }
	var c *Conversation
	config.Send = func(m Message) {
		switch d := m.Data.(type) {
		case FunctionCall:
			k.calls = append(k.calls, d)
			if answer != nil {
				answer(c, d)
			}
		case ToolUse:
			k.uses = append(k.uses, d)
		case BotText:
			if !d.Final || len(lines) == 0 {
				return
			}
			if lines = lines[1:]; len(lines) == 0 {
				cancel()
				return
			}
			before(c)
			c.Receive(ClientMessage{Type: UserText, Text: lines[0]})
		}
	}
	c = New(config)
	require.True(t, c.Receive(ClientMessage{Type: ClientReady}))
	require.True(t, c.Receive(ClientMessage{Type: UserText, Text: lines[0]}))
	c.Run(ctx)
	return k
}

func answersWith(result string) func(*Conversation, FunctionCall) {
	return func(c *Conversation, call FunctionCall) {
		c.Receive(ClientMessage{Type: FunctionCallResult, Call: call.ID, Result: json.RawMessage(result)})
	}
}
