package slot_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/sessions/slot"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/database/databasetest"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/store/tenant/tenanttest"
)

func TestMain(m *testing.M) { databasetest.Main(m) }

// always offers every quarter of an hour of every day.
func always(zone string) slot.Plan {
	p := slot.Plan{
		Timezone: zone, StepMinutes: 30, HorizonDays: 300, Capacity: 1,
		Kinds: []slot.Kind{{Key: "call", Name: "A call", DurationMinutes: 30}},
	}
	for _, day := range slot.Weekdays() {
		p.Hours = append(p.Hours, slot.Hours{Day: day, From: "00:00", To: "24:00"})
	}
	return p
}

func walls(t *testing.T, p slot.Plan, from, to string) (all []string) {
	t.Helper()
	zone, err := p.Zone()
	require.NoError(t, err)
	parse := func(text string) time.Time {
		at, err := time.ParseInLocation("2006-01-02 15:04", text, zone)
		require.NoError(t, err)
		return at
	}
	k, _ := p.KindOf("")
	found, err := p.Offered(k, parse(from).Add(-24*time.Hour), parse(from), parse(to), nil, 500)
	require.NoError(t, err)
	for _, s := range found {
		all = append(all, s.StartsAt.In(zone).Format("15:04 -07"))
	}
	return all
}

// Hours that daylight saving skips have no times, and those that come twice have them twice.
func TestDaylightSaving(t *testing.T) {
	berlin := always("Europe/Berlin")
	berlin.Hours = nil
	for _, date := range []string{"2026-03-29", "2026-10-25"} {
		berlin.Exceptions = append(berlin.Exceptions, slot.Exception{Date: date, Hours: []slot.Span{{From: "01:00", To: "04:00"}}})
	}
	require.Equal(t, []string{"01:00 +01", "01:30 +01", "03:00 +02", "03:30 +02"}, walls(t, berlin, "2026-03-29 00:00", "2026-03-30 00:00"))
	require.Equal(t, []string{"01:00 +02", "01:30 +02", "02:00 +02", "02:30 +02", "02:00 +01", "02:30 +01", "03:00 +01", "03:30 +01"},
		walls(t, berlin, "2026-10-25 00:00", "2026-10-26 00:00"))

	berlin.Exceptions = []slot.Exception{{Date: "2026-03-29", Hours: []slot.Span{{From: "02:15", To: "03:30"}}}, {Date: "2026-10-25", Hours: []slot.Span{{From: "02:00", To: "02:30"}}}}
	require.Equal(t, []string{"03:00 +02"}, walls(t, berlin, "2026-03-29 00:00", "2026-03-30 00:00"), "it begins with the jump")
	require.Equal(t, []string{"02:00 +02"}, walls(t, berlin, "2026-10-25 00:00", "2026-10-26 00:00"), "the first of two")

	// On a day of each zone's clocks, with how many half hours that has.
	for zone, day := range map[string]struct {
		date  string
		times int
	}{
		"America/New_York": {"2026-03-08", 46}, "America/Los_Angeles": {"2026-11-01", 50}, "Australia/Lord_Howe": {"2026-10-04", 47},
		"America/Santiago": {"2026-09-06", 46}, "Pacific/Apia": {"2026-06-01", 48},
	} {
		p := always(zone)
		loc, err := p.Zone()
		require.NoError(t, err)
		from, err := time.ParseInLocation("2006-01-02 15:04", day.date+" 12:00", loc)
		require.NoError(t, err)
		from = from.Add(-36 * time.Hour)
		found, err := p.Offered(p.Kinds[0], from, from, from.AddDate(0, 0, 3), nil, 500)
		require.NoError(t, err)
		times := 0
		for i, s := range found {
			require.True(t, i == 0 || !s.StartsAt.Before(found[i-1].EndsAt), "%s: in order and apart", s.StartsAt.In(loc))
			if s.StartsAt.In(loc).Format(time.DateOnly) == day.date {
				times++
			}
		}
		require.Equal(t, day.times, times, zone)
	}
}

