package hiring_test

import (
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
)

// offer offers a candidate an interview with people.
func offer(t *testing.T, w *apitest.World, who string, more map[string]any) apitest.Answer {
	t.Helper()
	body := map[string]any{"mode": "onsite", "timezone": "Europe/Berlin", "interviewerIds": []any{w.HiringManager(t, w.Acme)}, "location": "Pier 1"}
	maps.Copy(body, more)
	return w.CallAs(t, "offerInterview", who, w.Acme.New, body)
}

// A time is offered, booked once, moved and cancelled; calendars are told, and the record says so.
func TestAnInterviewWithPeople(t *testing.T) {
	t.Parallel()
	w := apitest.NewWorld(t)
	role := w.Role(t, w.Acme, map[string]any{"title": "Head rigger"})
	kim, lee := w.Invite(t, w.Acme, role)["candidateId"].(string), w.Invite(t, w.Acme, role)["candidateId"].(string)
	one, two := apitest.InterviewSlot(1), apitest.InterviewSlot(2)
	made := offer(t, w, kim, map[string]any{"slots": []any{one, two}})
	require.Equal(t, http.StatusCreated, made.Status, "%s", made.Raw)
	which := made.Data(t)["id"].(string)
	other := offer(t, w, lee, map[string]any{"slots": []any{one}}).Data(t)["id"].(string)

	change := func(of string, body map[string]any) apitest.Answer {
		return w.CallAs(t, "updateInterview", of, w.Acme.New, body)
	}
	booked := change(which, map[string]any{"startsAt": one["startsAt"]})
	require.Equal(t, http.StatusOK, booked.Status, "%s", booked.Raw)
	require.Equal(t, []any{"booked", one["startsAt"], one["endsAt"]}, []any{booked.Data(t)["state"], booked.Data(t)["startsAt"], booked.Data(t)["endsAt"]})
	require.Equal(t, http.StatusOK, change(which, map[string]any{"startsAt": one["startsAt"]}).Status, "again")
	require.Equal(t, "slot_taken", apitest.Reason(t, change(other, map[string]any{"startsAt": one["startsAt"]}), "path.id"), "the interviewer is in another")
	require.Equal(t, "slot_not_offered", apitest.Reason(t, change(other, map[string]any{"startsAt": two["startsAt"]}), "path.id"))
	require.Equal(t, "interview_state", apitest.Reason(t, change(which, map[string]any{"state": "completed"}), "path.id"), "it has not begun")
	box := &postbox{}
	w.Post(t, box)
	require.Len(t, box.sent, 2, "the offer before was followed by the booking")
	var invitation string
	for _, m := range box.sent {
		if m.Calendar != nil {
			object, err := m.Calendar.Write("hello@example.com")
			require.NoError(t, err)
			invitation = object
			require.Contains(t, m.Text, "/booking/")
			require.Contains(t, m.Text, "Pier 1")
		} else {
			require.Contains(t, m.Subject, "choose a time")
		}
	}
	require.Contains(t, invitation, "METHOD:REQUEST")
	require.Contains(t, invitation, "SEQUENCE:1")

	require.Equal(t, http.StatusOK, change(which, map[string]any{"startsAt": two["startsAt"]}).Status)
	require.Equal(t, http.StatusOK, change(other, map[string]any{"startsAt": one["startsAt"]}).Status, "what was moved is free")
	cancelled := change(which, map[string]any{"state": "cancelled", "reasonCode": "ill"})
	require.Equal(t, []any{"cancelled", "ill"}, []any{cancelled.Data(t)["state"], cancelled.Data(t)["reasonCode"]})
	require.Equal(t, "interview_state", apitest.Reason(t, change(which, map[string]any{"startsAt": one["startsAt"]}), "path.id"))
	box.sent = nil
	w.Post(t, box)
	require.Len(t, box.sent, 2, "of what changed again meanwhile only the last is sent")
	for _, m := range box.sent {
		object, err := m.Calendar.Write("hello@example.com")
		require.NoError(t, err)
		if m.Calendar.Method == "CANCEL" {
			require.Contains(t, object, "SEQUENCE:3")
		}
	}

	listed := w.CallAs(t, "listInterviews", role, w.Acme.New, nil).JSON(t)["data"].([]any)
	require.Len(t, listed, 2)
	var log []string
	record := read(t, w, "getCandidateCompliance", kim)["record"].(map[string]any)
	require.Equal(t, true, record["intact"])
	for _, e := range record["entries"].([]any) {
		if action := e.(map[string]any)["action"].(string); strings.HasPrefix(action, "human_interview.") {
			log = append(log, action)
		}
	}
	require.Equal(t, []string{"human_interview.offered", "human_interview.booked", "human_interview.moved", "human_interview.cancelled"}, log)
	require.Len(t, w.Told(t, "candidate.interview_offered"), 2)
	require.Len(t, w.Told(t, "candidate.interview_booked"), 3)
	last := w.Told(t, "candidate.interview_cancelled")[0].(map[string]any)["data"].(map[string]any)
	require.Equal(t, []any{which, two["startsAt"], "ill"}, []any{last["interviewId"], strings.Replace(last["startsAt"].(string), ".000Z", "Z", 1), last["reasonCode"]})
}

