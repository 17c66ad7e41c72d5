// Package sessions declares the operations on live conversations (spec,
// Sessions).
package sessions

import (
	"context"
	_ "embed"
	"errors"
	"net/http"
	"time"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/personas/avatar"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/portals/widget"
	"visavis.dev/pkg/sessions/recording"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/directory"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/visits/admission"
)

// examples are bodies of requests, by operation.
//
//go:embed examples.json
var examples []byte

// API is what the operations work with.
type API struct {
	Tenants *tenant.Tenants
	Library *avatar.Library
	// Organization finds an organization and what it may have. The error can be
	// directory.ErrUnknown.
	Organization func(ctx context.Context, org id.Org) (directory.Organization, plan.Terms, error)
	// Opener opens the connections to media servers.
	Opener *connection.Opener
	// Counted counts the visitors of widgets against budgets of their own.
	Counted admission.Visitors
	// Visitors tell the visitors of widgets apart.
	Visitors widget.Visitors
	// LiveURL is the address of the sockets, ws:// or wss:// without a path.
	LiveURL string
	// PortalURL is where the pages are, without a path.
	PortalURL string
	// Recordings sign the links to recordings.
	Recordings recording.Links
}

const group = "Sessions"

// Register declares the operations. Those with fixed paths come first: theirs
// would be a session's too.
func (a *API) Register(s *route.Service) {
	s.Examples(examples)
	read := route.Operation{Group: group, Scope: scope.SessionsRead, Method: http.MethodGet, Class: "read"}
	write := route.Operation{Group: group, Scope: scope.SessionsWrite, Method: http.MethodPost, Class: "write"}
	one := read
	one.Items = contract.SessionItem

	a.registerMint(s, write)
	a.registerOverview(s, read)

	list := one
	list.ID, list.Path, list.Summary = "listSessions", "/sessions", "The organization's sessions, newest first unless order=asc"
	route.List(s, list, a.list)

	get := one
	get.ID, get.Path, get.Summary = "getSession", "/sessions/{id}", "One session"
	get.Description = "The summary and what was collected need transcripts:read too; they are null without it, and where nobody may read the conversation."
	get.Errors = []problem.Code{problem.CandidateInterview}
	route.Handle(s, get, a.get)

	a.registerChange(s, write)
	a.registerWords(s, read)
	a.registerRecording(s, read)
	a.registerStaff(s, write)
	a.registerRating(s)
	a.registerVisit(s)
}

