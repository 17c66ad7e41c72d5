package hiring_test

import (
	"context"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/hiring/candidate"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/tenant"
)

func read(t *testing.T, w *apitest.World, operation, of string) map[string]any {
	t.Helper()
	answer := w.CallAs(t, operation, of, w.Acme.New, nil)
	require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Raw)
	return answer.Data(t)
}

// told are the types of the events about candidates, oldest first.
func told(t *testing.T, w *apitest.World) []string {
	t.Helper()
	var types []string
	for _, kind := range []string{"candidate.invited", "candidate.invite_opened", "candidate.screened", "candidate.reviewed", "candidate.decided", "candidate.invite_cancelled", "candidate.invite_expired", "candidate.erased"} {
		for range w.Told(t, kind) {
			types = append(types, kind)
		}
	}
	return types
}

// The whole path: a role opens, somebody is invited, comes, agrees, is interviewed, reviewed, and
// decided on by a person.
func TestACandidateIsInterviewedAndDecidedOn(t *testing.T) {
	t.Parallel()
	w := apitest.NewWorld(t)
	role := w.Role(t, w.Acme, nil)
	require.Equal(t, "open", read(t, w, "getRole", role)["state"])
	invite := w.Invite(t, w.Acme, role)
	require.Equal(t, "created", invite["state"])
	who := w.Arrive(t, w.Acme, invite)
	require.Equal(t, "opened", read(t, w, "getInvite", invite["id"].(string))["state"])

	manager := w.HiringManager(t, w.Acme)
	early := w.CallAs(t, "reviewCandidate", who.String(), w.Acme.New, map[string]any{"reviewerId": manager})
	require.Equal(t, candidate.ReasonNotScreened, apitest.Reason(t, early, "path.id"))

	s := w.Interview(t, w.Acme, who, apitest.RightAnswer, session.EndedByUser)
	x := read(t, w, "getCandidate", who.String())
	require.Equal(t, "screened", x["state"])
	require.Nil(t, x["scorecard"], "before anybody has read it")

	decision := map[string]any{"decision": "reject", "decidedBy": manager, "reasonCode": "other_candidate"}
	refused := w.CallAs(t, "decideCandidate", who.String(), w.Acme.New, decision)
	require.Equal(t, candidate.ReasonNotReviewed, apitest.Reason(t, refused, "path.id"))

	interview := read(t, w, "getCandidateInterview", who.String())
	questions := interview["questions"].([]any)
	at := slices.IndexFunc(questions, func(q any) bool { return apitest.At(q, "key") == "loop" })
	require.Equal(t, apitest.RightAnswer, apitest.At(questions[at], "answer"))
	require.Empty(t, apitest.At(questions[at], "scores"))

	stranger := w.CallAs(t, "reviewCandidate", who.String(), w.Acme.New, map[string]any{"reviewerId": w.Learner(t, w.Acme)})
	apitest.RequireError(t, stranger, http.StatusBadRequest, "invalid_request", "body.reviewerId")
	reviewed := w.CallAs(t, "reviewCandidate", who.String(), w.Acme.New, map[string]any{"reviewerId": manager})
	require.Equal(t, http.StatusOK, reviewed.Status, "%s", reviewed.Raw)
	card := reviewed.Data(t)["scorecard"].(map[string]any)
	require.Equal(t, true, card["advisory"])
	require.EqualValues(t, 100, card["percent"])

	decided := w.CallAs(t, "decideCandidate", who.String(), w.Acme.New, decision)
	require.Equal(t, http.StatusOK, decided.Status, "%s", decided.Raw)
	require.Equal(t, true, apitest.At(decided.Data(t), "decision", "humanReviewed"))
	again := w.CallAs(t, "decideCandidate", who.String(), w.Acme.New, decision)
	require.Equal(t, candidate.ReasonDecided, apitest.Reason(t, again, "path.id"))

	// It is no session to anybody.
	for _, operation := range []string{"getSession", "getTranscript", "getSessionAnalytics"} {
		apitest.RequireError(t, w.CallAs(t, operation, s.ID.String(), w.Acme.New, nil), http.StatusForbidden, "candidate_interview", "path.id")
	}
	require.NotContains(t, string(w.CallAs(t, "listSessions", "", w.Acme.New, nil).Raw), s.ID.String())
	counts := read(t, w, "getRole", role)["counts"].(map[string]any)
	require.Equal(t, map[string]any{"invited": 1.0, "opened": 1.0, "screened": 1.0, "reviewed": 1.0, "advanced": 0.0, "rejected": 1.0, "hired": 0.0}, counts)
	require.Equal(t, []string{"candidate.invited", "candidate.invite_opened", "candidate.screened", "candidate.reviewed", "candidate.decided"}, told(t, w))
	screened := apitest.At(w.Told(t, "candidate.screened")[0], "data").(map[string]any)
	require.EqualValues(t, 100, screened["percent"])
	require.NotContains(t, string(w.CallAs(t, "listEvents", "", w.Acme.New, nil).Raw), apitest.RightAnswer)
}

