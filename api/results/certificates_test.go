package results_test

import (
	"context"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/learning/record"
	"visavis.dev/pkg/learning/result"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/apikey"
	"visavis.dev/pkg/store/tenant"
)

// certificates are those of a person, newest first.
func certificates(t *testing.T, w *apitest.World, person string) []any {
	t.Helper()
	o := w.Operation(t, "listCertificates")
	return w.Call(t, o, apitest.Request{Path: o.Path + "?personId=" + person, Key: w.Acme.New}).JSON(t)["data"].([]any)
}

// verify asks whether a number counts, as anybody can.
func verify(t *testing.T, w *apitest.World, number string) apitest.Answer {
	t.Helper()
	return w.CallAs(t, "verifyCertificate", number, "", nil)
}

func rescore(t *testing.T, w *apitest.World, which string, points float64) {
	t.Helper()
	answer := w.CallAs(t, "rescoreResult", which, w.Acme.New, map[string]any{"criteria": []any{map[string]any{"key": "loop", "score": points}}, "reason": "x"})
	require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Raw)
}

func TestCertificates(t *testing.T) {
	w := apitest.NewWorld(t)
	t.Run("of assessments", func(t *testing.T) { testEarned(t, w) })
	t.Run("by hand", func(t *testing.T) { testByHand(t, w) })
	t.Run("with a template of no name here", func(t *testing.T) { testUnknownTemplate(t, w) })
	t.Run("of practices", func(t *testing.T) { testPracticeCertificate(t, w) })
	t.Run("by hand before the completion", func(t *testing.T) { testCertifiedAgain(t, w) })
	t.Run("on hold", func(t *testing.T) { testHeldCertificate(t, w) })
	t.Run("verified", func(t *testing.T) { testVerify(t, w) })
	t.Run("of who is erased", func(t *testing.T) { testErasedCertificate(t, w) })
	t.Run("printed", func(t *testing.T) { testPrinted(t, w) })
	t.Run("as badges", func(t *testing.T) { testBadges(t, w) })
}

// A certificate comes and goes with what it rests on.
func testEarned(t *testing.T, w *apitest.World) {
	person := w.Learner(t, w.Acme)
	which := w.Assess(t, w.Acme, person, apitest.UnsureAnswer)
	rescore(t, w, which, 2)
	require.Empty(t, certificates(t, w, person), "nothing is earned before it is released")
	require.Equal(t, http.StatusOK, w.CallAs(t, "releaseResult", which, w.Acme.New, nil).Status)
	first := certificates(t, w, person)[0].(map[string]any)
	require.Equal(t, []any{"valid", which, "plain", 100.0}, []any{first["state"], first["resultId"], first["template"], first["percent"]})
	completed := completions(t, w, person)[0].(map[string]any)
	require.Equal(t, completed["validUntil"], first["expiresAt"], "it counts as long as the completion")
	require.Equal(t, first["id"], completed["certificateId"])
	require.Equal(t, first["id"], makeResult(t, w, which)["certificateId"])

	rescore(t, w, which, 1.5)
	require.Len(t, certificates(t, w, person), 1, "it passes still")
	require.Equal(t, 75.0, certificates(t, w, person)[0].(map[string]any)["percent"], "what the result is worth now")
	rescore(t, w, which, 0)
	gone := certificates(t, w, person)[0].(map[string]any)
	require.Equal(t, []any{"revoked", "result_changed"}, []any{gone["state"], gone["reasonCode"]})
	require.Nil(t, makeResult(t, w, which)["certificateId"])
	rescore(t, w, which, 2)
	require.Len(t, certificates(t, w, person), 2, "another, since revoking is for good")
	require.Equal(t, http.StatusOK, w.CallAs(t, "voidResult", which, w.Acme.New, map[string]any{"reason": "x"}).Status)
	require.Equal(t, "result_voided", certificates(t, w, person)[0].(map[string]any)["reasonCode"])

	told := certificateEvents(t, w, person)
	require.Len(t, told["certificate.issued"], 2)
	require.Len(t, told["certificate.revoked"], 2)
	issued := told["certificate.issued"][1]
	require.Equal(t, []any{first["id"], first["number"], first["verifyUrl"], "plain", which},
		[]any{issued["certificateId"], issued["number"], issued["verifyUrl"], issued["templateKey"], issued["resultId"]})
	require.Nil(t, issued["percent"], "what was voided is worth nothing")
	require.Equal(t, "result_voided", told["certificate.revoked"][0]["reasonCode"])
	require.Equal(t, first["id"], told["completion.recorded"][1]["certificateId"])
}

