package signin_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/learning/course"
	"visavis.dev/pkg/portals/door"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/provider/lti/ltitest"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/visits/admission/admissiontest"
	"visavis.dev/pkg/visits/signin"
)

// next has a course read that lists members.
func (c *courses) next(name string, members ...ltitest.Member) {
	c.Helper()
	c.Enroll(name, members...)
	c.pass(course.Every)
	c.work()
}

// known is a learner who came before any course was read, and so has a place on the whole portal.
func (c *courses) known(user string) signin.Launched {
	c.Helper()
	in, err := c.learns(user, "none")
	require.NoError(c.T, err)
	return in
}

// instructs has somebody come who teaches a course.
func (c *courses) instructs(user, name string) (signin.Launched, error) {
	c.Claims = func(k jwt.MapClaims) {
		k["sub"], k["name"] = user, "Name of "+user
		ltitest.Instructor(k)
		c.From(k, name)
	}
	return c.come()
}

// unitOf is the unit of a place; zero for none.
func (c *courses) unitOf(m id.Membership) (u id.Unit) {
	c.Helper()
	require.NoError(c.T, c.inTx(func(ctx context.Context, tx *tenant.Tx) error {
		return tx.QueryRow(ctx, `SELECT unit_id FROM membership WHERE org_id = $1 AND id = $2`, c.one, m).Scan(&u)
	}))
	return u
}

// Who is switched off, whose place is over or has not begun gets no second place by a list.
func TestAListOpensNoPlaceThatIsOff(t *testing.T) {
	c := newCourses(t)
	off := admissiontest.Unit(t, c.tenants, c.one, c.portal.ID, id.Unit{}, false)
	for user, change := range map[string]string{
		"pupil-0": `enabled = false`, "pupil-1": `ends_at = '2020-10-01T12:00:00Z'`, "pupil-2": `starts_at = '2036-10-01T12:00:00Z'`,
	} {
		c.exec(`UPDATE membership SET `+change+` WHERE org_id = $1 AND id = $2`, c.one, c.known(user).Membership)
	}
	c.exec(`UPDATE membership SET unit_id = $3 WHERE org_id = $1 AND id = $2`, c.one, c.known("pupil-3").Membership, off)
	c.exec(`UPDATE person SET state = 'disabled' WHERE org_id = $1 AND id = $2`, c.one, c.known("pupil-4").Person)
	c.known("pupil-5")
	// Who also has a place that is on can come in anyway.
	second := c.known("pupil-6")
	admissiontest.Membership(t, c.tenants, c.one, second.Person, c.portal.ID, func(m *person.Membership) { m.Unit = off })
	c.Enroll("math", pupils(8)...)
	c.teaches("math")
	c.work()
	require.Equal(t, []string{"Name of pupil-5 learner", "Name of pupil-6 learner", "Pupil 007 learner"}, c.class("math"))
	for user, reason := range map[string]person.Reason{
		"pupil-0": person.MembershipDisabled, "pupil-1": person.MembershipEnded, "pupil-2": person.NotStarted, "pupil-3": person.MembershipDisabled, "pupil-4": person.PersonDisabled,
	} {
		_, err := c.learns(user, "math")
		c.refused(signin.Code(reason), err)
	}
	c.exec(`UPDATE membership SET enabled = true WHERE org_id = $1`, c.one)
	c.next("math", pupils(8)...)
	require.Contains(t, c.class("math"), "Name of pupil-0 learner")
}

// Whom a list took out and who comes again teaches the class alone, and nothing where there is none.
func TestWhoComesBackTeachesTheirClassAlone(t *testing.T) {
	c := newCourses(t, func(config map[string]any) { config["teachers"] = true })
	all := append(pupils(12), ltitest.Teaches("second", "Sam Second"), ltitest.Teaches("third", "Tom Third"))
	c.Enroll("math", all...)
	c.teaches("math")
	c.work()
	require.Len(t, c.class("math"), 14)
	c.next("math", all[1:12]...)
	require.Len(t, c.class("math"), 11)
	for user, name := range map[string]string{"second": "math", "pupil-0": "math", "third": "art"} {
		in, err := c.instructs(user, name)
		require.NoError(t, err)
		want := []any{person.Teacher, c.courseOf("math").Unit}
		if name == "art" {
			want = []any{person.Learner, id.Unit{}}
		}
		require.Equal(t, want, []any{in.Role, c.unitOf(in.Membership)}, user)
	}
	c.next("math", all[1:12]...)
	require.Len(t, c.class("math"), 11, "and leaves it with the course")
}