// Session is one conversation.
type Session struct {
	ID                   id.Session           `json:"id" doc:"Id of the session, with the prefix sess_."`
	State                session.State        `json:"state" enum:"created,live,ended,failed,expired" doc:"created until the user connects, live, or over."`
	Kind                 string               `json:"kind" enum:"conversation,practice,assessment,screening,escalation,case,test" doc:"What the conversation is for."`
	Source               string               `json:"source" enum:"api,portal,widget,embed,agent,console" doc:"Where it was started from."`
	PersonaID            id.Persona           `json:"personaId" doc:"The persona that speaks."`
	PersonaVersion       int64                `json:"personaVersion" doc:"The version of the persona that speaks."`
	AvatarID             id.Avatar            `json:"avatarId" doc:"The face that is shown."`
	VoiceID              id.Voice             `json:"voiceId" doc:"The voice that is heard."`
	DuoID                *id.Duo              `json:"duoId" nullable:"true" doc:"The duo that speaks; null for a single face."`
	PortalID             *id.Portal           `json:"portalId" nullable:"true" doc:"The portal that it takes place in; null for none."`
	SubjectID            *id.Subject          `json:"subjectId" nullable:"true" doc:"The subject that it is about; null for none."`
	WidgetID             *id.Widget           `json:"widgetId" nullable:"true" doc:"The widget that it was started from; null for none."`
	PersonID             *id.Person           `json:"personId" nullable:"true" doc:"The person who talks; null where nobody signed in."`
	MembershipID         *id.Membership       `json:"membershipId" nullable:"true" doc:"The user's place in a portal; null for none."`
	AssignmentID         *id.Assignment       `json:"assignmentId" nullable:"true" doc:"The assignment that it is part of; null for none."`
	EscalationID         *id.Escalation       `json:"escalationId" nullable:"true" doc:"The chat that was handed over to it; null for none."`
	CaseLinkID           *id.CaseLink         `json:"caseLinkId" nullable:"true" doc:"The link to a case that it began with; null for none."`
	ExternalID           *string              `json:"externalId" doc:"Its id in your own system; null where none was given."`
	Metadata             map[string]string    `json:"metadata" doc:"Your own notes on it: at most 20 keys of 40 characters, with values of 500."`
	Language             string               `json:"language" doc:"The language that it began in, as a code."`
	LanguagesHeard       []string             `json:"languagesHeard" doc:"The languages that the user spoke, by code, in the order that they came up."`
	Engine               string               `json:"engine" enum:"premier,global" doc:"The voice engine that it runs on."`
	Transport            string               `json:"transport" enum:"websocket,webrtc,livekit" doc:"What it goes over: a socket of ours, WebRTC beside one, or a room of a LiveKit server."`
	Channel              string               `json:"channel" enum:"video,voice,chat" doc:"What the user sees and hears: a face, a voice, or text alone."`
	Sandbox              bool                 `json:"sandbox" doc:"Whether it is a trial, which is short and costs nothing."`
	StartedAt            *time.Time           `json:"startedAt" doc:"When the user connected, in UTC; null before."`
	LastActivityAt       *time.Time           `json:"lastActivityAt" doc:"When somebody last said something, in UTC; null for never."`
	EndedAt              *time.Time           `json:"endedAt" doc:"When it ended, in UTC; null before."`
	EndReason            *session.Reason      `json:"endReason" enum:"left,ended_by_api,ended_by_user,ended_by_staff,idle,max_duration,minutes_exhausted,concurrency_reclaimed,connection_lost,superseded,consent_withdrawn,account_paused,moderation,upstream_error,engine_error" nullable:"true" doc:"Why it ended; null before."`
	DurationS            *int64               `json:"durationS" doc:"How long it lasted, in seconds; null before it ends."`
	BilledS              *int64               `json:"billedS" doc:"Seconds taken from the minutes; none of a sandbox session."`
	MaxDurationS         int64                `json:"maxDurationS" doc:"How long it may last, in seconds."`
	IdleTimeoutS         int64                `json:"idleTimeoutS" doc:"After how many seconds of silence it ends."`
	TurnCount            int64                `json:"turnCount" doc:"How many turns were taken."`
	Staff                []SessionStaff       `json:"staff" doc:"Team members who joined, in the order that they came."`
	Rating               route.OrNull[Rating] `json:"rating" doc:"What the user thought of it; null where they did not say."`
	Summary              *string              `json:"summary" doc:"Written by the avatar."`
	Outcome              *string              `json:"outcome" enum:"resolved,lead,booking,handoff,abandoned,completed" nullable:"true" doc:"What came of it; null where that is not known."`
	Collected            map[string]string    `json:"collected" nullable:"true" doc:"What the persona's goals found out, and what a visitor left in the widget's lead form."`
	TranscriptAvailable  bool                 `json:"transcriptAvailable" doc:"Whether its words are kept and can be read with transcripts:read."`
	RecordingAvailable   bool                 `json:"recordingAvailable" doc:"Whether it was recorded, and can be heard with transcripts:read."`
	OnHold               bool                 `json:"onHold" doc:"Whether a hold keeps it from being changed or erased."`
	ConversationWithheld *string              `json:"conversationWithheld" enum:"candidate_interview,learner_conversation,zero_retention" nullable:"true" doc:"Why its words cannot be read; null where they can."`
	ConnectBy            time.Time            `json:"connectBy" doc:"Until when the place is kept for a client that has not come."`
	CreatedAt            time.Time            `json:"createdAt" doc:"When it was asked for, in UTC."`
}

// SessionStaff is a team member who was in the conversation.
type SessionStaff struct {
	StaffID  id.Staff   `json:"staffId" doc:"The team member in this session."`
	Name     string     `json:"name" doc:"What they are called."`
	Mode     string     `json:"mode" enum:"listen,speak,takeover" doc:"Whether they listen, speak beside the avatar, or speak in its place."`
	JoinedAt time.Time  `json:"joinedAt" doc:"When they joined, in UTC."`
	LeftAt   *time.Time `json:"leftAt" doc:"When they left, in UTC; null while they are there."`
}

// Rating is what somebody thought of the conversation.
type Rating struct {
	Score int64 `json:"score" doc:"The score, from 1."`
	Scale int64 `json:"scale" doc:"The best score that could be given."`
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
		TranscriptAvailable: s.Withheld == nil && d.Words, RecordingAvailable: s.Withheld == nil && d.Recorded, ConnectBy: s.ConnectBy.UTC(), CreatedAt: s.CreatedAt.UTC(),
	}
	shown.DuoID, shown.PortalID, shown.SubjectID, shown.WidgetID = s.Duo.OrNil(), s.Portal.OrNil(), s.Subject.OrNil(), s.Widget.OrNil()
	shown.PersonID, shown.MembershipID, shown.AssignmentID = s.Person.OrNil(), s.Membership.OrNil(), s.Assignment.OrNil()
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

// asProblem says that a session is not there any more, or not for the caller.
func asProblem(err error) error {
	if errors.Is(err, session.ErrOver) {
		return problem.New(problem.SessionEnded, "The session has ended.").WithParam("path.id")
	}
	return err
}

// since2026 is the contract that the additions appeared in.
const since2026 = contract.V20261001
