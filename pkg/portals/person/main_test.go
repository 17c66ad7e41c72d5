package person_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/portals/portal/portaltest"
	"visavis.dev/pkg/portals/unit"
	"visavis.dev/pkg/store/database"
	"visavis.dev/pkg/store/database/databasetest"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/store/tenant/tenanttest"
)

func TestMain(m *testing.M) { databasetest.Main(m) }

// now is when every test begins.
var now = tenanttest.Now

var who = person.Author{By: "key_test", At: now}

// world is a shard with two organizations, of which the first has a portal.
type world struct {
	t        testing.TB
	tenants  *tenant.Tenants
	sent     *tenanttest.Statements
	db       *database.DB
	one, two id.Org
	portal   portal.Portal
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t}
	w.tenants, w.sent, w.one, w.two = tenanttest.NewTraced(t)
	var err error
	w.db, err = w.tenants.Shard(context.Background(), "a")
	require.NoError(t, err)
	w.portal = portaltest.Portal(t, w.tenants, w.one, id.NewPersona())
	return w
}

func (w *world) inTx(fn func(context.Context, *tenant.Tx) error) error {
	return w.tenants.InTx(context.Background(), w.one, fn)
}

// must is inTx of what cannot fail.
func (w *world) must(fn func(context.Context, *tenant.Tx) error) {
	w.t.Helper()
	require.NoError(w.t, w.inTx(fn))
}

// find finds or adds somebody.
func (w *world) find(wanted person.Wanted) (p person.Person, created bool, err error) {
	wanted.At = now
	err = w.inTx(func(ctx context.Context, tx *tenant.Tx) (err error) {
		p, created, err = person.FindOrAdd(ctx, tx, wanted)
		return err
	})
	return p, created, err
}

func (w *world) add(name string) person.Person {
	w.t.Helper()
	p, created, err := w.find(person.Wanted{Name: name})
	require.NoError(w.t, err)
	require.True(w.t, created)
	return p
}

func (w *world) tryJoin(p id.Person, place person.Place) (m person.Membership, created bool, err error) {
	err = w.inTx(func(ctx context.Context, tx *tenant.Tx) error {
		if err := person.Hold(ctx, tx, place.Portal); err != nil {
			return err
		}
		known, err := person.Lock(ctx, tx, p)
		if err != nil {
			return err
		}
		m, created, err = person.Join(ctx, tx, known, place, who)
		return err
	})
	return m, created, err
}

func (w *world) join(p id.Person, in id.Unit) person.Membership {
	w.t.Helper()
	m, created, err := w.tryJoin(p, person.Place{Portal: w.portal.ID, Unit: in, Role: person.Learner})
	require.NoError(w.t, err)
	require.True(w.t, created)
	return m
}

func (w *world) unit(in id.Unit) unit.Unit {
	w.t.Helper()
	u, err := w.tryUnit(in)
	require.NoError(w.t, err)
	return u
}

func (w *world) tryUnit(in id.Unit) (u unit.Unit, err error) {
	u = unit.Unit{ID: id.NewUnit(), Portal: w.portal.ID, Parent: in, Kind: unit.Class, Name: "Class", Managers: []id.Person{}, Metadata: map[string]string{}}
	err = w.inTx(func(ctx context.Context, tx *tenant.Tx) (err error) {
		u, err = unit.Insert(ctx, tx, u, who)
		return err
	})
	return u, err
}

// change changes a unit and answers the events of it and of its people.
func (w *world) change(which id.Unit, change func(*unit.Unit)) (drafts []event.Draft, err error) {
	err = w.inTx(func(ctx context.Context, tx *tenant.Tx) error {
		before, err := unit.Lock(ctx, tx, which)
		if err != nil {
			return err
		}
		after := before
		change(&after)
		_, done, err := unit.Update(ctx, tx, before, after, who)
		if err == nil && done.Switches() {
			err = person.FollowUnit(ctx, tx, after, who)
		}
		drafts = event.Emitted(tx)
		return err
	})
	return drafts, err
}

// standing is how things stand with a place at a moment.
func (w *world) standing(m id.Membership, at time.Time) (s person.Standing) {
	w.t.Helper()
	w.must(func(ctx context.Context, tx *tenant.Tx) (err error) {
		s, err = person.Effective(ctx, tx, m, at)
		return err
	})
	return s
}

// types are the events' types.
func types(drafts []event.Draft) []event.Type {
	all := []event.Type{}
	for _, d := range drafts {
		all = append(all, d.Type)
	}
	return all
}
