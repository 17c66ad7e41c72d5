package sessions_test

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/apikey"
	"visavis.dev/pkg/store/tenant"
)

func testSessionFilters(t *testing.T, w *apitest.World) {
	other := w.CallAs(t, "createPersona", "", w.Acme.New, apitest.Minimal()).Data(t)["id"].(string)
	subject := id.NewSubject()
	plain := w.Minted(t, nil)
	named := w.Minted(t, map[string]any{"externalId": "visit-1", "language": "de"})
	live := w.Talk(t, map[string]any{"personaId": other, "kind": "practice"}).ID.String()
	ended := w.Minted(t, map[string]any{"externalId": "visit-1", "personaId": other})
	require.Equal(t, http.StatusOK, w.CallAs(t, "deleteSession", ended, w.Acme.New, nil).Status)
	w.SetSession(t, plain, `subject_id = $3, source = 'widget'`, subject)
	w.SetSession(t, plain, `created_at = created_at - INTERVAL '1 minute'`)
	listed := func(query string) []string {
		t.Helper()
		values, err := url.ParseQuery(query)
		require.NoError(t, err)
		items, _ := w.Page(t, w.Operation(t, "listSessions"), w.Acme.New, values)
		return apitest.IDs(items)
	}
	since := url.QueryEscape(w.Read(t, named)["createdAt"].(string))
	for query, want := range map[string][]string{
		"":                                      {ended, live, named, plain},
		"order=asc":                             {plain, named, live, ended},
		"state=created":                         {named, plain},
		"state=live,expired":                    {ended, live},
		"state=failed":                          {},
		"kind=practice":                         {live},
		"kind=practice,conversation":            {ended, live, named, plain},
		"source=widget":                         {plain},
		"source=api,portal":                     {ended, live, named},
		"personaId=" + other:                    {ended, live},
		"subjectId=" + subject.String():         {plain},
		"subjectId=" + subject.Bare():           {plain},
		"externalId=visit-1":                    {ended, named},
		"externalId=visit-1&personaId=" + other: {ended},
		"externalId=nobody":                     {},
		"language=German":                       {named},
		"from=" + since:                         {ended, live, named},
		"to=" + since:                           {plain},
		"from=" + since + "&to=" + since:        {},
		"personaId=" + id.NewPersona().String(): {},
	} {
		require.Equal(t, want, listed(query), query)
	}
	for param, query := range map[string]string{
		"query.state": "state=created,x", "query.kind": "kind=screening", "query.source": "source=x", "query.language": "language=Klingon", "query.order": "order=up",
	} {
		apitest.RequireError(t, w.Get(w.Acme.New, "/sessions?"+query), http.StatusBadRequest, "invalid_request", param)
	}
	values := url.Values{"limit": {"1"}, "order": {"asc"}, "personaId": {other}}
	first, cursor := w.Page(t, w.Operation(t, "listSessions"), w.Acme.New, values)
	values.Set("cursor", cursor)
	second, last := w.Page(t, w.Operation(t, "listSessions"), w.Acme.New, values)
	require.Equal(t, []string{live, ended}, append(apitest.IDs(first), apitest.IDs(second)...))
	require.Empty(t, last)
}

// On 2026-07-08 ids of subjects are bare (Versioning, 5).
func testSessionsOfAnOlderKey(t *testing.T, w *apitest.World) {
	subject := id.NewSubject()
	own := w.Minted(t, map[string]any{"metadata": map[string]any{"subjectId": "sub_theirs"}})
	w.SetSession(t, own, `subject_id = $3`, subject)
	w.Acme.Old = w.OldNamed
	for key, want := range map[apikey.Secret]string{w.Acme.New: subject.String(), w.OldNamed: subject.Bare()} {
		one := w.CallAs(t, "getSession", own, key, nil).Data(t)
		items, _ := w.Page(t, w.Operation(t, "listSessions"), key, nil)
		changed := w.CallAs(t, "updateSession", own, key, map[string]any{"metadata": one["metadata"]}).Data(t)
		for _, shown := range []any{one, items[0], changed} {
			require.Equal(t, want, apitest.At(shown, "subjectId"))
			require.Equal(t, "sub_theirs", apitest.At(shown, "metadata", "subjectId"), "what is the customer's stays")
		}
	}
}

// conversation is a session that ended, with a question, its answer and what it
// found out.
func conversation(t *testing.T, w *apitest.World, properties map[string]any) session.Session {
	t.Helper()
	s := w.Talk(t, properties)
	w.Said(t, s, 0, session.User, "When do you open?")
	w.Said(t, s, 1, session.Avatar, "At nine.")
	w.InTx(t, func(ctx context.Context, tx *tenant.Tx) error {
		return session.Collect(ctx, tx, s.ID, s.Epoch, session.Found{Values: map[string]string{"name": "Kim"}, Outcome: "lead"}, apitest.Moment())
	})
	require.Equal(t, http.StatusOK, w.CallAs(t, "endSession", s.ID.String(), w.Acme.New, nil).Status)
	return s
}

