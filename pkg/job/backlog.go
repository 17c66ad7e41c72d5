package job

import (
	"context"
	"time"

	"visavis.dev/pkg/database"
)

// Oldest is since when the job of a shard that waits longest is due, of those that a
// runner would take; zero where none is. It rides job_due_in_line.
func Oldest(ctx context.Context, db *database.DB, now time.Time) (time.Time, error) {
	var oldest *time.Time
	err := db.QueryRow(ctx, `
		SELECT min(first.due_at) FROM (VALUES (true), (false)) AS line (heavy)
		CROSS JOIN LATERAL (
			SELECT j.due_at FROM job j
			WHERE j.heavy = line.heavy AND j.due_at <= $1 AND EXISTS (
				SELECT 1 FROM org_fence f WHERE f.org_id = j.org_id AND f.state IN ('open', 'capture'))
			ORDER BY j.due_at LIMIT 1
		) AS first`, now).Scan(&oldest)
	if err != nil || oldest == nil {
		return time.Time{}, err
	}
	return *oldest, nil
}