// Who has more to do on the portal than a platform may say gets no place by a list, and does not come in by the one
// that they had.
func TestWhoIsMoreThanATeacherHasNoPlaceByAList(t *testing.T) {
	c := newCourses(t, func(config map[string]any) { config["teachers"] = true })
	for user, role := range map[string]string{"pupil-0": "admin", "pupil-1": "manager", "pupil-2": "reviewer", "pupil-3": "teacher"} {
		c.exec(`UPDATE membership SET role = $3 WHERE org_id = $1 AND id = $2`, c.one, c.known(user).Membership, role)
	}
	later, own := c.known("pupil-4"), admissiontest.Unit(t, c.tenants, c.one, c.portal.ID, id.Unit{}, true)
	c.Enroll("math", pupils(5)...)
	c.teaches("math")
	c.work()
	require.Equal(t, []string{"Name of pupil-3 learner", "Name of pupil-4 learner"}, c.class("math"))
	_, err := c.learns("pupil-4", "math")
	require.NoError(t, err)
	admissiontest.Membership(t, c.tenants, c.one, later.Person, c.portal.ID, func(m *person.Membership) { m.Unit, m.Role = own, person.Admin })
	for _, user := range []string{"pupil-0", "pupil-1", "pupil-2", "pupil-4"} {
		_, err := c.learns(user, "math")
		c.refused(signin.ProviderDenied, err)
	}
	_, err = c.learns("pupil-3", "math")
	require.NoError(t, err)
	// Who teaches elsewhere, and learns here, learns here.
	tutor := c.known("pupil-5")
	admissiontest.Membership(t, c.tenants, c.one, tutor.Person, c.portal.ID, func(m *person.Membership) { m.Unit, m.Role = own, person.Teacher })
	c.next("math", pupils(6)...)
	c.exec(`UPDATE connection SET config = config - 'teachers' WHERE org_id = $1 AND id = $2`, c.one, c.connection)
	c.pass(time.Minute)
	_, err = c.learns("pupil-3", "math")
	c.refused(signin.ProviderDenied, err)
	in, err := c.learns("pupil-5", "math")
	require.NoError(t, err)
	require.Equal(t, []any{person.Learner, c.courseOf("math").Unit}, []any{in.Role, c.unitOf(in.Membership)})
}

// A place in the class that the organization made is no list's to take.
func TestAListTakesNoPlaceThatItDidNotGive(t *testing.T) {
	c := newCourses(t)
	all := pupils(6)
	own := c.known("pupil-5")
	c.Enroll("math", all[:5]...)
	c.teaches("math")
	c.work()
	unit := c.courseOf("math").Unit
	c.exec(`UPDATE membership SET unit_id = $3 WHERE org_id = $1 AND id = $2`, c.one, own.Membership, unit)
	c.next("math", all...)
	require.Len(t, c.class("math"), 6)
	in, err := c.learns("pupil-5", "math")
	require.NoError(t, err)
	require.Equal(t, own.Membership, in.Membership)
	c.next("math", all[:5]...)
	require.Len(t, c.class("math"), 6, "who was there without the list stays without it")
	c.next("math", all...)
	c.next("math", all[:5]...)
	require.Len(t, c.class("math"), 6)

	// Once the organization takes them out of it, no list has them in it again.
	admissiontest.Membership(t, c.tenants, c.one, own.Person, c.portal.ID)
	c.exec(`UPDATE membership SET removed_at = $3 WHERE org_id = $1 AND id = $2`, c.one, own.Membership, c.clock.Now())
	c.next("math", all...)
	require.Len(t, c.class("math"), 5)
	c.exec(`UPDATE membership SET removed_at = NULL WHERE org_id = $1 AND id = $2`, c.one, own.Membership)

	// Likewise one who left, and whom the organization gave a place since.
	c.next("math", all[1:5]...)
	require.Len(t, c.class("math"), 5)
	first := c.count(`SELECT count(*) FROM course_member WHERE org_id = $1 AND left_at IS NOT NULL`, c.one)
	require.Equal(t, 1, first)
	c.exec(`
		INSERT INTO membership (org_id, id, person_id, portal_id, unit_id, role, enabled, metadata, edition, told_on, created_at, updated_at)
		SELECT org_id, $2, person_id, $3, $4, 'learner', true, '{}', 1, true, now(), now() FROM course_member WHERE org_id = $1 AND left_at IS NOT NULL`,
		c.one, id.NewMembership(), c.portal.ID, unit)
	c.next("math", all...)
	c.next("math", all[1:5]...)
	require.Len(t, c.class("math"), 6)
}

// Whom the organization took out of a class does not come back into it because a list of another course dropped them.
func TestWhoWasTakenOutOfAClassStaysOut(t *testing.T) {
	c := newCourses(t)
	for _, name := range []string{"math", "art"} {
		c.Enroll(name, pupils(5)...)
		c.teaches(name)
	}
	c.work()
	c.exec(`
		UPDATE membership SET removed_at = $3 WHERE org_id = $1 AND unit_id = $2
			AND person_id = (SELECT person_id FROM person_identity WHERE org_id = $1 AND subject = 'pupil-4')`, c.one, c.courseOf("math").Unit, c.clock.Now())
	c.pass(time.Minute)
	in, err := c.learns("pupil-4", "math")
	require.NoError(t, err)
	require.Equal(t, c.courseOf("art").Unit, c.unitOf(in.Membership))
	c.next("art", pupils(4)...)
	_, err = c.learns("pupil-4", "math")
	c.refused(signin.Code(person.NoMembership), err)
	require.Equal(t, []int{4, 4}, []int{len(c.class("math")), len(c.class("art"))})
	in, err = c.learns("pupil-4", "art")
	require.NoError(t, err)
	require.Equal(t, c.courseOf("art").Unit, c.unitOf(in.Membership))
}

