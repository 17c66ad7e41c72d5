package crm_test

import (
	"context"
	"maps"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/eventing/event/eventtest"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/sessions/exchange"
	"visavis.dev/pkg/sessions/inbox"
	"visavis.dev/pkg/store/tenant"
)

// owned has whoever deals with an item be the contact's owner, both ways.
func owned(takesBack bool) map[string]any {
	return map[string]any{"takesBack": takesBack, "properties": map[string]any{"firstName": "firstname", "assignee": "hubspot_owner_id"}}
}

// colleague is somebody with a mail address who has a place, and is of the inbox's team.
func (b *bench) colleague(email string, team bool) id.Person {
	b.t.Helper()
	who := id.NewPerson()
	db, err := b.tenants.Shard(context.Background(), "a")
	require.NoError(b.t, err)
	_, err = db.Exec(context.Background(), `
		INSERT INTO person (org_id, id, name, email, age_band, state, metadata, edition, created_at, updated_at)
		VALUES ($1, $2, 'Ada', $3, 'adult', 'active', '{}', 1, now(), now())`, b.org, who, email)
	require.NoError(b.t, err)
	_, err = db.Exec(context.Background(), `
		INSERT INTO membership (org_id, id, person_id, portal_id, role, enabled, metadata, edition, created_at, updated_at, told_on)
		VALUES ($1, gen_random_uuid(), $2, gen_random_uuid(), 'staff', true, '{}', 1, now(), now(), true)`, b.org, who)
	require.NoError(b.t, err)
	if team {
		b.inTx(func(ctx context.Context, tx *tenant.Tx) error {
			m := inbox.Member{Person: who, Departments: []string{}}
			return m.Save(ctx, tx, b.who())
		})
	}
	return who
}

func (b *bench) assign(which id.InboxItem, who id.Person) {
	b.t.Helper()
	b.change(which, func(i *inbox.Item) { i.Assignee = who })
}

// Whoever deals with a lead owns its contact, where the account has an owner of their address, and the other way round where they are of the team.
func TestOwners(t *testing.T) {
	b := newBench(t, owned(true))
	b.service.Owners = map[string]string{"71": "Ada@example.com", "72": "ben@example.com", "73": "stranger@example.com", "74": "guest@example.com"}
	ada, ben, nobody := b.colleague("ada@example.com", true), b.colleague("Ben@Example.com", true), b.colleague("nobody@example.com", true)
	b.colleague("guest@example.com", false)
	lead := b.lead("kim@example.com")
	b.assign(lead.ID, ada)
	b.deliver()
	contact, has := b.one()
	require.Equal(t, "71", has["hubspot_owner_id"])

	b.service.Edit(contact, map[string]string{"hubspot_owner_id": "72"})
	b.read()
	require.Equal(t, ben, b.get(lead.ID).Assignee)
	require.Zero(t, b.deliver(), "it goes back to nobody")

	// Owners who are not of the team, and nobody, change nothing here.
	for _, owner := range []string{"73", "74", "99", ""} {
		b.service.Edit(contact, map[string]string{"hubspot_owner_id": owner})
		b.read()
		require.Equal(t, ben, b.get(lead.ID).Assignee)
	}
	writes := b.writes()
	require.Equal(t, map[string]int64{"unchanged": 1}, b.sync(exchange.Order{}))
	require.Equal(t, writes, b.writes())

	// Who owns no contacts there, and nobody, change nothing there.
	b.assign(lead.ID, ada)
	b.deliver()
	for _, who := range []id.Person{nobody, {}} {
		b.assign(lead.ID, who)
		b.deliver()
		_, has = b.one()
		require.Equal(t, "71", has["hubspot_owner_id"])
	}

	// Where both changed it, the inbox's holds.
	b.assign(lead.ID, ben)
	b.service.Edit(contact, map[string]string{"hubspot_owner_id": "73"})
	b.deliver()
	_, has = b.one()
	require.Equal(t, "72", has["hubspot_owner_id"])
	require.Equal(t, ben, b.get(lead.ID).Assignee)
	require.Empty(t, b.service.Idle())
}

// Owners are taken back only where that is switched on, and neither read nor written where properties does not name them.
func TestOwnersOneWay(t *testing.T) {
	b := newBench(t, owned(false))
	b.service.Owners = map[string]string{"71": "ada@example.com", "72": "ben@example.com"}
	ada := b.colleague("ada@example.com", true)
	b.colleague("ben@example.com", true)
	lead := b.lead("kim@example.com")
	b.assign(lead.ID, ada)
	b.deliver()
	contact, has := b.one()
	require.Equal(t, "71", has["hubspot_owner_id"])
	b.service.Edit(contact, map[string]string{"hubspot_owner_id": "72"})
	b.sync(exchange.Order{})
	require.Equal(t, ada, b.get(lead.ID).Assignee)

	b = newBench(t, maps.Clone(both))
	lead = b.lead("kim@example.com")
	b.assign(lead.ID, b.colleague("ada@example.com", true))
	b.deliver()
	_, has = b.one()
	require.NotContains(t, has, "hubspot_owner_id")
	require.NotContains(t, b.service.Requests(), "GET /crm/owners/2026-03")
}

