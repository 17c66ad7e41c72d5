// Package server is one process's worth of the API: it builds everything an
// API pod runs from its settings, starts it and stops it in order.
package server

import (
	"cmp"
	"context"
	"crypto/x509"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/exaring/otelpgx"
	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"gocloud.dev/blob"
	"k8s.io/utils/clock"

	"visavis.dev/api"
	"visavis.dev/api/route"
	"visavis.dev/pkg/base/cursor"
	"visavis.dev/pkg/base/egress"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/mail"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/base/rate"
	"visavis.dev/pkg/base/readthrough"
	"visavis.dev/pkg/base/spool"
	"visavis.dev/pkg/base/vault"
	"visavis.dev/pkg/eventing/delivery"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/eventing/webhook"
	"visavis.dev/pkg/operations/health"
	"visavis.dev/pkg/operations/move"
	"visavis.dev/pkg/personas/avatar"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/personas/duo"
	"visavis.dev/pkg/personas/knowledge"
	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/personas/voice"
	"visavis.dev/pkg/portals/letter"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/portals/portal/template"
	"visavis.dev/pkg/portals/setup"
	"visavis.dev/pkg/portals/widget"
	"visavis.dev/pkg/sessions/caselink"
	"visavis.dev/pkg/sessions/escalation"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/speech/speaker"
	"visavis.dev/pkg/store/apikey"
	"visavis.dev/pkg/store/database"
	"visavis.dev/pkg/store/directory"
	"visavis.dev/pkg/store/file"
	"visavis.dev/pkg/store/idempotency"
	"visavis.dev/pkg/store/limits"
	"visavis.dev/pkg/store/pershard"
	"visavis.dev/pkg/store/sweep"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/text/extract"
	"visavis.dev/pkg/visits/identity"
	"visavis.dev/pkg/visits/memory"
	"visavis.dev/pkg/visits/signin"
)

// Options are the settings of a process.
type Options struct {
	// DirectoryURL is the directory database's.
	DirectoryURL string
	// FilesURL is the bucket's, such as file:///var/lib/visavis/files.
	FilesURL string
	// PlansText is the plan catalogue in YAML.
	PlansText []byte
	// Rates replace the spec's numbers for this deployment; PerAddress too.
	Rates      rate.Rates
	PerAddress int64
	// Pods is about how many processes share the limits.
	Pods           int64
	TrustedProxies []netip.Prefix
	// AllowAddresses are ranges that outgoing requests may reach although
	// they are not public; RootCAs are trusted by outgoing requests.
	AllowAddresses []netip.Prefix
	RootCAs        *x509.CertPool
	// MasterKeys seal stored secrets, the one to seal with first; without any,
	// one that the directory keeps.
	MasterKeys [][]byte
	// DeliveryLease is how long a silent worker's deliveries stay its own; zero
	// means the default.
	DeliveryLease time.Duration
	// MoveRows bounds the rows a second that a move of an organization reads, and MoveKeep
	// is how long what it left on the old shard is kept; zero means the defaults.
	MoveRows int
	MoveKeep time.Duration
	// DeliveryLane is the lane of its own that a worker delivers in, doing nothing else;
	// zero for the shared ones.
	DeliveryLane int64
	// Shards are those that the worker serves; every one that the directory has
	// unless given.
	Shards []string
	// Extract gets the text of documents that strangers sent, for workers that read.
	Extract extract.Read
	// SearchMemory is what the knowledge packs in memory take together, in bytes;
	// zero means a quarter of what the process may use.
	SearchMemory int64
	// BodyBytes is what the bodies of requests under way may take together, and
	// TemporaryFolder where those lie that are large; zero and empty mean the default.
	BodyBytes       int64
	TemporaryFolder string
	// BodyPartWithin is how long the next part of a body may take to arrive; zero
	// means the default.
	BodyPartWithin time.Duration
	PublicURL      string
	// LiveURL is where clients reach the sockets of live conversations, without
	// a path; PublicURL, as ws or wss, unless given.
	LiveURL string
	// Speaker says things aloud; nil where nothing does.
	Speaker speaker.Speaker
	// Mail sends the letters; nil where the deployment sends none.
	Mail mail.Sender
	// PortalURL is where the portals' pages are, without a path; PublicURL unless given.
	PortalURL string
	MaxConns  int32
	Tracing   bool
	Version   string
	Clock     clock.WithTickerAndDelayedExecution
	Log       *slog.Logger
	// Resolver looks up what proves whose the portals' hosts are; nil believes
	// everybody, for deployments that are their operator's own.
	Resolver portal.Resolver
	// Metrics is where the figures are registered; nil keeps them to itself.
	Metrics *prometheus.Registry
}

