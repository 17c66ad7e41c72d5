package sessions

import (
	"context"
	"net/http"
	"time"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/tenant"
)

func (a *API) registerStaff(s *route.Service, o route.Operation) {
	o.ID, o.Path, o.Class = "createStaffToken", "/sessions/{id}/staff-token", "live"
	o.Status, o.Idempotent, o.ShowsSecret = http.StatusCreated, true, true
	o.Errors = []problem.Code{problem.SessionEnded, problem.Conflict, problem.CandidateInterview, problem.LearnerConversation}
	o.Summary = "Join a visitor's live conversation as a team member; needs inbox:write too"
	route.Handle(s, o, a.invite)
}

// StaffInput is the request to join.
type StaffInput struct {
	Path
	Body StaffJoining
}

// StaffJoining is who joins, and how.
type StaffJoining struct {
	StaffName string `json:"staffName" minLength:"1" maxLength:"80" doc:"Shown to the visitor."`
	Mode      string `json:"mode" enum:"listen,speak,takeover" doc:"The avatar is quiet while somebody has taken over."`
}

// StaffTicket is what a team member needs to connect.
type StaffTicket struct {
	StaffID   id.Staff      `json:"staffId" doc:"The team member in this session."`
	Token     session.Token `json:"token" doc:"Opens this session for this team member. It is never shown again."`
	ExpiresAt time.Time     `json:"expiresAt" doc:"From when the token connects nobody any more, in UTC."`
	Transport Transport     `json:"transport" doc:"Where the team member connects."`
}

func (a *API) invite(ctx context.Context, c *route.Call, in *StaffInput) (StaffTicket, error) {
	if !c.Principal.Key.Grant().Holds(scope.InboxWrite) {
		return StaffTicket{}, problem.New(problem.Forbidden, "This key lacks the scope %s.", scope.InboxWrite)
	}
	found, err := a.wordsOf(ctx, c, in.Path)
	if err != nil {
		return StaffTicket{}, err
	}
	colleague := session.Colleague{ID: id.NewStaff(), Name: in.Body.StaffName, Mode: in.Body.Mode}
	transport, err := a.staffTransport(ctx, c.Org(), found, colleague, c.Now())
	if err != nil {
		return StaffTicket{}, err
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (StaffTicket, error) {
		s, err := lockLive(ctx, tx, found.ID)
		if err != nil {
			return StaffTicket{}, err
		}
		who := c.Actor()
		token, err := session.Invite(ctx, tx, s, colleague, who)
		return StaffTicket{colleague.ID, token, who.At.Add(session.StaffWithin), transport}, err
	})
}
