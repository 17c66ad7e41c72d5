package results_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/learning/result"
	"visavis.dev/pkg/sessions/printed"
	"visavis.dev/pkg/store/setting"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/text/extract/pdf"
)

// named makes a learner who is called something.
func named(t *testing.T, w *apitest.World, name string) string {
	t.Helper()
	who := w.Learner(t, w.Acme)
	renamed := w.CallAs(t, "updatePerson", who, w.Acme.New, map[string]any{"name": name})
	require.Equal(t, http.StatusOK, renamed.Status, "%s", renamed.Raw)
	return who
}

func askFor(w *apitest.World, t *testing.T, of, format string) apitest.Answer {
	t.Helper()
	return w.CallAs(t, "createReport", "", w.Acme.New, map[string]any{"kind": "result", "resultId": of, "format": format})
}

// report has a result written up, and answers its id.
func makeReport(t *testing.T, w *apitest.World, of, format string) string {
	t.Helper()
	made := askFor(w, t, of, format)
	require.Equal(t, http.StatusCreated, made.Status, "%s", made.Raw)
	require.Equal(t, []any{"building", nil, nil}, []any{made.Data(t)["state"], made.Data(t)["url"], made.Data(t)["bytes"]})
	which := made.Data(t)["id"].(string)
	conflicts(t, w.CallAs(t, "downloadReport", which, w.Acme.New, nil), "building")
	w.Build(t)
	return which
}

func TestAReport(t *testing.T) {
	w := apitest.NewWorld(t)
	t.Run("in every format", func(t *testing.T) { testFormats(t, w) })
	t.Run("is told of", func(t *testing.T) { testReportEvent(t, w) })
	t.Run("of what is not released", func(t *testing.T) { testUnreleasedReport(t, w) })
	t.Run("of a voided result", func(t *testing.T) { testVoidedReport(t, w) })
	t.Run("with words", func(t *testing.T) { testReportWords(t, w) })
	t.Run("of somebody who is erased", func(t *testing.T) { testErasedReport(t, w) })
	t.Run("whose job is killed", func(t *testing.T) { testKilledReport(t, w) })
	t.Run("of a result that changes meanwhile", func(t *testing.T) { testChangedReport(t, w) })
	t.Run("among too many", func(t *testing.T) { testManyReports(t, w) })
}

