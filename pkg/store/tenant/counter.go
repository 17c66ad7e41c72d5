package tenant

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// Increment adds one to an organization's counter of a thing, in the same
// commit as the thing itself. full says that limit things exist already and
// nothing was added; without limited there is no limit. Two transactions
// cannot both take the last place: the second waits for the first's row.
func (tx *Tx) Increment(ctx context.Context, name string, limit int64, limited bool) (full bool, err error) {
	var (
		b     pgx.Batch
		value int64
	)
	tx.QueueIncrement(&b, name, limit, limited, &value)
	err = tx.SendBatch(ctx, &b).Close()
	return value == 0, err
}

// QueueIncrement is Increment among other statements. value is the counter's
// afterwards, or zero where nothing was added since it is full.
func (tx *Tx) QueueIncrement(b *pgx.Batch, name string, limit int64, limited bool, value *int64) {
	tx.Touch("org_counter", text(name))
	// A limit below one has no row to be compared with yet.
	b.Queue(`
		INSERT INTO org_counter AS c (org_id, name, value) SELECT $1, $2, 1 WHERE NOT $3 OR $4::BIGINT > 0
		ON CONFLICT (org_id, name) DO UPDATE SET value = c.value + 1 WHERE NOT $3 OR c.value < $4
		RETURNING value`, tx.Org, name, limited, limit).Query(func(rows pgx.Rows) error {
		*value = 0
		for rows.Next() {
			if err := rows.Scan(value); err != nil {
				return err
			}
		}
		return rows.Err()
	})
}

// Decrement takes one from a counter.
func (tx *Tx) Decrement(ctx context.Context, name string) error {
	tx.Touch("org_counter", text(name))
	_, err := tx.Exec(ctx, `
		UPDATE org_counter SET value = value - 1 WHERE org_id = $1 AND name = $2 AND value > 0`, tx.Org, name)
	return err
}

// Add adds to a counter, or takes from it, but not below zero.
func (tx *Tx) Add(ctx context.Context, name string, by int64) error {
	tx.Touch("org_counter", text(name))
	_, err := tx.Exec(ctx, `
		INSERT INTO org_counter AS c (org_id, name, value) VALUES ($1, $2, GREATEST($3::BIGINT, 0))
		ON CONFLICT (org_id, name) DO UPDATE SET value = GREATEST(c.value + $3::BIGINT, 0)`, tx.Org, name, by)
	return err
}

// text is a string that is part of a row's key.
type text string

func (t text) String() string { return string(t) }
