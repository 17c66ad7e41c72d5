// Package crm keeps the contacts of customers' CRMs and the inbox alike: what visitors leave is written there, once for each, what
// people change there is taken back, and visitors who are forgotten are let go.
package crm

import (
	"context"
	"encoding/json"
	"time"

	"k8s.io/utils/clock"

	"visavis.dev/pkg/base/egress"
	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/lru"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/personas/dispatch"
	"visavis.dev/pkg/provider/hubspot"
	"visavis.dev/pkg/sessions/exchange"
	"visavis.dev/pkg/sessions/inbox"
	"visavis.dev/pkg/store/tenant"
)

// Options are what a Syncer works with.
type Options struct {
	Tenants *tenant.Tenants
	Opener  *connection.Opener
	Report  *connection.Reporter
	Egress  *egress.Guard
	Clock   clock.PassiveClock
}

// Syncer writes into CRMs, and reads them. It is safe for concurrent use.
type Syncer struct {
	Options
	// accounts are those of connections as they were settled last.
	accounts lru.Cache[settled, string]
	// ownersOf are the owners of those accounts.
	ownersOf lru.Cache[settled, readOwners]
}

type settled struct {
	org id.Org
	of  id.Connection
	at  time.Time
}

// mostAccounts bounds the accounts that are remembered.
const mostAccounts = 2000

// New makes one.
func New(o Options) *Syncer {
	accounts, err := lru.New[settled, string](mostAccounts)
	if err != nil {
		panic(err) // the size is good
	}
	owners, err := lru.New[settled, readOwners](mostOwners)
	if err != nil {
		panic(err) // as is this
	}
	return &Syncer{Options: o, accounts: accounts, ownersOf: owners}
}

// Patience is that with a CRM, long enough for a limit that holds for a day. A sync or a later change
// writes what was given up.
var Patience = dispatch.Patience{Away: 24 * time.Hour, Longest: 5 * time.Minute}

// Background is what workers do as items change.
func (s *Syncer) Background() job.Background {
	return job.Background{Works: map[job.Kind]job.Work{job.CRMSend: dispatch.New(s.Opener, s.Clock, Patience).Work(s.send)}}
}

// kinds are those of items that are written.
var kinds = []inbox.Kind{inbox.Lead, inbox.Book}

// Pass is the pass through a CRM, oldest items first.
func (s *Syncer) Pass(ctx context.Context, org id.Org, o exchange.Order, at exchange.Place) (exchange.Page, error) {
	items, n, err := s.page(ctx, org, o, at.After)
	page := exchange.Page{Items: int64(len(items)), More: n == hubspot.MaxBatch}
	if len(items) > 0 {
		page.Last = items[len(items)-1].ID
	}
	page.Do = func(ctx context.Context, to *connection.Opened) (exchange.Did, error) {
		return s.exchange(ctx, to, items, true, o.DryRun)
	}
	return page, err
}

// page are the next items of a pass, of so many that were looked for.
func (s *Syncer) page(ctx context.Context, org id.Org, o exchange.Order, after id.InboxItem) (items []inbox.Item, n int, err error) {
	if !o.Linked {
		items, err = inbox.List(ctx, s.Tenants, org, inbox.Filter{Kinds: kinds, From: o.Since, Ascending: true}, after, hubspot.MaxBatch)
		return items, len(items), err
	}
	which, err := connection.Linked(ctx, s.Tenants, org, o.Connection, after, hubspot.MaxBatch)
	if err != nil || len(which) == 0 {
		return nil, 0, err
	}
	items, err = inbox.Of(ctx, s.Tenants, org, which)
	return items, len(which), err
}

// send writes one item that changed, where that is not done.
func (s *Syncer) send(ctx context.Context, j job.Job) (*dispatch.Message, error) {
	var in inbox.Followed
	if err := json.Unmarshal(j.Input, &in); err != nil {
		return nil, err
	}
	item, err := inbox.Get(ctx, s.Tenants, j.Org, in.Item)
	if errdefs.IsAbsent(err, inbox.Noun) {
		return nil, nil
	}
	var did exchange.Did
	return &dispatch.Message{
		To: in.Connection,
		Tell: func(ctx context.Context, to *connection.Opened) (err error) {
			did, err = s.exchange(ctx, to, []inbox.Item{item}, false, false)
			return err
		},
		Keep: func(ctx context.Context, tx *tenant.Tx, j *job.Job, now time.Time, came dispatch.Outcome) (time.Duration, error) {
			if kept, err := did.Save(ctx, tx, in.Connection, now); err != nil || !kept {
				return again, err
			}
			if came.Wait == 0 {
				j.State = job.Succeeded
			}
			return 0, nil
		},
	}, err
}

// again is how soon a step is made again whose connection changed meanwhile.
const again = time.Second
