package portal_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/utils/clock"
	clocktest "k8s.io/utils/clock/testing"

	"visavis.dev/pkg/base/id"
)

// persona makes somebody who can talk.
func (v *visited) persona() string {
	v.Helper()
	var faces, voices []struct{ ID string }
	v.call(http.MethodGet, "/avatars?limit=1", nil, &faces)
	v.call(http.MethodGet, "/voices?limit=1", nil, &voices)
	var made struct{ ID string }
	v.call(http.MethodPost, "/personas", map[string]any{"name": "Amara", "avatarId": faces[0].ID, "voiceId": voices[0].ID}, &made)
	return made.ID
}

type minted struct {
	Session struct{ ID string }
	Token   string
	JoinURL *string `json:"joinUrl"`
}

func (v *visited) invite(body map[string]any) (m minted) {
	v.Helper()
	v.call(http.MethodPost, "/sessions/tokens", body, &m)
	return m
}

// opens asks what a link opens, as the script of its page does.
func (v *visited) opens(joinURL string) (int, map[string]any) {
	v.Helper()
	page, token, found := strings.Cut(joinURL, "#")
	require.True(v, found)
	page, _, _ = strings.Cut(page, "?")
	r, err := http.NewRequestWithContext(v.Context(), http.MethodPost, page+"/ticket", nil)
	require.NoError(v, err)
	r.Header.Set("X-Session-Token", token)
	answer, err := http.DefaultClient.Do(r)
	require.NoError(v, err)
	defer func() { _ = answer.Body.Close() }()
	var told map[string]any
	require.NoError(v, json.NewDecoder(answer.Body).Decode(&told))
	return answer.StatusCode, told
}

// checks asks what the check of microphone and sound needs, as the page's script does.
func (v *visited) checks(joinURL string) map[string]any {
	v.Helper()
	page, token, _ := strings.Cut(joinURL, "#")
	r, err := http.NewRequestWithContext(v.Context(), http.MethodPost, page+"/check", nil)
	require.NoError(v, err)
	r.Header.Set("X-Session-Token", token)
	answer, err := http.DefaultClient.Do(r)
	require.NoError(v, err)
	defer func() { _ = answer.Body.Close() }()
	require.Equal(v, http.StatusOK, answer.StatusCode)
	var told map[string]any
	require.NoError(v, json.NewDecoder(answer.Body).Decode(&told))
	return told
}

// The page of a session in a room connects to the organization's own media server, for as long as that is switched on.
func TestASessionsLinkLeadsIntoItsRoom(t *testing.T) {
	v := visit(t, clock.RealClock{})
	var media struct{ ID string }
	v.call(http.MethodPost, "/connections", map[string]any{
		"name": "Rooms", "kind": "media", "provider": "livekit", "config": map[string]any{"url": "wss://live.example.com", "apiKey": "APIkey"},
		"secret": "secret-of-a-media-server-0123456789",
	}, &media)
	m := v.invite(map[string]any{"personaId": v.persona(), "transport": "livekit"})
	require.NotNil(t, m.JoinURL)
	require.Equal(t, v.origin+"/p/~join/"+m.Session.ID+"?server=wss%3A%2F%2Flive.example.com#"+m.Token, *m.JoinURL)

	code, told := v.opens(*m.JoinURL)
	require.Equal(t, http.StatusOK, code, told)
	transport := told["transport"].(map[string]any)
	require.Equal(t, []any{"livekit", "wss://live.example.com"}, []any{transport["kind"], transport["url"]})
	lets := transport["token"].(string)
	require.Len(t, strings.Split(lets, "."), 3)
	require.NotContains(t, *m.JoinURL, lets)

	v.call(http.MethodPatch, "/connections/"+media.ID, map[string]any{"enabled": false}, nil)
	require.Eventually(t, func() bool { // other processes see it within seconds
		code, told = v.opens(*m.JoinURL)
		return code == http.StatusNotFound
	}, 20*time.Second, 100*time.Millisecond)
	require.Equal(t, "join.unknown", told["code"])

	v.call(http.MethodPost, "/sessions/"+m.Session.ID+"/end", map[string]any{}, nil)
	_, told = v.opens(*m.JoinURL)
	require.Equal(t, "ended_by_api", told["endReason"])
	require.NotContains(t, told["transport"], "token")
}

func TestASessionsLinkOpensIt(t *testing.T) {
	now := clocktest.NewFakeClock(time.Now())
	v := visit(t, now)
	who := v.persona()
	m := v.invite(map[string]any{"personaId": who})
	require.NotNil(t, m.JoinURL)
	require.Equal(t, v.origin+"/p/~join/"+m.Session.ID+"#"+m.Token, *m.JoinURL)

	code, told := v.opens(*m.JoinURL)
	require.Equal(t, http.StatusOK, code, told)
	require.Equal(t, []any{"Amara", "video", false, "", m.Token}, []any{told["speaker"], told["channel"], told["began"], told["endReason"], told["token"]})
	require.Equal(t, "ws"+strings.TrimPrefix(v.origin, "http")+"/live/v1/"+m.Session.ID, told["transport"].(map[string]any)["url"])
	require.NotEmpty(t, told["notice"].(map[string]any)["text"])
	require.NotEmpty(t, told["face"])

	// Another's token opens nothing, nor does another session's page.
	other := v.invite(map[string]any{"personaId": who, "channel": "chat"})
	code, _ = v.opens(strings.ReplaceAll(*m.JoinURL, m.Token, other.Token))
	require.Equal(t, http.StatusNotFound, code)
	code, _ = v.opens(strings.ReplaceAll(*m.JoinURL, m.Session.ID, id.NewSession().String()))
	require.Equal(t, http.StatusNotFound, code)

	// One that is over says why, and one that nobody began in time is late.
	v.call(http.MethodPost, "/sessions/"+other.Session.ID+"/end", map[string]any{}, nil)
	_, told = v.opens(*other.JoinURL)
	require.Equal(t, []any{"ended_by_api", "chat", false}, []any{told["endReason"], told["channel"], told["began"]})
	now.Step(2 * time.Minute)
	code, told = v.opens(*m.JoinURL)
	require.Equal(t, http.StatusGone, code)
	require.Equal(t, "join.expired", told["code"])

	// Who checks microphone and sound first has some minutes, and no more for asking again.
	m = v.invite(map[string]any{"personaId": who})
	now.Step(50 * time.Second)
	for range 2 {
		require.Equal(t, "client", v.checks(*m.JoinURL)["hears"])
		now.Step(2 * time.Minute)
		code, _ = v.opens(*m.JoinURL)
		require.Equal(t, http.StatusOK, code)
	}
	now.Step(time.Minute)
	code, _ = v.opens(*m.JoinURL)
	require.Equal(t, http.StatusGone, code)

	// Pages of others alone may connect: ours is not among them.
	require.Nil(t, v.invite(map[string]any{"personaId": who, "allowedOrigins": []string{"https://example.com"}}).JoinURL)
	require.NotContains(t, v.log.String(), m.Token, "no log has what opens a session")
}
