package ats_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/utils/clock"
	clocktest "k8s.io/utils/clock/testing"

	"visavis.dev/api/apitest"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/vault"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/hiring/ats"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/provider/ashby/ashbytest"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/tenant"
)

// telling is the job that tells of the only application.
type telling struct {
	*bench
	work job.Work
	job  job.Job
	// clock is by which it waits.
	clock *clocktest.FakeClock
}

func (b *bench) telling() *telling {
	b.t.Helper()
	report := &connection.Reporter{Tenants: b.Tenants, Clock: clock.RealClock{}, Log: slog.New(slog.DiscardHandler)}
	t := &telling{bench: b, clock: clocktest.NewFakeClock(time.Now())}
	teller := &ats.Teller{Tenants: b.Tenants, Opener: b.Connections, Report: report, Egress: b.Egress, Clock: t.clock}
	t.work = teller.Background().Works[job.ATSTell]
	t.job = job.Job{Org: b.Acme.ID, Kind: job.ATSTell, Progress: json.RawMessage("{}")}
	require.NoError(b.t, b.Tenants.InTx(b.t.Context(), b.Acme.ID, func(ctx context.Context, tx *tenant.Tx) error {
		return tx.QueryRow(ctx, `SELECT id, input FROM job WHERE org_id = $1 AND kind = 'ats_tell' ORDER BY id LIMIT 1`, tx.Org).Scan(&t.job.ID, &t.job.Input)
	}))
	return t
}

func (t *telling) prepare() job.Step {
	t.t.Helper()
	step, err := t.work.Prepare(t.t.Context(), t.job)
	require.NoError(t.t, err)
	return step
}

// commit makes a step, and lets the time pass that is to be waited after it.
func (t *telling) commit(step job.Step) (wait time.Duration) {
	t.t.Helper()
	require.NoError(t.t, t.Tenants.InTx(t.t.Context(), t.Acme.ID, func(ctx context.Context, tx *tenant.Tx) (err error) {
		wait, err = step(ctx, tx, &t.job, t.clock.Now().UTC())
		return err
	}))
	t.clock.Step(wait)
	return wait
}

// A process that ends once the system was told tells it the same again; what changed meanwhile is told
// by the same job, after it.
func TestACrashAfterTelling(t *testing.T) {
	b := newBench(t)
	s := b.ashby()
	_, _, err := s.Start(ashbytest.Body(b.assessment(), "app-1", "kim@example.com"))
	require.NoError(t, err)
	who := b.arrive()
	j := b.telling()
	j.prepare() // and no more
	step := j.prepare()
	updates := s.Updates()
	require.Len(t, updates, 2)
	require.Equal(t, updates[0], updates[1])

	_, err = b.StartInterview(t, b.Acme, who)
	require.NoError(t, err)
	require.Equal(t, 1, b.count(`SELECT count(*) FROM job WHERE org_id = $1 AND kind = 'ats_tell'`))
	require.Zero(t, j.commit(step))
	require.False(t, j.job.State.Ended())
	require.Zero(t, j.commit(j.prepare()))
	require.Equal(t, job.Succeeded, j.job.State)
	require.Equal(t, []any{"Opened", "Opened", "Started"}, values(s.Updates()))
}

// What the system does not take is not told again; what follows is.
func TestWhatIsNotTaken(t *testing.T) {
	b := newBench(t)
	s := b.ashby()
	_, _, err := s.Start(ashbytest.Body(b.assessment(), "app-1", "kim@example.com"))
	require.NoError(t, err)
	who := b.arrive()
	s.Behave(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnprocessableEntity) })
	b.tell()
	require.Empty(t, s.Updates())
	require.Zero(t, b.count(`SELECT count(*) FROM job WHERE org_id = $1 AND kind = 'ats_tell'`))
	b.Interview(t, b.Acme, who, apitest.RightAnswer, session.EndedByUser)
	b.tell()
	require.Equal(t, []any{"In review"}, values(s.Updates()))
}

