package person_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/portals/unit"
	"visavis.dev/pkg/store/tenant"
)

func TestAddress(t *testing.T) {
	for given, want := range map[string]string{
		" Kim.Lee@Example.COM ":                  "kim.lee@example.com",
		"kim@bücher.example":                     "kim@xn--bcher-kva.example",
		"kim@xn--bcher-kva.de":                   "kim@xn--bcher-kva.de",
		"kim+tag@example.com":                    "kim+tag@example.com",
		"Kim <kim@example.com>":                  "",
		"kim":                                    "",
		"kim@localhost":                          "",
		"":                                       "",
		"kim@example.com,a@b.de":                 "",
		"kim@-example.com":                       "",
		"kim@exam ple.com":                       "",
		strings.Repeat("k", 65) + "@example.com": "",
		"kim@example.com\x00":                    "",
	} {
		_, key, ok := person.Address(given)
		require.Equal(t, want != "", ok, "%q", given)
		require.Equal(t, want, key, "%q", given)
	}
}

func TestPhone(t *testing.T) {
	for given, want := range map[string]string{
		"+49 30 123456": "+4930123456", "0049 (30) 12-34.56": "+4930123456", "+1 415 555 0100": "+14155550100",
		"030 123456": "", "+0 123456789": "", "+49": "", "+49 30 abc123": "", "+1234567890123456": "",
	} {
		number, ok := person.Phone(given)
		require.Equal(t, want != "", ok, "%q", given)
		if ok {
			require.Equal(t, want, number)
		}
	}
}

func FuzzAddress(f *testing.F) {
	for _, seed := range []string{"kim@example.com", "Kim <k@e.de>", "\"a b\"@c.de", "kim@bücher.example", "@", "\xff@a.b"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, given string) {
		shown, key, ok := person.Address(given)
		if !ok {
			return
		}
		_, again, ok := person.Address(shown)
		require.True(t, ok, "what is shown is an address")
		require.Equal(t, key, again)
	})
}

func TestFindOrAdd(t *testing.T) {
	w := newWorld(t)
	kim, created, err := w.find(person.Wanted{Name: "Kim", Email: new("Kim@Example.com"), Language: new("German")})
	require.NoError(t, err)
	require.True(t, created)
	require.Equal(t, "de", *kim.Language)
	require.Equal(t, "Kim@Example.com", *kim.Email)

	// Whoever is found by the address gets the external id, and is found by it next.
	found, created, err := w.find(person.Wanted{Name: "Other", Email: new("kim@example.COM"), ExternalID: new("k1")})
	require.NoError(t, err)
	require.False(t, created)
	require.Equal(t, kim.ID, found.ID)
	require.Equal(t, "Kim", found.Name)
	found, created, err = w.find(person.Wanted{Name: "Other", Email: new("new@example.com"), ExternalID: new("k1")})
	require.NoError(t, err)
	require.False(t, created)
	require.Equal(t, kim.ID, found.ID)
	require.Equal(t, "Kim@Example.com", *found.Email, "what there is stays")

	lee, created, err := w.find(person.Wanted{Name: "Lee", ExternalID: new("k2")})
	require.NoError(t, err)
	require.True(t, created)
	_, _, err = w.find(person.Wanted{Name: "Lee", ExternalID: new("k2"), Email: new("kim@example.com")})
	require.ErrorIs(t, err, person.ErrEmailTaken)
	_, _, err = w.find(person.Wanted{Name: "Kim", ExternalID: new("k3"), Email: new("kim@example.com")})
	require.ErrorIs(t, err, person.ErrExternalIDTaken)
	found, _, err = w.find(person.Wanted{Name: "Lee", ExternalID: new("k2"), Email: new("lee@example.com")})
	require.NoError(t, err)
	require.Equal(t, lee.ID, found.ID)
	require.Equal(t, "lee@example.com", *found.Email)

	two := int64(2)
	full := plan.Terms{Limits: plan.Limits{plan.Members: &two}}
	_, _, err = w.find(person.Wanted{Name: "Max", Terms: full})
	require.ErrorIs(t, err, person.ErrFull)
	_, created, err = w.find(person.Wanted{Name: "Lee", ExternalID: new("k2"), Terms: full})
	require.NoError(t, err)
	require.False(t, created, "who is there is found all the same")

	for field, wanted := range map[string]person.Wanted{
		"email": {Email: new("kim")}, "phone": {Phone: new("1")}, "language": {Language: new("Klingon")}, "timezone": {Timezone: new("Local")},
	} {
		_, _, err := w.find(wanted)
		var wrong *errdefs.Invalid
		require.ErrorAs(t, err, &wrong)
		require.Equal(t, field, wrong.Field)
	}
}

