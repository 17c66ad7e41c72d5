package signin_test

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	clocktest "k8s.io/utils/clock/testing"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/learning/course"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/personas/dispatch"
	"visavis.dev/pkg/portals/door"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/provider/lti/ltitest"
	"visavis.dev/pkg/store/file"
	"visavis.dev/pkg/store/sweep"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/visits/signin"
)

// courses are those of a platform, whose members workers read.
type courses struct {
	*taught
	ticks  *clocktest.FakeClock
	runner *job.Runner
	sign   func(context.Context, id.Org, jwt.Claims) (string, error)
}

func newCourses(t *testing.T, changes ...func(map[string]any)) *courses {
	t.Helper()
	c := &courses{taught: newTaught(t, changes...)}
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	c.ToolKeys = func() []byte {
		text, err := json.Marshal(map[string]any{"keys": []any{ltitest.JWK("tool", &key.PublicKey)}})
		require.NoError(t, err)
		return text
	}
	c.sign = func(_ context.Context, _ id.Org, claims jwt.Claims) (string, error) {
		token := jwt.NewWithClaims(jwt.SigningMethodRS256, claims)
		token.Header["kid"] = "tool"
		return token.SignedString(key)
	}
	c.ticks = clocktest.NewFakeClock(c.clock.Now())
	c.runner = c.worker()
	return c
}

// worker is one more that reads courses.
func (c *courses) worker() *job.Runner {
	d := sweep.Deps{Tenants: c.tenants, Clock: c.clock}
	reader := course.NewReader(course.Options{
		Tenants: c.tenants, Opener: c.gate.Connections, Egress: c.Guard(), Sign: c.sign, Terms: c.gate.Terms, Clock: c.clock,
		Report: &connection.Reporter{Tenants: c.tenants, Clock: c.ticks, Log: slog.New(slog.DiscardHandler)},
	}).Background(d)
	return &job.Runner{
		Tenants: c.tenants, Works: reader.Works, Steps: dispatch.Resumer{connection.LTI: course.ResumeSome}.Background().Steps, Clock: c.ticks,
		Log: slog.New(slog.DiscardHandler),
	}
}

// pass lets time go by.
func (c *courses) pass(d time.Duration) {
	c.clock.SetTime(c.clock.Now().Add(d))
	c.ticks.SetTime(c.clock.Now())
}

// work has everything done that is due, and answers how many steps there were.
func (c *courses) work() (all int) {
	c.Helper()
	for range 1000 {
		made, err := c.runner.Advance(context.Background(), "a")
		require.NoError(c.T, err)
		if all += made; made == 0 {
			return all
		}
	}
	c.Fatal("work never ends")
	return all
}

// teaches has somebody who teaches come from a course.
func (c *courses) teaches(name string) signin.Launched {
	c.Helper()
	c.Claims = func(k jwt.MapClaims) {
		k["sub"], k["name"] = "teacher", "Tess Teacher"
		ltitest.Instructor(k)
		c.From(k, name)
	}
	in, err := c.come()
	require.NoError(c.T, err)
	return in
}

// learns has a learner come from a course.
func (c *courses) learns(user, name string) (signin.Launched, error) {
	c.Helper()
	c.Claims = func(k jwt.MapClaims) {
		k["sub"], k["name"] = user, "Name of "+user
		c.From(k, name)
	}
	return c.come()
}

// courseOf is a course of the organization.
func (c *courses) courseOf(name string) course.Course {
	c.Helper()
	all, err := course.List(c.Context(), c.tenants, c.one, c.connection, id.Course{}, 100)
	require.NoError(c.T, err)
	for _, each := range all {
		if each.Context == name {
			return each.Course
		}
	}
	c.Fatal("there is no course ", name)
	return course.Course{}
}

// class are the names and roles of who is in the class of a course.
func (c *courses) class(name string) []string {
	c.Helper()
	unit := c.courseOf(name).Unit
	var found []string
	require.NoError(c.T, c.inTx(func(ctx context.Context, tx *tenant.Tx) (err error) {
		found, err = tenant.AllIn(ctx, tx, pgx.RowTo[string], `
			SELECT p.name || ' ' || m.role FROM membership m JOIN person p ON p.org_id = m.org_id AND p.id = m.person_id
			WHERE m.org_id = $1 AND m.unit_id = $2 AND m.removed_at IS NULL ORDER BY 1`, c.one, unit)
		return err
	}))
	return found
}

