// Package sessions declares the operations on live conversations (spec,
// Sessions).
package sessions

import (
	"context"
	"errors"
	"net/http"
	"time"

	"visavis.dev/api/route"
	"visavis.dev/pkg/avatar"
	"visavis.dev/pkg/connection"
	"visavis.dev/pkg/contract"
	"visavis.dev/pkg/directory"
	"visavis.dev/pkg/id"
	"visavis.dev/pkg/plan"
	"visavis.dev/pkg/problem"
	"visavis.dev/pkg/scope"
	"visavis.dev/pkg/session"
	"visavis.dev/pkg/tenant"
	"visavis.dev/pkg/widget"
)

// API is what the operations work with.
type API struct {
	Tenants *tenant.Tenants
	Library *avatar.Library
	// Organization finds an organisation and what it may have. The error can be
	// directory.ErrUnknown.
	Organization func(ctx context.Context, org id.Org) (directory.Organization, plan.Terms, error)
	// Opener opens the connections to media servers.
	Opener *connection.Opener
	// Visitors tell the visitors of widgets apart.
	Visitors widget.Visitors
	// LiveURL is the address of the sockets, ws:// or wss:// without a path.
	LiveURL string
}

const group = "Sessions"

// Register declares the operations. Those with fixed paths come first: theirs
// would be a session's too.
func (a *API) Register(s *route.Service) {
	read := route.Operation{Group: group, Scope: scope.SessionsRead, Method: http.MethodGet, Class: "read"}
	write := route.Operation{Group: group, Scope: scope.SessionsWrite, Method: http.MethodPost, Class: "write"}
	one := read
	one.Items = contract.SessionItem

	a.registerMint(s, write)
	a.registerOverview(s, read)

	list := one
	list.ID, list.Path, list.Summary = "listSessions", "/sessions", "The organisation's sessions, newest first unless order=asc"
	route.List(s, list, a.list)

	get := one
	get.ID, get.Path, get.Summary = "getSession", "/sessions/{id}", "One session"
	get.Description = "The summary and what was collected need transcripts:read too; they are null without it, and where nobody may read the conversation."
	get.Errors = []problem.Code{problem.CandidateInterview}
	route.Handle(s, get, a.get)

	a.registerChange(s, write)
	a.registerWords(s, read)
	a.registerStaff(s, write)
	a.registerRating(s)
	a.registerVisit(s)
}

// Session is one conversation.
type Session struct {
	ID                   id.Session           `json:"id"`
	State                session.State        `json:"state" enum:"created,live,ended,failed,expired"`
	Kind                 string               `json:"kind" enum:"conversation,practice,assessment,screening,escalation,case,test"`
	Source               string               `json:"source" enum:"api,portal,widget,embed,agent,console"`
	PersonaID            id.Persona           `json:"personaId"`
	PersonaVersion       int64                `json:"personaVersion"`
	AvatarID             id.Avatar            `json:"avatarId"`
	VoiceID              id.Voice             `json:"voiceId"`
	DuoID                *id.Duo              `json:"duoId" nullable:"true"`
	PortalID             *id.Portal           `json:"portalId" nullable:"true"`
	SubjectID            *id.Subject          `json:"subjectId" nullable:"true"`
	WidgetID             *id.Widget           `json:"widgetId" nullable:"true"`
	PersonID             *id.Person           `json:"personId" nullable:"true"`
	MembershipID         *id.Membership       `json:"membershipId" nullable:"true"`
	EscalationID         *id.Escalation       `json:"escalationId" nullable:"true"`
	CaseLinkID           *id.CaseLink         `json:"caseLinkId" nullable:"true"`
	ExternalID           *string              `json:"externalId"`
	Metadata             map[string]string    `json:"metadata"`
	Language             string               `json:"language"`
	LanguagesHeard       []string             `json:"languagesHeard"`
	Engine               string               `json:"engine" enum:"premier,global"`
	Transport            string               `json:"transport" enum:"websocket,livekit"`
	Channel              string               `json:"channel" enum:"video,voice,chat"`
	Sandbox              bool                 `json:"sandbox"`
	StartedAt            *time.Time           `json:"startedAt"`
	LastActivityAt       *time.Time           `json:"lastActivityAt"`
	EndedAt              *time.Time           `json:"endedAt"`
	EndReason            *session.Reason      `json:"endReason" enum:"left,ended_by_api,ended_by_user,ended_by_staff,idle,max_duration,minutes_exhausted,concurrency_reclaimed,connection_lost,superseded,consent_withdrawn,account_paused,moderation,upstream_error,engine_error" nullable:"true"`
	DurationS            *int64               `json:"durationS"`
	BilledS              *int64               `json:"billedS" doc:"Seconds taken from the minutes; none of a sandbox session."`
	MaxDurationS         int64                `json:"maxDurationS"`
	IdleTimeoutS         int64                `json:"idleTimeoutS"`
	TurnCount            int64                `json:"turnCount"`
	Staff                []SessionStaff       `json:"staff"`
	Rating               route.OrNull[Rating] `json:"rating"`
	Summary              *string              `json:"summary" doc:"Written by the avatar."`
	Outcome              *string              `json:"outcome" enum:"resolved,lead,booking,handoff,abandoned,completed" nullable:"true"`
	Collected            map[string]string    `json:"collected" nullable:"true" doc:"What the persona's goals found out, and what a visitor left in the widget's lead form."`
	TranscriptAvailable  bool                 `json:"transcriptAvailable"`
	OnHold               bool                 `json:"onHold"`
	ConversationWithheld *string              `json:"conversationWithheld" enum:"candidate_interview,learner_conversation,zero_retention" nullable:"true"`
	ConnectBy            time.Time            `json:"connectBy" doc:"Until when the place is kept for a client that has not come."`
	CreatedAt            time.Time            `json:"createdAt"`
}

