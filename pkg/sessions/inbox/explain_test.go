package inbox_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/sessions/inbox"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/store/tenant/tenanttest"
)

// The newest item of an address is found without a look through all items.
func TestNewestRidesItsIndex(t *testing.T) {
	tenants, sent, org, _ := tenanttest.NewTraced(t)
	db, err := tenants.Shard(t.Context(), "a")
	require.NoError(t, err)
	_, err = db.Exec(t.Context(), `
		INSERT INTO inbox_item (org_id, id, kind, state, language, contact, words, band_chosen, urgency, source, tags, metadata, edition, created_at, updated_at)
		SELECT $1, gen_random_uuid(), 'lead', 'new', 'en', jsonb_build_object('email', 'kim' || n || '@example.com'), '{}', false, 'normal', '{}', '{}', '{}', 1,
			now(), now()
		FROM generate_series(1, 2000) n`, org)
	require.NoError(t, err)
	for _, statement := range sent.Of(t, "FROM inbox_item", func() error {
		found, err := inbox.Newest(t.Context(), tenants, org, inbox.Kinds(), []string{"kim7@example.com", "nobody@example.com"})
		require.Len(t, found, 1)
		if err != nil {
			return err
		}
		all, err := inbox.OfAddresses(t.Context(), tenants, org, inbox.Kinds(), []string{"kim7@example.com", "nobody@example.com"})
		require.Len(t, all, 1)
		return err
	}) {
		plan := statement.Forced(t, db)
		require.Contains(t, plan, "inbox_item_by_email", statement.SQL)
		require.NotContains(t, plan, "Seq Scan on inbox_item", statement.SQL)
	}
}

// The team is found by its mail addresses without a look through all persons and places.
func TestTeamByMailRidesItsIndexes(t *testing.T) {
	tenants, sent, org, _ := tenanttest.NewTraced(t)
	db, err := tenants.Shard(t.Context(), "a")
	require.NoError(t, err)
	for _, sql := range []string{
		`INSERT INTO person (org_id, id, name, email, age_band, state, metadata, edition, created_at, updated_at)
		SELECT $1, gen_random_uuid(), 'Kim', 'Kim' || n || '@example.com', 'adult', 'active', '{}', 1, now(), now() FROM generate_series(1, 2000) n`,
		`INSERT INTO membership (org_id, id, person_id, portal_id, role, enabled, metadata, edition, created_at, updated_at, told_on)
		SELECT $1, gen_random_uuid(), id, gen_random_uuid(), 'staff', true, '{}', 1, now(), now(), true FROM person WHERE org_id = $1`,
		`INSERT INTO inbox_member (org_id, person_id, departments, away, updated_at)
		SELECT $1, id, '{}', false, now() FROM person WHERE org_id = $1 AND email IN ('Kim7@example.com', 'Kim8@example.com')`,
	} {
		_, err = db.Exec(t.Context(), sql, org)
		require.NoError(t, err)
	}
	_, err = db.Exec(t.Context(), `ANALYZE person, membership, inbox_member`)
	require.NoError(t, err)
	for _, statement := range sent.Of(t, "FROM inbox_member", func() error {
		team, err := inbox.TeamByMail(t.Context(), tenants, org, time.Now())
		require.Len(t, team, 2)
		require.Contains(t, team, "kim7@example.com")
		return err
	}) {
		plan := statement.Forced(t, db)
		for _, index := range []string{"inbox_member_pkey", "person_pkey", "membership_by_person"} {
			require.Contains(t, plan, index, statement.SQL)
		}
		require.NotContains(t, plan, "Seq Scan", statement.SQL)
	}
}

