package results_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
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

// Of five people nothing is told, of six how they did; and of few who came later, or went, nothing is
// to be worked out from a report before and one after.
func TestAReportOfAGroup(t *testing.T) {
	w := apitest.NewWorld(t)
	g := newGroup(t, w)
	var sat []string
	for range 5 {
		sat = append(sat, g.sit(t, apitest.RightAnswer))
	}
	waits := g.sit(t, apitest.UnsureAnswer) // not released
	five := only(t, g.told(t, g.cohort()))
	require.Equal(t, []any{nil, nil, nil, nil, nil, nil}, figures(five, "asked", "began", "completed", "scored", "passed", "averagePercent"))
	require.Equal(t, []any{[]any{}, []any{}, []any{}, []any{}, []any{}}, figures(five, "spread", "periods", "units", "criteria", "objectives"))

	sat = append(sat, g.sit(t, wrongAnswer))
	six := only(t, g.told(t, g.cohort()))
	// One of them did not pass, which is not told.
	require.Equal(t, []any{6.0, 6.0, 6.0, 6.0, nil}, figures(six, "asked", "began", "completed", "scored", "passed"))
	require.InDelta(t, 83, six["averagePercent"], 1)
	require.Equal(t, []any{map[string]any{"from": 0.0, "to": 100.0, "passed": nil, "people": 6.0}}, six["spread"])
	criterion := six["criteria"].([]any)[0].(map[string]any)
	require.Equal(t, "Which knot makes a loop that does not slip? – Which knot makes a loop that does not slip?", criterion["label"].(string)+" – "+criterion["label"].(string))
	require.Equal(t, []any{6.0, 83.0}, figures(criterion, "people", "averagePercent"))
	objective := six["objectives"].([]any)[0].(map[string]any)
	require.Equal(t, []any{"tie", "Ties knots.", 6.0}, figures(objective, "key", "text", "people"))
	require.Len(t, six["periods"], 1)

	// What is released since is of one: the figures stay as they were.
	require.Equal(t, http.StatusOK, w.CallAs(t, "rescoreResult", waits, w.Acme.New, map[string]any{
		"criteria": []any{map[string]any{"key": makeResult(t, w, waits)["criteria"].([]any)[0].(map[string]any)["key"], "score": 2}}, "reason": "It is right.",
	}).Status)
	released := w.CallAs(t, "releaseResult", waits, w.Acme.New, nil)
	require.Equal(t, http.StatusOK, released.Status, "%s", released.Raw)
	require.Equal(t, six, only(t, g.told(t, g.cohort())), "a difference would tell of one")
	for range 5 {
		sat = append(sat, g.sit(t, wrongAnswer))
	}
	twelve := only(t, g.told(t, g.cohort()))
	require.Equal(t, []any{12.0, 6.0}, figures(twelve, "scored", "passed"))
	require.Equal(t, 50.0, twelve["averagePercent"])
	require.Equal(t, []any{
		map[string]any{"from": 0.0, "to": 20.0, "passed": false, "people": 6.0}, map[string]any{"from": 80.0, "to": 100.0, "passed": true, "people": 6.0},
	}, twelve["spread"])

	// Who does not count any more is told of no more, nor can be worked out.
	voided := w.CallAs(t, "voidResult", sat[0], w.Acme.New, map[string]any{"reason": "Nobody watched."})
	require.Equal(t, http.StatusOK, voided.Status, "%s", voided.Raw)
	require.Equal(t, []any{nil, nil, []any{}}, figures(only(t, g.told(t, g.cohort())), "scored", "averagePercent", "spread"))
	t.Run("in every format", func(t *testing.T) { testGroupFormats(t, g) })
	t.Run("of others", func(t *testing.T) { testGroupsOfOthers(t, g) })
}

