package dashboard_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/figures/dashboard"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/store/tenant/tenanttest"
)

// Every statement of the package rides the index that it names.
func TestStatementsRideTheirIndexes(t *testing.T) {
	tenants, sent, org, _ := tenanttest.NewTraced(t)
	h := newHistory(t, tenants, org)
	fill(h)
	db, err := tenants.Shard(context.Background(), "a")
	require.NoError(t, err)
	who, session, lead := id.NewPerson(), id.NewSession(), id.InboxItem(id.NewGap())
	advance := func() error {
		h.tell(event.AssignmentCompleted, map[string]any{"portalId": id.NewPortal(), "personId": who, "membershipId": id.NewMembership()})
		h.tell(event.SessionEnded, map[string]any{"sessionId": session, "kind": "test", "language": "en", "endReason": "left"})
		h.tell(event.LeadCaptured, map[string]any{"inboxItemId": lead, "leadBand": "hot"})
		h.tell(event.ScoreRecorded, map[string]any{"resultId": id.NewResult()})
		h.tell(event.CandidateErased, map[string]any{"candidateId": id.NewCandidate()})
		_, err := dashboard.Advance(context.Background(), tenants, org)
		return err
	}
	read := func() error {
		d, _ := dashboard.Find(dashboard.Overview)
		_, err := dashboard.Read(context.Background(), tenants, org, d, dashboard.Query{Period: dashboard.Period{
			From: start.Add(time.Hour), To: start.AddDate(0, 0, 30), Granularity: dashboard.Day, Zone: time.UTC,
		}}, h.now)
		return err
	}
	deliveries := func() error {
		_, err := dashboard.AdvanceDeliveries(context.Background(), tenants, org, h.now.Add(time.Hour))
		return err
	}
	behind := func() error {
		_, err := dashboard.Count(context.Background(), tenants, "a", h.now)
		return err
	}
	undelivered := func() error {
		_, err := dashboard.CountDeliveries(context.Background(), tenants, "a", h.now.Add(time.Hour))
		return err
	}
	for _, tt := range []struct {
		text, index string
		do          func() error
	}{
		{"FROM dashboard_cursor", "dashboard_cursor_pkey", advance},
		{"FROM turn", "turn_pkey", advance},
		{"FROM session WHERE", "session_pkey", advance},
		{"FROM result r", "result_pkey", advance},
		{"FROM membership", "membership_pkey", advance},
		{"JOIN dashboard_fact", "dashboard_fact_pkey", advance},
		{"AND measure = ANY", "dashboard_waiting_pkey", advance},
		{"AND person_id = ANY", "dashboard_waiting_by_person", advance},
		{"JOIN dashboard_count", "dashboard_count_pkey", advance},
		{"FROM event WHERE org_id = $1 AND id > $2", "event_pkey", advance},
		{"SELECT at, counts", "dashboard_count_pkey", read},
		{"counts->>'live'", "dashboard_count_pkey", read},
		{"event_id <= $3", "delivery_event_key", deliveries},
		{"k.at", "dashboard_fact_pkey", deliveries},
		{"FROM person WHERE", "person_pkey", advance},
		{"c.source = 'events'", "event_pkey", behind},
		{"c.source = 'events'", "dashboard_cursor_pkey", behind},
		{"c.source = 'events'", "org_fence_pkey", behind},
		{"c.source = 'deliveries'", "event_pkey", undelivered},
		{"c.source = 'deliveries'", "dashboard_fact_pkey", undelivered},
		{"c.source = 'deliveries'", "org_fence_pkey", undelivered},
		{"w.at < $1", "dashboard_waiting_by_time", func() error { return sweep(tenants) }},
		{"ORDER BY c.at LIMIT $2", "dashboard_count_by_time", func() error { return sweep(tenants) }},
		{"JOIN org_fence f ON f.org_id = k.org_id", "dashboard_fact_by_time", func() error { return sweep(tenants) }},
		{"DELETE FROM dashboard_waiting WHERE org_id = $1 AND person_id", "dashboard_waiting_by_person", func() error {
			return tenants.InTx(context.Background(), org, func(ctx context.Context, tx *tenant.Tx) error {
				_, err := dashboard.ForgetPerson(ctx, tx, who)
				return err
			})
		}},
	} {
		statements := sent.Of(t, tt.text, tt.do)
		require.NotEmpty(t, statements, tt.text)
		require.Contains(t, statements[0].Forced(t, db), tt.index, tt.text)
	}
}

func sweep(t *tenant.Tenants) error {
	_, err := dashboard.Sweep(context.Background(), t, "a", start)
	return err
}

