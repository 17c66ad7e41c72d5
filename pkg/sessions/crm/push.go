package crm

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/provider/hubspot"
	"visavis.dev/pkg/provider/upstream"
	"visavis.dev/pkg/sessions/inbox"
	"visavis.dev/pkg/store/tenant"
)

// What a sync counts.
const (
	written   = "written"
	unchanged = "unchanged"
	skipped   = "skipped"
	refused   = "refused"
	unmapped  = "unmapped"
	unlinked  = "unlinked"
)

// outcome is what was done at the service, to be kept here.
type outcome struct {
	// settled is when the connection was settled by which it was done; zero where nothing was.
	settled time.Time
	links   []connection.Link
	dropped []id.InboxItem
	counts  map[string]int64
}

// keep writes down what was done with a connection, and has written again what changed meanwhile.
// It answers false, and keeps nothing, where the connection itself did: what was written is
// another account's.
func (o *outcome) keep(ctx context.Context, tx *tenant.Tx, by id.Connection, now time.Time) (bool, error) {
	if o.settled.IsZero() {
		return true, nil
	}
	c, err := connection.Lock(ctx, tx, by)
	switch {
	case errdefs.IsAbsent(err, connection.Noun):
		return false, nil
	case err != nil:
		return false, err
	case !c.SettledAt.Equal(o.settled):
		return false, nil
	}
	editions := map[id.InboxItem]int64{}
	for _, l := range o.links {
		editions[l.Item] = l.Edition
	}
	return true, errors.Join(
		inbox.FollowChanged(ctx, tx, by, editions, now),
		connection.SaveLinks(ctx, tx, by, o.links, now),
		connection.DropLinks(ctx, tx, by, o.dropped))
}

// pushing is a batch on its way.
type pushing struct {
	outcome
	*Syncer
	opened *connection.Opened
	// had are what the items were there before.
	had map[id.InboxItem]connection.Link
	// unmapped are the addresses that are taken without their fields alone.
	unmapped map[string]bool
}

// push writes items into a CRM: of those that were written before, which changed since, and with all those whose contacts were
// deleted there. dry counts them alone. What it did until something failed is answered with the error, an upstream.Error.
func (s *Syncer) push(ctx context.Context, o *connection.Opened, items []inbox.Item, all, dry bool) (outcome, error) {
	which := make([]id.InboxItem, len(items))
	for i := range items {
		which[i] = items[i].ID
	}
	had, err := connection.Links(ctx, s.Tenants, o.Org, o.ID, which)
	p := pushing{outcome: outcome{settled: o.SettledAt, counts: map[string]int64{}}, Syncer: s, opened: o, had: had, unmapped: map[string]bool{}}
	if err != nil {
		return p.outcome, err
	}
	var deleted map[string]bool
	if all {
		if deleted, err = p.deleted(ctx, items); err != nil {
			return p.outcome, err
		}
	}
	var changed []inbox.Item
	for i := range items {
		item := &items[i]
		link, linked := had[item.ID]
		switch {
		case linked && !goes(item):
			p.counts[unlinked]++
			p.dropped = append(p.dropped, link.Item)
		case !goes(item):
			p.counts[skipped]++
		case linked && link.Edition >= item.Edition && !deleted[link.External]:
			p.counts[unchanged]++
		case dry:
			p.counts[written]++
		default:
			changed = append(changed, *item)
		}
	}
	if dry {
		p.dropped = nil
	}
	err = p.write(ctx, changed)
	return p.outcome, err
}

