package main

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// shownPortal is what the API answers of a portal, as its users read it.
type shownPortal struct{ ID, Slug, URL string }

// course makes and publishes the course of the gallery, which visitors may come to.
func (c caller) course(t *testing.T) shownPortal {
	t.Helper()
	faces := data[[]struct{ ID string }](t, get(t, c.base+"/avatars?limit=1", c.key))
	voices := data[[]struct{ ID string }](t, get(t, c.base+"/voices?limit=1", c.key))
	made := data[shownPortal](t, post(t, c.base+"/portals", c.key, map[string]any{
		"name": "Safety", "templateKey": "course", "avatarId": faces[0].ID, "voiceId": voices[0].ID, "languages": []string{"en", "de"},
	}))
	c.change(t, http.MethodPatch, "/portals/"+made.ID, map[string]any{"minAge": 16, "privacy": map[string]any{"privacyUrl": "https://example.com/privacy"}})
	c.change(t, http.MethodPut, "/portals/"+made.ID+"/doors/visitors", map[string]any{"open": true})
	c.change(t, http.MethodPost, "/portals/"+made.ID+"/publish", map[string]any{})
	return made
}

// change makes a call that succeeds.
func (c caller) change(t *testing.T, method, path string, body map[string]any) {
	t.Helper()
	a, err := attempt(method, c.base+path, c.key, body)
	require.NoError(t, err)
	require.Less(t, a.status, 300, "%s %s: %s", method, path, a.body)
}

// page asks a process for a page of a host.
func page(t *testing.T, process, host, path string) answer {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+process+path, nil)
	require.NoError(t, err)
	r.Host = host
	response, err := http.DefaultTransport.RoundTrip(r)
	require.NoError(t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return answer{response.StatusCode, response.Header, text}
}

func TestAPortalIsShownBySlugAndByHost(t *testing.T) {
	t.Parallel()
	p := newPlatform(t, newDatabase(t), newDatabase(t))
	const pages = "learn.visavis.example"
	portal := p.role(t, "portal", "--addr", "127.0.0.1:0", "--portal-url", "https://"+pages).awaitLine(t, "serving").Addr
	c := caller{p.serve(t, "--portal-url", "https://"+pages, "--dns-proof", "off").url, p.key}
	made := c.course(t)
	at, err := url.Parse(made.URL)
	require.NoError(t, err)
	require.Equal(t, pages, at.Host)

	shown := page(t, portal, pages, at.Path)
	require.Equal(t, http.StatusOK, shown.status, "%s", shown.body)
	require.Contains(t, string(shown.body), "<h1")
	require.Contains(t, string(shown.body), "Workplace safety basics")

	c.change(t, http.MethodPatch, "/portals/"+made.ID, map[string]any{"customDomain": "learn.example.com", "slug": "safety-at-work"})
	require.Eventually(t, func() bool {
		own, moved := page(t, portal, "learn.example.com", "/"), page(t, portal, pages, at.Path+"/sign-in?lang=de")
		return own.status == http.StatusOK && moved.status == http.StatusPermanentRedirect && moved.header.Get("Location") == "/p/safety-at-work/sign-in?lang=de"
	}, patience, 100*time.Millisecond)
	for _, host := range []string{pages, "else.example.com"} {
		require.Equal(t, http.StatusNotFound, page(t, portal, host, "/").status, host)
	}
	require.Equal(t, http.StatusNotFound, page(t, portal, pages, "/v1/me").status, "the role answers no API")
}

// What is published through one process is shown by all the others within two seconds:
// the pages' processes share nothing but the databases.
func TestEveryProcessShowsWhatWasPublished(t *testing.T) {
	t.Parallel()
	p := newPlatform(t, newDatabase(t), newDatabase(t))
	const pages = "learn.visavis.example"
	portals := [2]string{}
	for i := range portals {
		portals[i] = p.role(t, "portal", "--addr", "127.0.0.1:0", "--portal-url", "https://"+pages).awaitLine(t, "serving").Addr
	}
	c := caller{p.serve(t, "--portal-url", "https://"+pages).url, p.key}
	made := c.course(t)
	at, err := url.Parse(made.URL)
	require.NoError(t, err)
	shows := func(portal, title string) bool {
		return strings.Contains(string(page(t, portal, pages, at.Path).body), title)
	}
	for _, portal := range portals { // both have seen it, and keep what they saw
		require.True(t, shows(portal, "Workplace safety basics"))
	}
	c.change(t, http.MethodPatch, "/portals/"+made.ID, map[string]any{"pages": map[string]any{"title": map[string]any{"en": "Safe on the pier", "de": "Sicher am Steg"}}})
	for _, portal := range portals {
		require.False(t, shows(portal, "Safe on the pier"), "a draft is nobody's business")
	}
	c.change(t, http.MethodPost, "/portals/"+made.ID+"/publish", map[string]any{})
	published := time.Now()
	for _, portal := range portals {
		require.Eventually(t, func() bool { return shows(portal, "Safe on the pier") }, patience, 20*time.Millisecond)
		t.Logf("%s shows it %v after it was published", portal, time.Since(published).Round(time.Millisecond))
	}
}
