package appointment_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/eventing/event/eventtest"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/provider/caldav/caldavtest"
	"visavis.dev/pkg/provider/calendars"
	"visavis.dev/pkg/sessions/inbox"
	"visavis.dev/pkg/sessions/slot"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/store/tenant/tenanttest"
)

func name(i inbox.Item) string { return string(calendars.KeyOf(uuid.UUID(i.ID))) + ".ics" }

// What a calendar has is not offered, and cannot be had; what is reserved here is in nobody's way there.
func TestBusyTimesAreNotOffered(t *testing.T) {
	b, server := fake(t)
	server.Put("lunch.ics", caldavtest.Event("lunch", form(hour(12)), form(hour(13))))
	p := b.plan(caldavtest.Calendar)
	p.Capacity = 3
	s := b.unread(p)
	require.Empty(t, b.hours(s), "nobody knows yet what is in it")
	require.Equal(t, 2*time.Minute, b.read())
	require.NotContains(t, b.hours(s), 12, "whatever there is room for beside it")
	require.Len(t, b.hours(s), 23)
	_, err := b.tryBook(s, hour(12))
	require.True(t, errdefs.IsConflict(err, slot.Noun, slot.ReasonTaken), "%v", err)

	b.book(s, hour(15))
	i := b.book(s, hour(14))
	b.write()
	require.Len(t, server.Texts(), 3)
	b.read()
	require.Contains(t, b.hours(s), 14, "there is room for more beside it")
	b.rebook(i, inbox.BookingChange{StartsAt: hour(15)})
	require.Equal(t, hour(15), b.booking(i).StartsAt)

	// Another schedule in the same calendar is one more that is busy there.
	other := b.schedule(b.plan(caldavtest.Calendar))
	b.write()
	b.read()
	require.NotContains(t, b.hours(other), 15)
	require.Contains(t, b.hours(other), 14)
	_, err = b.tryBook(other, hour(15))
	require.Error(t, err)
}

// A booking is one event, which moves and goes with it.
func TestABookingIsWrittenOnce(t *testing.T) {
	b, server := fake(t)
	s := b.schedule(b.plan(caldavtest.Calendar))
	b.read()
	i := b.book(s, hour(9))
	require.Equal(t, b.connection, b.booking(i).Connection)
	b.write()
	text := server.Texts()[name(i)]
	require.Contains(t, text, "DTSTART:"+form(hour(9))+"\r\n")
	require.Contains(t, text, "SUMMARY:A tour: Kim Lee\r\n")
	require.NotContains(t, text, "kim@example.com", "how to reach them stays in the inbox")
	require.NotContains(t, text, "ATTENDEE", "so that the server invites nobody")

	// A process that dies between writing and noting it writes nothing twice.
	b.rebook(i, inbox.BookingChange{StartsAt: hour(10)})
	j := b.jobs(job.CalendarWrite)[0]
	_, err := b.keeper.Background().Works[job.CalendarWrite].Prepare(t.Context(), j)
	require.NoError(t, err)
	before := len(server.Requests())
	b.write()
	require.NotContains(t, strings.Join(server.Requests()[before:], "\n"), "PUT")
	require.Len(t, server.Texts(), 1)
	require.Contains(t, server.Texts()[name(i)], "DTSTART:"+form(hour(10))+"\r\n")

	b.rebook(i, inbox.BookingChange{State: inbox.Cancelled})
	b.write()
	require.Empty(t, server.Texts())
	require.Empty(t, b.jobs(job.CalendarWrite))

	// Who is forgotten has no name left there, also of what is over.
	forgotten := b.book(s, hour(11))
	b.write()
	b.clock.Step(72 * time.Hour)
	b.inTx(func(ctx context.Context, tx *tenant.Tx) error {
		i, err := inbox.Lock(ctx, tx, forgotten.ID)
		if err != nil {
			return err
		}
		return inbox.Forget(ctx, tx, []inbox.Item{i}, inbox.Removal{Trigger: inbox.ByTeam, At: b.clock.Now().UTC()})
	})
	require.Len(t, server.Texts(), 1)
	b.write()
	require.Empty(t, server.Texts())
}

