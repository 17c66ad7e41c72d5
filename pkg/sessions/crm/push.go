package crm

import (
	"context"
	"errors"
	"maps"
	"net/http"
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
	unlinked  = "unlinked"
)

// outcome is what was done at the service, to be kept here.
type outcome struct {
	links   []connection.Link
	dropped []id.InboxItem
	counts  map[string]int64
}

// keep writes down what was done with a connection, and has written again what changed meanwhile.
// It answers false, and keeps nothing, where the connection itself did: what was written is
// another account's.
func (o *outcome) keep(ctx context.Context, tx *tenant.Tx, by connection.Connection, now time.Time) (bool, error) {
	c, err := connection.Lock(ctx, tx, by.ID)
	switch {
	case errdefs.IsAbsent(err, connection.Noun):
		return false, nil
	case err != nil:
		return false, err
	case !c.SettledAt.Equal(by.SettledAt):
		return false, nil
	}
	editions := map[id.InboxItem]int64{}
	for _, l := range o.links {
		editions[l.Item] = l.Edition
	}
	return true, errors.Join(
		inbox.FollowChanged(ctx, tx, by.ID, editions, now),
		connection.SaveLinks(ctx, tx, by.ID, o.links, now),
		connection.DropLinks(ctx, tx, by.ID, o.dropped))
}

// pushing is a batch on its way.
type pushing struct {
	outcome
	*Syncer
	opened *connection.Opened
	// had are what the items were there before.
	had map[id.InboxItem]connection.Link
}

// push writes items into a CRM. What it did until something failed is answered with the error, an
// upstream.Error.
func (s *Syncer) push(ctx context.Context, o *connection.Opened, items []inbox.Item, dry bool) (outcome, error) {
	which := make([]id.InboxItem, len(items))
	for i := range items {
		which[i] = items[i].ID
	}
	had, err := connection.Links(ctx, s.Tenants, o.Org, o.ID, which)
	p := pushing{outcome: outcome{counts: map[string]int64{}}, Syncer: s, opened: o, had: had}
	if err != nil {
		return p.outcome, err
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
		case linked && link.Edition >= item.Edition:
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

// goes says whether an item is written: whose visitor left an address, and did not object.
func goes(i *inbox.Item) bool {
	return i.ForgottenAt == nil && i.State != inbox.Spam && i.Contact != nil && i.Contact.Email != nil &&
		(i.Contact.Consent == nil || i.Contact.Consent.Given)
}

// write writes items by their addresses, each of which is written once: the newest item of it
// counts, and all are linked with the contact. Nothing is written by a contact's id, which could
// give somebody's contact another one's address.
func (p *pushing) write(ctx context.Context, items []inbox.Item) error {
	if len(items) == 0 {
		return nil
	}
	var (
		order  []string
		newest = map[string]*inbox.Item{}
	)
	for i := range items {
		address := addressOf(&items[i])
		if newest[address] == nil {
			order = append(order, address)
		}
		newest[address] = &items[i]
	}
	batch := make([]*inbox.Item, len(order))
	for i, address := range order {
		batch[i] = newest[address]
	}
	found, err := p.upsert(ctx, batch)
	for i := range items {
		w, ok := found[addressOf(&items[i])]
		if !ok {
			if err == nil {
				p.counts[refused]++
			}
			continue
		}
		p.counts[written]++
		p.links = append(p.links, connection.Link{Item: items[i].ID, External: w.ID, Edition: items[i].Edition})
	}
	return err
}

func addressOf(i *inbox.Item) string { return strings.ToLower(*i.Contact.Email) }

// upsert writes a batch. The service takes all of it or nothing, so where it takes nothing each
// is tried alone; what is refused then stays as it is.
func (p *pushing) upsert(ctx context.Context, batch []*inbox.Item) (map[string]hubspot.Written, error) {
	contacts := make([]hubspot.Contact, len(batch))
	for i, item := range batch {
		contacts[i] = p.contact(item)
	}
	found, err := p.ask(ctx, contacts)
	switch {
	case !refuses(err):
		return found, err
	case len(batch) == 1:
		return nil, nil
	}
	found = map[string]hubspot.Written{}
	for i, item := range batch {
		now, err := inbox.Get(ctx, p.Tenants, p.opened.Org, item.ID)
		if err != nil {
			return found, err
		}
		if now.Edition != item.Edition { // the visitor may be forgotten by now; its own job writes it
			continue
		}
		one, err := p.ask(ctx, contacts[i:i+1])
		if err != nil && !refuses(err) {
			return found, err
		}
		maps.Copy(found, one)
	}
	return found, nil
}

// refuses says whether an error is of what was written, as an address that the service finds wrong.
func refuses(err error) bool {
	return errors.Is(err, upstream.ErrRejected) && (upstream.StatusOf(err) == http.StatusBadRequest || upstream.StatusOf(err) == http.StatusUnprocessableEntity)
}

// busy says whether an error is that something else writes there just now.
func busy(err error) bool {
	return upstream.StatusOf(err) == http.StatusConflict || upstream.StatusOf(err) == http.StatusLocked
}

// ask writes contacts with the first secret that the service takes, and reports how that went,
// unless that says nothing of the connection.
func (p *pushing) ask(ctx context.Context, some []hubspot.Contact) (found map[string]hubspot.Written, err error) {
	began := p.Clock.Now()
	err = p.opened.WithSecret(func(token string) (err error) {
		found, err = p.opened.HubSpot(p.Egress, token).Upsert(ctx, some)
		return err
	})
	if !refuses(err) && !busy(err) {
		p.Report.Report(p.opened.Org, p.opened.ID, connection.OutcomeOf("sync.upsert", began, p.Clock.Now(), err))
	}
	return found, err
}
