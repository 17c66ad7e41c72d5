package crm_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	clocktest "k8s.io/utils/clock/testing"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/vault"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/eventing/event/eventtest"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/provider/hubspot/hubspottest"
	"visavis.dev/pkg/sessions/crm"
	"visavis.dev/pkg/sessions/inbox"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/store/tenant/tenanttest"
)

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
	b.syncer = &crm.Syncer{
		Tenants: b.tenants, Opener: connection.NewOpener(b.tenants, b.vault, b.clock), Egress: b.service.Guard(), Clock: b.clock,
		Report: &connection.Reporter{Tenants: b.tenants, Clock: b.clock, Log: slog.New(slog.DiscardHandler)},
	}
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
		before, err := inbox.Lock(ctx, tx, which)
		if err != nil {
			return err
		}
		after := before
		change(&after)
		_, err = inbox.Change(ctx, tx, before, after, b.who())
		return err
	})
}

func (b *bench) forget(which id.InboxItem) {
	b.t.Helper()
	b.inTx(func(ctx context.Context, tx *tenant.Tx) error {
		i, err := inbox.Lock(ctx, tx, which)
		if err != nil {
			return err
		}
		return inbox.Forget(ctx, tx, []inbox.Item{i}, inbox.Removal{Trigger: inbox.ByTeam, At: b.clock.Now().UTC()})
	})
}

// begin queues a sync.
func (b *bench) begin(o crm.Order) (j job.Job) {
	b.t.Helper()
	o.Connection = b.connection
	b.inTx(func(ctx context.Context, tx *tenant.Tx) (err error) {
		j, err = crm.Begin(ctx, tx, o, b.who())
		return err
	})
	return j
}

