package delivery_test

import (
	"context"
	"log/slog"
	"net/netip"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	clocktest "k8s.io/utils/clock/testing"

	"visavis.dev/hack/receiver/endpoint"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/egress"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/base/vault"
	"visavis.dev/pkg/eventing/delivery"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/eventing/webhook"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/database/databasetest"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/store/tenant/tenanttest"
)

func TestMain(m *testing.M) { databasetest.Main(m) }

// world is a shard with two organizations, a receiver, and what a worker
// needs, on a clock that the test moves.
type world struct {
	t        *testing.T
	tenants  *tenant.Tenants
	one, two id.Org
	receiver *endpoint.Server
	clock    *clocktest.FakeClock
	options  delivery.Options
}

func newWorld(t *testing.T) *world {
	t.Helper()
	tenants, one, two := tenanttest.New(t)
	return newWorldOf(t, tenants, one, two)
}

// newWorldOf is newWorld with two organizations that are there already.
func newWorldOf(t *testing.T, tenants *tenant.Tenants, one, two id.Org) *world {
	t.Helper()
	w := &world{t: t, clock: clocktest.NewFakeClock(time.Now().Truncate(time.Second)), tenants: tenants, one: one, two: two}
	var err error
	w.receiver, err = endpoint.Start(endpoint.Options{})
	require.NoError(t, err)
	t.Cleanup(w.receiver.Close)
	v, err := vault.New(vault.NewKey())
	require.NoError(t, err)
	w.options = delivery.Options{
		Tenants: w.tenants, Vault: v, Renderer: &event.Renderer{Tenants: w.tenants, Sources: map[event.Type]event.Source{}},
		Egress: egress.New(egress.Options{
			Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, RootCAs: w.receiver.RootCAs(), Timeout: time.Second,
		}),
		Shards: func(context.Context) ([]string, error) { return []string{"a"}, nil },
		Clock:  w.clock, Log: slog.New(slog.DiscardHandler),
	}
	t.Cleanup(w.options.Egress.Client().CloseIdleConnections)
	return w
}

// now is the moment by the test's clock.
func (w *world) now() time.Time { return w.clock.Now().UTC().Truncate(time.Microsecond) }

func (w *world) who() activity.Actor { return activity.Actor{By: "test", At: w.now()} }

// inTx runs fn on an organization's shard.
func (w *world) inTx(org id.Org, fn func(context.Context, *tenant.Tx) error) {
	w.t.Helper()
	require.NoError(w.t, w.tenants.InTx(context.Background(), org, fn))
}

const secret webhook.Secret = "whsec_test"

// hook makes a webhook of an organization that receives at a path of the
// receiver, which verifies it. changes alter it before it is entered.
func (w *world) hook(org id.Org, path string, changes ...func(*webhook.Webhook)) id.Webhook {
	w.t.Helper()
	h := webhook.Webhook{
		ID: id.NewWebhook(), URL: w.receiver.URL(path), Events: []string{event.Any}, Active: true,
		APIVersion: contract.Latest, CreatedAt: w.now(), UpdatedAt: w.now(),
	}
	for _, change := range changes {
		change(&h)
	}
	w.inTx(org, func(ctx context.Context, tx *tenant.Tx) error {
		_, err := webhook.Insert(ctx, tx, w.options.Vault, h, secret, plan.Terms{}, nil, w.who())
		return err
	})
	return h.ID
}

// change changes a webhook.
func (w *world) change(org id.Org, h id.Webhook, change func(*webhook.Webhook)) {
	w.t.Helper()
	w.inTx(org, func(ctx context.Context, tx *tenant.Tx) error {
		found, err := webhook.Lock(ctx, tx, h)
		if err != nil {
			return err
		}
		change(&found)
		return webhook.Update(ctx, tx, found, webhook.Updated, nil, w.who())
	})
}

// emit records events, of unit.renamed unless given, and answers the deliveries of the last.
func (w *world) emit(org id.Org, drafts ...event.Draft) []id.Delivery {
	w.t.Helper()
	if len(drafts) == 0 {
		drafts = []event.Draft{{Type: event.UnitRenamed, Fields: map[string]any{"unitId": "unit_1", "name": "North"}}}
	}
	for i := range drafts {
		if drafts[i].At.IsZero() {
			drafts[i].At = w.now()
		}
	}
	var recorded []event.Recorded
	w.inTx(org, func(ctx context.Context, tx *tenant.Tx) (err error) {
		recorded, err = event.Record(ctx, tx, drafts...)
		return err
	})
	return recorded[len(recorded)-1].Deliveries
}

// tell has something told of an organization, in a commit of its own.
func (w *world) tell(org id.Org) {
	w.t.Helper()
	w.inTx(org, func(_ context.Context, tx *tenant.Tx) error {
		event.Emit(tx, event.Draft{Type: event.UnitRenamed, At: w.now(), Fields: map[string]any{"unitId": "unit_1", "name": "North"}})
		return nil
	})
}

// deliver delivers what is due now.
func (w *world) deliver() {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	require.NoError(w.t, delivery.New(w.options).Drain(ctx))
}

// delivery reads a delivery and its attempts.
func (w *world) delivery(org id.Org, d id.Delivery) (delivery.Delivery, []delivery.Attempt) {
	w.t.Helper()
	found, attempts, err := delivery.Get(context.Background(), w.tenants, org, d)
	require.NoError(w.t, err)
	return found, attempts
}

// webhook reads a webhook.
func (w *world) webhook(org id.Org, h id.Webhook) webhook.Webhook {
	w.t.Helper()
	found, err := webhook.Get(context.Background(), w.tenants, org, h)
	require.NoError(w.t, err)
	return found
}

// exec runs a statement on the shard.
func (w *world) exec(sql string, args ...any) {
	w.t.Helper()
	db, err := w.tenants.Shard(context.Background(), "a")
	require.NoError(w.t, err)
	_, err = db.Exec(context.Background(), sql, args...)
	require.NoError(w.t, err)
}

// count runs a query of one number.
func (w *world) count(sql string, args ...any) (n int) {
	w.t.Helper()
	db, err := w.tenants.Shard(context.Background(), "a")
	require.NoError(w.t, err)
	rows, err := db.Query(context.Background(), sql, args...)
	require.NoError(w.t, err)
	n, err = pgx.CollectExactlyOneRow(rows, pgx.RowTo[int])
	require.NoError(w.t, err)
	return n
}
