package crm

import (
	"context"
	"time"

	"visavis.dev/pkg/provider/hubspot"
	"visavis.dev/pkg/sessions/inbox"
)

const (
	// ownersFor is how long the owners of an account are believed, and unknownFor how long somebody is not asked for anew who is none.
	ownersFor  = time.Minute
	unknownFor = 10 * time.Second
	// mostOwners is of how many accounts owners are remembered: each has up to hubspot.MaxOwners.
	mostOwners = 100
)

// readOwners are the owners of an account as they were read.
type readOwners struct {
	mails map[string]string
	at    time.Time
}

// knowOwners finds out who of the team owns contacts, where that is to be compared and anybody is named. Somebody unknown is asked for anew.
func (e *exchanging) knowOwners(ctx context.Context) error {
	property, mapped := e.mapping.properties[assignee]
	if !mapped {
		return nil
	}
	named := map[string]bool{}
	for _, p := range e.people {
		if !p.item.Assignee.IsZero() {
			named[""] = true
		}
		if p.there != nil && p.there.Properties[property] != "" {
			named[p.there.Properties[property]] = true
		}
	}
	if len(named) == 0 {
		return nil
	}
	known, _ := e.ownersOf.Get(e.key())
	age := e.Clock.Since(known.at)
	stale := age > ownersFor
	for owner := range named {
		stale = stale || owner != "" && known.mails[owner] == "" && age > unknownFor
	}
	if stale {
		return e.askOwners(ctx)
	}
	return e.nameOwners(ctx, known.mails)
}

// askOwners reads the owners of the account anew.
func (e *exchanging) askOwners(ctx context.Context) error {
	known := readOwners{at: e.Clock.Now()}
	err := e.call(ctx, func(c hubspot.Client) (err error) {
		known.mails, err = c.Owners(ctx)
		return err
	})
	if err != nil {
		return err
	}
	e.askedOwners = true
	e.ownersOf.Add(e.key(), known)
	return e.nameOwners(ctx, known.mails)
}

// nameOwners has owners be those of the team.
func (e *exchanging) nameOwners(ctx context.Context, mails map[string]string) error {
	team, err := inbox.TeamByMail(ctx, e.Tenants, e.opened.Org, e.Clock.Now())
	e.mapping.owners = ownersOf(mails, team)
	return err
}
