package sessions

import (
	"context"
	"errors"
	"net/http"
	"time"

	"visavis.dev/api/route"
	"visavis.dev/pkg/activity"
	"visavis.dev/pkg/apikey"
	"visavis.dev/pkg/contract"
	"visavis.dev/pkg/directory"
	"visavis.dev/pkg/id"
	"visavis.dev/pkg/persona"
	"visavis.dev/pkg/plan"
	"visavis.dev/pkg/problem"
	"visavis.dev/pkg/session"
	"visavis.dev/pkg/tenant"
)

func (a *API) registerMint(s *route.Service, o route.Operation) {
	o.ID, o.Path, o.Class = "createSessionToken", "/sessions/tokens", "live"
	o.Status, o.Idempotent, o.ShowsSecret, o.FailsClosed, o.Items = http.StatusCreated, true, true, true, contract.SessionTicketItem
	o.Errors = []problem.Code{
		problem.InsufficientMinutes, problem.FeatureNotInPlan, problem.AccountPaused, problem.Conflict, problem.DuoNotLive, problem.FaceNotReady,
		problem.ConcurrencyLimit, problem.NotFound, problem.CandidateInterview,
	}
	o.Summary = "Start a live session: mint the token by which its client connects"
	o.Description = "A place is kept for the client until connectBy; the session is live, and costs minutes, from the moment the client connects. " +
		"The token is shown in this answer only and opens this one session."
	route.Handle(s, o, a.mint)
}

// MintInput is the request for a session.
type MintInput struct{ Body SessionInput }

// SessionInput is a session to be started.
type SessionInput struct {
	PersonaID        string            `json:"personaId" maxLength:"80" doc:"Who speaks."`
	AvatarID         string            `json:"avatarId,omitempty" maxLength:"80" doc:"Another face than the persona's."`
	VoiceID          string            `json:"voiceId,omitempty" maxLength:"80" doc:"Another voice than the persona's."`
	Language         string            `json:"language,omitempty" maxLength:"40" doc:"A code or a name; the persona's unless given."`
	Channel          string            `json:"channel,omitempty" enum:"video,voice,chat" doc:"video unless given."`
	Transport        string            `json:"transport,omitempty" enum:"auto,websocket" doc:"auto unless given."`
	Kind             string            `json:"kind,omitempty" enum:"conversation,practice,assessment" doc:"conversation unless given."`
	Context          string            `json:"context,omitempty" maxLength:"8000" doc:"What a connected model is told of this conversation."`
	Variables        map[string]string `json:"variables,omitempty" doc:"Stand for {{name}} in the persona's texts; at most 50."`
	Greeting         *string           `json:"greeting,omitempty" maxLength:"2000" doc:"Said first, in the place of the persona's greeting; empty for none."`
	KnowledgeBaseIDs []string          `json:"knowledgeBaseIds,omitempty" maxItems:"20" doc:"Packs to answer from, in the place of the persona's."`
	DocumentTags     []string          `json:"documentTags,omitempty" maxItems:"20" doc:"Answers rest on documents with one of these tags alone."`
	MaxDurationS     int64             `json:"maxDurationS,omitempty" minimum:"30" maximum:"7200" doc:"Never more than the plan or the persona allows."`
	IdleTimeoutS     int64             `json:"idleTimeoutS,omitempty" minimum:"15" maximum:"1800" doc:"300 unless given."`
	ExternalID       *string           `json:"externalId,omitempty" maxLength:"200"`
	Metadata         map[string]string `json:"metadata,omitempty" doc:"At most 20 keys of at most 40 characters, values of at most 500."`
	AllowedOrigins   []string          `json:"allowedOrigins,omitempty" maxItems:"20" doc:"Origins of the pages that may connect; any unless given."`
	Sandbox          bool              `json:"sandbox,omitempty" doc:"At most 60 seconds, and no minutes. Always so with a test key."`
	Supersedes       string            `json:"supersedes,omitempty" maxLength:"80" nullable:"true" doc:"A session that ends as superseded so that this one can have its place."`
}

// SessionTicket is what a client needs to connect.
type SessionTicket struct {
	Session        Session       `json:"session"`
	Token          session.Token `json:"token" doc:"Opens this session. It is never shown again."`
	TokenExpiresAt time.Time     `json:"tokenExpiresAt"`
	ConnectBy      time.Time     `json:"connectBy"`
	Transport      Transport     `json:"transport"`
	Face           TicketFace    `json:"face"`
	Limits         TicketLimits  `json:"limits"`
}

// Transport is where a client connects.
type Transport struct {
	Kind string `json:"kind" enum:"websocket"`
	URL  string `json:"url" format:"uri"`
}

// TicketFace is what a client shows.
type TicketFace struct {
	AvatarID   id.Avatar `json:"avatarId"`
	PreviewURL string    `json:"previewUrl" format:"uri"`
	AssetsURL  string    `json:"assetsUrl" format:"uri" doc:"What to load for the renderer."`
}

