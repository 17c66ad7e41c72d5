package tenant

import (
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/database"
)

// sweepLock is the class of the advisory lock that a shard's sweeps share. Locks of two
// numbers never meet those of one, which are the fence's; 1 is that of the events' log.
const sweepLock int32 = 2

// SweepRows runs a statement that deletes expired rows of many organizations
// on a shard. The statement passes by organizations whose fence is not open.
func (t *Tenants) SweepRows(ctx context.Context, shard, sql string, args ...any) (n int, err error) {
	db, err := t.Shard(ctx, shard)
	if err != nil {
		return 0, err
	}
	err = db.InTx(ctx, sweeping(), func(ctx context.Context, tx database.Tx) error {
		tag, err := tx.Exec(ctx, sql, args...)
		n = int(tag.RowsAffected())
		return err
	})
	return n, err
}

// sweeping is how a transaction that sweeps runs.
func sweeping() database.TxOptions {
	return database.TxOptions{Idempotent: true, Opening: func(e database.Engine, b *pgx.Batch) {
		if e == database.Postgres {
			b.Queue(`SELECT pg_advisory_xact_lock_shared($1, 0)`, sweepLock)
		}
	}}
}

// sweptAtOnce is for how many organizations a transaction sweeps.
const sweptAtOnce = 500

// SweepEach runs a statement that deletes expired rows of one organization for each that is
// open on a shard, many of them in one trip, until that many rows are gone or none is left.
// $1 is the organization and $2 how many rows it may delete; args follow. The statement asks
// the fence itself. A statement for each rides the organization's own part of an index on both
// engines, which a LATERAL of all does not on CockroachDB.
func (t *Tenants) SweepEach(ctx context.Context, shard string, most int, sql string, args ...any) (n int, err error) {
	db, err := t.Shard(ctx, shard)
	if err != nil {
		return 0, err
	}
	var last id.Org
	for n < most {
		orgs, err := openAfter(ctx, db, last)
		if err != nil || len(orgs) == 0 {
			return n, err
		}
		last = orgs[len(orgs)-1]
		for len(orgs) > 0 && n < most {
			swept, more, err := sweepSome(ctx, db, orgs, most, sql, args)
			n += swept
			if err != nil {
				return n, err
			}
			orgs = more
		}
	}
	return n, nil
}

// openAfter are organizations that are open on a shard. It rides org_fence_pkey.
func openAfter(ctx context.Context, db *database.DB, last id.Org) ([]id.Org, error) {
	rows, err := db.Query(ctx, `SELECT org_id FROM org_fence WHERE org_id > $1 AND state = 'open' ORDER BY org_id LIMIT $2`,
		uuid.UUID(last), sweptAtOnce) // the zero id would be NULL
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[id.Org])
}

// sweepSome sweeps a share of the rows for each organization. more are those that may have
// more of them.
func sweepSome(ctx context.Context, db *database.DB, orgs []id.Org, most int, sql string, args []any) (n int, more []id.Org, err error) {
	share := max(most/len(orgs), 1)
	err = db.InTx(ctx, sweeping(), func(ctx context.Context, tx database.Tx) error {
		n, more = 0, nil
		var b pgx.Batch
		for _, org := range orgs {
			b.Queue(sql, append([]any{org, share}, args...)...).Exec(func(tag pgconn.CommandTag) error {
				n += int(tag.RowsAffected())
				if int(tag.RowsAffected()) == share {
					more = append(more, org)
				}
				return nil
			})
		}
		return tx.SendBatch(ctx, &b).Close()
	})
	return n, more, err
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
