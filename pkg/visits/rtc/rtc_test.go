package rtc_test

import (
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/pion/ice/v4"
	"github.com/pion/interceptor"
	"github.com/pion/rtp"
	"github.com/pion/webrtc/v4"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"k8s.io/utils/clock"

	"visavis.dev/pkg/visits/rtc"
)

// within is how long a test waits for what must come.
const within = 15 * time.Second

func listen(t *testing.T, change func(*rtc.Options)) (*rtc.Server, *prometheus.Registry) {
	t.Helper()
	metrics := prometheus.NewRegistry()
	o := rtc.Options{Addr: "127.0.0.1:0", Clock: clock.RealClock{}, Metrics: metrics}
	if change != nil {
		change(&o)
	}
	s, err := rtc.Listen(o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s, metrics
}

// count is a counter of connections.
func count(t *testing.T, metrics *prometheus.Registry, outcome string) float64 {
	t.Helper()
	families, err := metrics.Gather()
	require.NoError(t, err)
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetName() == "visavis_webrtc_connections_total" && m.GetLabel()[0].GetValue() == outcome {
				return m.GetCounter().GetValue()
			}
		}
	}
	return 0
}

// ear is a handler that tells what comes.
type ear struct {
	opened   chan struct{}
	messages chan string
	sounds   chan []byte
	closed   chan error
}

func newEar() *ear {
	return &ear{make(chan struct{}, 1), make(chan string, 1000), make(chan []byte, 1000), make(chan error, 1)}
}

func (e *ear) Opened()             { e.opened <- struct{}{} }
func (e *ear) Message(data []byte) { e.messages <- string(data) }
func (e *ear) Sound(packet []byte) { e.sounds <- append([]byte(nil), packet...) }
func (e *ear) Closed(err error)    { e.closed <- err }

// browser is the other side.
type browser struct {
	*webrtc.PeerConnection
	channel *webrtc.DataChannel
	track   *webrtc.TrackLocalStaticRTP
	offer   string
	// sequence is that of the last packet.
	sequence uint16
	// stream is the number that packets are given; 0 for the one that was offered.
	stream uint32
	// reads is what it makes of an answer; nil for what it says.
	reads func(answer string) string
}

// NewInterceptor and BindLocalStream have packets go as what stream says.
func (b *browser) NewInterceptor(string) (interceptor.Interceptor, error) {
	return &renumbered{browser: b}, nil
}

type renumbered struct {
	interceptor.NoOp
	browser *browser
}

func (r *renumbered) BindLocalStream(_ *interceptor.StreamInfo, next interceptor.RTPWriter) interceptor.RTPWriter {
	return interceptor.RTPWriterFunc(func(h *rtp.Header, payload []byte, a interceptor.Attributes) (int, error) {
		if r.browser.stream != 0 {
			h.SSRC = r.browser.stream
		}
		return next.Write(h, payload, a)
	})
}

func open(t *testing.T) *browser { return openWith(t, 0) }

// openWith is a browser that gives Opus a payload type; 0 for Chromium's.
func openWith(t *testing.T, payload webrtc.PayloadType) *browser {
	t.Helper()
	b := &browser{}
	var media webrtc.MediaEngine
	if payload == 0 {
		require.NoError(t, media.RegisterDefaultCodecs())
	} else {
		require.NoError(t, media.RegisterCodec(webrtc.RTPCodecParameters{
			RTPCodecCapability: webrtc.RTPCodecCapability{MimeType: webrtc.MimeTypeOpus, ClockRate: 48000, Channels: 2}, PayloadType: payload,
		}, webrtc.RTPCodecTypeAudio))
	}
	var through interceptor.Registry
	through.Add(b)
	var set webrtc.SettingEngine
	set.SetIncludeLoopbackCandidate(true)
	set.SetICEMulticastDNSMode(ice.MulticastDNSModeDisabled)
	set.SetIPFilter(func(ip net.IP) bool { return ip.IsLoopback() })
	api := webrtc.NewAPI(webrtc.WithSettingEngine(set), webrtc.WithMediaEngine(&media), webrtc.WithInterceptorRegistry(&through))
	pc, err := api.NewPeerConnection(webrtc.Configuration{})
	require.NoError(t, err)
	t.Cleanup(func() { _ = pc.GracefulClose() }) // where the other end closed first, its channel is gone already
	b.PeerConnection = pc
	b.track, err = webrtc.NewTrackLocalStaticRTP(webrtc.RTPCodecCapability{MimeType: webrtc.MimeTypeOpus, ClockRate: 48000, Channels: 2}, "m", "u")
	require.NoError(t, err)
	_, err = pc.AddTransceiverFromTrack(b.track)
	require.NoError(t, err)
	b.channel, err = pc.CreateDataChannel(rtc.Label, nil)
	require.NoError(t, err)
	offer, err := pc.CreateOffer(nil)
	require.NoError(t, err)
	require.NoError(t, pc.SetLocalDescription(offer))
	b.offer = offer.SDP
	return b
}

