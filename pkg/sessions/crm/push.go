package crm

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"visavis.dev/pkg/base/egress"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/provider/hubspot"
	"visavis.dev/pkg/provider/upstream"
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
}

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
	if err = e.read(ctx); err != nil || all {
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
		p.changes = e.mapping.compare(p.item, *p.there, p.base, p.news)
		if p.written = len(p.write) == 0; !p.written {
			changed = append(changed, p)
		}
	}
	if dry {
		for _, p := range e.people {
			p.written = true
		}
	} else if err = e.displace(ctx, news, changed); err == nil {
		if err = e.write(ctx, news, true); err == nil {
			err = e.write(ctx, changed, false)
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

// accountOf is the account of the connection; empty where the service does not tell it to this secret.
func (e *exchanging) accountOf(ctx context.Context) (account string, err error) {
	key := settled{e.opened.Org, e.opened.ID, e.opened.SettledAt}
	if known, ok := e.accounts.Get(key); ok {
		return known, nil
	}
	err = e.call(ctx, func(c hubspot.Client) (err error) {
		account, err = c.Account(ctx)
		return err
	})
	if status := upstream.StatusOf(err); status == http.StatusForbidden || status == http.StatusNotFound {
		err = nil
	}
	switch {
	case err != nil:
		e.report("sync.account", e.Clock.Now(), err)
		return "", err
	case account != "":
		account = e.opened.Config.BaseURL(e.opened.Provider) + "/" + account
	}
	e.accounts.Add(key, account)
	return account, nil
}

// read finds the contacts of people: by their ids, and by their addresses where that finds none.
func (e *exchanging) read(ctx context.Context) error {
	var ids []string
	for _, p := range e.people {
		if p.base != nil {
			ids = append(ids, p.base.External)
		}
	}
	slices.Sort(ids)
	found, missing, err := e.readSome(ctx, slices.Compact(ids))
	var addresses []string
	for _, p := range e.people {
		if p.base != nil {
			switch there, ok := found[p.base.External]; {
			case ok:
				p.there = &there
				continue
			case missing[p.base.External]:
				p.gone = true
			default:
				p.elsewhere = true
			}
		}
		addresses = append(addresses, p.address)
	}
	if err == nil && len(addresses) > 0 {
		found, err = e.findSome(ctx, addresses)
		for _, p := range e.people {
			if there, ok := found[p.address]; ok && p.there == nil {
				p.there, p.base = &there, nil // another contact than the one that was compared
			}
		}
	}
	if err == nil {
		err = e.tellApart(ctx)
	}
	return err
}

// tellApart finds out who has the same contact as another address, which that is compared by.
func (e *exchanging) tellApart(ctx context.Context) error {
	var external []string
	for _, p := range e.people {
		if p.there != nil && !p.holds() {
			external = append(external, p.there.ID)
		}
	}
	if len(external) == 0 {
		return nil
	}
	compared, err := connection.Compared(ctx, e.Tenants, e.opened.Org, e.opened.ID, external)
	for _, p := range e.people {
		if p.there == nil || p.holds() {
			continue
		}
		p.another = p.there.Email != p.address && (p.base == nil || p.base.Theirs != nil)
		for _, l := range compared {
			if l.External == p.there.ID && (l.Account == "" || l.Account == e.account) {
				was, known := l.Ours[address]
				p.another = known && was != digest(l.Item, address, p.address) // else it takes that one's place
				p.displaces = p.displaces || l.Item != p.item.ID
			}
		}
	}
	return err
}

// displace notes that contacts are others' from now on, before these are written there: the process can end before what was written is kept, and
// nothing of these is people's change of the ones before. Whoever compared those meanwhile keeps nothing of it. Where no contact was found the one
// that an older item of the address had can be back by then.
func (e *exchanging) displace(ctx context.Context, news, changed []*person) error {
	var addresses, external []string
	for _, p := range news {
		addresses = append(addresses, p.address)
	}
	if len(addresses) > 0 {
		older, err := inbox.OfAddresses(ctx, e.Tenants, e.opened.Org, kinds, addresses)
		if err != nil {
			return err
		}
		links, err := connection.Links(ctx, e.Tenants, e.opened.Org, e.opened.ID, older)
		if err != nil {
			return err
		}
		for _, l := range links {
			if len(l.Theirs) > 0 {
				external = append(external, l.External)
			}
		}
	}
	for _, p := range changed {
		if p.displaces {
			external = append(external, p.there.ID)
		}
	}
	if len(external) == 0 {
		return nil
	}
	return e.Tenants.InTx(ctx, e.opened.Org, func(ctx context.Context, tx *tenant.Tx) error {
		return connection.Displace(ctx, tx, e.opened.ID, external, nil)
	})
}

// holds says whether the contact was compared with the item.
func (p *person) holds() bool { return p.base != nil && len(p.base.Theirs) > 0 }

// readSome reads contacts by their ids. An answer that is too large is asked for in parts; what is too large alone is left out, as if it were
// merged.
func (e *exchanging) readSome(ctx context.Context, ids []string) (found map[string]hubspot.Contact, missing map[string]bool, err error) {
	if len(ids) == 0 {
		return nil, nil, nil
	}
	err = e.call(ctx, func(c hubspot.Client) (err error) {
		found, missing, err = c.Read(ctx, ids, e.mapping.names())
		return err
	})
	if !errors.Is(err, egress.ErrTooLarge) {
		return found, missing, err
	}
	found, missing = map[string]hubspot.Contact{}, map[string]bool{}
	for _, part := range halves(ids) {
		some, gone, err := e.readSome(ctx, part)
		if err != nil {
			return nil, nil, err
		}
		maps.Copy(found, some)
		maps.Copy(missing, gone)
	}
	return found, missing, nil
}

// findSome is readSome by addresses.
func (e *exchanging) findSome(ctx context.Context, addresses []string) (found map[string]hubspot.Contact, err error) {
	err = e.call(ctx, func(c hubspot.Client) (err error) {
		found, err = c.Find(ctx, addresses, e.mapping.names())
		return err
	})
	if refuses(err) && len(addresses) > 1 || errors.Is(err, egress.ErrTooLarge) {
		found, err = map[string]hubspot.Contact{}, nil
		for _, part := range halves(addresses) {
			some, err := e.findSome(ctx, part)
			if err != nil {
				return nil, err
			}
			maps.Copy(found, some)
		}
	}
	if refuses(err) { // an address that the service finds wrong is nobody's there
		return nil, nil
	}
	return found, err
}

// halves are the two parts of some; none of one.
func halves(some []string) [][]string {
	if len(some) < 2 {
		return nil
	}
	return [][]string{some[:len(some)/2], some[len(some)/2:]}
}

// write writes people's changes, as contacts that are made or as ones that are changed. The service takes all of them or nothing, so where it takes
// nothing each is tried alone; what is refused then stays as it is.
func (e *exchanging) write(ctx context.Context, some []*person, make bool) error {
	if len(some) == 0 {
		return nil
	}
	err := e.put(ctx, some, make)
	switch {
	case !refuses(err):
		return err
	case len(some) == 1:
		return e.explain(ctx, some[0], make)
	}
	for _, p := range some {
		now, err := inbox.Get(ctx, e.Tenants, e.opened.Org, p.item.ID)
		if err != nil {
			return err
		}
		if now.Edition != p.item.Edition { // the visitor may be forgotten by now; its own job writes it
			continue
		}
		if err = e.put(ctx, []*person{p}, make); refuses(err) {
			err = e.explain(ctx, p, make)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// put writes people, and reports how that went, unless that says nothing of the connection.
func (e *exchanging) put(ctx context.Context, some []*person, make bool) error {
	began := e.Clock.Now()
	var (
		contacts []hubspot.Contact
		found    map[string]hubspot.Contact
	)
	for _, p := range some {
		c := hubspot.Contact{Email: p.address, Properties: p.write}
		if !make {
			c.ID = p.there.ID
		}
		contacts = append(contacts, c)
	}
	err := e.call(ctx, func(c hubspot.Client) (err error) {
		if make {
			found, err = c.Upsert(ctx, contacts)
		} else {
			found, err = c.Update(ctx, contacts)
		}
		return err
	})
	if !refuses(err) && !busy(err) {
		name := "sync.update"
		if make {
			name = "sync.upsert"
		}
		e.report(name, began, err)
	}
	for i, p := range some {
		key := p.address
		if !make {
			key = contacts[i].ID
		}
		if written, ok := found[key]; ok && err == nil {
			p.wrote(written)
		} else if err == nil {
			p.refused = make
		}
	}
	return err
}

// wrote notes what the service says that it has since.
func (p *person) wrote(written hubspot.Contact) {
	now := hubspot.Contact{ID: written.ID, Email: written.Email, Properties: map[string]string{}}
	if p.there != nil {
		maps.Copy(now.Properties, p.there.Properties)
	}
	maps.Copy(now.Properties, p.write)
	for name := range p.write {
		if has, told := written.Properties[name]; told {
			now.Properties[name] = has // as it has it, which can be in another form
		}
	}
	p.there, p.written = &now, true
}

// explain finds out why somebody is refused: where the address alone is taken, or there is a contact, it is for the fields, which is told of
// the connection, as its mapping can be wrong for all.
func (e *exchanging) explain(ctx context.Context, p *person, make bool) error {
	began := e.Clock.Now()
	if make {
		p.refused = true
		if len(p.write) == 0 {
			return nil
		}
		err := e.call(ctx, func(c hubspot.Client) error {
			_, err := c.Upsert(ctx, []hubspot.Contact{{Email: p.address}})
			return err
		})
		if refuses(err) {
			return nil
		}
		if err != nil {
			p.refused = false
			return err
		}
	}
	p.refused, p.unmapped = false, true
	e.report("sync.update", began, upstream.ErrRejected)
	return nil
}

// refuses says whether an error is of what was written, as an address that the service finds wrong.
func refuses(err error) bool {
	return errors.Is(err, upstream.ErrRejected) && (upstream.StatusOf(err) == http.StatusBadRequest || upstream.StatusOf(err) == http.StatusUnprocessableEntity)
}

// busy says whether an error is that something else writes there just now.
func busy(err error) bool {
	return upstream.StatusOf(err) == http.StatusConflict || upstream.StatusOf(err) == http.StatusLocked
}

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
		default: // also who changed meanwhile, and is met again
			e.counts[exchange.Unchanged]++
		}
		if !newest && p.written && p.there != nil {
			e.links = append(e.links, connection.Link{
				Item: item.ID, External: p.there.ID, Edition: item.Edition, Account: e.account, Ours: map[string]string{}, Theirs: map[string]string{},
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

// keep notes what was done, takes back what people changed, and has written again what changed meanwhile.
func (e *exchanging) keep(ctx context.Context, tx *tenant.Tx, now time.Time) error {
	links := slices.Clone(e.links)
	people := slices.Clone(e.people)
	slices.SortFunc(people, func(a, b *person) int { return strings.Compare(a.item.ID.String(), b.item.ID.String()) }) // as everybody locks them
	held := make([]id.InboxItem, len(people))
	for i, p := range people {
		held[i] = p.item.ID
	}
	compared, err := connection.LinksIn(ctx, tx, e.opened.ID, held)
	if err != nil {
		return err
	}
	editions := map[id.InboxItem]int64{}
	for _, p := range people {
		if p.holds() && len(compared[p.item.ID].Theirs) == 0 { // another took its place: what is there may be that one's
			editions[p.item.ID] = 0
			continue
		}
		link, err := e.settle(ctx, tx, p, now)
		if err != nil {
			return err
		}
		if link != nil {
			links = append(links, *link)
		}
	}
	for _, l := range links {
		editions[l.Item] = l.Edition
	}
	forgotten, err := inbox.FollowChanged(ctx, tx, e.opened.ID, editions, now)
	if err != nil {
		return err
	}
	var theirs []string // contacts to which a forgotten visitor was written meanwhile
	links = slices.DeleteFunc(links, func(l connection.Link) bool {
		gone := slices.Contains(forgotten, l.Item)
		if gone && len(l.Theirs) > 0 {
			theirs = append(theirs, l.External)
		}
		return gone
	})
	return errors.Join(
		connection.Displace(ctx, tx, e.opened.ID, theirs, nil),
		connection.SaveLinks(ctx, tx, e.opened.ID, links, now),
		connection.DropLinks(ctx, tx, e.opened.ID, e.dropped))
}

// settle takes back what people changed of somebody, and answers the item's link then; nil where it stays as it is.
func (e *exchanging) settle(ctx context.Context, tx *tenant.Tx, p *person, now time.Time) (*connection.Link, error) {
	switch {
	case !p.written && !p.takesAlone() || p.there == nil && p.base == nil:
		return nil, nil
	case p.there == nil:
		link := *p.base
		if link.Edition = p.item.Edition; p.gone && link.GoneAt == nil {
			link.GoneAt = &now
		}
		return &link, nil
	}
	link := connection.Link{Item: p.item.ID, External: p.there.ID, Edition: p.item.Edition, Account: e.account}
	if p.another {
		link.Ours, link.Theirs = map[string]string{}, map[string]string{}
		return &link, nil
	}
	item := *p.item
	if p.takes() {
		locked, err := inbox.Lock(ctx, tx, item.ID)
		switch {
		case err != nil:
			return nil, err
		case locked.Edition != item.Edition && !p.written:
			return nil, nil
		case locked.Edition != item.Edition: // which is compared again; until then what was taken is not
			link.Ours = with(p.base.Ours, digests(&item, e.mapping.ours(&item)), p.write)
			link.Theirs = with(p.base.Theirs, digests(&item, e.mapping.theirs(*p.there)), p.write)
			return &link, nil
		}
		meant, _ := locked.With(p.take)
		after, err := inbox.TakeBack(ctx, tx, locked, p.take, e.opened.ID, now)
		if err != nil {
			return nil, err
		}
		item, link.Edition = meant, after.Edition
		if !maps.Equal(e.mapping.ours(&meant), e.mapping.ours(&after)) {
			link.Edition-- // what rules made of it is to be written
		}
	}
	ours := e.mapping.ours(&item)
	ours[address] = p.address
	link.Ours, link.Theirs = digests(&item, ours), digests(&item, e.mapping.theirs(*p.there))
	if !p.written { // what is refused is news still
		link.Ours, link.Theirs = with(link.Ours, p.base.Ours, p.write), with(link.Theirs, p.base.Theirs, p.write)
	}
	return &link, nil
}

// with are digests, some of which are those of others.
func with(digests, others, some map[string]string) map[string]string {
	all := maps.Clone(digests)
	for name := range some {
		if other, known := others[name]; known {
			all[name] = other
		} else {
			delete(all, name)
		}
	}
	return all
}