// What rules and due times look for is found without a look through all items.
func TestRulesRideTheirIndexes(t *testing.T) {
	tenants, sent, org, _ := tenanttest.NewTraced(t)
	db, err := tenants.Shard(t.Context(), "a")
	require.NoError(t, err)
	for _, sql := range []string{
		`INSERT INTO inbox_item (org_id, id, kind, state, language, contact, words, band_chosen, urgency, source, tags, metadata, edition, created_at, updated_at,
			sla_due_at, due_step_at, department, assignee_id)
		SELECT $1, gen_random_uuid(), 'lead', CASE WHEN n % 100 = 0 THEN 'new' ELSE 'done' END, 'en', '{}', '{}', false, 'normal', '{}', '{}', '{}', 1, now(), now(),
			CASE WHEN n % 100 = 0 THEN now() END, CASE WHEN n % 100 = 0 THEN now() END, CASE WHEN n % 50 = 0 THEN 'Sales' ELSE 'Other' END,
			CASE WHEN n % 2 > 0 THEN gen_random_uuid() END
		FROM generate_series(1, 2000) n`,
		`INSERT INTO inbox_rule (org_id, id, name, enabled, position, event, definition, edition, created_at, updated_at)
		SELECT $1, gen_random_uuid(), 'x', true, n, 'item_created', '{"when": {}, "then": {"urgency": "high"}}', 1, now(), now() FROM generate_series(1, 100) n`,
		`INSERT INTO inbox_rule_run (org_id, item_id, rule_id, occasion, rule_name, event, did, at)
		SELECT $1, gen_random_uuid(), gen_random_uuid(), 'x', 'x', 'item_created', '{}', now() FROM generate_series(1, 2000) n`,
		`INSERT INTO inbox_term (org_id, term, item_id) SELECT $1, 'kim' || n, gen_random_uuid() FROM generate_series(1, 2000) n`,
		`INSERT INTO inbox_note (org_id, item_id, id, author, text, at) SELECT $1, gen_random_uuid(), gen_random_uuid(), 'x', 'x', now() FROM generate_series(1, 2000) n`,
	} {
		_, err = db.Exec(t.Context(), sql, org)
		require.NoError(t, err)
	}
	_, err = db.Exec(t.Context(), `ANALYZE inbox_item, inbox_term`)
	require.NoError(t, err)
	now := time.Now().UTC()
	for name, tt := range map[string]struct {
		text, index string
		do          func(context.Context) error
	}{
		"left": {"AND event = $2 AND enabled", "inbox_rule_by_position", func(ctx context.Context) error {
			return tenants.InTx(ctx, org, func(ctx context.Context, tx *tenant.Tx) error {
				_, err := inbox.Enter(ctx, tx, inbox.Item{Language: "en", Urgency: "normal", Contact: &inbox.Contact{Phone: new("1")}}, nil, activity.Actor{By: "test", At: now})
				return err
			})
		}},
		"rules": {"ORDER BY position, id LIMIT", "inbox_rule_by_position", func(ctx context.Context) error {
			_, err := inbox.Rules(ctx, tenants, org, inbox.RulePlace{}, 50)
			return err
		}},
		"history": {"FROM inbox_rule_run", "inbox_rule_run_pkey", func(ctx context.Context) error {
			_, err := inbox.Runs(ctx, tenants, org, id.InboxItemAt(now))
			return err
		}},
		"overdue": {"SELECT count(*)", "inbox_item_due", func(ctx context.Context) error {
			n, err := inbox.CountOverdue(ctx, tenants, org, now.Add(time.Hour))
			require.EqualValues(t, 20, n)
			return err
		}},
		"list of what is overdue": {"i.sla_due_at IS NOT NULL", "inbox_item_due", func(ctx context.Context) error {
			found, err := inbox.List(ctx, tenants, org, inbox.Filter{OverdueAt: now.Add(time.Hour)}, id.InboxItem{}, 50)
			require.Len(t, found, 20)
			return err
		}},
		"list of a department": {"lower(i.department) = lower($15)", "inbox_item_by_department", func(ctx context.Context) error {
			found, err := inbox.List(ctx, tenants, org, inbox.Filter{Department: "sales"}, id.InboxItem{}, 50)
			require.Len(t, found, 40)
			return err
		}},
		"list of what nobody deals with": {"ORDER BY i.id DESC", "inbox_item_unassigned", func(ctx context.Context) error {
			found, err := inbox.List(ctx, tenants, org, inbox.Filter{Unassigned: true}, id.InboxItem{}, 10)
			require.Len(t, found, 10)
			return err
		}},
		"list of a tag": {"FROM inbox_term t", "inbox_term_pkey", func(ctx context.Context) error {
			_, err := inbox.List(ctx, tenants, org, inbox.Filter{Tags: []string{"fair"}}, id.InboxItem{}, 50)
			return err
		}},
		"terms": {"i.terms_edition <> i.edition", "inbox_item_terms_due", func(ctx context.Context) error {
			_, err := inbox.EnterTerms(ctx, tenants, "a")
			return err
		}},
		"due": {"i.due_step_at <= $2", "inbox_item_by_due_step", func(ctx context.Context) error {
			_, err := inbox.Due(ctx, tenants, "a", now.Add(-24*time.Hour))
			return err
		}},
		"answers": {"FILTER (WHERE message_id", "inbox_note_", func(ctx context.Context) error {
			return tenants.InTx(ctx, org, func(ctx context.Context, tx *tenant.Tx) error {
				i, err := inbox.Enter(ctx, tx, inbox.Item{Language: "en", Urgency: "normal", Contact: &inbox.Contact{Phone: new("1")}}, nil, activity.Actor{By: "test", At: now})
				if err != nil {
					return err
				}
				_, err = inbox.Receive(ctx, tx, i.ID, inbox.Received{MessageID: "1@example.com", Text: "Yes.", At: now})
				return err
			})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, s := range sent.Of(t, tt.text, func() error { return tt.do(t.Context()) }) {
				plan := s.Forced(t, db)
				require.Contains(t, plan, tt.index, "%s\n%s", s.SQL, plan)
			}
		})
	}
}
