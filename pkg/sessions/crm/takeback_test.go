package crm_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/eventing/event/eventtest"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/provider/hubspot/hubspottest"
	"visavis.dev/pkg/sessions/exchange"
	"visavis.dev/pkg/sessions/inbox"
	"visavis.dev/pkg/store/tenant"
)

// both has what people change taken back, with states and bands.
var both = map[string]any{
	"takesBack": true,
	"properties": map[string]any{
		"firstName": "firstname", "lastName": "lastname", "phone": "phone", "company": "company", "jobTitle": "jobtitle",
		"state": "hs_lead_status", "leadBand": "visavis_band",
	},
	"values": map[string]any{"state": map[string]any{
		"new": []any{"NEW"}, "open": []any{"IN_PROGRESS", "CONNECTED"}, "won": []any{"CUSTOMER"}, "lost": []any{"UNQUALIFIED"}, "snoozed": []any{"LATER"},
	}},
}

func (b *bench) get(which id.InboxItem) inbox.Item {
	b.t.Helper()
	i, err := inbox.Get(context.Background(), b.tenants, b.org, which)
	require.NoError(b.t, err)
	return i
}

// reader is the job that takes back again and again.
func (b *bench) reader() job.Job {
	b.t.Helper()
	all := b.jobs(job.ConnectionRead)
	require.Len(b.t, all, 1)
	return all[0]
}

// read makes a pass of the reader.
func (b *bench) read() {
	b.t.Helper()
	j := b.reader()
	for range 20 {
		wait, err := b.step(&j)
		require.NoError(b.t, err)
		if wait > time.Minute {
			return
		}
	}
	require.Fail(b.t, "the pass does not end")
}

// deliver does what is queued, and answers how much of it was.
func (b *bench) deliver() int {
	b.t.Helper()
	queued := b.queued()
	for _, j := range queued {
		_, err := b.step(&j)
		require.NoError(b.t, err)
		require.Equal(b.t, job.Succeeded, j.State)
		b.drop(j.ID)
	}
	return len(queued)
}

// What people change there is the lead's, once, is told of, and goes out to nobody again.
func TestWhatPeopleChangeIsTakenBack(t *testing.T) {
	b := newBench(t, both)
	lead := b.lead("kim@example.com", func(i *inbox.Item) { i.Contact.Phone = new("+49 30 1234") })
	b.deliver()
	contact, has := b.one()
	require.Equal(t, map[string]string{
		"email": "kim@example.com", "firstname": "Kim", "lastname": "van Lee", "phone": "+49 30 1234", "hs_lead_status": "NEW", "visavis_band": "cold",
	}, has)
	writes := b.writes()
	b.service.Edit(contact, map[string]string{
		"firstname": "Kimberly", "phone": "", "company": "Lee & Sons", "jobtitle": "Owner", "hs_lead_status": "CONNECTED", "visavis_band": "hot",
	})

	require.Equal(t, map[string]int64{"taken": 1}, b.sync(exchange.Order{DryRun: true}))
	require.Equal(t, lead.Edition, b.get(lead.ID).Edition, "nothing was done")
	b.read()
	now := b.get(lead.ID)
	require.Equal(t, []any{"Kimberly van Lee", "Lee & Sons", "Owner", inbox.Open, inbox.Hot, true},
		[]any{*now.Contact.Name, *now.Contact.Company, *now.Contact.JobTitle, now.State, *now.Band, now.Chosen})
	require.Nil(t, now.Contact.Phone)
	require.Equal(t, "kim@example.com", *now.Contact.Email)
	told := eventtest.Log(t, b.tenants, b.org, event.LeadUpdated)
	require.Len(t, told, 1)

	require.Empty(t, b.queued(), "it goes back to nobody")
	require.Equal(t, map[string]int64{"unchanged": 1}, b.sync(exchange.Order{}))
	b.read()
	require.Equal(t, now.Edition, b.get(lead.ID).Edition)
	require.Equal(t, writes, b.writes())

	// A status there that is one of several of a state stays as it is while something else is written.
	b.change(lead.ID, func(i *inbox.Item) { i.Band = new(inbox.Warm) })
	b.deliver()
	_, has = b.one()
	require.Equal(t, []string{"CONNECTED", "warm", ""}, []string{has["hs_lead_status"], has["visavis_band"], has["phone"]})
	require.Empty(t, b.service.Idle())
}