// Server is a process's parts.
type Server struct {
	Directory *directory.Directory
	Tenants   *tenant.Tenants
	Keys      *apikey.Store
	Changes   *apikey.Changes
	Plans     *plan.Catalogue
	Files     *file.Store
	Health    *health.Checker
	Vault     *vault.Vault
	Teller    *event.Teller
	Egress    *egress.Guard
	// Connections opens the organizations' connections, and Reporter follows how
	// well they work.
	Connections *connection.Opener
	Reporter    *connection.Reporter
	Searcher    *knowledge.Searcher
	Service     *route.Service
	// Gate lets people in to portals.
	Gate *signin.Gate
	// Library is the avatars that everybody has, and Gallery the portals' templates.
	Library *avatar.Library
	Gallery *template.Gallery
	// Handler answers requests: those of the API once ServeAPI was called.
	Handler http.Handler

	options Options
	// shards are all that there are, which everything that runs for each of them shares.
	shards *pershard.List
	prover *portal.Prover
	// visitors mark where those who have no key come from.
	visitors widget.Visitors
	// relays is what the processes know each other's sockets by.
	relays        []byte
	bucket        *blob.Bucket
	limiter       *limits.Limiter
	authenticator *apikey.Authenticator
	known         *readthrough.Cache[id.Org, knownOrganization]
	breakers      *breakers
}

