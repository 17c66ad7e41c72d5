package portal_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"k8s.io/utils/clock"
	clocktest "k8s.io/utils/clock/testing"

	"visavis.dev/api/apitest"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/rate"
	"visavis.dev/pkg/sessions/inbox"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/database/databasetest"
	"visavis.dev/pkg/visits/live/livetest"
	"visavis.dev/web/page"
	"visavis.dev/web/portal"
)

func TestMain(m *testing.M) { databasetest.Main(m) }

// visited is a published portal with every door open, and a browser without a
// script before its page.
type visited struct {
	*testing.T
	api livetest.API
	// portal is its id, page its address, and origin that of all pages.
	portal, page, origin string
	cookies              []*http.Cookie
	// older is a key of the contract before.
	older string
	// from is the address that the browser's requests come from; empty for this machine's.
	from    string
	made    *apitest.API
	org     id.Org
	metrics prometheus.Gatherer
	log     *lines
}

// lines are what was logged.
type lines struct {
	mu  sync.Mutex
	all strings.Builder
}

// Write implements io.Writer.
func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.Write(b)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.String()
}

// visit runs the API, and the pages and sockets beside it, on a clock.
func visit(t *testing.T, at clock.WithTickerAndDelayedExecution, options ...apitest.Option) *visited {
	t.Helper()
	front := httptest.NewUnstartedServer(nil)
	address := front.Listener.Addr().String()
	v := &visited{T: t, origin: "http://" + address, log: &lines{}}
	a := apitest.New(t, append([]apitest.Option{apitest.Unlimited, func(o *apitest.Options) {
		o.Clock, o.PortalURL, o.LiveURL, o.Log = at, v.origin, "ws://"+address, slog.New(slog.NewTextHandler(v.log, nil))
	}}, options...)...)
	v.made = a
	v.metrics = a.Service.Metrics.(prometheus.Gatherer)
	shown, err := portal.New(t.Context(), portal.Options{Backend: a.Backend, Minds: a.Minds, Front: a.Front, Service: a.Service, Address: address})
	require.NoError(t, err)
	front.Config.Handler = shown
	shown.Start()
	front.Start()
	t.Cleanup(func() {
		shown.Stop()
		front.Close()
	})
	org := a.NewOrg("Initech", "shard-1", "enterprise")
	v.org, v.api = org.ID, livetest.API{Base: a.URL, Key: string(org.New)}
	v.older = string(org.Old)
	v.publish()
	return v
}

// publish makes the course of the gallery and opens its doors.
func (v *visited) publish() {
	var faces, voices []struct{ ID string }
	v.call(http.MethodGet, "/avatars?limit=1", nil, &faces)
	v.call(http.MethodGet, "/voices?limit=1", nil, &voices)
	var made struct{ ID, URL string }
	v.call(http.MethodPost, "/portals", map[string]any{
		"name": "Safety", "templateKey": "course", "avatarId": faces[0].ID, "voiceId": voices[0].ID, "languages": []string{"en", "de"},
	}, &made)
	v.portal, v.page = "/portals/"+made.ID, made.URL
	v.call(http.MethodPatch, v.portal, map[string]any{"minAge": 16, "privacy": map[string]any{"privacyUrl": "https://example.com/privacy"}}, nil)
	for _, door := range []string{"visitors", "join-code", "embed", "customers"} {
		v.call(http.MethodPut, v.portal+"/doors/"+door, map[string]any{"open": true}, nil)
	}
	v.call(http.MethodPost, v.portal+"/publish", map[string]any{}, nil)
}

func (v *visited) call(method, path string, body, data any) {
	v.Helper()
	require.NoError(v, v.api.Call(v.Context(), method, path, body, data))
}

// link makes a link by which somebody comes, and answers the token in it.
func (v *visited) link(what string, body map[string]any) string {
	v.Helper()
	var made struct{ URL string }
	v.call(http.MethodPost, v.portal+"/"+what, body, &made)
	_, token, found := strings.Cut(made.URL, "=")
	require.True(v, found, made.URL)
	return token
}