// Jobs of one booking that overlap leave the last of it, in whatever order they come to write.
func TestWritersThatOverlap(t *testing.T) {
	b, server := fake(t)
	s := b.schedule(b.plan(caldavtest.Calendar))
	b.read()
	i := b.book(s, hour(9))
	first := b.jobs(job.CalendarWrite)[len(b.jobs(job.CalendarWrite))-1]
	work := b.keeper.Background().Works[job.CalendarWrite]
	// The first one has read how the booking was, and hangs; then it is moved and cancelled.
	hangs, goOn := make(chan bool), make(chan bool)
	server.Behave(func(w http.ResponseWriter, r *http.Request) {
		hangs <- true
		<-goOn
		server.Serve(w, r)
	})
	var (
		group sync.WaitGroup
		step  job.Step
		err   error
	)
	group.Go(func() { step, err = work.Prepare(context.Background(), first) })
	<-hangs
	b.rebook(i, inbox.BookingChange{State: inbox.Cancelled})
	last := b.jobs(job.CalendarWrite)
	cancelling := last[len(last)-1]
	for !cancelling.State.Ended() {
		b.step(&cancelling)
	}
	close(goOn)
	group.Wait()
	require.NoError(t, err)
	require.Len(t, server.Texts(), 1, "it came too late")
	var wait time.Duration
	b.commit(step, &first, &wait)
	b.write()
	require.Empty(t, server.Texts())
}

// A writer that dies after its booking was cancelled leaves nothing there.
func TestAWriterThatDiesTooLate(t *testing.T) {
	b, server := fake(t)
	s := b.schedule(b.plan(caldavtest.Calendar))
	b.read()
	i := b.book(s, hour(9))
	all := b.jobs(job.CalendarWrite)
	dying := all[len(all)-1]
	_, err := b.keeper.Background().Works[job.CalendarWrite].Prepare(t.Context(), dying)
	require.NoError(t, err)
	require.Len(t, server.Texts(), 1, "it wrote, and died")
	b.rebook(i, inbox.BookingChange{State: inbox.Cancelled})
	b.write()
	require.Empty(t, server.Texts())
}

// Who takes an event away too late, of a booking that was made anew meanwhile, leaves the new one.
func TestARemovalThatComesLate(t *testing.T) {
	b, server := fake(t)
	s := b.schedule(b.plan(caldavtest.Calendar))
	b.read()
	i := b.book(s, hour(9))
	b.write()
	b.change(s, b.plan(""))
	late := b.leaving(i)
	work := b.keeper.Background().Works[job.CalendarWrite]
	hangs, goOn := make(chan bool), make(chan bool)
	hang := func(w http.ResponseWriter, r *http.Request) {
		hangs <- true
		<-goOn
		server.Serve(w, r)
	}
	var (
		group sync.WaitGroup
		step  job.Step
		err   error
	)
	server.Behave(nil, hang) // it has read the event, and is about to delete it
	group.Go(func() { step, err = work.Prepare(context.Background(), late) })
	<-hangs
	b.change(s, b.plan(caldavtest.Calendar))
	b.read()
	b.rebook(i, inbox.BookingChange{StartsAt: hour(10)})
	all := b.jobs(job.CalendarWrite)
	newest := all[len(all)-1]
	for !newest.State.Ended() {
		b.step(&newest)
	}
	close(goOn)
	group.Wait()
	require.NoError(t, err)
	var wait time.Duration
	b.commit(step, &late, &wait)
	b.write()
	require.Contains(t, server.Texts(), name(i))
	for range 3 {
		b.clock.Step(6 * time.Minute)
		b.read()
	}
	require.Equal(t, hour(10), b.booking(i).StartsAt)
	require.True(t, b.booking(i).State.Holds())

	// One that took it away before it was made anew has it be written again.
	b.change(s, b.plan(""))
	late = b.leaving(i)
	step, err = work.Prepare(t.Context(), late)
	require.NoError(t, err)
	require.Empty(t, server.Texts())
	b.change(s, b.plan(caldavtest.Calendar))
	b.commit(step, &late, &wait)
	b.write()
	require.Contains(t, server.Texts(), name(i))
}

