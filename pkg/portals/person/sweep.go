package person

import (
	"context"
	"encoding/hex"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/tenant"
)

// rememberedFor is how long a place that was taken away is answered with 410
// rather than 404.
const rememberedFor = 90 * 24 * time.Hour

// SweepBatch bounds the rows that one statement deletes.
const SweepBatch = 1000

// Sweep forgets places of a shard that were taken away long ago. It rides
// membership_by_removal.
func Sweep(ctx context.Context, t *tenant.Tenants, shard string, now time.Time) (int, error) {
	return t.SweepRows(ctx, shard, `
		DELETE FROM membership WHERE (org_id, id) IN (
			SELECT m.org_id, m.id FROM membership m JOIN org_fence f ON f.org_id = m.org_id AND f.state = 'open'
			WHERE m.removed_at <= $1 LIMIT $2)`, now.Add(-rememberedFor), SweepBatch)
}

// digest is the key of a row that is named by a hash.
type digest []byte

func (d digest) String() string { return hex.EncodeToString(d) }

// signOut ends a person's visits to portals. It rides portal_visit_by_person.
func signOut(ctx context.Context, tx *tenant.Tx, which id.Person) error {
	rows, err := tx.Query(ctx, `DELETE FROM portal_visit WHERE org_id = $1 AND person_id = $2 RETURNING hash`, tx.Org, which)
	if err != nil {
		return err
	}
	hashes, err := pgx.CollectRows(rows, pgx.RowTo[[]byte])
	for _, h := range hashes {
		tx.Touch("portal_visit", digest(h))
	}
	return err
}
