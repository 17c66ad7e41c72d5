package mailer_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	clocktesting "k8s.io/utils/clock/testing"

	"visavis.dev/pkg/base/mail"
	"visavis.dev/pkg/base/vault"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/portals/mailer"
	"visavis.dev/pkg/sessions/inbox"
	"visavis.dev/pkg/sessions/slot"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/database/databasetest"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/store/tenant/tenanttest"
)

func TestMain(m *testing.M) { databasetest.Main(m) }

// box keeps what is sent.
type box struct{ sent []mail.Message }

func (b *box) Send(_ context.Context, m mail.Message) error {
	b.sent = append(b.sent, m)
	return nil
}

// Who changes a booking often is mailed five times in an hour, and in the next how it is then: a
// cancellation is not lost.
func TestWhatIsTooMuchForAnHourIsMailedInTheNext(t *testing.T) {
	tenants, org, _ := tenanttest.New(t)
	hour := tenanttest.Now.Truncate(time.Hour)
	c := clocktesting.NewFakeClock(hour)
	v, err := vault.New(make([]byte, vault.KeySize))
	require.NoError(t, err)
	sent := &box{}
	works := (&mailer.Worker{Tenants: tenants, Vault: v, Sender: sent, PortalURL: "https://portal.example.com", Clock: c, Log: slog.New(slog.DiscardHandler)}).Background().Works
	runner := &job.Runner{Tenants: tenants, Works: works, Clock: c, Log: slog.New(slog.DiscardHandler)}
	post := func(at time.Time) int {
		c.SetTime(at)
		for made := 1; made > 0; {
			made, err = runner.Advance(t.Context(), "a")
			require.NoError(t, err)
		}
		return len(sent.sent)
	}
	in := func(fn func(context.Context, *tenant.Tx) error) {
		require.NoError(t, tenants.InTx(t.Context(), org, fn))
	}

	p := slot.Plan{Timezone: "UTC", StepMinutes: 60, HorizonDays: 9, Capacity: 1, Kinds: []slot.Kind{{Key: "tour", Name: "A tour", DurationMinutes: 60}}}
	for _, day := range slot.Weekdays() {
		p.Hours = append(p.Hours, slot.Hours{Day: day, From: "00:00", To: "24:00"})
	}
	ahead := hour.AddDate(0, 0, 2)
	var i inbox.Item
	in(func(ctx context.Context, tx *tenant.Tx) error {
		desk, err := slot.Create(ctx, tx, "Desk", p, activity.Actor{By: "key_1", At: hour})
		require.NoError(t, err)
		i, err = inbox.Enter(ctx, tx, inbox.Item{Contact: &inbox.Contact{Email: new("kim@example.com")}, Urgency: inbox.NormalUrgency, Language: "en"},
			&inbox.Wanted{Schedule: desk.ID, StartsAt: ahead}, activity.Actor{By: "key_1", At: hour})
		return err
	})
	change := func(at time.Time, b inbox.BookingChange) {
		in(func(ctx context.Context, tx *tenant.Tx) error {
			locked, err := inbox.Lock(ctx, tx, i.ID)
			require.NoError(t, err)
			_, err = inbox.ChangeBooking(ctx, tx, locked, b, activity.Actor{By: "key_1", At: at})
			return err
		})
	}
	require.Equal(t, 1, post(hour))
	for n := 1; n <= 6; n++ {
		at := hour.Add(time.Duration(n) * time.Minute)
		change(at, inbox.BookingChange{StartsAt: ahead.Add(time.Duration(n) * time.Hour)})
		require.Equal(t, min(n+1, 5), post(at))
	}
	change(hour.Add(20*time.Minute), inbox.BookingChange{State: inbox.Cancelled})
	require.Equal(t, 5, post(hour.Add(59*time.Minute)))
	require.Equal(t, 6, post(hour.Add(time.Hour)), "what the cancellation followed is not sent")
	require.Equal(t, "CANCEL", sent.sent[5].Calendar.Method)
	require.Equal(t, 6, post(hour.Add(5*time.Hour)))
}