// certificateEvents are the data of the events about a person's certificates, newest first.
func certificateEvents(t *testing.T, w *apitest.World, person string) map[string][]map[string]any {
	t.Helper()
	o := w.Operation(t, "listEvents")
	found := map[string][]map[string]any{}
	answer := w.Call(t, o, apitest.Request{Path: o.Path + "?limit=200&type=certificate.issued,certificate.revoked,completion.recorded", Key: w.Acme.New})
	for _, item := range answer.JSON(t)["data"].([]any) {
		e := item.(map[string]any)
		if data := e["data"].(map[string]any); data["personId"] == person {
			found[e["type"].(string)] = append(found[e["type"].(string)], data)
		}
	}
	return found
}

// Subjects of either contract may name any template; what there is none of looks classic.
func testUnknownTemplate(t *testing.T, w *apitest.World) {
	person, subject := w.Learner(t, w.Acme), w.Exam(t, w.Acme)
	names := func(key apikey.Secret, template string) {
		answer := w.CallAs(t, "updateSubject", subject, key, map[string]any{"certificateTemplate": template})
		require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Raw)
		require.Equal(t, template, answer.Data(t)["certificateTemplate"])
	}
	for _, key := range []apikey.Secret{w.Acme.Old, w.Acme.New} {
		names(key, "gold")
		issued := w.CallAs(t, "createCertificate", "", w.Acme.New, map[string]any{"personId": person, "subjectId": subject}).Data(t)
		require.Equal(t, "classic", issued["template"])
		names(key, "plain")
	}
}

func testByHand(t *testing.T, w *apitest.World) {
	person, subject := w.Learner(t, w.Acme), w.Exam(t, w.Acme)
	create := func(more map[string]any) apitest.Answer {
		body := map[string]any{"personId": person, "subjectId": subject}
		maps.Copy(body, more)
		return w.CallAs(t, "createCertificate", "", w.Acme.New, body)
	}
	first := create(map[string]any{"expiresAt": "2090-01-01T00:00:00Z"}).Data(t)
	require.Equal(t, "valid", first["state"])
	second := create(map[string]any{"expiresAt": "2091-01-01T00:00:00Z"}).Data(t)
	require.Equal(t, second["id"], certificates(t, w, person)[1].(map[string]any)["renewedById"])
	require.Equal(t, http.StatusOK, w.CallAs(t, "revokeCertificate", second["id"].(string), w.Acme.New, map[string]any{"reasonCode": "oversight"}).Status)
	require.Nil(t, certificates(t, w, person)[1].(map[string]any)["renewedById"], "the one before has its place again")
	conflicts(t, w.CallAs(t, "revokeCertificate", second["id"].(string), w.Acme.New, map[string]any{"reasonCode": "oversight"}), "revoked")
	soon := create(map[string]any{"expiresAt": time.Now().Add(50 * 24 * time.Hour).UTC().Format(time.RFC3339)}).Data(t)
	require.Equal(t, "expiring", soon["state"])

	which := w.Assess(t, w.Acme, person, apitest.RightAnswer)
	conflicts(t, create(map[string]any{"resultId": which}), "already_certified")
	failed := w.Assess(t, w.Acme, person, apitest.UnsureAnswer)
	conflicts(t, create(map[string]any{"resultId": failed}), "not_passed")
	for param, more := range map[string]map[string]any{
		"body.resultId":      {"resultId": w.Released(t, w.Acme)}, // somebody else's
		"body.expiresAt":     {"expiresAt": "2020-01-01T00:00:00Z"},
		"body.recipientName": {"recipientName": "  "},
		"body.template":      {"template": "golden"},
	} {
		apitest.RequireError(t, create(more), http.StatusBadRequest, "invalid_request", param)
	}
	apitest.RequireError(t, create(map[string]any{"personId": "per_06Hn2VfM1kXqT4yPzS8bRd"}), http.StatusNotFound, "not_found", "body.personId")
}

