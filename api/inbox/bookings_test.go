package inbox_test

import (
	"context"
	"net/http"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/mail"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/sessions/inbox"
	"visavis.dev/pkg/store/apikey"
)

// free are the times of a schedule that are free now.
func free(t *testing.T, w *apitest.World, of string) (all []string) {
	t.Helper()
	answer := w.CallAs(t, "listTimes", of, w.Acme.New, nil)
	require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Raw)
	for _, one := range answer.Data(t)["times"].([]any) {
		all = append(all, one.(map[string]any)["startsAt"].(string))
	}
	return all
}

func book(t *testing.T, w *apitest.World, key apikey.Secret, of, at string, retry string) apitest.Answer {
	t.Helper()
	r := apitest.Request{Path: "/inbox", Key: key, Body: map[string]any{
		"kind": "booking", "contact": map[string]any{"name": "Kim Lee", "email": "kim@example.com"}, "need": "A tour for two",
		"booking": map[string]any{"scheduleId": of, "bookingKind": "tour", "startsAt": at},
	}}
	if retry != "" {
		r.Header = map[string]string{"Idempotency-Key": retry}
	}
	return w.Call(t, w.Operation(t, "createInboxItem"), r)
}

// A time is booked once, moved, and cancelled, and everybody is told.
func TestABooking(t *testing.T) {
	t.Parallel()
	w := apitest.NewWorld(t)
	of := w.Make(t, w.Acme, "createSchedule")["id"].(string)
	times := free(t, w, of)
	require.Greater(t, len(times), 100)
	made := book(t, w, w.Acme.New, of, times[5], "once")
	require.Equal(t, http.StatusCreated, made.Status, "%s", made.Raw)
	which := made.Data(t)["id"].(string)
	require.Equal(t, made.Data(t), book(t, w, w.Acme.New, of, times[5], "once").Data(t), "a retry books nothing more")
	booked := made.Data(t)["booking"].(map[string]any)
	require.Equal(t, []any{"booking", "new", "confirmed", times[5], "Europe/Berlin", "Pier 1"},
		[]any{made.Data(t)["kind"], made.Data(t)["state"], booked["state"], booked["startsAt"], booked["timezone"], booked["location"]})
	require.NotContains(t, free(t, w, of), times[5])

	require.Equal(t, "slot_taken", apitest.Reason(t, book(t, w, w.Acme.New, of, times[5], ""), "body.booking.startsAt"))
	require.Equal(t, "slot_not_offered", apitest.Reason(t, book(t, w, w.Acme.New, of, "2099-01-01T10:07:00Z", ""), "body.booking.startsAt"))
	require.Equal(t, "slot_passed", apitest.Reason(t, book(t, w, w.Acme.New, of, "2020-01-01T10:00:00Z", ""), "body.booking.startsAt"))
	theirs := w.Make(t, w.Globex, "createSchedule")["id"].(string)
	apitest.RequireError(t, book(t, w, w.Acme.New, theirs, times[5], ""), http.StatusNotFound, "not_found", "body.booking.scheduleId")
	require.Equal(t, "in_use", apitest.Reason(t, w.CallAs(t, "deleteSchedule", of, w.Acme.New, nil), "path.id"))

	change := func(booking map[string]any) apitest.Answer {
		return w.CallAs(t, "updateInboxItem", which, w.Acme.New, map[string]any{"booking": booking})
	}
	moved := change(map[string]any{"startsAt": times[7]})
	require.Equal(t, http.StatusOK, moved.Status, "%s", moved.Raw)
	require.Equal(t, []any{"moved", times[7]}, []any{apitest.At(moved.Data(t), "booking", "state"), apitest.At(moved.Data(t), "booking", "startsAt")})
	require.Contains(t, free(t, w, of), times[5], "what was moved is free")
	apitest.RequireError(t, change(map[string]any{"state": "no_show"}), http.StatusBadRequest, "invalid_request", "body.booking.state")
	require.Equal(t, "confirmed", apitest.At(change(map[string]any{"state": "confirmed"}).Data(t), "booking", "state"))
	require.Equal(t, "cancelled", apitest.At(change(map[string]any{"state": "cancelled"}).Data(t), "booking", "state"))
	require.Equal(t, "booking_state", apitest.Reason(t, change(map[string]any{"startsAt": times[8]}), "path.id"))
	require.Contains(t, free(t, w, of), times[7])
	lead := w.Make(t, w.Acme, "createInboxItem")["id"].(string)
	refused := w.CallAs(t, "updateInboxItem", lead, w.Acme.New, map[string]any{"booking": map[string]any{"state": "confirmed"}})
	require.Equal(t, "not_a_booking", apitest.Reason(t, refused, "path.id"))
	require.Equal(t, http.StatusOK, w.CallAs(t, "deleteSchedule", of, w.Acme.New, nil).Status)

	listed := w.Call(t, w.Operation(t, "listInboxItems"), apitest.Request{Path: "/inbox?kind=booking", Key: w.Acme.New})
	require.Len(t, listed.JSON(t)["data"], 1)
	require.Equal(t, 1.0, apitest.At(w.CallAs(t, "summarizeInbox", "", w.Acme.New, nil).Data(t), "bookings", "new"))
	told := w.Told(t, "booking.requested")
	require.Len(t, told, 1, "what was refused tells nothing")
	data := told[0].(map[string]any)["data"].(map[string]any)
	require.Equal(t, []any{which, "confirmed", times[5], "tour"}, []any{data["inboxItemId"], data["state"], data["startsAt"], data["bookingKind"]})
	var states []any
	for _, e := range w.Told(t, "booking.updated") {
		data := e.(map[string]any)["data"].(map[string]any)
		states = append(states, []any{data["previousState"], data["state"]})
	}
	require.Equal(t, []any{[]any{"confirmed", "cancelled"}, []any{"moved", "confirmed"}, []any{"confirmed", "moved"}}, states)
}

