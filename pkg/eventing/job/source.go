package job

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/file"
	"visavis.dev/pkg/store/tenant"
)

// MaxRefused is how many of the lines that it refused a job lists.
const MaxRefused = 100

// RefusedLine is a line of a job's source that it refused.
type RefusedLine struct {
	// Line counts from one, as an editor does.
	Line int64 `json:"line"`
	// Column is the one at fault; empty for the whole line.
	Column string `json:"column"`
	// Message is a sentence for whoever sent the file. It repeats nothing of it.
	Message string `json:"message"`
}

// noteKey is the key of a note after its job's.
type noteKey int64

func (n noteKey) String() string { return strconv.FormatInt(int64(n), 10) }

// Note keeps something beside the row of a job with a source, in the transaction
// of a step, until the job has ended. Its row stays small however much it notes.
func (j *Job) Note(ctx context.Context, tx *tenant.Tx, number int64, body any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	tx.Touch("job_note", j.ID, noteKey(number))
	_, err = tx.Exec(ctx, `INSERT INTO job_note (org_id, job_id, number, body) VALUES ($1, $2, $3, $4)`, tx.Org, j.ID, number, json.RawMessage(text))
	return err
}

// Notes are what the steps of a job noted, in order. They ride job_note_pkey.
func Notes[T any](ctx context.Context, t *tenant.Tenants, j Job) (notes []T, err error) {
	err = t.Read(ctx, j.Org, func(r *tenant.Reads) {
		r.Query(func(rows pgx.Rows) (err error) {
			notes, err = pgx.CollectRows(rows, pgx.RowTo[T])
			return err
		}, `SELECT body FROM job_note WHERE org_id = $1 AND job_id = $2 ORDER BY number`, j.Org, j.ID)
	})
	return notes, err
}

// SweepBatch bounds the jobs whose files one sweep lets go of.
const SweepBatch = 100

// SweepSources lets go of what the ended jobs of a shard worked from, and of their
// notes. It rides job_with_source.
func SweepSources(ctx context.Context, t *tenant.Tenants, files *file.Store, shard string) (int, error) {
	return eachFile(ctx, t, shard, `
		SELECT j.org_id, j.id FROM job j JOIN org_fence f ON f.org_id = j.org_id AND f.state = 'open'
		WHERE j.source_id IS NOT NULL AND j.finished_at IS NOT NULL LIMIT $1`, []any{SweepBatch},
		func(ctx context.Context, tx *tenant.Tx, j Job) error {
			if j.Source.IsZero() {
				return nil
			}
			if err := files.Discard(ctx, tx, j.Source); err != nil {
				return err
			}
			if err := forgetNotes(ctx, tx, j.ID); err != nil {
				return err
			}
			_, err := tx.Exec(ctx, `UPDATE job SET source_id = NULL WHERE org_id = $1 AND id = $2`, tx.Org, j.ID)
			return err
		})
}

func forgetNotes(ctx context.Context, tx *tenant.Tx, of id.Job) error {
	rows, err := tx.Query(ctx, `DELETE FROM job_note WHERE org_id = $1 AND job_id = $2 RETURNING number`, tx.Org, of)
	if err != nil {
		return err
	}
	numbers, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	for _, n := range numbers {
		tx.Touch("job_note", of, noteKey(n))
	}
	return err
}

// sweepFiles lets go of the files that came of jobs of a shard which are to be
// forgotten. It rides job_finished.
func sweepFiles(ctx context.Context, t *tenant.Tenants, files *file.Store, shard string, before time.Time) (int, error) {
	return eachFile(ctx, t, shard, `
		SELECT j.org_id, j.id FROM job j JOIN org_fence f ON f.org_id = j.org_id AND f.state = 'open'
		WHERE j.finished_at < $1 AND j.file_id IS NOT NULL LIMIT $2`, []any{before, SweepBatch},
		func(ctx context.Context, tx *tenant.Tx, j Job) error {
			if j.File.IsZero() {
				return nil
			}
			if err := files.Discard(ctx, tx, j.File); err != nil {
				return err
			}
			_, err := tx.Exec(ctx, `UPDATE job SET file_id = NULL WHERE org_id = $1 AND id = $2`, tx.Org, j.ID)
			return err
		})
}

// eachFile does something for every job that a statement finds, in a transaction
// that holds the job's row.
func eachFile(
	ctx context.Context, t *tenant.Tenants, shard, sql string, args []any, do func(context.Context, *tenant.Tx, Job) error,
) (int, error) {
	db, err := t.Shard(ctx, shard)
	if err != nil {
		return 0, err
	}
	rows, err := db.Query(ctx, sql, args...)
	if err != nil {
		return 0, err
	}
	type found struct {
		Org id.Org
		Job id.Job
	}
	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[found])
	if err != nil {
		return 0, err
	}
	for i, f := range all {
		err := t.InTx(ctx, f.Org, func(ctx context.Context, tx *tenant.Tx) error {
			j, err := lock(ctx, tx, f.Job)
			if err != nil {
				return err
			}
			tx.Touch("job", f.Job)
			return do(ctx, tx, j)
		}, tenant.Idempotent(true))
		if err != nil && !errdefs.IsNotFound(err, Noun) {
			return i, err
		}
	}
	return len(all), nil
}
