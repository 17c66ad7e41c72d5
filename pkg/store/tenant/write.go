package tenant

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/database"
	"visavis.dev/pkg/store/directory"
)

// Tx is a transaction on an organization's shard that has passed the fence.
type Tx struct {
	database.Tx
	Org     id.Org
	Engine  database.Engine
	capture bool
	touched map[row]struct{}
	// audited are the tables of what was touched; nil where nobody audits.
	audited map[string]bool
	outbox  Outbox
}

// Outbox holds what a transaction writes last, just before it is committed.
type Outbox interface {
	// Len is how much it holds.
	Len() int
	// Truncate drops what was put in after it held so much.
	Truncate(n int)
	// Flush writes what it holds.
	Flush(ctx context.Context, tx *Tx) error
}

// Outbox is the transaction's; open makes it where there is none yet. What fn put in is
// written once fn is done, and dropped where fn, or the attempt it was made in, fails.
func (tx *Tx) Outbox(open func() Outbox) Outbox {
	if tx.outbox == nil {
		tx.outbox = open()
	}
	return tx.outbox
}

// flush writes what comes last.
func (tx *Tx) flush(ctx context.Context) error {
	if tx.outbox != nil {
		if err := tx.outbox.Flush(ctx, tx); err != nil {
			return err
		}
	}
	return tx.journal(ctx)
}

// Touch notes that the transaction wrote a row of a tenant table; pk are the
// key's parts after org_id. While the organization is being copied elsewhere
// the copy learns of the row from this. Every write of a tenant row calls it.
func (tx *Tx) Touch(table string, pk ...fmt.Stringer) {
	if tx.audited != nil {
		tx.audited[table] = true
	}
	if !tx.capture {
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
// fn can run several times and must have no effect but through tx.
func (t *Tenants) InTx(ctx context.Context, org id.Org, fn func(ctx context.Context, tx *Tx) error, options ...Option) error {
	return t.onShard(ctx, org, func(db *database.DB, route directory.Route) error {
		var (
			f      fence
			engine database.Engine
		)
		o := database.TxOptions{Opening: func(e database.Engine, b *pgx.Batch) {
			engine = e
			if e == database.Postgres {
				b.Queue(`SELECT pg_advisory_xact_lock_shared($1)`, lockKey(org))
			}
			b.Queue(fenceSQL, org).QueryRow(func(r pgx.Row) error {
				return f.read(r, org, route, Open, Capture)
			})
		}}
		for _, option := range options {
			option(&o)
		}
		return db.InTx(ctx, o, func(ctx context.Context, inner database.Tx) error {
			tx := &Tx{Tx: inner, Org: org, Engine: engine, capture: f.state == Capture, touched: map[row]struct{}{}}
			if auditor != nil {
				tx.audited, ctx = map[string]bool{}, auditor.Begin(ctx)
			}
			if err := fn(ctx, tx); err != nil {
				return err
			}
			if err := tx.flush(ctx); err != nil || auditor == nil {
				return err
			}
			return auditor.End(ctx, tx.audited)
		})
	})
}

// journal writes down what the transaction touched.
func (tx *Tx) journal(ctx context.Context) error {
	return journal(ctx, tx, map[id.Org]map[row]struct{}{tx.Org: tx.touched})
}
