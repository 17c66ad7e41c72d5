package results_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/api/route"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/learning/record"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/apikey"
	"visavis.dev/pkg/store/tenant"
)

// result is a result as a key sees it.
func makeResult(t *testing.T, w *apitest.World, which string) map[string]any {
	t.Helper()
	answer := w.CallAs(t, "getResult", which, w.Acme.New, nil)
	require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Raw)
	return answer.Data(t)
}

// worth are the fields that say what a result is worth.
var worth = []string{"percent", "score", "band", "passed", "criteria", "objectives", "confidence"}

// conflicts requires a 409 with a reason.
func conflicts(t *testing.T, answer apitest.Answer, reason string) {
	t.Helper()
	require.Equal(t, http.StatusConflict, answer.Status, "%s", answer.Raw)
	require.Equal(t, reason, answer.Error(t)["details"].(map[string]any)["reason"])
}

func TestAnAssessment(t *testing.T) {
	w := apitest.NewWorld(t)
	t.Run("that is sure is released", func(t *testing.T) { testASureResult(t, w) })
	t.Run("that is not waits for a person", func(t *testing.T) { testAnUnsureResult(t, w) })
	t.Run("with an objection", func(t *testing.T) { testAnObjection(t, w) })
	t.Run("that is voided", func(t *testing.T) { testAVoidedResult(t, w) })
	t.Run("on hold", func(t *testing.T) { testAHeldResult(t, w) })
	t.Run("that cannot be scored", func(t *testing.T) { testAnUnscorableResult(t, w) })
	t.Run("that was flagged", func(t *testing.T) { testAFlaggedResult(t, w) })
	t.Run("with attempts", func(t *testing.T) { testAttempts(t, w) })
	t.Run("of a young learner", func(t *testing.T) { testAYoungLearner(t, w) })
	t.Run("whose words are deleted", func(t *testing.T) { testDeletedWords(t, w) })
	t.Run("that is passed completes its subject", func(t *testing.T) { testCompletion(t, w) })
	t.Run("to which nobody came", func(t *testing.T) { testNobodyCame(t, w) })
}

func testASureResult(t *testing.T, w *apitest.World) {
	r := makeResult(t, w, w.Assess(t, w.Acme, w.Learner(t, w.Acme), apitest.RightAnswer))
	require.Equal(t, "released", r["state"])
	require.Equal(t, []any{100.0, 2.0, 2.0, true, "distinction", "avatar", 1.0, false},
		[]any{r["percent"], r["score"], r["maxScore"], r["passed"], r["band"], r["scoredBy"], r["attempt"], r["needsReview"]})
	criterion := r["criteria"].([]any)[0].(map[string]any)
	require.Equal(t, "loop", criterion["key"])
	require.Equal(t, []any{apitest.RightAnswer}, criterion["quotes"])
	require.Len(t, criterion["turnIds"], 1)
	require.NotEmpty(t, criterion["rationale"])
	require.Equal(t, []any{map[string]any{"line": criterion["rationale"], "quote": apitest.RightAnswer}}, r["feedback"])
	testSummary(t, w, r)
	conflicts(t, w.CallAs(t, "releaseResult", r["id"].(string), w.Acme.New, nil), "already_released")

	told := tellings(t, w, r["id"].(string))
	require.Len(t, told["score.recorded"], 1)
	require.Equal(t, 100.0, told["score.recorded"][0]["percent"])
	require.Equal(t, []any{map[string]any{"key": "loop", "score": 2.0, "maxScore": 2.0}}, told["score.recorded"][0]["criteria"])
	require.Equal(t, []any{"released", true}, []any{told["assessment.completed"][0]["state"], told["assessment.completed"][0]["passed"]})
	require.Empty(t, told["review.requested"])
}

// sameAsRead: a change of a result is answered as the result is read.
func sameAsRead(t *testing.T, w *apitest.World, changed apitest.Answer) {
	t.Helper()
	sameAsReadBy(t, w, changed, w.Acme.New)
}

func sameAsReadBy(t *testing.T, w *apitest.World, changed apitest.Answer, key apikey.Secret) {
	t.Helper()
	require.Equal(t, http.StatusOK, changed.Status, "%s", changed.Raw)
	data := changed.Data(t)
	require.Equal(t, w.CallAs(t, "getResult", data["id"].(string), key, nil).Data(t), data)
}

