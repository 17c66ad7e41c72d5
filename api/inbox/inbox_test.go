package inbox_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/sessions/inbox"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/apikey"
	"visavis.dev/pkg/store/tenant"
)

func read(t *testing.T, w *apitest.World, of string, key apikey.Secret) map[string]any {
	t.Helper()
	answer := w.CallAs(t, "getInboxItem", of, key, nil)
	require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Raw)
	return answer.Data(t)
}

// Of no answers an event has an empty list, as the item has, and null where they are held back, by both contracts.
func TestALeadWithoutAnswers(t *testing.T) {
	t.Parallel()
	w := apitest.NewWorld(t)
	silent := w.CallAs(t, "createInboxItem", "", w.Acme.New, map[string]any{"kind": "lead", "contact": map[string]any{"name": "Kim", "email": "kim@example.com"}}).Data(t)
	require.Equal(t, []any{}, silent["answers"])
	for _, key := range []apikey.Secret{w.Acme.New, w.OldNamed} {
		for query, want := range map[string]any{"": nil, "&includeConversation=true": []any{}} {
			told := w.Get(key, "/events?type=lead.captured&limit=1"+query).JSON(t)["data"].([]any)[0]
			require.Equal(t, want, apitest.At(told, "data", "answers"), query)
		}
	}
}

// A lead that is entered is dealt with, in both contracts, by whoever may.
func TestALeadIsDealtWith(t *testing.T) {
	t.Parallel()
	w := apitest.NewWorld(t)
	made := w.Make(t, w.Acme, "createInboxItem")
	which := made["id"].(string)
	require.Equal(t, []any{"lead", "new", "warm"}, []any{made["kind"], made["state"], made["leadBand"]})

	older := read(t, w, which, w.OldNamed)
	require.Equal(t, "warm", older["leadScore"])
	require.NotContains(t, older, "leadBand")
	require.NotContains(t, read(t, w, which, w.Acme.New), "leadScore")

	words := []string{"need", "budget", "timeline"}
	inboxOnly := read(t, w, which, w.Scoped(contract.Latest, scope.InboxRead))
	both := read(t, w, which, w.Scoped(contract.Latest, scope.InboxRead, scope.TranscriptsRead))
	for _, name := range words {
		require.Nil(t, inboxOnly[name], name)
		require.NotNil(t, both[name], name)
	}
	require.Equal(t, "Two guides", both["need"])
	require.NotNil(t, inboxOnly["contact"])
	require.Empty(t, inboxOnly["answers"])

	apitest.RequireError(t, w.CallAs(t, "getInboxItem", which, w.Globex.New, nil), http.StatusNotFound, "not_found", "path.id")
	won := w.CallAs(t, "updateInboxItem", which, w.Acme.New, map[string]any{"state": "won", "leadBand": "hot"})
	require.Equal(t, http.StatusOK, won.Status, "%s", won.Raw)
	require.Equal(t, []any{"won", "hot"}, []any{won.Data(t)["state"], won.Data(t)["leadBand"]})
	lost := w.CallAs(t, "updateInboxItem", which, w.Acme.New, map[string]any{"state": "lost"})
	require.Equal(t, inbox.ReasonTransition, apitest.Reason(t, lost, "path.id"))
	stranger := w.CallAs(t, "updateInboxItem", which, w.Acme.New, map[string]any{"assigneeId": id.NewPerson().String()})
	apitest.RequireError(t, stranger, http.StatusNotFound, "not_found", "body.assigneeId")
	past := w.CallAs(t, "updateInboxItem", which, w.Acme.New, map[string]any{"state": "open"})
	require.Equal(t, http.StatusOK, past.Status)
	past = w.CallAs(t, "updateInboxItem", which, w.Acme.New, map[string]any{"snoozedUntil": "2020-01-01T00:00:00Z"})
	apitest.RequireError(t, past, http.StatusBadRequest, "invalid_request", "body.snoozedUntil")

	noted := w.CallAs(t, "noteInboxItem", which, w.Acme.New, map[string]any{"text": "Call again."})
	require.Equal(t, http.StatusCreated, noted.Status, "%s", noted.Raw)
	require.Equal(t, "Call again.", apitest.At(noted.Data(t), "notes").([]any)[0].(map[string]any)["text"])

	summary := w.CallAs(t, "summarizeInbox", "", w.Acme.New, nil).Data(t)
	require.Equal(t, []any{1.0, 1.0}, []any{summary["active"], apitest.At(summary, "leads", "open")})
	told := w.Told(t, "lead.updated")
	require.Len(t, told, 2, "what was refused tells nothing")
	last := told[0].(map[string]any)["data"].(map[string]any)
	require.Equal(t, []any{"state"}, last["changedFields"])
	require.Equal(t, []any{"won", "open"}, []any{last["previousState"], last["state"]})
	require.True(t, strings.HasPrefix(last["changedBy"].(string), "key_"))

	bare := w.Call(t, w.Operation(t, "createInboxItem"), apitest.Request{Path: "/inbox", Key: w.Acme.New, Body: map[string]any{"contact": map[string]any{"name": "Kim"}}})
	apitest.RequireError(t, bare, http.StatusBadRequest, "invalid_request", "body.contact")
	bare = w.Call(t, w.Operation(t, "createInboxItem"), apitest.Request{Path: "/inbox", Key: w.Acme.New, Body: map[string]any{"contact": map[string]any{"phone": "abc"}}})
	apitest.RequireError(t, bare, http.StatusBadRequest, "invalid_request", "body.contact.phone")
}