// pupils are learners whose names are those of the platform.
func pupils(n int) (all []ltitest.Member) {
	for i := range n {
		all = append(all, ltitest.Learns(fmt.Sprint("pupil-", i), fmt.Sprintf("Pupil %03d", i)))
	}
	return all
}

func TestTheMembersOfACourseAreInItsClass(t *testing.T) {
	c := newCourses(t, func(config map[string]any) { config["teachers"] = true })
	c.Enroll("math", append(pupils(3), ltitest.Teaches("teacher", "Tess Teacher"), ltitest.Teaches("second", "Sam Second"))...)
	c.PerPage("math", 2)
	c.teaches("math")
	require.Positive(t, c.work())
	require.Equal(t, 3, c.Listed("math"))
	require.Equal(t, []string{"Pupil 000 learner", "Pupil 001 learner", "Pupil 002 learner", "Sam Second teacher"}, c.class("math"),
		"who teaches the whole portal needs no place in it")
	of := c.courseOf("math")
	require.Equal(t, []any{"Course math", "", int64(0), int64(0), true}, []any{of.Title, of.Trouble, of.Kept, of.Failures, of.ReadAt != nil})

	// Who is listed is who comes.
	people := c.persons()
	in, err := c.learns("pupil-1", "math")
	require.NoError(t, err)
	require.Equal(t, []any{"Pupil 001", people}, []any{in.Name, c.persons()})
	require.Equal(t, 1, c.count(`SELECT count(*) FROM membership WHERE org_id = $1 AND id = $2 AND unit_id = $3`, c.one, in.Membership, of.Unit))
	require.Nil(t, in.Sits.Email)
}

// However many come at once and however many workers there are, a course has one job, and is read once in ten minutes.
func TestReadingsDoNotMultiply(t *testing.T) {
	c := newCourses(t)
	c.Enroll("math", pupils(120)...)
	var group sync.WaitGroup
	for i := range 8 {
		q := c.begin()
		c.Claims = func(k jwt.MapClaims) {
			k["sub"] = fmt.Sprint("teacher-", i%2)
			ltitest.Instructor(k)
			c.From(k, "math")
		}
		given := c.Answer(q.URL)
		group.Go(func() { _, _ = c.finish(q, given) })
	}
	group.Wait()
	require.Equal(t, 1, c.count(`SELECT count(*) FROM job WHERE org_id = $1 AND kind = 'course_read'`, c.one))
	require.Equal(t, 2, c.persons(), "who comes twice at once is one person")
	for range 4 {
		w := c.worker()
		group.Go(func() {
			for range 10 {
				_, _ = w.Advance(context.Background(), "a")
			}
		})
	}
	group.Wait()
	c.work()
	require.Equal(t, 2, c.Listed("math"), "the pages of one reading")
	require.Len(t, c.class("math"), 120)
	require.Equal(t, 122, c.persons())

	for range 9 {
		c.pass(time.Minute)
		c.teaches("math")
		c.work()
	}
	require.Equal(t, 2, c.Listed("math"))
	c.pass(time.Minute)
	c.work()
	require.Equal(t, 4, c.Listed("math"), "whoever came meanwhile is not forgotten")
	c.pass(23 * time.Hour)
	c.work()
	require.Equal(t, 4, c.Listed("math"))
	c.pass(time.Hour)
	c.work()
	require.Equal(t, 6, c.Listed("math"), "else it is read once a day")
	require.Equal(t, 1, c.count(`SELECT count(*) FROM job WHERE org_id = $1 AND kind = 'course_read'`, c.one))

	// A learner's launch has nothing read, nor has one that does not say where members are.
	c.Enroll("art", pupils(1)...)
	_, err := c.learns("pupil-1", "art")
	require.NoError(t, err)
	c.Claims = func(k jwt.MapClaims) { ltitest.Instructor(k) }
	_, err = c.come()
	require.NoError(t, err)
	c.work()
	require.Zero(t, c.Listed("art"))
	require.Equal(t, 1, c.count(`SELECT count(*) FROM course WHERE org_id = $1`, c.one))
}

