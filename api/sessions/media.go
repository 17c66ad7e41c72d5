package sessions

import (
	"context"
	"errors"
	"time"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/provider/livekit"
	"visavis.dev/pkg/sessions/session"
)

// Transport is where a client connects.
type Transport struct {
	Kind     string `json:"kind" enum:"websocket,webrtc,livekit" doc:"What to connect with: a plain WebSocket, one over which WebRTC is offered (docs/live.md), or a LiveKit client."`
	URL      string `json:"url" format:"uri" doc:"Of the socket, or of the media server."`
	Token    string `json:"token,omitempty" doc:"livekit only: lets into the room, as long as the ticket's token connects. It is never shown again."`
	Room     string `json:"room,omitempty" doc:"livekit only: the room that the persona waits in."`
	Identity string `json:"identity,omitempty" doc:"livekit only: who the token's holder is there."`
}

// mediaOf is the media server whose room a session is asked for; nil for our own sockets.
func (a *API) mediaOf(ctx context.Context, c *route.Call, in SessionInput) (*connection.Opened, error) {
	switch {
	case in.Transport != session.LiveKit && in.MediaConnectionID != "":
		return nil, problem.Invalid("body.mediaConnectionId", "A media connection is for the transport livekit.")
	case in.Transport != session.LiveKit:
		return nil, nil
	case len(in.AllowedOrigins) > 0:
		return nil, problem.Invalid("body.allowedOrigins", "A media server lets in who has the token, from any page. Leave the origins out, or use a websocket.")
	}
	which, err := parse(id.ParseConnection, "mediaConnectionId", "connection", in.MediaConnectionID)
	if err != nil {
		return nil, err
	}
	if which.IsZero() {
		oldest, err := connection.OldestMedia(ctx, a.Tenants, c.Org())
		if err != nil {
			return nil, asMediaProblem(err, noMedia())
		}
		which = oldest.ID
	}
	opened, err := a.Opener.Open(ctx, c.Org(), which)
	switch {
	case err != nil:
		return nil, asMediaProblem(err, problem.Missing("connection").WithParam("body.mediaConnectionId"))
	case opened.Kind != connection.Media:
		return nil, problem.Invalid("body.mediaConnectionId", "The connection is of kind %s; one of kind media carries a session.", opened.Kind)
	case opened.State != connection.Failing:
		return &opened, nil
	case opened.Fallback == connection.FallbackBuiltin:
		return nil, nil
	}
	return nil, problem.New(problem.UpstreamError, "The media server does not work right now, and its connection lets no other transport stand in.").WithParam("body.transport")
}

// noMedia refuses a session over a media server to an organization without one.
func noMedia() *problem.Problem {
	return problem.Conflicting("no_media_connection", "A session over LiveKit takes place on a server of your own, and none is connected and enabled. "+
		"Make a connection of kind media to the provider livekit, test it, and try again.").WithParam("body.transport")
}

// asMediaProblem says what the errors of package connection are to who asks for a session;
// missing is that there is none.
func asMediaProblem(err error, missing *problem.Problem) error {
	switch {
	case errdefs.IsAbsent(err, connection.Noun):
		return missing
	case errors.Is(err, connection.ErrDisabled):
		return problem.Conflicting("connection_disabled", "The media connection is switched off.").WithParam("body.transport")
	}
	return err
}

// visitorTransport is where the visitor of a session connects: to a room where media is not
// nil.
func (a *API) visitorTransport(s session.Session, media *connection.Opened, now time.Time) (Transport, error) {
	if media == nil {
		return a.socket(s), nil
	}
	room := media.MediaRoom(s.ID)
	token, err := media.MediaKey().VisitorToken(room, now, s.ConnectBy.Sub(now))
	return Transport{session.LiveKit, media.MediaURL(), token, room, livekit.Visitor}, err
}

// staffTransport is where a team member connects.
func (a *API) staffTransport(ctx context.Context, org id.Org, s session.Session, k session.Colleague, now time.Time) (Transport, error) {
	if s.Transport != session.LiveKit {
		s.Transport = session.WebSocket // what they say is text
		return a.socket(s), nil
	}
	media, err := a.Opener.Open(ctx, org, s.Media)
	if err != nil {
		return Transport{}, asMediaProblem(err, noMedia())
	}
	room := media.MediaRoom(s.ID)
	token, err := media.MediaKey().StaffToken(room, k.ID, k.Name, k.Mode == "listen", now, session.StaffWithin)
	return Transport{session.LiveKit, media.MediaURL(), token, room, k.ID.String()}, err
}

func (a *API) socket(s session.Session) Transport {
	return Transport{Kind: s.Transport, URL: a.LiveURL + "/live/v1/" + s.ID.String()}
}
