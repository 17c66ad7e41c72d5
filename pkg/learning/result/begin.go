package result

import (
	"context"
	"time"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/learning/assignment"
	"visavis.dev/pkg/learning/rubric"
	"visavis.dev/pkg/portals/subject"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/tenant"
)

// Start is what a result begins with.
type Start struct {
	Session session.Session
	Subject subject.Subject
	Content subject.Content
	// Version is that of the content.
	Version int64
	Unit    id.Unit
	// Assignment is the work that the session belongs to, with the person's part of it; nil for
	// none.
	Assignment *assignment.Assignment
	Part       *assignment.Progress
	// In is the words of the session's language.
	In rubric.Text
}

// Begin begins the result of a session that was minted in the same transaction. The error is
// a conflict (ReasonNoAttempts) where the person has had as many attempts as are allowed.
func Begin(ctx context.Context, tx *tenant.Tx, b Start, now time.Time) error {
	s, d := b.Session, b.Subject.Definition
	made, used, err := attempts(ctx, tx, s.Person, s.Subject, s.Kind, s.Assignment)
	if err != nil {
		return err
	}
	b.assign(&d)
	var allowed *int64
	if s.Kind == session.Assessment {
		allowed = d.AttemptsAllowed
	}
	if allowed != nil && used >= *allowed {
		return &errdefs.Conflict{
			Noun: subject.Noun, Reason: ReasonNoAttempts, Message: "The person has had as many attempts as are allowed.",
			Details: map[string]any{"attemptsAllowed": *allowed},
		}
	}
	r := Result{
		ID: id.NewResult(), State: InProgress, Kind: s.Kind, Subject: s.Subject, Portal: s.Portal, Person: s.Person, Membership: s.Membership,
		Unit: b.Unit, Session: s.ID, Assignment: s.Assignment, Attempt: made + 1, AttemptsAllowed: allowed, PassPercent: d.PassPercent, RubricVersion: b.Version,
		Language: s.Language, Asked: []string{}, StartedAt: now, Criteria: []Criterion{}, Edition: 1, CreatedAt: now, UpdatedAt: now,
	}
	for _, goal := range s.Brief.Goals {
		r.Asked = append(r.Asked, goal.Key)
	}
	for _, q := range r.questions(b.Content) {
		for _, score := range rubric.Judge(r.Language, q, rubric.Answer{}, b.In) {
			r.MaxScore += score.Max
			r.Criteria = append(r.Criteria, criterion(score, nil, now))
		}
	}
	r.MaxScore = round(r.MaxScore, 1e4)
	if err := r.insert(ctx, tx); err != nil {
		return err
	}
	return r.follow(ctx, tx, now)
}

// assign has what an assignment says stand in the place of what the subject does.
func (b *Start) assign(d *subject.Definition) {
	a := b.Assignment
	if a == nil {
		return
	}
	if a.AttemptsAllowed != nil {
		d.AttemptsAllowed = a.AttemptsAllowed
	}
	d.AttemptsAllowed = b.Part.Allowed(d.AttemptsAllowed)
	if a.PassPercent != nil {
		d.PassPercent = a.PassPercent
	}
}

// follow notes what the result is for the assignment that it is part of.
func (r *Result) follow(ctx context.Context, tx *tenant.Tx, now time.Time) error {
	if r.Assignment.IsZero() {
		return nil
	}
	return assignment.Follow(ctx, tx, r.Assignment, r.Person, now)
}

// questions are those of a content that were to be asked, in the order in which they were.
func (r *Result) questions(c subject.Content) (asked []subject.Question) {
	for _, key := range r.Asked {
		for _, q := range c.Questions {
			if q.Key == key {
				asked = append(asked, q)
			}
		}
	}
	return asked
}

// attempts are how many a person has made, and how many of them count (assignment.IsAttempt), of
// those for the same assignment, or for none. It rides result_attempt. Whoever mints a session has
// the organization's counter of places until the commit, so nobody else counts meanwhile.
func attempts(ctx context.Context, tx *tenant.Tx, by id.Person, at id.Subject, kind string, of id.Assignment) (made, used int64, err error) {
	err = tx.QueryRow(ctx, `
		SELECT coalesce(max(r.attempt), 0), count(*) FILTER (WHERE `+assignment.IsAttempt+` AND r.assignment_id IS NOT DISTINCT FROM $5)
		FROM result r LEFT JOIN session s ON s.org_id = r.org_id AND s.id = r.session_id
		WHERE r.org_id = $1 AND r.person_id = $2 AND r.subject_id = $3 AND r.kind = $4`, tx.Org, by, at, kind, of).Scan(&made, &used)
	return made, used, err
}

func (r *Result) insert(ctx context.Context, tx *tenant.Tx) error {
	tx.Touch("result", r.ID)
	_, err := tx.Exec(ctx, `
		INSERT INTO result (org_id, id, state, kind, subject_id, portal_id, person_id, membership_id, unit_id, session_id, assignment_id, attempt,
			attempts_allowed, pass_percent, rubric_version, language, asked, started_at, max_score, criteria, needs_review, on_hold, edition,
			created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $21, $20, $20, 1, $18, $18)`,
		tx.Org, r.ID, r.State, r.Kind, r.Subject, r.Portal, r.Person, r.Membership, r.Unit, r.Session, r.Assignment, r.Attempt, r.AttemptsAllowed,
		r.PassPercent, r.RubricVersion, r.Language, written(r.Asked), r.StartedAt, r.MaxScore, false, written(r.Criteria))
	return err
}