func testGroupFormats(t *testing.T, g group) {
	for range 6 {
		g.sit(t, apitest.RightAnswer)
	}
	body := func(format, language string) map[string]any {
		return map[string]any{"kind": "portal", "portalId": g.portal(), "format": format, "language": language}
	}
	page := g.file(t, body("html", "English"))
	for _, word := range []string{`<html lang="en" dir="ltr">`, "Report on a portal", "Subjects", "Passed", "80–100 %", "What was hardest", "five people or fewer", "Subjects with too few people", "Ties knots."} {
		if word == "What was hardest" {
			continue // of one criterion none is the hardest
		}
		require.Contains(t, string(page.Raw), word)
	}
	require.Contains(t, string(g.file(t, body("html", "Arabic")).Raw), `<html lang="ar" dir="rtl">`)
	text := printedText(t, g.file(t, body("pdf", "German")).Raw)
	for _, word := range []string{"Bericht über ein Portal", "Bestanden", "Durchschnittliches Ergebnis", "80–100 %"} {
		require.Contains(t, text, word)
	}
	require.NotEmpty(t, printedText(t, g.file(t, body("pdf", "Arabic")).Raw))
	listed := g.w.Call(t, g.w.Operation(t, "listReports"), apitest.Request{Path: "/reports?kind=portal&state=ready", Key: g.w.Acme.New}).JSON(t)["data"].([]any)
	require.Len(t, listed, 4)
	first := listed[0].(map[string]any)
	require.Equal(t, []any{"portal", nil, g.portal(), nil, nil, nil, 4.0}, figures(first, "kind", "resultId", "portalId", "subjectId", "assignmentId", "unitId", "version"))
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

// A class is told of, with what lies in it, unless what is left of the others would be too few.
func TestReportsOfUnits(t *testing.T) {
	w := apitest.NewWorld(t)
	g := newGroup(t, w)
	red := g.unit(t, "Red", nil)
	corner, blue := g.unit(t, "Corner", red), g.unit(t, "Blue", nil)
	sit := func(n int, unit, says string) {
		for range n {
			w.Assess(t, w.Acme, g.joins(t, unit), says)
		}
	}
	sit(6, red, apitest.RightAnswer)
	sit(2, corner, wrongAnswer)
	sit(6, blue, wrongAnswer)
	of := func(unit string) map[string]any {
		body := g.cohort()
		body["unitId"] = unit
		return only(t, g.told(t, body))
	}
	all := g.told(t, g.cohort())
	require.Equal(t, []any{14.0, 43.0}, figures(only(t, all), "scored", "averagePercent"))
	require.Equal(t, []any{
		// Those of Blue are told with the two of Corner: beside all they would tell of the two.
		map[string]any{"unitId": red, "name": "Red", "people": 6.0, "averagePercent": 100.0},
		map[string]any{"unitId": nil, "name": "", "people": 8.0, "averagePercent": 0.0},
	}, only(t, all)["units"])
	require.Equal(t, []any{8.0, 75.0}, figures(of(red), "scored", "averagePercent"))
	require.Equal(t, []any{6.0, 0.0}, figures(of(blue), "scored", "averagePercent"))
	require.Equal(t, []any{nil, nil, nil}, figures(of(corner), "asked", "scored", "averagePercent"), "of two nothing is told")

	// Where all but three are of one class, that is told of, or all are, and not both.
	delete(w.Made, "exam"+w.Acme.ID.String()) // a further exam
	h := newGroup(t, w)
	green := h.unit(t, "Green", nil)
	for n, unit := range map[int]string{7: green, 3: ""} {
		for range n {
			w.Assess(t, w.Acme, h.joins(t, unit), apitest.RightAnswer)
		}
	}
	body := h.cohort()
	body["unitId"] = green
	told := h.told(t, body)
	require.Equal(t, []any{7.0, 100.0}, figures(only(t, told), "scored", "averagePercent"))
	require.Equal(t, []any{"Green"}, told["unitNames"])
	require.Equal(t, []any{nil, nil, nil}, figures(only(t, h.told(t, h.cohort())), "asked", "scored", "averagePercent"), "the three would be what is left")
}

// An assignment's report tells for whom it is, and how far they got.
func TestAReportOfAnAssignment(t *testing.T) {
	w := apitest.NewWorld(t)
	g := newGroup(t, w)
	red := g.unit(t, "Red", nil)
	var people []string
	for range 12 {
		people = append(people, g.joins(t, red))
	}
	made := w.CallAs(t, "createAssignment", "", w.Acme.New, map[string]any{
		"title": "Know your knots", "subjectId": g.exam, "kind": "assess", "audience": map[string]any{"unitIds": []any{red}, "personIds": []any{}, "everyone": false}, "timezone": "UTC",
	})
	require.Equal(t, http.StatusCreated, made.Status, "%s", made.Raw)
	work := made.Data(t)["id"].(string)
	body := map[string]any{"kind": "cohort", "assignmentId": work}
	told := g.told(t, body)
	require.Equal(t, []any{"Know your knots", "units", []any{"Red"}, work}, figures(told, "assignmentTitle", "audience", "unitNames", "assignmentId"))
	require.Equal(t, []any{12.0, 0.0, 0.0, 0.0, nil}, figures(only(t, told), "asked", "began", "completed", "scored", "averagePercent"))
	for _, who := range people[:6] {
		w.Assess(t, w.Acme, who, apitest.RightAnswer)
	}
	w.Assess(t, w.Acme, g.joins(t, ""), wrongAnswer) // for whom it is not
	told = g.told(t, body)
	require.Equal(t, []any{12.0, 6.0, 6.0, 6.0, 6.0, 100.0}, figures(only(t, told), "asked", "began", "completed", "scored", "passed", "averagePercent"))
	shown := w.CallAs(t, "createReport", "", w.Acme.New, map[string]any{"kind": "cohort", "assignmentId": work, "format": "json"}).Data(t)
	require.Equal(t, []any{"Know your knots", work, g.exam, g.portal(), nil}, figures(shown, "title", "assignmentId", "subjectId", "portalId", "unitId"))
	w.Build(t)

	// It is told as a result's is, without figures.
	var events []any
	listed := w.Call(t, w.Operation(t, "listEvents"), apitest.Request{Path: "/events?type=report.produced", Key: w.Acme.New})
	for _, item := range listed.JSON(t)["data"].([]any) {
		if e := item.(map[string]any)["data"].(map[string]any); e["kind"] == "cohort" {
			events = append(events, []any{e["portalId"], e["subjectId"], e["resultId"], e["percent"], e["summary"]})
		}
	}
	require.Contains(t, events, []any{g.portal(), g.exam, nil, nil, nil})
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
	require.Equal(t, []any{6.0, 6.0, 100.0}, figures(only(t, g.told(t, g.cohort())), "asked", "scored", "averagePercent"))
}
