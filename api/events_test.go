package api_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/api/route"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/store/apikey"
	"visavis.dev/pkg/store/tenant"
)

// Each test has an organization of its own.
func TestEvents(t *testing.T) {
	w := newWorld(t)
	w.Teller.Sources = sources()
	for name, test := range map[string]func(*testing.T, *world){
		"read as a webhook's body":  testEventsReadAsBodies,
		"scopes":                    testScopesOfEvents,
		"filters":                   testFiltersOfEvents,
		"after":                     testEventsAfterOne,
		"withdrawn and gone":        testWithdrawnEvents,
		"conversation words":        testWordsInEvents,
		"following":                 testFollowingEvents,
		"catalogue":                 testEventTypes,
		"of consents":               testEventsOfConsents,
		"of another's organization": testEventsOfOthers,
	} {
		t.Run(name, func(t *testing.T) { test(t, w.apart(t)) })
	}
}

// sources tell leads, whose words are an avatar's, and reports as their
// structure says: withdrawn, gone, or neither.
func sources() map[event.Type]event.Source {
	return map[event.Type]event.Source{
		event.LeadCaptured: func(_ context.Context, _ event.Event, conversation bool) (event.Detail, error) {
			d := event.Detail{ByAvatar: true, Fields: map[string]any{"contact.name": "Ada", "contact.email": nil}}
			if conversation {
				d.Fields["need"] = "a portal"
			}
			return d, nil
		},
		event.SessionStarted: func(_ context.Context, e event.Event, _ bool) (event.Detail, error) {
			var data struct{ Kind string }
			err := json.Unmarshal(e.Structure, &data)
			return event.Detail{Standing: map[string]event.Standing{"withdrawn": event.Withdrawn, "gone": event.Gone}[data.Kind]}, err
		},
	}
}

// emit records events of Acme's.
func (w *world) emit(t testing.TB, drafts ...event.Draft) []event.Recorded {
	t.Helper()
	var recorded []event.Recorded
	w.inTx(t, func(ctx context.Context, tx *tenant.Tx) (err error) {
		for i := range drafts {
			drafts[i].At = time.Now()
		}
		recorded, err = event.Emit(ctx, tx, drafts...)
		return err
	})
	return recorded
}

// events is a page of Acme's log.
func (w *world) events(t *testing.T, key apikey.Secret, query string) []any {
	t.Helper()
	values, err := url.ParseQuery(query)
	require.NoError(t, err)
	items, _ := w.page(t, w.operation(t, "listEvents"), key, values)
	return items
}

func types(events []any) []string {
	found := make([]string, len(events))
	for i, e := range events {
		found[i] = e.(map[string]any)["type"].(string)
	}
	return found
}

// bodyOf is what a webhook of a contract receives of an event.
func (w *world) bodyOf(t *testing.T, v contract.Version, e id.Event, conversation bool) map[string]any {
	t.Helper()
	found, err := event.Get(context.Background(), w.Tenants, w.Acme.ID, e)
	require.NoError(t, err)
	told, err := w.Teller.Tell(context.Background(), found, conversation)
	require.NoError(t, err)
	text, err := event.Body(v, found, told)
	require.NoError(t, err)
	var body map[string]any
	require.NoError(t, json.Unmarshal(text, &body))
	return body
}

func testEventsReadAsBodies(t *testing.T, w *world) {
	recorded := w.emit(t,
		event.Draft{Type: event.LeadCaptured, Fields: map[string]any{"inboxItemId": "inb_1", "portalId": "portal_1", "leadBand": "hot"}},
		event.Draft{Type: event.PortalCreated, Fields: map[string]any{"portalId": "portal_1", "subjectIds": []string{"sub_1", "sub_2"}}},
		event.Draft{Type: event.UsageThreshold, Fields: map[string]any{"minutesUsed": 12345678901234567, "threshold": 20}},
	)
	for v, key := range map[contract.Version]apikey.Secret{contract.V20260708: w.OldNamed, contract.V20261001: w.Acme.New} {
		for _, conversation := range []bool{false, true} {
			query := map[bool]string{true: "?includeConversation=true", false: "?includeConversation=false"}[conversation]
			var bodies []any
			for _, r := range recorded {
				one := w.do(t, "getEvent", r.ID.String()+query, key, nil).Data(t)
				require.Equal(t, w.bodyOf(t, v, r.ID, conversation), one)
				bodies = append(bodies, one)
			}
			require.Equal(t, bodies, w.events(t, key, "order=asc&"+query[1:]))
		}
	}
	older := w.do(t, "getEvent", recorded[0].ID.String()+"?includeConversation=true", w.OldNamed, nil).Data(t)
	require.Equal(t, true, older["aiGenerated"])
	delete(older, "aiGenerated")
	require.Len(t, older, 4)
	data := older["data"].(map[string]any)
	require.Equal(t, []any{"1", "Ada", "hot", "a portal"}, []any{data["portalId"], data["name"], data["leadScore"], data["need"]})
	require.NotContains(t, data, "inboxItemId")
	asked := w.Do(apitest.Request{
		Method: http.MethodGet, Path: "/events/" + recorded[1].ID.String(), Key: w.OldNamed, Header: map[string]string{contract.Header: "2026-10-01"},
	}).Data(t)
	require.Equal(t, []any{"2026-10-01", w.Acme.ID.String(), "portal_1"},
		[]any{asked["apiVersion"], asked["organizationId"], asked["data"].(map[string]any)["portalId"]})
	raw := string(w.do(t, "getEvent", recorded[2].ID.String(), w.OldNamed, nil).Raw)
	require.Contains(t, raw, "12345678901234567", "numbers stay as they are")
}

