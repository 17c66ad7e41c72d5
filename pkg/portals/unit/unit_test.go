package unit_test

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/portals/portal/portaltest"
	"visavis.dev/pkg/portals/unit"
	"visavis.dev/pkg/store/database/databasetest"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/store/tenant/tenanttest"
)

func TestMain(m *testing.M) { databasetest.Main(m) }

var who = unit.Author{By: "key_test", At: tenanttest.Now}

// world is an organization with two portals.
type world struct {
	t          *testing.T
	tenants    *tenant.Tenants
	sent       *tenanttest.Statements
	org        id.Org
	here, away id.Portal
	// told are the events of the last change.
	told []event.Draft
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t}
	w.tenants, w.sent, w.org, _ = tenanttest.NewTraced(t)
	w.here = portaltest.Portal(t, w.tenants, w.org, id.NewPersona()).ID
	w.away = portaltest.Portal(t, w.tenants, w.org, id.NewPersona()).ID
	return w
}

func (w *world) inTx(fn func(context.Context, *tenant.Tx) error) error {
	return w.tenants.InTx(context.Background(), w.org, fn)
}

func (w *world) add(u unit.Unit) (made unit.Unit, told event.Draft, err error) {
	u.ID, u.Kind, u.Metadata = id.NewUnit(), unit.Class, map[string]string{}
	if u.Managers == nil {
		u.Managers = []id.Person{}
	}
	err = w.inTx(func(ctx context.Context, tx *tenant.Tx) (err error) {
		made, err = unit.Insert(ctx, tx, u, who)
		for _, told = range event.Emitted(tx) {
		}
		return err
	})
	return made, told, err
}

// in adds a unit that lies in another; the zero id for one at the top.
func (w *world) in(parent id.Unit) id.Unit {
	w.t.Helper()
	made, _, err := w.add(unit.Unit{Portal: w.here, Parent: parent, Name: "Class"})
	require.NoError(w.t, err)
	return made.ID
}

// chain adds units one in another, from the top.
func (w *world) chain(n int) (units []id.Unit) {
	w.t.Helper()
	var last id.Unit
	for range n {
		last = w.in(last)
		units = append(units, last)
	}
	return units
}

func (w *world) change(which id.Unit, change func(*unit.Unit)) (now unit.Unit, done unit.Change, err error) {
	err = w.inTx(func(ctx context.Context, tx *tenant.Tx) error {
		before, err := unit.Lock(ctx, tx, which)
		if err != nil {
			return err
		}
		after := before
		change(&after)
		now, done, err = unit.Update(ctx, tx, before, after, who)
		w.told = event.Emitted(tx)
		return err
	})
	return now, done, err
}

func (w *world) move(which, to id.Unit) error {
	_, _, err := w.change(which, func(u *unit.Unit) { u.Parent = to })
	return err
}

// on are those of some units that are switched on, as both walks through the tree
// have it.
func (w *world) on(from id.Unit, of ...id.Unit) (lit []id.Unit) {
	w.t.Helper()
	require.NoError(w.t, w.inTx(func(ctx context.Context, tx *tenant.Tx) (err error) {
		if lit, err = unit.On(ctx, tx, of...); err != nil {
			return err
		}
		switches, err := unit.Switches(ctx, tx, from)
		for _, u := range of {
			if on, below := switches[u]; below {
				require.Equal(w.t, on, slices.Contains(lit, u))
			}
		}
		return err
	}))
	return lit
}

func TestWhereAUnitLies(t *testing.T) {
	w := newWorld(t)
	top, told, err := w.add(unit.Unit{Portal: w.here, Name: "School"})
	require.NoError(t, err)
	require.True(t, top.Enabled)
	require.Equal(t, event.UnitCreated, told.Type)
	require.NotContains(t, told.Fields, "parentUnitId")
	_, told, err = w.add(unit.Unit{Portal: w.here, Parent: top.ID, Name: "7b"})
	require.NoError(t, err)
	require.Equal(t, top.ID, told.Fields["parentUnitId"])

	foreign, _, err := w.add(unit.Unit{Portal: w.away, Name: "Elsewhere"})
	require.NoError(t, err)
	for name, test := range map[string]struct {
		unit unit.Unit
		want error
	}{
		"in none there is":       {unit.Unit{Portal: w.here, Parent: id.NewUnit()}, errdefs.NotFound{Noun: unit.OfPortal}},
		"in one of another":      {unit.Unit{Portal: w.here, Parent: foreign.ID}, errdefs.NotFound{Noun: unit.OfPortal}},
		"on no portal":           {unit.Unit{Portal: id.NewPortal()}, errdefs.NotFound{Noun: portal.Noun}},
		"managed by a passer-by": {unit.Unit{Portal: w.here, Managers: []id.Person{id.NewPerson()}}, unit.ErrNoManager},
	} {
		_, _, err := w.add(test.unit)
		require.ErrorIs(t, err, test.want, name)
	}
}

