package mastery

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/portals/subject"
	"visavis.dev/pkg/store/tenant"
)

// Shown is a result by which what somebody masters changed: it is shown now, or not any more.
type Shown struct {
	Person     id.Person
	Membership id.Membership
	Subject    id.Subject
	Portal     id.Portal
	Session    id.Session
}

// Recompute works out anew how well somebody masters the objectives of a subject, and tells of
// those that changed. Doing so again changes nothing.
func Recompute(ctx context.Context, tx *tenant.Tx, by Shown, now time.Time) error {
	s, err := subject.Find(ctx, tx, by.Subject)
	if errdefs.IsNotFound(err, subject.Noun) {
		return nil
	}
	if err != nil || len(s.Definition.Objectives) == 0 {
		return err
	}
	rows, err := lock(ctx, tx, by, s.Definition.Objectives, now)
	if err != nil {
		return err
	}
	worth, err := results(ctx, tx, by)
	if err != nil {
		return err
	}
	for _, o := range rows {
		was := o
		if slices.ContainsFunc(s.Definition.Objectives, func(of subject.Objective) bool { return of.Key == o.Key }) {
			o.learn(seen(o.Key, s.Definition.Objectives, worth))
		} else {
			o.learn(nil) // it is none of the subject's any more
		}
		if o.same(was) {
			continue
		}
		o.Previous, o.UpdatedAt = was.LevelAt(now), now
		if err := o.save(ctx, tx); err != nil {
			return err
		}
		event.Emit(tx, o.updated(by, now))
	}
	return nil
}

// Shift is what a result changes of how well an objective is mastered, from 0 to 1.
type Shift struct {
	Key      string  `json:"key"`
	Mastery  float64 `json:"mastery"`
	Previous float64 `json:"previous"`
}

// Scored is a result that may not be shown yet, with what its criteria are worth.
type Scored struct {
	ID       id.Result
	Person   id.Person
	Subject  id.Subject
	At       time.Time
	Criteria []Criterion
}

// Shifts are what a result changes of each objective of its subject, in the subject's order: before it stands what the
// person's earlier results show that are shown. It is empty where the subject has none, and nil where the subject is gone.
func Shifts(ctx context.Context, tx *tenant.Tx, of Scored) ([]Shift, error) {
	s, err := subject.Find(ctx, tx, of.Subject)
	if errdefs.IsNotFound(err, subject.Noun) {
		return nil, nil
	}
	if err != nil || len(s.Definition.Objectives) == 0 {
		return []Shift{}, err
	}
	worth, err := earlier(ctx, tx, of)
	if err != nil {
		return nil, err
	}
	return shifts(s.Definition.Objectives, worth, of), nil
}

// shifts are Shifts after earlier results, the latest first.
func shifts(all []subject.Objective, before []worth, of Scored) []Shift {
	found := make([]Shift, len(all))
	for i, objective := range all {
		var o Objective
		evidence := seen(objective.Key, all, before)
		o.learn(evidence)
		found[i] = Shift{Key: objective.Key, Previous: o.At(of.At)}
		if this, ok := observe(objective.Key, all, of.Criteria, of.At); ok {
			o.learn(append(evidence, this))
		}
		found[i].Mastery = o.At(of.At)
	}
	return found
}

// earlier are the results of a person and a subject that are shown and were completed before one, the
// latest first. It rides result_attempt.
func earlier(ctx context.Context, tx *tenant.Tx, than Scored) ([]worth, error) {
	return tenant.AllIn(ctx, tx, pgx.RowToStructByPos[worth], `
		SELECT COALESCE(completed_at, started_at), criteria FROM result
		WHERE org_id = $1 AND person_id = $2 AND subject_id = $3 AND state IN ('released', 'contested')
			AND (COALESCE(completed_at, started_at) < $4 OR COALESCE(completed_at, started_at) = $4 AND id < $5)
		ORDER BY COALESCE(completed_at, started_at) DESC, id DESC LIMIT $6`, tx.Org, than.Person, than.Subject, than.At, than.ID, mostResults-1)
}

// same says whether two say the same of an objective, as they are kept.
func (o *Objective) same(as Objective) bool {
	at := func(x, y *time.Time) bool { return x == nil && y == nil || x != nil && y != nil && x.Equal(*y) }
	return o.Known == as.Known && o.Stability == as.Stability && o.Evidence == as.Evidence && at(o.EvidenceAt, as.EvidenceAt) && at(o.DueAt, as.DueAt)
}

