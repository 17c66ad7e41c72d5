package route

import (
	"net/http"
	"strings"

	"github.com/go-chi/chi/v5"
)

// methods are those that operations have, and HEAD, in the order of Allow.
var methods = []string{http.MethodDelete, http.MethodGet, http.MethodHead, http.MethodPatch, http.MethodPost, http.MethodPut}

// route leads an operation's method and path through the chain. A GET answers HEAD too; net/http leaves out the body.
func (s *Service) route(path string, o *Operation, next http.Handler) {
	guarded := s.guard(o, next)
	at := func(method string) {
		s.router.Method(method, path, guarded)
		s.routed[method+" "+path] = o
	}
	at(o.Method)
	if o.Method == http.MethodGet {
		at(http.MethodHead)
	}
}

// find finds the operation of a method and a path, and the path's variables; nil where there
// is none.
func (s *Service) find(method, path string) (*Operation, *chi.Context) {
	match := chi.NewRouteContext()
	if emptySegment(path) {
		return nil, match
	}
	return s.routed[method+" "+s.router.Find(match, method, path)], match
}

// methodsAt lists the methods that a path takes.
func (s *Service) methodsAt(path string) (taken []string) {
	for _, m := range methods {
		if s.router.Match(chi.NewRouteContext(), m, path) {
			taken = append(taken, m)
		}
	}
	return taken
}

// emptySegment says whether a path has a part that is empty, which the router would take for a
// variable's value.
func emptySegment(path string) bool { return strings.Contains(path, "//") }

// byDecodedPath is a request whose path is routed, and taken apart, as it is once decoded.
func byDecodedPath(r *http.Request) *http.Request {
	if r.URL.RawPath != "" {
		u := *r.URL
		u.RawPath = ""
		r.URL = &u
	}
	return r
}
