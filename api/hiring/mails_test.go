package hiring_test

import (
	"context"
	"net/http"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/pkg/base/mail"
	"visavis.dev/pkg/hiring/candidate"
	"visavis.dev/pkg/hiring/role"
)

// postbox keeps what is sent; meanwhile happens while a mail is under way.
type postbox struct {
	sent      []mail.Message
	meanwhile func()
}

func (p *postbox) Send(_ context.Context, m mail.Message) error {
	p.sent = append(p.sent, m)
	if p.meanwhile != nil {
		p.meanwhile()
	}
	return nil
}

// mailed invites somebody by mail, and answers the invite with the mail.
func mailed(t *testing.T, w *apitest.World, role string, box *postbox) (map[string]any, mail.Message) {
	t.Helper()
	body := w.InvitesBody()
	body["send"] = true
	made := w.CallAs(t, "createInvites", role, w.Acme.New, body)
	require.Equal(t, http.StatusCreated, made.Status, "%s", made.Raw)
	w.Post(t, box)
	require.NotEmpty(t, box.sent)
	return made.Data(t)["invites"].([]any)[0].(map[string]any), box.sent[len(box.sent)-1]
}

var tokenOf = regexp.MustCompile(`#invite=(vhi_[A-Z2-7]+)`)

// The mail of a decision says which role it is about and leads back to the candidate's page; what
// another decision followed meanwhile is not sent, nor taken for the explanation of the other.
func TestADecisionIsMailed(t *testing.T) {
	t.Parallel()
	w := apitest.NewWorld(t)
	made := w.Role(t, w.Acme, map[string]any{"title": "Head rigger"})
	box := &postbox{}
	invite, letter := mailed(t, w, made, box)
	require.Contains(t, letter.Text, "An AI asks.")
	who := w.Arrive(t, w.Acme, invite)
	manager := w.HiringManager(t, w.Acme)
	decide := func(value, why string) {
		answer := w.CallAs(t, "decideCandidate", who.String(), w.Acme.New, map[string]any{
			"decision": value, "decidedBy": manager, "reasonCode": "good", "notify": true, "explanation": why,
		})
		require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Raw)
	}
	explained := func() any { return read(t, w, "getCandidateCompliance", who.String())["explanationSentAt"] }
	decide("hold", "The budget is late.")
	decide("advance", "")
	box.sent = nil
	w.Post(t, box)
	require.Len(t, box.sent, 1, "the one before is no news any more")
	require.Contains(t, box.sent[0].Subject, "Head rigger")
	require.NotContains(t, box.sent[0].Text, "budget")
	require.Nil(t, explained())
	token := tokenOf.FindStringSubmatch(box.sent[0].Text)
	require.Len(t, token, 2, box.sent[0].Text)
	_, err := w.Gate.ByInvite(t.Context(), w.Acme.ID, portalOf(t, w, made), candidate.Token(token[1]))
	require.NoError(t, err)
	_, err = w.Gate.ByInvite(t.Context(), w.Acme.ID, portalOf(t, w, made), candidate.Token(tokenOf.FindStringSubmatch(invite["url"].(string))[1]))
	require.NoError(t, err, "the link before is good as well")

	// One that is decided anew while its mail is under way is not the one that was explained.
	decide("hold", "We still wait.")
	box.meanwhile = func() { box.meanwhile = nil; decide("reject", "") }
	w.Post(t, box)
	require.Nil(t, explained())
	require.Contains(t, box.sent[1].Text, "We still wait.")
}

func TestAnExplanationIsNotedOnceItIsSent(t *testing.T) {
	t.Parallel()
	w := apitest.NewWorld(t)
	who := w.Arrive(t, w.Acme, w.Invite(t, w.Acme, w.Role(t, w.Acme, nil)))
	require.Equal(t, http.StatusOK, w.CallAs(t, "decideCandidate", who.String(), w.Acme.New, map[string]any{
		"decision": "reject", "decidedBy": w.HiringManager(t, w.Acme), "reasonCode": "other", "notify": true, "explanation": "Somebody had the licence.",
	}).Status)
	require.Nil(t, read(t, w, "getCandidateCompliance", who.String())["explanationSentAt"])
	box := &postbox{}
	w.Post(t, box)
	require.Contains(t, box.sent[0].Text, "Somebody had the licence.")
	require.NotNil(t, read(t, w, "getCandidateCompliance", who.String())["explanationSentAt"])
}

// What a candidate was told is on record as it was, whatever the role says later.
func TestTheRecordHasTheWordsThatWereTold(t *testing.T) {
	t.Parallel()
	w := apitest.NewWorld(t)
	made := w.Role(t, w.Acme, nil)
	change := func(body map[string]any) apitest.Answer { return w.CallAs(t, "updateRole", made, w.Acme.New, body) }
	other := map[string]any{
		"text": map[string]any{"en": "Other words.", "de": "Andere Worte."}, "laws": []any{
			map[string]any{"law": "eu_ai_act", "version": "2", "text": map[string]any{"en": "Other law.", "de": "Anderes Gesetz."}},
		}, "required": []any{"eu_ai_act"},
	}
	require.Equal(t, "role_open", apitest.Reason(t, change(map[string]any{"notice": other}), "path.id"))
	require.Equal(t, "role_open", apitest.Reason(t, change(map[string]any{"alternativeProcess": "Nothing."}), "path.id"))
	require.Equal(t, http.StatusOK, change(map[string]any{"title": "Another"}).Status)

	box := &postbox{meanwhile: func() { // while the mail is under way
		require.Equal(t, http.StatusOK, change(map[string]any{"state": "paused", "notice": other}).Status)
		require.Equal(t, http.StatusOK, change(map[string]any{"state": "open"}).Status)
	}}
	invite, letter := mailed(t, w, made, box)
	require.Contains(t, letter.Text, "An AI asks.")
	who := w.Arrive(t, w.Acme, invite)
	w.Interview(t, w.Acme, who, apitest.RightAnswer, "left")
	require.Equal(t, http.StatusOK, change(map[string]any{
		"state": "paused", "location": map[string]any{"country": "GB"}, "biasAudit": nil, "alternativeProcess": "",
		"notice": map[string]any{"text": map[string]any{"en": "Third."}},
	}).Status)
	x := read(t, w, "getCandidateCompliance", who.String())
	require.Equal(t, []any{"eu"}, x["jurisdiction"])
	require.Equal(t, true, x["alternativeOffered"])
	require.Equal(t, "2026-06-01", apitest.At(x, "biasAudit", "date"))
	notice := x["notices"].([]any)[0]
	require.Equal(t, []any{"1", role.TextHash("You talk with an AI.")}, []any{apitest.At(notice, "version"), apitest.At(notice, "textHash")})
	raw := string(w.CallAs(t, "getCandidateCompliance", who.String(), w.Acme.New, nil).Raw)
	require.Contains(t, raw, role.TextHash("An AI asks.", "You talk with an AI.", "The page notes what is pasted."), "as it was mailed")
	require.Contains(t, raw, role.TextHash("Other words.", "Other law."), "as it was read on the page")
}
