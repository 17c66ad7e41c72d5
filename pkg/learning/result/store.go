package result

import (
	"context"
	"time"

	"github.com/google/uuid"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/learning/mastery"
	"visavis.dev/pkg/learning/resourcelink"
	"visavis.dev/pkg/learning/statement"
	"visavis.dev/pkg/store/tenant"
)

const selectOne = `SELECT ` + columns + ` FROM result WHERE org_id = $1 AND id = $2`

const selectOfSession = `SELECT ` + columns + ` FROM result WHERE org_id = $1 AND session_id = $2`

// Get finds a result. It rides result_pkey. The error is errdefs.NotFound.
func Get(ctx context.Context, t *tenant.Tenants, org id.Org, r id.Result) (Result, error) {
	return tenant.One(ctx, t, org, scan, Noun.NotFound(r), selectOne, org, r)
}

// Lock finds a result and keeps it from changing until the commit. The error is
// errdefs.NotFound.
func Lock(ctx context.Context, tx *tenant.Tx, r id.Result) (Result, error) {
	return tenant.OneIn(ctx, tx, scan, Noun.NotFound(r), selectOne+` FOR UPDATE`, tx.Org, r)
}

// OfSession finds the result of a session. It rides result_by_session. The error is
// errdefs.NotFound of the session's id.
func OfSession(ctx context.Context, t *tenant.Tenants, org id.Org, s id.Session) (Result, error) {
	return tenant.One(ctx, t, org, scan, Noun.NotFound(s), selectOfSession, org, s)
}

// Counts is the result by which somebody stands with a subject: of those that are released and
// have a score the assessment, or else the practice, that was completed last. It is nil for none. It rides
// result_attempt.
func Counts(ctx context.Context, t *tenant.Tenants, org id.Org, who id.Person, about id.Subject) (*Result, error) {
	found, err := tenant.All(ctx, t, org, scan, `
		SELECT `+columns+` FROM result
		WHERE org_id = $1 AND person_id = $2 AND subject_id = $3 AND state IN ('released', 'contested') AND percent IS NOT NULL
		ORDER BY kind, completed_at DESC, id DESC LIMIT 1`, org, who, about)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return &found[0], nil
}

// save writes what can change of a result.
func (r *Result) save(ctx context.Context, tx *tenant.Tx, at time.Time) error {
	r.UpdatedAt, r.Edition = at, r.Edition+1
	r.Criteria = listed(r.Criteria)
	tx.Touch("result", r.ID)
	_, err := tx.Exec(ctx, `
		UPDATE result SET state = $3, completed_at = $4, released_at = $5, percent = $6, score = $7, max_score = $8, band = $9, passed = $10,
			criteria = $11, confidence = $12, scored_by = $13, needs_review = $14, doubt = $15, on_hold = $16, edition = $17, updated_at = $18, objectives = $19
		WHERE org_id = $1 AND id = $2`,
		tx.Org, r.ID, r.State, r.CompletedAt, r.ReleasedAt, r.Percent, r.Score, r.MaxScore, r.Band, r.Passed, written(r.Criteria),
		r.Confidence, r.ScoredBy, r.NeedsReview, r.Doubt, r.OnHold, r.Edition, r.UpdatedAt, written(r.Objectives))
	if err != nil {
		return err
	}
	if r.ReleasedAt != nil { // what was never shown is told nobody
		if err := resourcelink.Follow(ctx, tx, r.Person, r.Subject, at); err != nil {
			return err
		}
		if err := statement.Follow(ctx, tx, statement.Object{Kind: statement.Result, ID: uuid.UUID(r.ID), Person: r.Person}, at); err != nil {
			return err
		}
	}
	if !r.Shown() && r.State != Voided {
		return nil
	}
	// Of what is withheld, nobody learns what it shows.
	return mastery.Recompute(ctx, tx, mastery.Shown{
		Person: r.Person, Membership: r.Membership, Subject: r.Subject, Portal: r.Portal, Session: r.Session,
	}, at)
}

// Filter narrows a list; zero fields do not.
type Filter struct {
	States  []State
	Subject id.Subject
	Portal  id.Portal
	Person  id.Person
	Unit    id.Unit
	// Passed is of results that are released alone, unless Unreleased.
	Passed     *bool
	Unreleased bool
	From, To   *time.Time
}

// List is a page of the results, newest first, after one of them; the zero id for the first
// page. It rides result_pkey, or, where that is asked for, result_by_person, result_by_unit,
// result_by_subject, result_by_portal, or result_by_state for one state.
func List(ctx context.Context, t *tenant.Tenants, org id.Org, f Filter, after id.Result, limit int) ([]Result, error) {
	sql, args := f.statement(org, after, limit)
	return tenant.All(ctx, t, org, scan, sql, args...)
}

// statement chooses the statement that rides the narrowest index.
func (f Filter) statement(org id.Org, after id.Result, limit int) (sql string, args []any) {
	args = []any{org, after, f.States, f.Subject, f.Portal, f.Passed, f.Unreleased, f.From, f.To, limit, f.Unit}
	sql = `
		SELECT ` + columns + ` FROM result
		WHERE org_id = $1 AND ($2::UUID IS NULL OR id < $2) AND ($3::TEXT[] IS NULL OR state = ANY($3))
			AND ($4::UUID IS NULL OR subject_id = $4) AND ($5::UUID IS NULL OR portal_id = $5)
			AND ($6::BOOLEAN IS NULL OR passed = $6 AND ($7 OR state IN ('released', 'contested')))
			AND ($8::TIMESTAMPTZ IS NULL OR created_at >= $8) AND ($9::TIMESTAMPTZ IS NULL OR created_at < $9)
			AND ($11::UUID IS NULL OR unit_id = $11)`
	const order = ` ORDER BY id DESC LIMIT $10`
	switch {
	case !f.Person.IsZero():
		return sql + ` AND person_id = $12` + order, append(args, f.Person)
	case !f.Unit.IsZero():
		return sql + ` AND unit_id = $12` + order, append(args, f.Unit)
	case !f.Subject.IsZero():
		return sql + ` AND subject_id = $12` + order, append(args, f.Subject)
	case !f.Portal.IsZero():
		return sql + ` AND portal_id = $12` + order, append(args, f.Portal)
	case len(f.States) == 1:
		return sql + ` AND state = $12` + order, append(args, f.States[0])
	}
	return sql + order, args
}