// Those of the team who join and are there, of the hand-off's department, are mailed a way in each while the visitor waits; where
// nobody is, that is known.
func TestAHandoffReachesWhoIsThere(t *testing.T) {
	t.Parallel()
	w := apitest.NewWorld(t)
	nobody := func(item string) (nobody bool) {
		which, err := id.ParseSession(read(t, w, item, w.Acme.New)["sessionId"].(string))
		require.NoError(t, err)
		require.NoError(t, w.Tenants.InTx(t.Context(), w.Acme.ID, func(ctx context.Context, tx *tenant.Tx) (err error) {
			nobody, err = inbox.Nobody(ctx, tx, which, time.Now().UTC())
			return err
		}))
		return nobody
	}
	box := &postbox{}
	post := func() (to []string) {
		t.Helper()
		before := len(box.sent)
		w.Post(t, box)
		for _, m := range box.sent[before:] {
			to = append(to, m.To)
		}
		return to
	}
	w.TeamMember(t, w.Acme, map[string]any{"departments": []any{"Sales"}})
	unknown := w.Handoff(t, w.Acme)
	require.False(t, nobody(unknown), "nobody joins, so nobody knows")
	require.Empty(t, post())

	away := w.TeamMember(t, w.Acme, map[string]any{"joins": true, "away": true, "departments": []any{"Sales"}})
	require.True(t, nobody(w.Handoff(t, w.Acme)), "who joins is away")
	require.Empty(t, post())

	sales := w.TeamMember(t, w.Acme, map[string]any{"joins": true, "departments": []any{"sales"}})
	other := w.TeamMember(t, w.Acme, map[string]any{"joins": true})
	item := w.Handoff(t, w.Acme)
	require.False(t, nobody(item))
	require.ElementsMatch(t, []string{address(t, w, sales), address(t, w, other)}, post())
	require.Empty(t, post(), "once")
	links := map[string]bool{}
	for _, m := range box.sent {
		_, link, found := strings.Cut(m.Text, "https://portal.example.com/")
		require.True(t, found, m.Text)
		link, _, _ = strings.Cut(link, "\n")
		_, token, _ := strings.Cut(link, "#")
		require.NotEmpty(t, token)
		links[link] = true
	}
	require.Len(t, links, 2, "one each")

	// A rule's mail has the way in, and no second one is sent; its department's people are asked alone.
	rule(t, w, "item_created", map[string]any{"kinds": []string{"handoff"}}, map[string]any{"department": "Sales", "mailTo": []any{sales, away}})
	before := len(box.sent)
	ruled := w.Handoff(t, w.Acme)
	require.ElementsMatch(t, []string{address(t, w, sales), address(t, w, away)}, post())
	for _, m := range box.sent[before:] {
		require.Contains(t, m.Text, "https://portal.example.com/", "who is away and looks all the same may join")
	}
	require.False(t, nobody(ruled))

	// Who came, or a visitor who left, needs nobody any more.
	over := w.Handoff(t, w.Acme)
	require.Equal(t, http.StatusOK, w.CallAs(t, "updateInboxItem", over, w.Acme.New, map[string]any{"state": "done"}).Status)
	before = len(box.sent)
	post()
	for _, m := range box.sent[before:] {
		require.NotContains(t, m.Text, "https://portal.example.com/")
	}

	lacks := w.CallAs(t, "setInboxTeamMember", other, w.Scoped(contract.Latest, scope.InboxWrite), map[string]any{"joins": true})
	apitest.RequireError(t, lacks, http.StatusForbidden, "forbidden", "body.joins")

	// Who may change addresses has nobody let in by one.
	moved := w.CallAs(t, "updatePerson", sales, w.Scoped(contract.Latest, scope.PeopleWrite), map[string]any{"email": "elsewhere@example.com"})
	require.Equal(t, http.StatusOK, moved.Status, "%s", moved.Raw)
	w.Handoff(t, w.Acme)
	before = len(box.sent)
	require.Contains(t, post(), "elsewhere@example.com", "the rule mails still")
	for _, m := range box.sent[before:] {
		require.Equal(t, m.To != "elsewhere@example.com", strings.Contains(m.Text, "https://portal.example.com/"), m.To)
	}
}

