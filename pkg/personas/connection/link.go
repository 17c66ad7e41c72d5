package connection

import (
	"context"
	"encoding/json"
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
	// Edition is the item's that was last compared with what is there.
	Edition int64
	// Account is the account that has it; empty where that is not known.
	Account string
	// GoneAt is when it was found to be deleted there; nil for not.
	GoneAt *time.Time
	// Ours and Theirs are digests, by the names that fields have there, of what the item said and of what was there when they
	// were last compared; nil where nothing is known. Of an item of which another one took the place Theirs is empty, and Ours has the address
	// alone: all it says is news once it counts again, unless its address is another one by then.
	Ours, Theirs map[string]string
}

// Links are those of some items. They ride connection_link_pkey.
func Links(ctx context.Context, t *tenant.Tenants, org id.Org, c id.Connection, items []id.InboxItem) (map[id.InboxItem]Link, error) {
	found, err := tenant.All(ctx, t, org, pgx.RowToStructByPos[Link], selectLinks, org, c, items)
	return byItem(found), err
}

// LinksIn is Links in a transaction.
func LinksIn(ctx context.Context, tx *tenant.Tx, c id.Connection, items []id.InboxItem) (map[id.InboxItem]Link, error) {
	found, err := tenant.AllIn(ctx, tx, pgx.RowToStructByPos[Link], selectLinks, tx.Org, c, items)
	return byItem(found), err
}

const (
	selectSome  = `SELECT item_id, external_id, edition, account, gone_at, ours, theirs FROM connection_link WHERE org_id = $1 AND connection_id = $2`
	selectLinks = selectSome + ` AND item_id = ANY($3)`
)

func byItem(all []Link) map[id.InboxItem]Link {
	links := map[id.InboxItem]Link{}
	for _, l := range all {
		links[l.Item] = l
	}
	return links
}

// Linked are the items that are linked, in the order of their ids, after one of them. It rides connection_link_pkey.
func Linked(ctx context.Context, t *tenant.Tenants, org id.Org, c id.Connection, after id.InboxItem, limit int) ([]id.InboxItem, error) {
	return tenant.All(ctx, t, org, pgx.RowTo[id.InboxItem], `
		SELECT item_id FROM connection_link
		WHERE org_id = $1 AND connection_id = $2 AND ($3::UUID IS NULL OR item_id > $3) ORDER BY item_id LIMIT $4`, org, c, after, limit)
}

// Compared are the links with what is there that were compared, by what they were compared with. They ride connection_link_by_external.
func Compared(ctx context.Context, t *tenant.Tenants, org id.Org, c id.Connection, external []string) ([]Link, error) {
	return tenant.All(ctx, t, org, pgx.RowToStructByPos[Link], selectSome+` AND external_id = ANY($3) AND theirs <> '{}'`, org, c, external)
}

// ForgottenIn are the links with what is there of which nothing is known, by what they are linked with: those of visitors who are forgotten, until they are
// let go there. They ride connection_link_by_external.
func ForgottenIn(ctx context.Context, tx *tenant.Tx, c id.Connection, external []string) ([]Link, error) {
	return tenant.AllIn(ctx, tx, pgx.RowToStructByPos[Link], selectSome+` AND external_id = ANY($3) AND theirs IS NULL`, tx.Org, c, external)
}

