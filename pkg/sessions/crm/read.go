package crm

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"

	"visavis.dev/pkg/base/egress"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/provider/hubspot"
	"visavis.dev/pkg/provider/upstream"
	"visavis.dev/pkg/sessions/inbox"
)

// accountOf is the account of the connection; empty where the service does not tell it to this secret.
func (e *exchanging) accountOf(ctx context.Context) (account string, err error) {
	key := e.key()
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
	if err != nil {
		return err
	}
	for _, p := range e.people {
		if p.there == nil || p.holds() {
			continue
		}
		p.another = p.there.Email != p.address && (p.base == nil || p.base.Theirs != nil)
		for i := range compared {
			if l := &compared[i]; l.External == p.there.ID && (l.Account == "" || l.Account == e.account) {
				if err := e.tell(ctx, p, l); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// tell finds out whether somebody takes the place of what their contact was compared with.
func (e *exchanging) tell(ctx context.Context, p *person, l *connection.Link) (err error) {
	if l.Item == p.item.ID { // by another address
		if p.another, err = e.yields(ctx, p); !p.another {
			p.base = l
		}
		return err
	}
	was, known := l.Ours[address]
	p.another, p.displaces = known && was != digest(l.Item, address, p.address), true
	return nil
}

// yields says whether somebody whose address became another one of their contact's leaves that to an item of the one that it goes by.
func (e *exchanging) yields(ctx context.Context, p *person) (bool, error) {
	if p.there.Email == p.address || p.there.Email == "" {
		return false, nil
	}
	others, err := inbox.Newest(ctx, e.Tenants, e.opened.Org, kinds, []string{p.there.Email})
	return len(others) > 0, err
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
