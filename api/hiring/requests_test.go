package hiring_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/hiring/candidate"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/tenant"
)

// reasonOf is the reason for which a candidate cannot ask for something.
func reasonOf(t *testing.T, w *apitest.World, who id.Candidate, k candidate.RequestKind) error {
	t.Helper()
	return w.Tenants.InTx(t.Context(), w.Acme.ID, func(ctx context.Context, tx *tenant.Tx) error {
		_, err := candidate.Ask(ctx, tx, who, k, "", apitest.Moment())
		return err
	})
}

// answer answers a request as a hiring manager.
func answer(t *testing.T, w *apitest.World, which id.CandidateRequest, state, words string) apitest.Answer {
	t.Helper()
	return w.CallAs(t, "updateCandidateRequest", which.String(), w.Acme.New, map[string]any{"state": state, "decidedBy": w.HiringManager(t, w.Acme), "answer": words})
}

func TestCandidatesAskAndPeopleAnswer(t *testing.T) {
	t.Parallel()
	w := apitest.NewWorld(t)
	role := w.Role(t, w.Acme, nil)
	who := w.Arrive(t, w.Acme, w.Invite(t, w.Acme, role))
	help := w.Ask(t, w.Acme, who, candidate.Accommodation, "I need captions.")
	require.ErrorContains(t, reasonOf(t, w, who, candidate.Accommodation), candidate.ReasonRequestOpen)
	for _, k := range []candidate.RequestKind{candidate.Retake, candidate.Appeal, candidate.Explanation, "nonsense"} {
		require.ErrorContains(t, reasonOf(t, w, who, k), candidate.ReasonRequestUnfit, "%s", k)
	}
	data := w.Ask(t, w.Acme, who, candidate.DataAccess, "")

	list := w.CallAs(t, "listCandidateRequests", role, w.Acme.New, nil).JSON(t)["data"].([]any)
	require.Len(t, list, 2)
	require.Equal(t, []any{data.String(), help.String()}, []any{apitest.At(list[0], "id"), apitest.At(list[1], "id")}, "newest first")
	require.Equal(t, []any{"accommodation", "open", "I need captions.", nil}, []any{
		apitest.At(list[1], "kind"), apitest.At(list[1], "state"), apitest.At(list[1], "message"), apitest.At(list[1], "decidedBy"),
	})
	due, err := time.Parse(time.RFC3339, apitest.At(list[1], "dueAt").(string))
	require.NoError(t, err)
	require.InDelta(t, 10*24, time.Until(due).Hours(), 2)

	// Words are for who holds candidates:data alone, and nobody without it answers.
	full := w.Key(w.Acme, scope.Grant{Contract: contract.V20261001, FullAccess: true})
	require.NotContains(t, string(w.CallAs(t, "listCandidateRequests", role, full, nil).Raw), "captions")
	body := map[string]any{"state": "done", "decidedBy": w.HiringManager(t, w.Acme)}
	apitest.RequireError(t, w.CallAs(t, "updateCandidateRequest", help.String(), full, body), http.StatusForbidden, "forbidden", "")
	body["decidedBy"] = w.Learner(t, w.Acme)
	apitest.RequireError(t, w.CallAs(t, "updateCandidateRequest", help.String(), w.Acme.New, body), http.StatusBadRequest, "invalid_request", "body.decidedBy")
	apitest.RequireError(t, w.CallAs(t, "updateCandidateRequest", help.String(), w.Globex.New, body), http.StatusNotFound, "not_found", "path.id")
	apitest.RequireError(t, answer(t, w, help, "declined", ""), http.StatusBadRequest, "invalid_request", "body.answer")

	granted := answer(t, w, help, "granted", "You get them.")
	require.Equal(t, http.StatusOK, granted.Status, "%s", granted.Raw)
	require.Equal(t, []any{"granted", "You get them.", w.HiringManager(t, w.Acme)}, []any{granted.Data(t)["state"], granted.Data(t)["answer"], granted.Data(t)["decidedBy"]})
	require.Equal(t, candidate.ReasonRequestState, apitest.Reason(t, answer(t, w, help, "declined", "No."), "path.id"))
	require.Equal(t, http.StatusOK, answer(t, w, help, "done", "").Status)
	require.Equal(t, candidate.ReasonRequestState, apitest.Reason(t, answer(t, w, help, "done", ""), "path.id"))

	record, _ := recorded(t, w, who.String())
	require.Positive(t, record.Entries)
	raw := string(w.CallAs(t, "getCandidateCompliance", who.String(), w.Acme.New, nil).Raw)
	require.Equal(t, 2, strings.Count(raw, `"action":"request.made"`))
	require.Equal(t, 2, strings.Count(raw, `"action":"request.answered"`))
}

