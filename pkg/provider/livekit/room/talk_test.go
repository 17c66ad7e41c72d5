package room_test

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/pion/webrtc/v4"
	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/soundtrack"
	"visavis.dev/pkg/provider/livekit"
	"visavis.dev/pkg/provider/livekit/livekittest"
	"visavis.dev/pkg/provider/livekit/room"
)

// with joins a room with more than packets.
func with(t *testing.T, s *livekittest.Server, name, identity string, change func(*room.Options)) *room.Room {
	t.Helper()
	o := options(s, s.Token(t, name, identity, hears))
	change(&o)
	r, err := room.Join(t.Context(), o)
	require.NoError(t, err)
	t.Cleanup(r.Close)
	return r
}

// Only who is to be heard is heard, and only their microphone.
func TestTracksAreHeard(t *testing.T) {
	s := livekittest.Start(t)
	heard := make(chan string, 64)
	with(t, s, "hall", "listener", func(o *room.Options) {
		o.Hears = func(identity string) bool { return identity == "one" }
		o.Sound = func(identity string, packet []byte) {
			if bytes.HasPrefix(packet, []byte("\xf8\xff\xfe")) {
				return // silence, which a server begins with
			}
			select {
			case heard <- identity + string(packet[1:]):
			default:
			}
		}
	})
	speak := func(identity string) *soundtrack.Sender {
		sender, err := soundtrack.NewSender("mic", identity)
		require.NoError(t, err)
		with(t, s, "hall", identity, func(o *room.Options) { o.Tracks = []webrtc.TrackLocal{sender.TrackLocalStaticRTP} })
		return sender
	}
	one, two := speak("one"), speak("two")
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	late := time.After(patience)
	for n := uint32(0); ; n++ {
		select {
		case <-tick.C:
			require.NoError(t, one.Play([]byte("\xf8said"), n*soundtrack.PacketSamples, n == 0))
			require.NoError(t, two.Play([]byte("\xf8other"), n*soundtrack.PacketSamples, n == 0))
			continue
		case who := <-heard:
			require.Equal(t, "onesaid", who)
			if n > 60 {
				return
			}
		case <-late:
			require.FailNow(t, "nothing is heard")
		}
	}
}

func TestMethodsAreCalled(t *testing.T) {
	s := livekittest.Start(t)
	one := join(t, s, "shop", "one", hears)
	two := with(t, s, "shop", "two", func(o *room.Options) {
		o.Answers = func(identity, method string) bool { return identity == "one" && method == "known" }
	})
	require.Equal(t, room.Event{Kind: room.Came, Identity: "two"}, next(t, one))
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	answer, err := one.Ask(ctx, "two", "known", `{"a":1}`)
	require.NoError(t, err)
	require.Equal(t, "ok", answer)
	require.Equal(t, room.Event{Kind: room.Came, Identity: "one"}, next(t, two))
	require.Equal(t, room.Event{Kind: room.Asked, Identity: "one", Method: "known", Payload: []byte(`{"a":1}`)}, next(t, two))
	_, err = one.Ask(ctx, "two", "unknown", "")
	var failed *room.Failure
	require.ErrorAs(t, err, &failed)
	require.Equal(t, 1400, failed.Code)
	_, err = two.Ask(ctx, "one", "known", "")
	require.ErrorAs(t, err, &failed, "one has no methods")

	soon, over := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer over()
	_, err = one.Ask(soon, "nobody", "known", "")
	require.ErrorIs(t, err, context.DeadlineExceeded)
	one.Close()
	_, err = one.Ask(ctx, "two", "known", "")
	require.ErrorIs(t, err, room.ErrLeft)
}

func TestBytesAreStreamed(t *testing.T) {
	s := livekittest.Start(t)
	packets := make(chan []byte, 16)
	two := with(t, s, "yard", "two", func(o *room.Options) { o.Rest = func(p []byte) { packets <- bytes.Clone(p) } })
	one := join(t, s, "yard", "one", hears)
	require.Equal(t, room.Event{Kind: room.Came, Identity: "one"}, next(t, two))
	stream, err := one.Stream("two", livekit.AudioTopic, "turn", map[string]string{"sample_rate": "24000"})
	require.NoError(t, err)
	content := bytes.Repeat([]byte("0123456789"), 4000)
	n, err := stream.Write(content)
	require.NoError(t, err)
	require.Equal(t, len(content), n)
	require.NoError(t, stream.Close())
	require.NoError(t, stream.Close(), "once")
	var got [][]byte
	for len(got) < 5 {
		select {
		case p := <-packets:
			got = append(got, p)
		case <-time.After(patience):
			require.FailNow(t, "packets are missing", "%d came", len(got))
		}
	}
	require.Contains(t, string(got[0]), livekit.AudioTopic)
	require.Contains(t, string(got[0]), "24000")
	for i, from := range []int{0, room.MaxPayload, 2 * room.MaxPayload} {
		require.Contains(t, string(got[i+1]), string(content[from:min(len(content), from+room.MaxPayload)]))
	}
}
