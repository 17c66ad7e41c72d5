// Package openapi holds the OpenAPI documents, one a contract. They are
// generated from the declared operations by make generate, served as they stand
// here, and shown to people by the reference.
package openapi

import (
	"embed"
	"fmt"
	"net/http"
	"sync"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/web/packed"
	"visavis.dev/web/reference"
)

//go:embed *.json
var documents embed.FS

// Document is a contract's document.
func Document(v contract.Version) ([]byte, error) {
	return documents.ReadFile(route.DocumentName(v))
}

// Register serves the documents and the reference.
func Register(s *route.Service) error {
	var versions []string
	for _, v := range contract.Versions() {
		document, err := Document(v)
		if err != nil {
			return fmt.Errorf("document of contract %s: %w", v, err)
		}
		s.Mount("/openapi/"+route.DocumentName(v), static(document))
		versions = append(versions, string(v))
	}
	pages := reference.New(versions, func(v string) ([]byte, error) { return Document(contract.Version(v)) }, s.Log)
	first := http.RedirectHandler(reference.Prefix+string(contract.Latest), http.StatusFound)
	s.Mount("/docs", first)
	s.Mount(reference.Prefix, first)
	s.Mount(reference.Prefix+"*", pages)
	s.Mount("/", http.RedirectHandler("/docs", http.StatusFound))
	return nil
}

// static serves a document, which never changes while the program runs. It is
// packed when it is first asked for, which takes some time.
func static(body []byte) http.Handler {
	document := sync.OnceValue(func() *packed.Document { return packed.New(body, "application/json") })
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Cache-Control", "public, max-age=300")
		h.Set("X-Content-Type-Options", "nosniff")
		document().Serve(w, r, http.StatusOK)
	})
}