// Granting a retake lets the candidate be interviewed once more, as often as the role has it.
func TestAGrantedRetakeIsHeld(t *testing.T) {
	t.Parallel()
	w := apitest.NewWorld(t)
	role := w.Role(t, w.Acme, map[string]any{"retakes": 1})
	who := w.Arrive(t, w.Acme, w.Invite(t, w.Acme, role))
	w.Interview(t, w.Acme, who, apitest.UnsureAnswer, session.Left)
	_, err := w.StartInterview(t, w.Acme, who)
	require.ErrorContains(t, err, "held already")
	again := w.Ask(t, w.Acme, who, candidate.Retake, "My line was bad.")
	require.Equal(t, http.StatusOK, answer(t, w, again, "granted", "").Status)
	w.Interview(t, w.Acme, who, apitest.RightAnswer, session.EndedByUser)
	require.ErrorContains(t, reasonOf(t, w, who, candidate.Retake), candidate.ReasonRequestUnfit)
	_, err = w.StartInterview(t, w.Acme, who)
	require.ErrorContains(t, err, "held already")
	held := w.CallAs(t, "listScreenings", role, w.Acme.New, nil).JSON(t)["data"].([]any)
	require.Len(t, held, 2)
	require.Equal(t, []any{who.String(), "scored"}, []any{apitest.At(held[0], "candidateId"), apitest.At(held[0], "state")})
}

// An erasure that is done erases, at once and with everything that the candidate wrote.
func TestAnErasureThatIsAskedForErases(t *testing.T) {
	t.Parallel()
	w := apitest.NewWorld(t)
	role := w.Role(t, w.Acme, map[string]any{"location": map[string]any{"region": "IL", "country": "US"}, "notice": map[string]any{
		"text": map[string]any{"en": "An AI asks.", "de": "Eine KI fragt."}, "laws": []any{
			map[string]any{"law": "il_aivia", "version": "1", "text": map[string]any{"en": "A", "de": "B"}},
			map[string]any{"law": "il_hra", "version": "1", "text": map[string]any{"en": "A", "de": "B"}},
		},
	}})
	who := w.Arrive(t, w.Acme, marked(t, w, role))
	other := w.Ask(t, w.Acme, who, candidate.Correction, "I am "+apitest.Mark)
	gone := w.Ask(t, w.Acme, who, candidate.Erasing, "Forget "+apitest.Mark)
	require.True(t, apitest.PlacesOf(apitest.Marked(t, w))["shard-1.candidate_request"])
	apitest.RequireError(t, answer(t, w, gone, "granted", ""), http.StatusBadRequest, "invalid_request", "body.state")
	require.Equal(t, http.StatusOK, w.CallAs(t, "holdCandidate", who.String(), w.Acme.New, nil).Status)
	apitest.RequireError(t, answer(t, w, gone, "done", ""), http.StatusConflict, "on_hold", "path.id")
	require.Equal(t, http.StatusOK, w.CallAs(t, "unholdCandidate", who.String(), w.Acme.New, nil).Status)
	done := answer(t, w, gone, "done", "Gone, "+apitest.Mark)
	require.Equal(t, http.StatusOK, done.Status, "%s", done.Raw)
	require.Equal(t, []any{"done", nil, nil}, []any{done.Data(t)["state"], done.Data(t)["message"], done.Data(t)["answer"]})
	w.EraseCandidates(t)
	require.Empty(t, apitest.Marked(t, w))
	require.Equal(t, "request", apitest.At(w.Told(t, "candidate.erased")[0], "data", "trigger"))
	apitest.RequireError(t, answer(t, w, other, "done", ""), http.StatusGone, "gone", "path.id")
	for _, q := range w.CallAs(t, "listCandidateRequests", role, w.Acme.New, nil).JSON(t)["data"].([]any) {
		require.Equal(t, "done", apitest.At(q, "state"))
	}
}

