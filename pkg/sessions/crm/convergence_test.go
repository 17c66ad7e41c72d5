package crm_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/sessions/exchange"
	"visavis.dev/pkg/sessions/exchange/exchangetest"
	"visavis.dev/pkg/sessions/inbox"
)

// history is what happens at random on both sides, and between them.
type history struct {
	*bench
	*exchangetest.Chance
	leads []id.InboxItem
	// addresses are those of the leads, and names how their visitors were called.
	addresses map[id.InboxItem]string
	names     map[id.InboxItem]string
	// deleted counts contacts that people deleted, by address, and overlaps how often two workers did the same at once.
	deleted  map[string]int
	overlaps int
	// refusals counts calls that were refused: an address that is refused as it is looked for is written as if it were nobody's.
	refusals int
	reading  job.Job
	// owners are the ids there of those who are of the team.
	owners map[id.Person]string
	// left says which contacts had an owner at the moment that these left, who can stay there unseen.
	left  map[string]bool
	syncs []job.Job
}

// mails are the addresses of those who own contacts unless they left, by their ids there.
var mails = map[string]string{"71": "ada@example.com", "72": "ben@example.com", "73": "cem@example.com"}

// TestConvergence has random edits on both sides, processes that end between two steps, jobs that are lost, secrets that rotate and a
// service that fails: in the end both sides are alike, and nothing was written twice.
func TestConvergence(t *testing.T) {
	exchangetest.Histories(t, func(t *testing.T, c *exchangetest.Chance) {
		config := maps.Clone(both)
		values := maps.Clone(both["values"].(map[string]any)["state"].(map[string]any))
		values["waiting"], values["done"] = []any{"WAITING"}, []any{"DONE"}
		properties := maps.Clone(both["properties"].(map[string]any))
		properties["assignee"] = "hubspot_owner_id"
		config["properties"] = properties
		config["values"] = map[string]any{"state": values}
		h := &history{
			bench: newBench(t, config), Chance: c,
			addresses: map[id.InboxItem]string{}, names: map[id.InboxItem]string{}, deleted: map[string]int{}, left: map[string]bool{},
		}
		h.service.Owners, h.owners = maps.Clone(mails), map[id.Person]string{}
		for _, owner := range slices.Sorted(maps.Keys(mails)) {
			h.owners[h.colleague(mails[owner], true)] = owner
		}
		h.reading = h.reader()
		for range 80 {
			h.clock.Step(time.Second)
			h.happen()
		}
		h.settle()
		h.requireAlike()
	})
}

// contact is one of the contacts; empty for none.
func (h *history) contact() string {
	all := slices.Sorted(maps.Keys(h.service.Contacts()))
	if len(all) == 0 {
		return ""
	}
	return exchangetest.Pick(h.Chance, all...)
}

func (h *history) happen() {
	switch h.IntN(15) {
	case 0, 1:
		h.leave()
	case 2, 3:
		h.edit()
	case 4, 5, 6:
		if which := h.contact(); which != "" {
			h.service.Edit(which, h.theirs())
		}
	case 7, 14:
		h.seldom()
	case 8, 9:
		h.send()
	case 10, 11:
		h.work(&h.reading)
	case 12:
		h.synchronize()
	case 13:
		h.fail()
	}
}

// leave has a visitor leave a lead, with an address that others may have left.
func (h *history) leave() {
	address, name := h.address(), h.Word("Our")
	i := h.lead(address, func(i *inbox.Item) {
		if i.Contact.Name = &name; h.IntN(4) == 0 {
			i.Contact.Name = nil
		}
		i.Contact.Phone = new(fmt.Sprint("+49 30 ", 1000+h.IntN(1000)))
	})
	h.leads = append(h.leads, i.ID)
	h.addresses[i.ID], h.names[i.ID] = address, name
}

// address is one that others may have left.
func (h *history) address() string { return fmt.Sprintf("kim%d@example.com", h.IntN(3)) }

