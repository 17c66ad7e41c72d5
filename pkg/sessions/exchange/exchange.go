// Package exchange passes through what connected systems have of the inbox, page by page: what they are to know is written, and what
// their people changed is taken back. Each system is a Pass; how far one came is committed with what it did.
package exchange

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"time"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/personas/dispatch"
	"visavis.dev/pkg/provider/upstream"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
)

// What a pass counts of items.
const (
	Written   = "written"
	Unchanged = "unchanged"
	Taken     = "taken"
	Gone      = "gone"
	Skipped   = "skipped"
	Refused   = "refused"
	Unmapped  = "unmapped"
	Unlinked  = "unlinked"
	Failed    = "failed"
	Contested = "contested"
)

// Order is what a pass is to do.
type Order struct {
	Connection id.Connection `json:"connectionId"`
	// DryRun counts what would be done, and does nothing.
	DryRun bool `json:"dryRun,omitempty"`
	// Since leaves out what was left before; zero for everything.
	Since time.Time `json:"since,omitzero"`
	// Linked leaves out what the system does not have.
	Linked bool `json:"linked,omitempty"`
}

// Page is a part of a pass, as it was prepared.
type Page struct {
	// Items is how many items it is of, and Last the last of them.
	Items int64
	Last  id.InboxItem
	// More says that there may be further ones.
	More bool
	// Do exchanges them with the system. What it did until something failed is answered with the error, an upstream.Error.
	Do func(ctx context.Context, to *connection.Opened) (Did, error)
}

// Did is what became of a page, to be kept here.
type Did struct {
	// Settled is when the connection was settled by which it was done; zero where nothing was.
	Settled time.Time
	// Counts are of items, of which Again are met again as Unchanged where the page was not done to its end.
	Counts map[string]int64
	Again  int64
	// Items is how many items of the page were done, and Last the last of them, where further ones are left to the next step; zero for all.
	Items int64
	Last  id.InboxItem
	// Rest is how long the system is left alone before the next page.
	Rest time.Duration
	// Failed is the first item of the page where it alone failed, while the system answers otherwise. One that goes on failing is set aside, so that it holds up
	// none behind it. Zero for none.
	Failed id.InboxItem
	// Keep notes what was done, where the connection is the same still.
	Keep func(ctx context.Context, tx *tenant.Tx, now time.Time) error
}

// of is a page as far as it was done.
func (d *Did) of(p Page) Page {
	if !d.Last.IsZero() {
		p.Items, p.Last, p.More = d.Items, d.Last, true
	}
	return p
}

// Save keeps what was done with a connection. It answers false, and keeps nothing, where the connection is another one by now: what was
// done may be another account's.
func (d *Did) Save(ctx context.Context, tx *tenant.Tx, by id.Connection, now time.Time) (bool, error) {
	if d.Settled.IsZero() {
		return true, nil
	}
	c, err := connection.Lock(ctx, tx, by)
	switch {
	case errdefs.IsAbsent(err, connection.Noun):
		return false, nil
	case err != nil:
		return false, err
	case !c.SettledAt.Equal(d.Settled):
		return false, nil
	}
	return true, d.Keep(ctx, tx, now)
}

// Place is where a pass is.
type Place struct {
	// After is the item before; zero at the beginning.
	After id.InboxItem `json:"after,omitzero"`
	// Tries is how often the item that comes next failed alone.
	Tries int `json:"tries,omitempty"`
	// Aside is how many items were set aside since one that was not.
	Aside int `json:"aside,omitempty"`
}

// mostTries is how often an item alone may fail in a row until it is set aside: the next pass tries it again.
const mostTries = 3

// failed notes that what comes next failed, and says whether it is set aside.
func (p *Place) failed(d Did) bool {
	if d.Failed.IsZero() {
		return false
	}
	if p.Tries++; p.Tries < mostTries {
		return false
	}
	*p = Place{After: d.Failed, Aside: p.Aside + 1}
	return true
}

// Pass prepares the next page of a system, at a place.
type Pass func(ctx context.Context, org id.Org, o Order, at Place) (Page, error)

