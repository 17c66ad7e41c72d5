// Package crm keeps the contacts of customers' CRMs as the inbox has them: what visitors leave is
// written there, once for each, and let go where they are forgotten.
package crm

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"k8s.io/utils/clock"

	"visavis.dev/pkg/base/egress"
	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/personas/dispatch"
	"visavis.dev/pkg/provider/hubspot"
	"visavis.dev/pkg/provider/upstream"
	"visavis.dev/pkg/sessions/inbox"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
)

// Syncer does the jobs that write into CRMs.
type Syncer struct {
	Tenants *tenant.Tenants
	Opener  *connection.Opener
	Report  *connection.Reporter
	Egress  *egress.Guard
	Clock   clock.PassiveClock
}

// patience is that with a CRM, long enough for a limit that holds for a day. A sync or a later change
// writes what was given up.
var patience = dispatch.Patience{Away: 24 * time.Hour, Longest: 5 * time.Minute}

// Background is what workers do for CRMs.
func (s *Syncer) Background() job.Background {
	d := dispatch.New(s.Opener, s.Clock, patience)
	return job.Background{Works: map[job.Kind]job.Work{job.ConnectionSync: d.Work(s.sync), job.CRMSend: d.Work(s.send)}}
}

// Order is what a sync is to do.
type Order struct {
	Connection id.Connection `json:"connectionId"`
	// DryRun counts what would be done, and does nothing.
	DryRun bool `json:"dryRun,omitempty"`
	// Since leaves out what was left before; zero for everything.
	Since time.Time `json:"since,omitzero"`
}

// progress is how far a sync got: each batch is committed with it.
type progress struct {
	After id.InboxItem `json:"after,omitzero"`
	// Written and Gone count what was done of the batch under way, which is met again.
	Written int64 `json:"written,omitempty"`
	Gone    int64 `json:"gone,omitempty"`
}

// count adds what was done of a batch to a job's counts; of one that is not done yet what is
// not met again as such.
func (p *progress) count(j *job.Job, counts map[string]int64, done bool) {
	if done {
		counts[unchanged], counts[skipped] = counts[unchanged]-p.Written, counts[skipped]-p.Gone
		p.Written, p.Gone = 0, 0
	} else {
		counts = map[string]int64{written: counts[written], unlinked: counts[unlinked]}
		p.Written, p.Gone = p.Written+counts[written], p.Gone+counts[unlinked]
	}
	for name, n := range counts {
		if n != 0 {
			j.Counts[name] += n
		}
	}
}

// Begin queues a sync of a connection. The error is an errdefs.Conflict where it is no CRM's.
func Begin(ctx context.Context, tx *tenant.Tx, o Order, who activity.Actor) (job.Job, error) {
	c, err := connection.Lock(ctx, tx, o.Connection)
	switch {
	case err != nil:
		return job.Job{}, err
	case c.Kind != connection.CRM:
		return job.Job{}, &errdefs.Conflict{Noun: connection.Noun, ID: c.ID.String(), Reason: "no_sync", Message: "Only connections of kind crm are synced."}
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

// kinds are those of items that are written.
var kinds = []inbox.Kind{inbox.Lead, inbox.Book}

// sync writes the next items, oldest first.
func (s *Syncer) sync(ctx context.Context, j job.Job) (*dispatch.Message, error) {
	var (
		o Order
		p progress
	)
	if err := errors.Join(json.Unmarshal(j.Input, &o), json.Unmarshal(j.Progress, &p)); err != nil {
		return nil, err
	}
	items, err := inbox.List(ctx, s.Tenants, j.Org, inbox.Filter{Kinds: kinds, From: o.Since, Ascending: true}, p.After, hubspot.MaxBatch)
	var did outcome
	return &dispatch.Message{
		To: o.Connection,
		Tell: func(ctx context.Context, to *connection.Opened) (err error) {
			did, err = s.push(ctx, to, items, true, o.DryRun)
			return err
		},
		Keep: func(ctx context.Context, tx *tenant.Tx, j *job.Job, now time.Time, came dispatch.Outcome) (time.Duration, error) {
			if kept, err := did.keep(ctx, tx, o.Connection, now); err != nil || !kept {
				return again, err
			}
			p.count(j, did.counts, came.Acknowledged())
			switch {
			case came.Abandoned():
				j.State, j.ErrorCode = job.Failed, came.Code
			case came.Acknowledged():
				j.Done += int64(len(items))
				if len(items) > 0 {
					p.After = items[len(items)-1].ID
				}
				if len(items) < hubspot.MaxBatch {
					conclude(j)
				}
			}
			return 0, note(j, p)
		},
	}, err
}

// conclude ends a sync that came to its end. One that wrote nothing, though there was something to be written,
// failed: it is no single address.
func conclude(j *job.Job) {
	j.State, j.Total = job.Succeeded, j.Done
	if n := j.Counts; n[written] == 0 && (n[unmapped] > 0 || n[refused] > 0 && n[unchanged] == 0) {
		j.State, j.ErrorCode = job.Failed, string(upstream.Rejected)
	}
}

func note(j *job.Job, p progress) (err error) {
	j.Progress, err = json.Marshal(p)
	return err
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
	var did outcome
	return &dispatch.Message{
		To: in.Connection,
		Tell: func(ctx context.Context, to *connection.Opened) (err error) {
			did, err = s.push(ctx, to, []inbox.Item{item}, false, false)
			return err
		},
		Keep: func(ctx context.Context, tx *tenant.Tx, j *job.Job, now time.Time, came dispatch.Outcome) (time.Duration, error) {
			if kept, err := did.keep(ctx, tx, in.Connection, now); err != nil || !kept {
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
