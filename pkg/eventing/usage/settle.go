package usage

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/tenant"
)

// Settle gives back what a session paid for and did not use: of its blocks what
// lies beyond usedS seconds. It answers how many seconds remain paid, none for a
// sandbox session; called again, it changes nothing. See Debit for who may call
// it.
func Settle(ctx context.Context, tx *tenant.Tx, s id.Session, usedS int64) (int64, error) {
	blocks, err := blocksOf(ctx, tx, s)
	if err != nil {
		return 0, err
	}
	var (
		paid   int64
		unused []paidBlock
	)
	for _, b := range blocks {
		b.Keep = max(0, min(b.Seconds, usedS-b.Index*BlockS))
		if !b.Sandbox {
			paid += b.Keep
		}
		if b.Keep < b.Seconds {
			unused = append(unused, b)
		}
	}
	for _, b := range unused {
		if err := b.shorten(ctx, tx, s); err != nil {
			return 0, err
		}
	}
	return paid, refund(ctx, tx, s, unused)
}

// paidBlock is a block that was paid for.
type paidBlock struct {
	Index, Seconds int64
	Sandbox        bool
	At             time.Time
	// Keep is how many of its seconds were used.
	Keep int64 `db:"-"`
}

func blocksOf(ctx context.Context, tx *tenant.Tx, s id.Session) ([]paidBlock, error) {
	return tenant.AllIn(ctx, tx, pgx.RowToStructByPos[paidBlock], `
		SELECT block, seconds, sandbox, started_at FROM usage_block
		WHERE org_id = $1 AND session_id = $2 ORDER BY block`, tx.Org, s)
}

// shorten reduces a block to what was used of it.
func (b paidBlock) shorten(ctx context.Context, tx *tenant.Tx, s id.Session) error {
	tx.Touch("usage_block", s, number(b.Index))
	_, err := tx.Exec(ctx, `UPDATE usage_block SET seconds = $4 WHERE org_id = $1 AND session_id = $2 AND block = $3`,
		tx.Org, s, b.Index, b.Keep)
	return err
}

// refund gives the minutes of a session's blocks, in their order, back to the
// months and to the grants.
func refund(ctx context.Context, tx *tenant.Tx, s id.Session, blocks []paidBlock) error {
	indexes := []int64{}
	for _, b := range blocks {
		if b.Sandbox {
			continue
		}
		indexes = append(indexes, b.Index)
		if err := addToMonth(ctx, tx, b.At, b.Keep-b.Seconds); err != nil {
			return err
		}
	}
	if len(indexes) == 0 {
		return nil
	}
	debits, err := lockDebits(ctx, tx, s, indexes)
	if err != nil {
		return err
	}
	for _, b := range blocks {
		back := b.Seconds - b.Keep
		for _, d := range debits[b.Index] {
			part := min(back, d.Seconds)
			if part == 0 {
				continue
			}
			back -= part
			if err := d.undo(ctx, tx, s, part); err != nil {
				return err
			}
		}
	}
	return nil
}

// debit is what a grant paid for a block.
type debit struct {
	Block   int64
	Grant   uuid.UUID
	Seconds int64
}

// lockDebits reads what paid for blocks and keeps the grants from changing until
// the commit. Those that pay last are paid back first: a session costs what it
// would have, had it paid only for what it used.
func lockDebits(ctx context.Context, tx *tenant.Tx, s id.Session, blocks []int64) (map[int64][]debit, error) {
	rows, err := tx.Query(ctx, `
		SELECT d.block, d.grant_id, d.seconds FROM minute_debit d
		JOIN minute_grant g ON g.org_id = d.org_id AND g.id = d.grant_id
		WHERE d.org_id = $1 AND d.session_id = $2 AND d.block = ANY($3::BIGINT[])
		ORDER BY g.expires_at IS NULL, g.expires_at, g.id FOR UPDATE OF g`, tx.Org, s, blocks)
	if err != nil {
		return nil, err
	}
	found := map[int64][]debit{}
	var d debit
	_, err = pgx.ForEachRow(rows, []any{&d.Block, &d.Grant, &d.Seconds}, func() error {
		found[d.Block] = append([]debit{d}, found[d.Block]...)
		return nil
	})
	return found, err
}

// undo gives a part of a debit back.
func (d debit) undo(ctx context.Context, tx *tenant.Tx, s id.Session, seconds int64) error {
	tx.Touch("minute_debit", s, number(d.Block), d.Grant)
	if _, err := tx.Exec(ctx, `
		UPDATE minute_debit SET seconds = seconds - $5
		WHERE org_id = $1 AND session_id = $2 AND block = $3 AND grant_id = $4`, tx.Org, s, d.Block, d.Grant, seconds); err != nil {
		return err
	}
	tx.Touch("minute_grant", d.Grant)
	_, err := tx.Exec(ctx, `UPDATE minute_grant SET remaining_s = remaining_s + $3 WHERE org_id = $1 AND id = $2`, tx.Org, d.Grant, seconds)
	return err
}
