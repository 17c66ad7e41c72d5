package room

import (
	"context"
	"sync"
	"time"

	"github.com/coder/websocket"
	"github.com/pion/webrtc/v4"
	"golang.org/x/time/rate"

	"visavis.dev/pkg/base/soundtrack"
)

// read reads one signal.
func (r *Room) read(ctx context.Context) (signal, error) {
	kind, message, err := r.socket.Read(ctx)
	switch {
	case err != nil:
		return signal{}, err
	case !r.signals.Allow():
		return signal{}, errFlood
	case kind != websocket.MessageBinary:
		return signal{}, errMalformed
	}
	return readSignal(message)
}

func (r *Room) write(ctx context.Context, message []byte) error {
	ctx, cancel := context.WithTimeout(ctx, writeWithin)
	defer cancel()
	return r.socket.Write(ctx, websocket.MessageBinary, message)
}

// listen does what the server says until the room is lost, and answers why.
func (r *Room) listen(there []participant) error {
	if err := r.follow(there); err != nil {
		return err
	}
	for {
		s, err := r.read(r.ctx)
		switch {
		case err != nil:
			return err
		case s.leave:
			return errLeave
		case s.answer != nil && !r.out.described:
			err = r.out.describe(*s.answer)
		case s.offer != nil:
			err = r.accept(*s.offer)
		case s.candidate != nil && !s.secondary:
			err = r.out.try(*s.candidate)
		case s.candidate != nil && r.in != nil:
			err = r.in.try(*s.candidate)
		default:
			err = r.follow(s.update)
		}
		if err != nil {
			return err
		}
	}
}

// follow notes who came and who left.
func (r *Room) follow(changed []participant) error {
	for _, p := range changed {
		var err error
		switch p.state {
		case active:
			if err = r.came(p.identity, p.sid); err == nil {
				err = r.publishes(p)
			}
		case disconnected:
			r.left(p.identity, p.sid)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// came notes that somebody is there, in a stay of theirs that was not known.
func (r *Room) came(identity, sid string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	known, there := r.present[identity]
	switch {
	case identity == "", identity == r.self, there && known.sid == sid:
		return nil
	case len(r.present) >= maxPresent, !r.arrivals.Allow():
		return errFlood
	}
	r.present[identity] = &presence{sid: sid}
	r.emit(Event{Kind: Came, Identity: identity})
	return nil
}

// left notes that somebody's stay has ended; nothing, where another has begun since.
func (r *Room) left(identity, sid string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if known, there := r.present[identity]; there && known.sid == sid {
		r.ears.turn(identity, known.hears, "")
		delete(r.present, identity)
		r.emit(Event{Kind: Left, Identity: identity})
	}
}

// hear takes a data packet. While nobody takes what was said before, the channel waits,
// and the server with it.
func (r *Room) hear(m webrtc.DataChannelMessage) {
	if !r.packets.Allow() {
		r.lose(errFlood)
		return
	}
	p, err := readPacket(m.Data)
	switch {
	case err != nil:
		r.lose(err)
	case p.from == "":
	case p.user != nil && p.user.topic == r.topic:
		// A server may tell seconds later that somebody came who speaks already.
		if p.user.sid != "" {
			err = r.came(p.from, p.user.sid)
		}
		r.emit(Event{Kind: Said, Identity: p.from, Payload: p.user.payload})
		if err != nil {
			r.lose(err)
		}
	case p.ask != nil:
		r.called(p.from, *p.ask)
	case p.answer != nil:
		r.answered(p.from, *p.answer)
	case r.rest != nil:
		r.rest(m.Data)
	}
}

// publishes notes what somebody publishes, and asks for their microphone where they are to be heard.
func (r *Room) publishes(p participant) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	known, there := r.present[p.identity]
	if !there {
		return nil // this side itself
	}
	shows, hears := false, ""
	for _, t := range p.tracks {
		shows = shows || t.kind == video
		if t.kind == audio && (t.source == microphone || t.source == unknown) && (hears == "" || t.sid == known.hears) {
			hears = t.sid
		}
	}
	if shows != known.shows {
		known.shows = shows
		kind := Hides
		if shows {
			kind = Shows
		}
		r.emit(Event{Kind: kind, Identity: p.identity})
	}
	if r.in == nil || r.hears == nil || hears == known.hears || !r.hears(p.identity) {
		return nil
	}
	r.ears.turn(p.identity, known.hears, hears)
	if known.hears = hears; hears == "" {
		return nil
	}
	return r.write(r.ctx, subscribing(hears))
}

// listenTo hears a track that was asked for, until it ends, or another of the same participant is heard.
func (r *Room) listenTo(t *webrtc.TrackRemote, _ *webrtc.RTPReceiver) {
	identity, limit := r.ears.of(t.ID())
	if identity == "" {
		return
	}
	if err := soundtrack.Receive(t, limit, func(packet []byte) bool {
		if !r.ears.hear(t.ID(), identity) {
			return false
		}
		r.sound(identity, packet)
		return r.ctx.Err() == nil
	}); err != nil {
		r.lose(err)
	}
}

// ears are the tracks that were asked for: one at a time of each participant, however many a server sends, and what came
// of all of theirs counts together.
type ears struct {
	mu     sync.Mutex
	tracks map[string]string
	limits map[string]*rate.Limiter
}

func newEars() *ears { return &ears{tracks: map[string]string{}, limits: map[string]*rate.Limiter{}} }

// turn hears a track of a participant in the place of another; either can be empty for none.
func (e *ears) turn(identity, from, to string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.tracks, from)
	if to == "" {
		return
	}
	e.tracks[to] = identity
	if e.limits[identity] == nil {
		e.limits[identity] = soundtrack.Limit()
	}
}

// of is whose track one is that is heard, and how many packets of theirs may come; empty for nobody's.
func (e *ears) of(track string) (identity string, limit *rate.Limiter) {
	e.mu.Lock()
	defer e.mu.Unlock()
	identity = e.tracks[track]
	return identity, e.limits[identity]
}

// hear says whether a track is heard still.
func (e *ears) hear(track, identity string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.tracks[track] == identity
}

// emit passes an event on, unless the room is left.
func (r *Room) emit(e Event) {
	select {
	case r.events <- e:
	case <-r.ctx.Done():
	}
}

// ping asks now and then whether the server is there.
func (r *Room) ping() {
	ticker := time.NewTicker(pingEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-r.ctx.Done():
			return
		}
		ctx, cancel := context.WithTimeout(r.ctx, pingWithin)
		err := r.socket.Ping(ctx)
		cancel()
		if err != nil {
			r.lose(err)
			return
		}
	}
}
