package personas_test

import (
	"context"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/provider/model/modeltest"
)

// guide makes a persona that answers from a pack on the museum.
func guide(t *testing.T, w *apitest.World, changes map[string]any) string {
	t.Helper()
	base := w.Pack(t, w.Acme)
	require.Equal(t, http.StatusCreated, w.CallAs(t, "addKnowledgeDocument", base, w.Acme.New, map[string]any{"kind": "text", "title": "Guide", "text": apitest.Guide}).Status)
	w.ReadDocuments(t)
	body := apitest.Minimal()
	body["knowledge"] = map[string]any{"baseIds": []any{base}}
	maps.Copy(body, changes)
	made := w.CallAs(t, "createPersona", "", w.Acme.New, body)
	require.Equal(t, http.StatusCreated, made.Status, "%s", made.Raw)
	return made.Data(t)["id"].(string)
}

func ask(t *testing.T, w *apitest.World, persona, question string) map[string]any {
	t.Helper()
	answer := w.CallAs(t, "askPersona", persona, w.Acme.New, map[string]any{"question": question})
	require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Raw)
	return answer.Data(t)
}

func TestAskPersona(t *testing.T) {
	w := apitest.NewWorld(t)
	own := guide(t, w, map[string]any{"guardrails": []any{map[string]any{"key": "law", "rule": `"lawsuit"`, "action": "refuse", "message": "Of that I do not speak."}}})
	known := ask(t, w, own, "When does the museum open?")
	require.Equal(t, "The museum opens at nine in the morning.", known["answer"])
	require.Equal(t, []any{true, false, true, "en"}, []any{known["grounded"], known["gap"], known["aiGenerated"], known["language"]})
	require.Len(t, known["sources"], 1)
	source := known["sources"].([]any)[0].(map[string]any)
	require.Equal(t, "Guide", source["title"])
	require.Contains(t, source["documentId"], "doc_")
	require.Greater(t, source["score"], 0.3)

	unknown := ask(t, w, own, "Who invented the telephone?")
	require.Equal(t, []any{false, true, []any{}}, []any{unknown["grounded"], unknown["gap"], unknown["sources"]})
	require.Contains(t, unknown["answer"], "do not know")

	require.Equal(t, "Of that I do not speak.", ask(t, w, own, "Can I file a lawsuit?")["answer"])

	for _, path := range []string{"/sessions", "/knowledge/gaps", "/events?type=knowledge.gap"} {
		require.Empty(t, w.Get(w.Acme.New, path).JSON(t)["data"], path)
	}
	german := w.CallAs(t, "askPersona", own, w.Acme.New, map[string]any{"question": "Wer erfand das Telefon?", "language": "German"}).Data(t)
	require.Equal(t, "de", german["language"])
	require.Contains(t, german["answer"], "weiß")
}

func TestAskPersonaIsRefused(t *testing.T) {
	w := apitest.NewWorld(t)
	own := w.Make(t, w.Acme, "createPersona")["id"].(string)
	for name, c := range map[string]struct {
		body  map[string]any
		param string
	}{
		"no question":  {map[string]any{}, "body.question"},
		"no words":     {map[string]any{"question": " \n "}, "body.question"},
		"too long":     {map[string]any{"question": strings.Repeat("x", 1001)}, "body.question"},
		"no language":  {map[string]any{"question": "Why?", "language": "Klingon"}, "body.language"},
		"what is else": {map[string]any{"question": "Why?", "context": "x"}, "body.context"},
	} {
		t.Run(name, func(t *testing.T) {
			apitest.RequireError(t, w.CallAs(t, "askPersona", own, w.Acme.New, c.body), http.StatusBadRequest, "invalid_request", c.param)
		})
	}
	ask := func(which string) apitest.Answer {
		return w.CallAs(t, "askPersona", which, w.Acme.New, map[string]any{"question": "Why?"})
	}
	apitest.RequireError(t, ask(id.NewPersona().String()), http.StatusNotFound, "not_found", "path.id")
	require.Equal(t, http.StatusOK, w.CallAs(t, "deletePersona", own, w.Acme.New, nil).Status)
	apitest.RequireError(t, ask(own), http.StatusGone, "gone", "path.id")
	require.NoError(t, w.Directory.Pause(context.Background(), w.Globex.ID, "tests"))
	theirs := w.Make(t, w.Globex, "createPersona")["id"].(string)
	require.Eventually(t, func() bool {
		return w.CallAs(t, "askPersona", theirs, w.Globex.New, map[string]any{"question": "Why?"}).Status == http.StatusForbidden
	}, 20*time.Second, 50*time.Millisecond)
}

