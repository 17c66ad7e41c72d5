package job_test

import (
	"context"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
)

func TestAJobIsQueued(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	j := w.insert(w.one)
	got := w.job(w.one, j)
	got.CreatedAt = got.CreatedAt.UTC()
	require.JSONEq(t, `{"from": 1}`, string(got.Input))
	got.Input = nil
	require.Equal(t, job.Job{
		Org: w.one, ID: j, Kind: job.WebhookRecover, State: job.Queued, Progress: json.RawMessage("{}"), Total: -1, Refused: []job.RefusedLine{},
		ResourceKind: "webhook", ResourceID: "wh_1", Counts: map[string]int64{}, Scope: scope.WebhooksManage, CreatedBy: "key_1", CreatedAt: w.now(),
	}, got)
	require.False(t, got.Counted())
	_, err := job.Get(context.Background(), w.tenants, w.two, j)
	require.ErrorIs(t, err, errdefs.NotFound{Noun: job.Noun}, "another organization's")
	_, err = job.Get(context.Background(), w.tenants, w.one, id.NewJob())
	require.ErrorIs(t, err, errdefs.NotFound{Noun: job.Noun})
	require.Empty(t, w.told(w.one))
}

func TestAJobThatCannotBeWrittenIsNotQueued(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	require.Error(t, w.tenants.InTx(context.Background(), w.one, func(ctx context.Context, tx *tenant.Tx) error {
		_, err := job.Insert(ctx, tx, job.Job{ID: id.NewJob()}, func() {})
		return err
	}))
}

func TestLists(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var all []id.Job
	for i := range 7 {
		all = append(all, w.insert(w.one, func(j *job.Job) {
			if i%3 == 0 {
				j.Scope = scope.PortalsRead
			}
			if i == 5 {
				j.Kind = "other"
			}
		}))
	}
	w.insert(w.two)
	w.cancel(w.one, all[2])
	w.cancel(w.one, all[3])
	for name, test := range map[string]struct {
		filter job.Filter
		want   []int
	}{
		"all":               {job.Filter{}, []int{6, 5, 4, 3, 2, 1, 0}},
		"a kind":            {job.Filter{Kinds: []job.Kind{"other"}}, []int{5}},
		"a state":           {job.Filter{States: []job.State{job.Cancelled, job.Failed}}, []int{3, 2}},
		"a scope":           {job.Filter{Scopes: []scope.Scope{scope.PortalsRead}}, []int{6, 3, 0}},
		"no scope":          {job.Filter{Scopes: []scope.Scope{}}, nil},
		"a state and scope": {job.Filter{States: []job.State{job.Queued}, Scopes: []scope.Scope{scope.PortalsRead}}, []int{6, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			var want []id.Job
			for _, i := range test.want {
				want = append(want, all[i])
			}
			for limit := 1; limit <= 8; limit++ {
				var (
					got  []id.Job
					last id.Job
				)
				for {
					page, err := job.List(context.Background(), w.tenants, w.one, test.filter, last, limit)
					require.NoError(t, err)
					require.LessOrEqual(t, len(page), limit)
					for _, j := range page {
						got, last = append(got, j.ID), j.ID
					}
					if len(page) < limit {
						break
					}
				}
				require.Equal(t, want, got, "in pages of %d", limit)
			}
		})
	}
}

func TestCancelling(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	j := w.insert(w.one)
	w.pass(time.Minute)
	at := w.now()
	got := w.cancel(w.one, j)
	require.Equal(t, job.Cancelled, got.State)
	require.Equal(t, at, got.FinishedAt.UTC())
	require.Equal(t, job.Cancelled, w.job(w.one, j).State)
	require.Zero(t, w.advance(w.runner(nil)), "nothing is left to do")
	w.pass(time.Minute)
	again := w.cancel(w.one, j)
	require.Equal(t, at, again.FinishedAt.UTC(), "it ended before")
	told := w.told(w.one)
	require.Len(t, told, 1)
	require.JSONEq(t, `{"jobId": "`+j.String()+`", "kind": "webhook_recover", "state": "cancelled", "resourceKind": "webhook",
		"resourceId": "wh_1", "startedAt": null, "finishedAt": "2026-07-08T12:01:00Z", "errorCode": null, "portalId": null, "subjectId": null}`, told[0])
	for _, org := range []id.Org{w.one, w.two} {
		which := j
		if org == w.one {
			which = id.NewJob()
		}
		err := w.tenants.InTx(context.Background(), org, func(ctx context.Context, tx *tenant.Tx) error {
			_, err := job.Cancel(ctx, tx, which, activity.Actor{By: "test", At: w.now()})
			return err
		})
		require.ErrorIs(t, err, errdefs.NotFound{Noun: job.Noun})
	}
}

func TestStates(t *testing.T) {
	for _, s := range job.States() {
		require.Equal(t, slices.Contains([]job.State{job.Succeeded, job.Failed, job.Cancelled}, s), s.Ended(), s)
	}
	require.Contains(t, job.Kinds(), job.WebhookRecover)
}

func TestSweeping(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	waits := w.insert(w.one)
	old := w.insert(w.one)
	w.cancel(w.one, old)
	moving := w.insert(w.two)
	w.cancel(w.two, moving)
	w.pass(time.Second)
	young := w.insert(w.one)
	w.cancel(w.one, young)
	sweep := func() int {
		t.Helper()
		n, err := job.Sweep(context.Background(), w.tenants, w.files, "a", w.now())
		require.NoError(t, err)
		return n
	}
	w.fence(w.two, "capture")
	w.pass(job.Retention - time.Second)
	require.Zero(t, sweep(), "not a moment too early")
	w.pass(time.Microsecond)
	require.Equal(t, 1, sweep())
	_, err := job.Get(context.Background(), w.tenants, w.one, old)
	require.ErrorIs(t, err, errdefs.NotFound{Noun: job.Noun})
	require.Equal(t, job.Queued, w.job(w.one, waits).State)
	require.Equal(t, job.Cancelled, w.job(w.one, young).State)
	w.fence(w.two, "open")
	require.Equal(t, 1, sweep(), "those of an organization that moved are swept later")
	require.Zero(t, sweep())
}
