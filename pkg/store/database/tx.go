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
// are InTx's alone. A statement is one command, and what it is called with are its
// arguments alone.
type Tx interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
	SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
	// Later has a statement, whose answer nobody reads, travel with the next one or with
	// COMMIT. Its failure is the failure of what it travels with, and ends the transaction:
	// it is for statements that only a fault makes fail, outside of savepoints. What args hold
	// must not change any more.
	Later(sql string, args ...any)
}

// TxOptions say how a transaction runs.
type TxOptions struct {
	// Opening queues statements that travel with BEGIN in one trip. Their
	// callbacks may refuse the transaction by returning an error.
	Opening func(e Engine, b *pgx.Batch)
	// OpenWithFirst has Opening's statements travel with the function's first one, and
	// BEGIN too where it can: the function runs before their callbacks were called. Its first
	// statement has no effect where they refuse the transaction.
	OpenWithFirst bool
	// Closing queues statements once the function is done. On PostgreSQL they travel with
	// COMMIT in one trip; what they answer is not read. Its error undoes the transaction.
	Closing func(b *pgx.Batch) error
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
		t := &transaction{to: tx, waiting: &pgx.Batch{}}
		if err := t.run(ctx, Cockroach, o, fn); err != nil {
			return err
		}
		closing, err := t.closing(o)
		if err != nil || closing.Len() == 0 {
			return err
		}
		return tx.SendBatch(ctx, closing).Close()
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

// onPostgres sends BEGIN with the opening statements in one trip, and COMMIT with the closing
// ones. It does not use cockroach-go: that ignores COMMIT's error here, and its savepoint
// never leaves the transaction's first snapshot.
func onPostgres(ctx context.Context, conn *pgx.Conn, o TxOptions, fn func(context.Context, Tx) error) error {
	t := &transaction{to: conn, waiting: &pgx.Batch{}}
	t.waiting.Queue("BEGIN ISOLATION LEVEL READ COMMITTED")
	err := t.run(ctx, Postgres, o, fn)
	var closing *pgx.Batch
	if err == nil {
		closing, err = t.closing(o)
	}
	// The caller going away must not decide between commit and rollback
	// halfway: from here on only the clock can interrupt.
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), commitTimeout)
	defer cancel()
	if err != nil {
		rollback(ending, conn, err)
		return err
	}
	if closing.Len() == 0 {
		tag, err := conn.Exec(ending, "COMMIT")
		return committed(tag, err)
	}
	if err = closeAndCommit(ending, conn, closing); err != nil && !errors.Is(err, ErrOutcomeUnknown) {
		rollback(ending, conn, err)
	}
	return err
}

// rollback undoes a transaction that failed. Closing the connection rolls back too: it is
// closed when a rollback fails, and when the server is no longer one to write to.
func rollback(ctx context.Context, conn *pgx.Conn, failure error) {
	if conn.PgConn().TxStatus() == 'I' && !lostConnection(failure) {
		return // nothing was begun
	}
	if _, err := conn.Exec(ctx, "ROLLBACK"); err != nil || lostConnection(failure) {
		_ = conn.Close(ctx)
	}
}

// closeAndCommit sends the closing statements and COMMIT. After one that fails the server
// leaves out the rest, COMMIT among it.
func closeAndCommit(ctx context.Context, conn *pgx.Conn, closing *pgx.Batch) error {
	n := closing.Len()
	closing.Queue("COMMIT")
	results := conn.SendBatch(ctx, closing)
	var (
		tag pgconn.CommandTag
		err error
	)
	for range n + 1 {
		if tag, err = results.Exec(); err != nil {
			break
		}
	}
	_ = results.Close() // once COMMIT is answered nothing else counts
	if _, unsent := errors.AsType[pgx.ErrPreprocessingBatch](err); unsent {
		return err
	}
	return committed(tag, err)
}

// committed tells apart three outcomes of a COMMIT on PostgreSQL, or of what was sent with it:
// committed, certainly not, and unknown.
func committed(tag pgconn.CommandTag, err error) error {
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