// SaveLinks notes what items are there. Others that are linked with what one of them was compared with are empty then. It rides
// connection_link_by_external.
func SaveLinks(ctx context.Context, tx *tenant.Tx, c id.Connection, links []Link, now time.Time) error {
	if len(links) == 0 {
		return nil
	}
	var (
		items              = make([]id.InboxItem, len(links))
		external, accounts = make([]string, len(links)), make([]string, len(links))
		editions           = make([]int64, len(links))
		gone               = make([]*time.Time, len(links))
		ours, theirs       = make([]*string, len(links)), make([]*string, len(links))
		known              []id.InboxItem
		of                 []string
	)
	for i, l := range links {
		items[i], external[i], accounts[i], editions[i], gone[i] = l.Item, l.External, l.Account, l.Edition, l.GoneAt
		if l.Theirs != nil {
			a, err := json.Marshal(l.Ours)
			if err != nil {
				return err
			}
			b, err := json.Marshal(l.Theirs)
			if err != nil {
				return err
			}
			ours[i], theirs[i] = new(string(a)), new(string(b))
		}
		if len(l.Theirs) > 0 {
			known, of = append(known, l.Item), append(of, l.External)
		}
		tx.Touch("connection_link", c, l.Item)
	}
	if _, err := tx.Exec(ctx, `
		INSERT INTO connection_link (org_id, connection_id, item_id, external_id, edition, account, gone_at, ours, theirs, updated_at)
		SELECT $1, $2, l.item, l.external, l.edition, l.account, l.gone_at, l.ours::JSONB, l.theirs::JSONB, $10
		FROM unnest($3::UUID[], $4::TEXT[], $5::BIGINT[], $6::TEXT[], $7::TIMESTAMPTZ[], $8::TEXT[], $9::TEXT[])
			AS l (item, external, edition, account, gone_at, ours, theirs)
		ON CONFLICT (org_id, connection_id, item_id) DO UPDATE
		SET external_id = excluded.external_id, edition = excluded.edition, account = excluded.account, gone_at = excluded.gone_at,
			ours = excluded.ours, theirs = excluded.theirs, updated_at = excluded.updated_at`,
		tx.Org, c, items, external, editions, accounts, gone, ours, theirs, now); err != nil {
		return err
	}
	return Displace(ctx, tx, c, of, known)
}

// Address is the name by which a link has the digest of the item's mail address.
const Address = "email"

// Displace empties the links of all items but some with what is there, but for their addresses: what was compared of them says nothing of what is there
// from now on. It rides connection_link_by_external.
func Displace(ctx context.Context, tx *tenant.Tx, c id.Connection, external []string, but []id.InboxItem) error {
	if len(external) == 0 {
		return nil
	}
	others, err := tenant.AllIn(ctx, tx, pgx.RowTo[id.InboxItem], `
		UPDATE connection_link SET ours = CASE WHEN ours ? $5::TEXT THEN jsonb_build_object($5::TEXT, ours->$5::TEXT) ELSE '{}' END, theirs = '{}'
		WHERE org_id = $1 AND connection_id = $2 AND external_id = ANY($3) AND NOT item_id = ANY($4) AND theirs <> '{}' RETURNING item_id`,
		tx.Org, c, external, append([]id.InboxItem{}, but...), Address) // nil would be NULL
	for _, other := range others {
		tx.Touch("connection_link", c, other)
	}
	return err
}

// ForgetLinks forgets what was compared of an item, whose visitor is forgotten; that it was written stays until it is let go
// there. It rides connection_pkey and connection_link_pkey.
func ForgetLinks(ctx context.Context, tx *tenant.Tx, of id.InboxItem) error {
	blank, err := tenant.AllIn(ctx, tx, pgx.RowTo[id.Connection], `
		UPDATE connection_link SET ours = NULL, theirs = NULL
		WHERE org_id = $1 AND connection_id IN (SELECT id FROM connection WHERE org_id = $1 AND kind = $3 AND deleted_at IS NULL) AND item_id = $2
		RETURNING connection_id`, tx.Org, of, CRM)
	for _, c := range blank {
		tx.Touch("connection_link", c, of)
	}
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

// dropLinks forgets what items are there that may be another account's by now, or all of them. Those whose account is known are compared
// with it before they count.
func dropLinks(ctx context.Context, tx *tenant.Tx, c id.Connection, all bool) error {
	items, err := tenant.AllIn(ctx, tx, pgx.RowTo[id.InboxItem], `
		DELETE FROM connection_link WHERE org_id = $1 AND connection_id = $2 AND ($3::BOOL OR account = '') RETURNING item_id`, tx.Org, c, all)
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
