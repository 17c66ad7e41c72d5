package live

import (
	"encoding/json"

	"visavis.dev/pkg/sessions/conversation"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/visits/rtc"
)

// overRTC says whether the session's client may connect over WebRTC here.
func (r *room) overRTC() bool {
	return r.server.RTC != nil && r.session.Transport == session.WebRTC && r.session.Channel != string(conversation.Chat)
}

// rtc is what session-ready tells of WebRTC: nil where a client need not try.
func (r *room) rtc(p peer) any {
	if s, ok := p.(*socket); !ok || s.direct == nil {
		return nil
	}
	return map[string]any{"iceServers": r.server.RTC.ICEServers(r.session.ID.String())}
}

// signal is what a client says of its WebRTC connection.
type signal struct {
	Type string `json:"type"`
	Data struct {
		SDP      string `json:"sdp"`
		Received int    `json:"received"`
	} `json:"data"`
}

// hear takes what a client sends over its socket.
func (d *direct) hear(data []byte) {
	var s signal
	if json.Unmarshal(data, &s) != nil {
		s.Type = "" // the room says what is wrong with it
	}
	switch s.Type {
	case rtcOffer:
		d.offer(s.Data.SDP)
	case rtcOpen:
		d.mark()
	case rtcClosed:
		d.clientParted(s.Data.Received)
	default:
		d.one.Lock()
		defer d.one.Unlock()
		d.room.hear(data)
	}
}

// offer answers a client's offer. One that cannot be answered is as if the connection had
// ended.
func (d *direct) offer(sdp string) {
	if !d.answer(sdp) {
		d.room.complain("rtc_failed", "A connection is offered once the one before has ended, and not that often.")
	}
}

// answer is false where it is not the time for an offer.
func (d *direct) answer(sdp string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.room.server
	if d.phase != apart || d.last != nil || !d.offers.AllowN(s.Clock.Now(), 1) {
		return false
	}
	d.connection++
	conn, answer, err := d.server.Answer(sdp, link{d, d.connection})
	if err != nil {
		s.Log.Info("failed to answer an offer", "session", d.room.session.ID.String(), "error", err)
		d.tellClosed(0)
		return true
	}
	d.phase, d.conn = connecting, conn
	d.sent, d.total, d.received, d.early, d.marked = nil, 0, 0, nil, false
	d.track = s.newTrack(conn, d.say)
	d.socket.queue(s.message(rtcAnswer, map[string]any{"sdp": answer}))
	return true
}

// mark notes that the client's next messages come over the channel, and takes those that came
// so already.
func (d *direct) mark() {
	d.one.Lock()
	defer d.one.Unlock()
	d.mu.Lock()
	early := d.early
	d.early, d.marked = nil, true
	d.mu.Unlock()
	for _, data := range early {
		d.room.hear(data)
	}
}

// clientParted ends the connection, whose client got so many messages, and sends the others
// over the socket.
func (d *direct) clientParted(got int) {
	d.mu.Lock()
	d.part()
	if d.phase == apart && !d.toldClosed { // there was none: its offer was not taken
		d.tellClosed(0)
	}
	d.toldClosed = false
	if d.phase != parting {
		d.mu.Unlock()
		return
	}
	missing := d.total - got
	if missing < 0 || missing > len(d.sent) {
		d.mu.Unlock()
		d.socket.close(closeElsewhere, elsewhere.name) // it begins anew with what was said
		return
	}
	for _, f := range d.sent[len(d.sent)-missing:] {
		d.socket.queue(f)
	}
	d.phase, d.sent = apart, nil
	if d.last != nil {
		d.socket.queue(*d.last)
	}
	d.mu.Unlock()
	d.room.relisten()
}

// link is what a connection tells; it implements rtc.Handler.
type link struct {
	*direct
	number int
}

// Opened implements rtc.Handler.
func (l link) Opened() {
	d := l.direct
	d.mu.Lock()
	current := l.number == d.connection && d.phase == connecting
	if current {
		d.phase = opened
		d.socket.queue(d.room.server.message(rtcOpen, nil)) // the last before the channel
	}
	d.mu.Unlock()
	if current {
		d.room.relisten()
	}
}

// Message implements rtc.Handler.
func (l link) Message(data []byte) {
	d := l.direct
	d.one.Lock()
	defer d.one.Unlock()
	d.mu.Lock()
	current := l.number == d.connection && d.phase == opened
	if current {
		d.received++
	}
	if current && !d.marked {
		if current = false; len(d.early) == keptEarly {
			d.part()
		} else {
			d.early = append(d.early, data)
		}
	}
	d.mu.Unlock()
	if current {
		d.room.hear(data)
	}
}

// Sound implements rtc.Handler.
func (l link) Sound(packet []byte) {
	d := l.direct
	d.mu.Lock()
	current := l.number == d.connection && d.phase == opened
	d.mu.Unlock()
	if current {
		d.room.hearSound(append([]byte{userOpus, 0, 0, 0, 0, 0, 0, 0}, packet...))
	}
}

// Closed implements rtc.Handler.
func (l link) Closed(error) {
	d := l.direct
	d.mu.Lock()
	defer d.mu.Unlock()
	if l.number == d.connection {
		d.part()
	}
}

var _ rtc.Handler = link{}
