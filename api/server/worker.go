package server

import (
	"context"
	"errors"
	"io"
	"sync"

	"visavis.dev/pkg/base/egress"
	"visavis.dev/pkg/eventing/delivery"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/operations/move"
	"visavis.dev/pkg/personas/face"
	"visavis.dev/pkg/personas/knowledge"
	"visavis.dev/pkg/personas/voice"
	"visavis.dev/pkg/portals/letter"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/portals/person/roster"
	"visavis.dev/pkg/portals/setup"
	"visavis.dev/pkg/portals/subject"
	"visavis.dev/pkg/portals/translation"
	"visavis.dev/pkg/sessions/rehearsal"
	"visavis.dev/pkg/store/sweep"
	"visavis.dev/pkg/text/crawl"
	"visavis.dev/pkg/text/extract"
	"visavis.dev/pkg/visits/memory"
)

// Worker is what runs beside the requests, in a process of its own or in one
// that answers too: it delivers, advances jobs and runs the recurring tasks.
type Worker struct {
	// What is not among its tasks is nil.
	delivery *delivery.Worker
	jobs     *job.Runner
	sweeper  *sweep.Sweeper
	moves    *move.Runner
}

// idleConnections is the size of the pool of connections to endpoints. Many
// webhooks can share a host: one host may use all of it.
const idleConnections = 2048

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

// Worker makes the worker of the shards in the options. It must be stopped before the
// server. One that delivers in a lane of its own does nothing else.
func (s *Server) Worker(tasks Tasks) *Worker {
	w := &Worker{}
	if s.options.DeliveryLane != 0 {
		tasks = Tasks{Deliver: true}
	}
	if tasks.Deliver {
		w.delivery = s.deliverer()
	}
	if tasks.Jobs || tasks.Read {
		w.jobs = s.runner(tasks.share())
	}
	if tasks.Jobs {
		o := s.options
		w.sweeper = s.sweeper()
		w.moves = &move.Runner{Mover: move.New(move.Options{
			Directory: s.Directory, Tenants: s.Tenants, Clock: o.Clock, Log: o.Log, RowsPerSecond: o.MoveRows, Keep: o.MoveKeep,
		})}
	}
	return w
}

// runner makes the jobs of a share.
func (s *Server) runner(share job.Share) *job.Runner {
	o := s.options
	voices := voice.Cloner{
		Tenants: s.Tenants, Files: s.Files, Opener: s.Connections, Report: s.Reporter, Egress: s.Egress, Clock: o.Clock,
	}
	works := voices.Works()
	works[job.AvatarPrepare] = (&face.Preparer{Tenants: s.Tenants, Files: s.Files, Library: s.Library}).Work()
	reader := s.reader()
	works[job.KnowledgeSync] = reader.Work()
	works[job.MailSend] = (&letter.Writer{
		Tenants: s.Tenants, Vault: s.Vault, Sender: o.Mail, PortalURL: o.portalURL(), Clock: o.Clock, Log: o.Log,
	}).Work()
	works[job.MemoryWrite] = (&memory.Writer{Tenants: s.Tenants, Minds: minds{s}, Clock: o.Clock, Log: o.Log}).Work()
	works[job.PeopleImport] = roster.NewImporter(s.Tenants, s.Files, s.terms).Work()
	sources := setup.Sources{Tenants: s.Tenants, Fetch: reader.Fetch, Extract: reader.Extract}
	works[job.PortalPlan], works[job.PortalFill] = s.planner(sources).Work(), s.builder(sources).Work()
	works[job.Simulate] = (&rehearsal.Rehearser{Tenants: s.Tenants, Files: s.Files, Minds: minds{s}, Clock: o.Clock, Log: o.Log}).Work()
	works[job.SubjectSync] = (&subject.Teacher{Tenants: s.Tenants, Files: s.Files, Clock: o.Clock}).Work()
	works[job.Translate] = (&translation.Translator{
		Tenants: s.Tenants, Opener: s.Connections, Report: s.Reporter, Egress: s.Egress, Clock: o.Clock,
	}).Work()
	return &job.Runner{
		Tenants: s.Tenants, Share: share, Shards: s.shardNames, Clock: o.Clock, Log: o.Log, Metrics: o.Metrics,
		Steps: map[job.Kind]job.Step{
			job.Erase: (&person.Eraser{Files: s.Files, Forget: memory.ForgetPerson}).Step, job.UnitSwitch: person.TellSwitches, job.WebhookRecover: delivery.Recover,
		},
		Works: works,
	}
}

func (s *Server) deliverer() *delivery.Worker {
	o := s.options
	return delivery.New(delivery.Options{
		Tenants: s.Tenants, Teller: s.Teller, Vault: s.Vault, Shards: s.shardNames, Clock: o.Clock, Log: o.Log, Metrics: o.Metrics,
		Lease: o.DeliveryLease, Lane: o.DeliveryLane,
		Egress: egress.New(egress.Options{
			Allow: o.AllowAddresses, RootCAs: o.RootCAs, MaxIdle: idleConnections, MaxIdlePerHost: idleConnections,
		}),
	})
}

// reader reads the documents of knowledge packs.
func (s *Server) reader() *knowledge.Reader {
	o := s.options
	if o.Extract == nil {
		o.Extract = func(context.Context, string, int64, io.Reader) (extract.Document, error) {
			return extract.Document{}, errors.New("this process reads no documents")
		}
	}
	return &knowledge.Reader{
		Tenants: s.Tenants, Files: s.Files, Fetch: crawl.New(s.Egress, o.Clock).Fetch, Extract: o.Extract, Clock: o.Clock, Log: o.Log,
	}
}

// planner works plans for portals out.
func (s *Server) planner(from setup.Sources) *setup.Planner {
	return &setup.Planner{Sources: from, Scribe: s.scribe(), Gallery: s.Gallery, Terms: s.terms}
}

// builder builds portals of plans, and fills portals.
func (s *Server) builder(from setup.Sources) *setup.Builder {
	return &setup.Builder{
		Sources: from, Scribe: s.scribe(), Gallery: s.Gallery, Library: s.Library, Addresses: s.Addresses(), Terms: s.terms,
	}
}

func (s *Server) scribe() *setup.ModelWriter {
	return &setup.ModelWriter{Tenants: s.Tenants, Opener: s.Connections, Report: s.Reporter, Egress: s.Egress, Clock: s.options.Clock}
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

// shardNames lists the shards that the process serves.
func (s *Server) shardNames(ctx context.Context) ([]string, error) {
	if len(s.options.Shards) > 0 {
		return s.options.Shards, nil
	}
	return s.shards.Names(ctx)
}
