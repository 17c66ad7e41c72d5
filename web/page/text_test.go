package page_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/language"
	"visavis.dev/pkg/portals/portal/published"
	"visavis.dev/pkg/portals/subject"
	"visavis.dev/web/page"
	"visavis.dev/web/page/pagetest"
)

func TestLanguages(t *testing.T) {
	for _, c := range []struct {
		path, accept, cookie, want string
	}{
		{"", "", "", "en"},
		{"", "de-CH, fr;q=0.5", "", "de"},
		{"", "fr;q=0.5, de;q=0.9", "", "de"},
		{"", "ja, xx;q=0.1", "", "en"},
		{"", "ar-EG", "", "ar"},
		{"", "*", "", "en"},
		{"", "de", "fr", "fr"},
		{"", "de", "ja", "de"},
		{"?lang=ar", "de", "fr", "ar"},
		{"?lang=German", "fr", "", "de"},
		{"?lang=ja", "de", "", "de"},
		{"?lang=%22%3E", "de", "", "de"},
		{"", "de;q=x;;,,\x00", "", "en"},
		{"", strings.Repeat("de,", 5000), "", "en"},
	} {
		b := setup(t)
		headers := []string{"Accept-Language: " + c.accept}
		if c.cookie != "" {
			headers = append(headers, "Cookie: lang="+c.cookie)
		}
		w := b.get(home+c.path, headers...)
		require.Equal(t, http.StatusOK, w.Code)
		require.Equal(t, c.want, w.Header().Get("Content-Language"), c)
		direction := "ltr"
		if c.want == "ar" {
			direction = "rtl"
		}
		require.Contains(t, w.Body.String(), `<html lang="`+c.want+`" dir="`+direction+`"`)
		require.Contains(t, w.Header().Values("Vary"), "Accept-Language, Cookie")
	}
	b := setup(t)
	c := cookieOf(t, b.get(home+"?lang=de"), "lang")
	require.Equal(t, "de", c.Value)
	require.Empty(t, b.get(home+"?lang=ja").Result().Cookies())
}

func TestTheSwitchLeadsToThePageItIsOn(t *testing.T) {
	b := setup(t)
	about := b.site.Subjects[0].ID.String()
	for at, want := range map[string]string{
		home + "?subject=other&x=y":        "/p/harbour?lang=de",
		home + "/s/" + about:               "/p/harbour/s/" + about + "?lang=de",
		home + "/sign-in":                  "/p/harbour/sign-in?lang=de",
		home + "/sign-in?subject=" + about: "/p/harbour/sign-in?lang=de&amp;subject=" + about,
		"https://harbour.example.com/":     "/?lang=de",
	} {
		require.Contains(t, b.get(at).Body.String(), `href="`+want+`"`, at)
	}
	require.NotContains(t, b.get("https://harbour.example.com//evil.example.com").Body.String(), "evil")
	b.doors.Refusal = page.ErrNoVisit
	w := b.post(home+"/sign-in/visitors", map[string][]string{"subject": {about}})
	require.Contains(t, w.Body.String(), `href="/p/harbour/sign-in?lang=de&amp;subject=`+about+`"`)
}

func TestATextThatIsMissingIsShownInThePortalsFirstLanguage(t *testing.T) {
	b := setup(t)
	body := b.get(home, "Accept-Language: fr").Body.String()
	require.Contains(t, body, `<p class="intro" lang="en" dir="ltr">Three knots`)
	require.Contains(t, body, "De quoi souhaitez-vous parler")
}

// hostile is text that would run a script, wherever it were taken for more.
const hostile = `"><script>alert(1)</script><img src=x onerror=alert(1)>` +
	`[a](javascript:alert(1)) [b](JaVaScRiPt:alert(1)) [c](data:text/html,x) ![d](https://evil.example.com/x.png) <javascript:alert(1)> {{.}} ' onclick='x`

