package hiring

import (
	"context"
	"net/http"
	"time"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/hiring/screening"
)

func (a *API) registerScreenings(s *route.Service) {
	route.List(s, route.Operation{
		ID: "listScreenings", Group: group, Method: http.MethodGet, Path: "/roles/{id}/screenings", Class: "read", Scope: scope.CandidatesRead, Since: contract.V20261001,
		Summary: "The interviews with the avatar of a role, newest first",
		Description: "Every interview that candidates began with the avatar, those that were cut off and do not count among them. What was said is read with " +
			"GET /candidates/{id}/interview.",
	}, a.listScreenings)
}

// HeldInterview is an interview without what was said.
type HeldInterview struct {
	ID          id.Screening    `json:"id" doc:"Id of the interview, with the prefix scr_."`
	RoleID      id.Role         `json:"roleId" doc:"The role."`
	CandidateID id.Candidate    `json:"candidateId" doc:"Whose interview it is."`
	SessionID   id.Session      `json:"sessionId" doc:"The session, which is not read as one."`
	State       screening.State `json:"state" enum:"in_progress,scored,voided" doc:"voided where it does not count: nobody came, or it was cut off by no fault of the candidate."`
	Language    string          `json:"language" doc:"The language that it is held in, as a code."`
	Questions   int64           `json:"questions" doc:"How many questions were to be asked."`
	Answered    int64           `json:"answered" doc:"How many were answered; 0 before it is over."`
	Complete    bool            `json:"complete" doc:"Whether all were."`
	StartedAt   time.Time       `json:"startedAt" doc:"When it was begun, in UTC."`
	EndedAt     *time.Time      `json:"endedAt" doc:"When it was over, in UTC; null before."`
	DurationS   *int64          `json:"durationS" doc:"How long it took, in seconds; null before it is over, and where nobody came."`
}

func showHeld(i screening.Screening) HeldInterview {
	return HeldInterview{
		ID: i.ID, RoleID: i.Role, CandidateID: i.Candidate, SessionID: i.Session, State: i.State, Language: i.Language, Questions: int64(len(i.Asked)),
		Answered: i.Answered, Complete: i.Complete, StartedAt: i.StartedAt.UTC(), EndedAt: route.UTC(i.EndedAt), DurationS: i.DurationS,
	}
}

func (a *API) listScreenings(ctx context.Context, c *route.Call, q *OfRole) (route.Page[HeldInterview], error) {
	r, err := a.findRole(ctx, c, &q.RolePath)
	if err != nil {
		return route.Page[HeldInterview]{}, err
	}
	return route.Listed(c, q.Paging, func(after id.Screening, limit int) ([]screening.Screening, error) {
		return screening.List(ctx, a.Tenants, c.Org(), r.ID, after, limit)
	}, func(i screening.Screening) id.Screening { return i.ID }, showHeld)
}
