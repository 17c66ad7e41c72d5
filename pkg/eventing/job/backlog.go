package job

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/store/database"
)

// Oldest is since when the job of a shard that waits longest is due, of those that a
// runner with this share would take; zero where none is. It rides job_due_by_kind,
// once for each half.
func Oldest(ctx context.Context, db *database.DB, share Share, now time.Time) (time.Time, error) {
	var (
		oldest time.Time
		b      pgx.Batch
	)
	for heavy, kinds := range map[bool][]Kind{true: heavy(), false: quick} {
		b.Queue(`
			SELECT j.due_at FROM job j
			WHERE j.heavy = $1 AND j.due_at <= $2 AND EXISTS (
				SELECT 1 FROM org_fence f WHERE f.org_id = j.org_id AND f.state IN ('open', 'capture'))
				AND j.kind = ANY($3::TEXT[])
			ORDER BY j.due_at LIMIT 1`, heavy, now, share.of(kinds)).Query(func(rows pgx.Rows) error {
			for rows.Next() {
				var due time.Time
				if err := rows.Scan(&due); err != nil {
					return err
				}
				if oldest.IsZero() || due.Before(oldest) {
					oldest = due
				}
			}
			return rows.Err()
		})
	}
	return oldest, db.SendBatch(ctx, &b).Close()
}
