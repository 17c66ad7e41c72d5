package apitest

import (
	"context"
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/route"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/learning/assignment"
)

// set is an exam that is set for people, beside the one that learners sit: whatever is set of
// it, for everyone say, takes no attempts from those.
func (w *World) set(t testing.TB, org *Org) string {
	t.Helper()
	w.Exam(t, org)
	k := "set exam" + org.ID.String()
	if _, ok := w.Made[k]; !ok {
		w.n++
		w.Made[k] = w.examOn(t, org, w.Made["exam's portal"+org.ID.String()])
	}
	return w.Made[k]
}

// AssignmentBody is a good body with every property of an assignment.
func (w *World) AssignmentBody(t testing.TB, org *Org) map[string]any {
	t.Helper()
	return map[string]any{
		"title": fmt.Sprint("Knots ", w.n), "subjectId": w.set(t, org), "kind": "assess",
		"audience": map[string]any{"unitIds": []any{}, "personIds": []any{w.Assignee(t, org)}, "everyone": false},
		"opensAt":  "2026-07-01T00:00:00Z", "dueAt": "2099-07-01T00:00:00Z", "closesAt": "2099-08-01T00:00:00Z", "timezone": "Europe/Berlin",
		"recurring": map[string]any{"everyMonths": 120}, "attemptsAllowed": 5, "passPercent": 50, "required": true, "reminders": []any{1, 7},
		"externalId": fmt.Sprint("work-", w.n), "metadata": map[string]any{"source": "tests"},
	}
}

func (w *World) assignmentChange(t testing.TB, org *Org) map[string]any {
	body := maps.Clone(w.AssignmentBody(t, org))
	delete(body, "subjectId")
	delete(body, "kind")
	// Years without end would recur for ever.
	body["recurring"] = nil
	return body
}

// Assignee is the one person of an organization for whom the tests' assignments are.
func (w *World) Assignee(t testing.TB, org *Org) string {
	t.Helper()
	k := "assignee" + org.ID.String()
	if _, ok := w.Made[k]; !ok {
		w.Made[k] = w.Learner(t, org)
	}
	return w.Made[k]
}

func (w *World) ofAssignee(t testing.TB, o *route.Operation, org *Org) map[string]any {
	body := map[string]any{"personId": w.Assignee(t, org), "reason": fmt.Sprint("reason ", w.n)}
	if o.ID == "grantAttempts" {
		body["extraAttempts"] = 1 + w.n%3
	} else {
		body["excused"] = true
	}
	return body
}

// Assign sets work of the organization's exam; more are properties beside those of a good body.
func (w *World) Assign(t testing.TB, org *Org, more map[string]any) string {
	t.Helper()
	w.n++
	body := map[string]any{"title": fmt.Sprint("Work ", w.n), "subjectId": w.Exam(t, org), "kind": "assess"}
	maps.Copy(body, more)
	return w.post(t, org, "createAssignment", "/assignments", body)["id"].(string)
}

// TendAssignments does what workers do for assignments, until nothing is left to do by a moment.
func (w *World) TendAssignments(t testing.TB, now time.Time) {
	t.Helper()
	work := &assignment.Worker{Tenants: w.Tenants, Outbox: w.Gate.Mails}
	w.runJobs(t, map[job.Kind]job.Work{job.AssignmentProgress: {Prepare: func(context.Context, job.Job) (job.Step, error) {
		return assignment.FollowSession, nil
	}}})
	for _, shard := range []string{"shard-1", "shard-2"} {
		for n := 1; n > 0; {
			n = 0
			for _, run := range []func() (int, error){
				func() (int, error) { return work.Turn(t.Context(), nil, shard, now) }, func() (int, error) { return work.Stir(t.Context(), nil, shard, now) },
				func() (int, error) { return work.Walk(t.Context(), nil, shard, now) }, func() (int, error) { return work.Remind(t.Context(), nil, shard, now) },
			} {
				some, err := run()
				require.NoError(t, err)
				n += some
			}
		}
	}
}

func init() {
	Kinds["/assignments/{id}"] = func(t testing.TB, w *World, org *Org) string {
		w.n++
		// So that there are several people to list.
		body := w.AssignmentBody(t, org)
		body["audience"] = map[string]any{"personIds": []any{w.Assignee(t, org), w.Learner(t, org), w.Learner(t, org)}}
		body["recurring"] = nil
		return w.post(t, org, "createAssignment", "/assignments", body)["id"].(string)
	}
	Kinds["/people/{id}/assignments"] = func(t testing.TB, w *World, org *Org) string {
		who := w.Learner(t, org)
		for range 3 {
			w.Assign(t, org, map[string]any{"audience": map[string]any{"personIds": []any{who}}})
		}
		return who
	}
	bodies["remindOfAssignment"] = func(int) map[string]any { return map[string]any{"personIds": []any{}} }
}
