// Package server is one process's worth of the API: it builds everything an
// API pod runs from its settings, starts it and stops it in order.
package server

import (
	"context"
	"crypto/x509"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	"github.com/exaring/otelpgx"
	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"gocloud.dev/blob"
	"k8s.io/utils/clock"

	"visavis.dev/api"
	"visavis.dev/api/route"
	"visavis.dev/pkg/apikey"
	"visavis.dev/pkg/avatar"
	"visavis.dev/pkg/cursor"
	"visavis.dev/pkg/database"
	"visavis.dev/pkg/directory"
	"visavis.dev/pkg/egress"
	"visavis.dev/pkg/file"
	"visavis.dev/pkg/health"
	"visavis.dev/pkg/idempotency"
	"visavis.dev/pkg/limits"
	"visavis.dev/pkg/plan"
	"visavis.dev/pkg/rate"
	"visavis.dev/pkg/sweep"
	"visavis.dev/pkg/tenant"
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
	PublicURL      string
	MaxConns       int32
	Tracing        bool
	Version        string
	Clock          clock.WithTicker
	Log            *slog.Logger
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
	Service   *route.Service
	// Handler answers the API's requests.
	Handler http.Handler

	options       Options
	bucket        *blob.Bucket
	limiter       *limits.Limiter
	authenticator *apikey.Authenticator
}

// New builds a server. The directory must be there and at the current schema.
func New(ctx context.Context, o Options) (*Server, error) {
	if o.Metrics == nil {
		o.Metrics = prometheus.NewRegistry()
	}
	s := &Server{options: o}
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
	secret, err := s.Directory.Secret(ctx, "cursors", cursor.NewSecret)
	if err != nil {
		return fmt.Errorf("the directory's secrets: %w", err)
	}
	s.authenticator = apikey.NewAuthenticator(s.Keys, s.Plans, apikey.Options{Clock: o.Clock, Log: o.Log})
	s.limiter = limits.New(&limits.Tables{Directory: s.Directory, Tenants: s.Tenants},
		limits.Options{Pods: o.Pods, Clock: o.Clock, Log: o.Log, Metrics: o.Metrics})
	return s.serve(cursor.New(secret))
}

// serve puts the operations behind the chain.
func (s *Server) serve(cursors *cursor.Codec) (err error) {
	o := s.options
	s.Service, err = api.New(route.Deps{
		Auth: s.authenticator, Limiter: s.limiter, Tenants: s.Tenants,
		Idempotency: idempotency.New(s.Tenants, o.Clock), Cursors: cursors, Clock: o.Clock, Log: o.Log,
		Metrics: o.Metrics, PerAddress: o.PerAddress, TrustedProxies: o.TrustedProxies, PublicURL: o.PublicURL,
	}, api.Parts{
		Changes: s.Changes, Files: s.Files, Health: s.Health, Library: avatar.NewLibrary(), Plans: s.Plans, Version: o.Version,
		Egress: egress.New(egress.Options{Allow: o.AllowAddresses, RootCAs: o.RootCAs}),
	})
	s.Handler = s.Service
	if o.Tracing {
		s.Handler = otelhttp.NewHandler(s.Service, "visavis")
	}
	return err
}

// Start begins what runs beside the requests.
func (s *Server) Start() {
	s.limiter.Start()
	s.authenticator.Start()
}

// Stop ends what Start began, after the last request, and closes everything.
func (s *Server) Stop() {
	s.limiter.Stop()
	s.authenticator.Stop()
	s.Close()
}

// Close closes what New opened, as far as it got. A server that was started is stopped instead.
func (s *Server) Close() {
	if s.Tenants != nil {
		s.Tenants.Close()
		s.Directory.DB.Close()
	}
	if s.bucket != nil {
		_ = s.bucket.Close()
	}
}

// Sweeper makes what runs the recurring tasks of every shard. It must be
// stopped before the server.
func (s *Server) Sweeper() *sweep.Sweeper {
	o := s.options
	return &sweep.Sweeper{
		Clock: o.Clock, Log: o.Log,
		Shards: func(ctx context.Context) ([]string, error) {
			shards, err := s.Directory.Shards(ctx)
			names := make([]string, len(shards))
			for i, shard := range shards {
				names[i] = shard.Name
			}
			return names, err
		},
		Tasks: []sweep.Task{
			{Name: "apply changes of keys", Every: 2 * time.Second, Run: func(ctx context.Context, shard string) (int, error) {
				return s.Changes.Sweep(ctx, shard, o.Clock.Now())
			}},
			{Name: "delete unfinished files", Every: 10 * time.Minute, Run: s.Files.Sweep},
			{Name: "forget idempotency keys", Every: 10 * time.Minute, Run: func(ctx context.Context, shard string) (int, error) {
				return idempotency.Sweep(ctx, s.Tenants, shard, o.Clock.Now())
			}},
			{Name: "forget deleted avatars", Every: time.Hour, Run: func(ctx context.Context, shard string) (int, error) {
				return avatar.Sweep(ctx, s.Tenants, shard, o.Clock.Now())
			}},
			{Name: "forget addresses", Every: 10 * time.Minute, Directory: true, Run: func(ctx context.Context, _ string) (int, error) {
				return limits.Sweep(ctx, s.Directory)
			}},
		},
	}
}
