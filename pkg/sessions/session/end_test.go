package session_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/eventing/usage"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
)

func TestEveryReason(t *testing.T) {
	w := newWorld(t)
	for _, reason := range []session.Reason{
		session.Left, session.EndedByAPI, session.EndedByUser, session.EndedByStaff, session.Idle, session.MaxDuration, session.MinutesExhausted,
		session.ConcurrencyReclaimed, session.ConnectionLost, session.Superseded, session.ConsentWithdrawn, session.AccountPaused,
		session.Moderation, session.UpstreamError, session.EngineError,
	} {
		t.Run(string(reason), func(t *testing.T) {
			left := w.leftS()
			s := w.live(now).Session
			w.say(s, 0, session.User, "When do you open?")
			w.say(s, 1, session.Avatar, "At nine. On Sundays at ten.")
			ended := w.end(s.ID, reason, after(25).Add(time.Millisecond))
			state := session.Ended
			if reason == session.UpstreamError || reason == session.EngineError {
				state = session.Failed
			}
			require.Equal(t, state, ended.State)
			found := w.get(s.ID)
			require.Equal(t, state, found.State)
			require.Equal(t, reason, *found.EndReason)
			require.EqualValues(t, 26, *found.DurationS, "a second that began counts")
			require.EqualValues(t, 26, *found.BilledS)
			require.Equal(t, left-26, w.leftS(), "the rest is given back")
			require.EqualValues(t, 2, found.TurnCount)
			require.Equal(t, "When do you open? → At nine.", *found.Summary)
			require.False(t, found.Owner.Valid)
			require.Zero(t, w.places())

			require.Equal(t, []event.Type{
				event.SessionStarted, event.TranscriptFinal, event.TranscriptFinal, event.SessionEnded, event.SessionTranscriptReady,
			}, w.types(s.ID))
			told := fields(t, w.events(s.ID, event.SessionEnded)[0])
			require.Equal(t, string(reason), told["endReason"])
			require.EqualValues(t, 26, told["durationS"])
			require.EqualValues(t, 26, told["billedS"])
			require.Equal(t, true, told["transcriptAvailable"])
			w.lost(s, after(30))

			require.Equal(t, found, w.end(s.ID, session.EndedByAPI, after(40)), "it ends once")
			require.Len(t, w.events(s.ID), 5)
		})
	}
}

func TestEndedBeforeAnyoneCame(t *testing.T) {
	w := newWorld(t)
	minted, token := w.mint(now)
	ended := w.end(minted.ID, session.EndedByAPI, after(5))
	require.Equal(t, session.Expired, ended.State)
	require.Equal(t, session.EndedByAPI, *ended.EndReason)
	require.Zero(t, *ended.BilledS)
	require.Zero(t, w.places())
	require.Empty(t, w.events(minted.ID))
	_, a, err := session.Admit(t.Context(), w.tenants, minted.ID, token)
	require.NoError(t, err)
	require.True(t, a.Expired(after(5)))
	w.sweep(after(100))
	require.Zero(t, w.places())
	require.ErrorIs(t, w.inTx(func(ctx context.Context, tx *tenant.Tx) error {
		_, err := session.End(ctx, tx, draft(now).ID, session.Ending{At: now})
		return err
	}), errdefs.NotFound{Noun: session.Noun})
}

func TestManyEndASession(t *testing.T) {
	w := newWorld(t)
	w.live(now)
	s := w.live(now).Session
	require.NoError(t, w.keep(s, turn(0, session.User, "Hello")))
	var owners atomic.Int64
	w.together(20, func() error {
		return w.inTx(func(ctx context.Context, tx *tenant.Tx) error {
			if owners.Add(1)%2 == 0 {
				_, err := session.End(ctx, tx, s.ID, session.Ending{Reason: session.EndedByAPI, At: after(10)})
				return err
			}
			_, err := session.EndOwn(ctx, tx, s.ID, s.Epoch, session.Ending{Reason: session.Left, At: after(10), By: w.pod})
			if errors.Is(err, session.ErrLost) {
				return nil
			}
			return err
		})
	})
	require.EqualValues(t, 1, w.places())
	require.EqualValues(t, 6000-60-10, w.leftS())
	require.Equal(t, []event.Type{event.SessionStarted, event.TranscriptFinal, event.SessionEnded, event.SessionTranscriptReady}, w.types(s.ID))
}

