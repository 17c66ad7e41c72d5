package database

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/cockroachdb/cockroach-go/v2/crdb"
	crdbpgx "github.com/cockroachdb/cockroach-go/v2/crdb/crdbpgxv5"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Tx is what a transaction's function may do with it. Beginning and ending
// are InTx's alone.
type Tx interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
	SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
}

// TxOptions say how a transaction runs.
type TxOptions struct {
	// Opening queues statements that travel with BEGIN in one trip. Their
	// callbacks may refuse the transaction by returning an error.
	Opening func(e Engine, b *pgx.Batch)
	// Idempotent allows running the function again after a COMMIT whose
	// outcome is unknown, because a second run notices the first.
	Idempotent bool
}

// ErrOutcomeUnknown says that the connection was lost while COMMIT was on its
// way: the transaction may or may not have been committed.
var ErrOutcomeUnknown = errors.New("the outcome of the commit is unknown")

const (
	maxAttempts   = 8
	commitTimeout = 10 * time.Second
)

// InTx runs fn in one transaction and commits it. fn can run several times
// and must have no effect but through tx. When InTx returns nil the
// transaction is committed; ErrOutcomeUnknown aside, any error means that
// nothing was.
func (db *DB) InTx(ctx context.Context, o TxOptions, fn func(ctx context.Context, tx Tx) error) error {
	return repeat(ctx, o.again, func() error { return db.attempt(ctx, o, fn) })
}

// Again runs what only reads, and runs it again as often as InTx would where the engine asks
// for that: CockroachDB does, of a single query too, once a part of its rows was sent.
func Again(ctx context.Context, read func() error) error { return repeat(ctx, serialization, read) }

// repeat runs fn until it succeeds, fails for good or was run maxAttempts times.
func repeat(ctx context.Context, again func(error) bool, fn func() error) error {
	for attempt := 1; ; attempt++ {
		err := fn()
		if err == nil || attempt == maxAttempts || ctx.Err() != nil || !again(err) {
			return err
		}
		select {
		case <-time.After(backoff(attempt)):
		case <-ctx.Done():
			return err
		}
	}
}

// again says whether a failed attempt may be followed by another.
func (o TxOptions) again(err error) bool {
	if errors.Is(err, ErrOutcomeUnknown) {
		return o.Idempotent
	}
	return serialization(err) || lostConnection(err)
}

// backoff is the pause after a failed attempt: jittered, doubling from about
// 5 ms to at most 200 ms.
func backoff(attempt int) time.Duration {
	ceiling := min(10*time.Millisecond<<(attempt-1), 200*time.Millisecond)
	return ceiling/2 + rand.N(ceiling/2)
}

func (db *DB) attempt(ctx context.Context, o TxOptions, fn func(context.Context, Tx) error) error {
	conn, err := db.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	if engineOf(conn.Conn()) == Cockroach {
		return onCockroach(ctx, conn.Conn(), o, fn)
	}
	return onPostgres(ctx, conn.Conn(), o, fn)
}

// onCockroach leaves retries to cockroach-go, which knows the savepoint
// protocol that keeps a retried transaction's priority.
func onCockroach(ctx context.Context, conn *pgx.Conn, o TxOptions, fn func(context.Context, Tx) error) error {
	err := crdbpgx.ExecuteTx(ctx, conn, pgx.TxOptions{IsoLevel: pgx.Serializable}, func(tx pgx.Tx) error {
		if o.Opening != nil {
			var b pgx.Batch
			o.Opening(Cockroach, &b)
			if err := tx.SendBatch(ctx, &b).Close(); err != nil {
				return err
			}
		}
		return fn(ctx, tx)
	})
	// cockroach-go calls every failure of the committing RELEASE ambiguous. It
	// is, unless the server itself said why it refused.
	var (
		ambiguous *crdb.AmbiguousCommitError
		pg        *pgconn.PgError
	)
	refused := errors.As(err, &pg) && !shutdownCode(pg.Code)
	if refused && pg.Code == "40003" || !refused && errors.As(err, &ambiguous) {
		return fmt.Errorf("%w: %w", ErrOutcomeUnknown, err)
	}
	return err
}

// onPostgres sends BEGIN with the opening statements in one trip. It does not
// use cockroach-go: that ignores COMMIT's error here, and its savepoint never
// leaves the transaction's first snapshot.
func onPostgres(ctx context.Context, conn *pgx.Conn, o TxOptions, fn func(context.Context, Tx) error) error {
	var opening pgx.Batch
	opening.Queue("BEGIN ISOLATION LEVEL READ COMMITTED")
	if o.Opening != nil {
		o.Opening(Postgres, &opening)
	}
	err := conn.SendBatch(ctx, &opening).Close()
	if err == nil {
		err = fn(ctx, conn)
	}
	// The caller going away must not decide between commit and rollback
	// halfway: from here on only the clock can interrupt.
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), commitTimeout)
	defer cancel()
	if err != nil {
		// Closing the connection rolls back too. It is closed when a rollback
		// fails, and when the server is no longer one to write to.
		if _, rollback := conn.Exec(ending, "ROLLBACK"); rollback != nil || lostConnection(err) {
			_ = conn.Close(ending)
		}
		return err
	}
	return commit(ending, conn)
}

// commit ends a PostgreSQL transaction and tells apart three outcomes:
// committed, certainly not, and unknown.
func commit(ctx context.Context, conn *pgx.Conn) error {
	tag, err := conn.Exec(ctx, "COMMIT")
	if err == nil {
		if tag.String() != "COMMIT" {
			// An aborted transaction answers COMMIT with ROLLBACK.
			return pgx.ErrTxCommitRollback
		}
		return nil
	}
	var pg *pgconn.PgError
	if errors.As(err, &pg) && pg.Severity != "FATAL" && pg.Severity != "PANIC" {
		return err
	}
	return fmt.Errorf("%w: %w", ErrOutcomeUnknown, err)
}
