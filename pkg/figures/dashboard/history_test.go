package dashboard_test

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/figures/dashboard"
	"visavis.dev/pkg/store/tenant"
)

// history is what happened in an organization: the log, and the rows that it is about.
type history struct {
	t       require.TestingT
	tenants *tenant.Tenants
	org     id.Org
	now     time.Time
	// worth is what the result of an event was worth when it happened.
	worth map[id.Event]worth
}

type worth struct{ shown, passed bool }

// start is when histories begin.
var start = time.Date(2026, 3, 28, 20, 0, 0, 0, time.UTC) // before clocks are put forward in Europe

// tables are all that a history has rows in.
var tables = []string{
	"dashboard_count", "dashboard_cursor", "dashboard_fact", "dashboard_waiting", "event", "event_staged", "delivery", "turn", "session", "result",
	"membership", "person", "candidate", "hiring_role",
}

func newHistory(t require.TestingT, tenants *tenant.Tenants, org id.Org) *history {
	h := &history{t: t, tenants: tenants, org: org, now: start, worth: map[id.Event]worth{}}
	for _, table := range tables {
		h.exec(`DELETE FROM ` + table + ` WHERE org_id = $1`)
	}
	return h
}

// exec changes a row behind the product's back.
func (h *history) exec(sql string, args ...any) {
	require.NoError(h.t, h.tenants.InTx(context.Background(), h.org, func(ctx context.Context, tx *tenant.Tx) error {
		_, err := tx.Exec(ctx, sql, append([]any{h.org}, args...)...)
		return err
	}), sql)
}

// tell emits an event.
func (h *history) tell(kind event.Type, fields map[string]any) event.Recorded {
	var recorded []event.Recorded
	require.NoError(h.t, h.tenants.InTx(context.Background(), h.org, func(ctx context.Context, tx *tenant.Tx) (err error) {
		recorded, err = event.Record(ctx, tx, event.Draft{Type: kind, At: h.now, Fields: fields})
		return err
	}))
	return recorded[0]
}

// session enters a session.
func (h *history) session(s id.Session, p id.Portal, who id.Person, m id.Membership, sandbox bool) {
	h.exec(`
		INSERT INTO session (org_id, id, state, kind, source, persona_id, persona_version, avatar_id, voice_id, portal_id, person_id, membership_id,
			metadata, language, engine, transport, channel, sandbox, brief, allowed_origins, max_duration_s, idle_timeout_s, created_at, connect_by,
			turn_count, languages_heard, collected, on_hold, flagged, slot, epoch, reconnects)
		VALUES ($1, $2, 'ended', 'conversation', 'portal', $2, 1, $2, $2, $3, $4, $5, '{}', 'en', 'premier', 'websocket', 'voice', $6, '{}', '{}', 60, 60,
			$7, $7, 0, '{}', '{}', false, false, false, 1, 0)`, s, p, who, m, sandbox, h.now)
}

// turn enters a turn of the avatar's.
func (h *history) turn(s id.Session, ordinal int, ms int64, grounded *bool, interrupted bool) {
	h.exec(`
		INSERT INTO turn (org_id, session_id, ordinal, id, speaker, name, text, spoken, language, origin, started_at, interrupted, redacted, sources,
			grounded, tool_calls, timing)
		VALUES ($1, $2, $3, $4, 'avatar', '', '', '', 'en', 'voice', $5, $6, true, '[]', $7, '[]', $8)`,
		s, ordinal, id.NewTurn(), h.now, interrupted, grounded, map[string]any{"responseMs": ms})
}

// member enters a place.
func (h *history) member(m id.Membership, who id.Person, p id.Portal, u id.Unit) {
	h.exec(`
		INSERT INTO membership (org_id, id, person_id, portal_id, unit_id, role, enabled, metadata, edition, created_at, updated_at, told_on)
		VALUES ($1, $2, $3, $4, $5, 'learner', true, '{}', 1, $6, $6, true)`, m, who, p, u, h.now)
}

// result enters a result, or changes it, and tells of it.
func (h *history) result(r id.Result, who id.Person, p id.Portal, u id.Unit, w worth) {
	state := "awaiting_review"
	if w.shown {
		state = "released"
	}
	h.exec(`
		INSERT INTO result (org_id, id, state, kind, subject_id, portal_id, person_id, membership_id, unit_id, session_id, attempt, rubric_version,
			language, asked, started_at, max_score, passed, criteria, needs_review, on_hold, edition, created_at, updated_at)
		VALUES ($1, $2, $3, 'assessment', $2, $4, $5, $2, $6, $2, 1, 1, 'en', '[]', $7, 1, $8, '[]', false, false, 1, $7, $7)
		ON CONFLICT (org_id, id) DO UPDATE SET state = excluded.state, passed = excluded.passed`, r, state, p, who, u, h.now, w.passed)
	fields := map[string]any{"resultId": r, "portalId": p, "personId": who}
	if !u.IsZero() {
		fields["unitId"] = u
	}
	h.worth[h.tell(event.ScoreRecorded, fields).ID] = w
}

// candidate enters a candidate of a role.
func (h *history) candidate(c id.Candidate, role uuid.UUID) {
	h.exec(`
		INSERT INTO candidate (org_id, id, role_id, invite_id, name, language, metadata, state, stage, consent, attempts, extra, on_hold, retain_until,
			record_length, record_head, sandbox, edition, created_at, updated_at)
		VALUES ($1, $2, $3, $2, '', 'en', '{}', 'invited', 'screening', '{}', 0, 0, false, $4, 0, '', false, 1, $4, $4)`, c, role, h.now)
}

// role enters a role.
func (h *history) role(r uuid.UUID, p id.Portal) {
	h.exec(`
		INSERT INTO hiring_role (org_id, id, title, portal_id, subject_id, state, definition, questions, metadata, created_by, edition, created_at, updated_at)
		VALUES ($1, $2, '', $3, $2, 'open', '{}', 0, '{}', '', 1, $4, $4)`, r, p, h.now)
}

// count counts to the end of the log.
func (h *history) count() {
	for {
		n, err := dashboard.Advance(context.Background(), h.tenants, h.org)
		require.NoError(h.t, err)
		if n < dashboard.StepEvents {
			return
		}
	}
}

// log is the log, oldest first.
func (h *history) log() []event.Event {
	all, err := event.List(context.Background(), h.tenants, h.org, event.Filter{Ascending: true}, event.Position{}, 100_000)
	require.NoError(h.t, err)
	return all
}

// tiles are the figures of a dashboard by key, and the points of their series as "key@part".
func (h *history) tiles(k dashboard.Key, q dashboard.Query) map[string]*float64 {
	d, err := dashboard.Find(k)
	require.NoError(h.t, err)
	f, err := dashboard.Read(context.Background(), h.tenants, h.org, d, q, h.now)
	require.NoError(h.t, err)
	all := map[string]*float64{}
	for _, tile := range f.Tiles {
		all[tile.Key] = tile.Value
		if q.Compare {
			all["previous "+tile.Key] = tile.Previous
		}
	}
	for _, s := range f.Series {
		for i, p := range s.Points {
			all[fmt.Sprint(s.Key, "@", i)] = p.Value
		}
	}
	return all
}
