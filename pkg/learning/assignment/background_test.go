package assignment_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/learning/assignment"
	"visavis.dev/pkg/portals/unit"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
)

const reminded = `SELECT count(*) FROM job WHERE org_id = $1 AND kind = 'mail_send'`

// A year of work that recurs: each month's opens, is due and closes on time, over both changes of
// the clock.
func TestAYearThatRecurs(t *testing.T) {
	w := newWorld(t)
	w.learners(3, "Europe/Berlin")
	berlin, err := time.LoadLocation("Europe/Berlin")
	require.NoError(t, err)
	opens := time.Date(2026, 1, 31, 9, 0, 0, 0, berlin).UTC()
	due, closes, every := opens.AddDate(0, 0, 7), opens.AddDate(0, 0, 14), int64(1)
	w.create(assignment.Assignment{Everyone: true, OpensAt: &opens, DueAt: &due, ClosesAt: &closes, EveryMonths: &every}, opens.AddDate(0, 0, -10))
	for now := opens.AddDate(0, 0, -9); now.Before(opens.AddDate(0, 12, -3)); now = now.Add(6 * time.Hour) {
		w.until(now, w.worker.Turn)
		w.until(now, w.worker.Walk)
	}
	all, err := assignment.List(t.Context(), w.tenants, w.org, assignment.Filter{States: assignment.States()}, id.Assignment{}, 50)
	require.NoError(t, err)
	require.Len(t, all, 12)
	for i, a := range all {
		local := a.OpensAt.In(berlin)
		month := 12 - i
		require.Equal(t, []int{month, 9, 0}, []int{int(local.Month()), local.Hour(), local.Minute()})
		require.Equal(t, time.Date(2026, time.Month(month)+1, 0, 0, 0, 0, 0, berlin).Day(), local.Day(), "the last of the month, as the first was")
		require.Equal(t, assignment.Counts{Assigned: 3, Overdue: 3}, a.Counts, "%s", local)
		require.Equal(t, i == 0, a.EveryMonths != nil, "the last of them takes it along")
		want := assignment.Closed
		if a.ClosesAt.Add(90 * 24 * time.Hour).Before(opens.AddDate(0, 12, -3)) {
			want = assignment.Archived
		}
		require.Equal(t, want, a.State, "%s", local)
	}
}

// Nobody looks through the people of a portal where nothing changed, and everybody is found where
// something did.
func TestPeopleAreLookedThroughWhereSomethingChanged(t *testing.T) {
	w := newWorld(t)
	w.learners(1200, "UTC")
	now := time.Date(2026, 3, 20, 12, 0, 0, 0, time.UTC)
	a := w.create(assignment.Assignment{Everyone: true}, now)
	require.Equal(t, int64(500), a.Counts.Assigned, "the others follow")
	w.until(now, w.worker.Walk)
	require.Equal(t, int64(1200), w.get(a.ID).Counts.Assigned)
	for _, run := range []func(context.Context, *tenant.Tenants, string, time.Time) (int, error){w.worker.Stir, w.worker.Walk, w.worker.Turn} {
		n, err := run(t.Context(), w.tenants, "a", now.Add(time.Hour))
		require.NoError(t, err)
		require.Zero(t, n)
	}
	w.exec(`UPDATE membership SET removed_at = now() WHERE org_id = $1 AND id IN (SELECT id FROM membership WHERE org_id = $1 LIMIT 700)`, w.org)
	w.inTx(func(_ context.Context, tx *tenant.Tx) error {
		unit.PlacesChanged(tx, w.portal)
		return nil
	})
	w.until(now.Add(time.Hour), w.worker.Stir)
	w.until(now.Add(time.Hour), w.worker.Walk)
	require.Equal(t, int64(500), w.get(a.ID).Counts.Assigned)
	require.Equal(t, int64(500), w.count(`SELECT count(*) FROM assignment_person WHERE org_id = $1 AND left_at IS NULL`))
}

