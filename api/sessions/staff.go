package sessions

import (
	"context"
	"net/http"
	"time"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/sessions/inbox"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/tenant"
)

func (a *API) registerStaff(s *route.Service, o route.Operation) {
	o.ID, o.Path, o.Class = "createStaffToken", "/sessions/{id}/staff-token", "live"
	o.Status, o.Idempotent, o.ShowsSecret, o.Items = http.StatusCreated, true, true, contract.StaffTicketItem
	o.Errors = []problem.Code{problem.SessionEnded, problem.Conflict, problem.CandidateInterview, problem.LearnerConversation}
	o.Summary = "Join a visitor's live conversation as a team member; needs inbox:write too"
	o.Description = "Who joins is shown the last 100 turns and hears the rest, whether or not the key has transcripts:read."
	route.Handle(s, o, a.invite)

	join := o
	join.ID, join.Path, join.Group, join.Scope, join.AndScope = "joinInboxItem", "/inbox/{id}/join", "Inbox", scope.InboxWrite, scope.SessionsWrite
	join.Summary = "Join the conversation of a hand-off as a team member"
	join.Description = "The token is as that of POST /sessions/{id}/staff-token, and shows the last 100 turns. Once it is used, the hand-off says who joined and how long the visitor waited, " +
		"and webhooks receive handoff.joined. What is no hand-off is 409 conflict with the reason not_a_handoff."
	route.Handle(s, join, a.join)
}

// JoinInput is the request to join the conversation of a hand-off.
type JoinInput struct {
	ID   string `path:"id" doc:"The item's id, with or without inb_."`
	Body StaffJoining
}

func (a *API) join(ctx context.Context, c *route.Call, in *JoinInput) (StaffTicket, error) {
	which, err := route.Lookup(id.ParseInboxItem, in.ID, string(inbox.Noun))
	if err != nil {
		return StaffTicket{}, err
	}
	i, err := inbox.Get(ctx, a.Tenants, c.Org(), which)
	if err != nil {
		return StaffTicket{}, err
	}
	if i.Kind != inbox.Handoff {
		return StaffTicket{}, problem.Conflicting(inbox.ReasonNotHandoff, "Nobody asked for a person: only hand-offs are joined.").WithParam("path.id")
	}
	return a.letIn(ctx, c, Path{i.Session.String()}, in.Body)
}

// StaffInput is the request to join.
type StaffInput struct {
	Path
	Body StaffJoining
}

// StaffJoining is who joins, and how.
type StaffJoining struct {
	StaffName string `json:"staffName" minLength:"1" maxLength:"80" doc:"Shown to the visitor. Control characters, and those that turn the direction of text, are left out."`
	Mode      string `json:"mode" enum:"listen,speak,takeover" doc:"How they come in: they listen, speak beside the avatar, or take over, while which the avatar is silent. Each may switch to those before it."`
}

// StaffTicket is what a team member needs to connect.
type StaffTicket struct {
	StaffID   id.Staff      `json:"staffId" doc:"The team member in this session."`
	Token     session.Token `json:"token" doc:"Opens this session for this team member. It is never shown again."`
	ExpiresAt time.Time     `json:"expiresAt" doc:"By when the token must be used, in UTC. Once it was, it connects for 30 seconds more, and resumeToken of session-ready takes its place."`
	Transport Transport     `json:"transport" doc:"Where the team member connects: to the room of a media server where the session takes place there, though token opens the socket of the session too."`
	JoinURL   string        `json:"joinUrl" format:"uri" doc:"A page that joins the conversation in any browser, to be opened by expiresAt. It has the token behind the #, where no server sees it: give it to the one team member."`
}

func (a *API) invite(ctx context.Context, c *route.Call, in *StaffInput) (StaffTicket, error) {
	if !c.Principal.Key.Grant().Holds(scope.InboxWrite) {
		return StaffTicket{}, problem.New(problem.Forbidden, "This key lacks the scope %s.", scope.InboxWrite)
	}
	return a.letIn(ctx, c, in.Path, in.Body)
}

// letIn makes a team member's ticket for a session.
func (a *API) letIn(ctx context.Context, c *route.Call, p Path, who StaffJoining) (StaffTicket, error) {
	found, err := a.wordsOf(ctx, c, p)
	if err != nil {
		return StaffTicket{}, err
	}
	name := session.ShownName(who.StaffName)
	if name == "" {
		return StaffTicket{}, problem.Invalid("body.staffName", "The name has nothing that can be shown.")
	}
	colleague := session.Colleague{ID: id.NewStaff(), Name: name, Mode: who.Mode}
	transport, err := a.staffTransport(ctx, c.Org(), found, colleague, c.Now())
	if err != nil {
		return StaffTicket{}, err
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (StaffTicket, error) {
		s, err := lockLive(ctx, tx, found.ID)
		if err != nil {
			return StaffTicket{}, err
		}
		by := c.Actor()
		token, err := session.Invite(ctx, tx, s, colleague, by)
		return StaffTicket{
			StaffID: colleague.ID, Token: token, ExpiresAt: by.At.Add(session.StaffWithin), Transport: transport,
			JoinURL: session.StaffURL(a.PortalURL, s.ID, string(token)),
		}, err
	})
}
