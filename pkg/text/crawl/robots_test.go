package crawl_test

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"

	"visavis.dev/pkg/text/crawl"
)

func TestRobots(t *testing.T) {
	for name, tc := range map[string]struct {
		robots  http.HandlerFunc
		blocked bool
		later   bool
	}{
		"none":               {robots: status(404)},
		"forbidden to read":  {robots: status(403)},
		"of others":          {robots: says("text/plain", "User-agent: OtherBot\nDisallow: /")},
		"of all":             {robots: says("text/plain", "User-agent: *\nDisallow: /"), blocked: true},
		"of us":              {robots: says("text/plain", "User-agent: *\nAllow: /\n\nUser-agent: visavisbot\nDisallow: /a"), blocked: true},
		"us apart from all":  {robots: says("text/plain", "User-agent: *\nDisallow: /\n\nUser-agent: VisavisBot\nDisallow: /b")},
		"the longer rule":    {robots: says("text/plain", "User-agent: *\nDisallow: /a\nAllow: /a?")},
		"a pattern":          {robots: says("text/plain", "User-agent: *\nDisallow: /*?q=*z$"), blocked: true},
		"another pattern":    {robots: says("text/plain", "User-agent: *\nDisallow: /*?q=$")},
		"debris":             {robots: says("text/html", "<html>\x00not robots\nDisallow /")},
		"moved":              {robots: redirect("/elsewhere"), blocked: true},
		"moved for ever":     {robots: redirect("/robots.txt")},
		"down":               {robots: status(500), blocked: true, later: true},
		"too large":          {robots: says("text/plain", strings.Repeat("# comment\n", 500_000)), blocked: true, later: true},
		"forbids at the end": {robots: says("text/plain", strings.Repeat("# comment\n", 60_000)+"User-agent: *\nDisallow: /")},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, map[string]http.HandlerFunc{
				"/robots.txt": tc.robots, "/a": links(), "/elsewhere": says("text/plain", "User-agent: *\nDisallow: /a"),
			})
			_, err := s.fetch(t, "/a?q=xyz", crawl.Options{})
			if !tc.blocked {
				require.NoError(t, err)
				return
			}
			var failure *crawl.Error
			require.ErrorAs(t, err, &failure)
			require.ErrorIs(t, err, crawl.ErrBlocked)
			require.Equal(t, crawl.CodeBlocked, failure.Code)
			require.Equal(t, tc.later, failure.Retryable)
			require.NotContains(t, s.requests(), "/a?q=xyz")
		})
	}
}

func TestBlockedLinksAreLeftOut(t *testing.T) {
	s := serve(t, map[string]http.HandlerFunc{
		"/robots.txt": says("text/plain", "User-agent: *\nDisallow: /secret"), "/": links("/secret", "/a", "/to"),
		"/secret": links(), "/a": links(), "/to": redirect("/secret"),
	})
	got, err := s.fetch(t, "/", crawl.Options{Depth: 1, MaxPages: 10})
	require.NoError(t, err)
	require.Equal(t, []string{"/", "/a"}, got)
	require.NotContains(t, s.requests(), "/secret")
}

// A host is left alone as long as it asks for, but not for ever.
func TestCrawlDelay(t *testing.T) {
	for asked, want := range map[string]time.Duration{"3": 3 * time.Second, "3600": 10 * time.Second} {
		s := serve(t, map[string]http.HandlerFunc{
			"/robots.txt": says("text/plain", "User-agent: *\nCrawl-delay: "+asked), "/": links("/a"), "/a": links(),
		})
		c := clocktesting.NewFakeClock(time.Unix(0, 0))
		crawler := crawlerFor(t, s, c, 5*time.Second)
		done := make(chan error)
		pages := make(chan string, 10)
		go func() {
			done <- crawler.Fetch(t.Context(), s.at("/"), crawl.Options{Depth: 1, MaxPages: 5, MaxBytes: 1000}, func(p crawl.Page) error {
				pages <- p.URL
				return nil
			})
		}()
		require.Equal(t, s.at("/"), <-pages)
		require.Eventually(t, c.HasWaiters, 20*time.Second, time.Millisecond)
		c.Step(want - time.Nanosecond)
		require.True(t, c.HasWaiters(), "not a moment sooner")
		require.Len(t, s.requests(), 1)
		c.Step(time.Nanosecond)
		require.Equal(t, s.at("/a"), <-pages)
		require.NoError(t, <-done)
	}
}

// Two crawls of one host take turns.
func TestOneRequestAtATime(t *testing.T) {
	var open, most atomic.Int32
	page := func(w http.ResponseWriter, r *http.Request) {
		now := open.Add(1)
		defer open.Add(-1)
		for {
			before := most.Load()
			if now <= before || most.CompareAndSwap(before, now) {
				break
			}
		}
		links("/a", "/b", "/c", "/d")(w, r)
	}
	s := serve(t, map[string]http.HandlerFunc{"/": page, "/a": page, "/b": page, "/c": page, "/d": page})
	crawler := crawlerFor(t, s, clock.RealClock{}, 5*time.Second)
	done := make(chan error)
	for range 4 {
		go func() {
			done <- crawler.Fetch(t.Context(), s.at("/"), crawl.Options{Depth: 1, MaxPages: 10, MaxBytes: 1000}, func(crawl.Page) error { return nil })
		}()
	}
	for range 4 {
		require.NoError(t, <-done)
	}
	require.Len(t, s.requests(), 20)
	require.Equal(t, int32(1), most.Load())
}
