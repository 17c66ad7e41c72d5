package mailer

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"time"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/store/tenant"
)

// What goes out in an hour of the clock at most: to one address from one portal,
// of each kind, and from an organization. Nobody floods a stranger's mailbox by the
// platform.
const (
	perRecipient    = 5
	perOrganization = 2000
)

// everybody is the holder of an organization's own count.
const everybody = "organization"

// recipient is the holder of an address's count. The address cannot be read from it.
func recipient(k kind, p id.Portal, key string) string {
	sum := sha256.Sum256([]byte(string(k) + " " + p.String() + " " + key))
	return hex.EncodeToString(sum[:])
}

// hourly is a row's key.
type hourly string

func (h hourly) String() string { return string(h) }

// take counts a mail of a holder. It rides mail_count_pkey. The error is ErrTooMany.
func take(ctx context.Context, tx *tenant.Tx, holder string, limit int64, at time.Time) error {
	hour := at.UTC().Truncate(time.Hour)
	tx.Touch("mail_count", hourly(holder), hourly(hour.Format(time.RFC3339)))
	tag, err := tx.Exec(ctx, `
		INSERT INTO mail_count (org_id, holder, hour, taken) VALUES ($1, $2, $3, 1)
		ON CONFLICT (org_id, holder, hour) DO UPDATE SET taken = mail_count.taken + 1 WHERE mail_count.taken < $4`,
		tx.Org, holder, hour, limit)
	if err == nil && tag.RowsAffected() == 0 {
		err = ErrTooMany
	}
	return err
}

// takeBoth counts a mail of its recipient and of the organization. The error is
// ErrNoAddress or ErrTooMany.
func takeBoth(ctx context.Context, tx *tenant.Tx, k kind, p id.Portal, address string, at time.Time) error {
	_, key, ok := person.Address(address)
	if !ok {
		return ErrNoAddress
	}
	if err := take(ctx, tx, recipient(k, p, key), perRecipient, at); err != nil {
		return err
	}
	return take(ctx, tx, everybody, perOrganization, at)
}

// SweepBatch is how many rows of a kind a run deletes at most.
const SweepBatch = 1000

// Sweep forgets counts of hours that are over and links that open nothing any more.
// It rides mail_count_by_hour and mail_link_by_expiry.
func Sweep(ctx context.Context, t *tenant.Tenants, shard string, now time.Time) (int, error) {
	counts, err := t.SweepRows(ctx, shard, `
		DELETE FROM mail_count WHERE (org_id, holder, hour) IN (
			SELECT c.org_id, c.holder, c.hour FROM mail_count c JOIN org_fence f ON f.org_id = c.org_id AND f.state = 'open'
			WHERE c.hour < $1 LIMIT 1000)`, now.Add(-2*time.Hour))
	if err != nil {
		return counts, err
	}
	links, err := t.SweepRows(ctx, shard, `
		DELETE FROM mail_link WHERE (org_id, hash) IN (
			SELECT l.org_id, l.hash FROM mail_link l JOIN org_fence f ON f.org_id = l.org_id AND f.state = 'open'
			WHERE l.expires_at < $1 LIMIT 1000)`, now.Add(-keptAfterwards))
	return counts + links, err
}
