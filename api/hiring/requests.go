package hiring

import (
	"context"
	"net/http"
	"time"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/hiring/candidate"
	"visavis.dev/pkg/store/tenant"
)

func (a *API) registerRequests(s *route.Service) {
	list := route.Operation{
		ID: "listCandidateRequests", Group: group, Method: http.MethodGet, Path: "/roles/{id}/requests", Class: "read", Scope: scope.CandidatesRead,
		Items: contract.CandidateRequestItem, Summary: "What candidates of a role ask for, newest first",
		Description: "Candidates ask on their page: for their data, a correction or an erasure of it, an explanation, an accommodation, another way than the " +
			"interview, a further one, or that a decision is looked at again. The role's hiring managers are mailed when something is asked for, three days before it is due, and when it is overdue. message and answer are shown to keys with candidates:data.",
	}
	route.List(s, list, a.listRequests)

	update := list
	update.ID, update.Method, update.Path, update.Class, update.Scope = "updateCandidateRequest", http.MethodPatch, "/candidate-requests/{id}", "write", scope.CandidatesWrite
	update.AndScope, update.Since = scope.CandidatesData, contract.V20261001
	update.Errors = []problem.Code{problem.Gone, problem.Conflict, problem.VersionConflict, problem.OnHold}
	update.Summary = "Answer what a candidate asks for"
	update.Description = "decidedBy is one of the role's hiring managers. A retake that is granted or done lets the candidate be interviewed once more; an appeal that is granted or done has people decide once more, also as before; an erasure " +
		"that is done erases them, as DELETE /candidates/{id} does. What is declined or done is over. The candidate reads the answer on their page, and is mailed it; of an erasure that is done nobody is left to be mailed. Reasons of 409 " +
		"conflict: request_state, no_retakes_left, not_screened, decision_already_made, candidate_withdrawn."
	route.Handle(s, update, a.updateRequest)
}

// CandidateRequest is something that a candidate asks for.
type CandidateRequest struct {
	ID          id.CandidateRequest    `json:"id" doc:"Id of the request, with the prefix creq_."`
	RoleID      id.Role                `json:"roleId" doc:"The role."`
	CandidateID id.Candidate           `json:"candidateId" doc:"Who asks."`
	Kind        candidate.RequestKind  `json:"kind" enum:"accommodation,human_alternative,data_access,correction,erasure,explanation,appeal,retake" doc:"What they ask for."`
	State       candidate.RequestState `json:"state" enum:"open,granted,declined,done" doc:"open until it is answered. granted is done later; declined and done are over. What was open when the candidate was erased is done."`
	DueAt       time.Time              `json:"dueAt" doc:"By when it is to be answered, in UTC."`
	Message     *string                `json:"message" doc:"What the candidate says; for keys with candidates:data, and null for nothing and once they are erased."`
	Answer      *string                `json:"answer" doc:"What was answered; null likewise."`
	DecidedBy   *id.Person             `json:"decidedBy" nullable:"true" doc:"Who answered; null before, and where it ended with an erasure."`
	DecidedAt   *time.Time             `json:"decidedAt" doc:"When it was last answered, in UTC; null before."`
	CreatedAt   time.Time              `json:"createdAt" doc:"When they asked, in UTC."`
	UpdatedAt   time.Time              `json:"updatedAt" doc:"When something of it last changed, in UTC."`
}

// showRequest shows a request, its words redacted.
func showRequest(c *route.Call, q candidate.Request, redact func(string) string) CandidateRequest {
	shown := CandidateRequest{
		ID: q.ID, RoleID: q.Role, CandidateID: q.Candidate, Kind: q.Kind, State: q.State, DueAt: q.DueAt.UTC(), DecidedBy: q.DecidedBy.OrNil(),
		DecidedAt: route.UTC(q.DecidedAt), CreatedAt: q.CreatedAt.UTC(), UpdatedAt: q.UpdatedAt.UTC(),
	}
	if c.Principal.Key.Grant().Holds(scope.CandidatesData) {
		shown.Message, shown.Answer = redacted(q.Message, redact), redacted(q.Answer, redact)
	}
	return shown
}

