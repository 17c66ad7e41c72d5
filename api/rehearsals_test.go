package api_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/provider/model/modeltest"
)

// ended waits for a job's end.
func (w *world) ended(t *testing.T, which string) map[string]any {
	t.Helper()
	j := w.Get(w.Acme.New, "/jobs/"+which+"?waitS=20").Data(t)
	require.Contains(t, []any{"succeeded", "failed"}, j["state"], "%v", j)
	return j
}

// file is the JSON that came of a job.
func (w *world) file(t *testing.T, which string) (file map[string]any) {
	t.Helper()
	answer := w.Get(w.Acme.New, "/jobs/"+which+"/download")
	require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Raw)
	require.Equal(t, "application/json", answer.Header.Get("Content-Type"))
	require.Contains(t, answer.Header.Get("Content-Disposition"), ".json")
	require.NoError(t, json.Unmarshal(answer.Raw, &file))
	return file
}

// working runs jobs until the test ends.
func (w *world) working(t *testing.T) {
	t.Helper()
	worker := w.Worker()
	worker.Start()
	t.Cleanup(worker.Stop)
}

// A persona is tried out as its developer does before it is published.
func TestRehearseAPersona(t *testing.T) {
	c := newConnections(t)
	c.models.Behave(modeltest.Stream("The doors open ", "at nine [1]."))
	connected := c.connect(t, same).Data(t)["id"].(string)
	own := c.guide(t, map[string]any{
		"greeting": map[string]any{"mode": "none"}, "model": map[string]any{"connectionId": connected, "timeoutMs": 500},
		"goals": []any{map[string]any{"key": "mail", "prompt": "What is your e-mail address?", "outputs": []any{"email"}, "required": true}},
		"tools": []any{map[string]any{"kind": "lead"}},
	})
	source := c.ask(t, own, "When does the museum open?")["sources"].([]any)[0].(map[string]any)["documentId"].(string)
	calls := len(c.models.Requests())
	c.working(t)

	begun := c.do(t, "simulatePersona", own, c.Acme.New, map[string]any{"turns": []any{"When does the museum open?", "kim@example.com"}})
	require.Equal(t, http.StatusAccepted, begun.Status, "%s", begun.Raw)
	j := begun.Data(t)
	require.Equal(t, []any{"simulate", "persona", own}, []any{j["kind"], j["resourceKind"], j["resourceId"]})
	require.Equal(t, []any{"persona.simulated", own}, []any{c.last(t)["action"], c.last(t)["targetId"]})
	which := j["id"].(string)
	done := c.ended(t, which)
	require.Equal(t, map[string]any{
		"turns": 6.0, "grounded": 1.0, "unanswered": 0.0, "goalsMet": 1.0, "goalsTotal": 1.0, "toolCalls": 1.0,
	}, at(done["result"], "counts"))
	require.Equal(t, "simulate-"+strings.TrimPrefix(which, "job_")+".json", at(done["result"], "file"))
	require.Len(t, c.models.Requests(), calls+1, "the model is the session's")
	report := c.file(t, which)
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

	good := c.addTest(t, c.Acme, own, map[string]any{
		"name": "Opening", "question": "When does the museum open?",
		"expect": map[string]any{"facts": []any{"AT NINE"}, "documentIds": []any{source}, "grounded": true},
	})
	require.Equal(t, good["createdAt"], good["updatedAt"])
	require.Equal(t, good, c.Get(c.Acme.New, "/persona-tests/"+good["id"].(string)).Data(t), "what is answered is kept")
	require.Equal(t, []any{true, nil, nil, own}, []any{good["enabled"], good["language"], good["lastRun"], good["personaId"]})
	require.Equal(t, map[string]any{"facts": []any{"AT NINE"}, "notFacts": []any{}, "documentIds": []any{source}, "grounded": true}, good["expect"])
	c.addTest(t, c.Acme, own, map[string]any{"name": "Honest", "question": "Who invented the telephone?", "expect": map[string]any{"grounded": false}})
	off := c.addTest(t, c.Acme, own, map[string]any{"name": "Off", "question": "Hm?", "enabled": false, "expect": map[string]any{"facts": []any{"x"}}})
	run := func(body any) (map[string]any, map[string]any) {
		t.Helper()
		begun := c.do(t, "runPersonaTests", own, c.Acme.New, body)
		require.Equal(t, http.StatusAccepted, begun.Status, "%s", begun.Raw)
		done := c.ended(t, begun.Data(t)["id"].(string))
		return at(done["result"], "counts").(map[string]any), c.file(t, begun.Data(t)["id"].(string))
	}
	counts, results := run(nil)
	require.Equal(t, map[string]any{"total": 2.0, "passed": 2.0, "failed": 0.0, "error": 0.0}, counts)
	require.Equal(t, []any{"Opening", "Honest"}, []any{at(results["tests"].([]any)[0], "name"), at(results["tests"].([]any)[1], "name")})

	c.models.Behave(modeltest.Stream("At ten [1]."))
	counts, results = run(map[string]any{"testIds": []any{good["id"], good["id"], off["id"]}, "version": 1})
	require.Equal(t, map[string]any{"total": 2.0, "passed": 0.0, "failed": 2.0, "error": 0.0}, counts)
	require.Equal(t, []any{"newly_failing", nil}, []any{at(results["tests"].([]any)[0], "change"), at(results["tests"].([]any)[1], "change")})
	last := c.Get(c.Acme.New, "/persona-tests/"+good["id"].(string)).Data(t)["lastRun"].(map[string]any)
	require.Equal(t, []any{false, []any{"fact_missing"}, []any{"AT NINE"}, []any{}, "At ten.", true, 1.0},
		[]any{last["passed"], last["reasons"], last["missing"], last["unwanted"], last["answer"], last["grounded"], last["personaVersion"]})
	require.Equal(t, source, at(last["sources"].([]any)[0], "documentId"))

	copied := c.do(t, "duplicatePersona", own, c.Acme.New, nil).Data(t)["id"].(string)
	copies := c.Get(c.Acme.New, "/personas/"+copied+"/tests").JSON(t)["data"].([]any)
	require.Len(t, copies, 3)
	require.Equal(t, []any{"Off", false, nil}, []any{at(copies[0], "name"), at(copies[0], "enabled"), at(copies[0], "lastRun")}, "the newest first")
}