// Times are offered within hours, with their exceptions, notice, horizon, buffers and capacity.
func TestOffered(t *testing.T) {
	p := slot.Plan{
		Timezone: "Europe/Berlin", StepMinutes: 60, NoticeMinutes: 120, HorizonDays: 14, Capacity: 1,
		Hours:      []slot.Hours{{Day: "monday", From: "09:00", To: "12:00"}, {Day: "monday", From: "13:00", To: "14:00"}, {Day: "tuesday", From: "09:00", To: "10:00"}},
		Exceptions: []slot.Exception{{Date: "2026-07-07"}, {Date: "2026-07-08", Hours: []slot.Span{{From: "10:00", To: "11:00"}}}},
		Kinds:      []slot.Kind{{Key: "tour", Name: "A tour", DurationMinutes: 60, BufferBeforeMinutes: 15, BufferAfterMinutes: 30}},
	}
	require.NoError(t, p.Check())
	now := time.Date(2026, 7, 6, 6, 30, 0, 0, time.UTC) // Monday, 8:30 in Berlin
	offered := func(busy ...slot.Busy) (all []string) {
		found, err := p.Offered(p.Kinds[0], now, now, now.AddDate(1, 0, 0), busy, 100)
		require.NoError(t, err)
		for _, s := range found {
			all = append(all, s.StartsAt.UTC().Format("02T15:04"))
		}
		return all
	}
	require.Equal(t, []string{"06T09:00", "06T11:00", "08T08:00", "13T07:00", "13T08:00", "13T09:00", "13T11:00", "14T07:00"}, offered())
	at := func(h, m int) time.Time { return time.Date(2026, 7, 6, h, m, 0, 0, time.UTC) }
	require.Equal(t, "06T11:00", offered(slot.Busy{From: at(10, 29), To: at(10, 31)})[0], "the buffer after reaches into it")
	require.Equal(t, "08T08:00", offered(slot.Busy{From: at(10, 29), To: at(10, 46)})[0], "so does the one before")
	p.Capacity = 2
	require.Equal(t, "06T09:00", offered(slot.Busy{From: at(9, 0), To: at(9, 30)}, slot.Busy{From: at(9, 30), To: at(10, 0)})[0], "one after the other is one at once")
	require.Equal(t, "06T11:00", offered(slot.Busy{From: at(9, 0), To: at(9, 30)}, slot.Busy{From: at(9, 29), To: at(10, 0)})[0])
}

func TestPlansThatAreWrong(t *testing.T) {
	for field, change := range map[string]func(*slot.Plan){
		"timezone":           func(p *slot.Plan) { p.Timezone = "Berlin" },
		"kinds":              func(p *slot.Plan) { p.Kinds = nil },
		"kinds[1].key":       func(p *slot.Plan) { p.Kinds = append(p.Kinds, p.Kinds[0]) },
		"hours[0].from":      func(p *slot.Plan) { p.Hours[0].From = "9:00" },
		"hours[0].to":        func(p *slot.Plan) { p.Hours[0].To = "00:00" },
		"hours[0].day":       func(p *slot.Plan) { p.Hours[0].Day = "Monday" },
		"hours":              func(p *slot.Plan) { p.Hours = append(p.Hours, slot.Hours{Day: "monday", From: "23:00", To: "24:00"}) },
		"exceptions[0].date": func(p *slot.Plan) { p.Exceptions = []slot.Exception{{Date: "2026-02-29"}} },
		"exceptions[0].hours[0].to": func(p *slot.Plan) {
			p.Exceptions = []slot.Exception{{Date: "2026-02-28", Hours: []slot.Span{{"10:00", "25:00"}}}}
		},
	} {
		p := always("UTC")
		change(&p)
		require.ErrorContains(t, p.Check(), field)
	}
}

type world struct {
	t       *testing.T
	tenants *tenant.Tenants
	one     id.Org
}

func newWorld(t *testing.T) *world {
	t.Helper()
	tenants, one, _ := tenanttest.New(t)
	return &world{t, tenants, one}
}

var now = tenanttest.Now

func (w *world) schedule(p slot.Plan) (s slot.Schedule) {
	w.t.Helper()
	require.NoError(w.t, w.tenants.InTx(w.t.Context(), w.one, func(ctx context.Context, tx *tenant.Tx) (err error) {
		s, err = slot.Create(ctx, tx, "Desk", p, activity.Actor{By: "key_1", At: now})
		return err
	}))
	return s
}

func (w *world) reserve(s slot.Schedule, at time.Time, by uuid.UUID) error {
	return w.tenants.InTx(context.Background(), w.one, func(ctx context.Context, tx *tenant.Tx) error {
		_, _, _, err := slot.Reserve(ctx, tx, s.ID, "call", at, by, now)
		return err
	})
}

// Of two visitors who reserve one time at once, one gets it, a thousand times.
func TestTwoReserveOneTime(t *testing.T) {
	w := newWorld(t)
	s := w.schedule(always("UTC"))
	first := now.Truncate(24*time.Hour).AddDate(0, 0, 2)
	for n := range 1000 {
		var (
			both sync.WaitGroup
			errs [2]error
		)
		at := first.Add(time.Duration(n) * 30 * time.Minute)
		for i := range errs {
			both.Go(func() { errs[i] = w.reserve(s, at, uuid.New()) })
		}
		both.Wait()
		won, lost := errs[0], errs[1]
		if won != nil {
			won, lost = lost, won
		}
		require.NoError(t, won, "one gets it, at %s", at)
		require.True(t, errdefs.IsConflict(lost, slot.Noun, slot.ReasonTaken), "and one does not: %v", lost)
	}
}

