package assignment

import (
	"context"
	"encoding/json"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/tenant"
)

// done is what somebody did for an assignment.
type done struct {
	sessions    []talk
	results     []outcome
	completions []record
}

// talk is a session that began.
type talk struct {
	ID        id.Session
	State     session.State
	StartedAt time.Time
	EndedAt   *time.Time
	Reason    *session.Reason
	// Spoke says that the person said something.
	Spoke bool
}

// held says whether the conversation was held to an end that is no fault and no break.
func (s talk) held() bool {
	return s.State == session.Ended && s.EndedAt != nil && s.Spoke && (s.Reason == nil || s.Reason.Orderly())
}

// outcome is a result that counts as an attempt.
type outcome struct {
	ID          id.Result
	Session     id.Session
	Attempt     int64
	State       string
	Passed      *bool
	StartedAt   time.Time
	CompletedAt *time.Time
}

// shown says whether anybody may know what it is worth.
func (o outcome) shown() bool { return o.State == "released" || o.State == "contested" }

// passes says whether the assignment is done by it, as far as anybody may know.
func (o outcome) passes() bool { return o.shown() && (o.Passed == nil || *o.Passed) }

// at is when it was done.
func (o outcome) at() time.Time {
	if o.CompletedAt != nil {
		return *o.CompletedAt
	}
	return o.StartedAt
}

// record is a completion that was entered by hand, or by the result.
type record struct {
	ID          id.Completion
	Result      id.Result
	CompletedAt time.Time
}

// IsAttempt is the condition of a result r with its session s, where that is there still, that
// counts as an attempt: not one to which nobody came, nor one that was voided. Who breaks one off
// by taking their consent back has seen the questions.
const IsAttempt = `r.state <> 'voided' AND s.state IS DISTINCT FROM 'expired'`

// look finds what somebody did for an assignment. It rides session_by_person, result_by_person
// and completion_by_person.
func (a *Assignment) look(ctx context.Context, tx *tenant.Tx, who id.Person) (d done, err error) {
	if d.sessions, err = tenant.AllIn(ctx, tx, pgx.RowToStructByPos[talk], `
		SELECT id, state, started_at, ended_at, end_reason, languages_heard <> '{}' FROM session
		WHERE org_id = $1 AND person_id = $2 AND assignment_id = $3 AND started_at IS NOT NULL ORDER BY started_at, id`, tx.Org, who, a.ID); err != nil {
		return d, err
	}
	if d.results, err = tenant.AllIn(ctx, tx, pgx.RowToStructByPos[outcome], `
		SELECT r.id, r.session_id, r.attempt, r.state, r.passed, r.started_at, r.completed_at
		FROM result r LEFT JOIN session s ON s.org_id = r.org_id AND s.id = r.session_id
		WHERE r.org_id = $1 AND r.person_id = $2 AND r.assignment_id = $3 AND `+IsAttempt+` ORDER BY r.id`, tx.Org, who, a.ID); err != nil {
		return d, err
	}
	d.completions, err = tenant.AllIn(ctx, tx, pgx.RowToStructByPos[record], `
		SELECT k.id, k.result_id, k.completed_at FROM completion k
		WHERE k.org_id = $1 AND k.person_id = $2 AND `+a.completes()+` ORDER BY k.completed_at, k.id`, append([]any{tx.Org, who}, a.window()...)...)
	return d, err
}

// completes is the condition of a completion k of the subject in the time of the assignment, of
// which window has the values from $3 on.
func (*Assignment) completes() string {
	return `k.subject_id = $3 AND k.withdrawn_at IS NULL AND k.completed_at >= $4 AND ($5::TIMESTAMPTZ IS NULL OR k.completed_at < $5)`
}

func (a *Assignment) window() []any { return []any{a.Subject, a.opened(), a.ClosesAt} }

// take notes what somebody did. What was learned stays so once the conversation is forgotten.
func (p *Progress) take(a *Assignment, d done) {
	if len(d.sessions) > 0 && (p.StartedAt == nil || d.sessions[0].StartedAt.Before(*p.StartedAt)) {
		p.StartedAt = &d.sessions[0].StartedAt
	}
	if a.Kind == Learn {
		p.Attempts = max(p.Attempts, int64(len(d.sessions)))
		p.learn(d)
	} else {
		p.Attempts = int64(len(d.results))
		p.score(a, d.results)
	}
	p.Completion = id.Completion{}
	for _, k := range d.completions {
		if !k.Result.IsZero() && k.Result == p.Result {
			p.Completion = k.ID
		}
	}
	for _, k := range d.completions {
		if k.Result.IsZero() && (p.CompletedAt == nil || k.CompletedAt.Before(*p.CompletedAt)) {
			p.CompletedAt, p.Completion = &k.CompletedAt, k.ID
		}
	}
}

// learn: a conversation that was held to its end is enough.
func (p *Progress) learn(d done) {
	if !p.Completion.IsZero() {
		p.CompletedAt = nil // unless the completion is there still
	}
	for _, s := range d.sessions {
		if s.held() && (p.CompletedAt == nil || s.EndedAt.Before(*p.CompletedAt)) {
			p.CompletedAt = s.EndedAt
		}
	}
}

// score: nothing follows from a result before it is released, not even that it is overdue.
func (p *Progress) score(a *Assignment, results []outcome) {
	p.Result, p.CompletedAt, p.Passed, p.Waiting = id.Result{}, nil, false, false
	for _, r := range results {
		if r.State == "withdrawn" {
			continue // an attempt of which nothing came
		}
		at := r.at()
		if !r.shown() {
			p.Waiting = p.Waiting || a.DueAt == nil || !at.After(*a.DueAt)
		}
		p.Passed = p.Passed || r.shown() && r.Passed != nil && *r.Passed
		if p.CompletedAt != nil {
			continue
		}
		p.Result = r.ID
		if r.passes() {
			p.CompletedAt = &at
		}
	}
}

