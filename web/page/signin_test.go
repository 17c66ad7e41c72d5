package page_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/portals/portal/published"
	"visavis.dev/web/page"
	"visavis.dev/web/page/pagetest"
)

// strict is a site whose doors ask for everything.
func strict(s *published.Site) {
	s.Doors = map[string]published.Door{
		page.DoorVisitors: pagetest.Open(page.DoorVisitors, "name", "email", "consent"), page.DoorJoinCode: pagetest.Open(page.DoorJoinCode),
	}
	s.Definition.MinAge, s.Definition.GuardianConsentUnder = new(int64(13)), new(int64(16))
}

func TestADoorThatAsksNothingOpensAtOnce(t *testing.T) {
	b := setup(t)
	require.Contains(t, b.get(home).Body.String(), `action="/p/harbour/sign-in/visitors"`)
	about := b.site.Subjects[0].ID.String()
	w := b.post(home+"/sign-in/visitors", url.Values{"subject": {about}})
	require.Equal(t, http.StatusSeeOther, w.Code)
	require.Equal(t, "/p/harbour/talk?subject="+about, w.Header().Get("Location"))
	c := cookieOf(t, w, "visit")
	require.True(t, c.HttpOnly)
	require.True(t, c.Secure)
	require.Equal(t, http.SameSiteLaxMode, c.SameSite)
	require.Equal(t, "/p/harbour", c.Path)
	require.WithinDuration(t, time.Now().Add(8*time.Hour), c.Expires, time.Minute)
	require.Contains(t, b.get(home, "Cookie: visit="+c.Value).Body.String(), `href="/p/harbour/talk"`)
}

func TestWhatADoorAsksForIsAsked(t *testing.T) {
	b := setup(t, strict)
	body := b.get(home + "/sign-in").Body.String()
	for _, want := range []string{`name="name"`, `name="email"`, `name="consent"`, `name="old_enough"`, `name="code"`, "at least 16 years"} {
		require.Contains(t, body, want)
	}
	whole := url.Values{"name": {"Nora"}, "email": {"nora@example.com"}, "consent": {"yes"}, "old_enough": {"yes"}}
	for missing, want := range map[string]string{
		"name": "Please enter your name.", "email": "Please enter an e-mail address", "consent": "Please agree to the privacy notice",
		"old_enough": "Please confirm your age",
	} {
		given := url.Values{}
		for name, value := range whole {
			if name != missing {
				given[name] = value
			}
		}
		w := b.post(home+"/sign-in/visitors", given)
		require.Equal(t, http.StatusUnprocessableEntity, w.Code, missing)
		require.Contains(t, w.Body.String(), want)
		require.Contains(t, w.Body.String(), `aria-invalid="true"`)
		if missing != "name" {
			require.Contains(t, w.Body.String(), `value="Nora"`, "what was given is not asked for again")
		}
	}
	require.Empty(t, b.doors.Entries)
	for _, bad := range []string{"nora", "Nora <nora@example.com>", "a@b\r\nX: y"} {
		given := url.Values{"name": {"Nora"}, "email": {bad}, "consent": {"yes"}, "old_enough": {"yes"}}
		require.Equal(t, http.StatusUnprocessableEntity, b.post(home+"/sign-in/visitors", given).Code, bad)
	}
	require.Equal(t, http.StatusSeeOther, b.post(home+"/sign-in/visitors", whole).Code)
	require.Equal(t, "nora@example.com", b.doors.Entries[0].Email)
	require.True(t, b.doors.Entries[0].OldEnough)
	require.Equal(t, "192.0.2.1", b.doors.Entries[0].Address.String())
}

func TestClosedDoorsStayClosed(t *testing.T) {
	for name, doors := range map[string]map[string]published.Door{
		"This portal opens with a personal link": {page.DoorEmbed: pagetest.Open(page.DoorEmbed)}, "Nobody can come in at the moment": {},
	} {
		b := setup(t, func(s *published.Site) { s.Doors = doors })
		require.Contains(t, b.get(home).Body.String(), name)
		require.Contains(t, b.get(home+"/sign-in").Body.String(), name)
		w := b.post(home+"/sign-in/visitors", nil)
		require.Equal(t, http.StatusForbidden, w.Code)
		require.Contains(t, w.Body.String(), "This way in is closed.")
		require.Empty(t, b.doors.Entries)
	}
	b := setup(t)
	require.Equal(t, http.StatusNotFound, b.post(home+"/sign-in/cellar", nil).Code)
}