// A practice certifies nothing; what one was given before is revoked with its result.
func testPracticeCertificate(t *testing.T, w *apitest.World) {
	person, subject := w.Learner(t, w.Acme), w.Exam(t, w.Acme)
	which := w.Assess(t, w.Acme, person, apitest.RightAnswer)
	given := certificates(t, w, person)[0].(map[string]any)
	practice := func(kind string) {
		parsed, err := id.ParseResult(which)
		require.NoError(t, err)
		w.InTx(t, func(ctx context.Context, tx *tenant.Tx) error {
			tx.Touch("result", parsed)
			_, err := tx.Exec(ctx, `UPDATE result SET kind = $3 WHERE org_id = $1 AND id = $2`, tx.Org, parsed, kind)
			return err
		})
	}
	practice("practice")
	body := map[string]any{"personId": person, "subjectId": subject, "resultId": which}
	conflicts(t, w.CallAs(t, "createCertificate", "", w.Acme.New, body), "not_assessment")
	require.Equal(t, http.StatusOK, w.CallAs(t, "voidResult", which, w.Acme.New, map[string]any{"reason": "x"}).Status)
	gone := w.CallAs(t, "getCertificate", given["id"].(string), w.Acme.New, nil).Data(t)
	require.Equal(t, []any{"revoked", "result_voided"}, []any{gone["state"], gone["reasonCode"]})
}

// What was certified by hand once its completion was withdrawn goes with the next completion.
func testCertifiedAgain(t *testing.T, w *apitest.World) {
	person, subject := w.Learner(t, w.Acme), w.Exam(t, w.Acme)
	which := w.Assess(t, w.Acme, person, apitest.UnsureAnswer)
	rescore(t, w, which, 2)
	require.Equal(t, http.StatusOK, w.CallAs(t, "releaseResult", which, w.Acme.New, nil).Status)
	completed := completions(t, w, person)[0].(map[string]any)["id"].(string)
	require.Equal(t, http.StatusOK, w.CallAs(t, "deleteCompletion", completed, w.Acme.New, nil).Status)
	body := map[string]any{"personId": person, "subjectId": subject, "resultId": which, "expiresAt": "2090-01-01T00:00:00.123456789Z"}
	second := w.CallAs(t, "createCertificate", "", w.Acme.New, body).Data(t)
	require.Equal(t, w.CallAs(t, "getCertificate", second["id"].(string), w.Acme.New, nil).Data(t), second)
	require.NotNil(t, second["percent"])
	rescore(t, w, which, 1.5)
	require.Nil(t, completions(t, w, person)[0].(map[string]any)["certificateId"])
	parsed, err := id.ParseResult(which)
	require.NoError(t, err)
	r, err := result.Get(t.Context(), w.Tenants, w.Acme.ID, parsed)
	require.NoError(t, err)
	w.InTx(t, func(ctx context.Context, tx *tenant.Tx) error {
		k := record.Completion{Person: r.Person, Subject: r.Subject, Result: r.ID, Source: record.FromSession, CompletedAt: *r.CompletedAt}
		return record.Rest(ctx, tx, k, true, "", activity.Actor{By: "test", At: time.Now().UTC().Truncate(time.Microsecond)})
	})
	again := completions(t, w, person)[0].(map[string]any)
	require.Equal(t, []any{"valid", second["id"]}, []any{again["state"], again["certificateId"]})
	require.Len(t, certificates(t, w, person), 2)
	require.Equal(t, second["id"], certificateEvents(t, w, person)["completion.recorded"][0]["certificateId"])
	rescore(t, w, which, 0)
	require.Equal(t, "revoked", certificates(t, w, person)[0].(map[string]any)["state"])
}

func testHeldCertificate(t *testing.T, w *apitest.World) {
	person := w.Learner(t, w.Acme)
	which := w.Assess(t, w.Acme, person, apitest.RightAnswer)
	require.Equal(t, http.StatusOK, w.CallAs(t, "holdResult", which, w.Acme.New, nil).Status)
	k := certificates(t, w, person)[0].(map[string]any)["id"].(string)
	apitest.RequireError(t, w.CallAs(t, "revokeCertificate", k, w.Acme.New, map[string]any{"reasonCode": "x"}), http.StatusConflict, "on_hold", "")
	require.Equal(t, http.StatusOK, w.CallAs(t, "unholdResult", which, w.Acme.New, nil).Status)
}

