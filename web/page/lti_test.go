package page_test

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/portals/portal/published"
	"visavis.dev/pkg/provider/lti"
	"visavis.dev/web/page"
)

// platform lets in whoever brings back the cookie of the state.
type platform struct{ redirect string }

const frame = "https://school.example.com"

func (p *platform) Begin(_ context.Context, _ *published.Site, _ id.Connection, h lti.Hint, redirect string) (page.PlatformQuestion, error) {
	p.redirect = redirect
	return page.PlatformQuestion{URL: "https://moodle.example.com/auth?hint=" + h.Login, State: "state of " + h.Login, Cookie: "cookie of " + h.Login[:1], ExpiresAt: time.Now().Add(time.Minute)}, nil
}

func (*platform) Launch(_ context.Context, _ *published.Site, _ id.Connection, a page.PlatformAnswer) (page.Launched, error) {
	out := page.Launched{Origins: []string{frame}}
	if a.Cookie != "cookie of "+strings.TrimPrefix(a.State, "state of ") {
		return out, problem.New(problem.Forbidden, "x").WithDetail("reason", "answer_refused")
	}
	out.Entered = page.Entered{Visit: page.Visit{Door: page.DoorEmbed, ExpiresAt: time.Now().Add(time.Hour)}, Secret: "vvs_x"}
	return out, nil
}

func (*platform) Choose(context.Context, *published.Site, id.Connection, string, lti.Item) (page.Chosen, error) {
	return page.Chosen{}, problem.New(problem.Forbidden, "x").WithDetail("reason", "answer_refused")
}

func (*platform) Keys(context.Context, *published.Site, id.Connection) ([]byte, error) {
	return []byte(`{"keys":[]}`), nil
}

// A launch works in a frame of the platform's, where cookies are kept apart by the frame's site.
func TestALaunchInAFrame(t *testing.T) {
	b := setup(t)
	p := &platform{}
	b.handler.Platforms = p
	at := home + "/lti/" + id.NewConnection().String()
	w := b.get(at + "/login?iss=x&login_hint=k&target_link_uri=https%3A%2F%2Felsewhere.example.com")
	require.Equal(t, []any{http.StatusSeeOther, "https://moodle.example.com/auth?hint=k", at + "/launch"}, []any{w.Code, w.Header().Get("Location"), p.redirect})
	require.Len(t, w.Result().Cookies(), 1)
	kept := w.Result().Cookies()[0]
	require.Equal(t, []any{true, true, true, http.SameSiteNoneMode, "/"}, []any{kept.Secure, kept.HttpOnly, kept.Partitioned, kept.SameSite, kept.Path})
	require.Regexp(t, `^__Host-lti-[0-9a-f]{16}$`, kept.Name)
	second := b.get(at + "/login?iss=x&login_hint=l").Result().Cookies()[0]
	require.NotEqual(t, kept.Name, second.Name, "two can be under way")

	from := []string{"Origin: " + frame, "Sec-Fetch-Site: cross-site", "Content-Type: application/x-www-form-urlencoded"}
	answer := url.Values{"state": {"state of k"}, "id_token": {"t"}}
	post := func(cookies ...string) (int, http.Header, string) {
		r := request(http.MethodPost, at+"/launch", append(from, cookies...)...)
		r = withForm(r, answer)
		w := b.do(r)
		return w.Code, w.Header(), w.Body.String()
	}
	code, header, _ := post("Cookie: " + kept.Name + "=" + kept.Value)
	require.Equal(t, []any{http.StatusSeeOther, "/p/harbour"}, []any{code, header.Get("Location")})
	set := strings.Join(header.Values("Set-Cookie"), "\n")
	require.Regexp(t, `visit=vvs_x; .*HttpOnly; Secure; SameSite=None; Partitioned`, set)
	require.Regexp(t, kept.Name+`=; .*Max-Age=0`, set)

	code, header, body := post()
	require.Equal(t, http.StatusForbidden, code)
	require.Contains(t, body, "new window")
	require.Contains(t, header.Get("Content-Security-Policy"), "frame-ancestors "+frame)
	require.Empty(t, header.Values("Set-Cookie"))
	code, _, body = post("Cookie: " + kept.Name + "=cookie of l")
	require.Equal(t, http.StatusForbidden, code)
	require.NotContains(t, body, "new window")

	// Other pages take no form from there all the same.
	r := withForm(request(http.MethodPost, home+"/sign-in/visitors", from...), url.Values{})
	require.Equal(t, http.StatusForbidden, b.do(r).Code)
	w = b.get(at + "/jwks")
	require.Equal(t, []any{200, "application/json", "public, max-age=60"}, []any{w.Code, w.Header().Get("Content-Type"), w.Header().Get("Cache-Control")})
}

// A window of its own is sent the visit of frames and that of every page, the older one first: the
// browser is left with one of them, whichever came first.
func TestABrowserKeepsOneVisit(t *testing.T) {
	b := setup(t)
	b.handler.Platforms = &platform{}
	at := home + "/lti/" + id.NewConnection().String()
	kept := b.get(at + "/login?iss=x&login_hint=k").Result().Cookies()[0]
	r := request(http.MethodPost, at+"/launch", "Content-Type: application/x-www-form-urlencoded", "Cookie: "+kept.Name+"="+kept.Value+"; visit=vvs_old")
	launched := b.do(withForm(r, url.Values{"state": {"state of k"}, "id_token": {"t"}}))
	came := b.post(home+"/sign-in/visitors", nil, "Cookie: visit=vvs_old")
	leaves := b.post(home+"/sign-out", nil, "Cookie: visit=vvs_old")

	type set struct{ gone, partitioned bool }
	all := func(header http.Header) (sets []set) {
		for _, c := range (&http.Response{Header: header}).Cookies() {
			if c.Name == "visit" {
				require.Equal(t, []any{true, true, "/p/harbour"}, []any{c.Secure, c.HttpOnly, c.Path})
				sets = append(sets, set{c.MaxAge < 0, c.Partitioned})
			}
		}
		return sets
	}
	require.Equal(t, []set{{gone: true}, {partitioned: true}}, all(launched.Header()))
	require.Equal(t, []set{{gone: true, partitioned: true}, {}}, all(came.Header()))
	require.ElementsMatch(t, []set{{gone: true, partitioned: true}, {gone: true}}, all(leaves.Header()))
}

func withForm(r *http.Request, form url.Values) *http.Request {
	r.Body = io.NopCloser(strings.NewReader(form.Encode()))
	return r
}
