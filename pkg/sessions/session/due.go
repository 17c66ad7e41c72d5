package session

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/tenant"
)

// SweepBatch bounds the rows that one statement deletes or one run looks at.
const SweepBatch = 1000

// eachDue runs fn for the sessions of a shard that a statement finds, each in a
// transaction of its own, and answers how many there were. One that fails does
// not keep the others waiting. The statement passes by organizations that cannot
// be written to there.
func eachDue(ctx context.Context, t *tenant.Tenants, shard string, fn func(context.Context, *tenant.Tx, id.Session) error, sql string, args ...any) (int, error) {
	db, err := t.Shard(ctx, shard)
	if err != nil {
		return 0, err
	}
	rows, err := db.Query(ctx, sql, args...)
	if err != nil {
		return 0, err
	}
	type due struct {
		Org     id.Org
		Session id.Session
	}
	found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[due])
	if err != nil {
		return 0, err
	}
	done := 0
	for _, d := range found {
		failed := t.InTx(ctx, d.Org, func(ctx context.Context, tx *tenant.Tx) error { return fn(ctx, tx, d.Session) }, tenant.Idempotent(true))
		switch {
		case ctx.Err() != nil:
			return done, ctx.Err()
		case failed == nil, errdefs.IsNotFound(failed, Noun):
			done++
		default:
			err = errors.Join(err, failed)
		}
	}
	return done, err
}
