package delivery_test

import (
	"context"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"k8s.io/utils/clock"

	"visavis.dev/hack/receiver/endpoint"
	"visavis.dev/pkg/base/egress"
	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/managed"
	"visavis.dev/pkg/eventing/delivery"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/eventing/webhook"
	"visavis.dev/pkg/store/tenant"
)

// live is a world whose workers run by themselves, on the real clock.
func newLiveWorld(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.options.Clock, w.options.Lease = clock.RealClock{}, 4*time.Second
	return w
}

func (w *world) work() *delivery.Worker {
	w.t.Helper()
	worker := delivery.New(w.options)
	worker.Start()
	w.t.Cleanup(worker.Stop)
	return worker
}

func (w *world) await(path string, events int) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	require.NoError(w.t, w.receiver.Await(ctx, path, events))
}

func TestWorkersShareTheLanes(t *testing.T) {
	t.Parallel()
	w := newLiveWorld(t)
	first := delivery.New(w.options)
	first.Start()
	var paths []string
	for i := range 20 {
		paths = append(paths, "/"+string(rune('a'+i)))
		w.hook(w.one, paths[i])
	}
	all := func(events int) {
		t.Helper()
		for _, path := range paths {
			w.await(path, events)
		}
	}
	w.emit(w.one)
	all(1)
	held := func() int {
		return w.count(`SELECT count(DISTINCT owner) FROM delivery_lane WHERE lease_until > now()`)
	}
	require.Equal(t, 1, held())

	second := w.work()
	require.Eventually(t, func() bool { return held() == 2 }, 20*time.Second, 10*time.Millisecond, "the second worker gets its share")
	w.emit(w.one)
	all(2)
	first.Stop()
	w.emit(w.one)
	all(3)
	require.Eventually(t, func() bool { return held() == 1 }, 20*time.Second, 10*time.Millisecond, "the lanes of one that stops go over")
	second.Stop()
	for _, path := range paths {
		require.Equal(t, 3, w.receiver.Count(path).Requests, "nothing was delivered twice")
	}
	require.Zero(t, w.count(`SELECT count(*) FROM delivery WHERE state <> 'delivered'`))
	require.Zero(t, w.count(`SELECT count(*) FROM delivery_worker`))
}

// What a worker held that fell silent is another's after the lease.
func TestLanesOfADeadWorker(t *testing.T) {
	t.Parallel()
	w := newLiveWorld(t)
	w.hook(w.one, "/hook")
	w.emit(w.one)
	began := time.Now()
	w.exec(`UPDATE delivery_lane SET owner = $1, epoch = 7, lease_until = now() + INTERVAL '1 second'`, uuid.New())
	w.work()
	w.await("/hook", 1)
	require.Greater(t, time.Since(began), 500*time.Millisecond, "not before")
	require.Equal(t, 32, w.count(`SELECT count(*) FROM delivery_lane WHERE epoch = 8`))
}

// A worker that lost its lanes while it made an attempt writes nothing of it.
func TestAResultAfterTheLeaseIsIgnored(t *testing.T) {
	t.Parallel()
	w := newLiveWorld(t)
	w.options.Lease = time.Minute
	w.hook(w.one, "/slow")
	w.receiver.Set("/slow", endpoint.Behaviour{Status: 500, Latency: 900 * time.Millisecond})
	d := w.emit(w.one)[0]
	worker := w.work()
	w.await("/slow", 1)
	w.exec(`UPDATE delivery_lane SET owner = $1, epoch = epoch + 1`, uuid.New())
	worker.Stop()
	found, attempts := w.delivery(w.one, d)
	require.Equal(t, delivery.Pending, found.State)
	require.Empty(t, attempts)
}

// An attempt that ends after its delivery was finished by another changes nothing.
func TestAResultOfAnotherAttemptIsIgnored(t *testing.T) {
	t.Parallel()
	w := newLiveWorld(t)
	w.hook(w.one, "/slow")
	w.receiver.Set("/slow", endpoint.Behaviour{Status: 500, Latency: 900 * time.Millisecond})
	d := w.emit(w.one)[0]
	worker := w.work()
	w.await("/slow", 1)
	w.exec(`UPDATE delivery SET state = 'delivered', attempts = 1, due_at = NULL`)
	worker.Stop()
	found, _ := w.delivery(w.one, d)
	require.Equal(t, delivery.Delivered, found.State)
	require.EqualValues(t, 1, found.Attempts)
}

