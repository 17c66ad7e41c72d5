package live_test

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"k8s.io/utils/clock"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/base/soundtrack"
	"visavis.dev/pkg/provider/transcription/transcriptiontest"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/speech/sound"
	"visavis.dev/pkg/visits/live"
	"visavis.dev/pkg/visits/live/livetest"
	"visavis.dev/pkg/visits/rtc"
)

// port is a UDP port for WebRTC.
func port(t *testing.T) *rtc.Server {
	t.Helper()
	s, err := rtc.Listen(rtc.Options{
		Addr: "127.0.0.1:0", Clock: clock.RealClock{}, Metrics: prometheus.NewRegistry(),
		Relays: rtc.Relays{URLs: []string{"turn:turn.example:3478"}, Secret: []byte("shared")},
	})
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// rtcPod starts a process with such a port.
func (s *stage) rtcPod() *pod {
	s.t.Helper()
	return s.podWith(live.Options{Secret: []byte("what the processes share"), RTC: port(s.t)})
}

// overRTC is a session that is spoken over WebRTC.
func overRTC(w *session.Session) { w.Channel, w.Transport = "voice", session.WebRTC }

// goes has a client go over to WebRTC, and say that it is ready.
func (c *client) goes() *livetest.Direct {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	d, err := c.Go(ctx)
	require.NoError(c.t, err)
	c.t.Cleanup(d.Part)
	c.send("client-ready", map[string]any{"audio": []string{"pcm"}})
	return d
}

// tracked is what a client knows of a turn on the track.
type tracked struct {
	turn   id.Turn
	stream int
	// rtp is where the turn begins, and ends how long it is.
	rtp   uint32
	ends  int64
	words int
	shows int
	whole bool
}

// follows notes what is told of a turn until fn accepts it.
func (c *client) follows(fn func(livetest.Message, *tracked) bool) *tracked {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	at := &tracked{}
	_, err := c.Until(ctx, func(m livetest.Message) bool {
		require.Empty(c.t, m.Sound, "no sound comes over the socket")
		var d struct {
			TurnID id.Turn
			Stream int
			T      int64
			RTP    uint32
			Last   bool
			Items  []any
		}
		_ = json.Unmarshal(m.Data, &d)
		switch m.Type {
		case "bot-audio":
			*at = tracked{turn: d.TurnID, stream: d.Stream}
		case "bot-track":
			require.Equal(c.t, at.stream, d.Stream)
			if d.Last {
				at.ends, at.whole = d.T, true
			} else if d.T == 0 {
				at.rtp = d.RTP
			}
		case "words":
			at.words += len(d.Items)
		case "visemes":
			at.shows += len(d.Items)
		}
		require.True(c.t, m.Direct || at.stream == 0, "%s comes over the channel", m.Type)
		return fn(m, at)
	})
	require.NoError(c.t, err)
	return at
}

func untilWhole(_ livetest.Message, at *tracked) bool { return at.whole && at.words > 0 }

// level is how loud the packets are that came, in decibels, and how many there are.
func level(t *testing.T, d *livetest.Direct) (loud float64, count int, paced time.Duration) {
	t.Helper()
	decoder, err := sound.NewOpusDecoder(16000)
	require.NoError(t, err)
	var sum float64
	var samples int
	var first, last uint32
	for {
		select {
		case p := <-d.Sounds():
			if count == 0 {
				first = p.Timestamp
			}
			last = p.Timestamp
			count++
			pcm, err := decoder.Decode(p.Payload)
			require.NoError(t, err)
			for _, s := range pcm {
				sum += float64(s) * float64(s)
			}
			samples += len(pcm)
		default:
			return 10 * math.Log10(sum/float64(max(samples, 1))/(1<<30)), count, time.Duration(last-first) * time.Second / soundtrack.Rate
		}
	}
}

func TestConversationOverWebRTC(t *testing.T) {
	t.Parallel()
	s := speaks(t)
	p := s.rtcPod()
	defer p.Stop()
	_, c := s.visitor(p, overRTC)
	d := c.goes()
	began := time.Now()
	greeting := c.follows(untilWhole)
	require.Positive(t, greeting.shows)
	require.InDelta(t, 600, greeting.ends, 400)
	require.Less(t, time.Since(began).Milliseconds(), greeting.ends+5000, "it comes in its time")

	c.send("user-text", map[string]string{"text": "When does the museum open?"})
	answer := c.follows(untilWhole)
	require.NotEqual(t, greeting.turn, answer.turn)
	require.GreaterOrEqual(t, int64(answer.rtp-greeting.rtp), greeting.ends*48, "on the same track, later")
	loud, count, lasts := level(t, d)
	require.Greater(t, loud, -30.0)
	require.InDelta(t, (greeting.ends+answer.ends)/20, count, 10, "a packet of 20 ms each, and no more")
	require.Greater(t, lasts, time.Duration(greeting.ends+answer.ends-100)*time.Millisecond)

	c.send("end", nil)
	reason, code := c.ended()
	require.Equal(t, session.EndedByUser, reason)
	require.Equal(t, 1000, code)
}

// Once a turn was interrupted no packet of it comes, and what was played of it is kept.
func TestInterruptedOverWebRTC(t *testing.T) {
	t.Parallel()
	s := speaks(t)
	p := s.rtcPod()
	defer p.Stop()
	minted, c := s.visitor(p, overRTC)
	d := c.goes()
	c.follows(untilWhole)
	c.send("user-text", map[string]string{"text": "When does the museum open?"})
	at := c.follows(func(m livetest.Message, at *tracked) bool { return m.Type == "bot-track" && at.stream > 1 })
	time.AfterFunc(900*time.Millisecond, func() {
		_ = c.Send(context.Background(), "playback", map[string]any{"turnId": at.turn, "playedMs": 800})
		_ = c.Send(context.Background(), "interrupt", nil)
	})
	var told struct{ SpokenText string }
	c.await("interrupted", &told)
	require.NotEmpty(t, told.SpokenText)
	require.Less(t, len(told.SpokenText), len("The museum opens at nine."))
	last := uint32(0)
	for settled := time.After(500 * time.Millisecond); settled != nil; {
		select {
		case packet := <-d.Sounds():
			last = packet.Timestamp
		case <-settled:
			settled = nil
		}
	}
	require.Less(t, int64(last-at.rtp)/48, int64(1500), "nothing of it comes any more")
	turns, err := session.Turns(context.Background(), s.tenants, s.org, minted.ID, 0, 10)
	require.NoError(t, err)
	require.Equal(t, told.SpokenText, turns[len(turns)-1].Heard())
}

// Where the network lets no UDP through any more, the conversation goes on over the socket,
// with every message once and in order, and with its sound.
func TestBrokenWebRTCFallsBack(t *testing.T) {
	t.Parallel()
	s := speaks(t)
	p := s.rtcPod()
	defer p.Stop()
	minted, c := s.visitor(p, overRTC)
	d := c.goes()
	var told struct{ Audio json.RawMessage }
	c.await("session-ready", &told)
	require.JSONEq(t, `{"format":"pcm","sampleRate":24000,"channels":1}`, string(told.Audio), "what the socket would have")
	c.follows(untilWhole)
	d.Break()
	c.send("user-text", map[string]string{"text": "When does the museum open?"}) // which is lost on the way
	select {
	case <-d.Closed():
	case <-time.After(20 * time.Second):
		require.Fail(t, "nobody notices")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	said, heard, whole := 0, false, false
	_, err := c.Until(ctx, func(m livetest.Message) bool {
		require.False(t, m.Direct)
		require.NotEqual(t, "session-ready", m.Type, "nothing begins anew")
		if m.Type == "user-transcription" {
			said++
		}
		heard = heard || len(m.Sound) > 8 && binary.BigEndian.Uint16(m.Sound[2:]) > 0
		whole = whole || m.Type == "bot-text" && strings.Contains(string(m.Data), `"final":true`)
		return whole && heard
	})
	require.NoError(t, err)
	require.Equal(t, 1, said, "what was said is heard once")
	require.Contains(t, s.turns(minted.ID), "user: When does the museum open?")
}

// Another process than the one that holds the session brings the socket there, and the media
// goes straight to that. Where it dies, the client goes on elsewhere.
func TestWebRTCThroughAnotherProcess(t *testing.T) {
	t.Parallel()
	s := speaks(t)
	holder, other := s.rtcPod(), s.rtcPod()
	defer other.Stop()
	minted, first := s.visitor(holder, overRTC)
	first.Drop()
	c := s.connect(other, minted.ID, first.resume)
	d := c.goes()
	require.Contains(t, d.Answer, " "+portOf(holder.RTC.Addr().String())+" typ host")
	c.follows(untilWhole)

	holder.Stop()
	require.Equal(t, 1012, c.closed())
	again := s.connect(other, minted.ID, c.resume)
	require.Contains(t, again.said, "Welcome.")
	d = again.goes()
	require.Contains(t, d.Answer, " "+portOf(other.RTC.Addr().String())+" typ host")
	again.send("user-text", map[string]string{"text": "When does the museum open?"})
	again.follows(untilWhole)
	loud, _, _ := level(t, d)
	require.Greater(t, loud, -30.0)
}

func portOf(addr string) string { return addr[strings.LastIndex(addr, ":")+1:] }

// What a client says of its connection is a stranger's word.
func TestClientsThatLieOfWebRTC(t *testing.T) {
	t.Parallel()
	s := speaks(t)
	p := s.rtcPod()
	defer p.Stop()
	for name, c := range map[string]struct {
		kind string
		data map[string]any
		want string
	}{
		"an offer that is none": {"rtc-offer", map[string]any{"sdp": "v=0"}, "rtc-closed"},
		"a number for an offer": {"rtc-offer", map[string]any{"sdp": 7}, "error"},
		"open before it is":     {"rtc-open", nil, "pong"},
		"more than was sent":    {"rtc-closed", map[string]any{"received": 1 << 40}, "pong"},
		"less than nothing":     {"rtc-closed", map[string]any{"received": -1}, "pong"},
	} {
		t.Run(name, func(t *testing.T) {
			_, client := s.visitor(p, overRTC)
			client.send(c.kind, c.data)
			client.send("ping", nil)
			client.await(c.want, nil)
			client.goes().Part() // it can still be had
			client.send("end", nil)
			client.ended()
		})
	}
}

// An open connection whose client claims to have got what it was not sent is begun anew.
func TestClientThatLiesAtTheEndOfWebRTC(t *testing.T) {
	t.Parallel()
	s := speaks(t)
	p := s.rtcPod()
	defer p.Stop()
	_, c := s.visitor(p, overRTC)
	c.goes()
	c.follows(untilWhole)
	c.send("rtc-closed", map[string]any{"received": 1 << 40})
	require.Equal(t, 1012, c.closed())
}

// Connections are offered one after the other, and not too many.
func TestManyOffers(t *testing.T) {
	t.Parallel()
	s := speaks(t)
	p := s.rtcPod()
	defer p.Stop()
	minted, token := s.mint(overRTC)
	c := s.connect(p, minted.ID, string(token))
	for range 20 {
		c.send("rtc-offer", map[string]any{"sdp": "v=0"})
	}
	var d struct{ Code string }
	c.await("error", &d)
	require.Equal(t, "rtc_failed", d.Code)

	// A client that is waiting for an answer learns that there is none.
	minted, token = s.mint(overRTC)
	c = s.connect(p, minted.ID, string(token))
	unanswered, offer, err := c.Offer()
	require.NoError(t, err)
	defer unanswered.Part()
	c.send("rtc-offer", map[string]any{"sdp": offer})
	c.send("rtc-offer", map[string]any{"sdp": offer})
	c.await("rtc-answer", nil)
	c.await("error", &d)
	require.Equal(t, "rtc_failed", d.Code)
	for range 2 { // the first ends the connection, and the second is of the other offer
		c.send("rtc-closed", map[string]any{"received": 0})
		c.await("rtc-closed", nil)
	}
	c.ask()
}

// What is said into the track is understood.
func TestHeardOverWebRTC(t *testing.T) {
	t.Parallel()
	service := transcriptiontest.Serve(t)
	s := newStage(t, 600)
	s.recognition = byRecordings(service)
	p := s.rtcPod()
	defer p.Stop()
	_, c := s.visitor(p, overRTC)
	d := c.goes()
	service.Next(transcriptiontest.Answer{Text: question})
	encoder, err := sound.NewOpus(16000)
	require.NoError(t, err)
	samples := asked(t)
	for n := 0; n+320 <= len(samples); n += 320 {
		packet, err := encoder.Encode(samples[n : n+320])
		require.NoError(t, err)
		require.NoError(t, d.Speak(packet, uint32(n*3)))
	}
	require.Equal(t, question, c.final())
	c.hear("The museum opens at nine.")
}

// A session that is for another transport, and a process without a port, have none.
func TestNoWebRTC(t *testing.T) {
	t.Parallel()
	s := speaks(t)
	three := int64(3)
	s.terms.Limits = plan.Limits{plan.MaxConcurrentSessions: &three}
	p := s.rtcPod()
	defer p.Stop()
	minted, token := s.mint(aloud)
	c := s.connect(p, minted.ID, string(token))
	require.Equal(t, "null", string(c.rtc))
	c.send("rtc-offer", map[string]any{"sdp": "v=0"})
	var d struct{ Code string }
	c.await("error", &d)
	require.Equal(t, "unknown_type", d.Code)

	without := s.pod()
	defer without.Stop()
	minted, token = s.mint(overRTC)
	require.Equal(t, "null", string(s.connect(without, minted.ID, string(token)).rtc))
	minted, token = s.mint(func(w *session.Session) { w.Transport = session.WebRTC })
	require.Equal(t, "null", string(s.connect(p, minted.ID, string(token)).rtc), "a chat")
}

// A team member reads and speaks while the client's conversation goes over WebRTC.
func TestStaffBesideWebRTC(t *testing.T) {
	t.Parallel()
	s := speaks(t)
	p := s.rtcPod()
	defer p.Stop()
	minted, c := s.visitor(p, overRTC)
	require.Contains(t, string(c.rtc), `"credential":`)
	c.goes()
	c.follows(untilWhole)
	kim, err := s.dial(p, minted.ID, s.invite(minted.ID, "speak"))
	require.NoError(t, err)
	defer kim.Drop()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	_, err = kim.UntilType(ctx, "session-ready")
	require.NoError(t, err)
	require.NoError(t, kim.Say(ctx, "I am here."))
	m, err := c.UntilType(ctx, "staff-text")
	require.NoError(t, err)
	require.True(t, m.Direct)
	c.send("user-text", map[string]string{"text": "When does the museum open?"})
	_, err = kim.Until(ctx, func(m livetest.Message) bool {
		return m.Type == "user-transcription" && strings.Contains(string(m.Data), "museum")
	})
	require.NoError(t, err)
}
