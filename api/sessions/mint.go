package sessions

import (
	"context"
	"errors"
	"net/http"
	"time"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/apikey"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/visits/admission"
	"visavis.dev/web/page"
)

func (a *API) registerMint(s *route.Service, o route.Operation) {
	o.ID, o.Path, o.Class = "createSessionToken", "/sessions/tokens", "live"
	o.Status, o.Idempotent, o.ShowsSecret, o.FailsClosed, o.Items = http.StatusCreated, true, true, true, contract.SessionTicketItem
	o.Errors = []problem.Code{
		problem.InsufficientMinutes, problem.FeatureNotInPlan, problem.AccountPaused, problem.Conflict, problem.DuoNotLive, problem.FaceNotReady,
		problem.ConcurrencyLimit, problem.NotFound, problem.Gone, problem.CandidateInterview, problem.UpstreamError,
	}
	o.Summary = "Start a live session: mint the token by which its client connects"
	o.Description = "A place is kept for the client until connectBy; the session is live, and costs minutes, from the moment the client connects. " +
		"The token is shown in this answer only and opens this one session. With the transport livekit the session takes place in a room of the " +
		"organization's own LiveKit server; where that fails and its connection's fallback is builtin, the ticket is for a websocket."
	route.Handle(s, o, a.mint)
}

// MintInput is the request for a session.
type MintInput struct{ Body SessionInput }

// SessionInput is a session to be started.
type SessionInput struct {
	PersonaID         string            `json:"personaId,omitempty" maxLength:"80" doc:"Who speaks. One of personaId, portalId and subjectId is given."`
	PortalID          string            `json:"portalId,omitempty" maxLength:"80" doc:"A published portal, whose persona speaks by its rules."`
	SubjectID         string            `json:"subjectId,omitempty" maxLength:"80" doc:"A published subject, which is taught, practised or asked on its portal. Where its person has not completed its prerequisites, it is 409 conflict with the reason prerequisites_missing."`
	PersonID          string            `json:"personId,omitempty" maxLength:"80" doc:"Who comes. On a portal they need a place there that can be used now."`
	AssignmentID      string            `json:"assignmentId,omitempty" maxLength:"80" doc:"The assignment that it is part of; whichever of the subject is open for the person unless given."`
	AvatarID          string            `json:"avatarId,omitempty" maxLength:"80" doc:"Another face than the persona's."`
	VoiceID           string            `json:"voiceId,omitempty" maxLength:"80" doc:"Another voice than the persona's."`
	Language          string            `json:"language,omitempty" maxLength:"40" doc:"A code or a name; the portal's or the persona's unless given."`
	Channel           string            `json:"channel,omitempty" enum:"video,voice,chat" doc:"video unless given."`
	Transport         string            `json:"transport,omitempty" enum:"auto,websocket,webrtc,livekit" doc:"auto unless given, which is websocket. With webrtc a client has its sound and messages go over WebRTC beside the socket, where that connects."`
	MediaConnectionID string            `json:"mediaConnectionId,omitempty" maxLength:"80" doc:"The connection of kind media of a livekit session; the oldest that is enabled unless given."`
	Kind              string            `json:"kind,omitempty" enum:"conversation,practice,assessment" doc:"That of a subject, or else conversation, unless given."`
	Context           string            `json:"context,omitempty" maxLength:"8000" doc:"What a connected model is told of this conversation."`
	Variables         map[string]string `json:"variables,omitempty" doc:"Stand for {{name}} in the persona's texts; at most 50."`
	Greeting          *string           `json:"greeting,omitempty" maxLength:"2000" doc:"Said first, in the place of the persona's greeting; empty for none."`
	KnowledgeBaseIDs  []string          `json:"knowledgeBaseIds,omitempty" maxItems:"20" doc:"Packs to answer from, in the place of the persona's."`
	DocumentTags      []string          `json:"documentTags,omitempty" maxItems:"20" doc:"Answers rest on documents with one of these tags alone."`
	MaxDurationS      int64             `json:"maxDurationS,omitempty" minimum:"30" maximum:"7200" doc:"Never more than the plan or the persona allows."`
	IdleTimeoutS      int64             `json:"idleTimeoutS,omitempty" minimum:"15" maximum:"1800" doc:"300 unless given."`
	ExternalID        *string           `json:"externalId,omitempty" maxLength:"200" doc:"The session's id in your own system, to find it by."`
	Metadata          map[string]string `json:"metadata,omitempty" doc:"At most 20 keys of at most 40 characters, values of at most 500."`
	Page              VisitedPage       `json:"page,omitzero" doc:"The page that the user is on, which what they leave for the inbox has as its source."`
	AllowedOrigins    []string          `json:"allowedOrigins,omitempty" maxItems:"20" doc:"Origins of the pages that may connect; any unless given."`
	Sandbox           bool              `json:"sandbox,omitempty" doc:"At most 60 seconds, and no minutes. Always so with a test key."`
	Record            bool              `json:"record,omitempty" doc:"Record the session, where its user agrees in it; the setting privacy.recordings lets that be."`
	Supersedes        string            `json:"supersedes,omitempty" maxLength:"80" nullable:"true" doc:"A session that ends as superseded so that this one can have its place."`
}

