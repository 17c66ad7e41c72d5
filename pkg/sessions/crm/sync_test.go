package crm_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/eventing/event/eventtest"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/sessions/exchange"
	"visavis.dev/pkg/sessions/inbox"
	"visavis.dev/pkg/store/tenant"
)

func TestASyncWritesEveryLeadOnce(t *testing.T) {
	b := newBench(t, nil)
	var leads []inbox.Item
	for n := range 130 {
		leads = append(leads, b.lead(fmt.Sprintf("Kim%d@Example.com", n)))
	}
	b.lead("", func(i *inbox.Item) { i.Contact.Email = nil })
	b.lead("no@example.com", func(i *inbox.Item) { i.Contact.Consent = &inbox.Consent{} })
	had := b.service.Put("kim7@example.com")

	require.Equal(t, map[string]int64{"written": 130, "skipped": 2}, b.sync(exchange.Order{DryRun: true}))
	require.Len(t, b.service.Contacts(), 1, "nothing was done")
	require.NotContains(t, b.service.Requests(), "POST /batch/upsert")

	require.Equal(t, map[string]int64{"written": 130, "skipped": 2}, b.sync(exchange.Order{}))
	contacts := b.service.Contacts()
	require.Len(t, contacts, 130)
	require.Equal(t, map[string]string{"email": "kim7@example.com", "firstname": "Kim", "lastname": "van Lee"}, contacts[had])
	require.Equal(t, []string{"POST /batch/read", "POST /batch/upsert", "POST /batch/update"}, b.service.Requests()[3:6], "one was there already")

	before := len(b.service.Requests())
	require.Equal(t, map[string]int64{"unchanged": 130, "skipped": 2}, b.sync(exchange.Order{}))
	require.Equal(t, []string{"POST /batch/read", "POST /batch/read"}, b.service.Requests()[before:], "nothing is written")
	b.change(leads[3].ID, func(i *inbox.Item) { i.State = inbox.Open })
	require.Equal(t, map[string]int64{"written": 1, "unchanged": 129, "skipped": 2}, b.sync(exchange.Order{}))
	require.Equal(t, map[string]int64{"unchanged": 30, "skipped": 2}, b.sync(exchange.Order{Since: leads[100].CreatedAt}))
	require.Len(t, b.service.Contacts(), 130)
}

func TestFieldsAreMapped(t *testing.T) {
	b := newBench(t, map[string]any{"properties": map[string]any{"name": "firstname", "leadBand": "visavis_band"}})
	b.lead("kim@example.com")
	b.sync(exchange.Order{})
	_, c := b.one()
	require.Equal(t, map[string]string{"email": "kim@example.com", "firstname": "Kim van Lee", "visavis_band": "cold"}, c)
}

// What is left or changed is written without being asked for, once for each change.
func TestWhatChangesIsSent(t *testing.T) {
	b := newBench(t, map[string]any{"properties": map[string]any{"state": "hs_lead_status"}})
	lead := b.lead("kim@example.com")
	queued := b.queued()
	require.Len(t, queued, 1)
	for range 2 { // the second finds it done
		_, err := b.step(&queued[0])
		require.NoError(t, err)
	}
	b.one()
	require.Equal(t, []string{"GET /account-info/2026-03/details", "POST /batch/read", "POST /batch/upsert"}, b.service.Requests())
	b.change(lead.ID, func(i *inbox.Item) { i.State = inbox.Open })
	require.Len(t, b.queued(), 2)
	_, err := b.step(&b.queued()[1])
	require.NoError(t, err)
	require.Equal(t, []string{"POST /batch/read", "POST /batch/update"}, b.service.Requests()[3:])
}

