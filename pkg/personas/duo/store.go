package duo

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/tenant"
)

// columns are a Duo's, of duo d, in its order.
const columns = `d.id, d.name,
	CASE WHEN d.status = 'draft' AND EXISTS (
		SELECT 1 FROM persona p JOIN face f ON f.org_id = p.org_id AND f.avatar_id IN (p.avatar_id, p.partner_avatar_id)
		WHERE p.org_id = d.org_id AND p.id = d.persona_id AND f.state = 'preparing') THEN 'checking' ELSE d.status END AS status,
	d.hosts, d.languages, d.interplay, d.persona_id, d.live_at, d.created_at, d.updated_at, d.deleted_at`

func scan(row pgx.CollectableRow) (Duo, error) { return pgx.RowToStructByPos[Duo](row) }

// one is the duo that a query for one found.
func one(d id.Duo, found []Duo, err error) (Duo, error) {
	switch {
	case err != nil:
		return Duo{}, err
	case len(found) == 0:
		return Duo{}, Noun.NotFound(d)
	case found[0].DeletedAt != nil:
		return found[0], Noun.Gone(d)
	}
	return found[0], nil
}

const selectOne = `SELECT ` + columns + ` FROM duo d WHERE d.org_id = $1 AND d.id = $2`

// Get finds a duo. The error is errdefs.NotFound or errdefs.Gone.
func Get(ctx context.Context, t *tenant.Tenants, org id.Org, d id.Duo) (Duo, error) {
	found, err := tenant.All(ctx, t, org, scan, selectOne, org, d)
	return one(d, found, err)
}

// Find finds a duo in a transaction. The error is errdefs.NotFound or errdefs.Gone.
func Find(ctx context.Context, tx *tenant.Tx, d id.Duo) (Duo, error) {
	found, err := tenant.AllIn(ctx, tx, scan, selectOne, tx.Org, d)
	return one(d, found, err)
}

// Lock finds a duo in a transaction that will change it: nobody else does
// until the commit. The error is errdefs.NotFound or errdefs.Gone.
func Lock(ctx context.Context, tx *tenant.Tx, d id.Duo) (Duo, error) {
	if _, err := tx.Exec(ctx, `SELECT 1 FROM duo WHERE org_id = $1 AND id = $2 FOR UPDATE`, tx.Org, d); err != nil {
		return Duo{}, err
	}
	return Find(ctx, tx, d)
}

// List is a page of the duos, newest first, after one of them; the zero id for
// the first page. An empty status is any. It rides duo_pkey.
func List(ctx context.Context, t *tenant.Tenants, org id.Org, status Status, after id.Duo, limit int) ([]Duo, error) {
	return tenant.All(ctx, t, org, scan, `
		SELECT * FROM (
			SELECT `+columns+` FROM duo d WHERE d.org_id = $1 AND ($2::UUID IS NULL OR d.id < $2) AND d.deleted_at IS NULL
		) AS q
		WHERE $3 = '' OR q.status = $3 ORDER BY q.id DESC LIMIT $4`, org, after, string(status), limit)
}

// rememberedFor is how long a deleted duo is answered with 410 rather than 404.
const rememberedFor = 90 * 24 * time.Hour

// Sweep forgets duos of a shard that were deleted long ago.
func Sweep(ctx context.Context, t *tenant.Tenants, shard string, now time.Time) (int, error) {
	return t.SweepRows(ctx, shard, `
		DELETE FROM duo WHERE (org_id, id) IN (
			SELECT d.org_id, d.id FROM duo d JOIN org_fence f ON f.org_id = d.org_id AND f.state = 'open'
			WHERE d.deleted_at <= $1 LIMIT 1000)`, now.Add(-rememberedFor))
}
