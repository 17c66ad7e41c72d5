package livetest

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"
	"github.com/pion/webrtc/v4"

	"visavis.dev/pkg/base/egress"
	"visavis.dev/pkg/base/soundtrack"
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
	return begin(ctx, roomLine{Room: r}), nil
}

// Played is a packet of Opus that a client in a room was played, and by whom.
type Played struct {
	Identity string
	Packet   []byte
	At       time.Time
}

// JoinAloud is Join with a microphone, for SendSound, and ears: heard is told what is played.
func JoinAloud(ctx context.Context, g *egress.Guard, url, token string, heard func(Played)) (*Client, error) {
	microphone, err := soundtrack.NewSender("microphone", "visitor")
	if err != nil {
		return nil, err
	}
	r, err := room.Join(ctx, room.Options{
		Guard: g, URL: url, Token: token, Topic: livekit.Topic, Tracks: []webrtc.TrackLocal{microphone.TrackLocalStaticRTP},
		Hears: func(string) bool { return true },
		Sound: func(identity string, packet []byte) { heard(Played{identity, slices.Clone(packet), time.Now()}) },
	})
	if err != nil {
		return nil, err
	}
	return begin(ctx, roomLine{r, microphone, new(atomic.Uint32)}), nil
}

type roomLine struct {
	*room.Room
	microphone *soundtrack.Sender
	packets    *atomic.Uint32
}

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

// sound sends a packet of Opus.
func (l roomLine) sound(_ context.Context, packet []byte) error {
	if l.microphone == nil {
		return errors.ErrUnsupported
	}
	return l.microphone.Play(packet, l.packets.Add(1)*soundtrack.PacketSamples, false)
}

func (l roomLine) leave() { l.Close() }
func (l roomLine) drop()  { l.Close() }
