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
	"visavis.dev/api/voices"
	"visavis.dev/pkg/base/cursor"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/spool"
	"visavis.dev/pkg/hiring/candidate"
	"visavis.dev/pkg/personas/voice"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/portals/portal/published"
	"visavis.dev/pkg/process/backend"
	"visavis.dev/pkg/process/front"
	"visavis.dev/pkg/sessions/minds"
	"visavis.dev/pkg/speech/speaker"
	"visavis.dev/pkg/store/apikey"
	"visavis.dev/pkg/store/idempotency"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/visits/agent"
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
	threads, err := b.Secret(ctx, "agents", agent.NewThreadSecret)
	if err != nil {
		return nil, err
	}
	asked := agent.Options{
		Tenants: b.Tenants, Minds: m, Clock: of.Clock, Organization: b.Organizations.Get, Registry: b.Registry, PortalURL: of.PageURL(),
		Sites: published.NewStore(published.Options{Directory: b.Directory, Tenants: b.Tenants, Clock: of.Clock}),
	}
	agents, err := agent.New(asked, threads)
	if err != nil {
		return nil, err
	}
	s := &Server{authenticator: apikey.NewAuthenticator(b.Keys, b.Plans, apikey.Options{Clock: of.Clock, Log: of.Log})}
	s.Service = route.New(route.Deps{
		Auth: s.authenticator, Limiter: f.Limiter, Tenants: b.Tenants, Plans: b.Plans,
		Idempotency: idempotency.New(b.Tenants, of.Clock, tellsOfErased), Cursors: cursor.New(cursors), Clock: of.Clock, Log: of.Log,
		Metrics: of.Metrics, PerAddress: f.Options.PerAddress, TrustedProxies: f.Options.TrustedProxies, PublicURL: of.PublicURL,
		Bodies: spool.NewBudget(cmp.Or(o.BodyBytes, spool.DefaultTotal())), Temporary: spool.Folder(o.TemporaryFolder), BodyPartWithin: o.BodyPartWithin,
	})
	err = api.Register(s.Service, api.Parts{
		Agents: agents, Catalogue: &agent.Catalogue{Options: asked, Directory: b.Directory, Plans: b.Plans}, Addresses: b.Addresses, Gallery: b.Gallery, Gate: f.Gate, PortalURL: of.PageURL(),
		Changes: b.Changes, Connections: m.Connections, Reporter: m.Reporter, Egress: b.Egress, Files: b.Files, Health: b.Health,
		Library: b.Library, LiveURL: of.SocketURL(), Plans: b.Plans, Minds: m, Clock: of.Clock, Organization: b.Organizations.Get,
		Searcher: m.Searcher, Speaker: f.Options.Speaker, Connected: connected(m), Registry: b.Registry, Renderer: b.Renderer, Vault: b.Vault, Version: o.Version, Visitors: f.Visitors, Recordings: f.Recordings, Embeds: f.Embeds, Answers: b.Answers, InboundSecret: of.InboundSecret,
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

// tellsOfErased says whether an answer names a person or a candidate who was erased.
func tellsOfErased(ctx context.Context, tx *tenant.Tx, answer []byte) (bool, error) {
	if tells, err := person.TellsOfErased(ctx, tx, answer); tells || err != nil {
		return tells, err
	}
	return candidate.TellsOfErased(ctx, tx, answer)
}

// connected is what speaks with a voice for a request, which waits for the whole.
func connected(m *minds.Minds) voices.Connected {
	return func(ctx context.Context, org id.Org, v voice.Voice, builtin speaker.Speaker) (speaker.Speaker, error) {
		return m.Speaker(ctx, org, v, builtin, false)
	}
}

// Start begins what runs beside the requests.
func (s *Server) Start() { s.authenticator.Start() }

// Stop ends what Start began, after the last request.
func (s *Server) Stop() { s.authenticator.Stop() }