// What people move or delete in the calendar is followed, and told.
func TestWhatPeopleDoThereIsFollowed(t *testing.T) {
	b, server := fake(t)
	s := b.schedule(b.plan(caldavtest.Calendar))
	b.read()
	i := b.book(s, hour(9))
	b.write()
	b.read()
	server.Put(name(i), strings.NewReplacer(form(hour(9)), form(hour(17).Add(10*time.Minute)), form(hour(10)), form(hour(19))).Replace(server.Texts()[name(i)]))
	b.read()
	got := b.booking(i)
	require.Equal(t, inbox.Moved, got.State)
	require.Equal(t, []time.Time{hour(17).Add(10 * time.Minute), hour(19)}, []time.Time{got.StartsAt, got.EndsAt}, "also to a time that is not offered")
	require.Equal(t, hour(17).Add(10*time.Minute).Format(inbox.WallTime), got.Wall)
	require.NotContains(t, b.hours(s), 18)
	require.Contains(t, b.hours(s), 9)
	b.write()
	for range 3 {
		b.read()
	}
	require.Equal(t, got, b.booking(i), "once")
	told := eventtest.Log(t, b.tenants, b.org, event.BookingUpdated)
	require.Len(t, told, 1)
	require.Contains(t, string(told[0].Structure), `"changedBy": "calendar"`)
	require.Contains(t, string(told[0].Structure), b.connection.String())

	// One that is not there for a moment, as while a server is mended, stays.
	text := server.Texts()[name(i)]
	server.Remove(name(i))
	b.read()
	b.clock.Step(2 * time.Minute)
	b.read()
	server.Put(name(i), text)
	b.read()
	b.clock.Step(10 * time.Minute)
	server.Remove(name(i))
	b.read()
	require.Equal(t, inbox.Moved, b.booking(i).State)
	b.clock.Step(6 * time.Minute)
	b.read()
	require.Equal(t, inbox.Cancelled, b.booking(i).State)
	require.Len(t, b.hours(s), 24)
	b.write()
	require.Empty(t, b.jobs(job.CalendarWrite))
	invites := 0
	db, err := b.tenants.Shard(t.Context(), "a")
	require.NoError(t, err)
	require.NoError(t, db.QueryRow(t.Context(), `SELECT count(*) FROM job WHERE kind = 'calendar_send'`).Scan(&invites))
	require.Equal(t, 3, invites, "booked, moved and cancelled: the visitor is mailed")

	// One that people cancelled there is cancelled too; one that they made a series, or moved into the past, stays.
	cancelled, series, past := b.book(s, hour(1)), b.book(s, hour(2)), b.book(s, hour(3))
	b.write()
	server.Put(name(cancelled), strings.Replace(server.Texts()[name(cancelled)], "STATUS:CONFIRMED", "STATUS:CANCELLED", 1))
	server.Put(name(series), strings.Replace(server.Texts()[name(series)], "STATUS:CONFIRMED", "STATUS:CONFIRMED\r\nRRULE:FREQ=DAILY", 1))
	server.Put(name(past), strings.NewReplacer(form(hour(3)), form(hour(-48)), form(hour(4)), form(hour(-47))).Replace(server.Texts()[name(past)]))
	b.read()
	b.clock.Step(6 * time.Minute)
	b.read()
	require.Equal(t, inbox.Cancelled, b.booking(cancelled).State)
	require.Equal(t, inbox.Confirmed, b.booking(series).State)
	require.Equal(t, hour(2), b.booking(series).StartsAt)
	require.Equal(t, inbox.Confirmed, b.booking(past).State)
	require.Equal(t, hour(3), b.booking(past).StartsAt)
}

