package unit

import (
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/store/tenant"
)

// columns are a Unit's, of unit u, in its order. The count rides
// membership_by_unit.
const columns = `u.id, u.portal_id, u.parent_id, u.kind, u.name, u.code, u.enabled, u.manager_ids, u.external_id, u.metadata, u.edition,
	u.created_at, u.updated_at,
	(SELECT count(*) FROM membership m WHERE m.org_id = u.org_id AND m.unit_id = u.id AND m.removed_at IS NULL)`

func scan(row pgx.CollectableRow) (Unit, error) { return pgx.RowToStructByPos[Unit](row) }

const selectOne = `SELECT ` + columns + ` FROM unit u WHERE u.org_id = $1 AND u.id = $2`

// Get finds a unit. The error is errdefs.NotFound.
func Get(ctx context.Context, t *tenant.Tenants, org id.Org, u id.Unit) (Unit, error) {
	return tenant.One(ctx, t, org, scan, Noun.NotFound(u), selectOne, org, u)
}

// Find finds a unit in a transaction. The error is errdefs.NotFound.
func Find(ctx context.Context, tx *tenant.Tx, u id.Unit) (Unit, error) {
	return tenant.OneIn(ctx, tx, scan, Noun.NotFound(u), selectOne, tx.Org, u)
}

// Lock finds a unit in a transaction that will change it: nobody else changes
// anything in the tree of its portal until the commit. The error is errdefs.NotFound
// or errdefs.Archived.
func Lock(ctx context.Context, tx *tenant.Tx, which id.Unit) (u Unit, err error) {
	var b pgx.Batch
	locked := portal.QueueLock(&b, `SELECT portal_id FROM unit WHERE org_id = $1 AND id = $2`, tx.Org, which)
	// As it is once the portal is locked. Units never change their portal.
	b.Queue(selectOne, tx.Org, which).Query(func(rows pgx.Rows) error {
		u, err = tenant.First(rows, scan, Noun.NotFound(which))
		return err
	})
	if err := tx.SendBatch(ctx, &b).Close(); err != nil {
		return Unit{}, err
	}
	return u, locked.Err(u.Portal)
}

// Filter narrows a list; zero fields do not.
type Filter struct {
	Portal id.Portal
	Parent id.Unit
}

// List is a page of the units, newest first, after one of them; the zero id
// for the first page. It rides unit_pkey, or, where that is asked for,
// unit_by_parent or unit_by_portal.
func List(ctx context.Context, t *tenant.Tenants, org id.Org, f Filter, after id.Unit, limit int) ([]Unit, error) {
	if after.IsZero() {
		after = id.Unit(uuid.Max)
	}
	sql, args := `SELECT `+columns+` FROM unit u WHERE u.org_id = $1 AND u.id < $2`, []any{org, after, limit}
	switch {
	case !f.Parent.IsZero():
		sql += ` AND u.parent_id = $4 AND ($5::UUID IS NULL OR u.portal_id = $5)`
		args = append(args, f.Parent, f.Portal)
	case !f.Portal.IsZero():
		sql += ` AND u.portal_id = $4`
		args = append(args, f.Portal)
	}
	return tenant.All(ctx, t, org, scan, sql+` ORDER BY u.id DESC LIMIT $3`, args...)
}

// ByCode finds the units of a portal by their codes, of which several can have the
// same. It rides unit_by_code.
func ByCode(ctx context.Context, tx *tenant.Tx, p id.Portal, codes []string) (map[string][]id.Unit, error) {
	rows, err := tx.Query(ctx, `SELECT code, id FROM unit WHERE org_id = $1 AND portal_id = $2 AND code = ANY($3) ORDER BY id`, tx.Org, p, codes)
	if err != nil {
		return nil, err
	}
	type named struct {
		Code string
		ID   id.Unit
	}
	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[named])
	found := map[string][]id.Unit{}
	for _, u := range all {
		found[u.Code] = append(found[u.Code], u.ID)
	}
	return found, err
}