// Another CRM of the organization is told what came back from one, and neither gets its own back.
func TestTwoCRMs(t *testing.T) {
	b := newBench(t, both)
	lead := b.lead("kim@example.com")
	b.deliver()
	contact, _ := b.one()
	offer, _ := connection.FindOffer(connection.CRM, connection.HubSpot)
	other := connection.New(offer, "Other", connection.Config{"baseUrl": b.service.URL}, "pat-good", b.clock.Now())
	b.inTx(func(ctx context.Context, tx *tenant.Tx) error {
		return connection.Create(ctx, tx, b.vault, other, "pat-good", b.who())
	})
	b.service.Edit(contact, map[string]string{"company": "Lee & Sons"})
	b.read()
	queued := b.queued()
	require.Len(t, queued, 1)
	require.Contains(t, string(queued[0].Input), other.ID.String())
	require.Equal(t, "Lee & Sons", *b.get(lead.ID).Contact.Company)
}

// Two CRMs that each write a value in a way of their own come to rest: a number is one however it is written, and what comes back again and again is left as
// each has it, which is told.
func TestTwoCRMsThatWriteDifferently(t *testing.T) {
	for name, c := range map[string]struct {
		property   string
		one, other func(string) string
		most       int
		counts     map[string]int64
	}{
		"a number": {
			property: "phone", one: func(s string) string { return strings.ReplaceAll(s, " ", "") }, most: 2, counts: map[string]int64{"unchanged": 1},
			other: func(s string) string { return "+49 30 " + strings.TrimPrefix(strings.ReplaceAll(s, " ", ""), "+4930") },
		},
		"a text": {property: "company", one: strings.ToUpper, other: strings.ToLower, most: 12, counts: map[string]int64{"contested": 1}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, both)
			second := hubspottest.Start()
			t.Cleanup(second.Close)
			offer, _ := connection.FindOffer(connection.CRM, connection.HubSpot)
			config := connection.Config{"baseUrl": second.URL}
			maps.Copy(config, both)
			other := connection.New(offer, "Other", config, "pat-good", b.clock.Now())
			other.State, other.TimeoutMs = connection.Active, 5000
			b.inTx(func(ctx context.Context, tx *tenant.Tx) error {
				return connection.Create(ctx, tx, b.vault, other, "pat-good", b.who())
			})
			lead := b.lead("kim@example.com", func(i *inbox.Item) {
				i.Contact.Phone, i.Contact.Company = new("+49 30 1234"), new("Lee & Sons")
			})
			written := func() (n int) {
				for _, s := range []*hubspottest.Server{b.service, second} {
					for _, r := range s.Requests() {
						if strings.HasPrefix(r, "POST /batch/up") {
							n++
						}
					}
				}
				return n
			}
			round := func() {
				for b.deliver() > 0 {
				}
				for s, form := range map[*hubspottest.Server]func(string) string{b.service: c.one, second: c.other} {
					for which, has := range s.Contacts() {
						s.Edit(which, map[string]string{c.property: form(has[c.property])})
					}
				}
				for _, j := range b.jobs(job.ConnectionRead) {
					_, err := b.step(&j)
					require.NoError(t, err)
				}
			}
			for range 10 {
				round()
			}
			before := written()
			require.LessOrEqual(t, before, c.most)
			for range 5 {
				round()
			}
			require.Equal(t, before, written(), "nothing is written any more")
			edition := b.get(lead.ID).Edition
			require.Equal(t, c.counts, b.sync(exchange.Order{}))

			// What somebody changes afterwards goes to both still.
			b.change(lead.ID, func(i *inbox.Item) { i.Tags, i.Contact.Company = []string{"again"}, new("park") })
			round()
			require.Greater(t, b.get(lead.ID).Edition, edition)
			for _, s := range []*hubspottest.Server{b.service, second} {
				for _, has := range s.Contacts() {
					require.Equal(t, "park", strings.ToLower(has["company"]))
				}
			}
			for range 10 {
				round()
			}
			before = written()
			round()
			require.Equal(t, before, written())
		})
	}
}