// connects brings a browser in.
func connects(t *testing.T, s *rtc.Server) (*browser, *rtc.Conn, *ear) {
	t.Helper()
	return comes(t, s, open(t))
}

func comes(t *testing.T, s *rtc.Server, b *browser) (*browser, *rtc.Conn, *ear) {
	t.Helper()
	e := newEar()
	c, answer, err := s.Answer(b.offer, e)
	require.NoError(t, err)
	t.Cleanup(c.Close)
	if b.reads != nil {
		answer = b.reads(answer)
	}
	require.NoError(t, b.SetRemoteDescription(webrtc.SessionDescription{Type: webrtc.SDPTypeAnswer, SDP: answer}))
	await(t, e.opened)
	return b, c, e
}

func await[T any](t *testing.T, from <-chan T) (got T) {
	t.Helper()
	select {
	case got = <-from:
	case <-time.After(within):
		require.Fail(t, "nothing comes")
	}
	return got
}

// Sound and messages go both ways; the candidates of an offer are of no use.
func TestConnection(t *testing.T) {
	s, metrics := listen(t, nil)
	b, c, e := connects(t, s)
	require.NoError(t, b.channel.SendText("hello"))
	require.Equal(t, "hello", await(t, e.messages))
	heard, played := make(chan string, 1), make(chan *rtp.Packet, 10)
	b.channel.OnMessage(func(m webrtc.DataChannelMessage) { heard <- string(m.Data) })
	require.NoError(t, c.Send([]byte("welcome")))
	require.Equal(t, "welcome", await(t, heard))
	b.OnTrack(func(r *webrtc.TrackRemote, _ *webrtc.RTPReceiver) {
		for {
			p, _, err := r.ReadRTP()
			if err != nil {
				return
			}
			played <- p
		}
	})
	for i := range 3 {
		require.NoError(t, c.Play([]byte{0xf8, 0xff, 0xfe}, uint32(1000+960*i), i == 0))
	}
	first := await(t, played)
	require.Equal(t, uint32(1000), first.Timestamp)
	require.True(t, first.Marker)

	// What comes late is left out.
	for _, n := range []uint16{1, 2, 4, 3, 5} {
		require.NoError(t, b.track.WriteRTP(&rtp.Packet{Header: rtp.Header{Version: 2, SequenceNumber: n}, Payload: []byte{0xf8, byte(n)}}))
	}
	var got []byte
	for len(got) < 4 {
		got = append(got, await(t, e.sounds)[1])
	}
	require.Equal(t, []byte{1, 2, 4, 5}, got)
	require.Equal(t, 1.0, count(t, metrics, "opened"))
}

