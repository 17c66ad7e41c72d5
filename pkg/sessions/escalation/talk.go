package escalation

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/store/tenant"
)

// Begin notes that the customer talks with the avatar.
func Begin(ctx context.Context, tx *tenant.Tx, which id.Escalation, in id.Session, now time.Time) error {
	tx.Touch("escalation", which)
	_, err := tx.Exec(ctx, `
		UPDATE escalation SET state = 'live', session_id = $3, started_at = $4
		WHERE org_id = $1 AND id = $2 AND state = 'waiting'`, tx.Org, which, in, now)
	return err
}

// End is how the conversation of an escalation ended.
type End struct {
	Session id.Session
	// Outcome is the session's; nil for none.
	Outcome   *string
	DurationS int64
	// Left is what it left in the inbox; zero for nothing.
	Left id.InboxItem
	At   time.Time
}

// Complete ends an escalation with its conversation, and tells of that. Another
// conversation than its own changes nothing.
func Complete(ctx context.Context, tx *tenant.Tx, which id.Escalation, e End) error {
	tx.Touch("escalation", which)
	outcome := outcomeOf(e.Outcome)
	ended, err := tenant.OneIn(ctx, tx, scan, Noun.NotFound(which), `
		UPDATE escalation SET state = 'completed', outcome = $4, completed_at = $5
		WHERE org_id = $1 AND id = $2 AND session_id = $3 AND state = 'live' RETURNING `+columns, tx.Org, which, e.Session, outcome, e.At)
	if errdefs.IsNotFound(err, Noun) {
		return nil
	}
	if err != nil {
		return err
	}
	fields := map[string]any{
		"escalationId": ended.ID, "portalId": ended.Portal, "sessionId": e.Session, "externalChatId": ended.ExternalChatID,
		"outcome": outcome, "resolved": outcome == resolved, "durationS": e.DurationS, "startedAt": ended.StartedAt.UTC(), "completedAt": e.At.UTC(),
	}
	if !e.Left.IsZero() {
		fields["inboxItemId"] = e.Left
	}
	event.Emit(tx, event.Draft{Type: event.EscalationCompleted, At: e.At, Session: e.Session, Fields: fields})
	return nil
}

// The outcomes.
const (
	resolved   = "resolved"
	unresolved = "unresolved"
	handoff    = "handoff"
	abandoned  = "abandoned"
)

// outcomeOf is an escalation's outcome by that of its session. A conversation that
// came to nothing leaves the matter unresolved.
func outcomeOf(session *string) string {
	if session == nil {
		return unresolved
	}
	switch *session {
	case handoff, abandoned:
		return *session
	}
	return resolved
}

// SweepBatch bounds the rows that a run looks at.
const SweepBatch = 1000

// Sweep lets escalations of a shard expire that nobody came for. It rides
// escalation_waiting.
func Sweep(ctx context.Context, t *tenant.Tenants, shard string, now time.Time) (int, error) {
	db, err := t.Shard(ctx, shard)
	if err != nil {
		return 0, err
	}
	type due struct {
		Org        id.Org
		Escalation id.Escalation
	}
	rows, err := db.Query(ctx, `
		SELECT e.org_id, e.id FROM escalation e JOIN org_fence f ON f.org_id = e.org_id AND f.state IN ('open', 'capture')
		WHERE e.state = 'waiting' AND e.expires_at <= $1 ORDER BY e.expires_at LIMIT $2`, now, SweepBatch)
	if err != nil {
		return 0, err
	}
	found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[due])
	if err != nil {
		return 0, err
	}
	for i, d := range found {
		if err := t.InTx(ctx, d.Org, func(ctx context.Context, tx *tenant.Tx) error {
			tx.Touch("escalation", d.Escalation)
			_, err := tx.Exec(ctx, `
				UPDATE escalation SET state = 'expired' WHERE org_id = $1 AND id = $2 AND state = 'waiting'`, tx.Org, d.Escalation)
			return err
		}, tenant.Idempotent(true)); err != nil {
			return i, err
		}
	}
	return len(found), nil
}
