package assignment

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/portals/mailer"
	"visavis.dev/pkg/store/sweep"
	"visavis.dev/pkg/store/tenant"
)

// Worker does what time does to assignments.
type Worker struct {
	Tenants *tenant.Tenants
	// Outbox takes the mails; nil where none are sent.
	Outbox *mailer.Outbox
}

// sweepBatch bounds the assignments, or the organizations, of one run.
const sweepBatch = 50

// Background is what workers do for assignments.
func (w *Worker) Background(d sweep.Deps) job.Background {
	const every = 10 * time.Second
	return job.Background{
		Steps: map[job.Kind]job.Step{job.AssignmentProgress: FollowSession},
		Tasks: []sweep.Task{
			{Name: "open and close assignments", Every: every, Batch: sweepBatch, Run: d.Dated(w.Turn)},
			{Name: "look through whom assignments are for", Every: every, Batch: sweepBatch, Run: d.Dated(w.Walk)},
			{Name: "note whose assignments changed", Every: every, Batch: sweepBatch, Run: d.Dated(w.Stir)},
			{Name: "remind people of assignments", Every: every, Batch: remindBatch, Run: d.Dated(w.Remind)},
			{Name: "forget that people were reminded", Every: time.Hour, Batch: ForgetBatch, Run: d.Dated(Sweep)},
		},
	}
}

// due is an assignment of a shard that something is to be done for.
type due struct {
	Org        id.Org
	Assignment id.Assignment
}

// each does something for assignments that a statement finds, each in a transaction of its own.
// The assignment is locked, and still says whether it is its turn. args are those of the statement
// from $3 on, after the moment and how many.
func (w *Worker) each(
	ctx context.Context, shard, sql string, now time.Time, do func(context.Context, *tenant.Tx, *Assignment) error, args ...any,
) (int, error) {
	db, err := w.Tenants.Shard(ctx, shard)
	if err != nil {
		return 0, err
	}
	rows, err := db.Query(ctx, sql, append([]any{now, sweepBatch}, args...)...)
	if err != nil {
		return 0, err
	}
	found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[due])
	if err != nil {
		return 0, err
	}
	var failed []error
	for _, d := range found {
		err := w.Tenants.InTx(ctx, d.Org, func(ctx context.Context, tx *tenant.Tx) error {
			a, err := Lock(ctx, tx, d.Assignment)
			if errdefs.IsNotFound(err, Noun) {
				return nil
			}
			if err != nil {
				return err
			}
			return do(ctx, tx, &a)
		}, tenant.Idempotent(true))
		if err != nil {
			err = errors.Join(err, w.putOff(ctx, d, now))
		}
		failed = append(failed, err)
	}
	return len(found), errors.Join(failed...) // of one nobody else waits
}

// triedAgain is after how long what failed is tried again, so that others have their turn.
const triedAgain = time.Minute

// putOff has what failed of an assignment tried again later.
func (w *Worker) putOff(ctx context.Context, d due, now time.Time) error {
	return w.Tenants.InTx(ctx, d.Org, func(ctx context.Context, tx *tenant.Tx) error {
		tx.Touch("assignment", d.Assignment)
		_, err := tx.Exec(ctx, `
			UPDATE assignment SET turn_at = CASE WHEN turn_at <= $3 THEN $4 ELSE turn_at END, walk_at = CASE WHEN walk_at <= $3 THEN $4 ELSE walk_at END
			WHERE org_id = $1 AND id = $2`, tx.Org, d.Assignment, now, now.Add(triedAgain))
		return err
	}, tenant.Idempotent(true))
}

// Turn opens, closes and archives the assignments of a shard whose time it is, and makes those
// that recur. It rides assignment_by_turn.
func (w *Worker) Turn(ctx context.Context, _ *tenant.Tenants, shard string, now time.Time) (int, error) {
	return w.each(ctx, shard, `
		SELECT a.org_id, a.id FROM assignment a JOIN org_fence f ON f.org_id = a.org_id AND f.state IN ('open', 'capture')
		WHERE a.turn_at <= $1 ORDER BY a.turn_at LIMIT $2`, now, func(ctx context.Context, tx *tenant.Tx, a *Assignment) error {
		if a.TurnAt == nil || a.TurnAt.After(now) {
			return nil // another worker was faster
		}
		return a.turn(ctx, tx, now)
	})
}

// walkFor is how long one run looks through people: well within what a run may take.
const walkFor = time.Minute

