package agents_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
)

func ask(t *testing.T, w *apitest.World, slug string, body map[string]any) apitest.Answer {
	t.Helper()
	o := w.Operation(t, "askAgent")
	return w.Call(t, o, apitest.Request{Path: apitest.WithID(o, slug), Body: body})
}

func get(t *testing.T, w *apitest.World, operation, slug string) apitest.Answer {
	t.Helper()
	o := w.Operation(t, operation)
	return w.Call(t, o, apitest.Request{Path: apitest.WithID(o, slug)})
}

func TestAnAgentIsAsked(t *testing.T) {
	w := apitest.NewWorld(t)
	slug := w.Agent(t, w.Acme)
	shown := get(t, w, "getAgent", slug).Data(t)
	require.Equal(t, slug, shown["slug"])
	require.Contains(t, shown["topics"], "Hours")
	require.True(t, strings.HasSuffix(shown["humanUrl"].(string), "/p/"+slug))

	known := ask(t, w, slug, map[string]any{"question": "When does the museum open?", "language": "English"}).Data(t)
	require.Contains(t, known["answer"], "nine")
	require.Equal(t, []any{true, true}, []any{known["grounded"], known["aiGenerated"]})
	require.Contains(t, apitest.At(known["sources"].([]any)[0], "snippet"), "opens at nine")
	require.Nil(t, known["handoff"])

	unknown := ask(t, w, slug, map[string]any{"question": "Do you sell gift cards for dentists?", "language": "en"}).Data(t)
	require.Equal(t, []any{"low", false, shown["humanUrl"]}, []any{unknown["confidence"], unknown["grounded"], apitest.At(unknown, "handoff", "url")})
	require.NotEmpty(t, unknown["followUps"])
	gaps := w.Get(w.Acme.New, "/events?type=knowledge.gap").JSON(t)["data"].([]any)
	require.Len(t, gaps, 1, "it is told of")
}

func TestAConversationIsCarriedOn(t *testing.T) {
	w := apitest.NewWorld(t)
	slug := w.Agent(t, w.Acme)
	first := ask(t, w, slug, map[string]any{"question": "When does the museum open?", "language": "en"}).Data(t)
	next := ask(t, w, slug, map[string]any{"question": "And when does it close?", "language": "en", "conversationId": first["conversationId"]}).Data(t)
	require.Contains(t, next["answer"], "six")
	for name, thread := range map[string]string{"nonsense": "x", "altered": first["conversationId"].(string) + "A"} {
		answer := ask(t, w, slug, map[string]any{"question": "Why?", "conversationId": thread})
		require.Contains(t, apitest.RequireError(t, answer, http.StatusBadRequest, "invalid_request", "body.conversationId")["message"], "agent", name)
	}
	other := w.Agent(t, w.Globex)
	apitest.RequireError(t, ask(t, w, other, map[string]any{"question": "Why?", "conversationId": first["conversationId"]}), http.StatusBadRequest,
		"invalid_request", "body.conversationId")
}

func TestAnAnswerIsStreamed(t *testing.T) {
	w := apitest.NewWorld(t)
	o := w.Operation(t, "askAgent")
	answer := w.Do(apitest.Request{
		Method: o.Method, Path: apitest.WithID(o, w.Agent(t, w.Acme)), Body: map[string]any{"question": "When does the museum open?", "language": "en"},
		Header: map[string]string{"Accept": "text/event-stream"},
	})
	require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Raw)
	require.Equal(t, "text/event-stream", answer.Header.Get("Content-Type"))
	data, ok := strings.CutPrefix(string(answer.Raw), "event: answer\ndata: ")
	require.True(t, ok, "%s", answer.Raw)
	var said map[string]any
	require.NoError(t, json.Unmarshal([]byte(data), &said))
	require.Contains(t, said["answer"], "nine")
}