// What was never offered, what is offered no longer, and what somebody has are refused; what is
// moved or given back is free.
func TestReserve(t *testing.T) {
	w := newWorld(t)
	p := always("Europe/Berlin")
	p.NoticeMinutes = 60
	s := w.schedule(p)
	at := now.Truncate(24*time.Hour).AddDate(0, 0, 1)
	one, two := uuid.New(), uuid.New()
	refuses := func(reason string, err error) {
		t.Helper()
		require.True(t, errdefs.IsConflict(err, slot.Noun, reason), "%s: %v", reason, err)
	}
	refuses(slot.ReasonNotOffered, w.reserve(s, at.Add(time.Minute), one))
	refuses(slot.ReasonNotOffered, w.reserve(s, at.Add(time.Second), one))
	refuses(slot.ReasonPassed, w.reserve(s, at.AddDate(0, 0, -2), one))
	refuses(slot.ReasonPassed, w.reserve(s, at.AddDate(2, 0, 0), one))
	require.NoError(t, w.reserve(s, at, one))
	require.NoError(t, w.reserve(s, at, one), "again, by whom has it")
	refuses(slot.ReasonTaken, w.reserve(s, at, two))
	require.NoError(t, w.reserve(s, at.Add(time.Hour), one), "moved")
	require.NoError(t, w.reserve(s, at, two), "and what was moved is free")
	times := func() []slot.Slot {
		found, err := s.Times(t.Context(), w.tenants, w.one, p.Kinds[0], now, at, at.Add(2*time.Hour), uuid.UUID{}, 10)
		require.NoError(t, err)
		return found
	}
	require.Len(t, times(), 2)
	require.NoError(t, w.tenants.InTx(t.Context(), w.one, func(ctx context.Context, tx *tenant.Tx) error { return slot.Free(ctx, tx, one, now) }))
	require.Len(t, times(), 3)
	gone := func(at time.Time) error {
		return w.tenants.InTx(t.Context(), w.one, func(ctx context.Context, tx *tenant.Tx) error {
			return slot.Delete(ctx, tx, s.ID, activity.Actor{By: "key_1", At: at})
		})
	}
	require.True(t, errdefs.IsConflict(gone(now), slot.Noun, slot.ReasonReserved))
	_, err := slot.Sweep(t.Context(), w.tenants, "a", at.AddDate(0, 0, 3))
	require.NoError(t, err)
	require.NoError(t, gone(now))
	require.True(t, errdefs.IsNotFound(w.reserve(s, at, one), slot.Noun))
}

// A schedule is not deleted while an appointment is ahead whose buffer has begun, or goes on.
func TestASchedulesAppointmentsKeepIt(t *testing.T) {
	w := newWorld(t)
	p := always("UTC")
	p.Kinds[0].BufferBeforeMinutes = 30
	s := w.schedule(p)
	at := now.Truncate(time.Hour).Add(time.Hour)
	require.NoError(t, w.reserve(s, at, uuid.New()))
	gone := func(at time.Time) error {
		return w.tenants.InTx(t.Context(), w.one, func(ctx context.Context, tx *tenant.Tx) error {
			return slot.Delete(ctx, tx, s.ID, activity.Actor{By: "key_1", At: at})
		})
	}
	for _, minutes := range []int{-40, -10, 10} {
		err := gone(at.Add(time.Duration(minutes) * time.Minute))
		require.True(t, errdefs.IsConflict(err, slot.Noun, slot.ReasonReserved), "%d: %v", minutes, err)
	}
	require.NoError(t, gone(at.Add(30*time.Minute)))
}

// Of interviewers nobody is in two interviews at once.
func TestReserveOf(t *testing.T) {
	w := newWorld(t)
	ada, ben, taken := id.NewPerson(), id.NewPerson(), fmt.Errorf("taken")
	of := func(at time.Time, by uuid.UUID, who ...id.Person) error {
		return w.tenants.InTx(t.Context(), w.one, func(ctx context.Context, tx *tenant.Tx) error {
			return slot.ReserveOf(ctx, tx, who, at, at.Add(time.Hour), by, taken)
		})
	}
	first := uuid.New()
	require.NoError(t, of(now, first, ada, ben))
	require.ErrorIs(t, of(now.Add(30*time.Minute), uuid.New(), ben), taken)
	require.NoError(t, of(now.Add(time.Hour), uuid.New(), ben))
	require.NoError(t, of(now.Add(-time.Hour), first, ada, ben))
	require.NoError(t, of(now, uuid.New(), ada))
}
