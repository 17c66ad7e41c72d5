package hiring_test

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/mail"
	"visavis.dev/pkg/hiring/candidate"
	"visavis.dev/pkg/hiring/screening"
	"visavis.dev/pkg/sessions/inbox"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/tenant"
)

const shard = "shard-1"

// sentTo sends what waits, and answers the mails to an address.
func sentTo(t *testing.T, w *apitest.World, address string) (found []mail.Message) {
	t.Helper()
	w.InTx(t, func(ctx context.Context, tx *tenant.Tx) error { // what was queued at a moment that lies ahead goes out now
		_, err := tx.Exec(ctx, `UPDATE job SET due_at = now() WHERE org_id = $1 AND kind IN ('mail_send', 'hiring_mail') AND due_at > now()`, tx.Org)
		return err
	})
	box := &postbox{}
	w.Post(t, box)
	for _, m := range box.sent {
		if m.To == address {
			found = append(found, m)
		}
	}
	return found
}

// addressOf is the mail address of one of the hiring managers.
func addressOf(t *testing.T, w *apitest.World, manager string) string {
	t.Helper()
	which, err := id.ParsePerson(manager)
	require.NoError(t, err)
	w.InTx(t, func(ctx context.Context, tx *tenant.Tx) error {
		_, err := tx.Exec(ctx, `UPDATE person SET email = 'manager@example.com' WHERE org_id = $1 AND id = $2`, tx.Org, which)
		return err
	})
	return "manager@example.com"
}

// decideOn reviews a candidate's interview, if there was one, and decides.
func decideOn(t *testing.T, w *apitest.World, who id.Candidate, value string, reviewed bool) {
	t.Helper()
	manager := w.HiringManager(t, w.Acme)
	if reviewed {
		require.Equal(t, http.StatusOK, w.CallAs(t, "reviewCandidate", who.String(), w.Acme.New, map[string]any{"reviewerId": manager}).Status)
	}
	decided := w.CallAs(t, "decideCandidate", who.String(), w.Acme.New, map[string]any{"decision": value, "decidedBy": manager, "reasonCode": "other"})
	require.Equal(t, http.StatusOK, decided.Status, "%s", decided.Raw)
}

// The hiring team is told of a request when it comes, before it is due and when it is overdue, each
// time once, without a word of the candidate's; and the candidate is mailed the answer.
func TestTheTeamIsToldOfRequestsAndTheCandidateOfAnswers(t *testing.T) {
	t.Parallel()
	w := apitest.NewWorld(t)
	role := w.Role(t, w.Acme, map[string]any{"title": "Head rigger"})
	team := addressOf(t, w, w.HiringManager(t, w.Acme))
	who := w.Arrive(t, w.Acme, w.Invite(t, w.Acme, role))
	help := w.Ask(t, w.Acme, who, candidate.Accommodation, "I need captions.")
	told := sentTo(t, w, team)
	require.Len(t, told, 1)
	for _, part := range []string{"has asked for something", "Head rigger", "help to take part", help.String(), who.String()} {
		require.Contains(t, told[0].Text, part)
	}
	for _, secret := range []string{"captions", "Kim"} {
		require.NotContains(t, told[0].Text+told[0].Subject, secret)
	}
	now := apitest.Moment()
	watch := func(days int) (texts []string) {
		for range 2 { // another worker, or the same one again
			_, err := candidate.WatchRequests(t.Context(), w.Tenants, shard, now.AddDate(0, 0, days))
			require.NoError(t, err)
		}
		for _, m := range sentTo(t, w, team) {
			texts = append(texts, m.Text)
		}
		return texts
	}
	require.Empty(t, watch(6))
	soon := watch(8)
	require.Len(t, soon, 1)
	require.Contains(t, soon[0], "due soon")
	late := watch(11)
	require.Len(t, late, 1)
	require.Contains(t, late[0], "overdue")
	require.Empty(t, watch(30))

	other := w.Ask(t, w.Acme, who, candidate.DataAccess, "")
	require.Len(t, sentTo(t, w, team), 1)
	require.Equal(t, http.StatusOK, answer(t, w, help, "granted", "You get captions from us.").Status)
	require.Equal(t, http.StatusOK, answer(t, w, other, "declined", "You have them already.").Status)
	require.Empty(t, watch(60), "both are answered")
	raw := string(w.CallAs(t, "getCandidateCompliance", who.String(), w.Acme.New, nil).Raw)
	require.Equal(t, 2, strings.Count(raw, `"action":"answer.sent"`))
}

