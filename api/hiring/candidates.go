package hiring

import (
	"context"
	"errors"
	"net/http"

	"visavis.dev/api/jobs"
	"visavis.dev/api/route"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/hiring/candidate"
	"visavis.dev/pkg/hiring/role"
	"visavis.dev/pkg/hiring/screening"
	"visavis.dev/pkg/store/tenant"
)

func (a *API) registerCandidates(s *route.Service) {
	list := route.Operation{
		ID: "listCandidates", Group: group, Method: http.MethodGet, Path: "/roles/{id}/candidates", Class: "read", Scope: scope.CandidatesRead,
		Items: contract.CandidateItem, Summary: "The candidates of a role, newest first",
		Description: "Who was erased is listed where their state is asked for.",
	}
	route.List(s, list, a.listCandidates)

	get := list
	get.ID, get.Path, get.Summary, get.Errors = "getCandidate", "/candidates/{id}", "One candidate", []problem.Code{problem.Gone}
	get.Description = "The scorecard is advice for whoever reviewed the interview: it is null before. Where the role is blind, name and contact are null until the candidate is " +
		"decided on (advance, reject, hire or withdrawn)."
	route.Handle(s, get, a.getCandidate)

	update := get
	update.ID, update.Method, update.Class, update.Scope, update.AndScope = "updateCandidate", http.MethodPatch, "write", scope.CandidatesWrite, scope.CandidatesData
	update.Since, update.Errors = contract.V20261001, []problem.Code{problem.Gone, problem.Conflict, problem.VersionConflict, problem.OnHold}
	update.Summary = "Correct a candidate's name or contact"
	update.Description = "What is not sent stays. The record says which of them was corrected. What was mailed to another address before opens nothing any more: " +
		"POST /invites/{id}/resend makes a new link. Of who is held nothing is corrected."
	route.Handle(s, update, a.updateCandidate)

	review := get
	review.ID, review.Method, review.Path, review.Class, review.Scope = "reviewCandidate", http.MethodPost, "/candidates/{id}/review", "write", scope.CandidatesWrite
	review.Since, review.Errors = contract.V20261001, []problem.Code{problem.Gone, problem.Conflict}
	review.Summary = "Note that a person has read a candidate's interview"
	review.Description = "It releases the scorecard. The reviewer is one of the role's hiring managers. Reasons of 409 conflict: not_screened, " +
		"interview_in_progress, already_reviewed."
	route.Handle(s, review, a.review)

	decide := review
	decide.ID, decide.Path, decide.Since, decide.Idempotent = "decideCandidate", "/candidates/{id}/decision", "", true
	decide.Summary = "Record a person's decision"
	decide.Description = "decidedBy is one of the role's hiring managers: nobody is decided on by a program. An interview that was held must be reviewed first: " +
		"409 conflict with the reason not_reviewed. reject, hire and withdrawn are final: 409 conflict with the reason decision_already_made. " +
		"advance and hold can be followed by another decision, and so can any whose appeal was granted: the one before stays on record. With notify, the candidate is mailed, with the explanation if there is one."
	route.Handle(s, decide, a.decide)

	explain := review
	explain.ID, explain.Path, explain.Idempotent = "explainDecision", "/candidates/{id}/explanation", true
	explain.Errors = []problem.Code{problem.Gone, problem.Conflict}
	explain.Summary = "Mail a candidate why it was decided so"
	explain.Description = "For a decision that was made without notify, or without an explanation. explainedBy is one of the role's hiring managers. Once the mail " +
		"is sent, compliance has explanationSentAt. Reasons of 409 conflict: not_decided, also while an appeal has people decide once more; no_address, no_mail."
	route.Handle(s, explain, a.explain)

	for _, hold := range []struct {
		id, path, summary string
		on                bool
	}{
		{"holdCandidate", "hold", "Keep a candidate as they are: nothing of them is deleted", true},
		{"unholdCandidate", "unhold", "Let what is due to be deleted of a candidate be deleted again", false},
	} {
		o := review
		o.ID, o.Path, o.Summary, o.Description, o.Errors = hold.id, "/candidates/{id}/"+hold.path, hold.summary, "", []problem.Code{problem.Gone}
		route.Handle(s, o, func(ctx context.Context, c *route.Call, p *CandidatePath) (Candidate, error) {
			return a.hold(ctx, c, p, hold.on)
		})
	}

	erase := review
	erase.ID, erase.Method, erase.Path, erase.AndScope = "eraseCandidate", http.MethodDelete, "/candidates/{id}", scope.CandidatesData
	erase.Items, erase.Status, erase.Errors = "", http.StatusAccepted, []problem.Code{problem.Gone, problem.OnHold}
	erase.Summary = "Erase a candidate"
	erase.Description = "Their details are gone at once, and their invite opens nothing any more. The job deletes what they said and what was scored. What was " +
		"done about them, without any of their words, stays on record."
	route.Handle(s, erase, a.erase)

	interview := get
	interview.ID, interview.Path, interview.Class, interview.Scope = "getCandidateInterview", "/candidates/{id}/interview", "heavy", scope.CandidatesData
	interview.Items, interview.Summary = "", "A candidate's interview: what was asked and said, and what was scored"
	interview.Description = "Scores are null before the interview was reviewed: whoever reviews reads what was said first. Where the role is blind, the candidate's name and contacts " +
		"are blanked out of what was said, until they are decided on. 404 where there was no interview."
	route.Handle(s, interview, a.interview)
}

