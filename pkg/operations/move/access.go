package move

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/store/database"
)

// open finds both databases and what their tables are like, which is the same.
func (r *run) open(ctx context.Context) (err error) {
	if r.layout != nil {
		return nil
	}
	if r.from, err = r.Tenants.Shard(ctx, r.move.From); err != nil {
		return err
	}
	if r.to, err = r.Tenants.Shard(ctx, r.move.To); err != nil {
		return err
	}
	here, err := readLayout(ctx, r.from)
	if err != nil {
		return err
	}
	there, err := readLayout(ctx, r.to)
	if err != nil {
		return err
	}
	if !here.equal(there) {
		return refuse(Schema, "The tables of the shards %s and %s differ. Migrate them first.", r.move.From, r.move.To)
	}
	r.layout = here
	return nil
}

// utc makes both databases write moments alike.
const utc = `SET LOCAL TIME ZONE 'UTC'`

// fenceIs queues a read of the source's fence, which fails once it is not as this process
// left it. Each transaction on the source's rows begins with it: CockroachDB lets a writer
// that passed the earlier fence commit after the fence changed, at an earlier timestamp. Who
// has seen the fence as it is now reads at a later one, and so sees what that writer wrote.
func (r *run) fenceIs(b *pgx.Batch) {
	b.Queue(`SELECT epoch FROM org_fence WHERE org_id = $1`, r.move.Org).QueryRow(func(row pgx.Row) error {
		var epoch int64
		err := row.Scan(&epoch)
		if errors.Is(err, pgx.ErrNoRows) || err == nil && epoch != r.fence.Epoch {
			return errTaken
		}
		return err
	})
}

// reading runs fn in a transaction on the source.
func (r *run) reading(ctx context.Context, fn func(context.Context, database.Tx) error) error {
	o := database.TxOptions{Idempotent: true, Opening: func(_ database.Engine, b *pgx.Batch) {
		b.Queue(utc)
		r.fenceIs(b)
	}}
	return r.answered(r.from.InTx(ctx, o, fn))
}

// writing runs fn in a transaction on the destination, for as long as the move is this
// process's: whoever takes it over waits for the end of this one.
func (r *run) writing(ctx context.Context, fn func(context.Context, database.Tx) error) error {
	o := database.TxOptions{Idempotent: true, Opening: func(_ database.Engine, b *pgx.Batch) {
		b.Queue(utc)
		b.Queue(`
			SELECT epoch FROM org_fence WHERE org_id = $1 AND state = 'moved' AND moved_to = $2 AND epoch = $3 FOR SHARE`,
			r.move.Org, r.move.From, r.fence.Epoch).QueryRow(func(row pgx.Row) error {
			var epoch int64
			err := row.Scan(&epoch)
			if errors.Is(err, pgx.ErrNoRows) {
				return errTaken
			}
			return err
		})
	}}
	return r.answered(r.to.InTx(ctx, o, fn))
}

// answered notes that a shard answered, whatever it said.
func (r *run) answered(err error) error {
	r.watchdog.reset()
	return err
}
