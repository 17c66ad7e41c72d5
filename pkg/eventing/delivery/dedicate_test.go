package delivery_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/hack/receiver/endpoint"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/delivery"
	"visavis.dev/pkg/eventing/webhook"
	"visavis.dev/pkg/store/tenant"
)

// dedicate gives a webhook a lane of its own, or takes it away.
func (w *world) dedicate(h id.Webhook, own bool) {
	w.t.Helper()
	w.inTx(w.one, func(ctx context.Context, tx *tenant.Tx) error {
		_, err := delivery.DedicateWebhook(ctx, tx, h, own)
		return err
	})
}

// own is a worker of a lane of its own.
func (w *world) own(lane int64) *delivery.Worker {
	o := w.options
	o.Lane = lane
	worker := delivery.New(o)
	worker.Start()
	return worker
}

// inLane waits until a webhook is in a lane; zero for a shared one.
func (w *world) inLane(h id.Webhook, lane int64) {
	w.t.Helper()
	require.Eventually(w.t, func() bool {
		return w.count(`SELECT count(*) FROM webhook WHERE id = $1 AND COALESCE(lane, 0) = $2`, h, lane) == 1
	}, 20*time.Second, 10*time.Millisecond)
}

// A webhook goes to its own worker and back while events happen all the time, and its
// worker restarts in between: each event arrives, and arrives once.
func TestAWebhookGetsAWorkerAndLosesIt(t *testing.T) {
	t.Parallel()
	w := newLiveWorld(t)
	h := w.hook(w.one, "/hook")
	w.hook(w.one, "/other")
	// Answers that take a while are under way when the webhook is to leave.
	w.receiver.Set("/hook", endpoint.Behaviour{Latency: 150 * time.Millisecond})
	w.work()
	lane := delivery.WebhookLane(h)

	events, done, stopped := 0, make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		ticker := time.NewTicker(5 * time.Millisecond)
		defer ticker.Stop()
		for {
			select {
			case <-done:
				return
			case <-ticker.C:
				w.emit(w.one)
				events++
			}
		}
	}()
	w.dedicate(h, true)
	w.await("/hook", 20)
	w.inLane(h, 0) // nobody is there to deliver
	first := w.own(lane)
	w.inLane(h, lane)
	seen := w.receiver.Count("/hook").Requests
	w.await("/hook", seen+20)
	first.Stop()
	second := w.own(lane)
	seen = w.receiver.Count("/hook").Requests
	w.await("/hook", seen+20)
	w.dedicate(h, false)
	w.inLane(h, 0)
	second.Stop()
	seen = w.receiver.Count("/hook").Requests
	w.await("/hook", seen+20)
	close(done)
	<-stopped
	w.await("/hook", events)
	w.await("/other", events)
	require.Eventually(t, func() bool { return w.count(`SELECT count(*) FROM delivery WHERE due_at IS NOT NULL`) == 0 },
		20*time.Second, 10*time.Millisecond)
	require.Equal(t, events, w.receiver.Count("/hook").Requests, "nothing was delivered twice")
	require.Equal(t, events, w.receiver.Count("/other").Requests)
}

