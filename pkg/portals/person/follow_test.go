package person_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/portals/portal/portaltest"
	"visavis.dev/pkg/portals/unit"
	"visavis.dev/pkg/store/tenant"
)

// model is a tree of units, each with a member, as it should be.
type model struct {
	parent  map[id.Unit]id.Unit
	enabled map[id.Unit]bool
	members map[id.Unit]id.Membership
	told    map[id.Unit]bool
}

// path lists a unit and those that it lies in.
func (m model) path(u id.Unit) (path []id.Unit) {
	for ; !u.IsZero(); u = m.parent[u] {
		path = append(path, u)
	}
	return path
}

func (m model) on(u id.Unit) bool {
	return !slices.ContainsFunc(m.path(u), func(above id.Unit) bool { return !m.enabled[above] })
}

// height is how many units lie one in another from one on down.
func (m model) height(u id.Unit) int {
	height := 1
	for other := range m.parent {
		if at := slices.Index(m.path(other), u); at >= 0 {
			height = max(height, at+1)
		}
	}
	return height
}

// moved is the error of a move.
func (m model) moved(u, to id.Unit) error {
	switch path := m.path(to); {
	case slices.Contains(path, u):
		return unit.ErrRing
	case len(path) > 0 && len(path)+m.height(u) > unit.MaxDepth:
		return unit.ErrTooDeep
	}
	return nil
}

// flips are those who are switched on or off by what was done.
func (m model) flips() map[string]event.Type {
	flips := map[string]event.Type{}
	for u, member := range m.members {
		switch on := m.on(u); {
		case on == m.told[u]:
		case on:
			flips[member.String()] = event.MemberEnabled
		default:
			flips[member.String()] = event.MemberDisabled
		}
		m.told[u] = m.on(u)
	}
	return flips
}

// Whatever is moved and switched, no unit lies in itself or too deep, everybody
// is on who should be, and whoever is switched is told of once.
func TestTree(t *testing.T) {
	w := newWorld(t)
	kim := w.add("Kim")
	rapid.Check(t, func(t *rapid.T) {
		w := *w
		w.portal = portaltest.Portal(w.t, w.tenants, w.one, id.NewPersona())
		m := model{map[id.Unit]id.Unit{}, map[id.Unit]bool{}, map[id.Unit]id.Membership{}, map[id.Unit]bool{}}
		var units []id.Unit
		some := func(label string) id.Unit { return rapid.SampledFrom(units).Draw(t, label) }
		maybe := func(label string) id.Unit {
			if rapid.IntRange(0, 4).Draw(t, label+"?") == 0 {
				return id.Unit{}
			}
			return some(label)
		}
		for range rapid.IntRange(4, 16).Draw(t, "steps") {
			action := 0
			if len(units) > 1 {
				action = rapid.IntRange(0, 3).Draw(t, "action")
			}
			switch action {
			case 0: // one more, mostly in the last
				in := id.Unit{}
				if len(units) > 0 && rapid.IntRange(0, 5).Draw(t, "top") > 0 {
					in = units[len(units)-1]
				}
				made, err := w.tryUnit(in)
				if len(m.path(in)) >= unit.MaxDepth {
					require.ErrorIs(t, err, unit.ErrTooDeep)
					continue
				}
				require.NoError(t, err)
				u := made.ID
				units, m.parent[u], m.enabled[u] = append(units, u), in, true
				m.members[u] = w.join(kim.ID, u).ID
				m.told[u] = m.on(u)
			case 1: // a move
				u, to := some("unit"), maybe("to")
				want := m.moved(u, to)
				drafts, err := w.change(u, func(u *unit.Unit) { u.Parent = to })
				if want != nil && to != m.parent[u] {
					require.ErrorIs(t, err, want)
					continue
				}
				require.NoError(t, err)
				m.parent[u] = to
				require.Equal(t, m.flips(), flipped(drafts))
			default: // a switch
				u, on := some("unit"), rapid.Bool().Draw(t, "on")
				drafts, err := w.change(u, func(u *unit.Unit) { u.Enabled = on })
				require.NoError(t, err)
				m.enabled[u] = on
				require.Equal(t, m.flips(), flipped(drafts))
			}
		}
		for u, member := range m.members {
			s := w.standing(member, now)
			require.Equal(t, m.on(u), s.Usable)
			require.Equal(t, m.on(u), s.Membership.ToldOn)
		}
	})
}

// flipped are those whom events say to be switched.
func flipped(drafts []event.Draft) map[string]event.Type {
	flips := map[string]event.Type{}
	for _, d := range drafts {
		if d.Type == event.MemberEnabled || d.Type == event.MemberDisabled {
			flips[fmt.Sprint(d.Fields["membershipId"])] = d.Type
		}
	}
	return flips
}