// testSummary: the conversation in short is told with a result, to whoever may read that.
func testSummary(t *testing.T, w *apitest.World, r map[string]any) {
	t.Helper()
	const short = "The bowline → Well done."
	of, in := r["id"].(string), r["sessionId"].(string)
	require.Nil(t, r["summary"], "nothing was answered")
	w.SetSession(t, in, `summary = '`+short+`'`)
	require.Equal(t, short, makeResult(t, w, of)["summary"])
	reader := w.CallAs(t, "getResult", of, w.Scoped(contract.Latest, scope.ResultsRead), nil).Data(t)
	require.Equal(t, []any{nil, nil, 100.0}, []any{reader["summary"], reader["feedback"], reader["percent"]})
	w.SetSession(t, in, `flagged = true`)
	require.Equal(t, []any{nil, nil}, []any{makeResult(t, w, of)["summary"], makeResult(t, w, of)["feedback"]})
	w.SetSession(t, in, `flagged = false`)
	w.SetSession(t, in, `summary = NULL`)

	unsure := makeResult(t, w, w.Assess(t, w.Acme, w.Learner(t, w.Acme), apitest.UnsureAnswer))
	w.SetSession(t, unsure["sessionId"].(string), `summary = '`+short+`'`)
	waits := unsure["id"].(string)
	require.Equal(t, short, makeResult(t, w, waits)["summary"])
	reader = w.CallAs(t, "getResult", waits, w.Scoped(contract.Latest, scope.ResultsRead, scope.TranscriptsRead), nil).Data(t)
	require.Equal(t, []any{nil, nil}, []any{reader["summary"], reader["feedback"]}, "before it is released")
}

// tellings are the data of the events about a result, by type, oldest first.
func tellings(t *testing.T, w *apitest.World, of string) map[string][]map[string]any {
	t.Helper()
	o := w.Operation(t, "listEvents")
	found := map[string][]map[string]any{}
	answer := w.Call(t, o, apitest.Request{Path: o.Path + "?order=asc&limit=200&type=score.recorded,assessment.completed,review.requested,review.completed,result.contested", Key: w.Acme.New})
	require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Raw)
	for _, item := range answer.JSON(t)["data"].([]any) {
		e := item.(map[string]any)
		if data := e["data"].(map[string]any); data["resultId"] == of {
			found[e["type"].(string)] = append(found[e["type"].(string)], data)
		}
	}
	return found
}

