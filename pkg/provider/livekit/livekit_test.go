package livekit_test

import (
	"context"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/egress"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/provider/livekit"
	"visavis.dev/pkg/provider/upstream"
)

var (
	key = livekit.Key{ID: "APItestkey123", Secret: "test-secret-0123456789abcdef0123456789abcdef"}
	now = time.Unix(1_790_757_900, 0)
)

// The claims of the documentation's token ("Token example"), with what they
// hold besides.
func TestMint(t *testing.T) {
	token, err := key.Mint(livekit.Participant{Identity: "myidentity", Name: "Kim", Metadata: "m"},
		livekit.Grant{Room: "myroom", RoomJoin: true, CanSubscribe: true}, now, time.Hour)
	require.NoError(t, err)
	parts := strings.Split(token, ".")
	require.Len(t, parts, 3)
	header, err := base64.RawURLEncoding.DecodeString(parts[0])
	require.NoError(t, err)
	require.JSONEq(t, `{"alg":"HS256","typ":"JWT"}`, string(header))
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	require.NoError(t, err)
	require.JSONEq(t, `{
		"iss": "APItestkey123", "sub": "myidentity", "jti": "myidentity", "name": "Kim", "metadata": "m",
		"nbf": 1790757890, "exp": 1790761500,
		"video": {"room": "myroom", "roomJoin": true, "canPublish": false, "canSubscribe": true, "canPublishData": false}
	}`, string(payload))
}

// A token of the project's own tests: what it was signed with is how tokens
// are signed here.
func TestSignatureIsTheProtocols(t *testing.T) {
	const token = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJleHAiOjE2MDg5MzAzMDgsImlzcyI6IkFQSUQzQjY3dXhrNE5qMkdLaVJQaWJBWjkiLCJuYmYiOjE2MDg5MjY3MDgsInJvb21fam9pbiI6dHJ1ZSwicm9vbV9zaWQiOiJteWlkIiwic3ViIjoiQVBJRDNCNjd1eGs0TmoyR0tpUlBpYkFaOSJ9.cmHEBq0MLyRqphmVLM2cLXg5ao5Sro7am8yXhcYKcwE"
	signed := strings.LastIndex(token, ".")
	signature, err := jwt.SigningMethodHS256.Sign(token[:signed], []byte("YHC-CUhbQhGeVCaYgn1BNA++"))
	require.NoError(t, err)
	require.Equal(t, token[signed+1:], base64.RawURLEncoding.EncodeToString(signature))
}

// sent and its token were made by the project's SDK for servers.
const (
	sent      = `{"event":"participant_joined","id":"EV_fixture","createdAt":"1790000000","room":{"sid":"RM_x","name":"nia-live-aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee","numParticipants":2},"participant":{"sid":"PA_x","identity":"11111111-1111-4111-8111-111111111111","state":"ACTIVE"}}`
	sentToken = "eyJhbGciOiJIUzI1NiJ9.eyJzaGEyNTYiOiJKWWlzQ0lobmd3Vmc5ZHd3cHlsL3lMVWE3SVp2RHpKb2dmRFBhUGxSKzNRPSIsImlzcyI6IkFQSXRlc3RrZXkxMjMiLCJleHAiOjE3OTA3NTg0NzEsIm5iZiI6MTc5MDc1Nzg3MX0.gV1QrTRtKK5jDyl1kYZkGVVvAv-X15LrE-1a83Vw3Vg"
)

func TestReceive(t *testing.T) {
	for _, header := range []string{sentToken, "Bearer " + sentToken} {
		event, err := key.Receive(header, []byte(sent), now)
		require.NoError(t, err)
		require.Equal(t, livekit.Event{
			Type: "participant_joined", ID: "EV_fixture",
			Room:        livekit.EventRoom{SID: "RM_x", Name: "nia-live-aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee"},
			Participant: livekit.EventParticipant{SID: "PA_x", Identity: "11111111-1111-4111-8111-111111111111"},
		}, event)
	}
}

func sign(t *testing.T, method jwt.SigningMethod, secret any, claims jwt.MapClaims) string {
	t.Helper()
	token, err := jwt.NewWithClaims(method, claims).SignedString(secret)
	require.NoError(t, err)
	return token
}

