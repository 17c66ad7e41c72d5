package crm

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/provider/hubspot"
	"visavis.dev/pkg/sessions/exchange"
	"visavis.dev/pkg/sessions/inbox"
	"visavis.dev/pkg/store/tenant"
)

// person is somebody by their address: the newest item of it counts, wherever it stands, and all are linked with the contact.
type person struct {
	address string
	item    *inbox.Item
	// base is how the item was last compared; nil where the contact is to be found by its address.
	base *connection.Link
	// news says that the item is to be written where nothing is known of what was compared.
	news bool
	// there is the contact; nil for none. elsewhere says that there is one that is not answered by its id, and gone that it was deleted.
	there           *hubspot.Contact
	elsewhere, gone bool
	// another says that the contact is first of all another address's, which is what it is compared by: the item is linked with it alone.
	another bool
	// displaces says that the contact was compared with other items, whose place this one takes.
	displaces bool
	changes
	// over is what was written over, by the properties, and withheld those that were not written, as they are refused.
	over, withheld map[string]string
	// written says that all that was to be written was, refused that the service does not take the address, and unmapped that it takes
	// the address alone.
	written, refused, unmapped bool
	// counted says that what is taken back is counted.
	counted bool
}

// exchanging is a batch on its way.
type exchanging struct {
	*Syncer
	opened  *connection.Opened
	account string
	mapping mapping
	// had are what the items were there before, in the same account.
	had    map[id.InboxItem]connection.Link
	people []*person
	// dropped are items that are let go, and links those of items of which another one takes the place.
	dropped []id.InboxItem
	links   []connection.Link
	counts  map[string]int64
	again   int64
	// askedOwners says that the owners are as they were while the batch was on its way.
	askedOwners bool
}

func (e *exchanging) key() settled { return settled{e.opened.Org, e.opened.ID, e.opened.SettledAt} }

// exchange has items and their contacts be alike: what changed on one side since they were last compared goes to the other. all compares those
// too that did not change here, and dry counts alone. What it did until something failed is answered with the error, an upstream.Error.
func (s *Syncer) exchange(ctx context.Context, o *connection.Opened, items []inbox.Item, all, dry bool) (exchange.Did, error) {
	e := exchanging{Syncer: s, opened: o, mapping: mappingOf(o.Config), counts: map[string]int64{}}
	err := e.do(ctx, items, all, dry)
	d := exchange.Did{Settled: o.SettledAt, Counts: e.counts, Again: e.again, Keep: e.keep}
	if dry {
		d.Keep = func(context.Context, *tenant.Tx, time.Time) error { return nil }
	}
	return d, err
}

func (e *exchanging) do(ctx context.Context, items []inbox.Item, all, dry bool) error {
	written, err := e.sort(ctx, items, all)
	if err != nil || len(written) == 0 {
		return err
	}
	began := e.Clock.Now()
	if err = e.read(ctx); err == nil {
		err = e.knowOwners(ctx)
	}
	if err != nil || all {
		e.report("sync.read", began, err)
	}
	if err != nil {
		return err
	}
	var news, changed []*person
	for _, p := range e.people {
		p.gone = p.gone && p.there == nil
		switch {
		case p.gone, p.there == nil && p.elsewhere:
			p.written = true
			continue
		case p.there == nil:
			p.write = e.mapping.ours(p.item)
			maps.DeleteFunc(p.write, func(_, value string) bool { return value == "" })
			news = append(news, p)
			continue
		case p.another:
			p.written = true
			continue
		}
		p.changes = e.mapping.compare(p.item, *p.there, p.base, p.news, e.Clock.Now())
		if p.written = len(p.write) == 0; !p.written {
			changed = append(changed, p)
		}
	}
	if dry {
		for _, p := range e.people {
			p.written = true
		}
	} else {
		var stands bool
		if stands, err = e.displace(ctx, news, changed); err == nil && stands { // else nothing of this is kept
			if err = e.write(ctx, news, true); err == nil {
				err = e.write(ctx, changed, false)
			}
		}
	}
	if !all && len(news)+len(changed) == 0 {
		e.report("sync.read", began, nil) // else what is written says how it goes
	}
	e.count(written, dry, err)
	return err
}