// A visitor who is forgotten is written no more; the contact is the organization's.
func TestForgottenVisitors(t *testing.T) {
	b := newBench(t, nil)
	leads := []inbox.Item{b.lead("lee@example.com"), b.lead("kim@example.com")}
	b.sync(exchange.Order{})
	b.forget(leads[0].ID)
	b.forget(leads[1].ID)
	queued := b.queued()
	_, err := b.step(&queued[len(queued)-1])
	require.NoError(t, err)
	require.Equal(t, map[string]int64{"unlinked": 1, "skipped": 1}, b.sync(exchange.Order{DryRun: true}))
	require.Equal(t, map[string]int64{"unlinked": 1, "skipped": 1}, b.sync(exchange.Order{}))
	require.Equal(t, map[string]int64{"skipped": 2}, b.sync(exchange.Order{}))
	require.Len(t, b.service.Contacts(), 2)
	require.Equal(t, 1, b.writes())
}

// A contact that is gone there stays so, whatever becomes of its item; what its visitor leaves anew is written anew.
func TestAContactThatWasDeleted(t *testing.T) {
	b := newBench(t, nil)
	lead := b.lead("kim@example.com")
	b.lead("lee@example.com")
	b.sync(exchange.Order{})
	deleted := func() {
		for which, c := range b.service.Contacts() {
			if c["email"] == "kim@example.com" {
				b.service.Remove(which)
			}
		}
		require.Len(t, b.service.Contacts(), 1)
	}
	deleted()
	writes := b.writes()
	require.Equal(t, map[string]int64{"gone": 1, "unchanged": 1}, b.sync(exchange.Order{DryRun: true}))
	require.Nil(t, b.links(lead.ID)[lead.ID].GoneAt)
	require.Equal(t, map[string]int64{"gone": 1, "unchanged": 1}, b.sync(exchange.Order{}))
	require.NotNil(t, b.links(lead.ID)[lead.ID].GoneAt)
	b.change(lead.ID, func(i *inbox.Item) { i.State = inbox.Open })
	queued := b.queued()
	_, err := b.step(&queued[len(queued)-1])
	require.NoError(t, err)
	require.Equal(t, map[string]int64{"gone": 1, "unchanged": 1}, b.sync(exchange.Order{}))
	b.rotate("pat-next")
	b.service.Token = "pat-next"
	require.Equal(t, map[string]int64{"gone": 1, "unchanged": 1}, b.sync(exchange.Order{}), "it is the same account's secret")
	require.Len(t, b.service.Contacts(), 1)
	require.Equal(t, writes, b.writes())

	// Who brings it back from the bin has it kept in step again.
	was := b.links(lead.ID)[lead.ID].External
	b.service.Restore(was, map[string]string{"email": "kim@example.com", "firstname": "Kim"})
	b.sync(exchange.Order{})
	require.Nil(t, b.links(lead.ID)[lead.ID].GoneAt)
	b.service.Remove(was)
	require.Equal(t, map[string]int64{"gone": 1, "unchanged": 1}, b.sync(exchange.Order{}))

	again := b.lead("kim@example.com")
	require.Equal(t, map[string]int64{"written": 1, "unchanged": 2}, b.sync(exchange.Order{}))
	require.Contains(t, b.service.Contacts(), b.links(again.ID)[again.ID].External)
	require.Len(t, b.service.Contacts(), 2)

	// Another account has none of it.
	b.rotate("pat-other")
	b.service.Token, b.service.Account = "pat-other", 4712
	for which := range b.service.Contacts() {
		b.service.Remove(which)
	}
	require.Equal(t, map[string]int64{"written": 3}, b.sync(exchange.Order{}))
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
		_, err := exchange.Begin(ctx, tx, exchange.Order{Connection: b.connection}, b.who())
		return err
	})
	require.True(t, errdefs.IsConflict(err, connection.Noun, "disabled"), "%v", err)
	b.lead("kim@example.com")
	require.Empty(t, b.queued())
}