// deleted are the contacts, by their ids, that are gone there of items that did not change since they were written.
func (p *pushing) deleted(ctx context.Context, items []inbox.Item) (gone map[string]bool, err error) {
	var ids []string
	for i := range items {
		if link, linked := p.had[items[i].ID]; linked && goes(&items[i]) && link.Edition >= items[i].Edition {
			ids = append(ids, link.External)
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	slices.Sort(ids)
	ids = slices.Compact(ids) // several items of an address are one contact
	began := p.Clock.Now()
	err = p.opened.WithSecret(func(token string) (err error) {
		gone, err = p.opened.HubSpot(p.Egress, token).Deleted(ctx, ids)
		return err
	})
	p.report("sync.read", began, err)
	return gone, err
}

// goes says whether an item is written: whose visitor left an address, and did not object.
func goes(i *inbox.Item) bool {
	return i.ForgottenAt == nil && i.State != inbox.Spam && i.Contact != nil && i.Contact.Email != nil &&
		(i.Contact.Consent == nil || i.Contact.Consent.Given)
}

// write writes items by their addresses: the newest item of an address counts, wherever it stands, and
// all are linked with the contact. Nothing is written by a contact's id, which could give somebody's
// contact another one's address.
func (p *pushing) write(ctx context.Context, items []inbox.Item) error {
	if len(items) == 0 {
		return nil
	}
	var addresses []string
	newest := map[string]*inbox.Item{}
	for i := range items {
		address := addressOf(&items[i])
		if newest[address] == nil {
			addresses = append(addresses, address)
		}
		newest[address] = &items[i]
	}
	last, err := inbox.Newest(ctx, p.Tenants, p.opened.Org, kinds, addresses)
	if err != nil {
		return err
	}
	for i := range last {
		newest[addressOf(&last[i])] = &last[i]
	}
	batch := make([]*inbox.Item, len(addresses))
	for i, address := range addresses {
		batch[i] = newest[address]
	}
	found, err := p.upsert(ctx, batch)
	for i := range items {
		address := addressOf(&items[i])
		switch contact, ok := found[address]; {
		case ok:
			p.counts[written]++
			p.links = append(p.links, connection.Link{Item: items[i].ID, External: contact, Edition: items[i].Edition})
		case p.unmapped[address]:
			p.counts[unmapped]++
		case err == nil:
			p.counts[refused]++
		}
	}
	return err
}

func addressOf(i *inbox.Item) string { return strings.ToLower(*i.Contact.Email) }

// upsert writes a batch. The service takes all of it or nothing, so where it takes nothing each
// is tried alone; what is refused then stays as it is.
func (p *pushing) upsert(ctx context.Context, batch []*inbox.Item) (map[string]string, error) {
	contacts := make([]hubspot.Contact, len(batch))
	for i, item := range batch {
		contacts[i] = p.contact(item)
	}
	found, err := p.ask(ctx, contacts)
	switch {
	case !refuses(err):
		return found, err
	case len(batch) == 1:
		return nil, p.askBare(ctx, contacts[0])
	}
	found = map[string]string{}
	for i, item := range batch {
		now, err := inbox.Get(ctx, p.Tenants, p.opened.Org, item.ID)
		if err != nil {
			return found, err
		}
		if now.Edition != item.Edition { // the visitor may be forgotten by now; its own job writes it
			continue
		}
		one, err := p.ask(ctx, contacts[i:i+1])
		if refuses(err) {
			err = p.askBare(ctx, contacts[i])
		}
		if err != nil {
			return found, err
		}
		maps.Copy(found, one)
	}
	return found, nil
}

// askBare finds out why a contact is refused: where its address alone is taken it is for its fields, which is told of
// the connection, as its mapping can be wrong for all.
func (p *pushing) askBare(ctx context.Context, c hubspot.Contact) error {
	if len(c.Properties) == 0 {
		return nil
	}
	began := p.Clock.Now()
	_, err := p.call(ctx, []hubspot.Contact{{Email: c.Email}})
	if refuses(err) {
		return nil
	}
	if err == nil {
		p.unmapped[c.Email] = true
		p.report("sync.upsert", began, upstream.ErrRejected)
	}
	return err
}

// refuses says whether an error is of what was written, as an address that the service finds wrong.
func refuses(err error) bool {
	return errors.Is(err, upstream.ErrRejected) && (upstream.StatusOf(err) == http.StatusBadRequest || upstream.StatusOf(err) == http.StatusUnprocessableEntity)
}

// busy says whether an error is that something else writes there just now.
func busy(err error) bool {
	return upstream.StatusOf(err) == http.StatusConflict || upstream.StatusOf(err) == http.StatusLocked
}

// ask writes contacts, and reports how that went, unless that says nothing of the connection.
func (p *pushing) ask(ctx context.Context, some []hubspot.Contact) (map[string]string, error) {
	began := p.Clock.Now()
	found, err := p.call(ctx, some)
	if !refuses(err) && !busy(err) {
		p.report("sync.upsert", began, err)
	}
	return found, err
}

// call writes contacts with the first secret that the service takes.
func (p *pushing) call(ctx context.Context, some []hubspot.Contact) (found map[string]string, err error) {
	err = p.opened.WithSecret(func(token string) (err error) {
		found, err = p.opened.HubSpot(p.Egress, token).Upsert(ctx, some)
		return err
	})
	return found, err
}

func (p *pushing) report(call string, began time.Time, err error) {
	p.Report.Report(p.opened.Org, p.opened.ID, connection.OutcomeOf(call, began, p.Clock.Now(), err))
}
