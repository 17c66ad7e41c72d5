package setting_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/setting"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/store/tenant/tenanttest"
)

// tree is an organization's portals and units, and what is set where, as a
// model of it says.
type tree struct {
	scopes []setting.Scope
	above  map[setting.Scope]setting.Scope
	set    map[setting.Scope]map[setting.Key]setting.Value
}

// of is what holds at a scope, and whether it is set there.
func (m tree) of(k setting.Key, at setting.Scope) (v setting.Value, inherited bool) {
	for from := at; ; from = m.above[from] {
		if v, ok := m.set[from][k]; ok {
			return v, from != at
		}
		if from == setting.Organization {
			d, _ := setting.Find(k)
			return d.Default, true
		}
	}
}

// grow makes portals and units at random.
func grow(t *rapid.T, w world, org id.Org) tree {
	m := tree{
		scopes: []setting.Scope{setting.Organization}, above: map[setting.Scope]setting.Scope{},
		set: map[setting.Scope]map[setting.Key]setting.Value{setting.Organization: {}},
	}
	add := func(s, above setting.Scope) {
		m.scopes, m.above[s], m.set[s] = append(m.scopes, s), above, map[setting.Key]setting.Value{}
	}
	for range rapid.IntRange(1, 2).Draw(t, "portals") {
		p := w.portal(org)
		add(setting.Portal(p), setting.Organization)
		units := []id.Unit{{}}
		for range rapid.IntRange(0, 4).Draw(t, "units") {
			within := rapid.SampledFrom(units).Draw(t, "within")
			u, above := w.unit(org, p, within), setting.Portal(p)
			if !within.IsZero() {
				above = setting.Unit(within)
			}
			add(setting.Unit(u), above)
			units = append(units, u)
		}
	}
	return m
}

func TestAnyInheritance(t *testing.T) {
	tenants, one, two := tenanttest.New(t)
	keys := []setting.Key{setting.Memory, setting.MaxDurationS, setting.RetentionDays}
	rapid.Check(t, func(t *rapid.T) {
		w := world{tenants, t}
		for _, table := range []string{"setting", "unit", "portal"} {
			w.exec(`DELETE FROM ` + table)
		}
		// Another organization's settings are of no account.
		w.put(two, setting.Memory, setting.Organization, false, tenanttest.Now)
		m := grow(t, w, one)
		for range rapid.IntRange(1, 8).Draw(t, "changes") {
			k, at := rapid.SampledFrom(keys).Draw(t, "key"), rapid.SampledFrom(m.scopes).Draw(t, "scope")
			before, inherited := m.of(k, at)
			var (
				made    setting.Change
				written bool
			)
			if rapid.IntRange(0, 2).Draw(t, "clears") == 0 {
				made, written = w.clear(one, k, at), !inherited
				delete(m.set[at], k)
			} else {
				v := setting.Value(rapid.Int64Range(30, 33).Draw(t, "number"))
				if k == setting.Memory {
					v = rapid.Bool().Draw(t, "on")
				}
				made, written = w.put(one, k, at, v, tenanttest.Now), inherited || before != v
				m.set[at][k] = v
			}
			after, inherited := m.of(k, at)
			require.Equal(t, written, made.Written)
			require.Equal(t, before, made.Before.Value)
			require.Equal(t, after, made.After.Value)
			require.Equal(t, inherited, made.After.Inherited)
			require.Equal(t, before != after, made.Told())
			m.check(t, w, one, keys)
		}
	})
}

// check holds everything that can be read against the model.
func (m tree) check(t *rapid.T, w world, org id.Org, keys []setting.Key) {
	for _, at := range m.scopes {
		values := w.values(org, placeOf(at))
		for _, k := range keys {
			v, inherited := m.of(k, at)
			s := w.stands(org, k, at, anyone)
			require.Equal(t, v, s.Value)
			require.Equal(t, inherited, s.Inherited)
			require.Equal(t, v == s.Definition.Default && s.ChangedBy == "", s.ChangedAt.IsZero())
			if k == setting.Memory {
				require.Equal(t, v, values.On(k))
				continue
			}
			n, bound := values.Number(k)
			require.Equal(t, v != nil, bound)
			if bound {
				require.Equal(t, v, n)
				require.Equal(t, min(n, 31), values.AtMost(k, 31))
			} else {
				require.EqualValues(t, 31, values.AtMost(k, 31))
			}
		}
	}
}

func placeOf(s setting.Scope) setting.Place {
	switch s.Kind {
	case setting.OfPortal:
		return setting.Place{Portal: id.Portal(s.ID)}
	case setting.OfUnit:
		return setting.Place{Unit: id.Unit(s.ID)}
	}
	return setting.Place{}
}

