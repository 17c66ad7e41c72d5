package crm_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	clocktest "k8s.io/utils/clock/testing"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/vault"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/personas/dispatch"
	"visavis.dev/pkg/provider/hubspot/hubspottest"
	"visavis.dev/pkg/sessions/crm"
	"visavis.dev/pkg/sessions/exchange"
	"visavis.dev/pkg/sessions/exchange/exchangetest"
	"visavis.dev/pkg/sessions/inbox"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/database/databasetest"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/store/tenant/tenanttest"
)

func TestMain(m *testing.M) { databasetest.Main(m) }

// bench is an organization with a HubSpot, and what writes there.
type bench struct {
	t          *testing.T
	tenants    *tenant.Tenants
	sent       *tenanttest.Statements
	org        id.Org
	service    *hubspottest.Server
	vault      *vault.Vault
	clock      *clocktest.FakeClock
	syncer     *crm.Syncer
	connection id.Connection
}

func newBench(t *testing.T, config map[string]any) *bench {
	t.Helper()
	b := &bench{t: t, service: hubspottest.Start(), clock: clocktest.NewFakeClock(tenanttest.Now)}
	t.Cleanup(b.service.Close)
	b.tenants, b.sent, b.org, _ = tenanttest.NewTraced(t)
	var err error
	b.vault, err = vault.New(vault.NewKey())
	require.NoError(t, err)
	b.syncer = crm.New(crm.Options{
		Tenants: b.tenants, Opener: connection.NewOpener(b.tenants, b.vault, b.clock), Egress: b.service.Guard(), Clock: b.clock,
		Report: &connection.Reporter{Tenants: b.tenants, Clock: b.clock, Log: slog.New(slog.DiscardHandler)},
	})
	offer, ok := connection.FindOffer(connection.CRM, connection.HubSpot)
	require.True(t, ok)
	full := connection.Config{"baseUrl": b.service.URL}
	maps.Copy(full, config)
	require.NoError(t, offer.Check(full))
	c := connection.New(offer, "CRM", full, "pat-good", tenanttest.Now)
	c.State, c.TimeoutMs, b.connection = connection.Active, 5000, c.ID
	b.inTx(func(ctx context.Context, tx *tenant.Tx) error {
		return connection.Create(ctx, tx, b.vault, c, "pat-good", b.who())
	})
	return b
}

func (b *bench) who() activity.Actor { return activity.Actor{By: "test", At: b.clock.Now().UTC()} }

func (b *bench) inTx(fn func(context.Context, *tenant.Tx) error) {
	b.t.Helper()
	require.NoError(b.t, b.tenants.InTx(context.Background(), b.org, fn))
}

// lead enters a lead.
func (b *bench) lead(email string, changes ...func(*inbox.Item)) (i inbox.Item) {
	b.t.Helper()
	b.clock.Step(time.Second)
	name := "Kim van Lee"
	i.Contact, i.Language = &inbox.Contact{Name: &name, Email: &email}, "en"
	for _, change := range changes {
		change(&i)
	}
	b.inTx(func(ctx context.Context, tx *tenant.Tx) (err error) {
		i, err = inbox.Enter(ctx, tx, i, nil, b.who())
		return err
	})
	return i
}

// change changes a lead; a contact alone is no change by the team, so that takes another one with it.
func (b *bench) change(which id.InboxItem, change func(*inbox.Item)) {
	b.t.Helper()
	b.inTx(func(ctx context.Context, tx *tenant.Tx) error {
		return exchangetest.Change(ctx, tx, which, change, b.who())
	})
}

func (b *bench) forget(which id.InboxItem) {
	b.t.Helper()
	b.inTx(func(ctx context.Context, tx *tenant.Tx) error { return exchangetest.Forget(ctx, tx, which, b.who()) })
}

// begin queues a sync.
func (b *bench) begin(o exchange.Order) (j job.Job) {
	b.t.Helper()
	o.Connection = b.connection
	b.inTx(func(ctx context.Context, tx *tenant.Tx) (err error) {
		j, err = exchange.Begin(ctx, tx, o, b.who())
		return err
	})
	return j
}

// work is what workers do for jobs of a kind.
func (b *bench) work(k job.Kind) job.Work {
	passing := exchange.New(dispatch.New(b.syncer.Opener, b.clock, crm.Patience), map[connection.Kind]exchange.Pass{connection.CRM: b.syncer.Pass}).Background()
	if work, ok := passing.Works[k]; ok {
		return work
	}
	return b.syncer.Background().Works[k]
}

