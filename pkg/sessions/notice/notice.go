// Package notice keeps what chats and helpdesks are told of items of the inbox, and what became of it there.
// Telling them is package notify's.
package notice

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/store/tenant"
)

// Noun is what errors call a notice.
const Noun errdefs.Noun = "notice"

// Key names what a chat or a helpdesk is told of an item.
type Key struct {
	Connection id.Connection `json:"connectionId"`
	Item       id.InboxItem  `json:"itemId"`
}

// String is the key in few words.
func (k Key) String() string { return k.Connection.String() + "/" + k.Item.String() }

// Known is what a helpdesk was told last.
type Known struct {
	// External is the ticket's id, and Account the address of the account that has it; empty for none.
	External, Account string
	// State is the item's, Note the last of its notes, and Said tells how to reach the visitor and what they said from
	// anything else.
	State string
	Note  id.InboxNote
	Said  string
	// StateEdition is the item's edition at which both sides agreed on its state, and Status the ticket's then; empty where it is not known, as of a
	// ticket that was made while nothing was taken back, until it is read.
	StateEdition int64
	Status       string
}

// Read is how far a ticket was read: the last comment, and what tells one time that it was changed from another.
type Read struct {
	Comment int64
	Seen    string
}

// Notice is what a chat or a helpdesk is told of an item.
type Notice struct {
	Key
	// Edition is the item's that is to be told, and Told the last that was.
	Edition, Told int64
	// NotBefore is when it is told at the earliest.
	NotBefore time.Time
	Known     Known
	Read      Read
	// Trouble is why what is untold is not being told; empty while it is.
	Trouble string
	// Job tells it; zero for none.
	Job       id.Job
	ChangedAt time.Time
}

const columns = `connection_id, item_id, edition, told, not_before, external_id, account, state, note_id, said, trouble, job_id, changed_at, state_edition, status, comment, seen`

func scan(row pgx.CollectableRow) (n Notice, err error) {
	err = row.Scan(&n.Connection, &n.Item, &n.Edition, &n.Told, &n.NotBefore, &n.Known.External, &n.Known.Account, &n.Known.State, &n.Known.Note, &n.Known.Said,
		&n.Trouble, &n.Job, &n.ChangedAt, &n.Known.StateEdition, &n.Known.Status, &n.Read.Comment, &n.Read.Seen)
	return n, err
}

// Item is an item of the inbox as it is told.
type Item struct {
	ID      id.InboxItem
	Kind    string
	Edition int64
	Portal  id.Portal
}

// Begin has, with the commit, the chats and helpdesks told of an item that was left, which are to know of its kind and
// are not switched off. What is told is read when it is. It rides connection_pkey.
func Begin(ctx context.Context, tx *tenant.Tx, i Item, now time.Time) error {
	type follower struct {
		ID     id.Connection
		Kind   connection.Kind
		Config connection.Config
	}
	all, err := tenant.AllIn(ctx, tx, pgx.RowToStructByPos[follower], `
		SELECT id, kind, config FROM connection
		WHERE org_id = $1 AND kind IN ('chat', 'helpdesk') AND state <> 'disabled' AND deleted_at IS NULL ORDER BY id`, tx.Org)
	for _, f := range all {
		if !f.Config.Tells(f.Kind, i.Kind) {
			continue
		}
		n := Notice{Key: Key{f.ID, i.ID}, Edition: i.Edition, NotBefore: now.Add(f.Config.UnansweredAfter())}
		tx.Touch("inbox_notice", n.Connection, n.Item)
		if _, err := tx.Exec(ctx, `
			INSERT INTO inbox_notice (org_id, connection_id, item_id, edition, told, follows, not_before, external_id, account, state, said, trouble,
				changed_at, created_at)
			VALUES ($1, $2, $3, $4, 0, $5, $6, '', '', '', '', '', $7, $7)`,
			tx.Org, n.Connection, n.Item, n.Edition, f.Kind == connection.Helpdesk, n.NotBefore, now); err != nil {
			return err
		}
		if err := n.send(ctx, tx, i.Portal, now); err != nil {
			return err
		}
	}
	return err
}

// Follow has, with the commit, the helpdesks that were told of an item told that it changed. It rides inbox_notice_by_item.
func Follow(ctx context.Context, tx *tenant.Tx, i Item, now time.Time) error {
	all, err := tenant.AllIn(ctx, tx, scan, `
		UPDATE inbox_notice SET edition = $3, changed_at = $4 WHERE org_id = $1 AND item_id = $2 AND follows RETURNING `+columns, tx.Org, i.ID, i.Edition, now)
	for _, n := range all {
		tx.Touch("inbox_notice", n.Connection, n.Item)
		if err := n.send(ctx, tx, i.Portal, now); err != nil {
			return err
		}
	}
	return err
}

