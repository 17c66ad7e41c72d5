package database_test

import (
	"context"
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/store/database"
	"visavis.dev/pkg/store/database/databasetest"
)

const later = `INSERT INTO effect VALUES ('later')`

// fails is a statement that is sent, and fails there.
const fails = `SELECT 1/(SELECT count(*) FROM effect WHERE note = 'nowhere')`

// What waits is done before the next statement of whatever form, and before the commit.
func TestLater(t *testing.T) {
	w := newWorld(t)
	count := `SELECT count(*) FROM effect`
	tests := map[string]func(ctx context.Context, tx database.Tx) (int, error){
		"a row": func(ctx context.Context, tx database.Tx) (n int, err error) {
			return n, tx.QueryRow(ctx, count).Scan(&n)
		},
		"rows": func(ctx context.Context, tx database.Tx) (int, error) {
			rows, err := tx.Query(ctx, count)
			if err != nil {
				return 0, err
			}
			return pgx.CollectExactlyOneRow(rows, pgx.RowTo[int])
		},
		"rows that are left": func(ctx context.Context, tx database.Tx) (n int, err error) {
			rows, err := tx.Query(ctx, `SELECT n FROM generate_series(1, 10000) AS s (n)`)
			if err != nil {
				return 0, err
			}
			rows.Next()
			rows.Close()
			return n, errors.Join(rows.Err(), tx.QueryRow(ctx, count).Scan(&n))
		},
		"no row": func(ctx context.Context, tx database.Tx) (n int, err error) {
			if err := tx.QueryRow(ctx, `SELECT 1 WHERE false`).Scan(&n); !errors.Is(err, pgx.ErrNoRows) {
				return 0, errors.New("a row came")
			}
			return n, tx.QueryRow(ctx, count).Scan(&n)
		},
		"a tag": func(ctx context.Context, tx database.Tx) (int, error) {
			tag, err := tx.Exec(ctx, `UPDATE effect SET note = 'changed'`)
			return int(tag.RowsAffected()), err
		},
		"a batch": func(ctx context.Context, tx database.Tx) (n int, err error) {
			var b pgx.Batch
			b.Queue(count).QueryRow(func(row pgx.Row) error { return row.Scan(&n) })
			return n, tx.SendBatch(ctx, &b).Close()
		},
		"nothing": func(context.Context, database.Tx) (int, error) { return 2, nil },
	}
	for name, read := range tests {
		t.Run(name, func(t *testing.T) {
			w.reset(t)
			require.NoError(t, w.through.InTx(context.Background(), database.TxOptions{}, func(ctx context.Context, tx database.Tx) error {
				tx.Later(later)
				tx.Later(later)
				n, err := read(ctx, tx)
				if err == nil && n != 2 {
					err = errors.New("what waited was not done")
				}
				return err
			}))
			require.Equal(t, 2, w.effects(t))
			w.requireUsable(t)
		})
	}
}

// What waits and fails is the transaction's end, whatever its function makes of it.
func TestLaterFails(t *testing.T) {
	w := newWorld(t)
	tests := map[string]func(ctx context.Context, tx database.Tx) error{
		"with the commit": func(context.Context, database.Tx) error { return nil },
		"with a statement": func(ctx context.Context, tx database.Tx) error {
			_, err := tx.Exec(ctx, insertEffect)
			return err
		},
		"unnoticed": func(ctx context.Context, tx database.Tx) error {
			if rows, err := tx.Query(ctx, insertEffect); err == nil {
				rows.Close()
			}
			_ = tx.QueryRow(ctx, insertEffect).Scan()
			_ = tx.SendBatch(ctx, &pgx.Batch{}).Close()
			return nil
		},
	}
	for name, then := range tests {
		t.Run(name, func(t *testing.T) {
			err := w.through.InTx(context.Background(), database.TxOptions{}, func(ctx context.Context, tx database.Tx) error {
				if err := addEffect(ctx, tx); err != nil {
					return err
				}
				tx.Later(fails)
				return then(ctx, tx)
			})
			require.ErrorContains(t, err, "division by zero")
			require.NotErrorIs(t, err, database.ErrOutcomeUnknown)
			require.Zero(t, w.effects(t))
		})
	}
	w.requireUsable(t)
}