func testAnUnsureResult(t *testing.T, w *apitest.World) {
	which := w.Assess(t, w.Acme, w.Learner(t, w.Acme), apitest.UnsureAnswer)
	r := makeResult(t, w, which)
	require.Equal(t, []any{"awaiting_review", true, nil}, []any{r["state"], r["needsReview"], r["releasedAt"]})
	review := r["review"].(map[string]any)
	require.Equal(t, "open", review["state"])
	conflicts(t, w.CallAs(t, "createReview", which, w.Acme.New, map[string]any{"reasonCode": "appeal"}), "review_open")
	conflicts(t, w.CallAs(t, "createContest", which, w.Acme.New, map[string]any{"message": "No."}), "not_released")

	reader := w.Scoped(contract.Latest, scope.ResultsRead, scope.EventsRead, scope.TranscriptsRead)
	seen := w.CallAs(t, "getResult", which, reader, nil).Data(t)
	for _, name := range worth {
		require.Nil(t, seen[name], name)
		require.NotNil(t, r[name], name)
	}
	require.Nil(t, tellings(t, w, which)["score.recorded"][0]["percent"])

	score := func(points float64) apitest.Answer {
		return w.CallAs(t, "rescoreResult", which, w.Acme.New, map[string]any{"criteria": []any{map[string]any{"key": "loop", "score": points}}, "reason": "Right in other words."})
	}
	require.Equal(t, r["updatedAt"], score(0).Data(t)["updatedAt"], "the same score is no change")
	require.Len(t, tellings(t, w, which)["score.recorded"], 1)
	require.Equal(t, http.StatusOK, score(1).Status)
	require.Equal(t, http.StatusOK, score(0).Status)
	conflicts(t, w.CallAs(t, "updateReview", review["id"].(string), w.Acme.New, map[string]any{"outcome": "changed"}), "outcome")
	rescored := score(1.5)
	require.Equal(t, http.StatusOK, rescored.Status, "%s", rescored.Raw)
	sameAsRead(t, w, rescored)
	require.Equal(t, []any{75.0, "person", 1.0, "merit"}, []any{rescored.Data(t)["percent"], rescored.Data(t)["scoredBy"], rescored.Data(t)["confidence"], rescored.Data(t)["band"]})
	conflicts(t, w.CallAs(t, "updateReview", review["id"].(string), w.Acme.New, map[string]any{"outcome": "upheld"}), "outcome")
	done := w.CallAs(t, "updateReview", review["id"].(string), w.Acme.New, map[string]any{"outcome": "changed"}).Data(t)
	require.Equal(t, []any{"completed", []any{map[string]any{"criterion": "loop", "from": 0.0, "to": 1.5}}}, []any{done["state"], done["changes"]})
	seen = w.CallAs(t, "getResult", which, reader, nil).Data(t)
	require.Nil(t, seen["percent"], "completing a review releases nothing")
	require.Equal(t, []any{"person", "changed"}, []any{seen["scoredBy"], seen["review"].(map[string]any)["outcome"]}, "what events tell is told here too")
	require.Equal(t, "changed", tellings(t, w, which)["review.completed"][0]["outcome"])

	for _, key := range []apikey.Secret{w.Acme.Old, w.Scoped(contract.Latest, scope.ResultsRead, scope.ResultsWrite)} {
		sameAsReadBy(t, w, w.CallAs(t, "holdResult", which, key, nil), key)
		sameAsReadBy(t, w, w.CallAs(t, "unholdResult", which, key, nil), key)
	}
	released := w.CallAs(t, "releaseResult", which, w.Acme.New, nil)
	require.Equal(t, "released", released.Data(t)["state"])
	require.NotEmpty(t, released.Data(t)["criteria"].([]any)[0].(map[string]any)["quotes"])
	sameAsRead(t, w, released)
	require.Equal(t, 75.0, w.CallAs(t, "getResult", which, reader, nil).Data(t)["percent"])
	told := tellings(t, w, which)
	require.Len(t, told["score.recorded"], 5, "scored, scored again three times, released")
	for _, data := range told["score.recorded"] {
		require.Equal(t, 75.0, data["percent"], "what is told is what holds now")
	}
	require.Equal(t, "changed", told["review.completed"][0]["outcome"])
	require.Equal(t, 0.0, told["review.completed"][0]["previousPercent"])
	for name, body := range map[string]map[string]any{
		"body.criteria[0].key":   {"criteria": []any{map[string]any{"key": "nothing", "score": 1}}, "reason": "x"},
		"body.criteria[0].score": {"criteria": []any{map[string]any{"key": "loop", "score": 2.5}}, "reason": "x"},
		"body.criteria[1].key":   {"criteria": []any{map[string]any{"key": "loop", "score": 1}, map[string]any{"key": "loop", "score": 2}}, "reason": "x"},
		"body.reason":            {"criteria": []any{map[string]any{"key": "loop", "score": 1}}},
	} {
		apitest.RequireError(t, w.CallAs(t, "rescoreResult", which, w.Acme.New, body), http.StatusBadRequest, "invalid_request", name)
	}
}

func testAnObjection(t *testing.T, w *apitest.World) {
	which := w.Released(t, w.Acme)
	made := w.CallAs(t, "createContest", which, w.Acme.New, map[string]any{"message": "I said more."}).Data(t)
	r := makeResult(t, w, which)
	require.Equal(t, []any{"contested", 100.0}, []any{r["state"], r["percent"]})
	conflicts(t, w.CallAs(t, "createContest", which, w.Acme.New, map[string]any{"message": "Again."}), "already_contested")
	decided := w.CallAs(t, "updateContest", made["id"].(string), w.Acme.New, map[string]any{"state": "upheld", "note": "You did."}).Data(t)
	require.Equal(t, []any{"upheld", "You did."}, []any{decided["state"], decided["note"]})
	require.Equal(t, "released", makeResult(t, w, which)["state"])
	conflicts(t, w.CallAs(t, "updateContest", made["id"].(string), w.Acme.New, map[string]any{"state": "rejected"}), "already_decided")
	told := tellings(t, w, which)["result.contested"]
	require.Equal(t, []any{"open", "upheld"}, []any{told[0]["state"], told[1]["state"]})
}

