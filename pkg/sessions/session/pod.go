package session

import (
	"context"
	"time"

	"github.com/google/uuid"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/tenant"
)

const (
	// PodLease is how long a silent process keeps its sessions, and so how long
	// their places are gone at most, but for a sweep.
	PodLease = 10 * time.Second
	// Beat is how often a process says that it lives.
	Beat = 2 * time.Second
	// NoteEvery is how often a process notes that somebody speaks in a session.
	NoteEvery = 15 * time.Second
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
			ON CONFLICT (id) DO NOTHING`, pod, address, PodLease)
		return true, err
	}
	tag, err := db.Exec(ctx, `
		UPDATE live_pod SET seen_at = now(), lease_until = now() + $2::INTERVAL WHERE id = $1 AND lease_until > now()`, pod, PodLease)
	return err != nil || tag.RowsAffected() > 0, err
}

// DropPod says that a process runs nothing any more. What it left is swept at
// once.
func DropPod(ctx context.Context, t *tenant.Tenants, shard string, pod uuid.UUID) error {
	db, err := t.Shard(ctx, shard)
	if err != nil {
		return err
	}
	_, err = db.Exec(ctx, `UPDATE live_pod SET lease_until = now() WHERE id = $1 AND lease_until > now()`, pod)
	return err
}

// PodOf is where the owner of a session of an organization is reached; empty
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
