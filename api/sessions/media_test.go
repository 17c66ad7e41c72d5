package sessions_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/provider/livekit"
	"visavis.dev/pkg/store/tenant"
)

func TestMediaServersTell(t *testing.T) {
	w := apitest.NewWorld(t)
	own := w.MediaServer(t, w.Acme, apitest.MediaKey)
	o := w.Operation(t, "receiveMediaEvent")
	send := func(which id.Connection, org id.Org, body, authorization string) apitest.Answer {
		return w.Call(t, o, apitest.Request{
			Path: "/connections/" + which.String() + "/webhook?" + url.Values{"organization": {org.String()}}.Encode(), Body: []byte(body),
			Header: map[string]string{"Authorization": authorization, "Content-Type": "application/webhook+json"},
		})
	}
	now := time.Now()
	good := apitest.Sign(t, apitest.MediaKey, apitest.MediaEvent, now)
	taken := send(own, w.Acme.ID, apitest.MediaEvent, good)
	require.Equal(t, http.StatusOK, taken.Status, "%s", taken.Raw)
	require.Equal(t, map[string]any{"received": true}, taken.Data(t))
	odd := `{"event":"<b>"}`
	require.Equal(t, http.StatusOK, send(own, w.Acme.ID, odd, apitest.Sign(t, apitest.MediaKey, odd, now)).Status)
	w.Reporter.Flush(context.Background())
	calls := w.CallAs(t, "listConnectionCalls", own.String(), w.Acme.New, nil).JSON(t)["data"].([]any)
	require.Len(t, calls, 2)
	require.ElementsMatch(t, []any{"webhook room_started", "webhook other"}, []any{apitest.At(calls[0], "name"), apitest.At(calls[1], "name")})
	require.Nil(t, apitest.At(calls[0], "errorCode"))
	shown := w.CallAs(t, "getConnection", own.String(), w.Acme.New, nil).Data(t)
	require.NotNil(t, apitest.At(shown, "health", "lastOkAt"))
	require.Nil(t, apitest.At(shown, "health", "p95Ms"), "nothing was asked of it")
	require.Equal(t, "unverified", shown["state"], "that it reaches us does not show that it answers")

	another := livekit.Key{ID: "APIother", Secret: "another-secret-0123456789012345678"}
	other := w.MediaServer(t, w.Acme, another)
	off := w.MediaServer(t, w.Acme, apitest.MediaKey)
	require.Equal(t, http.StatusOK, w.CallAs(t, "updateConnection", off.String(), w.Acme.New, map[string]any{"enabled": false}).Status)
	model, err := id.ParseConnection(w.Make(t, w.Acme, "createConnection")["id"].(string))
	require.NoError(t, err)
	wrong := map[string]apitest.Answer{
		"tampered":                send(own, w.Acme.ID, strings.Replace(apitest.MediaEvent, "EV_1", "EV_2", 1), good),
		"old":                     send(own, w.Acme.ID, apitest.MediaEvent, apitest.Sign(t, apitest.MediaKey, apitest.MediaEvent, now.Add(-time.Hour))),
		"another key":             send(own, w.Acme.ID, apitest.MediaEvent, apitest.Sign(t, another, apitest.MediaEvent, now)),
		"another's connection":    send(other, w.Acme.ID, apitest.MediaEvent, good),
		"unsigned":                send(own, w.Acme.ID, apitest.MediaEvent, ""),
		"no body":                 send(own, w.Acme.ID, "", good),
		"another organization":    send(own, w.Globex.ID, apitest.MediaEvent, good),
		"no such organization":    send(own, id.NewOrg(), apitest.MediaEvent, good),
		"no such connection":      send(id.NewConnection(), w.Acme.ID, apitest.MediaEvent, good),
		"a model's":               send(model, w.Acme.ID, apitest.MediaEvent, good),
		"one that is off":         send(off, w.Acme.ID, apitest.MediaEvent, good),
		"with a key of the API's": send(own, w.Acme.ID, apitest.MediaEvent, "Bearer "+string(w.Acme.New)),
	}
	for name, answer := range wrong {
		apitest.RequireError(t, answer, http.StatusNotFound, "not_found", "path.id")
		require.Equal(t, wrong["no such connection"].Error(t), answer.Error(t), name)
	}
	large := strings.Repeat(" ", 64<<10) + apitest.MediaEvent
	apitest.RequireError(t, send(own, w.Acme.ID, large, apitest.Sign(t, apitest.MediaKey, large, now)), http.StatusRequestEntityTooLarge, "too_large", "body")
}

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
func fails(t *testing.T, w *apitest.World, which id.Connection, fallback string) {
	t.Helper()
	w.InTx(t, func(ctx context.Context, tx *tenant.Tx) error {
		c, err := connection.Lock(ctx, tx, which)
		if err != nil {
			return err
		}
		c.State, c.Fallback = connection.Failing, fallback
		return connection.Update(ctx, tx, c)
	})
}

