package assignment_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/vault"
	"visavis.dev/pkg/learning/assignment"
	"visavis.dev/pkg/portals/mailer"
	"visavis.dev/pkg/portals/portal/portaltest"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/database"
	"visavis.dev/pkg/store/database/databasetest"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/store/tenant/tenanttest"
)

func TestMain(m *testing.M) { databasetest.Main(m) }

// world is an organization whose portal teaches a subject.
type world struct {
	*testing.T
	tenants *tenant.Tenants
	sent    *tenanttest.Statements
	org     id.Org
	db      *database.DB
	portal  id.Portal
	subject id.Subject
	worker  *assignment.Worker
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{T: t}
	w.tenants, w.sent, w.org, _ = tenanttest.NewTraced(t)
	var err error
	w.db, err = w.tenants.Shard(t.Context(), "a")
	require.NoError(t, err)
	w.portal = portaltest.Portal(t, w.tenants, w.org, id.NewPersona()).ID
	w.subject = portaltest.Subject(t, w.tenants, w.org, w.portal).ID
	sealing, err := vault.New(vault.NewKey())
	require.NoError(t, err)
	w.worker = &assignment.Worker{Tenants: w.tenants, Outbox: &mailer.Outbox{Vault: sealing}}
	return w
}

func (w *world) exec(sql string, args ...any) {
	w.Helper()
	_, err := w.db.Exec(w.Context(), sql, args...)
	require.NoError(w, err)
}

// learners enters people with a place on the portal, in a time zone.
func (w *world) learners(n int, zone string) {
	w.Helper()
	w.exec(`
		WITH made AS (
			INSERT INTO person (org_id, id, name, email, email_key, timezone, age_band, state, metadata, edition, created_at, updated_at)
			SELECT $1, gen_random_uuid(), 'Kim', $3 || i || '@example.com', $3 || i || '@example.com', $3, 'adult', 'active', '{}', 1, now(), now()
			FROM generate_series(1, $2::INT) AS i RETURNING id)
		INSERT INTO membership (org_id, id, person_id, portal_id, role, enabled, metadata, edition, told_on, created_at, updated_at)
		SELECT $1, gen_random_uuid(), id, $4, 'learner', true, '{}', 1, true, now(), now() FROM made`, w.org, n, zone, w.portal)
}

func (w *world) inTx(fn func(context.Context, *tenant.Tx) error) {
	w.Helper()
	require.NoError(w, w.tenants.InTx(w.Context(), w.org, fn))
}

func (w *world) create(a assignment.Assignment, now time.Time) (made assignment.Assignment) {
	w.Helper()
	a.Title, a.Subject, a.Timezone = "Knots", w.subject, "Europe/Berlin"
	if a.Kind == "" {
		a.Kind = assignment.Assess
	}
	w.inTx(func(ctx context.Context, tx *tenant.Tx) (err error) {
		made, err = assignment.Create(ctx, tx, a, activity.Actor{By: "key_test", At: now})
		return err
	})
	return made
}

func (w *world) get(which id.Assignment) assignment.Assignment {
	w.Helper()
	a, err := assignment.Get(w.Context(), w.tenants, w.org, which)
	require.NoError(w, err)
	return a
}

// until does something of the worker's until nothing is left to do.
func (w *world) until(now time.Time, run func(context.Context, *tenant.Tenants, string, time.Time) (int, error)) {
	w.Helper()
	for n := 1; n > 0; {
		var err error
		n, err = run(w.Context(), w.tenants, "a", now)
		require.NoError(w, err)
	}
}

func (w *world) count(sql string, args ...any) (n int64) {
	w.Helper()
	require.NoError(w, w.db.QueryRow(w.Context(), sql, append([]any{w.org}, args...)...).Scan(&n))
	return n
}

func (w *world) change(which id.Assignment, now time.Time, change func(*assignment.Assignment)) {
	w.Helper()
	w.inTx(func(ctx context.Context, tx *tenant.Tx) error {
		before, err := assignment.Lock(ctx, tx, which)
		if err != nil {
			return err
		}
		after := before
		change(&after)
		_, err = assignment.Update(ctx, tx, before, after, activity.Actor{By: "key_test", At: now})
		return err
	})
}

func (w *world) all() []assignment.Assignment {
	w.Helper()
	all, err := assignment.List(w.Context(), w.tenants, w.org, assignment.Filter{States: assignment.States()}, id.Assignment{}, 50)
	require.NoError(w, err)
	return all
}

// who is the first person of the organization.
func (w *world) who() (one id.Person) {
	w.Helper()
	require.NoError(w, w.db.QueryRow(w.Context(), `SELECT id FROM person WHERE org_id = $1 ORDER BY id LIMIT 1`, w.org).Scan(&one))
	return one
}
