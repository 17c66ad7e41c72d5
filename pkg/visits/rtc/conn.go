package rtc

import (
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pion/webrtc/v4"
	"golang.org/x/time/rate"

	"visavis.dev/pkg/base/soundtrack"
)

// Label is that of the data channel, which the browser opens.
const Label = "visavis"

// Bounds of what a browser sends. A flood costs it the connection.
const (
	// maxMessage bounds a message, in bytes.
	maxMessage = 64 << 10
	// A person types, and a client says four times a second what it plays.
	messagesPerSecond, messagesAtOnce = 50, 500
	// maxChannels bounds the data channels; it needs one.
	maxChannels = 2
	// maxAddresses bounds the addresses from which checks are answered: a browser's
	// interfaces, and what its network makes of them.
	maxAddresses = 32
	// maxUnsent bounds what a browser has not taken of the messages, in bytes.
	maxUnsent = 1 << 20
)

// Handler is told what comes over a connection. Sound is called by one goroutine, and the
// others by another one, one at a time; Closed is the last of them.
type Handler interface {
	// Opened says that messages can be sent, and sound played.
	Opened()
	Message(data []byte)
	// Sound is a packet of Opus, in order; some may be missing.
	Sound(packet []byte)
	// Closed says that the connection ended otherwise than by Close.
	Closed(err error)
}

// Errors of a connection.
var (
	// ErrOffer says that an offer is none that can be answered.
	ErrOffer = errors.New("the offer cannot be answered")
	// ErrUnreachable says that a connection was not open in time.
	ErrUnreachable = errors.New("the browser was not reached in time")
	// ErrBroken says that a connection was lost after it had been open.
	ErrBroken = errors.New("the connection was lost")
)

// Conn is a connection with one browser. It is safe for concurrent use.
type Conn struct {
	server  *Server
	handler Handler
	pc      *webrtc.PeerConnection
	track   *soundtrack.Sender

	channel  atomic.Pointer[webrtc.DataChannel]
	channels atomic.Int32

	messages, packets *rate.Limiter
	// one is held while the handler is called, but for sound.
	one    sync.Mutex
	opened bool
	closed atomic.Bool
	// hears says that a stream of sound is taken.
	hears atomic.Bool
	late  *time.Timer
	// added says that the server knows it.
	added bool
}

// Answer answers a browser's offer. The answer names every candidate that there is; the
// browser need send none. The error is ErrOffer where the offer is at fault.
func (s *Server) Answer(offer string, h Handler) (*Conn, string, error) {
	c := &Conn{
		server: s, handler: h,
		messages: rate.NewLimiter(messagesPerSecond, messagesAtOnce), packets: soundtrack.Limit(),
	}
	answer, err := c.begin(offer)
	if err != nil {
		s.attempts.WithLabelValues(outcomeRefused).Inc()
		switch {
		case c.added:
			c.Close()
		case c.pc != nil:
			_ = c.pc.Close()
		}
		return nil, "", err
	}
	return c, answer, nil
}

// begin makes the connection that an offer is of, and its answer.
func (c *Conn) begin(offer string) (answer string, err error) {
	defer func() {
		if failure := recover(); failure != nil { // the offer is a stranger's
			err = fmt.Errorf("%w: %v", ErrOffer, failure)
		}
	}()
	checked, err := checkOffer(offer)
	if err != nil {
		return "", err
	}
	if err := c.make(); err != nil {
		return "", err
	}
	c.one.Lock()
	c.late = time.AfterFunc(connectWithin, func() { c.lose(ErrUnreachable) })
	c.one.Unlock()
	if c.added = c.server.add(c); !c.added {
		c.late.Stop()
		return "", ErrBroken
	}
	answer, err = c.answer(checked)
	if c.closed.Load() { // with the server, meanwhile
		return "", ErrBroken
	}
	return answer, err
}

// make makes the connection, before anything is known of the browser.
func (c *Conn) make() error {
	var seen atomic.Int32
	many := soundtrack.Streams{Flooded: func() { c.lose(soundtrack.ErrFlood) }}
	api, err := c.server.newAPI(func(net.IP) bool { return seen.Add(1) <= maxAddresses }, many.Buffer)
	if err != nil {
		return err
	}
	if c.pc, err = api.NewPeerConnection(webrtc.Configuration{}); err != nil {
		return err
	}
	if c.track, err = soundtrack.NewSender("sound", "avatar"); err != nil {
		return err
	}
	if _, err := c.pc.AddTransceiverFromTrack(c.track.TrackLocalStaticRTP, webrtc.RTPTransceiverInit{Direction: webrtc.RTPTransceiverDirectionSendrecv}); err != nil {
		return err
	}
	c.pc.OnDataChannel(c.offered)
	c.pc.OnTrack(func(t *webrtc.TrackRemote, _ *webrtc.RTPReceiver) { c.hear(t) })
	c.pc.OnConnectionStateChange(func(now webrtc.PeerConnectionState) {
		if now == webrtc.PeerConnectionStateFailed || now == webrtc.PeerConnectionStateClosed {
			c.lose(ErrBroken)
		}
	})
	return nil
}