// CandidateQuery filters and pages a role's candidates.
type CandidateQuery struct {
	RolePath
	route.Paging
	State string `query:"state" maxLength:"200" doc:"One or more of the states, separated by commas; all but erased unless given."`
}

func (a *API) listCandidates(ctx context.Context, c *route.Call, q *CandidateQuery) (route.Page[Candidate], error) {
	r, err := a.findRole(ctx, c, &q.RolePath)
	if err != nil {
		return route.Page[Candidate]{}, err
	}
	var held map[id.Screening]screening.Screening
	return route.Listed(c, q.Paging, func(after id.Candidate, limit int) ([]candidate.Candidate, error) {
		states, err := route.Several("state", q.State, candidate.States())
		if err != nil {
			return nil, err
		}
		found, err := candidate.List(ctx, a.Tenants, c.Org(), r.ID, candidate.Filter{States: states}, after, limit)
		if err != nil {
			return nil, err
		}
		var which []id.Screening
		for _, x := range found {
			if !x.Screening.IsZero() {
				which = append(which, x.Screening)
			}
		}
		held, err = screening.Several(ctx, a.Tenants, c.Org(), which)
		return found, err
	}, func(x candidate.Candidate) id.Candidate { return x.ID }, func(x candidate.Candidate) Candidate {
		if i, ok := held[x.Screening]; ok {
			return a.show(c, x, &r, &i)
		}
		return a.show(c, x, &r, nil)
	})
}

// CandidatePath names a candidate.
type CandidatePath struct {
	ID string `path:"id" doc:"The candidate's id, with or without cand_."`
}

func (p *CandidatePath) candidate() (id.Candidate, error) {
	return route.Lookup(id.ParseCandidate, p.ID, "candidate")
}

func (a *API) getCandidate(ctx context.Context, c *route.Call, p *CandidatePath) (Candidate, error) {
	which, err := p.candidate()
	if err != nil {
		return Candidate{}, err
	}
	x, err := candidate.Get(ctx, a.Tenants, c.Org(), which)
	if err != nil {
		return Candidate{}, err
	}
	c.SetVersion(x.Edition)
	return a.shown(ctx, c, x)
}

