package portal_test

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/require"
	clocktest "k8s.io/utils/clock/testing"

	"visavis.dev/api/apitest"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/learning/gradebook"
	"visavis.dev/pkg/learning/resourcelink"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/personas/dispatch"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/provider/lti/ltitest"
	"visavis.dev/pkg/store/tenant"
)

// tells has workers tell what is to be told, at a moment.
type tells struct {
	*campus
	clock  *clocktest.FakeClock
	runner *job.Runner
}

func newTells(c *campus) *tells {
	t := &tells{campus: c, clock: clocktest.NewFakeClock(time.Now())}
	teller := gradebook.New(gradebook.Options{
		Tenants: c.made.Tenants, Opener: connection.NewOpener(c.made.Tenants, c.made.Vault, t.clock), Egress: c.Guard(),
		Report: &connection.Reporter{Tenants: c.made.Tenants, Clock: t.clock, Log: slog.New(slog.DiscardHandler)}, Sign: c.made.Registry.SignToken, Clock: t.clock,
	})
	t.runner = &job.Runner{
		Tenants: c.made.Tenants, Works: teller.Background().Works, Steps: dispatch.Resumer{connection.LTI: resourcelink.ResumeSome}.Background().Steps,
		Clock: t.clock, Log: slog.New(slog.DiscardHandler),
	}
	return t
}

// all is what was told once everything is that can be now.
func (t *tells) all() []ltitest.Score {
	t.Helper()
	t.clock.Step(31 * time.Second) // what a worker of other jobs met is tried again then
	return t.now()
}

// now is what was told once everything is that is due at the moment.
func (t *tells) now() []ltitest.Score {
	t.Helper()
	for made := 1; made > 0; {
		var err error
		made, err = t.runner.Advance(context.Background(), "shard-1")
		require.NoError(t.school, err)
	}
	return t.Scores()
}

func TestGradesGoBack(t *testing.T) {
	t.Parallel()
	c := newCampus(t)
	told := newTells(c)
	teacher := c.comes("Tess Teacher", "teacher", "")
	kim := c.learns(func(k jwt.MapClaims) { c.Graded(k, "7") })

	// What is not released stays here.
	which := c.sits(kim, c.about(), apitest.UnsureAnswer)
	require.Empty(t, told.all())
	status, _, body := c.decides(teacher, which, "scores", map[string][]string{"score.loop": {"1"}, "reason": {"Half of it."}})
	require.Equal(t, http.StatusSeeOther, status, body)
	require.Empty(t, told.all())
	status, _, body = c.decides(teacher, which, "release", map[string][]string{})
	require.Equal(t, http.StatusSeeOther, status, body)
	scores := told.all()
	require.Len(t, scores, 1)
	require.Equal(t, []any{"user-1", "7", 50.0, 100.0, "Completed", "FullyGraded"},
		[]any{scores[0].User, scores[0].LineItem, *scores[0].Given, *scores[0].Maximum, scores[0].Activity, scores[0].Grading})
	require.Len(t, told.all(), 1, "it is told once")

	// Another score takes its place, once the platform is there again, which knows no token of before.
	c.Forget()
	c.Behave(http.StatusServiceUnavailable, http.StatusTooManyRequests)
	status, _, body = c.decides(teacher, which, "scores", map[string][]string{"score.loop": {"2"}, "reason": {"All of it."}})
	require.Equal(t, http.StatusSeeOther, status, body)
	require.Len(t, told.all(), 1)
	for range 3 {
		told.clock.Step(5 * time.Second)
		_, err := told.runner.Advance(t.Context(), "shard-1")
		require.NoError(t, err)
	}
	scores = c.Scores()
	require.Len(t, scores, 2)
	require.Equal(t, []any{100.0, 0, 2}, []any{*scores[1].Given, c.Conflicts(), c.Given()})

	// The attempt that was made last counts; once it is void, the one before; then none.
	second := c.sits(kim, c.about(), apitest.RightAnswer)
	require.Len(t, told.all(), 3)
	for _, v := range []string{second, which} {
		c.call(http.MethodPost, "/results/"+v+"/void", map[string]any{"reason": "It was a mistake."}, nil)
	}
	scores = told.all()
	last := scores[len(scores)-1]
	require.Nil(t, last.Given)
	require.Equal(t, []any{"Initialized", "NotReady", 0}, []any{last.Activity, last.Grading, c.Conflicts()})
	require.Equal(t, 2, c.Given(), "a token is used again")

	// Of a link that does not let scores be sent, and of who teaches, none are.
	c.learns(func(k jwt.MapClaims) {
		k["sub"] = "user-2"
		c.Graded(k, "8", "https://purl.imsglobal.org/spec/lti-ags/scope/lineitem.readonly")
	})
	c.learns(func(k jwt.MapClaims) { k["sub"] = "user-3" })
	require.Equal(t, 1, c.links())
	// A line item that is not public is never asked.
	lee := c.learns(func(k jwt.MapClaims) {
		k["sub"] = "user-4"
		c.Graded(k, "9")
		k["https://purl.imsglobal.org/spec/lti-ags/claim/endpoint"].(map[string]any)["lineitem"] = "https://169.254.169.254/items/9"
	})
	had := len(scores)
	c.sits(lee, c.about(), apitest.RightAnswer)
	require.Len(t, told.all(), had)

	// Who is erased leaves nothing of where they came from.
	var who []resourcelink.Key
	require.NoError(t, c.made.Tenants.InTx(t.Context(), c.org, func(ctx context.Context, tx *tenant.Tx) error {
		rows, err := tx.Query(ctx, `SELECT person_id FROM resource_link WHERE org_id = $1`, c.org)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var k resourcelink.Key
			if err := rows.Scan(&k.Person); err != nil {
				return err
			}
			who = append(who, k)
		}
		return rows.Err()
	}))
	require.Len(t, who, 2)
	for _, each := range who {
		require.NoError(t, c.made.Tenants.InTx(t.Context(), c.org, func(ctx context.Context, tx *tenant.Tx) error {
			_, err := person.ForgetEach(resourcelink.ForgetPerson)(ctx, tx, each.Person)
			return err
		}))
	}
	require.Zero(t, c.links())
}