// send queues the telling, unless it is: a job that ends looks at the row first, which is locked.
func (n *Notice) send(ctx context.Context, tx *tenant.Tx, p id.Portal, now time.Time) error {
	if queued, err := job.Waits(ctx, tx, n.Job); err != nil || queued {
		return err
	}
	j, err := job.Insert(ctx, tx, job.Job{
		ID: id.NewJob(), Kind: job.InboxTell, ResourceKind: "inbox_item", ResourceID: n.Item.String(), Portal: p, Connection: n.Connection,
		Scope: scope.InboxRead, CreatedBy: "system", CreatedAt: now,
	}, n.Key)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `
		UPDATE inbox_notice SET job_id = $4, trouble = '' WHERE org_id = $1 AND connection_id = $2 AND item_id = $3`, tx.Org, n.Connection, n.Item, j.ID)
	return err
}

// atOnce is how much is taken by one commit.
const atOnce = 100

// ResumeSome takes up some of what is stopped of a connection, and says whether there may be more. It rides
// inbox_notice_untold.
func ResumeSome(ctx context.Context, tx *tenant.Tx, c id.Connection, now time.Time) (bool, error) {
	stopped, err := tenant.AllIn(ctx, tx, scan, `
		SELECT `+columns+` FROM inbox_notice
		WHERE org_id = $1 AND connection_id = $2 AND edition > told AND trouble <> '' ORDER BY changed_at LIMIT $3 FOR UPDATE`, tx.Org, c, atOnce)
	for _, n := range stopped {
		tx.Touch("inbox_notice", n.Connection, n.Item)
		if err := n.send(ctx, tx, id.Portal{}, now); err != nil {
			return false, err
		}
	}
	return len(stopped) == atOnce, err
}

// Get finds what a connection is told of an item. It rides inbox_notice_pkey. The error is errdefs.NotFound.
func Get(ctx context.Context, t *tenant.Tenants, org id.Org, k Key) (Notice, error) {
	return tenant.One(ctx, t, org, scan, Noun.NotFound(k), `
		SELECT `+columns+` FROM inbox_notice WHERE org_id = $1 AND connection_id = $2 AND item_id = $3`, org, k.Connection, k.Item)
}

// MaxUntold bounds what Untold answers.
const MaxUntold = 100

// Untold is what a connection was not told yet, what changed last first. It rides inbox_notice_untold.
func Untold(ctx context.Context, t *tenant.Tenants, org id.Org, c id.Connection) ([]Notice, error) {
	return tenant.All(ctx, t, org, scan, `
		SELECT `+columns+` FROM inbox_notice
		WHERE org_id = $1 AND connection_id = $2 AND edition > told ORDER BY changed_at DESC LIMIT $3`, org, c, MaxUntold)
}

// Tickets are what became of an item in helpdesks. It rides inbox_notice_by_item.
func Tickets(ctx context.Context, tx *tenant.Tx, of id.InboxItem) ([]Notice, error) {
	return tenant.AllIn(ctx, tx, scan, selectTickets, tx.Org, of)
}

// TicketsOf is Tickets outside a transaction.
func TicketsOf(ctx context.Context, t *tenant.Tenants, org id.Org, of id.InboxItem) ([]Notice, error) {
	return tenant.All(ctx, t, org, scan, selectTickets, org, of)
}

const selectTickets = `
	SELECT ` + columns + ` FROM inbox_notice WHERE org_id = $1 AND item_id = $2 AND external_id <> '' ORDER BY connection_id`

// Ticketed are those of a connection that became something there, in the order of their items, after one of them; without those that were
// read once they were closed, which nothing becomes of any more. It rides inbox_notice_pkey.
func Ticketed(ctx context.Context, t *tenant.Tenants, org id.Org, c id.Connection, after id.InboxItem, limit int) ([]Notice, error) {
	return tenant.All(ctx, t, org, scan, `
		SELECT `+columns+` FROM inbox_notice
		WHERE org_id = $1 AND connection_id = $2 AND ($3::UUID IS NULL OR item_id > $3) AND external_id <> '' AND NOT (status = 'closed' AND seen <> '')
		ORDER BY item_id LIMIT $4`, org, c, after, limit)
}

// Lock finds what a connection is told of an item, and holds it until the transaction ends. The error is errdefs.NotFound.
func Lock(ctx context.Context, tx *tenant.Tx, k Key) (Notice, error) {
	return tenant.OneIn(ctx, tx, scan, Noun.NotFound(k), `
		SELECT `+columns+` FROM inbox_notice WHERE org_id = $1 AND connection_id = $2 AND item_id = $3 FOR UPDATE`, tx.Org, k.Connection, k.Item)
}