// Of two moves that would make a ring between them, one is refused.
func TestMovesAtOnce(t *testing.T) {
	w := newWorld(t)
	for range 5 {
		a, b := w.unit(id.Unit{}), w.unit(id.Unit{})
		var (
			all  sync.WaitGroup
			errs [2]error
		)
		for i, pair := range [][2]id.Unit{{a.ID, b.ID}, {b.ID, a.ID}} {
			all.Go(func() { _, errs[i] = w.change(pair[0], func(u *unit.Unit) { u.Parent = pair[1] }) })
		}
		all.Wait()
		require.NotEqual(t, errs[0] == nil, errs[1] == nil)
		require.ErrorIs(t, errors.Join(errs[:]...), unit.ErrRing)
	}
}

// Whom one commit cannot tell of, a job does, and each once.
func TestMany(t *testing.T) {
	w := newWorld(t)
	kim, u := w.add("Kim"), w.unit(id.Unit{})
	first := w.join(kim.ID, u.ID)
	const others = 1500
	for _, sql := range []string{
		`INSERT INTO person (org_id, id, name, age_band, state, metadata, edition, created_at, updated_at)
		SELECT $1, gen_random_uuid(), 'many', 'unknown', 'active', '{}', 1, $2::TIMESTAMPTZ, $2 FROM generate_series(1, 1500)`,
		`INSERT INTO membership (org_id, id, person_id, portal_id, unit_id, role, enabled, metadata, edition, created_at, updated_at, told_on)
		SELECT p.org_id, gen_random_uuid(), p.id, m.portal_id, m.unit_id, 'learner', true, '{}', 1, $2::TIMESTAMPTZ, $2, true
		FROM person p JOIN membership m ON m.org_id = p.org_id WHERE p.org_id = $1 AND p.name = 'many'`,
	} {
		_, err := w.db.Exec(t.Context(), sql, w.one, now)
		require.NoError(t, err)
	}
	drafts, err := w.change(u.ID, func(u *unit.Unit) { u.Enabled = false })
	require.NoError(t, err)
	require.Equal(t, event.UnitDisabled, drafts[0].Type)
	told := flipped(drafts)
	require.Len(t, told, 1000)
	require.Equal(t, person.MembershipDisabled, w.standing(first.ID, now).Reason, "it holds for everybody at once")

	jobs, err := job.List(t.Context(), w.tenants, w.one, job.Filter{}, id.Job{}, 10)
	require.NoError(t, err)
	require.Len(t, jobs, 1)
	j := jobs[0]
	require.Equal(t, job.UnitSwitch, j.Kind)
	w.must(func(ctx context.Context, tx *tenant.Tx) error {
		at := j
		_, err := person.TellSwitches(ctx, tx, &at, now.Add(time.Second))
		require.Equal(t, job.Succeeded, at.State)
		require.Equal(t, int64(others+1-1000), at.Done)
		return err
	})
	w.must(func(ctx context.Context, tx *tenant.Tx) error { // again finds nobody to tell of
		_, err := person.TellSwitches(ctx, tx, &j, now)
		require.Zero(t, j.Done)
		return err
	})
}

// A person who is switched off is so in all places, but for those that are off already.
func TestAPersonIsSwitched(t *testing.T) {
	w := newWorld(t)
	kim, dark := w.add("Kim"), w.unit(id.Unit{})
	outside, inside := w.join(kim.ID, id.Unit{}), w.join(kim.ID, dark.ID)
	_, err := w.change(dark.ID, func(u *unit.Unit) { u.Enabled = false })
	require.NoError(t, err)
	change := func(to person.State) (c person.Change, told []event.Draft) {
		w.must(func(ctx context.Context, tx *tenant.Tx) error {
			before, err := person.LockAll(ctx, tx, kim.ID)
			require.NoError(t, err)
			after := before
			after.State = to
			_, c, err = person.Update(ctx, tx, before, after, who)
			told = event.Emitted(tx)
			return err
		})
		return c, told
	}
	_, told := change(person.Disabled)
	require.Equal(t, map[string]event.Type{outside.ID.String(): event.MemberDisabled}, flipped(told))
	require.Equal(t, person.PersonDisabled, w.standing(outside.ID, now).Reason)
	drafts, err := w.change(dark.ID, func(u *unit.Unit) { u.Enabled = true })
	require.NoError(t, err)
	require.Equal(t, []event.Type{event.UnitEnabled}, types(drafts), "the person is off still")
	_, told = change(person.Active)
	require.Equal(t, map[string]event.Type{outside.ID.String(): event.MemberEnabled, inside.ID.String(): event.MemberEnabled}, flipped(told))
	again, _ := change(person.Active)
	require.Empty(t, again.Fields)
}