// send sends a form, and answers the status, where it leads, and what is shown.
func (v *visited) send(path string, form url.Values) (status int, location, body string) {
	v.Helper()
	r, err := http.NewRequestWithContext(v.Context(), http.MethodPost, v.page+path, strings.NewReader(form.Encode()))
	require.NoError(v, err)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if v.from != "" {
		r.Header.Set("X-Forwarded-For", v.from)
	}
	for _, c := range v.cookies {
		r.AddCookie(c)
	}
	response, err := http.DefaultTransport.RoundTrip(r)
	require.NoError(v, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	require.NoError(v, err)
	v.cookies = append(v.cookies, response.Cookies()...)
	return response.StatusCode, response.Header.Get("Location"), string(text)
}

// enter comes in by a door, which lets in.
func (v *visited) enter(door string, form url.Values) (location string) {
	v.Helper()
	status, location, body := v.send("/sign-in/"+door, form)
	require.Equal(v, http.StatusSeeOther, status, body)
	return location
}

func (v *visited) mint() (ticket page.Ticket) {
	v.Helper()
	status, _, body := v.send("/sessions", nil)
	require.Equal(v, http.StatusCreated, status, body)
	require.NoError(v, json.Unmarshal([]byte(body), &ticket))
	return ticket
}

// came is where a visitor came from whose page is at an address.
func (v *visited) came(page, referrer string) inbox.Source {
	v.Helper()
	status, _, body := v.send("/sessions", url.Values{"page": {page}, "referrer": {referrer}})
	require.Equal(v, http.StatusCreated, status, body)
	var ticket struct{ Session struct{ ID id.Session } }
	require.NoError(v, json.Unmarshal([]byte(body), &ticket))
	kept, err := session.Get(v.Context(), v.made.Tenants, v.org, ticket.Session.ID)
	require.NoError(v, err)
	return kept.Brief.Came
}

// refused shows a token to a door that refuses it in these words.
func (v *visited) refused(door, token string, status int, words string) {
	v.Helper()
	got, _, body := v.send("/sign-in/"+door, url.Values{"token": {token}})
	require.Equal(v, status, got)
	require.Contains(v, body, words)
	require.Empty(v, v.cookies)
	got, _, _ = v.send("/sessions", nil)
	require.Equal(v, http.StatusUnauthorized, got)
}

func TestATokenOpensAConversation(t *testing.T) {
	t.Parallel()
	v := visit(t, clock.RealClock{})
	token := v.link("embed-tokens", map[string]any{"externalId": "learner-1", "name": "Kim"})
	require.Equal(t, strings.TrimPrefix(v.page, v.origin), v.enter("embed", url.Values{"token": {token}}))
	ticket := v.mint()

	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	stranger, err := livetest.DialFrom(ctx, "http://elsewhere.example", ticket.Transport.URL, ticket.Token)
	require.NoError(t, err)
	_, err = stranger.UntilType(ctx, "session-ready")
	require.Error(t, err, "another page connects")
	c, err := livetest.DialFrom(ctx, v.origin, ticket.Transport.URL, ticket.Token)
	require.NoError(t, err)
	t.Cleanup(c.Drop)
	ready, err := c.UntilType(ctx, "session-ready")
	require.NoError(t, err)
	require.NoError(t, c.Send(ctx, "client-ready", nil))
	require.NoError(t, c.Say(ctx, "Hello?"))
	_, err = c.UntilType(ctx, "bot-text")
	require.NoError(t, err)

	var held struct {
		Source, PersonID, Channel string
		Rating                    *struct{ Score int }
	}
	which := "/sessions/" + ticket.Session.ID.String()
	v.call(http.MethodGet, which, nil, &held)
	require.Equal(t, []string{"embed", "chat"}, []string{held.Source, held.Channel})
	require.NotEmpty(t, held.PersonID)
	v.rate(which, ready)
	v.call(http.MethodGet, which, nil, &held)
	require.NotNil(t, held.Rating)

	v.cookies = nil
	v.refused("embed", token, http.StatusGone, "This link was used already.")
}

// Pages are told to go over WebRTC where the organization wants that.
func TestPagesGoOverWebRTC(t *testing.T) {
	t.Parallel()
	v := visit(t, clock.RealClock{})
	v.call(http.MethodPatch, "/settings/sessions.webrtc", map[string]any{"value": true}, nil)
	v.enter("embed", url.Values{"token": {v.link("embed-tokens", map[string]any{"externalId": "learner-2", "name": "Kim"})}})
	require.Equal(t, "webrtc", v.mint().Transport.Kind)
}

// Who asks what is kept of a conversation is told where the portal's privacy notice is, as it is published.
func TestThePrivacyNoticeIsToldInAConversation(t *testing.T) {
	t.Parallel()
	v := visit(t, clock.RealClock{})
	v.call(http.MethodPatch, v.portal, map[string]any{"privacy": map[string]any{"privacyUrl": "https://example.com/draft"}}, nil)
	v.enter("embed", url.Values{"token": {v.link("embed-tokens", map[string]any{"externalId": "learner-3", "name": "Kim"})}})
	ticket := v.mint()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	c, err := livetest.DialFrom(ctx, v.origin, ticket.Transport.URL, ticket.Token)
	require.NoError(t, err)
	t.Cleanup(c.Drop)
	require.NoError(t, c.Send(ctx, "client-ready", nil))
	require.NoError(t, c.Say(ctx, "Is this conversation stored?"))
	said, err := c.Until(ctx, func(m livetest.Message) bool {
		return m.Type == "bot-text" && strings.Contains(string(m.Data), "https://example.com/")
	})
	require.NoError(t, err)
	require.Contains(t, string(said.Data), "https://example.com/privacy")
}

// rate rates by the page, as its script does.
func (v *visited) rate(session string, ready livetest.Message) {
	v.Helper()
	var said struct{ ResumeToken string }
	require.NoError(v, json.Unmarshal(ready.Data, &said))
	for token, status := range map[string]int{said.ResumeToken: http.StatusNoContent, "other": http.StatusNotFound} {
		r, err := http.NewRequestWithContext(v.Context(), http.MethodPost, v.page+session+"/rating", strings.NewReader(`{"score": 5, "scale": 5}`))
		require.NoError(v, err)
		r.Header.Set("X-Session-Token", token)
		response, err := http.DefaultTransport.RoundTrip(r)
		require.NoError(v, err)
		require.NoError(v, response.Body.Close())
		require.Equal(v, status, response.StatusCode)
	}
}

func TestEveryDoorLetsIn(t *testing.T) {
	t.Parallel()
	v := visit(t, clock.RealClock{})
	var door struct{ Code string }
	v.call(http.MethodPut, v.portal+"/doors/join-code", map[string]any{"open": true}, &door)
	var customer struct{ Token string }
	v.call(http.MethodPost, v.portal+"/customer-tokens", map[string]any{"customerRef": "c-1", "name": "Robin"}, &customer)
	home := strings.TrimPrefix(v.page, v.origin)
	for _, way := range []struct {
		door  string
		form  url.Values
		leads string
	}{
		{page.DoorVisitors, url.Values{"old_enough": {"yes"}}, home + "/talk"},
		{page.DoorJoinCode, url.Values{"code": {door.Code}, "name": {"Alex"}, "old_enough": {"yes"}}, home},
		{page.DoorCustomers, url.Values{"token": {customer.Token}}, home},
		{page.DoorCase, url.Values{"token": {v.link("case-links", map[string]any{"caseRef": "C-1", "title": "Ladder"})}}, home + "/talk"},
		{page.DoorEscalation, url.Values{"token": {v.link("escalations", map[string]any{"externalChatId": "chat-1"})}}, home + "/talk"},
	} {
		v.cookies = nil
		require.Equal(t, way.leads, v.enter(way.door, way.form), way.door)
		v.mint()
	}
	v.cookies = nil
	status, _, _ := v.send("/sign-in/embed", url.Values{"token": {customer.Token}})
	require.Equal(t, http.StatusForbidden, status, "a token of one door opens another")
}

// A class behind one address is not held to the rate of that network, as strangers are.
func TestOnlyStrangersAreHeldToTheirNetworksRate(t *testing.T) {
	t.Parallel()
	v := visit(t, clock.RealClock{}, func(o *apitest.Options) { o.Rates[rate.Live] = rate.Rate{PerKey: 100, PerOrganization: 4} })
	var door struct{ Code string }
	v.call(http.MethodPut, v.portal+"/doors/join-code", map[string]any{"open": true}, &door)
	for range 5 {
		v.cookies = nil
		v.enter(page.DoorJoinCode, url.Values{"code": {door.Code}, "name": {"Alex"}, "old_enough": {"yes"}})
		v.mint()
	}
	var status int
	var body string
	apitest.Within(t, func() []apitest.Answer {
		v.cookies = nil
		v.enter(page.DoorVisitors, url.Values{"old_enough": {"yes"}})
		v.mint()
		v.mint()
		status, _, body = v.send("/sessions", nil)
		return nil
	})
	require.Equal(t, http.StatusTooManyRequests, status, body)
	require.Contains(t, body, "refused.rate")
}

func TestWhatIsOverOpensNothing(t *testing.T) {
	t.Parallel()
	now := clocktest.NewFakeClock(time.Now())
	v := visit(t, now)
	caseToken := v.link("case-links", map[string]any{"caseRef": "C-1", "title": "Ladder", "expiresInS": 60})
	chat := v.link("escalations", map[string]any{"externalChatId": "chat-1", "expiresInS": 60})
	embed := v.link("embed-tokens", map[string]any{"externalId": "learner-1", "name": "Kim", "expiresInS": 60})
	now.Step(2 * time.Minute)
	for door, token := range map[string]string{page.DoorCase: caseToken, page.DoorEscalation: chat, page.DoorEmbed: embed} {
		v.refused(door, token, http.StatusGone, "This link has expired.")
	}
	v.refused(page.DoorEmbed, "not.a.token", http.StatusForbidden, "This link does not open the portal.")
	v.refused(page.DoorCase, "vcl_none", http.StatusNotFound, "This link does not open the portal.")
	v.refused(page.DoorEscalation, "ves_none", http.StatusNotFound, "This link does not open the portal.")
}

func TestAVisitIsOverWithItsReason(t *testing.T) {
	t.Parallel()
	now := clocktest.NewFakeClock(time.Now())
	v := visit(t, now)
	require.Equal(t, strings.TrimPrefix(v.page, v.origin)+"/talk", v.enter("visitors", url.Values{"old_enough": {"yes"}}))
	v.mint()
	for at, url := range map[string]string{v.page + "/talk?utm_campaign=spring&email=kim@example.com": v.page + "/talk", "https://another.example/talk": ""} {
		came := v.came(at, "https://search.example/?q=kim")
		if url == "" {
			require.Equal(t, inbox.Source{}, came)
			continue
		}
		require.Equal(t, inbox.Source{URL: &url, Referrer: new("https://search.example/"), Campaign: &inbox.Campaign{Name: new("spring")}}, came)
	}

	v.call(http.MethodPut, v.portal+"/doors/visitors", map[string]any{"open": false}, nil)
	status, _, body := v.send("/sessions", nil)
	require.Equal(t, http.StatusForbidden, status)
	require.Contains(t, body, "This way in is closed.")

	v.call(http.MethodPut, v.portal+"/doors/visitors", map[string]any{"open": true}, nil)
	v.mint()
	status, location, _ := v.send("/sign-out", nil)
	require.Equal(t, []any{http.StatusSeeOther, strings.TrimPrefix(v.page, v.origin)}, []any{status, location})
	status, _, _ = v.send("/sessions", nil)
	require.Equal(t, http.StatusUnauthorized, status)
}

// Requests for pages are observed as those to the API are.
func TestPagesAreObserved(t *testing.T) {
	v := visit(t, clock.RealClock{})
	for path, status := range map[string]int{"": 200, "/talk": 303, "/s/x": 404, "/nowhere/at/all": 404} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, v.page+path, nil)
		require.NoError(t, err)
		answer, err := http.DefaultTransport.RoundTrip(r)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		require.Equal(t, status, answer.StatusCode)
		require.Regexp(t, "^req_", answer.Header.Get("X-Request-Id"))
	}
	v.enter(page.DoorVisitors, url.Values{"old_enough": {"on"}})
	gathered, err := v.metrics.Gather()
	require.NoError(t, err)
	counted := map[string]uint64{}
	for _, family := range gathered {
		if family.GetName() != "visavis_http_request_seconds" {
			continue
		}
		for _, m := range family.GetMetric() {
			if name := m.GetLabel()[0].GetValue(); strings.HasPrefix(name, "page.") {
				counted[name+" "+m.GetLabel()[1].GetValue()] = m.GetHistogram().GetSampleCount()
			}
		}
	}
	require.Equal(t, map[string]uint64{"page.welcome 200": 1, "page.talk 303": 1, "page.subject 404": 1, "page.none 404": 1, "page.door 303": 1}, counted)
	require.Eventually(t, func() bool { return strings.Count(v.log.String(), "operation=page.") == 5 }, 20*time.Second, time.Millisecond)
}
