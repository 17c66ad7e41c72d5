package page_test

import (
	"compress/gzip"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/personas/avatar"
	"visavis.dev/pkg/portals/portal/published"
	"visavis.dev/pkg/store/directory"
	"visavis.dev/web/page"
	"visavis.dev/web/page/pagetest"
)

var library = avatar.NewLibrary()

// testBundle is the sample site behind a handler.
type testBundle struct {
	t             testing.TB
	site          *published.Site
	sites         pagetest.Sites
	doors         *pagetest.Doors
	conversations *pagetest.Conversations
	handler       *page.Handler
}

func setup(t testing.TB, changes ...func(*published.Site)) *testBundle {
	t.Helper()
	b := &testBundle{t: t, site: pagetest.Sample(library), doors: &pagetest.Doors{Code: "ANCHOR"}, conversations: &pagetest.Conversations{URL: "wss://live.example.com/x"}}
	for _, change := range changes {
		change(b.site)
	}
	b.sites = pagetest.Sites{{Kind: directory.Slug, Name: "harbour"}: b.site, {Kind: directory.Host, Name: "harbour.example.com"}: b.site}
	var err error
	b.handler, err = page.New(page.Options{
		Sites: b.sites, Doors: b.doors, Conversations: b.conversations, Portraits: pagetest.Portraits{Library: library},
		PortalURL: "https://portal.example.com", PublicURL: "https://api.example.com", LiveURL: "wss://live.example.com", Address: pagetest.Address, Log: slog.New(slog.DiscardHandler),
	})
	require.NoError(t, err)
	return b
}

// request is one to the portal; changes are headers, "Name: value".
func request(method, at string, headers ...string) *http.Request {
	r := httptest.NewRequest(method, at, nil)
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Add(name, value)
	}
	return r
}

func (b *testBundle) do(r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	b.handler.ServeHTTP(w, r)
	return w
}

const home = "https://portal.example.com/p/harbour"

func (b *testBundle) get(at string, headers ...string) *httptest.ResponseRecorder {
	return b.do(request(http.MethodGet, at, headers...))
}

// post sends a form as the portal's own page does.
func (b *testBundle) post(at string, form url.Values, headers ...string) *httptest.ResponseRecorder {
	r := request(http.MethodPost, at, append([]string{"Sec-Fetch-Site: same-origin", "Content-Type: application/x-www-form-urlencoded"}, headers...)...)
	r.Body = io.NopCloser(strings.NewReader(form.Encode()))
	return b.do(r)
}

// signedIn is the header of a browser that came in by the visitors' door.
func (b *testBundle) signedIn() string {
	b.t.Helper()
	w := b.post(home+"/sign-in/visitors", nil)
	require.Equal(b.t, http.StatusSeeOther, w.Code, w.Body)
	return "Cookie: " + cookieOf(b.t, w, "visit").Name + "=" + cookieOf(b.t, w, "visit").Value
}

// cookieOf is a cookie as the browser has it in the end.
func cookieOf(t testing.TB, w *httptest.ResponseRecorder, name string) *http.Cookie {
	t.Helper()
	for _, c := range slices.Backward(w.Result().Cookies()) {
		if c.Name == name {
			return c
		}
	}
	require.Fail(t, "no cookie", name)
	return nil
}

func TestPagesAreFoundBySlugAndByHost(t *testing.T) {
	b := setup(t)
	subject := b.site.Subjects[0].ID.String()
	for at, want := range map[string]int{
		home:                                       200,
		home + "/":                                 200,
		home + "/s/" + subject:                     200,
		home + "/sign-in":                          200,
		home + "/sign-in?subject=" + subject:       200,
		home + "/enter":                            200,
		home + "/portrait":                         200,
		"https://harbour.example.com/":             200,
		"https://HARBOUR.example.com:8443/":        200,
		"https://harbour.example.com/s/" + subject: 200,
		home + "/talk":                             303,
		home + "/s/sub_nothing":                    404,
		home + "/s/":                               404,
		home + "/other":                            404,
		home + "/theme-0.css":                      404,
		home + "/sign-in?subject=sub_nothing":      404,
		"https://portal.example.com/":              404,
		"https://portal.example.com/p/":            404,
		"https://portal.example.com/p/none":        404,
		"https://other.example.com/":               404,
	} {
		require.Equal(t, want, b.get(at).Code, at)
	}
	require.Contains(t, b.get("https://harbour.example.com/").Body.String(), `href="/s/`+subject)
	require.Contains(t, b.get(home).Body.String(), `href="/p/harbour/s/`+subject)
}

