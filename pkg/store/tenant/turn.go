package tenant

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/database"
	"visavis.dev/pkg/store/hint"
)

// Fence is what a shard says of an organization.
type Fence struct {
	Epoch int64
	State State
	// MovedTo is where it lives, where the state is Moved.
	MovedTo string
}

// Fence reads an organization's fence on a shard; the zero Fence is of one that the shard
// does not know.
func (t *Tenants) Fence(ctx context.Context, shard string, org id.Org) (f Fence, err error) {
	db, err := t.Shard(ctx, shard)
	if err != nil {
		return f, err
	}
	err = db.QueryRow(ctx, fenceSQL, org).Scan(&f.Epoch, &f.State, &f.MovedTo)
	if errors.Is(err, pgx.ErrNoRows) {
		err = nil
	}
	return f, err
}

// turnTimeout is how long a change of a fence waits for the transactions that passed it
// before. Those that come meanwhile wait behind it, so it must be short.
const turnTimeout = `SET LOCAL lock_timeout = '1s'`

// Turn changes an organization's fence on a shard from what it was to something else, and
// says whether it still was. From its return on no transaction that passed the old one can
// commit, but for those on CockroachDB that whoever reads the new fence in a transaction sees
// there: they commit at an earlier timestamp. It may be repeated. A transaction that is in
// the way for long is an error.
func (t *Tenants) Turn(ctx context.Context, shard string, org id.Org, from, to Fence) (done bool, err error) {
	db, err := t.Shard(ctx, shard)
	if err != nil {
		return false, err
	}
	err = db.InTx(ctx, turning(org), func(ctx context.Context, tx database.Tx) error {
		tag, err := tx.Exec(ctx, `
			UPDATE org_fence SET epoch = $5, state = $6, moved_to = $7
			WHERE org_id = $1 AND (epoch = $2 AND state = $3 AND moved_to = $4 OR epoch = $5 AND state = $6 AND moved_to = $7)`,
			org, from.Epoch, from.State, from.MovedTo, to.Epoch, to.State, to.MovedTo)
		done = tag.RowsAffected() > 0
		return err
	})
	if to.State == Open || to.State == Capture {
		t.hints.Hint(shard, hint.Every) // of what waited at the fence, and what a move brought
	}
	return done, err
}

// Expect makes a shard that an organization does not live on send everybody on to where
// it does, and says whether it could: it cannot where the shard knows of a later epoch, or
// has the organization. It may be repeated.
func (t *Tenants) Expect(ctx context.Context, shard string, org id.Org, at Fence) (done bool, err error) {
	db, err := t.Shard(ctx, shard)
	if err != nil {
		return false, err
	}
	err = db.InTx(ctx, turning(org), func(ctx context.Context, tx database.Tx) error {
		tag, err := tx.Exec(ctx, `
			INSERT INTO org_fence AS f (org_id, epoch, state, moved_to) VALUES ($1, $2, 'moved', $3)
			ON CONFLICT (org_id) DO UPDATE SET epoch = $2, moved_to = $3 WHERE f.state = 'moved' AND f.epoch <= $2`,
			org, at.Epoch, at.MovedTo)
		done = tag.RowsAffected() > 0
		return err
	})
	return done, err
}

// turning is how a transaction that changes a fence runs.
func turning(org id.Org) database.TxOptions {
	return database.TxOptions{Idempotent: true, Opening: func(e database.Engine, b *pgx.Batch) {
		b.Queue(turnTimeout)
		if e == database.Postgres {
			b.Queue(`SELECT pg_advisory_xact_lock($1)`, lockKey(org))
		}
	}}
}
