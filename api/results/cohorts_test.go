package results_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/store/apikey"
)

const wrongAnswer = "The half hitch"

// group is a class with its portal and exam.
type group struct {
	w    *apitest.World
	exam string
}

func newGroup(t *testing.T, w *apitest.World) group {
	t.Helper()
	return group{w, w.Exam(t, w.Acme)}
}

func (g group) portal() string { return g.w.Made["exam's portal"+g.w.Acme.ID.String()] }

// sit has somebody sit the exam and answers the result.
func (g group) sit(t *testing.T, says string) string {
	t.Helper()
	return g.w.Assess(t, g.w.Acme, g.w.Learner(t, g.w.Acme), says)
}

// told is a report of people together, as JSON.
func (g group) told(t *testing.T, body map[string]any) map[string]any {
	t.Helper()
	body["format"] = "json"
	var read map[string]any
	require.NoError(t, json.Unmarshal(g.file(t, body).Raw, &read))
	return read
}

// file has a report made and answers its file.
func (g group) file(t *testing.T, body map[string]any) apitest.Answer {
	t.Helper()
	made := g.w.CallAs(t, "createReport", "", g.w.Acme.New, body)
	require.Equal(t, http.StatusCreated, made.Status, "%s", made.Raw)
	g.w.Build(t)
	got := g.w.CallAs(t, "downloadReport", made.Data(t)["id"].(string), g.w.Acme.New, nil)
	require.Equal(t, http.StatusOK, got.Status, "%s", got.Raw)
	return got
}

func only(t *testing.T, of map[string]any) map[string]any {
	t.Helper()
	require.Len(t, of["cohorts"], 1)
	return of["cohorts"].([]any)[0].(map[string]any)
}

func (g group) cohort() map[string]any { return map[string]any{"kind": "cohort", "subjectId": g.exam} }

func figures(of map[string]any, names ...string) (found []any) {
	for _, n := range names {
		found = append(found, of[n])
	}
	return found
}

// of are the figures of a report of one subject.
func (g group) of(t *testing.T, body map[string]any) map[string]any {
	t.Helper()
	return only(t, g.told(t, body))
}

func (g group) unitOf(t *testing.T, unit string) map[string]any {
	t.Helper()
	body := g.cohort()
	body["unitId"] = unit
	return g.of(t, body)
}

// counts are how many people the results are of, how many passed, and the average; nil for nothing told.
func counts(of map[string]any) []any {
	r, told := of["results"].(map[string]any)
	if !told {
		return nil
	}
	return figures(r, "people", "passed", "averagePercent")
}

// Of five people nothing is told, no more than of nobody; of six how they did, in every format.
func TestAReportOfAGroup(t *testing.T) {
	w := apitest.NewWorld(t)
	g := newGroup(t, w)
	nobody := g.of(t, g.cohort())
	for range 5 {
		g.sit(t, apitest.RightAnswer)
	}
	waits := g.sit(t, apitest.UnsureAnswer) // not released
	require.Equal(t, nobody, g.of(t, g.cohort()), "five are told as nobody is")
	require.Equal(t, []any{nil, []any{}}, figures(nobody, "results", "objectives"))
	empty := g.told(t, map[string]any{"kind": "portal", "portalId": g.portal()})
	require.Empty(t, empty["cohorts"])
	require.Contains(t, empty["untoldSubjects"], "Knots")

	g.sit(t, wrongAnswer)
	six := g.of(t, g.cohort())
	require.Equal(t, []any{6.0, nil, 83.0}, counts(six), "one did not pass, which is not told")
	require.Equal(t, []any{}, six["results"].(map[string]any)["bands"])
	require.Equal(t, []any{"tie", "Ties knots.", 6.0, nil}, figures(six["objectives"].([]any)[0].(map[string]any), "key", "text", "people", "secure"))

	released := w.CallAs(t, "rescoreResult", waits, w.Acme.New, map[string]any{
		"criteria": []any{map[string]any{"key": makeResult(t, w, waits)["criteria"].([]any)[0].(map[string]any)["key"], "score": 2}}, "reason": "It is right.",
	})
	require.Equal(t, http.StatusOK, released.Status, "%s", released.Raw)
	released = w.CallAs(t, "releaseResult", waits, w.Acme.New, nil)
	require.Equal(t, http.StatusOK, released.Status, "%s", released.Raw)
	require.Equal(t, six, g.of(t, g.cohort()), "a difference would tell of one")
	for range 11 {
		g.sit(t, wrongAnswer)
	}
	require.Equal(t, []any{18.0, nil, 33.0}, counts(g.of(t, g.cohort())))
	older := w.Call(t, w.Operation(t, "listReports"), apitest.Request{Path: "/reports", Key: w.OldNamed}).JSON(t)["data"].([]any)
	require.Equal(t, strings.TrimPrefix(g.portal(), "portal_"), older[0].(map[string]any)["portalId"], "ids of before 2026-10-01 are bare")
	t.Run("in every format", func(t *testing.T) { testGroupFormats(t, g) })
	t.Run("is told of", func(t *testing.T) { testGroupEvent(t, g) })
	t.Run("of others", func(t *testing.T) { testGroupsOfOthers(t, g) })
	t.Run("in bands", func(t *testing.T) { testGroupBands(t, w) })
}