// A place stands for its unit, and a person for that of their oldest place in the portal.
func TestWhereAPersonIs(t *testing.T) {
	tenants, one, _ := tenanttest.New(t)
	w := world{tenants, t}
	school, other := w.portal(one), w.portal(one)
	year := w.unit(one, school, id.Unit{})
	class, another := w.unit(one, school, year), w.unit(one, school, id.Unit{})
	kim, lee := id.NewPerson(), id.NewPerson()
	w.member(one, kim, other, id.Unit{})
	outside := w.member(one, kim, school, id.Unit{})
	inside := w.member(one, kim, school, class)
	elsewhere := w.member(one, kim, school, another)
	on := func(p id.Portal, who id.Person) bool {
		return w.values(one, setting.Place{Portal: p, Person: who}).On(setting.Memory)
	}
	w.put(one, setting.Memory, setting.Unit(another), false, tenanttest.Now)
	require.True(t, on(school, kim))
	w.put(one, setting.Memory, setting.Unit(year), false, tenanttest.Now)
	require.False(t, on(school, kim))
	by := func(m id.Membership) bool {
		return w.values(one, setting.Place{Portal: school, Membership: m, Person: kim}).On(setting.Memory)
	}
	require.Equal(t, []bool{true, false, false}, []bool{by(outside), by(inside), by(elsewhere)}, "the place counts by which they came")
	require.False(t, w.values(one, setting.Place{Unit: class, Membership: outside}).On(setting.Memory), "a unit that is named counts before")
	require.True(t, on(school, lee), "who has no place in it is in no unit")
	require.True(t, on(other, kim))
	require.True(t, on(id.Portal{}, kim), "outside of every portal")
	w.put(one, setting.Memory, setting.Portal(other), false, tenanttest.Now)
	require.False(t, on(other, kim))
	require.False(t, on(other, lee))

	w.exec(`UPDATE membership SET removed_at = now() WHERE id = $1`, inside)
	w.put(one, setting.Memory, setting.Unit(another), true, tenanttest.Now)
	require.True(t, on(school, kim), "a place that was taken away counts no more")
}

func TestScopesThatAreNot(t *testing.T) {
	tenants, one, two := tenanttest.New(t)
	w := world{tenants, t}
	theirs := w.portal(two)
	gone := w.portal(one)
	w.exec(`UPDATE portal SET archived_at = now() WHERE id = $1`, gone)
	for _, at := range []setting.Scope{
		setting.Portal(theirs), setting.Portal(gone), setting.Portal(id.NewPortal()), setting.Unit(w.unit(two, theirs, id.Unit{})), setting.Unit(id.NewUnit()),
	} {
		_, err := setting.List(context.Background(), tenants, one, at, anyone)
		require.ErrorIs(t, err, setting.ErrNoScope)
		require.ErrorIs(t, tenants.InTx(context.Background(), one, func(ctx context.Context, tx *tenant.Tx) error {
			_, err := setting.Put(ctx, tx, definition(t, setting.Memory), at, false, anyone, activity.Actor{By: "key_1", At: tenanttest.Now})
			return err
		}), setting.ErrNoScope)
		require.ErrorIs(t, tenants.InTx(context.Background(), one, func(ctx context.Context, tx *tenant.Tx) error {
			_, err := setting.Clear(ctx, tx, definition(t, setting.Memory), at, anyone, activity.Actor{By: "key_1", At: tenanttest.Now})
			return err
		}), setting.ErrNoScope)
	}
}

func TestWhoChangedIt(t *testing.T) {
	tenants, one, _ := tenanttest.New(t)
	w := world{tenants, t}
	p := w.portal(one)
	s := w.stands(one, setting.Memory, setting.Portal(p), anyone)
	require.True(t, s.ChangedAt.IsZero())
	require.Empty(t, s.ChangedBy)
	at := tenanttest.Now.Add(time.Hour)
	w.put(one, setting.Memory, setting.Organization, false, at)
	s = w.stands(one, setting.Memory, setting.Portal(p), anyone)
	require.Equal(t, at, s.ChangedAt.UTC(), "of what holds, wherever it is set")
	require.Equal(t, "key_1", s.ChangedBy)
	w.put(one, setting.Memory, setting.Organization, false, at.Add(time.Hour))
	require.Equal(t, at, w.stands(one, setting.Memory, setting.Organization, anyone).ChangedAt.UTC(), "what is set already is not set again")
}

func TestTheStatementsRideTheirIndexes(t *testing.T) {
	tenants, sent, one, two := tenanttest.NewTraced(t)
	w := world{tenants, t}
	p := w.portal(one)
	u := w.unit(one, p, id.Unit{})
	db, err := tenants.Shard(t.Context(), "a")
	require.NoError(t, err)
	for _, org := range []id.Org{one, two} {
		w.exec(`
			INSERT INTO unit (org_id, id, portal_id, parent_id, kind, name, enabled, manager_ids, metadata, edition, created_at, updated_at)
			SELECT $1, gen_random_uuid(), $2, $3, 'class', '', true, '{}', '{}', 1, $4, $4 FROM generate_series(1, 5000)`, org, p, u, tenanttest.Now)
	}
	w.exec(`
		INSERT INTO membership (org_id, id, person_id, portal_id, unit_id, role, enabled, metadata, edition, created_at, updated_at, told_on)
		SELECT org_id, id, id, portal_id, id, 'learner', true, '{}', 1, $1, $1, true FROM unit`, tenanttest.Now)
	w.exec(`
		INSERT INTO setting (org_id, scope_kind, scope_id, key, value, changed_at, changed_by)
		SELECT org_id, 'unit', id::TEXT, 'memory.enabled', 'false', $1, '' FROM unit`, tenanttest.Now)
	w.exec(`ANALYZE unit, membership, setting`)
	for at, indexes := range map[setting.Place][]string{
		{}:                                  {"setting_pkey"},
		{Portal: p}:                         {"setting_pkey"},
		{Unit: u}:                           {"setting_pkey", "unit_pkey"},
		{Portal: p, Person: id.NewPerson()}: {"setting_pkey", "unit_pkey", "membership_by_person"},
		{Membership: id.NewMembership()}:    {"setting_pkey", "unit_pkey", "membership_pkey"},
	} {
		for _, s := range sent.Of(t, "s.changed_by", func() error { w.values(one, at); return nil }) {
			require.NotContains(t, s.Free(t, db), "Seq Scan")
			for _, index := range indexes {
				require.Contains(t, s.Forced(t, db), index)
			}
		}
	}
}