// A worker of its own that is gone loses nothing: after a minute the shared ones stand
// in, and give the lane back when it returns.
func TestSharedWorkersStandIn(t *testing.T) {
	t.Parallel()
	w := newLiveWorld(t)
	h := w.hook(w.one, "/hook")
	lane := delivery.WebhookLane(h)
	w.work()
	w.dedicate(h, true)
	own := w.own(lane)
	w.inLane(h, lane)
	own.Stop()
	w.emit(w.one)
	holder := func() int {
		return w.count(`SELECT count(*) FROM delivery_lane WHERE lane = $1 AND lease_until > now()`, lane)
	}
	db, err := w.tenants.Shard(t.Context(), "a")
	require.NoError(t, err)
	oldest, err := delivery.Oldest(t.Context(), db, time.Now())
	require.NoError(t, err)
	require.Zero(t, oldest, "more shared workers would not help it")
	require.Never(t, func() bool { return holder() > 0 }, 3*time.Second, 100*time.Millisecond, "it may be back within a minute")
	require.Zero(t, w.receiver.Count("/hook").Requests)
	w.exec(`UPDATE delivery_lane SET claimed_until = now() - INTERVAL '61 seconds' WHERE lane = $1`, lane)
	oldest, err = delivery.Oldest(t.Context(), db, time.Now())
	require.NoError(t, err)
	require.NotZero(t, oldest, "they are to deliver it")
	w.await("/hook", 1)
	require.Equal(t, 1, holder())

	back := w.own(lane)
	t.Cleanup(back.Stop)
	require.Eventually(t, func() bool {
		return w.count(`SELECT count(*) FROM delivery_lane l WHERE lane = $1 AND lease_until > now()
			AND NOT EXISTS (SELECT 1 FROM delivery_worker k WHERE k.id = l.owner)`, lane) == 1
	}, 20*time.Second, 10*time.Millisecond, "its own worker has it again")
	w.emit(w.one)
	w.await("/hook", 2)
	require.Equal(t, 2, w.receiver.Count("/hook").Requests)
}

// All of an organization's webhooks go to its worker, later ones too, but for one that
// has its own.
func TestAnOrganizationsWorker(t *testing.T) {
	t.Parallel()
	w := newLiveWorld(t)
	first, apart, stranger := w.hook(w.one, "/first"), w.hook(w.one, "/apart"), w.hook(w.two, "/stranger")
	lane := delivery.OrganizationLane(w.one)
	dedicate := func(own bool) {
		w.inTx(w.one, func(ctx context.Context, tx *tenant.Tx) error { return delivery.DedicateOrganization(ctx, tx, own) })
	}
	w.work()
	w.dedicate(apart, true)
	dedicate(true)
	for _, l := range []int64{lane, delivery.WebhookLane(apart)} {
		t.Cleanup(w.own(l).Stop)
	}
	w.inLane(first, lane)
	w.inLane(apart, delivery.WebhookLane(apart))
	w.inLane(stranger, 0)
	later := w.hook(w.one, "/later")
	w.inLane(later, lane)
	w.emit(w.one)
	for _, path := range []string{"/first", "/apart", "/later"} {
		w.await(path, 1)
	}
	left := func() bool {
		left, err := delivery.Left(context.Background(), w.tenants, w.one)
		require.NoError(t, err)
		return left
	}
	require.False(t, left())
	dedicate(false)
	require.Eventually(t, left, 20*time.Second, 10*time.Millisecond)
	w.inLane(apart, delivery.WebhookLane(apart))
	w.dedicate(apart, false)
	w.inLane(apart, 0)
	w.emit(w.one)
	for _, path := range []string{"/first", "/apart", "/later"} {
		w.await(path, 2)
		require.Equal(t, 2, w.receiver.Count(path).Requests)
	}
}

// What an organization brings along from another shard has no row of its lane there.
func TestALaneThatNobodyMade(t *testing.T) {
	t.Parallel()
	w := newLiveWorld(t)
	h := w.hook(w.one, "/hook")
	w.exec(`UPDATE webhook SET own_lane = $1, lane = $1`, delivery.WebhookLane(h))
	w.emit(w.one)
	w.work()
	w.await("/hook", 1)
}

// A webhook that delivered says since when.
func TestTheFirstArrival(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	h := w.hook(w.one, "/hook", func(h *webhook.Webhook) { h.Events = []string{"unit.renamed"} })
	w.receiver.Set("/hook", endpoint.Behaviour{Status: 500})
	w.emit(w.one)
	w.deliver()
	require.Nil(t, w.webhook(w.one, h).DeliveredAt)
	w.receiver.Set("/hook", endpoint.Behaviour{})
	w.clock.Step(time.Minute)
	first := w.now()
	w.deliver()
	require.Equal(t, first, w.webhook(w.one, h).DeliveredAt.UTC())
	w.clock.Step(time.Minute)
	w.emit(w.one)
	w.deliver()
	require.Equal(t, first, w.webhook(w.one, h).DeliveredAt.UTC())
}
