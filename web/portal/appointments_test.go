package portal_test

import (
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/utils/clock"

	"visavis.dev/api/apitest"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/portals/mailer"
)

// opened reads the page of an appointment, or posts a form to it.
func (v *visited) opened(at string, form url.Values) (int, string) {
	v.Helper()
	method, body := http.MethodGet, ""
	if form != nil {
		method, body = http.MethodPost, form.Encode()
	}
	r, err := http.NewRequestWithContext(v.Context(), method, at, strings.NewReader(body))
	require.NoError(v, err)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Origin", v.origin)
	response, err := http.DefaultClient.Do(r)
	require.NoError(v, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	require.NoError(v, err)
	return response.StatusCode, string(text)
}

// bookingLink is the link in the mail about a booking.
func (v *visited) bookingLink(item string) string {
	v.Helper()
	which, err := id.ParseInboxItem(item)
	require.NoError(v, err)
	return v.origin + mailer.LinkPath + mailer.AppointmentLink{Org: v.org, Item: which}.Token(v.made.Vault)
}

// A candidate chooses the time of an interview with people, and cancels it, by the page that theirs
// leads to.
func TestCandidatesChooseATime(t *testing.T) {
	t.Parallel()
	v := visit(t, clock.RealClock{})
	role, _ := v.applying(nil)
	var of struct{ HiringManagerIDs []string }
	v.call(http.MethodGet, "/roles/"+role, nil, &of)
	var candidates []struct{ ID string }
	v.call(http.MethodGet, "/roles/"+role+"/candidates", nil, &candidates)
	one, two := apitest.InterviewSlot(1), apitest.InterviewSlot(2)
	var made struct{ ID, State, StartsAt string }
	v.call(http.MethodPost, "/candidates/"+candidates[0].ID+"/interviews", map[string]any{
		"mode": "video", "timezone": "Europe/Berlin", "interviewerIds": of.HiringManagerIDs, "slots": []any{one, two},
	}, &made)
	link := regexp.MustCompile(`href="([^"]*/booking/[^"]*)"`).FindStringSubmatch(v.show("/interview"))
	require.Len(t, link, 2)
	status, shown := v.opened(link[1], nil)
	require.Equal(t, http.StatusOK, status, shown)
	require.Contains(t, shown, "Please choose a time.")
	status, shown = v.opened(link[1], url.Values{"do": {"choose"}, "time": {one["startsAt"].(string)}})
	require.Equal(t, http.StatusOK, status, shown)
	require.Contains(t, shown, "Your appointment is booked.")
	status, shown = v.opened(link[1], url.Values{"do": {"choose"}, "time": {time.Now().UTC().Format(time.RFC3339)}})
	require.Equal(t, http.StatusConflict, status, shown)
	require.Contains(t, v.show("/interview"), "Your appointment is booked.")
	status, shown = v.opened(link[1], url.Values{"do": {"cancel"}})
	require.Equal(t, http.StatusOK, status, shown)
	require.Contains(t, shown, "This appointment is cancelled.")
	var interviews []struct{ State, ReasonCode string }
	v.call(http.MethodGet, "/roles/"+role+"/interviews", nil, &interviews)
	require.Equal(t, []struct{ State, ReasonCode string }{{"cancelled", "candidate"}}, interviews)
}

// A visitor moves and cancels a booking by the link in their mail.
func TestVisitorsMoveABooking(t *testing.T) {
	t.Parallel()
	v := visit(t, clock.RealClock{})
	var desk, item struct {
		ID      string
		Booking struct{ State, StartsAt string }
	}
	v.call(http.MethodPost, "/schedules", apitest.ScheduleBody(1), &desk)
	var free struct{ Times []struct{ StartsAt string } }
	v.call(http.MethodGet, "/schedules/"+desk.ID+"/times", nil, &free)
	v.call(http.MethodPost, "/inbox", map[string]any{
		"kind": "booking", "contact": map[string]any{"email": "kim@example.com"}, "booking": map[string]any{"scheduleId": desk.ID, "startsAt": free.Times[4].StartsAt},
	}, &item)
	at := v.bookingLink(item.ID)
	status, shown := v.opened(at, nil)
	require.Equal(t, http.StatusOK, status, shown)
	require.Contains(t, shown, free.Times[6].StartsAt)
	require.NotContains(t, shown, free.Times[4].StartsAt, "what they have is not offered")
	status, shown = v.opened(at, url.Values{"do": {"choose"}, "time": {free.Times[6].StartsAt}})
	require.Equal(t, http.StatusOK, status, shown)
	v.call(http.MethodGet, "/inbox/"+item.ID, nil, &item)
	require.Equal(t, []string{"moved", free.Times[6].StartsAt}, []string{item.Booking.State, item.Booking.StartsAt})
	v.call(http.MethodPatch, "/schedules/"+desk.ID, map[string]any{"kinds": []any{map[string]any{"key": "other", "name": "Other", "durationMinutes": 30}}}, nil)
	status, shown = v.opened(at, url.Values{"do": {"choose"}, "time": {free.Times[8].StartsAt}})
	require.Equal(t, http.StatusConflict, status, shown)
	status, _ = v.opened(at, url.Values{"do": {"cancel"}})
	require.Equal(t, http.StatusOK, status)
	status, _ = v.opened(at, url.Values{"do": {"cancel"}})
	require.Equal(t, http.StatusOK, status, "again changes nothing")
	status, _ = v.opened(at+"x", nil)
	require.Equal(t, http.StatusNotFound, status)
	v.call(http.MethodGet, "/inbox/"+item.ID, nil, &item)
	require.Equal(t, "cancelled", item.Booking.State)
}
