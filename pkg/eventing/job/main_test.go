package job_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gocloud.dev/blob/memblob"
	clocktest "k8s.io/utils/clock/testing"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/database/databasetest"
	"visavis.dev/pkg/store/file"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/store/tenant/tenanttest"
)

func TestMain(m *testing.M) { databasetest.Main(m) }

// lease is how long a step whose runner fell silent, or failed, is nobody's.
const lease = 30 * time.Second

// world is a shard with two organizations, on a clock that the test moves.
type world struct {
	t        *testing.T
	tenants  *tenant.Tenants
	one, two id.Org
	clock    *clocktest.FakeClock
	files    *file.Store
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, clock: clocktest.NewFakeClock(tenanttest.Now)}
	w.tenants, w.one, w.two = tenanttest.New(t)
	bucket := memblob.OpenBucket(nil)
	t.Cleanup(func() { _ = bucket.Close() })
	w.files = file.New(bucket, w.tenants, w.clock)
	return w
}

func (w *world) now() time.Time { return w.clock.Now().UTC() }

func (w *world) pass(d time.Duration) { w.clock.SetTime(w.clock.Now().Add(d)) }

// runner makes jobs' steps.
func (w *world) runner(step job.Step) *job.Runner {
	return &job.Runner{
		Tenants: w.tenants, Steps: map[job.Kind]job.Step{job.WebhookRecover: step},
		Shards: func(context.Context) ([]string, error) { return []string{"a"}, nil },
		Clock:  w.clock, Log: slog.New(slog.DiscardHandler),
	}
}

// advance makes the steps that are due.
func (w *world) advance(r *job.Runner) (made int) {
	w.t.Helper()
	made, err := r.Advance(context.Background(), "a")
	require.NoError(w.t, err)
	return made
}

// insert queues a job; changes alter it before.
func (w *world) insert(org id.Org, changes ...func(*job.Job)) id.Job {
	w.t.Helper()
	j := job.Job{
		ID: id.NewJob(), Kind: job.WebhookRecover, ResourceKind: "webhook", ResourceID: "wh_1", Scope: scope.WebhooksManage,
		CreatedBy: "key_1", CreatedAt: w.now(),
	}
	for _, change := range changes {
		change(&j)
	}
	w.inTx(org, func(ctx context.Context, tx *tenant.Tx) error {
		_, err := job.Insert(ctx, tx, j, map[string]int{"from": 1})
		return err
	})
	return j.ID
}

func (w *world) inTx(org id.Org, fn func(context.Context, *tenant.Tx) error) {
	w.t.Helper()
	require.NoError(w.t, w.tenants.InTx(context.Background(), org, fn))
}

func (w *world) cancel(org id.Org, j id.Job) (cancelled job.Job) {
	w.t.Helper()
	w.inTx(org, func(ctx context.Context, tx *tenant.Tx) (err error) {
		cancelled, err = job.Cancel(ctx, tx, j, activity.Actor{By: "test", At: w.now()})
		return err
	})
	return cancelled
}

func (w *world) job(org id.Org, j id.Job) job.Job {
	w.t.Helper()
	found, err := job.Get(context.Background(), w.tenants, org, j)
	require.NoError(w.t, err)
	return found
}

// told are the structures of an organization's job.completed events, oldest first.
func (w *world) told(org id.Org) (told []string) {
	w.t.Helper()
	events, err := event.List(context.Background(), w.tenants, org,
		event.Filter{Types: []event.Type{event.JobCompleted}, Ascending: true}, event.Position{}, 100)
	require.NoError(w.t, err)
	for _, e := range events {
		told = append(told, string(e.Structure))
	}
	return told
}

// fence says what the shard says of an organization.
func (w *world) fence(org id.Org, state string) {
	w.t.Helper()
	w.exec(`UPDATE org_fence SET state = $2 WHERE org_id = $1`, org, state)
}

func (w *world) exec(sql string, args ...any) {
	w.t.Helper()
	db, err := w.tenants.Shard(context.Background(), "a")
	require.NoError(w.t, err)
	_, err = db.Exec(context.Background(), sql, args...)
	require.NoError(w.t, err)
}
