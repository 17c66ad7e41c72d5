package session_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/sessions/session"
)

func TestMint(t *testing.T) {
	w := newWorld(t)
	minted, token := w.mint(now, func(s *session.Session) {
		s.Brief = session.Brief{Context: "a visit", Variables: map[string]string{"name": "Ann"}, Redact: []string{"email"}, RetainDays: new(int64(7))}
		s.Duo, s.Subject, s.ExternalID = id.Duo{4}, id.Subject{5}, new("crm-1")
		s.Metadata, s.AllowedOrigins = map[string]string{"a": "b"}, []string{"https://example.com"}
		s.Withheld = new(session.CandidateInterview)
	})
	found := w.get(minted.ID)
	found.CreatedAt, found.ConnectBy = found.CreatedAt.UTC(), found.ConnectBy.UTC()
	require.Equal(t, minted, found, "what is minted is what is kept")
	require.Equal(t, session.Created, found.State)
	require.Equal(t, after(60), found.ConnectBy)
	require.EqualValues(t, 1, w.places())
	require.EqualValues(t, 6000, w.leftS(), "nothing is paid before a client comes")
	require.Empty(t, w.events(minted.ID))

	_, a, err := session.Admit(t.Context(), w.tenants, minted.ID, token)
	require.NoError(t, err)
	require.False(t, a.Resumes)
	require.True(t, a.Staff.IsZero())
	require.False(t, a.Expired(after(59)))
	require.True(t, a.Expired(after(60)))
}

func TestMintIsRefusedWithoutATrace(t *testing.T) {
	w := newWorld(t)
	w.mint(now)
	for name, c := range map[string]struct {
		terms plan.Terms
		daily *int64
		err   error
	}{
		"no place":     {limited(1), nil, session.ErrNoPlace},
		"no places":    {limited(0), nil, session.ErrNoPlace},
		"daily limit":  {limited(5), new(int64(1)), session.ErrDailyLimit},
		"cap":          {plan.Terms{Limits: plan.Limits{plan.MonthlyCapMinutes: new(int64(0))}}, nil, session.ErrNoMinutes},
		"cap and full": {plan.Terms{Limits: plan.Limits{plan.MonthlyCapMinutes: new(int64(0)), plan.MaxConcurrentSessions: new(int64(1))}}, nil, session.ErrNoMinutes},
	} {
		t.Run(name, func(t *testing.T) {
			w.terms = c.terms
			s := draft(now)
			_, token, err := w.tryMint(s, c.daily)
			require.ErrorIs(t, err, c.err)
			require.Empty(t, token)
			require.EqualValues(t, 1, w.places())
			require.EqualValues(t, 1, w.count(`SELECT count(*) FROM session`))
			require.EqualValues(t, 1, w.count(`SELECT count(*) FROM session_token`))
		})
	}
	w.terms = plan.Terms{}
	w.exec(`UPDATE minute_grant SET remaining_s = 0`)
	_, _, err := w.tryMint(draft(now), nil)
	require.ErrorIs(t, err, session.ErrNoMinutes)
	w.mint(now, func(s *session.Session) { s.Sandbox = true })
}

func TestThePlacesAreNeverMoreThanTheCap(t *testing.T) {
	w := newWorld(t)
	w.terms = limited(7)
	var minted, refused atomic.Int64
	w.together(50, func() error {
		_, _, err := w.tryMint(draft(now), nil)
		switch {
		case err == nil:
			minted.Add(1)
		case errors.Is(err, session.ErrNoPlace):
			refused.Add(1)
			err = nil
		}
		return err
	})
	require.EqualValues(t, 7, minted.Load())
	require.EqualValues(t, 43, refused.Load())
	require.EqualValues(t, 7, w.places())
	require.EqualValues(t, 7, w.count(`SELECT count(*) FROM session`))
}

// together runs fn many times at once.
func (w *world) together(times int, fn func() error) {
	w.t.Helper()
	var all errgroup.Group
	for range times {
		all.Go(fn)
	}
	require.NoError(w.t, all.Wait())
}

func TestTheDailyLimit(t *testing.T) {
	w := newWorld(t)
	three := new(int64(3))
	var minted atomic.Int64
	w.together(20, func() error {
		_, _, err := w.tryMint(draft(now), three)
		if err == nil {
			minted.Add(1)
		} else if errors.Is(err, session.ErrDailyLimit) {
			err = nil
		}
		return err
	})
	require.EqualValues(t, 3, minted.Load())
	_, _, err := w.tryMint(draft(now, func(s *session.Session) { s.Persona = id.Persona{9} }), three)
	require.NoError(t, err, "another persona's day")
	midnight := time.Date(2026, 7, 9, 0, 0, 0, 0, time.UTC)
	_, _, err = w.tryMint(draft(midnight.Add(-time.Microsecond)), three)
	require.ErrorIs(t, err, session.ErrDailyLimit)
	_, _, err = w.tryMint(draft(midnight), three)
	require.NoError(t, err, "another day")
	w.sweep(midnight.Add(-time.Second))
	_, _, err = w.tryMint(draft(now), new(int64(2)))
	require.NoError(t, err, "sessions that nobody came to do not count")
}

func TestAPlaceThatNobodyTookComesBackOnce(t *testing.T) {
	w := newWorld(t)
	expired, _ := w.mint(now)
	w.mint(after(10))
	w.sweep(after(59))
	require.EqualValues(t, 2, w.places())
	w.together(8, func() error {
		_, err := session.Sweep(context.Background(), w.tenants, "a", after(60))
		return err
	})
	require.EqualValues(t, 1, w.places())
	found := w.get(expired.ID)
	require.Equal(t, session.Expired, found.State)
	require.Equal(t, after(60), found.EndedAt.UTC())
	require.Nil(t, found.EndReason)
	require.Zero(t, *found.BilledS)
	require.Zero(t, *found.DurationS)
	require.Empty(t, w.events(expired.ID))
	_, err := w.tryAttach(expired.ID, w.pod, after(61))
	require.ErrorIs(t, err, session.ErrOver)
}

func TestTokens(t *testing.T) {
	w := newWorld(t)
	mine, token := w.mint(now)
	_, another := w.mint(now)
	foreign := session.Token("vst_" + w.two.Bare() + string(token)[4+22:])
	nobody := session.Token("vst_" + id.NewOrg().Bare() + string(token)[4+22:])
	for name, wrong := range map[string]session.Token{
		"none": "", "of another session": another, "of another organization": foreign, "of no organization": nobody, "shortened": token[:60],
		"altered": token[:len(token)-1] + "!", "without its prefix": token[4:], "long": token + token + token, "no id": "vst_" + token,
	} {
		_, _, err := session.Admit(t.Context(), w.tenants, mine.ID, wrong)
		require.ErrorIs(t, err, errdefs.NotFound{Noun: session.Noun}, name)
	}
	org, a, err := session.Admit(t.Context(), w.tenants, mine.ID, token)
	require.NoError(t, err)
	require.Equal(t, w.one, org)
	require.Equal(t, mine.ID, a.Session.ID)
	require.Zero(t, w.count(`SELECT count(*) FROM session_token WHERE encode(hash, 'escape') LIKE '%vst_%'`))

	n, err := session.SweepTokens(t.Context(), w.tenants, "a", after(60))
	require.NoError(t, err)
	require.Zero(t, n)
	n, err = session.SweepTokens(t.Context(), w.tenants, "a", after(61))
	require.NoError(t, err)
	require.Equal(t, 2, n)
}