// step makes the next step of a job.
func (b *bench) step(j *job.Job) (time.Duration, error) {
	b.t.Helper()
	step, err := b.syncer.Background().Works[j.Kind].Prepare(context.Background(), *j)
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
func (b *bench) sync(o crm.Order) map[string]int64 {
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
func (b *bench) queued() (all []job.Job) {
	b.t.Helper()
	db, err := b.tenants.Shard(context.Background(), "a")
	require.NoError(b.t, err)
	rows, err := db.Query(context.Background(), `SELECT id, input FROM job WHERE kind = 'crm_send' ORDER BY id`)
	require.NoError(b.t, err)
	all, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (job.Job, error) {
		j := job.Job{Org: b.org, Kind: job.CRMSend, Progress: json.RawMessage("{}")}
		return j, row.Scan(&j.ID, &j.Input)
	})
	require.NoError(b.t, err)
	return all
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

func status(code int, retryAfter string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if retryAfter != "" {
			w.Header().Set("Retry-After", retryAfter)
		}
		w.WriteHeader(code)
	}
}

func TestASyncWritesEveryLeadOnce(t *testing.T) {
	b := newBench(t, nil)
	var leads []inbox.Item
	for n := range 130 {
		leads = append(leads, b.lead(fmt.Sprintf("Kim%d@Example.com", n)))
	}
	b.lead("", func(i *inbox.Item) { i.Contact.Email = nil })
	b.lead("no@example.com", func(i *inbox.Item) { i.Contact.Consent = &inbox.Consent{} })
	had := b.service.Put("kim7@example.com")

	require.Equal(t, map[string]int64{"written": 130, "skipped": 2}, b.sync(crm.Order{DryRun: true}))
	require.Len(t, b.service.Contacts(), 1, "nothing was done")
	require.Empty(t, b.service.Requests())

	require.Equal(t, map[string]int64{"written": 130, "skipped": 2}, b.sync(crm.Order{}))
	contacts := b.service.Contacts()
	require.Len(t, contacts, 130)
	require.Equal(t, map[string]string{"email": "kim7@example.com", "firstname": "Kim", "lastname": "van Lee"}, contacts[had])
	require.Len(t, b.service.Requests(), 2)

	require.Equal(t, map[string]int64{"unchanged": 130, "skipped": 2}, b.sync(crm.Order{}))
	require.Len(t, b.service.Requests(), 2)
	b.change(leads[3].ID, func(i *inbox.Item) { i.State = inbox.Open })
	require.Equal(t, map[string]int64{"written": 1, "unchanged": 129, "skipped": 2}, b.sync(crm.Order{}))
	require.Equal(t, map[string]int64{"unchanged": 30, "skipped": 2}, b.sync(crm.Order{Since: leads[100].CreatedAt}))
	require.Len(t, b.service.Contacts(), 130)
}

// A process that ends after the service was asked, and before that is committed, writes nobody twice.
func TestACrashBeforeTheCheckpoint(t *testing.T) {
	b := newBench(t, nil)
	b.lead("kim@example.com")
	b.lead("KIM@example.com")
	j := b.begin(crm.Order{})
	_, err := b.syncer.Background().Works[j.Kind].Prepare(t.Context(), j)
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
	j := b.begin(crm.Order{})
	wait, err := b.step(&j)
	require.NoError(t, err)
	require.Equal(t, 11*time.Second, wait)
	require.False(t, j.State.Ended())
	_, err = b.step(&j)
	require.NoError(t, err)
	require.Equal(t, map[string]int64{"written": 1}, j.Counts)

	b.lead("lee@example.com")
	j = b.begin(crm.Order{})
	b.service.Behave(slices.Repeat([]http.HandlerFunc{status(http.StatusTooManyRequests, "")}, 40)...)
	for range 30 {
		wait, err = b.step(&j)
		require.NoError(t, err)
		require.Equal(t, time.Second, wait)
	}
	_, err = b.step(&j)
	var refused *job.Refusal
	require.ErrorAs(t, err, &refused)
	require.Equal(t, "rate_limited", refused.Code)
}

// What was done before the service asked for patience stays done, and counts once.
func TestPatienceWithinABatch(t *testing.T) {
	b := newBench(t, nil)
	leads := []inbox.Item{b.lead("kim@example.com"), b.lead("lee@example.com"), b.lead("sam@example.com")}
	b.sync(crm.Order{})
	b.forget(leads[0].ID)
	b.change(leads[1].ID, func(i *inbox.Item) { i.State = inbox.Open })
	b.change(leads[2].ID, func(i *inbox.Item) { i.State = inbox.Open })
	b.lead("invalid@example.com") // so that each is written alone
	b.service.Behave(nil, nil, status(http.StatusConflict, ""))
	j := b.begin(crm.Order{})
	wait, err := b.step(&j)
	require.NoError(t, err)
	require.Equal(t, time.Second, wait)
	require.Equal(t, map[string]int64{"unlinked": 1, "written": 1}, j.Counts)
	before := len(b.service.Requests())
	_, err = b.step(&j)
	require.NoError(t, err)
	require.Equal(t, map[string]int64{"unlinked": 1, "written": 2, "refused": 1}, j.Counts)
	require.Len(t, b.service.Requests(), before+3)
}

func TestAServiceThatFails(t *testing.T) {
	b := newBench(t, nil)
	b.lead("kim@example.com")
	j := b.begin(crm.Order{})
	b.service.Behave(status(http.StatusBadGateway, ""))
	wait, err := b.step(&j)
	require.NoError(t, err)
	require.Equal(t, time.Second, wait)
	b.service.Behave(slices.Repeat([]http.HandlerFunc{status(http.StatusBadGateway, "")}, 30)...)
	for range 29 {
		wait, err = b.step(&j)
		require.NoError(t, err)
	}
	require.Equal(t, 5*time.Minute, wait)
	_, err = b.step(&j)
	var refused *job.Refusal
	require.ErrorAs(t, err, &refused)
	require.Equal(t, "unavailable", refused.Code)
	b.service.Token = "another"
	for range 3 {
		_, err = b.step(&j)
		require.ErrorAs(t, err, &refused)
		require.Equal(t, "refused", refused.Code)
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
	require.Equal(t, map[string]int64{"written": 2, "refused": 1}, b.sync(crm.Order{}))
	require.Equal(t, map[string]int64{"unchanged": 2, "refused": 1}, b.sync(crm.Order{}))
	require.Len(t, b.service.Contacts(), 2)
}

func TestFieldsAreMapped(t *testing.T) {
	b := newBench(t, map[string]any{"properties": map[string]any{"name": "firstname", "leadBand": "visavis_band"}})
	b.lead("kim@example.com")
	b.sync(crm.Order{})
	_, c := b.one()
	require.Equal(t, map[string]string{"email": "kim@example.com", "firstname": "Kim van Lee", "visavis_band": "cold"}, c)
}

// What is left or changed is written without being asked for, once for each change.
func TestWhatChangesIsSent(t *testing.T) {
	b := newBench(t, nil)
	lead := b.lead("kim@example.com")
	queued := b.queued()
	require.Len(t, queued, 1)
	for range 2 { // the second finds it done
		_, err := b.step(&queued[0])
		require.NoError(t, err)
	}
	b.one()
	require.Equal(t, []string{"POST /batch/upsert"}, b.service.Requests())
	b.change(lead.ID, func(i *inbox.Item) { i.State = inbox.Open })
	require.Len(t, b.queued(), 2)
	_, err := b.step(&b.queued()[1])
	require.NoError(t, err)
	require.Len(t, b.service.Requests(), 2)
}

// A visitor who is forgotten is written no more; the contact is the organization's.
func TestForgottenVisitors(t *testing.T) {
	b := newBench(t, nil)
	leads := []inbox.Item{b.lead("lee@example.com"), b.lead("kim@example.com")}
	b.sync(crm.Order{})
	b.forget(leads[0].ID)
	b.forget(leads[1].ID)
	queued := b.queued()
	_, err := b.step(&queued[len(queued)-1])
	require.NoError(t, err)
	require.Equal(t, map[string]int64{"unlinked": 1, "skipped": 1}, b.sync(crm.Order{DryRun: true}))
	require.Equal(t, map[string]int64{"unlinked": 1, "skipped": 1}, b.sync(crm.Order{}))
	require.Equal(t, map[string]int64{"skipped": 2}, b.sync(crm.Order{}))
	require.Len(t, b.service.Contacts(), 2)
	require.Len(t, b.service.Requests(), 1)
}

// A contact that is gone there is made anew.
func TestAContactThatWasDeleted(t *testing.T) {
	b := newBench(t, nil)
	lead := b.lead("kim@example.com")
	b.sync(crm.Order{})
	which, _ := b.one()
	b.service.Remove(which)
	b.change(lead.ID, func(i *inbox.Item) { i.State = inbox.Open })
	require.Equal(t, map[string]int64{"written": 1}, b.sync(crm.Order{}))
	b.one()
}

func TestOnlyCRMsAreSynced(t *testing.T) {
	b := newBench(t, nil)
	disable := false
	b.inTx(func(ctx context.Context, tx *tenant.Tx) error {
		c, err := connection.Lock(ctx, tx, b.connection)
		if err != nil {
			return err
		}
		_, err = connection.Configure(ctx, tx, b.vault, c, connection.Change{Enabled: &disable}, b.who())
		return err
	})
	err := b.tenants.InTx(t.Context(), b.org, func(ctx context.Context, tx *tenant.Tx) error {
		_, err := crm.Begin(ctx, tx, crm.Order{Connection: b.connection}, b.who())
		return err
	})
	require.True(t, errdefs.IsConflict(err, connection.Noun, "disabled"), "%v", err)
	b.lead("kim@example.com")
	require.Empty(t, b.queued())
}

// prepare asks the service for a job, and answers what is left to commit.
func (b *bench) prepare(j *job.Job) (commit func() time.Duration) {
	b.t.Helper()
	step, err := b.syncer.Background().Works[j.Kind].Prepare(context.Background(), *j)
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
			return connection.Delete(ctx, tx, c.ID, b.who())
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
			require.Empty(t, b.links(first.ID, lead.ID))
		})
	}
}

