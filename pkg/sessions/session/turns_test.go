package session_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/tenant"
)

func TestKeep(t *testing.T) {
	w := newWorld(t)
	s := w.live(now).Session
	kept := turn(0, session.Avatar, "Good")
	kept.Sources = []session.Source{{DocumentID: id.Document{1}, Title: "Hours", ChunkID: id.Chunk{2}, Score: 0.5}}
	kept.ToolCalls = []session.ToolCall{{Name: "lead", Status: "failed", DurationMs: 3}}
	kept.Grounded, kept.Name = new(true), ""
	require.NoError(t, w.keep(s, kept))
	require.Empty(t, w.events(s.ID, event.TranscriptFinal), "it is under way")
	kept.Text, kept.Spoken, kept.Interrupted, kept.EndedAt = "Good day to you", "Good day", true, new(after(3))
	require.NoError(t, w.keep(s, kept))
	require.NoError(t, w.keep(s, kept), "kept again it is the same")
	late := kept
	late.Text, late.Spoken = "something else", "Good day to"
	require.NoError(t, w.keep(s, late))
	kept.Spoken = "Good day to" // as the client tells afterwards
	another := turn(0, session.User, "mine")
	require.NoError(t, w.keep(s, another))

	found := w.turns(s.ID)
	require.Len(t, found, 1)
	found[0].StartedAt, found[0].EndedAt = found[0].StartedAt.UTC(), new(found[0].EndedAt.UTC())
	require.Equal(t, kept, found[0], "of what has ended, only what was heard changes")
	require.Equal(t, "Good day to", found[0].Heard())
	require.Len(t, w.events(s.ID, event.TranscriptFinal), 1)
	require.EqualValues(t, 1, w.get(s.ID).TurnCount)
	require.Equal(t, now, w.get(s.ID).LastActivityAt.UTC())
}

func TestPagesOfTurns(t *testing.T) {
	w := newWorld(t)
	s := w.live(now).Session
	for _, index := range []int64{3, 0, 2, 1, 4} {
		w.say(s, index, session.User, "hello")
	}
	var seen []int64
	for from := int64(0); ; {
		page, err := session.Turns(t.Context(), w.tenants, w.one, s.ID, from, 2)
		require.NoError(t, err)
		if len(page) == 0 {
			break
		}
		for _, turn := range page {
			seen = append(seen, turn.Index)
		}
		from = page[len(page)-1].Index + 1
	}
	require.Equal(t, []int64{0, 1, 2, 3, 4}, seen)
	require.EqualValues(t, 5, w.get(s.ID).TurnCount)
	foreign, err := session.Turns(t.Context(), w.tenants, w.two, s.ID, 0, 10)
	require.NoError(t, err)
	require.Empty(t, foreign)
}

func TestLanguagesHeard(t *testing.T) {
	w := newWorld(t)
	s := w.live(now).Session
	for i, c := range []struct {
		who      session.Speaker
		language string
	}{{session.User, "de"}, {session.Avatar, "fr"}, {session.User, "en"}, {session.User, "de"}, {session.User, ""}} {
		spoken := turn(int64(i), c.who, "x")
		spoken.Language = c.language
		require.NoError(t, w.keep(s, spoken))
	}
	require.Equal(t, []string{"de", "en"}, w.get(s.ID).LanguagesHeard)
}

func TestWordsThatAreNotKept(t *testing.T) {
	w := newWorld(t)
	s := w.live(now, func(s *session.Session) { s.Brief.Redact = []string{"email", "card", "phone", "Acme"} }).Session
	w.say(s, 0, session.User, "I am ann@example.com of ACME, call +49 30 123456, pay 4111 1111 1111 1111\x00")
	require.Equal(t, "I am ▇▇▇ of ▇▇▇, call ▇▇▇, pay ▇▇▇", w.turns(s.ID)[0].Text)

	unrecorded := turn(1, session.Avatar, "secret")
	unrecorded.Unrecorded = true
	require.NoError(t, w.keep(s, unrecorded))
	unrecorded.Unrecorded, unrecorded.Spoken, unrecorded.EndedAt = false, "secret", new(after(4))
	require.NoError(t, w.keep(s, unrecorded))
	require.Empty(t, w.turns(s.ID)[1].Text+w.turns(s.ID)[1].Spoken)
	require.True(t, w.turns(s.ID)[1].Unrecorded)

	// The switch is turned on while a turn is under way.
	open := turn(2, session.Avatar, "one")
	require.NoError(t, w.keep(s, open))
	w.keepNoWords(true)
	open.Text, open.EndedAt = "one two", new(after(6))
	require.NoError(t, w.keep(s, open))
	w.say(s, 3, session.User, "three")
	for _, i := range []int{2, 3} {
		require.Empty(t, w.turns(s.ID)[i].Text)
		require.True(t, w.turns(s.ID)[i].Unrecorded)
	}
	collect := func(values map[string]string, outcome string) {
		w.must(func(ctx context.Context, tx *tenant.Tx) error {
			return session.Collect(ctx, tx, s.ID, s.Epoch, session.Found{Values: values, Outcome: outcome}, now)
		})
	}
	collect(map[string]string{"name": "Ann"}, "lead")
	require.Empty(t, w.get(s.ID).Collected)
	require.Equal(t, "lead", *w.get(s.ID).Outcome)
	w.keepNoWords(false)
	collect(map[string]string{"name": "Ann"}, "")
	collect(map[string]string{"town": "Bonn"}, "")
	require.Equal(t, map[string]string{"name": "Ann", "town": "Bonn"}, w.get(s.ID).Collected)
	require.Equal(t, "lead", *w.get(s.ID).Outcome)
}

