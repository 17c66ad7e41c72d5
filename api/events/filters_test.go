package events_test

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/store/apikey"
	"visavis.dev/pkg/store/tenant"
)

func testFiltersOfEvents(t *testing.T, w *apitest.World) {
	session, other, subject := id.NewSession(), id.NewSession(), id.NewSubject()
	var all []string
	for _, d := range []event.Draft{
		{Type: event.SessionStarted, Session: session},
		{Type: event.SessionEnded, Session: session, Subject: subject},
		{Type: event.SessionStarted, Session: other, Subject: subject},
		{Type: event.WebhookTest},
		{Type: event.WebhookTest},
	} {
		all = append(all, w.Emit(t, d)[0].ID.String())
	}
	at := w.CallAs(t, "getEvent", all[2], w.Acme.New, nil).Data(t)["createdAt"].(string)
	for query, want := range map[string][]int{
		"":                                   {0, 1, 2, 3, 4},
		"type=webhook.test":                  {3, 4},
		"type=session.ended,session.started": {0, 1, 2},
		"type=session.ended,session.ended":   {1},
		"type=lead.captured":                 {},
		"type=transcript.final":              {},
		"type=":                              {0, 1, 2, 3, 4},
		"sessionId=" + session.String():      {0, 1},
		"sessionId=" + session.Bare():        {0, 1},
		"subjectId=" + subject.String():      {1, 2},
		"subjectId=" + subject.Bare():        {1, 2},
		"sessionId=" + session.String() + "&subjectId=" + subject.String(): {1},
		"sessionId=" + session.String() + "&type=session.started":          {0},
		"subjectId=" + subject.String() + "&type=session.started":          {2},
		"sessionId=" + id.NewSession().String():                            {},
		"from=" + at:                                                       {2, 3, 4},
		"to=" + at:                                                         {0, 1},
		"from=" + at + "&to=" + at:                                         {},
		"after=" + all[1]:                                                  {2, 3, 4},
		"after=" + strings.TrimPrefix(all[1], "evt_"):                      {2, 3, 4},
		"after=" + all[4]:                                                  {},
		"after=" + all[1] + "&to=" + at:                                    {},
		"after=" + all[0] + "&to=" + at:                                    {1},
		"after=" + all[0] + "&from=" + at:                                  {2, 3, 4},
		"after=" + all[2] + "&type=webhook.test":                           {3, 4},
		"after=" + all[0] + "&sessionId=" + session.String():               {1},
		"after=evt_0000000000000000000000":                                 {0, 1, 2, 3, 4},
		"after=evt_7n42DGM5Tflk9n8mt7Fhc7":                                 {},
	} {
		var found []string
		for _, i := range want {
			found = append(found, all[i])
		}
		require.ElementsMatch(t, found, apitest.IDs(w.Events(t, w.Acme.New, query+"&order=asc")), query)
		require.True(t, slices.IsSorted(apitest.IDs(w.Events(t, w.Acme.New, query+"&order=asc"))), query)
		slices.Reverse(found)
		for _, newest := range []string{"", "&order=desc"} {
			require.Equal(t, append([]string{}, found...), apitest.IDs(w.Events(t, w.Acme.New, query+newest)), query)
		}
	}
	o := w.Operation(t, "listEvents")
	narrow := w.Key(w.Acme, scope.Grant{Contract: contract.Latest, Scopes: []scope.Scope{scope.EventsRead}})
	for query, param := range map[string]string{
		"type=lead.lost": "query.type", "type=webhook.test,": "query.type", "type=*": "query.type", "after=x": "query.after",
		"after=" + session.String(): "query.after", "sessionId=" + subject.String(): "query.sessionId", "subjectId=1": "query.subjectId",
		"order=newest": "query.order", "includeConversation=yes": "query.includeConversation", "from=x": "query.from", "to=x": "query.to",
		"limit=0": "query.limit", "limit=201": "query.limit", "cursor=!": "query.cursor", "state=new": "query.state",
	} {
		values, err := url.ParseQuery(query)
		require.NoError(t, err)
		for _, key := range []apikey.Secret{w.Acme.New, w.OldNamed, narrow} {
			apitest.RequireError(t, w.List(t, o, key, values), http.StatusBadRequest, "invalid_request", param)
		}
	}
	for _, path := range []string{"/events?includeConversation=true", "/events/" + all[0] + "?includeConversation=true"} {
		e := apitest.RequireError(t, w.Get(narrow, path), http.StatusForbidden, "forbidden", "query.includeConversation")
		require.Contains(t, e["message"], "transcripts:read")
	}
}

// after goes on where a page's cursor does.
func testEventsAfterOne(t *testing.T, w *apitest.World) {
	var all []string
	for range 7 {
		all = append(all, w.Emit(t, event.Draft{Type: event.WebhookTest})[0].ID.String())
	}
	o := w.Operation(t, "listEvents")
	query := url.Values{"after": {all[1]}, "order": {"asc"}, "limit": {"2"}}
	first, cursor := w.Page(t, o, w.Acme.New, query)
	require.Equal(t, all[2:4], apitest.IDs(first))
	query.Set("cursor", cursor)
	second, _ := w.Page(t, o, w.Acme.New, query)
	require.Equal(t, all[4:6], apitest.IDs(second))
	query.Set("after", all[0])
	apitest.RequireError(t, w.List(t, o, w.Acme.New, query), http.StatusBadRequest, "invalid_request", "query.cursor")

	query = url.Values{"after": {all[3]}, "limit": {"2"}}
	newest, cursor := w.Page(t, o, w.Acme.New, query)
	require.Equal(t, []string{all[6], all[5]}, apitest.IDs(newest), "without order=asc it bounds")
	query.Set("cursor", cursor)
	last, cursor := w.Page(t, o, w.Acme.New, query)
	require.Equal(t, []string{all[4]}, apitest.IDs(last))
	require.Empty(t, cursor)
}

// A reader who follows the log while others write misses nothing and sees
// nothing twice.
func testFollowingEvents(t *testing.T, w *apitest.World) {
	const writers, each = 8, 25
	var (
		mu      sync.Mutex
		written []string
		all     sync.WaitGroup
	)
	for range writers {
		all.Go(func() {
			for i := range each {
				var recorded []event.Recorded
				err := w.Tenants.InTx(context.Background(), w.Acme.ID, func(ctx context.Context, tx *tenant.Tx) (err error) {
					// Clocks differ from pod to pod.
					at := time.Now().Add(time.Duration(i%3-1) * time.Millisecond)
					recorded, err = event.Record(ctx, tx, event.Draft{Type: event.WebhookTest, At: at}, event.Draft{Type: event.WebhookTest, At: at})
					return err
				})
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				written = append(written, recorded[0].ID.String(), recorded[1].ID.String())
				mu.Unlock()
			}
		})
	}
	done := make(chan struct{})
	go func() { defer close(done); all.Wait() }()
	var seen []string
	query := url.Values{"order": {"asc"}, "limit": {"7"}}
	for ended := false; ; {
		select {
		case <-done:
			ended = true
		default:
		}
		items, more := w.Page(t, w.Operation(t, "listEvents"), w.Acme.New, query)
		if seen = append(seen, apitest.IDs(items)...); len(seen) > 0 {
			query.Set("after", seen[len(seen)-1])
		}
		require.LessOrEqual(t, len(seen), 2*writers*each, "something is seen again")
		if ended && more == "" {
			break
		}
	}
	require.Len(t, written, 2*writers*each)
	require.ElementsMatch(t, written, seen)
	require.True(t, slices.IsSorted(seen))
}
