package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/tenant"
)

// LiveKit is the transport of a session that takes place in a room of the organization's
// own media server. Others come over our sockets, WebSocket; with WebRTC a client may
// have sound and messages go over such a connection beside its socket.
const (
	LiveKit   = "livekit"
	WebSocket = "websocket"
	WebRTC    = "webrtc"
)

// RoomLease is how long a silent process keeps a room to itself in which it waits for
// the visitor. From when they are there the session is its own (PodLease).
const RoomLease = 10 * time.Second

// Claim is a session whose room a process is to be in as the persona.
type Claim struct {
	Org     id.Org
	Session id.Session
	// Lease tells the claim from those of others, and from later ones.
	Lease uuid.UUID
}

// ClaimRooms takes sessions whose rooms want for the persona: those just minted, and those
// whose process is gone. It rides session_room_due, which is empty but for these.
func ClaimRooms(ctx context.Context, t *tenant.Tenants, shard string, now time.Time, n int) (claims []Claim, err error) {
	waiting, err := roomsWaiting(ctx, t, shard, now, n)
	if err != nil || len(waiting) == 0 {
		return nil, err
	}
	err = t.InManyTx(ctx, shard, waiting, func(ctx context.Context, tx *tenant.ManyTx) error {
		open := slices.DeleteFunc(slices.Clone(waiting), func(org id.Org) bool { return !tx.Open(org) })
		// A planner that does not know the LIMIT takes a tenth of the table for due.
		rows, err := tx.Query(ctx, fmt.Sprintf(`
			UPDATE session SET room_claim = $1, room_due_at = $3
			WHERE (org_id, id) IN (
				SELECT s.org_id, s.id FROM session s
				WHERE s.room_due_at <= $2 AND s.org_id = ANY($4)
				ORDER BY s.room_due_at LIMIT %d FOR UPDATE SKIP LOCKED)
			RETURNING org_id, id, room_claim`, n), uuid.New(), now, now.Add(RoomLease), open)
		if err != nil {
			return err
		}
		claims, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Claim])
		for _, c := range claims {
			tx.Touch(c.Org, "session", c.Session)
		}
		return err
	})
	return claims, err
}

// roomsWaiting are the organizations of the rooms that want for the persona first. It
// rides session_room_due.
func roomsWaiting(ctx context.Context, t *tenant.Tenants, shard string, now time.Time, n int) ([]id.Org, error) {
	db, err := t.Shard(ctx, shard)
	if err != nil {
		return nil, err
	}
	rows, err := db.Query(ctx, `
		SELECT DISTINCT due.org_id FROM (
			SELECT s.org_id FROM session s
			WHERE s.room_due_at <= $1 AND EXISTS (
				SELECT 1 FROM org_fence f WHERE f.org_id = s.org_id AND f.state IN ('open', 'capture'))
			ORDER BY s.room_due_at LIMIT $2) AS due`, now, n)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[id.Org])
}

// Keep makes the claim last from now. The error is ErrLost where the session is over or
// another's.
func (c Claim) Keep(ctx context.Context, t *tenant.Tenants, now time.Time) error {
	return c.due(ctx, t, now.Add(RoomLease))
}

// Drop lets another process have the claim at once.
func (c Claim) Drop(ctx context.Context, t *tenant.Tenants, now time.Time) error {
	return c.due(ctx, t, now)
}

func (c Claim) due(ctx context.Context, t *tenant.Tenants, at time.Time) error {
	return t.InTx(ctx, c.Org, func(ctx context.Context, tx *tenant.Tx) error {
		tx.Touch("session", c.Session)
		tag, err := tx.Exec(ctx, `
			UPDATE session SET room_due_at = $4 WHERE org_id = $1 AND id = $2 AND room_claim = $3 AND room_due_at IS NOT NULL`,
			tx.Org, c.Session, c.Lease, at)
		if err == nil && tag.RowsAffected() == 0 {
			return ErrLost
		}
		return err
	}, tenant.Idempotent(true))
}

// Hold makes sure that the claim is still the caller's until the commit. The error is
// ErrLost.
func (c Claim) Hold(ctx context.Context, tx *tenant.Tx) error {
	var lease uuid.NullUUID
	err := tx.QueryRow(ctx, `SELECT room_claim FROM session WHERE org_id = $1 AND id = $2 FOR UPDATE`, tx.Org, c.Session).Scan(&lease)
	if errors.Is(err, pgx.ErrNoRows) || err == nil && lease.UUID != c.Lease {
		return ErrLost
	}
	return err
}
