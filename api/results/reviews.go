package results

import (
	"context"
	"net/http"
	"time"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/learning/result"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/store/tenant"
)

func (a *API) registerReviews(s *route.Service) {
	list := route.Operation{
		ID: "listReviews", Group: "Results", Method: http.MethodGet, Path: "/reviews", Class: "read", Scope: scope.ResultsRead,
		Since: contract.V20261001, Summary: "Reviews of results, newest first",
		Description: "Before the result is released, changes are null for a key without results:write.",
	}
	route.List(s, list, a.listReviews)

	write := list
	write.Class, write.Scope, write.Description = "write", scope.ResultsWrite, ""
	write.Errors = []problem.Code{problem.Conflict, problem.OnHold, problem.Gone}

	create := write
	create.ID, create.Method, create.Path = "createReview", http.MethodPost, "/results/{id}/reviews"
	create.Status, create.Idempotent = http.StatusCreated, true
	create.Errors = append(create.Errors, problem.NotFound)
	create.Summary = "Ask a person to look at a result"
	create.Description = "A result has one open review at a time; another is 409 conflict with the reason review_open. A released result stays released."
	route.Handle(s, create, a.createReview)

	update := write
	update.ID, update.Method, update.Path = "updateReview", http.MethodPatch, "/reviews/{id}"
	update.Summary = "Change a review, or complete it"
	update.Description = "An outcome completes it: changed where PATCH /results/{id}/criteria changed a score meanwhile, upheld where none did, " +
		"voided to have the result count for nothing. A result that waits is released by POST /results/{id}/release."
	route.Handle(s, update, a.updateReview)
}

// Review is a person's look at a result.
type Review struct {
	ID          id.Review     `json:"id" doc:"Id of the review, with the prefix rvw_."`
	ResultID    id.Result     `json:"resultId" doc:"The result."`
	PersonID    id.Person     `json:"personId" doc:"Whose result it is."`
	State       string        `json:"state" enum:"open,completed" doc:"open until it has an outcome."`
	RequestedBy string        `json:"requestedBy" doc:"platform, or the id of the key or person that asked for it."`
	ReasonCode  string        `json:"reasonCode" doc:"Why: low_confidence, not_judged, interrupted and flagged are the platform's, the last of which is needs_review in events and without results:write, voided is of a result that was voided; others are your own."`
	AssigneeID  *id.Person    `json:"assigneeId" nullable:"true" doc:"Who is to make it; null for nobody yet."`
	DueAt       *time.Time    `json:"dueAt" doc:"By when, in UTC; null for no time."`
	Outcome     *string       `json:"outcome" enum:"upheld,changed,voided" nullable:"true" doc:"What came of it; null before."`
	Changes     []ScoreChange `json:"changes" nullable:"true" doc:"The scores that changed meanwhile."`
	Note        *string       `json:"note" doc:"What was noted with it; null for nothing, and without results:write."`
	CreatedAt   time.Time     `json:"createdAt" doc:"When it was asked for, in UTC."`
	CompletedAt *time.Time    `json:"completedAt" doc:"When it was completed, in UTC; null before."`
}

// ScoreChange is what a review changed of a criterion.
type ScoreChange struct {
	Criterion string   `json:"criterion" doc:"The criterion's key."`
	From      *float64 `json:"from" doc:"The points before; null where nobody had judged it."`
	To        float64  `json:"to" doc:"The points since."`
}

func showReview(c *route.Call, v result.Reviewed) Review {
	shown := Review{
		ID: v.ID, ResultID: v.Result, PersonID: v.Person, State: v.State, RequestedBy: v.RequestedBy, ReasonCode: v.Why(), AssigneeID: v.Assignee.OrNil(),
		DueAt: route.UTC(v.DueAt), Outcome: v.Outcome, CreatedAt: v.CreatedAt.UTC(), CompletedAt: route.UTC(v.CompletedAt),
	}
	if writes(c) {
		shown.Note, shown.ReasonCode = v.Note, v.ReasonCode
	}
	if !sees(c, v.Shown) {
		return shown
	}
	shown.Changes = []ScoreChange{}
	for _, change := range v.Changes {
		shown.Changes = append(shown.Changes, ScoreChange(change))
	}
	return shown
}

// ReviewQuery filters and pages the reviews.
type ReviewQuery struct {
	route.Paging
	State      string `query:"state" enum:"open,completed" doc:"Only reviews in this state."`
	ResultID   string `query:"resultId" maxLength:"80" doc:"Reviews of this result."`
	AssigneeID string `query:"assigneeId" maxLength:"80" doc:"Reviews that this person is to make."`
}