// What changed here since a calendar was read is not undone by what was read.
func TestWhatChangesMeanwhileStays(t *testing.T) {
	b, server := fake(t)
	s := b.schedule(b.plan(caldavtest.Calendar))
	b.read()
	i := b.book(s, hour(9))
	b.write()
	server.Put(name(i), strings.NewReplacer(form(hour(9)), form(hour(17)), form(hour(10)), form(hour(18))).Replace(server.Texts()[name(i)]))
	b.clock.Step(time.Minute)
	j := b.jobs(job.CalendarRead)[0]
	step, err := b.keeper.Background().Works[job.CalendarRead].Prepare(t.Context(), j)
	require.NoError(t, err)
	b.rebook(i, inbox.BookingChange{StartsAt: hour(20)})
	var wait time.Duration
	b.commit(step, &j, &wait)
	require.Equal(t, hour(20), b.booking(i).StartsAt)
	b.write()
	b.read()
	require.Equal(t, hour(20), b.booking(i).StartsAt)
	require.Contains(t, server.Texts()[name(i)], form(hour(20)))
}

// A calendar that is away loses no booking and holds nobody up, and is read and written again once it is back.
func TestACalendarThatIsAway(t *testing.T) {
	b, server := fake(t)
	server.Put("lunch.ics", caldavtest.Event("lunch", form(hour(12)), form(hour(13))))
	p := b.plan(caldavtest.Calendar)
	s := b.schedule(p)
	b.write()
	b.read()
	server.Always(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) })
	for range 4 {
		b.clock.Step(5 * time.Minute)
		require.Positive(t, b.read())
		b.report.Flush(t.Context())
	}
	failed := eventtest.Log(t, b.tenants, b.org, event.ConnectionFailed)
	require.Len(t, failed, 1)
	require.NotContains(t, b.hours(s), 12, "by what was read last")
	i := b.book(s, hour(9))
	b.write()
	require.Len(t, b.jobs(job.CalendarWrite), 1, "it waits")
	joined, err := slot.GetJoined(t.Context(), b.tenants, b.org, s.ID)
	require.NoError(t, err)
	require.Equal(t, "unavailable", joined.ErrorCode)

	// Where the schedule closes then, nothing is offered an hour after.
	p.Calendar.Unread = slot.Close
	b.change(s, p)
	require.NotEmpty(t, b.hours(s))
	b.clock.Step(time.Hour)
	require.Empty(t, b.hours(s))
	_, err = b.tryBook(s, hour(10))
	require.True(t, errdefs.IsConflict(err, slot.Noun, slot.ReasonUnread), "%v", err)

	server.Always(nil)
	b.clock.Step(time.Hour)
	require.Equal(t, 2*time.Minute, b.read())
	b.write()
	require.Contains(t, server.Texts(), name(i))
	require.NotEmpty(t, b.hours(s))
	b.report.Flush(t.Context())
	c, err := connection.Get(t.Context(), b.tenants, b.org, b.connection)
	require.NoError(t, err)
	require.Equal(t, connection.Active, c.State)
	joined, err = slot.GetJoined(t.Context(), b.tenants, b.org, s.ID)
	require.NoError(t, err)
	require.Empty(t, joined.ErrorCode)
}

// However long it is away, it is tried again.
func TestACalendarThatIsAwayForMonths(t *testing.T) {
	b, server := fake(t)
	b.schedule(b.plan(caldavtest.Calendar))
	b.read()
	server.Always(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) })
	waited := time.Duration(0)
	for waited < 80*24*time.Hour {
		wait := b.read()
		require.Positive(t, wait)
		require.LessOrEqual(t, wait, 15*time.Minute)
		waited += 24 * time.Hour // every job that is made of those is alike
		b.clock.Step(24 * time.Hour)
	}
	server.Always(nil)
	require.Equal(t, 2*time.Minute, b.read())
}

