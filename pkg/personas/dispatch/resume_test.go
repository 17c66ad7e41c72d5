package dispatch_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/personas/dispatch"
	"visavis.dev/pkg/provider/upstream"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/store/tenant/tenanttest"
)

// waiting queues a job of a connection that waits for an hour.
func (b *bench) waiting(of id.Connection, changes string) id.Job {
	b.t.Helper()
	j := job.Job{ID: id.NewJob(), Kind: job.CRMSend, ResourceKind: "inbox_item", Connection: of, Scope: scope.InboxRead, CreatedBy: "test", CreatedAt: b.clock.Now().UTC()}
	b.inTx(func(ctx context.Context, tx *tenant.Tx) error {
		if _, err := job.Insert(ctx, tx, j, struct{}{}); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `UPDATE job SET due_at = $3, `+changes+` WHERE org_id = $1 AND id = $2`, tx.Org, j.ID, b.clock.Now().UTC().Add(time.Hour))
		return err
	})
	return j.ID
}

// left is how long a job waits yet.
func (b *bench) left(which id.Job) time.Duration {
	b.t.Helper()
	var due time.Time
	b.inTx(func(ctx context.Context, tx *tenant.Tx) error {
		return tx.QueryRow(ctx, `SELECT due_at FROM job WHERE org_id = $1 AND id = $2`, tx.Org, which).Scan(&due)
	})
	return due.Sub(b.clock.Now())
}

// resume makes the jobs that resume, and answers how many there were.
func (b *bench) resume(r dispatch.Resumer) int {
	b.t.Helper()
	var all []job.Job
	b.inTx(func(ctx context.Context, tx *tenant.Tx) (err error) {
		all, err = tenant.AllIn(ctx, tx, func(row pgx.CollectableRow) (j job.Job, err error) {
			j.Org, j.Progress = b.org, json.RawMessage("{}")
			return j, row.Scan(&j.ID, &j.Input)
		}, `DELETE FROM job WHERE org_id = $1 AND kind = 'connection_resume' RETURNING id, input`, tx.Org)
		return err
	})
	for i := range all {
		for !all[i].State.Ended() {
			if b.commit(r.Background().Steps[job.ConnectionResume], &all[i]) > 0 {
				break // it only stays
			}
		}
	}
	return len(all)
}

// What waits for a connection is told at once where it is settled anew, and what is stopped is taken up; the
// steps of others, and those under way, are left alone.
func TestWhatWaitsForAConnectionThatIsMended(t *testing.T) {
	b := newBench(t)
	other := b.connect()
	waits, elsewhere, underWay := b.waiting(b.to, "owner = NULL"), b.waiting(other, "owner = NULL"), b.waiting(b.to, "owner = gen_random_uuid()")
	var many []id.Job
	for range 250 { // more than a commit recalls
		many = append(many, b.waiting(b.to, "owner = NULL"))
	}
	b.settle(b.to)
	taken := 0
	require.Equal(t, 1, b.resume(dispatch.Resumer{connection.HubSpot: func(_ context.Context, _ *tenant.Tx, c id.Connection, _ time.Time) (bool, error) {
		require.Equal(t, b.to, c)
		taken++
		return taken < 3, nil
	}}))
	require.Equal(t, 3, taken)
	for _, j := range append(many, waits) {
		require.LessOrEqual(t, b.left(j), time.Duration(0))
	}
	require.Positive(t, b.left(elsewhere))
	require.Positive(t, b.left(underWay))
}

// A connection that works again by itself has what waits told too, once.
func TestWhatWaitsForAConnectionThatRecovers(t *testing.T) {
	b := newBench(t)
	record := func(code upstream.Code) {
		b.clock.Step(time.Second)
		b.inTx(func(ctx context.Context, tx *tenant.Tx) error {
			at := b.clock.Now().UTC()
			return connection.Record(ctx, tx, b.to, []connection.Outcome{{At: at, Name: "x", Code: code}}, at)
		})
	}
	record("")
	for range 3 {
		record(upstream.Unavailable)
	}
	waits := b.waiting(b.to, "owner = NULL")
	require.Zero(t, b.resume(nil))
	record("")
	record("")
	require.Equal(t, 1, b.resume(nil))
	require.LessOrEqual(t, b.left(waits), time.Duration(0))
}