func (a *API) listReviews(ctx context.Context, c *route.Call, q *ReviewQuery) (route.Page[Review], error) {
	return route.Listed(c, q.Paging, func(after id.Review, limit int) ([]result.Reviewed, error) {
		f := result.ReviewFilter{State: q.State}
		var err error
		if f.Result, err = route.QueryID(id.ParseResult, "resultId", q.ResultID); err != nil {
			return nil, err
		}
		if f.Assignee, err = route.QueryID(id.ParsePerson, "assigneeId", q.AssigneeID); err != nil {
			return nil, err
		}
		return result.ListReviews(ctx, a.Tenants, c.Org(), f, after, limit)
	}, func(v result.Reviewed) id.Review { return v.ID }, func(v result.Reviewed) Review { return showReview(c, v) })
}

// ReviewInput is the request for a review.
type ReviewInput struct {
	Path
	Body ReviewBody
}

// ReviewBody says why, by whom and by when.
type ReviewBody struct {
	ReasonCode string     `json:"reasonCode" pattern:"^[a-z][a-z0-9_]{0,39}$" doc:"Why, in a word of your own, such as appeal."`
	AssigneeID *string    `json:"assigneeId,omitempty" maxLength:"80" nullable:"true" doc:"The person who is to make it; nobody unless given."`
	DueAt      *time.Time `json:"dueAt,omitempty" nullable:"true" doc:"By when."`
	Note       *string    `json:"note,omitempty" maxLength:"2000" nullable:"true" doc:"For whoever makes it."`
}

func (a *API) createReview(ctx context.Context, c *route.Call, in *ReviewInput) (Review, error) {
	which, err := in.result()
	if err != nil {
		return Review{}, err
	}
	ask := result.Ask{Reason: in.Body.ReasonCode, DueAt: in.Body.DueAt, Note: in.Body.Note}
	if ask.Assignee, err = assignee(in.Body.AssigneeID); err != nil {
		return Review{}, err
	}
	if err := checkDue(in.Body.DueAt); err != nil {
		return Review{}, err
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (Review, error) {
		r, err := result.Lock(ctx, tx, which)
		if err != nil {
			return Review{}, err
		}
		v, err := result.AskReview(ctx, tx, r, ask, c.Actor())
		if err != nil {
			return Review{}, reviewProblem(err)
		}
		return showReview(c, v.With(&r)), nil
	})
}

func checkDue(at *time.Time) error {
	if at == nil {
		return nil
	}
	return route.CheckTime("body.dueAt", *at)
}

func assignee(text *string) (id.Person, error) {
	if text == nil {
		return id.Person{}, nil
	}
	p, err := id.ParsePerson(*text)
	if err != nil {
		return p, problem.Missing("person").WithParam("body.assigneeId")
	}
	return p, nil
}

func reviewProblem(err error) error {
	if errdefs.IsAbsent(err, person.Noun) {
		return route.At(err, "body.assigneeId")
	}
	return asProblem(err)
}

// ReviewPath names a review.
type ReviewPath struct {
	ID string `path:"id" doc:"The review's id, with or without rvw_."`
}

// ReviewUpdate is the request for a change of a review.
type ReviewUpdate struct {
	ReviewPath
	Body ReviewChange
}

// ReviewChange is what to change of a review.
type ReviewChange struct {
	AssigneeID route.OptNull[string]    `json:"assigneeId,omitzero" maxLength:"80" doc:"The person who is to make it; null for nobody yet."`
	DueAt      route.OptNull[time.Time] `json:"dueAt,omitzero" doc:"By when; null for no time."`
	Note       route.OptNull[string]    `json:"note,omitzero" maxLength:"2000" doc:"What is noted with it; null for nothing."`
	Outcome    route.Opt[string]        `json:"outcome,omitzero" enum:"upheld,changed,voided" doc:"Completes the review."`
}

func (b *ReviewChange) change() (to result.ReviewChange, err error) {
	if b.AssigneeID.Set {
		p, err := assignee(b.AssigneeID.Value)
		if err != nil {
			return to, err
		}
		to.Assignee = &p
	}
	if b.DueAt.Set {
		if err := checkDue(b.DueAt.Value); err != nil {
			return to, err
		}
		to.DueAt = &b.DueAt.Value
	}
	if b.Note.Set {
		to.Note = &b.Note.Value
	}
	to.Outcome = b.Outcome.Ptr()
	return to, nil
}

func (a *API) updateReview(ctx context.Context, c *route.Call, in *ReviewUpdate) (Review, error) {
	which, err := route.Lookup(id.ParseReview, in.ID, "review")
	if err != nil {
		return Review{}, err
	}
	to, err := in.Body.change()
	if err != nil {
		return Review{}, err
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (Review, error) {
		v, r, err := result.FindReview(ctx, tx, which)
		if err != nil {
			return Review{}, err
		}
		v, r, err = result.UpdateReview(ctx, tx, v, r, to, c.Actor())
		if err != nil {
			return Review{}, reviewProblem(err)
		}
		return showReview(c, v.With(&r)), nil
	})
}