// edit has the team or the visitor change a lead.
func (h *history) edit() {
	if len(h.leads) == 0 {
		return
	}
	which := exchangetest.Pick(h.Chance, h.leads...)
	if h.get(which).ForgottenAt != nil {
		return
	}
	h.change(which, func(i *inbox.Item) {
		i.Tags = []string{h.Word("t")} // a contact alone is no change by the team
		contact := *i.Contact
		i.Contact = &contact
		switch h.IntN(6) {
		case 5: // a visitor corrects their address
			h.addresses[which] = h.address()
			contact.Email = new(h.addresses[which])
		case 4:
			i.Assignee = exchangetest.Pick(h.Chance, slices.SortedFunc(maps.Keys(h.owners), func(a, b id.Person) int { return strings.Compare(h.owners[a], h.owners[b]) })...)
		case 0:
			if i.State.Active() {
				i.State = exchangetest.Pick(h.Chance, inbox.Open, inbox.Waiting, inbox.Snoozed, inbox.Won, inbox.Lost, inbox.Done)
			} else {
				i.State = inbox.Open
			}
		case 1:
			i.Band = new(exchangetest.Pick(h.Chance, inbox.Bands()...))
		case 2:
			contact.Phone = new(fmt.Sprint("+49 40 ", 1000+h.IntN(1000)))
		case 3:
			h.names[which] = h.Word("Our")
			contact.Name = new(h.names[which] + exchangetest.Pick(h.Chance, "", " Lee", " van Lee"))
		}
	})
}

// theirs is something that people change of a contact.
func (h *history) theirs() map[string]string {
	switch h.IntN(7) {
	case 4:
		if owners := slices.Sorted(maps.Keys(h.service.Owners)); len(owners) > 0 {
			return map[string]string{"hubspot_owner_id": exchangetest.Pick(h.Chance, owners...)}
		}
		return nil
	case 0:
		return map[string]string{"firstname": h.Word("Their"), "lastname": exchangetest.Pick(h.Chance, "", h.Word("Lee"))}
	case 1:
		return map[string]string{"phone": exchangetest.Pick(h.Chance, "", fmt.Sprint("+49 89 ", 1000+h.IntN(1000)))}
	case 2:
		return map[string]string{"company": exchangetest.Pick(h.Chance, "", h.Word("Company")), "jobtitle": exchangetest.Pick(h.Chance, "", "Owner")}
	case 3:
		return map[string]string{"visavis_band": exchangetest.Pick(h.Chance, "hot", "warm", "cold")}
	}
	return map[string]string{"hs_lead_status": exchangetest.Pick(h.Chance, "IN_PROGRESS", "CONNECTED", "CUSTOMER", "UNQUALIFIED", "LATER", "WAITING", "DONE")}
}

// seldom is what happens seldom.
func (h *history) seldom() {
	switch h.IntN(6) {
	case 5: // an owner leaves, or comes back
		if owner := exchangetest.Pick(h.Chance, slices.Sorted(maps.Keys(mails))...); h.service.Owners[owner] != "" {
			delete(h.service.Owners, owner)
			for which, c := range h.service.Contacts() {
				h.left[which] = h.left[which] || c["hubspot_owner_id"] == owner
			}
		} else {
			h.service.Owners[owner] = mails[owner]
			h.clock.Step(time.Minute) // until that is seen
		}
	case 0: // people delete a contact
		if which := h.contact(); which != "" {
			h.deleted[h.service.Contacts()[which]["email"]]++
			h.service.Remove(which)
		}
	case 1: // a visitor is forgotten
		if len(h.leads) > 0 {
			h.forget(exchangetest.Pick(h.Chance, h.leads...))
		}
	case 2: // a lead is spam
		if len(h.leads) > 0 {
			if which := exchangetest.Pick(h.Chance, h.leads...); h.get(which).State.Active() {
				h.change(which, func(i *inbox.Item) { i.State = inbox.Spam })
			}
		}
	case 3: // the secret is rotated, and the old one is not taken any more
		secret := h.Word("pat-")
		h.service.Token = secret
		h.rotate(connection.Secret(secret))
	case 4: // what is to be sent is lost
		if queued := h.queued(); len(queued) > 0 {
			h.drop(exchangetest.Pick(h.Chance, queued...).ID)
		}
	}
}

// send makes the step of a job that sends, or two workers make those of two at once.
func (h *history) send() {
	queued := h.queued()
	if len(queued) == 0 {
		return
	}
	j := exchangetest.Pick(h.Chance, queued...)
	if h.IntN(5) > 0 {
		h.work(&j)
		return
	}
	other := exchangetest.Pick(h.Chance, queued...)
	one, two := h.prepare(&j), h.prepare(&other)
	h.overlaps++
	two()
	one()
}

// work makes the step of a job, unless the process ends before it commits.
func (h *history) work(j *job.Job) {
	commit := h.prepare(j)
	if h.IntN(4) == 0 {
		return
	}
	if h.IntN(3) == 0 { // something changes meanwhile
		h.edit()
	}
	h.clock.Step(commit())
	if j.Kind == job.CRMSend && j.State.Ended() {
		h.drop(j.ID)
	}
}