func testAVoidedResult(t *testing.T, w *apitest.World) {
	which := w.Released(t, w.Acme)
	objection := w.CallAs(t, "createContest", which, w.Acme.New, map[string]any{"message": "I said more."}).Data(t)["id"].(string)
	voided := w.CallAs(t, "voidResult", which, w.Acme.New, map[string]any{"reason": "The fire alarm rang."})
	sameAsRead(t, w, voided)
	r := voided.Data(t)
	require.Equal(t, []any{"voided", "completed"}, []any{r["state"], r["review"].(map[string]any)["state"]})
	conflicts(t, w.CallAs(t, "updateContest", objection, w.Acme.New, map[string]any{"state": "rejected"}), "already_decided")
	for operation, body := range map[string]any{
		"releaseResult": nil, "voidResult": map[string]any{"reason": "x"}, "createReview": map[string]any{"reasonCode": "x"},
		"createContest": map[string]any{"message": "x"},
		"rescoreResult": map[string]any{"criteria": []any{map[string]any{"key": "loop", "score": 1}}, "reason": "x"},
	} {
		conflicts(t, w.CallAs(t, operation, which, w.Acme.New, body), "voided")
	}
	told := tellings(t, w, which)
	require.Equal(t, []any{"voided", nil}, []any{told["review.completed"][0]["outcome"], told["review.completed"][0]["percent"]})
	require.Nil(t, told["score.recorded"][0]["percent"], "what counts for nothing is not told any more")
}

func testAHeldResult(t *testing.T, w *apitest.World) {
	person := w.Learner(t, w.Acme)
	which := w.Assess(t, w.Acme, person, apitest.RightAnswer)
	for range 2 {
		require.Equal(t, true, w.CallAs(t, "holdResult", which, w.Acme.New, nil).Data(t)["onHold"])
	}
	for operation, body := range map[string]any{
		"voidResult": map[string]any{"reason": "x"}, "createReview": map[string]any{"reasonCode": "x"}, "createContest": map[string]any{"message": "x"},
		"rescoreResult": map[string]any{"criteria": []any{map[string]any{"key": "loop", "score": 1}}, "reason": "x"}, "releaseResult": nil,
	} {
		require.Equal(t, "on_hold", w.CallAs(t, operation, which, w.Acme.New, body).Error(t)["code"], operation)
	}
	require.Equal(t, "on_hold", w.CallAs(t, "erasePerson", person, w.Acme.New, nil).Error(t)["code"])
	completion := completions(t, w, person)[0].(map[string]any)["id"].(string)
	require.Equal(t, "on_hold", w.CallAs(t, "deleteCompletion", completion, w.Acme.New, nil).Error(t)["code"])
	require.Equal(t, "valid", completions(t, w, person)[0].(map[string]any)["state"])
	require.Equal(t, false, w.CallAs(t, "unholdResult", which, w.Acme.New, nil).Data(t)["onHold"])
	require.Equal(t, http.StatusCreated, w.CallAs(t, "createReview", which, w.Acme.New, map[string]any{"reasonCode": "x"}).Status)
	require.Equal(t, http.StatusOK, w.CallAs(t, "deleteCompletion", completion, w.Acme.New, nil).Status)

	require.Equal(t, http.StatusAccepted, w.CallAs(t, "erasePerson", person, w.Acme.New, nil).Status)
	require.Equal(t, http.StatusGone, w.CallAs(t, "holdResult", which, w.Acme.New, nil).Status, "or the erasure would never end")
	w.Erase(t)
	require.Equal(t, http.StatusNotFound, w.CallAs(t, "getResult", which, w.Acme.New, nil).Status)
}