func TestARoleOpensWithAllThatTheLawsWant(t *testing.T) {
	t.Parallel()
	w := apitest.NewWorld(t)
	body := w.RoleBody(t, w.Acme)
	body["location"] = map[string]any{"city": "New York", "region": "NY", "country": "US", "timezone": "America/New_York"}
	body["notice"], body["biasAudit"], body["hiringManagerIds"], body["alternativeProcess"] = map[string]any{"text": map[string]any{"en": "An AI asks."}}, nil, []any{}, ""
	made := w.CallAs(t, "createRole", "", w.Acme.New, body)
	require.Equal(t, http.StatusCreated, made.Status, "%s", made.Raw)
	require.Equal(t, []any{"nyc_ll144"}, apitest.At(made.Data(t), "notice", "required"))
	require.EqualValues(t, 10, apitest.At(made.Data(t), "notice", "leadDays"))
	role := made.Data(t)["id"].(string)
	refused := apitest.RequireError(t, w.CallAs(t, "updateRole", role, w.Acme.New, map[string]any{"state": "open"}), http.StatusUnprocessableEntity, "go_live_refused", "")
	var fields []string
	for _, p := range apitest.At(refused, "details", "problems").([]any) {
		fields = append(fields, apitest.At(p, "field").(string))
	}
	require.ElementsMatch(t, []string{"hiringManagerIds", "alternativeProcess", "notice.text.de", "notice.laws", "notice.laws", "biasAudit"}, fields)
	require.Equal(t, "role_not_open", apitest.Reason(t, w.CallAs(t, "createInvites", role, w.Acme.New, w.InvitesBody()), "path.id"))

	told := map[string]any{"en": "A tool is used.", "de": "Ein Werkzeug wird benutzt."}
	full := map[string]any{
		"state": "open", "hiringManagerIds": []any{w.HiringManager(t, w.Acme)}, "alternativeProcess": "Write to us.",
		"biasAudit": map[string]any{"date": time.Now().AddDate(0, -2, 0).Format(time.DateOnly), "auditor": "Example", "url": "https://www.example.com/"},
		"notice":    map[string]any{"text": told, "laws": []any{map[string]any{"law": "nyc_ll144", "version": "2", "text": told}}},
	}
	opened := w.CallAs(t, "updateRole", role, w.Acme.New, full)
	require.Equal(t, http.StatusOK, opened.Status, "%s", opened.Raw)

	// The ten business days begin when the candidate is told, and nobody is interviewed before.
	who := w.Arrive(t, w.Acme, w.Invite(t, w.Acme, role))
	_, err := w.StartInterview(t, w.Acme, who)
	require.ErrorContains(t, err, "time that lies between")
	from, err := time.Parse(time.RFC3339, read(t, w, "getCandidate", who.String())["startsFrom"].(string))
	require.NoError(t, err)
	require.Greater(t, time.Until(from), 11*24*time.Hour, "from a Sunday there are twelve")
}

func TestNobodyOfABatchIsInvitedWhereSomebodyCannotBe(t *testing.T) {
	t.Parallel()
	w := apitest.NewWorld(t)
	role := w.Role(t, w.Acme, nil)
	first := w.InvitesBody()
	require.Equal(t, http.StatusCreated, w.CallAs(t, "createInvites", role, w.Acme.New, first).Status)
	known := first["candidates"].([]any)[0].(map[string]any)
	batch := map[string]any{"candidates": []any{
		map[string]any{"name": "A", "email": "a@example.com"}, map[string]any{"name": "B", "email": "A@example.com"}, map[string]any{"name": "C", "email": "nonsense"},
		map[string]any{"name": "D", "externalId": known["externalId"]}, map[string]any{"name": "E", "language": "fr"},
	}}
	refused := apitest.RequireError(t, w.CallAs(t, "createInvites", role, w.Acme.New, batch), http.StatusBadRequest, "invalid_request", "body.candidates[4].language")
	require.Len(t, apitest.At(refused, "details", "items"), 1)
	batch["candidates"] = batch["candidates"].([]any)[:4]
	refused = apitest.RequireError(t, w.CallAs(t, "createInvites", role, w.Acme.New, batch), http.StatusBadRequest, "invalid_request", "")
	require.Len(t, apitest.At(refused, "details", "items"), 3, "%v", refused)
	require.Len(t, w.CallAs(t, "listCandidates", role, w.Acme.New, nil).JSON(t)["data"], 1)
}

// What is interrupted by no fault of the candidate does not count.
func TestAnInterruptedInterviewBeginsAgain(t *testing.T) {
	t.Parallel()
	w := apitest.NewWorld(t)
	role := w.Role(t, w.Acme, nil)
	who := w.Arrive(t, w.Acme, w.Invite(t, w.Acme, role))
	w.Interview(t, w.Acme, who, "", session.ConnectionLost)
	x := read(t, w, "getCandidate", who.String())
	require.Equal(t, []any{"opened", "voided"}, []any{x["state"], apitest.At(x, "interview", "state")})
	w.Interview(t, w.Acme, who, apitest.UnsureAnswer, session.Left)
	require.Equal(t, "screened", read(t, w, "getCandidate", who.String())["state"])
	_, err := w.StartInterview(t, w.Acme, who)
	require.ErrorContains(t, err, "held already")
}