// Somebody's contact never gets another one's address.
func TestAnAddressThatChanges(t *testing.T) {
	b := newBench(t, nil)
	known := b.service.Put("boss@example.com")
	lead := b.lead("boss@example.com")
	b.sync(exchange.Order{})
	b.change(lead.ID, func(i *inbox.Item) {
		i.Tags, i.Contact = []string{"again"}, &inbox.Contact{Email: new("mallory@example.com")}
	})
	require.Equal(t, map[string]int64{"written": 1}, b.sync(exchange.Order{}))
	require.Equal(t, "boss@example.com", b.service.Contacts()[known]["email"])
	require.Len(t, b.service.Contacts(), 2)
	require.NotEqual(t, known, b.links(lead.ID)[lead.ID].External)
}

// An address that is corrected is written, however often that failed, and whoever else has the one before.
func TestAnAddressThatIsCorrected(t *testing.T) {
	correct := func(b *bench, which id.InboxItem) {
		b.change(which, func(i *inbox.Item) {
			i.Tags, i.Contact = []string{"again"}, &inbox.Contact{Name: i.Contact.Name, Email: new("kim@example.com")}
		})
	}
	for name, meanwhile := range map[string]func(b *bench, which id.InboxItem){
		"a write that fails": func(b *bench, which id.InboxItem) {
			correct(b, which)
			b.service.Behave(nil, status(http.StatusServiceUnavailable, ""))
			_, err := b.step(&b.queued()[0])
			require.NoError(t, err)
		},
		"a newer item of the address before": func(b *bench, which id.InboxItem) {
			correct(b, which)
			b.lead("typo@example.com")
			_, err := b.step(&b.queued()[1])
			require.NoError(t, err)
		},
		"an older item": func(b *bench, which id.InboxItem) {
			b.lead("typo@example.com")
			b.deliver()
			b.sync(exchange.Order{})
			correct(b, which)
		},
		"an item that is told apart": func(b *bench, which id.InboxItem) {
			had, _ := b.one()
			b.service.Edit(had, map[string]string{"email": "boss@example.com", "hs_additional_emails": "typo@example.com"})
			b.lead("boss@example.com")
			b.deliver()
			b.lead("typo@example.com")
			b.deliver()
			b.sync(exchange.Order{})
			correct(b, which)
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, both)
			lead := b.lead("typo@example.com")
			b.deliver()
			had, _ := b.one()
			meanwhile(b, lead.ID)
			for range 2 {
				b.deliver()
				b.read()
				b.sync(exchange.Order{})
			}
			link := b.links(lead.ID)[lead.ID]
			require.NotEqual(t, had, link.External)
			require.Equal(t, "kim@example.com", b.service.Contacts()[link.External]["email"])
			b.change(lead.ID, func(i *inbox.Item) { i.State = inbox.Open })
			b.deliver()
			require.Equal(t, "IN_PROGRESS", b.service.Contacts()[link.External]["hs_lead_status"])
			require.Empty(t, b.service.Idle())
		})
	}
}

// An address that is corrected on both sides is the same contact's.
func TestAnAddressThatIsCorrectedOnBothSides(t *testing.T) {
	b := newBench(t, both)
	lead := b.lead("typo@example.com")
	b.deliver()
	contact, _ := b.one()
	b.service.Edit(contact, map[string]string{"email": "kim@example.com", "company": "Lee & Sons"})
	b.change(lead.ID, func(i *inbox.Item) {
		i.State, i.Contact = inbox.Open, &inbox.Contact{Name: i.Contact.Name, Email: new("kim@example.com")}
	})
	b.deliver()
	_, has := b.one()
	require.Equal(t, "IN_PROGRESS", has["hs_lead_status"])
	require.Equal(t, "Lee & Sons", *b.get(lead.ID).Contact.Company)
	b.change(lead.ID, func(i *inbox.Item) { i.State = inbox.Won })
	b.deliver()
	_, has = b.one()
	require.Equal(t, "CUSTOMER", has["hs_lead_status"])
	require.Empty(t, b.service.Idle())
}