// A persona with a model of the organization's own answers with it, and by
// itself where that fails.
func TestAskPersonaWithAModel(t *testing.T) {
	c := apitest.NewConnections(t)
	connected := c.CallAs(t, "createConnection", "", c.Acme.New, map[string]any{
		"name": "model", "kind": "model", "provider": "openai_compatible", "secret": "sk-tests-of-asking-personas",
		"config": map[string]any{"baseUrl": c.Models.URL(), "model": "m"},
	})
	require.Equal(t, http.StatusCreated, connected.Status, "%s", connected.Raw)
	connection := connected.Data(t)["id"].(string)
	own := guide(t, c.World, map[string]any{"model": map[string]any{"connectionId": connection, "timeoutMs": 500}})

	c.Models.Behave(modeltest.Stream("The doors open ", "at nine [1]."))
	known := ask(t, c.World, own, "When does the museum open?")
	require.Equal(t, "The doors open at nine.", known["answer"])
	require.Equal(t, []any{true, false}, []any{known["grounded"], known["gap"]})
	require.Len(t, known["sources"], 1)

	for name, behaviour := range map[string]modeltest.Behaviour{
		"broken": modeltest.Status(http.StatusInternalServerError, nil), "silent": modeltest.Stall(), "cut off": modeltest.Abort("The doors"),
	} {
		c.Models.Behave(behaviour)
		instead := ask(t, c.World, own, "When does the museum open?")
		require.Equal(t, "The museum opens at nine in the morning.", instead["answer"], name)
		require.Equal(t, true, instead["grounded"], name)
	}
	// A call that was given up is reported when it has ended, after the answer.
	require.Eventually(t, func() bool {
		c.Reporter.Flush(context.Background())
		return len(c.Get(c.Acme.New, "/connections/"+connection+"/calls").JSON(t)["data"].([]any)) == 4
	}, 20*time.Second, 20*time.Millisecond, "the connection's health knows")
}

// Words of the organization's own are understood from the change on, kept with every
// version, and copied.
func TestAskPersonaInWordsOfTheOrganization(t *testing.T) {
	w := apitest.NewWorld(t)
	own := guide(t, w, nil)
	require.Equal(t, true, ask(t, w, own, "When does the Treasury House open?")["gap"])
	require.Equal(t, []any{}, apitest.At(w.CallAs(t, "getPersona", own, w.Acme.New, nil).Data(t), "knowledge", "synonyms"))
	groups := []any{map[string]any{"words": []any{"Treasury House", "museum"}}}
	set := func(groups any) apitest.Answer {
		return w.CallAs(t, "updatePersona", own, w.Acme.New, map[string]any{"knowledge": map[string]any{"synonyms": groups}})
	}
	require.Equal(t, http.StatusOK, set(groups).Status)
	copied := w.CallAs(t, "duplicatePersona", own, w.Acme.New, nil)
	require.Equal(t, http.StatusCreated, copied.Status, "%s", copied.Raw)
	require.Equal(t, groups, apitest.At(copied.Data(t), "knowledge", "synonyms"))
	for _, persona := range []string{own, copied.Data(t)["id"].(string)} {
		require.Equal(t, "The museum opens at nine in the morning.", ask(t, w, persona, "When does the Treasury House open?")["answer"])
	}
	for name, c := range map[string]struct {
		groups any
		param  string
	}{
		"one word":      {[]any{map[string]any{"words": []any{"museum"}}}, "body.knowledge.synonyms[0].words"},
		"no letters":    {[]any{map[string]any{"words": []any{"museum", "…"}}}, "body.knowledge.synonyms[0].words[1]"},
		"of two groups": {[]any{map[string]any{"words": []any{"a1", "b1"}}, map[string]any{"words": []any{"c1", "A1"}}}, "body.knowledge.synonyms[1].words[1]"},
		"no list":       {"museum", "body.knowledge.synonyms"},
	} {
		t.Run(name, func(t *testing.T) {
			apitest.RequireError(t, set(c.groups), http.StatusBadRequest, "invalid_request", c.param)
		})
	}
	require.Equal(t, http.StatusOK, set([]any{}).Status)
	require.Equal(t, true, ask(t, w, own, "When does the Treasury House open?")["gap"])
}