// testGroupBands has a class of which seven passed and six did not.
func testGroupBands(t *testing.T, w *apitest.World) {
	h := another(t, w)
	for i := range 13 {
		h.sit(t, []string{apitest.RightAnswer, wrongAnswer}[i%2])
	}
	told := h.of(t, h.cohort())
	require.Equal(t, []any{13.0, 7.0, 54.0}, counts(told))
	require.Equal(t, []any{
		map[string]any{"from": "fail", "to": "fail", "people": 6.0}, map[string]any{"from": "pass", "to": "distinction", "people": 7.0},
	}, told["results"].(map[string]any)["bands"])
}

// another is a class of a further exam.
func another(t *testing.T, w *apitest.World) group {
	delete(w.Made, "exam"+w.Acme.ID.String())
	return newGroup(t, w)
}

func testGroupFormats(t *testing.T, g group) {
	body := func(format, language string) map[string]any {
		return map[string]any{"kind": "portal", "portalId": g.portal(), "format": format, "language": language}
	}
	page := g.file(t, body("html", "English"))
	require.Equal(t, "text/html; charset=utf-8", page.Header.Get("Content-Type"))
	for _, word := range []string{`<html lang="en" dir="ltr">`, "Report on a portal", "Subjects", "Passed", "five people or fewer", "Ties knots.", "33 %", "18"} {
		require.Contains(t, string(page.Raw), word)
	}
	require.Contains(t, string(g.file(t, body("html", "Arabic")).Raw), `<html lang="ar" dir="rtl">`)
	text := printedText(t, g.file(t, body("pdf", "German")).Raw)
	for _, word := range []string{"Bericht über ein Portal", "Bestanden", "Durchschnittliches Ergebnis", "33 %"} {
		require.Contains(t, text, word)
	}
	require.NotEmpty(t, printedText(t, g.file(t, body("pdf", "Arabic")).Raw))
	listed := g.w.Call(t, g.w.Operation(t, "listReports"), apitest.Request{Path: "/reports?kind=portal&state=ready", Key: g.w.Acme.New}).JSON(t)["data"].([]any)
	require.Len(t, listed, 5)
	require.Equal(t, []any{"portal", nil, g.portal(), nil, nil, nil, 5.0}, figures(listed[0].(map[string]any), "kind", "resultId", "portalId", "subjectId", "assignmentId", "unitId", "version"))
}

// testGroupEvent: it is told as a result's report is, without figures, in both contracts.
func testGroupEvent(t *testing.T, g group) {
	for _, key := range []apikey.Secret{g.w.Acme.New, g.w.Scoped(contract.V20260708, scope.All()...)} {
		listed := g.w.Call(t, g.w.Operation(t, "listEvents"), apitest.Request{Path: "/events?type=report.produced&limit=100", Key: key})
		require.Equal(t, http.StatusOK, listed.Status, "%s", listed.Raw)
		found := false
		for _, item := range listed.JSON(t)["data"].([]any) {
			if e := item.(map[string]any)["data"].(map[string]any); e["kind"] == "cohort" {
				found = true
				require.Equal(t, []any{nil, nil, nil}, figures(e, "resultId", "percent", "summary"))
				require.Contains(t, g.portal(), e["portalId"])
			}
		}
		require.True(t, found)
	}
}

