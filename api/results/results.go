// Package results declares the operations on what came of practices and assessments: results,
// the reviews of them and the objections to them (spec, Results).
package results

import (
	"context"
	_ "embed"
	"errors"
	"net/http"
	"time"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/learning/certificate"
	"visavis.dev/pkg/learning/result"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/store/file"
	"visavis.dev/pkg/store/tenant"
)

// examples are bodies of requests, by operation.
//
//go:embed examples.json
var examples []byte

// API is what the operations work with.
type API struct {
	Tenants *tenant.Tenants
	Files   *file.Store
	// Registry finds certificates by their numbers.
	Registry *certificate.Registry
}

// Register declares the operations.
func (a *API) Register(s *route.Service) {
	s.Examples(examples)
	a.registerResults(s)
	a.registerReviews(s)
	a.registerContests(s)
	a.registerRecords(s)
	a.registerCertificates(s)
	a.registerBadges(s)
	a.registerPeople(s)
	a.registerReports(s)
}

const withheld = "Before a result is released, what it is worth is null for a key without results:write: percent, score, band, passed, " +
	"criteria, objectives, scoredBy, confidence. "

func (a *API) registerResults(s *route.Service) {
	read := route.Operation{
		Group: "Results", Method: http.MethodGet, Class: "read", Scope: scope.ResultsRead, Items: contract.ResultItem, Since: contract.V20261001,
	}
	list := read
	list.ID, list.Path, list.Summary = "listResults", "/results", "Results, newest first"
	list.Description = withheld + "A filter by passed then finds released results alone. Rationales and quotes need transcripts:read as well, " +
		"and are never those of a conversation that nobody may read."
	route.List(s, list, a.list)

	get := read
	get.ID, get.Path, get.Summary, get.Description = "getResult", "/results/{id}", "One result with its criteria", list.Description
	route.Handle(s, get, a.get)

	write := read
	write.Method, write.Class, write.Scope = http.MethodPost, "write", scope.ResultsWrite
	write.Errors = []problem.Code{problem.Conflict, problem.OnHold}

	release := write
	release.ID, release.Path, release.Summary = "releaseResult", "/results/{id}/release", "Show a result to whoever may read results"
	release.Description = "An open review is completed by it. A released result is 409 conflict with the reason already_released, one with " +
		"criteria that nobody has judged not_judged."
	route.Handle(s, release, a.release)

	void := write
	void.ID, void.Path, void.Summary = "voidResult", "/results/{id}/void", "Have a result count for nothing"
	void.Description = "The attempt does not count either. One that is not scored yet can be voided once its session is over. It is noted as a review whose outcome is voided, and cannot be taken back."
	route.Handle(s, void, a.void)

	hold := write
	hold.Errors = []problem.Code{problem.Conflict, problem.Gone}
	hold.ID, hold.Path, hold.Summary = "holdResult", "/results/{id}/hold", "Keep a result, and the words that it rests on, as they are"
	hold.Description = "Every change of it is 409 on_hold until it is ended, and its person cannot be erased. Doing so again changes nothing. " +
		"One that is not scored yet is 409 conflict with the reason not_scored, one whose person is being erased 410 gone."
	route.Handle(s, hold, a.hold(true))

	unhold := hold
	unhold.Errors = nil
	unhold.ID, unhold.Path, unhold.Summary = "unholdResult", "/results/{id}/unhold", "End the hold of a result"
	unhold.Description = "Doing so again changes nothing."
	route.Handle(s, unhold, a.hold(false))

	rescore := write
	rescore.ID, rescore.Method, rescore.Path = "rescoreResult", http.MethodPatch, "/results/{id}/criteria"
	rescore.Errors = []problem.Code{problem.Conflict, problem.OnHold, problem.VersionConflict}
	rescore.Summary = "Give criteria another score, for a reason"
	rescore.Description = "Each score then says who decided it, and why. An open review notes what changed. A released result stays released."
	route.Handle(s, rescore, a.rescore)
}

// Path names a result.
type Path struct {
	ID string `path:"id" doc:"The result's id, with or without res_."`
}

func (p *Path) result() (id.Result, error) { return route.Lookup(id.ParseResult, p.ID, "result") }

// Query filters and pages the results.
type Query struct {
	route.Paging
	State     string       `query:"state" maxLength:"200" doc:"One or more of in_progress, awaiting_review, released, contested, withdrawn and voided, separated by commas."`
	SubjectID string       `query:"subjectId" maxLength:"80" doc:"Results of this subject."`
	PortalID  string       `query:"portalId" maxLength:"80" doc:"Results on this portal."`
	PersonID  string       `query:"personId" maxLength:"80" doc:"Results of this person."`
	UnitID    string       `query:"unitId" maxLength:"80" doc:"Results of people in this unit itself, when they began."`
	Passed    string       `query:"passed" enum:"true,false" doc:"Results that passed, or that did not."`
	From      route.Moment `query:"from" doc:"Begun at or after this moment: an ISO date, midnight in UTC, or a date-time."`
	To        route.Moment `query:"to" doc:"Begun before this moment: an ISO date, midnight in UTC, or a date-time."`
}

func (q *Query) filter(c *route.Call) (f result.Filter, err error) {
	if f.States, err = route.Several("state", q.State, result.States()); err != nil {
		return f, err
	}
	if f.Subject, err = route.QueryID(id.ParseSubject, "subjectId", q.SubjectID); err != nil {
		return f, err
	}
	if f.Portal, err = route.QueryID(id.ParsePortal, "portalId", q.PortalID); err != nil {
		return f, err
	}
	if f.Person, err = route.QueryID(id.ParsePerson, "personId", q.PersonID); err != nil {
		return f, err
	}
	if f.Unit, err = route.QueryID(id.ParseUnit, "unitId", q.UnitID); err != nil {
		return f, err
	}
	if q.Passed != "" {
		f.Passed = new(q.Passed == "true")
	}
	f.Unreleased, f.From, f.To = writes(c), moment(q.From.Time), moment(q.To.Time)
	return f, nil
}