func TestTheOwnerIsTold(t *testing.T) {
	w := newWorld(t)
	s := w.live(now).Session
	w.order(s.ID, session.Command{Kind: session.SayIt, Text: "Hello"})
	w.end(s.ID, session.EndedByStaff, after(10))
	orders, err := session.Orders(t.Context(), w.tenants, "a", w.pod)
	require.NoError(t, err)
	require.Len(t, orders, 1, "what it was to do is void")
	require.Equal(t, session.Over, orders[0].Command.Kind)
	require.Equal(t, session.EndedByStaff, orders[0].Command.Reason)
	require.NoError(t, session.CarriedOut(t.Context(), w.tenants, w.one, s.ID, orders[0].Command.ID))
	require.Empty(t, w.orders(w.pod))

	own := w.live(now).Session
	w.must(func(ctx context.Context, tx *tenant.Tx) error {
		_, err := session.EndOwn(ctx, tx, own.ID, own.Epoch, session.Ending{Reason: session.Left, At: after(10), By: w.pod})
		return err
	})
	require.Empty(t, w.orders(w.pod), "who ends it knows")

	// News that a process did not take is deleted with it.
	w.end(w.live(now).Session.ID, session.EndedByAPI, after(10))
	require.Len(t, w.orders(w.pod), 1)
	w.silence(w.pod, after(20))
	w.sweep(after(20))
	require.Empty(t, w.orders(w.pod))
}

func TestStaff(t *testing.T) {
	w := newWorld(t)
	s := w.live(now).Session
	staff := session.Colleague{ID: id.NewStaff(), Name: "Eve", Mode: "takeover"}
	var token session.Token
	w.must(func(ctx context.Context, tx *tenant.Tx) (err error) {
		token, err = session.Invite(ctx, tx, s, staff, activity.Actor{By: "test", At: after(1)})
		return err
	})
	_, a, err := session.Admit(t.Context(), w.tenants, s.ID, token)
	require.NoError(t, err)
	require.Equal(t, staff.ID, a.Staff)
	require.False(t, a.Resumes)
	present := func() []session.Colleague {
		found, err := session.Details(t.Context(), w.tenants, w.one, []id.Session{s.ID})
		require.NoError(t, err)
		return found[s.ID].Staff
	}
	require.Empty(t, present(), "invited is not there")
	join := func(who id.Staff, at time.Time) error {
		return w.inTx(func(ctx context.Context, tx *tenant.Tx) error {
			_, err := session.Join(ctx, tx, s.ID, s.Epoch, who, at)
			return err
		})
	}
	require.ErrorIs(t, join(id.NewStaff(), after(2)), errdefs.NotFound{Noun: session.Noun})
	require.NoError(t, join(staff.ID, after(5)))
	require.NoError(t, join(staff.ID, after(6)), "in is in")
	require.Equal(t, after(5), present()[0].JoinedAt.UTC())
	leave := func(ctx context.Context, tx *tenant.Tx) error {
		return session.Leave(ctx, tx, s.ID, s.Epoch, staff.ID, after(8))
	}
	w.must(leave)
	w.must(leave)
	require.Equal(t, after(8), present()[0].LeftAt.UTC())
	require.NoError(t, join(staff.ID, after(10)))
	w.end(s.ID, session.EndedByUser, after(30))
	require.Equal(t, after(30), present()[0].LeftAt.UTC())
	_, a, err = session.Admit(t.Context(), w.tenants, s.ID, token)
	require.NoError(t, err)
	require.True(t, a.Expired(after(30)))

	require.Equal(t, []event.Type{
		event.SessionStarted, event.HandoffJoined, event.HandoffLeft, event.HandoffJoined, event.HandoffLeft, event.SessionEnded,
	}, w.types(s.ID), "without a turn there is nothing to read")
	left := w.events(s.ID, event.HandoffLeft)
	require.Equal(t, true, fields(t, left[0])["returnedToAvatar"])
	require.EqualValues(t, 3, fields(t, left[0])["durationS"])
	require.Equal(t, false, fields(t, left[1])["returnedToAvatar"])
	require.EqualValues(t, 20, fields(t, left[1])["durationS"])
}

