package live

import (
	"slices"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"visavis.dev/pkg/visits/rtc"
)

// The messages by which a client and its room go over to WebRTC and back (docs/live.md). They
// go over the socket, and stand where the others change their way.
const (
	rtcOffer  = "rtc-offer"
	rtcAnswer = "rtc-answer"
	rtcOpen   = "rtc-open"
	rtcClosed = "rtc-closed"
)

const (
	// keptSent is how many of the last messages that went over a data channel are kept, for
	// the client that did not get them: as many as anybody is sent in the seconds in which a
	// lost connection is noticed, and fewer than may wait at the socket.
	keptSent = 200
	// partWithin is how long a client that is sent away may take to say what it got.
	partWithin = time.Second
	// keptEarly bounds what comes over a channel before the socket's last message.
	keptEarly = 64
	// offersPerSecond and offersAtOnce are how often a client may offer a connection.
	offersPerSecond, offersAtOnce = 0.2, 5
)

// phase is how far a WebRTC connection is.
type phase int

const (
	apart phase = iota
	connecting
	opened
	// parting is after its end, until the client said how many messages it got.
	parting
)

// direct is the WebRTC connection beside a client's socket: while it is open, messages go over
// its data channel, and sound as its tracks. Where it ends, the socket has them again, every
// message once and in order: each side says how many it got, and the other one sends the rest.
type direct struct {
	server *rtc.Server
	room   *room
	socket *socket
	offers *rate.Limiter

	// one is held while a message of the client's is taken, whichever way it came.
	one sync.Mutex

	mu    sync.Mutex
	phase phase
	conn  *rtc.Conn
	// connection numbers the connections: what an earlier one says is not listened to.
	connection int
	// sent are the last messages of this connection; total counts all of them.
	sent  []frame
	total int
	// received counts the client's messages; early are those that came before what the client
	// sent over the socket, whose end marked says was reached.
	received int
	early    [][]byte
	marked   bool

	// toldClosed says that the client is to answer what it was told of a connection's end.
	toldClosed bool

	// last ends the socket as soon as the client has all messages.
	last *frame

	track track
}

// newDirect makes it for a client at a socket; nil where the session or the process has none.
func (r *room) newDirect(s *socket) *direct {
	if !r.overRTC() {
		return nil
	}
	return &direct{server: r.server.RTC, room: r, socket: s, offers: rate.NewLimiter(offersPerSecond, offersAtOnce)}
}

// take sends a message or a frame of sound over the connection; false where the socket is the
// way.
func (d *direct) take(f frame) bool {
	if d == nil {
		return false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.phase == apart, d.phase == connecting:
		return f.track // which nobody has any more; what was offered ends with the socket
	case f.end:
		d.end(f)
	case !f.binary:
		d.say(f)
		if f.kind == "interrupted" && d.phase == opened && d.track.fallSilent() != nil {
			d.part()
		}
	case d.phase == opened && f.track:
		if d.track.play(f) != nil {
			d.part()
		}
	}
	return true
}

// say sends a message, which is kept for a client that does not get it; the lock is held.
func (d *direct) say(f frame) {
	if d.phase == parting && len(d.sent) == keptSent {
		_ = d.socket.conn.CloseNow() // it does not say what it got
		return
	}
	if len(d.sent) == keptSent {
		d.sent = slices.Delete(d.sent, 0, 1)
	}
	d.sent = append(d.sent, f)
	d.total++
	if d.phase == opened && d.conn.Send(f.data) != nil {
		d.part()
	}
}

// part ends the connection, if there is one, and tells the client what was got of it; the lock
// is held.
func (d *direct) part() {
	if d.phase != connecting && d.phase != opened {
		return
	}
	d.conn.Close()
	d.connection++
	if d.phase == connecting {
		d.phase = apart // nothing went over it
	} else {
		d.phase = parting
	}
	d.tellClosed(d.received)
}

// tellClosed tells the client that the connection has ended; the lock is held.
func (d *direct) tellClosed(received int) {
	d.toldClosed = true
	d.socket.queue(d.room.server.message(rtcClosed, map[string]any{"received": received}))
}

// end ends the connection and then the socket; the lock is held.
func (d *direct) end(f frame) {
	d.last = &f
	d.part()
	if d.phase == apart {
		d.socket.queue(f)
		return
	}
	time.AfterFunc(partWithin, func() { d.socket.queue(f) })
}

// close ends it with its socket.
func (d *direct) close() {
	if d == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.conn != nil {
		d.conn.Close()
	}
	d.connection++
	d.phase, d.sent, d.early = parting, nil, nil
}

// isOpen says whether sound goes over the connection.
func (d *direct) isOpen() bool {
	if d == nil {
		return false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.phase == opened
}