// An editor who asks is told what was understood, found, considered, and left out.
func TestAskPersonaWhy(t *testing.T) {
	c := apitest.NewConnections(t)
	own := guide(t, c.World, nil)
	why := func(persona, question string) (answer string, explain map[string]any) {
		got := c.CallAs(t, "askPersona", persona, c.Acme.New, map[string]any{"question": question, "explain": true})
		require.Equal(t, http.StatusOK, got.Status, "%s", got.Raw)
		data := got.Data(t)
		return data["answer"].(string), data["explain"].(map[string]any)
	}
	first := func(list any) map[string]any { return list.([]any)[0].(map[string]any) }

	require.Nil(t, ask(t, c.World, own, "When does the museum open?")["explain"], "nobody asked")
	answer, e := why(own, "When does the museum open?")
	require.Equal(t, []any{"builtin", "when", []any{"When does the museum open?"}}, []any{e["answeredBy"], e["wants"], e["searched"]})
	require.Contains(t, first(e["passages"]), "score")
	best := first(e["candidates"])
	require.Equal(t, []any{answer, true, nil}, []any{best["text"], best["chosen"], best["leftOut"]})
	require.GreaterOrEqual(t, best["likelihood"], e["threshold"])
	var concepts []any
	for _, u := range e["understood"].([]any) {
		concepts = append(concepts, u.(map[string]any)["concepts"].([]any)...)
	}
	require.Contains(t, concepts, "hours")

	changed := c.CallAs(t, "updatePersona", own, c.Acme.New, map[string]any{"knowledge": map[string]any{"minScore": 1}})
	require.Equal(t, http.StatusOK, changed.Status, "%s", changed.Raw)
	_, e = why(own, "When does the museum open?")
	require.Equal(t, "below_threshold", first(e["candidates"])["leftOut"])
	require.Less(t, first(e["candidates"])["likelihood"], e["threshold"])
	_, e = why(own, "Hello!")
	require.Equal(t, []any{"talk", []any{}}, []any{e["answeredBy"], e["passages"]})

	modelled := guide(t, c.World, map[string]any{"model": map[string]any{"connectionId": c.Modelled(t, map[string]any{})}})
	c.Models.Behave(modeltest.Stream("A ticket is 99 euros. ", "The museum opens at nine [1]."))
	answer, e = why(modelled, "When does the museum open?")
	require.Equal(t, []any{"The museum opens at nine.", "model", nil}, []any{answer, e["answeredBy"], e["modelError"]})
	require.Equal(t, map[string]any{"text": "A ticket is 99 euros.", "reason": "unsupported: price 99 EUR"}, first(e["held"]))
	c.Models.Behave(modeltest.Status(http.StatusTooManyRequests, nil))
	_, e = why(modelled, "When does the museum open?")
	require.Equal(t, []any{"builtin", "rate_limited"}, []any{e["answeredBy"], e["modelError"]})
}

func TestSearchKnowledgeWhy(t *testing.T) {
	w := apitest.NewWorld(t)
	base := w.Pack(t, w.Acme)
	for _, text := range []string{"The museum opens at nine.", "The museum shop opens at ten.", "A ticket for the museum costs five euros."} {
		require.Equal(t, http.StatusCreated, w.CallAs(t, "addKnowledgeDocument", base, w.Acme.New, map[string]any{"kind": "text", "title": "Guide", "text": text}).Status)
	}
	w.ReadDocuments(t)
	search := func(body map[string]any) map[string]any {
		body["query"] = "When does the museum open?"
		got := w.CallAs(t, "searchKnowledgeBase", base, w.Acme.New, body)
		require.Equal(t, http.StatusOK, got.Status, "%s", got.Raw)
		return got.Data(t)
	}
	require.Nil(t, search(map[string]any{})["explain"])
	e := search(map[string]any{"explain": true, "limit": 1})["explain"].(map[string]any)
	left := e["leftOut"].([]any)
	require.Len(t, left, 2)
	require.Equal(t, "beyond_limit", left[0].(map[string]any)["reason"])
	require.NotEmpty(t, e["understood"])
	e = search(map[string]any{"explain": true, "minScore": 1})["explain"].(map[string]any)
	require.Equal(t, 1.0, e["minScore"])
	require.Equal(t, "below_min_score", e["leftOut"].([]any)[0].(map[string]any)["reason"])
}
