package assignment_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/learning/assignment"
	"visavis.dev/pkg/learning/record"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
)

// complete enters by hand that somebody completed the subject.
func (w *world) complete(who id.Person, at time.Time) (made record.Completion) {
	w.Helper()
	w.inTx(func(ctx context.Context, tx *tenant.Tx) (err error) {
		made, err = record.Complete(ctx, tx, record.Completion{
			Person: who, Subject: w.subject, Source: record.FromAPI, CompletedAt: at,
		}, activity.Actor{By: "key_test", At: at})
		return err
	})
	return made
}

// standing is where somebody stands with an assignment.
func (w *world) standing(which id.Assignment, who id.Person) (s assignment.Standing) {
	w.Helper()
	require.NoError(w, w.db.QueryRow(w.Context(), `
		SELECT state FROM assignment_person WHERE org_id = $1 AND assignment_id = $2 AND person_id = $3`, w.org, which, who).Scan(&s))
	return s
}

const toldCompleted = `SELECT count(*) FROM event_staged WHERE org_id = $1 AND type = 'assignment.completed'`

// A completion counts that was entered by hand before somebody had a part, or while they had
// left, and none of the time when the work was over.
func TestCompletionsThatComeBefore(t *testing.T) {
	w := newWorld(t)
	w.learners(2, "UTC")
	who := w.people()
	now := time.Date(2026, 3, 20, 12, 0, 0, 0, time.UTC)
	opens, closes := now.Add(-time.Hour), now.Add(time.Hour)
	w.complete(who[0], now)
	a := w.create(assignment.Assignment{Everyone: true, OpensAt: &opens, ClosesAt: &closes}, now)
	require.Equal(t, assignment.Completed, w.standing(a.ID, who[0]))
	require.Equal(t, assignment.Counts{Assigned: 2, Started: 1, Completed: 1}, w.get(a.ID).Counts)
	require.Equal(t, int64(1), w.count(toldCompleted))

	w.learners(1, "Europe/Berlin")
	var third id.Person
	for _, p := range w.people() {
		if p != who[0] && p != who[1] {
			third = p
		}
	}
	w.complete(third, now.Add(time.Minute))
	require.Equal(t, a.ID, w.chosen(third, "assessment", now.Add(2*time.Minute)))
	require.Equal(t, assignment.Completed, w.standing(a.ID, third))

	w.until(closes, w.worker.Turn)
	w.until(closes, w.worker.Walk)
	w.complete(who[1], closes)
	require.Equal(t, assignment.NotStarted, w.standing(a.ID, who[1]), "it was closed by then")
}

// Of who is excused, or has left, nothing is told.
func TestNothingIsToldOfWhoIsExcused(t *testing.T) {
	w := newWorld(t)
	w.learners(2, "UTC")
	who := w.people()
	now := time.Date(2026, 3, 20, 12, 0, 0, 0, time.UTC)
	a := w.create(assignment.Assignment{Everyone: true}, now)
	w.inTx(func(ctx context.Context, tx *tenant.Tx) error {
		_, err := assignment.Excuse(ctx, tx, a.ID, who[0], true, nil, activity.Actor{By: "key_test", At: now})
		return err
	})
	w.exec(`UPDATE assignment_person SET left_at = now() WHERE org_id = $1 AND person_id = $2`, w.org, who[1])
	for _, one := range who {
		w.complete(one, now.Add(time.Minute))
	}
	require.Zero(t, w.count(toldCompleted))
	require.Equal(t, int64(2), w.count(`SELECT count(*) FROM assignment_person WHERE org_id = $1 AND completed_at IS NOT NULL`))
}