func testFormats(t *testing.T, w *apitest.World) {
	const name = "Zoë <b>Åström</b> & Co"
	of := w.Assess(t, w.Acme, named(t, w, name), apitest.RightAnswer)
	shown := makeResult(t, w, of)
	criterion := shown["criteria"].([]any)[0].(map[string]any)

	asJSON := makeReport(t, w, of, "json")
	ready := w.CallAs(t, "getReport", asJSON, w.Acme.New, nil).Data(t)
	require.Equal(t, []any{"ready", "result", of, true, true, 1.0, "en"},
		[]any{ready["state"], ready["kind"], ready["resultId"], ready["aiGenerated"], ready["includesConversation"], ready["version"], ready["language"]})
	require.True(t, strings.HasSuffix(ready["url"].(string), "/v1/reports/"+asJSON+"/download"), ready["url"])
	got := w.CallAs(t, "downloadReport", asJSON, w.Acme.New, nil)
	require.Equal(t, http.StatusOK, got.Status, "%s", got.Raw)
	require.Equal(t, printed.JSONType, got.Header.Get("Content-Type"))
	require.Equal(t, "attachment; filename=report-"+asJSON+".json", got.Header.Get("Content-Disposition"))
	require.Len(t, got.Raw, int(ready["bytes"].(float64)))
	var read map[string]any
	require.NoError(t, json.Unmarshal(got.Raw, &read))
	require.Equal(t, []any{name, of, 100.0, 2.0, 2.0, "distinction", true, "avatar"},
		[]any{read["personName"], read["resultId"], read["percent"], read["score"], read["maxScore"], read["band"], read["passed"], read["scoredBy"]})
	told := read["criteria"].([]any)[0].(map[string]any)
	for _, field := range []string{"key", "label", "score", "maxScore", "weight", "level", "confidence", "rationale", "quotes"} {
		require.Equal(t, criterion[field], told[field], field)
	}

	page := makeReport(t, w, of, "html")
	got = w.CallAs(t, "downloadReport", page, w.Acme.New, nil)
	require.Equal(t, "text/html; charset=utf-8", got.Header.Get("Content-Type"))
	text := string(got.Raw)
	require.Contains(t, text, `<html lang="en" dir="ltr">`)
	require.Contains(t, text, "Zoë &lt;b&gt;Åström&lt;/b&gt; &amp; Co")
	require.NotContains(t, text, "<b>")
	for _, word := range []string{"100 %", "2 / 2", "Passed with distinction", criterion["label"].(string), apitest.RightAnswer, "AI-generated"} {
		require.Contains(t, text, word)
	}

	made := w.CallAs(t, "createReport", "", w.Acme.New, map[string]any{"kind": "result", "resultId": of, "format": "pdf", "language": "German"})
	require.Equal(t, http.StatusCreated, made.Status, "%s", made.Raw)
	w.Build(t)
	got = w.CallAs(t, "downloadReport", made.Data(t)["id"].(string), w.Acme.New, nil)
	require.Equal(t, "application/pdf", got.Header.Get("Content-Type"))
	text = printedText(t, got.Raw)
	for _, word := range []string{"Zoë", "Åström", "100 %", "2 / 2", "Mit Auszeichnung bestanden", criterion["label"].(string), apitest.RightAnswer, "KI-generierte"} {
		require.Contains(t, text, word)
	}
	require.Equal(t, []any{made.Data(t)["id"], page, asJSON}, makeResult(t, w, of)["reportIds"])
	listed := w.Call(t, w.Operation(t, "listReports"), apitest.Request{Path: "/reports?state=ready&kind=result&resultId=" + of, Key: w.Acme.New})
	require.Len(t, listed.JSON(t)["data"], 3)

	foreign := w.Globex.New
	for _, operation := range []string{"getReport", "downloadReport"} {
		require.Equal(t, http.StatusNotFound, w.CallAs(t, operation, page, foreign, nil).Status, operation)
	}
	apitest.RequireError(t, w.CallAs(t, "createReport", "", foreign, map[string]any{"kind": "result", "resultId": of, "format": "pdf"}), http.StatusNotFound, "not_found", "body.resultId")
	apitest.RequireError(t, w.CallAs(t, "createReport", "", w.Acme.New, map[string]any{"kind": "result", "resultId": of, "format": "pdf", "language": "Japanese"}),
		http.StatusBadRequest, "invalid_request", "body.language")
}

// printedText is what a PDF says.
func printedText(t *testing.T, data []byte) string {
	t.Helper()
	file, err := pdf.Read(t.Context(), data, 1<<20)
	require.NoError(t, err)
	var b strings.Builder
	for _, page := range file.Pages {
		for _, line := range page {
			b.WriteString(line.Text + "\n")
		}
	}
	return b.String()
}

// reportEvents are the data of the events about the reports of a result, as a key reads them.
func reportEvents(t *testing.T, w *apitest.World, of string, v contract.Version, scopes ...scope.Scope) (data []map[string]any) {
	t.Helper()
	o := w.Operation(t, "listEvents")
	key := w.Scoped(v, append(scopes, scope.EventsRead, scope.WebhooksManage, scope.ResultsRead)...)
	answer := w.Call(t, o, apitest.Request{Path: o.Path + "?limit=200&includeConversation=true&type=report.produced", Key: key})
	require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Raw)
	for _, item := range answer.JSON(t)["data"].([]any) {
		e := item.(map[string]any)
		if d := e["data"].(map[string]any); d["resultId"] == of {
			d["aiGenerated"] = e["aiGenerated"]
			data = append(data, d)
		}
	}
	return data
}

