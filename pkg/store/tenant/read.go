package tenant

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/database"
	"visavis.dev/pkg/store/directory"
)

// Reads is a set of queries that travel to the shard in one trip, followed by
// the fence. What they scan must not be used before Read returns nil.
type Reads struct {
	batch pgx.Batch
	scans []func(pgx.Rows) error
}

// Query queues a query; each gets all its rows.
func (r *Reads) Query(each func(pgx.Rows) error, sql string, args ...any) {
	r.batch.Queue(sql, args...)
	r.scans = append(r.scans, each)
}

// QueryRow queues a query of at most one row; found is told whether it came.
func (r *Reads) QueryRow(found *bool, dest []any, sql string, args ...any) {
	r.Query(func(rows pgx.Rows) error {
		*found = rows.Next()
		if !*found {
			return rows.Err()
		}
		return rows.Scan(dest...)
	}, sql, args...)
}

// Read runs queries on the organization's shard. queue can be called again, when the
// organization turns out to have moved or the engine asks for it, and must start afresh then.
func (t *Tenants) Read(ctx context.Context, org id.Org, queue func(*Reads)) error {
	return t.onShard(ctx, org, func(db *database.DB, route directory.Route) error {
		return database.Again(ctx, func() error {
			var reads Reads
			queue(&reads)
			reads.batch.Queue(fenceSQL, org)
			results := db.SendBatch(ctx, &reads.batch)
			err := reads.take(results, org, route)
			return errors.Join(err, results.Close())
		})
	})
}

// Read runs queries in the transaction, in one trip: what is read is as the transaction has it.
func (tx *Tx) Read(ctx context.Context, queue func(*Reads)) error {
	var reads Reads
	queue(&reads)
	results := tx.SendBatch(ctx, &reads.batch)
	failed, err := reads.scan(results)
	return errors.Join(err, failed, results.Close())
}

// take scans every answer and lets the fence, which came last, have the last
// word: data of a place where the organization no longer lives says nothing,
// not even that a row is missing.
func (r *Reads) take(results pgx.BatchResults, org id.Org, route directory.Route) error {
	failed, err := r.scan(results)
	if err != nil {
		return err
	}
	var f fence
	if err := f.read(results.QueryRow(), org, route, Open, Capture, Fenced); err != nil {
		return err
	}
	return failed
}

// scan scans every answer. failed is the first error of what scans, err one of the database.
func (r *Reads) scan(results pgx.BatchResults) (failed, err error) {
	for _, scan := range r.scans {
		rows, err := results.Query()
		if err != nil {
			return nil, err
		}
		if err := scan(rows); err != nil && failed == nil {
			failed = err
		}
		rows.Close()
		if err := rows.Err(); err != nil {
			return nil, err
		}
	}
	return failed, nil
}
