package personas_test

import (
	"context"
	"encoding/json"
	"math"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/personas/knowledge"
	"visavis.dev/pkg/provider/model/modeltest"
)

// ended waits for a job's end.
func ended(t *testing.T, w *apitest.World, which string) map[string]any {
	t.Helper()
	j := w.Get(w.Acme.New, "/jobs/"+which+"?waitS=20").Data(t)
	require.Contains(t, []any{"succeeded", "failed"}, j["state"], "%v", j)
	return j
}

// file is the JSON that came of a job.
func file(t *testing.T, w *apitest.World, which string) (file map[string]any) {
	t.Helper()
	answer := w.Get(w.Acme.New, "/jobs/"+which+"/download")
	require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Raw)
	require.Equal(t, "application/json", answer.Header.Get("Content-Type"))
	require.Contains(t, answer.Header.Get("Content-Disposition"), ".json")
	require.NoError(t, json.Unmarshal(answer.Raw, &file))
	return file
}

// working runs jobs until the test ends.
func working(t *testing.T, w *apitest.World) {
	t.Helper()
	worker := w.Worker()
	worker.Start()
	t.Cleanup(worker.Stop)
}

// A persona is tried out as its developer does before it is published.
func TestRehearseAPersona(t *testing.T) {
	c := apitest.NewConnections(t)
	c.Models.Behave(modeltest.Stream("The doors open ", "at nine [1]."))
	connected := c.Connect(t, apitest.Same).Data(t)["id"].(string)
	own := guide(t, c.World, map[string]any{
		"greeting": map[string]any{"mode": "none"}, "model": map[string]any{"connectionId": connected, "timeoutMs": 500},
		"goals": []any{map[string]any{"key": "mail", "prompt": "What is your e-mail address?", "outputs": []any{"email"}, "required": true}},
		"tools": []any{map[string]any{"kind": "lead"}},
	})
	source := ask(t, c.World, own, "When does the museum open?")["sources"].([]any)[0].(map[string]any)["documentId"].(string)
	calls := len(c.Models.Requests())
	working(t, c.World)

	begun := c.CallAs(t, "simulatePersona", own, c.Acme.New, map[string]any{"turns": []any{"When does the museum open?", "kim@example.com"}})
	require.Equal(t, http.StatusAccepted, begun.Status, "%s", begun.Raw)
	j := begun.Data(t)
	require.Equal(t, []any{"simulate", "persona", own}, []any{j["kind"], j["resourceKind"], j["resourceId"]})
	require.Equal(t, []any{"persona.simulated", own}, []any{c.Last(t)["action"], c.Last(t)["targetId"]})
	which := j["id"].(string)
	done := ended(t, c.World, which)
	require.Equal(t, map[string]any{
		"turns": 6.0, "grounded": 1.0, "unanswered": 0.0, "goalsMet": 1.0, "goalsTotal": 1.0, "toolCalls": 1.0,
	}, apitest.At(done["result"], "counts"))
	require.Equal(t, "simulate-"+strings.TrimPrefix(which, "job_")+".json", apitest.At(done["result"], "file"))
	require.Len(t, c.Models.Requests(), calls+1, "the model is the session's")
	report := file(t, c.World, which)
	require.Equal(t, []any{own, 1.0, "en", "lead", nil, true},
		[]any{report["personaId"], report["personaVersion"], report["language"], report["outcome"], report["endReason"], report["aiGenerated"]})
	require.Equal(t, []any{map[string]any{"key": "mail", "required": true, "met": true, "value": "kim@example.com"}}, report["goals"])
	require.Equal(t, []any{map[string]any{"name": "lead", "status": "completed"}}, report["tools"])
	require.Equal(t, []any{}, report["guardrails"])
	turn := report["transcript"].([]any)[3].(map[string]any)
	require.Equal(t, []any{"What is your e-mail address?", "avatar", "typed", nil, []any{}, []any{}},
		[]any{turn["text"], turn["speaker"], turn["source"], turn["grounded"], turn["sources"], turn["toolCalls"]})
	for _, path := range []string{"/sessions", "/knowledge/gaps"} {
		require.Empty(t, c.Get(c.Acme.New, path).JSON(t)["data"], path)
	}

	good := c.AddTest(t, c.Acme, own, map[string]any{
		"name": "Opening", "question": "When does the museum open?",
		"expect": map[string]any{"facts": []any{"AT NINE"}, "documentIds": []any{source}, "grounded": true},
	})
	require.Equal(t, good["createdAt"], good["updatedAt"])
	require.Equal(t, good, c.Get(c.Acme.New, "/persona-tests/"+good["id"].(string)).Data(t), "what is answered is kept")
	require.Equal(t, []any{true, nil, nil, own}, []any{good["enabled"], good["language"], good["lastRun"], good["personaId"]})
	require.Equal(t, map[string]any{"facts": []any{"AT NINE"}, "notFacts": []any{}, "documentIds": []any{source}, "grounded": true}, good["expect"])
	c.AddTest(t, c.Acme, own, map[string]any{"name": "Honest", "question": "Who invented the telephone?", "expect": map[string]any{"grounded": false}})
	off := c.AddTest(t, c.Acme, own, map[string]any{"name": "Off", "question": "Hm?", "enabled": false, "expect": map[string]any{"facts": []any{"x"}}})
	run := func(body any) (map[string]any, map[string]any) {
		t.Helper()
		begun := c.CallAs(t, "runPersonaTests", own, c.Acme.New, body)
		require.Equal(t, http.StatusAccepted, begun.Status, "%s", begun.Raw)
		done := ended(t, c.World, begun.Data(t)["id"].(string))
		return apitest.At(done["result"], "counts").(map[string]any), file(t, c.World, begun.Data(t)["id"].(string))
	}
	counts, results := run(nil)
	require.Equal(t, map[string]any{"total": 2.0, "passed": 2.0, "failed": 0.0, "error": 0.0}, counts)
	require.Equal(t, []any{"Opening", "Honest"}, []any{apitest.At(results["tests"].([]any)[0], "name"), apitest.At(results["tests"].([]any)[1], "name")})

	c.Models.Behave(modeltest.Stream("At ten [1]."))
	counts, results = run(map[string]any{"testIds": []any{good["id"], good["id"], off["id"]}, "version": 1})
	require.Equal(t, map[string]any{"total": 2.0, "passed": 0.0, "failed": 2.0, "error": 0.0}, counts)
	require.Equal(t, []any{"newly_failing", nil}, []any{apitest.At(results["tests"].([]any)[0], "change"), apitest.At(results["tests"].([]any)[1], "change")})
	last := c.Get(c.Acme.New, "/persona-tests/"+good["id"].(string)).Data(t)["lastRun"].(map[string]any)
	require.Equal(t, []any{false, []any{"fact_missing"}, []any{"AT NINE"}, []any{}, "At ten.", true, 1.0},
		[]any{last["passed"], last["reasons"], last["missing"], last["unwanted"], last["answer"], last["grounded"], last["personaVersion"]})
	require.Equal(t, source, apitest.At(last["sources"].([]any)[0], "documentId"))

	copied := c.CallAs(t, "duplicatePersona", own, c.Acme.New, nil).Data(t)["id"].(string)
	copies := c.Get(c.Acme.New, "/personas/"+copied+"/tests").JSON(t)["data"].([]any)
	require.Len(t, copies, 3)
	require.Equal(t, []any{"Off", false, nil}, []any{apitest.At(copies[0], "name"), apitest.At(copies[0], "enabled"), apitest.At(copies[0], "lastRun")}, "the newest first")
}

