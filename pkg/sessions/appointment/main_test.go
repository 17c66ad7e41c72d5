package appointment_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	clocktest "k8s.io/utils/clock/testing"

	"visavis.dev/pkg/base/egress"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/vault"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/personas/dispatch"
	"visavis.dev/pkg/provider/caldav/caldavtest"
	"visavis.dev/pkg/sessions/appointment"
	"visavis.dev/pkg/sessions/inbox"
	"visavis.dev/pkg/sessions/slot"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/database/databasetest"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/store/tenant/tenanttest"
)

func TestMain(m *testing.M) { databasetest.Main(m) }

// bench is an organization with a calendar, and what keeps appointments in it.
type bench struct {
	t          *testing.T
	tenants    *tenant.Tenants
	org        id.Org
	vault      *vault.Vault
	clock      *clocktest.FakeClock
	report     *connection.Reporter
	keeper     *appointment.Keeper
	connection id.Connection
}

func newBench(t *testing.T, address, secret string, g *egress.Guard) *bench {
	t.Helper()
	b := &bench{t: t, clock: clocktest.NewFakeClock(tenanttest.Now)}
	b.tenants, b.org, _ = tenanttest.New(t)
	var err error
	b.vault, err = vault.New(vault.NewKey())
	require.NoError(t, err)
	b.report = &connection.Reporter{Tenants: b.tenants, Clock: b.clock, Log: slog.New(slog.DiscardHandler)}
	b.keeper = appointment.New(appointment.Options{
		Tenants: b.tenants, Opener: connection.NewOpener(b.tenants, b.vault, b.clock), Report: b.report, Egress: g,
		Tokens: connection.NewTokens(b.tenants, b.vault, g, b.clock), Clock: b.clock, Rests: dispatch.NewRests(),
	})
	offer, ok := connection.FindOffer(connection.Calendar, connection.CalDAV)
	require.True(t, ok)
	config := connection.Config{"baseUrl": address}
	require.NoError(t, offer.Check(config))
	c := connection.New(offer, "Work", config, connection.Secret(secret), tenanttest.Now)
	c.State, c.TimeoutMs, b.connection = connection.Active, 5000, c.ID
	b.inTx(func(ctx context.Context, tx *tenant.Tx) error {
		return connection.Create(ctx, tx, b.vault, c, connection.Secret(secret), b.who())
	})
	return b
}

// fake is a bench with a server that can be made to fail.
func fake(t *testing.T) (*bench, *caldavtest.Server) {
	t.Helper()
	s := caldavtest.Start()
	t.Cleanup(s.Close)
	return newBench(t, s.URL, caldavtest.Secret, s.Guard()), s
}

func (b *bench) who() activity.Actor { return activity.Actor{By: "test", At: b.clock.Now().UTC()} }

func (b *bench) inTx(fn func(context.Context, *tenant.Tx) error) {
	b.t.Helper()
	require.NoError(b.t, b.tenants.InTx(context.Background(), b.org, fn))
}

// plan offers every hour of every day.
func (b *bench) plan(calendar string) slot.Plan {
	p := slot.Plan{Timezone: "UTC", StepMinutes: 60, HorizonDays: 30, Capacity: 1, Kinds: []slot.Kind{{Key: "tour", Name: "A tour", DurationMinutes: 60}}}
	for _, day := range slot.Weekdays() {
		p.Hours = append(p.Hours, slot.Hours{Day: day, From: "00:00", To: "24:00"})
	}
	if calendar != "" {
		p.Calendar = &slot.Calendar{Connection: b.connection, ID: calendar, Unread: slot.Offer}
	}
	return p
}

// schedule is one whose calendar, if it has one, was read.
func (b *bench) schedule(p slot.Plan) slot.Schedule {
	b.t.Helper()
	s := b.unread(p)
	if p.Calendar != nil {
		b.read()
	}
	return s
}

// unread is a schedule whose calendar nobody has read.
func (b *bench) unread(p slot.Plan) (s slot.Schedule) {
	b.t.Helper()
	b.inTx(func(ctx context.Context, tx *tenant.Tx) (err error) {
		s, err = slot.Create(ctx, tx, "Desk", p, b.who())
		return err
	})
	return s
}

func (b *bench) change(s slot.Schedule, p slot.Plan) {
	b.t.Helper()
	b.inTx(func(ctx context.Context, tx *tenant.Tx) error {
		s, err := slot.Lock(ctx, tx, s.ID)
		if err != nil {
			return err
		}
		return s.Change(ctx, tx, s.Name, p, b.who())
	})
}

// hour is an hour of tomorrow.
func hour(n int) time.Time {
	return tenanttest.Now.UTC().Truncate(24*time.Hour).AddDate(0, 0, 1).Add(time.Duration(n) * time.Hour)
}

func form(t time.Time) string { return t.UTC().Format("20060102T150405Z") }

