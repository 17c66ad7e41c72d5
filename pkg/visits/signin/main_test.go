package signin_test

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/utils/clock"
	testingclock "k8s.io/utils/clock/testing"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/base/vault"
	"visavis.dev/pkg/portals/door"
	"visavis.dev/pkg/portals/mailer"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/portals/portal/portaltest"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/database/databasetest"
	"visavis.dev/pkg/store/directory"
	"visavis.dev/pkg/store/limits"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/store/tenant/tenanttest"
	"visavis.dev/pkg/visits/admission/admissiontest"
	"visavis.dev/pkg/visits/signin"
)

var testActor = activity.Actor{By: "test", At: tenanttest.Now}

func TestMain(m *testing.M) { databasetest.Main(m) }

// world is a shard with two organizations, and a portal of the first whose doors are
// all open.
type world struct {
	*testing.T
	tenants  *tenant.Tenants
	sent     *tenanttest.Statements
	one, two id.Org
	clock    *testingclock.FakePassiveClock
	gate     *signin.Gate
	portal   portal.Portal
	// counts are what the limits are counted in.
	counts *table
	// terms are those of whoever joins by a code.
	terms plan.Terms
}

func newWorld(t *testing.T, changes ...func(*portal.Portal)) *world {
	t.Helper()
	w := &world{T: t, clock: testingclock.NewFakePassiveClock(tenanttest.Now)}
	w.tenants, w.sent, w.one, w.two = tenanttest.NewTraced(t)
	sealing, err := vault.New(vault.NewKey())
	require.NoError(t, err)
	w.counts = &table{granted: map[limits.Counter]int64{}}
	limiter := limits.New(w.counts, limits.Options{Pods: 1, Clock: clock.RealClock{}, Log: slog.New(slog.DiscardHandler)})
	w.gate = &signin.Gate{Tenants: w.tenants, Vault: sealing, Clock: w.clock, Limiter: limiter, Mails: &mailer.Outbox{Vault: sealing}, Terms: func(_ context.Context, org id.Org) (plan.Terms, error) {
		if org != w.one && org != w.two {
			return plan.Terms{}, directory.ErrUnknown
		}
		return w.terms, nil
	}}
	w.portal = portaltest.Portal(t, w.tenants, w.one, id.NewPersona(), changes...)
	for _, key := range door.Keys {
		w.set(key, door.Change{Open: true, Requires: []string{}})
	}
	return w
}

// table grants tokens in one endless minute.
type table struct {
	mu      sync.Mutex
	granted map[limits.Counter]int64
}

func (t *table) Take(_ context.Context, c limits.Counter, want, limit int64) (limits.Window, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	took := min(want, limit-t.granted[c])
	t.granted[c] += took
	return limits.Window{Took: took, Granted: t.granted[c], Minute: 1, Left: time.Minute}, nil
}

func (t *table) Return(_ context.Context, c limits.Counter, n, _ int64) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.granted[c] -= n
	return nil
}

func (w *world) inTx(fn func(context.Context, *tenant.Tx) error) error {
	return w.tenants.InTx(context.Background(), w.one, fn)
}

func (w *world) exec(sql string, args ...any) {
	w.Helper()
	require.NoError(w, w.inTx(func(ctx context.Context, tx *tenant.Tx) error {
		_, err := tx.Exec(ctx, sql, args...)
		return err
	}))
}

func (w *world) count(sql string, args ...any) (n int) {
	w.Helper()
	require.NoError(w, w.inTx(func(ctx context.Context, tx *tenant.Tx) error { return tx.QueryRow(ctx, sql, args...).Scan(&n) }))
	return n
}

// set opens or closes a door of the portal.
func (w *world) set(key door.Key, c door.Change) (d door.Door) {
	w.Helper()
	require.NoError(w, w.inTx(func(ctx context.Context, tx *tenant.Tx) (err error) {
		d, err = door.Set(ctx, tx, w.portal, key, c, portal.Author{By: "test", At: w.clock.Now()})
		return err
	}))
	return d
}

// learner is a person with a place on the portal.
func (w *world) learner(changes ...func(*person.Membership)) person.Membership {
	w.Helper()
	return admissiontest.Membership(w, w.tenants, w.one, admissiontest.Person(w, w.tenants, w.one).ID, w.portal.ID, changes...)
}

// embed makes an embed token.
func (w *world) embed(e signin.Embed) (made signin.EmbedToken, err error) {
	if e.Portal.IsZero() {
		e.Portal = w.portal.ID
	}
	if e.GoodFor == 0 {
		e.GoodFor = time.Hour
	}
	err = w.inTx(func(ctx context.Context, tx *tenant.Tx) (err error) {
		made, err = w.gate.IssueEmbed(ctx, tx, e, testActor)
		return err
	})
	return made, err
}

func (w *world) tokenOf(m person.Membership) string {
	w.Helper()
	made, err := w.embed(signin.Embed{Person: m.Person})
	require.NoError(w, err)
	require.Equal(w, m.ID, made.Membership)
	return made.Token
}

// refused says that somebody is not let in, and why.
func (w *world) refused(code signin.Code, err error) {
	w.Helper()
	var r *signin.Refusal
	require.ErrorAs(w, err, &r)
	require.Equal(w, code, r.Code)
	require.Regexp(w, `^[A-Z].+\.$`, r.Error(), "a sentence")
	require.Equal(w, string(code), r.Problem().Details["reason"])
	require.GreaterOrEqual(w, r.Problem().Code.Status(), 400)
}
