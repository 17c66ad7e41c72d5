package session

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/tenant"
)

// Sweep ends what nobody ends: sessions whose client never came, and those that
// lost their process and whose client did not come back. It gives back the
// places of sessions whose process fell silent.
func Sweep(ctx context.Context, t *tenant.Tenants, shard string, now time.Time) (int, error) {
	if found, err := anyForsaken(ctx, t, shard, now); err != nil || !found {
		return 0, err
	}
	lapsed, err := sweepPods(ctx, t, shard)
	if err != nil {
		return lapsed, err
	}
	expired, err := sweepWaiting(ctx, t, shard, now)
	if err != nil {
		return lapsed + expired, err
	}
	lost, err := sweepOrphans(ctx, t, shard, now)
	return lapsed + expired + lost, err
}

// anyForsaken is one look at whether there is anything for Sweep, which mostly there is not.
// It rides session_waiting and session_orphaned.
func anyForsaken(ctx context.Context, t *tenant.Tenants, shard string, now time.Time) (found bool, err error) {
	db, err := t.Shard(ctx, shard)
	if err != nil {
		return false, err
	}
	err = db.QueryRow(ctx, `
		SELECT EXISTS (SELECT 1 FROM live_pod WHERE lease_until <= now())
			OR EXISTS (SELECT 1 FROM session s WHERE s.state = 'created' AND s.connect_by <= $1)
			OR EXISTS (SELECT 1 FROM session s WHERE s.orphaned_at <= $2 AND (s.slot OR s.orphaned_at <= $3))`,
		now, now.Add(-PodLease), now.Add(-ResumeWithin)).Scan(&found)
	return found, err
}

// sweepWaiting ends sessions whose client never came. It rides session_waiting.
func sweepWaiting(ctx context.Context, t *tenant.Tenants, shard string, now time.Time) (int, error) {
	return eachDue(ctx, t, shard, func(ctx context.Context, tx *tenant.Tx, which id.Session) error {
		s, err := Lock(ctx, tx, which)
		if err != nil || s.State != Created {
			return err
		}
		_, err = end(ctx, tx, s, Ending{At: s.ConnectBy})
		return err
	}, `
		SELECT s.org_id, s.id FROM session s JOIN org_fence f ON f.org_id = s.org_id AND f.state IN ('open', 'capture')
		WHERE s.state = 'created' AND s.connect_by <= $1 ORDER BY s.connect_by LIMIT $2`, now, SweepBatch)
}

// sweepOrphans ends sessions whose client had its time to come back, and before
// that gives their places back. It rides session_orphaned.
func sweepOrphans(ctx context.Context, t *tenant.Tenants, shard string, now time.Time) (int, error) {
	return eachDue(ctx, t, shard, func(ctx context.Context, tx *tenant.Tx, which id.Session) error {
		s, err := Lock(ctx, tx, which)
		switch {
		case err != nil, s.OrphanedAt == nil, now.Before(s.OrphanedAt.Add(PodLease)):
			return err
		case now.Before(s.OrphanedAt.Add(ResumeWithin)):
			return freePlace(ctx, tx, s)
		}
		_, err = end(ctx, tx, s, Ending{Reason: ConnectionLost, At: *s.OrphanedAt})
		return err
	}, `
		SELECT s.org_id, s.id FROM session s JOIN org_fence f ON f.org_id = s.org_id AND f.state IN ('open', 'capture')
		WHERE s.orphaned_at <= $1 AND (s.slot OR s.orphaned_at <= $2) ORDER BY s.orphaned_at LIMIT $3`,
		now.Add(-PodLease), now.Add(-ResumeWithin), SweepBatch)
}

func freePlace(ctx context.Context, tx *tenant.Tx, s Session) error {
	if !s.Slot {
		return nil
	}
	tx.Touch("session", s.ID)
	if _, err := tx.Exec(ctx, `UPDATE session SET slot = false WHERE org_id = $1 AND id = $2`, tx.Org, s.ID); err != nil {
		return err
	}
	return tx.Decrement(ctx, Counter)
}

// forgetPod is how long a silent process is remembered: one that does not know
// yet, or whose sessions are on the move from another shard, can bring more.
const forgetPod = time.Hour

// sweepPods takes the sessions of processes that fell silent away from them.
func sweepPods(ctx context.Context, t *tenant.Tenants, shard string) (int, error) {
	db, err := t.Shard(ctx, shard)
	if err != nil {
		return 0, err
	}
	type pod struct {
		ID   uuid.UUID
		Seen time.Time
	}
	rows, err := db.Query(ctx, `SELECT id, seen_at FROM live_pod WHERE lease_until <= now()`)
	if err != nil {
		return 0, err
	}
	silent, err := pgx.CollectRows(rows, pgx.RowToStructByPos[pod])
	if err != nil {
		return 0, err
	}
	swept := 0
	for _, p := range silent {
		n, err := sweepPod(ctx, t, shard, p.ID, p.Seen)
		swept += n
		if err != nil {
			return swept, err
		}
	}
	_, err = db.Exec(ctx, `
		DELETE FROM live_pod WHERE lease_until <= now() - $1::INTERVAL
			AND NOT EXISTS (SELECT 1 FROM session s WHERE s.owner = live_pod.id)`, forgetPod)
	return swept, err
}

// sweepPod takes a batch of sessions from a process, and deletes the news of
// ends that it did not take. The sessions' time counts up to when the process
// was last seen, or wrote. It rides session_by_owner and session_command_by_owner.
func sweepPod(ctx context.Context, t *tenant.Tenants, shard string, pod uuid.UUID, seen time.Time) (int, error) {
	swept, err := eachDue(ctx, t, shard, func(ctx context.Context, tx *tenant.Tx, which id.Session) error {
		s, err := Lock(ctx, tx, which)
		if err != nil || s.Owner.UUID != pod {
			return err
		}
		if err := orphan(ctx, tx, which, seen); err != nil {
			return err
		}
		return freePlace(ctx, tx, s)
	}, `
		SELECT s.org_id, s.id FROM session s JOIN org_fence f ON f.org_id = s.org_id AND f.state IN ('open', 'capture')
		WHERE s.owner = $1 LIMIT $2`, pod, SweepBatch)
	if err != nil {
		return swept, err
	}
	_, err = t.SweepRows(ctx, shard, `
		DELETE FROM session_command WHERE (org_id, session_id, id) IN (
			SELECT c.org_id, c.session_id, c.id FROM session_command c
			JOIN org_fence f ON f.org_id = c.org_id AND f.state = 'open'
			JOIN session s ON s.org_id = c.org_id AND s.id = c.session_id
			WHERE c.owner = $1 AND s.owner IS NULL LIMIT $2)`, pod, SweepBatch)
	return swept, err
}