// counted counts how often somebody is asked.
type counted struct {
	page.Sites
	n int
}

func (c *counted) Site(ctx context.Context, a directory.Address) (*published.Site, error) {
	c.n++
	return c.Sites.Site(ctx, a)
}

func TestAFormerSlugLeadsToThePresentOne(t *testing.T) {
	b := setup(t)
	b.site.Slug, b.site.FormerSlugs = "harbour", []string{"pier"}
	b.sites[directory.Address{Kind: directory.Slug, Name: "pier"}] = b.site
	for from, to := range map[string]string{
		"/p/pier": "/p/harbour", "/p/pier/": "/p/harbour", "/p/pier/sign-in?lang=de&subject=x": "/p/harbour/sign-in?lang=de&subject=x",
		"/p/pier//elsewhere.example.com/": "/p/harbour/elsewhere.example.com",
	} {
		w := httptest.NewRecorder()
		b.handler.ServeHTTP(w, request(http.MethodGet, "https://portal.example.com"+from))
		require.Equal(t, http.StatusPermanentRedirect, w.Code, from)
		require.Equal(t, to, w.Header().Get("Location"))
	}
}

func TestTooMuchIsSaidInWords(t *testing.T) {
	b := setup(t)
	b.handler.Count = func(http.ResponseWriter, *http.Request) error {
		p := problem.New(problem.RateLimited, "Too many.")
		p.RetryAfter = time.Minute
		return p
	}
	for at, want := range map[string]string{"": "text/html; charset=utf-8", "/sessions": "application/json"} {
		w := httptest.NewRecorder()
		method := http.MethodGet
		if at != "" {
			method = http.MethodPost
		}
		b.handler.ServeHTTP(w, request(method, "https://portal.example.com/p/harbour"+at, "Accept-Language: de"))
		require.Equal(t, http.StatusTooManyRequests, w.Code)
		require.Equal(t, want, w.Header().Get("Content-Type"))
		require.Equal(t, "60", w.Header().Get("Retry-After"))
		require.Contains(t, w.Body.String(), "Zu viele Versuche")
	}
}

func TestPagesBesideOtherThingsTakeTheirOwnAlone(t *testing.T) {
	b := setup(t)
	for at, serves := range map[string]bool{
		"https://portal.example.com/p/harbour": true, "https://portal.example.com/p/none": true, "https://harbour.example.com/talk": true,
		"https://portal.example.com/docs": false, "https://else.example.com/": false, "http://127.0.0.1:8080/": false, "http://localhost/": false,
	} {
		require.Equal(t, serves, b.handler.Serves(request(http.MethodGet, at)), at)
	}
}

func TestNoNameThatCannotBeIsLookedFor(t *testing.T) {
	b := setup(t)
	sites := &counted{Sites: b.sites}
	b.handler.Sites = sites
	defer func() { require.Zero(t, sites.n) }()
	for _, slug := range []string{"", "-", "a-", "-a", "UPPER", "a_b", "a.b", "%2e%2e", "a%00", "%F0%9F%90%9F", "a%20b", "~", strings.Repeat("a", 64)} {
		require.Equal(t, http.StatusNotFound, b.get("https://portal.example.com/p/"+slug).Code, slug)
	}
	for _, host := range []string{"localhost", "..", "a..b/", "evil\".com", "a b.com", "-.com", strings.Repeat("a.", 200) + "com", "[::1]:80", "portal.example.com."} {
		r := request(http.MethodGet, "https://portal.example.com/")
		r.Host = host
		require.Equal(t, http.StatusNotFound, b.do(r).Code, host)
	}
}