// Keep notes how far a ticket was read, and what both sides agreed on by that.
func Keep(ctx context.Context, tx *tenant.Tx, n Notice) error {
	tx.Touch("inbox_notice", n.Connection, n.Item)
	_, err := tx.Exec(ctx, `
		UPDATE inbox_notice SET state = $4, state_edition = $5, status = $6, comment = $7, seen = $8
		WHERE org_id = $1 AND connection_id = $2 AND item_id = $3`,
		tx.Org, n.Connection, n.Item, n.Known.State, n.Known.StateEdition, n.Known.Status, n.Read.Comment, n.Read.Seen)
	return err
}

// settle notes what is known of a ticket, and that an edition was told where it was. What both sides agreed on meanwhile stays, and
// of another ticket nothing was read yet. The error is errdefs.NotFound.
func (n *Notice) settle(ctx context.Context, tx *tenant.Tx, k Known, told bool) (Notice, error) {
	tx.Touch("inbox_notice", n.Connection, n.Item)
	return tenant.OneIn(ctx, tx, scan, Noun.NotFound(n.Key), `
		UPDATE inbox_notice SET external_id = $4, account = $5, note_id = $7, said = $8,
			comment = CASE WHEN external_id = $4 AND account = $5 THEN comment ELSE 0 END, seen = CASE WHEN external_id = $4 AND account = $5 THEN seen ELSE '' END,
			state = CASE WHEN state_edition > $11 THEN state ELSE $6 END, state_edition = CASE WHEN state_edition > $11 THEN state_edition ELSE $9 END,
			status = CASE WHEN state_edition > $11 OR $10 = '' AND external_id = $4 AND account = $5 THEN status ELSE $10 END,
			told = CASE WHEN $12::BOOL THEN $13 ELSE told END, trouble = CASE WHEN $12::BOOL THEN '' ELSE trouble END,
			job_id = CASE WHEN $12::BOOL AND edition <= $13 THEN NULL ELSE job_id END
		WHERE org_id = $1 AND connection_id = $2 AND item_id = $3 RETURNING `+columns,
		tx.Org, n.Connection, n.Item, k.External, k.Account, k.State, k.Note, k.Said, k.StateEdition, k.Status, n.Known.StateEdition, told, n.Edition)
}

// Note notes what is known of something that is not told yet, where telling it got a part of the way.
func Note(ctx context.Context, tx *tenant.Tx, n Notice, k Known) error {
	if k == n.Known {
		return nil
	}
	_, err := n.settle(ctx, tx, k, false)
	if errdefs.IsNotFound(err, Noun) {
		return nil // the visitor is forgotten, or the connection is gone
	}
	return err
}

// Settle notes that an edition was told, and what is known there since. It answers false where there is more to tell.
func Settle(ctx context.Context, tx *tenant.Tx, n Notice, k Known) (bool, error) {
	now, err := n.settle(ctx, tx, k, true)
	if errdefs.IsNotFound(err, Noun) {
		return true, nil
	}
	return err == nil && now.Edition <= now.Told, err
}

// Stop notes why an edition is not told. It answers false where there is a later one, which may be.
func Stop(ctx context.Context, tx *tenant.Tx, n Notice, why string) (bool, error) {
	tx.Touch("inbox_notice", n.Connection, n.Item)
	now, err := tenant.OneIn(ctx, tx, scan, Noun.NotFound(n.Key), `
		UPDATE inbox_notice SET trouble = CASE WHEN edition > $4 THEN '' ELSE $5 END, job_id = CASE WHEN edition > $4 THEN job_id END
		WHERE org_id = $1 AND connection_id = $2 AND item_id = $3 RETURNING `+columns, tx.Org, n.Connection, n.Item, n.Edition, why)
	if errdefs.IsNotFound(err, Noun) {
		return true, nil
	}
	return err == nil && now.Edition <= n.Edition, err
}

// Forget lets go what was told of an item, and what is to be: its visitor is forgotten.
func Forget(ctx context.Context, tx *tenant.Tx, of id.InboxItem) error {
	return forget(ctx, tx, `DELETE FROM inbox_notice WHERE org_id = $1 AND item_id = $2`, of)
}

// ForgetConnection lets go what a deleted connection was told, as much as one commit should have; the rest goes
// with Sweep. It rides inbox_notice_pkey.
func ForgetConnection(ctx context.Context, tx *tenant.Tx, c id.Connection) error {
	return forget(ctx, tx, `
		DELETE FROM inbox_notice WHERE org_id = $1 AND connection_id = $2 AND item_id IN (
			SELECT item_id FROM inbox_notice WHERE org_id = $1 AND connection_id = $2 LIMIT $3)`, c, mostForgotten)
}

func forget(ctx context.Context, tx *tenant.Tx, sql string, args ...any) error {
	gone, err := tenant.AllIn(ctx, tx, pgx.RowToStructByPos[Key], sql+` RETURNING connection_id, item_id`, append([]any{tx.Org}, args...)...)
	for _, k := range gone {
		tx.Touch("inbox_notice", k.Connection, k.Item)
	}
	return err
}
