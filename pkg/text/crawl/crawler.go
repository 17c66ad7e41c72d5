package crawl

import (
	"cmp"
	"context"
	"errors"
	"net/url"
	"time"

	"k8s.io/utils/clock"

	"visavis.dev/pkg/base/egress"
	"visavis.dev/pkg/text/extract"
)

const (
	// userAgent is how we name ourselves to servers.
	userAgent = robotsName + "/1.0"
	// maxRedirects is how many are followed for one page.
	maxRedirects = 5
)

// Bounds of [Options].
const (
	MaxDepth = 2
	MaxPages = 100
	MaxTime  = 3 * time.Minute
)

const (
	// smallBytes is what every crawl may hold of a document at a time. Of those that are
	// larger, largeAtOnce are held by all crawls of a process together.
	smallBytes  = 4 << 20
	largeAtOnce = 4
)

// Options bound a crawl.
type Options struct {
	Depth    int   // links followed one after another: 0 (the page alone) to MaxDepth
	MaxPages int   // documents given: 1 to MaxPages; 0 means 1
	MaxBytes int64 // of each document
	// Within bounds the fetching, without what each takes: what was given until then is all
	// that there is. It is 1 ns to MaxTime; 0 means MaxTime.
	Within time.Duration
	// Cut is told when that time ended a crawl that had more to fetch; nil for nobody.
	Cut func()
}

// Page is a document that was fetched.
type Page struct {
	URL         string   // canonical, after redirects
	ContentType string   // as [extract.Detect] says
	Data        []byte   // as sent
	Links       []string // canonical https addresses of an HTML page, other hosts' too
}

// Crawler fetches documents. It is safe for concurrent use; a program makes one, so
// that hosts are asked one thing at a time.
type Crawler struct {
	guard *egress.Guard
	turns *turns
	// large has a value for every large document that is held.
	large chan struct{}
}

// New makes a crawler.
func New(g *egress.Guard, c clock.Clock) *Crawler {
	return &Crawler{guard: g, turns: &turns{clock: c, hosts: map[string]*turn{}}, large: make(chan struct{}, largeAtOnce)}
}

// Fetch gives a document, and with a depth those it links to on the same host, to
// each, nearest first. It fails as the first document does, with an [Error] or the
// context's, or as each does; further documents that cannot be had in time, or are of a
// kind that nobody reads, are left out.
func (c *Crawler) Fetch(ctx context.Context, raw string, o Options, each func(Page) error) error {
	first, err := c.guard.CheckURL(raw)
	if err != nil {
		return explain(err)
	}
	w := &walk{
		crawler: c, options: o, each: each,
		robots: map[string]rules{}, seen: map[string]bool{},
	}
	w.options.Depth = min(max(o.Depth, 0), MaxDepth)
	w.options.MaxPages = min(max(o.MaxPages, 1), MaxPages)
	w.options.Within = min(cmp.Or(max(o.Within, 0), MaxTime), MaxTime)
	defer w.letGo()
	return w.run(ctx, canonical(first))
}

// walk is one crawl.
type walk struct {
	crawler *Crawler
	options Options
	each    func(Page) error
	robots  map[string]rules // by host
	seen    map[string]bool  // URLs that are queued, or were led to
	host    string           // of the first page; others are not entered
	given   int
	asked   int
	// holds says that a large document is held.
	holds bool
}

// step is a page to be fetched.
type step struct {
	url   *url.URL
	depth int
}

// maxAsked bounds the pages asked for, for each that may be given: a site may link to
// nothing but pictures.
const maxAsked = 5

func (w *walk) run(ctx context.Context, first *url.URL) error {
	left := w.options.Within
	queue := []step{{first, 0}}
	w.seen[first.String()] = true
	for len(queue) > 0 && w.given < w.options.MaxPages && w.asked < maxAsked*w.options.MaxPages {
		next := queue[0]
		queue = queue[1:]
		w.asked++
		w.letGo()
		began := time.Now()
		limited, cancel := context.WithTimeout(ctx, left)
		page, final, err := w.page(limited, next.url)
		over := limited.Err() != nil
		cancel()
		left -= time.Since(began)
		switch {
		case ctx.Err() != nil:
			return explain(ctx.Err())
		case over && w.given > 0:
			if w.options.Cut != nil {
				w.options.Cut()
			}
			return nil
		case err != nil && next.depth == 0:
			return err
		case err != nil, page == nil:
			continue
		}
		links := w.follow(page, final)
		if err := w.each(*page); err != nil {
			return err
		}
		w.given++
		if next.depth < w.options.Depth {
			for _, u := range links {
				queue = append(queue, step{u, next.depth + 1})
			}
		}
	}
	return nil
}

