package sessions

import (
	"context"
	"net/http"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/problem"
)

func (a *API) registerChange(s *route.Service, write route.Operation) {
	shown := write
	shown.Items = contract.SessionItem

	steer := shown
	steer.ID, steer.Method, steer.Path = "updateSession", http.MethodPatch, "/sessions/{id}"
	steer.Also = []int{http.StatusAccepted}
	steer.Errors = []problem.Code{problem.SessionEnded, problem.Conflict, problem.CandidateInterview}
	steer.Summary = "Steer a live session"
	steer.Description = "context is appended to what is known, instructions replace the persona's for this conversation. " +
		"metadata can be changed at any time; everything else needs a session that is live. The answer waits until the conversation goes by the " +
		"change, which is a moment. Where it does not within a second, since its process is busy or has just died, the answer is 202: the change " +
		"is kept, and the conversation goes by it as soon as it goes on."
	route.Handle(s, steer, a.steer)

	remove := shown
	remove.Errors = []problem.Code{problem.CandidateInterview}
	remove.ID, remove.Method, remove.Path = "deleteSession", http.MethodDelete, "/sessions/{id}"
	remove.Summary = "End a session, as POST /sessions/{id}/end does"
	route.Handle(s, remove, func(ctx context.Context, c *route.Call, p *Path) (Session, error) {
		return a.end(ctx, c, &EndInput{Path: *p})
	})

	end := shown
	end.Errors = []problem.Code{problem.CandidateInterview}
	end.ID, end.Path, end.Summary = "endSession", "/sessions/{id}/end", "End a session, which stops billing"
	end.Description = "Of a session that has ended before, the answer is the session as it is."
	route.Handle(s, end, a.end)

	say := write
	say.ID, say.Path, say.Status, say.Idempotent = "saySession", "/sessions/{id}/say", http.StatusAccepted, true
	say.Errors = []problem.Code{problem.SessionEnded, problem.Conflict, problem.CandidateInterview}
	say.Summary = "Make the avatar speak exact text now"
	route.Handle(s, say, a.say)

	respond := write
	respond.ID, respond.Path, respond.Status, respond.Idempotent = "respondSession", "/sessions/{id}/respond", http.StatusAccepted, true
	respond.Since, respond.Errors = since2026, []problem.Code{problem.SessionEnded, problem.Conflict, problem.CandidateInterview}
	respond.Summary = "Answer a text as if the user had said it"
	route.Handle(s, respond, a.respond)
}