func (c *Conn) answer(offer string) (string, error) {
	if err := c.pc.SetRemoteDescription(webrtc.SessionDescription{Type: webrtc.SDPTypeOffer, SDP: offer}); err != nil {
		return "", fmt.Errorf("%w: %w", ErrOffer, err)
	}
	answer, err := c.pc.CreateAnswer(nil)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrOffer, err)
	}
	gathered := webrtc.GatheringCompletePromise(c.pc)
	if err := c.pc.SetLocalDescription(answer); err != nil {
		return "", fmt.Errorf("%w: %w", ErrOffer, err)
	}
	<-gathered // which asks nobody
	return c.server.announce(c.pc.LocalDescription().SDP)
}

// offered takes a data channel that the browser opens. Each costs some memory, so that
// there may not be many.
func (c *Conn) offered(d *webrtc.DataChannel) {
	switch {
	case c.channels.Add(1) > maxChannels:
		c.lose(soundtrack.ErrFlood)
		return
	case d.Label() != Label || !d.Ordered() || d.MaxRetransmits() != nil || d.MaxPacketLifeTime() != nil:
		return
	}
	if !c.channel.CompareAndSwap(nil, d) {
		return
	}
	d.OnOpen(c.open)
	d.OnMessage(c.message)
	d.OnClose(func() { c.lose(ErrBroken) })
}

func (c *Conn) open() {
	c.one.Lock()
	defer c.one.Unlock()
	if c.closed.Load() || c.opened {
		return
	}
	c.opened = true
	c.late.Stop()
	c.server.open.Inc()
	c.server.attempts.WithLabelValues(outcomeOpened).Inc()
	c.handler.Opened()
}

func (c *Conn) message(m webrtc.DataChannelMessage) {
	if !c.messages.Allow() || len(m.Data) > maxMessage { // which not every browser minds
		c.lose(soundtrack.ErrFlood)
		return
	}
	c.open() // which may not have been said yet
	c.one.Lock()
	defer c.one.Unlock()
	if !c.closed.Load() && m.IsString {
		c.handler.Message(m.Data)
	}
}

// hear takes the user's sound until it ends: of the first stream there is.
func (c *Conn) hear(t *webrtc.TrackRemote) {
	if c.hears.Swap(true) {
		return
	}
	if err := soundtrack.Receive(t, c.packets, func(packet []byte) bool {
		if c.closed.Load() {
			return false
		}
		c.handler.Sound(packet)
		return true
	}); err != nil {
		c.lose(err)
	}
}

// Send sends a message after those before it. It does not wait.
func (c *Conn) Send(data []byte) error {
	d := c.channel.Load()
	if d == nil || c.closed.Load() {
		return ErrBroken
	}
	if d.BufferedAmount() > maxUnsent {
		return ErrBroken
	}
	return d.SendText(string(data))
}

// Play sends a packet of Opus (soundtrack.Sender).
func (c *Conn) Play(packet []byte, timestamp uint32, begins bool) error {
	return c.track.Play(packet, timestamp, begins)
}

// lose ends a connection that cannot go on, and tells its handler. It may be called by what is
// being closed, and so does not wait.
func (c *Conn) lose(why error) {
	if c.closed.Swap(true) {
		return
	}
	go func() {
		c.tell(why)
		c.release()
	}()
}

func (c *Conn) tell(why error) {
	c.one.Lock()
	defer c.one.Unlock()
	if !c.opened && errors.Is(why, ErrBroken) {
		why = ErrUnreachable
	}
	c.count(why)
	c.handler.Closed(why)
}

func (c *Conn) count(why error) {
	outcome := outcomeBroken
	switch {
	case errors.Is(why, soundtrack.ErrFlood):
		outcome = outcomeFlood
	case !c.opened:
		outcome = outcomeUnreachable
	}
	c.server.attempts.WithLabelValues(outcome).Inc()
}

// Close ends a connection. Its handler is not told.
func (c *Conn) Close() {
	if !c.closed.Swap(true) {
		go c.release()
	}
}

// release gives back what a connection held, which may take a moment.
func (c *Conn) release() {
	defer c.server.drop(c)
	_ = c.pc.Close()
	c.one.Lock()
	defer c.one.Unlock()
	c.late.Stop()
	if c.opened {
		c.server.open.Dec()
	}
}