func redacted(words *string, redact func(string) string) *string {
	if words == nil {
		return nil
	}
	return new(redact(*words))
}

// RequestsQuery filters and pages what a role's candidates ask for.
type RequestsQuery struct {
	RolePath
	route.Paging
	State       string `query:"state" maxLength:"100" doc:"One or more of open, granted, declined and done, separated by commas."`
	CandidateID string `query:"candidateId" maxLength:"80" doc:"Requests of this candidate."`
}

func (a *API) listRequests(ctx context.Context, c *route.Call, q *RequestsQuery) (route.Page[CandidateRequest], error) {
	r, err := a.findRole(ctx, c, &q.RolePath)
	if err != nil {
		return route.Page[CandidateRequest]{}, err
	}
	var of map[id.Candidate]candidate.Candidate
	return route.Listed(c, q.Paging, func(after id.CandidateRequest, limit int) ([]candidate.Request, error) {
		var (
			f   candidate.RequestFilter
			err error
		)
		if f.States, err = route.Several("state", q.State, candidate.RequestStates()); err != nil {
			return nil, err
		}
		if f.Candidate, err = route.QueryID(id.ParseCandidate, "candidateId", q.CandidateID); err != nil {
			return nil, err
		}
		found, err := candidate.ListRequests(ctx, a.Tenants, c.Org(), r.ID, f, after, limit)
		if err != nil || !r.Blind {
			return found, err
		}
		which := make([]id.Candidate, len(found))
		for i, q := range found {
			which[i] = q.Candidate
		}
		of, err = candidate.Several(ctx, a.Tenants, c.Org(), which)
		return found, err
	}, func(q candidate.Request) id.CandidateRequest { return q.ID }, func(q candidate.Request) CandidateRequest {
		x := of[q.Candidate]
		return showRequest(c, q, x.Redact(&r))
	})
}

// RequestUpdate is the request to answer what a candidate asks for.
type RequestUpdate struct {
	ID string `path:"id" doc:"The request's id, with or without creq_."`
	route.Edition
	Body RequestAnswer
}

// RequestAnswer is an answer to what a candidate asks for.
type RequestAnswer struct {
	State     candidate.RequestState `json:"state" enum:"granted,declined,done" doc:"granted where it is done later, which an erasure is not; declined; or done."`
	DecidedBy string                 `json:"decidedBy" minLength:"1" maxLength:"80" doc:"Who answers: one of the role's hiring managers."`
	Answer    string                 `json:"answer,omitempty" maxLength:"4000" doc:"What the candidate reads; needed where it is declined. Unless given, what was answered before stays."`
}

func (a *API) updateRequest(ctx context.Context, c *route.Call, in *RequestUpdate) (CandidateRequest, error) {
	which, err := route.Lookup(id.ParseCandidateRequest, in.ID, "candidate request")
	if err != nil {
		return CandidateRequest{}, err
	}
	reply := candidate.Reply{
		State: in.Body.State, Answer: in.Body.Answer, Outbox: a.Gate.Mails, Check: func(q candidate.Request) error { return in.Check(q.Edition, nil) },
	}
	if reply.By, err = id.ParsePerson(in.Body.DecidedBy); err != nil {
		return CandidateRequest{}, problem.Missing("person").WithParam("body.decidedBy")
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (CandidateRequest, error) {
		q, err := candidate.Answer(ctx, tx, which, reply, c.Actor())
		if err != nil {
			return CandidateRequest{}, ofInvite(inviteProblem(held(err)))
		}
		c.SetVersion(q.Edition)
		redact, err := candidate.RedactOf(ctx, tx, q.Candidate)
		return showRequest(c, q, redact), err
	})
}
