package person_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/store/tenant"
)

// found are the names of the people that a filter finds, newest first.
func (w *world) found(f person.Filter) []string {
	w.t.Helper()
	names := []string{}
	for after, more := (id.Person{}), true; more; {
		page, err := person.List(context.Background(), w.tenants, w.one, f, after, 2, now)
		require.NoError(w.t, err)
		for _, p := range page {
			names, after = append(names, p.Person.Name), p.Person.ID
		}
		more = len(page) > 0
	}
	return names
}

func TestPeopleAreFoundByWords(t *testing.T) {
	w := newWorld(t)
	added := func(p person.Wanted) person.Person {
		found, _, err := w.find(p)
		require.NoError(t, err)
		return found
	}
	added(person.Wanted{Name: "Zoë Müller", Email: new("zoe@school.example")})
	kim := added(person.Wanted{Name: "Kim Lee", Email: new("kim.lee@school.example"), ExternalID: new("S2026-0007")})
	added(person.Wanted{Name: "Kimberly Muller"})
	u := w.unit(id.Unit{})
	w.join(kim.ID, u.ID)
	for query, want := range map[string][]string{
		"kim":         {"Kimberly Muller", "Kim Lee"},
		"KIM le":      {"Kim Lee"},
		"lee, kim":    {"Kim Lee"},
		"mull":        {"Kimberly Muller", "Zoë Müller"},
		"zoe":         {"Zoë Müller"},
		"kim.lee@sch": {"Kim Lee"},
		"school":      {"Kim Lee", "Zoë Müller"},
		"s2026-0007":  {"Kim Lee"},
		"0007":        {"Kim Lee"},
		"im":          {},
		"kim zoe":     {},
		"%":           {},
	} {
		require.Equal(t, want, w.found(person.Filter{Query: query}), query)
	}
	require.Equal(t, []string{"Kim Lee"}, w.found(person.Filter{Query: "kim", Portal: w.portal.ID}))
	require.Equal(t, []string{"Kim Lee"}, w.found(person.Filter{Query: "kim", Portal: w.portal.ID, Unit: u.ID}))
	require.Empty(t, w.found(person.Filter{Query: "zoe", Portal: w.portal.ID}))
	require.Empty(t, w.found(person.Filter{Query: "kim", State: person.Disabled}))

	w.must(func(ctx context.Context, tx *tenant.Tx) error {
		before, err := person.LockAll(ctx, tx, kim.ID)
		if err != nil {
			return err
		}
		after := before
		after.Name, after.Email = "Alex Roe", nil
		_, _, err = person.Update(ctx, tx, before, after, who)
		return err
	})
	require.Equal(t, []string{"Alex Roe"}, w.found(person.Filter{Query: "alex"}))
	require.NotContains(t, w.found(person.Filter{Query: "kim"}), "Alex Roe")

	w.must(func(ctx context.Context, tx *tenant.Tx) error {
		_, err := person.Erase(ctx, tx, kim.ID, who)
		return err
	})
	require.Empty(t, w.found(person.Filter{Query: "alex"}))
	require.Zero(t, w.count(`SELECT count(*) FROM person_term WHERE org_id = $1 AND person_id = $2`, kim.ID), "nothing is left of who was erased")
}

// Who was written by a process that knew of no terms is found a little later.
func TestTermsAreCaughtUpWith(t *testing.T) {
	w := newWorld(t)
	ctx := context.Background()
	kim, lee, gone := w.add("Kim"), w.add("Lee"), w.add("Gone")
	w.exec(`DELETE FROM person_term WHERE org_id = $1 AND person_id = $2`, kim.ID)
	w.exec(`UPDATE person SET terms_edition = 0 WHERE org_id = $1 AND id = $2`, kim.ID)
	w.exec(`UPDATE person SET name = 'Alex', edition = edition + 1 WHERE org_id = $1 AND id = $2`, lee.ID)
	w.exec(`UPDATE person SET name = '', state = 'erased', edition = edition + 1 WHERE org_id = $1 AND id = $2`, gone.ID)
	require.Empty(t, w.found(person.Filter{Query: "kim"}))
	n, err := person.SweepTerms(ctx, w.tenants, "a")
	require.NoError(t, err)
	require.Equal(t, 3, n)
	require.Equal(t, []string{"Kim"}, w.found(person.Filter{Query: "kim"}))
	require.Equal(t, []string{"Alex"}, w.found(person.Filter{Query: "alex"}))
	require.Empty(t, w.found(person.Filter{Query: "lee"}))
	require.Zero(t, w.count(`SELECT count(*) FROM person_term WHERE org_id = $1 AND person_id = $2`, gone.ID))
	n, err = person.SweepTerms(ctx, w.tenants, "a")
	require.NoError(t, err)
	require.Zero(t, n)
}
