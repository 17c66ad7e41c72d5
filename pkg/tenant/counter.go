package tenant

import "context"

// Increment adds one to an organisation's counter of a thing, in the same
// commit as the thing itself. full says that limit things exist already and
// nothing was added; without limited there is no limit. Two transactions
// cannot both take the last place: the second waits for the first's row.
func (tx *Tx) Increment(ctx context.Context, name string, limit int64, limited bool) (full bool, err error) {
	if limited && limit < 1 {
		return true, nil
	}
	tx.Touch("org_counter", text(name))
	tag, err := tx.Exec(ctx, `
		INSERT INTO org_counter AS c (org_id, name, value) VALUES ($1, $2, 1)
		ON CONFLICT (org_id, name) DO UPDATE SET value = c.value + 1 WHERE NOT $3 OR c.value < $4`,
		tx.Org, name, limited, limit)
	return tag.RowsAffected() == 0, err
}

// Decrement takes one from a counter.
func (tx *Tx) Decrement(ctx context.Context, name string) error {
	tx.Touch("org_counter", text(name))
	_, err := tx.Exec(ctx, `
		UPDATE org_counter SET value = value - 1 WHERE org_id = $1 AND name = $2 AND value > 0`, tx.Org, name)
	return err
}

// text is a string that is part of a row's key.
type text string

func (t text) String() string { return string(t) }
