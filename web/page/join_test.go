package page_test

import (
	"encoding/json"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/web/page"
)

const joinToken = "a-token-of-a-session"

// invited is a session of the sample's speaker, and the address of its page.
func invited(b *testBundle) (at string, which id.Session) {
	which = id.NewSession()
	b.conversations.Sessions = map[string]page.Joined{joinToken: {
		Ticket: page.Ticket{
			Session: page.TicketSession{ID: which, Language: "en"}, Token: joinToken,
			Transport: page.Transport{Kind: "websocket", URL: "wss://live.example.com/x"},
		},
		Site: b.site, Channel: "video",
	}}
	at, _, _ = strings.Cut(page.JoinURL("https://portal.example.com", which, joinToken, ""), "#")
	return at, which
}

// asks sends the token as the page's script does.
func (b *testBundle) asks(method, at, token string, headers ...string) (int, map[string]any) {
	b.t.Helper()
	w := b.do(request(method, at, append(headers, "X-Session-Token: "+token)...))
	var answer map[string]any
	require.NoError(b.t, json.Unmarshal(w.Body.Bytes(), &answer), "%s", w.Body)
	require.Equal(b.t, "no-store", w.Header().Get("Cache-Control"))
	return w.Code, answer
}

// The check of microphone and sound is told who hears, in the page's words, to who has the token, and the
// session is kept meanwhile.
func TestASessionIsKeptForTheCheck(t *testing.T) {
	b := setup(t)
	at, which := invited(b)
	b.conversations.Hearing = page.HearsServer
	code, told := b.asks(http.MethodPost, at+"/check", joinToken, "Accept-Language: de")
	require.Equal(t, http.StatusOK, code)
	require.Equal(t, "server", told["hears"])
	require.Equal(t, "Mikrofon und Ton prüfen", told["words"].(map[string]any)["check.title"])
	require.Equal(t, []id.Session{which}, b.conversations.Held)
	for _, token := range []string{"", "another"} {
		code, _ = b.asks(http.MethodPost, at+"/check", token)
		require.Equal(t, http.StatusNotFound, code)
	}
	require.Len(t, b.conversations.Held, 1)
	require.Equal(t, http.StatusMethodNotAllowed, b.get(at+"/check").Code)
}

// The address of a session in a room names its media server, to which alone the page may connect besides. What is no such
// address, or would be more than one in the policy, allows nothing.
func TestAPageConnectsToItsMediaServer(t *testing.T) {
	b := setup(t)
	at, _ := invited(b)
	plain := connections(t, b.get(at))
	require.Equal(t, plain+" wss://live.example.com:7443 https://live.example.com:7443", connections(t, b.get(at+"?server=wss%3A%2F%2Flive.example.com%3A7443%2Frooms")))
	for _, other := range []string{
		"ws://live.example.com", "https://live.example.com", "wss:", "wss://", "live.example.com", "wss://*.example.com", "wss://*", "wss://live.example.com;script-src",
		"wss://live.example.com%20*", "wss://a@live.example.com%20http://b", "%zz",
	} {
		require.Equal(t, plain, connections(t, b.get(at+"?server="+url.QueryEscape(other))), other)
	}
}

// connections is where a page may connect.
func connections(t *testing.T, page *httptest.ResponseRecorder) string {
	t.Helper()
	require.Equal(t, http.StatusOK, page.Code)
	for directive := range strings.SplitSeq(page.Header().Get("Content-Security-Policy"), "; ") {
		if to, ok := strings.CutPrefix(directive, "connect-src "); ok {
			return to
		}
	}
	require.Fail(t, "it may connect anywhere")
	return ""
}