// Somebody who is gone by the commit is given nothing, and a token that may not read owners is told of.
func TestOwnersWhoAreGone(t *testing.T) {
	b := newBench(t, owned(true))
	b.service.Owners = map[string]string{"71": "ada@example.com"}
	ada := b.colleague("ada@example.com", true)
	lead := b.lead("kim@example.com")
	b.deliver()
	contact, _ := b.one()
	b.service.Edit(contact, map[string]string{"hubspot_owner_id": "71"})
	j := b.reader()
	commit := b.prepare(&j)
	db, err := b.tenants.Shard(t.Context(), "a")
	require.NoError(t, err)
	_, err = db.Exec(t.Context(), `UPDATE membership SET enabled = false WHERE org_id = $1 AND person_id = $2`, b.org, ada)
	require.NoError(t, err)
	commit()
	require.Zero(t, b.get(lead.ID).Assignee)

	b = newBench(t, owned(true))
	lead = b.lead("kim@example.com")
	b.assign(lead.ID, b.colleague("ada@example.com", true))
	j = b.begin(exchange.Order{})
	_, err = b.step(&j)
	require.NoError(t, err)
	require.Equal(t, []any{job.Failed, "refused"}, []any{j.State, j.ErrorCode})
	b.service.Owners = map[string]string{"71": "ada@example.com"}
	b.service.Behave(nil, nil, status(http.StatusBadGateway, "")) // of the account, the contact and the owners
	j = b.begin(exchange.Order{})
	_, err = b.step(&j)
	require.NoError(t, err)
	require.False(t, j.State.Ended())
	_, err = b.step(&j)
	require.NoError(t, err)
	require.Equal(t, map[string]int64{"written": 1}, j.Counts)
}

// An owner who was to be written with something else that is refused is written once that is taken.
func TestAnOwnerBesideWhatIsRefused(t *testing.T) {
	b := newBench(t, map[string]any{"takesBack": true, "properties": map[string]any{"firstName": "firstname", "company": "company", "assignee": "hubspot_owner_id"}})
	b.service.Owners = map[string]string{"71": "ada@example.com", "72": "ben@example.com"}
	ada, ben := b.colleague("ada@example.com", true), b.colleague("ben@example.com", true)
	lead := b.lead("kim@example.com")
	b.assign(lead.ID, ben)
	b.deliver()
	contact, _ := b.one()
	b.change(lead.ID, func(i *inbox.Item) {
		i.Assignee, i.Contact = ada, &inbox.Contact{Name: new("Kimberly Lee"), Email: i.Contact.Email}
	})
	b.service.Edit(contact, map[string]string{"company": "Lee & Sons"})
	b.service.Behave(nil, status(http.StatusBadRequest, ""), nil, nil, nil, status(http.StatusBadRequest, "")) // owners are three pages
	require.Equal(t, map[string]int64{"unmapped": 1, "taken": 1}, b.sync(exchange.Order{}))
	require.Equal(t, map[string]int64{"written": 1}, b.sync(exchange.Order{}))
	_, has := b.one()
	require.Equal(t, []string{"Kimberly", "71", "Lee & Sons"}, []string{has["firstname"], has["hubspot_owner_id"], has["company"]})
	require.Equal(t, ada, b.get(lead.ID).Assignee)
}

// Where owners are compared from now on, those whom contacts have stay until somebody changes them.
func TestOwnersAreSwitchedOn(t *testing.T) {
	b := newBench(t, map[string]any{"takesBack": true, "properties": map[string]any{"firstName": "firstname"}})
	b.service.Owners = map[string]string{"71": "ada@example.com", "72": "ben@example.com"}
	ada, ben := b.colleague("ada@example.com", true), b.colleague("ben@example.com", true)
	kim, lee := b.lead("kim@example.com"), b.lead("lee@example.com")
	b.deliver()
	of := func(i inbox.Item) string { return b.links(i.ID)[i.ID].External }
	b.service.Edit(of(kim), map[string]string{"hubspot_owner_id": "72"})
	b.assign(kim.ID, ada)
	b.assign(lee.ID, ada)
	b.deliver()
	b.configure(connection.Change{Config: new(connection.Config{"baseUrl": b.service.URL, "takesBack": true, "properties": owned(true)["properties"]})})
	b.read()
	require.Equal(t, map[string]int64{"unchanged": 2}, b.sync(exchange.Order{}))
	has := b.service.Contacts()
	require.Equal(t, []string{"72", "71"}, []string{has[of(kim)]["hubspot_owner_id"], has[of(lee)]["hubspot_owner_id"]})
	require.Equal(t, ada, b.get(kim.ID).Assignee)

	b.service.Edit(of(kim), map[string]string{"hubspot_owner_id": "71"})
	b.service.Edit(of(lee), map[string]string{"hubspot_owner_id": "72"})
	b.read()
	require.Equal(t, []id.Person{ada, ben}, []id.Person{b.get(kim.ID).Assignee, b.get(lee.ID).Assignee})
	b.assign(kim.ID, ben)
	b.deliver()
	require.Equal(t, "72", b.service.Contacts()[of(kim)]["hubspot_owner_id"])
}

