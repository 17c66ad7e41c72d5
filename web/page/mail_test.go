package page_test

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/portals/portal/published"
	"visavis.dev/web/page"
	"visavis.dev/web/page/pagetest"
)

func byMail(s *published.Site) {
	s.Doors = map[string]published.Door{page.DoorMembersLink: pagetest.Open(page.DoorMembersLink, "name", "age_check")}
	s.Definition.MinAge = new(int64(16))
}

func TestMembersAskForALink(t *testing.T) {
	b := setup(t, byMail)
	body := b.get(home + "/sign-in").Body.String()
	require.Contains(t, body, `action="/p/harbour/sign-in/members_link"`)
	require.Contains(t, body, `name="email"`)
	for _, no := range []string{`name="name"`, `name="old_enough"`} {
		require.NotContains(t, body, no, "who has a place is known")
	}
	require.Contains(t, b.get(home).Body.String(), `href="/p/harbour/sign-in"`)
	require.Equal(t, http.StatusUnprocessableEntity, b.post(home+"/sign-in/members_link", url.Values{"email": {"kim"}}).Code)
	require.Empty(t, b.doors.Asked)
	w := b.post(home+"/sign-in/members_link", url.Values{"email": {"kim@example.com"}}, "Accept-Language: de")
	require.Equal(t, http.StatusOK, w.Code)
	require.Contains(t, w.Body.String(), "ist ein Link unterwegs")
	require.Empty(t, w.Result().Cookies())
	require.Equal(t, []string{"kim@example.com", "de"}, []string{b.doors.Asked[0].Email, b.doors.Asked[0].Language})

	b.doors.Refusal = problem.New(problem.RateLimited, "x").WithDetail("reason", "too_many_mails")
	w = b.post(home+"/sign-in/members_link", url.Values{"email": {"kim@example.com"}})
	require.Equal(t, http.StatusTooManyRequests, w.Code)
	require.Contains(t, w.Body.String(), "Several mails are on their way")
	closed := setup(t)
	require.Equal(t, http.StatusForbidden, closed.post(home+"/sign-in/members_link", url.Values{"email": {"kim@example.com"}}).Code)
	require.Empty(t, closed.doors.Asked)
}

// Looking at a link is not using it.
func TestAMailedLinkShowsAButton(t *testing.T) {
	b := setup(t, byMail)
	b.doors.Tokens = map[string]page.Visit{"vml_1": {Name: "Kim"}}
	for range 2 {
		w := b.get(home + "/link")
		require.Equal(t, http.StatusOK, w.Code)
		require.Contains(t, w.Body.String(), `data-link="/p/harbour/sign-in/"`)
		require.Empty(t, w.Result().Cookies())
	}
	require.Empty(t, b.doors.Entries)
	w := b.post(home+"/sign-in/members_link", url.Values{"token": {"vml_1"}})
	require.Equal(t, http.StatusSeeOther, w.Code)
	require.NotEmpty(t, cookieOf(t, w, "visit").Value)
}

func TestAnIdentityProvider(t *testing.T) {
	b := setup(t, func(s *published.Site) {
		s.Doors = map[string]published.Door{page.DoorSSO: pagetest.Open(page.DoorSSO)}
	})
	b.doors.Tokens = map[string]page.Visit{"kept": {Name: "Kim"}}
	require.Contains(t, b.get(home+"/sign-in").Body.String(), `href="/p/harbour/sso"`)
	for at, back := range map[string]string{home: home + "/sso/callback", "https://harbour.example.com": "https://harbour.example.com/sso/callback"} {
		w := b.get(at + "/sso?redirect_uri=https://evil.example.com&next=//evil.example.com")
		require.Equal(t, http.StatusSeeOther, w.Code)
		require.Equal(t, "https://login.example.com/?redirect_uri="+url.QueryEscape(back), w.Header().Get("Location"))
		c := cookieOf(t, w, "__Host-sso")
		require.Equal(t, []any{"kept", "/", true, true, http.SameSiteLaxMode, ""}, []any{c.Value, c.Path, c.Secure, c.HttpOnly, c.SameSite, c.Domain})
	}
	w := b.get(home+"/sso/callback?code=c&state=s&next=https://evil.example.com", "Cookie: __Host-sso=kept")
	require.Equal(t, []any{http.StatusSeeOther, "/p/harbour"}, []any{w.Code, w.Header().Get("Location")})
	require.NotEmpty(t, cookieOf(t, w, "visit").Value)
	require.Negative(t, cookieOf(t, w, "__Host-sso").MaxAge)
	require.Equal(t, []any{page.DoorSSO, "kept", "c", "s"},
		[]any{b.doors.Entries[0].Door, b.doors.Entries[0].Token, b.doors.Entries[0].Answer.Get("code"), b.doors.Entries[0].Answer.Get("state")})

	b.doors.Refusal = problem.New(problem.Forbidden, "x").WithDetail("reason", "account_unknown")
	w = b.get(home+"/sso/callback?code=c&state=s", "Cookie: __Host-sso=kept")
	require.Equal(t, http.StatusForbidden, w.Code)
	require.Contains(t, w.Body.String(), "Nobody here goes by your account.")
	require.Negative(t, cookieOf(t, w, "__Host-sso").MaxAge)
	require.Equal(t, http.StatusForbidden, setup(t).get(home+"/sso").Code)
}