// untold is what the organization is shown of what the platform was not told.
type untold struct {
	Kind, State, PersonID, SubjectID string
	ErrorCode                        *string
}

func (c *campus) untold() (all []untold) {
	c.Helper()
	c.call(http.MethodGet, "/connections/"+c.connection+"/untold", nil, &all)
	return all
}

// jobs counts those that tell platforms.
func (c *campus) jobs() (n int) {
	c.Helper()
	require.NoError(c.school, c.made.Tenants.InTx(c.Context(), c.org, func(ctx context.Context, tx *tenant.Tx) error {
		return tx.QueryRow(ctx, `SELECT count(*) FROM job WHERE org_id = $1 AND kind = 'grade_send'`, c.org).Scan(&n)
	}))
	return n
}

// graded makes a launch one whose score goes to a line item.
func (c *campus) graded(item string) func(jwt.MapClaims) {
	return func(k jwt.MapClaims) { c.Graded(k, item) }
}

// right sits the exam and has it released, with all points.
func (c *campus) right(who *somebody) string {
	c.Helper()
	return c.sits(who, c.about(), apitest.RightAnswer)
}

// A connection that becomes another platform's shows it no line item of the one before, and says so.
func TestALineItemIsItsPlatformsAlone(t *testing.T) {
	t.Parallel()
	c := newCampus(t)
	told := newTells(c)
	kim := c.learns(c.graded("7"))
	other := ltitest.New(t)
	config := c.Config(c.portalID)
	config["issuer"], config["ageBand"] = other.URL, "adult"
	c.call(http.MethodPatch, "/connections/"+c.connection, map[string]any{"config": config}, nil)
	require.Empty(t, c.untold())
	c.right(kim)
	require.Empty(t, told.all())
	require.Zero(t, c.Given(), "not even a token is asked for")
	found := c.untold()
	require.Len(t, found, 1)
	require.Equal(t, []any{"grade", "stopped", "platform_changed", c.exam}, []any{found[0].Kind, found[0].State, *found[0].ErrorCode, found[0].SubjectID})
	require.Zero(t, c.jobs(), "it is not tried in vain")

	// Another registration or deployment at the same platform is another one too.
	for _, change := range []map[string]any{{"clientId": "tool-2"}, {"deploymentIds": []any{"deployment-2"}}} {
		config := c.Config(c.portalID)
		maps.Copy(config, change)
		c.call(http.MethodPatch, "/connections/"+c.connection, map[string]any{"config": config}, nil)
		c.right(kim)
		require.Empty(t, told.all())
		require.Equal(t, "platform_changed", *c.untold()[0].ErrorCode)
	}
	// Once it is the platform's again, it is told.
	config = c.Config(c.portalID)
	config["ageBand"], config["frameOrigins"] = "adult", []string{"https://school.example.com"}
	c.call(http.MethodPatch, "/connections/"+c.connection, map[string]any{"config": config}, nil)
	require.Len(t, told.all(), 1)
	require.Empty(t, c.untold())
}

