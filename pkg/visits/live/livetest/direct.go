package livetest

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pion/ice/v4"
	"github.com/pion/rtp"
	"github.com/pion/webrtc/v4"
)

// Direct is a client's WebRTC connection: while it is open, what the client sends and receives
// goes over it, and the client's Messages are in order whichever way they came.
type Direct struct {
	// Answer is the server's answer to the offer.
	Answer string

	client *Client
	wire   *wire
	pc     *webrtc.PeerConnection
	data   *webrtc.DataChannel
	mine   *webrtc.TrackLocalStaticRTP
	opened chan struct{}
	closed chan struct{}
	answer chan string
	sounds chan *rtp.Packet

	mu sync.Mutex
	// marked says that all came that was sent over the socket before, early what came over the
	// channel until then, and over that nothing does any more.
	marked, over bool
	early        []Message
	received     int
	sent         [][]byte
	sequence     uint16
}

// wire is the client's network, which may break.
type wire struct {
	*net.UDPConn
	broken atomic.Bool
}

func (w *wire) WriteTo(b []byte, to net.Addr) (int, error) {
	if w.broken.Load() {
		return len(b), nil
	}
	return w.UDPConn.WriteTo(b, to)
}

func (w *wire) ReadFrom(b []byte) (int, net.Addr, error) {
	for {
		n, from, err := w.UDPConn.ReadFrom(b)
		if err != nil || !w.broken.Load() {
			return n, from, err
		}
	}
}

// API makes connections whose packets go over this wire alone.
func (w *wire) api() *webrtc.API {
	var set webrtc.SettingEngine
	set.SetICEUDPMux(ice.NewUDPMuxDefault(ice.UDPMuxParams{UDPConn: struct{ net.PacketConn }{w}}))
	set.SetIncludeLoopbackCandidate(true)
	set.SetICEMulticastDNSMode(ice.MulticastDNSModeDisabled)
	set.SetNetworkTypes([]webrtc.NetworkType{webrtc.NetworkTypeUDP4})
	set.SetICETimeouts(2*time.Second, time.Second, 500*time.Millisecond)
	return webrtc.NewAPI(webrtc.WithSettingEngine(set))
}

// Offer makes an offer, as a browser does, of a connection over a wire of its own. It is
// answered with Accept.
func (c *Client) Offer() (d *Direct, offer string, err error) {
	udp, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return nil, "", err
	}
	d = &Direct{
		client: c, wire: &wire{UDPConn: udp}, opened: make(chan struct{}), closed: make(chan struct{}), answer: make(chan string, 1),
		sounds: make(chan *rtp.Packet, 4096),
	}
	if d.pc, err = d.wire.api().NewPeerConnection(webrtc.Configuration{}); err != nil {
		return nil, "", err
	}
	opus := webrtc.RTPCodecCapability{MimeType: webrtc.MimeTypeOpus, ClockRate: 48000, Channels: 2}
	if d.mine, err = webrtc.NewTrackLocalStaticRTP(opus, "microphone", "user"); err != nil {
		return nil, "", err
	}
	if _, err = d.pc.AddTransceiverFromTrack(d.mine); err != nil {
		return nil, "", err
	}
	if d.data, err = d.pc.CreateDataChannel("visavis", nil); err != nil {
		return nil, "", err
	}
	d.data.OnOpen(d.open)
	d.data.OnMessage(d.take)
	d.pc.OnTrack(func(t *webrtc.TrackRemote, _ *webrtc.RTPReceiver) {
		for {
			p, _, err := t.ReadRTP()
			if err != nil {
				return
			}
			d.sounds <- p
		}
	})
	description, err := d.pc.CreateOffer(nil)
	if err == nil {
		err = d.pc.SetLocalDescription(description)
	}
	return d, description.SDP, err
}

// Accept takes the server's answer.
func (d *Direct) Accept(answer string) error {
	d.Answer = answer
	return d.pc.SetRemoteDescription(webrtc.SessionDescription{Type: webrtc.SDPTypeAnswer, SDP: answer})
}

// Go opens a WebRTC connection, over which the conversation goes from then on.
func (c *Client) Go(ctx context.Context) (*Direct, error) {
	d, offer, err := c.Offer()
	if err != nil {
		return nil, err
	}
	c.direct.Store(d)
	if err := c.Send(ctx, "rtc-offer", map[string]string{"sdp": offer}); err != nil {
		return nil, err
	}
	select {
	case answer := <-d.answer:
		if err := d.Accept(answer); err != nil {
			return nil, err
		}
	case <-d.closed:
		return nil, ErrRefused
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	select {
	case <-d.opened:
		return d, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// ErrRefused says that the server did not take an offer.
var ErrRefused = errors.New("the offer was refused")

// open goes over to the channel.
func (d *Direct) open() {
	if d.client.Send(context.Background(), "rtc-open", nil) == nil {
		close(d.opened)
	}
}

// isOpen says whether messages go over the channel.
func (d *Direct) isOpen() bool {
	select {
	case <-d.opened:
		d.mu.Lock()
		defer d.mu.Unlock()
		return !d.over
	default:
		return false
	}
}

func (d *Direct) send(text []byte) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.sent = append(d.sent, text)
	return d.data.SendText(string(text))
}

// take takes a message of the channel.
func (d *Direct) take(m webrtc.DataChannelMessage) {
	d.mu.Lock()
	defer d.mu.Unlock()
	got := Message{At: time.Now(), Direct: true}
	if d.over || json.Unmarshal(m.Data, &got) != nil {
		return
	}
	d.received++
	if d.marked {
		d.client.in <- got
	} else {
		d.early = append(d.early, got)
	}
}

// signal takes a message of the socket that is about the connection; false for others.
func (d *Direct) signal(m Message) bool {
	var data struct {
		SDP      string
		Received int
	}
	switch _ = json.Unmarshal(m.Data, &data); m.Type {
	case "rtc-answer":
		d.answer <- data.SDP
	case "rtc-open":
		d.mu.Lock()
		defer d.mu.Unlock()
		d.marked = true
		for _, early := range d.early {
			d.client.in <- early
		}
	case "rtc-closed":
		d.Part()
		for _, text := range d.sent[min(data.Received, len(d.sent)):] {
			_ = d.client.line.write(context.Background(), text)
		}
		close(d.closed)
	default:
		return false
	}
	return true
}

// Part ends the connection, so that the conversation goes on over the socket.
func (d *Direct) Part() {
	d.mu.Lock()
	over := d.over
	d.over = true
	d.mu.Unlock()
	if over {
		return
	}
	_ = d.client.Send(context.Background(), "rtc-closed", map[string]int{"received": d.received})
	go func() { _ = d.pc.Close(); _ = d.wire.Close() }()
}

// Break cuts the wire: nothing more comes or goes, and nobody is told.
func (d *Direct) Break() { d.wire.broken.Store(true) }

// Closed is closed once the server said that the connection has ended.
func (d *Direct) Closed() <-chan struct{} { return d.closed }

// Sounds are the packets of the avatar's sound.
func (d *Direct) Sounds() <-chan *rtp.Packet { return d.sounds }

// Speak sends a packet of the user's sound.
func (d *Direct) Speak(opus []byte, timestamp uint32) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.sequence++
	return d.mine.WriteRTP(&rtp.Packet{Header: rtp.Header{Version: 2, SequenceNumber: d.sequence, Timestamp: timestamp}, Payload: opus})
}