// Who asks for times waits a moment for a calendar that hangs, and what just came there is seen by then.
func TestFreshen(t *testing.T) {
	b, server := fake(t)
	s := b.schedule(b.plan(caldavtest.Calendar))
	b.read()
	server.Put("new.ics", caldavtest.Event("new", form(hour(12)), form(hour(13))))
	b.keeper.Freshen(t.Context(), b.org, s.ID)
	require.Contains(t, b.hours(s), 12, "it was read a moment ago")
	b.clock.Step(time.Minute)
	before := len(server.Requests())
	var group sync.WaitGroup
	for range 20 {
		group.Go(func() { b.keeper.Freshen(context.Background(), b.org, s.ID) })
	}
	group.Wait()
	require.NotContains(t, b.hours(s), 12)
	require.LessOrEqual(t, len(server.Requests())-before, 2, "once for all")

	b.clock.Step(time.Minute)
	stop := make(chan bool)
	server.Always(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-stop:
		case <-r.Context().Done():
		}
	})
	began := time.Now()
	b.keeper.Freshen(t.Context(), b.org, s.ID)
	require.Less(t, time.Since(began), 20*time.Second)
	require.Eventually(t, func() bool { // others may use the machine meanwhile
		b.clock.Step(time.Minute)
		hurried, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		began := time.Now()
		b.keeper.Freshen(hurried, b.org, s.ID)
		return time.Since(began) < time.Second
	}, 30*time.Second, time.Millisecond, "who has less time waits no longer")
	close(stop)
	require.NotContains(t, b.hours(s), 12)
	b.keeper.Freshen(t.Context(), b.org, id.NewSchedule())
}

// A schedule that goes to another calendar takes what is ahead along, and one that leaves takes it out.
func TestAnotherCalendar(t *testing.T) {
	b, server := fake(t)
	s := b.schedule(b.plan(""))
	i := b.book(s, hour(9))
	b.write()
	require.Empty(t, server.Texts())
	b.change(s, b.plan(caldavtest.Calendar))
	b.write()
	require.Contains(t, server.Texts(), name(i), "what was booked before it was joined is written too")
	require.Len(t, b.jobs(job.CalendarRead), 1)

	b.inTx(func(ctx context.Context, tx *tenant.Tx) error {
		err := connection.Delete(ctx, tx, b.connection, id.Connection{}, b.who())
		require.True(t, errdefs.IsConflict(err, connection.Noun, "in_use"), "%v", err)
		return nil
	})
	b.change(s, b.plan("/dav/ada/other/"))
	b.read()
	require.Len(t, b.jobs(job.CalendarRead), 1, "the one before ended")
	b.write()
	require.NotContains(t, server.Texts(), name(i))
	require.Len(t, b.jobs(job.CalendarWrite), 1, "that calendar is not there, so it waits")
	b.change(s, b.plan(""))
	b.clock.Step(time.Hour)
	b.write()
	b.read()
	require.Empty(t, b.jobs(job.CalendarRead))
	b.inTx(func(ctx context.Context, tx *tenant.Tx) error {
		return connection.Delete(ctx, tx, b.connection, id.Connection{}, b.who())
	})
}

// A schedule is kept in no connection of another kind, nor of another organization.
func TestConnectionsThatAreNoCalendars(t *testing.T) {
	b, _ := fake(t)
	p := b.plan("/x/")
	p.Calendar.Connection = id.NewConnection()
	err := b.tenants.InTx(t.Context(), b.org, func(ctx context.Context, tx *tenant.Tx) error {
		_, err := slot.Create(ctx, tx, "Desk", p, b.who())
		return err
	})
	var unusable *connection.UnusableError
	require.ErrorAs(t, err, &unusable)
}

