package crm

import (
	"context"
	"errors"
	"maps"
	"net/http"

	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/provider/hubspot"
	"visavis.dev/pkg/provider/upstream"
	"visavis.dev/pkg/sessions/inbox"
	"visavis.dev/pkg/store/tenant"
)

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
