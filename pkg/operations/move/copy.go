package move

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5/pgconn"
	"golang.org/x/sync/errgroup"

	"visavis.dev/pkg/store/database"
	"visavis.dev/pkg/store/tenant"
)

// capture has writers note what they touch, from before the first row is copied.
func (r *run) capture(ctx context.Context) error {
	if err := r.open(ctx); err != nil {
		return err
	}
	if err := r.clear(ctx); err != nil {
		return err
	}
	if err := r.turn(ctx, r.fence, tenant.Fence{Epoch: r.fence.Epoch, State: tenant.Capture}); err != nil {
		return err
	}
	if err := r.Tenants.AwaitSweeps(ctx, r.move.From); err != nil {
		return err
	}
	r.at = cursor{Large: true}
	r.enter(phaseCopy)
	return nil
}

// copy copies a page of rows.
func (r *run) copy(ctx context.Context) error {
	if err := r.open(ctx); err != nil {
		return err
	}
	for r.at.Table < len(r.layout) {
		t := r.layout[r.at.Table]
		rows, more, err := r.carry(ctx, t)
		if isDuplicate(err) {
			// A row that went took its name with it to another: what the destination has
			// of it is to go first.
			if _, err = r.drain(ctx, all); err == nil {
				rows, more, err = r.carry(ctx, t)
			}
		}
		if err != nil {
			return err
		}
		r.step(t, rows, more)
		if len(rows) > 0 {
			r.at.Rows += int64(len(rows))
			return r.throttle(ctx, len(rows))
		}
	}
	r.enter(phaseCatchUp)
	return nil
}

// step moves the cursor past a page of a table.
func (r *run) step(t table, rows []record, more bool) {
	if !more || len(t.key) == 0 {
		r.at.Table, r.at.After, r.at.Last = r.at.Table+1, nil, nil
		r.noted = nil
		return
	}
	r.at.After = t.keyOf(rows[len(rows)-1])
}

// carry copies the next page of the table whose turn it is.
func (r *run) carry(ctx context.Context, t table) (rows []record, more bool, err error) {
	if rows, more, err = r.nextPage(ctx, t); err != nil || len(rows) == 0 {
		return nil, false, err
	}
	return rows, more, r.writing(ctx, func(ctx context.Context, tx database.Tx) error { return t.write(ctx, tx, rows) })
}

// nextPage reads the source's next rows of the table whose turn it is, up to the last key that
// it had when its turn came.
func (r *run) nextPage(ctx context.Context, t table) (rows []record, more bool, err error) {
	err = r.reading(ctx, func(ctx context.Context, tx database.Tx) (err error) {
		if len(t.key) > 0 && r.at.Last == nil {
			if r.at.Last, err = t.last(ctx, tx, r.move.Org); err != nil || r.at.Last == nil {
				return err
			}
		}
		rows, more, err = r.page(ctx, tx, t, r.at.After, r.at.Last)
		return err
	})
	return rows, more, err
}

// page reads the source's rows after a key and up to another, as many as fit into a message.
// more says that others follow.
func (r *run) page(ctx context.Context, tx database.Tx, t table, after, upTo []string) (rows []record, more bool, err error) {
	size := r.pages.size(t.Name, r.Page)
	if rows, more, err = t.page(ctx, tx, r.move.Org, after, upTo, size, messageBytes); more {
		r.pages.learn(t.Name, size, len(rows))
	}
	return rows, more, err
}

// tablesAtOnce is how many tables are copied side by side behind the fence.
const tablesAtOnce = 4

// carryAll copies all rows of an organization that nobody writes to, and compares them.
func (r *run) carryAll(ctx context.Context) error {
	there, err := r.countHere(ctx, 1)
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(tablesAtOnce)
	for i, t := range r.layout {
		switch {
		case there[i] == 0:
		case t.parent:
			if err := r.carryTable(ctx, t); err != nil {
				return errors.Join(err, group.Wait())
			}
		default:
			group.Go(func() error { return r.carryTable(ctx, t) })
		}
	}
	return group.Wait()
}

// carryTable copies all rows of a table and reads them again.
func (r *run) carryTable(ctx context.Context, t table) error {
	var after []string
	for {
		var (
			rows []record
			more bool
		)
		err := r.reading(ctx, func(ctx context.Context, tx database.Tx) (err error) {
			rows, more, err = r.page(ctx, tx, t, after, nil)
			return err
		})
		if err != nil || len(rows) == 0 {
			return err
		}
		var got []record
		last := t.keyOf(rows[len(rows)-1])
		if err := r.writing(ctx, func(ctx context.Context, tx database.Tx) (err error) {
			if err := t.write(ctx, tx, rows); err != nil {
				return err
			}
			got, _, err = t.page(ctx, tx, r.move.Org, after, last, len(rows)+1, 0)
			return err
		}); err != nil {
			return err
		}
		if differing := t.differences(rows, got); len(differing) > 0 {
			return errors.New("rows of " + t.Name + " did not arrive as they left")
		}
		if !more || len(t.key) == 0 {
			return nil
		}
		after = last
	}
}

// isDuplicate says whether a row was refused for one that has its name.
func isDuplicate(err error) bool {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	return ok && pg.Code == "23505"
}