// Stopping waits for what is under way and writes it.
func TestStoppingDrains(t *testing.T) {
	t.Parallel()
	w := newLiveWorld(t)
	w.hook(w.one, "/slow")
	w.receiver.Set("/slow", endpoint.Behaviour{Latency: 900 * time.Millisecond})
	d := w.emit(w.one)[0]
	worker := w.work()
	w.await("/slow", 1)
	worker.Stop()
	found, _ := w.delivery(w.one, d)
	require.Equal(t, delivery.Delivered, found.State)
}

// An organization that is being moved, or has moved, is left alone.
func TestAFencedOrganizationIsLeftAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.hook(w.one, "/one")
	w.hook(w.two, "/two")
	w.emit(w.one)
	w.emit(w.two)
	w.exec(`UPDATE org_fence SET state = 'fenced' WHERE org_id = $1`, w.one)
	w.deliver()
	require.Zero(t, w.receiver.Count("/one").Requests)
	require.Equal(t, 1, w.receiver.Count("/two").Requests)
	w.exec(`UPDATE org_fence SET state = 'open' WHERE org_id = $1`, w.one)
	w.deliver()
	require.Equal(t, 1, w.receiver.Count("/one").Requests)
}

// While an organization is copied elsewhere, what deliveries write is noted.
func TestResultsAreNotedWhileAnOrganizationIsCopied(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.hook(w.one, "/one")
	w.receiver.Set("/one", endpoint.Behaviour{Status: 500})
	d := w.emit(w.one)[0]
	w.exec(`UPDATE org_fence SET state = 'capture' WHERE org_id = $1`, w.one)
	w.deliver()
	require.Equal(t, 1, w.count(`SELECT count(*) FROM move_dirty WHERE org_id = $1 AND table_name = 'delivery' AND pk = $2`, w.one, d.String()))
	require.Equal(t, 1, w.count(`SELECT count(*) FROM move_dirty WHERE org_id = $1 AND table_name = 'webhook'`, w.one))
}

// Endpoints that hang delay nobody else, neither when they begin to nor after
// a restart, when all that is known of them is that they fail.
func TestHangingEndpointsDelayNobody(t *testing.T) {
	t.Parallel()
	w := newLiveWorld(t)
	w.options.Egress = egress.New(egress.Options{
		Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, RootCAs: w.receiver.RootCAs(), Timeout: 10 * time.Second,
	})
	t.Cleanup(w.options.Egress.Client().CloseIdleConnections)
	for i := range 10 {
		path := "/dead" + string(rune('a'+i))
		w.hook(w.one, path)
		w.receiver.Set(path, endpoint.Behaviour{Hang: true})
	}
	w.hook(w.two, "/well")
	arrived := 0
	for _, room := range []int{32, 16} {
		w.options.InFlight = room
		worker := delivery.New(w.options)
		worker.Start()
		for range 10 {
			w.emit(w.one)
			began := time.Now()
			w.emit(w.two)
			arrived++
			w.await("/well", arrived)
			require.Less(t, time.Since(began), 8*time.Second, "room for %d, event %d", room, arrived)
		}
		worker.Stop()
	}
}

// Events of several writers at once arrive, each once, whatever the order.
func TestManyWriters(t *testing.T) {
	t.Parallel()
	w := newLiveWorld(t)
	w.hook(w.one, "/many")
	w.receiver.Set("/many", endpoint.Behaviour{Secret: string(secret)})
	w.work()
	const writers, each = 8, 25
	var group sync.WaitGroup
	for range writers {
		group.Go(func() {
			for range each {
				err := w.tenants.InTx(context.Background(), w.one, func(ctx context.Context, tx *tenant.Tx) error {
					_, err := event.Record(ctx, tx, event.Draft{Type: event.UnitCreated, At: time.Now()})
					return err
				})
				require.NoError(t, err)
			}
		})
	}
	group.Wait()
	w.await("/many", writers*each)
	count := w.receiver.Count("/many")
	require.Equal(t, writers*each, count.Requests)
	require.Zero(t, count.Unverified)
}

// A webhook that is deleted receives nothing more, and its log goes.
func TestADeletedWebhook(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	h := w.hook(w.one, "/gone")
	d := w.emit(w.one)[0]
	w.inTx(w.one, func(ctx context.Context, tx *tenant.Tx) error {
		return webhook.Delete(ctx, tx, h, managed.API, w.who())
	})
	w.deliver()
	require.Zero(t, w.receiver.Count("/gone").Requests)
	_, _, err := delivery.Get(context.Background(), w.tenants, w.one, d)
	require.ErrorIs(t, err, errdefs.NotFound{Noun: delivery.Noun})
	for range 2 {
		_, err = webhook.Sweep(context.Background(), w.tenants, "a")
		require.NoError(t, err)
	}
	require.Zero(t, w.count(`SELECT count(*) FROM delivery`)+w.count(`SELECT count(*) FROM webhook`))
}