// An answer comes by mail, with a link to the page where it stands.
func TestAnAnswerIsMailed(t *testing.T) {
	t.Parallel()
	w := apitest.NewWorld(t)
	role := w.Role(t, w.Acme, nil)
	who := w.Arrive(t, w.Acme, w.Invite(t, w.Acme, role))
	w.Interview(t, w.Acme, who, apitest.RightAnswer, session.Left)
	decideOn(t, w, who, "reject", true)
	address := read(t, w, "getCandidate", who.String())["email"].(string)
	require.Empty(t, sentTo(t, w, address), "nobody wanted them to be told")
	require.Nil(t, read(t, w, "getCandidateCompliance", who.String())["explanationSentAt"])
	why := w.Ask(t, w.Acme, who, candidate.Explanation, "Why?")
	require.Equal(t, http.StatusOK, answer(t, w, why, "granted", "You hear from us.").Status)
	require.Len(t, sentTo(t, w, address), 1)
	require.Nil(t, read(t, w, "getCandidateCompliance", who.String())["explanationSentAt"], "that explains nothing yet")
	require.Equal(t, http.StatusOK, answer(t, w, why, "done", "Somebody had the licence.").Status)
	letters := sentTo(t, w, address)
	require.Len(t, letters, 1)
	require.Contains(t, letters[0].Text, "Somebody had the licence.")
	token := tokenOf.FindStringSubmatch(letters[0].Text)
	require.Len(t, token, 2)
	require.NoError(t, come(t, w, role, "#invite="+token[1])())
	require.NotNil(t, read(t, w, "getCandidateCompliance", who.String())["explanationSentAt"], "the answer explains the decision")
}

// What was not said with the decision is mailed afterwards, and Colorado's days are watched until then.
func TestARejectionIsExplainedLater(t *testing.T) {
	t.Parallel()
	w := apitest.NewWorld(t)
	told := map[string]any{"en": "A tool is used.", "de": "Ein Werkzeug wird benutzt."}
	role := w.Role(t, w.Acme, map[string]any{"location": map[string]any{"region": "CO", "country": "US"}, "notice": map[string]any{
		"text": told, "laws": []any{map[string]any{"law": "co_sb26_189", "version": "1", "text": told}},
	}})
	manager := w.HiringManager(t, w.Acme)
	team := addressOf(t, w, manager)
	explain := func(who id.Candidate) apitest.Answer {
		return w.CallAs(t, "explainDecision", who.String(), w.Acme.New, map[string]any{"explainedBy": manager, "explanation": "Somebody had the licence."})
	}
	rejected := func() id.Candidate {
		who := w.Arrive(t, w.Acme, w.Invite(t, w.Acme, role))
		require.Equal(t, candidate.ReasonUndecided, apitest.Reason(t, explain(who), "path.id"))
		decideOn(t, w, who, "reject", false)
		return who
	}
	first, second := rejected(), rejected()
	x := read(t, w, "getCandidateCompliance", first.String())
	require.Nil(t, x["explanationSentAt"])
	require.InDelta(t, 30*24, time.Until(timeOf(t, x, "explanationDueAt")).Hours(), 2)
	require.Equal(t, http.StatusOK, explain(first).Status)
	letters := sentTo(t, w, read(t, w, "getCandidate", first.String())["email"].(string))
	require.Len(t, letters, 1)
	require.Contains(t, letters[0].Text, "Somebody had the licence.")
	require.NotNil(t, read(t, w, "getCandidateCompliance", first.String())["explanationSentAt"])

	now := apitest.Moment()
	for _, step := range []struct {
		days int
		want string
	}{{26, ""}, {28, "due soon"}, {28, ""}, {31, "overdue"}, {60, ""}} {
		_, err := candidate.WatchExplanations(t.Context(), w.Tenants, shard, now.AddDate(0, 0, step.days))
		require.NoError(t, err)
		mails := sentTo(t, w, team)
		if step.want == "" {
			require.Empty(t, mails, "%d", step.days)
			continue
		}
		require.Len(t, mails, 1, "of the second alone")
		require.Contains(t, mails[0].Text, step.want)
		require.Contains(t, mails[0].Text, second.String())
	}
}