func TestSessionsOverLiveKit(t *testing.T) {
	w := apitest.NewWorld(t)
	over := map[string]any{"transport": "livekit"}
	require.Equal(t, "no_media_connection", apitest.Reason(t, w.Mint(t, w.Acme.New, over), "body.transport"))
	own := w.MediaServer(t, w.Acme, apitest.MediaKey)
	other := w.MediaServer(t, w.Acme, livekit.Key{ID: "APIother", Secret: "another-secret-0123456789012345678"})

	ticket := w.Ticket(t, over)
	which := apitest.At(ticket, "session", "id").(string)
	require.Equal(t, []any{"livekit", "livekit", "wss://127.0.0.1:9", which, "visitor"}, []any{
		apitest.At(ticket, "session", "transport"), apitest.At(ticket, "transport", "kind"), apitest.At(ticket, "transport", "url"), apitest.At(ticket, "transport", "room"),
		apitest.At(ticket, "transport", "identity"),
	}, "by the oldest connection")
	identity, video := grant(t, apitest.At(ticket, "transport", "token"))
	require.Equal(t, "visitor", identity)
	require.Equal(t, map[string]any{"room": which, "roomJoin": true, "canPublish": true, "canPublishData": true, "canSubscribe": true}, video)
	require.Equal(t, "livekit", w.Read(t, which)["transport"])

	// It is in use until the session is over.
	e := apitest.RequireError(t, w.CallAs(t, "deleteConnection", own.String(), w.Acme.New, nil), http.StatusConflict, "conflict", "path.id")
	require.Contains(t, e["message"], "1 live sessions")
	require.Equal(t, http.StatusOK, w.CallAs(t, "endSession", which, w.Acme.New, nil).Status)
	require.Equal(t, http.StatusOK, w.CallAs(t, "deleteConnection", own.String(), w.Acme.New, nil).Status)

	s := w.Talk(t, map[string]any{"transport": "livekit", "mediaConnectionId": other.String()})
	require.Equal(t, other, s.Media)
	for mode, speaks := range map[string]bool{"listen": false, "speak": true, "takeover": true} {
		made := w.CallAs(t, "createStaffToken", s.ID.String(), w.Acme.New, map[string]any{"staffName": "Eve", "mode": mode}).Data(t)
		require.Equal(t, []any{"livekit", made["staffId"]}, []any{apitest.At(made, "transport", "kind"), apitest.At(made, "transport", "identity")})
		identity, video := grant(t, apitest.At(made, "transport", "token"))
		require.Equal(t, []any{made["staffId"], s.ID.String(), speaks, speaks, true},
			[]any{identity, video["room"], video["canPublish"], video["canPublishData"], video["canSubscribe"]}, mode)
	}
}

