package connections_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/hiring/candidate"
	"visavis.dev/pkg/provider/caldav/caldavtest"
	"visavis.dev/pkg/store/tenant"
)

// A calendar is connected, joined with a schedule, and kept in step with what is booked.
func TestACalendarIsKeptInStep(t *testing.T) {
	c := apitest.NewConnections(t)
	s := caldavtest.Start()
	t.Cleanup(s.Close)
	worker := c.Worker()
	worker.Start()
	t.Cleanup(worker.Stop)
	connect := func(b, _ map[string]any) {
		b["kind"], b["provider"], b["secret"] = "calendar", "caldav", caldavtest.Secret
		b["config"] = map[string]any{"baseUrl": s.URL}
	}
	refused := c.Connect(t, func(b, k map[string]any) { connect(b, k); b["secret"] = "nocolon" })
	apitest.RequireError(t, refused, http.StatusBadRequest, "invalid_request", "body.secret")
	made := c.Connect(t, func(b, k map[string]any) { connect(b, k); b["secret"] = "ada:pass" })
	which := made.Data(t)["id"].(string)
	tested := c.CallAs(t, "testConnection", which, c.Acme.New, nil).Data(t)
	require.Equal(t, []any{false, "refused"}, []any{tested["ok"], apitest.At(tested, "steps").([]any)[1].(map[string]any)["errorCode"]})
	secret := c.CallAs(t, "updateConnection", which, c.Acme.New, map[string]any{"secret": caldavtest.Secret})
	require.Equal(t, http.StatusOK, secret.Status, "%s", secret.Raw)
	tested = c.CallAs(t, "testConnection", which, c.Acme.New, nil).Data(t)
	require.Equal(t, true, tested["ok"])
	require.Equal(t, map[string]any{"calendar": caldavtest.Calendar, "name": "Work & more", "writable": true}, tested["calendars"].([]any)[0])

	tomorrow := time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, 1)
	form := func(hour int) string { return tomorrow.Add(time.Duration(hour) * time.Hour).Format("20060102T150405Z") }
	s.Put("lunch.ics", caldavtest.Event("lunch", form(12), form(13)))
	calendar := map[string]any{"connectionId": which, "calendar": caldavtest.Calendar}
	schedule := func(calendar map[string]any, as *apitest.Org) apitest.Answer {
		body := apitest.ScheduleBody(1)
		body["calendar"] = calendar
		return c.Call(t, c.Operation(t, "createSchedule"), apitest.Request{Path: "/schedules", Key: as.New, Body: body})
	}
	apitest.RequireError(t, schedule(calendar, c.Globex), http.StatusNotFound, "not_found", "body.calendar.connectionId")
	model := c.Connect(t, apitest.Same).Data(t)["id"]
	apitest.RequireError(t, schedule(map[string]any{"connectionId": model, "calendar": "/x/"}, c.Acme), http.StatusBadRequest, "invalid_request", "body.calendar.connectionId")
	apitest.RequireError(t, schedule(map[string]any{"connectionId": which, "calendar": "/x/?y"}, c.Acme), http.StatusBadRequest, "invalid_request", "body.calendar.calendar")
	own := c.Scoped(contract.Latest, scope.InboxRead, scope.InboxWrite)
	body := apitest.ScheduleBody(1)
	body["calendar"] = calendar
	apitest.RequireError(t, c.Call(t, c.Operation(t, "createSchedule"), apitest.Request{Path: "/schedules", Key: own, Body: body}), http.StatusForbidden, "forbidden", "body.calendar")

	joined := schedule(calendar, c.Acme)
	require.Equal(t, http.StatusCreated, joined.Status, "%s", joined.Raw)
	of := joined.Data(t)["id"].(string)
	require.Equal(t, "offer", apitest.At(joined.Data(t), "calendar", "whenUnread"))
	require.Equal(t, []any{of}, apitest.At(c.CallAs(t, "getConnection", which, c.Acme.New, nil).Data(t), "usedBy", "scheduleIds"))
	require.Equal(t, "in_use", apitest.Reason(t, c.CallAs(t, "deleteConnection", which, c.Acme.New, nil), "path.id"))
	times := func() (all []string) {
		for _, one := range c.CallAs(t, "listTimes", of, c.Acme.New, nil).Data(t)["times"].([]any) {
			all = append(all, one.(map[string]any)["startsAt"].(string))
		}
		return all
	}
	at := func(hour int) string {
		return tomorrow.Add(time.Duration(hour) * time.Hour).Format("2006-01-02T15:04:05Z")
	}
	require.NotContains(t, times(), at(12), "it is read before the first answer")
	require.Contains(t, times(), at(9))
	require.NotNil(t, apitest.At(c.CallAs(t, "getSchedule", of, c.Acme.New, nil).Data(t), "calendar", "readAt"))

	booked := c.Call(t, c.Operation(t, "createInboxItem"), apitest.Request{Path: "/inbox", Key: c.Acme.New, Body: map[string]any{
		"kind": "booking", "contact": map[string]any{"name": "Kim Lee", "phone": "+49 30 123456"}, "booking": map[string]any{"scheduleId": of, "startsAt": at(9)},
	}})
	require.Equal(t, http.StatusCreated, booked.Status, "%s", booked.Raw)
	require.Equal(t, which, apitest.At(booked.Data(t), "booking", "calendarConnectionId"))
	require.Eventually(t, func() bool { return len(s.Texts()) == 2 }, 20*time.Second, 20*time.Millisecond)
	cancelled := c.CallAs(t, "updateInboxItem", booked.Data(t)["id"].(string), c.Acme.New, map[string]any{"booking": map[string]any{"state": "cancelled"}})
	require.Equal(t, http.StatusOK, cancelled.Status, "%s", cancelled.Raw)
	require.Eventually(t, func() bool { return len(s.Texts()) == 1 }, 20*time.Second, 20*time.Millisecond)
	told := c.Told(t, "booking.requested")[0].(map[string]any)["data"].(map[string]any)
	require.Equal(t, which, told["calendarConnectionId"])

	// Interviews of candidates by the schedule are kept there too.
	who := c.Invite(t, c.Acme, c.Role(t, c.Acme, nil))["candidateId"].(string)
	offered := c.CallAs(t, "offerInterview", who, c.Acme.New, map[string]any{
		"scheduleId": of, "mode": "video", "interviewerIds": []any{c.HiringManager(t, c.Acme)},
	})
	require.Equal(t, http.StatusCreated, offered.Status, "%s", offered.Raw)
	require.NotContains(t, offered.Raw, at(12))
	chosen := offered.Data(t)["slots"].([]any)[20].(map[string]any)["startsAt"]
	interview := offered.Data(t)["id"].(string)
	require.Equal(t, http.StatusOK, c.CallAs(t, "updateInterview", interview, c.Acme.New, map[string]any{"startsAt": chosen}).Status)
	require.Eventually(t, func() bool { return len(s.Texts()) == 2 }, 20*time.Second, 20*time.Millisecond)
	// What somebody takes out of the calendar is cancelled, unless it changed here since.
	taken := func(sequence int64) string {
		t.Helper()
		which, err := id.ParseInterview(interview)
		require.NoError(t, err)
		require.NoError(t, c.Tenants.InTx(t.Context(), c.Acme.ID, func(ctx context.Context, tx *tenant.Tx) error {
			return candidate.Letters{}.CancelByCalendar(ctx, tx, which, sequence, time.Now().UTC())
		}))
		h, err := candidate.GetHuman(t.Context(), c.Tenants, c.Acme.ID, which)
		require.NoError(t, err)
		return string(h.State)
	}
	require.Equal(t, "booked", taken(0))
	require.Equal(t, "cancelled", taken(1))
	require.Equal(t, "cancelled", taken(1))
	last := c.Told(t, "candidate.interview_cancelled")[0].(map[string]any)["data"].(map[string]any)
	require.Equal(t, []any{"calendar", "calendar"}, []any{last["cancelledBy"], last["reasonCode"]})
	require.Eventually(t, func() bool { return len(s.Texts()) == 1 }, 20*time.Second, 20*time.Millisecond)

	left := c.CallAs(t, "updateSchedule", of, c.Acme.New, map[string]any{"calendar": nil})
	require.Equal(t, http.StatusOK, left.Status, "%s", left.Raw)
	require.Nil(t, left.Data(t)["calendar"])
	require.Contains(t, times(), at(12))
	require.Equal(t, http.StatusOK, c.CallAs(t, "deleteConnection", which, c.Acme.New, nil).Status)
}
