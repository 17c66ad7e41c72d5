package assignment_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/utils/clock"
	clocktest "k8s.io/utils/clock/testing"

	"visavis.dev/pkg/base/mail"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/learning/assignment"
	"visavis.dev/pkg/portals/mailer"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
)

// Everybody gets each reminder once, though workers side by side are stopped at any moment, and
// somebody asks for one on the same day.
func TestEachPersonIsRemindedOnce(t *testing.T) {
	w := newWorld(t)
	const each = 150 // more than one batch
	w.learners(each, "Europe/Berlin")
	w.learners(each, "America/New_York")
	now := time.Date(2026, 3, 20, 12, 0, 0, 0, time.UTC)
	due := time.Date(2026, 3, 31, 15, 0, 0, 0, time.UTC)
	a := w.create(assignment.Assignment{Everyone: true, DueAt: &due, Reminders: []int64{2, 7}}, now)
	w.until(now, w.worker.Walk)
	require.Equal(t, int64(2*each), w.get(a.ID).Counts.Assigned)

	// Nine in the morning in Berlin, a week before; in New York it is night.
	now = time.Date(2026, 3, 24, 8, 0, 0, 0, time.UTC)
	w.remindSideBySide(now)
	require.Equal(t, int64(each), w.count(reminded))
	require.Equal(t, int64(each), w.count(`SELECT count(*) FROM assignment_reminder WHERE org_id = $1`))
	now = time.Date(2026, 3, 24, 13, 0, 0, 0, time.UTC)
	w.remindSideBySide(now)
	require.Equal(t, int64(2*each), w.count(reminded))

	w.inTx(func(ctx context.Context, tx *tenant.Tx) error {
		found, err := assignment.Lock(ctx, tx, a.ID)
		if err != nil {
			return err
		}
		_, err = assignment.Remind(ctx, tx, found, nil, activity.Actor{By: "key_test", At: now})
		return err
	})
	w.until(now, w.worker.Walk)
	w.remindSideBySide(now)
	require.Equal(t, int64(2*each), w.count(reminded), "they had one today")

	// Berlin has changed to summer time since.
	w.remindSideBySide(time.Date(2026, 3, 29, 6, 59, 59, 0, time.UTC))
	require.Equal(t, int64(2*each), w.count(reminded))
	w.remindSideBySide(time.Date(2026, 3, 29, 7, 0, 0, 0, time.UTC))
	require.Equal(t, int64(3*each), w.count(reminded))
	w.remindSideBySide(time.Date(2026, 3, 30, 14, 0, 0, 0, time.UTC))
	require.Equal(t, int64(4*each), w.count(reminded))
	require.Zero(t, w.count(`SELECT count(*) FROM assignment_person WHERE org_id = $1 AND remind_at IS NOT NULL`), "that was the last")
}

// outgoing are the mails that were sent, by address.
type outgoing map[string]mail.Message

func (o outgoing) Send(_ context.Context, m mail.Message) error {
	o[m.To] = m
	return nil
}

// Who is done, excused, switched off or gone when the mail is sent gets none.
func TestRemindersAreForWhoCanAct(t *testing.T) {
	w := newWorld(t)
	w.learners(6, "UTC")
	now := time.Date(2026, 3, 24, 9, 0, 0, 0, time.UTC)
	due := now.Add(72 * time.Hour)
	a := w.create(assignment.Assignment{Everyone: true, DueAt: &due, Reminders: []int64{3}}, now.Add(-time.Hour))
	w.until(now, w.worker.Remind)
	require.Equal(t, int64(6), w.count(reminded))
	part := func(n int) string {
		return fmt.Sprintf("(SELECT id FROM person WHERE org_id = $1 AND email = 'UTC%d@example.com')", n)
	}
	w.exec(`UPDATE assignment_person SET state = 'completed' WHERE org_id = $1 AND person_id = `+part(1), w.org)
	w.exec(`UPDATE assignment_person SET state = 'excused' WHERE org_id = $1 AND person_id = `+part(2), w.org)
	w.exec(`UPDATE person SET state = 'disabled' WHERE org_id = $1 AND id = `+part(3), w.org)
	w.exec(`UPDATE membership SET enabled = false WHERE org_id = $1 AND person_id = `+part(4), w.org)
	w.exec(`UPDATE membership SET removed_at = now() WHERE org_id = $1 AND person_id = `+part(5), w.org)
	sent := outgoing{}
	sender := &mailer.Worker{
		Tenants: w.tenants, Vault: w.worker.Outbox.Vault, Sender: sent, PortalURL: "https://portal.example.com", Clock: clocktest.NewFakePassiveClock(now),
		Log: slog.New(slog.DiscardHandler),
	}
	runner := &job.Runner{Tenants: w.tenants, Works: map[job.Kind]job.Work{job.MailSend: sender.Work()}, Clock: clock.RealClock{}, Log: slog.New(slog.DiscardHandler)}
	for n := 1; n > 0; {
		var err error
		n, err = runner.Advance(t.Context(), "a")
		require.NoError(t, err)
	}
	require.Zero(t, w.count(reminded))
	require.Len(t, sent, 1)
	require.Contains(t, sent["UTC6@example.com"].Subject, a.Title)
	require.Contains(t, sent["UTC6@example.com"].Text, "2026-03-27 09:00 UTC")
}

// remindSideBySide has several workers remind, of which some are stopped in the middle.
func (w *world) remindSideBySide(now time.Time) {
	w.Helper()
	var group sync.WaitGroup
	for n := range 3 {
		group.Go(func() {
			ctx, cancel := context.WithTimeout(w.Context(), time.Duration(n+1)*20*time.Millisecond)
			defer cancel()
			for ctx.Err() == nil {
				if some, err := w.worker.Remind(ctx, w.tenants, "a", now); err == nil && some == 0 {
					return
				}
			}
		})
	}
	group.Wait()
	w.until(now, w.worker.Remind)
}

// A reminder for which there were too many mails is sent in the next hour, also where people were
// looked through meanwhile.
func TestWhatWasPutOffIsSent(t *testing.T) {
	w := newWorld(t)
	w.learners(1, "UTC")
	now := time.Date(2026, 3, 24, 9, 0, 0, 0, time.UTC)
	due := now.Add(72 * time.Hour)
	a := w.create(assignment.Assignment{Everyone: true, DueAt: &due, Reminders: []int64{3}}, now.Add(-time.Hour))
	w.exec(`INSERT INTO mail_count (org_id, holder, hour, taken) VALUES ($1, 'reminders', $2, 1000000)`, w.org, now)
	w.until(now, w.worker.Remind)
	require.Zero(t, w.count(reminded))
	w.change(a.ID, now.Add(time.Minute), func(a *assignment.Assignment) { a.Title = "Hitches" })
	w.until(now.Add(time.Minute), w.worker.Walk)
	w.until(now.Add(time.Hour), w.worker.Remind)
	require.Equal(t, int64(1), w.count(reminded))
	w.until(now.Add(2*time.Hour), w.worker.Remind)
	require.Equal(t, int64(1), w.count(reminded))
}