func TestWhatIsNotThereIsSaidSo(t *testing.T) {
	b := setup(t)
	w := b.get("https://portal.example.com/p/none", "Accept-Language: de-AT, en;q=0.5")
	require.Equal(t, http.StatusNotFound, w.Code)
	require.Contains(t, w.Body.String(), "Hier ist nichts")
	require.Contains(t, w.Body.String(), `<html lang="de" dir="ltr"`)
	require.Equal(t, "private, no-store", w.Header().Get("Cache-Control"))
	w = b.get("https://portal.example.com/p/none", "Accept-Language: xx")
	require.Contains(t, w.Body.String(), "There is nothing here")
}

func TestEveryAnswerIsHardened(t *testing.T) {
	b := setup(t)
	visit := b.signedIn()
	for _, at := range []string{home, home + "/talk", home + "/sign-in", "https://portal.example.com/p/none", home + "/portrait", home + "/s/x"} {
		header := b.get(at, visit).Header()
		require.Equal(t, "nosniff", header.Get("X-Content-Type-Options"), at)
		require.Equal(t, "same-origin", header.Get("Referrer-Policy"), at)
		require.Equal(t, "same-origin", header.Get("Cross-Origin-Opener-Policy"), at)
		require.Equal(t, "max-age=31536000", header.Get("Strict-Transport-Security"), at)
		require.NotEmpty(t, header.Get("Permissions-Policy"), at)
		policy := header.Get("Content-Security-Policy")
		require.Contains(t, policy, "default-src 'none'", at)
		require.Contains(t, policy, "frame-ancestors 'none'", at)
		require.NotContains(t, policy, "unsafe", at)
	}
	require.Contains(t, b.get(home).Header().Get("Content-Security-Policy"), "connect-src 'self' wss://live.example.com;")
}

// inline is what a strict policy would not run, and outside what it would not load.
var (
	inline  = regexp.MustCompile(`(?i)<style|\sstyle=|\son[a-z]+=|<script[^>]*>[^<]|javascript:`)
	outside = regexp.MustCompile(`(?i)(?:src|href)="(https?:)?//[^"]*"`)
)

func TestPagesNeedNothingThatThePolicyForbids(t *testing.T) {
	b := setup(t)
	visit := b.signedIn()
	for _, at := range []string{home, home + "/s/" + b.site.Subjects[0].ID.String(), home + "/sign-in", home + "/talk", home + "/enter"} {
		body := b.get(at, visit).Body.String()
		require.NotRegexp(t, inline, body, at)
		for _, found := range outside.FindAllString(body, -1) {
			address := regexp.QuoteMeta(strings.SplitN(found, `"`, 3)[1])
			require.Regexp(t, `<(a|link rel="canonical") href="`+address+`"`, body, "only links lead elsewhere: %s", found)
		}
		for _, loaded := range regexp.MustCompile(`(?:src|href)="(/p/(?:~|harbour/theme)[^"]*)"`).FindAllStringSubmatch(body, -1) {
			w := b.get("https://portal.example.com" + loaded[1])
			require.Equal(t, http.StatusOK, w.Code, loaded[1])
			require.Contains(t, w.Header().Get("Cache-Control"), "immutable")
			require.NotEqual(t, "text/plain", w.Header().Get("Content-Type"))
		}
	}
}

