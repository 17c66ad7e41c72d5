package tenant

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/database"
)

// Table is a table with rows of organizations.
type Table struct {
	Name string
	// Key is the primary key after org_id.
	Key []string
	// Stays says that the rows are of one shard's own running: an organization that moves
	// leaves them behind.
	Stays bool
}

// Tables are all that have rows of organizations, but for org_fence, in an order in
// which their rows can be deleted. What processes are asked to do with live sessions
// goes last: they carry it out meanwhile.
var Tables = []Table{
	{Name: "activity", Key: []string{"id"}},
	{Name: "avatar_use", Key: []string{"avatar_id", "wearer_kind", "wearer_id"}},
	{Name: "avatar", Key: []string{"id"}},
	{Name: "case_link", Key: []string{"id"}},
	{Name: "connection_call", Key: []string{"connection_id", "id"}},
	{Name: "connection_use", Key: []string{"connection_id", "user_kind", "user_id"}},
	{Name: "connection", Key: []string{"id"}},
	{Name: "dedicated_delivery"},
	{Name: "delivery", Key: []string{"id"}},
	{Name: "directory_change", Key: []string{"id"}},
	{Name: "duo", Key: []string{"id"}},
	{Name: "escalation", Key: []string{"id"}},
	{Name: "event", Key: []string{"id"}},
	{Name: "event_turn"},
	{Name: "face", Key: []string{"avatar_id"}},
	{Name: "file", Key: []string{"id"}},
	{Name: "idempotency_record", Key: []string{"key_id", "method", "path", "client_key"}},
	{Name: "job", Key: []string{"id"}},
	{Name: "job_note", Key: []string{"job_id", "number"}},
	{Name: "knowledge_chunk", Key: []string{"document_id", "generation", "position"}},
	{Name: "knowledge_document", Key: []string{"id"}},
	{Name: "knowledge_gap", Key: []string{"id"}},
	{Name: "knowledge_index", Key: []string{"document_id", "generation", "part"}},
	{Name: "knowledge_litter", Key: []string{"document_id", "generation"}},
	// The release before reads and writes it (00023_knowledge_index.sql).
	{Name: "knowledge_terms", Key: []string{"document_id"}},
	{Name: "knowledge_question", Key: []string{"gap_id", "id"}},
	{Name: "knowledge_use", Key: []string{"base_id", "user_kind", "user_id"}},
	{Name: "knowledge_base", Key: []string{"id"}},
	{Name: "mail_count", Key: []string{"holder", "hour"}},
	{Name: "mail_link", Key: []string{"hash"}},
	{Name: "membership", Key: []string{"id"}},
	{Name: "memory", Key: []string{"persona_id", "person_id"}},
	{Name: "minute_debit", Key: []string{"session_id", "block", "grant_id"}},
	{Name: "minute_grant", Key: []string{"id"}},
	{Name: "move_dirty", Key: []string{"table_name", "pk"}, Stays: true},
	{Name: "org_counter", Key: []string{"name"}},
	{Name: "person_identity", Key: []string{"connection_id", "issuer", "subject"}},
	{Name: "person_term", Key: []string{"term", "person_id"}},
	{Name: "person", Key: []string{"id"}},
	{Name: "persona_test", Key: []string{"id"}},
	{Name: "persona_version", Key: []string{"persona_id", "version"}},
	{Name: "persona", Key: []string{"id"}},
	{Name: "portal_door", Key: []string{"portal_id", "key"}},
	{Name: "portal_picture", Key: []string{"portal_id", "hash"}},
	{Name: "portal_version", Key: []string{"portal_id", "version"}},
	{Name: "portal_visit", Key: []string{"hash"}},
	{Name: "portal", Key: []string{"id"}},
	{Name: "rate_window", Key: []string{"holder", "class"}, Stays: true},
	{Name: "session_staff", Key: []string{"session_id", "id"}},
	{Name: "session_token", Key: []string{"hash"}},
	{Name: "session", Key: []string{"id"}},
	{Name: "setting", Key: []string{"scope_kind", "scope_id", "key"}},
	{Name: "setup_plan", Key: []string{"id"}},
	{Name: "signing_key", Key: []string{"id"}},
	{Name: "subject_version", Key: []string{"subject_id", "version"}},
	{Name: "subject", Key: []string{"id"}},
	{Name: "turn", Key: []string{"session_id", "ordinal"}},
	{Name: "unit", Key: []string{"id"}},
	{Name: "usage_block", Key: []string{"session_id", "block"}},
	{Name: "usage_month", Key: []string{"month"}},
	{Name: "usage_threshold", Key: []string{"month", "kind", "percent"}},
	{Name: "used_token", Key: []string{"id"}},
	{Name: "voice_use", Key: []string{"voice_id", "user_kind", "user_id"}},
	{Name: "voice", Key: []string{"id"}},
	{Name: "consent", Key: []string{"id"}}, // which avatars and voices refer to
	{Name: "webhook", Key: []string{"id"}},
	{Name: "widget_visitor", Key: []string{"widget_id", "day", "visitor"}},
	{Name: "widget", Key: []string{"id"}},
	{Name: "session_command", Key: []string{"session_id", "id"}},
}