func TestRefusalsSayWhyInThePagesLanguage(t *testing.T) {
	for _, c := range []struct {
		door   string
		err    error
		status int
		want   string
	}{
		{"join_code", problem.Missing("code"), 404, "Diesen Code gibt es nicht."},
		{"embed", problem.New(problem.Unauthorized, "x"), 401, "Dieser Link öffnet das Portal nicht."},
		{"embed", problem.New(problem.Gone, "x"), 410, "Dieser Link ist abgelaufen."},
		{"embed", problem.Conflicting("token_used", "x"), 409, "Dieser Link wurde schon verwendet."},
		{"join_code", problem.New(problem.Forbidden, "x").WithDetail("reason", "guardian_consent_missing"), 403, "Elternteil"},
		{"join_code", problem.New(problem.Forbidden, "x").WithDetail("reason", "membership_disabled"), 403, "Ihr Zugang ist nicht aktiv."},
		{"visitors", problem.New(problem.RateLimited, "x"), 429, "Zu viele Versuche."},
		{"visitors", problem.Invalid("body.email", "x"), 400, "Bitte geben Sie eine E-Mail-Adresse"},
		{"visitors", problem.Unavailable(time.Second, nil), 503, "Das geht gerade nicht."},
		{"visitors", problem.New(problem.AccountPaused, "x"), 403, "kein Gespräch beginnen"},
		{"visitors", errors.New("secret cause"), 500, "Etwas ging schief."},
	} {
		b := setup(t, func(s *published.Site) { s.Doors[page.DoorJoinCode] = pagetest.Open(page.DoorJoinCode) })
		b.doors.Refusal = c.err
		w := b.post(home+"/sign-in/"+c.door, url.Values{"code": {"X"}, "name": {"Nora"}, "token": {"x"}}, "Accept-Language: de")
		require.Equal(t, c.status, w.Code, c.want)
		require.Contains(t, w.Body.String(), c.want)
		require.NotContains(t, w.Body.String(), "secret cause")
		require.Contains(t, w.Body.String(), `role="alert"`)
		require.Empty(t, w.Result().Cookies())
	}
}

func TestLinksOpenThePortalInFramesOfAllowedPages(t *testing.T) {
	b := setup(t)
	b.doors.Tokens = map[string]page.Visit{
		"framed": {Name: "Nora", AllowedOrigins: []string{"https://school.example.com", "https://*.example.org", "http://localhost", "https://x.com; script-src *", "javascript:alert(1)", "'none'"}},
		"plain":  {Name: "Nora"},
	}
	require.Contains(t, b.get(home+"/enter").Header().Get("Content-Security-Policy"), "frame-ancestors *")
	named := cookieOf(t, b.post(home+"/sign-in/embed", url.Values{"token": {"plain"}}), "visit")
	require.Contains(t, b.get(home, "Cookie: visit="+named.Value).Body.String(), "Nora")
	require.NotContains(t, b.get(home+"/enter", "Cookie: visit="+named.Value).Body.String(), "Nora", "anybody may frame this one")
	w := b.post(home+"/sign-in/embed", url.Values{"token": {"framed"}})
	require.Equal(t, "/p/harbour", w.Header().Get("Location"))
	c := cookieOf(t, w, "visit")
	require.Equal(t, http.SameSiteNoneMode, c.SameSite)
	require.True(t, c.Partitioned)
	require.True(t, c.Secure)
	for _, at := range []string{home, home + "/talk", home + "/sign-in"} {
		policy := b.get(at, "Cookie: visit="+c.Value).Header().Get("Content-Security-Policy")
		require.Contains(t, policy, "frame-ancestors https://school.example.com https://*.example.org http://localhost:*", at)
		require.NotContains(t, policy, "script-src *", at)
	}
	w = b.post(home+"/sign-in/customers", url.Values{"token": {"plain"}})
	require.Equal(t, http.SameSiteLaxMode, cookieOf(t, w, "visit").SameSite)
	w = b.post(home+"/sign-in/case", url.Values{"token": {"plain"}})
	require.Equal(t, "/p/harbour/talk", w.Header().Get("Location"))
	require.Equal(t, http.StatusUnauthorized, b.post(home+"/sign-in/case", url.Values{"token": {"other"}}).Code)
}