func TestModulesFindEachOther(t *testing.T) {
	b := setup(t)
	body := b.get(home+"/talk", b.signedIn()).Body.String()
	script := regexp.MustCompile(`src="([^"]*/)talk\.js"`).FindStringSubmatch(body)
	require.Len(t, script, 2)
	for _, name := range []string{"talk.js", "live.js", "transcript.js"} {
		w := b.get("https://portal.example.com" + script[1] + name)
		require.Equal(t, http.StatusOK, w.Code, name)
		require.Contains(t, w.Header().Get("Content-Type"), "javascript")
		for _, imported := range regexp.MustCompile(`from '\./([^']+)'`).FindAllStringSubmatch(w.Body.String(), -1) {
			require.Equal(t, http.StatusOK, b.get("https://portal.example.com"+script[1]+imported[1]).Code)
		}
	}
	require.Equal(t, http.StatusNotFound, b.get("https://portal.example.com"+script[1]+"page.go").Code)
}

func TestBrowsersAskWhetherAPageChanged(t *testing.T) {
	b := setup(t)
	first := b.get(home)
	tag := first.Header().Get("ETag")
	require.NotEmpty(t, tag)
	require.Equal(t, "no-cache", first.Header().Get("Cache-Control"))
	again := b.get(home, "If-None-Match: "+tag)
	require.Equal(t, http.StatusNotModified, again.Code)
	require.Zero(t, again.Body.Len())

	changed := *b.site
	changed.Stamp.Page++
	changed.Name, changed.Definition.Pages.Title = "Other school", nil
	b.sites[directory.Address{Kind: directory.Slug, Name: "harbour"}] = &changed
	next := b.get(home, "If-None-Match: "+tag)
	require.Equal(t, http.StatusOK, next.Code)
	require.Contains(t, next.Body.String(), "Other school")
}

func TestPagesArePacked(t *testing.T) {
	b := setup(t)
	w := b.get(home, "Accept-Encoding: gzip, br")
	require.Equal(t, "gzip", w.Header().Get("Content-Encoding"))
	z, err := gzip.NewReader(w.Body)
	require.NoError(t, err)
	unpacked, err := io.ReadAll(z)
	require.NoError(t, err)
	require.Equal(t, b.get(home).Body.String(), string(unpacked))
}

func TestAPageForSomebodyIsKeptByNobody(t *testing.T) {
	b := setup(t)
	visit := b.signedIn()
	w := b.get(home, visit, "Accept-Encoding: gzip")
	require.Equal(t, "private, no-store", w.Header().Get("Cache-Control"))
	require.Empty(t, w.Header().Get("Content-Encoding"))
	require.Contains(t, w.Body.String(), "You are here as a guest.")
	require.NotContains(t, b.get(home).Body.String(), "You are here")
}

func TestOtherMethodsAreRefused(t *testing.T) {
	b := setup(t)
	for _, method := range []string{http.MethodPut, http.MethodDelete, http.MethodOptions, "BREW"} {
		w := b.do(request(method, home))
		require.Equal(t, http.StatusMethodNotAllowed, w.Code, method)
		require.Equal(t, "GET, HEAD, POST", w.Header().Get("Allow"))
	}
	w := b.do(request(http.MethodHead, home))
	require.Equal(t, http.StatusOK, w.Code)
	require.Zero(t, w.Body.Len())

	joining := "https://portal.example.com/p/~join/" + id.NewSession().String()
	for at, allow := range map[string]string{
		joining: "GET, HEAD", joining + "/portrait": "GET, HEAD", joining + "/ticket": "POST", joining + "/rating": "POST",
		"https://portal.example.com/p/~join/face/av_50hSdFlU2cUkDBJTqG0cMi/512.json": "GET, HEAD",
		home + "/talk": "GET, HEAD", home + "/enter": "GET, HEAD", home + "/s/x": "GET, HEAD", home + "/portrait": "GET, HEAD",
		home + "/sessions": "POST", home + "/sessions/x/rating": "POST", home + "/sign-out": "POST", home + "/sign-in/embed": "POST",
	} {
		method := http.MethodPost
		if allow == "POST" {
			method = http.MethodGet
		}
		w := b.do(request(method, at, "Sec-Fetch-Site: same-origin"))
		require.Equal(t, http.StatusMethodNotAllowed, w.Code, at)
		require.Equal(t, allow, w.Header().Get("Allow"), at)
	}
	require.Equal(t, http.StatusNotFound, b.post(home+"/nowhere", nil).Code)
	require.Equal(t, http.StatusNotFound, b.get(home+"/nowhere").Code)
}

