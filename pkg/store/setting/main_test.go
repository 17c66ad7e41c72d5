package setting_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/database/databasetest"
	"visavis.dev/pkg/store/setting"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/store/tenant/tenanttest"
)

func TestMain(m *testing.M) { databasetest.Main(m) }

type world struct {
	*tenant.Tenants
	t require.TestingT
}

func (w world) in(org id.Org, fn func(context.Context, *tenant.Tx) error) {
	if t, ok := w.t.(*testing.T); ok {
		t.Helper()
	}
	require.NoError(w.t, w.InTx(context.Background(), org, fn))
}

func (w world) exec(sql string, args ...any) {
	db, err := w.Shard(context.Background(), "a")
	require.NoError(w.t, err)
	_, err = db.Exec(context.Background(), sql, args...)
	require.NoError(w.t, err)
}

// portal enters a portal of which nothing but the id is looked at.
func (w world) portal(org id.Org) id.Portal {
	p := id.NewPortal()
	w.exec(`
		INSERT INTO portal (org_id, id, name, slug, host, kind, template_key, state, persona_id, definition, draft_version, page_stamp, created_at, updated_at)
		VALUES ($1, $2::UUID, '', $2::UUID::TEXT, '', 'custom', '', 'draft', $2::UUID, '{}', 1, 1, $3, $3)`, org, p, tenanttest.Now)
	return p
}

// unit enters a unit of a portal, within another or none.
func (w world) unit(org id.Org, of id.Portal, within id.Unit) id.Unit {
	u := id.NewUnit()
	w.exec(`
		INSERT INTO unit (org_id, id, portal_id, parent_id, kind, name, enabled, manager_ids, metadata, edition, created_at, updated_at)
		VALUES ($1, $2, $3, $4, 'class', '', true, '{}', '{}', 1, $5, $5)`, org, u, of, within, tenanttest.Now)
	return u
}

// member gives a person a place in a portal.
func (w world) member(org id.Org, who id.Person, of id.Portal, in id.Unit) id.Membership {
	m := id.NewMembership()
	w.exec(`
		INSERT INTO membership (org_id, id, person_id, portal_id, unit_id, role, enabled, metadata, edition, created_at, updated_at, told_on)
		VALUES ($1, $2, $3, $4, $5, 'learner', true, '{}', 1, $6, $6, true)`, org, m, who, of, in, tenanttest.Now)
	return m
}

// anyone may change everything.
var anyone = setting.Viewer{Terms: plan.Terms{Plan: plan.Plan{Features: []string{"zero_data_retention", "widgets"}}}, Region: "us", Owner: true}

func definition(t require.TestingT, k setting.Key) setting.Definition {
	d, ok := setting.Find(k)
	require.True(t, ok)
	return d
}

func (w world) put(org id.Org, k setting.Key, at setting.Scope, v setting.Value, now time.Time) (c setting.Change) {
	w.in(org, func(ctx context.Context, tx *tenant.Tx) (err error) {
		c, err = setting.Put(ctx, tx, definition(w.t, k), at, v, anyone, activity.Actor{By: "key_1", At: now})
		return err
	})
	return c
}

func (w world) clear(org id.Org, k setting.Key, at setting.Scope) (c setting.Change) {
	w.in(org, func(ctx context.Context, tx *tenant.Tx) (err error) {
		c, err = setting.Clear(ctx, tx, definition(w.t, k), at, anyone, activity.Actor{By: "key_1", At: tenanttest.Now})
		return err
	})
	return c
}

// stands is how a setting stands at a scope.
func (w world) stands(org id.Org, k setting.Key, at setting.Scope, by setting.Viewer) setting.Standing {
	all, err := setting.List(context.Background(), w.Tenants, org, at, by)
	require.NoError(w.t, err)
	for _, s := range all {
		if s.Definition.Key == k {
			return s
		}
	}
	require.Fail(w.t, "not listed", k)
	return setting.Standing{}
}

// values reads what holds at a place both ways, which must agree.
func (w world) values(org id.Org, at setting.Place) (values setting.Values) {
	require.NoError(w.t, w.Read(context.Background(), org, func(r *tenant.Reads) { setting.QueueValues(r, org, at, &values) }))
	w.in(org, func(ctx context.Context, tx *tenant.Tx) error {
		inTx, err := setting.At(ctx, tx, at)
		require.Equal(w.t, values, inTx)
		return err
	})
	return values
}