// shown is a candidate with what is read beside their row.
func (a *API) shown(ctx context.Context, c *route.Call, x candidate.Candidate) (Candidate, error) {
	r, err := role.Get(ctx, a.Tenants, c.Org(), x.Role)
	if err != nil || x.Screening.IsZero() {
		return a.show(c, x, &r, nil), err
	}
	i, err := screening.Get(ctx, a.Tenants, c.Org(), x.Screening)
	return a.show(c, x, &r, &i), err
}

// changed is shown in the transaction that changed the candidate.
func (a *API) changed(ctx context.Context, c *route.Call, tx *tenant.Tx, x candidate.Candidate) (Candidate, error) {
	c.SetVersion(x.Edition)
	r, err := role.Find(ctx, tx, x.Role)
	if err != nil || x.Screening.IsZero() {
		return a.show(c, x, &r, nil), err
	}
	i, err := screening.Find(ctx, tx, x.Screening)
	return a.show(c, x, &r, &i), err
}

// ReviewInput is the request to note a review.
type ReviewInput struct {
	CandidatePath
	Body ReviewWish
}

// ReviewWish says who has read an interview.
type ReviewWish struct {
	ReviewerID string `json:"reviewerId" minLength:"1" maxLength:"80" doc:"Who has read it: one of the role's hiring managers."`
}

func (a *API) review(ctx context.Context, c *route.Call, in *ReviewInput) (Candidate, error) {
	which, err := in.candidate()
	if err != nil {
		return Candidate{}, err
	}
	by, err := id.ParsePerson(in.Body.ReviewerID)
	if err != nil {
		return Candidate{}, problem.Invalid("body.reviewerId", "That is not the id of a person.")
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (Candidate, error) {
		x, err := candidate.Review(ctx, tx, which, by, c.Actor())
		if err != nil {
			return Candidate{}, err
		}
		return a.changed(ctx, c, tx, x)
	})
}

// DecisionInput is the request to record a decision.
type DecisionInput struct {
	CandidatePath
	Body DecisionWish
}

// DecisionWish is what a person decides.
type DecisionWish struct {
	Decision    candidate.Value `json:"decision" enum:"advance,reject,hold,hire,withdrawn" doc:"What is decided; withdrawn where the candidate said that they withdraw."`
	DecidedBy   string          `json:"decidedBy" minLength:"1" maxLength:"80" doc:"Who decides: one of the role's hiring managers."`
	ReasonCode  string          `json:"reasonCode" pattern:"^[a-z][a-z0-9_]{0,79}$" doc:"Why, by a code of your own."`
	Note        *string         `json:"note,omitempty" maxLength:"4000" nullable:"true" doc:"Your own note, which no candidate reads."`
	Notify      bool            `json:"notify,omitempty" doc:"Whether the candidate is mailed what was decided."`
	Explanation string          `json:"explanation,omitempty" maxLength:"4000" doc:"Why, for the candidate; with notify."`
}

func (a *API) decide(ctx context.Context, c *route.Call, in *DecisionInput) (Candidate, error) {
	which, err := in.candidate()
	if err != nil {
		return Candidate{}, err
	}
	b := in.Body
	v := candidate.Verdict{Value: b.Decision, ReasonCode: b.ReasonCode, Note: b.Note, Explanation: b.Explanation}
	if v.By, err = id.ParsePerson(b.DecidedBy); err != nil {
		return Candidate{}, problem.Missing("person").WithParam("body.decidedBy")
	}
	if b.Explanation != "" && !b.Notify {
		return Candidate{}, problem.Invalid("body.explanation", "It is mailed with the decision: set notify, or leave it out.")
	}
	if v.Outbox, err = a.outbox(b.Notify, "body.notify"); err != nil {
		return Candidate{}, err
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (Candidate, error) {
		x, err := candidate.Decide(ctx, tx, which, v, c.Actor())
		if err != nil {
			return Candidate{}, inviteProblem(err)
		}
		if v.Value == candidate.Drop {
			if err := a.voluntary().TakeBack(ctx, tx, which); err != nil {
				return Candidate{}, err
			}
		}
		return a.changed(ctx, c, tx, x)
	})
}