func testReportEvent(t *testing.T, w *apitest.World) {
	of := w.Assess(t, w.Acme, w.Learner(t, w.Acme), apitest.RightAnswer)
	r := makeResult(t, w, of)
	const short = "The bowline → Well done."
	w.SetSession(t, r["sessionId"].(string), `summary = '`+short+`'`)
	which := makeReport(t, w, of, "html")
	require.Contains(t, string(w.CallAs(t, "downloadReport", which, w.Acme.New, nil).Raw), short)
	for _, v := range []contract.Version{contract.V20260708, contract.V20261001} {
		told := reportEvents(t, w, of, v, scope.TranscriptsRead)
		require.Len(t, told, 1, v)
		e := told[0]
		require.Equal(t, []any{which, "result", 1.0, "en", "html", r["sessionId"], r["personId"]},
			[]any{e["reportId"], e["kind"], e["version"], e["language"], e["format"], e["sessionId"], e["personId"]})
		require.Equal(t, []any{100.0, 2.0, 2.0, "distinction", true}, []any{e["percent"], e["score"], e["maxScore"], e["band"], e["passed"]})
		require.Equal(t, strings.TrimPrefix(r["subjectId"].(string), "sub_"), strings.TrimPrefix(e["subjectId"].(string), "sub_"))
		require.Equal(t, v == contract.V20261001, strings.HasPrefix(e["subjectId"].(string), "sub_"))
		require.NotNil(t, e["producedAt"])
		require.Equal(t, []any{apitest.RightAnswer}, e["quotes"])
		require.Equal(t, apitest.RightAnswer, e["feedback"].([]any)[0].(map[string]any)["quote"])
		require.Equal(t, true, e["aiGenerated"])
		require.Equal(t, short, e["summary"])
	}
	w.SetSession(t, r["sessionId"].(string), `flagged = true`)
	told := reportEvents(t, w, of, contract.V20261001, scope.TranscriptsRead)[0]
	require.Equal(t, []any{nil, nil, nil, nil, 100.0}, []any{told["quotes"], told["feedback"], told["summary"], told["aiGenerated"], told["percent"]})
	conflicts(t, w.CallAs(t, "downloadReport", which, w.Acme.New, nil), "withheld")
}

func testUnreleasedReport(t *testing.T, w *apitest.World) {
	of := w.Assess(t, w.Acme, w.Learner(t, w.Acme), apitest.UnsureAnswer)
	conflicts(t, askFor(w, t, of, "json"), "not_released")
	require.Empty(t, makeResult(t, w, of)["reportIds"])
}

func testVoidedReport(t *testing.T, w *apitest.World) {
	const name = apitest.Mark + " voided"
	of := w.Assess(t, w.Acme, named(t, w, name), apitest.RightAnswer)
	which, late := makeReport(t, w, of, "html"), askFor(w, t, of, "html").Data(t)["id"].(string)
	require.True(t, hasFile(apitest.Marked(t, w)), "the name is in the file")
	voided := w.CallAs(t, "voidResult", of, w.Acme.New, map[string]any{"reason": "Copied."})
	require.Equal(t, http.StatusOK, voided.Status, "%s", voided.Raw)
	w.Build(t)
	for _, gone := range []string{which, late} {
		require.Equal(t, http.StatusNotFound, w.CallAs(t, "getReport", gone, w.Acme.New, nil).Status)
		require.Equal(t, http.StatusNotFound, w.CallAs(t, "downloadReport", gone, w.Acme.New, nil).Status)
	}
	require.Empty(t, makeResult(t, w, of)["reportIds"])
	conflicts(t, askFor(w, t, of, "html"), "not_released")
	require.Empty(t, reportEvents(t, w, of, contract.V20261001, scope.TranscriptsRead))
	sweepFiles(t, w)
	require.False(t, hasFile(apitest.Marked(t, w)))
}

func sweepFiles(t *testing.T, w *apitest.World) {
	t.Helper()
	for _, shard := range []string{"shard-1", "shard-2"} {
		_, err := w.Files.Sweep(t.Context(), shard)
		require.NoError(t, err)
	}
}

func hasFile(found []string) bool { return apitest.PlacesOf(found)["file"] }

