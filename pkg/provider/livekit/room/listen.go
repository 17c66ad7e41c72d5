package room

import (
	"context"
	"time"

	"github.com/coder/websocket"
	"github.com/pion/webrtc/v4"
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
			err = r.came(p.identity, p.sid)
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
	case identity == "", identity == r.self, there && known == sid:
		return nil
	case len(r.present) >= maxPresent, !r.arrivals.Allow():
		return errFlood
	}
	r.present[identity] = sid
	r.emit(Event{Kind: Came, Identity: identity})
	return nil
}

// left notes that somebody's stay has ended; nothing, where another has begun since.
func (r *Room) left(identity, sid string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if known, there := r.present[identity]; there && known == sid {
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
	p, user, err := readPacket(m.Data)
	if err == nil && user && p.topic == r.topic && p.from != "" {
		// A server may tell seconds later that somebody came who speaks already.
		if p.sid != "" {
			err = r.came(p.from, p.sid)
		}
		r.emit(Event{Kind: Said, Identity: p.from, Payload: p.payload})
	}
	if err != nil {
		r.lose(err)
	}
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
