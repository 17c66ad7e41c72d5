package job

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/tenant"
)

// claimed is a job whose next step is its claimer's to make, until the lease
// ends. Every claim has an owner of its own, so that one which ended unnoticed
// commits nothing.
type claimed struct {
	Org   id.Org
	ID    id.Job
	Owner uuid.UUID
	Kind  Kind
}

// errLost says that a claim is somebody else's by now, or that its job ended.
var errLost = errors.New("the claim on the job is lost")

// claim takes jobs of some kinds whose next step is due, of those organizations that can
// be written to. It rides job_due_by_kind.
func claim(ctx context.Context, t *tenant.Tenants, shard string, l line, of []id.Org, now time.Time, n int) (jobs []claimed, err error) {
	err = t.InManyTx(ctx, shard, of, func(ctx context.Context, tx *tenant.ManyTx) error {
		open := slices.DeleteFunc(slices.Clone(of), func(org id.Org) bool { return !tx.Open(org) })
		rows, err := tx.Query(ctx, fmt.Sprintf(updateDue, n), uuid.New(), now, now.Add(lease), l.heavy, open, l.kinds, l.fetches)
		if err != nil {
			return err
		}
		jobs, err = pgx.CollectRows(rows, pgx.RowToStructByPos[claimed])
		for _, c := range jobs {
			tx.Touch(c.Org, "job", c.ID)
		}
		return err
	})
	return jobs, err
}

// updateDue has its LIMIT in digits: a planner that does not know it takes a tenth of the
// table for due.
const updateDue = `
	UPDATE job SET owner = $1, due_at = $3, attempts = attempts + 1
	WHERE (org_id, id) IN (
		SELECT j.org_id, j.id FROM job j
		WHERE j.heavy = $4 AND j.due_at <= $2 AND j.org_id = ANY($5) AND j.kind = ANY($6::TEXT[])
			AND ($7::BOOL IS NULL OR ((j.input->'fetches') IS NOT NULL) = $7)
		ORDER BY j.due_at LIMIT %d FOR UPDATE SKIP LOCKED)
	RETURNING org_id, id, owner, kind`

// waiting are the organizations of the jobs that are due first, but for some
// organizations. It rides job_due_by_kind.
func waiting(ctx context.Context, t *tenant.Tenants, shard string, l line, but []id.Org, now time.Time, n int) ([]id.Org, error) {
	db, err := t.Shard(ctx, shard)
	if err != nil {
		return nil, err
	}
	// An array that is NULL would exclude everything.
	rows, err := db.Query(ctx, `
		SELECT DISTINCT due.org_id FROM (
			SELECT j.org_id FROM job j
			WHERE j.heavy = $3 AND j.due_at <= $1 AND EXISTS (
				SELECT 1 FROM org_fence f WHERE f.org_id = j.org_id AND f.state IN ('open', 'capture'))
				AND j.kind = ANY($4::TEXT[]) AND j.org_id <> ALL($5::UUID[])
				AND ($6::BOOL IS NULL OR ((j.input->'fetches') IS NOT NULL) = $6)
			ORDER BY j.due_at LIMIT $2) AS due`, now, n, l.heavy, l.kinds, append([]id.Org{}, but...), l.fetches)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[id.Org])
}

// lock reads the claim's job and holds its row. The error is errLost when the
// claim is no longer good.
func (c claimed) lock(ctx context.Context, tx *tenant.Tx) (Job, error) {
	var owner uuid.NullUUID
	err := tx.QueryRow(ctx, `SELECT owner FROM job WHERE org_id = $1 AND id = $2 FOR UPDATE`, tx.Org, c.ID).Scan(&owner)
	if errors.Is(err, pgx.ErrNoRows) || err == nil && owner.UUID != c.Owner {
		return Job{}, errLost
	}
	if err != nil {
		return Job{}, err
	}
	return lock(ctx, tx, c.ID)
}

// begin notes that the job runs and answers it.
func (c claimed) begin(ctx context.Context, t *tenant.Tenants, now time.Time) (j Job, err error) {
	err = t.InTx(ctx, c.Org, func(ctx context.Context, tx *tenant.Tx) error {
		if j, err = c.lock(ctx, tx); err != nil || j.State == Running {
			return err
		}
		j.run(now)
		tx.Touch("job", c.ID)
		_, err := tx.Exec(ctx, `UPDATE job SET state = $3, started_at = $4 WHERE org_id = $1 AND id = $2`,
			tx.Org, c.ID, j.State, j.StartedAt)
		return err
	}, tenant.Idempotent(true))
	return j, err
}

// renew makes the lease last from now. The error is errLost when the claim is
// no longer good.
func (c claimed) renew(ctx context.Context, t *tenant.Tenants, now time.Time) error {
	return c.postpone(ctx, t, now.Add(lease))
}

// postpone makes the lease last until a moment. The error is errLost when the claim is no longer good.
func (c claimed) postpone(ctx context.Context, t *tenant.Tenants, until time.Time) error {
	return c.update(ctx, t, `UPDATE job SET due_at = $4 WHERE org_id = $1 AND id = $2 AND owner = $3`, until)
}

// giveBack lets another runner make the step at once, as if it had not been begun.
func (c claimed) giveBack(ctx context.Context, t *tenant.Tenants, now time.Time) error {
	return c.update(ctx, t, `
		UPDATE job SET due_at = $4, owner = NULL, attempts = attempts - 1 WHERE org_id = $1 AND id = $2 AND owner = $3`, now)
}

// uncount takes the step out of the job's Attempts, whoever has the claim by now.
func (c claimed) uncount(ctx context.Context, t *tenant.Tenants) error {
	return t.InTx(ctx, c.Org, func(ctx context.Context, tx *tenant.Tx) error {
		tx.Touch("job", c.ID)
		_, err := tx.Exec(ctx, `
			UPDATE job SET attempts = attempts - 1 WHERE org_id = $1 AND id = $2 AND attempts > 0 AND finished_at IS NULL`, tx.Org, c.ID)
		return err
	})
}

func (c claimed) update(ctx context.Context, t *tenant.Tenants, sql string, due time.Time) error {
	return t.InTx(ctx, c.Org, func(ctx context.Context, tx *tenant.Tx) error {
		tx.Touch("job", c.ID)
		tag, err := tx.Exec(ctx, sql, tx.Org, c.ID, c.Owner, due)
		if err == nil && tag.RowsAffected() == 0 {
			return errLost
		}
		return err
	})
}