// Whoever is decided on, withdrawn or erased has no interview ahead, and their time is free.
func TestAnInterviewEndsWithTheApplication(t *testing.T) {
	t.Parallel()
	w := apitest.NewWorld(t)
	role := w.Role(t, w.Acme, nil)
	slots := map[string]any{"slots": []any{apitest.InterviewSlot(3)}}
	at := map[string]any{"startsAt": apitest.InterviewSlot(3)["startsAt"]}
	state := func() (all []any) {
		for _, one := range w.CallAs(t, "listInterviews", role, w.Acme.New, nil).JSON(t)["data"].([]any) {
			h := one.(map[string]any)
			all = append(all, []any{h["state"], h["reasonCode"], h["location"]})
		}
		return all
	}
	gone := w.Invite(t, w.Acme, role)["candidateId"].(string)
	which := offer(t, w, gone, slots).Data(t)["id"].(string)
	require.Equal(t, http.StatusOK, w.CallAs(t, "updateInterview", which, w.Acme.New, at).Status)
	erased := w.CallAs(t, "eraseCandidate", gone, w.Acme.New, nil)
	require.Equal(t, http.StatusAccepted, erased.Status, "%s", erased.Raw)
	require.Equal(t, []any{[]any{"cancelled", "erased", nil}}, state())
	apitest.RequireError(t, offer(t, w, gone, slots), http.StatusGone, "gone", "path.id")

	box := &postbox{}
	for _, notify := range []bool{false, true} {
		who := w.Invite(t, w.Acme, role)["candidateId"].(string)
		which = offer(t, w, who, slots).Data(t)["id"].(string)
		require.Equal(t, http.StatusOK, w.CallAs(t, "updateInterview", which, w.Acme.New, at).Status, "the time is free")
		w.Post(t, box)
		box.sent = nil
		decided := w.CallAs(t, "decideCandidate", who, w.Acme.New, map[string]any{
			"decision": "reject", "decidedBy": w.HiringManager(t, w.Acme), "reasonCode": "x", "notify": notify,
		})
		require.Equal(t, http.StatusOK, decided.Status, "%s", decided.Raw)
		require.Equal(t, []any{"cancelled", "decided", "Pier 1"}, state()[0])
		require.Equal(t, "decision_already_made", apitest.Reason(t, offer(t, w, who, slots), "path.id"))
		w.Post(t, box)
		var methods []string
		for _, m := range box.sent {
			if m.Calendar != nil {
				methods = append(methods, m.Calendar.Method)
			}
		}
		if !notify {
			require.Empty(t, box.sent, "no mail tells the decision")
			continue
		}
		require.Len(t, box.sent, 2, "the decision, and what goes out of the calendar")
		require.Equal(t, []string{"CANCEL"}, methods)
	}
}

// The times of a schedule are offered, and taken from it.
func TestAnInterviewByASchedule(t *testing.T) {
	t.Parallel()
	w := apitest.NewWorld(t)
	of := w.Make(t, w.Acme, "createSchedule")["id"].(string)
	who := w.Invite(t, w.Acme, w.Role(t, w.Acme, nil))["candidateId"].(string)
	made := offer(t, w, who, map[string]any{"scheduleId": of, "timezone": ""})
	require.Equal(t, http.StatusCreated, made.Status, "%s", made.Raw)
	slots := made.Data(t)["slots"].([]any)
	require.Len(t, slots, 50)
	require.Equal(t, "Europe/Berlin", made.Data(t)["timezone"])
	at := slots[3].(map[string]any)["startsAt"]
	require.Equal(t, http.StatusOK, w.CallAs(t, "updateInterview", made.Data(t)["id"].(string), w.Acme.New, map[string]any{"startsAt": at}).Status)
	for _, one := range w.CallAs(t, "listTimes", of, w.Acme.New, nil).Data(t)["times"].([]any) {
		require.NotEqual(t, at, one.(map[string]any)["startsAt"])
	}
	both := offer(t, w, who, map[string]any{"scheduleId": of, "slots": []any{apitest.InterviewSlot(1)}})
	apitest.RequireError(t, both, http.StatusBadRequest, "invalid_request", "body.slots")
	stranger := offer(t, w, who, map[string]any{"slots": []any{apitest.InterviewSlot(1)}, "interviewerIds": []any{"per_06Hn2VfM1kXqT4yPzS8bRd"}})
	apitest.RequireError(t, stranger, http.StatusBadRequest, "invalid_request", "body.interviewerIds[0]")
}
