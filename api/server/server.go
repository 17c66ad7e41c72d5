// Package server is the HTTP API of a process: the chain that requests go through, and
// behind it every operation and the documents that describe them.
package server

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"

	"visavis.dev/api"
	"visavis.dev/api/route"
	"visavis.dev/pkg/base/cursor"
	"visavis.dev/pkg/base/spool"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/process/backend"
	"visavis.dev/pkg/process/front"
	"visavis.dev/pkg/sessions/minds"
	"visavis.dev/pkg/store/apikey"
	"visavis.dev/pkg/store/idempotency"
)

// Options are the settings of the API.
type Options struct {
	// BodyBytes is what the bodies of requests under way may take together, and
	// TemporaryFolder where those lie that are large; zero and empty mean the default.
	BodyBytes       int64
	TemporaryFolder string
	// BodyPartWithin is how long the next part of a body may take to arrive; zero
	// means the default.
	BodyPartWithin time.Duration
	Version        string
}

// Server answers requests to the API.
type Server struct {
	Service *route.Service
	// Handler is the service, traced where the process is.
	Handler http.Handler

	authenticator *apikey.Authenticator
}

// New makes the API of what a process opened. After an error New can be tried again.
func New(ctx context.Context, b *backend.Backend, m *minds.Minds, f *front.Front, o Options) (*Server, error) {
	of := b.Options
	cursors, err := b.Secret(ctx, "cursors", cursor.NewSecret)
	if err != nil {
		return nil, err
	}
	s := &Server{authenticator: apikey.NewAuthenticator(b.Keys, b.Plans, apikey.Options{Clock: of.Clock, Log: of.Log})}
	s.Service = route.New(route.Deps{
		Auth: s.authenticator, Limiter: f.Limiter, Tenants: b.Tenants,
		Idempotency: idempotency.New(b.Tenants, of.Clock, person.TellsOfErased), Cursors: cursor.New(cursors), Clock: of.Clock, Log: of.Log,
		Metrics: of.Metrics, PerAddress: f.Options.PerAddress, TrustedProxies: f.Options.TrustedProxies, PublicURL: of.PublicURL,
		Bodies: spool.NewBudget(cmp.Or(o.BodyBytes, spool.DefaultTotal())), Temporary: spool.Folder(o.TemporaryFolder), BodyPartWithin: o.BodyPartWithin,
	})
	err = api.Register(s.Service, api.Parts{
		Addresses: b.Addresses, Gallery: b.Gallery, Gate: f.Gate, PortalURL: of.PageURL(),
		Changes: b.Changes, Connections: m.Connections, Reporter: m.Reporter, Egress: b.Egress, Files: b.Files, Health: b.Health,
		Library: b.Library, LiveURL: of.SocketURL(), Plans: b.Plans, Minds: m, Clock: of.Clock, Organization: b.Organizations.Get,
		Searcher: m.Searcher, Speaker: f.Options.Speaker, Teller: b.Teller, Vault: b.Vault, Version: o.Version, Visitors: f.Visitors,
	})
	if err != nil {
		return nil, err
	}
	s.Handler = s.Service
	if of.Tracing {
		s.Handler = otelhttp.NewHandler(s.Service, "visavis")
	}
	return s, nil
}

// Start begins what runs beside the requests.
func (s *Server) Start() { s.authenticator.Start() }

// Stop ends what Start began, after the last request.
func (s *Server) Stop() { s.authenticator.Stop() }