func TestRehearsalsAreRefused(t *testing.T) {
	w := newWorld(t)
	own := w.make(t, w.Acme, "createPersona")["id"].(string)
	other := w.make(t, w.Acme, "createPersona")["id"].(string)
	theirs := w.make(t, w.Globex, "createPersona")["id"].(string)
	foreign := w.addTest(t, w.Globex, theirs, personaTestBody(1))["id"].(string)
	elsewhere := w.addTest(t, w.Acme, other, personaTestBody(1))["id"].(string)
	test := w.addTest(t, w.Acme, own, personaTestBody(1))["id"].(string)
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
		"a test for others":    {"createPersonaTest", theirs, personaTestBody(1), 404, "path.id"},
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
			requireError(t, w.do(t, c.operation, c.on, w.Acme.New, c.body), c.status, code, c.param)
		})
	}

	// What is read needs personas:read, and the rest personas:write.
	reader := w.Key(w.Acme, scope.Grant{Contract: contract.Latest, Scopes: []scope.Scope{scope.PersonasRead}})
	require.Equal(t, http.StatusOK, w.Get(reader, "/persona-tests/"+test).Status)
	require.Equal(t, http.StatusForbidden, w.do(t, "simulatePersona", own, reader, map[string]any{"turns": turns}).Status)

	first := w.do(t, "runPersonaTests", own, w.Acme.New, nil).Data(t)["id"]
	second := requireError(t, w.do(t, "runPersonaTests", own, w.Acme.New, nil), http.StatusConflict, "conflict", "path.id")
	require.Equal(t, []any{"already_running", first}, []any{at(second["details"], "reason"), at(second["details"], "jobId")})
	cancelled := w.do(t, "cancelJob", first.(string), w.Acme.New, nil)
	require.Equal(t, "cancelled", cancelled.Data(t)["state"])
	require.Equal(t, http.StatusOK, w.do(t, "deletePersonaTest", test, w.Acme.New, nil).Status)
	requireError(t, w.Get(w.Acme.New, "/persona-tests/"+test), http.StatusNotFound, "not_found", "path.id")
	none := requireError(t, w.do(t, "runPersonaTests", own, w.Acme.New, nil), http.StatusConflict, "conflict", "path.id")
	require.Equal(t, "no_tests", at(none["details"], "reason"))

	for n := range 200 {
		w.addTest(t, w.Acme, own, personaTestBody(n))
	}
	full := requireError(t, w.do(t, "createPersonaTest", own, w.Acme.New, personaTestBody(1)), http.StatusConflict, "conflict", "path.id")
	require.Equal(t, "full", at(full["details"], "reason"))

	require.Equal(t, http.StatusOK, w.do(t, "deletePersona", other, w.Acme.New, nil).Status)
	requireError(t, w.Get(w.Acme.New, "/personas/"+other+"/tests"), http.StatusGone, "gone", "path.id")
	requireError(t, w.do(t, "simulatePersona", other, w.Acme.New, map[string]any{"turns": turns}), http.StatusGone, "gone", "path.id")
	requireError(t, w.Get(w.Acme.New, "/persona-tests/"+elsewhere), http.StatusNotFound, "not_found", "path.id")

	require.NoError(t, w.Directory.Pause(context.Background(), w.Globex.ID, "tests"))
	require.Eventually(t, func() bool {
		answer := w.do(t, "simulatePersona", theirs, w.Globex.New, map[string]any{"turns": turns})
		return answer.Status == http.StatusForbidden && answer.Error(t)["code"] == "account_paused"
	}, 10*time.Second, 50*time.Millisecond)
}
