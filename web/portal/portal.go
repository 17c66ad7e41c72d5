// Package portal is what visitors of portals reach: the published pages, and the sockets
// of live conversations.
package portal

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/vault"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/personas/dispatch"
	"visavis.dev/pkg/portals/portal/published"
	"visavis.dev/pkg/process/backend"
	"visavis.dev/pkg/process/front"
	"visavis.dev/pkg/sessions/appointment"
	"visavis.dev/pkg/sessions/minds"
	"visavis.dev/pkg/visits/live"
	"visavis.dev/pkg/visits/rtc"
	"visavis.dev/web/page"
)

// Options are what a portal server works with.
type Options struct {
	Backend *backend.Backend
	Minds   *minds.Minds
	Front   *front.Front
	// Service counts and observes requests, where the process answers the API too; nil
	// for one of its own.
	Service *route.Service
	// Address is where other processes reach the sockets.
	Address string
	// RTC is where browsers connect over WebRTC; nowhere without an Addr.
	RTC rtc.Options
}

// Server shows the portals' pages and holds live conversations.
type Server struct {
	options Options
	service *route.Service
	live    *live.Server
	rtc     *rtc.Server
	// calendars are those that schedules are kept in.
	calendars *appointment.Keeper
	page      *page.Handler
	sockets   http.Handler
	observed  http.Handler
}

// New makes a server. After an error of the directory New can be tried again.
func New(ctx context.Context, o Options) (*Server, error) {
	// It is what the processes know each other's sockets by.
	relays, err := o.Backend.Secret(ctx, "relays", vault.NewKey)
	if err != nil {
		return nil, err
	}
	b := o.Backend
	s := &Server{options: o, service: o.Service, calendars: appointment.New(appointment.Options{
		Tenants: b.Tenants, Opener: o.Minds.Connections, Report: o.Minds.Reporter, Egress: b.Egress,
		Tokens: connection.NewTokens(b.Tenants, b.Vault, b.Egress, b.Options.Clock), Clock: b.Options.Clock, Rests: dispatch.NewRests(),
	})}
	if s.service == nil {
		s.service = ownService(o)
	}
	if err := s.servePages(); err != nil {
		return nil, fmt.Errorf("portal-url: %w", err)
	}
	if o.RTC.Addr != "" {
		if s.rtc, err = rtc.Listen(o.RTC); err != nil {
			return nil, err
		}
	}
	s.live = s.newLive(relays)
	s.sockets = s.countSockets()
	return s, nil
}

// ownService is a service without operations.
func ownService(o Options) *route.Service {
	of := o.Backend.Options
	return route.New(route.Deps{
		Limiter: o.Front.Limiter, Clock: of.Clock, Log: of.Log, Metrics: of.Metrics,
		PerAddress: o.Front.Options.PerAddress, TrustedProxies: o.Front.Options.TrustedProxies, PublicURL: of.PublicURL,
	})
}

// servePages makes what serves the portals' pages, observed as the API's requests are.
func (s *Server) servePages() (err error) {
	b := s.options.Backend
	s.page, err = page.New(page.Options{
		Sites:         published.NewStore(published.Options{Directory: b.Directory, Tenants: b.Tenants, Clock: b.Options.Clock}),
		Doors:         doors{s.options.Front.Gate},
		Platforms:     platforms{s.options.Front.Gate, b.Registry},
		Conversations: talks{s},
		Silent:        s.options.Front.Options.Speaker == nil,
		Candidates:    applications{s},
		Audits:        audits{s},
		Appointments:  appointments{s},
		Learning:      learners{s},
		Classes:       classes{s},
		Portraits:     page.Faces{Library: b.Library, Tenants: b.Tenants, Files: b.Files},
		Certificates:  b.Registry,
		Recordings:    recordings{s},
		Dashboards:    dashboards{s},
		PortalURL:     b.Options.PageURL(), PublicURL: b.Options.PublicURL, LiveURL: b.Options.SocketURL(),
		Address: s.service.AddressOf, Count: s.service.Count, Name: route.Name, Log: b.Options.Log,
	})
	if err != nil {
		return err
	}
	s.observed = s.service.Observe(inTime(s.page), s.page.Fault)
	if b.Options.Tracing {
		s.observed = otelhttp.NewHandler(s.observed, "visavis")
	}
	return nil
}

// inTime bounds everything that a page waits for.
func inTime(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		within := pageTimeout
		if page.IsRecording(r.URL.Path) {
			within = page.RecordingWithin
		}
		ctx, cancel := context.WithTimeout(r.Context(), within)
		defer cancel()
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// pageTimeout is as long as a request to the API may take.
const pageTimeout = 25 * time.Second

// Serves says whether a request is for a portal's page or a socket, where the API is on
// the same address. The API's own paths are neither.
func (s *Server) Serves(r *http.Request) bool {
	return isSocket(r) || !strings.HasPrefix(r.URL.Path, route.BasePath+"/") && s.page.Serves(r)
}

// ServeHTTP serves a page or a socket.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if isSocket(r) {
		s.sockets.ServeHTTP(w, r)
		return
	}
	s.observed.ServeHTTP(w, r)
}

func isSocket(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, live.Path) }

// Start begins to hold conversations.
func (s *Server) Start() { s.live.Start() }

// Stop sends the clients of conversations on to other processes. Pages are served after
// it, until their listener closes.
func (s *Server) Stop() {
	s.live.Stop()
	if s.rtc != nil {
		_ = s.rtc.Close() // nobody is sent anything over it any more
	}
}