// What recurs from now on neither closes what is old nor makes up for months that are over.
func TestRecurringSetLaterLooksForward(t *testing.T) {
	w := newWorld(t)
	now := time.Date(2026, 3, 20, 12, 0, 0, 0, time.UTC)
	old := w.create(assignment.Assignment{Everyone: true}, now.AddDate(0, -10, 0))
	w.change(old.ID, now, func(a *assignment.Assignment) { a.EveryMonths = new(int64(1)) })
	w.until(now.Add(time.Minute), w.worker.Turn)
	require.Len(t, w.all(), 1)
	require.Equal(t, assignment.Open, w.get(old.ID).State)
	next := now.AddDate(0, 1, 0).Add(time.Hour)
	w.until(next, w.worker.Turn)
	all := w.all()
	require.Len(t, all, 2)
	require.Equal(t, time.Date(2026, 4, 20, 12, 0, 0, 0, time.UTC), all[0].OpensAt.UTC())
	require.False(t, w.get(old.ID).ClosesAt.Before(next), "nobody's time was over before they could know")

	// Workers that were away make the one that is open now.
	w.until(next.AddDate(0, 5, 0), w.worker.Turn)
	all = w.all()
	require.Len(t, all, 3)
	require.Equal(t, time.Date(2026, 9, 20, 12, 0, 0, 0, time.UTC), all[0].OpensAt.UTC())
}

// One that was archived with the time is stopped from recurring by being archived.
func TestWhatIsArchivedStopsRecurring(t *testing.T) {
	w := newWorld(t)
	now := time.Date(2026, 3, 20, 12, 0, 0, 0, time.UTC)
	closes := now.AddDate(0, 0, 1)
	a := w.create(assignment.Assignment{Everyone: true, OpensAt: &now, ClosesAt: &closes, EveryMonths: new(int64(12))}, now)
	for _, at := range []time.Time{closes, closes.AddDate(0, 0, 91)} {
		w.until(at, w.worker.Turn)
	}
	require.Equal(t, assignment.Archived, w.get(a.ID).State)
	require.NotNil(t, w.get(a.ID).EveryMonths)
	w.inTx(func(ctx context.Context, tx *tenant.Tx) error {
		found, err := assignment.Lock(ctx, tx, a.ID)
		if err != nil {
			return err
		}
		return assignment.Archive(ctx, tx, found, activity.Actor{By: "key_test", At: closes.AddDate(0, 0, 92)})
	})
	require.Nil(t, w.get(a.ID).EveryMonths)
	w.until(now.AddDate(2, 0, 0), w.worker.Turn)
	require.Len(t, w.all(), 1)
}

// One that cannot be turned keeps nobody else waiting.
func TestWhatFailsIsPutOff(t *testing.T) {
	w := newWorld(t)
	now := time.Date(2026, 3, 20, 12, 0, 0, 0, time.UTC)
	opens := now.Add(time.Hour)
	for range 51 {
		w.create(assignment.Assignment{Everyone: true, OpensAt: &opens}, now)
	}
	w.exec(`UPDATE assignment SET turn_at = turn_at - INTERVAL '1 minute' WHERE org_id = $1`, w.org)
	last := w.all()[0].ID
	w.exec(`UPDATE assignment SET turn_at = turn_at + INTERVAL '1 minute' WHERE org_id = $1 AND id = $2`, w.org, last)
	w.exec(fmt.Sprintf(`ALTER TABLE assignment ADD CONSTRAINT broken CHECK (state <> 'open' OR id = '%s')`, uuid.UUID(last)))
	t.Cleanup(func() {
		_, err := w.db.Exec(context.Background(), `ALTER TABLE assignment DROP CONSTRAINT broken`)
		require.NoError(t, err)
	})
	for range 2 {
		_, err := w.worker.Turn(t.Context(), w.tenants, "a", opens)
		if err == nil {
			break
		}
	}
	require.Equal(t, assignment.Open, w.get(last).State)
	require.Equal(t, opens.Add(time.Minute), w.get(w.all()[1].ID).TurnAt.UTC())
}

