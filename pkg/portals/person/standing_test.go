package person_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/portals/portal/portaltest"
	"visavis.dev/pkg/store/consent"
	"visavis.dev/pkg/store/tenant"
)

func TestStanding(t *testing.T) {
	w := newWorld(t)
	day := 24 * time.Hour
	kim := w.add("Kim")
	m, _, err := w.tryJoin(kim.ID, person.Place{
		Portal: w.portal.ID, Role: person.Learner, StartsAt: new(now.Add(day)), EndsAt: new(now.Add(3 * day)),
	})
	require.NoError(t, err)
	for at, want := range map[time.Duration]struct {
		state  person.MemberState
		reason person.Reason
	}{
		0: {person.MemberInvited, person.NotStarted}, day: {person.MemberActive, ""}, 3*day - 1: {person.MemberActive, ""},
		3 * day: {person.MemberEnded, person.MembershipEnded},
	} {
		s := w.standing(m.ID, now.Add(at))
		require.Equal(t, want.state, s.State, at)
		require.Equal(t, want.reason, s.Reason, at)
		require.Equal(t, want.reason == "", s.Usable, at)
		require.Equal(t, portal.Published, s.Portal)
	}
	_, _, err = w.tryJoin(w.add("Lee").ID, person.Place{Portal: w.portal.ID, Role: person.Learner, StartsAt: &now, EndsAt: &now})
	require.ErrorIs(t, err, person.ErrDates)
}

// Whoever may be younger than the portal's age needs a guardian's consent.
func TestGuardianConsent(t *testing.T) {
	w := newWorld(t)
	under := int64(16)
	w.portal = portaltest.Portal(t, w.tenants, w.one, id.NewPersona(), func(p *portal.Portal) { p.Definition.GuardianConsentUnder = &under })
	for band, required := range map[person.AgeBand]bool{
		person.Under13: true, person.From13: true, person.From16: false, person.Adult: false, person.UnknownAge: false,
	} {
		p, _, err := w.find(person.Wanted{Name: string(band), AgeBand: band})
		require.NoError(t, err)
		s := w.standing(w.join(p.ID, id.Unit{}).ID, now)
		require.Equal(t, required, s.Guardian.Required, band)
		require.Equal(t, required, s.Reason == person.GuardianConsentMissing, band)
		require.Equal(t, person.ConsentMissing, s.Guardian.State)
	}
	kim, _, err := w.find(person.Wanted{Name: "Kim", AgeBand: person.From13})
	require.NoError(t, err)
	m := w.join(kim.ID, id.Unit{})
	k := w.agree(m, now.Add(time.Hour))
	s := w.standing(m.ID, now)
	require.True(t, s.Usable)
	require.Equal(t, k.ID, s.Guardian.Consent)
	require.Equal(t, now.Add(time.Hour), s.Guardian.ExpiresAt.UTC())
	require.Equal(t, person.GuardianConsentMissing, w.standing(m.ID, now.Add(time.Hour)).Reason, "it ends by itself")
	w.must(func(ctx context.Context, tx *tenant.Tx) error {
		_, _, err := consent.Withdraw(ctx, tx, k.ID, now)
		return err
	})
	s = w.standing(m.ID, now)
	require.Equal(t, consent.Withdrawn, s.Guardian.State)
	require.Equal(t, person.GuardianConsentMissing, s.Reason)

	w.agree(m, now.Add(time.Hour), "recording", "memory", "report")
	s = w.standing(m.ID, now)
	require.Equal(t, consent.Given, s.Guardian.State)
	require.Equal(t, person.GuardianConsentMissing, s.Reason, "it is to other things")
}

// Each consent adds what it is to, and takes nothing from the others.
func TestConsentsCountTogether(t *testing.T) {
	w := newWorld(t)
	w.portal = portaltest.Portal(t, w.tenants, w.one, id.NewPersona(), func(p *portal.Portal) { p.Definition.GuardianConsentUnder = new(int64(16)) })
	kim, _, err := w.find(person.Wanted{Name: "Kim", AgeBand: person.From13})
	require.NoError(t, err)
	m := w.join(kim.ID, id.Unit{})
	stands := func(at time.Time, state string, newest consent.Consent, usable bool, scopes ...string) {
		t.Helper()
		s := w.standing(m.ID, at)
		require.Equal(t, append([]string{}, scopes...), s.Guardian.Scopes)
		require.Equal(t, []any{state, newest.ID, usable}, []any{s.Guardian.State, s.Guardian.Consent, s.Usable})
		require.Equal(t, newest.Guardian.ExpiresAt.UTC(), s.Guardian.ExpiresAt.UTC())
	}
	hour := func(n int) time.Time { return now.Add(time.Duration(n) * time.Hour) }
	talk := w.agree(m, hour(2), "conversation", "report")
	tape := w.agree(m, hour(1), "recording")
	stands(now, consent.Given, tape, true, "conversation", "recording", "report")
	stands(hour(1), consent.Given, talk, true, "conversation", "report")
	stands(hour(2), consent.Missing, tape, false)
	again := w.agree(m, hour(3), "recording")
	w.takeBack(again)
	stands(now, consent.Given, tape, true, "conversation", "recording", "report")
	stands(hour(2), consent.Withdrawn, again, false)
	w.takeBack(talk)
	stands(now, consent.Given, tape, false, "recording")
	w.takeBack(tape)
	stands(now, consent.Withdrawn, again, false)
}

// What was replaced while the newest alone counted does not count again because another is given now.
func TestConsentsOfBefore(t *testing.T) {
	w := newWorld(t)
	m := w.join(w.add("Kim").ID, id.Unit{})
	scopes := func() []string { return w.standing(m.ID, now).Guardian.Scopes }
	replaced, newest := w.agree(m, now.Add(time.Hour), "recording"), w.agree(m, now.Add(time.Hour), "conversation")
	w.exec(`UPDATE consent SET together = false WHERE org_id = $1`)
	require.Equal(t, []string{"conversation"}, scopes(), "it narrowed the one before")
	w.agree(m, now.Add(time.Hour), "report")
	require.Equal(t, []string{"conversation", "report"}, scopes())
	w.takeBack(replaced)
	require.Equal(t, []string{"conversation", "report"}, scopes())
	w.takeBack(newest)
	require.Equal(t, []string{"report"}, scopes())
}

// takeBack withdraws a consent.
func (w *world) takeBack(k consent.Consent) {
	w.t.Helper()
	w.must(func(ctx context.Context, tx *tenant.Tx) error {
		_, err := person.WithdrawConsent(ctx, tx, k.ID, who)
		return err
	})
}

// agree records a guardian's consent to a place, to conversations unless something else is named.
func (w *world) agree(m person.Membership, until time.Time, to ...string) (k consent.Consent) {
	w.t.Helper()
	if len(to) == 0 {
		to = []string{"conversation"}
	}
	w.must(func(ctx context.Context, tx *tenant.Tx) error {
		found, err := person.LockMembership(ctx, tx, m.ID)
		require.NoError(w.t, err)
		_, k, err = person.Consent(ctx, tx, found, consent.Consent{
			ID: id.NewConsent(), State: consent.Given, PolicyVersion: "1", PersonName: "Sam", PersonEmail: new("sam@example.com"),
			SignedAt: now, RecordedAt: now, RecordedBy: "key_test",
			Guardian: &consent.Guardian{Relationship: "father", Method: "in_person", Scopes: to, ExpiresAt: &until},
		}, who)
		return err
	})
	return k
}
