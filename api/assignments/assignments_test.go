package assignments_test

import (
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/store/apikey"
)

// world is an organization with an exam, whose assignments are looked at.
type world struct{ *apitest.World }

func (w world) get(t *testing.T, which string, key apikey.Secret) map[string]any {
	t.Helper()
	answer := w.CallAs(t, "getAssignment", which, key, nil)
	require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Raw)
	return answer.Data(t)
}

// figures are assigned, started, completed, overdue and passed.
func (w world) figures(t *testing.T, which string) []any {
	t.Helper()
	p := w.get(t, which, w.Acme.New)["progress"].(map[string]any)
	return []any{p["assigned"], p["started"], p["completed"], p["overdue"], p["passed"]}
}

// progress is where each person of an assignment stands, by their id.
func (w world) progress(t *testing.T, which, query string) map[string]map[string]any {
	t.Helper()
	o := w.Operation(t, "listAssignmentProgress")
	answer := w.Call(t, o, apitest.Request{Path: apitest.WithID(o, which) + query, Key: w.Acme.New})
	require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Raw)
	found := map[string]map[string]any{}
	for _, item := range answer.JSON(t)["data"].([]any) {
		p := item.(map[string]any)
		found[p["personId"].(string)] = p
	}
	return found
}

// told are the data of events of a type about an assignment, oldest first.
func (w world) told(t *testing.T, which, kind string) (found []map[string]any) {
	t.Helper()
	o := w.Operation(t, "listEvents")
	answer := w.Call(t, o, apitest.Request{Path: o.Path + "?order=asc&limit=200&type=" + kind, Key: w.Acme.New})
	require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Raw)
	for _, item := range answer.JSON(t)["data"].([]any) {
		if data := item.(map[string]any)["data"].(map[string]any); data["assignmentId"] == which {
			found = append(found, data)
		}
	}
	return found
}

func (w world) conflict(t *testing.T, operation, which string, body any, reason string) {
	t.Helper()
	answer := w.CallAs(t, operation, which, w.Acme.New, body)
	require.Equal(t, http.StatusConflict, answer.Status, "%s", answer.Raw)
	require.Equal(t, reason, answer.Error(t)["details"].(map[string]any)["reason"])
}

func people(ids ...any) map[string]any {
	return map[string]any{"audience": map[string]any{"personIds": ids}}
}

func with(body map[string]any, name string, value any) map[string]any {
	body[name] = value
	return body
}

func TestAssignments(t *testing.T) {
	w := world{apitest.NewWorld(t)}
	t.Run("follow what is done", w.testFollow)
	t.Run("show nothing before it is released", w.testWithheld)
	t.Run("count attempts of their own", w.testAttempts)
	t.Run("excuse", w.testExcuse)
	t.Run("are completed by hand", w.testByHand)
	t.Run("are for who joins and not for who leaves", w.testAudience)
	t.Run("say what is wrong with them", w.testInvalid)
	t.Run("stay as they are where nothing changes", w.testNoChange)
	t.Run("are archived", w.testArchive)
	t.Run("name what a session belongs to", w.testNamed)
	t.Run("forget who is erased", w.testErasure)
}

func (w world) testFollow(t *testing.T) {
	kim := w.Learner(t, w.Acme)
	which := w.Assign(t, w.Acme, with(people(kim), "dueAt", "2099-01-01T00:00:00Z"))
	require.Equal(t, []any{1.0, 0.0, 0.0, 0.0, 0.0}, w.figures(t, which))
	created := w.told(t, which, "assignment.created")
	require.Len(t, created, 1)
	require.Equal(t, []any{"person", 1.0, kim, "assess"}, []any{created[0]["audience"], created[0]["assigneeCount"], created[0]["personId"], created[0]["kind"]})

	result := w.Assess(t, w.Acme, kim, apitest.RightAnswer)
	w.TendAssignments(t, time.Now())
	p := w.progress(t, which, "?state=completed")[kim]
	require.Equal(t, []any{"completed", 1.0, result, false}, []any{p["state"], p["attempts"], p["resultId"], p["late"]})
	require.NotNil(t, p["completionId"])
	require.Equal(t, []any{1.0, 1.0, 1.0, 0.0, 1.0}, w.figures(t, which))
	require.Equal(t, which, w.CallAs(t, "getResult", result, w.Acme.New, nil).Data(t)["assignmentId"])

	started, completed := w.told(t, which, "assignment.started"), w.told(t, which, "assignment.completed")
	require.Len(t, started, 1)
	require.Equal(t, []any{kim, 1.0}, []any{started[0]["personId"], started[0]["attempt"]})
	require.Len(t, completed, 1)
	require.Equal(t, []any{result, p["completionId"], false, 100.0, true},
		[]any{completed[0]["resultId"], completed[0]["completionId"], completed[0]["late"], completed[0]["percent"], completed[0]["passed"]})

	require.Equal(t, http.StatusOK, w.CallAs(t, "voidResult", result, w.Acme.New, map[string]any{"reason": "A mistake."}).Status)
	require.Equal(t, []any{1.0, 1.0, 0.0, 0.0, 0.0}, w.figures(t, which), "what is voided counts for nothing")
	require.Nil(t, w.told(t, which, "assignment.completed")[0]["percent"])
}

