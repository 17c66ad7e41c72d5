package move

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/store/database"
)

// notesAtOnce is how many pages of keys are taken off the journal at once. So many are
// brought up to date in less than a second, so half as many may be left for the fence.
const notesAtOnce = 5

// all stands for as many as there are.
const all = 1 << 40

// catchUp applies what writers noted, until little is left.
func (r *run) catchUp(ctx context.Context) error {
	if err := r.open(ctx); err != nil {
		return err
	}
	n, err := r.drain(ctx, notesAtOnce*r.Page)
	if err != nil {
		return err
	}
	switch {
	case n > notesAtOnce*r.Page/2:
	case r.at.Verified:
		r.enter(phaseFence)
	default:
		r.enter(phaseVerify)
	}
	return nil
}

// drain takes keys off the journal, some at most, and brings the destination's rows up to
// date. Whoever writes one of the keys meanwhile waits, and notes it again.
func (r *run) drain(ctx context.Context, most int) (n int, err error) {
	err = r.reading(ctx, func(ctx context.Context, tx database.Tx) error {
		touched, err := r.take(ctx, tx, most)
		if n = len(touched); err != nil || n == 0 {
			return err
		}
		changes, err := r.changes(ctx, tx, touched)
		if err != nil {
			return err
		}
		return r.writing(ctx, func(ctx context.Context, tx database.Tx) error { return r.apply(ctx, tx, changes) })
	})
	if isDuplicate(err) && most < all {
		return r.drain(ctx, all) // the row that has the name now has a key further on
	}
	return n, err
}

// noted is a key that a writer noted.
type noted struct{ Table, PK string }

// take takes keys off the journal. It rides move_dirty_pkey.
func (r *run) take(ctx context.Context, tx database.Tx, most int) ([]noted, error) {
	rows, err := tx.Query(ctx, `
		DELETE FROM move_dirty WHERE org_id = $1 AND (table_name, pk) IN (
			SELECT table_name, pk FROM move_dirty WHERE org_id = $1 ORDER BY table_name, pk LIMIT $2)
		RETURNING table_name, pk`, r.move.Org, most)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[noted])
}

// change is what became of some rows of a table.
type change struct {
	table
	keys [][]string
	rows []record
}

// changes reads the rows that keys name, in the order of the layout.
func (r *run) changes(ctx context.Context, tx database.Tx, touched []noted) ([]change, error) {
	keys := map[string][][]string{}
	for _, n := range touched {
		t, ok := r.layout.find(n.Table)
		if !ok {
			return nil, fmt.Errorf("a row of %s was noted, which does not move", n.Table)
		}
		key, err := t.parse(n.PK)
		if err != nil {
			return nil, err
		}
		keys[n.Table] = append(keys[n.Table], key)
	}
	var found []change
	for _, t := range r.layout {
		if len(keys[t.Name]) == 0 {
			continue
		}
		rows, err := t.named(ctx, tx, r.move.Org, keys[t.Name])
		if err != nil {
			return nil, err
		}
		found = append(found, change{t, keys[t.Name], rows})
	}
	return found, nil
}

// apply makes the destination's rows what they are, and reads them again. Rows go before
// others come, which may have their names; one that others refer to goes only for good.
func (r *run) apply(ctx context.Context, tx database.Tx, changes []change) error {
	for _, c := range slices.Backward(changes) {
		gone := c.keys
		if c.parent {
			gone = c.missing()
		}
		if len(gone) == 0 {
			continue
		}
		if err := c.remove(ctx, tx, r.move.Org, gone); err != nil {
			return err
		}
	}
	for _, c := range changes {
		if err := c.write(ctx, tx, c.rows); err != nil {
			return err
		}
	}
	for _, c := range changes {
		got, err := c.named(ctx, tx, r.move.Org, c.keys)
		if err != nil {
			return err
		}
		if len(c.differences(c.rows, got)) > 0 {
			return fmt.Errorf("rows of %s did not arrive as they left", c.Name)
		}
	}
	return nil
}

// missing are the keys of which there is no row any more.
func (c change) missing() (gone [][]string) {
	there := map[string]bool{}
	for _, key := range c.keysOf(c.rows) {
		there[joined(key)] = true
	}
	for _, key := range c.keys {
		if !there[joined(key)] {
			gone = append(gone, key)
		}
	}
	return gone
}
