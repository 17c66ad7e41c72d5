package tenant

import (
	"context"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/database"
)

// sweepLock is the class of the advisory lock that a shard's sweeps share. Locks of two
// numbers never meet those of one, which are the fence's; 1 is that of the events' log.
const sweepLock int32 = 2

// SweepRows runs a statement that deletes expired rows of many organisations
// on a shard. The statement passes by organisations whose fence is not open.
func (t *Tenants) SweepRows(ctx context.Context, shard, sql string, args ...any) (n int, err error) {
	db, err := t.Shard(ctx, shard)
	if err != nil {
		return 0, err
	}
	o := database.TxOptions{Idempotent: true, Opening: func(e database.Engine, b *pgx.Batch) {
		if e == database.Postgres {
			b.Queue(`SELECT pg_advisory_xact_lock_shared($1, 0)`, sweepLock)
		}
	}}
	err = db.InTx(ctx, o, func(ctx context.Context, tx database.Tx) error {
		tag, err := tx.Exec(ctx, sql, args...)
		n = int(tag.RowsAffected())
		return err
	})
	return n, err
}

// AwaitSweeps waits for the sweeps of a shard that began before: they may have seen a
// fence open that is not any more, and they note nothing of what they delete.
func (t *Tenants) AwaitSweeps(ctx context.Context, shard string) error {
	db, err := t.Shard(ctx, shard)
	if err != nil {
		return err
	}
	o := database.TxOptions{Idempotent: true, Opening: func(e database.Engine, b *pgx.Batch) {
		if e == database.Postgres {
			b.Queue(`SELECT pg_advisory_xact_lock($1, 0)`, sweepLock)
		}
	}}
	return db.InTx(ctx, o, func(context.Context, database.Tx) error { return nil })
}