// Whoever withdraws is told of: an event, and a mail to the team.
func TestAWithdrawalIsTold(t *testing.T) {
	t.Parallel()
	w := apitest.NewWorld(t)
	role := w.Role(t, w.Acme, nil)
	team := addressOf(t, w, w.HiringManager(t, w.Acme))
	who := w.Arrive(t, w.Acme, w.Invite(t, w.Acme, role))
	for range 2 {
		w.InTx(t, func(ctx context.Context, tx *tenant.Tx) error {
			_, err := screening.Withdraw(ctx, tx, who, apitest.Moment())
			return err
		})
	}
	told := w.Told(t, "candidate.decided")
	require.Len(t, told, 1)
	require.Equal(t, []any{"withdrawn", nil, who.String()}, []any{apitest.At(told[0], "data", "decision"), apitest.At(told[0], "data", "decidedBy"), apitest.At(told[0], "data", "candidateId")})
	require.Len(t, sentTo(t, w, team), 1)
}

// Who lost the link after the decision gets another by mail, also where the role takes nobody any
// more, and asks by it for what is theirs to ask for.
func TestALinkIsSentAgainAfterTheDecision(t *testing.T) {
	t.Parallel()
	w := apitest.NewWorld(t)
	role := w.Role(t, w.Acme, nil)
	invite := w.Invite(t, w.Acme, role)
	who := w.Arrive(t, w.Acme, invite)
	w.Interview(t, w.Acme, who, apitest.RightAnswer, session.Left)
	decideOn(t, w, who, "reject", true)
	require.Equal(t, http.StatusOK, w.CallAs(t, "updateRole", role, w.Acme.New, map[string]any{"state": "closed"}).Status)
	kept := read(t, w, "getCandidate", who.String())["retentionUntil"]

	corrected := w.CallAs(t, "updateCandidate", who.String(), w.Acme.New, map[string]any{"name": "Kim Lee", "email": "Kim.Lee@example.com"})
	require.Equal(t, http.StatusOK, corrected.Status, "%s", corrected.Raw)
	require.Equal(t, "Kim Lee", corrected.Data(t)["name"])
	again := w.CallAs(t, "resendInvite", invite["id"].(string), w.Acme.New, map[string]any{"send": true})
	require.Equal(t, http.StatusOK, again.Status, "%s", again.Raw)
	letters := sentTo(t, w, corrected.Data(t)["email"].(string))
	require.Len(t, letters, 1)
	require.Contains(t, letters[0].Text, "new link")
	token := tokenOf.FindStringSubmatch(letters[0].Text)
	require.Len(t, token, 2)
	require.NoError(t, come(t, w, role, "https://x.example/link#invite="+token[1])())
	require.False(t, w.Ask(t, w.Acme, who, candidate.Appeal, "Look again.").IsZero())
	require.Equal(t, kept, read(t, w, "getCandidate", who.String())["retentionUntil"], "a link keeps nobody for longer")
}

// A correction is of one candidate's own name and contact, says what was corrected and no word of it,
// and takes nobody else's address.
func TestACandidateIsCorrected(t *testing.T) {
	t.Parallel()
	w := apitest.NewWorld(t)
	role := w.Role(t, w.Acme, nil)
	other := w.Arrive(t, w.Acme, w.Invite(t, w.Acme, role))
	who := w.Arrive(t, w.Acme, w.Invite(t, w.Acme, role))
	change := func(body map[string]any) apitest.Answer {
		return w.CallAs(t, "updateCandidate", who.String(), w.Acme.New, body)
	}
	taken := read(t, w, "getCandidate", other.String())["email"].(string)
	for _, email := range []string{"nonsense", strings.ToUpper(taken)} {
		apitest.RequireError(t, change(map[string]any{"email": email}), http.StatusBadRequest, "invalid_request", "body.email")
	}
	apitest.RequireError(t, w.CallAs(t, "updateCandidate", who.String(), w.Globex.New, map[string]any{"name": "Eve"}), http.StatusNotFound, "not_found", "path.id")
	before := w.CallAs(t, "getCandidate", who.String(), w.Acme.New, nil)
	require.Equal(t, before.Header.Get("ETag"), change(map[string]any{"name": before.Data(t)["name"]}).Header.Get("ETag"), "nothing changes")
	apitest.RequireError(t, change(map[string]any{"name": "Robin\r\nBcc: eve@example.com"}), http.StatusBadRequest, "invalid_request", "body.name")
	require.Nil(t, change(map[string]any{"phone": ""}).Data(t)["phone"])
	require.Equal(t, http.StatusOK, w.CallAs(t, "holdCandidate", who.String(), w.Acme.New, nil).Status)
	apitest.RequireError(t, change(map[string]any{"name": "Robin Ray"}), http.StatusConflict, "on_hold", "path.id")
	require.Equal(t, http.StatusOK, w.CallAs(t, "unholdCandidate", who.String(), w.Acme.New, nil).Status)
	changed := change(map[string]any{"name": "Robin Ray", "email": nil, "phone": nil})
	require.Equal(t, []any{"Robin Ray", nil, nil}, []any{changed.Data(t)["name"], changed.Data(t)["email"], changed.Data(t)["phone"]})
	raw := string(w.CallAs(t, "getCandidateCompliance", who.String(), w.Acme.New, nil).Raw)
	require.Contains(t, raw, "candidate.corrected")
	require.NotContains(t, raw, "Robin")
}