func testGroupsOfOthers(t *testing.T, g group) {
	w := g.w
	ask := func(key apikey.Secret, body map[string]any) apitest.Answer {
		body["format"] = "json"
		return w.CallAs(t, "createReport", "", key, body)
	}
	unit := w.Unit(t, w.Globex)
	for param, body := range map[string]map[string]any{
		"body.subjectId": {"kind": "cohort", "subjectId": g.exam}, "body.portalId": {"kind": "portal", "portalId": g.portal()},
	} {
		apitest.RequireError(t, ask(w.Globex.New, body), http.StatusNotFound, "not_found", param)
	}
	apitest.RequireError(t, ask(w.Acme.New, map[string]any{"kind": "cohort", "subjectId": g.exam, "unitId": unit}), http.StatusNotFound, "not_found", "body.unitId")
	for param, body := range map[string]map[string]any{
		"body.resultId":     {"kind": "result"},
		"body.subjectId":    {"kind": "cohort"},
		"body.portalId":     {"kind": "cohort", "subjectId": g.exam, "portalId": g.portal()},
		"body.assignmentId": {"kind": "cohort", "subjectId": g.exam, "assignmentId": g.exam},
		"body.unitId":       {"kind": "portal", "portalId": g.portal(), "unitId": unit},
	} {
		apitest.RequireError(t, ask(w.Acme.New, body), http.StatusBadRequest, "invalid_request", param)
	}
	e := g.told(t, map[string]any{"kind": "portal", "portalId": g.portal()})
	require.NotContains(t, strings.ToLower(string(must(json.Marshal(e)))), "per_", "nobody is named")
}

func must(b []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return b
}

// joins makes somebody who learns in a unit of the exam's portal.
func (g group) joins(t *testing.T, unit string) string {
	t.Helper()
	who := g.w.Learner(t, g.w.Acme)
	if unit != "" {
		place := g.w.CallAs(t, "getPerson", who, g.w.Acme.New, nil).Data(t)["memberships"].([]any)[0].(map[string]any)["id"].(string)
		moved := g.w.CallAs(t, "updateMembership", place, g.w.Acme.New, map[string]any{"unitId": unit})
		require.Equal(t, http.StatusOK, moved.Status, "%s", moved.Raw)
	}
	return who
}

func (g group) unit(t *testing.T, name string, in any) string {
	t.Helper()
	made := g.w.CallAs(t, "createUnit", "", g.w.Acme.New, map[string]any{"portalId": g.portal(), "kind": "class", "name": name, "parentId": in})
	require.Equal(t, http.StatusCreated, made.Status, "%s", made.Raw)
	return made.Data(t)["id"].(string)
}

