package demographics

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/hiring/role"
	"visavis.dev/pkg/store/sweep"
	"visavis.dev/pkg/store/tenant"
)

const (
	// fewest is how many candidates a cohort has at least, and full how many do not wait for more.
	fewest = 20
	full   = 100
	// grace is how long candidates can answer after they were decided on, and patience how long
	// they wait for a full cohort, where the role keeps them for as long.
	grace    = 7 * day
	patience = 90 * day
	day      = 24 * time.Hour
	// retry is how long a role waits that could not be counted.
	retry = time.Hour
)

// times are the grace and the patience of a role.
func times(r *role.Role) (time.Duration, time.Duration) {
	keep := time.Duration(r.KeepDays) * day
	return min(grace, keep/4), min(patience, keep/2)
}

// Settle notes that a candidate of a role was decided on, so that it is looked at in time whether
// there are enough to count. It rides demographic_role_pkey.
func Settle(ctx context.Context, tx *tenant.Tx, r *role.Role, at time.Time) error {
	if !r.Demographics {
		return nil
	}
	tx.Touch("demographic_role", r.ID)
	wait, _ := times(r)
	_, err := tx.Exec(ctx, `
		INSERT INTO demographic_role (org_id, role_id, due_at) VALUES ($1, $2, $3)
		ON CONFLICT (org_id, role_id) DO UPDATE SET due_at = LEAST(demographic_role.due_at, excluded.due_at)`, tx.Org, r.ID, at.Add(wait))
	return err
}

// settled is a candidate who was decided on.
type settled struct {
	ID       id.Candidate
	Selected bool
	At       time.Time
}

// selectSettled rides candidate_by_settling. Who was never interviewed was never asked, and who is on hold
// keeps what they said.
const selectSettled = `
	SELECT id, selected, settled_at FROM candidate
	WHERE org_id = $1 AND role_id = $2 AND settled_at IS NOT NULL AND screened_at IS NOT NULL AND ($3::UUID IS NULL OR id > $3) AND state <> 'erased' AND NOT sandbox AND NOT on_hold
	ORDER BY id LIMIT $4`

// page is how many rows are read and written at a time.
const page = 2000

// waiting is a candidate of whom nothing is counted yet.
type waiting struct {
	person
	answer uuid.UUID
	at     time.Time
}

// wait finds the candidates of a role who are not counted. It rides candidate_by_settling and
// demographic_answer_pkey.
func (s *Store) wait(ctx context.Context, tx *tenant.Tx, r id.Role, secret []byte) (all []waiting, err error) {
	for after, more := (id.Candidate{}), true; more; {
		list, err := tenant.AllIn(ctx, tx, pgx.RowToStructByPos[settled], selectSettled, tx.Org, r, after, page)
		if err != nil {
			return nil, err
		}
		found, err := s.uncounted(ctx, tx, list, secret)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
		if more = len(list) == page; more {
			after = list[page-1].ID
		}
	}
	return all, nil
}

const selectAnswers = `SELECT id, sealed FROM demographic_answer WHERE org_id = $1 AND id = ANY($2)`

// uncounted are those of a page who are not counted, with what they said.
func (s *Store) uncounted(ctx context.Context, tx *tenant.Tx, list []settled, secret []byte) (all []waiting, err error) {
	ids := make([]uuid.UUID, len(list))
	for i, c := range list {
		ids[i] = answerID(secret, c.ID)
	}
	type row struct {
		ID     uuid.UUID
		Sealed []byte
	}
	rows, err := tenant.AllIn(ctx, tx, pgx.RowToStructByPos[row], selectAnswers, tx.Org, ids)
	if err != nil {
		return nil, err
	}
	said, done := map[uuid.UUID]Answer{}, map[uuid.UUID]bool{}
	for _, one := range rows {
		if said[one.ID], done[one.ID], err = s.open(tx.Org, one.ID, one.Sealed); err != nil {
			return nil, err
		}
	}
	for i, c := range list {
		if done[ids[i]] {
			continue
		}
		w := waiting{person{unknown, c.Selected}, ids[i], c.At}
		if a, ok := said[ids[i]]; ok {
			w.Answer = a
		}
		all = append(all, w)
	}
	return all, nil
}

// gather says who of those who wait are counted now; nobody while they are too few, or alike.
func gather(all []waiting, r *role.Role, now time.Time) (cohort []waiting) {
	wait, patient := times(r)
	oldest := now
	for _, w := range all {
		if w.at.Add(wait).After(now) {
			continue
		}
		cohort = append(cohort, w)
		if w.at.Before(oldest) {
			oldest = w.at
		}
	}
	if len(cohort) < fewest || len(cohort) < full && r.State != role.Closed && now.Before(oldest.Add(patient)) {
		return nil
	}
	selected := 0
	for _, w := range cohort {
		if w.selected {
			selected++
		}
	}
	if selected < few || len(cohort)-selected < few {
		return nil
	}
	return cohort
}