func TestNothingToRead(t *testing.T) {
	w := newWorld(t)
	w.keepNoWords(true)
	s := w.live(now).Session
	w.say(s, 0, session.User, "When?")
	w.say(s, 1, session.Avatar, "Now.")
	ended := w.end(s.ID, session.Left, after(10))
	require.Nil(t, ended.Summary)
	require.EqualValues(t, 2, ended.TurnCount)
	require.Empty(t, w.events(s.ID, event.SessionTranscriptReady))
	require.Equal(t, false, fields(t, w.events(s.ID, event.SessionEnded)[0])["transcriptAvailable"])
}

// A conversation that began when no words were kept has none kept, whatever the
// switch says later.
func TestZeroRetentionLasts(t *testing.T) {
	w := newWorld(t)
	w.keepNoWords(true)
	s := w.live(now).Session
	learners := w.live(now, func(s *session.Session) { s.Withheld = new(session.LearnerConversation) }).Session
	require.Equal(t, session.ZeroRetention, *w.get(s.ID).Withheld)
	require.Equal(t, session.LearnerConversation, *w.get(learners.ID).Withheld)
	w.keepNoWords(false)
	w.say(s, 0, session.User, "When?")
	require.True(t, w.turns(s.ID)[0].Unrecorded)
	w.must(func(ctx context.Context, tx *tenant.Tx) error {
		return session.Collect(ctx, tx, s.ID, s.Epoch, session.Found{Values: map[string]string{"name": "Ann"}, Outcome: "lead"}, now)
	})
	w.must(func(ctx context.Context, tx *tenant.Tx) error {
		rated, err := session.Rate(ctx, tx, s.ID, session.Rating{Score: 1, Scale: 5, Comment: new("bad")}, after(1))
		require.Nil(t, rated.RatingComment)
		return err
	})
	require.Empty(t, w.get(s.ID).Collected)
	require.Empty(t, w.events(s.ID, event.TranscriptFinal))
	w.say(learners, 0, session.User, "When?")
	details, err := session.Details(t.Context(), w.tenants, w.one, []id.Session{s.ID, learners.ID})
	require.NoError(t, err)
	require.Equal(t, []bool{false, true}, []bool{details[s.ID].Words, details[learners.ID].Words})
}

func TestACommandIsCarriedOutWithItsTurn(t *testing.T) {
	w := newWorld(t)
	s := w.live(now).Session
	for i, c := range []struct {
		kind   session.CommandKind
		origin session.Origin
		done   bool
	}{{session.SayIt, session.Say, true}, {session.RespondTo, session.Typed, true}, {session.Finish, session.Say, false}, {session.SteerIt, session.Say, false}} {
		c2 := w.order(s.ID, session.Command{Kind: c.kind, Text: "Hello"})
		require.Equal(t, []session.CommandKind{c.kind}, w.orders(w.pod))
		said := turn(int64(i), session.Avatar, "Hello")
		said.ID, said.Origin = c2.ID, c.origin
		require.NoError(t, w.keep(s, said))
		if !c.done {
			require.Equal(t, []session.CommandKind{c.kind}, w.orders(w.pod))
			require.NoError(t, session.CarriedOut(t.Context(), w.tenants, w.one, s.ID, c2.ID))
		}
		require.Empty(t, w.orders(w.pod))
	}
}

func TestOrdersAreInOrderAndWhole(t *testing.T) {
	w := newWorld(t)
	s := w.live(now).Session
	first := w.order(s.ID, session.Command{Kind: session.SayIt, Text: "one", Interrupt: true, Record: true})
	second := w.order(s.ID, session.Command{Kind: session.SteerIt, Variables: map[string]string{"a": "b"}, MaxDurationS: new(int64(60)), Mute: new(false)})
	found, err := session.Orders(t.Context(), w.tenants, "a", w.pod)
	require.NoError(t, err)
	require.Equal(t, []session.Ordered{{w.one, s.ID, first}, {w.one, s.ID, second}}, found)
	require.Empty(t, w.orders(w.other))
	w.exec(`UPDATE org_fence SET state = 'moved' WHERE org_id = $1`, w.one)
	found, err = session.Orders(t.Context(), w.tenants, "a", w.pod)
	require.NoError(t, err)
	require.Empty(t, found, "they are read where the organization is now")
}

