// Package screening is candidates' interviews with an avatar: sessions that nobody reads as
// such, and what came of them (spec, candidate_interview). What is scored is advice for whoever
// reviews; nothing is decided by it.
package screening

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/language"
	"visavis.dev/pkg/hiring/candidate"
	"visavis.dev/pkg/hiring/question"
	"visavis.dev/pkg/hiring/role"
	"visavis.dev/pkg/learning/rubric"
	"visavis.dev/pkg/portals/subject"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/setting"
	"visavis.dev/pkg/store/tenant"
)

// State is where an interview stands.
type State string

// The states. One that was interrupted by no fault of the candidate is void: they begin again.
const (
	InProgress State = "in_progress"
	Scored     State = "scored"
	Voided     State = "voided"
)

// Criterion is a score of what was said.
type Criterion struct {
	// Key is that of the question and, after a full stop, of the criterion.
	Key   string `json:"key"`
	Label string `json:"label"`
	// Score is of MaxScore points; nil where it was not judged.
	Score      *float64 `json:"score"`
	MaxScore   float64  `json:"maxScore"`
	Weight     float64  `json:"weight"`
	Confidence float64  `json:"confidence"`
	// Evaluation says why, in English, and Evidence are the candidate's own words.
	Evaluation string   `json:"evaluation"`
	Evidence   []string `json:"evidence"`
	// Time is what came of the question in the time that there was; empty where it had no limit.
	Time session.Came `json:"time,omitempty"`
}

// Met says whether a knockout is met; nil where nobody can tell.
type Met struct {
	Question string `json:"question"`
	Met      *bool  `json:"met"`
}

// Screening is one interview.
type Screening struct {
	ID        id.Screening
	Candidate id.Candidate
	Role      id.Role
	Session   id.Session
	Subject   id.Subject
	Version   int64
	Language  string
	State     State
	Asked     []string
	Complete  bool
	Answered  int64
	Percent   *float64
	Band      *string
	Criteria  []Criterion
	Knockouts []Met
	Integrity *Integrity
	DurationS *int64
	StartedAt time.Time
	EndedAt   *time.Time
}

// Noun is what errors call an interview.
const Noun errdefs.Noun = "interview"

// The reasons of conflicts of who is to be interviewed where that cannot be.
const (
	ReasonZeroRetention = "zero_retention"
	ReasonMinors        = "young_learners"
)

const columns = `id, candidate_id, role_id, session_id, subject_id, subject_version, language, state, asked, complete, answered, percent, band, criteria,
	knockouts, integrity, duration_s, started_at, ended_at`

func scan(row pgx.CollectableRow) (Screening, error) { return pgx.RowToStructByPos[Screening](row) }

const selectOne = `SELECT ` + columns + ` FROM screening WHERE org_id = $1 AND id = $2`

// Get finds an interview. It rides screening_pkey. The error is errdefs.NotFound.
func Get(ctx context.Context, t *tenant.Tenants, org id.Org, s id.Screening) (Screening, error) {
	return tenant.One(ctx, t, org, scan, Noun.NotFound(s), selectOne, org, s)
}

// Several finds interviews by their ids. It rides screening_pkey.
func Several(ctx context.Context, t *tenant.Tenants, org id.Org, which []id.Screening) (map[id.Screening]Screening, error) {
	found, err := tenant.All(ctx, t, org, scan, `SELECT `+columns+` FROM screening WHERE org_id = $1 AND id = ANY($2)`, org, which)
	all := make(map[id.Screening]Screening, len(found))
	for _, s := range found {
		all[s.ID] = s
	}
	return all, err
}

// List is a page of the interviews of a role, newest first, after one of them; the zero id for the
// first page. It rides screening_by_role.
func List(ctx context.Context, t *tenant.Tenants, org id.Org, r id.Role, after id.Screening, limit int) ([]Screening, error) {
	return tenant.All(ctx, t, org, scan, `
		SELECT `+columns+` FROM screening WHERE org_id = $1 AND role_id = $2 AND ($3::UUID IS NULL OR id < $3)
		ORDER BY id DESC LIMIT $4`, org, r, after, limit)
}

// mostOf bounds the interviews of a candidate: more than they can begin.
const mostOf = 200

// OfCandidate are a candidate's interviews, oldest first. It rides screening_by_candidate.
func OfCandidate(ctx context.Context, t *tenant.Tenants, org id.Org, c id.Candidate) ([]Screening, error) {
	return tenant.All(ctx, t, org, scan, `
		SELECT `+columns+` FROM screening WHERE org_id = $1 AND candidate_id = $2 ORDER BY id LIMIT $3`, org, c, mostOf)
}

const selectOfSession = `SELECT ` + columns + ` FROM screening WHERE org_id = $1 AND session_id = $2`

// OfSession finds the interview that a session is. It rides screening_by_session. The error is
// errdefs.NotFound of the session's id.
func OfSession(ctx context.Context, t *tenant.Tenants, org id.Org, s id.Session) (Screening, error) {
	return tenant.One(ctx, t, org, scan, Noun.NotFound(s), selectOfSession, org, s)
}