// An item that may not be written any more is let go.
func TestAVisitorWhoObjects(t *testing.T) {
	b := newBench(t, nil)
	leads := []inbox.Item{b.lead("kim@example.com"), b.lead("lee@example.com")}
	b.sync(exchange.Order{})
	b.change(leads[0].ID, func(i *inbox.Item) {
		i.Tags, i.Contact = []string{"again"}, &inbox.Contact{Email: i.Contact.Email, Consent: &inbox.Consent{}}
	})
	b.change(leads[1].ID, func(i *inbox.Item) { i.State = inbox.Spam })
	require.Equal(t, map[string]int64{"unlinked": 2}, b.sync(exchange.Order{}))
	require.Equal(t, map[string]int64{"skipped": 2}, b.sync(exchange.Order{}))
	require.Equal(t, 1, b.writes())
}

// The newest item of an address counts, whichever is written later: an older one in another batch, or that
// changes afterwards, does not take its place.
func TestTheNewestOfAnAddress(t *testing.T) {
	b := newBench(t, nil)
	named := func(name string) func(*inbox.Item) {
		return func(i *inbox.Item) { i.Contact.Name = &name }
	}
	old := b.lead("Kim@example.com", named("Old Name"))
	for n := range 105 { // so that they are in two batches
		b.lead(fmt.Sprintf("kim%d@example.com", n))
	}
	b.lead("kim@Example.com", named("New Name"))
	queued := b.queued()
	_, err := b.step(&queued[len(queued)-1]) // written as it came
	require.NoError(t, err)
	name := func() string {
		t.Helper()
		for _, c := range b.service.Contacts() {
			if c["email"] == "kim@example.com" {
				return c["firstname"]
			}
		}
		return ""
	}
	require.Equal(t, "New", name())
	require.Equal(t, map[string]int64{"written": 106, "unchanged": 1}, b.sync(exchange.Order{}))
	require.Equal(t, "New", name())
	b.change(old.ID, func(i *inbox.Item) { i.State = inbox.Open })
	require.Equal(t, map[string]int64{"written": 1, "unchanged": 106}, b.sync(exchange.Order{}))
	require.Equal(t, "New", name())

	// One that may not be written counts no more.
	spam := b.lead("kim@example.com", named("Third Name"))
	b.change(spam.ID, func(i *inbox.Item) { i.State = inbox.Spam })
	b.change(old.ID, func(i *inbox.Item) { i.State = inbox.Waiting })
	b.sync(exchange.Order{})
	require.Equal(t, "New", name())
}

// A mapping that the service refuses of everything is told of: in what a sync counts, and of the connection.
func TestAMappingThatIsRefused(t *testing.T) {
	b := newBench(t, map[string]any{"properties": map[string]any{"name": "no_such_property"}})
	for n := range 3 {
		b.lead(fmt.Sprintf("kim%d@example.com", n))
	}
	b.lead("invalid@example.com")
	j := b.begin(exchange.Order{})
	_, err := b.step(&j)
	require.NoError(t, err)
	require.Equal(t, job.Failed, j.State)
	require.Equal(t, "rejected", j.ErrorCode)
	require.Equal(t, map[string]int64{"unmapped": 3, "refused": 1}, j.Counts)
	b.syncer.Report.Flush(t.Context())
	require.Len(t, eventtest.Log(t, b.tenants, b.org, event.ConnectionFailed), 1)

	// Also where nobody syncs.
	other := newBench(t, map[string]any{"properties": map[string]any{"name": "no_such_property"}})
	for n := range 3 {
		other.lead(fmt.Sprintf("kim%d@example.com", n))
	}
	for _, its := range other.queued() {
		_, err := other.step(&its)
		require.NoError(t, err)
		require.Equal(t, job.Succeeded, its.State)
	}
	other.syncer.Report.Flush(t.Context())
	require.Len(t, eventtest.Log(t, other.tenants, other.org, event.ConnectionFailed), 1)
	require.Equal(t, "rejected", string(other.connected().Health.ErrorCode))
}
