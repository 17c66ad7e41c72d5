package session

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/id"
	"visavis.dev/pkg/tenant"
)

const (
	// PodLease is how long a silent process keeps its sessions, and so how long
	// their places are gone at most, but for a sweep.
	PodLease = 10 * time.Second
	// Beat is how often a process says that it lives.
	Beat = 2 * time.Second
)

// KeepPod says on a shard that a process lives, and where the others reach it.
// It is false when the process was silent for too long: its sessions are lost,
// and it must go on as another.
func KeepPod(ctx context.Context, t *tenant.Tenants, shard string, pod uuid.UUID, address string, first bool) (bool, error) {
	db, err := t.Shard(ctx, shard)
	if err != nil {
		return true, err
	}
	if first {
		_, err := db.Exec(ctx, `
			INSERT INTO live_pod (id, address, seen_at, lease_until) VALUES ($1, $2, now(), now() + $3::INTERVAL)
			ON CONFLICT (id) DO NOTHING`, pod, address, PodLease.String())
		return true, err
	}
	tag, err := db.Exec(ctx, `
		UPDATE live_pod SET seen_at = now(), lease_until = now() + $2::INTERVAL WHERE id = $1 AND lease_until > now()`, pod, PodLease.String())
	return err != nil || tag.RowsAffected() > 0, err
}

// DropPod forgets a process that runs nothing any more.
func DropPod(ctx context.Context, t *tenant.Tenants, shard string, pod uuid.UUID) error {
	db, err := t.Shard(ctx, shard)
	if err != nil {
		return err
	}
	_, err = db.Exec(ctx, `DELETE FROM live_pod WHERE id = $1`, pod)
	return err
}

// PodOf is where the owner of a session of an organisation is reached; empty
// when it has none that lives.
func PodOf(ctx context.Context, t *tenant.Tenants, org id.Org, s Session) (address string, err error) {
	if !s.Owner.Valid {
		return "", nil
	}
	var found bool
	err = t.Read(ctx, org, func(r *tenant.Reads) {
		r.QueryRow(&found, []any{&address}, `SELECT address FROM live_pod WHERE id = $1 AND lease_until > now()`, s.Owner)
	})
	return address, err
}

// Sweep ends what nobody ends: sessions whose client never came, and those that
// lost their process and whose client did not come back. It gives back the
// places of sessions whose process fell silent.
func Sweep(ctx context.Context, t *tenant.Tenants, shard string, now time.Time) (int, error) {
	lapsed, err := sweepPods(ctx, t, shard)
	if err != nil {
		return lapsed, err
	}
	expired, err := eachDue(ctx, t, shard, func(ctx context.Context, tx *tenant.Tx, which id.Session) error {
		s, err := Lock(ctx, tx, which)
		if err != nil || s.State != Created {
			return err
		}
		_, err = end(ctx, tx, s, Ending{At: s.ConnectBy})
		return err
	}, `SELECT org_id, id FROM session WHERE state = 'created' AND connect_by <= $1 ORDER BY connect_by LIMIT $2`, now, SweepBatch)
	if err != nil {
		return lapsed + expired, err
	}
	lost, err := eachDue(ctx, t, shard, func(ctx context.Context, tx *tenant.Tx, which id.Session) error {
		return sweepOrphan(ctx, tx, which, now)
	}, `
		SELECT org_id, id FROM session WHERE orphaned_at <= $1 AND slot OR orphaned_at <= $2 ORDER BY orphaned_at LIMIT $3`,
		now.Add(-PodLease), now.Add(-ResumeWithin), SweepBatch)
	return lapsed + expired + lost, err
}

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
		if n == 0 {
			if err := DropPod(ctx, t, shard, p.ID); err != nil {
				return swept, err
			}
		}
	}
	return swept, nil
}

// sweepPod takes a batch of sessions from a process. Their time counts up to
// when it was last seen.
func sweepPod(ctx context.Context, t *tenant.Tenants, shard string, pod uuid.UUID, seen time.Time) (int, error) {
	return eachDue(ctx, t, shard, func(ctx context.Context, tx *tenant.Tx, which id.Session) error {
		s, err := Lock(ctx, tx, which)
		if err != nil || s.Owner.UUID != pod {
			return err
		}
		if err := orphan(ctx, tx, which, seen); err != nil {
			return err
		}
		return freePlace(ctx, tx, s)
	}, `SELECT org_id, id FROM session WHERE owner = $1 LIMIT $2`, pod, SweepBatch)
}

// sweepOrphan ends a session whose client had its time to come back, and before
// that gives its place back.
func sweepOrphan(ctx context.Context, tx *tenant.Tx, which id.Session, now time.Time) error {
	s, err := Lock(ctx, tx, which)
	if err != nil || s.OrphanedAt == nil {
		return err
	}
	if now.Before(s.OrphanedAt.Add(ResumeWithin)) {
		return freePlace(ctx, tx, s)
	}
	_, err = end(ctx, tx, s, Ending{Reason: ConnectionLost, At: *s.OrphanedAt})
	return err
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
