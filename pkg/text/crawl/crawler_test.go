package crawl_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/utils/clock"

	"visavis.dev/pkg/text/crawl"
	"visavis.dev/pkg/text/extract"
)

func TestAPage(t *testing.T) {
	var agent string
	s := serve(t, map[string]http.HandlerFunc{"/a": func(w http.ResponseWriter, r *http.Request) {
		agent = r.UserAgent()
		links("/b#top", "https://other.example/")(w, r)
	}})
	var got []crawl.Page
	err := crawlerFor(t, s, clock.RealClock{}, 5*time.Second).Fetch(t.Context(), s.at("/a#x"), crawl.Options{MaxBytes: 1000}, func(p crawl.Page) error {
		got = append(got, p)
		return nil
	})
	require.NoError(t, err)
	require.Len(t, got, 1)
	require.Equal(t, s.at("/a"), got[0].URL)
	require.Equal(t, extract.TypeHTML, got[0].ContentType)
	require.Contains(t, string(got[0].Data), "Text")
	require.Equal(t, []string{s.at("/b"), "https://other.example/"}, got[0].Links)
	require.Equal(t, []string{"/a"}, s.requests())
	require.True(t, strings.HasPrefix(agent, "VisavisBot"))
}

func TestDepth(t *testing.T) {
	site := map[string]http.HandlerFunc{
		"/":  links("/a", "/b", "/picture", "/gone", "https://other.example/x", "mailto:a@b", "http://example.com/plain", "/moved", "/away"),
		"/a": links("/a1", "/", "/b"), "/b": links("/b1"), "/a1": links("/a2"), "/b1": links(), "/a2": links(),
		"/picture": says("image/png", "\x89PNG\r\n\x1a\n\x00\x00\x00\x0d"), "/moved": redirect("/b"), "/away": redirect("https://other.example/"),
	}
	for depth, want := range [][]string{{"/"}, {"/", "/a", "/b"}, {"/", "/a", "/b", "/a1", "/b1"}} {
		s := serve(t, site)
		got, err := s.fetch(t, "", crawl.Options{Depth: depth, MaxPages: 100})
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	s := serve(t, site)
	got, err := s.fetch(t, "", crawl.Options{Depth: 2, MaxPages: 2})
	require.NoError(t, err)
	require.Equal(t, []string{"/", "/a"}, got)
	require.Len(t, s.requests(), 2)
}

func TestEachURLOnce(t *testing.T) {
	s := serve(t, map[string]http.HandlerFunc{"/x/a b": links(), "/x/a": links(), "/x/": nil})
	s.handler["/"] = links("/x/a", "/x/a#f", "/x/./a", "/y/../x/a", "/x/a?", s.at("/x/a"), strings.ToUpper(s.at(""))+"/x/a", "/%78/a", "/x/a%20b", "/x/a b", "/x/a?q=1")
	got, err := s.fetch(t, "/", crawl.Options{Depth: 1, MaxPages: 100})
	require.NoError(t, err)
	require.Equal(t, []string{"/", "/x/a", "/x/a%20b", "/x/a?q=1"}, got)
}

func TestNofollow(t *testing.T) {
	s := serve(t, map[string]http.HandlerFunc{
		"/":       says("text/html", `<a rel="nofollow" href="/a">x</a><base href="/deep/"><a href="b">x</a>`),
		"/deep/b": says("text/html", `<meta name=robots content="noindex, NOFOLLOW"><a href="/c">x</a>`),
	})
	got, err := s.fetch(t, "/", crawl.Options{Depth: 2, MaxPages: 100})
	require.NoError(t, err)
	require.Equal(t, []string{"/", "/deep/b"}, got)
}

// A page of 60 KB that leads to a thousand addresses of 50 KB each leads nowhere: as many of
// a megabyte would take gigabytes.
func TestLongLinksLeadNowhere(t *testing.T) {
	var body strings.Builder
	body.WriteString(`<html><p>Text<base href="/` + strings.Repeat("a", 50_000) + `/">`)
	for i := range 1000 {
		fmt.Fprintf(&body, "<a href=%d>", i)
	}
	s := serve(t, map[string]http.HandlerFunc{"/": says("text/html", body.String())})
	var got []crawl.Page
	err := crawlerFor(t, s, clock.RealClock{}, 5*time.Second).Fetch(t.Context(), s.at("/"), crawl.Options{MaxBytes: 1 << 17}, func(p crawl.Page) error {
		got = append(got, p)
		return nil
	})
	require.NoError(t, err)
	require.Len(t, got, 1)
	require.Len(t, got[0].Links, 1000, "by the page's own address")
	for _, link := range got[0].Links {
		require.Less(t, len(link), 100)
	}

	s.handler["/"] = links("/"+strings.Repeat("b", 5000), "/short")
	next, err := s.fetch(t, "/", crawl.Options{Depth: 1, MaxPages: 10})
	require.NoError(t, err)
	require.Equal(t, []string{"/"}, next)
	require.Equal(t, []string{"/", "/", "/short"}, s.requests())
}

func TestRedirects(t *testing.T) {
	s := serve(t, map[string]http.HandlerFunc{
		"/end": links(), "/loop": redirect("/loop"), "/private": redirect("https://private.example.com/"),
		"/plain": redirect("http://example.com/"), "/address": redirect("https://10.0.0.1/"), "/nowhere": redirect(""), "/bad": redirect("::bad::"),
	})
	for i := range 6 {
		s.handler[fmt.Sprintf("/%d", i+1)] = redirect(fmt.Sprintf("/%d", i))
	}
	s.handler["/0"] = redirect("/end")
	got, err := s.fetch(t, "/4", crawl.Options{})
	require.NoError(t, err)
	require.Equal(t, []string{"/end"}, got)
	for path, code := range map[string]crawl.Code{
		"/5": crawl.CodeFetchFailed, "/loop": crawl.CodeFetchFailed, "/private": crawl.CodeAddressRefused, "/address": crawl.CodeAddressRefused,
		"/plain": crawl.CodeAddressRefused, "/nowhere": crawl.CodeAddressRefused, "/bad": crawl.CodeAddressRefused,
	} {
		_, err := s.fetch(t, path, crawl.Options{})
		var failure *crawl.Error
		require.ErrorAs(t, err, &failure, path)
		require.Equal(t, code, failure.Code, path)
		require.False(t, failure.Retryable, path)
	}
}

func TestFailures(t *testing.T) {
	s := serve(t, map[string]http.HandlerFunc{
		"/large": says("text/plain", strings.Repeat("a", 1<<17)), "/picture": says("image/png", "\x89PNG\r\n\x1a\n\x00\x00\x00\x0d"),
		"/down": status(503), "/busy": status(429), "/broken": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	})
	for path, want := range map[string]crawl.Error{
		"/large": {Code: crawl.CodeTooLarge}, "/picture": {Code: crawl.CodeUnsupported}, "/gone": {Code: crawl.CodeFetchFailed},
		"/down": {Code: crawl.CodeFetchFailed, Retryable: true}, "/busy": {Code: crawl.CodeFetchFailed, Retryable: true},
		"/broken": {Code: crawl.CodeFetchFailed, Retryable: true},
	} {
		_, err := s.fetch(t, path, crawl.Options{})
		var failure *crawl.Error
		require.ErrorAs(t, err, &failure, path)
		require.Equal(t, want.Code, failure.Code, path)
		require.Equal(t, want.Retryable, failure.Retryable, path)
		require.NotContains(t, err.Error(), "127.0.0.1")
	}
	for _, raw := range []string{"http://example.com/", "https://10.0.0.1/", "https://private.example.com/", "x"} {
		err := crawlerFor(t, s, clock.RealClock{}, time.Second).Fetch(t.Context(), raw, crawl.Options{}, nil)
		var failure *crawl.Error
		require.ErrorAs(t, err, &failure, raw)
		require.Equal(t, crawl.CodeAddressRefused, failure.Code, raw)
	}
}

func TestASlowServer(t *testing.T) {
	s := serve(t, map[string]http.HandlerFunc{"/": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }})
	err := crawlerFor(t, s, clock.RealClock{}, 100*time.Millisecond).Fetch(t.Context(), s.at("/"), crawl.Options{}, nil)
	var failure *crawl.Error
	require.ErrorAs(t, err, &failure)
	require.Equal(t, crawl.CodeTimeout, failure.Code)
	require.True(t, failure.Retryable)

	ctx, cancel := context.WithCancel(t.Context())
	s = serve(t, map[string]http.HandlerFunc{"/": func(_ http.ResponseWriter, r *http.Request) { cancel(); <-r.Context().Done() }})
	err = crawlerFor(t, s, clock.RealClock{}, 5*time.Second).Fetch(ctx, s.at("/"), crawl.Options{}, nil)
	require.ErrorIs(t, err, context.Canceled)
}