func moment(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// writes says whether the caller may change results, and so see those that are not released.
func writes(c *route.Call) bool { return c.Principal.Key.Grant().Holds(scope.ResultsWrite) }

func (a *API) list(ctx context.Context, c *route.Call, q *Query) (route.Page[Result], error) {
	var looks map[id.Result]*result.Look
	return route.Listed(c, q.Paging, func(after id.Result, limit int) ([]result.Result, error) {
		f, err := q.filter(c)
		if err != nil {
			return nil, err
		}
		found, err := result.List(ctx, a.Tenants, c.Org(), f, after, limit)
		if err != nil {
			return nil, err
		}
		looks, err = result.LooksAt(ctx, a.Tenants, c.Org(), found)
		return found, err
	}, func(r result.Result) id.Result { return r.ID }, func(r result.Result) Result { return show(c, r, looks[r.ID]) })
}

func (a *API) get(ctx context.Context, c *route.Call, p *Path) (Result, error) {
	which, err := p.result()
	if err != nil {
		return Result{}, err
	}
	r, err := result.Get(ctx, a.Tenants, c.Org(), which)
	if err != nil {
		return Result{}, err
	}
	return a.shown(ctx, c, r)
}

// shown is a result as the caller may see it.
func (a *API) shown(ctx context.Context, c *route.Call, r result.Result) (Result, error) {
	looks, err := result.LooksAt(ctx, a.Tenants, c.Org(), []result.Result{r})
	if err != nil {
		return Result{}, err
	}
	c.SetVersion(r.Edition)
	return show(c, r, looks[r.ID]), nil
}

// change changes a result, and answers it as it is then: with its words, which no answer that is kept may have.
func (a *API) change(
	ctx context.Context, c *route.Call, p *Path, rule func(context.Context, *tenant.Tx, result.Result) (result.Result, error),
) (Result, error) {
	which, err := p.result()
	if err != nil {
		return Result{}, err
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (Result, error) {
		r, err := result.Lock(ctx, tx, which)
		if err != nil {
			return Result{}, err
		}
		if r, err = rule(ctx, tx, r); err != nil {
			return Result{}, asProblem(err)
		}
		look, err := result.LookIn(ctx, tx, r)
		c.SetVersion(r.Edition)
		return show(c, r, look), err
	})
}

func (a *API) release(ctx context.Context, c *route.Call, p *Path) (Result, error) {
	return a.change(ctx, c, p, func(ctx context.Context, tx *tenant.Tx, r result.Result) (result.Result, error) {
		return result.Release(ctx, tx, r, c.Actor())
	})
}

// VoidInput is the request to have a result count for nothing.
type VoidInput struct {
	Path
	Body VoidBody
}

// VoidBody says why.
type VoidBody struct {
	Reason string `json:"reason" minLength:"1" maxLength:"2000" doc:"Why, for whoever reads the review."`
}

func (a *API) void(ctx context.Context, c *route.Call, in *VoidInput) (Result, error) {
	return a.change(ctx, c, &in.Path, func(ctx context.Context, tx *tenant.Tx, r result.Result) (result.Result, error) {
		return result.Void(ctx, tx, r, in.Body.Reason, c.Actor())
	})
}

func (a *API) hold(on bool) func(context.Context, *route.Call, *Path) (Result, error) {
	return func(ctx context.Context, c *route.Call, p *Path) (Result, error) {
		return a.change(ctx, c, p, func(ctx context.Context, tx *tenant.Tx, r result.Result) (result.Result, error) {
			return result.Hold(ctx, tx, r, on, c.Actor())
		})
	}
}

// RescoreInput is the request for other scores.
type RescoreInput struct {
	Path
	route.Edition
	Body RescoreBody
}

// RescoreBody is what to change, and why.
type RescoreBody struct {
	Criteria []CriterionScore `json:"criteria" minItems:"1" maxItems:"200" doc:"The criteria to change; the others stay."`
	Reason   string           `json:"reason" minLength:"1" maxLength:"2000" doc:"Why, which is kept with each score."`
}

// CriterionScore is another score of a criterion.
type CriterionScore struct {
	Key       string  `json:"key" minLength:"1" maxLength:"100" doc:"The criterion's key in the result."`
	Score     float64 `json:"score" minimum:"0" maximum:"100000" doc:"Its points, maxScore at most."`
	Rationale *string `json:"rationale,omitempty" minLength:"1" maxLength:"2000" nullable:"true" doc:"In place of the rationale that there was."`
}

func (a *API) rescore(ctx context.Context, c *route.Call, in *RescoreInput) (Result, error) {
	to := make([]result.Rescore, len(in.Body.Criteria))
	for i, s := range in.Body.Criteria {
		to[i] = result.Rescore{Key: s.Key, Score: s.Score, Rationale: s.Rationale}
	}
	return a.change(ctx, c, &in.Path, func(ctx context.Context, tx *tenant.Tx, r result.Result) (result.Result, error) {
		if err := in.Check(r.Edition, nil); err != nil {
			return r, err
		}
		return result.Change(ctx, tx, r, to, in.Body.Reason, c.Actor())
	})
}

// asProblem says what the errors of results are to a caller.
func asProblem(err error) error {
	if _, held := errors.AsType[*result.HeldError](err); held {
		return problem.New(problem.OnHold, "The result is on hold. POST /results/{id}/unhold ends that.")
	}
	if errdefs.IsAbsent(err, person.Noun) {
		return route.At(err, "path.id") // the person of what the path names
	}
	return err
}
