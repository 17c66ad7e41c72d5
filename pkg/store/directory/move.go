package directory

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/database"
)

// Phase is a step of a move; package move has them all.
type Phase string

// The phases that the directory tells apart: until Flipped the organization lives where it
// did, and nothing follows the last three.
const (
	FirstPhase Phase = "preflight"
	Flipped    Phase = "flipped"
	Moved      Phase = "moved"
	Refused    Phase = "refused"
	Cancelled  Phase = "cancelled"
)

// Over says that nothing follows.
func (p Phase) Over() bool { return p == Moved || p == Refused || p == Cancelled }

// Move is an organization's way from one shard to another.
type Move struct {
	Org  id.Org `json:"id"`
	From string `json:"from"`
	To   string `json:"to"`
	// Phase is the step that is next, PhaseAt since when; ProgressAt is when something of
	// it was done the last time.
	Phase      Phase     `json:"phase"`
	PhaseAt    time.Time `json:"phaseAt"`
	ProgressAt time.Time `json:"progressAt"`
	// Cursor is how far the step is.
	Cursor    json.RawMessage `json:"-"`
	Cancelled bool            `json:"cancelled"`
	// Problem is what keeps it, or ended it, in a sentence.
	Problem string    `json:"problem"`
	AskedBy string    `json:"askedBy"`
	AskedAt time.Time `json:"askedAt"`
	// DueAt is when there is something to do; nil once it is over.
	DueAt *time.Time `json:"dueAt"`
}

var (
	// ErrMoving says that the organization is on its way already.
	ErrMoving = errors.New("it is being moved already")
	// ErrNotMoving says that there is no move that could be stopped: none was asked for,
	// or the organization lives on its new shard by now.
	ErrNotMoving = errors.New("there is no move that can be stopped")
	// ErrMoveLost says that a move is another process's by now.
	ErrMoveLost = errors.New("the move is another process's by now")
)

const moveColumns = `org_id, from_shard, to_shard, phase, phase_at, progress_at, cursor, cancelled, problem, asked_by, asked_at, due_at`

