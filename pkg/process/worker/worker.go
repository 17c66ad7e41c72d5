// Package worker is what runs beside the requests, in a process of its own or in one that
// answers too: it delivers, makes jobs, and runs the recurring tasks and moves.
package worker

import (
	"sync"
	"time"

	"visavis.dev/pkg/base/egress"
	"visavis.dev/pkg/eventing/delivery"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/operations/move"
	"visavis.dev/pkg/process/backend"
	"visavis.dev/pkg/sessions/minds"
	"visavis.dev/pkg/store/sweep"
	"visavis.dev/pkg/text/extract"
)

// Options are the settings of a worker.
type Options struct {
	Tasks Tasks
	// DeliveryLease is how long a silent worker's deliveries stay its own; zero
	// means the default.
	DeliveryLease time.Duration
	// DeliveryLane is the lane of its own that a worker delivers in, doing nothing else;
	// zero for the shared ones.
	DeliveryLane int64
	// MoveRows bounds the rows a second that a move of an organization reads, and MoveKeep
	// is how long what it left on the old shard is kept; zero means the defaults.
	MoveRows int
	MoveKeep time.Duration
	// TemporaryFolder is where large files lie while they are written; empty means the
	// system's.
	TemporaryFolder string
	// Extract gets the text of documents that strangers sent, for workers that read.
	Extract extract.Read
}

// Tasks are what a worker does.
type Tasks struct {
	Deliver bool // webhooks
	Jobs    bool // all but those that read documents, and the recurring tasks and moves
	Read    bool // the jobs that read documents and pages
}

// EveryTask is what a worker does unless it is told otherwise.
func EveryTask() Tasks { return Tasks{Deliver: true, Jobs: true, Read: true} }

// share is which jobs are among the tasks.
func (t Tasks) share() job.Share {
	switch {
	case !t.Read:
		return job.Rest
	case !t.Jobs:
		return job.Reading
	}
	return job.Whole
}

// Worker is a worker of the shards that its backend serves.
type Worker struct {
	// What is not among its tasks is nil.
	delivery *delivery.Worker
	jobs     *job.Runner
	sweeper  *sweep.Sweeper
	moves    *move.Runner
}

// New makes a worker. It must be stopped before the backend is closed. One that delivers
// in a lane of its own does nothing else.
func New(b *backend.Backend, m *minds.Minds, o Options) *Worker {
	w, of, tasks := &Worker{}, b.Options, o.Tasks
	if o.DeliveryLane != 0 {
		tasks = Tasks{Deliver: true}
	}
	if tasks.Deliver {
		w.delivery = newDelivery(b, o)
	}
	if !tasks.Jobs && !tasks.Read {
		return w
	}
	all := background(b, m, o)
	w.jobs = &job.Runner{
		Tenants: b.Tenants, Share: tasks.share(), Steps: all.Steps, Works: all.Works, Shards: b.ShardNames,
		Clock: of.Clock, Log: of.Log, Metrics: of.Metrics, Hints: b.Hints,
	}
	if tasks.Jobs {
		// Any number of workers may run them at once.
		w.sweeper = &sweep.Sweeper{Clock: of.Clock, Log: of.Log, Metrics: of.Metrics, Shards: b.ShardNames, Tasks: all.Tasks}
		w.moves = &move.Runner{Mover: move.New(move.Options{
			Directory: b.Directory, Tenants: b.Tenants, Clock: of.Clock, Log: of.Log, RowsPerSecond: o.MoveRows, Keep: o.MoveKeep,
		})}
	}
	return w
}

// idleConnections is the size of the pool of connections to endpoints. Many
// webhooks can share a host: one host may use all of it.
const idleConnections = 2048

func newDelivery(b *backend.Backend, o Options) *delivery.Worker {
	of := b.Options
	return delivery.New(delivery.Options{
		Tenants: b.Tenants, Renderer: b.Renderer, Vault: b.Vault, Shards: b.ShardNames, Clock: of.Clock, Log: of.Log, Metrics: of.Metrics,
		Lease: o.DeliveryLease, Lane: o.DeliveryLane, Hints: b.Hints,
		Egress: egress.New(egress.Options{
			Allow: of.AllowAddresses, RootCAs: of.RootCAs, MaxIdle: idleConnections, MaxIdlePerHost: idleConnections,
		}),
	})
}

// Start begins all of it.
func (w *Worker) Start() {
	if w.delivery != nil {
		w.delivery.Start()
	}
	if w.jobs != nil {
		w.jobs.Start()
	}
	if w.sweeper != nil {
		w.sweeper.Start()
		w.moves.Start()
	}
}

// Stop lets what is under way end, all of it side by side: each may have to wait for a
// shard that does not answer.
func (w *Worker) Stop() {
	var group sync.WaitGroup
	if w.delivery != nil {
		group.Go(w.delivery.Stop)
	}
	if w.moves != nil {
		group.Go(w.moves.Stop)
	}
	if w.jobs != nil {
		group.Go(w.jobs.Stop)
	}
	if w.sweeper != nil {
		group.Go(w.sweeper.Stop)
	}
	group.Wait()
}
