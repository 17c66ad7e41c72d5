package room

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"
	"github.com/pion/webrtc/v4"
	"golang.org/x/time/rate"

	"visavis.dev/pkg/base/egress"
	"visavis.dev/pkg/base/soundtrack"
	"visavis.dev/pkg/provider/upstream"
)

// Options say which room to join, and how.
type Options struct {
	// Guard makes the requests, and decides which addresses may be reached.
	Guard *egress.Guard
	// URL is where clients reach the server: wss://…
	URL string
	// Token lets into one room. It grants to publish data, to publish tracks where there are some, and to subscribe
	// where somebody is heard.
	Token string
	// Topic is that of the packets to hear and to send.
	Topic string
	// Tracks are published, by their ids.
	Tracks []webrtc.TrackLocal
	// Hears says whose microphone is heard; nil for nobody's. Sound is given the packets of Opus, in order; some may be
	// missing. It is called by a goroutine for each, and must not wait.
	Hears func(identity string) bool
	Sound func(identity string, packet []byte)
	// Answers says who may call which methods; what they call is an event of kind Asked, and answered with ok. nil is
	// for no methods.
	Answers func(identity, method string) bool
	// Rest is given the packets that are none of these, as they came; nil passes them by.
	Rest func(packet []byte)
}

// Event is something that happened in the room.
type Event struct {
	Kind Kind
	// Identity is who it is about.
	Identity string
	// Payload is what they said, or called a method with.
	Payload []byte
	// Method is what they called.
	Method string
}

// Kind is what an event is.
type Kind int

// The kinds. Somebody came who was not there, or is there anew without having been seen
// to leave: what was said to them before is lost. Shows is that somebody publishes a picture, Hides
// that they do not any more.
const (
	Came Kind = iota + 1
	Left
	Said
	Asked
	Shows
	Hides
)

// Bounds of what a server sends. A flood costs it the room.
const (
	maxSignal = 256 << 10
	// A room has a few participants, each of whom changes a few times.
	signalsPerSecond, signalsAtOnce = 50, 500
	// A person types, and a client says what it does.
	packetsPerSecond, packetsAtOnce = 200, 1000
	// Somebody's connection may break again and again, but not that often.
	arrivalsPerSecond, arrivalsAtOnce = 0.5, 30
	// maxChannels bounds the channels that a server opens; it needs three.
	maxChannels = 8
	// maxPresent bounds the participants that are followed, and maxTracks the tracks of each.
	maxPresent = 64
	maxTracks  = 16
	// maxStreams bounds the streams of sound of one connection: a visitor who comes back has another one.
	maxStreams = 64
	// waiting bounds the events that nobody has taken; the server waits then.
	waiting = 64
)

const (
	// pingEvery is how often a silent server is asked whether it is there, and
	// pingWithin how long it may take to say so.
	pingEvery  = 15 * time.Second
	pingWithin = 10 * time.Second
	// writeWithin is how long a server may take for one signal.
	writeWithin = 10 * time.Second
	// leaveWithin is how long a server may take to hear that this side leaves.
	leaveWithin = time.Second
	// MaxPayload is the largest payload that gets everywhere in one packet, in bytes.
	MaxPayload = 15 << 10
	// maxSent is the largest that can be sent at all.
	maxSent = 60 << 10
	// maxUnsent bounds the bytes that a server has not taken.
	maxUnsent = 1 << 20
)

// What becomes of a message.
var (
	// ErrTooLarge says that a payload does not fit a packet.
	ErrTooLarge = errors.New("the message is too large for a packet")
	// ErrLeft says that the room was left, or lost.
	ErrLeft = errors.New("the room was left")
	// errStalled says that the server takes nothing any more.
	errStalled = errors.New("the server takes nothing")
	// errClosed says that the server closed the connection for data.
	errClosed = errors.New("the server closed the connection")
	errFlood  = errors.New("the server sends too much")
	// errLeave says that the server ended it.
	errLeave = errors.New("the server ended the stay")
)

// Room is a room that was joined. It is safe for concurrent use.
type Room struct {
	topic  string
	socket *websocket.Conn
	guard  *egress.Guard
	// out is the connection that this side offered, with the channel data; in is the one
	// that the server offered, nil where it has none to offer.
	out, in *link
	data    *webrtc.DataChannel
	events  chan Event
	tracks  []webrtc.TrackLocal
	hears   func(string) bool
	sound   func(string, []byte)
	answers func(identity, method string) bool
	rest    func([]byte)

	signals, packets, arrivals *rate.Limiter
	// self is this side's identity.
	self string

	// asked are the calls that are not answered.
	calls sync.Mutex
	asked map[string]pending

	// present are the other participants that are there, and ears what is heard of them. What happens is told with the lock
	// held: who takes events does not take it.
	mu      sync.Mutex
	present map[string]*presence
	ears    *ears
	ctx     context.Context
	cancel  context.CancelCauseFunc
	group   sync.WaitGroup
	// opening counts the channels that are to be open before anything is said, and opened
	// is closed when they are.
	opening atomic.Int32
	opened  chan struct{}
	closed  sync.Once
	// channels counts those that the server opened.
	channels atomic.Int32
	// leaves says that the server was told that this side leaves.
	leaves atomic.Bool
}