func (a *API) hold(ctx context.Context, c *route.Call, p *CandidatePath, on bool) (Candidate, error) {
	which, err := p.candidate()
	if err != nil {
		return Candidate{}, err
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (Candidate, error) {
		x, err := candidate.Hold(ctx, tx, which, on, c.Actor())
		if err != nil {
			return Candidate{}, err
		}
		return a.changed(ctx, c, tx, x)
	})
}

func (a *API) erase(ctx context.Context, c *route.Call, p *CandidatePath) (jobs.Job, error) {
	which, err := p.candidate()
	if err != nil {
		return jobs.Job{}, err
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (jobs.Job, error) {
		j, err := candidate.Erase(ctx, tx, which, candidate.ByDeletion, c.Actor())
		return jobs.Show(j), held(err)
	})
}

// held says that the candidate who was named is on hold.
func held(err error) error {
	if errors.Is(err, candidate.ErrOnHold) {
		return problem.New(problem.OnHold, "The candidate is on hold.").WithParam("path.id")
	}
	return err
}

// CandidateUpdate is the request to correct a candidate.
type CandidateUpdate struct {
	CandidatePath
	route.Edition
	Body CandidateChange
}

// CandidateChange is what to change of a candidate. What is not sent stays.
type CandidateChange struct {
	Name  route.Opt[string]     `json:"name,omitzero" minLength:"1" maxLength:"200" doc:"The candidate's full name, in one line."`
	Email route.OptNull[string] `json:"email,omitzero" maxLength:"254" doc:"A mail address that no other candidate of the role has; null to forget it."`
	Phone route.OptNull[string] `json:"phone,omitzero" maxLength:"40" doc:"A phone number, in any form; null or empty to forget it."`
}

func (a *API) updateCandidate(ctx context.Context, c *route.Call, in *CandidateUpdate) (Candidate, error) {
	which, err := in.candidate()
	if err != nil {
		return Candidate{}, err
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (Candidate, error) {
		before, err := candidate.Lock(ctx, tx, which)
		if err != nil {
			return Candidate{}, err
		}
		if err := in.Check(before.Edition, nil); err != nil {
			return Candidate{}, err
		}
		x := before
		if in.Body.Name.Set {
			x.Name = in.Body.Name.Value
		}
		if in.Body.Email.Set {
			x.Email = in.Body.Email.Value
		}
		if in.Body.Phone.Set {
			x.Phone = in.Body.Phone.Value
		}
		if x, err = candidate.Correct(ctx, tx, before, x, c.Actor()); err != nil {
			return Candidate{}, held(err)
		}
		return a.changed(ctx, c, tx, x)
	})
}

// ExplanationInput is the request to mail why something was decided.
type ExplanationInput struct {
	CandidatePath
	Body ExplanationWish
}

// ExplanationWish is why something was decided.
type ExplanationWish struct {
	ExplainedBy string `json:"explainedBy" minLength:"1" maxLength:"80" doc:"Who explains: one of the role's hiring managers."`
	Explanation string `json:"explanation" minLength:"1" maxLength:"4000" doc:"Why, as the candidate reads it."`
}

func (a *API) explain(ctx context.Context, c *route.Call, in *ExplanationInput) (Candidate, error) {
	which, err := in.candidate()
	if err != nil {
		return Candidate{}, err
	}
	by, err := id.ParsePerson(in.Body.ExplainedBy)
	if err != nil {
		return Candidate{}, problem.Missing("person").WithParam("body.explainedBy")
	}
	outbox, err := a.outbox(true, "")
	if err != nil {
		return Candidate{}, err
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (Candidate, error) {
		x, err := candidate.Explain(ctx, tx, which, by, in.Body.Explanation, outbox, c.Actor())
		if err != nil {
			return Candidate{}, inviteProblem(err)
		}
		return a.changed(ctx, c, tx, x)
	})
}