func testSessionWordsNeedTranscripts(t *testing.T, w *apitest.World) {
	own := conversation(t, w, nil).ID.String()
	for name, c := range map[string]struct {
		key   apikey.Secret
		reads bool
	}{
		"all":          {w.Acme.New, true},
		"without":      {w.Scoped(contract.Latest, scope.SessionsRead), false},
		"with":         {w.Scoped(contract.Latest, scope.SessionsRead, scope.TranscriptsRead), true},
		"an older key": {w.Scoped(contract.V20260708, scope.SessionsRead), true},
	} {
		t.Run(name, func(t *testing.T) {
			one, figures := w.CallAs(t, "getSession", own, c.key, nil).Data(t), w.CallAs(t, "getSessionAnalytics", own, c.key, nil).Data(t)
			items, _ := w.Page(t, w.Operation(t, "listSessions"), c.key, nil)
			require.Equal(t, one, items[0])
			require.Equal(t, []any{"lead", true, 2.0}, []any{one["outcome"], one["transcriptAvailable"], one["turnCount"]})
			transcript := w.CallAs(t, "getTranscript", own, c.key, nil)
			if !c.reads {
				require.Equal(t, []any{nil, nil, nil}, []any{one["summary"], one["collected"], figures["summary"]})
				apitest.RequireError(t, transcript, http.StatusForbidden, "forbidden", "")
				return
			}
			const summary = "When do you open? → At nine."
			require.Equal(t, []any{summary, map[string]any{"name": "Kim"}, summary}, []any{one["summary"], one["collected"], figures["summary"]})
			require.Len(t, transcript.Data(t)["turns"], 2)
		})
	}
}

// A job interview is never read as a session, nor changed as one.
func testScreeningsAreNotRead(t *testing.T, w *apitest.World) {
	s := w.Talk(t, nil)
	own := s.ID.String()
	w.SetSession(t, own, `kind = 'screening', withheld = 'candidate_interview', last_activity_at = last_activity_at - INTERVAL '1 hour'`)
	tested := 0
	for _, o := range w.Service.Operations() {
		if len(o.Path) < 14 || o.Path[:14] != "/sessions/{id}" {
			continue
		}
		tested++
		request := apitest.Request{Path: apitest.WithID(o, own), Key: w.Acme.New, Body: w.Body(t, o)}
		apitest.RequireError(t, w.Call(t, o, request), http.StatusForbidden, "candidate_interview", "path.id")
		if request.Key = w.OldNamed; o.Since == contract.V20260708 {
			apitest.RequireError(t, w.Call(t, o, request), http.StatusForbidden, "forbidden", "path.id")
		}
	}
	require.Equal(t, 12, tested)
	apitest.RequireError(t, w.Mint(t, w.Acme.New, map[string]any{"supersedes": own}), http.StatusForbidden, "candidate_interview", "body.supersedes")
	items, _ := w.Page(t, w.Operation(t, "listSessions"), w.Acme.New, nil)
	require.Empty(t, items)
	require.Equal(t, 0.0, w.CallAs(t, "endIdleSessions", "", w.Acme.New, nil).Data(t)["count"])
	require.Equal(t, 0.0, w.CallAs(t, "analyzeSessions", "", w.Acme.New, nil).Data(t)["sessions"])
	require.Equal(t, 1, places(t, w))
}

func testLearnersConversations(t *testing.T, w *apitest.World) {
	s := conversation(t, w, nil)
	own := s.ID.String()
	w.SetSession(t, own, `withheld = 'learner_conversation'`)
	one := w.Read(t, own)
	require.Equal(t, []any{"learner_conversation", nil, nil, false, "ended"},
		[]any{one["conversationWithheld"], one["summary"], one["collected"], one["transcriptAvailable"], one["state"]})
	require.Nil(t, w.CallAs(t, "getSessionAnalytics", own, w.Acme.New, nil).Data(t)["summary"])
	for _, operation := range []string{"getTranscript", "deleteTranscript", "createStaffToken"} {
		o := w.Operation(t, operation)
		apitest.RequireError(t, w.CallAs(t, operation, own, w.Acme.New, w.Body(t, o)), http.StatusForbidden, "learner_conversation", "path.id")
		if o.Since == contract.V20260708 {
			apitest.RequireError(t, w.CallAs(t, operation, own, w.OldNamed, w.Body(t, o)), http.StatusForbidden, "forbidden", "path.id")
		}
	}
	items, _ := w.Page(t, w.Operation(t, "listSessions"), w.Acme.New, nil)
	require.Equal(t, []string{own}, apitest.IDs(items))
}

