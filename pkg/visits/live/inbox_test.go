package live_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/eventing/event/eventtest"
	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/sessions/inbox"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
)

// toldOf renders the only event of a type as a receiver of words sees it.
func (s *stage) toldOf(kind event.Type, words bool) string {
	s.t.Helper()
	log := eventtest.Log(s.t, s.tenants, s.org, kind)
	require.Len(s.t, log, 1, kind)
	r := event.Renderer{Tenants: s.tenants, Sources: inbox.Sources(s.tenants, session.SpokenOf(s.tenants))}
	out, err := r.Render(s.t.Context(), log[0], words)
	require.NoError(s.t, err)
	return string(out.Data)
}

func (s *stage) left(k inbox.Kind) []inbox.Item {
	s.t.Helper()
	found, err := inbox.List(s.t.Context(), s.tenants, s.org, inbox.Filter{Kinds: []inbox.Kind{k}}, id.InboxItem{}, 10)
	require.NoError(s.t, err)
	return found
}

// A visitor is told what answering means, leaves how they are reached, asks for a person, and
// one comes: a lead and a hand-off, each once, also where the process dies in between.
func TestAVisitorLeavesALeadAndAsksForAPerson(t *testing.T) {
	t.Parallel()
	s := newStage(t, 600)
	s.change = func(d *persona.Definition) {
		d.Goals = []persona.Goal{
			{Key: "need", Prompt: "What do you need?", Outputs: []string{"need"}, Required: true, Confirm: "auto"},
			{Key: "mail", Prompt: "What is your e-mail address?", Outputs: []string{"email"}, Required: true, Confirm: "auto"},
		}
		d.Tools = append(d.Tools, persona.Tool{Kind: "lead", Enabled: true}, persona.Tool{Kind: "handoff", Enabled: true})
	}
	one, two := s.pod(), s.pod()
	defer one.Stop()
	defer two.Stop()
	came := inbox.Came("https://shop.example/tours?utm_campaign=Spring", "https://search.example/?q=kim")
	minted, c := s.visitor(one, func(w *session.Session) { w.Brief.Came = came })
	c.send("client-ready", nil)
	c.hear("What do you need?")
	c.send("user-text", map[string]any{"text": "A guide for my museum shop"})
	c.hear("you agree that our team may contact you")
	c.send("user-text", map[string]any{"text": "kim@example.com"})
	c.hear("Thank you")
	leads := s.left(inbox.Lead)
	require.Len(t, leads, 1)
	require.Equal(t, came, leads[0].Source)
	require.Equal(t, []any{minted.ID, "kim@example.com", true}, []any{leads[0].Session, *leads[0].Contact.Email, leads[0].Contact.Consent.Given})

	s.crash(minted.ID)
	again := s.connect(two, minted.ID, c.resume)
	again.send("client-ready", nil)
	again.send("user-text", map[string]any{"text": "talk to a person"})
	again.hear("I am asking a person to join us")
	require.Len(t, s.left(inbox.Lead), 1)
	handoffs := s.left(inbox.Handoff)
	require.Len(t, handoffs, 1)
	require.Equal(t, came, handoffs[0].Source)
	require.Equal(t, []any{inbox.New, "visitor", "talk to a person", true, "kim@example.com"}, []any{
		handoffs[0].State, *handoffs[0].RequestedBy, *handoffs[0].Words.Reason, handoffs[0].Live, *handoffs[0].Contact.Email,
	})

	s.connect(two, minted.ID, s.invite(minted.ID, "takeover"))
	require.Eventually(t, func() bool { return s.left(inbox.Handoff)[0].JoinedAt != nil }, 20*time.Second, 10*time.Millisecond)
	joined := s.left(inbox.Handoff)[0]
	require.Equal(t, inbox.Open, joined.State)
	require.Contains(t, s.toldOf(event.HandoffJoined, false), joined.ID.String())

	require.NoError(t, s.end(minted.ID, session.EndedByAPI))
	captured := s.toldOf(event.LeadCaptured, true)
	for _, part := range []string{`"email":"kim@example.com"`, `"contactConsent":true`, `"sourceUrl":"https://shop.example/tours"`, `"campaign":"Spring"`, "A guide for my museum shop", minted.ID.String()} {
		require.Contains(t, captured, part)
	}
	require.NotContains(t, s.toldOf(event.LeadCaptured, false), "museum shop", "words are for who may have them")
	require.Contains(t, s.toldOf(event.HandoffRequested, true), `"reason":"talk to a person"`)

	require.NoError(t, s.tenants.InTx(t.Context(), s.org, func(ctx context.Context, tx *tenant.Tx) error {
		_, err := session.ForgetVisitor(ctx, tx, leads[0].ID, activity.Actor{By: "key_1", At: s.now()})
		return err
	}))
	require.Nil(t, s.left(inbox.Handoff)[0].Contact, "all that the conversation left")
	require.Empty(t, s.session(minted.ID).Collected)
	require.Empty(t, s.session(minted.ID).Brief.Came)
	require.Empty(t, s.left(inbox.Lead)[0].Source)
	require.NotContains(t, s.toldOf(event.LeadCaptured, true), "kim")
	require.Contains(t, s.toldOf(event.LeadCaptured, true), `"email":null`)
}
