package connection

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/tenant"
)

const (
	// reportEvery is how often what was reported is written.
	reportEvery = time.Second
	// maxReported bounds the connections whose calls wait to be written.
	maxReported = 10_000
	// findTimeout bounds finding out on which shards they are.
	findTimeout = time.Second
	// reportTimeout bounds the writing of one connection's calls.
	reportTimeout = 5 * time.Second
)

// Reporter gathers what came of calls and writes it now and then, a connection
// at a time: a call costs those who make it nothing but a place in a list.
type Reporter struct {
	Tenants *tenant.Tenants
	Clock   clock.WithTicker
	Log     *slog.Logger

	mu      sync.Mutex
	waiting map[reported][]Outcome
	// writing are the shards where calls are being written, and writes waits for them.
	writing sync.Map
	writes  sync.WaitGroup

	cancel context.CancelFunc
	group  sync.WaitGroup
}

// reported is a connection that calls were reported of.
type reported struct {
	org        id.Org
	connection id.Connection
}

// Start begins to write.
func (r *Reporter) Start() {
	ctx, cancel := context.WithCancel(context.Background())
	r.cancel = cancel
	ticks := r.Clock.NewTicker(reportEvery)
	r.group.Go(func() {
		defer ticks.Stop()
		for {
			select {
			case <-ticks.C():
				r.begin(ctx)
			case <-ctx.Done():
				return
			}
		}
	})
}

// Stop writes what is left and ends.
func (r *Reporter) Stop() {
	r.cancel()
	r.group.Wait()
	r.writes.Wait()
	r.Flush(context.Background())
}

// Report notes what came of a call. It never waits. Of a connection that is
// called more often than calls are kept, the latest count.
func (r *Reporter) Report(org id.Org, connection id.Connection, o Outcome) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.put(reported{org, connection}, []Outcome{o})
}

// put appends outcomes, as far as there is room.
func (r *Reporter) put(of reported, outcomes []Outcome) {
	if r.waiting == nil {
		r.waiting = map[reported][]Outcome{}
	}
	if _, known := r.waiting[of]; !known && len(r.waiting) >= maxReported {
		return
	}
	r.waiting[of] = append(r.waiting[of], outcomes...)
	r.waiting[of] = r.waiting[of][max(len(r.waiting[of])-KeptCalls, 0):]
}

// Flush writes what was reported and waits for that. What cannot be written now waits
// for the next time.
func (r *Reporter) Flush(ctx context.Context) {
	r.begin(ctx)
	r.writes.Wait()
}

// begin begins to write what was reported, each shard's beside the others': one that does
// not answer keeps no other's waiting. While a shard's is being written, what comes waits.
func (r *Reporter) begin(ctx context.Context) {
	r.mu.Lock()
	all := r.waiting
	r.waiting = nil
	r.mu.Unlock()
	byShard := map[string]map[reported][]Outcome{}
	finding, cancel := context.WithTimeout(ctx, findTimeout)
	defer cancel()
	for of, outcomes := range all {
		shard, err := r.Tenants.ShardOf(finding, of.org)
		if err != nil {
			r.keep(ctx, of, outcomes, err)
			continue
		}
		if byShard[shard] == nil {
			byShard[shard] = map[reported][]Outcome{}
		}
		byShard[shard][of] = outcomes
	}
	for shard, some := range byShard {
		if _, busy := r.writing.LoadOrStore(shard, true); busy {
			for of, outcomes := range some {
				r.putBack(of, outcomes)
			}
			continue
		}
		r.writes.Go(func() {
			defer r.writing.Delete(shard)
			for of, outcomes := range some {
				if err := r.write(ctx, of, outcomes); err != nil {
					r.keep(ctx, of, outcomes, err)
				}
			}
		})
	}
}

// keep keeps what could not be written for the next time.
func (r *Reporter) keep(ctx context.Context, of reported, outcomes []Outcome, err error) {
	if ctx.Err() == nil {
		r.Log.WarnContext(ctx, "failed to record the calls of a connection", "connection", of.connection.String(), "error", err)
	}
	r.putBack(of, outcomes)
}

// putBack puts outcomes before those that came since.
func (r *Reporter) putBack(of reported, outcomes []Outcome) {
	r.mu.Lock()
	defer r.mu.Unlock()
	newer := r.waiting[of]
	delete(r.waiting, of)
	r.put(of, append(outcomes, newer...))
}

func (r *Reporter) write(ctx context.Context, of reported, outcomes []Outcome) error {
	ctx, cancel := context.WithTimeout(ctx, reportTimeout)
	defer cancel()
	now := r.Clock.Now().UTC().Truncate(time.Microsecond)
	err := r.Tenants.InTx(ctx, of.org, func(ctx context.Context, tx *tenant.Tx) error {
		return Record(ctx, tx, of.connection, outcomes, now)
	})
	if errdefs.IsAbsent(err, Noun) {
		return nil // deleted meanwhile
	}
	return err
}
