package inbox_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/sessions/inbox"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
)

// rule makes a rule.
func rule(t *testing.T, w *apitest.World, on string, when, then map[string]any) string {
	t.Helper()
	answer := w.CallAs(t, "createInboxRule", "", w.Acme.New, map[string]any{"name": "Rule on " + on, "on": on, "when": when, "then": then})
	require.Equal(t, http.StatusCreated, answer.Status, "%s", answer.Raw)
	return answer.Data(t)["id"].(string)
}

// lead enters a lead with some more properties, and answers it.
func lead(t *testing.T, w *apitest.World, more map[string]any) map[string]any {
	t.Helper()
	body := map[string]any{"contact": map[string]any{"name": "Kim Lee", "email": "kim@example.com"}}
	maps.Copy(body, more)
	answer := w.CallAs(t, "createInboxItem", "", w.Acme.New, body)
	require.Equal(t, http.StatusCreated, answer.Status, "%s", answer.Raw)
	return answer.Data(t)
}

func histories(item map[string]any) (all []map[string]any) {
	for _, one := range item["history"].([]any) {
		all = append(all, one.(map[string]any))
	}
	return all
}

// A rule does with an item what it says where its conditions hold, in the commit that enters the item, and once.
func TestARuleIsApplied(t *testing.T) {
	t.Parallel()
	w := apitest.NewWorld(t)
	kim := w.Member(t, w.Acme)["id"].(string)
	made := rule(t, w, "item_created", map[string]any{"tags": []any{"fair"}, "languages": []any{"German"}}, map[string]any{
		"assigneeId": kim, "department": "Sales", "urgency": "high", "addTags": []any{"hot", "fair"}, "dueInMinutes": 90,
	})
	other := lead(t, w, map[string]any{"tags": []any{"fair"}})
	require.Equal(t, []any{nil, "normal", nil}, []any{other["assigneeId"], other["urgency"], other["slaDueAt"]}, "it is in English")
	require.Empty(t, other["history"])

	item := lead(t, w, map[string]any{"tags": []any{"fair"}, "language": "de"})
	require.Equal(t, []any{kim, "high", "Sales", []any{"fair", "hot"}}, []any{item["assigneeId"], item["urgency"], item["department"], item["tags"]})
	created, err := time.Parse(time.RFC3339, item["createdAt"].(string))
	require.NoError(t, err)
	due, err := time.Parse(time.RFC3339, item["slaDueAt"].(string))
	require.NoError(t, err)
	require.Equal(t, 90*time.Minute, due.Sub(created))
	history := histories(read(t, w, item["id"].(string), w.Acme.New))
	require.Len(t, history, 1)
	require.Equal(t, []any{made, "item_created"}, []any{history[0]["ruleId"], history[0]["on"]})
	require.ElementsMatch(t, []any{"assigneeId", "urgency", "department", "tags", "slaDueAt"}, history[0]["changed"])
	told := w.Told(t, "lead.captured")
	require.Equal(t, kim, told[0].(map[string]any)["data"].(map[string]any)["assigneeId"], "receivers are told at once")

	// What somebody changes is theirs: no rule of the creation is applied again.
	changed := w.CallAs(t, "updateInboxItem", item["id"].(string), w.Acme.New, map[string]any{"assigneeId": nil, "urgency": "low"})
	require.Equal(t, []any{nil, "low"}, []any{changed.Data(t)["assigneeId"], changed.Data(t)["urgency"]})

	off := w.CallAs(t, "updateInboxRule", made, w.Acme.New, map[string]any{"enabled": false})
	require.Equal(t, http.StatusOK, off.Status, "%s", off.Raw)
	require.Nil(t, lead(t, w, map[string]any{"tags": []any{"fair"}, "language": "de"})["assigneeId"])
	gone := w.CallAs(t, "deleteInboxRule", made, w.Acme.New, nil)
	require.Equal(t, http.StatusOK, gone.Status, "%s", gone.Raw)
	require.Len(t, histories(read(t, w, item["id"].(string), w.Acme.New)), 1, "what it did stays to be seen")
}

