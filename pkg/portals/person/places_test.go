package person_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/portals/unit"
	"visavis.dev/pkg/store/tenant"
)

// What of a place decides no audience has nobody look through people again.
func TestPlacesThatChange(t *testing.T) {
	w := newWorld(t)
	m := w.join(w.add("Kim").ID, id.Unit{})
	changed := func() (n int64) {
		w.must(func(ctx context.Context, tx *tenant.Tx) error {
			return tx.QueryRow(ctx, `SELECT value FROM org_counter WHERE org_id = $1 AND name = $2`, tx.Org, unit.Places(w.portal.ID)).Scan(&n)
		})
		return n
	}
	for name, tt := range map[string]struct {
		change func(*person.Membership)
		tells  bool
	}{
		"metadata": {func(m *person.Membership) { m.Metadata = map[string]string{"a": "b"} }, false},
		"its id":   {func(m *person.Membership) { m.ExternalID = new("x") }, false},
		"enabled":  {func(m *person.Membership) { m.Enabled = false }, false},
		"role":     {func(m *person.Membership) { m.Role = person.Teacher }, true},
		"its end":  {func(m *person.Membership) { m.EndsAt = new(now.AddDate(1, 0, 0)) }, true},
	} {
		was := changed()
		w.must(func(ctx context.Context, tx *tenant.Tx) error {
			before, err := person.LockMembership(ctx, tx, m.ID)
			require.NoError(t, err)
			after := before
			tt.change(&after)
			_, _, err = person.UpdateMembership(ctx, tx, before, after, who)
			return err
		})
		require.Equal(t, tt.tells, changed() > was, name)
	}
}