// The inbox is narrowed to what nobody deals with, to departments and to tags, in both contracts; tags that a rule
// gives and tags that are taken away count as those that were sent.
func TestTheInboxIsNarrowed(t *testing.T) {
	t.Parallel()
	w := apitest.NewWorld(t)
	rule(t, w, "item_updated", map[string]any{"departments": []string{"Support"}}, map[string]any{"addTags": []string{"help"}})
	who := w.Make(t, w.Acme, "createPerson")["id"].(string)
	fair := lead(t, w, map[string]any{"tags": []string{"fair", "2026"}, "department": "Sales"})["id"].(string)
	both := lead(t, w, map[string]any{"tags": []string{"fair"}, "department": "Störungen", "assigneeId": who})["id"].(string)
	kim := lead(t, w, map[string]any{"contact": map[string]any{"name": "Fair Kim", "phone": "123"}})["id"].(string)
	list := func(key apikey.Secret, query url.Values) (ids []string) {
		answer := w.Call(t, w.Operation(t, "listInboxItems"), apitest.Request{Path: "/inbox?" + query.Encode(), Key: key})
		require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Raw)
		for _, i := range answer.JSON(t)["data"].([]any) {
			ids = append(ids, i.(map[string]any)["id"].(string))
		}
		return ids
	}
	for _, key := range []apikey.Secret{w.Acme.New, w.OldNamed} {
		require.Equal(t, []string{kim, fair}, list(key, url.Values{"unassigned": {"true"}}))
		require.Equal(t, []string{kim, both, fair}, list(key, url.Values{"unassigned": {"false"}}))
		require.Equal(t, []string{both}, list(key, url.Values{"department": {"störungen"}}))
		require.Equal(t, []string{fair}, list(key, url.Values{"department": {"SALES"}, "unassigned": {"true"}}))
		require.Equal(t, []string{both, fair}, list(key, url.Values{"tags": {"fair"}}), "a name is no tag")
		require.Equal(t, []string{fair}, list(key, url.Values{"tags": {"2026, fair,fair"}}))
		require.Equal(t, []string{both}, list(key, url.Values{"tags": {"fair"}, "q": {"kim lee"}, "department": {"Störungen"}}))
		require.Equal(t, []string{fair, both}, list(key, url.Values{"tags": {"fair"}, "order": {"asc"}}))
		require.Empty(t, list(key, url.Values{"tags": {"Fair"}}))
		require.Empty(t, list(key, url.Values{"q": {"#2026x"}}), "tags are no words")
	}
	require.Empty(t, list(w.Globex.New, url.Values{"tags": {"fair"}}))

	update := w.CallAs(t, "updateInboxItem", both, w.Acme.New, map[string]any{"tags": []string{"late"}, "department": "Support", "assigneeId": nil})
	require.Equal(t, http.StatusOK, update.Status, "%s", update.Raw)
	require.Equal(t, []string{fair}, list(w.Acme.New, url.Values{"tags": {"fair"}}))
	require.Equal(t, []string{both}, list(w.Acme.New, url.Values{"tags": {"late,help"}, "unassigned": {"true"}}))
	require.Equal(t, http.StatusOK, w.CallAs(t, "forgetInboxItem", both, w.Acme.New, nil).Status)
	require.Empty(t, list(w.Acme.New, url.Values{"tags": {"late"}}), "a forgotten visitor's tags find nothing")

	for query, param := range map[string]string{
		"unassigned=true&assigneeId=" + who: "query.unassigned", "tags=a,,b": "query.tags", "tags=" + strings.Repeat("x", 61): "query.tags",
		"tags=" + strings.Join(strings.Split("abcdefghijklmnopqrstu", ""), ","): "query.tags",
	} {
		answer := w.Call(t, w.Operation(t, "listInboxItems"), apitest.Request{Path: "/inbox?" + query, Key: w.Acme.New})
		apitest.RequireError(t, answer, http.StatusBadRequest, "invalid_request", param)
	}
}