// IsOpen says whether an organization can be used on a shard.
func (t *Tenants) IsOpen(ctx context.Context, shard string, org id.Org) (open bool, err error) {
	db, err := t.Shard(ctx, shard)
	if err != nil {
		return false, err
	}
	err = db.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM org_fence WHERE org_id = $1 AND state = 'open')`, org).Scan(&open)
	return open, err
}

// Shut closes an organization on its shard for good: from its return on nothing of
// it is read or written any more but by Remove. It waits for the transactions that
// passed the fence before, and may be repeated. An organization that the shard does
// not know is closed. The error is one of Unavailable's while it is being moved.
func (t *Tenants) Shut(ctx context.Context, shard string, org id.Org) error {
	db, err := t.Shard(ctx, shard)
	if err != nil {
		return err
	}
	o := database.TxOptions{Idempotent: true, Opening: func(e database.Engine, b *pgx.Batch) {
		if e == database.Postgres {
			b.Queue(`SELECT pg_advisory_xact_lock($1)`, lockKey(org))
		}
	}}
	return db.InTx(ctx, o, func(ctx context.Context, tx database.Tx) error {
		var moving int
		if err := tx.QueryRow(ctx, `
			SELECT count(*) FROM org_fence WHERE org_id = $1 AND state NOT IN ('open', 'deleting')`, org).Scan(&moving); err != nil {
			return err
		}
		if moving > 0 {
			return errFenced
		}
		_, err := tx.Exec(ctx, `UPDATE org_fence SET state = 'deleting' WHERE org_id = $1`, org)
		return err
	})
}

// Remove deletes at most limit rows of a table, of an organization that is shut, and
// answers how many there were. It rides the table's primary key.
func (t *Tenants) Remove(ctx context.Context, shard string, org id.Org, table Table, limit int) (int, error) {
	return t.remove(ctx, shard, org, table, limit, Deleting)
}

// RemoveLeft is Remove of what an organization that moved left behind.
func (t *Tenants) RemoveLeft(ctx context.Context, shard string, org id.Org, table Table, limit int) (int, error) {
	return t.remove(ctx, shard, org, table, limit, Moved)
}

func (t *Tenants) remove(ctx context.Context, shard string, org id.Org, table Table, limit int, in State) (int, error) {
	db, err := t.Shard(ctx, shard)
	if err != nil {
		return 0, err
	}
	key := strings.Join(append([]string{"org_id"}, table.Key...), ", ")
	tag, err := db.Exec(ctx, `
		DELETE FROM `+table.Name+` WHERE org_id = $1 AND (`+key+`) IN (
			SELECT `+key+` FROM `+table.Name+` WHERE org_id = $1 LIMIT $2)
		AND NOT EXISTS (SELECT 1 FROM org_fence f WHERE f.org_id = $1 AND f.state <> $3)`, org, limit, in)
	if err != nil {
		return 0, fmt.Errorf("delete rows of %s: %w", table.Name, err)
	}
	return int(tag.RowsAffected()), nil
}

// ForgetOrganization deletes the last that a shard knows of an organization that is shut.
func (t *Tenants) ForgetOrganization(ctx context.Context, shard string, org id.Org) error {
	db, err := t.Shard(ctx, shard)
	if err != nil {
		return err
	}
	_, err = db.Exec(ctx, `DELETE FROM org_fence WHERE org_id = $1 AND state = 'deleting'`, org)
	return err
}