// However often somebody comes while something is untold, one job tells it.
func TestALinkHasOneJob(t *testing.T) {
	t.Parallel()
	c := newCampus(t)
	told := newTells(c)
	kim := c.learns(c.graded("7"))
	c.right(kim)
	c.right(kim)
	for range 3 {
		c.learns(c.graded("7"))
	}
	require.Equal(t, 1, c.jobs())
	require.Equal(t, "waiting", c.untold()[0].State)
	scores := told.all()
	require.Len(t, scores, 1)
	require.Zero(t, c.jobs())
	require.Empty(t, c.untold())

	// What the platform rejects is told no more, until something changes or somebody comes.
	c.Behave(http.StatusLocked, http.StatusFound, http.StatusNotFound)
	c.right(kim)
	for range 3 {
		require.Len(t, told.all(), 1)
		told.clock.Step(2 * time.Minute)
	}
	require.Equal(t, []any{"stopped", "rejected"}, []any{c.untold()[0].State, *c.untold()[0].ErrorCode})
	c.learns(c.graded("7"))
	require.Equal(t, []any{"waiting", (*string)(nil)}, []any{c.untold()[0].State, c.untold()[0].ErrorCode})
	require.Len(t, told.all(), 2)
	require.Empty(t, c.untold())

	// A platform that was away is told at once when its connection is changed.
	c.Behave(http.StatusServiceUnavailable)
	c.right(kim)
	require.Len(t, told.all(), 2)
	require.Len(t, told.now(), 2)
	config := c.Config(c.portalID)
	config["ageBand"] = "adult"
	c.call(http.MethodPatch, "/connections/"+c.connection, map[string]any{"config": config}, nil)
	require.Len(t, told.now(), 3)
	require.Empty(t, c.untold())

	// A connection that is switched off tells nothing; switched on, it goes on.
	c.call(http.MethodPatch, "/connections/"+c.connection, map[string]any{"enabled": false}, nil)
	c.right(kim)
	require.Len(t, told.all(), 3)
	require.Equal(t, "disabled", *c.untold()[0].ErrorCode)
	require.Zero(t, c.jobs())
	c.call(http.MethodPatch, "/connections/"+c.connection, map[string]any{"enabled": true}, nil)
	require.Len(t, told.all(), 4)
	require.Empty(t, c.untold())
	require.Zero(t, c.jobs())
}

// Links go with their connection, and what was to be told by them.
func TestLinksGoWithTheirConnection(t *testing.T) {
	t.Parallel()
	c := newCampus(t)
	told := newTells(c)
	kim := c.learns(c.graded("7"))
	c.learns(func(k jwt.MapClaims) { k["sub"] = "user-2"; c.Graded(k, "7") })
	c.right(kim)
	require.Equal(t, []int{2, 1}, []int{c.links(), c.jobs()})
	c.call(http.MethodDelete, "/connections/"+c.connection, nil, nil)
	require.Zero(t, c.links())
	require.Empty(t, told.all())
	require.Zero(t, c.jobs(), "it ends at once")

	// One that was kept while the connection was being deleted goes by itself.
	link := resourcelink.Link{Key: resourcelink.Key{Person: id.NewPerson(), Subject: id.NewSubject()}, LineItem: "https://moodle.example.com/1"}
	link.Connection, _ = id.ParseConnection(c.connection)
	keep := func() {
		require.NoError(t, c.made.Tenants.InTx(t.Context(), c.org, func(ctx context.Context, tx *tenant.Tx) error {
			if err := resourcelink.Keep(ctx, tx, link, time.Now()); err != nil {
				return err
			}
			return resourcelink.Follow(ctx, tx, link.Person, link.Subject, time.Now())
		}))
	}
	keep()
	require.Empty(t, told.all())
	require.Equal(t, []int{0, 0}, []int{c.links(), c.jobs()})
	keep()
	n, err := resourcelink.Sweep(t.Context(), c.made.Tenants, "shard-1")
	require.NoError(t, err)
	require.Equal(t, []int{1, 0}, []int{n, c.links()})
}

// A second worker that tells the same grade at the same moment, as one whose lease ended unnoticed,
// changes nothing: the platform has a score of that second, and says so.
func TestTwoWorkersTellTheSameGrade(t *testing.T) {
	t.Parallel()
	c := newCampus(t)
	told := newTells(c)
	kim := c.learns(c.graded("7"))
	result := c.right(kim)
	var which id.Job
	require.NoError(t, c.made.Tenants.InTx(t.Context(), c.org, func(ctx context.Context, tx *tenant.Tx) error {
		return tx.QueryRow(ctx, `SELECT id FROM job WHERE org_id = $1 AND kind = 'grade_send'`, c.org).Scan(&which)
	}))
	j, err := job.Get(t.Context(), c.made.Tenants, c.org, which)
	require.NoError(t, err)
	prepare := told.runner.Works[job.GradeSend].Prepare
	steps := make(chan error, 2)
	for range 2 {
		go func() {
			_, err := prepare(context.WithoutCancel(t.Context()), j)
			steps <- err
		}()
	}
	require.NoError(t, errors.Join(<-steps, <-steps))
	require.Len(t, c.Scores(), 1)
	require.Equal(t, 1, c.Conflicts())
	require.Len(t, told.all(), 1, "the conflict counts as heard")
	require.Equal(t, 2, c.Conflicts(), "as after a crash before it was noted")
	require.Empty(t, c.untold())
	require.Zero(t, c.jobs())

	// The next change is of a later second, however soon it comes.
	c.call(http.MethodPost, "/results/"+result+"/void", map[string]any{"reason": "It was a mistake."}, nil)
	require.Len(t, told.all(), 2)
	require.Equal(t, 2, c.Conflicts())
}

// links counts the links that are kept.
func (c *campus) links() (n int) {
	c.Helper()
	require.NoError(c.school, c.made.Tenants.InTx(c.Context(), c.org, func(ctx context.Context, tx *tenant.Tx) error {
		return tx.QueryRow(ctx, `SELECT count(*) FROM resource_link WHERE org_id = $1`, c.org).Scan(&n)
	}))
	return n
}