func TestTheNoticeIsInTheLanguageOfThePage(t *testing.T) {
	b := setup(t, func(s *published.Site) {
		s.Definition.Languages = []string{"en", "de", "nl"}
		s.Speaker.Disclosure = map[string]string{"en": "I am a machine."}
	})
	for code, want := range map[string]string{"en": "I am a machine.", "de": "Sie sprechen mit einer KI", "nl": "I am a machine."} {
		w := httptest.NewRecorder()
		b.handler.ServeHTTP(w, request(http.MethodGet, "https://portal.example.com/p/harbour?lang="+code))
		require.Contains(t, w.Body.String(), want, code)
	}
}

func TestNoTextRunsAScript(t *testing.T) {
	evil := language.Words{"en": hostile, "de": hostile}
	b := setup(t, func(s *published.Site) {
		d := &s.Definition
		s.Name, s.Speaker.Name, s.Speaker.Disclosure = hostile, hostile, evil
		d.Pages.Title, d.Pages.Welcome, d.Pages.Footer = evil, evil, evil
		d.Privacy.PrivacyURL, d.Privacy.TermsURL, d.Brand.LogoURL = new("javascript:alert(1)"), new("data:text/html,x"), new("https://evil.example.com/x.png")
		d.Brand.Accent, d.Brand.Font, d.Brand.Dark = `#fff;}</style>`, `x"}</style><script>`, hostile
		door := pagetest.Open(page.DoorVisitors, "name", "email", "consent")
		door.Message = hostile
		s.Doors[page.DoorVisitors] = door
		c := &s.Subjects[0]
		c.Title, c.Definition.Objectives = hostile, []subject.Objective{{Text: evil}}
		c.Content = subject.Content{
			Intro: evil, Ending: subject.Ending{Message: evil},
			Sections: []subject.Section{{Title: evil, Body: evil, KeyPoints: []language.Words{evil}, Media: []subject.Media{
				{Kind: "link", URL: "javascript:alert(1)", Alt: evil}, {Kind: "image", URL: "https://example.com/x.png", Alt: evil}, {Kind: hostile, URL: "https://example.com"},
			}}},
		}
	})
	b.doors.Tokens = map[string]page.Visit{"t": {Name: hostile, ReturnURL: "javascript:alert(1)"}}
	w := b.post(home+"/sign-in/embed", map[string][]string{"token": {"t"}})
	visit := "Cookie: visit=" + cookieOf(t, w, "visit").Value
	about := b.site.Subjects[0].ID.String()
	wrong := b.post(home+"/sign-in/visitors", map[string][]string{"name": {hostile}, "subject": {about}})
	bodies := []string{wrong.Body.String()}
	for _, at := range []string{home, home + "/s/" + about, home + "/sign-in?subject=" + about, home + "/talk?subject=" + about, home + "/enter"} {
		bodies = append(bodies, b.get(at).Body.String(), b.get(at, visit).Body.String())
	}
	for _, body := range bodies {
		for tag := range tags(body) {
			require.NotRegexp(t, `(?i)^[^"]*("[^"]*"[^"]*)*\s(onerror|onclick|style)=`, tag)
			require.NotRegexp(t, `(?i)(href|src|action)="?\s*(javascript|data):`, tag)
			require.False(t, strings.HasPrefix(tag, "<script") && !strings.HasPrefix(tag, `<script type="module" src="/p/~/`), tag)
			require.False(t, strings.HasPrefix(tag, "<img") && !strings.HasPrefix(tag, `<img src="/p/harbour/portrait?`), tag)
		}
	}
	css := b.get("https://portal.example.com" + themeOf(t, b))
	require.Equal(t, "text/css; charset=utf-8", css.Header().Get("Content-Type"))
	require.NotContains(t, css.Body.String(), "<")
}

// tags are the tags of a page, as a browser would find them: what is escaped is none.
func tags(body string) map[string]bool {
	found := map[string]bool{}
	for part := range strings.SplitSeq(body, "<") {
		if tag, _, ok := strings.Cut(part, ">"); ok {
			found["<"+tag] = true
		}
	}
	return found
}

func themeOf(t *testing.T, b *testBundle) string {
	t.Helper()
	_, after, ok := strings.Cut(b.get(home).Body.String(), `href="/p/harbour/theme-`)
	require.True(t, ok)
	name, _, _ := strings.Cut(after, `"`)
	return "/p/harbour/theme-" + name
}