// Exchanger does the jobs that pass through systems.
type Exchanger struct {
	dispatcher *dispatch.Dispatcher
	passes     map[connection.Kind]Pass
}

// New makes one, with the patience that there is with every system, and the passes by the kinds of connections.
func New(d *dispatch.Dispatcher, passes map[connection.Kind]Pass) *Exchanger {
	return &Exchanger{d, passes}
}

// Background is what workers do to exchange.
func (e *Exchanger) Background() job.Background {
	return job.Background{Works: map[job.Kind]job.Work{
		job.ConnectionSync: e.dispatcher.Work(e.sync), job.ConnectionRead: e.dispatcher.Work(e.read),
	}}
}

// Begin queues a pass through a connection's system. The error is an errdefs.Conflict where there is none.
func Begin(ctx context.Context, tx *tenant.Tx, o Order, who activity.Actor) (job.Job, error) {
	c, err := connection.Lock(ctx, tx, o.Connection)
	switch {
	case err != nil:
		return job.Job{}, err
	case !c.Syncs():
		return job.Job{}, &errdefs.Conflict{
			Noun: connection.Noun, ID: c.ID.String(), Reason: "no_sync",
			Message: "Only connections of kind crm are synced, and those of kind helpdesk with takesBack.",
		}
	case c.State == connection.Disabled:
		return job.Job{}, &errdefs.Conflict{Noun: connection.Noun, ID: c.ID.String(), Reason: "disabled", Message: "The connection is switched off."}
	}
	j, err := job.Insert(ctx, tx, job.Job{
		ID: id.NewJob(), Kind: job.ConnectionSync, ResourceKind: "connection", ResourceID: c.ID.String(), Connection: c.ID, Scope: scope.ConnectionsRead,
		CreatedBy: who.By, CreatedAt: who.At,
	}, o)
	if err == nil {
		who.Log(tx, "connection.synced", "connection", c.ID, map[string]any{"jobId": j.ID, "dryRun": o.DryRun})
	}
	return j, err
}

// progress is how far a pass got: each page is committed with it.
type progress struct {
	Place
	// Again and Gone count what was done of the page under way, which is met again.
	Again int64 `json:"again,omitempty"`
	Gone  int64 `json:"gone,omitempty"`
}

// count adds what was done of a page to a job's counts; of one that is not done yet what is not met again as such.
func (p *progress) count(j *job.Job, d Did, done bool) {
	counts := map[string]int64{}
	maps.Copy(counts, d.Counts) // a transaction can be made again
	if done {
		counts[Unchanged], counts[Skipped] = counts[Unchanged]-p.Again, counts[Skipped]-p.Gone
		p.Again, p.Gone = 0, 0
	} else {
		counts = map[string]int64{Written: counts[Written], Taken: counts[Taken], Unlinked: counts[Unlinked]}
		p.Again, p.Gone = p.Again+d.Again, p.Gone+counts[Unlinked]
	}
	for name, n := range counts {
		if n != 0 {
			j.Counts[name] += n
		}
	}
}

// page prepares the next page of a job; none where its connection has no pass any more.
func (e *Exchanger) page(ctx context.Context, j job.Job, o Order, p progress) (Page, bool, error) {
	var of connection.Kind
	switch c, err := e.dispatcher.Connection(ctx, j.Org, o.Connection); {
	case err != nil && !errdefs.IsAbsent(err, connection.Noun) && !errors.Is(err, connection.ErrDisabled):
		return Page{}, false, err
	default:
		of = c.Kind
	}
	pass := e.passes[of]
	if pass == nil {
		return Page{Do: func(context.Context, *connection.Opened) (Did, error) { return Did{}, nil }}, false, nil
	}
	page, err := pass(ctx, j.Org, o, p.Place)
	return page, true, err
}

