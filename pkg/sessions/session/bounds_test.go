package session_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/setting"
	"visavis.dev/pkg/store/tenant"
)

// set sets something for the whole first organization.
func (w *world) set(k setting.Key, v setting.Value) {
	w.t.Helper()
	w.must(func(ctx context.Context, tx *tenant.Tx) error { return setting.Set(ctx, tx, k, v, "test", now) })
}

func TestASessionObeysTheSettings(t *testing.T) {
	w := newWorld(t)
	silent := func(s *session.Session) { s.IdleTimeoutS = 0 }
	s, _ := w.mint(now, silent)
	require.Equal(t, []any{int64(1800), int64(300), (*int64)(nil)}, []any{s.MaxDurationS, s.IdleTimeoutS, s.Brief.RetainDays}, "nothing is set")
	w.set(setting.MaxDurationS, int64(600))
	w.set(setting.IdleTimeoutS, int64(60))
	w.set(setting.RetentionDays, int64(30))
	s, _ = w.mint(now, silent, func(s *session.Session) { s.Brief.RetainDays = new(int64(90)) })
	require.Equal(t, []int64{600, 60, 30}, []int64{s.MaxDurationS, s.IdleTimeoutS, *s.Brief.RetainDays})
	require.EqualValues(t, 600, w.get(s.ID).MaxDurationS)
	s, _ = w.mint(now, func(s *session.Session) {
		s.MaxDurationS, s.IdleTimeoutS, s.Brief.RetainDays = 90, 120, new(int64(7))
	})
	require.Equal(t, []int64{90, 120, 7}, []int64{s.MaxDurationS, s.IdleTimeoutS, *s.Brief.RetainDays}, "what it says itself")
}

func TestThePlacesThatAreSet(t *testing.T) {
	w := newWorld(t)
	w.terms = limited(5)
	w.set(setting.MaxConcurrent, int64(2))
	w.mint(now)
	w.mint(now)
	_, _, err := w.tryMint(draft(now), nil)
	require.ErrorIs(t, err, session.ErrNoPlace)
	w.set(setting.MaxConcurrent, int64(100))
	for range 3 {
		w.mint(now)
	}
	_, _, err = w.tryMint(draft(now), nil)
	require.ErrorIs(t, err, session.ErrNoPlace, "never more than the plan")
}

// The cap that is set counts when a session begins and whenever it pays.
func TestTheCapThatIsSet(t *testing.T) {
	w := newWorld(t)
	w.terms = plan.Terms{Limits: plan.Limits{plan.MonthlyCapMinutes: new(int64(50))}}
	minted, _ := w.mint(now)
	live := w.live(now).Session
	w.set(setting.MonthlyCapMinutes, int64(1))
	require.Zero(t, w.attach(minted.ID, w.pod, now).PaidS)
	w.must(func(ctx context.Context, tx *tenant.Tx) error {
		paid, err := session.Pay(ctx, tx, live.ID, live.Epoch, 1, w.terms, after(55))
		require.Zero(t, paid)
		return err
	})
	_, _, err := w.tryMint(draft(now), nil)
	require.ErrorIs(t, err, session.ErrNoMinutes)
}

// Where everybody is taken for a minor, nobody reads what is said in a portal.
func TestYoungLearners(t *testing.T) {
	w := newWorld(t)
	w.set(setting.YoungLearners, true)
	person, portal := id.NewPerson(), id.NewPortal()
	for name, c := range map[string]struct {
		change func(*session.Session)
		want   *string
	}{
		"the API's":   {func(*session.Session) {}, nil},
		"a portal's":  {func(s *session.Session) { s.Portal = portal }, new(session.LearnerConversation)},
		"a person's":  {func(s *session.Session) { s.Person = person }, new(session.LearnerConversation)},
		"a candidate": {func(s *session.Session) { s.Portal, s.Withheld = portal, new(session.CandidateInterview) }, new(session.CandidateInterview)},
	} {
		s, _ := w.mint(now, c.change)
		require.Equal(t, c.want, w.get(s.ID).Withheld, name)
		require.Equal(t, []any{s.Portal, s.Person}, []any{w.get(s.ID).Portal, w.get(s.ID).Person})
	}
	w.keepNoWords(true)
	s, _ := w.mint(now, func(s *session.Session) { s.Portal = portal })
	require.Equal(t, session.ZeroRetention, *w.get(s.ID).Withheld)
}
