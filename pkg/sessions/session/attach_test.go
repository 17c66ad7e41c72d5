package session_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/tenant"
)

func TestTheFirstClient(t *testing.T) {
	for kind, started := range map[string]event.Type{"conversation": event.SessionStarted, session.Practice: event.PracticeStarted} {
		t.Run(kind, func(t *testing.T) {
			w := newWorld(t)
			minted, token := w.mint(now, func(s *session.Session) { s.Kind = kind })
			a := w.attach(minted.ID, w.pod, after(5))
			require.True(t, a.Began)
			require.EqualValues(t, 60, a.PaidS)
			require.EqualValues(t, 6000-60, w.leftS())
			found := w.get(minted.ID)
			require.Equal(t, session.Live, found.State)
			require.Equal(t, uuid.NullUUID{UUID: w.pod, Valid: true}, found.Owner)
			require.EqualValues(t, 1, found.Epoch)
			require.Equal(t, after(5), found.StartedAt.UTC())
			require.EqualValues(t, 1, w.places())
			require.Equal(t, []event.Type{started}, w.types(minted.ID))
			require.Equal(t, minted.ID.String(), fields(t, w.events(minted.ID)[0])["sessionId"])

			// It comes again with the token it was minted: the answer was lost.
			_, admitted, err := session.Admit(t.Context(), w.tenants, minted.ID, token)
			require.NoError(t, err)
			require.False(t, admitted.Expired(after(34)))
			again := w.attach(minted.ID, w.pod, after(20))
			require.False(t, again.Began)
			require.EqualValues(t, 60, again.PaidS)
			require.EqualValues(t, 6000-60, w.leftS(), "the block is paid")
			require.Len(t, w.events(minted.ID), 1, "it starts once")
		})
	}
}

func TestAClientWithoutMinutes(t *testing.T) {
	w := newWorld(t)
	minted, _ := w.mint(now)
	w.exec(`UPDATE minute_grant SET remaining_s = 0`)
	a := w.attach(minted.ID, w.pod, after(5))
	require.Equal(t, session.Ended, a.Session.State)
	require.Empty(t, a.Resume)
	found := w.get(minted.ID)
	require.Equal(t, session.Ended, found.State)
	require.Equal(t, session.MinutesExhausted, *found.EndReason)
	require.Zero(t, *found.BilledS)
	require.Nil(t, found.StartedAt, "it never began")
	require.Zero(t, w.places())
	require.Empty(t, w.events(minted.ID), "what did not start does not end")
	log, err := event.List(t.Context(), w.tenants, w.one, event.Filter{}, event.Position{}, 10)
	require.NoError(t, err)
	require.Len(t, log, 3)
	require.Equal(t, event.UsageThreshold, log[0].Type)
}

func TestAClientThatComesTooLate(t *testing.T) {
	w := newWorld(t)
	minted, _ := w.mint(now)
	_, err := w.tryAttach(minted.ID, w.pod, after(60))
	require.ErrorIs(t, err, session.ErrOver)
	require.Equal(t, session.Created, w.get(minted.ID).State, "the sweep ends it")
	_, err = w.tryAttach(draft(now).ID, w.pod, now)
	require.ErrorIs(t, err, errdefs.NotFound{Noun: session.Noun})
}

func TestAnotherProcessGoesOn(t *testing.T) {
	w := newWorld(t)
	first := w.live(now)
	open := turn(0, session.Avatar, "Good day, and")
	require.NoError(t, w.keep(first.Session, open))
	done := w.say(first.Session, 1, session.User, "Hello")
	command := w.order(first.Session.ID, session.Command{Kind: session.SteerIt, Context: new("hurry")})

	second := w.attach(first.Session.ID, w.other, after(20))
	require.False(t, second.Began)
	require.EqualValues(t, 2, second.Session.Epoch)
	require.EqualValues(t, 1, second.Session.Reconnects)
	w.lost(first.Session, after(21))
	require.Empty(t, w.orders(w.pod))
	require.Equal(t, []session.CommandKind{session.SteerIt}, w.orders(w.other), "the command goes along")
	require.NoError(t, session.CarriedOut(t.Context(), w.tenants, w.one, first.Session.ID, command.ID))
	require.Empty(t, w.orders(w.other))

	turns := w.turns(first.Session.ID)
	require.Equal(t, after(20), turns[0].EndedAt.UTC())
	require.True(t, turns[0].Interrupted)
	require.Equal(t, "Good day, and", turns[0].Heard(), "it was sent, so it was said")
	told := w.events(first.Session.ID, event.TranscriptFinal)
	require.Len(t, told, 2, "each turn once")
	require.Equal(t, done.ID.String(), fields(t, told[0])["turnId"])
	require.Equal(t, open.ID.String(), fields(t, told[1])["turnId"])
	w.say(second.Session, 2, session.User, "Are you there?")
	w.must(func(ctx context.Context, tx *tenant.Tx) error {
		paid, err := session.Pay(ctx, tx, second.Session.ID, 2, 1, w.terms, after(50))
		require.EqualValues(t, 60, paid)
		return err
	})
	require.EqualValues(t, 120, w.attach(first.Session.ID, w.pod, after(55)).PaidS)
}

