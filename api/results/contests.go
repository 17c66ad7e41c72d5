package results

import (
	"context"
	"net/http"
	"time"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/learning/result"
	"visavis.dev/pkg/store/tenant"
)

func (a *API) registerContests(s *route.Service) {
	create := route.Operation{
		ID: "createContest", Group: "Results", Method: http.MethodPost, Path: "/results/{id}/contests", Class: "write", Scope: scope.ResultsWrite,
		Since: contract.V20261001, Status: http.StatusCreated, Idempotent: true, Errors: []problem.Code{problem.Conflict, problem.OnHold},
		Summary: "Enter a learner's objection to a released result",
		Description: "The result is contested until it is decided, and stays shown. One that is not released is 409 conflict with the reason " +
			"not_released, one with an open objection already_contested.",
	}
	route.Handle(s, create, a.createContest)

	update := create
	update.ID, update.Method, update.Path, update.Status, update.Idempotent = "updateContest", http.MethodPatch, "/contests/{id}", 0, false
	update.Summary = "Decide an objection"
	update.Description = "The result counts as released again. PATCH /results/{id}/criteria changes scores that were wrong."
	route.Handle(s, update, a.updateContest)
}

// Contest is a learner's objection to a result.
type Contest struct {
	ID        id.Contest `json:"id" doc:"Id of the objection, with the prefix ctst_."`
	ResultID  id.Result  `json:"resultId" doc:"The result."`
	PersonID  id.Person  `json:"personId" doc:"The learner."`
	State     string     `json:"state" enum:"open,upheld,rejected,withdrawn" doc:"open until it is decided."`
	Message   string     `json:"message" doc:"What the learner says."`
	Note      *string    `json:"note" doc:"What was answered; null for nothing."`
	CreatedAt time.Time  `json:"createdAt" doc:"When it was entered, in UTC."`
	DecidedAt *time.Time `json:"decidedAt" doc:"When it was decided, in UTC; null before."`
}

func showContest(k result.Contest, r *result.Result) Contest {
	return Contest{
		ID: k.ID, ResultID: k.Result, PersonID: r.Person, State: k.State, Message: k.Words, Note: k.Note, CreatedAt: k.CreatedAt.UTC(), DecidedAt: route.UTC(k.DecidedAt),
	}
}

// ContestInput is the request to enter an objection.
type ContestInput struct {
	Path
	Body ContestBody
}

// ContestBody is what the learner says.
type ContestBody struct {
	Message string `json:"message" minLength:"1" maxLength:"4000" doc:"What the learner says. It is never part of an event."`
}

func (a *API) createContest(ctx context.Context, c *route.Call, in *ContestInput) (Contest, error) {
	which, err := in.result()
	if err != nil {
		return Contest{}, err
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (Contest, error) {
		r, err := result.Lock(ctx, tx, which)
		if err != nil {
			return Contest{}, err
		}
		k, err := result.Object(ctx, tx, r, in.Body.Message, c.Actor())
		return showContest(k, &r), asProblem(err)
	})
}

// ContestUpdate is the request to decide an objection.
type ContestUpdate struct {
	ID   string `path:"id" doc:"The objection's id, with or without ctst_."`
	Body ContestDecision
}

// ContestDecision is what came of an objection.
type ContestDecision struct {
	State string  `json:"state" enum:"upheld,rejected,withdrawn" doc:"upheld where the learner is right, rejected, or withdrawn by the learner."`
	Note  *string `json:"note,omitempty" maxLength:"4000" nullable:"true" doc:"What is answered."`
}

func (a *API) updateContest(ctx context.Context, c *route.Call, in *ContestUpdate) (Contest, error) {
	which, err := route.Lookup(id.ParseContest, in.ID, "contest")
	if err != nil {
		return Contest{}, err
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (Contest, error) {
		k, r, err := result.FindContest(ctx, tx, which)
		if err != nil {
			return Contest{}, err
		}
		k, _, err = result.Decide(ctx, tx, k, r, in.Body.State, in.Body.Note, c.Actor())
		return showContest(k, &r), asProblem(err)
	})
}