// page answers a page with members as they stand there.
func page(of, members, link string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if link != "" {
			w.Header().Set("Link", link)
		}
		_, _ = io.WriteString(w, `{"context":{"id":"`+of+`"},"members":`+members+`}`)
	}
}

// What cannot be a list of the course is none, and changes nobody's place; who asks for much gets little.
func TestListsThatAreNone(t *testing.T) {
	c := newCourses(t)
	one := `[{"user_id":"pupil-7","roles":["Learner"]}]`
	for name, bad := range map[string]struct {
		by     http.HandlerFunc
		code   string
		listed int
	}{
		"many empty members":     {page("c", "[{}"+strings.Repeat(",{}", 1_000_000)+"]", ""), "malformed", 1},
		"many members":           {page("c", "[{}"+strings.Repeat(",{}", 5_000)+"]", ""), "malformed", 1},
		"much":                   {page("c", `[{"user_id":"`+strings.Repeat("x", 5<<20)+`"}]`, ""), "malformed", 1},
		"another course":         {page("d", one, ""), "malformed", 1},
		"no members":             {page("c", "null", ""), "malformed", 1},
		"no JSON":                {func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") }, "malformed", 1},
		"no container":           {func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "{}") }, "malformed", 1},
		"half":                   {func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"members":[`) }, "truncated", 1},
		"next elsewhere":         {page("c", one, `<https://elsewhere.example.com/2>; rel="next"`), "address_refused", 1},
		"next inside":            {page("c", one, `<https://169.254.169.254/latest>; rel=next`), "address_refused", 1},
		"next without TLS":       {page("c", one, `<`+strings.Replace(c.URL, "https", "http", 1)+`/2>; rel="next"`), "address_refused", 1},
		"next by another name":   {page("c", one, `<https://x@`+strings.TrimPrefix(c.URL, "https://")+`/2>; rel="next"`), "address_refused", 1},
		"a redirect":             {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/keys", http.StatusFound) }, "rejected", 1},
		"a course that is gone":  {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) }, "rejected", 1},
		"one that is not for us": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }, "refused", 2},
		"pages that have no end": {func(w http.ResponseWriter, r *http.Request) {
			q := r.URL.Query()
			n, _ := strconv.Atoi(q.Get("n"))
			q.Set("n", strconv.Itoa(n+1))
			page("c", "[]", `<`+r.URL.Path+"?"+q.Encode()+`>; rel="next"`)(w, r)
		}, course.TooLarge, course.MaxPages},
	} {
		t.Run(name, func(t *testing.T) {
			course := strings.ReplaceAll(name, " ", "-")
			c.Answers(course, func(w http.ResponseWriter, r *http.Request) {
				if bad.code != "malformed" || name != "another course" {
					w = &renamed{w, course}
				}
				bad.by(w, r)
			})
			c.teaches(course)
			c.work()
			of := c.courseOf(course)
			require.Equal(t, []any{bad.code, int64(1), bad.listed, true}, []any{of.Trouble, of.Failures, c.Listed(course), of.ReadAt == nil})
		})
	}
	require.Equal(t, 1, c.persons(), "the teacher alone")
}

// renamed writes a page as one of another course.
type renamed struct {
	http.ResponseWriter
	of string
}

func (r *renamed) Write(b []byte) (int, error) {
	_, err := r.ResponseWriter.Write([]byte(strings.Replace(string(b), `{"id":"c"}`, `{"id":"`+r.of+`"}`, 1)))
	return len(b), err
}

func (r *renamed) WriteString(s string) (int, error) { return r.Write([]byte(s)) }

// A page takes memory by what is kept of its members.
func TestAListTakesLittleMemory(t *testing.T) {
	c := newCourses(t)
	c.Answers("c", page("c", "[{}"+strings.Repeat(",{}", 1_390_000)+"]", ""))
	c.teaches("c")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	c.work()
	runtime.ReadMemStats(&after)
	require.Equal(t, 1, c.Listed("c"))
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(100<<20))
}

