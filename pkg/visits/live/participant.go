package live

import (
	"context"
	"errors"

	"github.com/coder/websocket"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/provider/livekit"
	lkroom "visavis.dev/pkg/provider/livekit/room"
	"visavis.dev/pkg/speech/playout"
)

// participant is a peer in a media server's room: the visitor, or a team member where staff is
// not zero. The server says who says what, and lets in whom the organization's key does.
type participant struct {
	session  *liveKitSession
	joined   *lkroom.Room
	outlet   *outlet
	identity string
	staff    id.Staff
	// in is the conversation that it was let into, and turned says that it was not.
	room    *room
	refused bool
}

func (g *participant) send(f frame) {
	face := g.session.face
	switch {
	case f.end:
	case f.binary && f.track:
		g.outlet.play(f)
	case f.binary:
		face.play(f)
	default:
		if g.staff.IsZero() {
			g.outlet.follow(f)
			face.follow(f)
		}
		if err := g.joined.Send(g.identity, f.data); errors.Is(err, lkroom.ErrTooLarge) {
			g.session.log(context.Background(), "message is too large for a LiveKit room", err)
		}
	}
}

// close does nothing: they leave with the room, and who comes anew takes their place.
func (g *participant) close(websocket.StatusCode, string) {}

// plays implements peer: a team member hears the persona's track without being asked.
func (g *participant) plays() bool { return g.staff.IsZero() }

// carries implements peer: the persona's sound is a track, or who renders its face has it.
func (g *participant) carries(playout.Format) playout.Format {
	if g.session.face.isShown() {
		return playout.Remote
	}
	return playout.Track
}

func (g *participant) most() int { return lkroom.MaxPayload }

// leaveConversation takes a participant out of the conversation. The visitor may come back.
func (g *participant) leaveConversation() {
	r := g.room
	switch {
	case r == nil:
	case g.staff.IsZero():
		r.do(func() { r.clientLeft(g, websocket.StatusAbnormalClosure) })
	default:
		r.do(func() { r.staffLeft(context.Background(), g.staff, g, websocket.StatusNormalClosure) })
	}
}

// handle takes what happened in the room.
func (v *liveKitSession) handle(ctx context.Context, e lkroom.Event) {
	if e.Identity == livekit.Avatar {
		v.face.handle(e)
		return
	}
	g := v.participants[e.Identity]
	switch e.Kind {
	case lkroom.Came:
		if v.addParticipant(e.Identity) {
			v.beginConversation(ctx)
		}
	case lkroom.Left:
		if g != nil {
			delete(v.participants, e.Identity)
			g.leaveConversation()
		}
	case lkroom.Said:
		if g != nil {
			g.forward(e.Payload)
		}
	case lkroom.Asked, lkroom.Shows, lkroom.Hides:
	}
}

// addParticipant notes that somebody is there; false for who has no part in the session.
func (v *liveKitSession) addParticipant(identity string) bool {
	g := &participant{session: v, joined: v.joined, outlet: v.outlet, identity: identity}
	if identity != livekit.Visitor {
		var err error
		if g.staff, err = id.ParseStaff(identity); err != nil || g.staff.String() != identity {
			return false
		}
	}
	v.participants[identity] = g
	return true
}

// beginConversation begins the conversation as soon as the visitor is there, and lets in who is not in
// yet. What fails is tried again.
func (v *liveKitSession) beginConversation(ctx context.Context) {
	visitor := v.participants[livekit.Visitor]
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
	for _, g := range v.participants {
		if g.room != nil || g.refused {
			continue
		}
		if v.room.admit(ctx, g.staff, g) {
			g.room = v.room
			if g.staff.IsZero() {
				v.heard.Store(v.room)
				v.face.find(ctx)
			}
		} else {
			g.refused = !g.staff.IsZero() // who was not invited is not asked for again
		}
	}
}

// forward hands on what a participant said.
func (g *participant) forward(payload []byte) {
	switch {
	case g.room == nil:
	case g.staff.IsZero():
		g.room.hear(payload)
	default:
		g.room.hearStaff(g.staff, payload)
	}
}