// A connection that works and fails by turns has what waits told once a minute, and at last.
func TestAConnectionThatFlaps(t *testing.T) {
	b := newBench(t)
	record := func(codes ...upstream.Code) {
		b.clock.Step(time.Second)
		b.inTx(func(ctx context.Context, tx *tenant.Tx) error {
			var all []connection.Outcome
			at := b.clock.Now().UTC()
			for _, code := range codes {
				all = append(all, connection.Outcome{At: at, Name: "x", Code: code})
			}
			return connection.Record(ctx, tx, b.to, all, at)
		})
	}
	// work makes the steps that are due, and answers how many jobs resume.
	work := func() (all int) {
		for due := true; due; {
			var jobs []job.Job
			b.inTx(func(ctx context.Context, tx *tenant.Tx) (err error) {
				jobs, err = tenant.AllIn(ctx, tx, func(row pgx.CollectableRow) (j job.Job, err error) {
					j.Org = b.org
					return j, row.Scan(&j.ID, &j.Input, &j.Progress, &j.FinishedAt)
				}, `SELECT id, input, progress, due_at FROM job WHERE org_id = $1 AND kind = 'connection_resume'`, tx.Org)
				return err
			})
			all, due = len(jobs), false
			for _, j := range jobs {
				if j.FinishedAt.After(b.clock.Now()) {
					continue
				}
				due = true
				wait := b.commit(dispatch.Resumer(nil).Background().Steps[job.ConnectionResume], &j)
				b.inTx(func(ctx context.Context, tx *tenant.Tx) (err error) {
					if j.State.Ended() {
						_, err = tx.Exec(ctx, `DELETE FROM job WHERE org_id = $1 AND id = $2`, tx.Org, j.ID)
					} else {
						_, err = tx.Exec(ctx, `UPDATE job SET progress = $3, due_at = $4 WHERE org_id = $1 AND id = $2`, tx.Org, j.ID, j.Progress, b.clock.Now().Add(wait))
					}
					return err
				})
			}
		}
		return all
	}
	record("", upstream.Unavailable, upstream.Unavailable, upstream.Unavailable)
	record("")
	work()
	waits := b.waiting(b.to, "owner = NULL")
	for range 20 {
		record(upstream.Unavailable, upstream.Unavailable, upstream.Unavailable)
		record("")
		require.Equal(t, 1, work())
		require.Positive(t, b.left(waits), "it was told less than a minute ago")
	}
	b.clock.Step(time.Minute)
	work()
	require.LessOrEqual(t, b.left(waits), time.Duration(0), "what recovered meanwhile is not forgotten")
	b.clock.Step(time.Minute)
	require.Zero(t, work())
}

// What a call by an old secret says is nothing once there is another: it is told again in a moment, with new patience.
func TestAConnectionThatIsMendedDuringACall(t *testing.T) {
	b := newBench(t)
	b.patience.Unready = 0
	b.open(b.vault)
	b.call = func() error {
		b.settle(b.to)
		return &upstream.Error{Code: upstream.Refused}
	}
	j := b.job()
	require.Equal(t, dispatch.AMoment, b.step(j))
	require.False(t, j.State.Ended())
	require.NotContains(t, string(j.Progress), "waited")
	b.call = func() error { return nil }
	require.Zero(t, b.step(j))
	require.True(t, b.kept.Acknowledged())
}

// Patience with a connection begins anew where it is settled anew.
func TestPatienceBeginsAnew(t *testing.T) {
	b := newBench(t)
	b.call = failing(upstream.Unavailable)
	j := b.job()
	for range 5 {
		b.clock.Step(b.step(j))
	}
	require.Equal(t, 32*time.Second, b.step(j))
	b.settle(b.to)
	require.Equal(t, time.Second, b.step(j))
}

// Calls of a system that takes only so many are apart, and who waited for a turn has it.
func TestPace(t *testing.T) {
	b := newBench(t)
	b.pace = time.Second
	b.call = func() error { return nil }
	jobs := []*job.Job{b.job(), b.job(), b.job()}
	for n, j := range jobs {
		require.Equal(t, time.Duration(n)*time.Second, b.step(j))
	}
	require.Equal(t, 1, b.told)
	b.clock.Step(2 * time.Second)
	for _, j := range jobs[1:] {
		require.Zero(t, b.step(j))
	}
	require.Equal(t, 3, b.told)
	require.Equal(t, time.Second, b.step(b.job()))
}