// Ready finds a candidate who may be interviewed now, with what they are asked; both are kept
// from changing until the commit. The error is errdefs.NotFound, errdefs.Gone, or a conflict.
func Ready(ctx context.Context, tx *tenant.Tx, which id.Candidate, now time.Time) (candidate.Candidate, role.Role, error) {
	c, err := candidate.Lock(ctx, tx, which)
	if err != nil {
		return c, role.Role{}, err
	}
	r, err := c.FindRole(ctx, tx)
	if err != nil {
		return c, r, err
	}
	if err := c.May(&r, now); err != nil {
		return c, r, err
	}
	if err := alone(ctx, tx, &c, now); err != nil {
		return c, r, err
	}
	set, err := setting.At(ctx, tx, setting.Place{Portal: r.Portal})
	switch {
	case err != nil:
	case !set.On(setting.Hiring):
		err = set.Require(setting.Hiring)
	case set.On(setting.ZeroRetention):
		err = c.Conflict(ReasonZeroRetention, "The organization keeps no words, so that nobody could review the interview.")
	case set.On(setting.YoungLearners):
		err = c.Conflict(ReasonMinors, "Everybody on the portal is taken for a minor.")
	}
	return c, r, err
}

// Begin enters the interview that a session is which was minted in the same transaction, for a
// candidate that Ready found, who is asked a set of questions.
func Begin(ctx context.Context, tx *tenant.Tx, c candidate.Candidate, s session.Session, of *question.Set) error {
	i := Screening{
		ID: id.NewScreening(), Candidate: c.ID, Role: c.Role, Session: s.ID, Subject: s.Subject, Version: of.SubjectVersion, Language: s.Language, State: InProgress,
		Asked: []string{}, Criteria: []Criterion{}, Knockouts: []Met{}, StartedAt: s.CreatedAt,
	}
	for _, goal := range s.Brief.Goals {
		i.Asked = append(i.Asked, goal.Key)
	}
	tx.Touch("screening", i.ID)
	if _, err := tx.Exec(ctx, `
		INSERT INTO screening (org_id, id, candidate_id, role_id, session_id, subject_id, subject_version, language, state, kept, asked, complete, answered,
			criteria, knockouts, started_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, 'all', $10, false, 0, $11, $12, $13)`,
		tx.Org, i.ID, i.Candidate, i.Role, i.Session, i.Subject, i.Version, i.Language, i.State, written(i.Asked), written(i.Criteria),
		written(i.Knockouts), i.StartedAt); err != nil {
		return err
	}
	return c.Begin(ctx, tx, i.ID, s.ID, of, s.CreatedAt)
}

// written is a list as JSON, which pgx would take for an array.
func written(list any) json.RawMessage {
	text, _ := json.Marshal(list) //nolint:errchkjson // of texts and finite numbers
	return text
}

func (i *Screening) save(ctx context.Context, tx *tenant.Tx) error {
	tx.Touch("screening", i.ID)
	_, err := tx.Exec(ctx, `
		UPDATE screening SET state = $3, complete = $4, answered = $5, percent = $6, band = $7, criteria = $8, knockouts = $9, integrity = $10,
			duration_s = $11, ended_at = $12
		WHERE org_id = $1 AND id = $2`,
		tx.Org, i.ID, i.State, i.Complete, i.Answered, i.Percent, i.Band, written(i.Criteria), written(i.Knockouts), i.Integrity, i.DurationS, i.EndedAt)
	return err
}

// Examiner follows up in an interview, and gives no hints.
func Examiner(ctx context.Context, t *tenant.Tenants, org id.Org, s session.Session) (*rubric.Examiner, error) {
	i, err := OfSession(ctx, t, org, s.ID)
	if err != nil {
		return nil, err
	}
	_, v, err := subject.GetContent(ctx, t, org, i.Subject, i.Version)
	if err != nil {
		return nil, err
	}
	e := &rubric.Examiner{
		Language: i.Language, Questions: map[string]subject.Question{}, In: func(w language.Words) string { return w[i.Language] },
	}
	for _, q := range i.Questions(v.Content) {
		e.Questions[q.Key] = q
	}
	return e, nil
}

// Questions are those of a content that were to be asked, in the order in which they were.
func (i *Screening) Questions(c subject.Content) (asked []subject.Question) {
	for _, key := range i.Asked {
		for _, q := range c.Questions {
			if q.Key == key {
				asked = append(asked, q)
			}
		}
	}
	return asked
}

// Results are what an interview came to, for its event.
func Results(t *tenant.Tenants) func(context.Context, id.Org, id.Screening) (map[string]any, error) {
	return func(ctx context.Context, org id.Org, which id.Screening) (map[string]any, error) {
		i, err := Get(ctx, t, org, which)
		if errdefs.IsNotFound(err, Noun) {
			return map[string]any{}, nil
		}
		found := map[string]any{}
		if i.Percent != nil && i.Band != nil {
			found["percent"], found["band"] = *i.Percent, *i.Band
		}
		return found, err
	}
}

// Find is Get in a transaction.
func Find(ctx context.Context, tx *tenant.Tx, s id.Screening) (Screening, error) {
	return tenant.OneIn(ctx, tx, scan, Noun.NotFound(s), selectOne, tx.Org, s)
}

// OfQuestion says whether the key of a criterion is of a question.
func OfQuestion(key, question string) bool {
	of, _, _ := strings.Cut(key, ".")
	return of == question
}