// Who has a place of their own in a unit comes in by that, with what is set there, unless the class lies in it too.
func TestAClassIsNoWayAroundWhatIsSetForAUnit(t *testing.T) {
	c := newCourses(t)
	group := admissiontest.Unit(t, c.tenants, c.one, c.portal.ID, id.Unit{}, true)
	own := c.known("pupil-0")
	c.known("pupil-1")
	for _, name := range []string{"math", "art"} {
		c.Enroll(name, pupils(2)...)
		c.teaches(name)
	}
	c.work()
	comes := func(user, name string) id.Unit {
		t.Helper()
		in, err := c.learns(user, name)
		require.NoError(t, err)
		return c.unitOf(in.Membership)
	}
	math, art := c.courseOf("math").Unit, c.courseOf("art").Unit
	require.Equal(t, []id.Unit{math, art}, []id.Unit{comes("pupil-1", "math"), comes("pupil-1", "art")}, "classes of courses do not hinder each other")
	c.exec(`UPDATE membership SET unit_id = $3 WHERE org_id = $1 AND id = $2`, c.one, own.Membership, group)
	require.Equal(t, []id.Unit{group, group}, []id.Unit{comes("pupil-0", "math"), comes("pupil-0", "art")})
	// However old the place is.
	younger := admissiontest.Membership(t, c.tenants, c.one, c.known("pupil-1").Person, c.portal.ID, func(m *person.Membership) { m.Unit = group })
	in, err := c.learns("pupil-1", "math")
	require.NoError(t, err)
	require.Equal(t, younger.ID, in.Membership)
	c.exec(`UPDATE unit SET parent_id = $3 WHERE org_id = $1 AND id = $2`, c.one, math, group)
	require.Equal(t, []id.Unit{math, group}, []id.Unit{comes("pupil-0", "math"), comes("pupil-0", "art")})
	// One that cannot be used is no way in.
	c.exec(`UPDATE membership SET enabled = false WHERE org_id = $1 AND id = $2`, c.one, own.Membership)
	require.Equal(t, art, comes("pupil-0", "art"))
}

// Whom a reading added that breaks off is in the log, once.
func TestAReadingThatBreaksOffIsLogged(t *testing.T) {
	c := newCourses(t)
	c.Answers("c", func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Has("second") {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		page("c", `[{"user_id":"pupil-1","roles":["Learner"]},{"user_id":"pupil-2","roles":["Learner"]}]`, `<`+r.URL.Path+"?"+r.URL.RawQuery+`&second=1>; rel="next"`)(w, r)
	})
	c.teaches("c")
	for range 2 {
		c.work()
		require.Equal(t, 1, c.count(`SELECT count(*) FROM activity WHERE org_id = $1 AND action = 'course.read'`, c.one))
		c.pass(course.Apart)
	}
	require.Equal(t, []any{"unavailable", int64(2)}, []any{c.courseOf("c").Trouble, c.courseOf("c").Failures})
	require.Equal(t, 1, c.count(`SELECT count(*) FROM activity WHERE org_id = $1 AND action = 'course.read' AND changes->>'added' = '2'`, c.one))
}

// What is confirmed is confirmed of the next reading, whatever comes of that, and for a day.
func TestAConfirmationEnds(t *testing.T) {
	c := newCourses(t)
	all := pupils(20)
	c.Enroll("math", all...)
	c.teaches("math")
	c.work()
	confirm := func() {
		t.Helper()
		require.NoError(t, c.inTx(func(ctx context.Context, tx *tenant.Tx) error {
			_, err := course.Ask(ctx, tx, c.courseOf("math").ID, true, person.Author{By: "test", At: c.clock.Now()})
			return err
		}))
		require.True(t, c.courseOf("math").Confirmed)
	}
	stays := func(after time.Duration) {
		t.Helper()
		c.Enroll("math", all[:3]...)
		c.pass(after)
		c.work()
		require.Equal(t, []any{20, int64(17), false}, []any{len(c.class("math")), c.courseOf("math").Kept, c.courseOf("math").Confirmed})
	}
	c.pass(course.Apart)
	confirm()
	c.Answers("math", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) })
	c.work()
	c.Answers("math", nil)
	stays(course.Apart)

	c.pass(course.Apart)
	confirm()
	c.set(door.Embed, door.Change{Open: false, Requires: []string{}})
	c.work()
	require.Equal(t, course.PortalClosed, c.courseOf("math").Trouble)
	c.set(door.Embed, door.Change{Open: true, Requires: []string{}})
	c.teaches("math")
	stays(course.Apart)

	c.pass(course.Apart)
	confirm()
	stays(2 * course.Every)
	c.pass(course.Apart)
	confirm()
	c.work()
	require.Len(t, c.class("math"), 3)
}