func TestSilentProcesses(t *testing.T) {
	w := newWorld(t)
	s := w.live(now).Session
	staying, _ := w.mint(now)
	w.attach(staying.ID, w.other, now)
	command := session.Command{Kind: session.RespondTo, Text: "Hello"}
	w.order(s.ID, command)
	address, err := session.PodOf(t.Context(), w.tenants, w.one, s)
	require.NoError(t, err)
	require.Equal(t, "pod-"+w.pod.String()[:8], address)

	w.silence(w.pod, after(40))
	address, err = session.PodOf(t.Context(), w.tenants, w.one, s)
	require.NoError(t, err)
	require.Empty(t, address)
	lives, err := session.KeepPod(t.Context(), w.tenants, "a", w.pod, "", false)
	require.NoError(t, err)
	require.False(t, lives, "it must go on as another")
	lives, err = session.KeepPod(t.Context(), w.tenants, "a", w.other, "", false)
	require.NoError(t, err)
	require.True(t, lives)

	w.together(5, func() error {
		_, err := session.Sweep(context.Background(), w.tenants, "a", after(45))
		return err
	})
	found := w.get(s.ID)
	require.Equal(t, session.Live, found.State)
	require.Equal(t, after(40), found.OrphanedAt.UTC())
	require.False(t, found.Owner.Valid)
	require.EqualValues(t, 1, w.places(), "the place is back, once")
	require.True(t, w.get(staying.ID).Owner.Valid)
	require.EqualValues(t, 1, w.count(`SELECT count(*) FROM session_command WHERE owner IS NULL`), "the command waits for who goes on")
	w.lost(s, after(46))

	w.sweep(after(69))
	require.Equal(t, session.Live, w.get(s.ID).State)
	w.sweep(after(70))
	found = w.get(s.ID)
	require.Equal(t, session.Ended, found.State)
	require.Equal(t, session.ConnectionLost, *found.EndReason)
	require.EqualValues(t, 40, *found.DurationS, "up to when the process was seen")
	require.EqualValues(t, 40, *found.BilledS)
	require.EqualValues(t, 1, w.places())
	require.Zero(t, w.count(`SELECT count(*) FROM session_command`))

	// A process that does not know yet that it is lost takes one more.
	late, _ := w.mint(after(70))
	w.attach(late.ID, w.pod, after(71))
	w.sweep(after(75))
	found = w.get(late.ID)
	require.False(t, found.Owner.Valid)
	require.Equal(t, after(71), found.OrphanedAt.UTC(), "not before it began")
	require.EqualValues(t, 2, w.count(`SELECT count(*) FROM live_pod`))
	w.exec(`UPDATE live_pod SET lease_until = now() - INTERVAL '61 minutes' WHERE id = $1`, w.pod)
	w.sweep(after(75))
	require.EqualValues(t, 1, w.count(`SELECT count(*) FROM live_pod`))
	require.NoError(t, session.DropPod(t.Context(), w.tenants, "a", w.other))
	w.sweep(after(76))
	require.False(t, w.get(staying.ID).Owner.Valid)
	require.Zero(t, w.places())
	require.Zero(t, w.count(`SELECT count(*) FROM session WHERE owner = $1`, uuid.Nil))
}

// A sweep leaves alone what it cannot write to, and what came back meanwhile.
func TestASweepPassesByWhatMoves(t *testing.T) {
	w := newWorld(t)
	s, _ := w.mint(now)
	w.exec(`UPDATE org_fence SET state = 'fenced' WHERE org_id = $1`, w.one)
	require.Zero(t, w.sweep(after(100)))
	w.exec(`UPDATE org_fence SET state = 'capture' WHERE org_id = $1`, w.one)
	require.Equal(t, 1, w.sweep(after(100)))
	require.Equal(t, session.Expired, w.get(s.ID).State)
	require.Positive(t, w.count(`SELECT count(*) FROM move_dirty WHERE table_name = 'session' AND pk = $1`, s.ID.String()))
}

// Every row that a session's life changes is noted while its organization moves.
func TestALifeIsCopiedInAMove(t *testing.T) {
	w := newWorld(t)
	a := w.live(now)
	s := a.Session
	w.order(s.ID, session.Command{Kind: session.SteerIt})
	require.NoError(t, w.keep(s, turn(0, session.Avatar, "Hello")))
	w.exec(`UPDATE org_fence SET state = 'capture' WHERE org_id = $1`, w.one)
	w.end(s.ID, session.EndedByAPI, after(20))
	for table, rows := range map[string]int64{
		"session": 1, "turn": 1, "session_command": 2, "session_token": 2, "usage_block": 1, "usage_month": 1, "minute_grant": 1, "minute_debit": 1,
		"org_counter": 1, "event_staged": 3,
	} {
		require.Equal(t, rows, w.count(`SELECT count(*) FROM move_dirty WHERE org_id = $1 AND table_name = $2`, w.one, table), table)
	}
}

// A session that begins in the last second that another one paid for is not live at once with it, however short both were.
func TestSessionsInSuccessionAreNotLiveAtOnce(t *testing.T) {
	w := newWorld(t)
	part := 300 * time.Millisecond
	peak := func() int64 {
		r, err := usage.Of(t.Context(), w.tenants, w.one, now, now.Add(time.Hour), now.Add(time.Hour))
		require.NoError(t, err)
		return r.PeakConcurrent
	}
	for i := range 3 {
		from := now.Add(time.Duration(i) * part)
		w.end(w.live(from).Session.ID, session.Left, from.Add(part))
	}
	require.EqualValues(t, 1, peak())
	first, second := w.live(after(10)), w.live(after(11))
	w.end(first.Session.ID, session.Left, after(11).Add(part))
	w.end(second.Session.ID, session.Left, after(12))
	require.EqualValues(t, 2, peak())
}
