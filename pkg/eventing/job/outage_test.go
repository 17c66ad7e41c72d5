package job_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"k8s.io/utils/clock"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/store/tenant/tenanttest"
)

// Shards that do not answer, and a directory that does not, hold no job of another shard
// up: not even where heavy steps for them are under way when they fall silent.
func TestJobsAdvanceBesideShardsThatDoNotAnswer(t *testing.T) {
	t.Parallel()
	o := tenanttest.NewOutage(t)
	insert := func(shard string, kind job.Kind) id.Job {
		j := job.Job{ID: id.NewJob(), Kind: kind, ResourceKind: "webhook", ResourceID: "wh_1", Scope: scope.WebhooksManage, CreatedBy: "key_1", CreatedAt: time.Now().UTC()}
		require.NoError(t, o.Tenants.InTx(t.Context(), o.Orgs[shard], func(ctx context.Context, tx *tenant.Tx) error {
			_, err := job.Insert(ctx, tx, j, nil)
			return err
		}))
		return j.ID
	}
	done := make(chan id.Job, 100)
	hanging := make(chan id.Job, 100)
	succeedAfter := func(_ context.Context, _ *tenant.Tx, j *job.Job, _ time.Time) (time.Duration, error) {
		j.State = job.Succeeded
		done <- j.ID
		return 0, nil
	}
	frozen := map[id.Job]bool{}
	runner := &job.Runner{
		Tenants: o.Tenants, Shards: o.Shards, Clock: clock.RealClock{}, Log: slog.New(slog.DiscardHandler),
		Steps: map[job.Kind]job.Step{job.WebhookRecover: succeedAfter},
		Works: map[job.Kind]job.Work{job.KnowledgeSync: {Prepare: func(ctx context.Context, j job.Job) (job.Step, error) {
			if !frozen[j.ID] {
				return succeedAfter, nil
			}
			hanging <- j.ID
			// As one that waits for its shard, which says nothing.
			return nil, o.Tenants.Read(ctx, o.Orgs[tenanttest.Frozen], func(r *tenant.Reads) {
				r.Query(func(rows pgx.Rows) error { return rows.Err() }, `SELECT pg_sleep(600)`)
			})
		}}},
	}
	first := insert(tenanttest.Frozen, job.KnowledgeSync)
	frozen[first] = true
	runner.Start()
	require.Equal(t, first, <-hanging)
	// Both lines know the shards before the directory freezes.
	early := []id.Job{insert(tenanttest.Healthy, job.WebhookRecover), insert(tenanttest.Healthy, job.KnowledgeSync)}
	require.ElementsMatch(t, early, []id.Job{<-done, <-done})
	o.Begin()
	o.FreezeDirectory()
	o.Beside(t, func() {
		quick, heavy := insert(tenanttest.Healthy, job.WebhookRecover), insert(tenanttest.Healthy, job.KnowledgeSync)
		require.ElementsMatch(t, []id.Job{quick, heavy}, []id.Job{<-done, <-done})
	})
	runner.Stop()
}