// The whole of it with a real server.
func TestRadicale(t *testing.T) {
	r := caldavtest.StartRadicale(t)
	b := newBench(t, r.URL, caldavtest.RadicaleSecret, r.Guard())
	r.Put("lunch.ics", caldavtest.Event("lunch", form(hour(12)), form(hour(13)), "RRULE:FREQ=DAILY"))
	s := b.schedule(b.plan(caldavtest.RadicaleCalendar))
	require.Equal(t, 2*time.Minute, b.read())
	require.False(t, slices.Contains(b.hours(s), 12))
	i := b.book(s, hour(9))
	b.write()
	b.read()
	require.Equal(t, inbox.Confirmed, b.booking(i).State)
	b.rebook(i, inbox.BookingChange{StartsAt: hour(10)})
	b.write()
	b.read()
	require.Equal(t, hour(10), b.booking(i).StartsAt)
	moved := caldavtest.Event(strings.TrimSuffix(name(i), ".ics")+"@visavis", form(hour(20)), form(hour(21)))
	r.Put(name(i), moved)
	b.read()
	require.Equal(t, hour(20), b.booking(i).StartsAt)
	require.Equal(t, http.StatusOK, r.Do(http.MethodDelete, caldavtest.RadicaleCalendar+name(i), ""))
	b.read()
	b.clock.Step(6 * time.Minute)
	b.read()
	require.Equal(t, inbox.Cancelled, b.booking(i).State)
	b.write()
	require.Empty(t, b.jobs(job.CalendarWrite))
}

// What is busy every day at nine is not offered at nine, before and after both changes of the clocks, in two zones.
func TestDaylightSaving(t *testing.T) {
	for zone, changes := range map[string][]string{"Europe/Berlin": {"2026-10-25", "2027-03-28"}, "America/New_York": {"2026-11-01", "2027-03-14"}} {
		b, server := fake(t)
		in, err := time.LoadLocation(zone)
		require.NoError(t, err)
		server.Put("daily.ics", "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nBEGIN:VEVENT\r\nUID:daily\r\nDTSTART;TZID="+zone+":20260701T090000\r\nDTEND;TZID="+zone+
			":20260701T110000\r\nRRULE:FREQ=DAILY\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n")
		p := b.plan(caldavtest.Calendar)
		p.Timezone, p.HorizonDays, p.Hours = zone, 300, nil
		for _, day := range slot.Weekdays() {
			p.Hours = append(p.Hours, slot.Hours{Day: day, From: "08:00", To: "13:00"})
		}
		s := b.schedule(p)
		b.read()
		for _, change := range changes {
			day, err := time.ParseInLocation(time.DateOnly, change, in)
			require.NoError(t, err)
			from := day.AddDate(0, 0, -1)
			found, err := s.Times(t.Context(), b.tenants, b.org, p.Kinds[0], b.clock.Now(), from, from.AddDate(0, 0, 3), uuid.UUID{}, 100)
			require.NoError(t, err)
			var walls []string
			for _, f := range found {
				walls = append(walls, f.StartsAt.In(in).Format("15:04"))
			}
			require.Equal(t, []string{"08:00", "11:00", "12:00", "08:00", "11:00", "12:00", "08:00", "11:00", "12:00"}, walls, "%s %s", zone, change)
		}
		// What is booked on such a day is at that moment in the calendar.
		day, err := time.ParseInLocation(time.DateOnly, changes[0], in)
		require.NoError(t, err)
		at := time.Date(day.Year(), day.Month(), day.Day(), 8, 0, 0, 0, in)
		i := b.book(s, at)
		b.write()
		require.Contains(t, server.Texts()[name(i)], "DTSTART:"+form(at)+"\r\n")
		b.read()
		require.Equal(t, inbox.Confirmed, b.booking(i).State)
	}
}

// A calendar that fails at once is asked no more often for those who wait than one that answers.
func TestFresheningWhatFails(t *testing.T) {
	b, server := fake(t)
	s := b.schedule(b.plan(caldavtest.Calendar))
	b.read()
	b.clock.Step(time.Minute)
	server.Always(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) })
	before := len(server.Requests())
	for range 50 {
		b.keeper.Freshen(t.Context(), b.org, s.ID)
	}
	require.Len(t, server.Requests(), before+1)
	require.Len(t, b.hours(s), 24)
}

