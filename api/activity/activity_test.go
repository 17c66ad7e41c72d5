package activity_test

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/api/route"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/apikey"
)

// unlogged are the operations with a method that writes which leave no entry in the
// activity log, and why.
var unlogged = map[string]string{
	"askPersona":          "it reads: an answer, of which nothing is kept",
	"askAgent":            "it reads: an answer, of whose asker nothing is kept",
	"searchKnowledgeBase": "it reads",
	"previewInboxRule":    "it reads: a dry run",
	"endIdleSessions":     "a dry run, which reads; each session that it ends otherwise has an entry",
	"speakVoice":          "it reads: sound, of which nothing is kept",
	"testConnection":      "a trial, which the list of the connection's calls has",
	"receiveMediaEvent":   "a media server tells what visitors do",
	"createWidgetSession": "a visitor's conversation, of which there are too many",
	"rateSession":         "what a visitor thinks of a conversation",
	"updateSession":       "a turn of a conversation, whose own record has it",
	"saySession":          "a turn of a conversation, whose own record has it",
	"respondSession":      "a turn of a conversation, whose own record has it",
}

// A key is not told of what it may not read: of candidates, people and what visitors left.
func TestWhoseActivityAKeyIsTold(t *testing.T) {
	w := apitest.NewWorld(t)
	made := map[string]string{}
	for kind, operation := range map[string]string{"candidate": "createInvites", "person": "createPerson", "inbox_item": "createInboxItem", "knowledge_base": "createKnowledgeBase"} {
		o := w.Operation(t, operation)
		answer := w.Call(t, o, apitest.Request{Path: w.Path(t, o, w.Acme), Key: w.Acme.New, Body: w.Body(t, o)})
		require.Less(t, answer.Status, 300, "%s", answer.Raw)
		made[kind] = operation
	}
	told := func(key apikey.Secret) map[string]bool {
		kinds := map[string]bool{}
		items, _ := w.Page(t, w.Operation(t, "listActivity"), key, url.Values{"limit": {"200"}})
		for _, one := range items {
			kinds[one.(map[string]any)["targetKind"].(string)] = true
		}
		return kinds
	}
	keyOf := func(g scope.Grant) apikey.Secret { return w.Key(w.Acme, g) }
	all := told(w.Acme.New)
	for kind := range made {
		require.True(t, all[kind], kind)
	}
	for name, key := range map[string]apikey.Secret{
		"full access of before": keyOf(scope.Grant{Contract: contract.V20260708, FullAccess: true}),
		"one scope":             keyOf(scope.Grant{Contract: contract.Latest, Scopes: []scope.Scope{scope.SettingsRead}}),
	} {
		kinds := told(key)
		require.True(t, kinds["knowledge_base"], name)
		for _, kind := range []string{"candidate", "role", "person", "membership", "inbox_item"} {
			require.False(t, kinds[kind], "%s: %s", name, kind)
		}
	}
	inbox := told(keyOf(scope.Grant{Contract: contract.Latest, Scopes: []scope.Scope{scope.SettingsRead, scope.InboxRead}}))
	require.True(t, inbox["inbox_item"])
	require.False(t, inbox["person"])
}

// Whatever changes something says so in the activity log, or here why it does not.
func TestEveryChangeIsLogged(t *testing.T) {
	w := apitest.NewWorld(t)
	newest := func(t *testing.T) activity.Entry {
		t.Helper()
		found, err := activity.List(t.Context(), w.Tenants, w.Acme.ID, activity.Filter{}, nil, 1)
		require.NoError(t, err)
		if len(found) == 0 {
			return activity.Entry{}
		}
		return found[0]
	}
	known := map[string]bool{}
	w.Each(t, func(t *testing.T, o *route.Operation) {
		if o.Method == http.MethodGet {
			return
		}
		known[o.ID] = true
		delete(w.Made, apitest.Kind(t, o)+w.Acme.ID.String()) // what another change was about may be over
		path, body := w.Path(t, o, w.Acme), w.Body(t, o)
		switch o.ID { // of which some of what is valid changes nothing
		case "goLiveDuo":
			path = apitest.WithID(o, w.Make(t, w.Acme, "createDuo")["id"].(string))
		case "updateKnowledgeGap":
			body = map[string]any{"state": "dismissed"}
		case "importPeople":
			body.(map[string]any)["dryRun"] = false
		}
		before := newest(t)
		answer := w.Call(t, o, apitest.Request{Path: path, Key: w.Acme.New, Body: body})
		require.Less(t, answer.Status, http.StatusMultipleChoices, "%s", answer.Raw)
		after := newest(t)
		if why, exempt := unlogged[o.ID]; exempt {
			require.Equal(t, before.ID, after.ID, "it leaves %s, although: %s", after.Action, why)
			return
		}
		require.NotEqual(t, before.ID, after.ID, "let the rule log it, or say in unlogged why not")
		require.NotEmpty(t, after.Action)
		require.Regexp(t, "^key_", after.Actor)
	})
	for o := range unlogged {
		require.True(t, known[o], "%s is no operation that writes", o)
	}
}