// Who is entered and excused while people are looked through stays so, and counts once.
func TestWhoEntersMeanwhileKeepsWhatWasNoted(t *testing.T) {
	w := newWorld(t)
	now := time.Date(2026, 3, 20, 12, 0, 0, 0, time.UTC)
	a := w.create(assignment.Assignment{Everyone: true}, now)
	w.learners(2, "UTC")
	first := w.who()
	w.exec(`UPDATE assignment SET walk_at = $2 WHERE org_id = $1`, w.org, now)
	walked := make(chan error, 1)
	w.inTx(func(ctx context.Context, tx *tenant.Tx) error {
		p, err := assignment.Excuse(ctx, tx, a.ID, first, true, new("On leave."), activity.Actor{By: "key_test", At: now})
		if err != nil {
			return err
		}
		require.Equal(t, assignment.Excused, p.State)
		go func() {
			_, err := w.worker.Walk(context.WithoutCancel(ctx), w.tenants, "a", now)
			walked <- err
		}()
		<-time.After(500 * time.Millisecond) // the walk waits for who was entered here
		return nil
	})
	require.NoError(t, <-walked)
	w.until(now, w.worker.Walk)
	require.Equal(t, assignment.Counts{Assigned: 1}, w.get(a.ID).Counts)
	require.Equal(t, int64(1), w.count(`SELECT count(*) FROM assignment_person WHERE org_id = $1 AND person_id = $2 AND excused_at IS NOT NULL`, first))
}

// Each statement rides the index its function names, among many people.
func TestStatementsRideTheirIndexes(t *testing.T) {
	w := newWorld(t)
	w.learners(5000, "UTC")
	now := time.Date(2026, 3, 20, 12, 0, 0, 0, time.UTC)
	a := w.create(assignment.Assignment{Everyone: true}, now)
	w.until(now, w.worker.Walk)
	for range 30 {
		w.create(assignment.Assignment{People: []id.Person{}, Units: nil, Everyone: true}, now)
	}
	w.exec(`INSERT INTO assignment_reminder (org_id, assignment_id, person_id, day, reminded_at) SELECT org_id, assignment_id, person_id, '2026-03-20', now() FROM assignment_person WHERE org_id = $1`, w.org)
	for _, table := range []string{"assignment", "assignment_person", "assignment_reminder", "membership"} {
		w.exec(`ANALYZE ` + table)
	}
	in := func(fn func(context.Context, *tenant.Tx) error) func(context.Context) error {
		return func(ctx context.Context) error { return w.tenants.InTx(ctx, w.org, fn) }
	}
	run := func(fn func(context.Context, *tenant.Tenants, string, time.Time) (int, error)) func(context.Context) error {
		return func(ctx context.Context) error {
			_, err := fn(ctx, w.tenants, "a", now.Add(-time.Hour))
			return err
		}
	}
	list := func(f assignment.ProgressFilter) func(context.Context) error {
		return func(ctx context.Context) error {
			_, err := assignment.ListProgress(ctx, w.tenants, w.org, a.ID, f, id.NewPerson(), 50)
			return err
		}
	}
	forget := in(func(ctx context.Context, tx *tenant.Tx) error {
		_, err := assignment.ForgetPerson(ctx, tx, id.NewPerson())
		return err
	})
	for name, tt := range map[string]struct {
		text, index string
		do          func(context.Context) error
	}{
		"people":                 {"FROM assignment_person p", "assignment_person_pkey", list(assignment.ProgressFilter{})},
		"people who are overdue": {"FROM assignment_person p", "assignment_person_by_state", list(assignment.ProgressFilter{States: []assignment.Standing{assignment.Overdue}})},
		"of a person": {"FROM assignment_person p JOIN", "assignment_person_by_person", func(ctx context.Context) error {
			_, err := assignment.OfPerson(ctx, w.tenants, w.org, id.NewPerson(), nil, id.NewAssignment(), 50)
			return err
		}},
		"parts of who is erased":     {"FROM assignment_person p", "assignment_person_by_person", forget},
		"reminders of who is erased": {"DELETE FROM assignment_reminder", "assignment_reminder_by_person", forget},
		"grants of who is erased":    {"DELETE FROM attempt_grant", "attempt_grant_by_person", forget},
		"turn":                       {"a.turn_at <= $1", "assignment_by_turn", run(w.worker.Turn)},
		"walk":                       {"a.walk_at <= $1", "assignment_by_walk", run(w.worker.Walk)},
		"remind":                     {"p.remind_at <= $1", "assignment_person_by_reminder", run(w.worker.Remind)},
		"forget reminders":           {"DELETE FROM assignment_reminder", "assignment_reminder_by_time", run(assignment.Sweep)},
	} {
		t.Run(name, func(t *testing.T) {
			for _, s := range w.sent.Of(t, tt.text, func() error { return tt.do(t.Context()) }) {
				plan := s.Forced(t, w.db)
				require.Contains(t, plan, tt.index, "%s\n%s", s.SQL, plan)
			}
		})
	}
}

