package tenant

import (
	"context"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
)

// All reads the rows of a query on the organization's shard.
func All[T any](ctx context.Context, t *Tenants, org id.Org, scan pgx.RowToFunc[T], sql string, args ...any) ([]T, error) {
	var found []T
	err := t.Read(ctx, org, func(r *Reads) {
		r.Query(func(rows pgx.Rows) (err error) {
			found, err = pgx.CollectRows(rows, scan)
			return err
		}, sql, args...)
	})
	if err != nil {
		return nil, err
	}
	return found, nil
}

// AllIn is All in a transaction.
func AllIn[T any](ctx context.Context, tx *Tx, scan pgx.RowToFunc[T], sql string, args ...any) ([]T, error) {
	rows, err := tx.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, scan)
}

// One is All of a query for one row; the error is missing where there is none.
func One[T any](ctx context.Context, t *Tenants, org id.Org, scan pgx.RowToFunc[T], missing error, sql string, args ...any) (T, error) {
	found, err := All(ctx, t, org, scan, sql, args...)
	return first(found, missing, err)
}

// OneIn is One in a transaction.
func OneIn[T any](ctx context.Context, tx *Tx, scan pgx.RowToFunc[T], missing error, sql string, args ...any) (T, error) {
	found, err := AllIn(ctx, tx, scan, sql, args...)
	return first(found, missing, err)
}

// First is the first of some rows; the error is missing where there is none.
func First[T any](rows pgx.Rows, scan pgx.RowToFunc[T], missing error) (T, error) {
	found, err := pgx.CollectRows(rows, scan)
	return first(found, missing, err)
}

func first[T any](found []T, missing, err error) (one T, _ error) {
	if err == nil && len(found) == 0 {
		err = missing
	}
	if err != nil {
		return one, err
	}
	return found[0], nil
}