func testAttempts(t *testing.T, w *apitest.World) {
	exam, person := w.Exam(t, w.Acme), w.Learner(t, w.Acme)
	change := func(allowed any) {
		answer := w.CallAs(t, "updateSubject", exam, w.Acme.New, map[string]any{"attemptsAllowed": allowed})
		require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Raw)
	}
	change(2)
	defer change(nil)
	first := w.Assess(t, w.Acme, person, apitest.RightAnswer)
	second := makeResult(t, w, w.Assess(t, w.Acme, person, apitest.RightAnswer))
	require.Equal(t, []any{2.0, 2.0}, []any{second["attempt"], second["attemptsAllowed"]})
	require.Equal(t, 0.0, tellings(t, w, second["id"].(string))["assessment.completed"][0]["attemptsLeft"])
	nobody := w.Learner(t, w.Acme)
	missed := w.Sit(t, w.Acme, nobody).Data(t)["session"].(map[string]any)["id"].(string)
	w.SetSession(t, missed, `state = 'expired'`)
	left := tellings(t, w, w.Assess(t, w.Acme, nobody, apitest.RightAnswer))["assessment.completed"][0]["attemptsLeft"]
	require.Equal(t, 1.0, left, "to which nobody came is no attempt")
	refused := w.Sit(t, w.Acme, person)
	conflicts(t, refused, "no_attempts_left")
	require.Equal(t, "body.personId", refused.Error(t)["param"])
	require.Equal(t, http.StatusOK, w.CallAs(t, "voidResult", first, w.Acme.New, map[string]any{"reason": "x"}).Status)
	require.Equal(t, 3.0, makeResult(t, w, w.Assess(t, w.Acme, person, apitest.RightAnswer))["attempt"], "what was voided does not count")
}

// Who could not be scored waits for a person, who gives the points or voids the result.
func testAnUnscorableResult(t *testing.T, w *apitest.World) {
	for _, voided := range []bool{false, true} {
		which := w.Unscored(t, w.Acme, w.Learner(t, w.Acme), apitest.RightAnswer)
		r := makeResult(t, w, which)
		require.Equal(t, []any{"in_progress", []any{}}, []any{r["state"], r["criteria"]})
		if voided {
			r = w.CallAs(t, "voidResult", which, w.Acme.New, map[string]any{"reason": "Nothing comes."}).Data(t)
			require.Equal(t, "voided", r["state"])
			w.Score(t)
			require.Equal(t, "voided", makeResult(t, w, which)["state"])
			continue
		}
		w.GiveUp(t, which)
		r = makeResult(t, w, which)
		require.Equal(t, []any{"awaiting_review", 2.0, nil, "not_judged"}, []any{r["state"], r["maxScore"], r["percent"], tellings(t, w, which)["review.requested"][0]["reasonCode"]})
		criterion := r["criteria"].([]any)[0].(map[string]any)
		require.Equal(t, []any{"loop", nil, 2.0}, []any{criterion["key"], criterion["score"], criterion["maxScore"]})
		conflicts(t, w.CallAs(t, "releaseResult", which, w.Acme.New, nil), "not_judged")
		body := map[string]any{"criteria": []any{map[string]any{"key": "loop", "score": 2}}, "reason": "Read by hand."}
		require.Equal(t, 100.0, w.CallAs(t, "rescoreResult", which, w.Acme.New, body).Data(t)["percent"])
		require.Equal(t, "released", w.CallAs(t, "releaseResult", which, w.Acme.New, nil).Data(t)["state"])
	}
	sitting := w.Sit(t, w.Acme, w.Learner(t, w.Acme)).Data(t)["session"].(map[string]any)["personId"].(string)
	o := w.Operation(t, "listResults")
	live := w.Call(t, o, apitest.Request{Path: o.Path + "?personId=" + sitting, Key: w.Acme.New}).JSON(t)["data"].([]any)[0].(map[string]any)["id"].(string)
	conflicts(t, w.CallAs(t, "voidResult", live, w.Acme.New, map[string]any{"reason": "x"}), "not_scored")
}