// A second tab, or an impatient hand, leaves one interview at a time.
func TestACandidateHasOneInterviewAtATime(t *testing.T) {
	t.Parallel()
	w := apitest.NewWorld(t)
	who := w.Arrive(t, w.Acme, w.Invite(t, w.Acme, w.Role(t, w.Acme, nil)))
	_, err := w.StartInterview(t, w.Acme, who)
	require.NoError(t, err)
	second, err := w.StartInterview(t, w.Acme, who)
	require.NoError(t, err, "nobody came to the first")
	in := func(fn func(context.Context, *tenant.Tx) error) {
		require.NoError(t, w.Tenants.InTx(t.Context(), w.Acme.ID, fn))
	}
	now := apitest.Moment()
	in(func(ctx context.Context, tx *tenant.Tx) error {
		_, err := session.Attach(ctx, tx, second.ID, uuid.New(), plan.Terms{}, now)
		return err
	})
	w.ScoreInterviews(t)
	require.Equal(t, "in_progress", read(t, w, "getCandidate", who.String())["state"])
	_, err = w.StartInterview(t, w.Acme, who)
	require.ErrorContains(t, err, "under way")
	in(func(ctx context.Context, tx *tenant.Tx) error {
		_, err := session.End(ctx, tx, second.ID, session.Ending{Reason: session.Left, At: now})
		return err
	})
	_, err = w.StartInterview(t, w.Acme, who)
	require.ErrorContains(t, err, "under way", "it is not known yet whether it counts")
	w.ScoreInterviews(t)
	require.Equal(t, "screened", read(t, w, "getCandidate", who.String())["state"])
	require.Equal(t, second.ID.String(), read(t, w, "getCandidateInterview", who.String())["sessionId"])
}

// Nobody begins without end: each time takes a place of the organization.
func TestACandidateBeginsSoOften(t *testing.T) {
	t.Parallel()
	w := apitest.NewWorld(t)
	who := w.Arrive(t, w.Acme, w.Invite(t, w.Acme, w.Role(t, w.Acme, nil)))
	for range 20 {
		_, err := w.StartInterview(t, w.Acme, who)
		require.NoError(t, err)
	}
	_, err := w.StartInterview(t, w.Acme, who)
	require.ErrorContains(t, err, "too often")
	require.Equal(t, http.StatusAccepted, w.CallAs(t, "eraseCandidate", who.String(), w.Acme.New, nil).Status)
	w.EraseCandidates(t)
	require.Len(t, w.Told(t, "candidate.erased"), 1)
}

func TestWithoutTheOwnersScopeNobodyReadsAnInterview(t *testing.T) {
	t.Parallel()
	w := apitest.NewWorld(t)
	role := w.Role(t, w.Acme, nil)
	who := w.Arrive(t, w.Acme, w.Invite(t, w.Acme, role))
	w.Interview(t, w.Acme, who, apitest.RightAnswer, session.Left)
	full := w.Key(w.Acme, scope.Grant{Contract: contract.V20261001, FullAccess: true})
	old := w.Key(w.Acme, scope.Grant{Contract: contract.V20260708, FullAccess: true})
	require.Equal(t, http.StatusOK, w.CallAs(t, "getCandidate", who.String(), full, nil).Status)
	apitest.RequireError(t, w.CallAs(t, "getCandidateInterview", who.String(), full, nil), http.StatusForbidden, "forbidden", "")
	require.Equal(t, http.StatusForbidden, w.CallAs(t, "getCandidate", who.String(), old, nil).Status)
	require.Equal(t, http.StatusForbidden, w.CallAs(t, "eraseCandidate", who.String(), full, nil).Status)
}

func TestABlindRoleHidesWhoItIs(t *testing.T) {
	t.Parallel()
	w := apitest.NewWorld(t)
	role := w.Role(t, w.Acme, map[string]any{"blind": true})
	who := w.Arrive(t, w.Acme, w.Invite(t, w.Acme, role))
	w.Interview(t, w.Acme, who, apitest.RightAnswer, session.Left)
	x := read(t, w, "getCandidate", who.String())
	require.Equal(t, []any{nil, nil, nil, nil, nil}, []any{x["name"], x["email"], x["phone"], x["resumeUrl"], x["externalId"]})
	reviewed := w.CallAs(t, "reviewCandidate", who.String(), w.Acme.New, map[string]any{"reviewerId": w.HiringManager(t, w.Acme)})
	require.Nil(t, reviewed.Data(t)["name"], "nobody has decided")
	for decision, named := range map[string]bool{"hold": false, "advance": true} {
		other := w.Arrive(t, w.Acme, w.Invite(t, w.Acme, role))
		decided := w.CallAs(t, "decideCandidate", other.String(), w.Acme.New, map[string]any{
			"decision": decision, "decidedBy": w.HiringManager(t, w.Acme), "reasonCode": "good",
		})
		require.Equal(t, http.StatusOK, decided.Status, "%s", decided.Raw)
		require.Equal(t, named, decided.Data(t)["name"] != nil, decision)
	}
}