// The ways in which an attacker got figures of few: by a report beside another of other people, or of the same later.
func TestReportsOfGroupsBesideEachOther(t *testing.T) {
	w := apitest.NewWorld(t)
	g := newGroup(t, w)
	red := g.unit(t, "Red", nil)
	corner, blue := g.unit(t, "Corner", red), g.unit(t, "Blue", nil)
	sat, who := map[string][]string{}, map[string][]string{}
	sit := func(n int, unit, says string) {
		for range n {
			person := g.joins(t, unit)
			who[unit] = append(who[unit], person)
			sat[unit] = append(sat[unit], w.Assess(t, w.Acme, person, says))
		}
	}
	sit(7, red, apitest.RightAnswer)
	sit(2, corner, wrongAnswer)
	sit(6, blue, wrongAnswer)
	require.Equal(t, []any{9.0, nil, 78.0}, counts(g.unitOf(t, red)))
	require.Equal(t, []any{6.0, nil, 0.0}, counts(g.unitOf(t, blue)))
	require.Nil(t, counts(g.unitOf(t, corner)), "two")
	all := g.of(t, g.cohort())
	require.Equal(t, []any{15.0, nil, 47.0}, counts(all), "seven passed, and eight did not, of whom two are of Red")
	same := func(why string) {
		t.Helper()
		require.Equal(t, all, g.of(t, g.cohort()), why)
		whole := g.told(t, map[string]any{"kind": "portal", "portalId": g.portal()})
		require.Equal(t, []any{all}, whole["cohorts"], why)
		require.Equal(t, []any{9.0, nil, 78.0}, counts(g.unitOf(t, red)), why)
	}
	ok := func(a apitest.Answer) {
		t.Helper()
		require.Less(t, a.Status, 300, "%s", a.Raw)
	}
	same("again")
	sit(1, red, wrongAnswer)
	same("one came")
	ok(w.CallAs(t, "rescoreResult", sat[red][0], w.Acme.New, map[string]any{
		"criteria": []any{map[string]any{"key": makeResult(t, w, sat[red][0])["criteria"].([]any)[0].(map[string]any)["key"], "score": 0}}, "reason": "It is wrong.",
	}))
	same("one has another score")
	ok(w.CallAs(t, "voidResult", sat[red][1], w.Acme.New, map[string]any{"reason": "Nobody watched."}))
	same("one does not count any more")
	w.Assess(t, w.Acme, who[red][2], wrongAnswer)
	same("one tried again")
	ok(w.CallAs(t, "erasePerson", who[red][3], w.Acme.New, nil))
	same("one is erased")
	place := w.CallAs(t, "getPerson", who[red][4], w.Acme.New, nil).Data(t)["memberships"].([]any)[0].(map[string]any)["id"].(string)
	ok(w.CallAs(t, "updateMembership", place, w.Acme.New, map[string]any{"unitId": blue}))
	same("one moved")
	require.Equal(t, []any{6.0, nil, 0.0}, counts(g.unitOf(t, blue)))

	// Another group of nearly the same people: a new unit of all of Blue but one, and an assignment for some.
	green := g.unit(t, "Green", nil)
	for _, person := range who[blue][:5] {
		place := w.CallAs(t, "getPerson", person, w.Acme.New, nil).Data(t)["memberships"].([]any)[0].(map[string]any)["id"].(string)
		ok(w.CallAs(t, "updateMembership", place, w.Acme.New, map[string]any{"unitId": green}))
	}
	sit(1, green, wrongAnswer)
	require.Nil(t, counts(g.unitOf(t, green)), "five of Blue, and one more")
	made := w.CallAs(t, "createAssignment", "", w.Acme.New, map[string]any{
		"title": "Know your knots", "subjectId": g.exam, "kind": "assess", "audience": map[string]any{"unitIds": []any{red}, "personIds": []any{}, "everyone": false}, "timezone": "UTC",
	})
	ok(made)
	work := map[string]any{"kind": "cohort", "assignmentId": made.Data(t)["id"]}
	told := g.told(t, work)
	require.Equal(t, []any{"Know your knots", "units", []any{"Red"}}, figures(told, "assignmentTitle", "audience", "unitNames"))
	require.Nil(t, only(t, told)["results"])
	shown := w.CallAs(t, "createReport", "", w.Acme.New, work).Data(t)
	require.Equal(t, []any{"Know your knots", work["assignmentId"], g.exam, g.portal(), nil}, figures(shown, "title", "assignmentId", "subjectId", "portalId", "unitId"))
	w.Build(t)

	// Where all but three are of one class, that is told of, or all are, and not both: also of two that ask at once.
	h := another(t, w)
	green = h.unit(t, "Green", nil)
	for n, unit := range map[int]string{7: green, 3: ""} {
		for range n {
			w.Assess(t, w.Acme, h.joins(t, unit), apitest.RightAnswer)
		}
	}
	body := h.cohort()
	body["unitId"], body["format"] = green, "json"
	first := w.CallAs(t, "createReport", "", w.Acme.New, body).Data(t)["id"].(string)
	whole := h.cohort()
	whole["format"] = "json"
	second := w.CallAs(t, "createReport", "", w.Acme.New, whole).Data(t)["id"].(string)
	var builds sync.WaitGroup
	for range 2 {
		builds.Go(func() { w.Build(t) })
	}
	builds.Wait()
	var withheld int
	for _, which := range []string{first, second} {
		var read map[string]any
		require.NoError(t, json.Unmarshal(w.CallAs(t, "downloadReport", which, w.Acme.New, nil).Raw, &read))
		if only(t, read)["results"] == nil {
			withheld++
		}
	}
	require.Equal(t, 1, withheld)
}

// Whose guardian has to agree to reports, and has not, is counted in none.
func TestYoungLearnersInReportsOfGroups(t *testing.T) {
	w := apitest.NewWorld(t)
	g := newGroup(t, w)
	for range 6 {
		g.sit(t, apitest.RightAnswer)
	}
	for range 6 {
		who := w.Learner(t, w.Acme)
		w.Assess(t, w.Acme, who, wrongAnswer)
		aged := w.CallAs(t, "updatePerson", who, w.Acme.New, map[string]any{"ageBand": "13_15"})
		require.Equal(t, http.StatusOK, aged.Status, "%s", aged.Raw)
	}
	ruled := w.CallAs(t, "updatePortal", g.portal(), w.Acme.New, map[string]any{"minAge": 13, "guardianConsentUnder": 16})
	require.Equal(t, http.StatusOK, ruled.Status, "%s", ruled.Raw)
	published := w.CallAs(t, "publishPortal", g.portal(), w.Acme.New, map[string]any{})
	require.Equal(t, http.StatusOK, published.Status, "%s", published.Raw)
	require.Equal(t, []any{6.0, nil, 100.0}, counts(g.of(t, g.cohort())))
}