// Who is forgotten while they are written is let go by a job of its own, and what changes is
// written again.
func TestAnItemThatChangesMeanwhile(t *testing.T) {
	b := newBench(t, nil)
	gone, changed := b.lead("kim@example.com"), b.lead("lee@example.com")
	j := b.begin(crm.Order{})
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

// Somebody's contact never gets another one's address.
func TestAnAddressThatChanges(t *testing.T) {
	b := newBench(t, nil)
	known := b.service.Put("boss@example.com")
	lead := b.lead("boss@example.com")
	b.sync(crm.Order{})
	b.change(lead.ID, func(i *inbox.Item) {
		i.Tags, i.Contact = []string{"again"}, &inbox.Contact{Email: new("mallory@example.com")}
	})
	require.Equal(t, map[string]int64{"written": 1}, b.sync(crm.Order{}))
	require.Equal(t, "boss@example.com", b.service.Contacts()[known]["email"])
	require.Len(t, b.service.Contacts(), 2)
	require.NotEqual(t, known, b.links(lead.ID)[lead.ID].External)
}

// Addresses that are refused end no sync and fail no connection, unless nothing else is there.
func TestAddressesThatAreRefused(t *testing.T) {
	b := newBench(t, nil)
	b.lead("invalid1@example.com")
	b.lead("invalid2@example.com")
	j := b.begin(crm.Order{})
	step, err := b.syncer.Background().Works[j.Kind].Prepare(t.Context(), j)
	require.NoError(t, err)
	var nothing *job.Refusal
	require.ErrorAs(t, b.tenants.InTx(t.Context(), b.org, func(ctx context.Context, tx *tenant.Tx) error {
		_, err := step(ctx, tx, &j, b.clock.Now().UTC())
		return err
	}), &nothing)
	require.Equal(t, "rejected", nothing.Code)
	b.lead("kim@example.com")
	require.Equal(t, map[string]int64{"written": 1, "refused": 2}, b.sync(crm.Order{}))
	require.Equal(t, map[string]int64{"unchanged": 1, "refused": 2}, b.sync(crm.Order{}))
	for _, its := range b.queued() {
		_, err := b.step(&its)
		require.NoError(t, err)
	}
	b.syncer.Report.Flush(t.Context())
	require.Empty(t, eventtest.Log(t, b.tenants, b.org, event.ConnectionFailed))
}

// An item that may not be written any more is let go.
func TestAVisitorWhoObjects(t *testing.T) {
	b := newBench(t, nil)
	leads := []inbox.Item{b.lead("kim@example.com"), b.lead("lee@example.com")}
	b.sync(crm.Order{})
	b.change(leads[0].ID, func(i *inbox.Item) {
		i.Tags, i.Contact = []string{"again"}, &inbox.Contact{Email: i.Contact.Email, Consent: &inbox.Consent{}}
	})
	b.change(leads[1].ID, func(i *inbox.Item) { i.State = inbox.Spam })
	require.Equal(t, map[string]int64{"unlinked": 2}, b.sync(crm.Order{}))
	require.Equal(t, map[string]int64{"skipped": 2}, b.sync(crm.Order{}))
	require.Len(t, b.service.Requests(), 1)
}
