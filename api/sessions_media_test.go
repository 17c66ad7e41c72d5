package api_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/provider/livekit"
	"visavis.dev/pkg/store/tenant"
)

// grant is what a LiveKit token allows, and to whom.
func grant(t *testing.T, token any) (identity string, video map[string]any) {
	t.Helper()
	parts := strings.Split(token.(string), ".")
	require.Len(t, parts, 3)
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	require.NoError(t, err)
	var claims struct {
		Subject string         `json:"sub"`
		Video   map[string]any `json:"video"`
	}
	require.NoError(t, json.Unmarshal(payload, &claims))
	return claims.Subject, claims.Video
}

// fails makes a connection one that fails.
func (w *world) fails(t *testing.T, which id.Connection, fallback string) {
	t.Helper()
	w.inTx(t, func(ctx context.Context, tx *tenant.Tx) error {
		c, err := connection.Lock(ctx, tx, which)
		if err != nil {
			return err
		}
		c.State, c.Fallback = connection.Failing, fallback
		return connection.Update(ctx, tx, c)
	})
}

func TestSessionsOverLiveKit(t *testing.T) {
	w := newWorld(t)
	over := map[string]any{"transport": "livekit"}
	require.Equal(t, "no_media_connection", reason(t, w.mint(t, w.Acme.New, over), "body.transport"))
	own := w.mediaServer(t, w.Acme, mediaKey)
	other := w.mediaServer(t, w.Acme, livekit.Key{ID: "APIother", Secret: "another-secret-0123456789012345678"})

	ticket := w.ticket(t, over)
	which := at(ticket, "session", "id").(string)
	require.Equal(t, []any{"livekit", "livekit", "wss://127.0.0.1:9", which, "visitor"}, []any{
		at(ticket, "session", "transport"), at(ticket, "transport", "kind"), at(ticket, "transport", "url"), at(ticket, "transport", "room"),
		at(ticket, "transport", "identity"),
	}, "by the oldest connection")
	identity, video := grant(t, at(ticket, "transport", "token"))
	require.Equal(t, "visitor", identity)
	require.Equal(t, map[string]any{"room": which, "roomJoin": true, "canPublish": true, "canPublishData": true, "canSubscribe": true}, video)
	require.Equal(t, "livekit", w.read(t, which)["transport"])

	// It is in use until the session is over.
	e := requireError(t, w.do(t, "deleteConnection", own.String(), w.Acme.New, nil), http.StatusConflict, "conflict", "path.id")
	require.Contains(t, e["message"], "1 live sessions")
	require.Equal(t, http.StatusOK, w.do(t, "endSession", which, w.Acme.New, nil).Status)
	require.Equal(t, http.StatusOK, w.do(t, "deleteConnection", own.String(), w.Acme.New, nil).Status)

	s := w.talk(t, map[string]any{"transport": "livekit", "mediaConnectionId": other.String()})
	require.Equal(t, other, s.Media)
	for mode, speaks := range map[string]bool{"listen": false, "speak": true, "takeover": true} {
		made := w.do(t, "createStaffToken", s.ID.String(), w.Acme.New, map[string]any{"staffName": "Eve", "mode": mode}).Data(t)
		require.Equal(t, []any{"livekit", made["staffId"]}, []any{at(made, "transport", "kind"), at(made, "transport", "identity")})
		identity, video := grant(t, at(made, "transport", "token"))
		require.Equal(t, []any{made["staffId"], s.ID.String(), speaks, speaks, true},
			[]any{identity, video["room"], video["canPublish"], video["canPublishData"], video["canSubscribe"]}, mode)
	}
}

func TestSessionsThatDoNotGoOverLiveKit(t *testing.T) {
	w := newWorld(t)
	own := w.mediaServer(t, w.Acme, mediaKey)
	foreign := w.mediaServer(t, w.Globex, mediaKey)
	model := w.make(t, w.Acme, "createConnection")["id"].(string)
	mint := func(properties map[string]any) map[string]any {
		t.Helper()
		properties["transport"] = "livekit"
		return properties
	}
	requireError(t, w.mint(t, w.Acme.New, mint(map[string]any{"mediaConnectionId": foreign.String()})), http.StatusNotFound, "not_found", "body.mediaConnectionId")
	requireError(t, w.mint(t, w.Acme.New, mint(map[string]any{"mediaConnectionId": "x"})), http.StatusNotFound, "not_found", "body.mediaConnectionId")
	requireError(t, w.mint(t, w.Acme.New, mint(map[string]any{"mediaConnectionId": model})), http.StatusBadRequest, "invalid_request", "body.mediaConnectionId")
	requireError(t, w.mint(t, w.Acme.New, mint(map[string]any{"allowedOrigins": []any{"https://www.example.com"}})), http.StatusBadRequest, "invalid_request", "body.allowedOrigins")
	requireError(t, w.mint(t, w.Acme.New, map[string]any{"mediaConnectionId": own.String()}), http.StatusBadRequest, "invalid_request", "body.mediaConnectionId")
	require.Equal(t, "websocket", at(w.ticket(t, map[string]any{"transport": "auto"}), "transport", "kind"))

	// One that fails is stood in for, or not.
	w.fails(t, own, connection.FallbackBuiltin)
	ticket := w.ticket(t, mint(map[string]any{}))
	require.Equal(t, []any{"websocket", "websocket", nil}, []any{at(ticket, "session", "transport"), at(ticket, "transport", "kind"), at(ticket, "transport", "token")})
	failing := w.mediaServer(t, w.Acme, mediaKey)
	w.fails(t, failing, connection.FallbackFail)
	requireError(t, w.mint(t, w.Acme.New, mint(map[string]any{"mediaConnectionId": failing.String()})), http.StatusBadGateway, "upstream_error", "body.transport")

	off := w.mediaServer(t, w.Acme, mediaKey)
	require.Equal(t, http.StatusOK, w.do(t, "updateConnection", off.String(), w.Acme.New, map[string]any{"enabled": false}).Status)
	require.Equal(t, "connection_disabled", reason(t, w.mint(t, w.Acme.New, mint(map[string]any{"mediaConnectionId": off.String()})), "body.transport"))
}
