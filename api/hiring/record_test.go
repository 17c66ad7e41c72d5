package hiring_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/hiring/candidate"
	"visavis.dev/pkg/hiring/record"
	"visavis.dev/pkg/hiring/screening"
	"visavis.dev/pkg/sessions/session"
)

// marked invites somebody who leaves a mark wherever candidates do.
func marked(t *testing.T, w *apitest.World, role string) map[string]any {
	t.Helper()
	body := map[string]any{"message": "Dear " + apitest.Mark, "candidates": []any{map[string]any{
		"name": "Kim " + apitest.Mark, "email": apitest.Mark + "@example.com", "phone": apitest.Mark, "externalId": apitest.Mark + "-1",
		"resumeUrl": "https://www.example.com/" + apitest.Mark, "metadata": map[string]any{"nick": apitest.Mark},
	}}}
	o := w.Operation(t, "createInvites")
	made := w.Call(t, o, apitest.Request{Path: apitest.WithID(o, role), Key: w.Acme.New, Body: body, Header: map[string]string{"Idempotency-Key": "invite"}})
	require.Equal(t, http.StatusCreated, made.Status, "%s", made.Raw)
	return made.Data(t)["invites"].([]any)[0].(map[string]any)
}

// recorded is the record of a candidate, as it verifies.
func recorded(t *testing.T, w *apitest.World, who string) (record.Verified, map[string]any) {
	t.Helper()
	answer := w.CallAs(t, "getCandidateCompliance", who, w.Acme.New, nil)
	require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Raw)
	var envelope struct {
		Data struct {
			Record json.RawMessage `json:"record"`
		} `json:"data"`
	}
	require.NoError(t, json.Unmarshal(answer.Raw, &envelope))
	v, err := record.Verify(envelope.Data.Record)
	require.NoError(t, err)
	require.Equal(t, true, apitest.At(answer.Data(t), "record", "intact"))
	return v, answer.Data(t)
}

// Whoever is erased is in no table of any database any more but by the record of what was done,
// which still verifies.
func TestAnErasedCandidateIsNowhere(t *testing.T) {
	t.Parallel()
	w := apitest.NewWorld(t)
	role := w.Role(t, w.Acme, nil)
	invite := marked(t, w, role)
	who := w.Arrive(t, w.Acme, invite)
	w.Interview(t, w.Acme, who, "The bowline, says "+apitest.Mark, session.EndedByUser)
	manager := w.HiringManager(t, w.Acme)
	require.Equal(t, http.StatusOK, w.CallAs(t, "reviewCandidate", who.String(), w.Acme.New, map[string]any{"reviewerId": manager}).Status)
	require.Equal(t, http.StatusOK, w.CallAs(t, "decideCandidate", who.String(), w.Acme.New, map[string]any{
		"decision": "reject", "decidedBy": manager, "reasonCode": "other", "note": "Not " + apitest.Mark,
	}).Status)
	before, shown := recorded(t, w, who.String())
	require.Equal(t, []any{true, "rubric", false}, []any{apitest.At(shown, "aiUse", "scored"), apitest.At(shown, "aiUse", "model"), apitest.At(shown, "aiUse", "substantialFactor")})
	require.Equal(t, "reject", apitest.At(shown, "decision", "value"))
	require.Equal(t, true, apitest.At(shown, "notices").([]any)[0].(map[string]any)["leadDaysMet"])
	places := apitest.PlacesOf(apitest.Marked(t, w))
	for _, place := range []string{"candidate", "candidate_invite", "candidate_words", "screening", "turn", "session"} {
		require.True(t, places["shard-1."+place], "nothing was left in %s, so this test shows nothing of it", place)
	}

	held := w.CallAs(t, "holdCandidate", who.String(), w.Acme.New, nil)
	require.Equal(t, http.StatusOK, held.Status, "%s", held.Raw)
	apitest.RequireError(t, w.CallAs(t, "eraseCandidate", who.String(), w.Acme.New, nil), http.StatusConflict, "on_hold", "path.id")
	require.Equal(t, http.StatusOK, w.CallAs(t, "unholdCandidate", who.String(), w.Acme.New, nil).Status)
	require.Equal(t, http.StatusAccepted, w.CallAs(t, "eraseCandidate", who.String(), w.Acme.New, nil).Status)
	w.EraseCandidates(t)
	require.Empty(t, apitest.Marked(t, w))
	require.Equal(t, http.StatusGone, w.CallAs(t, "getCandidate", who.String(), w.Acme.New, nil).Status)
	require.Equal(t, http.StatusGone, w.CallAs(t, "getCandidateInterview", who.String(), w.Acme.New, nil).Status)
	after, _ := recorded(t, w, who.String())
	require.Greater(t, after.Entries, before.Entries)
	require.Equal(t, 1, after.Erased)
	erased := w.Told(t, "candidate.erased")
	require.Len(t, erased, 1)
	require.Equal(t, "deletion", apitest.At(erased[0], "data", "trigger"))
	require.Empty(t, w.Told(t, "candidate.screened"), "nothing is told of them any more")
	_, err := w.Gate.ByInvite(t.Context(), w.Acme.ID, portalOf(t, w, role), candidate.Token("vhi_nonsense"))
	require.Error(t, err)
}

