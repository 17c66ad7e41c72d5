package tenant

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/database"
	"visavis.dev/pkg/store/hint"
)

// Table is a table with rows of organizations.
type Table struct {
	Name string
	// Key is the primary key after org_id.
	Key []string
	// Owner is the package below pkg, or the group of packages, whose statements alone insert
	// and update rows, and delete them but for Cascades. Whoever else wants a change asks the
	// owner's functions. This package removes the rows of an organization that is deleted, and
	// operations/move copies those of one that moves.
	Owner string
	// Cascades are packages that may not import the owner and delete its rows along with those
	// that they are of.
	Cascades []string
	// Stays says that the rows are of one shard's own running: an organization that moves
	// leaves them behind.
	Stays bool
	// Hints are what workers are told once a row was written (InTx): that there may be
	// something for them.
	Hints hint.Kinds
}

// Tables are all that have rows of organizations, but for org_fence, in an order in
// which their rows can be deleted. What processes are asked to do with live sessions
// goes last: they carry it out meanwhile.
var Tables = []Table{
	{Name: "activity", Owner: "store/activity", Key: []string{"id"}},
	{Name: "assignment_count", Owner: "learning/assignment", Key: []string{"assignment_id"}},
	{Name: "assignment_person", Owner: "learning/assignment", Key: []string{"assignment_id", "person_id"}},
	{Name: "assignment_reminder", Owner: "learning/assignment", Key: []string{"assignment_id", "person_id", "day"}},
	{Name: "assignment", Owner: "learning/assignment", Key: []string{"id"}},
	{Name: "attempt_grant", Owner: "learning/assignment", Key: []string{"id"}},
	{Name: "attestation", Owner: "learning/record", Key: []string{"id"}},
	{Name: "avatar_use", Owner: "personas/avatar", Key: []string{"avatar_id", "wearer_kind", "wearer_id"}},
	{Name: "avatar", Owner: "personas/avatar", Key: []string{"id"}},
	{Name: "case_link", Owner: "sessions/caselink", Key: []string{"id"}},
	{Name: "candidate_entry", Owner: "hiring/record", Key: []string{"candidate_id", "number"}},
	{Name: "candidate_words", Owner: "hiring/record", Key: []string{"candidate_id", "number"}},
	{Name: "record_leaf", Owner: "hiring/record", Key: []string{"candidate_id", "number"}},
	{Name: "record_anchor", Owner: "hiring/record", Key: []string{"number"}},
	{Name: "candidate_application", Owner: "hiring/candidate", Key: []string{"id"}},
	{Name: "candidate_link", Owner: "hiring/candidate", Key: []string{"hash"}},
	{Name: "candidate_invite", Owner: "hiring/candidate", Key: []string{"id"}},
	{Name: "human_interview", Owner: "hiring/candidate", Key: []string{"id"}},
	{Name: "candidate_request", Owner: "hiring/candidate", Key: []string{"id"}},
	{Name: "demographic_answer", Owner: "hiring/demographics", Key: []string{"id"}},
	{Name: "demographic_role", Owner: "hiring/demographics", Key: []string{"role_id"}},
	{Name: "bias_publication", Owner: "hiring/demographics", Key: []string{"portal_id"}},
	{Name: "bias_cohort", Owner: "hiring/demographics", Key: []string{"id"}},
	{Name: "candidate", Owner: "hiring/candidate", Key: []string{"id"}},
	{Name: "certificate", Owner: "learning/certificate", Key: []string{"id"}},
	{Name: "completion", Owner: "learning/record", Key: []string{"id"}},
	{Name: "told_class", Owner: "learning/cohort", Key: []string{"subject_id", "kind"}},
	{Name: "told_figure", Owner: "learning/cohort", Key: []string{"subject_id", "selection", "kind"}},
	{Name: "told_ledger", Owner: "learning/cohort", Key: []string{"subject_id"}},
	{Name: "connection_call", Owner: "personas/connection", Key: []string{"connection_id", "id"}},
	{Name: "connection_link", Owner: "personas/connection", Key: []string{"connection_id", "item_id"}},
	{Name: "connection_token", Owner: "personas/connection", Key: []string{"connection_id"}},
	{Name: "connection_use", Owner: "personas/connection", Key: []string{"connection_id", "user_kind", "user_id"}},
	{Name: "connection", Owner: "personas/connection", Key: []string{"id"}},
	{Name: "dashboard_count", Owner: "figures/dashboard", Key: []string{"area", "portal_id", "unit_id", "at"}},
	{Name: "dashboard_cursor", Owner: "figures/dashboard", Key: []string{"source"}},
	{Name: "dashboard_fact", Owner: "figures/dashboard", Key: []string{"kind", "id"}},
	{Name: "dashboard_waiting", Owner: "figures/dashboard", Key: []string{"measure", "portal_id", "unit_id", "person_id"}},
	{Name: "dedicated_delivery", Owner: "eventing"},
	{Name: "delivery", Owner: "eventing", Key: []string{"id"}, Hints: hint.Deliveries},
	{Name: "contest", Owner: "learning/result", Key: []string{"id"}},
	{Name: "directory_change", Owner: "store/apikey", Key: []string{"id"}},
	{Name: "duo", Owner: "personas/duo", Key: []string{"id"}},
	{Name: "escalation", Owner: "sessions/escalation", Key: []string{"id"}},
	{Name: "event", Owner: "eventing", Key: []string{"id"}},
	{Name: "event_staged", Owner: "eventing", Key: []string{"id"}, Hints: hint.Deliveries},
	{Name: "event_turn", Owner: "store/organization"},
	{Name: "face", Owner: "personas/face", Key: []string{"avatar_id"}},
	{Name: "file", Owner: "store/file", Key: []string{"id"}},
	{Name: "hiring_question_set", Owner: "hiring/question", Key: []string{"role_id", "version"}},
	{Name: "hiring_role_count", Owner: "hiring/role", Key: []string{"role_id"}},
	{Name: "hiring_role", Owner: "hiring/role", Key: []string{"id"}},
	{Name: "idempotency_record", Owner: "store/idempotency", Key: []string{"key_id", "method", "path", "client_key"}},
	{Name: "schedule", Owner: "sessions/slot", Key: []string{"id"}},
	{Name: "slot_calendar", Owner: "sessions/slot", Key: []string{"schedule_id"}},
	{Name: "slot_event", Owner: "sessions/slot", Key: []string{"reserved_by"}},
	{Name: "slot_holder", Owner: "sessions/slot", Key: []string{"holder_id"}},
	{Name: "slot_reservation", Owner: "sessions/slot", Key: []string{"holder_id", "reserved_by"}},
	{Name: "inbox_rule_run", Owner: "sessions/inbox", Key: []string{"item_id", "rule_id", "occasion"}},
	{Name: "inbox_rule", Owner: "sessions/inbox", Key: []string{"id"}},
	{Name: "inbox_member", Owner: "sessions/inbox", Key: []string{"person_id"}},
	{Name: "inbox_note", Owner: "sessions/inbox", Key: []string{"item_id", "id"}},
	{Name: "inbox_notice", Owner: "sessions/notice", Key: []string{"connection_id", "item_id"}},
	{Name: "inbox_term", Owner: "sessions/inbox", Key: []string{"term", "item_id"}},
	{Name: "inbox_item", Owner: "sessions/inbox", Key: []string{"id"}},
	{Name: "issuer_key", Owner: "learning/certificate", Key: []string{"id"}},
	{Name: "job", Owner: "eventing/job", Key: []string{"id"}, Hints: hint.Jobs},
	{Name: "job_note", Owner: "eventing/job", Key: []string{"job_id", "number"}},
	{Name: "knowledge_chunk", Owner: "personas/knowledge", Key: []string{"document_id", "generation", "position"}},
	{Name: "knowledge_document", Owner: "personas/knowledge", Key: []string{"id"}},
	{Name: "knowledge_gap", Owner: "personas/knowledge", Key: []string{"id"}},
	{Name: "knowledge_index", Owner: "personas/knowledge", Key: []string{"document_id", "generation", "part"}},
	{Name: "knowledge_vector", Owner: "personas/knowledge", Key: []string{"document_id", "generation", "part"}},
	{Name: "knowledge_litter", Owner: "personas/knowledge", Key: []string{"document_id", "generation"}},
	// The release before reads and writes it (00023_knowledge_index.sql).
	{Name: "knowledge_terms", Owner: "personas/knowledge", Key: []string{"document_id"}},
	{Name: "knowledge_question", Owner: "personas/knowledge", Key: []string{"gap_id", "id"}},
	{Name: "knowledge_use", Owner: "personas/knowledge", Key: []string{"base_id", "user_kind", "user_id"}},
	{Name: "knowledge_base", Owner: "personas/knowledge", Key: []string{"id"}},
	{Name: "mail_count", Owner: "portals/mailer", Key: []string{"holder", "hour"}},
	{Name: "mail_link", Owner: "portals/mailer", Cascades: []string{"portals/person"}, Key: []string{"hash"}},
	{Name: "mastery", Owner: "learning/mastery", Key: []string{"person_id", "subject_id", "objective_key"}},
	{Name: "membership", Owner: "portals/person", Key: []string{"id"}},
	{Name: "memory", Owner: "visits/memory", Cascades: []string{"personas/persona"}, Key: []string{"persona_id", "person_id"}},
	{Name: "minute_debit", Owner: "eventing/usage", Key: []string{"session_id", "block", "grant_id"}},
	{Name: "minute_grant", Owner: "eventing/usage", Key: []string{"id"}},
	{Name: "move_dirty", Owner: "operations/move", Key: []string{"table_name", "pk"}, Stays: true},
	{Name: "org_counter", Owner: "store/tenant", Key: []string{"name"}},
	{Name: "person_identity", Owner: "portals/person", Key: []string{"connection_id", "issuer", "subject"}},
	{Name: "person_term", Owner: "portals/person", Key: []string{"term", "person_id"}},
	{Name: "person", Owner: "portals/person", Key: []string{"id"}},
	{Name: "persona_test", Owner: "sessions/rehearsal", Cascades: []string{"personas/persona"}, Key: []string{"id"}},
	{Name: "persona_version", Owner: "personas/persona", Key: []string{"persona_id", "version"}},
	{Name: "persona", Owner: "personas/persona", Key: []string{"id"}},
	{Name: "portal_door", Owner: "portals/door", Key: []string{"portal_id", "key"}},
	{Name: "portal_picture", Owner: "portals/portal/artwork", Key: []string{"portal_id", "hash"}},
	{Name: "portal_version", Owner: "portals/portal", Key: []string{"portal_id", "version"}},
	{Name: "portal_visit", Owner: "visits/signin", Cascades: []string{"portals/person"}, Key: []string{"hash"}},
	{Name: "portal", Owner: "portals/portal", Key: []string{"id"}},
	{Name: "rate_window", Owner: "store/limits", Key: []string{"holder", "class"}, Stays: true},
	{Name: "record_statement", Owner: "learning/statement", Key: []string{"connection_id", "id"}},
	{Name: "recording_piece", Owner: "sessions/recording", Key: []string{"session_id", "at_ms"}},
	{Name: "recording", Owner: "sessions/recording", Key: []string{"session_id"}},
	{Name: "report", Owner: "sessions/printed", Key: []string{"id"}},
	{Name: "course", Owner: "learning/course", Key: []string{"id"}},
	{Name: "course_erased", Owner: "learning/course", Key: []string{"connection_id", "digest"}},
	{Name: "course_member", Owner: "learning/course", Key: []string{"course_id", "person_id"}},
	{Name: "resource_link", Owner: "learning/resourcelink", Key: []string{"person_id", "subject_id", "id"}},
	{Name: "result", Owner: "learning/result", Key: []string{"id"}},
	{Name: "review", Owner: "learning/result", Key: []string{"id"}},
	{Name: "screening", Owner: "hiring/screening", Key: []string{"id"}},
	{Name: "session_staff", Owner: "sessions/session", Key: []string{"session_id", "id"}},
	{Name: "session_token", Owner: "sessions/session", Key: []string{"hash"}},
	{Name: "session", Owner: "sessions/session", Key: []string{"id"}},
	{Name: "setting", Owner: "store/setting", Key: []string{"scope_kind", "scope_id", "key"}},
	{Name: "setup_plan", Owner: "portals/setup", Key: []string{"id"}},
	{Name: "signing_key", Owner: "visits/signin", Key: []string{"id"}},
	{Name: "subject_version", Owner: "portals/subject", Key: []string{"subject_id", "version"}},
	{Name: "subject", Owner: "portals/subject", Key: []string{"id"}},
	{Name: "turn", Owner: "sessions/session", Key: []string{"session_id", "ordinal"}},
	{Name: "unit", Owner: "portals/unit", Key: []string{"id"}},
	{Name: "usage_block", Owner: "eventing/usage", Key: []string{"session_id", "block"}},
	{Name: "usage_month", Owner: "eventing/usage", Key: []string{"month"}},
	{Name: "usage_threshold", Owner: "eventing/usage", Key: []string{"month", "kind", "percent"}},
	{Name: "used_token", Owner: "visits/signin", Key: []string{"id"}},
	{Name: "voice_use", Owner: "personas/voice", Key: []string{"voice_id", "user_kind", "user_id"}},
	{Name: "voice", Owner: "personas/voice", Key: []string{"id"}},
	{Name: "consent", Owner: "store/consent", Key: []string{"id"}}, // which avatars and voices refer to
	{Name: "webhook", Owner: "eventing", Key: []string{"id"}},
	{Name: "widget_visitor", Owner: "portals/widget", Key: []string{"widget_id", "day", "visitor"}},
	{Name: "widget", Owner: "portals/widget", Key: []string{"id"}},
	{Name: "session_command", Owner: "sessions/session", Key: []string{"session_id", "id"}},
}

// hintsOf are the Hints of tables that have any.
var hintsOf = func() map[string]hint.Kinds {
	found := map[string]hint.Kinds{}
	for _, t := range Tables {
		if t.Hints != 0 {
			found[t.Name] = t.Hints
		}
	}
	return found
}()

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