// A rule on changes is applied to an item once, when its conditions first hold, and what it does sets off no other.
func TestARuleOnChangesIsAppliedOnceAndSetsOffNothing(t *testing.T) {
	t.Parallel()
	w := apitest.NewWorld(t)
	first := rule(t, w, "item_updated", map[string]any{"tags": []any{"a"}}, map[string]any{"addTags": []any{"b"}})
	rule(t, w, "item_updated", map[string]any{"tags": []any{"never"}}, map[string]any{"addTags": []any{"c"}})
	item := lead(t, w, nil)["id"].(string)
	change := func(body map[string]any) map[string]any {
		answer := w.CallAs(t, "updateInboxItem", item, w.Acme.New, body)
		require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Raw)
		return answer.Data(t)
	}
	require.Empty(t, change(map[string]any{"urgency": "high"})["history"])
	require.Equal(t, []any{"a", "b"}, change(map[string]any{"tags": []any{"a"}})["tags"])
	told := w.Told(t, "lead.updated")
	last := told[0].(map[string]any)["data"].(map[string]any)
	require.Equal(t, []any{first, []any{"tags"}}, []any{last["changedBy"], last["changedFields"]})
	require.Equal(t, []any{"a"}, change(map[string]any{"tags": []any{"a"}})["tags"], "once")
	require.Len(t, histories(read(t, w, item, w.Acme.New)), 1)
}

