package dispatch_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	clocktest "k8s.io/utils/clock/testing"

	"visavis.dev/pkg/base/egress"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/vault"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/personas/dispatch"
	"visavis.dev/pkg/provider/upstream"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/database/databasetest"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/store/tenant/tenanttest"
)

func TestMain(m *testing.M) { databasetest.Main(m) }

// bench is an organization with two connections, whose systems answer what calls says.
type bench struct {
	t        *testing.T
	tenants  *tenant.Tenants
	org      id.Org
	clock    *clocktest.FakeClock
	vault    *vault.Vault
	patience dispatch.Patience
	work     job.Work
	// to is whom the next message is for, and call what comes of it.
	to   id.Connection
	call func() error
	told int
	pace time.Duration
	// kept is what was kept last.
	kept dispatch.Outcome
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{t: t, clock: clocktest.NewFakeClock(tenanttest.Now), patience: dispatch.Patience{Away: time.Hour, Unready: 10 * time.Minute, Longest: 2 * time.Minute}}
	b.tenants, b.org, _ = tenanttest.New(t)
	var err error
	b.vault, err = vault.New(vault.NewKey())
	require.NoError(t, err)
	b.open(b.vault)
	b.to = b.connect()
	return b
}

// open has a dispatcher with a vault.
func (b *bench) open(v *vault.Vault) {
	d := dispatch.New(connection.NewOpener(b.tenants, v, b.clock), b.clock, b.patience)
	b.work = d.Work(func(context.Context, job.Job) (*dispatch.Message, error) {
		return &dispatch.Message{
			To:   b.to,
			Pace: func(*connection.Opened) time.Duration { return b.pace },
			Tell: func(context.Context, *connection.Opened) error { b.told++; return b.call() },
			Keep: func(_ context.Context, _ *tenant.Tx, j *job.Job, _ time.Time, o dispatch.Outcome) (time.Duration, error) {
				if b.kept = o; o.Wait == 0 {
					j.State = job.Succeeded
				}
				return 0, nil
			},
		}, nil
	})
}

func (b *bench) connect() id.Connection {
	b.t.Helper()
	offer, ok := connection.FindOffer(connection.CRM, connection.HubSpot)
	require.True(b.t, ok)
	c := connection.New(offer, "CRM", connection.Config{}, "pat", tenanttest.Now)
	b.inTx(func(ctx context.Context, tx *tenant.Tx) error {
		return connection.Create(ctx, tx, b.vault, c, "pat", b.who())
	})
	return c.ID
}

func (b *bench) job() *job.Job {
	return &job.Job{Org: b.org, Progress: json.RawMessage(`{"after":"x","written":12}`)}
}

// step makes a step of a job, and waits as long as it says.
func (b *bench) step(j *job.Job) time.Duration {
	b.t.Helper()
	step, err := b.work.Prepare(b.t.Context(), *j)
	require.NoError(b.t, err)
	return b.commit(step, j)
}

// commit commits a step, and answers how long the next one waits.
func (b *bench) commit(step job.Step, j *job.Job) (wait time.Duration) {
	b.t.Helper()
	b.inTx(func(ctx context.Context, tx *tenant.Tx) (err error) {
		wait, err = step(ctx, tx, j, b.clock.Now().UTC())
		return err
	})
	return wait
}

func (b *bench) inTx(fn func(context.Context, *tenant.Tx) error) {
	b.t.Helper()
	require.NoError(b.t, b.tenants.InTx(b.t.Context(), b.org, fn))
}

// settle has a connection settled anew.
func (b *bench) settle(which id.Connection) {
	b.t.Helper()
	b.clock.Step(2 * time.Second) // an opened one is believed for one
	b.inTx(func(ctx context.Context, tx *tenant.Tx) error {
		c, err := connection.Lock(ctx, tx, which)
		if err != nil {
			return err
		}
		_, err = connection.Configure(ctx, tx, b.vault, c, connection.Change{Secret: new(connection.Secret("another"))}, b.who())
		return err
	})
	b.clock.Step(2 * time.Second)
}

func (b *bench) who() activity.Actor { return activity.Actor{By: "test", At: b.clock.Now().UTC()} }

func failing(code upstream.Code) func() error {
	return func() error { return &upstream.Error{Code: code} }
}