// Walk looks through the people of the assignments of a shard whose time it is, some of each in
// turn, until nobody is left or it took long enough. It rides assignment_by_walk.
func (w *Worker) Walk(ctx context.Context, _ *tenant.Tenants, shard string, now time.Time) (all int, err error) {
	until := time.Now().Add(walkFor)
	for {
		n, err := w.walkSome(ctx, shard, now)
		all += n
		if err != nil || n == 0 || ctx.Err() != nil {
			return all, err
		}
		if time.Now().After(until) {
			return max(all, sweepBatch), nil // the rest follows at once
		}
	}
}

// walkSome looks through some people of each. Those in the middle of it come after others, as
// their time is the moment of the run.
func (w *Worker) walkSome(ctx context.Context, shard string, now time.Time) (int, error) {
	return w.each(ctx, shard, `
		SELECT a.org_id, a.id FROM assignment a JOIN org_fence f ON f.org_id = a.org_id AND f.state IN ('open', 'capture')
		WHERE a.walk_at <= $1 ORDER BY a.walk_at LIMIT $2`, now, func(ctx context.Context, tx *tenant.Tx, a *Assignment) error {
		if a.WalkAt == nil || a.WalkAt.After(now) {
			return nil // another worker was faster
		}
		return a.walk(ctx, tx, now)
	})
}

// stirEach is, for each person, how long after an assignment was looked through that is done
// again for places that changed: people come and go on a big portal all the time. Whoever begins
// is entered with that.
const stirEach = time.Millisecond

// Stir has the assignments of a shard looked through on whose portals places changed since. It
// rides assignment_by_walk, where all that run are, org_counter_pkey and assignment_count_pkey.
func (w *Worker) Stir(ctx context.Context, _ *tenant.Tenants, shard string, now time.Time) (int, error) {
	return w.each(ctx, shard, `
		SELECT a.org_id, a.id FROM assignment a JOIN org_fence f ON f.org_id = a.org_id AND f.state IN ('open', 'capture')
			JOIN org_counter n ON n.org_id = a.org_id AND n.name = 'places ' || a.portal_id::TEXT
			JOIN assignment_count c ON c.org_id = a.org_id AND c.assignment_id = a.id
		WHERE a.walk_at > $1 AND a.state IN ('scheduled', 'open') AND n.value <> a.places
			AND (c.assigned < 1000 OR a.walk_at + c.assigned * $4::INTERVAL <= $3) LIMIT $2`, now,
		func(ctx context.Context, tx *tenant.Tx, a *Assignment) error {
			if a.WalkAt == nil || !a.WalkAt.After(now) {
				return nil // it is looked through already
			}
			had := a.Places
			if err := a.notePlaces(ctx, tx); err != nil || a.Places == had {
				return err
			}
			a.WalkAfter = id.Person{}
			return a.save(ctx, tx, now, &now)
		}, now.Add(walkAgain), stirEach)
}

// Remind reminds the people of a shard who are to be by now. It rides
// assignment_person_by_reminder.
func (w *Worker) Remind(ctx context.Context, _ *tenant.Tenants, shard string, now time.Time) (n int, err error) {
	db, err := w.Tenants.Shard(ctx, shard)
	if err != nil {
		return 0, err
	}
	rows, err := db.Query(ctx, `
		SELECT DISTINCT d.org_id FROM (
			SELECT p.org_id FROM assignment_person p JOIN org_fence f ON f.org_id = p.org_id AND f.state IN ('open', 'capture')
			WHERE p.remind_at <= $1 ORDER BY p.remind_at LIMIT $2) AS d`, now, remindBatch)
	if err != nil {
		return 0, err
	}
	orgs, err := pgx.CollectRows(rows, pgx.RowTo[id.Org])
	if err != nil {
		return 0, err
	}
	var failed []error
	for _, org := range orgs {
		var some int
		failed = append(failed, w.Tenants.InTx(ctx, org, func(ctx context.Context, tx *tenant.Tx) (err error) {
			some, err = w.remind(ctx, tx, now)
			return err
		}, tenant.Idempotent(true)))
		n += some
	}
	return n, errors.Join(failed...)
}

// ForgetBatch is how many rows a run forgets at most, and keptFor how long it is known that
// somebody was reminded: longer than the day lasts anywhere.
const (
	ForgetBatch = 1000
	keptFor     = 72 * time.Hour
)

// Sweep forgets on what days people of a shard were reminded. It rides
// assignment_reminder_by_time.
func Sweep(ctx context.Context, t *tenant.Tenants, shard string, now time.Time) (int, error) {
	return t.SweepRows(ctx, shard, `
		DELETE FROM assignment_reminder WHERE (org_id, assignment_id, person_id, day) IN (
			SELECT r.org_id, r.assignment_id, r.person_id, r.day FROM assignment_reminder r
				JOIN org_fence f ON f.org_id = r.org_id AND f.state = 'open'
			WHERE r.reminded_at < $1 LIMIT $2)`, now.Add(-keptFor), ForgetBatch)
}
