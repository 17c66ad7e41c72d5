package tenant

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/multitracer"

	"visavis.dev/pkg/store/database"
)

// Auditor watches what transactions write and what Touch is told of it, so that a test
// fails where a transaction wrote a table and touched no row of it. Which of its rows were
// touched is not compared. It traces the statements of all shards.
type Auditor interface {
	pgx.QueryTracer
	pgx.BatchTracer
	// Begin is called before a transaction's function; what it answers is the context of the
	// function's statements.
	Begin(ctx context.Context) context.Context
	// Queued is called with each statement that goes with the commit.
	Queued(ctx context.Context, sql string)
	// End is called before the commit, with the tables that were touched. Its error undoes
	// the transaction.
	End(ctx context.Context, touched map[string]bool) error
}

// auditor is nil but in tests.
var auditor Auditor

// Audit has an auditor watch the Tenants that are made from now on. It is for tests.
func Audit(a Auditor) { auditor = a }

// audited are the options of a pool whose statements the auditor sees, where there is one.
func audited(o database.PoolOptions) database.PoolOptions {
	switch {
	case auditor == nil:
	case o.Tracer == nil:
		o.Tracer = auditor
	default:
		o.Tracer = multitracer.New(o.Tracer, auditor)
	}
	return o
}

// audit begins the audit of a transaction. end ends it, with the statements that go with the
// commit.
func (tx *Tx) audit(ctx context.Context) (audited context.Context, end func(closing *pgx.Batch) error) {
	tx.audited = map[string]bool{}
	audited = auditor.Begin(ctx)
	return audited, func(closing *pgx.Batch) error {
		for _, q := range closing.QueuedQueries {
			auditor.Queued(audited, q.SQL)
		}
		return auditor.End(audited, tx.audited)
	}
}