func TestNobodyAsksWithoutEnd(t *testing.T) {
	t.Parallel()
	w := apitest.NewWorld(t)
	who := w.Arrive(t, w.Acme, w.Invite(t, w.Acme, w.Role(t, w.Acme, nil)))
	for range 50 {
		require.Equal(t, http.StatusOK, answer(t, w, w.Ask(t, w.Acme, who, candidate.DataAccess, ""), "done", "").Status)
	}
	require.ErrorContains(t, reasonOf(t, w, who, candidate.DataAccess), candidate.ReasonTooManyRequests)
}

// An appeal that is granted opens the decision again, once: what is decided then is another decision,
// and the one before stays on record.
func TestAGrantedAppealIsDecidedAnew(t *testing.T) {
	t.Parallel()
	w := apitest.NewWorld(t)
	role := w.Role(t, w.Acme, nil)
	who := w.Arrive(t, w.Acme, w.Invite(t, w.Acme, role))
	w.Interview(t, w.Acme, who, apitest.RightAnswer, session.Left)
	manager := w.HiringManager(t, w.Acme)
	decide := func(value, reason string) apitest.Answer {
		return w.CallAs(t, "decideCandidate", who.String(), w.Acme.New, map[string]any{"decision": value, "decidedBy": manager, "reasonCode": reason})
	}
	require.Equal(t, http.StatusOK, w.CallAs(t, "reviewCandidate", who.String(), w.Acme.New, map[string]any{"reviewerId": manager}).Status)
	require.Equal(t, http.StatusOK, decide("reject", "first_look").Status)

	declined := w.Ask(t, w.Acme, who, candidate.Appeal, "That was not me.")
	require.Equal(t, http.StatusOK, answer(t, w, declined, "declined", "It was.").Status)
	require.Equal(t, candidate.ReasonDecided, apitest.Reason(t, decide("advance", "second_look"), "path.id"))

	granted := w.Ask(t, w.Acme, who, candidate.Appeal, "I have the licence.")
	require.Equal(t, http.StatusOK, answer(t, w, granted, "granted", "We look again.").Status)
	x := read(t, w, "getCandidate", who.String())
	require.Equal(t, []any{"reviewed", "screening", "reject"}, []any{x["state"], x["stage"], apitest.At(x, "decision", "value")})
	require.NotNil(t, apitest.At(x, "decision", "reopenedAt"))
	require.ErrorContains(t, reasonOf(t, w, who, candidate.Appeal), candidate.ReasonRequestUnfit)
	require.Equal(t, http.StatusOK, decide("reject", "second_look").Status, "it can be decided as before")
	require.Equal(t, candidate.ReasonDecided, apitest.Reason(t, decide("advance", "third_look"), "path.id"))
	require.Equal(t, http.StatusOK, answer(t, w, granted, "done", "We looked.").Status)
	require.Equal(t, candidate.ReasonDecided, apitest.Reason(t, decide("advance", "third_look"), "path.id"), "one appeal, one decision")
	require.EqualValues(t, 1, apitest.At(read(t, w, "getRole", role), "counts", "rejected"))

	told := w.Told(t, "candidate.decided")
	require.Len(t, told, 2)
	record, _ := recorded(t, w, who.String())
	require.Positive(t, record.Entries)
	text := string(w.CallAs(t, "getCandidateCompliance", who.String(), w.Acme.New, nil).Raw)
	for _, part := range []string{"first_look", "decision.reopened", "second_look", granted.String()} {
		require.Contains(t, text, part)
	}
	var previous int
	for _, e := range told {
		if apitest.At(e, "data", "previousDecision") == "reject" {
			previous++
		}
	}
	require.Equal(t, 1, previous)
}
