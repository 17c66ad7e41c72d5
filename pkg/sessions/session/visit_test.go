package session_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/personas/knowledge"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/tenant"
)

// A visitor's session is told of as one, and its turns to nobody.
func TestVisitorSessions(t *testing.T) {
	w := newWorld(t)
	widget := id.NewWidget()
	for _, source := range []string{session.FromWidget, session.FromPortal} {
		s := w.live(now, func(s *session.Session) {
			s.Source, s.Widget, s.Channel, s.Collected = source, widget, "voice", map[string]string{"email": "kim@example.com"}
		}).Session
		require.Equal(t, map[string]string{"email": "kim@example.com"}, w.get(s.ID).Collected, "known beforehand")
		w.say(s, 0, session.User, "A person, please.")
		w.must(func(ctx context.Context, tx *tenant.Tx) error {
			return session.Collect(ctx, tx, s.ID, s.Epoch, session.Found{Values: map[string]string{"name": "Kim"}, Outcome: "handoff"}, now)
		})
		w.end(s.ID, session.EndedByUser, after(20))
		require.Equal(t, map[string]string{"email": "kim@example.com", "name": "Kim"}, w.get(s.ID).Collected)
		require.Equal(t, []event.Type{event.SessionStarted, event.SessionEnded, event.VisitorSessionEnded, event.SessionTranscriptReady}, w.types(s.ID))
		told := fields(t, w.events(s.ID, event.VisitorSessionEnded)[0])
		for name, want := range map[string]any{
			"sessionId": s.ID.String(), "widgetId": widget.String(), "personaId": s.Persona.String(), "channel": "voice", "durationS": 20.0,
			"endReason": "ended_by_user", "turnCount": 1.0, "outcome": "handoff", "handedOff": true, "rated": false,
		} {
			require.Equal(t, want, told[name], name)
		}
		require.NotContains(t, told, "source", "it has fields of its own")
	}
}

func TestNobodyCameIsNoVisit(t *testing.T) {
	w := newWorld(t)
	s, _ := w.mint(now, func(s *session.Session) { s.Source = session.FromWidget })
	w.end(s.ID, "", after(60))
	require.Empty(t, w.events(s.ID))
}

// With zero retention, what is known beforehand is not kept either.
func TestContactsAreNotRetained(t *testing.T) {
	w := newWorld(t)
	w.keepNoWords(true)
	s, _ := w.mint(now, func(s *session.Session) { s.Collected = map[string]string{"email": "kim@example.com"} })
	require.Empty(t, w.get(s.ID).Collected)
}

// Where a session's words are deleted, its questions are that the packs keep.
func TestQuestionsGoWithTheWords(t *testing.T) {
	w := newWorld(t)
	s := w.live(now).Session
	other := w.live(now).Session
	for text, asked := range map[string]session.Session{"Do you sell cards?": s, "Where can I park a lorry?": other} {
		w.must(func(ctx context.Context, tx *tenant.Tx) error {
			_, err := knowledge.RecordGap(ctx, tx, knowledge.Question{
				Bases: []id.KnowledgeBase{id.NewKnowledgeBase()}, Persona: asked.Persona, Session: asked.ID, Language: "en", Text: text, At: now,
			}, true)
			return err
		})
	}
	w.must(func(ctx context.Context, tx *tenant.Tx) error { return session.DeleteWords(ctx, tx, s.ID, now) })
	require.Zero(t, w.count(`SELECT count(*) FROM knowledge_question WHERE session_id = $1`, s.ID))
	require.EqualValues(t, 1, w.count(`SELECT count(*) FROM knowledge_question WHERE session_id = $1`, other.ID))
}
