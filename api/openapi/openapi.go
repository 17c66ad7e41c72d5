// Package openapi holds the OpenAPI documents, one a contract, and the page
// that shows them to a person. The documents are generated from the declared
// operations by make generate and served as they stand here.
package openapi

import (
	"embed"
	"fmt"
	"net/http"

	"visavis.dev/api/route"
	"visavis.dev/pkg/contract"
)

//go:embed *.json
var documents embed.FS

// Document is a contract's document.
func Document(v contract.Version) ([]byte, error) {
	return documents.ReadFile(route.DocumentName(v))
}

// Register serves the documents and the page.
func Register(s *route.Service) error {
	for _, v := range contract.Versions() {
		document, err := Document(v)
		if err != nil {
			return fmt.Errorf("document of contract %s: %w", v, err)
		}
		s.Mount("/openapi/"+route.DocumentName(v), static("application/json", document))
		page, err := Page(document, v)
		if err != nil {
			return fmt.Errorf("page of contract %s: %w", v, err)
		}
		s.Mount("/docs/"+string(v), static("text/html; charset=utf-8", page))
	}
	s.Mount("/docs", http.RedirectHandler("/docs/"+string(contract.Latest), http.StatusFound))
	s.Mount("/", http.RedirectHandler("/docs", http.StatusFound))
	return nil
}

// static serves bytes that never change while the program runs. The page runs
// no script and loads nothing from elsewhere.
func static(contentType string, body []byte) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		h := w.Header()
		h.Set("Content-Type", contentType)
		h.Set("Cache-Control", "public, max-age=300")
		h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
		h.Set("X-Content-Type-Options", "nosniff")
		_, _ = w.Write(body) // a reader that went away is nobody's fault
	})
}
