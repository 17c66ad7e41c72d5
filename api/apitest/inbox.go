package apitest

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/sessions/inbox"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/sessions/slot"
	"visavis.dev/pkg/store/tenant"
)

// LeadBody is a good body with every property of a lead.
func LeadBody(n int) map[string]any {
	return map[string]any{
		"kind": "lead",
		"contact": map[string]any{
			"name": fmt.Sprint("Kim ", n), "email": fmt.Sprintf("lead.%d@example.com", n), "phone": "+49 30 123456", "company": "Example Ltd",
			"jobTitle": "Buyer", "preferredChannel": "email",
			"consent": map[string]any{"given": true, "at": "2026-07-02T09:00:00Z", "text": "You may contact me."},
		},
		"portalId": "", "assigneeId": "", "language": "English", "leadBand": "warm", "need": "Two guides", "budget": "1,000 a month", "timeline": "This year",
		"answers": []any{map[string]any{"question": "How many visitors?", "answer": "Twenty a day"}},
		"urgency": "low", "department": "Sales", "tags": []any{"fair"},
		"source": map[string]any{
			"url": "https://www.example.com/fair", "referrer": "https://www.example.org/",
			"campaign": map[string]any{"source": "newsletter", "medium": "email", "name": "autumn", "term": "guide"},
		},
		"externalId": fmt.Sprint("lead-", n), "metadata": map[string]any{"source": "tests"},
	}
}

// ScheduleBody is a good body with every property of a schedule, which offers every hour of the day.
func ScheduleBody(n int) map[string]any {
	hours := []any{}
	for _, day := range slot.Weekdays() {
		hours = append(hours, map[string]any{"day": day, "from": "00:00", "to": "24:00"})
	}
	return map[string]any{
		"name": fmt.Sprint("Desk ", n), "timezone": "Europe/Berlin", "hours": hours,
		"exceptions": []any{map[string]any{"date": "2026-12-25", "hours": []any{}}, map[string]any{"date": "2026-12-24", "hours": []any{map[string]any{"from": "09:00", "to": "12:00"}}}},
		"kinds": []any{map[string]any{
			"key": "tour", "name": "A tour", "durationMinutes": 60, "bufferBeforeMinutes": 0, "bufferAfterMinutes": 0, "location": "Pier 1", "confirm": false,
		}},
		"stepMinutes": 60, "noticeMinutes": 0, "horizonDays": 60, "capacity": 1, "calendar": nil,
	}
}

// RuleBody is a good body with every property of a rule, which applies to no item of other tests. It is switched off: few
// can be on.
func RuleBody(n int) map[string]any {
	return map[string]any{
		"name": fmt.Sprint("Rule ", n), "enabled": false, "position": n % 10, "on": "item_created",
		"when": map[string]any{
			"kinds": []any{"lead", "handoff"}, "leadBands": []any{"hot"}, "channels": []any{"voice"}, "languages": []any{"German"},
			"departments": []any{"Sales"}, "urgencies": []any{"high"}, "tags": []any{"of rules alone"}, "assigned": false,
			"hours": map[string]any{"within": true, "timezone": "Europe/Berlin", "hours": []any{map[string]any{"day": "monday", "from": "09:00", "to": "17:00"}}},
		},
		"then": map[string]any{
			"roundRobinDepartment": "Sales", "department": "Sales", "urgency": "high", "addTags": []any{"ruled"}, "dueInMinutes": 60, "snoozeMinutes": 5,
			"mailAssignee": true,
		},
	}
}

// TeamBody is a good body with every property of a member of the inbox's team.
func TeamBody(n int) map[string]any {
	return map[string]any{
		"away": true, "awayUntil": time.Now().Add(time.Duration(n+1) * time.Hour).UTC().Format(time.RFC3339), "departments": []any{"Sales"},
		"hours": map[string]any{"timezone": "Europe/Berlin", "hours": []any{map[string]any{"day": "monday", "from": "09:00", "to": "17:00"}}},
		"joins": true,
	}
}

// TeamMember makes a person who is of the inbox's team.
func (w *World) TeamMember(t testing.TB, org *Org, body map[string]any) string {
	t.Helper()
	who := w.Member(t, org)["id"].(string)
	answer := w.CallAs(t, "setInboxTeamMember", who, org.New, body)
	require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Raw)
	return who
}

// Handoff has the visitor of a live conversation ask for a person.
func (w *World) Handoff(t testing.TB, org *Org) string {
	t.Helper()
	s := w.converse(t, org)
	held, err := session.Get(t.Context(), w.Tenants, org.ID, s)
	require.NoError(t, err)
	w.Leave(t, org, held, inbox.Left{Kind: inbox.Handoff, RequestedBy: inbox.ByVisitor, Words: inbox.Words{Reason: new("A person, please")}})
	return w.leftBy(t, org, s, inbox.Handoff).String()
}

// Leave has the visitor of a live conversation leave something.
func (w *World) Leave(t testing.TB, org *Org, s session.Session, left ...inbox.Left) {
	t.Helper()
	require.NoError(t, w.Tenants.InTx(t.Context(), org.ID, func(ctx context.Context, tx *tenant.Tx) error {
		return session.Collect(ctx, tx, s.ID, s.Epoch, session.Found{Left: left}, time.Now().UTC().Truncate(time.Microsecond))
	}))
}

// leftBy is the item of a kind that a conversation left.
func (w *World) leftBy(t testing.TB, org *Org, s id.Session, k inbox.Kind) id.InboxItem {
	t.Helper()
	found, err := inbox.List(t.Context(), w.Tenants, org.ID, inbox.Filter{Kinds: []inbox.Kind{k}}, id.InboxItem{}, 200)
	require.NoError(t, err)
	for _, i := range found {
		if i.Session == s {
			return i.ID
		}
	}
	require.FailNow(t, "the conversation left nothing")
	return id.InboxItem{}
}

// ForgetVisitors does what is left to do for visitors who were forgotten.
func (w *World) ForgetVisitors(t testing.TB) {
	t.Helper()
	w.runJobs(t, map[job.Kind]job.Work{job.InboxForget: {Prepare: func(context.Context, job.Job) (job.Step, error) { return session.ForgetStep, nil }}})
}