func testReportWords(t *testing.T, w *apitest.World) {
	of := w.Assess(t, w.Acme, w.Learner(t, w.Acme), apitest.RightAnswer)
	which := makeReport(t, w, of, "html")
	reader := w.Scoped(contract.Latest, scope.ResultsRead)
	apitest.RequireError(t, w.CallAs(t, "downloadReport", which, reader, nil), http.StatusForbidden, "forbidden", "path.id")

	asked := w.CallAs(t, "createReport", "", reader, map[string]any{"kind": "result", "resultId": of, "format": "html"})
	require.Equal(t, http.StatusCreated, asked.Status, "%s", asked.Raw)
	w.Build(t)
	without := asked.Data(t)["id"].(string)
	got := w.CallAs(t, "downloadReport", without, reader, nil)
	require.Equal(t, http.StatusOK, got.Status, "%s", got.Raw)
	require.NotContains(t, string(got.Raw), apitest.RightAnswer)
	require.Contains(t, string(got.Raw), "100 %")

	session := makeResult(t, w, of)["sessionId"].(string)
	deleted := w.CallAs(t, "deleteTranscript", session, w.Acme.New, nil)
	require.Equal(t, http.StatusOK, deleted.Status, "%s", deleted.Raw)
	require.Equal(t, http.StatusNotFound, w.CallAs(t, "downloadReport", which, w.Acme.New, nil).Status)
	require.Equal(t, http.StatusOK, w.CallAs(t, "downloadReport", without, w.Acme.New, nil).Status, "figures are no words")

	young := w.Assess(t, w.Acme, w.Learner(t, w.Acme), apitest.RightAnswer)
	w.SetSession(t, makeResult(t, w, young)["sessionId"].(string), `withheld = 'learner_conversation'`)
	page := makeReport(t, w, young, "html")
	require.Equal(t, false, w.CallAs(t, "getReport", page, w.Acme.New, nil).Data(t)["includesConversation"])
	require.NotContains(t, string(w.CallAs(t, "downloadReport", page, w.Acme.New, nil).Raw), apitest.RightAnswer)
	require.Nil(t, reportEvents(t, w, young, contract.V20261001, scope.TranscriptsRead)[0]["quotes"])
}

func testErasedReport(t *testing.T, w *apitest.World) {
	who := named(t, w, apitest.Mark+" erased")
	of := w.Assess(t, w.Acme, who, apitest.RightAnswer)
	which, late := makeReport(t, w, of, "html"), askFor(w, t, of, "html").Data(t)["id"].(string)
	require.True(t, hasFile(apitest.Marked(t, w)))
	input, err := json.Marshal(map[string]string{"report": late})
	require.NoError(t, err)
	step, err := w.Builder().Background().Works[job.ReportBuild].Prepare(t.Context(), job.Job{Org: w.Acme.ID, Input: input})
	require.NoError(t, err)
	require.Equal(t, http.StatusAccepted, w.CallAs(t, "erasePerson", who, w.Acme.New, nil).Status)
	w.Erase(t)
	j := job.Job{Org: w.Acme.ID, State: job.Running}
	w.InTx(t, func(ctx context.Context, tx *tenant.Tx) error {
		_, err := step(ctx, tx, &j, time.Now().UTC().Truncate(time.Microsecond))
		return err
	})
	require.Equal(t, job.Succeeded, j.State)
	sweepFiles(t, w)
	for _, found := range apitest.Marked(t, w) {
		require.NotContains(t, found, "erased")
		require.NotContains(t, found, "file ")
	}
	for _, gone := range []string{which, late} {
		require.Equal(t, http.StatusNotFound, w.CallAs(t, "getReport", gone, w.Acme.New, nil).Status)
	}
}

// A job that is killed when its file is written and its row is not leaves a file that is swept,
// and the next run makes the report.
func testKilledReport(t *testing.T, w *apitest.World) {
	of := w.Assess(t, w.Acme, w.Learner(t, w.Acme), apitest.RightAnswer)
	which := askFor(w, t, of, "json").Data(t)["id"].(string)
	work := w.Builder().Background().Works[job.ReportBuild]
	input, err := json.Marshal(map[string]string{"report": which})
	require.NoError(t, err)
	_, err = work.Prepare(t.Context(), job.Job{Org: w.Acme.ID, Input: input})
	require.NoError(t, err)
	require.Equal(t, 1, files(t, w, "pending"))
	require.Equal(t, "building", w.CallAs(t, "getReport", which, w.Acme.New, nil).Data(t)["state"])
	w.Build(t)
	require.Equal(t, "ready", w.CallAs(t, "getReport", which, w.Acme.New, nil).Data(t)["state"])
	require.Len(t, reportEvents(t, w, of, contract.V20261001, scope.TranscriptsRead), 1)
	w.InTx(t, func(ctx context.Context, tx *tenant.Tx) error {
		_, err := tx.Exec(ctx, `UPDATE file SET changed_at = changed_at - INTERVAL '1 day' WHERE org_id = $1 AND state = 'pending'`, tx.Org)
		return err
	})
	sweepFiles(t, w)
	require.Zero(t, files(t, w, "pending"))
	require.Equal(t, http.StatusOK, w.CallAs(t, "downloadReport", which, w.Acme.New, nil).Status)

	given := askFor(w, t, of, "json").Data(t)["id"].(string)
	input, err = json.Marshal(map[string]string{"report": given})
	require.NoError(t, err)
	w.InTx(t, func(ctx context.Context, tx *tenant.Tx) error {
		return work.GiveUp(ctx, tx, &job.Job{Input: input}, time.Now().UTC().Truncate(time.Microsecond))
	})
	w.Build(t)
	require.Equal(t, "failed", w.CallAs(t, "getReport", given, w.Acme.New, nil).Data(t)["state"])
	conflicts(t, w.CallAs(t, "downloadReport", given, w.Acme.New, nil), "failed")
}