// BeginMove writes down that an organization is to leave a shard for another. The error is
// ErrMoving while a move is not over, and ErrUnknown where it does not live there.
func (d *Directory) BeginMove(ctx context.Context, m Move) error {
	return d.DB.InTx(ctx, database.TxOptions{}, func(ctx context.Context, tx database.Tx) error {
		tag, err := tx.Exec(ctx, `
			INSERT INTO org_move AS m (org_id, from_shard, to_shard, phase, phase_at, progress_at, cursor, cancelled, problem, asked_by, asked_at, due_at, lease_until)
			SELECT id, shard, $3, $4, $5, $5, '{}', false, '', $6, $5, $5, $5 FROM organization WHERE id = $1 AND shard = $2 AND state = 'active'
			ON CONFLICT (org_id) DO UPDATE SET from_shard = excluded.from_shard, to_shard = excluded.to_shard, phase = excluded.phase,
				phase_at = excluded.phase_at, progress_at = excluded.progress_at, cursor = '{}', cancelled = false, problem = '', asked_by = excluded.asked_by,
				asked_at = excluded.asked_at, due_at = excluded.due_at, lease_owner = NULL, lease_until = excluded.lease_until
			WHERE m.due_at IS NULL`, m.Org, m.From, m.To, FirstPhase, d.clock.Now(), m.AskedBy)
		if err != nil || tag.RowsAffected() > 0 {
			return err
		}
		var going bool
		err = tx.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM org_move WHERE org_id = $1 AND due_at IS NOT NULL)`, m.Org).Scan(&going)
		switch {
		case err != nil:
			return err
		case going:
			return fmt.Errorf("organization %s: %w", m.Org, ErrMoving)
		}
		return fmt.Errorf("organization %s on shard %q: %w", m.Org, m.From, ErrUnknown)
	})
}

// MoveOf is the last move of an organization, over or not. The error is ErrUnknown.
func (d *Directory) MoveOf(ctx context.Context, org id.Org) (Move, error) {
	rows, err := d.DB.Query(ctx, `SELECT `+moveColumns+` FROM org_move WHERE org_id = $1`, org)
	if err != nil {
		return Move{}, err
	}
	m, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[Move])
	if errors.Is(err, pgx.ErrNoRows) {
		return m, fmt.Errorf("a move of %s: %w", org, ErrUnknown)
	}
	return m, err
}

// Moves are those that are not over, the oldest first. It rides org_move_due.
func (d *Directory) Moves(ctx context.Context) ([]Move, error) {
	rows, err := d.DB.Query(ctx, `SELECT `+moveColumns+` FROM org_move WHERE due_at IS NOT NULL ORDER BY asked_at, org_id`)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[Move])
}

// ClaimMove takes a move that has something to be done and nobody who does it; found is
// false where there is none. It rides org_move_due.
func (d *Directory) ClaimMove(ctx context.Context, owner uuid.UUID, lease time.Duration) (m Move, found bool, err error) {
	rows, err := d.DB.Query(ctx, `
		UPDATE org_move SET lease_owner = $1, lease_until = now() + $2::INTERVAL
		WHERE org_id IN (
			SELECT org_id FROM org_move WHERE due_at <= $3 AND (lease_owner IS NULL OR lease_until <= now())
			ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED)
		RETURNING `+moveColumns, owner, lease, d.clock.Now())
	if err != nil {
		return m, false, err
	}
	m, err = pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[Move])
	if errors.Is(err, pgx.ErrNoRows) {
		return m, false, nil
	}
	return m, err == nil, err
}

// KeepMove makes a claim last from now, and says whether the move was cancelled. The error
// is ErrMoveLost where it is another's by now.
func (d *Directory) KeepMove(ctx context.Context, org id.Org, owner uuid.UUID, lease time.Duration) (cancelled bool, err error) {
	err = d.DB.QueryRow(ctx, `
		UPDATE org_move SET lease_until = now() + $3::INTERVAL WHERE org_id = $1 AND lease_owner = $2 RETURNING cancelled`,
		org, owner, lease).Scan(&cancelled)
	return cancelled, lost(err)
}

// SaveMove writes down how far a move is, and whether it was cancelled meanwhile. The error
// is ErrMoveLost.
func (d *Directory) SaveMove(ctx context.Context, m Move, owner uuid.UUID) (cancelled bool, err error) {
	err = d.DB.QueryRow(ctx, `
		UPDATE org_move SET phase = $3, phase_at = $4, cursor = $5, problem = $6, due_at = $7, progress_at = $8
		WHERE org_id = $1 AND lease_owner = $2 RETURNING cancelled`,
		m.Org, owner, m.Phase, m.PhaseAt, m.Cursor, m.Problem, m.DueAt, m.ProgressAt).Scan(&cancelled)
	return cancelled, lost(err)
}

func lost(err error) error {
	if errors.Is(err, pgx.ErrNoRows) {
		return ErrMoveLost
	}
	return err
}

// LeaveMove lets another process have a move.
func (d *Directory) LeaveMove(ctx context.Context, org id.Org, owner uuid.UUID) error {
	_, err := d.DB.Exec(ctx, `UPDATE org_move SET lease_owner = NULL WHERE org_id = $1 AND lease_owner = $2`, org, owner)
	return err
}

// FlipMove makes an organization one of its new shard from an epoch on: the one moment of a
// move that counts. The error is ErrMoveLost where the move is another process's by
// now, or was cancelled.
func (d *Directory) FlipMove(ctx context.Context, m Move, owner uuid.UUID, epoch int64) error {
	return d.DB.InTx(ctx, database.TxOptions{Idempotent: true}, func(ctx context.Context, tx database.Tx) error {
		tag, err := tx.Exec(ctx, `
			UPDATE org_move SET phase = $3, phase_at = $4, progress_at = $4, cursor = '{}', problem = '', due_at = $4
			WHERE org_id = $1 AND lease_owner = $2 AND NOT cancelled`, m.Org, owner, Flipped, d.clock.Now())
		if err != nil {
			return err
		}
		if tag.RowsAffected() == 0 {
			return ErrMoveLost
		}
		tag, err = tx.Exec(ctx, `
			UPDATE organization SET shard = $3, epoch = $4
			WHERE id = $1 AND (shard = $2 AND epoch < $4 OR shard = $3 AND epoch = $4)`, m.Org, m.From, m.To, epoch)
		if err == nil && tag.RowsAffected() == 0 {
			err = ErrMoveLost
		}
		return err
	})
}

// SetEpoch makes the route's epoch that of the shard, where the organization lives on it.
func (d *Directory) SetEpoch(ctx context.Context, org id.Org, shard string, epoch int64) error {
	_, err := d.DB.Exec(ctx, `UPDATE organization SET epoch = $3 WHERE id = $1 AND shard = $2 AND epoch < $3`, org, shard, epoch)
	return err
}

// CancelMove asks for a move to be undone. The error is ErrNotMoving.
func (d *Directory) CancelMove(ctx context.Context, org id.Org) error {
	tag, err := d.DB.Exec(ctx, `
		UPDATE org_move SET cancelled = true, due_at = $2
		WHERE org_id = $1 AND due_at IS NOT NULL AND EXISTS (
			SELECT 1 FROM organization o WHERE o.id = $1 AND o.shard = org_move.from_shard)`, org, d.clock.Now())
	if err == nil && tag.RowsAffected() == 0 {
		err = ErrNotMoving
	}
	return err
}

// EndMove hurries an organization's move to its end: one that did not flip is undone, and
// what one that did left behind is not kept. It says whether the move is over.
func (d *Directory) EndMove(ctx context.Context, org id.Org) (over bool, err error) {
	tag, err := d.DB.Exec(ctx, `
		UPDATE org_move SET cancelled = true, due_at = $2 WHERE org_id = $1 AND due_at IS NOT NULL`, org, d.clock.Now())
	return tag.RowsAffected() == 0, err
}
