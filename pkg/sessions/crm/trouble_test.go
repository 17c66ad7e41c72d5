package crm_test

import (
	"context"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/vault"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/eventing/event/eventtest"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/sessions/exchange"
	"visavis.dev/pkg/sessions/inbox"
	"visavis.dev/pkg/store/tenant"
)

func status(code int, retryAfter string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if retryAfter != "" {
			w.Header().Set("Retry-After", retryAfter)
		}
		w.WriteHeader(code)
	}
}

// A process that ends after the service was asked, and before that is committed, writes nobody twice.
func TestACrashBeforeTheCheckpoint(t *testing.T) {
	b := newBench(t, nil)
	b.lead("kim@example.com")
	b.lead("KIM@example.com")
	j := b.begin(exchange.Order{})
	_, err := b.work(j.Kind).Prepare(t.Context(), j)
	require.NoError(t, err)
	_, err = b.step(&j)
	require.NoError(t, err)
	require.Equal(t, job.Succeeded, j.State)
	b.one()
	require.EqualValues(t, 2, j.Counts["written"])
}

func TestAServiceThatAsksForPatience(t *testing.T) {
	b := newBench(t, nil)
	b.lead("kim@example.com")
	b.service.Behave(status(http.StatusTooManyRequests, "11"))
	j := b.begin(exchange.Order{})
	wait, err := b.step(&j)
	require.NoError(t, err)
	require.Equal(t, 11*time.Second, wait)
	require.False(t, j.State.Ended())
	_, err = b.step(&j)
	require.NoError(t, err)
	require.Equal(t, map[string]int64{"written": 1}, j.Counts)

	b.lead("lee@example.com")
	j = b.begin(exchange.Order{})
	b.service.Behave(slices.Repeat([]http.HandlerFunc{status(http.StatusTooManyRequests, "")}, 400)...)
	require.GreaterOrEqual(t, b.patience(&j), 24*time.Hour)
	require.Equal(t, "rate_limited", j.ErrorCode)
}

// What was done before the service asked for patience stays done, and counts once.
func TestPatienceWithinABatch(t *testing.T) {
	b := newBench(t, map[string]any{"properties": map[string]any{"state": "hs_lead_status"}})
	leads := []inbox.Item{b.lead("kim@example.com"), b.lead("lee@example.com"), b.lead("sam@example.com")}
	b.sync(exchange.Order{})
	b.forget(leads[0].ID)
	b.change(leads[1].ID, func(i *inbox.Item) { i.State = inbox.Open })
	b.change(leads[2].ID, func(i *inbox.Item) { i.State = inbox.Open })
	b.lead("invalid@example.com")
	b.service.Behave(nil, nil, nil, nil, status(http.StatusBadRequest, ""), nil, status(http.StatusConflict, "")) // so that each is changed alone
	j := b.begin(exchange.Order{})
	wait, err := b.step(&j)
	require.NoError(t, err)
	require.Equal(t, time.Second, wait)
	require.Equal(t, map[string]int64{"unlinked": 1, "written": 1}, j.Counts)
	before := len(b.service.Requests())
	_, err = b.step(&j)
	require.NoError(t, err)
	require.Equal(t, map[string]int64{"unlinked": 1, "written": 2, "refused": 1}, j.Counts)
	require.Len(t, b.service.Requests(), before+5, "two look what is there, two make one, of which one asks for the address alone, and one changes another")
}

func TestAServiceThatFails(t *testing.T) {
	b := newBench(t, nil)
	b.lead("kim@example.com")
	j := b.begin(exchange.Order{})
	b.service.Behave(status(http.StatusBadGateway, ""))
	wait, err := b.step(&j)
	require.NoError(t, err)
	require.Equal(t, time.Second, wait)
	b.service.Behave(slices.Repeat([]http.HandlerFunc{status(http.StatusBadGateway, "")}, 400)...)
	require.GreaterOrEqual(t, b.patience(&j), 24*time.Hour)
	require.Equal(t, "unavailable", j.ErrorCode)
}

func TestASecretThatIsRefused(t *testing.T) {
	b := newBench(t, nil)
	b.lead("kim@example.com")
	b.service.Token = "another"
	for range 3 {
		j := b.begin(exchange.Order{})
		_, err := b.step(&j)
		require.NoError(t, err)
		require.Equal(t, job.Failed, j.State)
		require.Equal(t, "refused", j.ErrorCode)
	}
	b.syncer.Report.Flush(t.Context())
	require.Len(t, eventtest.Log(t, b.tenants, b.org, event.ConnectionFailed), 1)
}

// Who is refused is left out, and the others are written.
func TestAnAddressThatIsRefused(t *testing.T) {
	b := newBench(t, nil)
	b.lead("kim@example.com")
	b.lead("invalid@example.com")
	b.lead("lee@example.com")
	require.Equal(t, map[string]int64{"written": 2, "refused": 1}, b.sync(exchange.Order{}))
	require.Equal(t, map[string]int64{"unchanged": 2, "refused": 1}, b.sync(exchange.Order{}))
	require.Len(t, b.service.Contacts(), 2)
}

