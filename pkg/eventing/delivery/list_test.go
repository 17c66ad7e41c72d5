package delivery_test

import (
	"bytes"
	"context"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/managed"
	"visavis.dev/pkg/eventing/delivery"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/eventing/webhook"
	"visavis.dev/pkg/store/tenant"
)

// enter writes deliveries of an organization as they are, past what would
// make them so.
func (w *world) enter(org id.Org, all ...delivery.Delivery) {
	w.t.Helper()
	var (
		ids      = make([]id.Delivery, len(all))
		hooks    = make([]id.Webhook, len(all))
		events   = make([]id.Event, len(all))
		states   = make([]delivery.State, len(all))
		statuses = make([]*int64, len(all))
		dues     = make([]*time.Time, len(all))
		ats      = make([]time.Time, len(all))
	)
	for i, d := range all {
		ids[i], hooks[i], events[i], states[i] = d.ID, d.Webhook, d.Event, d.State
		statuses[i], dues[i], ats[i] = d.Status, d.DueAt, d.CreatedAt
	}
	w.exec(`
		INSERT INTO delivery (org_id, id, webhook_id, event_id, type, api_version, state, attempts, status, due_at, log, created_at)
		SELECT $1, d.id, d.webhook, d.event, $2, $3, d.state, 0, d.status, d.due, '[]', d.at
		FROM unnest($4::UUID[], $5::UUID[], $6::UUID[], $7::TEXT[], $8::BIGINT[], $9::TIMESTAMPTZ[], $10::TIMESTAMPTZ[])
			AS d (id, webhook, event, state, status, due, at)`,
		org, event.UnitCreated, contract.Latest, ids, hooks, events, states, statuses, dues, ats)
}

// log is what the lists are about, and the simplest way to list it.
type log struct {
	begin time.Time
	hooks []id.Webhook
	// events are those delivered, and one that was not.
	events []id.Event
	// all are the deliveries of webhooks that were not deleted, newest first.
	all []delivery.Delivery
}

// newLog has a log of each organization, and a deleted webhook's.
func newLog(w *world) *log {
	w.t.Helper()
	const events = 80
	l := &log{begin: w.now().Add(-time.Hour)}
	random := rand.New(rand.NewPCG(1, 2))
	for _, path := range []string{"/a", "/b", "/c", "/deleted"} {
		l.hooks = append(l.hooks, w.hook(w.one, path))
	}
	deleted := l.hooks[3]
	foreign := w.hook(w.two, "/foreign")
	var entered, theirs []delivery.Delivery
	for range events {
		// Few moments, so that several share one.
		at := l.begin.Add(time.Duration(random.IntN(40)) * time.Microsecond)
		e := id.EventAt(at)
		l.events = append(l.events, e)
		draw := func(hook id.Webhook) delivery.Delivery {
			state := delivery.States()[random.IntN(4)]
			d := delivery.Delivery{
				ID: id.DeliveryAt(at), Webhook: hook, Event: e, Type: event.UnitCreated, State: state, CreatedAt: at,
			}
			if state == delivery.Pending || state == delivery.Retrying {
				d.DueAt = new(w.now().Add(time.Hour))
			}
			return d
		}
		for _, hook := range l.hooks {
			if random.IntN(4) == 0 {
				continue
			}
			d := draw(hook)
			entered = append(entered, d)
			if hook != deleted {
				l.all = append(l.all, d)
			}
		}
		theirs = append(theirs, draw(foreign))
	}
	l.events = append(l.events, id.EventAt(l.begin))
	w.enter(w.one, entered...)
	w.enter(w.two, theirs...)
	w.inTx(w.one, func(ctx context.Context, tx *tenant.Tx) error {
		return webhook.Delete(ctx, tx, deleted, managed.API, w.who())
	})
	slices.SortFunc(l.all, func(a, b delivery.Delivery) int { return bytes.Compare(b.ID[:], a.ID[:]) })
	return l
}

// want are the deliveries that a filter leaves.
func (l *log) want(f delivery.Filter) (want []delivery.Delivery) {
	for _, d := range l.all {
		switch {
		case !f.Webhook.IsZero() && d.Webhook != f.Webhook,
			!f.Event.IsZero() && d.Event != f.Event,
			f.States != nil && !slices.Contains(f.States, d.State),
			f.OK != nil && (d.State == delivery.Delivered) != *f.OK,
			!f.From.IsZero() && d.CreatedAt.Before(f.From),
			!f.To.IsZero() && !d.CreatedAt.Before(f.To):
			continue
		}
		want = append(want, d)
	}
	return want
}

