package session_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/tenant"
)

// TestWordsAreToldWhereTheyMayBe has a conversation in each situation and tells
// its events to a receiver with words and to one without (spec,
// includeConversation).
func TestWordsAreToldWhereTheyMayBe(t *testing.T) {
	kind := func(kind string) func(*session.Session) { return func(s *session.Session) { s.Kind = kind } }
	set := func(column string) func(*world, id.Session) {
		return func(w *world, s id.Session) { w.exec(`UPDATE session SET `+column+` = true WHERE id = $1`, s) }
	}
	for name, c := range map[string]struct {
		mint func(*session.Session)
		// then happens after the end.
		then func(*world, id.Session)
		// turns says whether turns are events; told whether words are told, and
		// stand whether turns that were recorded can be told.
		turns, told bool
		turn        event.Standing
	}{
		"a conversation":  {nil, nil, true, true, event.Stands},
		"a test":          {kind("test"), nil, true, true, event.Stands},
		"of a widget":     {func(s *session.Session) { s.Source = "widget" }, nil, false, true, 0},
		"practice":        {kind(session.Practice), nil, false, false, 0},
		"screening":       {kind(session.Screening), nil, false, false, 0},
		"a candidate's":   {func(s *session.Session) { s.Withheld = new(session.CandidateInterview) }, nil, false, false, 0},
		"young learner's": {func(s *session.Session) { s.Withheld = new(session.LearnerConversation) }, nil, false, false, 0},
		"held":            {nil, set("on_hold"), true, false, event.Withdrawn},
		"flagged":         {nil, set("flagged"), true, false, event.Withdrawn},
		"words deleted": {nil, func(w *world, s id.Session) {
			w.must(func(ctx context.Context, tx *tenant.Tx) error { return session.DeleteWords(ctx, tx, s, now) })
		}, true, false, event.Withdrawn},
		"a session gone": {nil, func(w *world, s id.Session) { w.exec(`DELETE FROM session WHERE id = $1`, s) }, true, false, event.Gone},
		"its turns gone": {nil, func(w *world, s id.Session) {
			w.exec(`DELETE FROM turn WHERE session_id = $1`, s)
			w.exec(`UPDATE session SET summary = NULL, rating_comment = NULL`)
		}, true, false, event.Gone},
		"zero retention since": {nil, func(w *world, s id.Session) { w.keepNoWords(true) }, true, false, event.Withdrawn},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			s := w.live(now, func(s *session.Session) {
				if c.mint != nil {
					c.mint(s)
				}
			}).Session
			w.say(s, 0, session.User, "When?")
			w.say(s, 1, session.Avatar, "Now.")
			w.end(s.ID, session.Left, after(10))
			w.must(func(ctx context.Context, tx *tenant.Tx) error {
				_, err := session.Rate(ctx, tx, s.ID, session.Rating{Score: 5, Scale: 5, Comment: new("great")}, after(20))
				return err
			})
			if c.then != nil {
				c.then(w, s.ID)
			}
			wholly := event.Stands
			if name == "a session gone" {
				wholly = event.Gone
			}
			w.tells(t, s.ID, event.SessionEnded, "summary", wholly, c.told, []any{"When? → Now."}, []bool{true})
			w.tells(t, s.ID, event.ConversationRated, "comment", wholly, c.told, []any{"great"}, []bool{false})
			if !c.turns {
				require.Empty(t, w.events(s.ID, event.TranscriptFinal))
				return
			}
			w.tells(t, s.ID, event.TranscriptFinal, "text", c.turn, c.told, []any{"When?", "Now."}, []bool{false, true})
		})
	}
}

// tells holds the tellings of a session's events of a type against what a field
// of words should be, and whether an avatar made them.
func (w *world) tells(t *testing.T, s id.Session, kind event.Type, field string, standing event.Standing, told bool, want []any, byAvatar []bool) {
	t.Helper()
	teller := &event.Renderer{Tenants: w.tenants, Sources: session.Sources(w.tenants)}
	found := w.events(s, kind)
	require.Len(t, found, len(want))
	for i, e := range found {
		for _, asked := range []bool{true, false} {
			words, err := teller.Words(t.Context(), w.one, asked)
			require.NoError(t, err)
			telling, err := teller.Render(t.Context(), e, words)
			require.NoError(t, err)
			if kind == event.TranscriptFinal && !words {
				require.Equal(t, event.Withdrawn, telling.Standing, "%s without words is nothing", kind)
				continue
			}
			require.Equal(t, standing, telling.Standing, "%s", kind)
			if standing != event.Stands {
				require.Empty(t, telling.Data)
				continue
			}
			var data map[string]any
			require.NoError(t, json.Unmarshal(telling.Data, &data))
			require.Contains(t, data, field, "null, not absent")
			if told && words {
				require.Equal(t, want[i], data[field])
				require.Equal(t, byAvatar[i], telling.AIGenerated)
			} else {
				require.Nil(t, data[field])
				require.False(t, telling.AIGenerated)
			}
		}
	}
}

// A session that is held while it runs tells no turn from then on, though its
// owner knows it as it was.
func TestTurnsOfASessionThatIsHeldMeanwhile(t *testing.T) {
	w := newWorld(t)
	s := w.live(now).Session
	w.say(s, 0, session.User, "When?")
	w.exec(`UPDATE session SET on_hold = true WHERE id = $1`, s.ID)
	w.say(s, 1, session.Avatar, "Now.")
	require.Len(t, w.events(s.ID, event.TranscriptFinal), 1)
	require.Len(t, w.turns(s.ID), 2)
}

// Of a duo each turn says which host spoke; of everybody else none.
func TestTurnsOfHosts(t *testing.T) {
	w := newWorld(t)
	s := w.live(now).Session
	w.say(s, 0, session.User, "When?")
	for i, seat := range []string{"left", "right"} {
		one := turn(int64(i+1), session.Avatar, "Now.")
		one.Host, one.EndedAt = seat, new(one.StartedAt.Add(time.Second))
		require.NoError(t, w.keep(s, one))
	}
	var hosts []any
	for _, e := range w.events(s.ID, event.TranscriptFinal) {
		f := fields(t, e)
		require.Contains(t, f, "host")
		hosts = append(hosts, f["host"])
	}
	require.Equal(t, []any{nil, "left", "right"}, hosts)

	w.exec(`UPDATE event SET data = data - 'host' WHERE type = 'transcript.final'`) // as before there were hosts
	teller := &event.Renderer{Tenants: w.tenants, Sources: session.Sources(w.tenants)}
	for _, e := range w.events(s.ID, event.TranscriptFinal) {
		rendered, err := teller.Render(t.Context(), e, true)
		require.NoError(t, err)
		require.Contains(t, string(rendered.Data), `"host":null`)
	}
}

// What may not be read is not said to be ready.
func TestNotReady(t *testing.T) {
	w := newWorld(t)
	for _, change := range []func(*session.Session){
		func(s *session.Session) { s.Withheld = new(session.CandidateInterview) },
		func(s *session.Session) { s.Kind = session.Screening },
	} {
		s := w.live(now, change).Session
		w.say(s, 0, session.User, "When?")
		w.end(s.ID, session.Left, after(10))
		require.Equal(t, []event.Type{event.SessionStarted, event.SessionEnded}, w.types(s.ID))
	}
}
