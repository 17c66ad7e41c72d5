package signin_test

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	clocktest "k8s.io/utils/clock/testing"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/learning/course"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/personas/dispatch"
	"visavis.dev/pkg/provider/lti/ltitest"
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