// Whoever may not change results learns nothing of one that is not released: not by figures, nor
// by who is done or overdue, nor by events.
func (w world) testWithheld(t *testing.T) {
	sure, unsure := w.Learner(t, w.Acme), w.Learner(t, w.Acme)
	which := w.Assign(t, w.Acme, with(people(sure, unsure), "dueAt", time.Now().Add(time.Hour).UTC().Format(time.RFC3339)))
	w.Assess(t, w.Acme, sure, apitest.RightAnswer)
	waits := w.Assess(t, w.Acme, unsure, apitest.UnsureAnswer)
	w.TendAssignments(t, time.Now())
	require.Equal(t, "started", w.progress(t, which, "")[unsure]["state"])
	require.Equal(t, []any{2.0, 2.0, 1.0, 0.0, 1.0}, w.figures(t, which), "for who may change results too")
	require.Len(t, w.told(t, which, "assignment.completed"), 1)

	reader := w.Scoped(contract.Latest, scope.AssignmentsRead)
	require.Nil(t, w.get(t, which, reader)["progress"].(map[string]any)["passed"])
	both := w.Scoped(contract.Latest, scope.AssignmentsRead, scope.ResultsRead)
	require.Equal(t, 1.0, w.get(t, which, both)["progress"].(map[string]any)["passed"])

	rescored := w.CallAs(t, "rescoreResult", waits, w.Acme.New, map[string]any{"criteria": []any{map[string]any{"key": "loop", "score": 2}}, "reason": "Right."})
	require.Equal(t, http.StatusOK, rescored.Status, "%s", rescored.Raw)
	require.Equal(t, []any{2.0, 2.0, 1.0, 0.0, 1.0}, w.figures(t, which), "a score that nobody may see yet")
	// What was done in time is not overdue while it waits.
	w.TendAssignments(t, time.Now().Add(2*time.Hour))
	require.Equal(t, []any{"started", false}, []any{w.progress(t, which, "")[unsure]["state"], w.progress(t, which, "")[unsure]["late"]})

	require.Equal(t, http.StatusOK, w.CallAs(t, "releaseResult", waits, w.Acme.New, nil).Status)
	require.Equal(t, []any{2.0, 2.0, 2.0, 0.0, 2.0}, w.figures(t, which))
	require.Len(t, w.told(t, which, "assignment.completed"), 2)
}

func (w world) testAttempts(t *testing.T) {
	kim := w.Learner(t, w.Acme)
	w.Assess(t, w.Acme, kim, apitest.UnsureAnswer) // before it was set
	which := w.Assign(t, w.Acme, with(people(kim), "attemptsAllowed", 1))
	require.Equal(t, http.StatusCreated, w.Sit(t, w.Acme, kim).Status)
	refused := w.Sit(t, w.Acme, kim)
	require.Equal(t, http.StatusConflict, refused.Status, "%s", refused.Raw)
	require.Equal(t, "no_attempts_left", refused.Error(t)["details"].(map[string]any)["reason"])

	granted := w.CallAs(t, "grantAttempts", which, w.Acme.New, map[string]any{"personId": kim, "extraAttempts": 1, "reason": "Noise."})
	require.Equal(t, http.StatusCreated, granted.Status, "%s", granted.Raw)
	p := w.progress(t, which, "")[kim]
	require.Equal(t, []any{1.0, 2.0, 1.0}, []any{p["attempts"], p["attemptsAllowed"], p["extraAttempts"]})
	told := w.told(t, which, "attempt.granted")
	require.Equal(t, []any{granted.Data(t)["id"], kim, 1.0, 2.0}, []any{told[0]["grantId"], told[0]["personId"], told[0]["extraAttempts"], told[0]["attemptsAllowed"]})
	require.Equal(t, http.StatusCreated, w.Sit(t, w.Acme, kim).Status)
	require.Equal(t, http.StatusConflict, w.Sit(t, w.Acme, kim).Status)

	grant := map[string]any{"personId": w.Learner(t, w.Acme), "extraAttempts": 1}
	w.conflict(t, "grantAttempts", which, grant, "not_assigned")
	w.conflict(t, "grantAttempts", w.Assign(t, w.Acme, people(grant["personId"])), grant, "unlimited_attempts")
	apitest.RequireError(t, w.CallAs(t, "grantAttempts", which, w.Acme.New, map[string]any{"personId": w.Learner(t, w.Globex), "extraAttempts": 1}),
		http.StatusNotFound, "not_found", "body.personId")
}