// Each kind of event is for those who may read its records (Events, rule 2).
func testScopesOfEvents(t *testing.T, w *world) {
	byScope, events := map[scope.Scope][]string{}, map[string]id.Event{}
	var drafts []event.Draft
	for _, k := range event.Kinds() {
		drafts = append(drafts, event.Draft{Type: k.Type})
		if !k.RequiresConversation {
			byScope[k.Scope] = append(byScope[k.Scope], string(k.Type))
		}
	}
	for i, r := range w.emit(t, drafts...) {
		events[string(drafts[i].Type)] = r.ID
	}
	require.Len(t, events, 76)
	for s, want := range byScope {
		t.Run(string(s), func(t *testing.T) {
			key := w.Key(w.Acme, scope.Grant{Contract: contract.Latest, Scopes: []scope.Scope{scope.EventsRead, s}})
			require.Equal(t, want, types(w.events(t, key, "limit=200&order=asc")))
			asked := []string{"lead.captured", "consent.recorded", "webhook.test"}
			got := types(w.events(t, key, "order=asc&type="+strings.Join(asked, ",")))
			require.ElementsMatch(t, intersection(asked, want), got)
			for _, name := range asked {
				answer := w.do(t, "getEvent", events[name].String(), key, nil)
				if slices.Contains(want, name) {
					require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Raw)
				} else {
					requireError(t, answer, http.StatusNotFound, "not_found", "path.id")
				}
			}
		})
	}
	none := w.Key(w.Acme, scope.Grant{Contract: contract.Latest, Scopes: []scope.Scope{scope.EventsRead, scope.AvatarsRead}})
	require.Empty(t, w.events(t, none, ""))
	folded := w.Key(w.Acme, scope.Grant{Contract: contract.V20260708, Scopes: []scope.Scope{scope.WebhooksManage}})
	require.Equal(t, []string{"webhook.test"}, types(w.events(t, folded, "")), "webhooks:manage included the event log")
	require.Len(t, w.events(t, w.Acme.New, "limit=200"), 75)
	all := w.events(t, w.Acme.New, "limit=200&includeConversation=true")
	require.Len(t, all, 76)
	require.Contains(t, types(all), "transcript.final")
	final := events["transcript.final"].String()
	requireError(t, w.do(t, "getEvent", final, w.Acme.New, nil), http.StatusNotFound, "not_found", "path.id")
	require.Equal(t, http.StatusOK, w.do(t, "getEvent", final+"?includeConversation=true", w.Acme.New, nil).Status)
}

func intersection(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(s string) bool { return !slices.Contains(b, s) })
}

// What a webhook would not receive any more is left out, and pages go on.
func testWithdrawnEvents(t *testing.T, w *world) {
	var good []string
	for _, kind := range []string{"withdrawn", "a", "gone", "withdrawn", "gone", "b"} {
		e := w.emit(t, event.Draft{Type: event.SessionStarted, Fields: map[string]any{"kind": kind}})[0].ID.String()
		if len(kind) == 1 {
			good = append(good, e)
			continue
		}
		for _, key := range []apikey.Secret{w.Acme.New, w.OldNamed} {
			requireError(t, w.do(t, "getEvent", e, key, nil), http.StatusNotFound, "not_found", "path.id")
		}
	}
	require.Equal(t, good, ids(w.events(t, w.Acme.New, "order=asc")))
	var paged []any
	query := url.Values{"limit": {"2"}, "order": {"asc"}}
	var lengths []int
	for {
		items, cursor := w.page(t, w.operation(t, "listEvents"), w.Acme.New, query)
		paged, lengths = append(paged, items...), append(lengths, len(items))
		if cursor == "" {
			break
		}
		query.Set("cursor", cursor)
	}
	require.Equal(t, good, ids(paged))
	require.Equal(t, []int{1, 0, 1}, lengths)
}

