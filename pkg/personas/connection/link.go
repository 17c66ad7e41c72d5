package connection

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/egress"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/provider/hubspot"
	"visavis.dev/pkg/store/tenant"
)

// Link is what an item of the inbox is in a connected system.
type Link struct {
	Item id.InboxItem
	// External is its id there.
	External string
	// Edition is the item's when it was last written there.
	Edition int64
}

// Links are those of some items. They ride connection_link_pkey.
func Links(ctx context.Context, t *tenant.Tenants, org id.Org, c id.Connection, items []id.InboxItem) (map[id.InboxItem]Link, error) {
	found, err := tenant.All(ctx, t, org, pgx.RowToStructByPos[Link], `
		SELECT item_id, external_id, edition FROM connection_link
		WHERE org_id = $1 AND connection_id = $2 AND item_id = ANY($3)`, org, c, items)
	links := map[id.InboxItem]Link{}
	for _, l := range found {
		links[l.Item] = l
	}
	return links, err
}

// SaveLinks notes what items are there, and as which edition they were written, which
// can be an earlier one than before: what was written last counts.
func SaveLinks(ctx context.Context, tx *tenant.Tx, c id.Connection, links []Link, now time.Time) error {
	if len(links) == 0 {
		return nil
	}
	var (
		items    = make([]id.InboxItem, len(links))
		external = make([]string, len(links))
		editions = make([]int64, len(links))
	)
	for i, l := range links {
		items[i], external[i], editions[i] = l.Item, l.External, l.Edition
		tx.Touch("connection_link", c, l.Item)
	}
	_, err := tx.Exec(ctx, `
		INSERT INTO connection_link (org_id, connection_id, item_id, external_id, edition, updated_at)
		SELECT $1, $2, l.item, l.external, l.edition, $6
		FROM unnest($3::UUID[], $4::TEXT[], $5::BIGINT[]) AS l (item, external, edition)
		ON CONFLICT (org_id, connection_id, item_id) DO UPDATE
		SET external_id = excluded.external_id, edition = excluded.edition, updated_at = excluded.updated_at`, tx.Org, c, items, external, editions, now)
	return err
}

// DropLinks forgets what items are there.
func DropLinks(ctx context.Context, tx *tenant.Tx, c id.Connection, items []id.InboxItem) error {
	if len(items) == 0 {
		return nil
	}
	for _, item := range items {
		tx.Touch("connection_link", c, item)
	}
	_, err := tx.Exec(ctx, `DELETE FROM connection_link WHERE org_id = $1 AND connection_id = $2 AND item_id = ANY($3)`, tx.Org, c, items)
	return err
}

// dropAllLinks forgets what any item is there: it is another account, or none.
func dropAllLinks(ctx context.Context, tx *tenant.Tx, c id.Connection) error {
	items, err := tenant.AllIn(ctx, tx, pgx.RowTo[id.InboxItem], `
		DELETE FROM connection_link WHERE org_id = $1 AND connection_id = $2 RETURNING item_id`, tx.Org, c)
	for _, item := range items {
		tx.Touch("connection_link", c, item)
	}
	return err
}

// Followers are the connections of a kind that are not switched off. They ride connection_pkey.
func Followers(ctx context.Context, tx *tenant.Tx, k Kind) ([]id.Connection, error) {
	return tenant.AllIn(ctx, tx, pgx.RowTo[id.Connection], `
		SELECT id FROM connection WHERE org_id = $1 AND kind = $2 AND state <> $3 AND deleted_at IS NULL ORDER BY id`, tx.Org, k, Disabled)
}

// HubSpot is the service of a connection of that provider.
func (o Opened) HubSpot(g *egress.Guard, token string) hubspot.Client {
	return hubspot.Client{HTTP: o.Kind.Guard(g).ClientWithin(o.Timeout(), maxStream), BaseURL: o.Config.BaseURL(o.Provider), Token: token}
}