func (w world) testExcuse(t *testing.T) {
	kim := w.Learner(t, w.Acme)
	which := w.Assign(t, w.Acme, people(kim))
	answer := w.CallAs(t, "excuseFromAssignment", which, w.Acme.New, map[string]any{"personId": kim, "reason": "On leave."})
	require.Equal(t, []any{"excused", "On leave."}, []any{answer.Data(t)["state"], answer.Data(t)["excuseReason"]})
	require.Equal(t, []any{0.0, 0.0, 0.0, 0.0, 0.0}, w.figures(t, which))
	minted := w.Sit(t, w.Acme, kim)
	require.Nil(t, minted.Data(t)["session"].(map[string]any)["assignmentId"], "it is part of nothing")
	answer = w.CallAs(t, "excuseFromAssignment", which, w.Acme.New, map[string]any{"personId": kim, "excused": false})
	require.Equal(t, []any{"not_started", nil}, []any{answer.Data(t)["state"], answer.Data(t)["excuseReason"]})
	require.Equal(t, []any{1.0, 0.0, 0.0, 0.0, 0.0}, w.figures(t, which))
}

func (w world) testByHand(t *testing.T) {
	kim := w.Learner(t, w.Acme)
	which := w.Assign(t, w.Acme, people(kim))
	made := w.CallAs(t, "createCompletion", "", w.Acme.New, map[string]any{"personId": kim, "subjectId": w.Exam(t, w.Acme)})
	require.Equal(t, http.StatusCreated, made.Status, "%s", made.Raw)
	p := w.progress(t, which, "")[kim]
	require.Equal(t, []any{"completed", made.Data(t)["id"]}, []any{p["state"], p["completionId"]})
	require.Equal(t, made.Data(t)["id"], w.told(t, which, "assignment.completed")[0]["completionId"])
	require.Equal(t, http.StatusOK, w.CallAs(t, "deleteCompletion", made.Data(t)["id"].(string), w.Acme.New, nil).Status)
	require.Equal(t, "not_started", w.progress(t, which, "")[kim]["state"])
	require.Equal(t, []any{1.0, 0.0, 0.0, 0.0, 0.0}, w.figures(t, which))
}

func (w world) testAudience(t *testing.T) {
	portal := w.CallAs(t, "getSubject", w.Exam(t, w.Acme), w.Acme.New, nil).Data(t)["portalId"]
	unit := func(parent any) string {
		made := w.CallAs(t, "createUnit", "", w.Acme.New, map[string]any{"portalId": portal, "kind": "class", "name": "Class", "parentId": parent})
		require.Equal(t, http.StatusCreated, made.Status, "%s", made.Raw)
		return made.Data(t)["id"].(string)
	}
	join := func(in, role string) (who, place string) {
		made := w.CallAs(t, "createPerson", "", w.Acme.New, map[string]any{
			"name": "Lee", "ageBand": "adult", "membership": map[string]any{"portalId": portal, "unitId": in, "role": role},
		})
		require.Equal(t, http.StatusCreated, made.Status, "%s", made.Raw)
		return made.Data(t)["id"].(string), made.Data(t)["membershipId"].(string)
	}
	school := unit(nil)
	class := unit(school)
	lee, place := join(class, "learner")
	join(class, "teacher")
	which := w.Assign(t, w.Acme, map[string]any{"audience": map[string]any{"unitIds": []any{school}}})
	require.Equal(t, []any{1.0, 0.0, 0.0, 0.0, 0.0}, w.figures(t, which), "a learner of a class in it, and no teacher")

	later, _ := join(school, "learner")
	require.Len(t, w.progress(t, which, ""), 1)
	require.Equal(t, which, w.Sit(t, w.Acme, later).Data(t)["session"].(map[string]any)["assignmentId"], "who begins at once is entered with that")
	join(class, "learner")
	w.TendAssignments(t, time.Now())
	require.Equal(t, []any{3.0, 0.0, 0.0, 0.0, 0.0}, w.figures(t, which))

	require.Equal(t, http.StatusOK, w.CallAs(t, "deleteMembership", place, w.Acme.New, nil).Status)
	w.TendAssignments(t, time.Now())
	require.NotContains(t, w.progress(t, which, ""), lee)
	require.Equal(t, []any{2.0, 0.0, 0.0, 0.0, 0.0}, w.figures(t, which))
	back := w.CallAs(t, "createMembership", lee, w.Acme.New, map[string]any{"portalId": portal, "unitId": class, "role": "learner"})
	require.Equal(t, http.StatusCreated, back.Status, "%s", back.Raw)
	w.TendAssignments(t, time.Now())
	require.Contains(t, w.progress(t, which, ""), lee)

	// A class that moves out takes its people along.
	require.Equal(t, http.StatusOK, w.CallAs(t, "updateUnit", class, w.Acme.New, map[string]any{"parentId": nil}).Status)
	w.TendAssignments(t, time.Now())
	require.Equal(t, []any{1.0, 0.0, 0.0, 0.0, 0.0}, w.figures(t, which))
	changed := w.CallAs(t, "updateAssignment", which, w.Acme.New, map[string]any{"audience": map[string]any{"unitIds": []any{class}}})
	require.Equal(t, 2.0, changed.Data(t)["progress"].(map[string]any)["assigned"], "%s", changed.Raw)
	require.Equal(t, []any{2.0, 0.0, 0.0, 0.0, 0.0}, w.figures(t, which))
	mine := w.CallAs(t, "listPersonAssignments", lee, w.Acme.New, nil).JSON(t)["data"].([]any)
	require.Len(t, mine, 1)
	require.Equal(t, []any{which, "not_started", "open"}, []any{
		mine[0].(map[string]any)["assignmentId"], mine[0].(map[string]any)["state"], mine[0].(map[string]any)["assignmentState"],
	})
}