// A browser that gives Opus another payload type, as Firefox does, is heard and hears.
func TestOtherPayloadType(t *testing.T) {
	s, _ := listen(t, nil)
	firefox := openWith(t, 109)
	require.Contains(t, firefox.offer, "a=rtpmap:109 opus/48000/2")
	b, c, e := comes(t, s, firefox)
	require.NoError(t, b.track.WriteRTP(&rtp.Packet{Header: rtp.Header{Version: 2, SequenceNumber: 1}, Payload: []byte{0xf8, 7}}))
	require.Equal(t, []byte{0xf8, 7}, await(t, e.sounds))
	played := make(chan uint8, 10)
	b.OnTrack(func(r *webrtc.TrackRemote, _ *webrtc.RTPReceiver) {
		if p, _, err := r.ReadRTP(); err == nil {
			played <- p.PayloadType
		}
	})
	require.NoError(t, c.Play([]byte{0xf8, 0xff, 0xfe}, 960, true))
	require.Equal(t, uint8(109), await(t, played))
}

func TestOffersThatAreNone(t *testing.T) {
	s, metrics := listen(t, nil)
	good := open(t).offer
	video := strings.Replace(good, "m=audio", "m=video", 1)
	for name, offer := range map[string]string{
		"nothing":       "",
		"no SDP":        "hello",
		"a page":        "<html>",
		"too long":      good + strings.Repeat("a=x\r\n", 5000),
		"video":         video,
		"sound alone":   good[:strings.Index(good, "m=application")],
		"thrice":        good + good[strings.Index(good, "m=audio"):strings.Index(good, "m=application")],
		"no print":      dropped(good, "a=fingerprint"),
		"no ufrag":      dropped(good, "a=ice-ufrag"),
		"a strange key": strings.ReplaceAll(good, "a=fingerprint:sha-256 ", "a=fingerprint:"),
		"no codec":      strings.ReplaceAll(good, "opus/48000", "opus/1"),
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := s.Answer(offer, newEar())
			require.ErrorIs(t, err, rtc.ErrOffer)
		})
	}
	require.GreaterOrEqual(t, count(t, metrics, "refused"), 11.0)
}