func TestUnitsDoNotLieTooDeep(t *testing.T) {
	w := newWorld(t)
	deep := w.chain(unit.MaxDepth)
	_, _, err := w.add(unit.Unit{Portal: w.here, Parent: deep[len(deep)-1], Name: "Too deep"})
	require.ErrorIs(t, err, unit.ErrTooDeep)
	pair := w.chain(2)
	require.ErrorIs(t, w.move(pair[0], deep[unit.MaxDepth-2]), unit.ErrTooDeep, "what lies in it comes along")
	require.NoError(t, w.move(pair[0], deep[unit.MaxDepth-3]))
}

func TestUnitsDoNotLieInThemselves(t *testing.T) {
	w := newWorld(t)
	units := w.chain(3)
	for _, to := range units {
		require.ErrorIs(t, w.move(units[0], to), unit.ErrRing)
	}
	require.NoError(t, w.move(units[2], units[0]), "upwards")
	require.NoError(t, w.move(units[1], units[2]), "and below what was below it")
	require.ErrorIs(t, w.move(units[2], units[1]), unit.ErrRing)
	require.NoError(t, w.move(units[2], id.Unit{}), "to the top")
}

// Two moves that would make a ring together: the second sees the first.
func TestTwoMovesMakeNoRing(t *testing.T) {
	w := newWorld(t)
	a, b := w.in(id.Unit{}), w.in(id.Unit{})
	results := make(chan error, 2)
	go func() { results <- w.move(a, b) }()
	go func() { results <- w.move(b, a) }()
	first, second := <-results, <-results
	if first != nil {
		first, second = second, first
	}
	require.NoError(t, first)
	require.ErrorIs(t, second, unit.ErrRing)
}

// A switch holds for all that lies below, whatever their own say.
func TestSwitches(t *testing.T) {
	w := newWorld(t)
	units := w.chain(3)
	other := w.in(id.Unit{})
	all := append([]id.Unit{other}, units...)
	set := func(which id.Unit, on bool) unit.Change {
		_, done, err := w.change(which, func(u *unit.Unit) { u.Enabled = on })
		require.NoError(t, err)
		return done
	}
	require.ElementsMatch(t, all, w.on(units[0], all...))
	done := set(units[1], false)
	require.True(t, done.Switches())
	require.Equal(t, event.UnitDisabled, w.told[0].Type)
	require.ElementsMatch(t, []id.Unit{other, units[0]}, w.on(units[0], all...))
	require.ElementsMatch(t, []id.Unit{other, units[0]}, w.on(units[2], all...), "seen from below")
	require.NoError(t, w.move(units[2], other))
	require.ElementsMatch(t, []id.Unit{other, units[0], units[2]}, w.on(units[0], all...), "moved into the light")
	set(units[1], true)
	require.Equal(t, event.UnitEnabled, w.told[0].Type)
	require.ElementsMatch(t, all, w.on(units[0], all...))
}

func TestWhatAChangeTells(t *testing.T) {
	w := newWorld(t)
	which := w.in(id.Unit{})
	now, done, err := w.change(which, func(*unit.Unit) {})
	require.NoError(t, err)
	require.Empty(t, done.Fields)
	require.Equal(t, int64(1), now.Edition, "nothing changed")
	now, done, err = w.change(which, func(u *unit.Unit) { u.Name, u.Code, u.Enabled = "7b", new("7b"), false })
	require.NoError(t, err)
	require.Equal(t, int64(2), now.Edition)
	require.Equal(t, []string{"name", "code", "enabled"}, done.Fields)
	types := []event.Type{}
	for _, d := range w.told {
		types = append(types, d.Type)
	}
	require.Equal(t, []event.Type{event.UnitRenamed, event.UnitUpdated, event.UnitDisabled}, types)
	require.Equal(t, []string{"code"}, w.told[1].Fields["changedFields"])
}

func TestUnitsByCode(t *testing.T) {
	w := newWorld(t)
	ctx := context.Background()
	code := func(p id.Portal, c string) id.Unit {
		made, _, err := w.add(unit.Unit{Portal: p, Name: "Class", Code: &c})
		require.NoError(t, err)
		return made.ID
	}
	a, b, again := code(w.here, "a"), code(w.here, "b"), code(w.here, "b")
	code(w.away, "a")
	w.in(id.Unit{})
	var found map[string][]id.Unit
	statements := w.sent.Of(t, "code = ANY", func() error {
		return w.inTx(func(ctx context.Context, tx *tenant.Tx) (err error) {
			found, err = unit.ByCode(ctx, tx, w.here, []string{"a", "b", "c"})
			return err
		})
	})
	require.Equal(t, map[string][]id.Unit{"a": {a}, "b": {b, again}}, found)
	db, err := w.tenants.Shard(ctx, "a")
	require.NoError(t, err)
	_, err = db.Exec(ctx, `INSERT INTO unit (org_id, id, portal_id, kind, name, code, enabled, manager_ids, metadata, edition, created_at, updated_at)
		SELECT $1, gen_random_uuid(), $2, 'class', 'many', 'x' || i, true, '{}', '{}', 1, now(), now() FROM generate_series(1, 2000) AS g (i)`, w.org, w.here)
	require.NoError(t, err)
	_, err = db.Exec(ctx, `ANALYZE unit`)
	require.NoError(t, err)
	require.NotEmpty(t, statements)
	for _, s := range statements {
		require.Contains(t, s.Forced(t, db), "unit_by_code")
	}
}