// A site that takes its time is read as far as the time goes, and not at all where that
// is not enough for the first page.
func TestTheTimeOfACrawl(t *testing.T) {
	hang := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	for _, tt := range []struct {
		first http.HandlerFunc
		code  crawl.Code
		got   int
	}{{links("/a"), "", 1}, {hang, crawl.CodeTimeout, 0}} {
		s := serve(t, map[string]http.HandlerFunc{"/": tt.first, "/a": hang})
		got := 0
		o := crawl.Options{Depth: 1, MaxPages: 5, MaxBytes: 1000, Within: 500 * time.Millisecond}
		err := crawlerFor(t, s, clock.RealClock{}, 20*time.Second).Fetch(t.Context(), s.at("/"), o, func(crawl.Page) error { got++; return nil })
		var failure *crawl.Error
		require.Equal(t, tt.code != "", errors.As(err, &failure), err)
		if failure != nil {
			require.Equal(t, tt.code, failure.Code)
		}
		require.Equal(t, tt.got, got)
	}
}

// All crawls of a process together hold a few large documents at a time, each until it
// was dealt with.
func TestLargeDocumentsAreHeldAFewAtATime(t *testing.T) {
	const held = 4
	s := serve(t, map[string]http.HandlerFunc{
		"/large": says("text/plain", strings.Repeat("word ", 1<<20)), "/small": says("text/plain", "word"),
	})
	c := crawlerFor(t, s, clock.RealClock{}, 20*time.Second)
	arrived, release, done := make(chan struct{}, 10), make(chan struct{}), make(chan error, 10)
	fetch := func(path string, each func(crawl.Page) error) {
		go func() { done <- c.Fetch(t.Context(), s.at(path), crawl.Options{MaxBytes: 8 << 20}, each) }()
	}
	hold := func(crawl.Page) error { arrived <- struct{}{}; <-release; return nil }
	for range held + 1 {
		fetch("/large", hold)
	}
	for range held {
		<-arrived
	}
	// The one more has the host's turn while it waits, but no longer than a crawl may last.
	select {
	case <-arrived:
		t.Fatal("one more was held")
	case <-time.After(200 * time.Millisecond):
	}
	close(release)
	<-arrived
	for range held + 1 {
		require.NoError(t, <-done)
	}
	fetch("/small", func(crawl.Page) error { return nil })
	require.NoError(t, <-done)
}