// Of a visitor who is forgotten nothing is found anywhere: not in any row, nor in an answer that
// is kept to be repeated.
func TestAForgottenVisitorIsFoundNowhere(t *testing.T) {
	t.Parallel()
	w := apitest.NewWorld(t)
	require.Empty(t, apitest.Marked(t, w))
	handoff := w.Handoff(t, w.Acme)
	which, err := id.ParseSession(read(t, w, handoff, w.Acme.New)["sessionId"].(string))
	require.NoError(t, err)
	s, err := session.Get(t.Context(), w.Tenants, w.Acme.ID, which)
	require.NoError(t, err)
	said := "I am " + apitest.Mark
	w.Said(t, s, s.TurnCount, session.User, said)
	contact := inbox.Contact{Name: new(apitest.Mark), Email: new(apitest.Mark + "@example.com")}
	w.Leave(t, w.Acme, s, inbox.Left{Kind: inbox.Lead, Contact: contact, Words: inbox.Words{Need: &said, Answers: []inbox.Answer{{Question: "Who?", Answer: said}}}},
		inbox.Left{Kind: inbox.Handoff, Contact: contact, RequestedBy: inbox.ByVisitor})

	o := w.Operation(t, "noteInboxItem")
	noted := w.Call(t, o, apitest.Request{
		Path: apitest.WithID(o, handoff), Key: w.Acme.New, Body: map[string]any{"text": "Call " + apitest.Mark}, Header: map[string]string{"Idempotency-Key": "note"},
	})
	require.Equal(t, http.StatusCreated, noted.Status, "%s", noted.Raw)
	changed := w.CallAs(t, "updateInboxItem", handoff, w.Acme.New, map[string]any{"tags": []any{apitest.Mark}, "externalId": apitest.Mark})
	require.Equal(t, http.StatusOK, changed.Status, "%s", changed.Raw)
	require.Equal(t, "session_live", apitest.Reason(t, w.CallAs(t, "forgetInboxItem", handoff, w.Acme.New, nil), "path.id"))
	require.NoError(t, w.Tenants.InTx(t.Context(), w.Acme.ID, func(ctx context.Context, tx *tenant.Tx) error {
		_, err := session.End(ctx, tx, which, session.Ending{Reason: session.Left, At: apitest.Moment().Add(time.Second)})
		return err
	}))
	before := apitest.PlacesOf(apitest.Marked(t, w))
	for _, place := range []string{"inbox_item", "inbox_note", "inbox_term", "turn", "idempotency_record"} {
		require.True(t, before["shard-1."+place] || before["shard-2."+place], "%s has the mark: %v", place, before)
	}

	answer := w.CallAs(t, "forgetInboxItem", handoff, w.Acme.New, nil)
	require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Raw)
	require.Equal(t, []any{"forgotten", nil, nil, []any{}}, []any{answer.Data(t)["state"], answer.Data(t)["contact"], answer.Data(t)["reason"], answer.Data(t)["notes"]})
	w.ForgetVisitors(t)
	require.Empty(t, apitest.Marked(t, w))
	told := w.Told(t, "visitor.detail_removed")
	require.Len(t, told, 1)
	data := told[0].(map[string]any)["data"].(map[string]any)
	require.Len(t, data["inboxItemIds"], 2, "what the same conversation left goes too")
	require.Equal(t, []any{which.String()}, data["sessionIds"])
	require.Equal(t, "team", data["trigger"])
	for _, kind := range []string{"lead.captured", "handoff.requested", "handoff.updated"} {
		for _, e := range w.Told(t, kind) {
			require.Nil(t, apitest.At(e, "data", "contact", "name"), kind)
		}
	}
	for _, key := range []apikey.Secret{w.Acme.New, w.OldNamed} {
		lead := w.Events(t, key, "type=lead.captured&includeConversation=true")[0]
		require.Nil(t, apitest.At(lead, "data", "answers"), "held back, not empty")
	}
	again := w.CallAs(t, "updateInboxItem", handoff, w.Acme.New, map[string]any{"state": "open"})
	require.Equal(t, inbox.ReasonForgotten, apitest.Reason(t, again, "path.id"))
}