func TestRehearsalsAreRefused(t *testing.T) {
	w := apitest.NewWorld(t)
	own := w.Make(t, w.Acme, "createPersona")["id"].(string)
	other := w.Make(t, w.Acme, "createPersona")["id"].(string)
	theirs := w.Make(t, w.Globex, "createPersona")["id"].(string)
	foreign := w.AddTest(t, w.Globex, theirs, apitest.PersonaTestBody(1))["id"].(string)
	elsewhere := w.AddTest(t, w.Acme, other, apitest.PersonaTestBody(1))["id"].(string)
	test := w.AddTest(t, w.Acme, own, apitest.PersonaTestBody(1))["id"].(string)
	turns := []any{"Hi"}
	for name, c := range map[string]struct {
		operation, on string
		body          map[string]any
		status        int
		param         string
	}{
		"no turns":             {"simulatePersona", own, map[string]any{"turns": []any{}}, 400, "body.turns"},
		"too many turns":       {"simulatePersona", own, map[string]any{"turns": strings.Split(strings.Repeat("x", 31), "")}, 400, "body.turns"},
		"a turn of nothing":    {"simulatePersona", own, map[string]any{"turns": []any{"Hi", " \n"}}, 400, "body.turns[1]"},
		"a long turn":          {"simulatePersona", own, map[string]any{"turns": []any{strings.Repeat("ä", 2001)}}, 400, "body.turns[0]"},
		"no such language":     {"simulatePersona", own, map[string]any{"turns": turns, "language": "Klingon"}, 400, "body.language"},
		"no name":              {"simulatePersona", own, map[string]any{"turns": turns, "variables": map[string]any{"0": "x"}}, 400, "body.variables"},
		"a long context":       {"simulatePersona", own, map[string]any{"turns": turns, "context": strings.Repeat("x", 8001)}, 400, "body.context"},
		"no such goal":         {"simulatePersona", own, map[string]any{"turns": turns, "goals": []any{"name", "fame"}}, 400, "body.goals[1]"},
		"no such version":      {"simulatePersona", own, map[string]any{"turns": turns, "version": 9}, 400, "body.version"},
		"of nobody":            {"simulatePersona", id.NewPersona().String(), map[string]any{"turns": turns}, 404, "path.id"},
		"of others":            {"simulatePersona", theirs, map[string]any{"turns": turns}, 404, "path.id"},
		"tests of others":      {"runPersonaTests", theirs, map[string]any{}, 404, "path.id"},
		"a test of others":     {"runPersonaTests", own, map[string]any{"testIds": []any{test, foreign}}, 404, "body.testIds[1]"},
		"another persona's":    {"runPersonaTests", own, map[string]any{"testIds": []any{elsewhere}}, 404, "body.testIds[0]"},
		"no test":              {"runPersonaTests", own, map[string]any{"testIds": []any{}}, 400, "body.testIds"},
		"run in no version":    {"runPersonaTests", own, map[string]any{"version": 9}, 400, "body.version"},
		"a test for others":    {"createPersonaTest", theirs, apitest.PersonaTestBody(1), 404, "path.id"},
		"their test":           {"updatePersonaTest", foreign, map[string]any{"name": "x"}, 404, "path.id"},
		"nothing expected":     {"updatePersonaTest", test, map[string]any{"expect": map[string]any{"facts": []any{}}}, 400, "body.expect"},
		"no fact":              {"updatePersonaTest", test, map[string]any{"expect": map[string]any{"facts": []any{"?!"}}}, 400, "body.expect.facts[0]"},
		"a long fact":          {"updatePersonaTest", test, map[string]any{"expect": map[string]any{"notFacts": []any{strings.Repeat("x", 501)}}}, 400, "body.expect.notFacts[0]"},
		"many facts":           {"updatePersonaTest", test, map[string]any{"expect": map[string]any{"facts": strings.Split(strings.Repeat("x", 21), "")}}, 400, "body.expect.facts"},
		"no document":          {"updatePersonaTest", test, map[string]any{"expect": map[string]any{"documentIds": []any{"doc_1"}}}, 400, "body.expect.documentIds[0]"},
		"a document of nobody": {"updatePersonaTest", test, map[string]any{"expect": map[string]any{"documentIds": []any{id.NewDocument().String()}}}, 400, "body.expect.documentIds[0]"},
		"no question":          {"updatePersonaTest", test, map[string]any{"question": " "}, 400, "body.question"},
		"a long question":      {"updatePersonaTest", test, map[string]any{"question": strings.Repeat("x", 1001)}, 400, "body.question"},
		"asked in Klingon":     {"updatePersonaTest", test, map[string]any{"language": "Klingon"}, 400, "body.language"},
	} {
		t.Run(name, func(t *testing.T) {
			code := map[int]string{400: "invalid_request", 404: "not_found"}[c.status]
			apitest.RequireError(t, w.CallAs(t, c.operation, c.on, w.Acme.New, c.body), c.status, code, c.param)
		})
	}

	// What is read needs personas:read, and the rest personas:write.
	reader := w.Key(w.Acme, scope.Grant{Contract: contract.Latest, Scopes: []scope.Scope{scope.PersonasRead}})
	require.Equal(t, http.StatusOK, w.Get(reader, "/persona-tests/"+test).Status)
	require.Equal(t, http.StatusForbidden, w.CallAs(t, "simulatePersona", own, reader, map[string]any{"turns": turns}).Status)

	first := w.CallAs(t, "runPersonaTests", own, w.Acme.New, nil).Data(t)["id"]
	second := apitest.RequireError(t, w.CallAs(t, "runPersonaTests", own, w.Acme.New, nil), http.StatusConflict, "conflict", "path.id")
	require.Equal(t, []any{"already_running", first}, []any{apitest.At(second["details"], "reason"), apitest.At(second["details"], "jobId")})
	cancelled := w.CallAs(t, "cancelJob", first.(string), w.Acme.New, nil)
	require.Equal(t, "cancelled", cancelled.Data(t)["state"])
	require.Equal(t, http.StatusOK, w.CallAs(t, "deletePersonaTest", test, w.Acme.New, nil).Status)
	apitest.RequireError(t, w.Get(w.Acme.New, "/persona-tests/"+test), http.StatusNotFound, "not_found", "path.id")
	none := apitest.RequireError(t, w.CallAs(t, "runPersonaTests", own, w.Acme.New, nil), http.StatusConflict, "conflict", "path.id")
	require.Equal(t, "no_tests", apitest.At(none["details"], "reason"))

	for n := range 200 {
		w.AddTest(t, w.Acme, own, apitest.PersonaTestBody(n))
	}
	full := apitest.RequireError(t, w.CallAs(t, "createPersonaTest", own, w.Acme.New, apitest.PersonaTestBody(1)), http.StatusConflict, "conflict", "path.id")
	require.Equal(t, "full", apitest.At(full["details"], "reason"))

	require.Equal(t, http.StatusOK, w.CallAs(t, "deletePersona", other, w.Acme.New, nil).Status)
	apitest.RequireError(t, w.Get(w.Acme.New, "/personas/"+other+"/tests"), http.StatusGone, "gone", "path.id")
	apitest.RequireError(t, w.CallAs(t, "simulatePersona", other, w.Acme.New, map[string]any{"turns": turns}), http.StatusGone, "gone", "path.id")
	apitest.RequireError(t, w.Get(w.Acme.New, "/persona-tests/"+elsewhere), http.StatusNotFound, "not_found", "path.id")

	require.NoError(t, w.Directory.Pause(context.Background(), w.Globex.ID, "tests"))
	require.Eventually(t, func() bool {
		answer := w.CallAs(t, "simulatePersona", theirs, w.Globex.New, map[string]any{"turns": turns})
		return answer.Status == http.StatusForbidden && answer.Error(t)["code"] == "account_paused"
	}, 20*time.Second, 50*time.Millisecond)
}

