package portal_test

import (
	"context"
	"log/slog"
	"net/http"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/require"
	clocktest "k8s.io/utils/clock/testing"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/learning/course"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/provider/lti/ltitest"
	"visavis.dev/pkg/store/sweep"
)

// Who teaches a course sees all of its members, also those who never came, and what is set for the class reaches them.
func TestATeacherSeesTheWholeCourse(t *testing.T) {
	t.Parallel()
	c := newCampus(t, func(config map[string]any) { config["teachers"] = true })
	c.Enroll("math", ltitest.Teaches("teacher", "Tess Teacher"), ltitest.Learns("user-1", "Kim Lee"), ltitest.Learns("user-2", "Noor Never"))
	_, body, _ := c.see(&somebody{}, c.at+"/config.json")
	require.Contains(t, body, "contextmembership.readonly")
	teaches := func() *somebody {
		return c.learns(func(k jwt.MapClaims) {
			k["sub"], k["name"] = "teacher", "Tess Teacher"
			ltitest.Instructor(k)
			c.From(k, "math")
		})
	}
	teacher := teaches()
	var courses []struct {
		ID, Title      string
		UnitID         *string
		Members        int
		ErrorCode      *string
		ReadAt, NextAt *time.Time
	}
	list := func() {
		t.Helper()
		c.call(http.MethodGet, "/connections/"+c.connection+"/courses", nil, &courses)
		require.Len(t, courses, 1)
	}
	list()
	require.Equal(t, []any{"Course math", (*string)(nil), (*time.Time)(nil), false}, []any{courses[0].Title, courses[0].UnitID, courses[0].ReadAt, courses[0].NextAt == nil})

	ticks := clocktest.NewFakeClock(time.Now().Add(31 * time.Second)) // what a worker of other jobs met is tried again then
	reader := course.NewReader(course.Options{
		Tenants: c.made.Tenants, Opener: connection.NewOpener(c.made.Tenants, c.made.Vault, ticks), Egress: c.Guard(), Clock: ticks, Sign: c.made.Registry.SignToken,
		Report: &connection.Reporter{Tenants: c.made.Tenants, Clock: ticks, Log: slog.New(slog.DiscardHandler)},
		Terms:  func(context.Context, id.Org) (plan.Terms, error) { return plan.Terms{}, nil },
	})
	runner := &job.Runner{
		Tenants: c.made.Tenants, Works: reader.Background(sweep.Deps{Tenants: c.made.Tenants, Clock: ticks}).Works, Clock: ticks, Log: slog.New(slog.DiscardHandler),
	}
	for made := 1; made > 0; {
		var err error
		made, err = runner.Advance(t.Context(), "shard-1")
		require.NoError(t, err)
	}
	list()
	require.Equal(t, []any{2, (*string)(nil), false}, []any{courses[0].Members, courses[0].ErrorCode, courses[0].ReadAt == nil})

	kim := c.learns(func(k jwt.MapClaims) { c.From(k, "math") })
	page := c.shows(teacher, "/class")
	require.Regexp(t, `Kim Lee</a></th><td dir="auto">Course math</td><td>has come</td>`, page)
	require.Regexp(t, `Noor Never</a></th><td dir="auto">Course math</td><td>has not come yet</td>`, page)

	var made struct{ ID string }
	c.call(http.MethodPost, "/assignments", map[string]any{
		"title": "Loops", "subjectId": c.exam, "kind": "assess", "audience": map[string]any{"unitIds": []string{*courses[0].UnitID}},
	}, &made)
	var progress []struct{ State string }
	c.call(http.MethodGet, "/assignments/"+made.ID+"/progress", nil, &progress)
	require.Len(t, progress, 2)
	require.Contains(t, c.shows(kim, "/work"), "Loops")

	// It is asked for at once where somebody confirms, and logged.
	var asked struct{ NextAt *time.Time }
	c.call(http.MethodPost, "/courses/"+courses[0].ID+"/read", map[string]any{"confirmDepartures": true}, &asked)
	require.NotNil(t, asked.NextAt)
	require.Less(t, time.Until(*asked.NextAt), time.Hour)
	var entries []struct{ Action string }
	c.call(http.MethodGet, "/activity?action=course.read", nil, &entries)
	require.Len(t, entries, 1)
}