func TestEachStopsTheCrawl(t *testing.T) {
	s := serve(t, map[string]http.HandlerFunc{"/": links("/a"), "/a": links()})
	stop := errors.New("stop")
	err := crawlerFor(t, s, clock.RealClock{}, 5*time.Second).Fetch(t.Context(), s.at("/"), crawl.Options{Depth: 1, MaxPages: 5, MaxBytes: 1000},
		func(crawl.Page) error { return stop })
	require.ErrorIs(t, err, stop)
	require.Len(t, s.requests(), 1)
}

// What is done with a page takes none of the time that its site has.
func TestTheTimeOfACrawlIsThatOfItsFetching(t *testing.T) {
	s := serve(t, map[string]http.HandlerFunc{"/": links("/a", "/b"), "/a": links(), "/b": links()})
	const within = 2 * time.Second
	given, o := 0, crawl.Options{Depth: 1, MaxPages: 5, MaxBytes: 1000, Within: within, Cut: func() { t.Error("it was cut") }}
	err := crawlerFor(t, s, clock.RealClock{}, 5*time.Second).Fetch(t.Context(), s.at("/"), o, func(crawl.Page) error {
		if given++; given == 1 {
			<-time.After(within + time.Second/10)
		}
		return nil
	})
	require.NoError(t, err)
	require.Equal(t, 3, given)
}
