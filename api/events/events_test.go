package events_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/api/route"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/store/apikey"
)

// Each test has an organization of its own.
func TestEvents(t *testing.T) {
	w := apitest.NewWorld(t)
	w.Renderer.Sources = sources()
	for name, test := range map[string]func(*testing.T, *apitest.World){
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
		t.Run(name, func(t *testing.T) { test(t, w.Apart(t)) })
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

// bodyOf is what a webhook of a contract receives of an event.
func bodyOf(t *testing.T, w *apitest.World, v contract.Version, e id.Event, conversation bool) map[string]any {
	t.Helper()
	found, err := event.Get(context.Background(), w.Tenants, w.Acme.ID, e)
	require.NoError(t, err)
	told, err := w.Renderer.Render(context.Background(), found, conversation)
	require.NoError(t, err)
	text, err := event.Body(v, found, told)
	require.NoError(t, err)
	var body map[string]any
	require.NoError(t, json.Unmarshal(text, &body))
	return body
}

func testEventsReadAsBodies(t *testing.T, w *apitest.World) {
	recorded := w.Emit(t,
		event.Draft{Type: event.LeadCaptured, Fields: map[string]any{"inboxItemId": "inb_1", "portalId": "portal_1", "leadBand": "hot"}},
		event.Draft{Type: event.PortalCreated, Fields: map[string]any{"portalId": "portal_1", "subjectIds": []string{"sub_1", "sub_2"}}},
		event.Draft{Type: event.UsageThreshold, Fields: map[string]any{"minutesUsed": 12345678901234567, "threshold": 20}},
	)
	for v, key := range map[contract.Version]apikey.Secret{contract.V20260708: w.OldNamed, contract.V20261001: w.Acme.New} {
		for _, conversation := range []bool{false, true} {
			query := map[bool]string{true: "?includeConversation=true", false: "?includeConversation=false"}[conversation]
			var bodies []any
			for _, r := range recorded {
				one := w.CallAs(t, "getEvent", r.ID.String()+query, key, nil).Data(t)
				require.Equal(t, bodyOf(t, w, v, r.ID, conversation), one)
				bodies = append(bodies, one)
			}
			require.Equal(t, bodies, w.Events(t, key, "order=asc&"+query[1:]))
		}
	}
	older := w.CallAs(t, "getEvent", recorded[0].ID.String()+"?includeConversation=true", w.OldNamed, nil).Data(t)
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
	raw := string(w.CallAs(t, "getEvent", recorded[2].ID.String(), w.OldNamed, nil).Raw)
	require.Contains(t, raw, "12345678901234567", "numbers stay as they are")
}

// Each kind of event is for those who may read its records (Events, rule 2).
func testScopesOfEvents(t *testing.T, w *apitest.World) {
	byScope, events := map[scope.Scope][]string{}, map[string]id.Event{}
	var drafts []event.Draft
	for _, k := range event.Kinds() {
		drafts = append(drafts, event.Draft{Type: k.Type})
		if !k.RequiresConversation {
			byScope[k.Scope] = append(byScope[k.Scope], string(k.Type))
		}
	}
	for i, r := range w.Emit(t, drafts...) {
		events[string(drafts[i].Type)] = r.ID
	}
	require.Len(t, events, 76)
	for s, want := range byScope {
		t.Run(string(s), func(t *testing.T) {
			key := w.Key(w.Acme, scope.Grant{Contract: contract.Latest, Scopes: []scope.Scope{scope.EventsRead, s}})
			require.Equal(t, want, apitest.Types(w.Events(t, key, "limit=200&order=asc")))
			asked := []string{"lead.captured", "consent.recorded", "webhook.test"}
			got := apitest.Types(w.Events(t, key, "order=asc&type="+strings.Join(asked, ",")))
			require.ElementsMatch(t, intersection(asked, want), got)
			for _, name := range asked {
				answer := w.CallAs(t, "getEvent", events[name].String(), key, nil)
				if slices.Contains(want, name) {
					require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Raw)
				} else {
					apitest.RequireError(t, answer, http.StatusNotFound, "not_found", "path.id")
				}
			}
		})
	}
	none := w.Key(w.Acme, scope.Grant{Contract: contract.Latest, Scopes: []scope.Scope{scope.EventsRead, scope.AvatarsRead}})
	require.Empty(t, w.Events(t, none, ""))
	folded := w.Key(w.Acme, scope.Grant{Contract: contract.V20260708, Scopes: []scope.Scope{scope.WebhooksManage}})
	require.Equal(t, []string{"webhook.test"}, apitest.Types(w.Events(t, folded, "")), "webhooks:manage included the event log")
	require.Len(t, w.Events(t, w.Acme.New, "limit=200"), 75)
	all := w.Events(t, w.Acme.New, "limit=200&includeConversation=true")
	require.Len(t, all, 76)
	require.Contains(t, apitest.Types(all), "transcript.final")
	final := events["transcript.final"].String()
	apitest.RequireError(t, w.CallAs(t, "getEvent", final, w.Acme.New, nil), http.StatusNotFound, "not_found", "path.id")
	require.Equal(t, http.StatusOK, w.CallAs(t, "getEvent", final+"?includeConversation=true", w.Acme.New, nil).Status)
}

func intersection(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(s string) bool { return !slices.Contains(b, s) })
}

