package results_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/mail"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/store/apikey"
)

// letters are the mails that were sent.
type letters struct{ sent []mail.Message }

func (l *letters) Send(_ context.Context, m mail.Message) error {
	l.sent = append(l.sent, m)
	return nil
}

// A score that is not released is with its result and its review alone: not in what waits to be sent to webhooks, nor in
// what these are sent, mails, exports, dashboards and reports. Once it is released it is in those that tell scores, so
// that the search would find it.
func TestAnUnreleasedScoreLeavesNowhere(t *testing.T) {
	w := apitest.NewWorld(t)
	const marked = 1.31417
	texts := []string{"1.31417", "1.3142", "65.7", "66 %"}
	hook := w.Hook(t, map[string]any{"events": []any{"*", "transcript.final"}, "includeConversation": true})
	exam := w.Exam(t, w.Acme)
	var people, waiting []string
	for range 6 {
		people = append(people, w.Learner(t, w.Acme))
	}
	set := w.CallAs(t, "createAssignment", "", w.Acme.New, map[string]any{
		"title": "Knots", "subjectId": exam, "kind": "assess", "timezone": "UTC", "dueAt": "2099-01-01T00:00:00Z",
		"audience": map[string]any{"unitIds": []any{}, "personIds": people, "everyone": false},
	})
	require.Equal(t, http.StatusCreated, set.Status, "%s", set.Raw)
	for _, who := range people {
		which := w.Assess(t, w.Acme, who, apitest.UnsureAnswer)
		rescored := w.CallAs(t, "rescoreResult", which, w.Acme.New, map[string]any{"criteria": []any{map[string]any{"key": "loop", "score": marked}}, "reason": "Nearly."})
		require.Equal(t, http.StatusOK, rescored.Status, "%s", rescored.Raw)
		waiting = append(waiting, which)
	}
	reminded := w.CallAs(t, "remindOfAssignment", set.Data(t)["id"].(string), w.Acme.New, map[string]any{})
	require.Less(t, reminded.Status, 300, "%s", reminded.Raw)

	// said is all that leaves, by what it is.
	said := func() map[string]string {
		all := map[string]string{}
		var mails letters
		w.Post(t, &mails)
		for _, m := range mails.sent {
			all["mail"] += m.Subject + m.Text + m.HTML
		}
		order := map[string]any{"from": "2026-01-01T00:00:00Z", "to": "2099-01-01T00:00:00Z"}
		for _, kind := range []string{"results", "sessions", "people"} {
			order["kind"], order["format"] = kind, "jsonl"
			made := w.CallAs(t, "createExport", "", w.Acme.New, order)
			require.Equal(t, http.StatusAccepted, made.Status, "%s", made.Raw)
			w.Export(t)
			file := w.CallAs(t, "downloadJob", made.Data(t)["id"].(string), w.Acme.New, nil)
			require.Equal(t, http.StatusOK, file.Status, "%s", file.Raw)
			all["export "+kind] = string(file.Raw)
		}
		w.Count(t)
		board := w.CallAs(t, "getDashboard", "learning", w.Acme.New, nil)
		require.Equal(t, http.StatusOK, board.Status, "%s", board.Raw)
		all["dashboard"] = string(board.Raw)
		for name, body := range map[string]map[string]any{
			"cohort": {"kind": "cohort", "subjectId": exam, "format": "html"}, "portal": {"kind": "portal", "portalId": newGroup(t, w).portal(), "format": "html"},
		} {
			all[name] = string(newGroup(t, w).file(t, body).Raw)
		}
		// What webhooks are sent is written as these are.
		for name, key := range map[string]apikey.Secret{"events": w.Acme.New, "events of the older contract": w.Scoped(contract.V20260708, scope.All()...)} {
			listed := w.Call(t, w.Operation(t, "listEvents"), apitest.Request{Path: "/events?limit=200&includeConversation=true", Key: key})
			require.Equal(t, http.StatusOK, listed.Status, "%s", listed.Raw)
			all[name] = moments.ReplaceAllString(string(listed.Raw), "")
		}
		return all
	}
	marks := func(in map[string]string) (found []string) {
		for name, text := range in {
			for _, mark := range texts {
				if strings.Contains(text, mark) {
					found = append(found, name)
					break
				}
			}
		}
		return found
	}
	before := said()
	require.Empty(t, marks(before))
	require.Contains(t, before["export results"], waiting[0])
	require.NotEmpty(t, before["events"])
	places := apitest.PlacesOf(w.Holding(t, texts[1]))
	require.Equal(t, map[string]bool{"shard-1.result": true, "shard-1.review": true}, places)

	for _, which := range waiting {
		require.Equal(t, http.StatusOK, w.CallAs(t, "releaseResult", which, w.Acme.New, nil).Status)
	}
	require.Subset(t, marks(said()), []string{"export results", "events", "events of the older contract"}, "or the search finds nothing that there is")
	require.NotEmpty(t, w.CallAs(t, "getWebhook", hook["id"].(string), w.Acme.New, nil).Data(t))
}