// What was written into another account, while the connection got another secret, is not kept.
func TestAConnectionThatChangesMeanwhile(t *testing.T) {
	for name, change := range map[string]func(ctx context.Context, tx *tenant.Tx, b *bench, c connection.Connection) error{
		"changed": func(ctx context.Context, tx *tenant.Tx, b *bench, c connection.Connection) error {
			secret := connection.Secret("pat-good")
			_, err := connection.Configure(ctx, tx, b.vault, c, connection.Change{Secret: &secret}, b.who())
			return err
		},
		"rotated": func(ctx context.Context, tx *tenant.Tx, b *bench, c connection.Connection) error {
			_, err := connection.Rotate(ctx, tx, b.vault, c, "pat-good", 0, b.who())
			return err
		},
		"deleted": func(ctx context.Context, tx *tenant.Tx, b *bench, c connection.Connection) error {
			return connection.Delete(ctx, tx, c.ID, id.Connection{}, b.who())
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, nil)
			first, lead := b.lead("lee@example.com"), b.lead("kim@example.com")
			_, err := b.step(&b.queued()[0])
			require.NoError(t, err)
			require.Contains(t, b.links(first.ID), first.ID)
			commit := b.prepare(&b.queued()[1])
			b.clock.Step(time.Second)
			b.inTx(func(ctx context.Context, tx *tenant.Tx) error {
				c, err := connection.Lock(ctx, tx, b.connection)
				if err != nil {
					return err
				}
				return change(ctx, tx, b, c)
			})
			require.Equal(t, time.Second, commit())
			links := b.links(first.ID, lead.ID)
			require.NotContains(t, links, lead.ID)
			require.Equal(t, name != "deleted", len(links) == 1, "the account is asked for who it is")
		})
	}
}

// Who is forgotten while they are written is let go by a job of its own, and what changes is
// written again.
func TestAnItemThatChangesMeanwhile(t *testing.T) {
	b := newBench(t, nil)
	gone, changed := b.lead("kim@example.com"), b.lead("lee@example.com")
	j := b.begin(exchange.Order{})
	commit := b.prepare(&j)
	b.forget(gone.ID)
	b.change(changed.ID, func(i *inbox.Item) {
		i.Tags, i.Contact = []string{"again"}, &inbox.Contact{Name: new("Lee Park"), Email: i.Contact.Email}
	})
	for _, its := range b.queued() { // whose jobs come first
		_, err := b.step(&its)
		require.NoError(t, err)
	}
	before := len(b.queued())
	commit()
	queued := b.queued()
	require.Len(t, queued, before+2)
	for _, again := range queued[before:] {
		_, err := b.step(&again)
		require.NoError(t, err)
	}
	links := b.links(gone.ID, changed.ID)
	require.NotContains(t, links, gone.ID)
	require.EqualValues(t, 2, links[changed.ID].Edition)
}

// Addresses that are refused end no sync and fail no connection, unless nothing else is there.
func TestAddressesThatAreRefused(t *testing.T) {
	b := newBench(t, nil)
	b.lead("invalid1@example.com")
	b.lead("invalid2@example.com")
	j := b.begin(exchange.Order{})
	_, err := b.step(&j)
	require.NoError(t, err)
	require.Equal(t, job.Failed, j.State)
	require.Equal(t, "rejected", j.ErrorCode)
	require.Equal(t, map[string]int64{"refused": 2}, j.Counts)
	b.lead("kim@example.com")
	require.Equal(t, map[string]int64{"written": 1, "refused": 2}, b.sync(exchange.Order{}))
	require.Equal(t, map[string]int64{"unchanged": 1, "refused": 2}, b.sync(exchange.Order{}))
	for _, its := range b.queued() {
		_, err := b.step(&its)
		require.NoError(t, err)
	}
	b.syncer.Report.Flush(t.Context())
	require.Empty(t, eventtest.Log(t, b.tenants, b.org, event.ConnectionFailed))
}

// patience makes steps of a job until it ends, and answers how long they waited.
func (b *bench) patience(j *job.Job) (all time.Duration) {
	b.t.Helper()
	for !j.State.Ended() {
		wait, err := b.step(j)
		require.NoError(b.t, err)
		require.LessOrEqual(b.t, wait, 5*time.Minute)
		b.clock.Step(wait)
		all += wait
	}
	require.Equal(b.t, job.Failed, j.State)
	return all
}

// Faults of ours end no job: what is to be written waits.
func TestFaultsOfOurs(t *testing.T) {
	b := newBench(t, nil)
	b.lead("kim@example.com")
	j := b.begin(exchange.Order{})
	for _, k := range []job.Kind{job.ConnectionSync, job.ConnectionRead, job.CRMSend} {
		require.Equal(t, job.Endless, b.work(k).Failures)
	}
	good := b.syncer.Opener
	lost, err := vault.New(vault.NewKey())
	require.NoError(t, err)
	b.syncer.Opener = connection.NewOpener(b.tenants, lost, b.clock)
	for range 12 {
		_, err := b.step(&j)
		require.Error(t, err)
		require.NotErrorAs(t, err, new(*job.Refusal))
	}
	b.syncer.Opener = good
	_, err = b.step(&j)
	require.NoError(t, err)
	require.Equal(t, map[string]int64{"written": 1}, j.Counts)
}
