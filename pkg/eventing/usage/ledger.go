package usage

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/tenant"
)

// BlockS is the length of a block in seconds. A session pays for each before it
// uses it.
const BlockS = 60

// Block is the next part of a session that is to be paid for.
type Block struct {
	Session id.Session
	// Index counts a session's blocks from zero.
	Index   int64
	Kind    string
	Persona id.Persona
	// Sandbox sessions use no minutes.
	Sandbox bool
	// At is when the block begins, which says the month that it counts to.
	At time.Time
	// PaidAt is now. Blocks are paid for ahead, but nothing happens ahead.
	PaidAt time.Time
}

// Means are what an organization's sessions are paid from.
type Means struct {
	// Unlimited accounts hold no minutes and need none.
	Unlimited bool
	// CapS is how many seconds a calendar month may use; nil for no cap.
	CapS *int64
}

// Debit pays for a block from the minutes held, those that expire first before
// others, and answers how many seconds were paid: BlockS, or less when the
// minutes or the month's cap run out, down to none. A block that was paid for
// already is not paid for again. It tells the warnings that it causes.
//
// Whoever debits or settles a session holds its row, so that a block has one
// payer. Sessions pay at the same time: all lock the months first, the earliest
// before others, and then the grants in the order in which they are used up.
func Debit(ctx context.Context, tx *tenant.Tx, b Block, m Means) (seconds int64, err error) {
	err = tx.QueryRow(ctx, `SELECT seconds FROM usage_block WHERE org_id = $1 AND session_id = $2 AND block = $3`,
		tx.Org, b.Session, b.Index).Scan(&seconds)
	if !errors.Is(err, pgx.ErrNoRows) {
		return seconds, err
	}
	seconds = BlockS
	if !b.Sandbox {
		if seconds, err = pay(ctx, tx, b, m); err != nil || seconds == 0 {
			return 0, err
		}
	}
	tx.Touch("usage_block", b.Session, number(b.Index))
	_, err = tx.Exec(ctx, `
		INSERT INTO usage_block (org_id, session_id, block, kind, persona_id, sandbox, started_at, seconds)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
		tx.Org, b.Session, b.Index, b.Kind, b.Persona, b.Sandbox, b.At, seconds)
	return seconds, err
}

// pay takes what a block costs: of the month's cap first, then of the grants.
func pay(ctx context.Context, tx *tenant.Tx, b Block, m Means) (int64, error) {
	used, err := lockMonth(ctx, tx, b.At)
	if err != nil {
		return 0, err
	}
	seconds := int64(BlockS)
	if m.CapS != nil {
		seconds = max(0, min(seconds, *m.CapS-used))
	}
	var held account
	if !m.Unlimited {
		if held, err = lockAccount(ctx, tx, b.At); err != nil {
			return 0, err
		}
		seconds = min(seconds, held.leftS)
		if err := held.take(ctx, tx, b, seconds); err != nil {
			return 0, err
		}
	}
	if seconds > 0 {
		if err := addToMonth(ctx, tx, b.At, seconds); err != nil {
			return 0, err
		}
	}
	return seconds, warn(ctx, tx, b, seconds, used, held, m)
}

// grant is minutes that can still be used.
type grant struct {
	ID         uuid.UUID
	RemainingS int64
}

// account is all that an organization can still use.
type account struct {
	grants       []grant
	leftS, heldS int64
}

// lockAccount reads the account and keeps it from changing until the commit.
func lockAccount(ctx context.Context, tx *tenant.Tx, at time.Time) (account, error) {
	var a account
	rows, err := tx.Query(ctx, `
		SELECT id, remaining_s, seconds FROM minute_grant
		WHERE org_id = $1 AND (expires_at IS NULL OR expires_at > $2)
		ORDER BY expires_at IS NULL, expires_at, id FOR UPDATE`, tx.Org, at)
	if err != nil {
		return a, err
	}
	var (
		g        grant
		grantedS int64
	)
	_, err = pgx.ForEachRow(rows, []any{&g.ID, &g.RemainingS, &grantedS}, func() error {
		a.heldS += grantedS
		a.leftS += g.RemainingS
		if g.RemainingS > 0 {
			a.grants = append(a.grants, g)
		}
		return nil
	})
	return a, err
}

// take debits the grants, and notes which paid.
func (a account) take(ctx context.Context, tx *tenant.Tx, b Block, seconds int64) error {
	for _, g := range a.grants {
		part := min(seconds, g.RemainingS)
		if part == 0 {
			break
		}
		seconds -= part
		tx.Touch("minute_grant", g.ID)
		tx.Touch("minute_debit", b.Session, number(b.Index), g.ID)
		if _, err := tx.Exec(ctx, `UPDATE minute_grant SET remaining_s = remaining_s - $3 WHERE org_id = $1 AND id = $2`,
			tx.Org, g.ID, part); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `
			INSERT INTO minute_debit (org_id, session_id, block, grant_id, seconds) VALUES ($1, $2, $3, $4, $5)`,
			tx.Org, b.Session, b.Index, g.ID, part); err != nil {
			return err
		}
	}
	return nil
}

// Available says whether a session that began now could be paid for. Only Debit
// decides.
func Available(ctx context.Context, tx *tenant.Tx, m Means, at time.Time) (bool, error) {
	var (
		b   pgx.Batch
		yes bool
	)
	QueueAvailable(tx, &b, m, at, &yes)
	err := tx.SendBatch(ctx, &b).Close()
	return yes, err
}

// QueueAvailable is Available among other statements.
func QueueAvailable(tx *tenant.Tx, b *pgx.Batch, m Means, at time.Time, yes *bool) {
	month, _ := Month(at)
	b.Queue(`
		SELECT COALESCE((SELECT seconds FROM usage_month WHERE org_id = $1 AND month = $2), 0)::BIGINT,
			COALESCE((SELECT sum(remaining_s) FROM minute_grant
				WHERE org_id = $1 AND (expires_at IS NULL OR expires_at > $3)), 0)::BIGINT`,
		tx.Org, month, at).QueryRow(func(row pgx.Row) error {
		var used, left int64
		err := row.Scan(&used, &left)
		*yes = (m.Unlimited || left > 0) && (m.CapS == nil || used < *m.CapS)
		return err
	})
}