// That a conversation was flagged is told to nobody who may not act on it.
func testAFlaggedResult(t *testing.T, w *apitest.World) {
	which := w.Unscored(t, w.Acme, w.Learner(t, w.Acme), apitest.RightAnswer)
	w.SetSession(t, makeResult(t, w, which)["sessionId"].(string), `flagged = true`)
	w.Score(t)
	require.Equal(t, "needs_review", tellings(t, w, which)["review.requested"][0]["reasonCode"])
	o := w.Operation(t, "listReviews")
	for key, want := range map[apikey.Secret]string{w.Acme.New: "flagged", w.Scoped(contract.Latest, scope.ResultsRead): "needs_review"} {
		listed := w.Call(t, o, apitest.Request{Path: o.Path + "?resultId=" + which, Key: key}).JSON(t)["data"].([]any)
		require.Equal(t, want, listed[0].(map[string]any)["reasonCode"])
	}
}

func testAYoungLearner(t *testing.T, w *apitest.World) {
	person := w.Learner(t, w.Acme)
	which := w.Assess(t, w.Acme, person, apitest.RightAnswer)
	session := makeResult(t, w, which)["sessionId"].(string)
	w.SetSession(t, session, `withheld = 'learner_conversation'`)
	criterion := makeResult(t, w, which)["criteria"].([]any)[0].(map[string]any)
	require.Equal(t, []any{nil, nil, 2.0}, []any{criterion["rationale"], criterion["quotes"], criterion["score"]})

	w.SetSession(t, session, `withheld = NULL`)
	deaf := w.Scoped(contract.Latest, scope.ResultsRead, scope.ResultsWrite)
	criterion = w.CallAs(t, "getResult", which, deaf, nil).Data(t)["criteria"].([]any)[0].(map[string]any)
	require.Equal(t, []any{nil, nil, 2.0}, []any{criterion["rationale"], criterion["quotes"], criterion["score"]}, "words need transcripts:read")
}

func testDeletedWords(t *testing.T, w *apitest.World) {
	which := w.Assess(t, w.Acme, w.Learner(t, w.Acme), apitest.RightAnswer)
	session := makeResult(t, w, which)["sessionId"].(string)
	require.Equal(t, http.StatusOK, w.CallAs(t, "deleteTranscript", session, w.Acme.New, nil).Status)
	criterion := makeResult(t, w, which)["criteria"].([]any)[0].(map[string]any)
	require.Equal(t, []any{[]any{}, 2.0}, []any{criterion["quotes"], criterion["score"]})
}

// completions are those of a person, newest first.
func completions(t *testing.T, w *apitest.World, person string) []any {
	t.Helper()
	o := w.Operation(t, "listCompletions")
	return w.Call(t, o, apitest.Request{Path: o.Path + "?personId=" + person, Key: w.Acme.New}).JSON(t)["data"].([]any)
}