// Who leaves the course leaves its class, with results and person kept, and comes back with the course.
func TestWhoLeavesACourse(t *testing.T) {
	c := newCourses(t)
	all := pupils(8)
	c.Enroll("math", all...)
	c.teaches("math")
	c.work()
	people := c.persons()
	in, err := c.learns("pupil-7", "math")
	require.NoError(t, err)
	next := func(members ...ltitest.Member) {
		c.Enroll("math", members...)
		c.pass(course.Every)
		c.work()
	}
	gone := slices.Clone(all)
	gone[7].Status = "Inactive"
	next(gone...)
	require.Len(t, c.class("math"), 7)
	require.Equal(t, people, c.persons())
	require.Equal(t, 1, c.count(`SELECT count(*) FROM membership WHERE org_id = $1 AND id = $2 AND removed_at IS NOT NULL`, c.one, in.Membership))
	// Whoever comes by a launch of a course is in it, whatever the last list said.
	back, err := c.learns("pupil-7", "math")
	require.NoError(t, err)
	require.Equal(t, in.Person, back.Person)
	require.Len(t, c.class("math"), 8)
	next(all[:7]...)
	require.Len(t, c.class("math"), 7)
	next(all...)
	require.Len(t, c.class("math"), 8)
	require.Equal(t, people, c.persons())

	// Whom the organization takes out of the class, or off the portal, stays out.
	c.exec(`UPDATE membership SET removed_at = $3 WHERE org_id = $1 AND person_id = $2 AND removed_at IS NULL`, c.one, in.Person, c.clock.Now())
	next(all...)
	require.Len(t, c.class("math"), 7)
	_, err = c.learns("pupil-7", "math")
	c.refused(signin.Code(person.NoMembership), err)
	c.Enroll("art", all...)
	c.teaches("art")
	c.work()
	require.Len(t, c.class("art"), 7)
	// Whose place is more by now keeps it.
	c.exec(`UPDATE membership SET role = 'manager' WHERE org_id = $1 AND unit_id = $2 AND person_id = (SELECT person_id FROM person_identity WHERE org_id = $1 AND subject = 'pupil-6')`,
		c.one, c.courseOf("math").Unit)
	next(all[:6]...)
	require.Contains(t, c.class("math"), "Pupil 006 manager")
}

// A list that is empty, or much shorter, empties no class, at once or little by little, until somebody confirms it.
func TestAListThatShrinks(t *testing.T) {
	c := newCourses(t)
	all := pupils(20)
	c.Enroll("math", all...)
	c.teaches("math")
	c.work()
	next := func(members []ltitest.Member, in int, kept int64) {
		t.Helper()
		c.Enroll("math", members...)
		c.pass(course.Every)
		c.work()
		of := c.courseOf("math")
		require.Equal(t, []any{in, kept, kept > 0}, []any{len(c.class("math")), of.Kept, of.Trouble == course.ListShrank})
	}
	next([]ltitest.Member{}, 20, 20)
	next(append(all[:3:3], ltitest.Teaches("teacher", "Tess")), 20, 17)
	idle := slices.Clone(all)
	for i := range idle {
		idle[i].Status = "Inactive"
	}
	next(idle, 20, 20)
	next(all[:16], 16, 0)
	next(all[:15], 15, 0)
	next(all[:14], 15, 1)
	next(all[:10], 15, 5)
	// Who is in a list that leaves out too many is still added.
	next(append(slices.Clone(all[:10]), ltitest.Learns("new", "New")), 16, 5)
	require.Equal(t, 1, c.count(`SELECT count(*) FROM activity WHERE org_id = $1 AND action = 'course.read' AND changes->>'added' = '20'`, c.one))
	confirm := func(of id.Course) error {
		return c.inTx(func(ctx context.Context, tx *tenant.Tx) error {
			_, err := course.Ask(ctx, tx, of, true, person.Author{By: "test", At: c.clock.Now()})
			return err
		})
	}
	require.Error(t, confirm(id.NewCourse()))
	require.NoError(t, confirm(c.courseOf("math").ID))
	c.work()
	require.Len(t, c.class("math"), 16, "it was read just now")
	c.pass(course.Apart)
	c.work()
	require.Equal(t, []any{11, int64(0), ""}, []any{len(c.class("math")), c.courseOf("math").Kept, c.courseOf("math").Trouble})
	// It is confirmed once.
	next([]ltitest.Member{}, 11, 11)
	// What was long ago counts no more.
	c.pass(31 * 24 * time.Hour)
	next(append(slices.Clone(all[:8]), ltitest.Learns("new", "New")), 9, 0)
}