// A persona is asked what its packs say, and what it cannot answer is listed.
func TestCoverageOfAPersona(t *testing.T) {
	w := apitest.NewWorld(t)
	base := w.Pack(t, w.Acme)
	text := "# Opening hours\n\nThe museum is open from 9 to 17.\n\n# Zorbing\n\nBalls roll on Sundays.\n\n# Prices\n\n| Ticket | Price |\n|---|---|\n| Adult | 12 € |\n| Child | 6 € |\n"
	require.Equal(t, http.StatusCreated, w.Upload(t, base, apitest.Part{Field: "title", Text: "Guide"}, apitest.Part{Field: "file", Name: "guide.md", ContentType: "text/markdown", Text: text}).Status)
	w.ReadDocuments(t)
	body := apitest.Minimal()
	body["knowledge"] = map[string]any{"baseIds": []any{base}}
	working(t, w)
	empty := w.Make(t, w.Acme, "createPersona")["id"].(string)
	nothing := w.CallAs(t, "checkPersonaCoverage", empty, w.Acme.New, nil).Data(t)["id"].(string)
	require.Equal(t, map[string]any{"made": 0.0, "asked": 0.0, "answered": 0.0, "failing": 0.0}, apitest.At(ended(t, w, nothing)["result"], "counts"))
	require.Equal(t, []any{}, file(t, w, nothing)["failing"])
	body["guardrails"] = []any{map[string]any{"key": "sport", "rule": `"zorbing"`, "action": "refuse"}}
	own := w.CallAs(t, "createPersona", "", w.Acme.New, body).Data(t)["id"].(string)

	for _, version := range []any{99, math.MaxInt32, math.MaxInt32 + 1, json.Number("9223372036854775807")} {
		apitest.RequireError(t, w.CallAs(t, "checkPersonaCoverage", own, w.Acme.New, map[string]any{"version": version}), http.StatusBadRequest, "invalid_request", "body.version")
	}
	begun := w.CallAs(t, "checkPersonaCoverage", own, w.Acme.New, nil)
	require.Equal(t, http.StatusAccepted, begun.Status, "%s", begun.Raw)
	require.Equal(t, []any{"persona.coverage_checked", own}, []any{w.Last(t)["action"], w.Last(t)["targetId"]})
	which := begun.Data(t)["id"].(string)
	counts := apitest.At(ended(t, w, which)["result"], "counts").(map[string]any)
	report := file(t, w, which)
	require.Equal(t, []any{own, 1.0, true}, []any{report["personaId"], report["personaVersion"], report["aiGenerated"]})
	require.Equal(t, map[string]any{
		"made": report["made"], "asked": report["asked"], "answered": report["answered"], "failing": report["asked"].(float64) - report["answered"].(float64),
	}, counts)
	failing := map[string]map[string]any{}
	for _, f := range report["failing"].([]any) {
		failing[f.(map[string]any)["question"].(string)] = f.(map[string]any)
	}
	require.Len(t, failing, int(counts["failing"].(float64)))
	require.Contains(t, failing, "Zorbing", "%v", report)
	require.Equal(t, []any{"heading", "not_looked_up", "Guide", "Zorbing", "en"}, []any{failing["Zorbing"]["of"], failing["Zorbing"]["reason"], failing["Zorbing"]["title"], failing["Zorbing"]["heading"], failing["Zorbing"]["language"]})
	for _, good := range []string{"Opening hours", "Adult Price", "Child Price"} {
		require.NotContains(t, failing, good)
	}
	require.GreaterOrEqual(t, counts["answered"], 3.0)
	require.Empty(t, w.Get(w.Acme.New, "/knowledge/gaps").JSON(t)["data"])

	theirs := w.Make(t, w.Globex, "createPersona")["id"].(string)
	apitest.RequireError(t, w.CallAs(t, "checkPersonaCoverage", theirs, w.Acme.New, nil), http.StatusNotFound, "not_found", "path.id")
}

