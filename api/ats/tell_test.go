package ats_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/utils/clock"

	"visavis.dev/api/apitest"
	"visavis.dev/pkg/base/id"
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
}

func (b *bench) telling() *telling {
	b.t.Helper()
	report := &connection.Reporter{Tenants: b.Tenants, Clock: clock.RealClock{}, Log: slog.New(slog.DiscardHandler)}
	teller := &ats.Teller{Tenants: b.Tenants, Opener: b.Connections, Report: report, Egress: b.Egress, Clock: clock.RealClock{}}
	t := &telling{bench: b, work: teller.Background().Works[job.ATSTell]}
	t.job = job.Job{Org: b.Acme.ID, Kind: job.ATSTell, Progress: json.RawMessage("{}")}
	require.NoError(b.t, b.Tenants.InTx(b.t.Context(), b.Acme.ID, func(ctx context.Context, tx *tenant.Tx) error {
		return tx.QueryRow(ctx, `SELECT id, input FROM job WHERE org_id = $1 AND kind = 'ats_tell'`, tx.Org).Scan(&t.job.ID, &t.job.Input)
	}))
	return t
}

func (t *telling) prepare() job.Step {
	t.t.Helper()
	step, err := t.work.Prepare(t.t.Context(), t.job)
	require.NoError(t.t, err)
	return step
}

func (t *telling) commit(step job.Step) (wait time.Duration) {
	t.t.Helper()
	require.NoError(t.t, t.Tenants.InTx(t.t.Context(), t.Acme.ID, func(ctx context.Context, tx *tenant.Tx) (err error) {
		wait, err = step(ctx, tx, &t.job, time.Now().UTC())
		return err
	}))
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
	b.exec(`UPDATE candidate_application SET standing_at = standing_at - INTERVAL '57 days' WHERE org_id = $1`)
	require.Zero(t, j.commit(j.prepare()))
	require.Equal(t, job.Succeeded, j.job.State)
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