// Who is forgotten does not come, and their time is free.
func TestAForgottenVisitorsTimeIsFree(t *testing.T) {
	t.Parallel()
	w := apitest.NewWorld(t)
	of := w.Make(t, w.Acme, "createSchedule")["id"].(string)
	at := free(t, w, of)[3]
	which := book(t, w, w.Acme.New, of, at, "").Data(t)["id"].(string)
	forgotten := w.CallAs(t, "forgetInboxItem", which, w.Acme.New, nil)
	require.Equal(t, http.StatusOK, forgotten.Status, "%s", forgotten.Raw)
	require.Equal(t, []any{"cancelled", nil}, []any{apitest.At(forgotten.Data(t), "booking", "state"), forgotten.Data(t)["contact"]})
	require.Contains(t, free(t, w, of), at)
	later := w.CallAs(t, "updateInboxItem", which, w.Acme.New, map[string]any{"booking": map[string]any{"state": "confirmed"}})
	require.Equal(t, "forgotten", apitest.Reason(t, later, "path.id"))
	own := w.Scoped(contract.Latest, scope.InboxRead)
	require.Equal(t, http.StatusForbidden, w.Call(t, w.Operation(t, "createSchedule"), apitest.Request{Path: "/schedules", Key: own, Body: apitest.ScheduleBody(1)}).Status)
}

// postbox keeps what is sent.
type postbox struct{ sent []mail.Message }

func (p *postbox) Send(_ context.Context, m mail.Message) error {
	p.sent = append(p.sent, m)
	return nil
}

// Who booked is mailed an invitation to their calendar, with what is changed and cancelled later; of
// two changes in a row the last is sent.
func TestABookingIsMailed(t *testing.T) {
	t.Parallel()
	w := apitest.NewWorld(t)
	of := w.Make(t, w.Acme, "createSchedule")["id"].(string)
	times := free(t, w, of)
	which := book(t, w, w.Acme.New, of, times[5], "").Data(t)["id"].(string)
	box := &postbox{}
	w.Post(t, box)
	w.Post(t, box)
	require.Len(t, box.sent, 1, "once")
	require.Equal(t, []any{"kim@example.com", "REQUEST"}, []any{box.sent[0].To, box.sent[0].Calendar.Method})
	require.Contains(t, box.sent[0].Text, "https://portal.example.com/booking/")
	for _, booking := range []map[string]any{{"startsAt": times[8]}, {"state": "cancelled"}} {
		require.Equal(t, http.StatusOK, w.CallAs(t, "updateInboxItem", which, w.Acme.New, map[string]any{"booking": booking}).Status)
	}
	w.Post(t, box)
	require.Len(t, box.sent, 2)
	item := w.CallAs(t, "getInboxItem", which, w.Acme.New, nil).Data(t)
	object, err := box.sent[1].Calendar.Write("hello@example.com")
	require.NoError(t, err)
	for _, want := range []string{"METHOD:CANCEL", "SEQUENCE:2", "UID:" + apitest.At(item, "booking", "calendarEventId").(string) + "\r\n", "STATUS:CANCELLED"} {
		require.Contains(t, object, want)
	}
}

// A visitor is written to once, however often it is asked for, and replies belong to one thread.
func TestAReply(t *testing.T) {
	t.Parallel()
	w := apitest.NewWorld(t)
	which := w.Make(t, w.Acme, "createInboxItem")["id"].(string)
	o := w.Operation(t, "replyToInboxItem")
	reply := func(of, text, retry string) apitest.Answer {
		return w.Call(t, o, apitest.Request{
			Path: apitest.WithID(o, of), Key: w.Acme.New, Body: map[string]any{"text": text, "replyTo": "sales@example.com"}, Header: map[string]string{"Idempotency-Key": retry},
		})
	}
	first := reply(which, "Dear Kim,\n\n<b>thank you</b>.", "one")
	require.Equal(t, http.StatusCreated, first.Status, "%s", first.Raw)
	require.NotNil(t, first.Data(t)["firstReplyAt"])
	require.Equal(t, first.Data(t), reply(which, "Dear Kim,\n\n<b>thank you</b>.", "one").Data(t))
	require.Equal(t, http.StatusCreated, reply(which, "And one more thing.", "two").Status)
	box := &postbox{}
	w.Post(t, box)
	w.Post(t, box)
	require.Len(t, box.sent, 2)
	slices.SortFunc(box.sent, func(a, b mail.Message) int { return len(a.References) - len(b.References) })
	require.Equal(t, []string{box.sent[0].ID}, box.sent[1].References)
	require.Contains(t, box.sent[0].Text, "<b>thank you</b>.")
	require.NotContains(t, box.sent[0].HTML, "<b>")
	require.Equal(t, []any{"sales@example.com", true}, []any{box.sent[0].ReplyTo, box.sent[0].Personal})
	require.Len(t, w.Told(t, "lead.updated"), 1, "of the first reply")

	body := apitest.LeadBody(7)
	delete(body["contact"].(map[string]any), "email")
	phone := w.Call(t, w.Operation(t, "createInboxItem"), apitest.Request{Path: "/inbox", Key: w.Acme.New, Body: body}).Data(t)["id"].(string)
	require.Equal(t, inbox.ReasonNoContact, apitest.Reason(t, reply(phone, "Hello.", "three"), "path.id"))
	require.Equal(t, http.StatusOK, w.CallAs(t, "forgetInboxItem", which, w.Acme.New, nil).Status)
	require.Equal(t, inbox.ReasonForgotten, apitest.Reason(t, reply(which, "Hello.", "four"), "path.id"))
}