// filter draws one, of which each part is there or not.
func (l *log) filter(t *rapid.T) (f delivery.Filter) {
	maybe := func(part string) bool { return rapid.Bool().Draw(t, part) }
	moment := func(label string) time.Time {
		return l.begin.Add(time.Duration(rapid.IntRange(-2, 42).Draw(t, label)) * time.Microsecond)
	}
	if maybe("by webhook") {
		f.Webhook = rapid.SampledFrom(l.hooks).Draw(t, "webhook")
	}
	if maybe("by event") {
		f.Event = rapid.SampledFrom(l.events).Draw(t, "event")
	}
	if maybe("by state") {
		f.States = rapid.SliceOfN(rapid.SampledFrom(delivery.States()), 0, 4).Draw(t, "states")
	}
	if maybe("by outcome") {
		f.OK = new(rapid.Bool().Draw(t, "ok"))
	}
	if maybe("since") {
		f.From = moment("from")
	}
	if maybe("until") {
		f.To = moment("to")
	}
	return f
}

func TestLists(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	l := newLog(w)
	require.Greater(t, len(l.all), 150)
	rapid.Check(t, func(rt *rapid.T) {
		f := l.filter(rt)
		limit := rapid.IntRange(1, 100).Draw(rt, "limit")
		var (
			got  []delivery.Delivery
			last delivery.Position
		)
		for {
			page, err := delivery.List(context.Background(), w.tenants, w.one, f, last, limit)
			require.NoError(rt, err)
			require.LessOrEqual(rt, len(page), limit)
			for _, d := range page {
				d.CreatedAt = d.CreatedAt.UTC()
				if d.DueAt != nil {
					d.DueAt = new(d.DueAt.UTC())
				}
				got, last = append(got, d), d.ID
			}
			if len(page) < limit {
				break
			}
		}
		require.Equal(rt, l.want(f), got)
	})
}

// A position outside of the filter's time neither widens it nor begins again.
func TestListsAfterAnyPosition(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	l := newLog(w)
	f := delivery.Filter{From: l.begin.Add(10 * time.Microsecond), To: l.begin.Add(20 * time.Microsecond)}
	for _, after := range l.all {
		want := slices.DeleteFunc(l.want(f), func(d delivery.Delivery) bool { return bytes.Compare(d.ID[:], after.ID[:]) >= 0 })
		found, err := delivery.List(context.Background(), w.tenants, w.one, f, after.ID, len(l.all))
		require.NoError(t, err)
		require.Len(t, found, len(want))
		for i := range want {
			require.Equal(t, want[i].ID, found[i].ID)
		}
	}
}

func TestTheLogOfADeletedWebhookIsOutOfReach(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := context.Background()
	h, other := w.hook(w.one, "/hook"), w.hook(w.one, "/other")
	reach := func(org id.Org, d id.Delivery) error {
		_, _, got := delivery.Get(ctx, w.tenants, org, d)
		found := w.tenants.InTx(ctx, org, func(ctx context.Context, tx *tenant.Tx) error {
			return ignore(delivery.Find(ctx, tx, d))
		})
		require.Equal(t, got, found)
		return got
	}
	var gone, stays id.Delivery
	for _, d := range w.emit(w.one) {
		if found, _ := w.delivery(w.one, d); found.Webhook == h {
			gone = d
		} else {
			stays = d
		}
	}
	for _, d := range []id.Delivery{gone, stays} {
		require.NoError(t, reach(w.one, d))
		require.ErrorIs(t, reach(w.two, d), errdefs.NotFound{Noun: delivery.Noun}, "another organization's")
	}
	w.inTx(w.one, func(ctx context.Context, tx *tenant.Tx) error {
		return webhook.Delete(ctx, tx, h, managed.API, w.who())
	})
	require.ErrorIs(t, reach(w.one, gone), errdefs.NotFound{Noun: delivery.Noun})
	require.NoError(t, reach(w.one, stays))
	w.deliver()
	require.Zero(t, w.receiver.Count("/hook").Requests)
	require.Equal(t, 1, w.receiver.Count("/other").Requests)
	require.NotEqual(t, h, other)
}