// Follow notes how far somebody got with an assignment by what they did, and tells of it, unless
// it is not for them any more. Doing so again changes nothing.
func Follow(ctx context.Context, tx *tenant.Tx, which id.Assignment, who id.Person, now time.Time) error {
	a, err := find(ctx, tx, which)
	if errdefs.IsNotFound(err, Noun) {
		return nil
	}
	if err != nil {
		return err
	}
	before, err := lockProgress(ctx, tx, which, who)
	if err != nil || before == nil {
		return err // whose it was is erased
	}
	_, err = a.follow(ctx, tx, before, now)
	return err
}

// follow is Follow of somebody's part, which is locked, and answers how it is now.
func (a *Assignment) follow(ctx context.Context, tx *tenant.Tx, before *Progress, now time.Time) (after Progress, err error) {
	d, err := a.look(ctx, tx, before.Person)
	if err != nil {
		return *before, err
	}
	after = *before
	after.take(a, d)
	after.stand(a, now)
	if err := before.save(ctx, tx, after, now); err != nil || after.LeftAt != nil || after.State == Excused {
		return after, err
	}
	if before.StartedAt == nil && after.StartedAt != nil && len(d.sessions) > 0 {
		event.Emit(tx, a.started(after, d, now))
	}
	if before.CompletedAt == nil && after.CompletedAt != nil {
		event.Emit(tx, a.completed(after, d, now))
	}
	return after, nil
}

// followEach is follow of those of some people who have a completion, which can have come before
// it was for them. It rides completion_by_person and assignment_person_pkey.
func (a *Assignment) followEach(ctx context.Context, tx *tenant.Tx, of []id.Person, now time.Time) error {
	if len(of) == 0 {
		return nil
	}
	found, err := tenant.AllIn(ctx, tx, scanProgress, `
		SELECT `+progressColumns+` FROM assignment_person p
		WHERE p.org_id = $1 AND p.assignment_id = $6 AND p.person_id IN (
			SELECT k.person_id FROM completion k WHERE k.org_id = $1 AND k.person_id = ANY($2) AND `+a.completes()+`)
		ORDER BY p.person_id FOR UPDATE`, append(append([]any{tx.Org, of}, a.window()...), a.ID)...)
	for i := range found {
		if _, err := a.follow(ctx, tx, &found[i], now); err != nil {
			return err
		}
	}
	return err
}

// FollowSubject is Follow of every assignment of a subject that somebody has a part in. It rides
// assignment_person_by_person.
func FollowSubject(ctx context.Context, tx *tenant.Tx, of id.Subject, who id.Person, now time.Time) error {
	all, err := tenant.AllIn(ctx, tx, pgx.RowTo[id.Assignment], `
		SELECT p.assignment_id FROM assignment_person p JOIN assignment a ON a.org_id = p.org_id AND a.id = p.assignment_id
		WHERE p.org_id = $1 AND p.person_id = $2 AND a.subject_id = $3 AND a.state <> 'archived' ORDER BY p.assignment_id`, tx.Org, who, of)
	for _, a := range all {
		if err := Follow(ctx, tx, a, who, now); err != nil {
			return err
		}
	}
	return err
}

// FollowSession is the step of the job that a session queues when it begins and when it ends.
func FollowSession(ctx context.Context, tx *tenant.Tx, j *job.Job, now time.Time) (time.Duration, error) {
	var in session.Assigned
	if err := json.Unmarshal(j.Input, &in); err != nil {
		return 0, err
	}
	j.State = job.Succeeded
	return 0, Follow(ctx, tx, in.Assignment, in.Person, now)
}

// fields say what an event is about, and whom.
func (a *Assignment) fields(p Progress) map[string]any {
	return map[string]any{
		"assignmentId": a.ID.String(), "subjectId": a.Subject.String(), "portalId": a.Portal.String(), "personId": p.Person.String(),
		"membershipId": p.Membership.String(),
	}
}

// started is assignment.started.
func (a *Assignment) started(p Progress, d done, now time.Time) event.Draft {
	fields, first := a.fields(p), d.sessions[0]
	fields["sessionId"], fields["startedAt"], fields["attempt"] = first.ID.String(), p.StartedAt.UTC(), int64(1)
	for _, r := range d.results {
		if r.Session == first.ID {
			fields["attempt"] = r.Attempt
		}
	}
	return event.Draft{Type: event.AssignmentStarted, At: now, Fields: fields, Session: first.ID, Subject: a.Subject}
}

// completed is assignment.completed.
func (a *Assignment) completed(p Progress, d done, now time.Time) event.Draft {
	fields := a.fields(p)
	fields["late"], fields["completedAt"] = p.Late, p.CompletedAt.UTC()
	draft := event.Draft{Type: event.AssignmentCompleted, At: now, Fields: fields, Subject: a.Subject}
	if !p.Completion.IsZero() {
		fields["completionId"] = p.Completion.String()
	}
	for _, r := range d.results { // not a failure before somebody completed it by hand
		if r.ID == p.Result && r.passes() && r.at().Equal(*p.CompletedAt) {
			fields["resultId"], fields["attempt"], draft.Session = r.ID.String(), r.Attempt, r.Session
		}
	}
	return draft
}
