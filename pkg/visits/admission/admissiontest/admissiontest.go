// Package admissiontest enters people with places on portals, for tests of who is
// let in.
package admissiontest

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/store/consent"
	"visavis.dev/pkg/store/tenant"
)

// At is when everything was made.
var At = time.Date(2026, 10, 1, 12, 0, 0, 0, time.UTC)

// Person enters an invited adult.
func Person(t testing.TB, tenants *tenant.Tenants, org id.Org, changes ...func(*person.Person)) person.Person {
	t.Helper()
	p := person.Person{ID: id.NewPerson(), Name: "Kim", AgeBand: person.Adult, State: person.Invited, Edition: 1, CreatedAt: At, UpdatedAt: At}
	for _, change := range changes {
		change(&p)
	}
	exec(t, tenants, org, `
		INSERT INTO person (org_id, id, name, email, email_key, external_id, language, age_band, state, metadata, edition, created_at, updated_at, erased_at)
		VALUES ($1, $2, $3, $4, lower($4), $5, $6, $7, $8, '{}', $9, $10, $11, $12)`,
		org, p.ID, p.Name, p.Email, p.ExternalID, p.Language, p.AgeBand, p.State, p.Edition, p.CreatedAt, p.UpdatedAt, p.ErasedAt)
	return p
}

// Membership enters a learner's place that can be used.
func Membership(t testing.TB, tenants *tenant.Tenants, org id.Org, who id.Person, on id.Portal, changes ...func(*person.Membership)) person.Membership {
	t.Helper()
	m := person.Membership{
		ID: id.NewMembership(), Person: who, Portal: on, Role: person.Learner, Enabled: true, Edition: 1, CreatedAt: At, UpdatedAt: At,
	}
	for _, change := range changes {
		change(&m)
	}
	exec(t, tenants, org, `
		INSERT INTO membership (org_id, id, person_id, portal_id, unit_id, role, enabled, starts_at, ends_at, consent_id, metadata, edition, told_on, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, '{}', $11, $7, $12, $13)`,
		org, m.ID, m.Person, m.Portal, m.Unit, m.Role, m.Enabled, m.StartsAt, m.EndsAt, m.Consent, m.Edition, m.CreatedAt, m.UpdatedAt)
	exec(t, tenants, org, `UPDATE consent SET membership_id = $3 WHERE org_id = $1 AND id = $2`, org, m.Consent, m.ID)
	return m
}

// Unit enters a class below another; zero for none.
func Unit(t testing.TB, tenants *tenant.Tenants, org id.Org, of id.Portal, above id.Unit, enabled bool) id.Unit {
	t.Helper()
	u := id.NewUnit()
	exec(t, tenants, org, `
		INSERT INTO unit (org_id, id, portal_id, parent_id, kind, name, enabled, manager_ids, metadata, edition, created_at, updated_at)
		VALUES ($1, $2, $3, $4, 'class', '5b', $5, '{}', '{}', 1, $6, $6)`, org, u, of, above, enabled, At)
	return u
}

// Consent enters a guardian's consent in a state, to something: to conversations unless that is
// named.
func Consent(t testing.TB, tenants *tenant.Tenants, org id.Org, state string, to ...string) id.Consent {
	t.Helper()
	if len(to) == 0 {
		to = []string{consent.ToConverse}
	}
	c := id.NewConsent()
	exec(t, tenants, org, `
		INSERT INTO consent (org_id, id, kind, state, statement, policy_version, person_name, signed_at, recorded_at, recorded_by, guardian)
		VALUES ($1, $2, 'guardian', $3, '', '1', 'Kim senior', $4, $4, 'test', $5)`, org, c, state, At, consent.Guardian{Method: "in_person", Scopes: to})
	return c
}

func exec(t testing.TB, tenants *tenant.Tenants, org id.Org, sql string, args ...any) {
	t.Helper()
	require.NoError(t, tenants.InTx(context.Background(), org, func(ctx context.Context, tx *tenant.Tx) error {
		_, err := tx.Exec(ctx, sql, args...)
		return err
	}))
}
