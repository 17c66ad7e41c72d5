package delivery_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/managed"
	"visavis.dev/pkg/eventing/delivery"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/eventing/webhook"
	"visavis.dev/pkg/store/tenant"
)

// swept runs a sweep and answers how much it deleted.
func swept(t *testing.T, sweep func(context.Context, *tenant.Tenants, string, time.Time) (int, error), w *world) int {
	t.Helper()
	n, err := sweep(context.Background(), w.tenants, "a", w.now())
	require.NoError(t, err)
	return n
}

// there are those of some deliveries that have not been deleted.
func (w *world) there(all []id.Delivery) int {
	w.t.Helper()
	return w.count(`SELECT count(*) FROM delivery WHERE id = ANY($1)`, all)
}

func TestSweepsKeepWhatWaits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	h := w.hook(w.one, "/hook")
	begin := w.now()
	aged := func(age time.Duration, state delivery.State, due *time.Time) delivery.Delivery {
		at := begin.Add(-age)
		d := delivery.Delivery{ID: id.DeliveryAt(at), Webhook: h, Event: id.EventAt(at), State: state, DueAt: due, CreatedAt: at}
		w.enter(w.one, d)
		w.exec(`INSERT INTO event (org_id, id, type, created_at, data) VALUES ($1, $2, 'unit.created', $3, '{}')`, w.one, d.Event, at)
		return d
	}
	past := event.Retention + time.Microsecond
	delivered := aged(past, delivery.Delivered, nil)
	failed := aged(past, delivery.Failed, nil)
	waits := aged(past, delivery.Retrying, &begin)
	pending := aged(past, delivery.Pending, &begin)
	young := aged(event.Retention, delivery.Delivered, nil)
	events := func() (n int) { return w.count(`SELECT count(*) FROM event`) }

	w.exec(`UPDATE org_fence SET state = 'capture' WHERE org_id = $1`, w.one)
	require.Zero(t, swept(t, delivery.Sweep, w), "an organization that moves is passed by")
	require.Zero(t, swept(t, event.Sweep, w))
	w.exec(`UPDATE org_fence SET state = 'open'`)

	require.Equal(t, 2, swept(t, delivery.Sweep, w))
	require.Zero(t, w.there([]id.Delivery{delivered.ID, failed.ID}))
	require.Equal(t, 3, w.there([]id.Delivery{waits.ID, pending.ID, young.ID}))
	require.Equal(t, 2, swept(t, event.Sweep, w), "the events of what waits stay")
	require.Equal(t, 3, events())
	require.Zero(t, swept(t, delivery.Sweep, w))
	require.Zero(t, swept(t, event.Sweep, w))

	w.exec(`UPDATE delivery SET due_at = NULL, state = 'failed' WHERE id = $1`, waits.ID)
	require.Equal(t, 1, swept(t, event.Sweep, w))
	require.Equal(t, 1, swept(t, delivery.Sweep, w))
	require.Equal(t, 2, w.there([]id.Delivery{waits.ID, pending.ID, young.ID}))
	w.clock.Step(time.Microsecond)
	require.Equal(t, 1, swept(t, delivery.Sweep, w))
	require.Equal(t, 1, swept(t, event.Sweep, w))
	require.Equal(t, 1, w.there([]id.Delivery{pending.ID}))
	require.Equal(t, 1, events())
}

func TestTheLogOfADeletedWebhookIsSwept(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	gone, stays, moving := w.hook(w.one, "/gone"), w.hook(w.one, "/stays"), w.hook(w.two, "/moving")
	w.emit(w.one, drafts(3)...)
	w.emit(w.two)
	sweep := func(context.Context, *tenant.Tenants, string, time.Time) (int, error) {
		return webhook.Sweep(context.Background(), w.tenants, "a")
	}
	require.Zero(t, swept(t, sweep, w))
	for h, org := range map[id.Webhook]id.Org{gone: w.one, moving: w.two} {
		w.inTx(org, func(ctx context.Context, tx *tenant.Tx) error {
			return webhook.Delete(ctx, tx, h, managed.API, w.who())
		})
	}
	w.exec(`UPDATE org_fence SET state = 'fenced' WHERE org_id = $1`, w.two)
	of := func(h id.Webhook) [2]int {
		return [2]int{
			w.count(`SELECT count(*) FROM webhook WHERE id = $1`, h), w.count(`SELECT count(*) FROM delivery WHERE webhook_id = $1`, h),
		}
	}
	require.Equal(t, 3, swept(t, sweep, w), "what waits too: nobody will have it")
	require.Equal(t, [2]int{1, 0}, of(gone), "the webhook goes after its log")
	require.Equal(t, 1, swept(t, sweep, w))
	require.Equal(t, [2]int{0, 0}, of(gone))
	require.Zero(t, swept(t, sweep, w))
	require.Equal(t, [2]int{1, 3}, of(stays))
	require.Equal(t, [2]int{1, 1}, of(moving), "an organization that moves is passed by")
	w.exec(`UPDATE org_fence SET state = 'open'`)
	require.Equal(t, 1, swept(t, sweep, w))
	require.Equal(t, 1, swept(t, sweep, w))
	require.Equal(t, [2]int{0, 0}, of(moving))
}