func testCompletion(t *testing.T, w *apitest.World) {
	person := w.Learner(t, w.Acme)
	which := w.Assess(t, w.Acme, person, apitest.UnsureAnswer)
	score := func(points float64) {
		answer := w.CallAs(t, "rescoreResult", which, w.Acme.New, map[string]any{"criteria": []any{map[string]any{"key": "loop", "score": points}}, "reason": "x"})
		require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Raw)
	}
	score(2)
	require.Empty(t, completions(t, w, person), "nothing is completed before it is released")
	require.Equal(t, http.StatusOK, w.CallAs(t, "releaseResult", which, w.Acme.New, nil).Status)
	first := completions(t, w, person)[0].(map[string]any)
	require.Equal(t, []any{which, "session", "valid"}, []any{first["resultId"], first["source"], first["state"]})
	require.NotNil(t, first["validUntil"], "the subject says for how many months")
	require.Equal(t, first["id"], makeResult(t, w, which)["completionId"])
	score(0)
	require.Equal(t, "withdrawn", completions(t, w, person)[0].(map[string]any)["state"])
	score(1.5)
	require.Len(t, completions(t, w, person), 2)
	second := completions(t, w, person)[0].(map[string]any)["id"].(string)
	parsed, err := id.ParseCompletion(second)
	require.NoError(t, err)
	w.InTx(t, func(ctx context.Context, tx *tenant.Tx) error {
		who := activity.Actor{By: "test", At: time.Now().UTC().Truncate(time.Microsecond)}
		k, err := record.FindCompletion(ctx, tx, parsed)
		require.NoError(t, err)
		require.NoError(t, record.Withdraw(ctx, tx, k, record.ByHand, who))
		require.True(t, errdefs.IsGone(record.Withdraw(ctx, tx, k, record.ByHand, who), record.CompletionNoun), "who saw it valid comes too late")
		return nil
	})
	score(2)
	require.Len(t, completions(t, w, person), 2, "what was withdrawn by hand does not come back with a score that passes as before")
	require.Equal(t, http.StatusOK, w.CallAs(t, "voidResult", which, w.Acme.New, map[string]any{"reason": "x"}).Status)
	for _, k := range completions(t, w, person) {
		require.Equal(t, "withdrawn", k.(map[string]any)["state"])
	}
	gone := w.CallAs(t, "deleteCompletion", first["id"].(string), w.Acme.New, nil)
	require.Equal(t, http.StatusGone, gone.Status)

	o := w.Operation(t, "listEvents")
	told := map[string]int{}
	for _, item := range w.Call(t, o, apitest.Request{Path: o.Path + "?limit=200&type=completion.recorded,completion.withdrawn", Key: w.Acme.New}).JSON(t)["data"].([]any) {
		e := item.(map[string]any)
		if data := e["data"].(map[string]any); data["personId"] == person {
			told[e["type"].(string)]++
			if e["type"] == "completion.recorded" {
				require.Nil(t, data["percent"], "what was voided is worth nothing")
			}
		}
	}
	require.Equal(t, map[string]int{"completion.recorded": 2, "completion.withdrawn": 2}, told)

	body := w.AttestationBody(t, w.Acme)
	for param, change := range map[string]func(map[string]any){
		"body.witnessId": func(b map[string]any) { b["witnessId"] = b["personId"] },
		"body.text":      func(b map[string]any) { b["text"] = "" },
	} {
		other := maps.Clone(body)
		change(other)
		made := w.Operation(t, "createAttestation")
		apitest.RequireError(t, w.Call(t, made, apitest.Request{Path: made.Path, Key: w.Acme.New, Body: other}), http.StatusBadRequest, "invalid_request", param)
	}
}

func testNobodyCame(t *testing.T, w *apitest.World) {
	person := w.Learner(t, w.Acme)
	minted := w.Sit(t, w.Acme, person).Data(t)["session"].(map[string]any)["id"].(string)
	o := w.Operation(t, "listResults")
	list := func() []any {
		return w.Call(t, o, apitest.Request{Path: o.Path + "?personId=" + person, Key: w.Acme.New}).JSON(t)["data"].([]any)
	}
	require.Equal(t, "in_progress", list()[0].(map[string]any)["state"])
	for _, operation := range []string{"releaseResult", "holdResult"} {
		conflicts(t, w.CallAs(t, operation, list()[0].(map[string]any)["id"].(string), w.Acme.New, nil), "not_scored")
	}
	require.Equal(t, http.StatusOK, w.CallAs(t, "endSession", minted, w.Acme.New, map[string]any{}).Status)
	w.Score(t)
	require.Empty(t, list())
}

