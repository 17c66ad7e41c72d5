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

// Background is what workers do for CRMs.
func (s *Syncer) Background() job.Background {
	return job.Background{Works: map[job.Kind]job.Work{job.ConnectionSync: {Prepare: s.sync}, job.CRMSend: {Prepare: s.send}}}
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
	// Waits counts how often the service asked for patience in a row.
	Waits int `json:"waits,omitempty"`
	// Written and Gone count what was done of the batch under way, which is met again.
	Written int64 `json:"written,omitempty"`
	Gone    int64 `json:"gone,omitempty"`
}

// count adds what was done of a batch to a job's counts; of one that is not done yet what is
// not met again as such.
func (p *progress) count(j *job.Job, counts map[string]int64, done bool) {
	if done {
		counts[unchanged], counts[skipped] = counts[unchanged]-p.Written, counts[skipped]-p.Gone
		p.Waits, p.Written, p.Gone = 0, 0, 0
	} else {
		counts = map[string]int64{written: counts[written], unlinked: counts[unlinked]}
		p.Waits, p.Written, p.Gone = p.Waits+1, p.Written+counts[written], p.Gone+counts[unlinked]
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
		ID: id.NewJob(), Kind: job.ConnectionSync, ResourceKind: "connection", ResourceID: c.ID.String(), Scope: scope.ConnectionsRead,
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
func (s *Syncer) sync(ctx context.Context, j job.Job) (job.Step, error) {
	var (
		o Order
		p progress
	)
	if err := errors.Join(json.Unmarshal(j.Input, &o), json.Unmarshal(j.Progress, &p)); err != nil {
		return nil, err
	}
	opened, err := s.open(ctx, j.Org, o.Connection)
	if err != nil {
		return nil, err
	}
	items, err := inbox.List(ctx, s.Tenants, j.Org, inbox.Filter{Kinds: kinds, From: o.Since, Ascending: true}, p.After, hubspot.MaxBatch)
	if err != nil {
		return nil, err
	}
	did, err := s.push(ctx, &opened, items, o.DryRun)
	wait, err := patience(err, p.Waits)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, tx *tenant.Tx, j *job.Job, now time.Time) (time.Duration, error) {
		if kept, err := did.keep(ctx, tx, opened.Connection, now); err != nil || !kept {
			return again, err
		}
		if p.count(j, did.counts, wait == 0); wait > 0 {
			return wait, note(j, p)
		}
		j.Done += int64(len(items))
		if len(items) > 0 {
			p.After = items[len(items)-1].ID
		}
		if len(items) < hubspot.MaxBatch {
			if j.Counts[refused] > 0 && j.Counts[written]+j.Counts[unchanged] == 0 {
				return 0, &job.Refusal{Code: string(upstream.Rejected)} // it is no single address
			}
			j.State, j.Total = job.Succeeded, j.Done
		}
		return 0, note(j, p)
	}, nil
}

func note(j *job.Job, p progress) (err error) {
	j.Progress, err = json.Marshal(p)
	return err
}

// send writes one item that changed, where that is not done.
func (s *Syncer) send(ctx context.Context, j job.Job) (job.Step, error) {
	var (
		in inbox.Followed
		p  progress
	)
	if err := errors.Join(json.Unmarshal(j.Input, &in), json.Unmarshal(j.Progress, &p)); err != nil {
		return nil, err
	}
	opened, err := s.open(ctx, j.Org, in.Connection)
	if err != nil {
		return nil, err
	}
	item, err := inbox.Get(ctx, s.Tenants, j.Org, in.Item)
	if err != nil {
		return nil, err
	}
	did, err := s.push(ctx, &opened, []inbox.Item{item}, false)
	wait, err := patience(err, p.Waits)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, tx *tenant.Tx, j *job.Job, now time.Time) (time.Duration, error) {
		if kept, err := did.keep(ctx, tx, opened.Connection, now); err != nil || !kept {
			return again, err
		}
		if wait > 0 {
			p.Waits++
			return wait, note(j, p)
		}
		j.State = job.Succeeded
		return 0, nil
	}, nil
}

// open opens a connection. One that is gone or switched off ends the job.
func (s *Syncer) open(ctx context.Context, org id.Org, which id.Connection) (connection.Opened, error) {
	opened, err := s.Opener.Open(ctx, org, which)
	if errdefs.IsAbsent(err, connection.Noun) || errors.Is(err, connection.ErrDisabled) {
		return opened, &job.Refusal{Code: "no_connection"}
	}
	return opened, err
}

const (
	// again is how soon a step is made again.
	again = time.Second
	// maxWaits is how often in a row a service may ask for patience, or be away, before a job is
	// given up, and maxWait bounds a wait that it did not ask for.
	maxWaits = 30
	maxWait  = 5 * time.Minute
)

// patience is how long a service is left alone, where it asked for that or is away: zero where
// nothing failed. What a further attempt changes nothing of is a job.Refusal.
func patience(err error, waits int) (time.Duration, error) {
	failed, ok := errors.AsType[*upstream.Error](err)
	if !ok {
		return 0, err
	}
	wait := again
	switch {
	case failed.Code == upstream.RateLimited, busy(err):
	case failed.Code == upstream.Timeout, failed.Code == upstream.Unavailable, failed.Code == upstream.Truncated:
		wait = min(again<<min(waits, 10), maxWait)
	default:
		waits = maxWaits
	}
	if waits >= maxWaits {
		return 0, &job.Refusal{Code: string(failed.Code)}
	}
	return max(failed.RetryAfter, wait), nil
}