func (b *bench) tryBook(s slot.Schedule, at time.Time) (i inbox.Item, err error) {
	name, email := "Kim Lee", "kim@example.com"
	err = b.tenants.InTx(context.Background(), b.org, func(ctx context.Context, tx *tenant.Tx) (err error) {
		i, err = inbox.Enter(ctx, tx, inbox.Item{Contact: &inbox.Contact{Name: &name, Email: &email}, Language: "en"}, &inbox.Wanted{Schedule: s.ID, StartsAt: at}, b.who())
		return err
	})
	return i, err
}

func (b *bench) book(s slot.Schedule, at time.Time) inbox.Item {
	b.t.Helper()
	i, err := b.tryBook(s, at)
	require.NoError(b.t, err)
	return i
}

func (b *bench) rebook(i inbox.Item, c inbox.BookingChange) {
	b.t.Helper()
	b.inTx(func(ctx context.Context, tx *tenant.Tx) error {
		i, err := inbox.Lock(ctx, tx, i.ID)
		if err != nil {
			return err
		}
		_, err = inbox.ChangeBooking(ctx, tx, i, c, b.who())
		return err
	})
}

func (b *bench) booking(i inbox.Item) inbox.Booking {
	b.t.Helper()
	got, err := inbox.Get(context.Background(), b.tenants, b.org, i.ID)
	require.NoError(b.t, err)
	return *got.Booking
}

// hours are those of tomorrow at which a schedule has times free.
func (b *bench) hours(s slot.Schedule, except ...uuid.UUID) (all []int) {
	b.t.Helper()
	s, err := slot.Get(context.Background(), b.tenants, b.org, s.ID)
	require.NoError(b.t, err)
	var own uuid.UUID
	if len(except) > 0 {
		own = except[0]
	}
	found, err := s.Times(context.Background(), b.tenants, b.org, s.Plan.Kinds[0], b.clock.Now(), hour(0), hour(24), own, 100)
	require.NoError(b.t, err)
	for _, f := range found {
		all = append(all, f.StartsAt.UTC().Hour())
	}
	return all
}

// jobs are those of a kind that have not ended, oldest first.
func (b *bench) jobs(k job.Kind) (all []job.Job) {
	b.t.Helper()
	db, err := b.tenants.Shard(context.Background(), "a")
	require.NoError(b.t, err)
	rows, err := db.Query(context.Background(), `SELECT id, input, progress FROM job WHERE kind = $1 AND finished_at IS NULL ORDER BY id`, k)
	require.NoError(b.t, err)
	all, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (job.Job, error) {
		j := job.Job{Org: b.org, Kind: k, Counts: map[string]int64{}}
		var input, progress []byte
		err := row.Scan(&j.ID, &input, &progress)
		j.Input, j.Progress = json.RawMessage(input), json.RawMessage(progress)
		return j, err
	})
	require.NoError(b.t, err)
	return all
}

// step makes the next step of a job, and keeps how far it got.
func (b *bench) step(j *job.Job) (wait time.Duration) {
	b.t.Helper()
	step, err := b.keeper.Background().Works[j.Kind].Prepare(context.Background(), *j)
	require.NoError(b.t, err)
	b.commit(step, j, &wait)
	return wait
}

func (b *bench) commit(step job.Step, j *job.Job, wait *time.Duration) {
	b.t.Helper()
	b.inTx(func(ctx context.Context, tx *tenant.Tx) (err error) {
		if *wait, err = step(ctx, tx, j, b.clock.Now().UTC()); err != nil {
			return err
		}
		if j.State.Ended() {
			_, err = tx.Exec(ctx, `DELETE FROM job WHERE org_id = $1 AND id = $2`, tx.Org, j.ID)
			return err
		}
		_, err = tx.Exec(ctx, `UPDATE job SET progress = $3 WHERE org_id = $1 AND id = $2`, tx.Org, j.ID, j.Progress)
		return err
	})
}

// write makes all jobs that write, until they wait.
func (b *bench) write() {
	b.t.Helper()
	b.clock.Step(time.Second)
	for range 20 {
		waiting := true
		for _, j := range b.jobs(job.CalendarWrite) {
			if wait := b.step(&j); wait == 0 {
				waiting = false
			}
		}
		if waiting {
			return
		}
	}
	require.Fail(b.t, "the jobs do not end")
}

// read reads every calendar once, and answers how long it is waited for the next time.
func (b *bench) read() (wait time.Duration) {
	b.t.Helper()
	b.clock.Step(32 * time.Second)
	for _, j := range b.jobs(job.CalendarRead) {
		wait = b.step(&j)
	}
	return wait
}

// leaving is the job that takes the event of a booking out of a calendar, once the schedule has left that.
func (b *bench) leaving(i inbox.Item) job.Job {
	b.t.Helper()
	for _, j := range b.jobs(job.CalendarWrite) {
		var o slot.Order
		require.NoError(b.t, json.Unmarshal(j.Input, &o))
		if !o.Schedule.IsZero() {
			b.step(&j)
		}
	}
	for _, j := range slices.Backward(b.jobs(job.CalendarWrite)) {
		var o slot.Order
		require.NoError(b.t, json.Unmarshal(j.Input, &o))
		if o.Reserver == uuid.UUID(i.ID) {
			return j
		}
	}
	require.Fail(b.t, "there is none")
	return job.Job{}
}