func TestAnAgentDescribesItself(t *testing.T) {
	w := apitest.NewWorld(t)
	slug := w.Agent(t, w.Acme)
	text := string(get(t, w, "getAgentText", slug).Raw)
	require.True(t, strings.HasPrefix(text, "# Harbour"), text)
	require.Contains(t, text, "/agents/"+slug+"/ask")
	require.Contains(t, text, "- Hours\n")
}

// What is not to be asked is not there, and nothing tells why.
func TestWhatIsNotToBeAsked(t *testing.T) {
	w := apitest.NewWorld(t)
	slug := w.Agent(t, w.Acme)
	for _, slug := range []string{"%00", "%ff", "a%00b"} {
		for _, of := range []string{"", "/llms.txt", "/card.json", "/catalog.json"} {
			apitest.RequireError(t, w.Do(apitest.Request{Method: http.MethodGet, Path: "/agents/" + slug + of}), http.StatusNotFound, "not_found", "path.id")
		}
	}
	refused := func(name, slug string) map[string]any {
		answer := get(t, w, "getAgent", slug)
		require.Equal(t, http.StatusNotFound, answer.Status, "%s: %s", name, answer.Raw)
		require.Equal(t, http.StatusNotFound, ask(t, w, slug, map[string]any{"question": "Hello?"}).Status, name)
		require.Equal(t, http.StatusNotFound, get(t, w, "getAgentText", slug).Status, name)
		failed := answer.Error(t)
		require.Equal(t, "path.id", failed["param"])
		return failed
	}
	none := refused("nobody's", "nobody-has-this")
	w.LetAgentsAsk(t, w.Acme, false)
	require.Eventually(t, func() bool { return get(t, w, "getAgent", slug).Status == http.StatusNotFound }, 20*time.Second, 100*time.Millisecond,
		"a change is seen within two seconds")
	require.Equal(t, none, refused("switched off", slug))
}

func TestBadQuestions(t *testing.T) {
	w := apitest.NewWorld(t)
	slug := w.Agent(t, w.Acme)
	for param, body := range map[string]map[string]any{
		"body.question": {"question": "   "},
		"body.language": {"question": "Hello?", "language": "Klingon"},
	} {
		apitest.RequireError(t, ask(t, w, slug, body), http.StatusBadRequest, "invalid_request", param)
	}
	apitest.RequireError(t, ask(t, w, slug, map[string]any{"question": "Hello?", "language": "fr"}), http.StatusBadRequest, "invalid_request", "body.language")
	apitest.RequireError(t, ask(t, w, slug, map[string]any{"question": strings.Repeat("why ", 5000)}), http.StatusRequestEntityTooLarge, "too_large", "")
}

// An address asks an agent so often a minute and no more.
func TestQuestionsAreCounted(t *testing.T) {
	w := apitest.NewWorld(t)
	slug := w.Agent(t, w.Acme)
	var last apitest.Answer
	for n := range 61 { // more than two minutes allow
		o := w.Operation(t, "askAgent")
		last = w.Do(apitest.Request{Method: o.Method, Path: apitest.WithID(o, slug), Body: map[string]any{"question": fmt.Sprintf("Hello %d?", n)}})
		if last.Status != http.StatusOK {
			break
		}
	}
	apitest.RequireError(t, last, http.StatusTooManyRequests, "rate_limited", "")
	require.Contains(t, last.Error(t)["message"], "Ask again in "+last.Header.Get("Retry-After")+" seconds.")
}

// An answer that is kept counts for a quarter of one that is worked out.
func TestAnAnswerThatIsKeptIsCheap(t *testing.T) {
	w := apitest.NewWorld(t)
	answers := apitest.Within(t, func() (all []apitest.Answer) {
		slug := w.Agent(t, w.Acme) // another each time: nothing of it is kept yet
		for range 9 {
			all = append(all, ask(t, w, slug, map[string]any{"question": "When are you open?"}))
		}
		return all
	})
	var left []string
	for _, answer := range answers {
		left = append(left, answer.Header.Get("RateLimit-Remaining"))
	}
	require.Equal(t, []string{"29", "28", "28", "28", "28", "27", "27", "27", "27"}, left)
}
