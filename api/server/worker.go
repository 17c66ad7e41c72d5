package server

import (
	"context"

	"visavis.dev/pkg/crawl"
	"visavis.dev/pkg/delivery"
	"visavis.dev/pkg/egress"
	"visavis.dev/pkg/face"
	"visavis.dev/pkg/job"
	"visavis.dev/pkg/knowledge"
	"visavis.dev/pkg/letter"
	"visavis.dev/pkg/memory"
	"visavis.dev/pkg/move"
	"visavis.dev/pkg/person"
	"visavis.dev/pkg/person/roster"
	"visavis.dev/pkg/rehearsal"
	"visavis.dev/pkg/setup"
	"visavis.dev/pkg/subject"
	"visavis.dev/pkg/sweep"
	"visavis.dev/pkg/translation"
	"visavis.dev/pkg/voice"
)

// Worker is what runs beside the requests, in a process of its own or in one
// that answers too: it delivers, advances jobs and runs the recurring tasks.
type Worker struct {
	delivery *delivery.Worker
	// jobs, sweeper and moves are nil in one that only delivers.
	jobs    *job.Runner
	sweeper *sweep.Sweeper
	moves   *move.Runner
}

// idleConnections is the size of the pool of connections to endpoints. Many
// webhooks can share a host: one host may use all of it.
const idleConnections = 2048

// Worker makes the worker of the shards in the options. It must be stopped before the
// server. One that delivers in a lane of its own does nothing else.
func (s *Server) Worker() *Worker {
	if s.options.DeliveryLane != 0 {
		return &Worker{delivery: s.deliverer()}
	}
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
	sources := setup.Sources{Tenants: s.Tenants, Fetch: reader.Fetch}
	works[job.PortalPlan], works[job.PortalFill] = s.planner(sources).Work(), s.builder(sources).Work()
	works[job.Simulate] = (&rehearsal.Rehearser{Tenants: s.Tenants, Files: s.Files, Minds: minds{s}, Clock: o.Clock, Log: o.Log}).Work()
	works[job.SubjectSync] = (&subject.Teacher{Tenants: s.Tenants, Files: s.Files, Clock: o.Clock}).Work()
	works[job.Translate] = (&translation.Translator{
		Tenants: s.Tenants, Opener: s.Connections, Report: s.Reporter, Egress: s.Egress, Clock: o.Clock,
	}).Work()
	return &Worker{
		delivery: s.deliverer(),
		jobs: &job.Runner{
			Tenants: s.Tenants, Shards: s.shardNames, Clock: o.Clock, Log: o.Log, Metrics: o.Metrics,
			Steps: map[job.Kind]job.Step{
				job.Erase: (&person.Eraser{Files: s.Files, Forget: memory.ForgetPerson}).Step, job.UnitSwitch: person.TellSwitches, job.WebhookRecover: delivery.Recover,
			},
			Works: works,
		},
		sweeper: s.sweeper(),
		moves: &move.Runner{Mover: move.New(move.Options{
			Directory: s.Directory, Tenants: s.Tenants, Clock: o.Clock, Log: o.Log, RowsPerSecond: o.MoveRows, Keep: o.MoveKeep,
		})},
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
	return &knowledge.Reader{
		Tenants: s.Tenants, Files: s.Files, Fetch: crawl.New(s.Egress, s.options.Clock).Fetch, Clock: s.options.Clock,
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

func (s *Server) scribe() *setup.Scribe {
	return &setup.Scribe{Tenants: s.Tenants, Opener: s.Connections, Report: s.Reporter, Egress: s.Egress, Clock: s.options.Clock}
}

// Start begins all of it.
func (w *Worker) Start() {
	w.delivery.Start()
	if w.jobs != nil {
		w.jobs.Start()
		w.sweeper.Start()
		w.moves.Start()
	}
}

// Stop lets what is under way end.
func (w *Worker) Stop() {
	w.delivery.Stop()
	if w.jobs != nil {
		w.moves.Stop()
		w.jobs.Stop()
		w.sweeper.Stop()
	}
}

// shardNames lists the shards that the process serves.
func (s *Server) shardNames(ctx context.Context) ([]string, error) {
	if len(s.options.Shards) > 0 {
		return s.options.Shards, nil
	}
	return s.shards.Names(ctx)
}
