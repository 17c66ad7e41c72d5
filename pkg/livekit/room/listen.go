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
		sid, there := r.present[p.identity]
		kind := Came
		switch {
		case p.identity == "", p.identity == r.self:
			continue
		case p.state == active && (!there || sid != p.sid):
			if len(r.present) >= maxPresent {
				return errFlood
			}
			r.present[p.identity] = p.sid
		case p.state == disconnected && there && sid == p.sid:
			delete(r.present, p.identity)
			kind = Left
		default:
			continue
		}
		if !r.tell(Event{Kind: kind, Identity: p.identity}) {
			return context.Cause(r.ctx)
		}
	}
	return nil
}

// hear takes a data packet. While nobody takes what was said before, the channel waits,
// and the server with it.
func (r *Room) hear(m webrtc.DataChannelMessage) {
	if !r.packets.Allow() {
		r.lose(errFlood)
		return
	}
	p, user, err := readPacket(m.Data)
	switch {
	case err != nil:
		r.lose(err)
	case user && p.topic == r.topic && p.from != "":
		r.tell(Event{Kind: Said, Identity: p.from, Payload: p.payload})
	}
}

// tell hands an event on; false when the room was left meanwhile.
func (r *Room) tell(e Event) bool {
	select {
	case r.events <- e:
		return true
	case <-r.ctx.Done():
		return false
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
