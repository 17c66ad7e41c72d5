package room

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
)

// Stream is a stream of bytes to one participant (the protocol's data streams). It is used by
// one goroutine at a time.
type Stream struct {
	room   *Room
	to, id string
	index  uint64
	closed bool
}

// Stream begins a stream of a topic. What the attributes say is the topic's business. The error is ErrLeft.
func (r *Room) Stream(to, topic, name string, attributes map[string]string) (*Stream, error) {
	s := &Stream{room: r, to: to, id: uuid.NewString()}
	return s, r.send(heading(to, s.id, topic, name, attributes, time.Now()))
}

// Write sends the next bytes. It does not wait. The error is ErrLeft.
func (s *Stream) Write(content []byte) (int, error) {
	sent := 0
	for sent < len(content) {
		piece := content[sent:min(len(content), sent+MaxPayload)]
		if err := s.room.send(chunk(s.to, s.id, s.index, piece)); err != nil {
			return sent, err
		}
		s.index++
		sent += len(piece)
	}
	return sent, nil
}

// Close says that nothing more comes. The error is ErrLeft.
func (s *Stream) Close() error {
	if s.closed {
		return nil
	}
	s.closed = true
	return s.room.send(trailing(s.to, s.id))
}

// Failure is that a participant did not do what was asked of it; it is an error.
type Failure struct {
	Code    int
	Message string
}

func (f *Failure) Error() string {
	return fmt.Sprintf("the participant answers %d: %s", f.Code, f.Message)
}

// Ask calls a method of a participant and waits for the answer, until the context ends. The error is a Failure,
// ErrLeft, or the context's.
func (r *Room) Ask(ctx context.Context, to, method, payload string) (string, error) {
	c, answered := call{uuid.NewString(), method, payload}, make(chan answer, 1)
	r.calls.Lock()
	r.asked[c.id] = pending{to, answered}
	r.calls.Unlock()
	defer func() {
		r.calls.Lock()
		delete(r.asked, c.id)
		r.calls.Unlock()
	}()
	within := answersWithin
	if late, bounded := ctx.Deadline(); bounded {
		within = time.Until(late)
	}
	if err := r.send(asking(to, c, within)); err != nil {
		return "", err
	}
	select {
	case a := <-answered:
		if a.failed != nil {
			return "", a.failed
		}
		return a.payload, nil
	case <-r.ctx.Done():
		return "", ErrLeft
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// pending is a call that was made of a participant.
type pending struct {
	of       string
	answered chan answer
}

// answered takes the answer to a call, of who was called.
func (r *Room) answered(from string, a answer) {
	r.calls.Lock()
	p, waits := r.asked[a.id]
	if waits && p.of == from {
		delete(r.asked, a.id)
	}
	r.calls.Unlock()
	if waits && p.of == from {
		p.answered <- a
	}
}

// called takes a call of a participant: it is passed on and answered, or refused where this side has no such method.
func (r *Room) called(from string, c call) {
	to := answer{id: c.id, payload: "ok"}
	if r.answers == nil || !r.answers(from, c.method) {
		to = answer{id: c.id, failed: &Failure{unsupported, "Method not supported at destination"}}
	}
	_ = r.send(acknowledging(from, c.id))
	_ = r.send(answering(from, to))
	if to.failed == nil {
		r.emit(Event{Kind: Asked, Identity: from, Method: c.method, Payload: []byte(c.payload)})
	}
}
