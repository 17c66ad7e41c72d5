package result

import (
	"context"
	"encoding/json"
	"time"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/store/tenant"
)

// attempt are the fields that say what a result is of, and whose.
func (r *Result) attempt() map[string]any {
	fields := map[string]any{
		"resultId": r.ID.String(), "sessionId": r.Session.String(), "subjectId": r.Subject.String(), "portalId": r.Portal.String(),
		"personId": r.Person.String(), "membershipId": r.Membership.String(), "attempt": r.Attempt,
	}
	if !r.Unit.IsZero() {
		fields["unitId"] = r.Unit.String()
	}
	if !r.Assignment.IsZero() {
		fields["assignmentId"] = r.Assignment.String()
	}
	return fields
}

func (r *Result) draft(t event.Type, at time.Time, fields map[string]any) event.Draft {
	return event.Draft{Type: t, At: at, Fields: fields, Session: r.Session, Subject: r.Subject}
}

// scored is score.recorded.
func (r *Result) scored(at time.Time) event.Draft {
	fields := r.attempt()
	fields["scoredBy"], fields["rubricVersion"], fields["recordedAt"] = r.ScoredBy, r.RubricVersion, at.UTC()
	return r.draft(event.ScoreRecorded, at, fields)
}

// completed is assessment.completed.
func (r *Result) completed(ctx context.Context, tx *tenant.Tx, at time.Time) (event.Draft, error) {
	fields := r.attempt()
	fields["state"], fields["completedAt"] = r.State, moment(r.CompletedAt)
	if r.AttemptsAllowed != nil {
		_, used, err := attempts(ctx, tx, r.Person, r.Subject, r.Kind, r.Assignment)
		if err != nil {
			return event.Draft{}, err
		}
		fields["attemptsLeft"] = max(0, *r.AttemptsAllowed-used)
	}
	return r.draft(event.AssessmentCompleted, at, fields), nil
}

// contested is result.contested.
func (r *Result) contested(k Contest, at time.Time) event.Draft {
	fields := r.attempt()
	fields["contestId"], fields["state"], fields["contestedAt"] = k.ID.String(), k.State, at.UTC()
	return r.draft(event.ResultContested, at, fields)
}

// Sources read what results are worth for events, from their rows as they are now: nothing
// of one that is not released.
func Sources(t *tenant.Tenants) map[event.Type]event.Source {
	return map[event.Type]event.Source{
		event.ScoreRecorded: scoreSource(t, criteriaOf), event.AssessmentCompleted: scoreSource(t, nil), event.CompletionRecorded: scoreSource(t, nil),
		event.AssignmentCompleted: scoreSource(t, nil), event.ReviewCompleted: reviewSource(t),
	}
}

// named are the ids in an event.
type named struct {
	Result id.Result `json:"resultId"`
	Review id.Review `json:"reviewId"`
}

// read finds the result that an event is about.
func read(ctx context.Context, t *tenant.Tenants, e event.Event) (n named, r Result, gone bool, err error) {
	if err := json.Unmarshal(e.Structure, &n); err != nil {
		return n, r, false, err
	}
	if n.Result.IsZero() {
		return n, r, false, nil // a completion, of a subject or an assignment, that rests on none
	}
	r, err = Get(ctx, t, e.Org, n.Result)
	if errdefs.IsNotFound(err, Noun) {
		return n, r, true, nil
	}
	return n, r, false, err
}

// Worth are the result fields of events of a result that is shown.
func (r *Result) Worth() map[string]any {
	fields := map[string]any{"maxScore": r.MaxScore}
	if r.Percent != nil {
		fields["percent"], fields["score"] = *r.Percent, *r.Score
	}
	if r.Passed != nil {
		fields["passed"], fields["band"] = *r.Passed, *r.Band
	}
	return fields
}

func scoreSource(t *tenant.Tenants, more func(Result) any) event.Source {
	return func(ctx context.Context, e event.Event, _ bool) (event.Detail, error) {
		_, r, gone, err := read(ctx, t, e)
		switch {
		case gone:
			return event.Detail{Standing: event.Gone}, nil
		case err != nil, !r.Shown():
			return event.Detail{}, err
		}
		fields := r.Worth()
		if more != nil {
			fields["criteria"] = more(r)
		}
		return event.Detail{Fields: fields}, nil
	}
}

// criteriaOf are the scores of the criteria.
func criteriaOf(r Result) any {
	list := make([]map[string]any, len(r.Criteria))
	for i, c := range r.Criteria {
		list[i] = map[string]any{"key": c.Key, "score": c.Score, "maxScore": c.MaxScore}
	}
	return list
}

func reviewSource(t *tenant.Tenants) event.Source {
	return func(ctx context.Context, e event.Event, _ bool) (event.Detail, error) {
		n, r, gone, err := read(ctx, t, e)
		switch {
		case gone:
			return event.Detail{Standing: event.Gone}, nil
		case err != nil, !r.Shown():
			return event.Detail{}, err
		case n.Review.IsZero():
			return event.Detail{}, errNoReview
		}
		v, err := tenant.One(ctx, t, e.Org, scanReview, ReviewNoun.NotFound(n.Review), selectReview, e.Org, n.Review)
		if err != nil {
			return event.Detail{}, err
		}
		fields := r.Worth()
		if v.PreviousPercent != nil {
			fields["previousPercent"] = *v.PreviousPercent
		}
		return event.Detail{Fields: fields}, nil
	}
}