// What people change to and fro at their leisure is taken, however often.
func TestWhatPeopleChangeToAndFro(t *testing.T) {
	config := maps.Clone(both)
	config["values"] = map[string]any{"state": map[string]any{"new": []any{"NEW"}, "open": []any{"OPEN"}, "waiting": []any{"WAITING"}}}
	b := newBench(t, config)
	lead := b.lead("kim@example.com")
	b.deliver()
	contact, _ := b.one()
	for range 6 {
		b.change(lead.ID, func(i *inbox.Item) { i.State = inbox.Open })
		b.deliver()
		b.clock.Step(7 * 24 * time.Hour)
		b.service.Edit(contact, map[string]string{"hs_lead_status": "WAITING"})
		b.read()
		require.Equal(t, inbox.Waiting, b.get(lead.ID).State)
		b.clock.Step(7 * 24 * time.Hour)
	}
	require.Equal(t, map[string]int64{"unchanged": 1}, b.sync(exchange.Order{}))
}

// Where both changed the same, people's words on how to reach somebody hold, and the inbox's on how far it is.
func TestConflicts(t *testing.T) {
	b := newBench(t, both)
	lead := b.lead("kim@example.com", func(i *inbox.Item) { i.Contact.Phone = new("+49 30 1234") })
	b.deliver()
	contact, _ := b.one()
	b.service.Edit(contact, map[string]string{"phone": "+49 30 999", "hs_lead_status": "UNQUALIFIED", "company": "Theirs"})
	b.change(lead.ID, func(i *inbox.Item) {
		i.State, i.Contact = inbox.Won, &inbox.Contact{Name: new("Kim Lee"), Email: i.Contact.Email, Phone: new("+49 30 555")}
	})
	b.deliver()
	now := b.get(lead.ID)
	require.Equal(t, []any{inbox.Won, "+49 30 999", "Kim Lee", "Theirs"}, []any{now.State, *now.Contact.Phone, *now.Contact.Name, *now.Contact.Company})
	_, has := b.one()
	require.Equal(t, []string{"CUSTOMER", "+49 30 999", "Kim", "Lee"}, []string{has["hs_lead_status"], has["phone"], has["firstname"], has["lastname"]})
	require.Empty(t, b.queued())
}

// What an item cannot be is left there, and not looked at again: texts that are too long, no number, a state that nothing stands for.
func TestWhatCannotBeTaken(t *testing.T) {
	b := newBench(t, both)
	lead := b.lead("kim@example.com")
	b.deliver()
	contact, _ := b.one()
	b.service.Edit(contact, map[string]string{
		"company": strings.Repeat("x", 1<<20), "jobtitle": "\x00\u202e", "phone": "call me", "hs_lead_status": "BAD_TIMING", "visavis_band": "boiling",
		"firstname": "K\x00im\n\u202eberly",
	})
	require.Equal(t, map[string]int64{"taken": 1}, b.sync(exchange.Order{}))
	now := b.get(lead.ID)
	require.Equal(t, []any{"Kim berly van Lee", inbox.New, inbox.Cold}, []any{*now.Contact.Name, now.State, *now.Band})
	require.Nil(t, now.Contact.Company)
	require.Nil(t, now.Contact.JobTitle)
	require.Nil(t, now.Contact.Phone)
	require.Equal(t, map[string]int64{"unchanged": 1}, b.sync(exchange.Order{}))
	require.Empty(t, b.service.Idle())
	// A state that it cannot go to directly was reached there in steps.
	b.service.Edit(contact, map[string]string{"hs_lead_status": "CUSTOMER"})
	b.sync(exchange.Order{})
	b.service.Edit(contact, map[string]string{"hs_lead_status": "UNQUALIFIED"})
	b.sync(exchange.Order{})
	require.Equal(t, inbox.Lost, b.get(lead.ID).State)
	b.service.Edit(contact, map[string]string{"hs_lead_status": "NEW"})
	b.sync(exchange.Order{})
	require.Equal(t, inbox.Lost, b.get(lead.ID).State, "nothing is new again")
}