// Courses that are broken, or never answer, keep no other waiting, of this organization or another.
func TestBrokenCoursesBlockNoOther(t *testing.T) {
	c := newCourses(t)
	hang := make(chan struct{})
	t.Cleanup(func() { close(hang) })
	for _, name := range []string{"hangs-1", "hangs-2", "hangs-3"} {
		c.Answers(name, func(_ http.ResponseWriter, r *http.Request) {
			select {
			case <-hang:
			case <-r.Context().Done():
			}
		})
		c.teaches(name)
	}
	for _, name := range []string{"fails-1", "fails-2"} {
		c.Answers(name, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) })
		c.teaches(name)
	}
	for i := range 6 {
		name := fmt.Sprint("good-", i)
		c.Enroll(name, pupils(2)...)
		c.teaches(name)
	}
	c.exec(`UPDATE connection SET timeout_ms = 500 WHERE org_id = $1`, c.one)
	c.pass(2 * time.Second)
	c.work()
	for i := range 6 {
		require.Len(t, c.class(fmt.Sprint("good-", i)), 2)
	}
	for name, code := range map[string]string{"hangs-1": "timeout", "fails-1": "unavailable"} {
		require.Equal(t, []any{code, int64(1)}, []any{c.courseOf(name).Trouble, c.courseOf(name).Failures})
	}
	// Each waits longer every time, and alone.
	for range 12 {
		c.pass(30 * time.Minute)
		c.work()
	}
	require.InDelta(t, 6, c.Listed("fails-1"), 2)
	require.Equal(t, 1, c.Listed("good-1"))
	c.Answers("fails-1", nil)
	c.Enroll("fails-1", pupils(2)...)
	c.pass(6 * time.Hour)
	c.work()
	require.Equal(t, []any{2, "", int64(0)}, []any{len(c.class("fails-1")), c.courseOf("fails-1").Trouble, c.courseOf("fails-1").Failures})
}

// Who is erased does not come back with a list, and is somebody new if they come themselves.
func TestWhoIsErasedStaysErased(t *testing.T) {
	c := newCourses(t)
	c.Enroll("math", pupils(4)...)
	c.Enroll("art", pupils(4)...)
	c.teaches("math")
	c.work()
	in, err := c.learns("pupil-1", "math")
	require.NoError(t, err)
	var j job.Job
	require.NoError(t, c.inTx(func(ctx context.Context, tx *tenant.Tx) (err error) {
		j, err = person.Erase(ctx, tx, in.Person, person.Author{By: "test", At: c.clock.Now()})
		return err
	}))
	read := func() {
		c.teaches("art")
		c.pass(course.Every)
		c.work()
	}
	read()
	require.Equal(t, []int{3, 3}, []int{len(c.class("math")) - 1, len(c.class("art"))}, "while it is under way too")
	eraser := person.Eraser{Files: file.New(nil, c.tenants, c.clock), Forget: person.ForgetEach(course.ForgetPerson)}
	for range 50 {
		if j.State.Ended() {
			break
		}
		require.NoError(t, c.inTx(func(ctx context.Context, tx *tenant.Tx) error {
			_, err := eraser.Step(ctx, tx, &j, c.clock.Now())
			return err
		}))
	}
	require.Equal(t, job.Succeeded, j.State)
	require.Zero(t, c.count(`SELECT count(*) FROM course_member WHERE org_id = $1 AND person_id = $2`, c.one, in.Person))
	people := c.persons()
	read()
	require.Equal(t, []int{3, 3, people}, []int{len(c.class("math")), len(c.class("art")), c.persons()})
	again, err := c.learns("pupil-1", "math")
	require.NoError(t, err)
	require.NotEqual(t, in.Person, again.Person)
	read()
	require.Equal(t, []int{4, 4, people + 1}, []int{len(c.class("math")), len(c.class("art")), c.persons()})
}

