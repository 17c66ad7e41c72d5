package assignment_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/learning/assignment"
	"visavis.dev/pkg/store/tenant"
)

// people are those of the organization, in the order of their ids.
func (w *world) people() []id.Person {
	w.Helper()
	var all []id.Person
	require.NoError(w, w.db.QueryRow(w.Context(), `SELECT array_agg(id ORDER BY id) FROM person WHERE org_id = $1`, w.org).Scan(&all))
	return all
}

// chosen is what a session of somebody's would belong to; zero for nothing.
func (w *world) chosen(who id.Person, kind string, now time.Time) (which id.Assignment) {
	w.Helper()
	w.inTx(func(ctx context.Context, tx *tenant.Tx) error {
		a, p, err := assignment.Choose(ctx, tx, assignment.Wanted{Person: who, Subject: w.subject, Kind: kind}, now)
		if err != nil || a == nil {
			return err
		}
		require.Equal(w, []any{a.ID, who}, []any{p.Assignment, p.Person})
		which = a.ID
		return nil
	})
	return which
}

// However many are set for others, somebody's own is found, and one that is used up only where
// nothing else is left.
func TestChoosingLooksAtWhoseItIs(t *testing.T) {
	w := newWorld(t)
	w.learners(2, "UTC")
	who := w.people()
	now := time.Date(2026, 3, 20, 12, 0, 0, 0, time.UTC)
	due := now.Add(time.Hour)
	for range 60 {
		w.create(assignment.Assignment{People: who[1:], DueAt: &due}, now)
	}
	require.Zero(t, w.chosen(who[0], "assessment", now))

	due = due.Add(time.Hour)
	first := w.create(assignment.Assignment{People: who[:1], DueAt: &due, AttemptsAllowed: new(int64(1))}, now)
	second := w.create(assignment.Assignment{Everyone: true}, now)
	require.Equal(t, first.ID, w.chosen(who[0], "assessment", now))
	w.exec(`UPDATE assignment_person SET attempts = 1 WHERE org_id = $1 AND assignment_id = $2`, w.org, first.ID)
	require.Equal(t, second.ID, w.chosen(who[0], "assessment", now), "the other one can still be done")
	w.exec(`UPDATE assignment_person SET extra_attempts = 1 WHERE org_id = $1 AND assignment_id = $2`, w.org, first.ID)
	require.Equal(t, first.ID, w.chosen(who[0], "assessment", now))
	require.Zero(t, w.chosen(who[0], "practice", now))
}

// Who joins a unit, or one that lies in it, is entered with the first session.
func TestChoosingEntersWhoJustCame(t *testing.T) {
	w := newWorld(t)
	now := time.Date(2026, 3, 20, 12, 0, 0, 0, time.UTC)
	school, class := id.NewUnit(), id.NewUnit()
	for unit, parent := range map[id.Unit]id.Unit{school: {}, class: school} {
		w.exec(`
			INSERT INTO unit (org_id, id, portal_id, parent_id, kind, name, enabled, manager_ids, metadata, edition, created_at, updated_at)
			VALUES ($1, $2, $3, $4, 'class', 'Class', true, '{}', '{}', 1, now(), now())`, w.org, unit, w.portal, parent)
	}
	of := w.create(assignment.Assignment{Units: []id.Unit{school}}, now)
	w.learners(1, "UTC")
	require.Zero(t, w.chosen(w.who(), "assessment", now))
	w.exec(`UPDATE membership SET unit_id = $2 WHERE org_id = $1`, w.org, class)
	require.Equal(t, of.ID, w.chosen(w.who(), "assessment", now))
	require.Equal(t, int64(1), w.get(of.ID).Counts.Assigned)
	w.exec(`UPDATE assignment_person SET left_at = now() WHERE org_id = $1`, w.org)
	w.exec(`UPDATE membership SET ends_at = $2 WHERE org_id = $1`, w.org, now)
	require.Zero(t, w.chosen(w.who(), "assessment", now))
}