func testWordsInEvents(t *testing.T, w *world) {
	lead := w.emit(t, event.Draft{Type: event.LeadCaptured})[0].ID.String()
	final := w.emit(t, event.Draft{Type: event.TranscriptFinal})[0].ID.String()
	read := func(query string) map[string]any { return w.do(t, "getEvent", lead+query, w.Acme.New, nil).Data(t) }
	silent := read("")
	require.NotContains(t, silent, "aiGenerated")
	require.Contains(t, silent["data"], "need")
	require.Nil(t, silent["data"].(map[string]any)["need"])
	require.Equal(t, "Ada", silent["data"].(map[string]any)["contact"].(map[string]any)["name"])
	telling := read("?includeConversation=true")
	require.Equal(t, true, telling["aiGenerated"])
	require.Equal(t, "a portal", telling["data"].(map[string]any)["need"])

	w.zeroRetention(t, true)
	require.Equal(t, silent, read("?includeConversation=true"), "none are kept to be shown")
	requireError(t, w.do(t, "getEvent", final+"?includeConversation=true", w.Acme.New, nil), http.StatusNotFound, "not_found", "path.id")
	require.Equal(t, []string{lead}, ids(w.events(t, w.Acme.New, "includeConversation=true")))
}

func testEventTypes(t *testing.T, w *world) {
	none := w.Key(w.Acme, scope.Grant{Contract: contract.Latest})
	for _, key := range []apikey.Secret{none, w.Acme.Old} {
		body := w.do(t, "listEventTypes", "", key, nil).JSON(t)
		require.Nil(t, body["nextCursor"])
		listed := body["data"].([]any)
		require.Len(t, listed, 76)
		for i, k := range event.Kinds() {
			text, err := json.Marshal(map[string]any{
				"type": k.Type, "description": k.Description, "since": k.Since, "explicitOnly": k.ExplicitOnly,
				"requiresConversation": k.RequiresConversation, "fields": k.Fields, "dataSchema": k.Schema(),
			})
			require.NoError(t, err)
			got, err := json.Marshal(listed[i])
			require.NoError(t, err)
			require.JSONEq(t, string(text), string(got))
		}
	}
	requireError(t, w.Get(none, "/event-types?limit=1"), http.StatusBadRequest, "invalid_request", "query.limit")
}

func testEventsOfConsents(t *testing.T, w *world) {
	create := w.operation(t, "createAvatar")
	r := apitest.Request{Path: create.Path, Key: w.Acme.New, Body: w.body(t, create), Header: map[string]string{route.IdempotencyHeader: "once"}}
	first := w.call(t, create, r).Data(t)
	w.call(t, create, r) // replayed
	second := w.make(t, w.Acme, "createAvatar")
	want := func(made map[string]any, state string, at any) map[string]any {
		return map[string]any{
			"consentId": made["consent"].(map[string]any)["id"], "kind": "likeness", "state": state, "membershipId": nil, "personId": nil,
			"avatarId": made["id"], "voiceId": nil, "policyVersion": "2026-07-01", "method": "api", "recordedAt": at,
		}
	}
	given := func(made map[string]any) map[string]any {
		return want(made, "given", made["consent"].(map[string]any)["recordedAt"])
	}
	var withdrawn []any
	for operation, on := range map[string]any{"withdrawConsent": first["consent"].(map[string]any)["id"], "withdrawAvatarConsent": second["id"]} {
		for range 2 { // again is no news
			answer := w.do(t, operation, on.(string), w.Acme.New, nil).Data(t)
			withdrawn = append(withdrawn, answer["withdrawnAt"])
		}
		made := map[string]map[string]any{"withdrawConsent": first, "withdrawAvatarConsent": second}[operation]
		events := w.events(t, w.Acme.New, "limit=1")
		require.Equal(t, want(made, "withdrawn", withdrawn[len(withdrawn)-1]), events[0].(map[string]any)["data"])
	}
	events := w.events(t, w.Acme.New, "type=consent.recorded&order=asc")
	require.Len(t, events, 4)
	require.Equal(t, given(first), events[0].(map[string]any)["data"])
	require.Equal(t, given(second), events[1].(map[string]any)["data"])
	narrow := w.Key(w.Acme, scope.Grant{Contract: contract.Latest, Scopes: []scope.Scope{scope.EventsRead, scope.ConsentsRead}})
	require.Empty(t, w.events(t, narrow, ""), "consent.recorded is for who reads people")
	for _, answer := range []apitest.Answer{
		w.do(t, "createAvatar", "", w.Acme.New, map[string]any{"name": "none"}),
		w.create(t, w.Acme.New, func(a, _ map[string]any) { a["picture"] = "data:image/png;base64,aGVsbG8=" }),
	} {
		require.GreaterOrEqual(t, answer.Status, 400)
	}
	require.Len(t, w.events(t, w.Acme.New, ""), 4, "nothing came of these")
}

func testEventsOfOthers(t *testing.T, w *world) {
	foreign := w.deliver(t, w.Globex)["eventId"].(string)
	own := w.deliver(t, w.Acme)["eventId"].(string)
	require.Equal(t, []string{own}, ids(w.events(t, w.Acme.New, "")))
	requireError(t, w.do(t, "getEvent", foreign, w.Acme.New, nil), http.StatusNotFound, "not_found", "path.id")
	require.Empty(t, w.events(t, w.Acme.New, "after="+own))
}
