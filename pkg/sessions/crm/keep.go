package crm

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/sessions/inbox"
	"visavis.dev/pkg/store/tenant"
)

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
	late, err := e.late(ctx, tx)
	if err != nil {
		return err
	}
	editions := map[id.InboxItem]int64{}
	var unsure []string // contacts of which nothing that was compared holds
	for _, p := range people {
		if p.holds() && len(compared[p.item.ID].Theirs) == 0 { // another took its place: what is there may be that one's
			if editions[p.item.ID] = 0; len(p.write) > 0 && p.there != nil { // or this one's, and no change of people
				unsure = append(unsure, p.there.ID)
			}
			continue
		}
		link, err := e.settle(ctx, tx, p, now)
		if err != nil {
			return err
		}
		if link != nil {
			if late[p.item.ID] {
				link.Ours, link.Theirs = addressed(p.item.ID, p.address), map[string]string{}
			}
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
	links = slices.DeleteFunc(links, func(l connection.Link) bool {
		gone := slices.Contains(forgotten, l.Item)
		if gone && len(l.Theirs) > 0 {
			unsure = append(unsure, l.External)
		}
		return gone
	})
	return errors.Join(
		connection.Displace(ctx, tx, e.opened.ID, unsure, nil),
		connection.SaveLinks(ctx, tx, e.opened.ID, links, now),
		connection.DropLinks(ctx, tx, e.opened.ID, e.dropped))
}

// late are the items that were written for the first time while a newer one of their address was, or may have been: what is there can be that one's.
func (e *exchanging) late(ctx context.Context, tx *tenant.Tx) (map[id.InboxItem]bool, error) {
	var addresses, external []string
	for _, p := range e.people {
		if !p.holds() && p.there != nil {
			addresses, external = append(addresses, p.address), append(external, p.there.ID)
		}
	}
	if len(addresses) == 0 {
		return nil, nil
	}
	newest, err := inbox.NewestIn(ctx, tx, kinds, addresses)
	if err != nil {
		return nil, err
	}
	forgotten, err := connection.ForgottenIn(ctx, tx, e.opened.ID, external)
	late := map[id.InboxItem]bool{}
	for _, p := range e.people {
		if p.holds() || p.there == nil {
			continue
		}
		newer := func(than id.InboxItem) bool { return than.String() > p.item.ID.String() }
		late[p.item.ID] = slices.ContainsFunc(newest, func(i inbox.Item) bool { return addressOf(&i) == p.address && newer(i.ID) }) ||
			slices.ContainsFunc(forgotten, func(l connection.Link) bool { return l.External == p.there.ID && newer(l.Item) })
	}
	return late, err
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
		link.Ours, link.Theirs = addressed(p.item.ID, p.address), map[string]string{}
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
	p.noteTurns(link.Theirs)
	refused := p.withheld
	if !p.written {
		refused = p.write
	}
	if len(refused) > 0 { // is news still
		var base connection.Link
		if p.base != nil {
			base = *p.base
		}
		link.Ours, link.Theirs = with(link.Ours, base.Ours, refused), with(link.Theirs, base.Theirs, refused)
	}
	return &link, nil
}

// noteTurns notes what was written over what, and how often that came back. Of another value than was written before nothing came back yet. What is written over
// as an item takes another's place can be of somebody who is forgotten, and is not noted.
func (p *person) noteTurns(theirs map[string]string) {
	if !p.holds() {
		return
	}
	known := p.base.Theirs
	for name := range known {
		property, kept := strings.CutSuffix(name, overKey)
		if _, mapped := theirs[property]; !kept || !mapped {
			continue
		}
		theirs[name], theirs[property+wroteKey] = known[name], known[property+wroteKey]
		if n := cmp.Or(p.turns[property], known[property+turnsKey]); n != "" {
			theirs[property+turnsKey] = n
		}
	}
	for property, was := range p.over {
		theirs[property+overKey], theirs[property+wroteKey] = digest(p.item.ID, property, was), digest(p.item.ID, property, p.write[property])
		if theirs[property+overKey] != known[property+overKey] || theirs[property+wroteKey] != known[property+wroteKey] {
			delete(theirs, property+turnsKey)
		}
	}
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
