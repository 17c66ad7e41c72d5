package person_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/portals/unit"
	"visavis.dev/pkg/store/consent"
	"visavis.dev/pkg/store/tenant"
)

func ignore[T any](_ T, err error) error { return err }

// Each list rides the index its function names.
func TestStatementsRideTheirIndexes(t *testing.T) {
	w := newWorld(t)
	u, kim := w.unit(id.Unit{}), w.add("Kim")
	m := w.join(kim.ID, u.ID)
	w.exec(`INSERT INTO person (org_id, id, name, email_key, external_id, age_band, state, metadata, edition, created_at, updated_at)
		SELECT $1, gen_random_uuid(), 'many', i || '@example.com', 'x' || i, 'unknown', 'active', '{}', 1, $2::TIMESTAMPTZ, $2
		FROM generate_series(1, 5000) AS g (i)`, now)
	w.exec(`INSERT INTO person_term (org_id, term, person_id)
		SELECT $1, term, id FROM person, unnest(ARRAY['k', 'ki', 'kim', external_id]) AS t (term)
		WHERE org_id = $1 AND external_id IS NOT NULL ON CONFLICT DO NOTHING`)
	w.exec(`INSERT INTO unit (org_id, id, portal_id, parent_id, kind, name, enabled, manager_ids, metadata, edition, created_at, updated_at)
		SELECT $1, gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'class', 'many', true, '{}', '{}', 1, $2::TIMESTAMPTZ, $2
		FROM generate_series(1, 2000)`, now)
	w.exec(`INSERT INTO membership (org_id, id, person_id, portal_id, unit_id, role, enabled, metadata, edition, created_at, updated_at, told_on)
		SELECT $1, gen_random_uuid(), id, gen_random_uuid(), gen_random_uuid(), 'learner', true, '{}', 1, created_at, created_at, true
		FROM person WHERE org_id = $1`)
	w.exec(`INSERT INTO consent (org_id, id, kind, state, statement, policy_version, person_name, signed_at, recorded_at, recorded_by, person_id, membership_id)
		SELECT $1, gen_random_uuid(), 'guardian', 'given', '', '1', '', created_at, created_at, '', id, gen_random_uuid() FROM person WHERE org_id = $1`)
	for _, table := range []string{"consent", "membership", "person", "person_term", "unit"} {
		_, err := w.db.Exec(t.Context(), `ANALYZE `+table)
		require.NoError(t, err)
	}
	list := func(f person.Filter) func(context.Context) error {
		return func(ctx context.Context) error {
			return ignore(person.List(ctx, w.tenants, w.one, f, id.NewPerson(), 50, now))
		}
	}
	in := func(fn func(context.Context, *tenant.Tx) error) func(context.Context) error {
		return func(context.Context) error { return w.inTx(fn) }
	}
	for name, tt := range map[string]struct {
		text    string
		indexes []string
		do      func(context.Context) error
	}{
		"people":         {"FROM person p WHERE", []string{"person_pkey"}, list(person.Filter{})},
		"by address":     {"FROM person p WHERE", []string{"person_by_email"}, list(person.Filter{Email: "1@example.com"})},
		"by external id": {"FROM person p WHERE", []string{"person_by_external"}, list(person.Filter{ExternalID: "x1"})},
		"by a word":      {"FROM person_term t JOIN", []string{"person_term_pkey"}, list(person.Filter{Query: "Kim"})},
		"by a rare word": {"FROM person_term t JOIN", []string{"person_term_pkey"}, list(person.Filter{Query: "0a1"})},
		"by words, on a portal": {"FROM person_term t JOIN", []string{"person_term_pkey", "membership_by_portal"},
			list(person.Filter{Query: "Kim 1", Portal: w.portal.ID})},
		"of a portal":      {"DISTINCT ON", []string{"membership_by_portal"}, list(person.Filter{Portal: w.portal.ID})},
		"of a unit":        {"DISTINCT ON", []string{"membership_by_unit"}, list(person.Filter{Unit: u.ID})},
		"places of people": {"WITH RECURSIVE m AS", []string{"membership_by_person", "unit_pkey", "consent_of_guardian"}, list(person.Filter{})},
		"a place":          {"WITH RECURSIVE m AS", []string{"membership_pkey", "unit_pkey", "consent_of_guardian"}, func(ctx context.Context) error { return ignore(person.GetMembership(ctx, w.tenants, w.one, m.ID, now)) }},
		"who is meant": {"UNION ALL\n\t\tSELECT p.", []string{"person_by_external", "person_by_email"}, func(context.Context) error {
			_, _, err := w.find(person.Wanted{Email: new("1@example.com"), ExternalID: new("x1")})
			return err
		}},
		"units": {"FROM unit u WHERE", []string{"unit_pkey", "membership_by_unit"}, func(ctx context.Context) error {
			return ignore(unit.List(ctx, w.tenants, w.one, unit.Filter{}, u.ID, 50))
		}},
		"units of a portal": {"FROM unit u WHERE", []string{"unit_by_portal"}, func(ctx context.Context) error {
			return ignore(unit.List(ctx, w.tenants, w.one, unit.Filter{Portal: w.portal.ID}, u.ID, 50))
		}},
		"units in one": {"FROM unit u WHERE", []string{"unit_by_parent"}, func(ctx context.Context) error {
			return ignore(unit.List(ctx, w.tenants, w.one, unit.Filter{Parent: u.ID}, u.ID, 50))
		}},
		"the tree below": {"below (id", []string{"unit_by_parent"}, in(func(ctx context.Context, tx *tenant.Tx) error { return ignore(unit.Switches(ctx, tx, u.ID)) })},
		"the tree above": {"above (unit", []string{"unit_pkey"}, in(func(ctx context.Context, tx *tenant.Tx) error { return ignore(unit.On(ctx, tx, u.ID)) })},
		"who is switched": {"UPDATE membership SET told_on", []string{"membership_by_unit"}, func(context.Context) error {
			_, err := w.change(u.ID, func(u *unit.Unit) { u.Enabled = !u.Enabled })
			return err
		}},
		"a seat": {"portal_id = $3", []string{"membership_by_portal", "unit_pkey", "consent_of_guardian"}, in(func(ctx context.Context, tx *tenant.Tx) error {
			if _, err := person.Seat(ctx, tx, w.portal.ID, kim.ID, id.Membership{}, now); !errors.As(err, new(*person.StandingError)) {
				return err
			}
			return nil // its unit may be off
		})},
		"who talks": {"LEFT JOIN membership", []string{"session_active"}, func(context.Context) error {
			_, err := w.change(u.ID, func(u *unit.Unit) { u.Enabled = !u.Enabled })
			return err
		}},
		"what guardians agree to": {"AND m.id = $2", []string{"membership_pkey", "consent_of_guardian"}, in(func(ctx context.Context, tx *tenant.Tx) error {
			return ignore(consent.AgreedTo(ctx, tx, m.ID, now))
		})},
		"guardians' consent": {"person_id = $2 ORDER BY id FOR UPDATE", []string{"consent_by_person"}, in(func(ctx context.Context, tx *tenant.Tx) error {
			return ignore(consent.ForgetGuardians(ctx, tx, kim.ID))
		})},
	} {
		t.Run(name, func(t *testing.T) {
			for _, s := range w.sent.Of(t, tt.text, func() error { return tt.do(t.Context()) }) {
				plan := s.Forced(t, w.db)
				if strings.Contains(name, "word") {
					require.NotContains(t, plan, "Sort", "they come in order")
				}
				for _, index := range tt.indexes {
					require.Contains(t, plan, index, "%s\n%s", s.SQL, plan)
				}
			}
		})
	}
}