// SessionTicket is what a client needs to connect.
type SessionTicket struct {
	Session        Session       `json:"session" doc:"The session as it was made."`
	Token          session.Token `json:"token" doc:"Opens this session. It is never shown again."`
	TokenExpiresAt time.Time     `json:"tokenExpiresAt" doc:"From when the token connects nobody any more, in UTC."`
	ConnectBy      time.Time     `json:"connectBy" doc:"By when the client must have connected, in UTC; the session expires otherwise."`
	Transport      Transport     `json:"transport" doc:"Where the client connects."`
	JoinURL        *string       `json:"joinUrl" format:"uri" doc:"A page that holds the conversation in any browser or frame, to be opened by connectBy. It has the token behind the #, where no server sees it: give it to the one person. null where allowedOrigins name the pages that may connect."`
	Face           TicketFace    `json:"face" doc:"What the client shows."`
	Limits         TicketLimits  `json:"limits" doc:"The session's bounds, and how many are live."`
}

// TicketFace is what a client shows.
type TicketFace struct {
	AvatarID   id.Avatar `json:"avatarId" doc:"The face to show."`
	PreviewURL string    `json:"previewUrl" format:"uri" doc:"Where its picture is."`
	AssetsURL  string    `json:"assetsUrl" format:"uri" doc:"What to load for the renderer."`
}

// TicketLimits are the session's bounds and how many are live.
type TicketLimits struct {
	MaxDurationS          int64  `json:"maxDurationS" doc:"How long the session may last, in seconds."`
	IdleTimeoutS          int64  `json:"idleTimeoutS" doc:"After how many seconds of silence the session ends."`
	ActiveSessions        *int64 `json:"activeSessions" doc:"null for a visitor, who is not told."`
	MaxConcurrentSessions *int64 `json:"maxConcurrentSessions" doc:"null for no limit, and for a visitor."`
}

func (a *API) mint(ctx context.Context, c *route.Call, in *MintInput) (SessionTicket, error) {
	r, err := read(in.Body)
	if err != nil {
		return SessionTicket{}, err
	}
	r.Host = admission.Host{Organization: c.Principal.Org, Terms: c.Principal.Terms}
	r.Sandbox = r.Sandbox || c.Principal.Key.Environment == apikey.Test
	if err := r.Allow("personas"); err != nil {
		return SessionTicket{}, err
	}
	media, err := a.mediaOf(ctx, c, in.Body)
	if err != nil {
		return SessionTicket{}, err
	}
	if media != nil {
		r.Media = media.ID
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (SessionTicket, error) {
		made, err := a.desk().Mint(ctx, tx, r, c.Actor())
		if err != nil {
			return SessionTicket{}, inBody(err)
		}
		ticket, err := a.ticket(c, made, media)
		if err != nil {
			return SessionTicket{}, err
		}
		if ticket.JoinURL != nil && made.Session.Channel != "chat" {
			a.Library.Ahead(made.Session.Avatar, page.PortraitSide)
		}
		ticket.Limits.ActiveSessions, ticket.Limits.MaxConcurrentSessions = &made.Active, made.Places
		return ticket, nil
	})
}

func (a *API) desk() *admission.Desk { return &admission.Desk{Library: a.Library} }

// inBody names the member of the body that admission refused.
func inBody(err error) error {
	if p, ok := errors.AsType[*problem.Problem](err); ok && p.Param != "" {
		return p.WithParam("body." + p.Param)
	}
	return err
}

// ticket is what the client of a session needs, which takes place on a media server where
// that is not nil.
func (a *API) ticket(c *route.Call, made session.Minted, media *connection.Opened) (SessionTicket, error) {
	s := made.Session
	transport, err := a.visitorTransport(s, media, c.Now())
	avatar := c.URL("/avatars/" + s.Avatar.String())
	return SessionTicket{
		JoinURL: a.joinURL(made, media),
		Session: show(c, s, session.Detail{}), Token: made.Token, TokenExpiresAt: s.ConnectBy, ConnectBy: s.ConnectBy,
		Transport: transport,
		Face:      TicketFace{AvatarID: s.Avatar, PreviewURL: avatar + "/preview", AssetsURL: avatar + "/face"},
		Limits:    TicketLimits{MaxDurationS: s.MaxDurationS, IdleTimeoutS: s.IdleTimeoutS},
	}, err
}

// joinURL is the page of a session, which takes place on a media server where that is not nil; nil where a page of
// ours could not connect.
func (a *API) joinURL(made session.Minted, media *connection.Opened) *string {
	if len(made.Session.AllowedOrigins) > 0 {
		return nil
	}
	server := ""
	if media != nil {
		server = media.MediaURL()
	}
	return new(page.JoinURL(a.PortalURL, made.Session.ID, string(made.Token), server))
}
