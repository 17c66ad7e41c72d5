package live

import (
	"context"
	"errors"

	"github.com/coder/websocket"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/provider/livekit"
	lkroom "visavis.dev/pkg/provider/livekit/room"
)

// guest is a peer in a media server's room: the visitor, or a team member where staff is
// not zero. The server says who says what, and lets in whom the organization's key does.
type guest struct {
	venue    *venue
	stay     *lkroom.Room
	identity string
	staff    id.Staff
	// in is the conversation that it was let into, and turned says that it was not.
	in     *room
	turned bool
}

func (g *guest) send(f frame) {
	if f.end {
		return
	}
	if err := g.stay.Send(g.identity, f.data); errors.Is(err, lkroom.ErrTooLarge) {
		g.venue.log(context.Background(), "a message stays unsent", err)
	}
}

// close does nothing: they leave with the room, and who comes anew takes their place.
func (g *guest) close(websocket.StatusCode, string) {}

// plays is false: no track is published yet.
func (g *guest) plays() bool { return false }

func (g *guest) most() int { return lkroom.MaxPayload }

// left takes a guest out of the conversation. The visitor may come back.
func (g *guest) left() {
	r := g.in
	switch {
	case r == nil:
	case g.staff.IsZero():
		r.do(func() { r.clientLeft(g, websocket.StatusAbnormalClosure) })
	default:
		r.do(func() { r.staffLeft(context.Background(), g.staff, g) })
	}
}

// happened takes what happened in the room.
func (v *venue) happened(ctx context.Context, e lkroom.Event) {
	g := v.guests[e.Identity]
	switch e.Kind {
	case lkroom.Came:
		if v.guest(e.Identity) {
			v.begin(ctx)
		}
	case lkroom.Left:
		if g != nil {
			delete(v.guests, e.Identity)
			g.left()
		}
	case lkroom.Said:
		if g != nil {
			g.said(e.Payload)
		}
	}
}

// guest notes that somebody is there; false for who has no part in the session.
func (v *venue) guest(identity string) bool {
	g := &guest{venue: v, stay: v.stay, identity: identity}
	if identity != livekit.Visitor {
		var err error
		if g.staff, err = id.ParseStaff(identity); err != nil || g.staff.String() != identity {
			return false
		}
	}
	v.guests[identity] = g
	return true
}

// begin begins the conversation as soon as the visitor is there, and lets in who is not in
// yet. What fails is tried again.
func (v *venue) begin(ctx context.Context) {
	visitor := v.guests[livekit.Visitor]
	if v.room == nil {
		if visitor == nil {
			return
		}
		r, refused := v.server.open(ctx, v.claim.Org, v.claim.Session, &v.claim)
		if refused != nil {
			visitor.send(v.server.message("error", map[string]any{
				"code": refused.name, "message": refused.message, "fatal": refused.code != closeElsewhere,
			}))
			return
		}
		v.room = r
	}
	for _, g := range v.guests {
		if g.in != nil || g.turned {
			continue
		}
		if v.room.admit(ctx, g.staff, g) {
			g.in = v.room
		} else {
			g.turned = !g.staff.IsZero() // who was not invited is not asked for again
		}
	}
}

// said hands on what a guest said.
func (g *guest) said(payload []byte) {
	switch {
	case g.in == nil:
	case g.staff.IsZero():
		g.in.hear(payload)
	default:
		g.in.hearStaff(g.staff, payload)
	}
}