// synchronize goes on with a sync, or begins one.
func (h *history) synchronize() {
	if len(h.syncs) == 0 || h.syncs[len(h.syncs)-1].State.Ended() {
		h.syncs = append(h.syncs, h.begin(exchange.Order{DryRun: h.IntN(5) == 0}))
	}
	h.work(&h.syncs[len(h.syncs)-1])
}

// fail has the next calls fail, before they are done or after it, or people be faster.
func (h *history) fail() {
	for range 1 + h.IntN(3) {
		switch h.IntN(7) {
		case 0:
			h.service.Behave(status(http.StatusTooManyRequests, "2"))
		case 1:
			h.service.Behave(status(http.StatusInternalServerError, ""))
		case 2:
			h.service.Behave(status(http.StatusConflict, ""))
		case 3:
			h.service.Behave(status(http.StatusBadRequest, ""))
			h.refusals++
		case 4:
			h.service.Behave(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) })
		case 5:
			h.service.Behave(h.service.Lose)
		case 6:
			if which := h.contact(); which != "" {
				h.service.Behave(nil, h.service.Meanwhile(which, map[string]string{"company": h.Word("Company")}))
			}
		}
	}
}

// settle lets everything come to its end.
func (h *history) settle() {
	h.service.Calm()
	h.service.Owners = maps.Clone(mails)
	h.clock.Step(time.Hour)
	for range 3 {
		for _, j := range h.queued() {
			_, err := h.step(&j)
			require.NoError(h.t, err)
			require.True(h.t, j.State.Ended())
			h.drop(j.ID)
		}
		h.sync(exchange.Order{})
	}
	h.read()
	require.Empty(h.t, h.queued())
	writes := h.writes()
	counts := h.sync(exchange.Order{})
	require.Equal(h.t, writes, h.writes(), "nothing is left to be written")
	require.Zero(h.t, counts["taken"]+counts["written"]+counts["unlinked"])
}

func (h *history) requireAlike() {
	require.LessOrEqual(h.t, len(h.service.Idle()), h.overlaps+h.refusals, "something was written twice")
	made := map[string]int{}
	for _, address := range h.service.Made() {
		made[address]++
	}
	contacts, newest := h.service.Contacts(), map[string]inbox.Item{}
	for _, which := range h.leads {
		i := h.get(which)
		if i.ForgottenAt != nil {
			require.Nil(h.t, i.Contact)
			require.Empty(h.t, h.links(which))
			continue
		}
		for forgotten, name := range h.names {
			if h.get(forgotten).ForgottenAt != nil && i.Contact.Name != nil {
				require.NotContains(h.t, strings.Fields(*i.Contact.Name), name, "who was forgotten came back")
			}
		}
		if i.State != inbox.Spam {
			newest[h.addresses[which]] = i
		}
	}
	there := map[string]int{}
	for _, c := range contacts {
		there[c["email"]]++
		require.Equal(h.t, 1, there[c["email"]])
	}
	for address, n := range made {
		require.LessOrEqual(h.t, n, 1+h.deleted[address], "a contact was made twice")
	}
	for address, i := range newest {
		link := h.links(i.ID)[i.ID]
		require.NotEmpty(h.t, link.External, address)
		if link.GoneAt != nil {
			require.Positive(h.t, h.deleted[address])
			require.NotContains(h.t, contacts, link.External)
			require.Zero(h.t, there[address], "what was deleted came back")
			continue
		}
		h.requireEqual(i, contacts[link.External], !h.left[link.External])
	}
}

func (h *history) requireEqual(i inbox.Item, c map[string]string, owned bool) {
	h.t.Helper()
	require.NotNil(h.t, c)
	or := func(t *string) string {
		if t == nil {
			return ""
		}
		return *t
	}
	k := i.Contact
	if k.Name != nil { // what an item does not have leaves what is there
		require.Equal(h.t, *k.Name, strings.TrimSpace(c["firstname"]+" "+c["lastname"]))
	}
	for property, ours := range map[string]string{"phone": or(k.Phone), "company": or(k.Company), "jobtitle": or(k.JobTitle), "visavis_band": string(*i.Band)} {
		if ours != "" {
			require.Equal(h.t, ours, c[property], property)
		}
	}
	if owned && !i.Assignee.IsZero() {
		require.Equal(h.t, h.owners[i.Assignee], c["hubspot_owner_id"])
	}
	require.Contains(h.t, map[inbox.State][]string{
		inbox.New: {"NEW"}, inbox.Open: {"IN_PROGRESS", "CONNECTED"}, inbox.Waiting: {"WAITING"}, inbox.Snoozed: {"LATER"},
		inbox.Won: {"CUSTOMER"}, inbox.Lost: {"UNQUALIFIED"}, inbox.Done: {"DONE"},
	}[i.State], c["hs_lead_status"])
}