// Who owns no contacts any more, or is of the team no more, changed nothing here: what people there change is taken.
func TestOwnersWhoLeave(t *testing.T) {
	for name, leave := range map[string]func(b *bench, who id.Person){
		"the account": func(b *bench, _ id.Person) { b.service.Owners = map[string]string{"72": "ben@example.com"} },
		"the team": func(b *bench, who id.Person) {
			db, err := b.tenants.Shard(t.Context(), "a")
			require.NoError(t, err)
			_, err = db.Exec(t.Context(), `DELETE FROM inbox_member WHERE org_id = $1 AND person_id = $2`, b.org, who)
			require.NoError(t, err)
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, owned(true))
			b.service.Owners = map[string]string{"71": "ada@example.com", "72": "ben@example.com"}
			ada, ben := b.colleague("ada@example.com", true), b.colleague("ben@example.com", true)
			lead := b.lead("kim@example.com")
			b.assign(lead.ID, ada)
			b.deliver()
			contact, _ := b.one()
			leave(b, ada)
			b.service.Edit(contact, map[string]string{"hubspot_owner_id": "72"})
			b.clock.Step(time.Hour)
			b.read()
			require.Equal(t, ben, b.get(lead.ID).Assignee)
			require.Zero(t, b.deliver())
			_, has := b.one()
			require.Equal(t, "72", has["hubspot_owner_id"])
		})
	}
}

// An owner who left since owners were read costs a contact nothing else. One who is refused though they are an owner is told of.
func TestAnOwnerWhoIsRefused(t *testing.T) {
	b := newBench(t, owned(true))
	b.service.Owners = map[string]string{"71": "ada@example.com", "72": "ben@example.com"}
	ada, ben := b.colleague("ada@example.com", true), b.colleague("ben@example.com", true)
	kim := b.lead("kim@example.com")
	b.assign(kim.ID, ben)
	b.deliver()
	b.service.Owners = map[string]string{"72": "ben@example.com"}
	lee := b.lead("lee@example.com")
	b.assign(lee.ID, ada)
	b.change(kim.ID, func(i *inbox.Item) {
		i.Assignee, i.Contact = ada, &inbox.Contact{Name: new("Kimberly Lee"), Email: i.Contact.Email}
	})
	require.Equal(t, map[string]int64{"written": 2}, b.sync(exchange.Order{}))
	has := func(which id.InboxItem) map[string]string {
		return b.service.Contacts()[b.links(which)[which].External]
	}
	require.Equal(t, []string{"Kimberly", "72"}, []string{has(kim.ID)["firstname"], has(kim.ID)["hubspot_owner_id"]})
	require.Equal(t, map[string]string{"email": "lee@example.com", "firstname": "Kim"}, has(lee.ID))
	b.syncer.Report.Flush(t.Context())
	require.Empty(t, eventtest.Log(t, b.tenants, b.org, event.ConnectionFailed))
	writes := b.writes()
	require.Equal(t, map[string]int64{"unchanged": 2}, b.sync(exchange.Order{}))
	require.Equal(t, writes, b.writes())

	// Who comes back as another one owns them again.
	b.clock.Step(time.Hour)
	b.service.Owners["74"] = "cem@example.com"
	cem := b.colleague("cem@example.com", true)
	sam := b.lead("sam@example.com")
	b.assign(sam.ID, ben)
	b.deliver()
	delete(b.service.Owners, "74")
	b.service.Owners["75"] = "cem@example.com"
	b.assign(sam.ID, cem)
	require.Equal(t, map[string]int64{"written": 1, "unchanged": 2}, b.sync(exchange.Order{}))
	require.Equal(t, "75", has(sam.ID)["hubspot_owner_id"])
	b.change(sam.ID, func(i *inbox.Item) { i.State = inbox.Spam })

	b.service.Owners["71"], b.service.NoOwner = "ada@example.com", "71"
	b.clock.Step(time.Hour)
	b.change(lee.ID, func(i *inbox.Item) {
		i.Tags, i.Contact = []string{"again"}, &inbox.Contact{Name: new("Lee Park"), Email: i.Contact.Email}
	})
	require.Equal(t, map[string]int64{"unmapped": 2, "unlinked": 1}, b.sync(exchange.Order{}))
	require.Equal(t, "Lee", has(lee.ID)["firstname"])
	require.Equal(t, "72", has(kim.ID)["hubspot_owner_id"])
	require.Equal(t, map[string]int64{"unmapped": 2, "skipped": 1}, b.sync(exchange.Order{}))
	b.service.NoOwner = ""
	require.Equal(t, map[string]int64{"written": 2, "skipped": 1}, b.sync(exchange.Order{}))
	require.Equal(t, []string{"71", "71"}, []string{has(kim.ID)["hubspot_owner_id"], has(lee.ID)["hubspot_owner_id"]})
}