func files(t *testing.T, w *apitest.World, state string) (n int) {
	t.Helper()
	w.InTx(t, func(ctx context.Context, tx *tenant.Tx) error {
		return tx.QueryRow(ctx, `SELECT count(*) FROM file WHERE org_id = $1 AND state = $2`, tx.Org, state).Scan(&n)
	})
	return n
}

// What a result was worth before it was changed is in no report that is finished afterwards.
func testChangedReport(t *testing.T, w *apitest.World) {
	of := w.Assess(t, w.Acme, w.Learner(t, w.Acme), apitest.RightAnswer)
	which := askFor(w, t, of, "json").Data(t)["id"].(string)
	work := w.Builder().Background().Works[job.ReportBuild]
	input, err := json.Marshal(map[string]string{"report": which})
	require.NoError(t, err)
	step, err := work.Prepare(t.Context(), job.Job{Org: w.Acme.ID, Input: input})
	require.NoError(t, err)
	changed := w.CallAs(t, "rescoreResult", of, w.Acme.New, map[string]any{"criteria": []any{map[string]any{"key": "loop", "score": 1}}, "reason": "Half."})
	require.Equal(t, http.StatusOK, changed.Status, "%s", changed.Raw)
	j := job.Job{Org: w.Acme.ID, State: job.Running, Input: input}
	w.InTx(t, func(ctx context.Context, tx *tenant.Tx) error {
		wait, err := step(ctx, tx, &j, time.Now().UTC().Truncate(time.Microsecond))
		require.Positive(t, wait)
		return err
	})
	require.Equal(t, job.Running, j.State)
	w.Build(t)
	var read map[string]any
	require.NoError(t, json.Unmarshal(w.CallAs(t, "downloadReport", which, w.Acme.New, nil).Raw, &read))
	require.Equal(t, []any{50.0, "person"}, []any{read["percent"], read["scoredBy"]})
}

