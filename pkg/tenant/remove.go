package tenant

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/database"
	"visavis.dev/pkg/id"
)

// Table is a table with rows of organisations.
type Table struct {
	Name string
	// Key is the primary key after org_id.
	Key []string
}

// Tables are all that have rows of organisations, but for org_fence, in an order in
// which their rows can be deleted. What processes are asked to do with live sessions
// goes last: they carry it out meanwhile.
var Tables = []Table{
	{"activity", []string{"id"}},
	{"avatar_use", []string{"avatar_id", "wearer_kind", "wearer_id"}},
	{"avatar", []string{"id"}},
	{"case_link", []string{"id"}},
	{"connection_call", []string{"connection_id", "id"}},
	{"connection_use", []string{"connection_id", "user_kind", "user_id"}},
	{"connection", []string{"id"}},
	{"dedicated_delivery", nil},
	{"delivery", []string{"id"}},
	{"directory_change", []string{"id"}},
	{"duo", []string{"id"}},
	{"escalation", []string{"id"}},
	{"event", []string{"id"}},
	{"face", []string{"avatar_id"}},
	{"file", []string{"id"}},
	{"idempotency_record", []string{"key_id", "method", "path", "client_key"}},
	{"job", []string{"id"}},
	{"job_note", []string{"job_id", "number"}},
	{"knowledge_chunk", []string{"document_id", "generation", "position"}},
	{"knowledge_document", []string{"id"}},
	{"knowledge_gap", []string{"id"}},
	{"knowledge_litter", []string{"document_id", "generation"}},
	{"knowledge_question", []string{"gap_id", "id"}},
	{"knowledge_terms", []string{"document_id"}},
	{"knowledge_use", []string{"base_id", "user_kind", "user_id"}},
	{"knowledge_base", []string{"id"}},
	{"mail_count", []string{"holder", "hour"}},
	{"mail_link", []string{"hash"}},
	{"membership", []string{"id"}},
	{"memory", []string{"persona_id", "person_id"}},
	{"minute_debit", []string{"session_id", "block", "grant_id"}},
	{"minute_grant", []string{"id"}},
	{"move_dirty", []string{"table_name", "pk"}},
	{"org_counter", []string{"name"}},
	{"person_identity", []string{"connection_id", "issuer", "subject"}},
	{"person_term", []string{"term", "person_id"}},
	{"person", []string{"id"}},
	{"persona_test", []string{"id"}},
	{"persona_version", []string{"persona_id", "version"}},
	{"persona", []string{"id"}},
	{"portal_door", []string{"portal_id", "key"}},
	{"portal_picture", []string{"portal_id", "hash"}},
	{"portal_version", []string{"portal_id", "version"}},
	{"portal_visit", []string{"hash"}},
	{"portal", []string{"id"}},
	{"rate_window", []string{"holder", "class"}},
	{"session_staff", []string{"session_id", "id"}},
	{"session_token", []string{"hash"}},
	{"session", []string{"id"}},
	{"setting", []string{"scope_kind", "scope_id", "key"}},
	{"setup_plan", []string{"id"}},
	{"signing_key", []string{"id"}},
	{"subject_version", []string{"subject_id", "version"}},
	{"subject", []string{"id"}},
	{"turn", []string{"session_id", "ordinal"}},
	{"unit", []string{"id"}},
	{"usage_block", []string{"session_id", "block"}},
	{"usage_month", []string{"month"}},
	{"usage_threshold", []string{"month", "kind", "percent"}},
	{"used_token", []string{"id"}},
	{"voice_use", []string{"voice_id", "user_kind", "user_id"}},
	{"voice", []string{"id"}},
	{"consent", []string{"id"}}, // which avatars and voices refer to
	{"webhook", []string{"id"}},
	{"widget_visitor", []string{"widget_id", "day", "visitor"}},
	{"widget", []string{"id"}},
	{"session_command", []string{"session_id", "id"}},
}

// Open says whether an organisation can be used on a shard.
func (t *Tenants) Open(ctx context.Context, shard string, org id.Org) (open bool, err error) {
	db, err := t.Shard(ctx, shard)
	if err != nil {
		return false, err
	}
	err = db.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM org_fence WHERE org_id = $1 AND state = 'open')`, org).Scan(&open)
	return open, err
}

// Shut closes an organisation on its shard for good: from its return on nothing of
// it is read or written any more but by Remove. It waits for the transactions that
// passed the fence before, and may be repeated. An organisation that the shard does
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

// Remove deletes at most limit rows of a table, of an organisation that is shut, and
// answers how many there were. It rides the table's primary key.
func (t *Tenants) Remove(ctx context.Context, shard string, org id.Org, table Table, limit int) (int, error) {
	db, err := t.Shard(ctx, shard)
	if err != nil {
		return 0, err
	}
	key := strings.Join(append([]string{"org_id"}, table.Key...), ", ")
	tag, err := db.Exec(ctx, `
		DELETE FROM `+table.Name+` WHERE org_id = $1 AND (`+key+`) IN (
			SELECT `+key+` FROM `+table.Name+` WHERE org_id = $1 LIMIT $2)
		AND NOT EXISTS (SELECT 1 FROM org_fence f WHERE f.org_id = $1 AND f.state <> 'deleting')`, org, limit)
	if err != nil {
		return 0, fmt.Errorf("delete rows of %s: %w", table.Name, err)
	}
	return int(tag.RowsAffected()), nil
}

// ForgetOrganization deletes the last that a shard knows of an organisation that is shut.
func (t *Tenants) ForgetOrganization(ctx context.Context, shard string, org id.Org) error {
	db, err := t.Shard(ctx, shard)
	if err != nil {
		return err
	}
	_, err = db.Exec(ctx, `DELETE FROM org_fence WHERE org_id = $1 AND state = 'deleting'`, org)
	return err
}