func TestReceiveRefuses(t *testing.T) {
	sum := sha256.Sum256([]byte(sent))
	good := func(change func(jwt.MapClaims)) jwt.MapClaims {
		c := jwt.MapClaims{"iss": key.ID, "exp": now.Unix() + 60, "nbf": now.Unix(), "sha256": base64.StdEncoding.EncodeToString(sum[:])}
		change(c)
		return c
	}
	hs256 := func(change func(jwt.MapClaims)) string {
		return sign(t, jwt.SigningMethodHS256, []byte(key.Secret), good(change))
	}
	keep := func(jwt.MapClaims) {}
	_, err := key.Receive(hs256(keep), []byte(sent), now)
	require.NoError(t, err, "the others differ from this one")
	for name, header := range map[string]string{
		"nothing":        "",
		"no token":       "Bearer x",
		"another secret": sign(t, jwt.SigningMethodHS256, []byte("another"), good(keep)),
		"no secret":      sign(t, jwt.SigningMethodHS256, []byte(""), good(keep)),
		"unsigned":       sign(t, jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, good(keep)),
		"HS512":          sign(t, jwt.SigningMethodHS512, []byte(key.Secret), good(keep)),
		"another key":    hs256(func(c jwt.MapClaims) { c["iss"] = "other" }),
		"no issuer":      hs256(func(c jwt.MapClaims) { delete(c, "iss") }),
		"expired":        hs256(func(c jwt.MapClaims) { c["exp"] = now.Unix() - 11 }),
		"never expires":  hs256(func(c jwt.MapClaims) { delete(c, "exp") }),
		"not yet":        hs256(func(c jwt.MapClaims) { c["nbf"] = now.Unix() + 11 }),
		"another body":   hs256(func(c jwt.MapClaims) { c["sha256"] = base64.StdEncoding.EncodeToString(make([]byte, 32)) }),
		"no body":        hs256(func(c jwt.MapClaims) { delete(c, "sha256") }),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := key.Receive(header, []byte(sent), now)
			require.ErrorIs(t, err, livekit.ErrUnsigned)
		})
	}
	_, err = key.Receive(sentToken, []byte(strings.Replace(sent, "EV_fixture", "EV_fixturX", 1)), now)
	require.ErrorIs(t, err, livekit.ErrUnsigned)
	_, err = livekit.Key{ID: key.ID}.Receive(sign(t, jwt.SigningMethodHS256, []byte(""), good(keep)), []byte(sent), now)
	require.ErrorIs(t, err, livekit.ErrUnsigned, "no secret signs nothing")
}

func TestRoomName(t *testing.T) {
	session := id.NewSession()
	require.Equal(t, "eu-"+session.String(), livekit.RoomName("eu-", session))
}

func TestRooms(t *testing.T) {
	var got *http.Request
	status, answer := http.StatusOK, `{"rooms":[{"sid":"RM_1","name":"a","num_participants":2}]}`
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r
		w.WriteHeader(status)
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(s.Close)
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	guard := egress.New(egress.Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, RootCAs: roots})
	server := livekit.Server{HTTP: guard.Client(), URL: strings.Replace(s.URL, "https", "wss", 1) + "/", Key: key}

	rooms, err := server.Rooms(context.Background(), now)
	require.NoError(t, err)
	require.Equal(t, []livekit.Room{{SID: "RM_1", Name: "a"}}, rooms)
	require.Equal(t, "/twirp/livekit.RoomService/ListRooms", got.URL.Path)
	token := strings.TrimPrefix(got.Header.Get("Authorization"), "Bearer ")
	payload, err := base64.RawURLEncoding.DecodeString(strings.Split(token, ".")[1])
	require.NoError(t, err)
	var claims map[string]any
	require.NoError(t, json.Unmarshal(payload, &claims))
	require.Equal(t, true, claims["video"].(map[string]any)["roomList"])

	status = http.StatusUnauthorized
	_, err = server.Rooms(context.Background(), now)
	require.ErrorIs(t, err, upstream.ErrRefused)
	status, answer = http.StatusOK, "<html>"
	_, err = server.Rooms(context.Background(), now)
	require.ErrorIs(t, err, upstream.ErrMalformed)
}