// Only a hand-off is joined, and only while the visitor is there.
func TestJoin(t *testing.T) {
	t.Parallel()
	w := apitest.NewWorld(t)
	handoff := w.Handoff(t, w.Acme)
	body := map[string]any{"staffName": "Kim", "mode": "takeover"}
	half := w.Scoped(contract.Latest, scope.InboxWrite)
	apitest.RequireError(t, w.CallAs(t, "joinInboxItem", handoff, half, body), http.StatusForbidden, "forbidden", "")
	joined := w.CallAs(t, "joinInboxItem", handoff, w.Acme.New, body)
	require.Equal(t, http.StatusCreated, joined.Status, "%s", joined.Raw)
	require.NotEmpty(t, joined.Data(t)["token"])
	require.Nil(t, apitest.At(read(t, w, handoff, w.Acme.New), "handoff", "joinedAt"), "a token joins nobody yet")

	lead := w.Make(t, w.Acme, "createInboxItem")["id"].(string)
	require.Equal(t, inbox.ReasonNotHandoff, apitest.Reason(t, w.CallAs(t, "joinInboxItem", lead, w.Acme.New, body), "path.id"))
	which, err := id.ParseSession(read(t, w, handoff, w.Acme.New)["sessionId"].(string))
	require.NoError(t, err)
	require.NoError(t, w.Tenants.InTx(t.Context(), w.Acme.ID, func(ctx context.Context, tx *tenant.Tx) error {
		_, err := session.End(ctx, tx, which, session.Ending{Reason: session.Left, At: apitest.Moment().Add(time.Second)})
		return err
	}))
	apitest.RequireError(t, w.CallAs(t, "joinInboxItem", handoff, w.Acme.New, body), http.StatusConflict, "session_ended", "path.id")
	require.Equal(t, false, apitest.At(read(t, w, handoff, w.Acme.New), "handoff", "live"))
	left := w.Told(t, "handoff.updated")
	require.Len(t, left, 1)
	require.Equal(t, []any{"handoff.live"}, apitest.At(left[0], "data", "changedFields"))
}
