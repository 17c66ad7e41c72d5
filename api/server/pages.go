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
type Pages struct {
	*page.Handler
	counted http.Handler
}

// ServeHTTP serves pages behind the limit of the caller's address.
func (p Pages) ServeHTTP(w http.ResponseWriter, r *http.Request) { p.counted.ServeHTTP(w, r) }

// pageTimeout bounds everything that a page waits for.
const pageTimeout = 25 * time.Second

// Pages makes what serves the portals' pages.
func (s *Server) Pages() (Pages, error) {
	o := s.options
	h, err := page.New(page.Options{
		Sites:         published.NewStore(published.Options{Directory: s.Directory, Tenants: s.Tenants, Clock: o.Clock}),
		Doors:         doors{s.Gate},
		Conversations: talks{s},
		Portraits:     page.Faces{Library: s.library, Tenants: s.Tenants, Files: s.Files},
		PortalURL:     o.portalURL(), LiveURL: o.liveURL(), Address: s.Service.AddressOf, Log: o.Log,
	})
	if err != nil {
		return Pages{}, err
	}
	return Pages{h, s.Service.Counted(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), pageTimeout)
		defer cancel()
		h.ServeHTTP(w, r.WithContext(ctx))
	}))}, nil
}

// portalURL is where the portals' pages are.
func (o Options) portalURL() string { return cmp.Or(o.PortalURL, o.PublicURL) }