func TestASessionHasAPage(t *testing.T) {
	b := setup(t)
	at, which := invited(b)
	require.Equal(t, "https://portal.example.com/p/~join/"+which.String()+"#"+joinToken, page.JoinURL("https://portal.example.com", which, joinToken, ""))

	shown := b.get(at, "Accept-Language: de")
	require.Equal(t, http.StatusOK, shown.Code)
	require.Contains(t, shown.Body.String(), `lang="de"`)
	require.Contains(t, shown.Body.String(), "Gespräch beginnen")
	require.NotContains(t, shown.Body.String(), b.site.Speaker.Name, "without the token nobody learns who speaks")
	policy := shown.Header().Get("Content-Security-Policy")
	require.Contains(t, policy, "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self' wss://live.example.com;")
	require.Contains(t, policy, "frame-ancestors *")
	require.Empty(t, shown.Result().Cookies())
	other := id.NewSession()
	require.Equal(t, shown.Body.String(), strings.ReplaceAll(
		b.get("https://portal.example.com/p/~join/"+other.String(), "Accept-Language: de").Body.String(), other.String(), which.String()), "nor whether there is one")

	code, ticket := b.asks(http.MethodPost, at+"/ticket", joinToken)
	require.Equal(t, http.StatusOK, code)
	require.Equal(t, []any{"Amara", "video", false, "", joinToken}, []any{ticket["speaker"], ticket["channel"], ticket["began"], ticket["endReason"], ticket["token"]})
	require.Equal(t, map[string]any{"text": "I am an AI, not a person. What I say can be wrong.", "language": "en", "direction": "ltr"}, ticket["notice"])
	require.Equal(t, "wss://live.example.com/x", ticket["transport"].(map[string]any)["url"])

	face := "https://portal.example.com" + strings.NewReplacer("{side}", "512", "{kind}", "json").Replace(ticket["face"].(string))
	require.Equal(t, http.StatusOK, b.get(face).Code)
	require.Equal(t, http.StatusNotFound, b.get("https://portal.example.com/p/~join/face/av_x/512.json").Code)
	require.Equal(t, http.StatusNotFound, b.get("https://portal.example.com/p/~join/face/"+id.NewAvatar().String()+"/512.json").Code, "an own face is not everybody's")
	mine := b.get(at+"/face/512.json", "X-Session-Token: "+joinToken)
	require.Equal(t, http.StatusOK, mine.Code)
	require.Equal(t, "private, no-store", mine.Header().Get("Cache-Control"))
	require.Equal(t, http.StatusNotFound, b.get(at+"/face/512.json").Code)
	require.Equal(t, http.StatusNotFound, b.get(at+"/face/512.gif", "X-Session-Token: "+joinToken).Code)
	require.Equal(t, "image/png", b.get(at+"/portrait", "X-Session-Token: "+joinToken).Header().Get("Content-Type"))
	require.Equal(t, http.StatusNotFound, b.get(at+"/portrait").Code)

	rated := request(http.MethodPost, at+"/rating", "X-Session-Token: "+joinToken)
	rated.Body = http.NoBody
	require.Equal(t, http.StatusBadRequest, b.do(rated).Code)
}

func TestWhyASessionsPageOpensNothingIsSaid(t *testing.T) {
	b := setup(t)
	at, which := invited(b)
	for token, path := range map[string]string{"": at, "another": at, strings.Repeat("a", 500): at, joinToken: "https://portal.example.com/p/~join/" + id.NewSession().String()} {
		code, answer := b.asks(http.MethodPost, path+"/ticket", token)
		require.Equal(t, http.StatusNotFound, code)
		require.Equal(t, map[string]any{
			"code": "join.unknown", "message": "This link does not open a conversation. Please ask whoever gave it to you for a new one.",
		}, answer)
	}
	b.conversations.Refusal = page.ErrLate
	code, answer := b.asks(http.MethodPost, at+"/ticket", joinToken, "Accept-Language: de")
	require.Equal(t, http.StatusGone, code)
	require.Contains(t, answer["message"], "nicht rechtzeitig")
	for _, path := range []string{"nothing", "nothing/ticket", which.String() + "/else"} {
		require.Equal(t, http.StatusNotFound, b.get("https://portal.example.com/p/~join/"+path).Code, path)
	}
}

// Every reason that a session can end for is said in words, in every language.
func TestEveryEndIsSaid(t *testing.T) {
	b := setup(t)
	at, _ := invited(b)
	for _, language := range []string{"ar", "de", "en", "es", "fr"} {
		_, after, found := strings.Cut(b.get(at, "Accept-Language: "+language).Body.String(), `data-words="`)
		require.True(t, found)
		text, _, _ := strings.Cut(after, `"`)
		var words map[string]string
		require.NoError(t, json.Unmarshal([]byte(html.UnescapeString(text)), &words))
		for _, reason := range []session.Reason{
			session.Left, session.EndedByAPI, session.EndedByUser, session.EndedByStaff, session.Idle, session.MaxDuration, session.MinutesExhausted,
			session.ConcurrencyReclaimed, session.ConnectionLost, session.Superseded, session.ConsentWithdrawn, session.AccountPaused,
			session.Moderation, session.UpstreamError, session.EngineError, "bad_token", "other",
		} {
			require.NotEmpty(t, words["ended."+string(reason)], "%s in %s", reason, language)
		}
	}
}