// An answer that is larger than is read is asked for in parts.
func TestLargeContacts(t *testing.T) {
	b := newBench(t, both)
	var leads []inbox.Item
	for n := range 20 {
		leads = append(leads, b.lead(fmt.Sprintf("kim%d@example.com", n)))
	}
	b.sync(exchange.Order{})
	for which := range b.service.Contacts() {
		b.service.Edit(which, map[string]string{"company": strings.Repeat("x", 1<<20), "jobtitle": "Owner"})
	}
	require.Equal(t, map[string]int64{"taken": 20}, b.sync(exchange.Order{}))
	for _, lead := range leads {
		require.Equal(t, "Owner", *b.get(lead.ID).Contact.JobTitle)
	}
	for which := range b.service.Contacts() {
		b.service.Edit(which, map[string]string{"company": strings.Repeat("x", 9<<20)})
		break
	}
	require.Equal(t, map[string]int64{"unchanged": 20}, b.sync(exchange.Order{}), "one that is too large is left alone")
}

// Nothing of a visitor comes back who is forgotten, not by what was on its way, nor by another lead of the same address.
func TestWhoIsForgottenDoesNotComeBack(t *testing.T) {
	b := newBench(t, both)
	gone := b.lead("kim@example.com", func(i *inbox.Item) { i.Contact.Name = new("Marked Name"); i.Contact.Phone = new("+49 30 666 1234") })
	b.deliver()
	contact, _ := b.one()
	again := b.lead("kim@example.com", func(i *inbox.Item) { i.Contact.Name = nil })
	b.deliver()

	b.service.Edit(contact, map[string]string{"company": "Marked & Sons"})
	j := b.begin(exchange.Order{})
	commit := b.prepare(&j)
	b.forget(gone.ID)
	b.forget(again.ID)
	commit()
	for _, which := range []id.InboxItem{gone.ID, again.ID} {
		require.Nil(t, b.get(which).Contact)
		require.Nil(t, b.links(which)[which].Theirs)
	}
	b.deliver()
	b.read()
	require.Empty(t, b.links(gone.ID, again.ID))

	later := b.lead("kim@example.com", func(i *inbox.Item) { i.Contact.Name = nil })
	b.deliver()
	for range 2 {
		b.read()
		now := b.get(later.ID)
		require.Nil(t, now.Contact.Name, "what the contact had before is no change")
		require.Nil(t, now.Contact.Phone)
		require.Nil(t, now.Contact.Company)
	}
}

// Where the newest of an address counts no more, nothing of it is taken for people's, and the one before is written.
func TestTheNextOfAnAddress(t *testing.T) {
	b := newBench(t, both)
	named := func(name, phone string) func(*inbox.Item) {
		return func(i *inbox.Item) { i.Contact.Name, i.Contact.Phone = &name, &phone }
	}
	first := b.lead("kim@example.com", named("First Kim", "+49 30 1111"))
	b.deliver()
	second := b.lead("kim@example.com", named("Marked Name", "+49 30 2222"))
	b.deliver()
	_, has := b.one()
	require.Equal(t, "Marked", has["firstname"])
	b.forget(second.ID)
	b.deliver()
	b.read()
	require.Equal(t, "First Kim", *b.get(first.ID).Contact.Name)
	_, has = b.one()
	require.Equal(t, []string{"First", "Kim", "+49 30 1111"}, []string{has["firstname"], has["lastname"], has["phone"]})
	require.Empty(t, b.service.Idle())
}