// A change to what it is already is none: nobody else's If-Match goes stale by it.
func (w world) testNoChange(t *testing.T) {
	which := w.Assign(t, w.Acme, with(people(w.Learner(t, w.Acme)), "dueAt", "2099-01-01T00:00:00Z"))
	before := w.get(t, which, w.Acme.New)
	for _, body := range []map[string]any{{}, {"title": before["title"], "reminders": before["reminders"], "metadata": before["metadata"]}} {
		require.Equal(t, before, w.CallAs(t, "updateAssignment", which, w.Acme.New, body).Data(t))
	}
	require.NotEqual(t, before["updatedAt"], w.CallAs(t, "updateAssignment", which, w.Acme.New, map[string]any{"title": "Another"}).Data(t)["updatedAt"])
}

func (w world) testInvalid(t *testing.T) {
	kim := w.Learner(t, w.Acme)
	for param, more := range map[string]map[string]any{
		"body.audience":              {"audience": map[string]any{}},
		"body.audience.unitIds[0]":   {"audience": map[string]any{"unitIds": []any{"x"}}},
		"body.audience.unitIds":      {"audience": map[string]any{"unitIds": []any{w.Unit(t, w.Globex)}}},
		"body.audience.personIds":    {"audience": map[string]any{"personIds": []any{w.Learner(t, w.Globex)}}},
		"body.audience.personIds[0]": {"audience": map[string]any{"personIds": []any{"unit_06Hn2VfM1kXqT4yPzS8bRd"}}},
		"body.dueAt":                 {"opensAt": "2099-01-02T00:00:00Z", "dueAt": "2099-01-01T00:00:00Z"},
		"body.closesAt":              {"dueAt": "2099-01-02T00:00:00Z", "closesAt": "2099-01-01T00:00:00Z"},
		"body.opensAt":               {"opensAt": "0001-01-01T00:00:00Z", "recurring": map[string]any{"everyMonths": 1}},
		"body.reminders":             {"reminders": []any{1}},
		"body.reminders[0]":          {"dueAt": "2099-01-02T00:00:00Z", "reminders": []any{91}},
		"body.timezone":              {"timezone": "Europe/Nowhere"},
		"body.attemptsAllowed":       {"kind": "practice", "attemptsAllowed": 1},
		"body.passPercent":           {"kind": "learn", "passPercent": 1},
	} {
		body := map[string]any{"title": "x", "subjectId": w.Exam(t, w.Acme), "kind": "assess", "audience": map[string]any{"personIds": []any{kim}}}
		maps.Copy(body, more)
		status, code := http.StatusBadRequest, "invalid_request"
		if strings.HasPrefix(param, "body.audience.") {
			status, code = http.StatusNotFound, "not_found"
		}
		apitest.RequireError(t, w.CallAs(t, "createAssignment", "", w.Acme.New, body), status, code, param)
	}
	body := map[string]any{"title": "x", "subjectId": w.Exam(t, w.Globex), "kind": "assess", "audience": map[string]any{"everyone": true}}
	apitest.RequireError(t, w.CallAs(t, "createAssignment", "", w.Acme.New, body), http.StatusNotFound, "not_found", "body.subjectId")
}