func TestAClientComesBackToItsPlace(t *testing.T) {
	w := newWorld(t)
	w.terms = limited(1)
	s := w.live(now).Session
	w.must(func(ctx context.Context, tx *tenant.Tx) error {
		return session.Release(ctx, tx, s.ID, s.Epoch, after(10))
	})
	w.lost(s, after(10))
	_, _, err := w.tryMint(draft(after(15)), nil)
	require.ErrorIs(t, err, session.ErrNoPlace, "a session that was released keeps its place")
	w.sweep(after(19))
	require.EqualValues(t, 1, w.places())
	w.sweep(after(20))
	require.Zero(t, w.places())
	w.sweep(after(21))
	require.Zero(t, w.places(), "it comes back once")

	taken, _ := w.mint(after(22))
	_, err = w.tryAttach(s.ID, w.other, after(23))
	require.ErrorIs(t, err, session.ErrNoPlace)
	w.end(taken.ID, session.EndedByAPI, after(24))
	a := w.attach(s.ID, w.other, after(25))
	require.True(t, a.Session.Slot)
	require.Nil(t, w.get(s.ID).OrphanedAt)
	require.EqualValues(t, 1, w.places())

	w.must(func(ctx context.Context, tx *tenant.Tx) error {
		return session.Release(ctx, tx, s.ID, a.Session.Epoch, after(30))
	})
	_, err = w.tryAttach(s.ID, w.pod, after(61))
	require.ErrorIs(t, err, session.ErrOver, "it had its time")
}

func TestTokensToComeBackBy(t *testing.T) {
	w := newWorld(t)
	a := w.live(now)
	s := a.Session
	admits := func(token session.Token, at time.Time) bool {
		_, found, err := session.Admit(t.Context(), w.tenants, s.ID, token)
		require.NoError(t, err)
		require.True(t, found.Resumes)
		return !found.Expired(at)
	}
	var second session.Token
	w.must(func(ctx context.Context, tx *tenant.Tx) (err error) {
		second, err = session.Renew(ctx, tx, s.ID, s.Epoch, after(100))
		return err
	})
	require.EqualValues(t, 1, w.get(s.ID).Reconnects)
	require.True(t, admits(a.Resume, after(129)), "the new one may not have arrived")
	require.False(t, admits(a.Resume, after(130)))
	require.True(t, admits(second, after(1800)))
	third := w.attach(s.ID, w.other, after(200))
	require.False(t, admits(a.Resume, after(200)), "it does not come to life again")
	require.False(t, admits(second, after(230)))

	w.end(s.ID, session.Left, after(300))
	require.True(t, admits(third.Resume, after(300).Add(24*time.Hour-time.Second)), "for a rating")
	require.False(t, admits(third.Resume, after(300).Add(24*time.Hour)))
	require.False(t, admits(second, after(300)))
	_, err := w.tryAttach(s.ID, w.pod, after(301))
	require.ErrorIs(t, err, session.ErrOver)
}

func TestPayUntilNothingIsLeft(t *testing.T) {
	w := newWorld(t)
	s := w.live(now).Session
	w.exec(`UPDATE minute_grant SET remaining_s = 20 WHERE org_id = $1`, w.one)
	pay := func(block int64, terms plan.Terms) (paid int64) {
		w.must(func(ctx context.Context, tx *tenant.Tx) (err error) {
			paid, err = session.Pay(ctx, tx, s.ID, s.Epoch, block, terms, after(50))
			return err
		})
		return paid
	}
	require.EqualValues(t, 20, pay(1, w.terms))
	require.EqualValues(t, 20, pay(1, w.terms))
	require.Zero(t, pay(2, w.terms))
	unlimited := plan.Terms{Plan: plan.Plan{UnlimitedMinutes: true}}
	require.EqualValues(t, 60, pay(2, unlimited))
	unlimited.Limits = plan.Limits{plan.MonthlyCapMinutes: new(int64(2))}
	require.Zero(t, pay(3, unlimited))
	w.must(func(ctx context.Context, tx *tenant.Tx) error {
		return session.Active(ctx, tx, s.ID, s.Epoch, after(70))
	})
	require.Equal(t, after(70), w.get(s.ID).LastActivityAt.UTC())
	log, err := event.List(t.Context(), w.tenants, w.one, event.Filter{Types: []event.Type{event.UsageThreshold}}, event.Position{}, 1)
	require.NoError(t, err)
	require.False(t, log[0].At.After(after(51)), "a block that is paid for ahead warns now")
}