// follow notes a page's links and gives those that are to be fetched.
func (w *walk) follow(page *Page, final *url.URL) []*url.URL {
	if page.ContentType != extract.TypeHTML {
		return nil
	}
	var out []*url.URL
	for _, u := range linksOf(final, page.Data) {
		page.Links = append(page.Links, u.String())
		if u.Host == w.host && !w.seen[u.String()] {
			w.seen[u.String()] = true
			out = append(out, u)
		}
	}
	return out
}

// page fetches one page through its redirects. It is nil if it was had before under
// another address, or is on another host than the first.
func (w *walk) page(ctx context.Context, u *url.URL) (*Page, *url.URL, error) {
	for range maxRedirects + 1 {
		response, err := w.polite(ctx, u)
		if redirect, ok := errors.AsType[*egress.RedirectError](err); ok {
			next, err := w.hop(u, redirect.Location)
			if next == nil || err != nil {
				return nil, nil, err
			}
			u = next
			continue
		}
		if err != nil {
			return nil, nil, explain(err)
		}
		kind, err := extract.Detect(u.Path, response.ContentType, response.Body)
		if err != nil {
			return nil, nil, explain(err)
		}
		if w.host == "" {
			w.host = u.Host
		}
		return &Page{URL: u.String(), ContentType: kind, Data: response.Body}, u, nil
	}
	return nil, nil, explain(ErrRedirects)
}

// hop is where a redirect leads, checked as every address is. The first page may be
// led to another host, as from a bare name to www.
func (w *walk) hop(from *url.URL, location string) (*url.URL, error) {
	next, err := from.Parse(location)
	if err != nil || location == "" {
		return nil, explain(&egress.InvalidURLError{Reason: "it redirects to no address"})
	}
	checked, err := w.crawler.guard.CheckURL(next.String())
	if err != nil {
		return nil, explain(err)
	}
	u := canonical(checked)
	if w.host == "" {
		w.seen[u.String()] = true
		return u, nil
	}
	if u.Host != w.host || w.seen[u.String()] {
		return nil, nil
	}
	w.seen[u.String()] = true
	return u, nil
}

// polite makes one request if the host's rules allow it.
func (w *walk) polite(ctx context.Context, u *url.URL) (*egress.Response, error) {
	if err := w.rulesOf(ctx, u).allow(u); err != nil {
		return nil, err
	}
	return w.request(ctx, u, w.options.MaxBytes)
}

// request waits for the host's turn. Its pause counts from the end of the answer, so
// that a slow host is not pressed.
func (w *walk) request(ctx context.Context, u *url.URL, maxBytes int64) (*egress.Response, error) {
	done, err := w.crawler.turns.take(ctx, u.Host)
	if err != nil {
		return nil, err
	}
	defer func() { done(w.robots[u.Host].delay()) }()
	response, err := w.crawler.guard.FetchAs(ctx, userAgent, u.String(), min(maxBytes, smallBytes))
	if !errors.Is(err, egress.ErrTooLarge) || maxBytes <= smallBytes {
		return response, err
	}
	if err := w.waitForRoom(ctx); err != nil {
		return nil, err
	}
	return w.crawler.guard.FetchAs(ctx, userAgent, u.String(), maxBytes)
}

// waitForRoom waits until there is room for a large document.
func (w *walk) waitForRoom(ctx context.Context) error {
	if w.holds {
		return nil
	}
	select {
	case w.crawler.large <- struct{}{}:
		w.holds = true
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// letGo gives the room for a large document back.
func (w *walk) letGo() {
	if w.holds {
		<-w.crawler.large
		w.holds = false
	}
}