// dropped is a description without the lines that begin so.
func dropped(sdp, with string) string {
	var kept []string
	for line := range strings.SplitSeq(sdp, "\r\n") {
		if !strings.HasPrefix(line, with) {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "\r\n")
}

// Nothing is sent to where an offer says that the browser is, however often it says so.
func TestCandidatesAreNotTried(t *testing.T) {
	s, _ := listen(t, nil)
	victim, err := net.ListenPacket("udp4", "127.0.0.1:0")
	require.NoError(t, err)
	defer victim.Close()
	b := open(t)
	_, port, _ := net.SplitHostPort(victim.LocalAddr().String())
	line := "a=candidate:1 1 udp 2130706431 127.0.0.1 " + port + " typ host\r\n"
	named := "a=candidate:2 1 udp 2130706431 inside.local " + port + " typ host\r\n"
	c, _, err := s.Answer(b.offer+strings.Repeat(line, 100)+named, newEar())
	require.NoError(t, err)
	defer c.Close()
	require.NoError(t, victim.SetReadDeadline(time.Now().Add(1500*time.Millisecond)))
	_, _, err = victim.ReadFrom(make([]byte, 1500))
	var late net.Error
	require.ErrorAs(t, err, &late)
	require.True(t, late.Timeout(), "it was sent something")
}

// What is announced is where the port is reached from outside.
func TestPublicAddresses(t *testing.T) {
	s, _ := listen(t, func(o *rtc.Options) {
		o.Public = []netip.AddrPort{netip.MustParseAddrPort("203.0.113.7:30478"), netip.AddrPortFrom(netip.MustParseAddr("2001:db8::7"), 0)}
	})
	c, answer, err := s.Answer(open(t).offer, newEar())
	require.NoError(t, err)
	defer c.Close()
	require.Equal(t, 2, strings.Count(answer, "a=candidate"))
	require.Contains(t, answer, " 203.0.113.7 30478 typ host")
	require.Contains(t, answer, " 2001:db8::7 "+portOf(s)+" typ host")
	require.NotContains(t, answer, "127.0.0.1 ")
}

func portOf(s *rtc.Server) string {
	_, port, _ := net.SplitHostPort(s.Addr().String())
	return port
}

// A flood of messages, of channels, of sound or of its streams costs the connection, and no more.
func TestFloods(t *testing.T) {
	for name, flood := range map[string]func(b *browser) error{
		"messages": func(b *browser) error { return b.channel.SendText("x") },
		"channels": func(b *browser) error { _, err := b.CreateDataChannel("more", nil); return err },
		"sound": func(b *browser) error {
			b.sequence++
			return b.track.WriteRTP(&rtp.Packet{Header: rtp.Header{Version: 2, SequenceNumber: b.sequence}, Payload: []byte{0xf8}})
		},
		"streams": func(b *browser) error {
			b.stream++
			return b.track.WriteRTP(&rtp.Packet{Header: rtp.Header{Version: 2, SequenceNumber: 1}, Payload: []byte{0xf8}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, metrics := listen(t, nil)
			b, _, e := connects(t, s)
			for range 3000 {
				if flood(b) != nil {
					break
				}
			}
			require.Error(t, await(t, e.closed))
			require.Equal(t, 1.0, count(t, metrics, "flood"))
			connects(t, s) // others still do
		})
	}
}

// A message that is larger than any costs the connection, whatever the browser was told.
func TestOversizedMessage(t *testing.T) {
	s, metrics := listen(t, nil)
	lies := open(t)
	lies.reads = func(answer string) string {
		require.Contains(t, answer, "a=max-message-size:65536")
		return strings.Replace(answer, "a=max-message-size:65536", "a=max-message-size:1048576", 1)
	}
	b, _, e := comes(t, s, lies)
	require.NoError(t, b.channel.SendText(strings.Repeat("x", 64<<10)))
	require.Len(t, await(t, e.messages), 64<<10)
	require.NoError(t, b.channel.SendText(strings.Repeat("x", 64<<10+1)))
	require.Error(t, await(t, e.closed))
	require.Empty(t, e.messages)
	require.Equal(t, 1.0, count(t, metrics, "flood"))
	connects(t, s)
}

// Garbage at the port, of every kind that has a first byte of its own, is nobody's.
func TestGarbage(t *testing.T) {
	s, _ := listen(t, nil)
	c, err := net.Dial("udp4", s.Addr().String())
	require.NoError(t, err)
	defer c.Close()
	stun := append([]byte{0, 1, 0, 8, 0x21, 0x12, 0xa4, 0x42}, make([]byte, 20)...)
	for _, packet := range [][]byte{{}, {0}, {22}, {128}, stun, stun[:9], []byte(strings.Repeat("\x16\xfe\xff", 400)), append(stun, 0, 6, 255, 255)} {
		for range 50 {
			_, _ = c.Write(packet)
		}
	}
	connects(t, s)
}

// Who offers and never comes is forgotten.
func TestNobodyComes(t *testing.T) {
	s, metrics := listen(t, nil)
	e := newEar()
	_, _, err := s.Answer(open(t).offer, e)
	require.NoError(t, err)
	require.ErrorIs(t, await(t, e.closed), rtc.ErrUnreachable)
	require.Equal(t, 1.0, count(t, metrics, "unreachable"))
}

func TestCredentials(t *testing.T) {
	r := rtc.Relays{URLs: []string{"stun:stun.example", "turn:turn.example:3478?transport=tcp"}, Secret: []byte("north")}
	got := r.For("sess_1", time.Unix(1_500_000_000, 0))
	require.Equal(t, rtc.ICEServer{URLs: []string{"stun:stun.example"}}, got[0])
	require.Equal(t, "1500003600:sess_1", got[1].Username)
	require.Len(t, got[1].Credential, 28)
	require.Equal(t, r.For("sess_1", time.Unix(1_500_000_000, 0)), got)
	require.NotEqual(t, got[1].Credential, r.For("sess_2", time.Unix(1_500_000_000, 0))[1].Credential)
	require.NoError(t, r.Check())
	require.NoError(t, rtc.Relays{URLs: r.URLs[:1]}.Check())
	require.ErrorContains(t, rtc.Relays{URLs: r.URLs}.Check(), "turn-secret")
	require.NoError(t, rtc.CheckURL("turns:turn.example:443"))
	require.Error(t, rtc.CheckURL("https://turn.example"))
}