// A connection that is switched off waits, each time for longer one whose service is away, and for no longer
// than eight weeks.
func TestHowLongIsWaited(t *testing.T) {
	b := newBench(t)
	s := b.ashby()
	_, _, err := s.Start(ashbytest.Body(b.assessment(), "app-1", "kim@example.com"))
	require.NoError(t, err)
	b.arrive()
	j := b.telling()
	away := func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }
	for _, want := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second} {
		s.Behave(away)
		require.Equal(t, want, j.commit(j.prepare()))
	}
	s.Behave(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) })
	require.Equal(t, 8*time.Minute, j.commit(j.prepare()))
	off := b.CallAs(t, "updateConnection", b.connection, b.Acme.New, map[string]any{"enabled": false})
	require.Equal(t, http.StatusOK, off.Status, "%s", off.Raw)
	which, err := id.ParseConnection(b.connection)
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		_, err := b.Connections.Open(t.Context(), b.Acme.ID, which)
		return errors.Is(err, connection.ErrDisabled)
	}, patience, step)
	require.Equal(t, time.Hour, j.commit(j.prepare()))
	require.Empty(t, s.Updates())
	for range 8 * 7 * 24 {
		if j.commit(j.prepare()) == 0 {
			break
		}
	}
	require.Equal(t, job.Succeeded, j.job.State)
}

// Faults of ours use up no patience: the last word is told however many there were, and is not told as
// taken before.
func TestFaultsOfOurs(t *testing.T) {
	b := newBench(t)
	s := b.ashby()
	_, _, err := s.Start(ashbytest.Body(b.assessment(), "app-1", "kim@example.com"))
	require.NoError(t, err)
	who := b.arrive()
	b.Interview(t, b.Acme, who, apitest.RightAnswer, session.EndedByUser)
	b.review(who)
	// A vault that lost its keys opens no secret.
	other, err := vault.New(vault.NewKey())
	require.NoError(t, err)
	report := &connection.Reporter{Tenants: b.Tenants, Clock: clock.RealClock{}, Log: slog.New(slog.DiscardHandler)}
	teller := &ats.Teller{
		Tenants: b.Tenants, Opener: connection.NewOpener(b.Tenants, other, clock.RealClock{}), Report: report, Egress: b.Egress, Clock: clock.RealClock{},
	}
	runner := &job.Runner{Tenants: b.Tenants, Works: teller.Background().Works, Clock: clock.RealClock{}, Log: slog.New(slog.DiscardHandler)}
	for range 12 {
		b.exec(`UPDATE job SET due_at = now(), owner = NULL WHERE org_id = $1 AND kind = 'ats_tell'`)
		for _, shard := range []string{"shard-1", "shard-2"} {
			_, err := runner.Advance(t.Context(), shard)
			require.NoError(t, err)
		}
	}
	require.Empty(t, s.Updates())
	require.Equal(t, 1, b.count(`SELECT count(*) FROM job WHERE org_id = $1 AND kind = 'ats_tell'`))
	b.tell()
	require.Len(t, s.Updates(), 1)
	require.EqualValues(t, 100, s.Updates()[0].Result)
}