// BenchmarkPage is a page that is in memory: a few allocations, no writing.
func BenchmarkPage(b *testing.B) {
	bundle := setup(b)
	r := request(http.MethodGet, home, "Accept-Language: de-DE,de;q=0.9,en;q=0.8", "Accept-Encoding: gzip")
	b.ReportAllocs()
	for b.Loop() {
		w := httptest.NewRecorder()
		bundle.handler.ServeHTTP(w, r)
		if w.Code != http.StatusOK {
			b.Fatal(w.Code)
		}
	}
}

func TestSubjectsAreNamedInTheirReadersLanguage(t *testing.T) {
	b := setup(t)
	w := b.get(home, "Accept-Language: de")
	require.Contains(t, w.Body.String(), "Knoten, die halten")
	require.NotContains(t, w.Body.String(), "Knots that hold")
}

// A page that everybody sees offers the browser's assistant the agent's tools, where agents may ask; pages of who is known do not.
func TestPagesOfferTheirAgent(t *testing.T) {
	asked := func(s *published.Site) {
		s.Stamp.Agents, s.Kind, s.Speaker.Persona = true, "support", id.NewPersona()
		s.Definition.MinAge, s.Definition.GuardianConsentUnder = nil, nil
		s.Doors = map[string]published.Door{"visitors": {Key: "visitors"}}
	}
	offered := setup(t, asked).get(home)
	require.Contains(t, offered.Body.String(), `data-agent="https://api.example.com/v1/agents/harbour"`)
	require.Contains(t, offered.Body.String(), "/assistant.js")
	require.Contains(t, offered.Header().Get("Content-Security-Policy"), "connect-src 'self' wss://live.example.com https://api.example.com;")
	for name, change := range map[string]func(*published.Site){
		"switched off": func(s *published.Site) { asked(s); s.Stamp.Agents = false },
		"with a sign-in": func(s *published.Site) {
			asked(s)
			s.Doors["visitors"] = published.Door{Key: "visitors", Requires: []string{"sso"}}
		},
		"for candidates":  func(s *published.Site) { asked(s); s.Doors["candidates"] = published.Door{Key: "candidates"} },
		"without persona": func(s *published.Site) { asked(s); s.Speaker.Persona = id.Persona{} },
	} {
		answer := setup(t, change).get(home)
		require.NotContains(t, answer.Body.String(), "data-agent", name)
		require.NotContains(t, answer.Header().Get("Content-Security-Policy"), "api.example.com", name)
	}
}

// Assistants find the card and the catalogs at a portal's own host, where agents may ask.
func TestWhatAssistantsFindAtAHost(t *testing.T) {
	for path, document := range map[string]string{"agent-card.json": "card.json", "ai-catalog.json": "catalog.json", "mcp/catalog.json": "catalog.json"} {
		path = "/.well-known/" + path
		require.Equal(t, http.StatusNotFound, setup(t).get("https://harbour.example.com"+path).Code, "switched off")
		b := setup(t, func(s *published.Site) { s.Stamp.Agents = true })
		answer := b.get("https://harbour.example.com" + path)
		require.Equal(t, http.StatusTemporaryRedirect, answer.Code)
		require.Equal(t, "https://api.example.com/v1/agents/harbour/"+document, answer.Header().Get("Location"))
		require.Equal(t, "*", answer.Header().Get("Access-Control-Allow-Origin"))
		require.Equal(t, http.StatusNotFound, b.get("https://portal.example.com"+path).Code, "nobody's host")
		require.Equal(t, http.StatusNotFound, b.get(home+path).Code)
	}
}
