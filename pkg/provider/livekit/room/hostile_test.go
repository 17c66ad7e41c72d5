package room_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"

	"visavis.dev/pkg/base/egress"
	"visavis.dev/pkg/provider/livekit/livekittest"
	"visavis.dev/pkg/provider/livekit/room"
	"visavis.dev/pkg/provider/upstream"
)

// liar is a server of which a test says how it lies. It joins everybody at once.
func liar(t *testing.T, behave func(ctx context.Context, socket *websocket.Conn)) room.Options {
	t.Helper()
	front := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		socket, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		defer socket.CloseNow()
		behave(r.Context(), socket)
	}))
	t.Cleanup(front.Close)
	return room.Options{Guard: livekittest.GuardWithin(front, "127.0.0.1/32"), URL: "wss" + strings.TrimPrefix(front.URL, "https"), Topic: "visavis"}
}

// of is a protobuf message with one field that is a message or a text.
func of(field protowire.Number, text string) string {
	return string(protowire.AppendString(protowire.AppendTag(nil, field, protowire.BytesType), text))
}

func say(ctx context.Context, socket *websocket.Conn, message string) bool {
	return socket.Write(ctx, websocket.MessageBinary, []byte(message)) == nil
}

// joins says that the client has joined, and waits for its offer.
func joins(ctx context.Context, socket *websocket.Conn) bool {
	if !say(ctx, socket, of(1, of(2, of(2, "one")))) {
		return false
	}
	_, _, err := socket.Read(ctx)
	return err == nil
}

// stay keeps a socket until the client goes.
func stay(ctx context.Context, socket *websocket.Conn) { _, _, _ = socket.Read(ctx) }

func TestServersThatLie(t *testing.T) {
	for name, c := range map[string]struct {
		behave func(ctx context.Context, socket *websocket.Conn)
		want   error
	}{
		"silence": {stay, upstream.ErrTimeout},
		"no answer": {func(ctx context.Context, socket *websocket.Conn) {
			joins(ctx, socket)
			stay(ctx, socket)
		}, upstream.ErrTimeout},
		"goes away": {func(ctx context.Context, socket *websocket.Conn) { joins(ctx, socket) }, upstream.ErrUnavailable},
		"no protobuf": {func(ctx context.Context, socket *websocket.Conn) {
			say(ctx, socket, "<html>")
			stay(ctx, socket)
		}, upstream.ErrMalformed},
		"something else first": {func(ctx context.Context, socket *websocket.Conn) {
			say(ctx, socket, of(5, ""))
			stay(ctx, socket)
		}, upstream.ErrMalformed},
		"an answer that is none": {func(ctx context.Context, socket *websocket.Conn) {
			joins(ctx, socket)
			say(ctx, socket, of(2, of(2, "v=0\r\nx")))
			stay(ctx, socket)
		}, upstream.ErrMalformed},
		"an offer that was not to come": {func(ctx context.Context, socket *websocket.Conn) {
			joins(ctx, socket)
			say(ctx, socket, of(3, of(2, "v=0\r\n")))
			stay(ctx, socket)
		}, upstream.ErrMalformed},
		"a candidate that is none": {func(ctx context.Context, socket *websocket.Conn) {
			joins(ctx, socket)
			say(ctx, socket, of(4, of(1, "{")))
			stay(ctx, socket)
		}, upstream.ErrMalformed},
		"a message without end": {func(ctx context.Context, socket *websocket.Conn) {
			joins(ctx, socket)
			say(ctx, socket, of(16, strings.Repeat("x", 1<<20)))
			stay(ctx, socket)
		}, upstream.ErrMalformed},
		"a flood": {func(ctx context.Context, socket *websocket.Conn) {
			joins(ctx, socket)
			for say(ctx, socket, of(9, "")) {
			}
		}, upstream.ErrMalformed},
		"everybody is there": {func(ctx context.Context, socket *websocket.Conn) {
			joins(ctx, socket)
			for i := range 200 {
				who := of(1, "PA_x") + of(2, strings.Repeat("x", i+1)) + string(protowire.AppendVarint(protowire.AppendTag(nil, 3, protowire.VarintType), 2))
				say(ctx, socket, of(5, of(1, who)))
			}
			stay(ctx, socket)
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			within := 500 * time.Millisecond
			if c.want != nil && !errors.Is(c.want, upstream.ErrTimeout) {
				within = patience
			}
			ctx, cancel := context.WithTimeout(t.Context(), within)
			defer cancel()
			_, err := room.Join(ctx, liar(t, c.behave))
			if c.want == nil { // whichever comes first: nobody takes the events either
				require.NotEmpty(t, upstream.CodeOf(err), "%v", err)
				return
			}
			require.ErrorIs(t, err, c.want)
		})
	}
}

