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
	p.noteTurns(link.Theirs)
	if !p.written { // what is refused is news still
		link.Ours, link.Theirs = with(link.Ours, p.base.Ours, p.write), with(link.Theirs, p.base.Theirs, p.write)
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
		property, kept := strings.CutSuffix(name, over)
		if !kept {
			continue
		}
		theirs[name], theirs[property+wrote] = known[name], known[property+wrote]
		if n := cmp.Or(p.turns[property], known[property+turns]); n != "" {
			theirs[property+turns] = n
		}
	}
	for property, was := range p.over {
		theirs[property+over], theirs[property+wrote] = digest(p.item.ID, property, was), digest(p.item.ID, property, p.write[property])
		if theirs[property+over] != known[property+over] || theirs[property+wrote] != known[property+wrote] {
			delete(theirs, property+turns)
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
