package database

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
)

// transaction is a Tx whose statements wait for the next trip where nobody reads what they
// answer. It is for one goroutine at a time.
type transaction struct {
	to sender
	// waiting goes before the next statement, in its trip. Callbacks of what waits are called
	// before that statement's answer is read.
	waiting *pgx.Batch
	// opened says that the opening statements were sent, and did what they were to.
	opened bool
	// failed is why nothing more can be done: something that waited failed, which ends the
	// transaction whatever its function makes of that.
	failed error
}

// sender is what statements go to: a connection, or a transaction of another library.
type sender interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
	SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
}

// Later implements Tx.
func (t *transaction) Later(sql string, args ...any) { t.waiting.Queue(sql, args...) }

// Exec implements Tx.
func (t *transaction) Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	if t.ready() {
		return t.to.Exec(ctx, sql, args...)
	}
	results, err := t.send(ctx, sql, args)
	if err != nil {
		return pgconn.CommandTag{}, err
	}
	tag, err := results.Exec()
	if closing := results.Close(); err == nil {
		err = closing
	}
	return tag, err
}

// Query implements Tx.
func (t *transaction) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	if t.ready() {
		return t.to.Query(ctx, sql, args...)
	}
	results, err := t.send(ctx, sql, args)
	if err != nil {
		return failedRows{err: err}, err
	}
	rows, err := results.Query()
	last := &lastRows{Rows: rows, results: results}
	if err != nil {
		last.Close()
	}
	return last, err
}

// QueryRow implements Tx.
func (t *transaction) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	if t.ready() {
		return t.to.QueryRow(ctx, sql, args...)
	}
	rows, err := t.Query(ctx, sql, args...)
	return oneRow{rows, err}
}

// SendBatch implements Tx.
func (t *transaction) SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults {
	if t.ready() {
		return t.to.SendBatch(ctx, b)
	}
	results, err := t.sendWith(ctx, b.QueuedQueries)
	if err != nil {
		return failedBatch{err}
	}
	return results
}

// ready says whether nothing goes before the next statement.
func (t *transaction) ready() bool { return t.failed == nil && t.waiting.Len() == 0 }

func (t *transaction) send(ctx context.Context, sql string, args []any) (pgx.BatchResults, error) {
	return t.sendWith(ctx, []*pgx.QueuedQuery{{SQL: sql, Arguments: args}})
}

// sendWith sends what waits and then some statements, in one trip, and reads the answers to
// what waited.
func (t *transaction) sendWith(ctx context.Context, statements []*pgx.QueuedQuery) (pgx.BatchResults, error) {
	if t.failed != nil {
		return nil, t.failed
	}
	all := t.waiting
	t.waiting = &pgx.Batch{}
	waited := all.Len()
	all.QueuedQueries = append(all.QueuedQueries, statements...)
	results := t.to.SendBatch(ctx, all)
	for _, q := range all.QueuedQueries[:waited] {
		if t.failed = read(results, q); t.failed != nil {
			for _, q := range all.QueuedQueries {
				q.Fn = nil // what is left is read away
			}
			_ = results.Close() // fails as this did, or for the same cause
			return nil, t.failed
		}
	}
	t.opened = true
	return results, nil
}

// read reads the answer to the next statement of a batch.
func read(results pgx.BatchResults, q *pgx.QueuedQuery) error {
	if q.Fn != nil {
		return q.Fn(results)
	}
	_, err := results.Exec()
	return err
}

// flush sends what waits.
func (t *transaction) flush(ctx context.Context) error {
	if t.ready() {
		return nil
	}
	results, err := t.sendWith(ctx, nil)
	if err != nil {
		return err
	}
	return results.Close()
}

// run sends the opening statements and runs the function. Nothing may be committed before the
// opening statements were sent, nor after something that waited failed.
func (t *transaction) run(ctx context.Context, e Engine, o TxOptions, fn func(context.Context, Tx) error) error {
	if o.Opening != nil {
		o.Opening(e, t.waiting)
	}
	if !o.OpenWithFirst {
		if err := t.flush(ctx); err != nil {
			return err
		}
	}
	err := fn(ctx, t)
	switch {
	case t.failed != nil: // whatever the function made of it
		return t.failed
	case err != nil:
		return err
	case !t.opened:
		return t.flush(ctx)
	}
	return nil
}

// closing are the statements that travel with COMMIT.
func (t *transaction) closing(o TxOptions) (*pgx.Batch, error) {
	if o.Closing == nil {
		return t.waiting, nil
	}
	return t.waiting, o.Closing(t.waiting)
}

// lastRows are the rows of a batch's last statement; closing them ends the batch.
type lastRows struct {
	pgx.Rows
	results pgx.BatchResults
	ended   bool
	err     error
}

// Next implements pgx.Rows.
func (r *lastRows) Next() bool {
	more := r.Rows.Next()
	if !more {
		r.Close()
	}
	return more
}

// Close implements pgx.Rows.
func (r *lastRows) Close() {
	r.Rows.Close()
	if !r.ended {
		r.ended, r.err = true, r.results.Close()
	}
}

// Err implements pgx.Rows.
func (r *lastRows) Err() error {
	if err := r.Rows.Err(); err != nil {
		return err
	}
	return r.err
}

// oneRow is the first of some rows.
type oneRow struct {
	rows pgx.Rows
	err  error
}

// Scan implements pgx.Row.
func (r oneRow) Scan(dest ...any) error {
	if r.err != nil {
		return r.err
	}
	defer r.rows.Close()
	if !r.rows.Next() {
		if err := r.rows.Err(); err != nil {
			return err
		}
		return pgx.ErrNoRows
	}
	if err := r.rows.Scan(dest...); err != nil {
		return err
	}
	r.rows.Close()
	return r.rows.Err()
}

// failedRows are the rows of a statement that was not sent.
type failedRows struct{ err error }

func (r failedRows) Close()                                       {}
func (r failedRows) Err() error                                   { return r.err }
func (r failedRows) CommandTag() pgconn.CommandTag                { return pgconn.CommandTag{} }
func (r failedRows) FieldDescriptions() []pgconn.FieldDescription { return nil }
func (r failedRows) Next() bool                                   { return false }
func (r failedRows) Scan(...any) error                            { return r.err }
func (r failedRows) Values() ([]any, error)                       { return nil, r.err }
func (r failedRows) RawValues() [][]byte                          { return nil }
func (r failedRows) Conn() *pgx.Conn                              { return nil }
func (r failedRows) TypeMap() *pgtype.Map                         { return nil }

// failedBatch are the results of a batch that was not sent.
type failedBatch struct{ err error }

func (b failedBatch) Exec() (pgconn.CommandTag, error) { return pgconn.CommandTag{}, b.err }
func (b failedBatch) Query() (pgx.Rows, error)         { return failedRows(b), b.err }
func (b failedBatch) QueryRow() pgx.Row                { return oneRow{err: b.err} }
func (b failedBatch) Close() error                     { return b.err }
func (b failedBatch) Tx() pgx.Tx                       { return nil }