// What was written of the newest of an address is never people's change of the one before, also where the process ended before that was kept.
func TestANewestThatWasWrittenUnseen(t *testing.T) {
	named := func(name, phone string) func(*inbox.Item) {
		return func(i *inbox.Item) { i.Contact.Name, i.Contact.Phone = &name, &phone }
	}
	for name, c := range map[string]struct {
		before []http.HandlerFunc
		end    func(b *bench, which id.InboxItem)
	}{
		"forgotten": {end: (*bench).forget},
		"spam and forgotten": {end: func(b *bench, which id.InboxItem) {
			b.change(which, func(i *inbox.Item) { i.State = inbox.Spam })
			b.read()
			b.forget(which)
		}},
		"found by nothing": {before: []http.HandlerFunc{status(http.StatusBadRequest, "")}, end: (*bench).forget},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, both)
			first := b.lead("kim@example.com", named("First Kim", "+49 30 1111"))
			b.deliver()
			second := b.lead("kim@example.com", named("Marked Name", "+49 30 2222"))
			b.service.Behave(c.before...)
			b.prepare(&b.queued()[0]) // and the process ends
			_, has := b.one()
			require.Equal(t, "Marked", has["firstname"])
			c.end(b, second.ID)
			b.read()
			b.deliver()
			b.read()
			require.Equal(t, []string{"First Kim", "+49 30 1111"}, []string{*b.get(first.ID).Contact.Name, *b.get(first.ID).Contact.Phone})
			_, has = b.one()
			require.Equal(t, []string{"First", "Kim", "+49 30 1111"}, []string{has["firstname"], has["lastname"], has["phone"]})
		})
	}
}

// Whoever read a contact of which a newer item takes the place meanwhile keeps nothing of it.
func TestAPlaceThatIsTakenMeanwhile(t *testing.T) {
	b := newBench(t, both)
	first := b.lead("kim@example.com", func(i *inbox.Item) { i.Contact.Name = new("First Kim") })
	b.deliver()
	contact, _ := b.one()
	b.service.Behave(b.service.Meanwhile(contact, map[string]string{"firstname": "Marked", "lastname": "Name"}))
	j := b.reader()
	commit := b.prepare(&j)
	second := b.lead("kim@example.com", func(i *inbox.Item) { i.Contact.Name, i.Contact.Phone = new("Marked Name"), new("+49 30 2222") })
	b.prepare(&b.queued()[0]) // and the process ends
	b.forget(second.ID)
	commit()
	b.deliver()
	b.read()
	require.Equal(t, "First Kim", *b.get(first.ID).Contact.Name)
}

// What is written of the one before while a newer item takes its place is no change of people either.
func TestAPlaceThatIsTakenDuringAWrite(t *testing.T) {
	b := newBench(t, both)
	first := b.lead("kim@example.com", func(i *inbox.Item) { i.Contact.Name = new("First Kim") })
	b.deliver()
	contact, _ := b.one()
	b.change(first.ID, func(i *inbox.Item) { i.State = inbox.Open })
	commit := b.prepare(&b.queued()[0])
	second := b.lead("kim@example.com", func(i *inbox.Item) { i.Contact.Name, i.Contact.Phone = new("Second Kim"), new("+49 30 2222") })
	written := b.prepare(&b.queued()[1])
	b.service.Edit(contact, map[string]string{"firstname": "First", "hs_lead_status": "IN_PROGRESS"}) // that of the first one arrives last
	written()
	commit()
	b.deliver()
	b.read()
	require.Equal(t, []any{"Second Kim", inbox.New}, []any{*b.get(second.ID).Contact.Name, b.get(second.ID).State})
	_, has := b.one()
	require.Equal(t, []string{"Second", "NEW"}, []string{has["firstname"], has["hs_lead_status"]})
}

// Nor is what an item of the address holds that was written for the first time while a newer one was.
func TestAFirstWriteThatIsKeptLate(t *testing.T) {
	for _, early := range []bool{false, true} { // whether the newer one is forgotten before that is kept
		b := newBench(t, both)
		first := b.lead("kim@example.com", func(i *inbox.Item) { i.Contact.Name = new("First Kim") })
		commit := b.prepare(&b.queued()[0])
		second := b.lead("kim@example.com", func(i *inbox.Item) { i.Contact.Name, i.Contact.Phone = new("Marked Name"), new("+49 30 2222") })
		b.prepare(&b.queued()[1])()
		_, has := b.one()
		require.Equal(t, "Marked", has["firstname"])
		if early {
			b.forget(second.ID)
		}
		commit()
		if !early {
			b.forget(second.ID)
		}
		b.read()
		b.deliver()
		b.read()
		now := b.get(first.ID)
		require.Equal(t, "First Kim", *now.Contact.Name)
		require.Nil(t, now.Contact.Phone)
		_, has = b.one()
		require.Equal(t, "First", has["firstname"])
	}
}