// SessionStaff is a team member who was in the conversation.
type SessionStaff struct {
	StaffID  id.Staff   `json:"staffId"`
	Name     string     `json:"name"`
	Mode     string     `json:"mode" enum:"listen,speak,takeover"`
	JoinedAt time.Time  `json:"joinedAt"`
	LeftAt   *time.Time `json:"leftAt"`
}

// Rating is what somebody thought of the conversation.
type Rating struct {
	Score int64 `json:"score"`
	Scale int64 `json:"scale"`
}

// show makes the answer's form of a session.
func show(c *route.Call, s session.Session, d session.Detail) Session {
	shown := Session{
		ID: s.ID, State: s.State, Kind: s.Kind, Source: s.Source, PersonaID: s.Persona, PersonaVersion: s.PersonaVersion,
		AvatarID: s.Avatar, VoiceID: s.Voice, ExternalID: s.ExternalID, Metadata: s.Metadata, Language: s.Language,
		LanguagesHeard: s.LanguagesHeard, Engine: s.Engine, Transport: s.Transport, Channel: s.Channel, Sandbox: s.Sandbox,
		StartedAt: route.UTC(s.StartedAt), LastActivityAt: route.UTC(s.LastActivityAt), EndedAt: route.UTC(s.EndedAt), EndReason: s.EndReason,
		DurationS: s.DurationS, BilledS: s.BilledS, MaxDurationS: s.MaxDurationS, IdleTimeoutS: s.IdleTimeoutS, TurnCount: s.TurnCount,
		Staff: []SessionStaff{}, Outcome: s.Outcome, OnHold: s.OnHold, ConversationWithheld: s.Withheld,
		TranscriptAvailable: s.Withheld == nil && d.Words, ConnectBy: s.ConnectBy.UTC(), CreatedAt: s.CreatedAt.UTC(),
	}
	shown.DuoID, shown.PortalID, shown.SubjectID, shown.WidgetID = s.Duo.OrNil(), s.Portal.OrNil(), s.Subject.OrNil(), s.Widget.OrNil()
	shown.PersonID, shown.MembershipID = s.Person.OrNil(), s.Membership.OrNil()
	shown.EscalationID, shown.CaseLinkID = s.Escalation.OrNil(), s.CaseLink.OrNil()
	for _, k := range d.Staff {
		shown.Staff = append(shown.Staff, SessionStaff{k.ID, k.Name, k.Mode, k.JoinedAt.UTC(), route.UTC(k.LeftAt)})
	}
	if s.RatingScore != nil {
		shown.Rating.Value = &Rating{*s.RatingScore, *s.RatingScale}
	}
	if readsWords(c) && s.Withheld == nil {
		shown.Summary, shown.Collected = s.Summary, s.Collected
	}
	return shown
}

// readsWords says whether the key may read conversations (Authentication, 6).
func readsWords(c *route.Call) bool {
	return c.Principal != nil && c.Principal.Key.Grant().Holds(scope.TranscriptsRead)
}

// shown reads what is told beside a session and makes its answer's form.
func (a *API) shown(ctx context.Context, c *route.Call, s session.Session) (Session, error) {
	details, err := session.Details(ctx, a.Tenants, c.Org(), []id.Session{s.ID})
	return show(c, s, details[s.ID]), err
}

// Path names a session.
type Path struct {
	ID string `path:"id" doc:"The session's id, with or without sess_."`
}

func (p Path) session() (id.Session, error) { return route.Lookup(id.ParseSession, p.ID, "session") }

// find finds a session that the API may show. A job interview is never read as
// a session (Errors, candidate_interview).
func (a *API) find(ctx context.Context, c *route.Call, p Path) (session.Session, error) {
	wanted, err := p.session()
	if err != nil {
		return session.Session{}, err
	}
	s, err := session.Get(ctx, a.Tenants, c.Org(), wanted)
	if err != nil {
		return s, asProblem(err)
	}
	return s, readable(s, "path.id")
}

// readable refuses job interviews; param is what named the session.
func readable(s session.Session, param string) error {
	if s.Kind == session.Screening {
		return problem.New(problem.CandidateInterview, "A job interview is not read as a session.").WithParam(param)
	}
	return nil
}

func (a *API) get(ctx context.Context, c *route.Call, p *Path) (Session, error) {
	s, err := a.find(ctx, c, *p)
	if err != nil {
		return Session{}, err
	}
	return a.shown(ctx, c, s)
}

// asProblem says what the errors of package session are to a caller.
func asProblem(err error) error {
	switch {
	case errors.Is(err, session.ErrUnknown):
		return problem.Missing("session").WithParam("path.id")
	case errors.Is(err, session.ErrOver):
		return problem.New(problem.SessionEnded, "The session has ended.").WithParam("path.id")
	}
	return err
}

// since2026 is the contract that the additions appeared in.
const since2026 = contract.V20261001
