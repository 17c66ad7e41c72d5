package server

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"

	"visavis.dev/api/route"
	"visavis.dev/pkg/portals/portal/published"
	"visavis.dev/web/page"
)

// Pages are the published portals' pages.
type Pages struct {
	*page.Handler
	observed http.Handler
}

// ServeHTTP serves a page, observed as the API's requests are.
func (p Pages) ServeHTTP(w http.ResponseWriter, r *http.Request) { p.observed.ServeHTTP(w, r) }

// inTime bounds everything that a page waits for.
func inTime(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), pageTimeout)
		defer cancel()
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// pageTimeout is as long as a request to the API may take.
const pageTimeout = 25 * time.Second

// Pages makes what serves the portals' pages.
func (s *Server) Pages() (Pages, error) {
	o := s.options
	h, err := page.New(page.Options{
		Sites:         published.NewStore(published.Options{Directory: s.Directory, Tenants: s.Tenants, Clock: o.Clock}),
		Doors:         doors{s.Gate},
		Conversations: talks{s},
		Portraits:     page.Faces{Library: s.Library, Tenants: s.Tenants, Files: s.Files},
		PortalURL:     o.portalURL(), LiveURL: o.liveURL(), Address: s.Service.AddressOf, Count: s.Service.Count, Name: route.Name, Log: o.Log,
	})
	if err != nil {
		return Pages{}, err
	}
	observed := s.Service.Observe(inTime(h), h.Fault)
	if o.Tracing {
		observed = otelhttp.NewHandler(observed, "visavis")
	}
	return Pages{h, observed}, nil
}

// portalURL is where the portals' pages are.
func (o Options) portalURL() string { return cmp.Or(o.PortalURL, o.PublicURL) }