// Nor is anybody's who was forgotten while they were written, where that arrives after the one before was compared again.
func TestAWriteThatArrivesLate(t *testing.T) {
	b := newBench(t, both)
	first := b.lead("kim@example.com", func(i *inbox.Item) { i.Contact.Name = new("First Kim") })
	b.deliver()
	contact, _ := b.one()
	second := b.lead("kim@example.com", func(i *inbox.Item) { i.Contact.Name = new("Marked Name") })
	commit := b.prepare(&b.queued()[0])
	b.forget(second.ID)
	b.read()
	b.service.Edit(contact, map[string]string{"firstname": "Marked", "lastname": "Name"})
	commit()
	b.deliver()
	b.read()
	require.Equal(t, "First Kim", *b.get(first.ID).Contact.Name)
	_, has := b.one()
	require.Equal(t, "First", has["firstname"])
}

// Nothing is written while what others did with the connection is kept, as that would be kept over the place that is taken.
func TestAPlaceThatIsTakenWhileSomethingIsKept(t *testing.T) {
	b := newBench(t, both)
	b.lead("kim@example.com")
	b.deliver()
	b.lead("kim@example.com", func(i *inbox.Item) { i.Contact.Name = new("Second Kim") })
	j, writes := b.queued()[0], b.writes()
	var commit func() time.Duration
	prepared := make(chan struct{})
	b.inTx(func(ctx context.Context, tx *tenant.Tx) error {
		_, err := connection.Lock(ctx, tx, b.connection)
		go func() {
			defer close(prepared)
			commit = b.prepare(&j)
		}()
		require.Never(t, func() bool { return b.writes() != writes }, 300*time.Millisecond, 10*time.Millisecond)
		return err
	})
	<-prepared
	require.Equal(t, writes+1, b.writes())
	commit()
	_, has := b.one()
	require.Equal(t, "Second", has["firstname"])
}

// A connection that changes before anything is written is written to by what comes after.
func TestAConnectionThatChangesBeforeAWrite(t *testing.T) {
	b := newBench(t, both)
	first := b.lead("kim@example.com")
	b.deliver()
	b.lead("kim@example.com", func(i *inbox.Item) { i.Contact.Name = new("Second Kim") })
	j, writes := b.queued()[0], b.writes()
	answer := b.service.Meanwhile("", nil)
	b.service.Behave(func(w http.ResponseWriter, r *http.Request) {
		b.rotate("pat-good")
		answer(w, r)
	})
	commit := b.prepare(&j)
	require.Equal(t, time.Second, commit())
	require.Equal(t, writes, b.writes())
	require.NotEmpty(t, b.links(first.ID)[first.ID].Theirs)
	require.Equal(t, 1, b.deliver())
	_, has := b.one()
	require.Equal(t, "Second", has["firstname"])
}

// Who was merged with somebody else is not taken for them.
func TestMergedContacts(t *testing.T) {
	b := newBench(t, both)
	lead := b.lead("kim@example.com")
	b.deliver()
	was, _ := b.one()
	into := b.service.Put("boss@example.com")
	b.service.Merge(was, into)
	b.service.Edit(into, map[string]string{"firstname": "Boss"})
	b.read()
	require.Equal(t, "Kim van Lee", *b.get(lead.ID).Contact.Name)
	require.Equal(t, into, b.links(lead.ID)[lead.ID].External)
	require.Equal(t, 1, b.writes())
}

