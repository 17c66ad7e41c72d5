package webhook

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/managed"
	"visavis.dev/pkg/base/vault"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
)

// Declared is a webhook as whoever declares it needs to know it.
type Declared struct {
	Webhook
	// Sealed is its secret (OpenSecret), and RotatedFor what that was made for.
	Sealed     []byte
	RotatedFor string
	// OwnLane is the lane of deliveries that it is to be in, and Lane the one it is
	// in; nil for one of the shared.
	OwnLane, Lane *int64
}

const selectDeclared = `SELECT ` + columns + `, secret, rotated_for, own_lane, lane FROM webhook
	WHERE org_id = $1 AND managed_by = $2 AND deleted_at IS NULL`

// FindDeclared finds the webhook that a resource manages; nil when there is none. It
// rides webhook_managed.
func FindDeclared(ctx context.Context, t *tenant.Tenants, org id.Org, who managed.By) (*Declared, error) {
	var found []Declared
	err := t.Read(ctx, org, func(r *tenant.Reads) {
		r.Query(func(rows pgx.Rows) (err error) {
			found, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Declared])
			return err
		}, selectDeclared, org, who)
	})
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return &found[0], nil
}

// LockLeft locks the webhook that an earlier resource of a name managed, of several the
// one made last; ok is false where there is none. It rides webhook_managed.
func LockLeft(ctx context.Context, tx *tenant.Tx, by managed.Resource) (w Webhook, ok bool, err error) {
	from, to := by.Named()
	var which id.Webhook
	err = tx.QueryRow(ctx, `SELECT id FROM webhook
		WHERE org_id = $1 AND managed_by >= $2 AND managed_by < $3 AND managed_by <> 'api' AND deleted_at IS NULL
		ORDER BY created_at DESC, id DESC LIMIT 1`, tx.Org, from, to).Scan(&which)
	if errors.Is(err, pgx.ErrNoRows) {
		return w, false, nil
	}
	if err == nil {
		w, err = Lock(ctx, tx, which)
	}
	return w, err == nil, err
}

// LockDeclared is FindDeclared in a transaction that will change the webhook, or make
// it: nobody else does until the commit.
func LockDeclared(ctx context.Context, tx *tenant.Tx, who managed.By) (*Declared, error) {
	if err := event.LockLog(ctx, tx); err != nil {
		return nil, err
	}
	rows, err := tx.Query(ctx, selectDeclared+` FOR UPDATE`, tx.Org, who)
	if err != nil {
		return nil, err
	}
	found, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[Declared])
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	return &found, err
}

// RotateFor is Rotate for a reason, once: it does nothing where the secret was replaced
// for the same already.
func (d *Declared) RotateFor(
	ctx context.Context, tx *tenant.Tx, v *vault.Vault, reason string, grace time.Duration, who activity.Actor,
) (rotated bool, err error) {
	if d.RotatedFor == reason {
		return false, nil
	}
	secret := NewSecret()
	if err := Rotate(ctx, tx, v, d.ID, secret, grace, who); err != nil {
		return false, err
	}
	_, err = tx.Exec(ctx, `UPDATE webhook SET rotated_for = $3 WHERE org_id = $1 AND id = $2`, tx.Org, d.ID, reason)
	d.Sealed, d.RotatedFor = secret.Seal(v, d.ID), reason
	return true, err
}

// Condition is how the deliveries of a declared webhook fare.
type Condition struct {
	ManagedBy                           managed.By
	FailingSince, PausedAt, DeliveredAt *time.Time
	// OwnLane says that it is in a lane of its own.
	OwnLane bool
}

// Conditions lists the declared webhooks of a shard that fail, are paused, delivered for
// the first time since a moment, or are to have a lane of their own. It rides
// webhook_failing, webhook_delivered and webhook_by_own_lane.
func Conditions(ctx context.Context, t *tenant.Tenants, shard string, since time.Time) ([]Condition, error) {
	db, err := t.Shard(ctx, shard)
	if err != nil {
		return nil, err
	}
	const which = `
		SELECT w.managed_by, w.failing_since, w.paused_at, w.delivered_at, COALESCE(w.lane = w.own_lane, false)
		FROM webhook w JOIN org_fence f ON f.org_id = w.org_id AND f.state <> 'moved'
		WHERE w.managed_by <> 'api' AND w.deleted_at IS NULL`
	rows, err := db.Query(ctx, which+` AND (w.failing_since IS NOT NULL OR w.paused_at IS NOT NULL)
		UNION `+which+` AND w.delivered_at IS NOT NULL AND w.delivered_at > $1
		UNION `+which+` AND w.own_lane IS NOT NULL`, since)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[Condition])
}
