package session

import (
	"context"

	"visavis.dev/pkg/store/database"
)

// CountLive is how many sessions of a shard a process holds. It rides
// session_by_owner.
func CountLive(ctx context.Context, db *database.DB) (int64, error) {
	var n int64
	err := db.QueryRow(ctx, `
		SELECT count(*) FROM session s JOIN org_fence f ON f.org_id = s.org_id AND f.state <> 'moved' WHERE s.owner IS NOT NULL`).Scan(&n)
	return n, err
}