// Of several who add somebody with one address at once, one does.
func TestFindOrAddAtOnce(t *testing.T) {
	w := newWorld(t)
	const many = 20
	var (
		all     sync.WaitGroup
		ids     [many]id.Person
		created [many]bool
		errs    [many]error
		places  [many]id.Membership
	)
	for i := range many {
		all.Go(func() {
			errs[i] = w.inTx(func(ctx context.Context, tx *tenant.Tx) error {
				if err := person.Hold(ctx, tx, w.portal.ID); err != nil {
					return err
				}
				p, made, err := person.FindOrAdd(ctx, tx, person.Wanted{Name: "Kim", Email: new("kim@example.com"), ExternalID: new("kim"), At: now})
				if err != nil {
					return err
				}
				m, _, err := person.Join(ctx, tx, p, person.Place{Portal: w.portal.ID, Role: person.Learner, Find: true}, who)
				ids[i], created[i], places[i] = p.ID, made, m.ID
				return err
			})
		})
	}
	all.Wait()
	news := 0
	for i := range many {
		require.NoError(t, errs[i])
		require.Equal(t, ids[0], ids[i])
		require.Equal(t, places[0], places[i])
		if created[i] {
			news++
		}
	}
	require.Equal(t, 1, news)
}

func TestAPlaceIsHadOnce(t *testing.T) {
	w := newWorld(t)
	kim, in := w.add("Kim"), w.unit(id.Unit{})
	outside, inside := w.join(kim.ID, id.Unit{}), w.join(kim.ID, in.ID)
	for unit, had := range map[id.Unit]person.Membership{{}: outside, in.ID: inside} {
		place := person.Place{Portal: w.portal.ID, Unit: unit, Role: person.Teacher}
		_, _, err := w.tryJoin(kim.ID, place)
		var taken *errdefs.Conflict
		require.ErrorAs(t, err, &taken)
		require.Equal(t, map[string]any{"membershipId": had.ID.String()}, taken.Details)
		place.Find = true
		found, created, err := w.tryJoin(kim.ID, place)
		require.NoError(t, err)
		require.False(t, created)
		require.Equal(t, had.ID, found.ID)
		require.Equal(t, person.Learner, found.Role, "as it is")
	}
	move := func(m id.Membership, to id.Unit) error {
		return w.inTx(func(ctx context.Context, tx *tenant.Tx) error {
			before, err := person.LockMembership(ctx, tx, m)
			require.NoError(t, err)
			after := before
			after.Unit = to
			_, _, err = person.UpdateMembership(ctx, tx, before, after, who)
			return err
		})
	}
	require.ErrorIs(t, move(outside.ID, in.ID), &errdefs.Conflict{Noun: person.MembershipNoun, Reason: person.ReasonTaken})
	w.must(func(ctx context.Context, tx *tenant.Tx) error {
		m, err := person.LockMembership(ctx, tx, inside.ID)
		require.NoError(t, err)
		return person.Leave(ctx, tx, m, who)
	})
	require.NoError(t, move(outside.ID, in.ID), "a place that was taken away is free")
	_, err := person.GetMembership(t.Context(), w.tenants, w.one, inside.ID, now)
	require.ErrorIs(t, err, errdefs.Gone{Noun: person.MembershipNoun})
	swept, err := person.Sweep(t.Context(), w.tenants, "a", now.AddDate(0, 0, 91))
	require.NoError(t, err)
	require.Equal(t, 1, swept)
	_, err = person.GetMembership(t.Context(), w.tenants, w.one, inside.ID, now)
	require.ErrorIs(t, err, errdefs.NotFound{Noun: person.MembershipNoun})

	_, _, err = w.tryJoin(kim.ID, person.Place{Portal: id.NewPortal(), Role: person.Learner})
	require.ErrorIs(t, err, errdefs.NotFound{Noun: portal.Noun})
	_, _, err = w.tryJoin(kim.ID, person.Place{Portal: w.portal.ID, Unit: id.NewUnit(), Role: person.Learner})
	require.ErrorIs(t, err, errdefs.NotFound{Noun: unit.OfPortal})
}