// A score that is not released is nowhere that a key without results:write reads, whatever
// it reads; the filter by passed does not find it either.
func TestAnUnreleasedScoreIsNowhere(t *testing.T) {
	w := apitest.NewWorld(t)
	const marked = 1.31417
	person := w.Learner(t, w.Acme)
	which := w.Assess(t, w.Acme, person, apitest.UnsureAnswer)
	parsed, err := id.ParseResult(which)
	require.NoError(t, err)
	rescored := w.CallAs(t, "rescoreResult", which, w.Acme.New, map[string]any{"criteria": []any{map[string]any{"key": "loop", "score": marked}}, "reason": "A marked score."})
	require.Equal(t, http.StatusOK, rescored.Status, "%s", rescored.Raw)
	review := makeResult(t, w, which)["review"].(map[string]any)["id"].(string)
	w.Made["/results/{id}"+w.Acme.ID.String()], w.Made["/reviews/{id}"+w.Acme.ID.String()] = which, review
	w.Made["/people/{id}"+w.Acme.ID.String()], w.Made["/subjects/{id}"+w.Acme.ID.String()] = person, w.Exam(t, w.Acme)

	scopes := []scope.Scope{}
	for _, s := range scope.All() {
		if s != scope.ResultsWrite {
			scopes = append(scopes, s)
		}
	}
	reader := w.Scoped(contract.Latest, scopes...)
	shift := makeResult(t, w, which)["objectives"].([]any)[0].(map[string]any)
	texts := []string{"1.31417", "1.3142", "65.7", fmt.Sprint(shift["mastery"])}
	require.Len(t, texts[3], len("0.1234"), "it is there to be found")
	leaks := func(t *testing.T) (found []string) {
		w.Each(t, func(t *testing.T, o *route.Operation) {
			if o.Method != http.MethodGet {
				return
			}
			answer := w.Call(t, o, apitest.Request{Path: w.Path(t, o, w.Acme), Key: reader})
			said := moments.ReplaceAllString(string(answer.Raw), "") // by chance they have the figures, too
			for _, text := range texts {
				if strings.Contains(said, text) {
					found = append(found, o.ID)
				}
			}
		})
		return found
	}
	require.Empty(t, leaks(t))
	passed := w.Operation(t, "listResults")
	list := func() []any {
		return w.Call(t, passed, apitest.Request{Path: passed.Path + "?passed=true&personId=" + person, Key: reader}).JSON(t)["data"].([]any)
	}
	require.Empty(t, list())

	require.Equal(t, http.StatusOK, w.CallAs(t, "releaseResult", which, w.Acme.New, nil).Status)
	require.Contains(t, string(w.CallAs(t, "getResult", which, reader, nil).Raw), `"mastery":`+texts[3])
	require.Subset(t, leaks(t), []string{"getResult", "listResults", "listEvents", "listReviews"}, "or the search finds nothing that there is")
	require.Len(t, list(), 1)
	require.Equal(t, which, parsed.String())
}

// moments are the fractions of seconds in answers.
var moments = regexp.MustCompile(`:\d\d\.\d+Z`)

// Whoever is erased has no results any more.
func TestResultsGoWithTheirPerson(t *testing.T) {
	w := apitest.NewWorld(t)
	person := w.Learner(t, w.Acme)
	which := w.Assess(t, w.Acme, person, apitest.RightAnswer)
	keyed := func(operation, key string, body map[string]any) apitest.Answer {
		o := w.Operation(t, operation)
		return w.Call(t, o, apitest.Request{Path: apitest.WithID(o, which), Key: w.Acme.New, Body: body, Header: map[string]string{"Idempotency-Key": key}})
	}
	message, note := map[string]any{"message": apitest.Mark}, map[string]any{"reasonCode": "appeal", "note": apitest.Mark}
	require.Equal(t, http.StatusCreated, keyed("createContest", "objection", message).Status)
	require.Equal(t, http.StatusCreated, keyed("createReview", "appeal", note).Status)
	require.Equal(t, http.StatusOK, w.CallAs(t, "voidResult", which, w.Acme.New, map[string]any{"reason": apitest.Mark}).Status)
	before := apitest.PlacesOf(apitest.Marked(t, w))
	require.True(t, before["shard-1.contest"] && before["shard-1.review"], "%v", before)
	require.True(t, before["shard-1.idempotency_record"], "%v", before)
	require.Equal(t, http.StatusAccepted, w.CallAs(t, "erasePerson", person, w.Acme.New, nil).Status)
	for key, operation := range map[string]string{"objection": "createContest", "appeal": "createReview"} {
		body := message
		if operation == "createReview" {
			body = note
		}
		require.NotContains(t, string(keyed(operation, key, body).Raw), apitest.Mark, "no answer that tells of them is repeated")
	}
	w.Erase(t)
	require.Empty(t, apitest.Marked(t, w))
	require.Equal(t, http.StatusNotFound, w.CallAs(t, "getResult", which, w.Acme.New, nil).Status)
	w.InTx(t, func(ctx context.Context, tx *tenant.Tx) error {
		var left int
		err := tx.QueryRow(ctx, `SELECT (SELECT count(*) FROM result WHERE org_id = $1) + (SELECT count(*) FROM review WHERE org_id = $1)`, tx.Org).Scan(&left)
		require.Zero(t, left)
		return err
	})
}
