package tenant

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/database"
	"visavis.dev/pkg/store/directory"
	"visavis.dev/pkg/store/hint"
)

// Tx is a transaction on an organization's shard, whose first statement passes the fence.
type Tx struct {
	database.Tx
	Org    id.Org
	Engine database.Engine
	// fence is zero until the first statement was sent.
	fence   fence
	touched map[row]struct{}
	// audited are the tables of what was touched; nil where nobody audits.
	audited map[string]bool
	// closing is what is written with the commit.
	closing []Write
	// hints are what workers are told once it is committed.
	hints *hint.Kinds
}

// Write is something that a transaction writes with its commit.
type Write interface {
	// Queue queues the statements, and notes the rows that they write (Touch).
	Queue(tx *Tx, b *pgx.Batch) error
}

// AtCommit has something written once the transaction's function is done, after what it was
// called with before and in the trip of the commit. It is dropped where the attempt that it
// was called in fails. What it holds must not change any more.
func (tx *Tx) AtCommit(w Write) { tx.closing = append(tx.closing, w) }

// Closing is what AtCommit was called with, in order. It is the transaction's own.
func (tx *Tx) Closing() []Write { return tx.closing }

// queueClosing queues what is written with the commit, and the journal of what was touched.
func (tx *Tx) queueClosing(b *pgx.Batch) error {
	for _, w := range tx.closing {
		if err := w.Queue(tx, b); err != nil {
			return err
		}
	}
	if tx.fence.state == Capture {
		queueJournal(b, map[id.Org]map[row]struct{}{tx.Org: tx.touched})
	}
	return nil
}

// Touch notes that the transaction wrote a row of a tenant table; pk are the
// key's parts after org_id. While the organization is being copied elsewhere
// the copy learns of the row from this, and workers of what is for them (Table.Hints).
// Every write of a tenant row calls it.
func (tx *Tx) Touch(table string, pk ...fmt.Stringer) {
	if tx.audited != nil {
		tx.audited[table] = true
	}
	*tx.hints |= hintsOf[table]
	if tx.fence.state == Open {
		return
	}
	tx.touched[rowOf(table, pk)] = struct{}{}
}

// Option changes how InTx runs.
type Option func(*database.TxOptions)

// Idempotent says that the function notices an earlier run of itself that was
// committed, so it may run again when a commit's outcome is unknown.
func Idempotent(yes bool) Option {
	return func(o *database.TxOptions) { o.Idempotent = yes }
}

// InTx runs fn in one transaction on the organization's shard and commits it.
// fn can run several times and must have no effect but through tx. It runs before the fence is
// passed: its first statement fails where the organization does not live, or is being moved.
func (t *Tenants) InTx(ctx context.Context, org id.Org, fn func(ctx context.Context, tx *Tx) error, options ...Option) error {
	return t.onShard(ctx, org, func(db *database.DB, route directory.Route) error {
		var (
			tx  *Tx
			end func(*pgx.Batch) error
			// hints are of all runs: one whose commit's outcome was not known may have been it.
			hints hint.Kinds
			runs  int
		)
		o := database.TxOptions{OpenWithFirst: true, Opening: func(e database.Engine, b *pgx.Batch) {
			runs++
			tx = &Tx{Org: org, Engine: e, touched: map[row]struct{}{}, hints: &hints}
			if e == database.Postgres {
				b.Queue(`SELECT pg_advisory_xact_lock_shared($1)`, lockKey(org))
			}
			b.Queue(fenceSQL, org).QueryRow(func(r pgx.Row) error {
				return tx.fence.read(r, org, route, Open, Capture)
			})
		}, Closing: func(b *pgx.Batch) error {
			if err := tx.queueClosing(b); err != nil || auditor == nil {
				return err
			}
			return end(b)
		}}
		for _, option := range options {
			option(&o)
		}
		err := db.InTx(ctx, o, func(ctx context.Context, inner database.Tx) error {
			tx.Tx = inner
			if auditor != nil {
				ctx, end = tx.audit(ctx)
			}
			return fn(ctx, tx)
		})
		// A run whose commit's outcome was not known may be followed by one that fails.
		if err == nil || errors.Is(err, database.ErrOutcomeUnknown) || runs > 1 {
			t.hints.Hint(route.Shard, hints)
		}
		return err
	})
}
