package appointment_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/provider/caldav/caldavtest"
	"visavis.dev/pkg/provider/calendars"
	"visavis.dev/pkg/sessions/inbox"
	"visavis.dev/pkg/sessions/slot"
)

// A calendar that was emptied cancels nothing, and says so; one event that is deleted among others is followed.
func TestAnEmptiedCalendar(t *testing.T) {
	b, server := fake(t)
	s := b.schedule(b.plan(caldavtest.Calendar))
	b.read()
	all := make([]inbox.Item, 6)
	for n := range all {
		all[n] = b.book(s, hour(9+n))
	}
	b.write()
	texts := server.Texts()
	for _, i := range all {
		server.Remove(name(i))
	}
	for range 3 {
		b.clock.Step(6 * time.Minute)
		b.read()
	}
	code := func() string {
		joined, err := slot.GetJoined(t.Context(), b.tenants, b.org, s.ID)
		require.NoError(t, err)
		return joined.ErrorCode
	}
	require.Equal(t, "emptied", code())
	b.clock.Step(time.Minute)
	b.keeper.Freshen(t.Context(), b.org, s.ID)
	require.Equal(t, "emptied", code(), "who waits for times does not look for bookings")
	for n, i := range all {
		require.True(t, b.booking(i).State.Holds(), n)
		if n > 0 {
			server.Put(name(i), texts[name(i)])
		}
	}
	for range 3 {
		b.clock.Step(6 * time.Minute)
		b.read()
	}
	require.Empty(t, code())
	require.Equal(t, inbox.Cancelled, b.booking(all[0]).State)
	require.True(t, b.booking(all[1]).State.Holds())
}

// Nothing is offered of a calendar that was joined a moment ago; where it cannot be read, the schedule goes on without it.
func TestBeforeTheFirstReading(t *testing.T) {
	b, server := fake(t)
	server.Always(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) })
	s := b.unread(b.plan(caldavtest.Calendar))
	require.Empty(t, b.hours(s))
	_, err := b.tryBook(s, hour(9))
	require.True(t, errdefs.IsConflict(err, slot.Noun, slot.ReasonUnread), "%v", err)
	b.read()
	require.Len(t, b.hours(s), 24)
	b.book(s, hour(9))
}

// What a calendar is busy with is known also where a booking cannot be looked for.
func TestABookingThatCannotBeLookedFor(t *testing.T) {
	b, server := fake(t)
	s := b.schedule(b.plan(caldavtest.Calendar))
	b.read()
	i := b.book(s, hour(9))
	b.write()
	server.Remove(name(i))
	server.Put("lunch.ics", caldavtest.Event("lunch", form(hour(12)), form(hour(13))))
	server.Always(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		server.Serve(w, r)
	})
	for range 3 {
		b.clock.Step(6 * time.Minute)
		b.read()
	}
	require.NotContains(t, b.hours(s), 12)
	require.True(t, b.booking(i).State.Holds())
	joined, err := slot.GetJoined(t.Context(), b.tenants, b.org, s.ID)
	require.NoError(t, err)
	require.Equal(t, "unavailable", joined.ErrorCode)
	server.Always(nil)
	for range 3 {
		b.clock.Step(6 * time.Minute)
		b.read()
	}
	require.Equal(t, inbox.Cancelled, b.booking(i).State)
}

// A booking that somebody made longer than is followed keeps its time here, and takes the other one, too.
func TestABookingThatIsNotFollowed(t *testing.T) {
	b, server := fake(t)
	s := b.schedule(b.plan(caldavtest.Calendar))
	b.read()
	i := b.book(s, hour(9))
	b.write()
	uid := string(calendars.KeyOf(uuid.UUID(i.ID))) + "@visavis"
	server.Put(name(i), caldavtest.Event(uid, form(hour(9)), form(hour(36))))
	for range 2 {
		b.clock.Step(time.Minute)
		b.read()
		require.Equal(t, hour(10), b.booking(i).EndsAt)
		require.Equal(t, []int{0, 1, 2, 3, 4, 5, 6, 7, 8}, b.hours(s))
		b.clock.Step(time.Minute)
		b.keeper.Freshen(t.Context(), b.org, s.ID)
		require.Len(t, b.hours(s), 9)
	}
}