// Who was mailed an invite and does not begin is reminded a week and a day before it ends, each time
// once however many look, and every link they have opens it.
func TestCandidatesAreReminded(t *testing.T) {
	t.Parallel()
	w := apitest.NewWorld(t)
	role := w.Role(t, w.Acme, nil)
	box := &postbox{}
	invite, letter := mailed(t, w, role, box)
	first := tokenOf.FindStringSubmatch(letter.Text)[1]
	expires := timeOf(t, invite, "expiresAt")
	reminders := &candidate.Reminders{Outbox: w.Gate.Mails}
	remind := func(at time.Time) []mail.Message {
		var wait sync.WaitGroup
		for range 4 {
			wait.Go(func() { _, _ = reminders.Remind(t.Context(), w.Tenants, shard, at) })
		}
		wait.Wait()
		_, err := reminders.Remind(t.Context(), w.Tenants, shard, at)
		require.NoError(t, err)
		return sentTo(t, w, letter.To)
	}
	require.Empty(t, remind(expires.AddDate(0, 0, -8)))
	week := remind(expires.AddDate(0, 0, -7).Add(time.Minute))
	require.Len(t, week, 1)
	second := tokenOf.FindStringSubmatch(week[0].Text)[1]
	require.NotEqual(t, first, second)
	require.EqualValues(t, 1, read(t, w, "getInvite", invite["id"].(string))["remindersSent"])
	for _, token := range []string{first, second} {
		require.NoError(t, come(t, w, role, "#invite="+token)(), "both links are good")
	}
	require.Empty(t, remind(expires.AddDate(0, 0, -3)))
	day := remind(expires.Add(-23 * time.Hour))
	require.Len(t, day, 1)
	for _, token := range []string{first, second, tokenOf.FindStringSubmatch(day[0].Text)[1]} {
		require.NoError(t, come(t, w, role, "#invite="+token)(), "so is that of the reminder before")
	}
	require.Empty(t, remind(expires.Add(-time.Hour)))
	require.EqualValues(t, 2, read(t, w, "getInvite", invite["id"].(string))["remindersSent"])

	// Whoever begins is not reminded, nor who sends their links themselves.
	role = w.Role(t, w.Acme, nil)
	begun, note := mailed(t, w, role, box)
	letter = note
	who := w.Arrive(t, w.Acme, begun)
	_, err := w.StartInterview(t, w.Acme, who)
	require.NoError(t, err)
	w.Invite(t, w.Acme, role)
	require.Empty(t, remind(timeOf(t, begun, "expiresAt").Add(-23*time.Hour)))
}

// Whoever asks for a person in their interview has asked for another way than it, once, and the team is
// told.
func TestAskingForAPersonInTheInterviewIsARequest(t *testing.T) {
	t.Parallel()
	w := apitest.NewWorld(t)
	role := w.Role(t, w.Acme, nil)
	team := addressOf(t, w, w.HiringManager(t, w.Acme))
	who := w.Arrive(t, w.Acme, w.Invite(t, w.Acme, role))
	s, err := w.StartInterview(t, w.Acme, who)
	require.NoError(t, err)
	for range 2 {
		w.InTx(t, func(ctx context.Context, tx *tenant.Tx) error {
			return screening.AskForPerson(ctx, tx, s.ID, inbox.ByAvatar, apitest.Moment())
		})
	}
	list := w.CallAs(t, "listCandidateRequests", role, w.Acme.New, nil).JSON(t)["data"].([]any)
	require.Len(t, list, 1)
	require.Contains(t, string(w.CallAs(t, "getCandidateCompliance", who.String(), w.Acme.New, nil).Raw), `\"requestedBy\":\"avatar\"`)
	require.Equal(t, []any{"human_alternative", "open", who.String()}, []any{apitest.At(list[0], "kind"), apitest.At(list[0], "state"), apitest.At(list[0], "candidateId")})
	require.Len(t, sentTo(t, w, team), 1)
	w.InTx(t, func(ctx context.Context, tx *tenant.Tx) error {
		return screening.AskForPerson(ctx, tx, id.NewSession(), inbox.ByVisitor, apitest.Moment())
	})
}
