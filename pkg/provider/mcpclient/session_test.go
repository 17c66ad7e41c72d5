package mcpclient_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/provider/mcpclient"
	"visavis.dev/pkg/provider/upstream"
)

// keeps behaves as a server that keeps sessions: uses has it answer to the use of a tool, and
// hears what it is answered itself.
func keeps(uses, hears http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var message struct{ ID, Method any }
		body, _ := io.ReadAll(r.Body)
		_ = json.Unmarshal(body, &message)
		r.Body = io.NopCloser(bytes.NewReader(body))
		switch message.Method {
		case "initialize":
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Mcp-Session-Id", "session")
			_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%v,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"shop","version":"1"}}}`, message.ID)
		case "notifications/initialized":
			w.WriteHeader(http.StatusAccepted)
		case "tools/call":
			uses(w, r)
		case nil:
			if r.Method == http.MethodPost {
				hears(w, r)
			}
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}
}

// pings asks whether somebody is there, and then answers nothing.
func pings(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = io.WriteString(w, "data: {\"jsonrpc\":\"2.0\",\"id\":\"there\",\"method\":\"ping\"}\n\n")
	_ = http.NewResponseController(w).Flush()
	<-r.Context().Done()
}

// A server that took a use and then refuses the secret has the tool used once: a second secret
// is not tried.
func TestAUsedToolIsNotUsedWithAnotherSecret(t *testing.T) {
	s, c := shop(t, false)
	var uses atomic.Int64
	s.Behave(keeps(func(w http.ResponseWriter, r *http.Request) {
		uses.Add(1)
		pings(w, r)
	}, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }))
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	err := upstream.WithSecrets([]string{"new", "old"}, func(secret string) error {
		c.Secret = secret
		_, err := c.Call(ctx, mcpclient.Tool{Name: "pay"}, map[string]any{}, "k")
		return err
	})
	require.Equal(t, upstream.Malformed, upstream.CodeOf(err), "%v", err)
	require.EqualValues(t, 1, uses.Load())
}

// A session ends when whoever asked has waited long enough, and when they have their answer,
// whatever the server leaves open.
func TestASessionIsBounded(t *testing.T) {
	s, c := shop(t, false)
	answers := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":\"there\",\"method\":\"ping\"}\n\n"+
			"data: {\"jsonrpc\":\"2.0\",\"id\":%v,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"done\"}]}}\n\n", idOf(r))
	}
	call := func(uses http.HandlerFunc, within time.Duration) (answer string, err error) {
		s.Behave(keeps(uses, mute))
		ctx, cancel := context.WithTimeout(t.Context(), within)
		defer cancel()
		began := time.Now()
		defer func() { require.Less(t, time.Since(began), 20*time.Second) }()
		return c.Call(ctx, mcpclient.Tool{Name: "pay"}, map[string]any{}, "k")
	}
	answer, err := call(answers, time.Minute)
	require.NoError(t, err)
	require.Equal(t, "done", answer)
	_, err = call(pings, 300*time.Millisecond)
	require.ErrorIs(t, err, upstream.ErrTimeout)
}

// idOf is that of a request.
func idOf(r *http.Request) any {
	var message struct{ ID any }
	_ = json.NewDecoder(r.Body).Decode(&message)
	return message.ID
}