// Items go in turn to those who are there, however many processes leave items at once.
func TestRoundRobinIsFairAcrossProcesses(t *testing.T) {
	t.Parallel()
	w := apitest.NewWorld(t)
	var team []any
	for range 3 {
		team = append(team, w.Member(t, w.Acme)["id"].(string))
	}
	rule(t, w, "item_created", map[string]any{}, map[string]any{"roundRobin": team})
	set := func(who any, body map[string]any) {
		answer := w.CallAs(t, "setInboxTeamMember", who.(string), w.Acme.New, body)
		require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Raw)
	}
	set(team[2], map[string]any{"away": true})
	const each = 6
	var group sync.WaitGroup
	for process := range 2 {
		group.Go(func() {
			for n := range each {
				// Each in a transaction of its own, as another process has.
				err := w.Tenants.InTx(t.Context(), w.Acme.ID, func(ctx context.Context, tx *tenant.Tx) error {
					i := inbox.Item{Language: "en", Urgency: inbox.NormalUrgency, Contact: &inbox.Contact{Phone: new(fmt.Sprint(process, n, "000"))}}
					_, err := inbox.Enter(ctx, tx, i, nil, actor(apitest.Moment()))
					return err
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	counts := func() map[any]int {
		found := map[any]int{}
		for _, one := range w.Call(t, w.Operation(t, "listInboxItems"), apitest.Request{Path: "/inbox?limit=200", Key: w.Acme.New}).JSON(t)["data"].([]any) {
			found[one.(map[string]any)["assigneeId"]]++
		}
		return found
	}
	require.Equal(t, map[any]int{team[0]: each, team[1]: each}, counts(), "in turn, and nobody who is away")

	// Who is back has their turns again; who is out of hours, or has no place any more, has none.
	set(team[2], map[string]any{})
	set(team[0], map[string]any{"hours": map[string]any{"timezone": "UTC", "hours": []any{}}})
	people := w.CallAs(t, "getPerson", team[1].(string), w.Acme.New, nil).Data(t)
	place := people["memberships"].([]any)[0].(map[string]any)["id"].(string)
	require.Equal(t, http.StatusOK, w.CallAs(t, "deleteMembership", place, w.Acme.New, nil).Status)
	for range 3 {
		require.Equal(t, team[2], lead(t, w, nil)["assigneeId"])
	}
	set(team[2], map[string]any{"away": true, "awayUntil": time.Now().Add(time.Hour).UTC().Format(time.RFC3339)})
	nobody := lead(t, w, nil)
	require.Nil(t, nobody["assigneeId"])
	require.Equal(t, []any{map[string]any{"action": "roundRobin", "reason": "nobody_there"}}, histories(nobody)[0]["skipped"])
}

// By department in turn, and by mail to whom it is assigned; a rule that names who has gone does the rest.
func TestByDepartmentAndByMail(t *testing.T) {
	t.Parallel()
	w := apitest.NewWorld(t)
	kim := w.TeamMember(t, w.Acme, map[string]any{"departments": []any{"Sales"}})
	lee := w.TeamMember(t, w.Acme, map[string]any{"departments": []any{"sales", "Support"}})
	w.TeamMember(t, w.Acme, map[string]any{"departments": []any{"Support"}})
	rule(t, w, "item_created", map[string]any{"assigned": false}, map[string]any{"roundRobinDepartment": "SALES", "mailAssignee": true})
	first, second, third := lead(t, w, nil), lead(t, w, nil), lead(t, w, nil)
	require.ElementsMatch(t, []any{kim, lee}, []any{first["assigneeId"], second["assigneeId"]})
	require.Equal(t, first["assigneeId"], third["assigneeId"])
	require.Equal(t, []any{first["assigneeId"]}, histories(first)[0]["mailed"])
	box := &postbox{}
	w.Post(t, box)
	require.Len(t, box.sent, 3)
	for _, m := range box.sent {
		require.Contains(t, []string{address(t, w, kim), address(t, w, lee)}, m.To)
		require.Contains(t, m.Text, "kim@example.com")
		require.False(t, m.Personal, "no machine answers it")
	}
	w.Post(t, box)
	require.Len(t, box.sent, 3, "once")
	mine := lead(t, w, map[string]any{"assigneeId": lee})
	require.Empty(t, mine["history"])

	gone := w.Member(t, w.Acme)["id"].(string)
	other := rule(t, w, "item_created", map[string]any{"tags": []any{"gone"}}, map[string]any{"assigneeId": gone, "mailTo": []any{gone}, "urgency": "high"})
	require.Equal(t, http.StatusAccepted, w.CallAs(t, "erasePerson", gone, w.Scoped(contract.Latest, scope.PeopleWrite, scope.SessionsWrite), nil).Status)
	item := lead(t, w, map[string]any{"tags": []any{"gone"}, "assigneeId": kim})
	require.Equal(t, []any{kim, "high"}, []any{item["assigneeId"], item["urgency"]})
	require.Equal(t, []any{map[string]any{"action": "assigneeId", "reason": "gone"}, map[string]any{"action": "mailTo", "reason": "gone"}}, histories(item)[0]["skipped"])
	renamed := w.CallAs(t, "updateInboxRule", other, w.Acme.New, map[string]any{"name": "Still there"})
	require.Equal(t, http.StatusOK, renamed.Status, "%s", renamed.Raw)
}

// Whoever writes a rule sees beforehand to what it would apply, and what is wrong with it.
func TestRulesAreTriedOutAndRefused(t *testing.T) {
	t.Parallel()
	w := apitest.NewWorld(t)
	hot := lead(t, w, map[string]any{"leadBand": "hot"})["id"]
	lead(t, w, map[string]any{"leadBand": "cold"})
	preview := func(when map[string]any) map[string]any {
		answer := w.CallAs(t, "previewInboxRule", "", w.Acme.New, map[string]any{"when": when})
		require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Raw)
		return answer.Data(t)
	}
	found := preview(map[string]any{"leadBands": []any{"hot"}})
	require.Equal(t, []any{2.0, 1.0, hot}, []any{found["examined"], found["matched"], found["items"].([]any)[0].(map[string]any)["id"]})
	for within, want := range map[bool]float64{true: 0, false: 2} {
		never := map[string]any{"within": within, "timezone": "Europe/Berlin", "hours": []any{}}
		require.Equal(t, want, preview(map[string]any{"hours": never})["matched"], within)
	}
	of := w.Make(t, w.Acme, "createSchedule")["id"].(string) // it is open at any hour but at Christmas
	require.Equal(t, 2.0, preview(map[string]any{"hours": map[string]any{"within": true, "scheduleId": of}})["matched"])
	require.Empty(t, w.Told(t, "lead.updated"), "nothing is done")

	theirs := w.Make(t, w.Globex, "createSchedule")["id"].(string)
	stranger := w.Member(t, w.Globex)["id"].(string)
	for name, tt := range map[string]struct {
		on         string
		when, then map[string]any
		status     int
		param      string
	}{
		"nothing done":          {"item_created", nil, map[string]any{}, 400, "body.then"},
		"two ways to assign":    {"item_created", nil, map[string]any{"roundRobin": []any{stranger}, "roundRobinDepartment": "x"}, 404, "body.then.roundRobin[0]"},
		"a stranger":            {"item_created", nil, map[string]any{"assigneeId": stranger}, 404, "body.then.assigneeId"},
		"a stranger by mail":    {"item_created", nil, map[string]any{"mailTo": []any{stranger}}, 404, "body.then.mailTo[0]"},
		"another's portal":      {"item_created", map[string]any{"portalIds": []any{w.Campus(t, w.Globex)}}, map[string]any{"urgency": "high"}, 404, "body.when.portalIds[0]"},
		"another's persona":     {"item_created", map[string]any{"personaIds": []any{w.Make(t, w.Globex, "createPersona")["id"]}}, map[string]any{"urgency": "high"}, 404, "body.when.personaIds[0]"},
		"another's schedule":    {"item_created", map[string]any{"hours": map[string]any{"within": true, "scheduleId": theirs}}, map[string]any{"urgency": "high"}, 404, "body.when.hours.scheduleId"},
		"no hours":              {"item_created", map[string]any{"hours": map[string]any{"within": true}}, map[string]any{"urgency": "high"}, 400, "body.when.hours"},
		"no zone":               {"item_created", map[string]any{"hours": map[string]any{"within": true, "timezone": "Mars/Base"}}, map[string]any{"urgency": "high"}, 400, "body.when.hours.timezone"},
		"no language":           {"item_created", map[string]any{"languages": []any{"Klingon"}}, map[string]any{"urgency": "high"}, 400, "body.when.languages[0]"},
		"due because it is due": {"overdue", nil, map[string]any{"dueInMinutes": 5}, 400, "body.then.dueInMinutes"},
	} {
		t.Run(name, func(t *testing.T) {
			body := map[string]any{"name": name, "on": tt.on, "then": tt.then}
			if tt.when != nil {
				body["when"] = tt.when
			}
			answer := w.CallAs(t, "createInboxRule", "", w.Acme.New, body)
			code := map[int]string{400: "invalid_request", 404: "not_found"}[tt.status]
			apitest.RequireError(t, answer, tt.status, code, tt.param)
		})
	}
	writes := w.Scoped(contract.Latest, scope.InboxWrite)
	apitest.RequireError(t, w.CallAs(t, "createInboxRule", "", writes, map[string]any{"name": "x", "on": "item_created", "then": map[string]any{"mailAssignee": true}}),
		http.StatusForbidden, "forbidden", "body.then.mailAssignee")
	mailing := rule(t, w, "item_created", nil, map[string]any{"mailAssignee": true})
	apitest.RequireError(t, w.CallAs(t, "updateInboxRule", mailing, writes, map[string]any{"when": map[string]any{}}), http.StatusForbidden, "forbidden", "body.then.mailAssignee")
	require.Equal(t, http.StatusOK, w.CallAs(t, "updateInboxRule", mailing, writes, map[string]any{"enabled": false}).Status, "switching it off always works")
	apitest.RequireError(t, w.CallAs(t, "getInboxRule", mailing, w.Globex.New, nil), http.StatusNotFound, "not_found", "path.id")
}

// What is due is told once before and once when it is, whichever process looks, and shows as overdue.
func TestDueTimes(t *testing.T) {
	t.Parallel()
	w := apitest.NewWorld(t)
	rule(t, w, "item_created", map[string]any{"tags": []any{"due"}}, map[string]any{"dueInMinutes": 120})
	rule(t, w, "due_soon", nil, map[string]any{"urgency": "high"})
	rule(t, w, "overdue", nil, map[string]any{"addTags": []any{"late"}})
	item := lead(t, w, map[string]any{"tags": []any{"due"}})["id"].(string)
	closed := lead(t, w, map[string]any{"tags": []any{"due"}})["id"].(string)
	require.Equal(t, http.StatusOK, w.CallAs(t, "updateInboxItem", closed, w.Acme.New, map[string]any{"state": "done"}).Status)
	lead(t, w, nil)
	at := apitest.Moment()
	look := func(after time.Duration) {
		t.Helper()
		var group sync.WaitGroup
		for range 2 { // two processes
			group.Go(func() {
				for _, shard := range []string{"shard-1", "shard-2"} {
					if _, err := inbox.Due(t.Context(), w.Tenants, shard, at.Add(after)); err != nil {
						t.Error(err)
					}
				}
			})
		}
		group.Wait()
	}
	ons := func() (all []any) {
		for _, one := range histories(read(t, w, item, w.Acme.New)) {
			all = append([]any{one["on"]}, all...)
		}
		return all
	}
	look(time.Hour)
	require.Equal(t, []any{"item_created"}, ons())
	look(91 * time.Minute)
	require.Equal(t, []any{"item_created", "due_soon"}, ons())
	look(92 * time.Minute)
	look(121 * time.Minute)
	look(122 * time.Minute)
	require.Equal(t, []any{"item_created", "due_soon", "overdue"}, ons(), "each once")
	shown := read(t, w, item, w.Acme.New)
	require.Equal(t, []any{"high", []any{"due", "late"}}, []any{shown["urgency"], shown["tags"]})
	require.Len(t, histories(read(t, w, closed, w.Acme.New)), 1, "what is over is not due")

	// The database's own clock goes on: what is due is set to have passed.
	require.NoError(t, w.Tenants.InTx(t.Context(), w.Acme.ID, func(ctx context.Context, tx *tenant.Tx) error {
		_, err := tx.Exec(ctx, `UPDATE inbox_item SET sla_due_at = $2 WHERE org_id = $1 AND sla_due_at IS NOT NULL`, tx.Org, at.Add(-time.Hour))
		return err
	}))
	list := w.Call(t, w.Operation(t, "listInboxItems"), apitest.Request{Path: "/inbox?" + url.Values{"due": {"overdue"}}.Encode(), Key: w.Acme.New})
	require.Equal(t, []string{item}, apitest.IDs(list.JSON(t)["data"].([]any)))
	summary := w.CallAs(t, "summarizeInbox", "", w.Acme.New, nil).Data(t)
	require.Equal(t, 1.0, summary["overdue"])
	require.Equal(t, true, read(t, w, item, w.Acme.New)["overdue"])
	require.Equal(t, false, read(t, w, closed, w.Acme.New)["overdue"])

	past := w.CallAs(t, "updateInboxItem", item, w.Acme.New, map[string]any{"slaDueAt": "2020-01-01T00:00:00Z"})
	apitest.RequireError(t, past, http.StatusBadRequest, "invalid_request", "body.slaDueAt")
	later := w.CallAs(t, "updateInboxItem", item, w.Acme.New, map[string]any{"slaDueAt": time.Now().Add(time.Hour).UTC().Format(time.RFC3339)})
	require.Equal(t, []any{http.StatusOK, false}, []any{later.Status, later.Data(t)["overdue"]})
	look(2 * time.Hour)
	require.Equal(t, []any{"item_created", "due_soon", "overdue", "due_soon", "overdue"}[:3], ons()[:3])
	require.Contains(t, ons()[3:], "overdue", "another due time is another occasion")
}

// A rule that is deleted while somebody leaves something is skipped, and what they leave stays.
func TestARuleIsDeletedMeanwhile(t *testing.T) {
	t.Parallel()
	w := apitest.NewWorld(t)
	made, err := id.ParseInboxRule(rule(t, w, "item_created", nil, map[string]any{"roundRobin": []any{w.Member(t, w.Acme)["id"]}}))
	require.NoError(t, err)
	deleted, commit, done := make(chan bool), make(chan bool), make(chan error)
	go func() {
		done <- w.Tenants.InTx(t.Context(), w.Acme.ID, func(ctx context.Context, tx *tenant.Tx) error {
			err := inbox.DeleteRule(ctx, tx, made, actor(apitest.Moment()))
			deleted <- true
			<-commit
			return err
		})
	}()
	<-deleted
	time.AfterFunc(500*time.Millisecond, func() { commit <- true })
	require.Nil(t, lead(t, w, nil)["assigneeId"])
	require.NoError(t, <-done)
}

// Who is written to or joined is due no more, what is opened again late is not overdue at once, and nothing is done with spam.
func TestWhatEndsADueTime(t *testing.T) {
	t.Parallel()
	w := apitest.NewWorld(t)
	rule(t, w, "item_created", nil, map[string]any{"dueInMinutes": 60})
	rule(t, w, "reply_received", nil, map[string]any{"dueInMinutes": 60})
	change := func(which string, body map[string]any) map[string]any {
		t.Helper()
		answer := w.CallAs(t, "updateInboxItem", which, w.Acme.New, body)
		require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Raw)
		return answer.Data(t)
	}
	which, to := written(t, w)
	require.Nil(t, read(t, w, which, w.Acme.New)["slaDueAt"], "the first reply")
	require.Equal(t, "added", gateway(t, w, apitest.InboundSecret, "", answerMail(to, "1@mx.example.com", "And?")).result)
	require.NotNil(t, read(t, w, which, w.Acme.New)["slaDueAt"])
	require.Equal(t, http.StatusCreated, w.CallAs(t, "replyToInboxItem", which, w.Acme.New, map[string]any{"text": "Yes."}).Status)
	require.Nil(t, read(t, w, which, w.Acme.New)["slaDueAt"], "each reply")

	handoff := w.Handoff(t, w.Acme)
	require.NotNil(t, read(t, w, handoff, w.Acme.New)["slaDueAt"])
	s, err := id.ParseSession(read(t, w, handoff, w.Acme.New)["sessionId"].(string))
	require.NoError(t, err)
	require.NoError(t, w.Tenants.InTx(t.Context(), w.Acme.ID, func(ctx context.Context, tx *tenant.Tx) error {
		_, err := inbox.Joined(ctx, tx, s, id.NewStaff(), false, apitest.Moment())
		return err
	}))
	require.Nil(t, read(t, w, handoff, w.Acme.New)["slaDueAt"], "who came")

	late := lead(t, w, nil)["id"].(string)
	change(late, map[string]any{"state": "done"})
	require.NoError(t, w.Tenants.InTx(t.Context(), w.Acme.ID, func(ctx context.Context, tx *tenant.Tx) error {
		_, err := tx.Exec(ctx, `UPDATE inbox_item SET sla_due_at = $2 WHERE org_id = $1 AND sla_due_at IS NOT NULL`, tx.Org, apitest.Moment().Add(-time.Hour))
		return err
	}))
	again := change(late, map[string]any{"state": "open"})
	require.Equal(t, []any{nil, false}, []any{again["slaDueAt"], again["overdue"]})

	change(which, map[string]any{"state": "spam"})
	runs := len(histories(read(t, w, which, w.Acme.New)))
	require.Equal(t, "added", gateway(t, w, apitest.InboundSecret, "", answerMail(to, "2@mx.example.com", "Buy!")).result)
	require.Len(t, histories(read(t, w, which, w.Acme.New)), runs)
	rule(t, w, "item_updated", map[string]any{"states": []any{"open"}}, map[string]any{"addTags": []any{"ham"}})
	require.Empty(t, change(which, map[string]any{"urgency": "high"})["tags"])
	require.Equal(t, []any{"ham"}, change(which, map[string]any{"state": "open"})["tags"])
}

// Whoever follows items is told once of a change with what rules make of it, and somebody whom two rules name is mailed once.
func TestRulesAreSavedAndMailedOnce(t *testing.T) {
	t.Parallel()
	w := apitest.NewWorld(t)
	kim := w.TeamMember(t, w.Acme, map[string]any{})
	for range 2 {
		rule(t, w, "item_updated", nil, map[string]any{"mailTo": []any{kim}, "addTags": []any{"seen"}})
	}
	which := lead(t, w, nil)["id"].(string)
	before, err := id.ParseInboxItem(which)
	require.NoError(t, err)
	edition := func() int64 {
		i, err := inbox.Get(t.Context(), w.Tenants, w.Acme.ID, before)
		require.NoError(t, err)
		return i.Edition
	}
	was := edition()
	changed := w.CallAs(t, "updateInboxItem", which, w.Acme.New, map[string]any{"urgency": "high"})
	require.Equal(t, http.StatusOK, changed.Status, "%s", changed.Raw)
	require.Equal(t, []any{"seen"}, changed.Data(t)["tags"])
	require.Equal(t, was+1, edition())
	box := &postbox{}
	w.Post(t, box)
	require.Len(t, box.sent, 1)
	history := histories(changed.Data(t))
	require.Len(t, history, 2)
	require.ElementsMatch(t, []any{[]any{}, []any{map[string]any{"action": "mailTo", "reason": "told_already"}}}, []any{history[0]["skipped"], history[1]["skipped"]})
}

// As many rules as are looked through while a visitor waits can be switched on, and the team is no larger than is looked through.
func TestRulesAndTheTeamAreBounded(t *testing.T) {
	t.Parallel()
	w := apitest.NewWorld(t)
	for range inbox.MaxEnabled {
		rule(t, w, "item_created", nil, map[string]any{"urgency": "high"})
	}
	one := map[string]any{"name": "More", "on": "item_created", "then": map[string]any{"urgency": "low"}}
	apitest.RequireError(t, w.CallAs(t, "createInboxRule", "", w.Acme.New, one), http.StatusConflict, "conflict", "")
	one["enabled"] = false
	off := w.CallAs(t, "createInboxRule", "", w.Acme.New, one)
	require.Equal(t, http.StatusCreated, off.Status, "%s", off.Raw)
	which := off.Data(t)["id"].(string)
	apitest.RequireError(t, w.CallAs(t, "updateInboxRule", which, w.Acme.New, map[string]any{"enabled": true}), http.StatusConflict, "conflict", "")
	require.Equal(t, http.StatusOK, w.CallAs(t, "updateInboxRule", which, w.Acme.New, map[string]any{"enabled": true, "on": "overdue"}).Status)

	kim := w.TeamMember(t, w.Acme, map[string]any{})
	lee := w.Member(t, w.Acme)["id"].(string)
	require.NoError(t, w.Tenants.InTx(t.Context(), w.Acme.ID, func(ctx context.Context, tx *tenant.Tx) error {
		_, err := tx.Exec(ctx, `INSERT INTO inbox_member (org_id, person_id, away, departments, updated_at)
			SELECT $1, gen_random_uuid(), false, '{}', now() FROM generate_series(2, $2)`, tx.Org, inbox.MaxMembers)
		return err
	}))
	apitest.RequireError(t, w.CallAs(t, "setInboxTeamMember", lee, w.Acme.New, map[string]any{}), http.StatusConflict, "conflict", "")
	require.Equal(t, http.StatusOK, w.CallAs(t, "setInboxTeamMember", kim, w.Acme.New, map[string]any{"away": true}).Status)
}

func address(t *testing.T, w *apitest.World, who string) string {
	t.Helper()
	return w.CallAs(t, "getPerson", who, w.Acme.New, nil).Data(t)["email"].(string)
}

func actor(at time.Time) activity.Actor { return activity.Actor{By: "test", At: at} }