// Gather counts the candidates of a role who wait, where they are enough, and deletes what they
// said. It answers how many were counted. The rows of the role's answers are held until the commit.
func (s *Store) Gather(ctx context.Context, tx *tenant.Tx, which id.Role, now time.Time) (int, error) {
	secret, err := s.secret(ctx, tx, which)
	if err != nil {
		return 0, err
	}
	r, err := role.Find(ctx, tx, which)
	if err != nil {
		return 0, err
	}
	var all, cohort []waiting
	if r.Demographics {
		if all, err = s.wait(ctx, tx, which, secret); err != nil {
			return 0, err
		}
		cohort = gather(all, &r, now)
	}
	if len(cohort) > 0 {
		if err := s.count(ctx, tx, &r, cohort, now); err != nil {
			return 0, err
		}
	}
	done, err := over(ctx, tx, &r, len(all)-len(cohort))
	if err != nil {
		return 0, err
	}
	if done {
		if err := s.drop(ctx, tx, which, secret); err != nil {
			return 0, err
		}
	}
	var next *time.Time
	if len(all)-len(cohort) >= fewest { // fewer wait for somebody else to be decided on
		next = new(now.Add(day))
	}
	_, err = tx.Exec(ctx, `UPDATE demographic_role SET due_at = $3 WHERE org_id = $1 AND role_id = $2`, tx.Org, which, next)
	return len(cohort), err
}

// count keeps what is told of a cohort, and nothing else.
func (s *Store) count(ctx context.Context, tx *tenant.Tx, r *role.Role, cohort []waiting, now time.Time) error {
	people := make([]person, len(cohort))
	answers := make([]uuid.UUID, len(cohort))
	for i, w := range cohort {
		people[i], answers[i] = w.person, w.answer
	}
	made := uuid.New()
	tx.Touch("bias_cohort", made)
	if _, err := tx.Exec(ctx, `
		INSERT INTO bias_cohort (org_id, id, portal_id, role_id, at, counts) VALUES ($1, $2, $3, $4, $5, $6)`,
		tx.Org, made, r.Portal, r.ID, now, tell(people)); err != nil {
		return err
	}
	gone := unknown.bytes()
	gone[0] = counted
	for some := range slices.Chunk(answers, page) {
		if err := s.write(ctx, tx, some, gone); err != nil {
			return err
		}
	}
	return nil
}

// batch is how many roles a run of the recurring task looks at.
const batch = 20

// Background is what workers do for answers.
func (s *Store) Background(d sweep.Deps) job.Background {
	return job.Background{Tasks: []sweep.Task{
		{Name: "count voluntary answers of candidates", Every: 10 * time.Minute, Batch: batch, Run: d.Dated(s.Run)},
	}}
}

// Run counts the candidates of a shard's roles whose time has come, and answers how many roles it
// looked at. It rides demographic_role_by_due.
func (s *Store) Run(ctx context.Context, t *tenant.Tenants, shard string, now time.Time) (int, error) {
	db, err := t.Shard(ctx, shard)
	if err != nil {
		return 0, err
	}
	rows, err := db.Query(ctx, selectDue, now, batch)
	if err != nil {
		return 0, err
	}
	type due struct {
		Org  id.Org
		Role id.Role
	}
	found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[due])
	if err != nil {
		return 0, err
	}
	var failed []error
	for _, d := range found {
		err := t.InTx(ctx, d.Org, func(ctx context.Context, tx *tenant.Tx) error {
			_, err := s.Gather(ctx, tx, d.Role, now)
			return err
		}, tenant.Idempotent(true)) // who is counted is not counted again
		if err == nil || errdefs.IsNotFound(err, role.Noun) {
			continue
		}
		// Others come before it is tried again.
		failed = append(failed, err, t.InTx(ctx, d.Org, func(ctx context.Context, tx *tenant.Tx) error {
			return Wake(ctx, tx, d.Role, now.Add(retry))
		}, tenant.Idempotent(true)))
	}
	return len(found), errors.Join(failed...) // of one nobody else waits
}

const selectDue = `
	SELECT d.org_id, d.role_id FROM demographic_role d JOIN org_fence f ON f.org_id = d.org_id AND f.state IN ('open', 'capture')
	WHERE d.due_at <= $1 ORDER BY d.due_at LIMIT $2`