// fill gives the tables of dashboards rows of many organizations.
func fill(h *history) {
	for _, sql := range []string{
		`INSERT INTO event (org_id, id, type, created_at, data)
			SELECT $1, ('00000000-0000-4000-8000-' || lpad(to_hex(n), 12, '0'))::UUID, 'unit.created', $2, '{}' FROM generate_series(1, 20000) AS g (n)`,
		`INSERT INTO dashboard_cursor (org_id, source, after, live)
			SELECT $1, source, '00000000-0000-4000-8000-000000004e20', '{}' FROM unnest(ARRAY['events', 'deliveries']) AS s (source) WHERE $2::TIMESTAMPTZ IS NOT NULL`,
		`INSERT INTO dashboard_count (org_id, area, portal_id, unit_id, at, counts)
			SELECT CASE WHEN o = 10 THEN $1::UUID ELSE ('00000000-0000-0000-0000-0000000000' || o)::UUID END, 'sessions',
				('00000000-0000-0000-0000-0000000000' || lpad(p::TEXT, 2, '0'))::UUID, '00000000-0000-0000-0000-000000000000',
				$2::TIMESTAMPTZ + n * INTERVAL '15 minutes', '{"live": 1}'
			FROM generate_series(1, 200) AS g (n) CROSS JOIN generate_series(10, 14) AS orgs (o) CROSS JOIN generate_series(0, 19) AS portals (p)`,
		`INSERT INTO dashboard_waiting (org_id, measure, portal_id, unit_id, person_id, counts, at)
			SELECT $1, 'results', gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), '{}', $2::TIMESTAMPTZ + n * INTERVAL '1 minute' FROM generate_series(1, 5000) AS g (n)`,
		`INSERT INTO dashboard_fact (org_id, kind, id, at, body)
			SELECT $1, 'lead', gen_random_uuid(), $2::TIMESTAMPTZ + n * INTERVAL '1 minute', '{}' FROM generate_series(1, 5000) AS g (n)`,
		`INSERT INTO session (org_id, id, state, kind, source, persona_id, persona_version, avatar_id, voice_id, metadata, language, engine, transport,
				channel, sandbox, brief, allowed_origins, max_duration_s, idle_timeout_s, created_at, connect_by, turn_count, languages_heard, collected,
				on_hold, flagged, slot, epoch, reconnects)
			SELECT $1, gen_random_uuid(), 'ended', 'conversation', 'portal', $1, 1, $1, $1, '{}', 'en', 'premier', 'websocket', 'voice', false, '{}', '{}', 60, 60,
				$2, $2, 0, '{}', '{}', false, false, false, 1, 0 FROM generate_series(1, 5000) AS g (n)`,
		`INSERT INTO delivery (org_id, id, webhook_id, event_id, type, api_version, state, attempts, created_at, log)
			SELECT $1, gen_random_uuid(), $1, gen_random_uuid(), 'unit.created', '2026-10-01', 'delivered', 1, $2, '[]' FROM generate_series(1, 5000) AS g (n)`,
		`INSERT INTO turn (org_id, session_id, ordinal, id, speaker, name, text, spoken, language, origin, started_at, interrupted, redacted, sources, tool_calls, timing)
			SELECT $1, id, 0, id, 'avatar', '', '', '', 'en', 'voice', $2, false, true, '[]', '[]', '{}' FROM session WHERE org_id = $1`,
		`INSERT INTO membership (org_id, id, person_id, portal_id, role, enabled, metadata, edition, created_at, updated_at, told_on)
			SELECT $1, gen_random_uuid(), gen_random_uuid(), $1, 'learner', true, '{}', 1, $2, $2, true FROM generate_series(1, 5000) AS g (n)`,
		`INSERT INTO result (org_id, id, state, kind, subject_id, portal_id, person_id, membership_id, session_id, attempt, rubric_version, language, asked,
				started_at, max_score, criteria, needs_review, on_hold, edition, created_at, updated_at)
			SELECT $1, gen_random_uuid(), 'released', 'assessment', $1, $1, gen_random_uuid(), $1, gen_random_uuid(), 1, 1, 'en', '[]', $2, 1, '[]', false, false, 1,
				$2, $2 FROM generate_series(1, 5000) AS g (n)`,
	} {
		h.exec(sql, start)
	}
	db, err := h.tenants.Shard(context.Background(), "a")
	require.NoError(h.t, err)
	for _, table := range tables {
		_, err = db.Exec(context.Background(), `ANALYZE `+table)
		require.NoError(h.t, err)
	}
}