// sort finds out who the items are of, and answers those that are written. What is not to be compared is counted.
func (e *exchanging) sort(ctx context.Context, items []inbox.Item, all bool) (written []inbox.Item, err error) {
	if e.had, err = connection.Links(ctx, e.Tenants, e.opened.Org, e.opened.ID, idsOf(items)); err != nil {
		return nil, err
	}
	var addresses []string
	for i := range items {
		item := &items[i]
		link, linked := e.had[item.ID]
		switch {
		case !goes(item) && linked:
			e.counts[exchange.Unlinked]++
			e.dropped = append(e.dropped, item.ID)
		case !goes(item):
			e.counts[exchange.Skipped]++
		case !all && linked && link.Edition >= item.Edition:
			e.counts[exchange.Unchanged]++
		default:
			written = append(written, *item)
			if to := addressOf(item); !slices.Contains(addresses, to) {
				addresses = append(addresses, to)
			}
		}
	}
	if len(written) == 0 {
		return nil, nil
	}
	if e.account, err = e.accountOf(ctx); err != nil {
		return nil, err
	}
	newest, err := inbox.Newest(ctx, e.Tenants, e.opened.Org, kinds, addresses)
	if err != nil {
		return nil, err
	}
	of := map[string]*inbox.Item{}
	for _, some := range [][]inbox.Item{written, newest} { // those that are written are older, or changed since
		for i := range some {
			of[addressOf(&some[i])] = &some[i]
		}
	}
	links, err := connection.Links(ctx, e.Tenants, e.opened.Org, e.opened.ID, idsOf(newest))
	if err != nil {
		return nil, err
	}
	maps.Copy(e.had, links)
	maps.DeleteFunc(e.had, func(_ id.InboxItem, l connection.Link) bool { return l.Account != "" && l.Account != e.account })
	for _, to := range addresses {
		p := &person{address: to, item: of[to], news: true}
		if link, linked := e.had[p.item.ID]; linked {
			p.news = link.Edition < p.item.Edition
			if was, known := link.Ours[address]; !known || was == digests(p.item, map[string]string{address: to})[address] {
				p.base = &link
			}
		}
		e.people = append(e.people, p)
	}
	return written, nil
}

func idsOf(items []inbox.Item) []id.InboxItem {
	all := make([]id.InboxItem, len(items))
	for i := range items {
		all[i] = items[i].ID
	}
	return all
}

// goes says whether an item is written: whose visitor left an address, and did not object.
func goes(i *inbox.Item) bool {
	return i.ForgottenAt == nil && i.State != inbox.Spam && i.Contact != nil && i.Contact.Email != nil &&
		(i.Contact.Consent == nil || i.Contact.Consent.Given)
}

func addressOf(i *inbox.Item) string { return strings.ToLower(*i.Contact.Email) }

// call calls the service with the first secret that it takes.
func (e *exchanging) call(_ context.Context, do func(hubspot.Client) error) error {
	return e.opened.WithSecret(func(token string) error { return do(e.opened.HubSpot(e.Egress, token)) })
}

func (e *exchanging) report(call string, began time.Time, err error) {
	e.Report.Report(e.opened.Org, e.opened.ID, connection.OutcomeOf(call, began, e.Clock.Now(), err))
}

// count counts what became of items, after an error of those alone that it did not come between, and notes the links of those of which
// another item of the same address took the place.
func (e *exchanging) count(items []inbox.Item, dry bool, err error) {
	of := map[string]*person{}
	for _, p := range e.people {
		of[p.address] = p
	}
	for i := range items {
		item := &items[i]
		p := of[addressOf(item)]
		link, linked := e.had[item.ID]
		newest := p.item.ID == item.ID
		switch {
		case p.unmapped:
			e.counts[exchange.Unmapped]++
		case p.refused:
			e.counts[exchange.Refused]++
		case !p.written && err != nil:
		case p.gone:
			e.counts[exchange.Gone]++
		case p.another:
			e.counts[exchange.Unchanged]++
		case p.written && (!linked || link.Edition < item.Edition || newest && len(p.write) > 0):
			e.counts[exchange.Written]++
			e.again++
		case p.written && newest && p.takes():
			e.again++
		case p.contested && newest:
			e.counts[exchange.Contested]++
		default: // also who changed meanwhile, and is met again
			e.counts[exchange.Unchanged]++
		}
		if !newest && p.written && p.there != nil {
			e.links = append(e.links, connection.Link{
				Item: item.ID, External: p.there.ID, Edition: item.Edition, Account: e.account, Ours: addressed(item.ID, p.address), Theirs: map[string]string{},
			})
		}
		if (p.written || p.takesAlone()) && p.takes() && (newest || !dry) && !p.counted {
			e.counts[exchange.Taken]++
			p.counted = true
		}
	}
}

// takes says whether something is taken back.
func (p *person) takes() bool {
	_, names := p.item.With(p.take)
	return len(names) > 0
}

// takesAlone says whether something is taken back where what was to be written is refused.
func (p *person) takesAlone() bool { return p.unmapped && p.there != nil && p.base != nil && p.takes() }