// Jobs are recalled without a look through all of them.
func TestRecallRidesItsIndex(t *testing.T) {
	tenants, sent, org, _ := tenanttest.NewTraced(t)
	db, err := tenants.Shard(t.Context(), "a")
	require.NoError(t, err)
	connections := make([]id.Connection, 20)
	for i := range connections {
		connections[i] = id.NewConnection()
	}
	_, err = db.Exec(t.Context(), `
		INSERT INTO job (org_id, id, kind, state, input, progress, done, total, resource_kind, resource_id, scope, error_code, attempts, created_by, created_at,
			due_at, heavy, connection_id)
		SELECT $1, gen_random_uuid(), 'crm_send', 'running', '{}', '{}', 0, -1, 'inbox_item', '', 'inbox:read', '', 0, 'test', now(), now() + INTERVAL '1 hour', true,
			($2::UUID[])[1 + i % 100]
		FROM generate_series(1, 5000) AS g (i)`, org, connections)
	require.NoError(t, err)
	_, err = db.Exec(t.Context(), `ANALYZE job`)
	require.NoError(t, err)
	for text, index := range map[string]string{"SELECT id FROM job": "job_by_connection", "UPDATE job SET due_at": "job_pkey"} {
		for _, s := range sent.Of(t, text, func() error {
			return tenants.InTx(t.Context(), org, func(ctx context.Context, tx *tenant.Tx) error {
				_, err := job.RecallOf(ctx, tx, connections[:2], id.Job{}, time.Now().UTC())
				return err
			})
		}) {
			plan := s.Forced(t, db)
			require.Contains(t, plan, index, "%s\n%s", s.SQL, plan)
		}
	}
}

// What a deleted connection was to tell goes on by the one that is made in its place.
func TestWhatWaitsForADeletedConnection(t *testing.T) {
	b := newBench(t)
	offer, ok := connection.FindOffer(connection.ATS, connection.Ashby)
	require.True(t, ok)
	create := func() id.Connection {
		c := connection.New(offer, "ATS", connection.Config{}, "key", b.clock.Now().UTC())
		b.inTx(func(ctx context.Context, tx *tenant.Tx) error {
			return connection.Create(ctx, tx, b.vault, c, "key", b.who())
		})
		return c.ID
	}
	first := create()
	b.resume(nil)
	waits := b.waiting(first, "owner = NULL")
	b.inTx(func(ctx context.Context, tx *tenant.Tx) error {
		return connection.Delete(ctx, tx, first, id.Connection{}, b.who())
	})
	require.Zero(t, b.resume(nil))
	require.Positive(t, b.left(waits))
	second := create()
	require.Equal(t, 1, b.resume(nil))
	require.LessOrEqual(t, b.left(waits), time.Duration(0))

	// Also by one that is named.
	third := create()
	b.resume(nil)
	waits = b.waiting(second, "owner = NULL")
	b.inTx(func(ctx context.Context, tx *tenant.Tx) error {
		return connection.Delete(ctx, tx, second, third, b.who())
	})
	require.Equal(t, 1, b.resume(nil))
	require.LessOrEqual(t, b.left(waits), time.Duration(0))
	for _, wrong := range []id.Connection{third, b.to, second, id.NewConnection()} {
		require.Error(t, b.tenants.InTx(t.Context(), b.org, func(ctx context.Context, tx *tenant.Tx) error {
			return connection.Delete(ctx, tx, third, wrong, b.who())
		}))
	}
}

// Who is made in the place of one that went on for another goes on for both, and who was there beside it for none.
func TestTheHeirOfAHeir(t *testing.T) {
	b := newBench(t)
	offer, ok := connection.FindOffer(connection.ATS, connection.Ashby)
	require.True(t, ok)
	var address string
	create := func() id.Connection {
		b.clock.Step(time.Second)
		c := connection.New(offer, "ATS", connection.Config{}, "key", b.clock.Now().UTC())
		address = c.Address()
		b.inTx(func(ctx context.Context, tx *tenant.Tx) error {
			return connection.Create(ctx, tx, b.vault, c, "key", b.who())
		})
		return c.ID
	}
	remove := func(which, successor id.Connection) {
		b.clock.Step(time.Second)
		b.inTx(func(ctx context.Context, tx *tenant.Tx) error {
			return connection.Delete(ctx, tx, which, successor, b.who())
		})
	}
	heir := func(of id.Connection) (c connection.Connection, err error) {
		b.inTx(func(ctx context.Context, tx *tenant.Tx) error {
			c, err = connection.Heir(ctx, tx, of, address)
			return nil
		})
		return c, err
	}
	first, second := create(), create()
	remove(first, second)
	create() // beside the second
	remove(second, id.Connection{})
	for _, of := range []id.Connection{first, second} {
		_, err := heir(of)
		require.Error(t, err)
	}
	last := create()
	for _, of := range []id.Connection{first, second} {
		c, err := heir(of)
		require.NoError(t, err)
		require.Equal(t, last, c.ID)
	}
}