// Opening statements that travel with the first of the function refuse it, and whatever the
// function makes of that.
func TestRefusedWithTheFirstStatement(t *testing.T) {
	w := newWorld(t)
	refused := errors.New("refused")
	o := database.TxOptions{OpenWithFirst: true, Opening: func(_ database.Engine, b *pgx.Batch) {
		b.Queue(`INSERT INTO effect VALUES ('opening')`)
		b.Queue(`SELECT 1`).QueryRow(func(pgx.Row) error { return refused })
		b.Queue(`SELECT 1`).QueryRow(func(pgx.Row) error {
			t.Error("a callback after the one that refused was called")
			return nil
		})
	}}
	tests := map[string]func(ctx context.Context, tx database.Tx) error{
		"no statement": func(context.Context, database.Tx) error { return nil },
		"a write":      addEffect,
		"a write, unnoticed": func(ctx context.Context, tx database.Tx) error {
			_ = addEffect(ctx, tx)
			_ = addEffect(ctx, tx)
			return nil
		},
		"a read": func(ctx context.Context, tx database.Tx) error {
			return tx.QueryRow(ctx, `SELECT 1`).Scan(new(int))
		},
		"a read, taken for something else": func(ctx context.Context, tx database.Tx) error {
			rows, err := tx.Query(ctx, `SELECT 1`)
			if err == nil || len(rows.FieldDescriptions()) > 0 || rows.Next() {
				t.Error("the statement was answered")
			}
			return errors.New("nothing was found")
		},
		"a batch": func(ctx context.Context, tx database.Tx) error {
			var b pgx.Batch
			b.Queue(insertEffect)
			return tx.SendBatch(ctx, &b).Close()
		},
		"later": func(_ context.Context, tx database.Tx) error {
			tx.Later(later)
			return nil
		},
	}
	for name, fn := range tests {
		t.Run(name, func(t *testing.T) {
			require.ErrorIs(t, w.through.InTx(context.Background(), o, fn), refused)
			require.Zero(t, w.effects(t))
			w.requireUsable(t)
			w.reset(t)
		})
	}
}

// A function that fails before it sent anything leaves nothing behind.
func TestNothingWasBegun(t *testing.T) {
	w := newWorld(t)
	refused := errors.New("refused")
	require.ErrorIs(t, w.through.InTx(context.Background(), database.TxOptions{OpenWithFirst: true}, func(context.Context, database.Tx) error {
		return refused
	}), refused)
	w.requireUsable(t)
}

// tripCounter counts what is sent.
type tripCounter struct{ trips int }

func (c *tripCounter) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	c.trips++
	return ctx
}
func (c *tripCounter) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}
func (c *tripCounter) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	c.trips++
	return ctx
}
func (c *tripCounter) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}
func (c *tripCounter) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData)     {}

// A transaction that reads once and then writes takes two trips.
func TestTripsOfATransaction(t *testing.T) {
	databasetest.OnlyPostgres(t, "how its transactions begin and end")
	w := newWorld(t)
	var c tripCounter
	db, err := database.Open(w.direct.Config().ConnString(), database.PoolOptions{MaxConns: 1, Tracer: &c})
	require.NoError(t, err)
	t.Cleanup(db.Close)
	o := database.TxOptions{OpenWithFirst: true, Opening: func(_ database.Engine, b *pgx.Batch) { b.Queue(`SELECT 1`) },
		Closing: func(b *pgx.Batch) error {
			b.Queue(insertEffect)
			return nil
		}}
	run := func() {
		require.NoError(t, db.InTx(context.Background(), o, func(ctx context.Context, tx database.Tx) error {
			err := tx.QueryRow(ctx, `SELECT 1`).Scan(new(int))
			tx.Later(insertEffect)
			return err
		}))
	}
	run() // the connection is made and checked
	c.trips = 0
	run()
	require.Equal(t, 2, c.trips)
	require.Equal(t, 4, w.effects(t))
}
