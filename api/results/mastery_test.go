package results_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/scope"
)

// items are those of a list about a person.
func items(t *testing.T, w *apitest.World, operation, person string) (all []map[string]any) {
	t.Helper()
	answer := w.CallAs(t, operation, person, w.Acme.New, nil)
	require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Raw)
	for _, item := range answer.JSON(t)["data"].([]any) {
		all = append(all, item.(map[string]any))
	}
	return all
}

// What somebody masters follows from results that are released alone, and from each as it is now.
func TestMastery(t *testing.T) {
	w := apitest.NewWorld(t)
	kim := w.Learner(t, w.Acme)
	which := w.Assess(t, w.Acme, kim, apitest.UnsureAnswer)
	rescore(t, w, which, 2)
	require.Empty(t, items(t, w, "listPersonMastery", kim), "nothing is known before it is released")
	require.Equal(t, http.StatusOK, w.CallAs(t, "releaseResult", which, w.Acme.New, nil).Status)
	of := func() map[string]any {
		all := items(t, w, "listPersonMastery", kim)
		require.Len(t, all, 1)
		require.Equal(t, []any{kim, w.Exam(t, w.Acme)}, []any{all[0]["personId"], all[0]["subjectId"]})
		return all[0]["objectives"].([]any)[0].(map[string]any)
	}
	right := of()
	require.Equal(t, []any{"tie", "emerging", 1.0}, []any{right["key"], right["level"], right["evidenceCount"]})
	rescore(t, w, which, 0)
	require.Less(t, of()["mastery"], right["mastery"])
	require.Equal(t, "none", of()["level"])
	told := masteryEvents(t, w, kim)
	require.Len(t, told, 2)
	require.Equal(t, []any{"tie", "none", "emerging"}, []any{told[0]["objectiveKey"], told[0]["level"], told[0]["previousLevel"]})

	again := w.Assess(t, w.Acme, kim, apitest.RightAnswer)
	require.Equal(t, 2.0, of()["evidenceCount"])
	for _, one := range []string{which, again} {
		require.Equal(t, http.StatusOK, w.CallAs(t, "voidResult", one, w.Acme.New, map[string]any{"reason": "x"}).Status)
	}
	require.Empty(t, items(t, w, "listPersonMastery", kim), "as if it had never been")
}

// A result keeps what it changed of what is mastered, as that was when it was scored last.
func TestObjectivesOfAResult(t *testing.T) {
	w := apitest.NewWorld(t)
	kim := w.Learner(t, w.Acme)
	first := w.Assess(t, w.Acme, kim, apitest.UnsureAnswer)
	of := func(which string) map[string]any {
		all := makeResult(t, w, which)["objectives"].([]any)
		require.Len(t, all, 1)
		require.Equal(t, "tie", all[0].(map[string]any)["key"])
		return all[0].(map[string]any)
	}
	rescore(t, w, first, 2)
	shown := of(first)
	require.Equal(t, 0.0, shown["previous"])
	require.Greater(t, shown["mastery"], 0.3)
	second := w.Assess(t, w.Acme, kim, apitest.RightAnswer)
	require.Equal(t, 0.0, of(second)["previous"], "what is withheld shows nothing of itself by the next")

	require.Equal(t, http.StatusOK, w.CallAs(t, "releaseResult", first, w.Acme.New, nil).Status)
	require.Equal(t, shown, of(first), "as it was scored")
	third := w.Assess(t, w.Acme, kim, apitest.RightAnswer)
	require.Greater(t, of(third)["previous"], of(second)["mastery"])
	require.Greater(t, of(third)["mastery"], of(third)["previous"])
	before := of(third)
	rescore(t, w, first, 0)
	require.Less(t, of(first)["mastery"], shown["mastery"], "scored again with it")
	require.Equal(t, before, of(third), "what came of it later stays")
	require.Equal(t, http.StatusOK, w.CallAs(t, "voidResult", first, w.Acme.New, map[string]any{"reason": "x"}).Status)
	require.Equal(t, before, of(third))
	rescore(t, w, third, 1)
	require.InDelta(t, of(second)["mastery"], of(third)["previous"], 0.001, "as if the first had never been")

	reader := w.Scoped(contract.Latest, scope.ResultsRead)
	require.Nil(t, w.CallAs(t, "getResult", first, reader, nil).Data(t)["objectives"])
	require.NotNil(t, w.CallAs(t, "getResult", third, reader, nil).Data(t)["objectives"])
	read := map[string]any{}
	require.NoError(t, json.Unmarshal(w.CallAs(t, "downloadReport", makeReport(t, w, third, "json"), w.Acme.New, nil).Raw, &read))
	told := read["objectives"].([]any)[0].(map[string]any)
	for _, field := range []string{"key", "mastery", "previous"} {
		require.Equal(t, of(third)[field], told[field], field)
	}
	require.Equal(t, "Ties knots.", told["text"])
	page := string(w.CallAs(t, "downloadReport", makeReport(t, w, third, "html"), w.Acme.New, nil).Raw)
	require.Contains(t, page, `<th scope="col">Before</th>`)
}

// masteryEvents are the data of the events about what a person masters, newest first.
func masteryEvents(t *testing.T, w *apitest.World, person string) (found []map[string]any) {
	t.Helper()
	o := w.Operation(t, "listEvents")
	answer := w.Call(t, o, apitest.Request{Path: o.Path + "?limit=200&type=mastery.updated", Key: w.Acme.New})
	for _, item := range answer.JSON(t)["data"].([]any) {
		if data := item.(map[string]any)["data"].(map[string]any); data["personId"] == person {
			found = append(found, data)
		}
	}
	return found
}

// The transcript lists all that somebody has to show, and nothing that is withheld.
func TestTranscript(t *testing.T) {
	w := apitest.NewWorld(t)
	kim := w.Learner(t, w.Acme)
	w.Assess(t, w.Acme, kim, apitest.UnsureAnswer)
	require.Empty(t, items(t, w, "listPersonTranscript", kim))
	which := w.Assess(t, w.Acme, kim, apitest.RightAnswer)
	states := func() map[any]any {
		found := map[any]any{}
		for _, e := range items(t, w, "listPersonTranscript", kim) {
			found[e["kind"]] = e["state"]
			if e["kind"] == "result" {
				require.Equal(t, []any{which, 100.0, true, nil}, []any{e["id"], e["percent"], e["passed"], e["number"]})
			}
			if e["kind"] == "certificate" {
				require.Equal(t, certificates(t, w, kim)[0].(map[string]any)["number"], e["number"])
			}
		}
		return found
	}
	require.Equal(t, map[any]any{"completion": "valid", "result": "released", "certificate": "valid"}, states())
	require.Equal(t, http.StatusOK, w.CallAs(t, "voidResult", which, w.Acme.New, map[string]any{"reason": "x"}).Status)
	require.Equal(t, map[any]any{"completion": "withdrawn", "certificate": "revoked"}, states())
}
