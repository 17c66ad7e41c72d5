package unit

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/tenant"
)

// node is a unit in a walk through the tree; level counts from one at its start.
type node struct {
	ID      id.Unit
	Portal  id.Portal
	Enabled bool
	Level   int64
}

// path lists a unit and those that it lies in, from the inside. It rides unit_pkey.
func path(ctx context.Context, tx *tenant.Tx, from id.Unit) ([]node, error) {
	return walk(ctx, tx, `
		WITH RECURSIVE above (id, portal_id, parent_id, enabled, level) AS (
			SELECT id, portal_id, parent_id, enabled, 1::BIGINT FROM unit WHERE org_id = $1 AND id = $2
			UNION ALL
			SELECT u.id, u.portal_id, u.parent_id, u.enabled, a.level + 1 FROM above a JOIN unit u ON u.org_id = $1 AND u.id = a.parent_id
		)
		SELECT id, portal_id, enabled, level FROM above ORDER BY level`, from)
}

// below lists a unit and those that lie in it, those at the top first; each is
// enabled if all are on the way to it. It rides unit_by_parent.
func below(ctx context.Context, tx *tenant.Tx, from id.Unit) ([]node, error) {
	return walk(ctx, tx, `
		WITH RECURSIVE below (id, portal_id, enabled, level) AS (
			SELECT id, portal_id, enabled, 1::BIGINT FROM unit WHERE org_id = $1 AND id = $2
			UNION ALL
			SELECT u.id, u.portal_id, b.enabled AND u.enabled, b.level + 1 FROM below b JOIN unit u ON u.org_id = $1 AND u.parent_id = b.id
		)
		SELECT id, portal_id, enabled, level FROM below ORDER BY level`, from)
}

func walk(ctx context.Context, tx *tenant.Tx, sql string, from id.Unit) ([]node, error) {
	return tenant.AllIn(ctx, tx, pgx.RowToStructByPos[node], sql, tx.Org, from)
}

// checkParent checks that a unit may lie in another. The error is errdefs.NotFound (of OfPortal),
// ErrRing or ErrTooDeep.
func (u Unit) checkParent(ctx context.Context, tx *tenant.Tx) error {
	if u.Parent.IsZero() {
		return nil
	}
	above, err := path(ctx, tx, u.Parent)
	switch {
	case err != nil:
		return err
	case len(above) == 0 || above[0].Portal != u.Portal:
		return OfPortal.NotFound(u.Parent)
	case slices.ContainsFunc(above, func(n node) bool { return n.ID == u.ID }):
		return ErrRing
	}
	height := int64(1) // of one that is new
	tree, err := below(ctx, tx, u.ID)
	if err != nil {
		return err
	}
	if len(tree) > 0 {
		height = tree[len(tree)-1].Level
	}
	if int64(len(above))+height > MaxDepth {
		return ErrTooDeep
	}
	return nil
}

// Switches says of a unit and of those that lie in it whether they are switched
// on, the units above taken into account.
func Switches(ctx context.Context, tx *tenant.Tx, from id.Unit) (map[id.Unit]bool, error) {
	above, err := path(ctx, tx, from)
	if err != nil {
		return nil, err
	}
	tree, err := below(ctx, tx, from)
	if err != nil {
		return nil, err
	}
	dark := slices.ContainsFunc(above, func(n node) bool { return !n.Enabled })
	switches := make(map[id.Unit]bool, len(tree))
	for _, n := range tree {
		switches[n.ID] = n.Enabled && !dark
	}
	return switches, nil
}

// On lists those of several units that are switched on, the units above taken
// into account. It rides unit_pkey.
func On(ctx context.Context, tx *tenant.Tx, of ...id.Unit) ([]id.Unit, error) {
	return tenant.AllIn(ctx, tx, pgx.RowTo[id.Unit], `
		WITH RECURSIVE above (unit, parent_id, enabled) AS (
			SELECT id, parent_id, enabled FROM unit WHERE org_id = $1 AND id = ANY($2)
			UNION ALL
			SELECT a.unit, u.parent_id, u.enabled FROM above a JOIN unit u ON u.org_id = $1 AND u.id = a.parent_id
		)
		SELECT unit FROM above GROUP BY unit HAVING bool_and(enabled)`, tx.Org, of)
}