// What a webhook would not receive any more is left out, and pages go on.
func testWithdrawnEvents(t *testing.T, w *apitest.World) {
	var good []string
	for _, kind := range []string{"withdrawn", "a", "gone", "withdrawn", "gone", "b"} {
		e := w.Emit(t, event.Draft{Type: event.SessionStarted, Fields: map[string]any{"kind": kind}})[0].ID.String()
		if len(kind) == 1 {
			good = append(good, e)
			continue
		}
		for _, key := range []apikey.Secret{w.Acme.New, w.OldNamed} {
			apitest.RequireError(t, w.CallAs(t, "getEvent", e, key, nil), http.StatusNotFound, "not_found", "path.id")
		}
	}
	require.Equal(t, good, apitest.IDs(w.Events(t, w.Acme.New, "order=asc")))
	var paged []any
	query := url.Values{"limit": {"2"}, "order": {"asc"}}
	var lengths []int
	for {
		items, cursor := w.Page(t, w.Operation(t, "listEvents"), w.Acme.New, query)
		paged, lengths = append(paged, items...), append(lengths, len(items))
		if cursor == "" {
			break
		}
		query.Set("cursor", cursor)
	}
	require.Equal(t, good, apitest.IDs(paged))
	require.Equal(t, []int{1, 0, 1}, lengths)
}

func testWordsInEvents(t *testing.T, w *apitest.World) {
	lead := w.Emit(t, event.Draft{Type: event.LeadCaptured})[0].ID.String()
	final := w.Emit(t, event.Draft{Type: event.TranscriptFinal})[0].ID.String()
	read := func(query string) map[string]any { return w.CallAs(t, "getEvent", lead+query, w.Acme.New, nil).Data(t) }
	silent := read("")
	require.NotContains(t, silent, "aiGenerated")
	require.Contains(t, silent["data"], "need")
	require.Nil(t, silent["data"].(map[string]any)["need"])
	require.Equal(t, "Ada", silent["data"].(map[string]any)["contact"].(map[string]any)["name"])
	telling := read("?includeConversation=true")
	require.Equal(t, true, telling["aiGenerated"])
	require.Equal(t, "a portal", telling["data"].(map[string]any)["need"])

	w.ZeroRetention(t, true)
	require.Equal(t, silent, read("?includeConversation=true"), "none are kept to be shown")
	apitest.RequireError(t, w.CallAs(t, "getEvent", final+"?includeConversation=true", w.Acme.New, nil), http.StatusNotFound, "not_found", "path.id")
	require.Equal(t, []string{lead}, apitest.IDs(w.Events(t, w.Acme.New, "includeConversation=true")))
}

func testEventTypes(t *testing.T, w *apitest.World) {
	none := w.Key(w.Acme, scope.Grant{Contract: contract.Latest})
	for _, key := range []apikey.Secret{none, w.Acme.Old} {
		body := w.CallAs(t, "listEventTypes", "", key, nil).JSON(t)
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
	apitest.RequireError(t, w.Get(none, "/event-types?limit=1"), http.StatusBadRequest, "invalid_request", "query.limit")
}

func testEventsOfConsents(t *testing.T, w *apitest.World) {
	create := w.Operation(t, "createAvatar")
	r := apitest.Request{Path: create.Path, Key: w.Acme.New, Body: w.Body(t, create), Header: map[string]string{route.IdempotencyHeader: "once"}}
	first := w.Call(t, create, r).Data(t)
	w.Call(t, create, r) // replayed
	second := w.Make(t, w.Acme, "createAvatar")
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
			answer := w.CallAs(t, operation, on.(string), w.Acme.New, nil).Data(t)
			withdrawn = append(withdrawn, answer["withdrawnAt"])
		}
		made := map[string]map[string]any{"withdrawConsent": first, "withdrawAvatarConsent": second}[operation]
		events := w.Events(t, w.Acme.New, "limit=1")
		require.Equal(t, want(made, "withdrawn", withdrawn[len(withdrawn)-1]), events[0].(map[string]any)["data"])
	}
	events := w.Events(t, w.Acme.New, "type=consent.recorded&order=asc")
	require.Len(t, events, 4)
	require.Equal(t, given(first), events[0].(map[string]any)["data"])
	require.Equal(t, given(second), events[1].(map[string]any)["data"])
	narrow := w.Key(w.Acme, scope.Grant{Contract: contract.Latest, Scopes: []scope.Scope{scope.EventsRead, scope.ConsentsRead}})
	require.Empty(t, w.Events(t, narrow, ""), "consent.recorded is for who reads people")
	for _, answer := range []apitest.Answer{
		w.CallAs(t, "createAvatar", "", w.Acme.New, map[string]any{"name": "none"}),
		w.Create(t, w.Acme.New, func(a, _ map[string]any) { a["picture"] = "data:image/png;base64,aGVsbG8=" }),
	} {
		require.GreaterOrEqual(t, answer.Status, 400)
	}
	require.Len(t, w.Events(t, w.Acme.New, ""), 4, "nothing came of these")
}

func testEventsOfOthers(t *testing.T, w *apitest.World) {
	foreign := w.Deliver(t, w.Globex)["eventId"].(string)
	own := w.Deliver(t, w.Acme)["eventId"].(string)
	require.Equal(t, []string{own}, apitest.IDs(w.Events(t, w.Acme.New, "")))
	apitest.RequireError(t, w.CallAs(t, "getEvent", foreign, w.Acme.New, nil), http.StatusNotFound, "not_found", "path.id")
	require.Empty(t, w.Events(t, w.Acme.New, "after="+own))
}
