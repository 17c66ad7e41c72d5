package delivery_test

import (
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"

	"visavis.dev/hack/receiver/endpoint"
	"visavis.dev/pkg/eventing/delivery"
	"visavis.dev/pkg/eventing/webhook"
)

// The whole ladder of a delivery that never succeeds: an attempt at each time
// of the spec, none a second before, and none after the last.
func TestTheRetriesOfADelivery(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.hook(w.one, "/down")
	w.receiver.Set("/down", endpoint.Behaviour{Status: 500, Secret: string(secret)})
	d := w.emit(w.one)[0]
	first := w.now()
	found, attempts := w.delivery(w.one, d)
	require.Equal(t, delivery.Pending, found.State)
	require.Empty(t, attempts)

	w.deliver()
	for made, after := range delivery.Retries() {
		at := first.Add(after)
		found, _ = w.delivery(w.one, d)
		require.Equal(t, delivery.Retrying, found.State)
		require.EqualValues(t, made+1, found.Attempts)
		require.Equal(t, at, found.DueAt.UTC())
		w.clock.SetTime(at.Add(-time.Second))
		w.deliver()
		require.Equal(t, made+1, w.receiver.Count("/down").Requests, "none before %v", after)
		w.clock.SetTime(at)
		w.deliver()
		require.Equal(t, made+2, w.receiver.Count("/down").Requests, "one at %v", after)
	}
	found, attempts = w.delivery(w.one, d)
	require.Equal(t, delivery.Failed, found.State)
	require.Equal(t, delivery.HTTPStatus, *found.Code)
	require.EqualValues(t, 500, *found.Status)
	require.Nil(t, found.DueAt)
	require.Len(t, attempts, 8)
	for i, a := range attempts[1:] {
		require.Equal(t, first.Add(delivery.Retries()[i]), a.At.UTC())
	}
	w.clock.Step(48 * time.Hour)
	w.deliver()
	require.Equal(t, 8, w.receiver.Count("/down").Requests)
	require.Zero(t, w.receiver.Count("/down").Unverified, "each attempt is signed afresh")
}

func TestADeliveryThatSucceedsLater(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	h := w.hook(w.one, "/flaky")
	w.receiver.Set("/flaky", endpoint.Behaviour{FailFirst: 2, Secret: string(secret)})
	d := w.emit(w.one)[0]
	w.deliver()
	require.NotNil(t, w.webhook(w.one, h).FailingSince)
	w.clock.Step(time.Minute)
	w.deliver()
	w.clock.Step(4 * time.Minute)
	w.deliver()
	found, attempts := w.delivery(w.one, d)
	require.Equal(t, delivery.Delivered, found.State)
	require.Nil(t, found.Code)
	require.EqualValues(t, 200, *found.Status)
	require.Len(t, attempts, 3)
	require.Equal(t, 1, w.receiver.Count("/flaky").Events, "the event's id is the same on every retry")
	require.Nil(t, w.webhook(w.one, h).FailingSince)
}

// A webhook is paused by the attempt that fails three days after its failing
// run began, not by one a second earlier.
func TestPausing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	h := w.hook(w.one, "/down")
	w.receiver.Set("/down", endpoint.Behaviour{Status: 503})
	w.emit(w.one)
	began := w.now()
	w.deliver()
	require.Equal(t, began, w.webhook(w.one, h).FailingSince.UTC())

	w.clock.SetTime(began.Add(delivery.PauseAfter - time.Second))
	w.emit(w.one)
	w.deliver()
	require.True(t, w.webhook(w.one, h).Active, "a second before three days")

	w.clock.SetTime(began.Add(delivery.PauseAfter))
	waiting := w.emit(w.one)[0]
	figures := prometheus.NewRegistry()
	w.options.Metrics = figures
	w.deliver()
	w.options.Metrics = nil
	require.NoError(t, testutil.GatherAndCompare(figures, strings.NewReader(`
		# HELP visavis_delivery_webhooks_paused_total Webhooks that were paused after failing for three days.
		# TYPE visavis_delivery_webhooks_paused_total counter
		visavis_delivery_webhooks_paused_total{shard="a"} 1
	`), "visavis_delivery_webhooks_paused_total"))
	paused := w.webhook(w.one, h)
	require.False(t, paused.Active)
	require.Equal(t, w.now(), paused.PausedAt.UTC())
	require.Equal(t, 1, w.count(`SELECT count(*) FROM activity WHERE org_id = $1 AND action = 'webhook.paused'`, w.one))

	// Nothing is delivered, nor entered, until it is resumed.
	requests := w.receiver.Count("/down").Requests
	require.Empty(t, w.emit(w.one))
	w.clock.Step(time.Minute)
	w.deliver()
	require.Equal(t, requests, w.receiver.Count("/down").Requests)
	found, _ := w.delivery(w.one, waiting)
	require.Equal(t, delivery.Failed, found.State)
	require.Equal(t, delivery.WebhookPaused, *found.Code)

	// Its failing run starts again.
	w.change(w.one, h, func(h *webhook.Webhook) { *h = h.Resumed() })
	resumed := w.now()
	w.emit(w.one)
	w.deliver()
	require.True(t, w.webhook(w.one, h).Active)
	require.Equal(t, resumed, w.webhook(w.one, h).FailingSince.UTC())
	w.clock.SetTime(resumed.Add(delivery.PauseAfter))
	w.emit(w.one)
	w.deliver()
	require.False(t, w.webhook(w.one, h).Active)
}

// One delivery in three days is enough not to be paused.
func TestOneDeliveryEndsAFailingRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	h := w.hook(w.one, "/mostly")
	w.receiver.Set("/mostly", endpoint.Behaviour{Status: 500})
	began := w.now()
	w.emit(w.one)
	w.deliver()
	w.clock.SetTime(began.Add(delivery.PauseAfter - time.Hour))
	w.receiver.Set("/mostly", endpoint.Behaviour{})
	w.emit(w.one)
	w.deliver()
	require.Nil(t, w.webhook(w.one, h).FailingSince)
	w.receiver.Set("/mostly", endpoint.Behaviour{Status: 500})
	w.clock.SetTime(began.Add(delivery.PauseAfter))
	w.emit(w.one)
	w.deliver()
	require.True(t, w.webhook(w.one, h).Active)
}
