package session

import (
	"context"

	"visavis.dev/pkg/database"
)

// CountLive is how many sessions of a shard a process holds. It rides
// session_by_owner.
func CountLive(ctx context.Context, db *database.DB) (int64, error) {
	var n int64
	err := db.QueryRow(ctx, `SELECT count(*) FROM session WHERE owner IS NOT NULL`).Scan(&n)
	return n, err
}