// presence is somebody who is there.
type presence struct {
	// sid is that of their stay, and hears that of the track of theirs that is heard; empty for none.
	sid, hears string
	shows      bool
}

// Join joins a room, at the latest when the context ends; the room is left with Close.
// The error is an upstream.Error, or context.Canceled.
func Join(ctx context.Context, o Options) (*Room, error) {
	socket, err := dial(ctx, o)
	if err != nil {
		return nil, err
	}
	r := &Room{
		topic: o.Topic, socket: socket, guard: o.Guard, events: make(chan Event, waiting), present: map[string]*presence{},
		ears: newEars(), asked: map[string]pending{}, tracks: o.Tracks, hears: o.Hears, sound: o.Sound, answers: o.Answers, rest: o.Rest,
		signals: rate.NewLimiter(signalsPerSecond, signalsAtOnce), packets: rate.NewLimiter(packetsPerSecond, packetsAtOnce),
		arrivals: rate.NewLimiter(arrivalsPerSecond, arrivalsAtOnce),
		opened:   make(chan struct{}),
	}
	r.opening.Store(1)
	r.ctx, r.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	if err := r.begin(ctx); err != nil {
		r.Close()
		return nil, failure(ctx, err)
	}
	return r, nil
}

// begin hears that this side has joined, connects and waits until data can be sent.
func (r *Room) begin(ctx context.Context) error {
	first, err := r.read(ctx)
	switch {
	case err != nil:
		return err
	case first.join == nil:
		return errMalformed
	}
	r.self = first.join.self.identity
	offer, err := r.connect(first.join.secondary)
	if err != nil {
		return err
	}
	for _, track := range r.tracks { // before the offer that has them
		if err := r.write(ctx, publishing(track)); err != nil {
			return err
		}
	}
	if err := r.write(ctx, description(1, offer)); err != nil {
		return err
	}
	r.group.Go(func() { r.lose(r.listen(first.join.others)) })
	r.group.Go(r.ping)
	select {
	case <-r.opened:
		return nil
	case <-r.ctx.Done():
		return context.Cause(r.ctx)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Events are what happens in the room. Nothing is heard of it while nobody takes them.
func (r *Room) Events() <-chan Event { return r.events }

// Done is closed when the room is lost, or left.
func (r *Room) Done() <-chan struct{} { return r.ctx.Done() }

// Err is why the room is lost: an upstream.Error, or ErrLeft; nil while it is not.
func (r *Room) Err() error {
	if err := context.Cause(r.ctx); err != nil {
		return failure(context.Background(), err)
	}
	return nil
}

// lose ends the stay, for the first reason that it is given. A server that is told that it
// ends may close the connection before anybody else does.
func (r *Room) lose(why error) {
	if r.leaves.Load() {
		why = ErrLeft
	}
	r.cancel(why)
}

// open notes that a channel is open.
func (r *Room) open() {
	if r.opening.Add(-1) == 0 {
		close(r.opened)
	}
}

// Send sends a payload to one participant, in order with the others. It does not wait.
// A server that does not take what it is sent loses the room. The error is ErrTooLarge or
// ErrLeft.
func (r *Room) Send(to string, payload []byte) error {
	if len(payload) > maxSent {
		return ErrTooLarge
	}
	return r.send(packetTo(to, r.topic, payload))
}

// send sends a packet. The error is ErrLeft.
func (r *Room) send(packet []byte) error {
	err := r.ctx.Err()
	if err == nil && r.data.BufferedAmount() > maxUnsent {
		err = errStalled
	}
	if err == nil {
		err = r.data.Send(packet)
	}
	if err != nil {
		r.lose(err)
		return ErrLeft
	}
	return nil
}

// Flush waits until the server has taken what was sent, or the context ends.
func (r *Room) Flush(ctx context.Context) {
	const look = 5 * time.Millisecond
	for r.ctx.Err() == nil && r.data.BufferedAmount() > 0 {
		select {
		case <-time.After(look):
		case <-ctx.Done():
			return
		}
	}
}

// Close leaves the room and waits until nothing of it runs any more.
func (r *Room) Close() {
	r.closed.Do(func() {
		ctx, cancel := context.WithTimeout(r.ctx, leaveWithin)
		defer cancel()
		r.leaves.Store(true)
		_ = r.write(ctx, leaving())
		r.lose(ErrLeft)
		_ = r.socket.CloseNow()
		for _, l := range []*link{r.out, r.in} {
			if l != nil {
				_ = l.GracefulClose()
			}
		}
		r.group.Wait()
	})
}

// failure says what became of the server, as upstream.Error.
func failure(ctx context.Context, err error) error {
	switch {
	case errors.Is(err, ErrLeft):
		return ErrLeft
	case errors.Is(ctx.Err(), context.Canceled):
		return context.Canceled
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, errStalled):
		return &upstream.Error{Code: upstream.Timeout, Err: err}
	case errors.Is(err, errMalformed), errors.Is(err, errFlood), errors.Is(err, soundtrack.ErrFlood), errors.Is(err, websocket.ErrMessageTooBig):
		return &upstream.Error{Code: upstream.Malformed, Err: err}
	}
	return &upstream.Error{Code: upstream.Unavailable, Err: err}
}