// A list makes nobody somebody else, and changes nobody.
func TestAListTakesNobodyOver(t *testing.T) {
	c := newCourses(t)
	other := c.member("pupil-0@example.com")
	name := c.count(`SELECT length(name) FROM person WHERE org_id = $1 AND id = $2`, c.one, other.Person)
	c.Enroll("math", pupils(1)...)
	c.teaches("math")
	c.work()
	require.Zero(t, c.count(`SELECT count(*) FROM person WHERE org_id = $1 AND email IS NOT NULL AND id <> $2`, c.one, other.Person))
	require.Zero(t, c.count(`SELECT count(*) FROM membership WHERE org_id = $1 AND person_id = $2 AND unit_id IS NOT NULL`, c.one, other.Person))
	c.Enroll("math", ltitest.Learns("pupil-0", "Somebody Else"), ltitest.Member{User: "parent", Roles: []string{"http://purl.imsglobal.org/vocab/lis/v2/membership#Mentor"}},
		ltitest.Member{User: "admin", Roles: []string{"http://purl.imsglobal.org/vocab/lis/v2/system/person#Administrator"}}, ltitest.Member{User: "odd\x00", Roles: []string{"Learner"}},
		ltitest.Member{User: "view", Roles: []string{"Learner", "http://purl.imsglobal.org/vocab/lti/system/person#TestUser"}}, ltitest.Teaches("second", "Sam"))
	c.pass(course.Every)
	c.work()
	require.Equal(t, []string{"Pupil 000 learner"}, c.class("math"), "who teaches is not in it where the connection has no teachers")
	require.Equal(t, name, c.count(`SELECT length(name) FROM person WHERE org_id = $1 AND id = $2`, c.one, other.Person))
}

// Nobody is added by a list who could not be by a launch.
func TestAListIsNoWayAroundADoor(t *testing.T) {
	for name, tt := range map[string]struct {
		portal  func(*portal.Portal)
		config  func(map[string]any)
		in      int
		trouble string
	}{
		"an age that is not told": {func(p *portal.Portal) { p.Definition.GuardianConsentUnder = new(int64(16)) }, func(map[string]any) {}, 0, course.AgeRequired},
		"who is too young":        {func(p *portal.Portal) { p.Definition.MinAge = new(int64(16)) }, func(c map[string]any) { c["ageBand"] = "13_15" }, 0, course.AgeRequired},
		"who needs a guardian":    {func(p *portal.Portal) { p.Definition.GuardianConsentUnder = new(int64(16)) }, func(c map[string]any) { c["ageBand"] = "13_15" }, 2, ""},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCourses(t, tt.config)
			c.Enroll("math", pupils(2)...)
			c.teaches("math")
			c.exec(`UPDATE portal_version SET definition = definition || $2 WHERE org_id = $1`, c.one, rules(tt.portal))
			c.work()
			require.Equal(t, []any{tt.in, tt.trouble}, []any{len(c.class("math")), c.courseOf("math").Trouble})
			if tt.in > 0 {
				_, err := c.learns("pupil-1", "math")
				c.refused(signin.Code(person.GuardianConsentMissing), err)
			}
		})
	}
	c := newCourses(t)
	c.Enroll("math", pupils(2)...)
	c.teaches("math")
	c.set(door.Embed, door.Change{Open: false, Requires: []string{}})
	c.work()
	require.Equal(t, []any{course.PortalClosed, 1, true, 0, 0}, []any{c.courseOf("math").Trouble, c.persons(), c.courseOf("math").Job.IsZero(), c.Listed("math"), c.Given()})
	c.set(door.Embed, door.Change{Open: true, Requires: []string{"name"}})
	c.Enroll("math", append(pupils(2), ltitest.Learns("unnamed", ""))...)
	c.teaches("math")
	c.pass(course.Apart)
	c.work()
	require.Len(t, c.class("math"), 2)
	c.set(door.Embed, door.Change{Open: true, Requires: []string{}})
	c.pass(course.Every)
	c.work()
	require.Len(t, c.class("math"), 3)
}

