package connection

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/provider/upstream"
	"visavis.dev/pkg/store/tenant"
)

// KeptCalls is how many calls of a connection are kept.
const KeptCalls = 100

// Call is a call that was made.
type Call struct {
	// ID is made of the moment of the call.
	ID     id.Call
	Name   string
	Status int64
	Ms     int64
	Code   upstream.Code
}

// Calls lists the last calls of a connection, newest first, after one of them; the zero id for the
// first page. The error is errdefs.NotFound or errdefs.Gone. It rides connection_call_pkey.
func Calls(ctx context.Context, t *tenant.Tenants, org id.Org, which id.Connection, after id.Call, limit int) ([]Call, error) {
	var (
		found []Connection
		calls []Call
	)
	err := t.Read(ctx, org, func(r *tenant.Reads) {
		r.Query(func(rows pgx.Rows) (err error) {
			found, err = pgx.CollectRows(rows, scan)
			return err
		}, selectOne, org, which)
		r.Query(func(rows pgx.Rows) (err error) {
			calls, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Call])
			return err
		}, `
			SELECT id, name, status, ms, error_code FROM connection_call
			WHERE org_id = $1 AND connection_id = $2 AND ($3::UUID IS NULL OR id < $3) ORDER BY id DESC LIMIT $4`, org, which, after, limit)
	})
	if err != nil {
		return nil, err
	}
	_, err = alone(which, found)
	return calls, err
}

// keepCalls enters calls and answers how long 95 of a hundred of those kept
// took. Those beyond what is kept are forgotten.
func keepCalls(ctx context.Context, tx *tenant.Tx, which id.Connection, outcomes []Outcome) (p95Ms int64, err error) {
	var (
		ids                 = make([]id.Call, len(outcomes))
		names, codes        = make([]string, len(outcomes)), make([]string, len(outcomes))
		statuses, durations = make([]int64, len(outcomes)), make([]int64, len(outcomes))
	)
	for i, o := range outcomes {
		ids[i], names[i], codes[i] = id.CallAt(o.At), o.Name, string(o.Code)
		statuses[i], durations[i] = int64(o.Status), max(o.Took.Round(time.Millisecond).Milliseconds(), 0)
		tx.Touch("connection_call", which, ids[i])
	}
	if _, err := tx.Exec(ctx, `
		INSERT INTO connection_call (org_id, connection_id, id, name, status, ms, error_code)
		SELECT $1, $2, c.id, c.name, c.status, c.ms, c.code
		FROM unnest($3::UUID[], $4::TEXT[], $5::BIGINT[], $6::BIGINT[], $7::TEXT[]) AS c (id, name, status, ms, code)`,
		tx.Org, which, ids, names, statuses, durations, codes); err != nil {
		return 0, err
	}
	if err := forgetCalls(ctx, tx, which, KeptCalls); err != nil {
		return 0, err
	}
	rows, err := tx.Query(ctx, `
		SELECT ms FROM connection_call WHERE org_id = $1 AND connection_id = $2 AND name NOT LIKE 'webhook %'`, tx.Org, which)
	if err != nil {
		return 0, err
	}
	ms, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	return p95(ms), err
}

// forgetCalls deletes the calls of a connection but for the newest ones.
func forgetCalls(ctx context.Context, tx *tenant.Tx, which id.Connection, kept int) error {
	rows, err := tx.Query(ctx, `
		DELETE FROM connection_call WHERE org_id = $1 AND connection_id = $2 AND id IN (
			SELECT id FROM connection_call WHERE org_id = $1 AND connection_id = $2 ORDER BY id DESC OFFSET $3)
		RETURNING id`, tx.Org, which, kept)
	if err != nil {
		return err
	}
	gone, err := pgx.CollectRows(rows, pgx.RowTo[id.Call])
	for _, call := range gone {
		tx.Touch("connection_call", which, call)
	}
	return err
}
