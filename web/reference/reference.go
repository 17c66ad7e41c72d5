// Package reference shows the OpenAPI documents to people: a page for each
// resource group and one for the events, with a search over all of them. The
// pages are made of the documents alone, and load nothing from elsewhere.
package reference

import (
	"embed"
	"fmt"
	"log/slog"
	"mime"
	"net/http"
	"path"
	"strings"
	"sync"

	"visavis.dev/web/packed"
)

// Prefix is what the path of every page begins with.
const Prefix = "/docs/"

//go:embed assets
var assetFiles embed.FS

// Reference is the pages of every contract.
type Reference struct {
	log      *slog.Logger
	versions []string
	books    map[string]*book
	// written are what was asked for, by path.
	mu      sync.Mutex
	written map[string]*packed.Document
}

// book is one contract's document, read when it is first asked for.
type book struct {
	version string
	read    func() (*document, error)
}

// New makes the pages of contracts, newest last, whose documents source gives.
func New(versions []string, source func(version string) ([]byte, error), log *slog.Logger) *Reference {
	r := &Reference{log: log, versions: versions, books: map[string]*book{}, written: map[string]*packed.Document{}}
	for _, v := range versions {
		r.books[v] = &book{v, sync.OnceValues(func() (*document, error) {
			raw, err := source(v)
			if err != nil {
				return nil, err
			}
			return readDocument(raw)
		})}
	}
	return r
}

// policy lets a page load what is beside it, and nothing else.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// ServeHTTP answers what is under Prefix: /docs/2026-10-01, a group's page below
// it, its search.json, and the pages' assets.
func (p *Reference) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	found, err := p.find(strings.TrimPrefix(r.URL.Path, Prefix))
	if err != nil {
		p.log.ErrorContext(r.Context(), "failed to write a page of the reference", "path", r.URL.Path, "error", err)
		http.Error(w, "The page could not be written.", http.StatusInternalServerError)
		return
	}
	if found == nil {
		http.Error(w, "There is no such page. The reference is at "+Prefix+p.versions[len(p.versions)-1], http.StatusNotFound)
		return
	}
	header := w.Header()
	header.Set("Cache-Control", "public, max-age=300")
	header.Set("Content-Security-Policy", policy)
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "no-referrer")
	found.Serve(w, r, http.StatusOK)
}

// find is what a path names, written once; nil for nothing.
func (p *Reference) find(name string) (*packed.Document, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if found := p.written[name]; found != nil {
		return found, nil
	}
	body, contentType, err := p.write(name)
	if err != nil || body == nil {
		return nil, err
	}
	p.written[name] = packed.New(body, contentType)
	return p.written[name], nil
}

func (p *Reference) write(name string) (body []byte, contentType string, err error) {
	folder, rest, _ := strings.Cut(name, "/")
	if folder == "assets" {
		body, err := assetFiles.ReadFile(name)
		if err != nil || path.Ext(name) == ".html" {
			return nil, "", nil //nolint:nilerr // there is no such file
		}
		return body, mime.TypeByExtension(path.Ext(name)), nil
	}
	b := p.books[folder]
	if b == nil {
		return nil, "", nil
	}
	d, err := b.read()
	if err != nil {
		return nil, "", fmt.Errorf("document of contract %s: %w", b.version, err)
	}
	if rest == "search.json" {
		body, err := d.index(Prefix + b.version)
		return body, "application/json", err
	}
	view := d.view(rest)
	if view == nil {
		return nil, "", nil
	}
	view.Version, view.Versions, view.Base = b.version, p.versions, Prefix+b.version
	body, err = view.html()
	return body, "text/html; charset=utf-8", err
}