// A refusal is read in the frame that it happens in, by who proved the frame.
func TestRefusalsAreShownInFrames(t *testing.T) {
	ancestors := func(w *httptest.ResponseRecorder) string {
		_, sources, _ := strings.Cut(w.Header().Get("Content-Security-Policy"), "frame-ancestors ")
		return sources
	}
	b := setup(t)
	b.doors.Tokens = map[string]page.Visit{"framed": {AllowedOrigins: []string{"https://school.example.com"}}}
	b.doors.Refusal = problem.New(problem.Gone, "x")
	require.Equal(t, "https://school.example.com", ancestors(b.post(home+"/sign-in/embed", url.Values{"token": {"framed"}})))
	require.Equal(t, "'none'", ancestors(b.post(home+"/sign-in/embed", url.Values{"token": {"made up"}})))
	require.Equal(t, "'none'", ancestors(b.get(home+"/nowhere")))

	// The portal's own say so of every page.
	b = setup(t, func(s *published.Site) { s.Definition.AllowedOrigins = []string{"https://www.example.com"} })
	b.doors.Refusal = problem.New(problem.Unauthorized, "x")
	require.Equal(t, "https://www.example.com", ancestors(b.post(home+"/sign-in/embed", url.Values{"token": {"made up"}})))
	for _, path := range []string{"", "/sign-in", "/nowhere"} {
		require.Equal(t, "https://www.example.com", ancestors(b.get(home+path)), path)
	}
	require.Equal(t, "'none'", ancestors(b.get("https://portal.example.com/p/elsewhere")))
	b.doors.Refusal = nil
	c := cookieOf(t, b.post(home+"/sign-in/visitors", nil), "visit")
	require.Equal(t, []any{http.SameSiteNoneMode, true}, []any{c.SameSite, c.Partitioned})
}

func TestFormsOfOtherPagesAreRefused(t *testing.T) {
	b := setup(t)
	for _, from := range [][]string{{"Sec-Fetch-Site: cross-site"}, {"Sec-Fetch-Site: same-site"}, {"Origin: https://evil.example.com"}, {"Origin: null"}, {"Origin: http://portal.example.com"}} {
		for _, path := range []string{"/sign-in/visitors", "/sign-out", "/sessions", "/sessions/x/rating"} {
			w := b.do(request(http.MethodPost, home+path, from...))
			require.Equal(t, http.StatusForbidden, w.Code, from)
			require.Contains(t, w.Body.String(), "The form came from another page.")
		}
	}
	require.Empty(t, b.doors.Entries)
	require.Equal(t, http.StatusSeeOther, b.do(request(http.MethodPost, home+"/sign-in/visitors", "Origin: https://portal.example.com")).Code)
}

func TestSigningOutEndsTheVisit(t *testing.T) {
	b := setup(t)
	visit := b.signedIn()
	w := b.post(home+"/sign-out", nil, visit)
	require.Equal(t, "/p/harbour", w.Header().Get("Location"))
	require.Negative(t, cookieOf(t, w, "visit").MaxAge)
	require.Equal(t, "/p/harbour/sign-in", b.get(home+"/talk", visit).Header().Get("Location"))
}

func TestAPlaceHasANameAndAnAge(t *testing.T) {
	b := setup(t, func(s *published.Site) {
		s.Doors = map[string]published.Door{
			page.DoorJoinCode: pagetest.Open(page.DoorJoinCode), page.DoorVisitors: pagetest.Open(page.DoorVisitors, "age_check"),
		}
	})
	require.Contains(t, b.get(home+"/sign-in").Body.String(), "at least 18 years")
	require.Equal(t, http.StatusUnprocessableEntity, b.post(home+"/sign-in/visitors", nil).Code)
	w := b.post(home+"/sign-in/join_code", url.Values{"code": {"ANCHOR"}})
	require.Contains(t, w.Body.String(), "Please enter your name.")
	w = b.post(home+"/sign-in/join_code", url.Values{"code": {" ANCHOR "}, "name": {"Nora"}})
	require.Equal(t, "/p/harbour", w.Header().Get("Location"))
}