// step makes the next step of a job.
func (b *bench) step(j *job.Job) (time.Duration, error) {
	b.t.Helper()
	step, err := b.work(j.Kind).Prepare(context.Background(), *j)
	if err != nil {
		return 0, err
	}
	var wait time.Duration
	b.inTx(func(ctx context.Context, tx *tenant.Tx) (err error) {
		wait, err = step(ctx, tx, j, b.clock.Now().UTC())
		return err
	})
	return wait, nil
}

// sync makes a whole sync, and answers what it counted.
func (b *bench) sync(o exchange.Order) map[string]int64 {
	b.t.Helper()
	j := b.begin(o)
	for range 20 {
		_, err := b.step(&j)
		require.NoError(b.t, err)
		if j.State.Ended() {
			return j.Counts
		}
	}
	require.Fail(b.t, "the sync does not end")
	return nil
}

// queued are the jobs that send what changed, oldest first.
func (b *bench) queued() []job.Job { return b.jobs(job.CRMSend) }

// jobs are those of a kind, oldest first.
func (b *bench) jobs(k job.Kind) (all []job.Job) {
	b.t.Helper()
	db, err := b.tenants.Shard(context.Background(), "a")
	require.NoError(b.t, err)
	rows, err := db.Query(context.Background(), `SELECT id, input FROM job WHERE kind = $1 ORDER BY id`, k)
	require.NoError(b.t, err)
	all, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (job.Job, error) {
		j := job.Job{Org: b.org, Kind: k, Progress: json.RawMessage("{}")}
		return j, row.Scan(&j.ID, &j.Input)
	})
	require.NoError(b.t, err)
	return all
}

// drop takes a job out of the queue that is done.
func (b *bench) drop(which id.Job) {
	b.t.Helper()
	db, err := b.tenants.Shard(context.Background(), "a")
	require.NoError(b.t, err)
	_, err = db.Exec(context.Background(), `DELETE FROM job WHERE id = $1`, which)
	require.NoError(b.t, err)
}

// one is the only contact.
func (b *bench) one() (string, map[string]string) {
	b.t.Helper()
	all := b.service.Contacts()
	require.Len(b.t, all, 1)
	for which, c := range all {
		return which, c
	}
	return "", nil
}

// prepare asks the service for a job, and answers what is left to commit.
func (b *bench) prepare(j *job.Job) (commit func() time.Duration) {
	b.t.Helper()
	step, err := b.work(j.Kind).Prepare(context.Background(), *j)
	require.NoError(b.t, err)
	return func() (wait time.Duration) {
		b.inTx(func(ctx context.Context, tx *tenant.Tx) (err error) {
			wait, err = step(ctx, tx, j, b.clock.Now().UTC())
			return err
		})
		return wait
	}
}

func (b *bench) links(which ...id.InboxItem) map[id.InboxItem]connection.Link {
	b.t.Helper()
	links, err := connection.Links(context.Background(), b.tenants, b.org, b.connection, which)
	require.NoError(b.t, err)
	return links
}

// connected is the connection as it is now.
func (b *bench) connected() connection.Connection {
	b.t.Helper()
	c, err := connection.Get(context.Background(), b.tenants, b.org, b.connection)
	require.NoError(b.t, err)
	return c
}

// rotate gives the connection another secret.
func (b *bench) rotate(secret connection.Secret) {
	b.t.Helper()
	b.clock.Step(2 * time.Second) // an opened connection is believed for a moment
	b.inTx(func(ctx context.Context, tx *tenant.Tx) error {
		c, err := connection.Lock(ctx, tx, b.connection)
		if err != nil {
			return err
		}
		_, err = connection.Rotate(ctx, tx, b.vault, c, secret, 0, b.who())
		return err
	})
	b.clock.Step(2 * time.Second)
}

// configure changes the connection.
func (b *bench) configure(change connection.Change) {
	b.t.Helper()
	b.clock.Step(2 * time.Second)
	b.inTx(func(ctx context.Context, tx *tenant.Tx) error {
		c, err := connection.Lock(ctx, tx, b.connection)
		if err != nil {
			return err
		}
		_, err = connection.Configure(ctx, tx, b.vault, c, change, b.who())
		return err
	})
	b.clock.Step(2 * time.Second)
}

// writes are how many requests wrote something.
func (b *bench) writes() (n int) {
	for _, r := range b.service.Requests() {
		if r == "POST /batch/upsert" || r == "POST /batch/update" {
			n++
		}
	}
	return n
}