// What is told of a result is decided when it is released, whatever the config says later.
func TestScoresThatAreSwitchedLater(t *testing.T) {
	for name, without := range map[string]bool{"off": true, "on": false} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			s := ashbytest.Start("", ourKey, ashbyKey)
			t.Cleanup(s.Close)
			s.Partner = b.connect("ashby", ourKey+":"+ashbyKey, map[string]any{"baseUrl": s.URL, "withoutScores": without})
			_, _, err := s.Start(ashbytest.Body(b.assessment(), "app-1", "kim@example.com"))
			require.NoError(t, err)
			who := b.arrive()
			b.Interview(t, b.Acme, who, apitest.RightAnswer, session.EndedByUser)
			var bodies, keys []string
			s.Behave(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				bodies, keys = append(bodies, string(body)), append(keys, r.Header.Get("Idempotency-Key"))
				w.WriteHeader(http.StatusServiceUnavailable)
			})
			b.review(who)
			b.tell()
			require.Len(t, bodies, 1)
			changed := b.CallAs(t, "updateConnection", b.connection, b.Acme.New, map[string]any{"config": map[string]any{
				"roles": []any{b.role}, "baseUrl": s.URL, "withoutScores": !without, "profileUrl": "https://other.example.com/{candidateId}",
			}})
			require.Equal(t, http.StatusOK, changed.Status, "%s", changed.Raw)
			b.settled(func(o connection.Opened) bool { return o.Config.On("withoutScores") == !without })
			b.tell()
			require.Len(t, s.Updates(), 1)
			require.Equal(t, bodies[0], s.Updates()[0].Raw)
			require.Equal(t, keys[0], s.Updates()[0].Key)
			if without {
				require.Equal(t, "string", s.Updates()[0].ResultType)
			} else {
				require.EqualValues(t, 100, s.Updates()[0].Result)
			}
		})
	}
}

// settled waits until a change of the connection is seen.
func (b *bench) settled(seen func(connection.Opened) bool) {
	b.t.Helper()
	which, err := id.ParseConnection(b.connection)
	require.NoError(b.t, err)
	require.Eventually(b.t, func() bool {
		o, err := b.Connections.Open(b.t.Context(), b.Acme.ID, which)
		return err == nil && seen(o)
	}, patience, step)
}

// A page of maintenance that a system redirects to is no answer: it is told again.
func TestASystemThatRedirects(t *testing.T) {
	b := newBench(t)
	s := b.ashby()
	_, _, err := s.Start(ashbytest.Body(b.assessment(), "app-1", "kim@example.com"))
	require.NoError(t, err)
	b.arrive()
	asked := 0
	s.Behave(func(w http.ResponseWriter, r *http.Request) {
		asked++
		http.Redirect(w, r, "/maintenance", http.StatusFound)
	})
	j := b.telling()
	require.Equal(t, time.Minute, j.commit(j.prepare()))
	require.Equal(t, 1, asked)
	require.Empty(t, s.Updates())
	require.Zero(t, j.commit(j.prepare()))
	require.Equal(t, []any{"Opened"}, values(s.Updates()))
}

// Greenhouse asks where somebody stands: no job has to tell it before there is something to ask for.
func TestNoJobsForWhoAsks(t *testing.T) {
	b := newBench(t)
	s := b.greenhouse()
	_, err := s.SendTest(s.Body(b.role, harry))
	require.NoError(t, err)
	who := b.arrive()
	b.Interview(t, b.Acme, who, apitest.RightAnswer, session.EndedByUser)
	require.Zero(t, b.count(`SELECT count(*) FROM job WHERE org_id = $1 AND kind = 'ats_tell'`))
	b.review(who)
	require.Equal(t, 1, b.count(`SELECT count(*) FROM job WHERE org_id = $1 AND kind = 'ats_tell'`))
	b.tell()
	require.Len(t, s.Patched(), 1)
}

// Workers tell by themselves.
func TestAWorkerTells(t *testing.T) {
	b := newBench(t)
	s := b.ashby()
	_, _, err := s.Start(ashbytest.Body(b.assessment(), "app-1", "kim@example.com"))
	require.NoError(t, err)
	require.Equal(t, 1, b.mails())
	worker := b.Worker()
	worker.Start()
	t.Cleanup(worker.Stop)
	who := b.arrive()
	require.Eventually(t, func() bool { return len(s.Updates()) == 1 }, 2*patience, step)
	_, err = b.StartInterview(t, b.Acme, who)
	require.NoError(t, err)
	require.Eventually(t, func() bool { return len(s.Updates()) == 2 }, 2*patience, step)
	require.Equal(t, []any{"Opened", "Started"}, values(s.Updates()))
}