// Who needs a guardian has reports where that guardian agreed to reports, from the asking for one to
// its download.
func TestReportsOfMinors(t *testing.T) {
	w := apitest.NewWorld(t)
	w.Exam(t, w.Acme)
	at := w.Made["exam's portal"+w.Acme.ID.String()]
	agree := func(t *testing.T, place string, to ...any) string {
		t.Helper()
		body := apitest.GuardianBody(1)
		body["scopes"] = to
		given := w.CallAs(t, "recordGuardianConsent", place, w.Acme.New, body)
		require.Equal(t, http.StatusCreated, given.Status, "%s", given.Raw)
		return given.Data(t)["id"].(string)
	}
	withdraw := func(t *testing.T, k string) {
		t.Helper()
		require.Equal(t, http.StatusOK, w.CallAs(t, "withdrawConsent", k, w.Acme.New, nil).Status)
	}
	// comes is a learner's place and result.
	comes := func(t *testing.T, band string) (place, of string) {
		t.Helper()
		who := w.Learner(t, w.Acme)
		require.Equal(t, http.StatusOK, w.CallAs(t, "updatePerson", who, w.Acme.New, map[string]any{"ageBand": band}).Status)
		place = w.CallAs(t, "getPerson", who, w.Acme.New, nil).Data(t)["memberships"].([]any)[0].(map[string]any)["id"].(string)
		agree(t, place, "conversation")
		return place, w.Assess(t, w.Acme, who, apitest.RightAnswer)
	}
	state := func(t *testing.T, which string) any {
		return w.CallAs(t, "getReport", which, w.Acme.New, nil).Data(t)["state"]
	}
	refused := func(t *testing.T, place, of string) {
		t.Helper()
		conflicts(t, askFor(w, t, of, "json"), "guardian_consent")
		agreed := agree(t, place, "report")
		which, late := makeReport(t, w, of, "json"), askFor(w, t, of, "json").Data(t)["id"].(string)
		require.Equal(t, http.StatusOK, w.CallAs(t, "downloadReport", which, w.Acme.New, nil).Status)
		withdraw(t, agreed)
		w.Build(t)
		require.Equal(t, "failed", state(t, late), "the guardian took it back before it was made")
		conflicts(t, w.CallAs(t, "downloadReport", which, w.Acme.New, nil), "guardian_consent")
		conflicts(t, askFor(w, t, of, "json"), "guardian_consent")
		again := agree(t, place, "report")
		require.Equal(t, http.StatusOK, w.CallAs(t, "downloadReport", which, w.Acme.New, nil).Status)
		withdraw(t, again)
		require.Equal(t, http.StatusOK, w.CallAs(t, "deleteMembership", place, w.Acme.New, nil).Status)
		conflicts(t, w.CallAs(t, "downloadReport", which, w.Acme.New, nil), "guardian_consent")
	}
	t.Run("where everybody is taken for a minor", func(t *testing.T) {
		place, of := comes(t, "adult")
		free := makeReport(t, w, of, "json")
		set := func(on bool) {
			w.InTx(t, func(ctx context.Context, tx *tenant.Tx) error {
				_, err := tx.Exec(ctx, `
					INSERT INTO setting (org_id, scope_kind, scope_id, key, value, changed_at, changed_by) VALUES ($1, 'portal', $2, $3, to_jsonb($4::BOOLEAN), now(), '')
					ON CONFLICT (org_id, scope_kind, scope_id, key) DO UPDATE SET value = excluded.value`,
					tx.Org, inner(t, at), setting.YoungLearners, on)
				return err
			})
		}
		set(true)
		conflicts(t, w.CallAs(t, "downloadReport", free, w.Acme.New, nil), "guardian_consent")
		refused(t, place, of)
		set(false)
		require.Equal(t, http.StatusOK, w.CallAs(t, "downloadReport", free, w.Acme.New, nil).Status)
	})
	t.Run("where a guardian has to agree", func(t *testing.T) {
		w.InTx(t, func(ctx context.Context, tx *tenant.Tx) error {
			_, err := tx.Exec(ctx, `UPDATE portal_version SET definition = jsonb_set(definition, '{guardianConsentUnder}', '16') WHERE org_id = $1 AND portal_id = $2`,
				tx.Org, inner(t, at))
			return err
		})
		place, of := comes(t, "13_15")
		refused(t, place, of)
	})
}

// inner is a portal's id as rows have it.
func inner(t *testing.T, portal string) string {
	t.Helper()
	parsed, err := id.ParsePortal(portal)
	require.NoError(t, err)
	return uuid.UUID(parsed).String()
}

func testManyReports(t *testing.T, w *apitest.World) {
	of := w.Assess(t, w.Acme, w.Learner(t, w.Acme), apitest.RightAnswer)
	parsed, err := id.ParseResult(of)
	require.NoError(t, err)
	r, err := result.Get(t.Context(), w.Tenants, w.Acme.ID, parsed)
	require.NoError(t, err)
	for range printed.Most + 2 {
		w.InTx(t, func(ctx context.Context, tx *tenant.Tx) error {
			return printed.Insert(ctx, tx, &printed.Report{
				ID: id.NewReport(), Kind: printed.OfResult, Result: r.ID, Session: r.Session, Title: "Knots", Language: "en", Format: printed.JSON,
				CreatedBy: "key", CreatedAt: time.Now().UTC().Truncate(time.Microsecond),
			})
		})
	}
	made := askFor(w, t, of, "json")
	require.EqualValues(t, printed.Most+3, made.Data(t)["version"])
	require.Len(t, makeResult(t, w, of)["reportIds"], printed.Most)
}
