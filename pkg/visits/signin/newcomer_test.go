package signin_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/eventing/event/eventtest"
	"visavis.dev/pkg/portals/door"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/portals/unit"
	"visavis.dev/pkg/visits/admission/admissiontest"
	"visavis.dev/pkg/visits/signin"
)

func (w *world) added() int {
	w.Helper()
	return len(eventtest.Log(w, w.tenants, w.one, event.MemberAdded))
}

// code is the portal's join code.
func (w *world) code() string {
	w.Helper()
	doors, err := door.List(w.Context(), w.tenants, w.one, w.portal.ID)
	require.NoError(w, err)
	for _, d := range doors {
		if d.Key == door.JoinCode {
			return *d.Code
		}
	}
	return ""
}

// Whoever the organization's own system names is added once, and found from then on.
func TestAnEmbedTokenAddsPeople(t *testing.T) {
	w := newWorld(t)
	class := admissiontest.Unit(t, w.tenants, w.one, w.portal.ID, id.Unit{}, true)
	kim := signin.Newcomer{Role: person.Learner, Name: "Kim", ExternalID: new("lms-1"), Email: new("Kim@Example.com"), Unit: class, By: "key_test"}
	first, err := w.embed(signin.Embed{Newcomer: kim})
	require.NoError(t, err)
	require.Equal(t, 1, w.added())
	require.Equal(t, 1, w.count(`SELECT count(*) FROM membership WHERE org_id = $1 AND id = $2 AND person_id = $3 AND unit_id = $4 AND role = 'learner'`,
		w.one, first.Membership, first.Person, class))
	in, err := w.gate.ByEmbedToken(t.Context(), w.one, w.portal.ID, first.Token)
	require.NoError(t, err)
	require.Equal(t, []any{"Kim", first.Person}, []any{in.Name, in.Person})

	for name, again := range map[string]signin.Newcomer{
		"by both":          kim,
		"by their id":      {Role: person.Learner, Name: "Kimberly", ExternalID: kim.ExternalID, Unit: class},
		"by their address": {Role: person.Learner, Name: "K.", Email: new("kim@example.com"), Unit: class},
	} {
		found, err := w.embed(signin.Embed{Newcomer: again})
		require.NoError(t, err, name)
		require.Equal(t, []any{first.Person, first.Membership}, []any{found.Person, found.Membership}, name)
	}
	require.Equal(t, 1, w.added(), "nothing was new")
	other, err := w.embed(signin.Embed{Newcomer: signin.Newcomer{Role: person.Learner, Name: "Kim", ExternalID: kim.ExternalID}})
	require.NoError(t, err)
	require.Equal(t, first.Person, other.Person)
	require.NotEqual(t, first.Membership, other.Membership, "outside the unit is another place")
	require.Equal(t, 2, w.added())
}

func TestWhoCannotBeAdded(t *testing.T) {
	w := newWorld(t)
	_, err := w.embed(signin.Embed{Newcomer: signin.Newcomer{Role: person.Learner, Name: "Kim", ExternalID: new("a"), Email: new("kim@example.com")}})
	require.NoError(t, err)
	nowhere := id.NewUnit()
	full := plan.Terms{Limits: plan.Limits{plan.Members: new(int64(1))}}
	for name, c := range map[string]struct {
		newcomer signin.Newcomer
		want     error
	}{
		"no such unit":       {signin.Newcomer{Name: "Lee", ExternalID: new("b"), Unit: nowhere}, unit.OfPortal.NotFound(nowhere)},
		"another's id":       {signin.Newcomer{Name: "Kim", ExternalID: new("b"), Email: new("kim@example.com")}, person.ErrExternalIDTaken},
		"no room":            {signin.Newcomer{Name: "Lee", ExternalID: new("b"), Terms: full}, person.ErrFull},
		"what is no address": {signin.Newcomer{Name: "Lee", ExternalID: new("b"), Email: new("lee")}, &errdefs.Invalid{Field: "email", Message: "is no e-mail address"}},
	} {
		c.newcomer.Role = person.Learner
		_, err := w.embed(signin.Embed{Newcomer: c.newcomer})
		require.Equal(t, c.want, err, name)
	}
	require.Equal(t, 1, w.count(`SELECT count(*) FROM person WHERE org_id = $1`, w.one))
	require.Equal(t, 1, w.added())
}

func TestAJoinCodeAddsPeople(t *testing.T) {
	w := newWorld(t)
	join := func(c signin.Card) (signin.Entered, error) {
		return w.gate.ByJoinCode(t.Context(), w.one, w.portal.ID, w.code(), c, "a school")
	}
	first, err := join(signin.Card{Name: "Kim", Email: "kim@example.com", Language: "de"})
	require.NoError(t, err)
	require.Equal(t, 1, w.count(`SELECT count(*) FROM person WHERE org_id = $1 AND id = $2 AND language = 'de' AND last_seen_at IS NOT NULL`, w.one, first.Person))
	again, err := join(signin.Card{Name: "Somebody", Email: "KIM@example.com"})
	require.NoError(t, err)
	require.NotEqual(t, first.Person, again.Person, "a code makes nobody anybody else")
	require.Equal(t, "Somebody", again.Name)
	require.Equal(t, 1, w.count(`SELECT count(*) FROM person WHERE org_id = $1 AND id = $2 AND email = 'kim@example.com'`, w.one, first.Person), "the address stays whose it was")
	require.Equal(t, 1, w.count(`SELECT count(*) FROM person WHERE org_id = $1 AND id = $2 AND email IS NULL AND email_key IS NULL`, w.one, again.Person))
	require.Equal(t, 2, w.added())
	for range 2 {
		_, err = join(signin.Card{Name: "Lee"})
		require.NoError(t, err)
	}
	require.Equal(t, 4, w.added(), "whom nothing tells apart are two")

	teacher := w.learner(func(m *person.Membership) { m.Role = person.Teacher })
	w.exec(`UPDATE person SET email = 'sam@example.com', email_key = 'sam@example.com' WHERE org_id = $1 AND id = $2`, w.one, teacher.Person)
	// Of whom it is, a member, a teacher or nobody, the answer does not tell.
	asTeacher, err := join(signin.Card{Name: "Kim", Email: "sam@example.com"})
	require.NoError(t, err)
	require.NotEqual(t, teacher.Person, asTeacher.Person)
	asNobody, err := join(signin.Card{Name: "Kim", Email: "nobody@example.com"})
	require.NoError(t, err)
	for _, in := range []*signin.Entered{&asTeacher, &asNobody} {
		in.Secret, in.Person, in.Membership, in.Sits.ID, in.Sits.Email = "", id.Person{}, id.Membership{}, id.Person{}, nil
	}
	require.Equal(t, asNobody, asTeacher)
	_, err = join(signin.Card{Name: "Kim", Email: "kim@localhost"})
	w.refused(signin.EmailRequired, err)
	w.terms = plan.Terms{Limits: plan.Limits{plan.Members: new(int64(6))}}
	_, err = join(signin.Card{Name: "One more"})
	w.refused(signin.Full, err)
	_, err = w.gate.ByJoinCode(t.Context(), id.NewOrg(), w.portal.ID, w.code(), signin.Card{Name: "Kim"}, "a school")
	w.refused(signin.NotPublished, err)
	w.exec(`UPDATE membership SET removed_at = now() WHERE org_id = $1 AND id = $2`, w.one, first.Membership)
	_, err = w.gate.Find(t.Context(), w.portal.ID, first.Secret)
	w.refused("no_membership", err)
}
