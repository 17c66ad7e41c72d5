package move

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/database"
	"visavis.dev/pkg/store/tenant"
)

// preflight makes sure that the organization can move, before anything is done to it, and
// chooses the way.
func (r *run) preflight(ctx context.Context) error {
	o, err := r.Directory.Organization(ctx, r.move.Org)
	if err != nil {
		return err
	}
	if o.Shard != r.move.From {
		return refuse(Here, "%s lives on the shard %s by now.", o.ID, o.Shard)
	}
	if err := admissible(ctx, r.Directory, r.Tenants, o, r.move.To); err != nil {
		return err
	}
	if err := r.open(ctx); err != nil {
		return err
	}
	if err := r.vacant(ctx); err != nil {
		return err
	}
	if err := r.takeOver(ctx); err != nil {
		return err
	}
	n, err := r.countHere(ctx, r.Small+1)
	if err != nil {
		return err
	}
	var all int64
	for _, of := range n {
		all += of
	}
	if r.Small < 0 || all > int64(r.Small) {
		r.enter(phaseCapture)
		return nil
	}
	r.enter(phaseFence)
	return nil
}

// vacant refuses a destination that has anything of the organization but a sign to where
// it lives.
func (r *run) vacant(ctx context.Context) error {
	f, err := r.Tenants.Fence(ctx, r.move.To, r.move.Org)
	if err != nil {
		return err
	}
	if f != (tenant.Fence{}) && f.State != tenant.Moved {
		return refuse(Occupied, "The shard %s has %s already, as %s.", r.move.To, r.move.Org, f.State)
	}
	n, err := r.countThere(ctx, 1)
	if err != nil {
		return err
	}
	for i, t := range r.layout {
		if n[i] > 0 {
			return refuse(Occupied, "The shard %s has rows of %s already, in %s.", r.move.To, r.move.Org, t.Name)
		}
	}
	return nil
}

// countHere counts the organization's rows in each table of the source, up to a number.
func (r *run) countHere(ctx context.Context, most int) (counts []int64, err error) {
	err = r.reading(ctx, func(ctx context.Context, tx database.Tx) (err error) {
		counts, err = r.layout.count(ctx, tx, r.move.Org, most)
		return err
	})
	return counts, err
}

// countThere is countHere of the destination, where nobody writes but this move.
func (r *run) countThere(ctx context.Context, most int) (counts []int64, err error) {
	err = r.to.InTx(ctx, database.TxOptions{Idempotent: true}, func(ctx context.Context, tx database.Tx) (err error) {
		counts, err = r.layout.count(ctx, tx, r.move.Org, most)
		return err
	})
	return counts, err
}

// count counts an organization's rows in each table, up to a number.
func (l layout) count(ctx context.Context, tx database.Tx, org id.Org, most int) ([]int64, error) {
	counts := make([]int64, len(l))
	var b pgx.Batch
	for i, t := range l {
		b.Queue(`SELECT count(*) FROM (SELECT 1 FROM `+t.Name+` WHERE org_id = $1 LIMIT $2) AS rows`, org, max(most, 1)).
			QueryRow(func(row pgx.Row) error { return row.Scan(&counts[i]) })
	}
	return counts, tx.SendBatch(ctx, &b).Close()
}

// clear deletes what an earlier run left on the destination.
func (r *run) clear(ctx context.Context) error {
	left, err := r.countThere(ctx, 1)
	if err != nil {
		return err
	}
	for i := len(r.layout) - 1; i >= 0; i-- {
		for t := r.layout[i]; left[i] > 0; {
			var rows []record
			if err := r.writing(ctx, func(ctx context.Context, tx database.Tx) (err error) {
				if rows, _, err = t.page(ctx, tx, r.move.Org, nil, nil, r.pages.size(t.Name, r.Page), messageBytes); err != nil || len(rows) == 0 {
					return err
				}
				return t.remove(ctx, tx, r.move.Org, t.keysOf(rows))
			}); err != nil {
				return err
			}
			left[i] = int64(len(rows))
			if err := r.throttle(ctx, len(rows)); err != nil {
				return err
			}
		}
	}
	return nil
}

// throttle waits until so many rows more may be read or deleted.
func (r *run) throttle(ctx context.Context, rows int) error {
	return r.watchdog.suspended(func() error { return r.limiter.WaitN(ctx, min(rows, r.limiter.Burst())) })
}

// keysOf are the keys of rows.
func (t table) keysOf(rows []record) [][]string {
	keys := make([][]string, len(rows))
	for i, row := range rows {
		keys[i] = t.keyOf(row)
	}
	return keys
}

// quick is for what must not wait for a process that is going away.
func quick(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
}