// One whose people were all erased can still be changed, and one that was archived with the time
// can be stopped from recurring.
func TestOnlyWhatChangedIsChecked(t *testing.T) {
	w := newWorld(t)
	w.learners(1, "UTC")
	now := time.Date(2026, 3, 20, 12, 0, 0, 0, time.UTC)
	closes := now.AddDate(0, 0, 1)
	a := w.create(assignment.Assignment{People: w.people(), OpensAt: &now, ClosesAt: &closes, EveryMonths: new(int64(12))}, now)
	w.inTx(func(ctx context.Context, tx *tenant.Tx) error {
		_, err := assignment.ForgetPerson(ctx, tx, w.who())
		return err
	})
	w.change(a.ID, now, func(a *assignment.Assignment) { a.Title = "Hitches" })
	require.Equal(t, "Hitches", w.get(a.ID).Title)
	require.Empty(t, w.get(a.ID).People)

	for _, at := range []time.Time{closes, closes.AddDate(0, 0, 91)} {
		w.until(at, w.worker.Turn)
	}
	require.Equal(t, assignment.Archived, w.get(a.ID).State)
	for range 2 {
		w.change(a.ID, closes.AddDate(0, 0, 92), func(a *assignment.Assignment) { a.EveryMonths = nil })
		require.Nil(t, w.get(a.ID).EveryMonths)
	}
	w.until(now.AddDate(2, 0, 0), w.worker.Turn)
	require.Len(t, w.all(), 1)
}

// A look at a big audience is done in one run, and is not begun again at once for each place that
// changes.
func TestABigAudienceIsLookedThroughAtOnce(t *testing.T) {
	w := newWorld(t)
	w.learners(2600, "UTC")
	now := time.Date(2026, 3, 20, 12, 0, 0, 0, time.UTC)
	a := w.create(assignment.Assignment{Everyone: true}, now)
	_, err := w.worker.Walk(t.Context(), w.tenants, "a", now)
	require.NoError(t, err)
	require.Equal(t, int64(2600), w.get(a.ID).Counts.Assigned)
	w.inTx(func(_ context.Context, tx *tenant.Tx) error {
		unit.PlacesChanged(tx, w.portal)
		return nil
	})
	stirred := func(at time.Time) int {
		n, err := w.worker.Stir(t.Context(), w.tenants, "a", at)
		require.NoError(t, err)
		return n
	}
	require.Zero(t, stirred(now.Add(2*time.Second)))
	require.Equal(t, 1, stirred(now.Add(3*time.Second)))
	require.Zero(t, stirred(now.Add(3*time.Second)), "it is looked through already")
}
