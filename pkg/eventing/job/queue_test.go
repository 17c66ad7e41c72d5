package job_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/store/tenant"
)

// However many jobs an organization queued first, and however long each of them waits for
// slow servers, another's is begun at once.
func TestSlowJobsOfAnOrganizationHoldNobodyElseUp(t *testing.T) {
	t.Parallel()
	for kind, share := range map[job.Kind]int{job.KnowledgeSync: 2, job.AvatarPrepare: 1} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			var (
				mu       sync.Mutex
				underWay = map[id.Org]int{}
			)
			done, release := make(chan struct{}), make(chan struct{})
			r := w.runner(succeed)
			r.Works = map[job.Kind]job.Work{kind: {Prepare: func(ctx context.Context, j job.Job) (job.Step, error) {
				mu.Lock()
				underWay[j.Org]++
				mu.Unlock()
				if j.Org == w.two {
					close(done)
				} else {
					<-release
				}
				return ending(ctx, j)
			}}}
			for range 20 {
				w.insert(w.one, func(j *job.Job) { j.Kind = kind })
			}
			w.pass(time.Second)
			r.Start()
			require.Eventually(t, func() bool {
				mu.Lock()
				defer mu.Unlock()
				return underWay[w.one] == share
			}, 20*time.Second, 5*time.Millisecond)
			w.insert(w.two, func(j *job.Job) { j.Kind = kind })
			<-done
			mu.Lock()
			require.Equal(t, share, underWay[w.one])
			mu.Unlock()
			close(release)
			r.Stop()
		})
	}
}

// Of the kinds that read, the jobs that get pages of a site wait behind each other only.
func TestJobsThatFetchHoldNoOthersUp(t *testing.T) {
	t.Parallel()
	for _, kind := range []job.Kind{job.KnowledgeSync, job.PortalFill, job.PortalPlan} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			var sites sync.Map
			underWay, done, release := make(chan struct{}, 20), make(chan struct{}), make(chan struct{})
			r := w.runner(succeed)
			r.Works = map[job.Kind]job.Work{kind: {Prepare: func(ctx context.Context, j job.Job) (job.Step, error) {
				if _, site := sites.Load(j.ID); site {
					underWay <- struct{}{}
					<-release
				} else {
					close(done)
				}
				return ending(ctx, j)
			}}}
			for range 5 {
				j := job.Job{
					ID: id.NewJob(), Kind: kind, ResourceKind: "document", ResourceID: "doc_1", Scope: scope.KnowledgeRead, CreatedBy: "key_1",
					CreatedAt: w.now(),
				}
				sites.Store(j.ID, true)
				w.inTx(w.one, func(ctx context.Context, tx *tenant.Tx) error {
					_, err := job.Insert(ctx, tx, j, job.Fetching{Fetches: true})
					return err
				})
			}
			w.pass(time.Second)
			r.Start()
			<-underWay
			<-underWay
			w.insert(w.one, func(j *job.Job) { j.Kind = kind })
			<-done
			require.Empty(t, underWay, "an organization has its share of sites under way")
			close(release)
			for range 3 {
				<-underWay
			}
			r.Stop()
		})
	}
}

// Systems that are told, and hang, hold up nothing of their organization that asks others.
func TestJobsThatTellHoldNoOthersUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	underWay, done, release := make(chan struct{}, 20), make(chan struct{}), make(chan struct{})
	r := w.runner(succeed)
	hang := job.Work{Prepare: func(ctx context.Context, j job.Job) (job.Step, error) {
		underWay <- struct{}{}
		<-release
		return ending(ctx, j)
	}}
	r.Works = map[job.Kind]job.Work{job.ATSTell: hang, job.ResultScore: {Prepare: func(ctx context.Context, j job.Job) (job.Step, error) {
		close(done)
		return ending(ctx, j)
	}}}
	for range 10 {
		w.insert(w.one, func(j *job.Job) { j.Kind = job.ATSTell })
	}
	w.pass(time.Second)
	r.Start()
	<-underWay
	<-underWay
	w.insert(w.one, func(j *job.Job) { j.Kind = job.ResultScore })
	<-done
	require.Empty(t, underWay, "an organization has its share under way")
	close(release)
	r.Stop()
}

// Organizations take turns, whoever queued first.
func TestOrganizationsTakeTurns(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const others = 10
	for range others {
		w.insert(w.one, heavy)
	}
	w.pass(time.Second)
	for range 3 {
		w.insert(w.two, heavy)
	}
	w.pass(time.Second)
	begun := make(chan id.Org, others+3)
	r := w.heavyRunner(job.Work{Prepare: func(ctx context.Context, j job.Job) (job.Step, error) {
		begun <- j.Org
		return ending(ctx, j)
	}})
	r.Start()
	turns := map[id.Org]int{}
	for turns[w.two] < 3 {
		turns[<-begun]++
	}
	r.Stop()
	// What is begun is noted by goroutines, which may pass each other: by no more than
	// an organization has under way.
	require.LessOrEqual(t, turns[w.one], 3+2)
}

// Every kind waits in one line, and somebody with one of the shares makes it.
func TestEveryKindHasALine(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, k := range slices.Concat(job.Kinds(), job.QuietKinds()) {
		which := w.insert(w.one, func(j *job.Job) { j.Kind = k })
		for _, share := range []job.Share{job.Reading, job.Rest} {
			r := w.runner(succeed)
			r.Share = share
			r.Steps, r.Works = map[job.Kind]job.Step{k: succeed}, nil
			if k.Heavy() || k == job.MailSend {
				r.Steps, r.Works = nil, map[job.Kind]job.Work{k: {Prepare: ending}}
			}
			w.advance(r)
		}
		if !k.Quiet() {
			require.Equal(t, job.Succeeded, w.job(w.one, which).State, k)
			continue
		}
		_, err := job.Get(t.Context(), w.tenants, w.one, which)
		require.ErrorIs(t, err, errdefs.NotFound{Noun: job.Noun}, k)
	}
}

// A shard whose only due job somebody holds the row of is looked at again at the next look,
// not without a pause.
func TestAJobWhoseRowIsLockedIsNotAskedForAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	which := w.insert(w.one, heavy)
	r := w.heavyRunner(job.Work{Prepare: ending})
	w.inTx(w.one, func(ctx context.Context, tx *tenant.Tx) error {
		_, err := tx.Exec(ctx, `SELECT id FROM job WHERE org_id = $1 AND id = $2 FOR UPDATE`, tx.Org, which)
		require.NoError(t, err)
		more, err := r.Begin(context.Background(), "a", job.KnowledgeSync)
		require.NoError(t, err)
		require.False(t, more)
		return nil
	})
	more, err := r.Begin(context.Background(), "a", job.KnowledgeSync)
	require.NoError(t, err)
	require.True(t, more)
}
