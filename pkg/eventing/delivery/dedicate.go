package delivery

import (
	"context"
	"encoding/binary"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/tenant"
)

// A webhook, or all of an organization's together, can have a lane of their own, that a
// worker of their own delivers in. Their rows say which lane they are to be in, and a
// webhook's also which lane it is in. Only who holds the lane that it is in takes it to
// the other, with nothing of it under way, so that no two workers ever deliver for it
// at a time (place.go).

// ownLane is the first lane that is one's own; those before it are shared.
const ownLane = 1 << 62

// WebhookLane is the lane that a webhook has where it has one of its own.
func WebhookLane(w id.Webhook) int64 { return laneFrom([16]byte(w)) }

// OrganizationLane is the lane that an organization's webhooks have together.
func OrganizationLane(org id.Org) int64 { return laneFrom([16]byte(org)) }

// laneFrom takes the part of an id that is random.
func laneFrom(id [16]byte) int64 {
	return ownLane | int64(binary.BigEndian.Uint64(id[8:])&(ownLane-1))
}

// DedicateWebhook has a webhook delivered to in a lane of its own, or in one of the
// others again, and answers its own. It takes effect once the worker of the lane lives.
func DedicateWebhook(ctx context.Context, tx *tenant.Tx, w id.Webhook, own bool) (lane *int64, err error) {
	if own {
		lane = new(WebhookLane(w))
	}
	tx.Touch("webhook", w)
	_, err = tx.Exec(ctx, `UPDATE webhook SET own_lane = $3 WHERE org_id = $1 AND id = $2`, tx.Org, w, lane)
	return lane, err
}

// DedicateOrganization has an organization's webhooks delivered to in a lane of their
// own, or in the shared ones again. Those with one each keep it.
func DedicateOrganization(ctx context.Context, tx *tenant.Tx, own bool) error {
	tx.Touch("dedicated_delivery")
	if !own {
		_, err := tx.Exec(ctx, `DELETE FROM dedicated_delivery WHERE org_id = $1`, tx.Org)
		return err
	}
	_, err := tx.Exec(ctx, `
		INSERT INTO dedicated_delivery (org_id, lane) VALUES ($1, $2) ON CONFLICT (org_id) DO NOTHING`, tx.Org, OrganizationLane(tx.Org))
	return err
}

// Dedicated says whether an organization's webhooks are to have a lane of their own.
func Dedicated(ctx context.Context, t *tenant.Tenants, org id.Org) (own bool, err error) {
	found := false
	err = t.Read(ctx, org, func(r *tenant.Reads) {
		r.QueryRow(&found, []any{&own}, `SELECT EXISTS (SELECT 1 FROM dedicated_delivery WHERE org_id = $1)`, org)
	})
	return own, err
}

// Left says whether none of an organization's webhooks is in the organization's lane, so
// that its worker can end. It rides webhook_by_lane.
func Left(ctx context.Context, t *tenant.Tenants, org id.Org) (left bool, err error) {
	found := false
	err = t.Read(ctx, org, func(r *tenant.Reads) {
		r.QueryRow(&found, []any{&left}, `
			SELECT NOT EXISTS (SELECT 1 FROM webhook WHERE org_id = $1 AND lane = $2 AND deleted_at IS NULL)`, org, OrganizationLane(org))
	})
	return left, err
}