func TestSessionsThatDoNotGoOverLiveKit(t *testing.T) {
	w := apitest.NewWorld(t)
	own := w.MediaServer(t, w.Acme, apitest.MediaKey)
	foreign := w.MediaServer(t, w.Globex, apitest.MediaKey)
	model := w.Make(t, w.Acme, "createConnection")["id"].(string)
	mint := func(properties map[string]any) map[string]any {
		t.Helper()
		properties["transport"] = "livekit"
		return properties
	}
	apitest.RequireError(t, w.Mint(t, w.Acme.New, mint(map[string]any{"mediaConnectionId": foreign.String()})), http.StatusNotFound, "not_found", "body.mediaConnectionId")
	apitest.RequireError(t, w.Mint(t, w.Acme.New, mint(map[string]any{"mediaConnectionId": "x"})), http.StatusNotFound, "not_found", "body.mediaConnectionId")
	apitest.RequireError(t, w.Mint(t, w.Acme.New, mint(map[string]any{"mediaConnectionId": model})), http.StatusBadRequest, "invalid_request", "body.mediaConnectionId")
	apitest.RequireError(t, w.Mint(t, w.Acme.New, mint(map[string]any{"allowedOrigins": []any{"https://www.example.com"}})), http.StatusBadRequest, "invalid_request", "body.allowedOrigins")
	apitest.RequireError(t, w.Mint(t, w.Acme.New, map[string]any{"mediaConnectionId": own.String()}), http.StatusBadRequest, "invalid_request", "body.mediaConnectionId")
	require.Equal(t, "websocket", apitest.At(w.Ticket(t, map[string]any{"transport": "auto"}), "transport", "kind"))

	// One that fails is stood in for, or not.
	fails(t, w, own, connection.FallbackBuiltin)
	ticket := w.Ticket(t, mint(map[string]any{}))
	require.Equal(t, []any{"websocket", "websocket", nil}, []any{apitest.At(ticket, "session", "transport"), apitest.At(ticket, "transport", "kind"), apitest.At(ticket, "transport", "token")})
	failing := w.MediaServer(t, w.Acme, apitest.MediaKey)
	fails(t, w, failing, connection.FallbackFail)
	apitest.RequireError(t, w.Mint(t, w.Acme.New, mint(map[string]any{"mediaConnectionId": failing.String()})), http.StatusBadGateway, "upstream_error", "body.transport")

	off := w.MediaServer(t, w.Acme, apitest.MediaKey)
	require.Equal(t, http.StatusOK, w.CallAs(t, "updateConnection", off.String(), w.Acme.New, map[string]any{"enabled": false}).Status)
	require.Equal(t, "connection_disabled", apitest.Reason(t, w.Mint(t, w.Acme.New, mint(map[string]any{"mediaConnectionId": off.String()})), "body.transport"))
}

// A session over WebRTC is offered over a socket of ours, to whom the page of its link does that too.
func TestSessionsOverWebRTC(t *testing.T) {
	w := apitest.NewWorld(t)
	ticket := w.Ticket(t, map[string]any{"transport": "webrtc"})
	which := apitest.At(ticket, "session", "id").(string)
	require.Equal(t, []any{"webrtc", "webrtc", nil}, []any{apitest.At(ticket, "session", "transport"), apitest.At(ticket, "transport", "kind"), apitest.At(ticket, "transport", "token")})
	require.Contains(t, apitest.At(ticket, "transport", "url"), "/live/v1/"+which)
	require.NotNil(t, ticket["joinUrl"])
	require.Equal(t, "webrtc", w.Read(t, which)["transport"])
	s := w.Talk(t, map[string]any{"transport": "webrtc"})
	made := w.CallAs(t, "createStaffToken", s.ID.String(), w.Acme.New, map[string]any{"staffName": "Eve", "mode": "speak"}).Data(t)
	require.Equal(t, "websocket", apitest.At(made, "transport", "kind"), "what they say is text")
	own := w.MediaServer(t, w.Acme, apitest.MediaKey)
	apitest.RequireError(t, w.Mint(t, w.Acme.New, map[string]any{"transport": "webrtc", "mediaConnectionId": own.String()}),
		http.StatusBadRequest, "invalid_request", "body.mediaConnectionId")
}