// A test is made for a gap in its maker's words, and closes it once it passes.
func TestTestsOfGaps(t *testing.T) {
	w := apitest.NewWorld(t)
	own := guide(t, w, nil)
	working(t, w)
	of, err := id.ParsePersona(own)
	require.NoError(t, err)
	session := id.NewSession()
	gap := w.RecordGap(t, w.Acme, func(q *knowledge.Question) {
		q.Persona, q.Session, q.Text = of, session, "when do u open the museum??"
	})
	document := ask(t, w, own, "When does the museum open?")["sources"].([]any)[0].(map[string]any)["documentId"]
	require.Equal(t, http.StatusOK, w.CallAs(t, "updateKnowledgeGap", gap, w.Acme.New, map[string]any{"suggestedDocumentId": document}).Status)
	elsewhere := w.RecordGap(t, w.Acme, func(q *knowledge.Question) { q.Text = "Another one?" })
	foreign := w.RecordGap(t, w.Globex)
	create := func(gap, question string) apitest.Answer {
		return w.CallAs(t, "createPersonaTest", own, w.Acme.New, map[string]any{"name": "Opening", "question": question, "gapId": gap})
	}
	for name, c := range map[string]struct{ gap, question, param string }{
		"a visitor's words": {gap, "When do U open the museum", "body.question"},
		"another persona's": {elsewhere, "When?", "body.gapId"},
		"of others":         {foreign, "When?", "body.gapId"},
		"of nobody":         {id.NewGap().String(), "When?", "body.gapId"},
		"no id":             {"gap_1", "When?", "body.gapId"},
	} {
		t.Run(name, func(t *testing.T) {
			apitest.RequireError(t, create(c.gap, c.question), http.StatusBadRequest, "invalid_request", c.param)
		})
	}
	apitest.RequireError(t, w.CallAs(t, "createPersonaTest", own, w.Acme.New, map[string]any{"name": "x", "question": "When?"}), http.StatusBadRequest, "invalid_request", "body.expect")

	made := create(gap, "When does the museum open?")
	require.Equal(t, http.StatusCreated, made.Status, "%s", made.Raw)
	test := made.Data(t)
	require.Equal(t, []any{gap, "en"}, []any{test["gapId"], test["language"]})
	require.Equal(t, map[string]any{"facts": []any{}, "notFacts": []any{}, "documentIds": []any{document}, "grounded": true}, test["expect"])
	changed := w.CallAs(t, "updatePersonaTest", test["id"].(string), w.Acme.New, map[string]any{"question": "When do u open the museum"})
	apitest.RequireError(t, changed, http.StatusBadRequest, "invalid_request", "body.question")

	state := func() any {
		return w.Get(w.Acme.New, "/knowledge/gaps?personaId="+own).JSON(t)["data"].([]any)[0].(map[string]any)["state"]
	}
	require.Equal(t, "open", state())
	begun := w.CallAs(t, "runPersonaTests", own, w.Acme.New, nil).Data(t)["id"].(string)
	require.Equal(t, 1.0, apitest.At(ended(t, w, begun)["result"], "counts", "passed"))
	require.Equal(t, "answered", state())

	// The visitor's words are nowhere but with the gap: they go with the session.
	file, err := json.Marshal(file(t, w, begun))
	require.NoError(t, err)
	require.NotContains(t, string(file), "do u open")
	copied := w.CallAs(t, "duplicatePersona", own, w.Acme.New, nil).Data(t)["id"].(string)
	require.Nil(t, apitest.At(w.Get(w.Acme.New, "/personas/"+copied+"/tests").JSON(t)["data"].([]any)[0], "gapId"), "it is the other's gap")
}