// lock finds the rows of a person and a subject that nobody else changes until the commit; those
// that are not there yet are made, so that whoever does the same waits. It rides mastery_pkey.
func lock(ctx context.Context, tx *tenant.Tx, by Shown, all []subject.Objective, now time.Time) ([]Objective, error) {
	keys := make([]string, len(all))
	for i, o := range all {
		keys[i] = o.Key
		tx.Touch("mastery", by.Person, by.Subject, text(o.Key))
	}
	slices.Sort(keys)
	if _, err := tx.Exec(ctx, `
		INSERT INTO mastery (org_id, person_id, subject_id, objective_key, known, stability, evidence_count, previous_level, updated_at)
		SELECT $1, $2, $3, k, 0, 0, 0, 'none', $5 FROM unnest($4::TEXT[]) AS k
		ON CONFLICT (org_id, person_id, subject_id, objective_key) DO NOTHING`, tx.Org, by.Person, by.Subject, keys, now); err != nil {
		return nil, err
	}
	return tenant.AllIn(ctx, tx, scan, `
		SELECT `+columns+` FROM mastery WHERE org_id = $1 AND person_id = $2 AND subject_id = $3 ORDER BY objective_key FOR UPDATE`,
		tx.Org, by.Person, by.Subject)
}

// text is a part of a row's key.
type text string

func (t text) String() string { return string(t) }

// mostResults bounds the results that are looked at: the latest. What is older is forgotten.
const mostResults = 200

// worth is what a result shows.
type worth struct {
	At       time.Time
	Criteria json.RawMessage
}

// results are those of a person and a subject that are shown, the latest first. It rides
// result_attempt.
func results(ctx context.Context, tx *tenant.Tx, by Shown) ([]worth, error) {
	return tenant.AllIn(ctx, tx, pgx.RowToStructByPos[worth], `
		SELECT COALESCE(completed_at, started_at), criteria FROM result
		WHERE org_id = $1 AND person_id = $2 AND subject_id = $3 AND state IN ('released', 'contested')
		ORDER BY COALESCE(completed_at, started_at) DESC, id DESC LIMIT $4`, tx.Org, by.Person, by.Subject, mostResults)
}

// seen is what results show of an objective, oldest first.
func seen(key string, all []subject.Objective, of []worth) (found []observation) {
	for _, w := range slices.Backward(of) {
		var criteria []Criterion
		if err := json.Unmarshal(w.Criteria, &criteria); err != nil {
			continue // it shows nothing
		}
		if o, ok := observe(key, all, criteria, w.At); ok {
			found = append(found, o)
		}
	}
	return found
}

func (o *Objective) save(ctx context.Context, tx *tenant.Tx) error {
	tx.Touch("mastery", o.Person, o.Subject, text(o.Key))
	_, err := tx.Exec(ctx, `
		UPDATE mastery SET known = $5, stability = $6, evidence_count = $7, evidence_at = $8, due_at = $9, previous_level = $10, updated_at = $11
		WHERE org_id = $1 AND person_id = $2 AND subject_id = $3 AND objective_key = $4`,
		tx.Org, o.Person, o.Subject, o.Key, o.Known, o.Stability, o.Evidence, o.EvidenceAt, o.DueAt, o.Previous, o.UpdatedAt)
	return err
}

// updated is mastery.updated. What it is worth is read from the row (Sources).
func (o *Objective) updated(by Shown, now time.Time) event.Draft {
	fields := map[string]any{
		"personId": by.Person.String(), "membershipId": by.Membership.String(), "subjectId": by.Subject.String(), "portalId": by.Portal.String(),
		"objectiveKey": o.Key, "sessionId": by.Session.String(), "updatedAt": now.UTC(),
	}
	return event.Draft{Type: event.MasteryUpdated, At: now, Fields: fields, Session: by.Session, Subject: by.Subject}
}