// Who reserves a time of a schedule with a calendar gets it alone, as of any other.
func TestTwoBookOneTime(t *testing.T) {
	b, _ := fake(t)
	p := b.plan(caldavtest.Calendar)
	s := b.schedule(p)
	b.read()
	for n := range 100 {
		var (
			both sync.WaitGroup
			errs [2]error
		)
		for i := range errs {
			both.Go(func() { _, errs[i] = b.tryBook(s, hour(n)) })
		}
		both.Wait()
		won, lost := errs[0], errs[1]
		if won != nil {
			won, lost = lost, won
		}
		require.NoError(t, won)
		require.True(t, errdefs.IsConflict(lost, slot.Noun, slot.ReasonTaken), "%v", lost)
	}
}

// No statement looks through all events, nor through all that is reserved.
func TestTheStatementsRideTheirIndexes(t *testing.T) {
	tenants, sent, org, _ := tenanttest.NewTraced(t)
	db, err := tenants.Shard(t.Context(), "a")
	require.NoError(t, err)
	for _, fill := range []string{
		`INSERT INTO slot_event (org_id, reserved_by, schedule_id, connection_id, calendar, sequence, starts_at, ends_at, written_at)
			SELECT $1, gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), '/', 0, now(), now(), now() FROM generate_series(1, 2000)`,
		`INSERT INTO slot_reservation (org_id, holder_id, reserved_by, busy_from, busy_to)
			SELECT $1, gen_random_uuid(), gen_random_uuid(), now(), now() FROM generate_series(1, 2000)`,
	} {
		_, err := db.Exec(t.Context(), fill, org)
		require.NoError(t, err)
	}
	which := id.NewSchedule()
	in := func(fn func(context.Context, *tenant.Tx) error) func() error {
		return func() error { return tenants.InTx(t.Context(), org, fn) }
	}
	for name, c := range map[string]struct {
		text, index string
		run         func() error
	}{
		"events ahead": {"FROM slot_event WHERE org_id = $1 AND schedule_id", "slot_event_by_schedule", func() error {
			_, err := slot.EventsAhead(t.Context(), tenants, org, which, time.Now())
			return err
		}},
		"an event": {"FROM slot_event WHERE org_id = $1 AND reserved_by", "slot_event_pkey", in(func(ctx context.Context, tx *tenant.Tx) error {
			_, err := slot.FindEvent(ctx, tx, uuid.New())
			return err
		})},
		"what is ahead": {"SELECT a.reserved_by", "slot_event_by_schedule", in(func(ctx context.Context, tx *tenant.Tx) error {
			_, err := slot.WriteAhead(ctx, tx, which, uuid.UUID{}, time.Now())
			return err
		})},
	} {
		t.Run(name, func(t *testing.T) {
			for _, statement := range sent.Of(t, c.text, c.run) {
				plan := statement.Forced(t, db)
				require.Contains(t, plan, c.index, statement.SQL)
				require.NotRegexp(t, `Seq Scan on s`, plan, statement.SQL)
			}
		})
	}
}

// Who leaves a calendar that takes nothing any more is in the next one at once.
func TestLeavingABrokenCalendar(t *testing.T) {
	b, server := fake(t)
	s := b.schedule(b.plan("/dav/ada/gone/"))
	i := b.book(s, hour(9))
	b.write()
	require.NotEmpty(t, b.jobs(job.CalendarWrite), "there is no such calendar")
	b.change(s, b.plan(caldavtest.Calendar))
	server.Always(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodDelete && !strings.HasPrefix(r.URL.Path, caldavtest.Calendar) {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		server.Serve(w, r)
	})
	for range 3 {
		b.clock.Step(time.Hour)
		b.write()
	}
	require.Contains(t, server.Texts(), name(i))
	require.Empty(t, b.jobs(job.CalendarWrite))
}