func TestSteer(t *testing.T) {
	w := newWorld(t)
	s := w.live(now).Session
	steer := func(c session.Steered) {
		w.must(func(ctx context.Context, tx *tenant.Tx) error {
			locked, err := session.Lock(ctx, tx, s.ID)
			if err == nil {
				_, err = session.Steer(ctx, tx, locked, c)
			}
			return err
		})
	}
	steer(session.Steered{Metadata: map[string]string{"a": "b"}, MaxDurationS: new(int64(90)), Language: new("de"), Voice: &id.Voice{7}})
	steer(session.Steered{})
	found := w.get(s.ID)
	require.Equal(t, map[string]string{"a": "b"}, found.Metadata)
	require.EqualValues(t, 90, found.MaxDurationS)
	require.Equal(t, "de", found.Language)
	require.Equal(t, id.Voice{7}, found.Voice)
}

func TestWordsAreForgotten(t *testing.T) {
	w := newWorld(t)
	week := func(s *session.Session) {
		s.Brief = session.Brief{Context: "words", Redact: []string{"email"}, RetainDays: new(int64(7))}
	}
	talk := func(changes ...func(*session.Session)) session.Session {
		s := w.live(now, changes...).Session
		w.say(s, 0, session.User, "When?")
		w.say(s, 1, session.Avatar, "Now.")
		return w.end(s.ID, session.Left, after(10))
	}
	forgotten, held, kept := talk(week), talk(week), talk()
	until := after(10).AddDate(0, 0, 7)
	require.Equal(t, until, forgotten.WordsUntil.UTC())
	require.Nil(t, kept.WordsUntil)
	w.exec(`UPDATE session SET on_hold = true WHERE id = $1`, held.ID)
	rate := func(comment string) {
		w.must(func(ctx context.Context, tx *tenant.Tx) error {
			_, err := session.Rate(ctx, tx, forgotten.ID, session.Rating{Score: 5, Scale: 5, Comment: &comment}, after(20))
			return err
		})
	}
	rate("great")
	sweep := func(n int, seconds int) {
		found, err := session.SweepWords(t.Context(), w.tenants, "a", until.Add(after(seconds).Sub(now)))
		require.NoError(t, err)
		require.Equal(t, n, found)
	}
	sweep(0, -1)
	sweep(1, 0)
	sweep(0, 1)
	found := w.get(forgotten.ID)
	require.Nil(t, found.Summary)
	require.Nil(t, found.RatingComment)
	require.Equal(t, session.Brief{Redact: []string{"email"}, RetainDays: new(int64(7))}, found.Brief)
	require.EqualValues(t, 5, *found.RatingScore)
	for _, turn := range w.turns(forgotten.ID) {
		require.Empty(t, turn.Text)
		require.True(t, turn.Unrecorded)
	}
	require.Equal(t, "When?", w.turns(held.ID)[0].Text)
	require.Equal(t, "When?", w.turns(kept.ID)[0].Text)
	rate("greater")
	require.Nil(t, w.get(forgotten.ID).RatingComment, "its time is over")

	live := w.live(now, week).Session
	w.say(live, 0, session.User, "When?")
	open := turn(1, session.Avatar, "secret")
	require.NoError(t, w.keep(live, open))
	w.must(func(ctx context.Context, tx *tenant.Tx) error {
		return session.DeleteWords(ctx, tx, live.ID, now)
	})
	require.NoError(t, w.keep(live, open))
	require.Empty(t, w.turns(live.ID)[1].Text, "what was blotted out does not come back")
	require.Equal(t, "words", w.get(live.ID).Brief.Context, "a live session needs it still")
}

func TestRate(t *testing.T) {
	w := newWorld(t)
	rate := func(s id.Session, score int64, comment *string) error {
		return w.inTx(func(ctx context.Context, tx *tenant.Tx) error {
			_, err := session.Rate(ctx, tx, s, session.Rating{Score: score, Scale: 5, Comment: comment}, after(20))
			return err
		})
	}
	minted, _ := w.mint(now)
	require.ErrorIs(t, rate(minted.ID, 5, nil), session.ErrTooEarly)
	require.ErrorIs(t, rate(draft(now).ID, 5, nil), errdefs.NotFound{Noun: session.Noun})
	s := w.live(now, func(s *session.Session) { s.Brief.Redact = []string{"email"} }).Session
	w.end(s.ID, session.Left, after(10))
	require.NoError(t, rate(s.ID, 5, new("write to a@example.com")))
	require.Equal(t, "write to ▇▇▇", *w.get(s.ID).RatingComment)
	w.keepNoWords(true)
	require.NoError(t, rate(s.ID, 1, new("bad")))
	found := w.get(s.ID)
	require.EqualValues(t, 1, *found.RatingScore)
	require.EqualValues(t, 5, *found.RatingScale)
	require.Nil(t, found.RatingComment)
	told := fields(t, w.events(s.ID, event.ConversationRated)[0])
	require.EqualValues(t, 5, told["rating"])
	require.Equal(t, "visitor", told["ratedBy"])
}