// No word is kept, also when the switch is turned off while they talk.
func testSessionsOfZeroRetention(t *testing.T, w *apitest.World) {
	w.ZeroRetention(t, true)
	s := w.Talk(t, nil)
	w.ZeroRetention(t, false)
	w.Said(t, s, 0, session.User, "When do you open?")
	w.Said(t, s, 1, session.Avatar, "At nine.")
	own := s.ID.String()
	one := w.CallAs(t, "endSession", own, w.Acme.New, nil).Data(t)
	require.Equal(t, []any{"zero_retention", nil, false, 2.0}, []any{one["conversationWithheld"], one["summary"], one["transcriptAvailable"], one["turnCount"]})
	transcript := w.CallAs(t, "getTranscript", own, w.Acme.New, nil)
	require.NotContains(t, string(transcript.Raw), "nine")
	for _, turn := range transcript.Data(t)["turns"].([]any) {
		require.Equal(t, []any{"", true}, []any{apitest.At(turn, "text"), apitest.At(turn, "redacted")})
	}
	told := w.Events(t, w.Acme.New, "order=asc&includeConversation=true&sessionId="+own)
	require.Equal(t, []string{"session.started", "session.ended"}, apitest.Types(told), "nothing is there to read")
	require.Equal(t, []any{nil, false}, []any{apitest.At(told[1], "data", "summary"), apitest.At(told[1], "data", "transcriptAvailable")})
	require.Nil(t, w.Read(t, w.Minted(t, nil))["conversationWithheld"], "a later one is as the switch is then")
}

func testPersonasInSessions(t *testing.T, w *apitest.World) {
	own := w.CallAs(t, "createPersona", "", w.Acme.New, apitest.Minimal()).Data(t)["id"].(string)
	s := w.Talk(t, map[string]any{"personaId": own}).ID.String()
	require.Equal(t, "in_use", apitest.Reason(t, w.CallAs(t, "deletePersona", own, w.Acme.New, nil), "path.id"))
	require.Equal(t, http.StatusOK, w.CallAs(t, "endSession", s, w.Acme.New, nil).Status)
	require.Equal(t, true, w.CallAs(t, "deletePersona", own, w.Acme.New, nil).Data(t)["deleted"])
	require.Equal(t, own, w.Read(t, s)["personaId"], "what was said with it stays")
}

// What of a conversation is told with its events (spec, includeConversation).
func testEventsOfSessions(t *testing.T, w *apitest.World) {
	const summary = "When do you open? → At nine."
	for name, c := range map[string]struct {
		properties map[string]any
		during     string
		after      string
		words      bool
		types      []string
	}{
		"a conversation": {nil, "", "", true, []string{"session.started", "transcript.final", "transcript.final", "session.ended", "session.transcript_ready"}},
		"practice":       {map[string]any{"kind": "practice"}, "", "", false, []string{"practice.started", "session.ended", "session.transcript_ready"}},
		"held":           {nil, "", `on_hold = true`, false, []string{"session.started", "session.ended", "session.transcript_ready"}},
		"flagged":        {nil, `flagged = true`, "", false, []string{"session.started", "session.ended", "session.transcript_ready"}},
		"a learner's":    {nil, `withheld = 'learner_conversation'`, "", false, []string{"session.started", "session.ended"}},
		"an interview":   {nil, `kind = 'screening'`, "", false, []string{"session.started", "session.ended"}},
		"of a widget":    {nil, `source = 'widget'`, "", true, []string{"session.started", "session.ended", "visitor.session.ended", "session.transcript_ready"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := w.Talk(t, c.properties)
			if c.during != "" {
				w.SetSession(t, s.ID.String(), c.during)
			}
			w.Said(t, s, 0, session.User, "When do you open?")
			w.Said(t, s, 1, session.Avatar, "At nine.")
			w.InTx(t, func(ctx context.Context, tx *tenant.Tx) error {
				_, err := session.End(ctx, tx, s.ID, session.Ending{Reason: session.Left, At: apitest.Moment()})
				return err
			})
			if c.after != "" {
				w.SetSession(t, s.ID.String(), c.after)
			}
			query := "order=asc&sessionId=" + s.ID.String()
			told := w.Events(t, w.Acme.New, query+"&includeConversation=true")
			told = slices.DeleteFunc(told, func(e any) bool {
				return apitest.At(e, "type") == "transcript.final" && apitest.At(e, "data", "text") == nil
			})
			require.Equal(t, c.types, apitest.Types(told))
			for _, e := range told {
				if apitest.At(e, "type") == "session.ended" {
					require.Equal(t, c.words, apitest.At(e, "data", "summary") == summary, "%v", e)
				}
			}
			for _, e := range w.Events(t, w.Acme.New, query+"&includeConversation=false") {
				require.NotEqual(t, "transcript.final", apitest.At(e, "type"))
				if apitest.At(e, "type") == "session.ended" {
					require.Nil(t, apitest.At(e, "data", "summary"))
				}
			}
		})
	}
}