func portalOf(t *testing.T, w *apitest.World, role string) id.Portal {
	t.Helper()
	p, err := id.ParsePortal(read(t, w, "getRole", role)["portalId"].(string))
	require.NoError(t, err)
	return p
}

// What time does: invites expire, what was said is deleted, and candidates are erased.
func TestWhatTimeDoes(t *testing.T) {
	t.Parallel()
	w := apitest.NewWorld(t)
	role := w.Role(t, w.Acme, map[string]any{"location": map[string]any{"region": "CA", "country": "US"}, "notice": map[string]any{
		"text": map[string]any{"en": "An AI asks.", "de": "Eine KI fragt."},
		"laws": []any{map[string]any{"law": "ca_crc", "version": "1", "text": map[string]any{"en": "A", "de": "B"}}},
	}})
	unused := w.Invite(t, w.Acme, role)
	who := w.Arrive(t, w.Acme, w.Invite(t, w.Acme, role))
	w.Interview(t, w.Acme, who, apitest.RightAnswer, session.EndedByUser)
	now := apitest.Moment()
	n, err := candidate.Expire(t.Context(), w.Tenants, "shard-1", now.AddDate(0, 0, 22))
	require.NoError(t, err)
	require.Equal(t, 1, n, "one was used")
	require.Equal(t, unused["id"], apitest.At(w.Told(t, "candidate.invite_expired")[0], "data", "inviteId"))

	eraser := &candidate.Eraser{Silence: screening.Silence}
	_, err = eraser.Quiet(t.Context(), w.Tenants, "shard-1", now.AddDate(0, 0, 120))
	require.NoError(t, err)
	_, err = candidate.Retain(t.Context(), w.Tenants, "shard-1", now.AddDate(20, 0, 0))
	require.NoError(t, err)
	require.Equal(t, "screened", read(t, w, "getCandidate", who.String())["state"], "nobody has decided")
	manager := w.HiringManager(t, w.Acme)
	require.Equal(t, http.StatusOK, w.CallAs(t, "reviewCandidate", who.String(), w.Acme.New, map[string]any{"reviewerId": manager}).Status)
	decision := map[string]any{"decision": "reject", "decidedBy": manager, "reasonCode": "other"}
	require.Equal(t, http.StatusOK, w.CallAs(t, "decideCandidate", who.String(), w.Acme.New, decision).Status)
	require.Contains(t, string(w.CallAs(t, "getCandidateInterview", who.String(), w.Acme.New, nil).Raw), apitest.RightAnswer)
	for _, hold := range []string{"holdCandidate", "unholdCandidate"} {
		require.Equal(t, http.StatusOK, w.CallAs(t, hold, who.String(), w.Acme.New, nil).Status)
	}
	_, err = eraser.Quiet(t.Context(), w.Tenants, "shard-1", now.AddDate(0, 0, 92))
	require.NoError(t, err)
	interview := read(t, w, "getCandidateInterview", who.String())
	require.NotContains(t, interview, apitest.RightAnswer)
	require.NotEqual(t, apitest.RightAnswer, apitest.At(interview["questions"].([]any)[0], "answer"))
	until, err := time.Parse(time.RFC3339, read(t, w, "getCandidate", who.String())["retentionUntil"].(string))
	require.NoError(t, err)
	require.Greater(t, time.Until(until), 3*365*24*time.Hour, "California keeps records for four years")
	_, err = candidate.Retain(t.Context(), w.Tenants, "shard-1", until.Add(time.Hour))
	require.NoError(t, err)
	require.Equal(t, http.StatusGone, w.CallAs(t, "getCandidate", who.String(), w.Acme.New, nil).Status)
}