// Whoever has a number learns whether it counts, and nothing that it does not bear.
func testVerify(t *testing.T, w *apitest.World) {
	of := w.Certified(t, w.Globex) // which lives on another shard
	number := of["number"].(string)
	for _, written := range []string{number, strings.ToLower(strings.ReplaceAll(number, "-", "")), strings.ReplaceAll(number, "-", " ")} {
		answer := verify(t, w, strings.ReplaceAll(written, " ", "%20")).Data(t)
		require.Equal(t, []any{number, "valid", "Globex", w.Globex.ID.String(), of["recipientName"], of["title"]},
			[]any{answer["number"], answer["state"], answer["organization"], answer["issuerId"], answer["recipientName"], answer["title"]})
		for _, name := range []string{"personId", "resultId", "percent", "id"} {
			require.NotContains(t, answer, name)
		}
	}
	other := w.Certified(t, w.Acme)["number"].(string)
	mixed := number[:9] + other[9:] // another organization's, were it not for the beginning
	for _, unknown := range []string{mixed, "0000-0000-0000-0000-0000", "nonsense", number + "0", number[:len(number)-1]} {
		apitest.RequireError(t, verify(t, w, unknown), http.StatusNotFound, "not_found", "path.id")
	}
	o := w.Operation(t, "verifyCertificate")
	page := w.Call(t, o, apitest.Request{Path: apitest.WithID(o, number), Header: map[string]string{"Accept": "text/html,application/xhtml+xml"}})
	require.Equal(t, http.StatusSeeOther, page.Status)
	require.Equal(t, of["verifyUrl"], page.Header.Get("Location"))

	require.Equal(t, http.StatusOK, w.CallAs(t, "revokeCertificate", of["id"].(string), w.Globex.New, map[string]any{"reasonCode": "fraud"}).Status)
	gone := verify(t, w, number)
	require.Equal(t, []any{"revoked", nil, nil}, []any{gone.Data(t)["state"], gone.Data(t)["recipientName"], gone.Data(t)["title"]})
	require.NotContains(t, string(gone.Raw), "fraud")
}

func testErasedCertificate(t *testing.T, w *apitest.World) {
	person := w.Learner(t, w.Acme)
	which := w.Assess(t, w.Acme, person, apitest.RightAnswer)
	k := certificates(t, w, person)[0].(map[string]any)
	require.Equal(t, http.StatusAccepted, w.CallAs(t, "erasePerson", person, w.Acme.New, nil).Status)
	w.Erase(t)
	require.Equal(t, http.StatusNotFound, w.CallAs(t, "getResult", which, w.Acme.New, nil).Status)
	left := w.CallAs(t, "getCertificate", k["id"].(string), w.Acme.New, nil).Data(t)
	require.Equal(t, []any{"revoked", "erased", nil, nil, nil, nil},
		[]any{left["state"], left["reasonCode"], left["personId"], left["recipientName"], left["title"], left["resultId"]})
	require.Equal(t, "revoked", verify(t, w, k["number"].(string)).Data(t)["state"])
}

func testPrinted(t *testing.T, w *apitest.World) {
	k := w.Certified(t, w.Acme)
	pdf := w.CallAs(t, "getCertificatePDF", k["id"].(string), w.Scoped(contract.Latest, scope.ResultsRead), nil)
	require.Equal(t, "application/pdf", pdf.Header.Get("Content-Type"))
	require.True(t, strings.HasPrefix(string(pdf.Raw), "%PDF-1.7"))
	require.Equal(t, pdf.Raw, w.CallAs(t, "getCertificatePDF", k["id"].(string), w.Acme.New, nil).Raw)
	require.Equal(t, http.StatusOK, w.CallAs(t, "revokeCertificate", k["id"].(string), w.Acme.New, map[string]any{"reasonCode": "x"}).Status)
	conflicts(t, w.CallAs(t, "getCertificatePDF", k["id"].(string), w.Acme.New, nil), "revoked")
	conflicts(t, w.CallAs(t, "getCertificateBadge", k["id"].(string), w.Acme.New, nil), "revoked")
}
