package tenant

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/database"
)

// ManyTx is a transaction on a shard that writes rows of several
// organizations, each of which has passed the fence.
type ManyTx struct {
	database.Tx
	Engine  database.Engine
	open    map[id.Org]bool
	capture map[id.Org]bool
	touched map[id.Org]map[row]struct{}
	// closing is what is written with the commit.
	closing func(b *pgx.Batch)
}

// AtCommit has statements sent once the transaction's function is done, in the trip of the
// commit. It is called once at most.
func (tx *ManyTx) AtCommit(queue func(b *pgx.Batch)) { tx.closing = queue }

// Open says whether the organization can be written to here. Rows of one that
// is being moved or has moved are left alone: what they say is old, or about
// to be.
func (tx *ManyTx) Open(org id.Org) bool { return tx.open[org] }

// Touch notes that the transaction wrote a row, as Tx.Touch does.
func (tx *ManyTx) Touch(org id.Org, table string, pk ...fmt.Stringer) {
	if !tx.capture[org] {
		return
	}
	if tx.touched[org] == nil {
		tx.touched[org] = map[row]struct{}{}
	}
	tx.touched[org][rowOf(table, pk)] = struct{}{}
}

// InManyTx runs fn in one transaction on a shard and commits it. It is for
// work that is the shard's, in batches over whoever is concerned: what an
// organization asks for goes through InTx, which finds its shard. fn must
// notice an earlier run of itself that was committed.
func (t *Tenants) InManyTx(ctx context.Context, shard string, orgs []id.Org, fn func(ctx context.Context, tx *ManyTx) error) error {
	db, err := t.Shard(ctx, shard)
	if err != nil {
		return err
	}
	keys := make([]int64, len(orgs))
	for i, org := range orgs {
		keys[i] = lockKey(org)
	}
	// One order for all, so that two such transactions and a move between
	// them cannot wait in a circle.
	slices.Sort(keys)
	keys = slices.Compact(keys)
	var tx *ManyTx
	o := database.TxOptions{Idempotent: true, Opening: func(e database.Engine, b *pgx.Batch) {
		tx = &ManyTx{Engine: e, open: map[id.Org]bool{}, capture: map[id.Org]bool{}, touched: map[id.Org]map[row]struct{}{}}
		if e == database.Postgres {
			b.Queue(`SELECT pg_advisory_xact_lock_shared(k) FROM unnest($1::BIGINT[]) AS keys (k)`, keys)
		}
		b.Queue(`SELECT org_id, state FROM org_fence WHERE org_id = ANY($1)`, orgs).Query(tx.readFences)
	}, Closing: func(b *pgx.Batch) error {
		if tx.closing != nil {
			tx.closing(b)
		}
		queueJournal(b, tx.touched)
		return nil
	}}
	return db.InTx(ctx, o, func(ctx context.Context, inner database.Tx) error {
		tx.Tx = inner
		return fn(ctx, tx)
	})
}

func (tx *ManyTx) readFences(rows pgx.Rows) error {
	for rows.Next() {
		var (
			org   id.Org
			state State
		)
		if err := rows.Scan(&org, &state); err != nil {
			return err
		}
		tx.open[org] = state == Open || state == Capture
		tx.capture[org] = state == Capture
	}
	return rows.Err()
}