// Sources read how well something is mastered for events, as it is now.
func Sources(t *tenant.Tenants, now func() time.Time) map[event.Type]event.Source {
	return map[event.Type]event.Source{event.MasteryUpdated: func(ctx context.Context, e event.Event, _ bool) (event.Detail, error) {
		var named struct {
			Person  id.Person  `json:"personId"`
			Subject id.Subject `json:"subjectId"`
			Key     string     `json:"objectiveKey"`
		}
		if err := json.Unmarshal(e.Structure, &named); err != nil {
			return event.Detail{}, err
		}
		found, err := tenant.All(ctx, t, e.Org, scan, `
			SELECT `+columns+` FROM mastery WHERE org_id = $1 AND person_id = $2 AND subject_id = $3 AND objective_key = $4`,
			e.Org, named.Person, named.Subject, named.Key)
		if err != nil || len(found) == 0 {
			return event.Detail{Standing: event.Gone}, err
		}
		o := found[0]
		return event.Detail{Fields: map[string]any{"level": string(o.LevelAt(now())), "previousLevel": string(o.Previous), "mastery": o.At(now())}}, nil
	}}
}

// Key names an objective of somebody's.
type Key struct {
	Person  id.Person
	Subject id.Subject
	Key     string
}

// Of are some objectives, as far as something is known of them. It rides mastery_pkey.
func Of(ctx context.Context, tx *tenant.Tx, which []Key) ([]Objective, error) {
	var (
		people   = make([]id.Person, len(which))
		subjects = make([]id.Subject, len(which))
		keys     = make([]string, len(which))
	)
	for i, k := range which {
		people[i], subjects[i], keys[i] = k.Person, k.Subject, k.Key
	}
	return tenant.AllIn(ctx, tx, scan, `
		SELECT m.person_id, m.subject_id, m.objective_key, m.known, m.stability, m.evidence_count, m.evidence_at, m.due_at, m.previous_level, m.updated_at
		FROM (SELECT DISTINCT p, s, k FROM unnest($2::UUID[], $3::UUID[], $4::TEXT[]) AS w (p, s, k)) AS w
		JOIN mastery m ON m.org_id = $1 AND m.person_id = w.p AND m.subject_id = w.s AND m.objective_key = w.k`, tx.Org, people, subjects, keys)
}

// OfPerson is what somebody masters: the objectives of some subjects after one of them, the
// newest first, the zero id for the first; of one subject alone where that is given. It rides
// mastery_pkey.
func OfPerson(ctx context.Context, t *tenant.Tenants, org id.Org, who id.Person, of, after id.Subject, limit int) ([]Objective, error) {
	return tenant.All(ctx, t, org, scan, `
		SELECT `+columns+` FROM mastery
		WHERE org_id = $1 AND person_id = $2 AND evidence_count > 0 AND subject_id IN (
			SELECT DISTINCT m.subject_id FROM mastery m
			WHERE m.org_id = $1 AND m.person_id = $2 AND m.evidence_count > 0 AND ($3::UUID IS NULL OR m.subject_id = $3)
				AND ($4::UUID IS NULL OR m.subject_id < $4)
			ORDER BY m.subject_id DESC LIMIT $5)
		ORDER BY subject_id DESC, objective_key`, org, who, of, after, limit)
}

// Needs is how much each objective of a subject needs practice by somebody, from 0 to 2: what is
// due comes before what is not, and what is mastered less before what is more. It rides
// mastery_pkey.
func Needs(ctx context.Context, tx *tenant.Tx, who id.Person, of subject.Subject, now time.Time) (map[string]float64, error) {
	needs := map[string]float64{}
	for _, o := range of.Definition.Objectives {
		needs[o.Key] = 1 // nothing is known of it
	}
	rows, err := tenant.AllIn(ctx, tx, scan, `
		SELECT `+columns+` FROM mastery WHERE org_id = $1 AND person_id = $2 AND subject_id = $3 ORDER BY objective_key`, tx.Org, who, of.ID)
	for _, o := range rows {
		if _, ok := needs[o.Key]; !ok {
			continue
		}
		needs[o.Key] = 1 - o.At(now)
		if o.DueAt != nil && !now.Before(*o.DueAt) {
			needs[o.Key]++
		}
	}
	return needs, err
}

// ForgetPerson deletes what somebody masters who may be erased, and answers how much there was. It
// rides mastery_pkey.
func ForgetPerson(ctx context.Context, tx *tenant.Tx, of id.Person) (n int, err error) {
	rows, err := tx.Query(ctx, `DELETE FROM mastery WHERE org_id = $1 AND person_id = $2 RETURNING subject_id, objective_key`, tx.Org, of)
	if err != nil {
		return 0, err
	}
	var (
		subject id.Subject
		key     string
	)
	_, err = pgx.ForEachRow(rows, []any{&subject, &key}, func() error {
		tx.Touch("mastery", of, subject, text(key))
		n++
		return nil
	})
	return n, err
}