// TicketLimits are the session's bounds and how many are live.
type TicketLimits struct {
	MaxDurationS          int64  `json:"maxDurationS"`
	IdleTimeoutS          int64  `json:"idleTimeoutS"`
	ActiveSessions        *int64 `json:"activeSessions" doc:"null for a visitor, who is not told."`
	MaxConcurrentSessions *int64 `json:"maxConcurrentSessions" doc:"null for no limit, and for a visitor."`
}

func (a *API) mint(ctx context.Context, c *route.Call, in *MintInput) (SessionTicket, error) {
	r, err := read(in.Body)
	if err != nil {
		return SessionTicket{}, err
	}
	r.host = host{c.Principal.Org, c.Principal.Terms}
	r.Sandbox = r.Sandbox || c.Principal.Key.Environment == apikey.Test
	if err := r.admitted("personas"); err != nil {
		return SessionTicket{}, err
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (SessionTicket, error) {
		ticket, err := a.start(ctx, c, tx, r)
		if err != nil {
			return SessionTicket{}, err
		}
		ticket.Limits.MaxConcurrentSessions = r.terms.Limits[plan.MaxConcurrentSessions]
		s := ticket.Session
		return ticket, activity.Record(ctx, tx, c.Did("session.created", "session", s.ID.String(), map[string]any{"personaId": s.PersonaID}))
	})
}

// host is the organisation of a session, and what it may have.
type host struct {
	organization directory.Organization
	terms        plan.Terms
}

// admitted refuses every session of an organisation that is paused or whose plan
// lacks a feature.
func (h host) admitted(features ...string) error {
	if h.organization.PausedAt != nil {
		return problem.New(problem.AccountPaused, "The account is paused, so no session can start.")
	}
	for _, feature := range features {
		if !h.terms.Has(feature) {
			return problem.New(problem.FeatureNotInPlan, "The plan %s does not include %s, so no session can start.", h.terms.Plan.Name, feature).
				WithDetail("feature", feature)
		}
	}
	return nil
}

// start enters the session that is asked for, whoever asks.
func (a *API) start(ctx context.Context, c *route.Call, tx *tenant.Tx, r request) (SessionTicket, error) {
	p, err := persona.Load(ctx, tx, r.persona)
	if err != nil {
		return SessionTicket{}, asPersonaProblem(err)
	}
	if p.Duo != nil {
		if err := r.admitted("duos"); err != nil {
			return SessionTicket{}, err
		}
	}
	if err := p.Startable(c.Now()); err != nil {
		return SessionTicket{}, persona.AsProblem(err)
	}
	s, err := a.plan(ctx, c.Now(), tx, p, r)
	if err != nil {
		return SessionTicket{}, err
	}
	return a.enter(ctx, c, tx, s, r, p.Definition.Limits.DailySessions)
}

// enter enters the session, after the one it supersedes has ended.
func (a *API) enter(ctx context.Context, c *route.Call, tx *tenant.Tx, s session.Session, r request, daily *int64) (SessionTicket, error) {
	if !r.supersedes.IsZero() {
		if err := supersede(ctx, tx, r.supersedes, c.Now()); err != nil {
			return SessionTicket{}, err
		}
	}
	made, err := session.Mint(ctx, tx, s, r.terms, daily)
	if err != nil {
		return SessionTicket{}, asProblem(err)
	}
	minted := made.Session
	avatar := c.URL("/avatars/" + minted.Avatar.String())
	return SessionTicket{
		Session: show(c, minted, session.Detail{}), Token: made.Token, TokenExpiresAt: minted.ConnectBy, ConnectBy: minted.ConnectBy,
		Transport: a.transport(minted.ID),
		Face:      TicketFace{AvatarID: minted.Avatar, PreviewURL: avatar + "/preview", AssetsURL: avatar + "/face"},
		Limits:    TicketLimits{MaxDurationS: minted.MaxDurationS, IdleTimeoutS: minted.IdleTimeoutS, ActiveSessions: &made.Active},
	}, nil
}

func (a *API) transport(s id.Session) Transport {
	return Transport{Kind: "websocket", URL: a.LiveURL + "/live/v1/" + s.String()}
}

// supersede ends a session in another's favour.
func supersede(ctx context.Context, tx *tenant.Tx, which id.Session, now time.Time) error {
	s, err := session.Lock(ctx, tx, which)
	if errors.Is(err, session.ErrUnknown) {
		return problem.Missing("session").WithParam("body.supersedes")
	}
	if err != nil {
		return err
	}
	if err := readable(s, "body.supersedes"); err != nil {
		return err
	}
	_, err = session.End(ctx, tx, which, session.Ending{Reason: session.Superseded, At: now})
	return err
}

func asPersonaProblem(err error) error {
	if errors.Is(err, persona.ErrUnknown) || errors.Is(err, persona.ErrGone) {
		return problem.Missing("persona").WithParam("body.personaId")
	}
	return err
}
