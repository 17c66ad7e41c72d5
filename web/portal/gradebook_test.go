package portal_test

import (
	"context"
	"log/slog"
	"net/http"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/require"
	"k8s.io/utils/clock"
	clocktest "k8s.io/utils/clock/testing"

	"visavis.dev/api/apitest"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/learning/gradebook"
	"visavis.dev/pkg/learning/resourcelink"
	"visavis.dev/pkg/personas/connection"
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
		Tenants: c.made.Tenants, Opener: connection.NewOpener(c.made.Tenants, c.made.Vault, clock.RealClock{}), Egress: c.Guard(),
		Report: &connection.Reporter{Tenants: c.made.Tenants, Clock: t.clock, Log: slog.New(slog.DiscardHandler)}, Sign: c.made.Registry.SignToken, Clock: t.clock,
	})
	t.runner = &job.Runner{Tenants: c.made.Tenants, Works: teller.Background().Works, Clock: t.clock, Log: slog.New(slog.DiscardHandler)}
	return t
}

// all is what was told once everything is that can be now.
func (t *tells) all() []ltitest.Score {
	t.Helper()
	t.clock.Step(31 * time.Second) // what a worker of other jobs met is tried again then
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

// links counts the links that are kept.
func (c *campus) links() (n int) {
	c.Helper()
	require.NoError(c.school, c.made.Tenants.InTx(c.Context(), c.org, func(ctx context.Context, tx *tenant.Tx) error {
		return tx.QueryRow(ctx, `SELECT count(*) FROM resource_link WHERE org_id = $1`, c.org).Scan(&n)
	}))
	return n
}