// rules are what a change makes of a portal's rules.
func rules(change func(*portal.Portal)) map[string]any {
	var p portal.Portal
	change(&p)
	return map[string]any{"minAge": p.Definition.MinAge, "guardianConsentUnder": p.Definition.GuardianConsentUnder}
}

// A connection that is another platform's is not asked for the courses of the one before; one that is switched off is
// asked for none, and all of them once it is on again.
func TestACourseIsItsPlatformsAlone(t *testing.T) {
	c := newCourses(t)
	c.Enroll("math", pupils(2)...)
	c.teaches("math")
	c.exec(`UPDATE connection SET config = config || '{"clientId": "tool-2"}' WHERE org_id = $1`, c.one)
	c.pass(2 * time.Second)
	c.work()
	require.Equal(t, []any{course.PlatformChanged, 0, 0}, []any{c.courseOf("math").Trouble, c.Listed("math"), c.Given()})
	c.exec(`UPDATE connection SET config = config || '{"clientId": "tool-1"}', state = 'disabled' WHERE org_id = $1`, c.one)
	resume := func() {
		require.NoError(t, c.inTx(func(ctx context.Context, tx *tenant.Tx) error {
			_, err := course.ResumeSome(ctx, tx, c.connection, c.clock.Now())
			return err
		}))
	}
	c.pass(2 * time.Minute)
	resume()
	c.work()
	require.Equal(t, course.Disabled, c.courseOf("math").Trouble)
	c.exec(`UPDATE connection SET state = 'active' WHERE org_id = $1`, c.one)
	c.pass(2 * time.Minute)
	resume()
	c.work()
	require.Equal(t, []any{"", 1}, []any{c.courseOf("math").Trouble, c.Listed("math")})

	// Courses go with their connection; classes stay.
	c.exec(`UPDATE connection SET deleted_at = now() WHERE org_id = $1`, c.one)
	for range 2 {
		_, err := course.Sweep(t.Context(), c.tenants, "a")
		require.NoError(t, err)
	}
	require.Zero(t, c.count(`SELECT (SELECT count(*) FROM course WHERE org_id = $1) + (SELECT count(*) FROM course_member WHERE org_id = $1)`, c.one))
	require.Equal(t, 2, c.count(`SELECT count(*) FROM membership WHERE org_id = $1 AND unit_id IS NOT NULL AND removed_at IS NULL`, c.one))
	c.pass(course.Every)
	c.work()
	require.Zero(t, c.count(`SELECT count(*) FROM job WHERE org_id = $1 AND kind = 'course_read'`, c.one))
}

// A plan that is full adds nobody, and leaves who is there.
func TestACourseOfMoreThanThePlanAllows(t *testing.T) {
	c := newCourses(t)
	c.Enroll("math", pupils(60)...)
	c.teaches("math")
	c.terms = plan.Terms{Limits: plan.Limits{plan.Members: new(int64(31))}}
	c.work()
	require.Equal(t, []any{30, course.PeopleLimit}, []any{len(c.class("math")), c.courseOf("math").Trouble})
}

// Two workers that read the same page, as one whose lease ended unnoticed, give everybody one place.
func TestTwoWorkersReadTheSamePage(t *testing.T) {
	c := newCourses(t)
	c.Enroll("math", pupils(80)...)
	c.Enroll("art", pupils(80)...)
	c.teaches("math")
	c.teaches("art")
	var group sync.WaitGroup
	for _, name := range []string{"math", "art", "math", "art"} {
		j, err := job.Get(t.Context(), c.tenants, c.one, c.courseOf(name).Job)
		require.NoError(t, err)
		prepare := c.worker().Works[job.CourseRead].Prepare
		group.Go(func() { _, _ = prepare(context.Background(), j) })
	}
	group.Wait()
	c.work()
	require.Equal(t, []int{80, 80, 81}, []int{len(c.class("math")), len(c.class("art")), c.persons()})
	require.Equal(t, 2, c.count(`SELECT count(*) FROM unit WHERE org_id = $1 AND kind = 'class'`, c.one))
}
