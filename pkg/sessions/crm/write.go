package crm

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/provider/hubspot"
	"visavis.dev/pkg/provider/upstream"
	"visavis.dev/pkg/sessions/inbox"
	"visavis.dev/pkg/store/tenant"
)

// displace notes that contacts are others' from now on, before these are written there: the process can end before what was written is kept, and
// nothing of these is people's change of the ones before. Whoever compared those meanwhile keeps nothing of it. Where no contact was found the one
// that an older item of the address had can be back by then. It answers false where the connection is another one by now: nothing is to be written then. It
// holds the connection, so that what others keep of it is kept before that, or after.
func (e *exchanging) displace(ctx context.Context, news, changed []*person) (stands bool, err error) {
	var addresses, displaced []string
	for _, p := range news {
		addresses = append(addresses, p.address)
	}
	var others []id.InboxItem
	if len(addresses) > 0 {
		if others, err = inbox.OfAddresses(ctx, e.Tenants, e.opened.Org, kinds, addresses); err != nil {
			return false, err
		}
		others = slices.DeleteFunc(others, func(i id.InboxItem) bool { // what one of these was compared with before is another address's
			return slices.ContainsFunc(news, func(p *person) bool { return p.item.ID == i })
		})
	}
	for _, p := range changed {
		if p.displaces {
			displaced = append(displaced, p.there.ID)
		}
	}
	if len(others)+len(displaced) == 0 {
		return true, nil
	}
	err = e.Tenants.InTx(ctx, e.opened.Org, func(ctx context.Context, tx *tenant.Tx) error {
		if stands, err = connection.Hold(ctx, tx, e.opened.ID, e.opened.SettledAt); err != nil || !stands {
			return err
		}
		links, err := connection.LinksIn(ctx, tx, e.opened.ID, others)
		if err != nil {
			return err
		}
		external := slices.Clone(displaced) // a transaction can be made again
		for _, l := range links {
			if len(l.Theirs) > 0 {
				external = append(external, l.External)
			}
		}
		return connection.Displace(ctx, tx, e.opened.ID, external, nil)
	})
	return stands, err
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
		return e.part(ctx, some[0], make)
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
			err = e.part(ctx, p, make)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// part writes what is taken of somebody who is refused: without an owner, who can have left since owners were read. One who is an owner still is told of
// as what is unmapped.
func (e *exchanging) part(ctx context.Context, p *person, make bool) error {
	property := e.mapping.properties[assignee]
	owner := p.write[property]
	if owner == "" {
		return e.explain(ctx, p, make)
	}
	began := e.Clock.Now()
	if !e.askedOwners {
		if err := e.askOwners(ctx); err != nil {
			return err
		}
	}
	now := e.mapping.ours(p.item)[property]
	if delete(p.write, property); now != owner && now != "" { // who came back as another one
		p.write[property] = now
	}
	if p.written = len(p.write) == 0 && !make; !p.written {
		if err := e.put(ctx, []*person{p}, make); refuses(err) { // it is for something else
			p.write[property] = owner
			return e.explain(ctx, p, make)
		} else if err != nil {
			return err
		}
	}
	if now == owner && p.written {
		p.withheld, p.unmapped = map[string]string{property: owner}, true
		e.report("sync.update", began, upstream.ErrRejected)
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
	p.over = map[string]string{}
	for name := range p.write {
		if p.there != nil {
			p.over[name] = p.there.Properties[name]
		}
	}
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