// New builds a server. The directory must be there and at the current schema.
func New(ctx context.Context, o Options) (*Server, error) {
	if o.Metrics == nil {
		o.Metrics = prometheus.NewRegistry()
	}
	s := &Server{options: o, Library: avatar.NewLibrary(), breakers: newBreakers(o.Clock)}
	if err := s.build(ctx); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

func (s *Server) build(ctx context.Context) (err error) {
	o := s.options
	pool := database.PoolOptions{MaxConns: o.MaxConns}
	if o.Tracing {
		pool.Tracer = otelpgx.NewTracer()
	}
	db, err := database.Open(o.DirectoryURL, pool)
	if err != nil {
		return err
	}
	s.Directory = directory.New(db, directory.Options{Clock: o.Clock})
	s.shards = pershard.NewList(s.Directory.ShardNames, o.Clock)
	s.Tenants = tenant.New(s.Directory, pool)
	s.Keys = &apikey.Store{DB: db}
	s.Changes = &apikey.Changes{Store: s.Keys, Tenants: s.Tenants}
	s.Health = health.New(s.Directory, s.Tenants)
	if s.Plans, err = plan.Parse(o.PlansText, rate.SpecRates().With(o.Rates)); err != nil {
		return err
	}
	if s.bucket, err = blob.OpenBucket(ctx, o.FilesURL); err != nil {
		return fmt.Errorf("files at %s: %w", o.FilesURL, err)
	}
	s.Files = file.New(s.bucket, s.Tenants, o.Clock)
	s.Egress = egress.New(egress.Options{Allow: o.AllowAddresses, RootCAs: o.RootCAs})
	s.Teller = &event.Teller{Tenants: s.Tenants, Sources: session.Sources(s.Tenants)}
	s.Teller.Sources[event.CaseLinkOpened] = caselink.Summaries(s.Tenants)
	s.Teller.Sources[event.KnowledgeGap] = knowledge.Questions(s.Tenants)
	s.Searcher = knowledge.NewSearcher(s.Tenants, knowledge.SearcherOptions{
		Memory: cmp.Or(o.SearchMemory, searchMemory()), Metrics: o.Metrics,
	})
	if err = s.openVault(ctx); err != nil {
		return err
	}
	s.Connections = connection.NewOpener(s.Tenants, s.Vault, o.Clock)
	s.Reporter = &connection.Reporter{Tenants: s.Tenants, Clock: o.Clock, Log: o.Log}
	secret, err := s.Directory.Secret(ctx, "cursors", cursor.NewSecret)
	if err != nil {
		return fmt.Errorf("the directory's secrets: %w", err)
	}
	s.authenticator = apikey.NewAuthenticator(s.Keys, s.Plans, apikey.Options{Clock: o.Clock, Log: o.Log})
	s.limiter = limits.New(&limits.Tables{Directory: s.Directory, Tenants: s.Tenants},
		limits.Options{Pods: o.Pods, Clock: o.Clock, Log: o.Log, Metrics: o.Metrics})
	s.Gate = &signin.Gate{Tenants: s.Tenants, Vault: s.Vault, Clock: o.Clock, Limiter: s.limiter, Terms: s.terms,
		Asker: identity.New(s.Egress, o.Clock), Connections: s.Connections}
	if o.Mail != nil {
		s.Gate.Post = &letter.Post{Vault: s.Vault}
	}
	if s.relays, err = s.Directory.Secret(ctx, "relays", vault.NewKey); err != nil {
		return fmt.Errorf("the directory's secrets: %w", err)
	}
	if o.Resolver != nil {
		hosts, err := s.Directory.Secret(ctx, "hosts", vault.NewKey)
		if err != nil {
			return fmt.Errorf("the directory's secrets: %w", err)
		}
		s.prover = &portal.Prover{Secret: hosts, Resolver: o.Resolver}
	}
	visitors, err := s.Directory.Secret(ctx, "visitors", widget.NewVisitorSecret)
	if err != nil {
		return fmt.Errorf("the directory's secrets: %w", err)
	}
	s.visitors = widget.NewVisitors(visitors)
	return s.serve(cursor.New(secret))
}

// openVault makes the vault of the operator's keys or of the directory's own.
func (s *Server) openVault(ctx context.Context) error {
	keys := s.options.MasterKeys
	if len(keys) == 0 {
		key, err := s.Directory.Secret(ctx, "vault", vault.NewKey)
		if err != nil {
			return fmt.Errorf("the directory's secrets: %w", err)
		}
		keys = [][]byte{key}
	}
	var err error
	s.Vault, err = vault.New(keys...)
	return err
}

// serve makes the chain that requests go through.
func (s *Server) serve(cursors *cursor.Codec) (err error) {
	o := s.options
	s.known = s.knownOrganizations()
	if s.Gallery, err = template.Load(); err != nil {
		return fmt.Errorf("the portals' templates: %w", err)
	}
	s.Service = route.New(route.Deps{
		Auth: s.authenticator, Limiter: s.limiter, Tenants: s.Tenants,
		Idempotency: idempotency.New(s.Tenants, o.Clock, person.TellsOfErased), Cursors: cursors, Clock: o.Clock, Log: o.Log,
		Metrics: o.Metrics, PerAddress: o.PerAddress, TrustedProxies: o.TrustedProxies, PublicURL: o.PublicURL,
		Bodies: spool.NewBudget(cmp.Or(o.BodyBytes, spool.DefaultTotal())), Temporary: spool.Folder(o.TemporaryFolder), BodyPartWithin: o.BodyPartWithin,
	})
	// Last: a server that does not come to be is built again, with the same registry.
	o.Metrics.MustRegister(database.NewCollector(s.pools), health.NewCollector(s.Health), move.NewCollector(s.Directory, o.Clock))
	s.Handler = s.Service
	if o.Tracing {
		s.Handler = otelhttp.NewHandler(s.Service, "visavis")
	}
	return nil
}

// ServeAPI declares the operations of the API, for a process that answers them: they and
// their documents take memory that no other process needs.
func (s *Server) ServeAPI() error {
	o := s.options
	return api.Register(s.Service, api.Parts{
		Addresses: s.Addresses(), Gallery: s.Gallery, Gate: s.Gate,
		PortalURL: o.portalURL(),
		Changes:   s.Changes, Connections: s.Connections, Reporter: s.Reporter, Egress: s.Egress, Files: s.Files, Health: s.Health, Library: s.Library, LiveURL: o.liveURL(), Plans: s.Plans,
		Minds: minds{s}, Clock: o.Clock, Organization: s.organization, Searcher: s.Searcher, Speaker: o.Speaker, Teller: s.Teller, Vault: s.Vault, Version: o.Version, Visitors: s.visitors,
	})
}

// Start begins what runs beside the requests.
func (s *Server) Start() {
	s.limiter.Start()
	s.authenticator.Start()
	s.Reporter.Start()
}

// Stop ends what Start began, after the last request, and closes everything.
func (s *Server) Stop() {
	s.limiter.Stop()
	s.authenticator.Stop()
	s.Reporter.Stop()
	s.Close()
}

// Close closes what New opened, as far as it got. A server that was started is stopped instead.
func (s *Server) Close() {
	if s.Tenants != nil {
		var group sync.WaitGroup
		group.Go(s.Tenants.Close)
		group.Go(s.Directory.DB.Close)
		group.Wait()
	}
	if s.bucket != nil {
		_ = s.bucket.Close()
	}
}

// pools are the databases that have been used so far: the directory and shards.
func (s *Server) pools() map[string]*database.DB {
	opened := s.Tenants.Opened()
	opened["directory"] = s.Directory.DB
	return opened
}

// Addresses hands out the portals' addresses.
func (s *Server) Addresses() *portal.Addresses {
	return &portal.Addresses{Directory: s.Directory, Tenants: s.Tenants, Clock: s.options.Clock, Proof: s.prover}
}

// sweeper makes what runs the recurring tasks of the worker's shards, and those of the
// directory: any number of workers may run them at once.
func (s *Server) sweeper() *sweep.Sweeper {
	o := s.options
	return &sweep.Sweeper{
		Clock: o.Clock, Log: o.Log, Metrics: o.Metrics,
		Shards: s.shardNames,
		Tasks: []sweep.Task{
			{Name: "apply changes of keys", Every: 2 * time.Second, Run: func(ctx context.Context, shard string) (int, error) {
				return s.Changes.Sweep(ctx, shard, o.Clock.Now())
			}},
			{Name: "delete unfinished files", Every: time.Minute, Run: s.Files.Sweep},
			{Name: "forget idempotency keys", Every: 10 * time.Minute, Run: func(ctx context.Context, shard string) (int, error) {
				return idempotency.Sweep(ctx, s.Tenants, shard, o.Clock.Now())
			}},
			{Name: "forget deleted avatars", Every: time.Hour, Run: func(ctx context.Context, shard string) (int, error) {
				return avatar.Sweep(ctx, s.Tenants, shard, o.Clock.Now())
			}},
			{Name: "forget deleted widgets", Every: time.Hour, Run: func(ctx context.Context, shard string) (int, error) {
				return widget.Sweep(ctx, s.Tenants, shard, o.Clock.Now())
			}},
			{Name: "forget visitors", Every: 10 * time.Minute, Run: func(ctx context.Context, shard string) (int, error) {
				return widget.SweepVisitors(ctx, s.Tenants, shard, o.Clock.Now())
			}},
			{Name: "forget deleted duos", Every: time.Hour, Run: func(ctx context.Context, shard string) (int, error) {
				return duo.Sweep(ctx, s.Tenants, shard, o.Clock.Now())
			}},
			{Name: "forget places that were taken away", Every: time.Hour, Batch: person.SweepBatch, Run: func(ctx context.Context, shard string) (int, error) {
				return person.Sweep(ctx, s.Tenants, shard, o.Clock.Now())
			}},
			{Name: "enter what people are found by", Every: time.Minute, Batch: person.TermsBatch, Run: func(ctx context.Context, shard string) (int, error) {
				return person.SweepTerms(ctx, s.Tenants, shard)
			}},
			{Name: "forget deleted personas", Every: 10 * time.Minute, Batch: persona.SweepBatch, Run: func(ctx context.Context, shard string) (int, error) {
				return persona.Sweep(ctx, s.Tenants, shard, o.Clock.Now())
			}},
			{Name: "forget deleted connections", Every: time.Hour, Run: func(ctx context.Context, shard string) (int, error) {
				return connection.Sweep(ctx, s.Tenants, shard, o.Clock.Now())
			}},
			{Name: "forget deleted voices", Every: time.Hour, Run: func(ctx context.Context, shard string) (int, error) {
				return voice.Sweep(ctx, s.Tenants, shard, o.Clock.Now())
			}},
			{Name: "delete old deliveries", Every: time.Minute, Batch: delivery.SweepBatch, Run: func(ctx context.Context, shard string) (int, error) {
				return delivery.Sweep(ctx, s.Tenants, shard, o.Clock.Now())
			}},
			{Name: "delete old events", Every: time.Minute, Batch: event.SweepBatch, Run: func(ctx context.Context, shard string) (int, error) {
				return event.Sweep(ctx, s.Tenants, shard, o.Clock.Now())
			}},
			{Name: "delete the logs of deleted webhooks", Every: 10 * time.Second, Batch: webhook.SweepBatch, Run: func(ctx context.Context, shard string) (int, error) {
				return webhook.Sweep(ctx, s.Tenants, shard)
			}},
			{Name: "forget jobs", Every: time.Hour, Run: func(ctx context.Context, shard string) (int, error) {
				return job.Sweep(ctx, s.Tenants, s.Files, shard, o.Clock.Now())
			}},
			{Name: "delete what jobs worked from", Every: 10 * time.Second, Batch: job.SweepBatch, Run: func(ctx context.Context, shard string) (int, error) {
				return job.SweepSources(ctx, s.Tenants, s.Files, shard)
			}},
			{Name: "read addresses again", Every: 10 * time.Second, Batch: knowledge.SweepBatch, Run: func(ctx context.Context, shard string) (int, error) {
				return knowledge.Refreshed(ctx, s.Tenants, shard, o.Clock.Now().UTC())
			}},
			{Name: "delete documents of deleted packs", Every: 10 * time.Second, Batch: knowledge.SweepBatch, Run: func(ctx context.Context, shard string) (int, error) {
				return knowledge.SweepDocuments(ctx, s.Tenants, s.Files, shard, o.Clock.Now().UTC())
			}},
			{Name: "delete replaced passages", Every: 10 * time.Second, Batch: knowledge.SweepBatch, Run: func(ctx context.Context, shard string) (int, error) {
				return knowledge.SweepPassages(ctx, s.Tenants, shard)
			}},
			{Name: "forget deleted knowledge", Every: time.Hour, Run: func(ctx context.Context, shard string) (int, error) {
				return knowledge.Sweep(ctx, s.Tenants, shard, o.Clock.Now())
			}},
			{Name: "forget people", Every: 10 * time.Minute, Batch: memory.SweepBatch, Run: func(ctx context.Context, shard string) (int, error) {
				return memory.Sweep(ctx, s.Tenants, shard, o.Clock.Now())
			}},
			{Name: "end forsaken sessions", Every: time.Second, Batch: session.SweepBatch, Run: func(ctx context.Context, shard string) (int, error) {
				return session.Sweep(ctx, s.Tenants, shard, o.Clock.Now())
			}},
			{Name: "forget session tokens", Every: 10 * time.Minute, Batch: session.SweepBatch, Run: func(ctx context.Context, shard string) (int, error) {
				return session.SweepTokens(ctx, s.Tenants, shard, o.Clock.Now())
			}},
			{Name: "forget who came in to portals", Every: 10 * time.Minute, Batch: signin.SweepBatch, Run: func(ctx context.Context, shard string) (int, error) {
				return signin.Sweep(ctx, s.Tenants, shard, o.Clock.Now())
			}},
			{Name: "forget links that were mailed", Every: 10 * time.Minute, Batch: letter.SweepBatch, Run: func(ctx context.Context, shard string) (int, error) {
				return letter.Sweep(ctx, s.Tenants, shard, o.Clock.Now())
			}},
			{Name: "forget plans for portals", Every: 10 * time.Minute, Batch: setup.SweepBatch, Run: func(ctx context.Context, shard string) (int, error) {
				return setup.Sweep(ctx, s.Tenants, shard, o.Clock.Now())
			}},
			{Name: "expire escalations", Every: 10 * time.Second, Batch: escalation.SweepBatch, Run: func(ctx context.Context, shard string) (int, error) {
				return escalation.Sweep(ctx, s.Tenants, shard, o.Clock.Now())
			}},
			{Name: "delete words of old sessions", Every: time.Minute, Batch: session.SweepBatch, Run: func(ctx context.Context, shard string) (int, error) {
				return session.SweepWords(ctx, s.Tenants, shard, o.Clock.Now())
			}},
			{Name: "look for the proofs of portals' hosts", Every: 10 * time.Minute, Run: s.Addresses().Recheck},
			{Name: "forget addresses", Every: 10 * time.Minute, Directory: true, Run: func(ctx context.Context, _ string) (int, error) {
				return limits.Sweep(ctx, s.Directory)
			}},
		},
	}
}
