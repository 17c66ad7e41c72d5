package delivery_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/hack/receiver/endpoint"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/delivery"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/eventing/event/eventtest"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/eventing/webhook"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
)

// propose queues a recovery of all failed and missed deliveries of a webhook.
func (w *world) propose(r delivery.Recovery) job.Job {
	w.t.Helper()
	if r.To.IsZero() {
		r.To = w.now().Add(time.Microsecond)
	}
	var proposed job.Job
	w.inTx(w.one, func(ctx context.Context, tx *tenant.Tx) (err error) {
		proposed, err = r.Propose(ctx, tx, w.who())
		return err
	})
	return proposed
}

// advance makes a job's steps and deliveries in turn until it ends.
func (w *world) advance(j id.Job) job.Job {
	w.t.Helper()
	runner := &job.Runner{
		Tenants: w.tenants, Shards: w.options.Shards, Clock: w.clock, Log: w.options.Log,
		Steps: map[job.Kind]job.Step{job.WebhookRecover: delivery.Recover},
	}
	for range 200 {
		_, err := runner.Advance(context.Background(), "a")
		require.NoError(w.t, err)
		found, err := job.Get(context.Background(), w.tenants, w.one, j)
		require.NoError(w.t, err)
		if found.State.Ended() {
			return found
		}
		waiting := w.count(`SELECT count(*) FROM delivery WHERE job_id = $1 AND due_at IS NOT NULL AND first_attempt_at IS NULL`, j)
		require.LessOrEqual(w.t, waiting, 200, "live events wait behind a bounded number")
		w.deliver()
		w.clock.Step(time.Second)
	}
	require.Fail(w.t, "the job does not end")
	return job.Job{}
}

// drafts are several events.
func drafts(n int) []event.Draft {
	all := make([]event.Draft, n)
	for i := range all {
		all[i] = event.Draft{Type: event.UnitCreated}
	}
	return all
}

func TestRecovery(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	h := w.hook(w.one, "/hook", func(h *webhook.Webhook) { h.Events = []string{"unit.created"} })
	w.hook(w.two, "/foreign")
	from := w.now()
	w.emit(w.one, drafts(450)...)
	w.emit(w.two)
	closed, err := delivery.Drain(context.Background(), w.tenants, w.one, h, w.who())
	require.NoError(t, err)
	require.EqualValues(t, 450, closed)
	w.change(w.one, h, func(h *webhook.Webhook) { h.Active = false })
	w.emit(w.one, drafts(300)...)
	require.Zero(t, w.receiver.Count("/hook").Requests)
	w.change(w.one, h, func(h *webhook.Webhook) { *h = h.Resumed() })
	w.clock.Step(time.Second)

	done := w.advance(w.propose(delivery.Recovery{Webhook: h, From: from, States: []delivery.State{delivery.Failed}, Missed: true}).ID)
	require.Equal(t, job.Succeeded, done.State)
	require.EqualValues(t, 750, done.Done)
	require.EqualValues(t, 750, done.Total)
	count := w.receiver.Count("/hook")
	require.Equal(t, 750, count.Events)
	require.Equal(t, 750, count.Requests)
	require.Equal(t, 750, w.count(`SELECT count(*) FROM delivery WHERE webhook_id = $1 AND state = 'delivered'`, h))

	// Again, everything, whatever became of it, in a narrower range.
	done = w.advance(w.propose(delivery.Recovery{Webhook: h, From: from, To: from.Add(10 * time.Microsecond), States: delivery.States()}).ID)
	require.EqualValues(t, 10, done.Done)
	require.Equal(t, 760, w.receiver.Count("/hook").Requests)
	require.Equal(t, 750, w.receiver.Count("/hook").Events)

	require.Len(t, eventtest.Log(t, w.tenants, w.one, event.JobCompleted), 2)
}

func TestARecoveryOfAWebhookThatIsPausedMeanwhile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	h := w.hook(w.one, "/hook")
	w.emit(w.one, drafts(3)...)
	j := w.propose(delivery.Recovery{Webhook: h, From: w.now().Add(-time.Hour), States: delivery.States()})
	w.change(w.one, h, func(h *webhook.Webhook) { h.Active = false })
	done := w.advance(j.ID)
	require.Equal(t, job.Failed, done.State)
	require.Equal(t, "webhook_inactive", done.ErrorCode)
}

func TestACancelledRecovery(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	h := w.hook(w.one, "/hook")
	j := w.propose(delivery.Recovery{Webhook: h, From: w.now().Add(-time.Hour), States: delivery.States()})
	w.inTx(w.one, func(ctx context.Context, tx *tenant.Tx) error {
		_, err := job.Cancel(ctx, tx, j.ID, activity.Actor{By: "test", At: w.now()})
		return err
	})
	require.Equal(t, job.Cancelled, w.advance(j.ID).State)
}

// A reopened delivery begins its schedule again.
func TestReopening(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.hook(w.one, "/hook")
	w.receiver.Set("/hook", endpoint.Behaviour{Status: 500})
	d := w.emit(w.one)[0]
	w.deliver()
	w.clock.Step(48 * time.Hour)
	w.deliver()
	found, _ := w.delivery(w.one, d)
	require.Equal(t, delivery.Failed, found.State)
	w.inTx(w.one, func(ctx context.Context, tx *tenant.Tx) error {
		found, err := delivery.Find(ctx, tx, d)
		if err != nil {
			return err
		}
		_, err = delivery.Reopen(ctx, tx, found, w.who())
		return err
	})
	w.deliver()
	found, attempts := w.delivery(w.one, d)
	require.Equal(t, delivery.Retrying, found.State)
	require.Equal(t, w.now().Add(time.Minute), found.DueAt.UTC())
	require.Len(t, attempts, 3)
}

func TestListFailing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	h := w.hook(w.one, "/down?token=secret")
	w.hook(w.one, "/well")
	w.receiver.Set("/down", endpoint.Behaviour{Status: 500})
	w.emit(w.one)
	w.deliver()
	found, err := delivery.ListFailing(context.Background(), w.tenants, "a")
	require.NoError(t, err)
	require.Len(t, found, 1)
	require.Equal(t, h, found[0].Webhook)
	require.EqualValues(t, 1, found[0].Waiting)
	require.Equal(t, delivery.HTTPStatus, found[0].LastError)
	require.NotContains(t, found[0].Endpoint, "token")
}
