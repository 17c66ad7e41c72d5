package api_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/api/route"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/provider/livekit"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
)

// mediaKey is that of the media servers of these tests.
var mediaKey = livekit.Key{ID: "APItests", Secret: "secret-of-a-media-server-0123456789"}

const mediaEvent = `{"event":"room_started","id":"EV_1","createdAt":"1790000000","room":{"sid":"RM_1","name":"r"}}`

// mediaServer connects a media server.
func (w *world) mediaServer(t testing.TB, org *apitest.Org, key livekit.Key) id.Connection {
	t.Helper()
	offer, ok := connection.FindOffer(connection.Media, connection.LiveKit)
	require.True(t, ok)
	config := connection.Config{"url": "wss://127.0.0.1:9", "apiKey": key.ID}
	c := connection.New(offer, "media", config, connection.Secret(key.Secret), time.Now().UTC().Add(-time.Minute))
	c.Fallback, c.TimeoutMs = connection.FallbackBuiltin, 1000
	require.NoError(t, w.Tenants.InTx(context.Background(), org.ID, func(ctx context.Context, tx *tenant.Tx) error {
		return connection.Create(ctx, tx, w.Vault, c, connection.Secret(key.Secret), activity.Actor{By: "test", At: c.CreatedAt}.Unlogged())
	}))
	w.mediaOf[c.ID.Bare()] = org.ID
	return c.ID
}

// sign makes the header of a server's request.
func sign(t testing.TB, key livekit.Key, body string, at time.Time) string {
	t.Helper()
	sum := sha256.Sum256([]byte(body))
	token, err := jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.MapClaims{
		"iss": key.ID, "nbf": at.Unix(), "exp": at.Add(5 * time.Minute).Unix(), "sha256": base64.StdEncoding.EncodeToString(sum[:]),
	}).SignedString([]byte(key.Secret))
	require.NoError(t, err)
	return token
}

// signed makes a request one of the media server's, where it says nothing itself.
func (w *world) signed(t testing.TB, o *route.Operation, r apitest.Request) apitest.Request {
	if o.ID != "receiveMediaEvent" || r.Body != nil {
		return r
	}
	bare, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(r.Path, "/connections/"), "con_"), "/")
	header := map[string]string{"Content-Type": "application/webhook+json", "Authorization": sign(t, mediaKey, mediaEvent, time.Now())}
	maps.Copy(header, r.Header)
	r.Body, r.Header = []byte(mediaEvent), header
	if org, known := w.mediaOf[bare]; known && !strings.Contains(r.Path, "?") {
		r.Path += "?organization=" + org.String()
	}
	return r
}

func TestMediaServersTell(t *testing.T) {
	w := newWorld(t)
	own := w.mediaServer(t, w.Acme, mediaKey)
	o := w.operation(t, "receiveMediaEvent")
	send := func(which id.Connection, org id.Org, body, authorization string) apitest.Answer {
		return w.call(t, o, apitest.Request{
			Path: "/connections/" + which.String() + "/webhook?" + url.Values{"organization": {org.String()}}.Encode(), Body: []byte(body),
			Header: map[string]string{"Authorization": authorization, "Content-Type": "application/webhook+json"},
		})
	}
	now := time.Now()
	good := sign(t, mediaKey, mediaEvent, now)
	taken := send(own, w.Acme.ID, mediaEvent, good)
	require.Equal(t, http.StatusOK, taken.Status, "%s", taken.Raw)
	require.Equal(t, map[string]any{"received": true}, taken.Data(t))
	odd := `{"event":"<b>"}`
	require.Equal(t, http.StatusOK, send(own, w.Acme.ID, odd, sign(t, mediaKey, odd, now)).Status)
	w.Reporter.Flush(context.Background())
	calls := w.do(t, "listConnectionCalls", own.String(), w.Acme.New, nil).JSON(t)["data"].([]any)
	require.Len(t, calls, 2)
	require.ElementsMatch(t, []any{"webhook room_started", "webhook other"}, []any{at(calls[0], "name"), at(calls[1], "name")})
	require.Nil(t, at(calls[0], "errorCode"))
	shown := w.do(t, "getConnection", own.String(), w.Acme.New, nil).Data(t)
	require.NotNil(t, at(shown, "health", "lastOkAt"))
	require.Nil(t, at(shown, "health", "p95Ms"), "nothing was asked of it")
	require.Equal(t, "unverified", shown["state"], "that it reaches us does not show that it answers")

	another := livekit.Key{ID: "APIother", Secret: "another-secret-0123456789012345678"}
	other := w.mediaServer(t, w.Acme, another)
	off := w.mediaServer(t, w.Acme, mediaKey)
	require.Equal(t, http.StatusOK, w.do(t, "updateConnection", off.String(), w.Acme.New, map[string]any{"enabled": false}).Status)
	model, err := id.ParseConnection(w.make(t, w.Acme, "createConnection")["id"].(string))
	require.NoError(t, err)
	wrong := map[string]apitest.Answer{
		"tampered":                send(own, w.Acme.ID, strings.Replace(mediaEvent, "EV_1", "EV_2", 1), good),
		"old":                     send(own, w.Acme.ID, mediaEvent, sign(t, mediaKey, mediaEvent, now.Add(-time.Hour))),
		"another key":             send(own, w.Acme.ID, mediaEvent, sign(t, another, mediaEvent, now)),
		"another's connection":    send(other, w.Acme.ID, mediaEvent, good),
		"unsigned":                send(own, w.Acme.ID, mediaEvent, ""),
		"no body":                 send(own, w.Acme.ID, "", good),
		"another organization":    send(own, w.Globex.ID, mediaEvent, good),
		"no such organization":    send(own, id.NewOrg(), mediaEvent, good),
		"no such connection":      send(id.NewConnection(), w.Acme.ID, mediaEvent, good),
		"a model's":               send(model, w.Acme.ID, mediaEvent, good),
		"one that is off":         send(off, w.Acme.ID, mediaEvent, good),
		"with a key of the API's": send(own, w.Acme.ID, mediaEvent, "Bearer "+string(w.Acme.New)),
	}
	for name, answer := range wrong {
		requireError(t, answer, http.StatusNotFound, "not_found", "path.id")
		require.Equal(t, wrong["no such connection"].Error(t), answer.Error(t), name)
	}
	large := strings.Repeat(" ", 64<<10) + mediaEvent
	requireError(t, send(own, w.Acme.ID, large, sign(t, mediaKey, large, now)), http.StatusRequestEntityTooLarge, "too_large", "body")
}
