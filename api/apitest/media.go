package apitest

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/require"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/provider/livekit"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
)

// MediaKey is that of the media servers of these tests.
var MediaKey = livekit.Key{ID: "APItests", Secret: "secret-of-a-media-server-0123456789"}

const MediaEvent = `{"event":"room_started","id":"EV_1","createdAt":"1790000000","room":{"sid":"RM_1","name":"r"}}`

// MediaServer connects a media server.
func (w *World) MediaServer(t testing.TB, org *Org, key livekit.Key) id.Connection {
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

// Sign makes the header of a server's request.
func Sign(t testing.TB, key livekit.Key, body string, at time.Time) string {
	t.Helper()
	sum := sha256.Sum256([]byte(body))
	token, err := jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.MapClaims{
		"iss": key.ID, "nbf": at.Unix(), "exp": at.Add(5 * time.Minute).Unix(), "sha256": base64.StdEncoding.EncodeToString(sum[:]),
	}).SignedString([]byte(key.Secret))
	require.NoError(t, err)
	return token
}

// signed makes a request one of the media server's, where it says nothing itself.
func (w *World) signed(t testing.TB, o *route.Operation, r Request) Request {
	if o.ID != "receiveMediaEvent" || r.Body != nil {
		return r
	}
	bare, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(r.Path, "/connections/"), "con_"), "/")
	header := map[string]string{"Content-Type": "application/webhook+json", "Authorization": Sign(t, MediaKey, MediaEvent, time.Now())}
	maps.Copy(header, r.Header)
	r.Body, r.Header = []byte(MediaEvent), header
	if org, known := w.mediaOf[bare]; known && !strings.Contains(r.Path, "?") {
		r.Path += "?organization=" + org.String()
	}
	return r
}