// Two leads whose addresses are one contact's: it is kept alike with the one whose address it goes by, and neither has anything of the other.
func TestAContactWithTwoAddresses(t *testing.T) {
	b := newBench(t, both)
	was, into := b.service.Put("kim@home.example"), b.service.Put("kim@work.example")
	b.service.Merge(was, into)
	home := b.lead("kim@home.example", func(i *inbox.Item) { i.Contact.Phone, i.Contact.Name = new("+49 30 1111"), new("Kim Home") })
	work := b.lead("kim@work.example", func(i *inbox.Item) { i.Contact.Phone, i.Contact.Name = new("+49 30 2222"), new("Kim Work") })
	alike := func(phone string) {
		t.Helper()
		b.deliver()
		b.sync(exchange.Order{})
		b.read()
		b.deliver()
		require.Equal(t, []string{"+49 30 1111", "Kim Home"}, []string{*b.get(home.ID).Contact.Phone, *b.get(home.ID).Contact.Name})
		require.Equal(t, phone, *b.get(work.ID).Contact.Phone)
		_, has := b.one()
		require.Equal(t, phone, has["phone"])
		links := b.links(home.ID, work.ID)
		require.Equal(t, []string{into, into}, []string{links[home.ID].External, links[work.ID].External})
	}
	alike("+49 30 2222")
	b.service.Edit(into, map[string]string{"phone": "+49 30 3333"})
	alike("+49 30 3333")
	b.change(home.ID, func(i *inbox.Item) { i.State = inbox.Open })
	alike("+49 30 3333")
	writes := b.writes()

	// Also once people have it go by the other address.
	b.service.Edit(into, map[string]string{"email": "kim@home.example", "hs_additional_emails": "kim@work.example"})
	alike("+49 30 3333")
	b.change(home.ID, func(i *inbox.Item) { i.State = inbox.Won })
	alike("+49 30 3333")
	require.Equal(t, writes, b.writes())
	require.Equal(t, inbox.New, b.get(work.ID).State)

	// The newest lead of an address takes the place of the one before.
	b.lead("kim@work.example", func(i *inbox.Item) { i.Contact.Phone, i.Contact.Name = new("+49 30 4444"), new("Kim Work") })
	b.deliver()
	_, has := b.one()
	require.Equal(t, "+49 30 4444", has["phone"])
}

// An item whose address becomes another one of its contact's goes on with that, unless another item has the one that the contact goes by.
func TestAnAddressThatBecomesAnotherOfTheContact(t *testing.T) {
	b := newBench(t, both)
	was, into := b.service.Put("kim@home.example"), b.service.Put("kim@work.example")
	b.service.Merge(was, into)
	kim := b.lead("kim@work.example", func(i *inbox.Item) { i.Contact.Name = new("Kim Work") })
	b.deliver()
	b.change(kim.ID, func(i *inbox.Item) {
		i.Tags, i.Contact = []string{"again"}, &inbox.Contact{Name: new("Kim Home"), Email: new("kim@home.example")}
	})
	b.deliver()
	_, has := b.one()
	require.Equal(t, []string{"Kim", "Home"}, []string{has["firstname"], has["lastname"]})
	b.service.Edit(into, map[string]string{"company": "Lee & Sons"})
	b.read()
	require.Equal(t, "Lee & Sons", *b.get(kim.ID).Contact.Company)
	b.change(kim.ID, func(i *inbox.Item) { i.State = inbox.Open })
	b.deliver()
	_, has = b.one()
	require.Equal(t, "IN_PROGRESS", has["hs_lead_status"])

	b = newBench(t, both)
	was, into = b.service.Put("kim@home.example"), b.service.Put("kim@work.example")
	b.service.Merge(was, into)
	work := b.lead("kim@work.example", func(i *inbox.Item) { i.Contact.Name = new("Kim Work") })
	b.deliver()
	home := b.lead("kim@work.example", func(i *inbox.Item) { i.Contact.Name = new("Kim Home") })
	b.deliver()
	b.change(home.ID, func(i *inbox.Item) {
		i.Tags, i.Contact = []string{"again"}, &inbox.Contact{Name: new("Kim Home"), Email: new("kim@home.example")}
	})
	for range 2 {
		b.deliver()
		b.sync(exchange.Order{})
		_, has = b.one()
	}
	require.Equal(t, []string{"Kim", "Work"}, []string{has["firstname"], has["lastname"]})
	require.Equal(t, "Kim Home", *b.get(home.ID).Contact.Name)
	require.Equal(t, []string{into, into}, []string{b.links(home.ID)[home.ID].External, b.links(work.ID)[work.ID].External})
}