// A server in a place that is not to be reached is not asked, however it is named.
func TestServersThatAreNotToBeReached(t *testing.T) {
	o := liar(t, stay)
	o.Guard = egress.New(egress.Options{})
	_, err := room.Join(t.Context(), o)
	require.ErrorIs(t, err, upstream.ErrAddressRefused)
	o.URL = strings.Replace(o.URL, "wss", "ws", 1)
	_, err = room.Join(t.Context(), o)
	require.ErrorIs(t, err, upstream.ErrAddressRefused)
}

// A server that is public itself may say that its media is anywhere. Nothing is sent to
// where the guard does not let it: not to a candidate of the answer's, nor to one that
// comes later, over UDP or TCP.
func TestPrivateCandidatesAreNotTried(t *testing.T) {
	// What stands for the inside of the network: loopback under an address that the guard
	// does not allow.
	udp, err := net.ListenPacket("udp4", "127.0.0.2:0")
	require.NoError(t, err)
	defer udp.Close()
	tcp, err := net.Listen("tcp4", "127.0.0.2:0")
	require.NoError(t, err)
	defer tcp.Close()
	udpPort, tcpPort := port(udp.LocalAddr()), port(tcp.Addr())
	candidates := []string{
		"1 1 udp 2130706431 127.0.0.2 " + udpPort + " typ host",
		"2 1 udp 1694498815 127.0.0.2 " + udpPort + " typ srflx raddr 1.1.1.1 rport 9",
		"3 1 tcp 1671430143 127.0.0.2 " + tcpPort + " typ host tcptype passive",
		"4 1 udp 2130706431 localhost " + udpPort + " typ host",
		"5 1 udp 2130706431 inside.local " + udpPort + " typ host",
		"6 1 udp 2130706431 ::ffff:127.0.0.2 " + udpPort + " typ host",
	}
	o := liar(t, func(ctx context.Context, socket *websocket.Conn) {
		joins(ctx, socket)
		say(ctx, socket, of(2, of(2, answer(candidates))))
		for _, c := range candidates {
			say(ctx, socket, of(4, of(1, `{"candidate":"candidate:`+c+`","sdpMid":"0","sdpMLineIndex":0}`)))
		}
		stay(ctx, socket)
	})
	heard := make(chan string, 2)
	go func() {
		if _, _, err := udp.ReadFrom(make([]byte, 1500)); err == nil {
			heard <- "udp"
		}
	}()
	go func() {
		if c, err := tcp.Accept(); err == nil {
			c.Close()
			heard <- "tcp"
		}
	}()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	_, err = room.Join(ctx, o)
	require.ErrorIs(t, err, upstream.ErrTimeout)
	select {
	case how := <-heard:
		require.Fail(t, "the inside was reached", how)
	default:
	}
}

func port(a net.Addr) string {
	_, p, _ := net.SplitHostPort(a.String())
	return p
}

// answer is a description that is good but for its candidates.
func answer(candidates []string) string {
	lines := []string{
		"v=0", "o=- 1 1 IN IP4 0.0.0.0", "s=-", "t=0 0", "a=group:BUNDLE 0",
		"a=fingerprint:sha-256 " + strings.TrimSuffix(strings.Repeat("AB:", 32), ":"), "a=candidate:" + candidates[0],
		"m=application 9 UDP/DTLS/SCTP webrtc-datachannel", "c=IN IP4 127.0.0.2", "a=setup:active", "a=mid:0", "a=sendrecv",
		"a=sctp-port:5000", "a=ice-ufrag:aaaaaaaa", "a=ice-pwd:aaaaaaaaaaaaaaaaaaaaaaaa",
	}
	for _, c := range candidates {
		lines = append(lines, "a=candidate:"+c)
	}
	return strings.Join(lines, "\r\n") + "\r\n"
}
