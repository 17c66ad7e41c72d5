package person_test

import (
	"context"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/eventing/event/eventtest"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/eventing/usage"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/portals/unit"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/consent"
	"visavis.dev/pkg/store/tenant"
)

// callers makes the first organization one whose people can converse, and answers
// what begins a conversation by a place.
func (w *world) callers() func(person.Membership) id.Session {
	w.t.Helper()
	require.NoError(w.t, usage.GrantMinutes(context.Background(), w.tenants, w.one, uuid.New(), 1000, now, nil))
	pod := uuid.New()
	_, err := session.KeepPod(context.Background(), w.tenants, "a", pod, "pod", true)
	require.NoError(w.t, err)
	return func(m person.Membership) id.Session {
		s := w.converse(m.Person, pod)
		w.exec(`UPDATE session SET membership_id = $3 WHERE org_id = $1 AND id = $2`, s, m.ID)
		return s
	}
}

// reason is why a session ended; empty while it goes on.
func (w *world) reason(s id.Session) session.Reason {
	w.t.Helper()
	found, err := session.Get(context.Background(), w.tenants, w.one, s)
	require.NoError(w.t, err)
	if found.EndReason == nil {
		return ""
	}
	return *found.EndReason
}

// alter changes a person, or a place, and records the events of it.
func (w *world) alter(m person.Membership, change func(*person.Person, *person.Membership)) {
	w.t.Helper()
	w.must(func(ctx context.Context, tx *tenant.Tx) error {
		p, err := person.LockAll(ctx, tx, m.Person)
		if err != nil {
			return err
		}
		at, err := person.LockMembership(ctx, tx, m.ID)
		if err != nil {
			return err
		}
		who2, place := p, at
		change(&who2, &place)
		if _, _, err := person.Update(ctx, tx, p, who2, who); err != nil {
			return err
		}
		_, _, err = person.UpdateMembership(ctx, tx, at, place, who)
		return err
	})
}

// Whoever may not be in any more does not go on talking either.
func TestConversationsEndWithTheirPlace(t *testing.T) {
	for name, c := range map[string]struct {
		do   func(w *world, m person.Membership, k consent.Consent)
		want session.Reason
		// others says that what the person does by another place ends too.
		others bool
	}{
		"another name": {func(w *world, m person.Membership, _ consent.Consent) {
			w.alter(m, func(p *person.Person, m *person.Membership) { p.Name, m.Role = "Kimberly", person.Teacher })
		}, "", false},
		"the place is off": {func(w *world, m person.Membership, _ consent.Consent) {
			w.alter(m, func(_ *person.Person, m *person.Membership) { m.Enabled = false })
		}, session.EndedByStaff, false},
		"the place is over": {func(w *world, m person.Membership, _ consent.Consent) {
			w.alter(m, func(_ *person.Person, m *person.Membership) { m.EndsAt = &now })
		}, session.EndedByStaff, false},
		"the person is off": {func(w *world, m person.Membership, _ consent.Consent) {
			w.alter(m, func(p *person.Person, _ *person.Membership) { p.State = person.Disabled })
		}, session.EndedByStaff, true},
		"the unit is off": {func(w *world, m person.Membership, _ consent.Consent) {
			drafts, err := w.change(m.Unit, func(u *unit.Unit) { u.Enabled = false })
			require.NoError(w.t, err)
			require.Contains(w.t, types(drafts), event.SessionEnded)
		}, session.EndedByStaff, false},
		"the place is taken away": {func(w *world, m person.Membership, _ consent.Consent) {
			w.must(func(ctx context.Context, tx *tenant.Tx) error {
				at, err := person.LockMembership(ctx, tx, m.ID)
				require.NoError(w.t, err)
				require.NoError(w.t, person.Leave(ctx, tx, at, who))
				require.Equal(w.t, event.MemberRemoved, event.Emitted(tx)[0].Type)
				return nil
			})
		}, session.EndedByStaff, false},
		"the guardian takes it back": {func(w *world, _ person.Membership, k consent.Consent) { w.disagree(k) }, session.ConsentWithdrawn, false},
		"a guardian takes back what was agreed to again": {func(w *world, m person.Membership, k consent.Consent) {
			w.agree(m, now.AddDate(1, 0, 0))
			w.disagree(k)
		}, "", false},
		"another is to other things": {func(w *world, m person.Membership, k consent.Consent) {
			w.agree(m, now.AddDate(1, 0, 0), "recording")
			w.disagree(k)
		}, session.ConsentWithdrawn, false},
		"another is over": {func(w *world, m person.Membership, k consent.Consent) {
			w.agree(m, now)
			w.disagree(k)
		}, session.ConsentWithdrawn, false},
		"the guardian agrees to more": {func(w *world, m person.Membership, _ consent.Consent) {
			w.agree(m, now.AddDate(1, 0, 0), "recording")
		}, "", false},
		"the guardian takes back what was to other things": {func(w *world, m person.Membership, _ consent.Consent) {
			w.disagree(w.agree(m, now.AddDate(1, 0, 0), "recording"))
		}, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			call := w.callers()
			kim, u := w.add("Kim"), w.unit(id.Unit{})
			theirs, outside, others := w.join(kim.ID, u.ID), w.join(kim.ID, id.Unit{}), w.join(w.add("Lee").ID, id.Unit{})
			k := w.agree(theirs, now.AddDate(1, 0, 0))
			here, there, another := call(theirs), call(outside), call(others)
			c.do(w, theirs, k)
			require.Equal(t, c.want, w.reason(here))
			if c.others {
				require.Equal(t, c.want, w.reason(there))
			} else {
				require.Empty(t, w.reason(there))
			}
			require.Empty(t, w.reason(another))
			going := w.count(`SELECT count(*) FROM session WHERE org_id = $1 AND state = 'live'`)
			require.Equal(t, going, w.count(`SELECT value FROM org_counter WHERE org_id = $1 AND name = 'activeSessions'`))
			require.Len(t, eventtest.Log(t, w.tenants, w.one, event.SessionEnded), 3-going)
		})
	}
}

// disagree takes a guardian's consent back.
func (w *world) disagree(k consent.Consent) {
	w.t.Helper()
	w.must(func(ctx context.Context, tx *tenant.Tx) error {
		withdrawn, _, err := consent.Withdraw(ctx, tx, k.ID, now)
		require.NoError(w.t, err)
		return person.Disagree(ctx, tx, withdrawn, who)
	})
}

// What one commit cannot end a job does.
func TestManyConversationsEnd(t *testing.T) {
	w := newWorld(t)
	call := w.callers()
	u := w.unit(id.Unit{})
	m := w.join(w.add("Kim").ID, u.ID)
	const many = 60
	for range many {
		call(m)
	}
	going := `SELECT count(*) FROM session WHERE org_id = $1 AND state = 'live'`
	_, err := w.change(u.ID, func(u *unit.Unit) { u.Enabled = false })
	require.NoError(t, err)
	require.Equal(t, many-50, w.count(going))
	jobs, err := job.List(t.Context(), w.tenants, w.one, job.Filter{}, id.Job{}, 10)
	require.NoError(t, err)
	require.Len(t, jobs, 1)
	w.must(func(ctx context.Context, tx *tenant.Tx) error {
		_, err := person.TellSwitches(ctx, tx, &jobs[0], now)
		require.Equal(t, job.Succeeded, jobs[0].State)
		return err
	})
	require.Zero(t, w.count(going))
	require.Zero(t, w.count(`SELECT value FROM org_counter WHERE org_id = $1 AND name = 'activeSessions'`))
}