// What is refused stands not in the way of what is taken, and is news still.
func TestWhatIsTakenWhereSomethingIsRefused(t *testing.T) {
	b := newBench(t, both)
	lead := b.lead("kim@example.com")
	b.deliver()
	contact, _ := b.one()
	b.service.Edit(contact, map[string]string{"company": "Lee & Sons"})
	b.change(lead.ID, func(i *inbox.Item) { i.State = inbox.Open })
	for range 2 {
		b.service.Behave(nil, status(http.StatusBadRequest, ""))
		j := b.reader()
		_, err := b.step(&j)
		require.NoError(t, err)
		require.Equal(t, "Lee & Sons", *b.get(lead.ID).Contact.Company)
		_, has := b.one()
		require.Equal(t, "NEW", has["hs_lead_status"])
	}
	edition := b.get(lead.ID).Edition
	require.Equal(t, map[string]int64{"written": 1}, b.sync(exchange.Order{}))
	_, has := b.one()
	require.Equal(t, "IN_PROGRESS", has["hs_lead_status"])
	require.Equal(t, edition, b.get(lead.ID).Edition)
}

// A change that is on its way while its item changes is taken back afterwards.
func TestAnItemThatChangesWhileItIsTakenBack(t *testing.T) {
	b := newBench(t, both)
	lead := b.lead("kim@example.com")
	b.deliver()
	contact, _ := b.one()
	b.service.Edit(contact, map[string]string{"company": "Lee & Sons"})
	j := b.reader()
	commit := b.prepare(&j)
	b.change(lead.ID, func(i *inbox.Item) { i.State = inbox.Open })
	commit()
	require.Nil(t, b.get(lead.ID).Contact.Company)
	b.deliver()
	require.Equal(t, []any{"Lee & Sons", inbox.Open}, []any{*b.get(lead.ID).Contact.Company, b.get(lead.ID).State})
	_, has := b.one()
	require.Equal(t, "IN_PROGRESS", has["hs_lead_status"])
	require.Empty(t, b.service.Idle())
}

// What rules make of what came back is written.
func TestRulesOfWhatCameBack(t *testing.T) {
	b := newBench(t, both)
	lead := b.lead("kim@example.com")
	b.deliver()
	contact, _ := b.one()
	b.inTx(func(ctx context.Context, tx *tenant.Tx) error {
		_, err := inbox.CreateRule(ctx, tx, inbox.Rule{
			Name: "Later", Enabled: true, Event: inbox.Updated, Definition: inbox.Definition{Then: inbox.Actions{SnoozeMinutes: 60}},
		}, b.who())
		return err
	})
	b.service.Edit(contact, map[string]string{"company": "Lee & Sons", "hs_lead_status": "IN_PROGRESS"})
	b.read()
	require.Equal(t, inbox.Snoozed, b.get(lead.ID).State)
	require.Equal(t, 1, b.deliver())
	_, has := b.one()
	require.Equal(t, "LATER", has["hs_lead_status"])
	require.Empty(t, b.service.Idle())
}

// A pass through many goes on from where it was, whoever ends in between, and takes each change once.
func TestALongPass(t *testing.T) {
	b := newBench(t, both)
	for n := range 250 {
		b.lead(fmt.Sprintf("kim%d@example.com", n))
	}
	b.sync(exchange.Order{})
	for which := range b.service.Contacts() {
		b.service.Edit(which, map[string]string{"company": "Lee & Sons"})
	}
	j := b.begin(exchange.Order{})
	_, err := b.step(&j)
	require.NoError(t, err)
	b.prepare(&j) // and the process ends
	b.service.Behave(status(http.StatusTooManyRequests, "1"))
	for !j.State.Ended() {
		wait, err := b.step(&j)
		require.NoError(t, err)
		b.clock.Step(wait)
	}
	require.Equal(t, map[string]int64{"taken": 250}, j.Counts)
	require.Len(t, eventtest.Log(t, b.tenants, b.org, event.LeadUpdated), 250)
}

// The reader ends where nothing is to be taken back any more, and there is one again once it is.
func TestTheReaderEnds(t *testing.T) {
	b := newBench(t, both)
	b.configure(connection.Change{Enabled: new(false)})
	j := b.reader()
	_, err := b.step(&j)
	require.NoError(t, err)
	require.Equal(t, job.Succeeded, j.State)
	b.drop(j.ID)
	b.configure(connection.Change{Enabled: new(true)})
	b.read()
	b.configure(connection.Change{Enabled: new(false)})
	b.configure(connection.Change{Enabled: new(true)})
	b.reader() // one still
}