// It is waited longer each time, for as long as there is patience, and what the message keeps stays as it is.
func TestPatience(t *testing.T) {
	for code, want := range map[upstream.Code]struct {
		first, least, most time.Duration
	}{
		upstream.Unavailable: {time.Second, time.Hour, time.Hour + 2*time.Minute},
		upstream.Refused:     {time.Minute, 10 * time.Minute, 12 * time.Minute},
		upstream.Rejected:    {0, 0, 0},
	} {
		b := newBench(t)
		b.call = failing(code)
		j, all := b.job(), time.Duration(0)
		for n := 0; !j.State.Ended(); n++ {
			wait := b.step(j)
			if n == 0 {
				require.Equal(t, want.first, wait)
			}
			require.LessOrEqual(t, wait, b.patience.Longest)
			all += wait
			b.clock.Step(wait)
		}
		require.True(t, b.kept.Abandoned())
		require.Equal(t, string(code), b.kept.Code)
		require.GreaterOrEqual(t, all, want.least)
		require.LessOrEqual(t, all, want.most)
		require.JSONEq(t, `{"after":"x","written":12}`, string(j.Progress))
	}
}

// A job that is recalled early has used up no more patience than it waited.
func TestWaitsThatAreCutShort(t *testing.T) {
	b := newBench(t)
	b.call = func() error { return &upstream.Error{Code: upstream.RateLimited, RetryAfter: 20 * time.Minute} }
	j := b.job()
	for range 30 {
		require.Positive(t, b.step(j))
		b.clock.Step(time.Second)
	}
	require.False(t, j.State.Ended())
	for range 3 {
		b.clock.Step(b.step(j))
	}
	require.Zero(t, b.step(j))
	require.True(t, b.kept.Abandoned())
}

// What the system asks for is waited, and what it takes ends the waiting.
func TestWhatASystemAsksFor(t *testing.T) {
	b := newBench(t)
	b.call = func() error { return &upstream.Error{Code: upstream.RateLimited, RetryAfter: 7 * time.Minute} }
	j := b.job()
	require.Equal(t, 7*time.Minute, b.step(j))
	b.clock.Step(7 * time.Minute)
	b.call = func() error {
		return &upstream.Error{Code: upstream.Rejected, Err: &egress.NetworkError{Err: egress.ErrRedirect}}
	}
	require.Equal(t, 2*time.Minute, b.step(j), "a redirect, for the second time")
	b.call = func() error { return nil }
	require.Zero(t, b.step(j))
	require.True(t, b.kept.Acknowledged())
	require.NotContains(t, string(j.Progress), "waited")
}

// Faults of ours use up no patience, however long they last.
func TestFaultsOfOurs(t *testing.T) {
	b := newBench(t)
	b.call = failing(upstream.Unavailable)
	j := b.job()
	b.step(j)
	before := string(j.Progress)
	lost, err := vault.New(vault.NewKey())
	require.NoError(t, err)
	b.open(lost)
	for range 20 {
		_, err := b.work.Prepare(t.Context(), *j)
		require.Error(t, err)
		b.clock.Step(time.Hour)
	}
	b.open(b.vault)
	b.call = func() error { return errors.New("a fault of ours") }
	_, err = b.work.Prepare(t.Context(), *j)
	require.Error(t, err)
	require.Equal(t, job.Endless, b.work.Failures)
	require.Equal(t, before, string(j.Progress))
	b.call = failing(upstream.Unavailable)
	require.Equal(t, 2*time.Second, b.step(j))
	require.False(t, j.State.Ended())
}

// A system that hangs is left alone by all its jobs for longer than it hung, and another one is not.
func TestASystemThatHangs(t *testing.T) {
	b := newBench(t)
	slow, other := b.to, b.connect()
	b.call = func() error {
		b.clock.Step(20 * time.Second)
		return &upstream.Error{Code: upstream.Timeout}
	}
	require.Equal(t, time.Second, b.step(b.job()))
	for range 3 {
		require.Equal(t, 80*time.Second, b.step(b.job()))
	}
	require.Equal(t, 1, b.told)
	b.call = func() error { return nil }
	b.to = other
	require.Zero(t, b.step(b.job()))
	require.Equal(t, 2, b.told)
	b.to = slow
	b.clock.Step(80 * time.Second)
	require.Zero(t, b.step(b.job()))
	require.Equal(t, 3, b.told)
}

// A connection that is gone is waited for too.
func TestAConnectionThatIsGone(t *testing.T) {
	b := newBench(t)
	b.to = id.NewConnection()
	j := b.job()
	require.Equal(t, b.patience.Longest, b.step(j))
	for !j.State.Ended() {
		b.clock.Step(b.step(j))
	}
	require.Zero(t, b.told)
	require.Equal(t, dispatch.NoConnection, b.kept.Code)
}
