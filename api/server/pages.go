package server

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"visavis.dev/pkg/portal/published"
	"visavis.dev/web/page"
)

// Pages are the published portals' pages.
type Pages struct{ *page.Handler }

// ServeHTTP serves a page, in time.
func (p Pages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), pageTimeout)
	defer cancel()
	p.Handler.ServeHTTP(w, r.WithContext(ctx))
}

// pageTimeout bounds everything that a page waits for.
const pageTimeout = 25 * time.Second

// Pages makes what serves the portals' pages.
func (s *Server) Pages() (Pages, error) {
	o := s.options
	h, err := page.New(page.Options{
		Sites:         published.NewStore(published.Options{Directory: s.Directory, Tenants: s.Tenants, Clock: o.Clock}),
		Doors:         doors{s.Gate},
		Conversations: talks{s},
		Portraits:     page.Faces{Library: s.Library, Tenants: s.Tenants, Files: s.Files},
		PortalURL:     o.portalURL(), LiveURL: o.liveURL(), Address: s.Service.AddressOf, Count: s.Service.Count, Log: o.Log,
	})
	return Pages{h}, err
}

// portalURL is where the portals' pages are.
func (o Options) portalURL() string { return cmp.Or(o.PortalURL, o.PublicURL) }