func (w world) testArchive(t *testing.T) {
	kim := w.Learner(t, w.Acme)
	which := w.Assign(t, w.Acme, people(kim))
	for range 2 {
		require.Equal(t, http.StatusOK, w.CallAs(t, "deleteAssignment", which, w.Acme.New, nil).Status)
	}
	require.Equal(t, "archived", w.get(t, which, w.Acme.New)["state"])
	w.conflict(t, "updateAssignment", which, map[string]any{"title": "y"}, "archived")
	w.conflict(t, "excuseFromAssignment", which, map[string]any{"personId": kim}, "archived")
	w.conflict(t, "remindOfAssignment", which, map[string]any{}, "assignment_not_open")
	require.Nil(t, w.Sit(t, w.Acme, kim).Data(t)["session"].(map[string]any)["assignmentId"])
	o := w.Operation(t, "listAssignments")
	list := func(query string) string {
		return string(w.Call(t, o, apitest.Request{Path: o.Path + query, Key: w.Acme.New}).Raw)
	}
	require.NotContains(t, list("?limit=200"), which)
	require.Contains(t, list("?limit=200&state=archived"), which)
	require.Contains(t, list("?limit=200&state=archived&subjectId="+w.Exam(t, w.Acme)), which)
}

func (w world) testNamed(t *testing.T) {
	kim := w.Learner(t, w.Acme)
	other := w.Assign(t, w.Acme, with(people(kim), "dueAt", "2098-01-01T00:00:00Z"))
	which := w.Assign(t, w.Acme, with(people(kim), "dueAt", "2099-01-01T00:00:00Z"))
	later := w.Assign(t, w.Acme, with(people(kim), "opensAt", "2099-01-01T00:00:00Z"))
	require.Equal(t, "scheduled", w.get(t, later, w.Acme.New)["state"])
	mint := func(named any) apitest.Answer {
		return w.CallAs(t, "createSessionToken", "", w.Acme.New, map[string]any{
			"subjectId": w.Exam(t, w.Acme), "personId": kim, "channel": "chat", "assignmentId": named,
		})
	}
	require.Equal(t, other, w.Sit(t, w.Acme, kim).Data(t)["session"].(map[string]any)["assignmentId"], "the first that is due")
	require.Equal(t, which, mint(which).Data(t)["session"].(map[string]any)["assignmentId"])
	refused := mint(later)
	require.Equal(t, "assignment_not_open", apitest.Reason(t, refused, "body.assignmentId"))
	require.Equal(t, "not_assigned", apitest.Reason(t, mint(w.Assign(t, w.Acme, people(w.Learner(t, w.Acme)))), "body.assignmentId"))
	require.Equal(t, "assignment_of_other", apitest.Reason(t, mint(w.Assign(t, w.Acme, with(people(kim), "kind", "learn"))), "body.assignmentId"))
	apitest.RequireError(t, mint("asg_06Hn2VfM1kXqT4yPzS8bRd"), http.StatusNotFound, "not_found", "body.assignmentId")
}

func (w world) testErasure(t *testing.T) {
	kim := w.Learner(t, w.Acme)
	which := w.Assign(t, w.Acme, with(people(kim), "attemptsAllowed", 1))
	answer := w.CallAs(t, "grantAttempts", which, w.Acme.New, map[string]any{"personId": kim, "extraAttempts": 1, "reason": apitest.Mark})
	require.Equal(t, http.StatusCreated, answer.Status, "%s", answer.Raw)
	answer = w.CallAs(t, "excuseFromAssignment", which, w.Acme.New, map[string]any{"personId": kim, "reason": apitest.Mark})
	require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Raw)
	marked := strings.Join(apitest.Marked(t, w.World), " ")
	require.Contains(t, marked, "attempt_grant")
	require.Contains(t, marked, "assignment_person")
	require.Equal(t, http.StatusAccepted, w.CallAs(t, "erasePerson", kim, w.Acme.New, nil).Status)
	w.Erase(t)
	require.Empty(t, apitest.Marked(t, w.World))
	require.Empty(t, w.progress(t, which, ""))
	require.Equal(t, []any{}, w.get(t, which, w.Acme.New)["audience"].(map[string]any)["personIds"])
}