// sync does the next page of what somebody asked for.
func (e *Exchanger) sync(ctx context.Context, j job.Job) (*dispatch.Message, error) {
	o, p, err := readJob(j)
	if err != nil {
		return nil, err
	}
	page, _, err := e.page(ctx, j, o, p)
	if err != nil {
		return nil, err
	}
	var did Did
	return &dispatch.Message{
		To: o.Connection,
		Tell: func(ctx context.Context, to *connection.Opened) (err error) {
			did, err = page.Do(ctx, to)
			return err
		},
		Keep: func(ctx context.Context, tx *tenant.Tx, j *job.Job, now time.Time, came dispatch.Outcome) (time.Duration, error) {
			if kept, err := did.Save(ctx, tx, o.Connection, now); err != nil || !kept {
				return again, err
			}
			p, page, rest := p, did.of(page), time.Duration(0) // a transaction can be made again
			p.count(j, did, came.Acknowledged())
			switch {
			case came.Abandoned():
				j.State, j.ErrorCode = job.Failed, came.Code
			case !came.Acknowledged() && p.failed(did):
				j.Done++
				j.Counts[Failed]++
			case came.Acknowledged():
				j.Done += page.Items
				if page.Items > 0 {
					p.Place = Place{After: page.Last}
				}
				if rest = did.Rest; !page.More {
					conclude(j)
				}
			}
			return rest, note(j, p)
		},
	}, nil
}

const (
	// again is how soon a page is made again whose connection changed meanwhile.
	again = time.Second
	// readEvery is how long nothing is read after a pass.
	readEvery = 10 * time.Minute
)

// read does the next page of the passes that go on as long as there is the connection.
func (e *Exchanger) read(ctx context.Context, j job.Job) (*dispatch.Message, error) {
	o, p, err := readJob(j)
	if err != nil {
		return nil, err
	}
	o.Linked = true
	page, _, err := e.page(ctx, j, o, p)
	if err != nil {
		return nil, err
	}
	var did Did
	return &dispatch.Message{
		To: o.Connection,
		Tell: func(ctx context.Context, to *connection.Opened) (err error) {
			if to.TakesBack() {
				did, err = page.Do(ctx, to)
			}
			return err
		},
		Keep: func(ctx context.Context, tx *tenant.Tx, j *job.Job, now time.Time, came dispatch.Outcome) (time.Duration, error) {
			c, err := connection.Lock(ctx, tx, o.Connection)
			if errdefs.IsAbsent(err, connection.Noun) || err == nil && !c.TakesBack() {
				j.State = job.Succeeded // who switches it on again queues another
				return 0, nil
			}
			if err != nil {
				return 0, err
			}
			if kept, err := did.Save(ctx, tx, o.Connection, now); err != nil || !kept {
				return again, err
			}
			p, page, wait := p, did.of(page), did.Rest
			switch {
			case came.Abandoned(), came.Acknowledged() && !page.More:
				p, wait = progress{}, readEvery
			case came.Acknowledged():
				p = progress{Place: Place{After: page.Last}}
			default:
				p.failed(did)
				wait = 0
			}
			return wait, note(j, p)
		},
	}, nil
}

func readJob(j job.Job) (o Order, p progress, err error) {
	err = errors.Join(json.Unmarshal(j.Input, &o), json.Unmarshal(j.Progress, &p))
	return o, p, err
}

// conclude ends a sync that came to its end. One that wrote nothing, though there was something to be written,
// failed: it is no single address. So did one that read nothing.
func conclude(j *job.Job) {
	j.State, j.Total = job.Succeeded, j.Done
	switch n := j.Counts; {
	case n[Written] == 0 && (n[Unmapped] > 0 || n[Refused] > 0 && n[Unchanged]+n[Taken]+n[Contested] == 0):
		j.State, j.ErrorCode = job.Failed, string(upstream.Rejected)
	case n[Failed] > 0 && n[Written]+n[Unchanged]+n[Taken]+n[Contested] == 0:
		j.State, j.ErrorCode = job.Failed, string(upstream.Unavailable)
	}
}

func note(j *job.Job, p progress) (err error) {
	j.Progress, err = json.Marshal(p)
	return err
}
