package livetest

import (
	"context"
	"errors"

	"github.com/coder/websocket"

	"visavis.dev/pkg/base/egress"
	"visavis.dev/pkg/provider/livekit"
	"visavis.dev/pkg/provider/livekit/room"
)

// line is what a client speaks over.
type line interface {
	read(ctx context.Context) (data []byte, binary bool, err error)
	write(ctx context.Context, text []byte) error
	sound(ctx context.Context, frame []byte) error
	// leave goes as a user who is done, and drop as one whose connection broke.
	leave()
	drop()
}

type socketLine struct{ *websocket.Conn }

func (l socketLine) read(ctx context.Context) (data []byte, binary bool, err error) {
	kind, data, err := l.Read(ctx)
	return data, kind == websocket.MessageBinary, err
}

func (l socketLine) write(ctx context.Context, text []byte) error {
	return l.Write(ctx, websocket.MessageText, text)
}

func (l socketLine) sound(ctx context.Context, frame []byte) error {
	return l.Write(ctx, websocket.MessageBinary, frame)
}

func (l socketLine) leave() { _ = l.Close(websocket.StatusNormalClosure, "") }
func (l socketLine) drop()  { _ = l.CloseNow() }

// Join joins a media server's room with the token of a ticket, through a guard that reaches
// the server.
func Join(ctx context.Context, g *egress.Guard, url, token string) (*Client, error) {
	r, err := room.Join(ctx, room.Options{Guard: g, URL: url, Token: token, Topic: livekit.Topic})
	if err != nil {
		return nil, err
	}
	return begin(ctx, roomLine{r}), nil
}

type roomLine struct{ *room.Room }

// read is what the persona says next.
func (l roomLine) read(ctx context.Context) (data []byte, binary bool, err error) {
	for {
		var e room.Event
		select {
		case e = <-l.Events():
		case <-ctx.Done():
			return nil, false, ctx.Err()
		case <-l.Done():
			select {
			case e = <-l.Events(): // what was said last
			default:
				return nil, false, l.Err()
			}
		}
		if e.Kind == room.Said && e.Identity == livekit.Persona {
			return e.Payload, false, nil
		}
	}
}

func (l roomLine) write(_ context.Context, text []byte) error { return l.Send(livekit.Persona, text) }

func (roomLine) sound(context.Context, []byte) error { return errors.ErrUnsupported }

func (l roomLine) leave() { l.Close() }
func (l roomLine) drop()  { l.Close() }
