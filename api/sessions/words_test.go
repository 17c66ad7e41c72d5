package sessions_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/tenant"
)

// transcript reads a transcript with a query.
func transcript(t *testing.T, w *apitest.World, which, query string) map[string]any {
	t.Helper()
	o := w.Operation(t, "getTranscript")
	answer := w.Call(t, o, apitest.Request{Path: apitest.WithID(o, which) + "?" + query, Key: w.Acme.New})
	require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Raw)
	return answer.Data(t)
}

func testTranscripts(t *testing.T, w *apitest.World) {
	s := w.Talk(t, nil)
	own := s.ID.String()
	first := w.Said(t, s, 0, session.User, "When do\nyou open?")
	w.Said(t, s, 1, session.Avatar, "At nine. And on Sundays at ten.", func(turn *session.Turn) {
		turn.Spoken, turn.Interrupted, turn.Origin, turn.Grounded = "At nine.", true, session.Voice, new(true)
		turn.Sources = []session.Source{{DocumentID: id.NewDocument(), Title: "Guide", ChunkID: id.NewChunk(), Score: 0.5}}
		turn.ToolCalls = []session.ToolCall{{Name: "lookup", Status: "done", DurationMs: 5}}
	})
	w.Said(t, s, 2, session.Staff, "Eve here.", func(turn *session.Turn) { turn.Name = "Eve" })
	open := w.Said(t, s, 3, session.Avatar, "Hm", func(turn *session.Turn) { turn.EndedAt, turn.Host, turn.Name = nil, "left", "Ada" })

	whole := transcript(t, w, own, "")
	require.Equal(t, []any{own, "live", "en", true, nil, nil},
		[]any{whole["sessionId"], whole["state"], whole["language"], whole["aiGenerated"], whole["content"], whole["nextCursor"]})
	turns := whole["turns"].([]any)
	require.Len(t, turns, 4)
	require.Equal(t, map[string]any{
		"id": first.ID.String(), "index": 0.0, "speaker": "user", "host": nil, "name": nil, "text": "When do\nyou open?", "spokenText": nil, "language": "en",
		"source": "typed", "startedAt": first.StartedAt.Format(time.RFC3339Nano), "endedAt": first.EndedAt.Format(time.RFC3339Nano), "offsetMs": 0.0,
		"durationMs": 1500.0, "interrupted": false, "sources": []any{}, "grounded": nil, "toolCalls": []any{}, "redacted": false,
	}, turns[0])
	require.Equal(t, []any{"At nine. And on Sundays at ten.", "At nine.", 2000.0, true, true},
		[]any{apitest.At(turns[1], "text"), apitest.At(turns[1], "spokenText"), apitest.At(turns[1], "offsetMs"), apitest.At(turns[1], "interrupted"), apitest.At(turns[1], "grounded")})
	require.Equal(t, "Guide", apitest.At(apitest.At(turns[1], "sources").([]any)[0], "title"))
	require.Equal(t, "lookup", apitest.At(apitest.At(turns[1], "toolCalls").([]any)[0], "name"))
	require.Equal(t, []any{"Eve", nil, "Ada", "left"}, []any{apitest.At(turns[2], "name"), apitest.At(turns[2], "host"), apitest.At(turns[3], "name"), apitest.At(turns[3], "host")})
	require.Equal(t, []any{open.ID.String(), nil, nil}, []any{apitest.At(turns[3], "id"), apitest.At(turns[3], "endedAt"), apitest.At(turns[3], "durationMs")})

	text := transcript(t, w, own, "format=text")
	require.Empty(t, text["turns"])
	require.Equal(t, "User: When do you open?\nAvatar: At nine.\nEve: Eve here.\nAda: Hm\n", text["content"])
	require.Equal(t, "WEBVTT\n"+
		"\n1\n00:00:00.000 --> 00:00:01.500\n<v User>When do you open?\n"+
		"\n2\n00:00:02.000 --> 00:00:03.500\n<v Avatar>At nine.\n"+
		"\n3\n00:00:04.000 --> 00:00:05.500\n<v Eve>Eve here.\n"+
		"\n4\n00:00:06.000 --> 00:00:06.001\n<v Ada>Hm\n", transcript(t, w, own, "format=vtt")["content"])

	paged := transcript(t, w, own, "limit=3&format=text")
	require.Contains(t, paged["content"], "Eve")
	rest := transcript(t, w, own, "limit=3&format=text&cursor="+paged["nextCursor"].(string))
	require.Equal(t, []any{"Ada: Hm\n", nil}, []any{rest["content"], rest["nextCursor"]})
	require.Equal(t, http.StatusOK, w.CallAs(t, "endSession", own, w.Acme.New, nil).Status)
	require.Equal(t, "final", transcript(t, w, own, "")["state"])
	require.Empty(t, transcript(t, w, w.Minted(t, nil), "")["turns"])
}

// Nothing that was said ends a line or a cue, or is markup.
func testHostileTranscripts(t *testing.T, w *apitest.World) {
	s := w.Talk(t, nil)
	w.Said(t, s, 0, session.User, "a\r\rb\r\n\r\nc --> d & <b>e</b>\n\nWEBVTT")
	w.Said(t, s, 1, session.Staff, "x", func(turn *session.Turn) { turn.Name = "E>v\r\nAvatar: no" })
	require.Equal(t, "User: a  b  c --> d & <b>e</b>  WEBVTT\nE>v Avatar: no: x\n", transcript(t, w, s.ID.String(), "format=text")["content"])
	require.Equal(t, "WEBVTT\n"+
		"\n1\n00:00:00.000 --> 00:00:01.500\n<v User>a  b  c --&gt; d &amp; &lt;b&gt;e&lt;/b&gt;  WEBVTT\n"+
		"\n2\n00:00:02.000 --> 00:00:03.500\n<v E&gt;v Avatar: no>x\n", transcript(t, w, s.ID.String(), "format=vtt")["content"])
}

func testSessionFigures(t *testing.T, w *apitest.World) {
	s := w.Talk(t, nil)
	own := s.ID.String()
	w.Said(t, s, 0, session.User, "When do you open?")
	w.Said(t, s, 1, session.Avatar, "At nine in the morning", func(turn *session.Turn) {
		turn.Spoken, turn.Interrupted, turn.Grounded, turn.Timing = "At nine", true, new(true), session.Timing{ResponseMs: 300, RetrievalMs: 20, ModelFirstMs: -1}
	})
	w.Said(t, s, 2, session.User, "Und wo?", func(turn *session.Turn) { turn.Language = "de" })
	w.Said(t, s, 3, session.Avatar, "Hm", func(turn *session.Turn) {
		turn.Grounded, turn.ToolCalls = new(false), []session.ToolCall{{Status: "failed"}}
	})
	w.InTx(t, func(ctx context.Context, tx *tenant.Tx) error {
		_, err := session.End(ctx, tx, s.ID, session.Ending{Reason: session.Left, At: s.StartedAt.Add(10 * time.Second)})
		return err
	})
	one := func(n float64) map[string]any { return map[string]any{"p50": n, "p90": n, "p95": n, "max": n} }
	none := map[string]any{"p50": nil, "p90": nil, "p95": nil, "max": nil}
	require.Equal(t, map[string]any{
		"sessionId": own, "durationS": 10.0, "turnCount": 4.0, "userTurns": 2.0, "avatarTurns": 2.0, "interruptions": 1.0, "interruptionRate": 0.5,
		"talkShare": map[string]any{"user": 0.3, "avatar": 0.3, "silence": 0.4}, "words": map[string]any{"user": 6.0, "avatar": 3.0},
		"latencyMs": map[string]any{"response": one(300), "retrieval": one(20), "modelFirstToken": none},
		"retrieval": map[string]any{"queries": 2.0, "grounded": 1.0, "gaps": 1.0}, "tools": map[string]any{"total": 1.0, "failed": 1.0},
		"languages": []any{map[string]any{"code": "en", "share": 0.5}, map[string]any{"code": "de", "share": 0.5}},
		"network":   map[string]any{"reconnects": 0.0, "transport": "websocket"}, "outcome": nil, "summary": "When do you open? → At nine\nUnd wo? → Hm",
	}, w.CallAs(t, "getSessionAnalytics", own, w.Acme.New, nil).Data(t))
	fresh := w.CallAs(t, "getSessionAnalytics", w.Minted(t, nil), w.Acme.New, nil).Data(t)
	require.Equal(t, []any{nil, 0.0, []any{}}, []any{fresh["durationS"], fresh["turnCount"], fresh["languages"]})

	all := w.CallAs(t, "analyzeSessions", "", w.Acme.New, nil).Data(t)
	require.Equal(t, []any{1.0, 4.0, 10.0, 1.0, one(300), map[string]any{"left": 1.0}, map[string]any{"en": 1.0}},
		[]any{all["sessions"], all["turns"], all["averageS"], all["interruptions"], all["responseMs"], all["endReasons"], all["languages"]})
	require.Equal(t, map[string]any{"grounded": 1.0, "gaps": 1.0}, all["answers"])
	for query, want := range map[string]any{
		"personaId=" + id.NewPersona().String(): 0.0, "personaId=" + w.Shown(t, w.Acme): 1.0, "to=2026-01-31T00:00:00Z": 0.0,
	} {
		require.Equal(t, want, w.Get(w.Acme.New, "/sessions/analytics?"+query).Data(t)["sessions"], query)
	}
	for _, query := range []string{"from=2026-01-01T00:00:00Z&to=2026-01-01T00:00:00Z", "from=2026-01-01T00:00:00Z&to=2026-05-01T00:00:00Z", "from=2999-01-01T00:00:00Z"} {
		apitest.RequireError(t, w.Get(w.Acme.New, "/sessions/analytics?"+query), http.StatusBadRequest, "invalid_request", "query.to")
	}
}

func testDeleteTranscript(t *testing.T, w *apitest.World) {
	s := conversation(t, w, nil)
	own := s.ID.String()
	apitest.RequireError(t, w.CallAs(t, "deleteTranscript", own, w.Scoped(contract.Latest, scope.SessionsWrite), nil), http.StatusForbidden, "forbidden", "")
	apitest.RequireError(t, w.CallAs(t, "deleteTranscript", own, w.Scoped(contract.Latest, scope.TranscriptsRead), nil), http.StatusForbidden, "forbidden", "")

	w.SetSession(t, own, `on_hold = true`)
	require.Equal(t, []any{true, true}, []any{w.Read(t, own)["onHold"], w.Read(t, own)["transcriptAvailable"]}, "held is not hidden")
	apitest.RequireError(t, w.CallAs(t, "deleteTranscript", own, w.Acme.New, nil), http.StatusConflict, "on_hold", "path.id")
	require.Equal(t, "At nine.", apitest.At(transcript(t, w, own, "")["turns"].([]any)[1], "text"))
	w.SetSession(t, own, `on_hold = false`)

	query := "type=transcript.final&includeConversation=true&sessionId=" + own
	require.Len(t, w.Events(t, w.Acme.New, query), 2)
	key := w.Scoped(contract.Latest, scope.SessionsWrite, scope.TranscriptsRead)
	for range 2 {
		require.Equal(t, map[string]any{"deleted": true, "id": own}, w.CallAs(t, "deleteTranscript", own, key, nil).Data(t))
	}
	require.Equal(t, "session.transcript_deleted", w.Last(t)["action"])
	for _, turn := range transcript(t, w, own, "")["turns"].([]any) {
		require.Equal(t, []any{"", true}, []any{apitest.At(turn, "text"), apitest.At(turn, "redacted")})
	}
	one := w.Read(t, own)
	require.Equal(t, []any{nil, map[string]any{}, false, 2.0}, []any{one["summary"], one["collected"], one["transcriptAvailable"], one["turnCount"]})
	for _, e := range w.Events(t, w.Acme.New, query) {
		require.Nil(t, apitest.At(e, "data", "text"))
	}
}

func testStaffTokens(t *testing.T, w *apitest.World) {
	s := w.Talk(t, nil)
	own := s.ID.String()
	body := map[string]any{"staffName": "Eve", "mode": "takeover"}
	e := apitest.RequireError(t, w.CallAs(t, "createStaffToken", own, w.Scoped(contract.Latest, scope.SessionsWrite), body), http.StatusForbidden, "forbidden", "")
	require.Contains(t, e["message"], "inbox:write")
	answer := w.CallAs(t, "createStaffToken", own, w.Scoped(contract.Latest, scope.SessionsWrite, scope.InboxWrite), body)
	require.Equal(t, http.StatusCreated, answer.Status, "%s", answer.Raw)
	made := answer.Data(t)
	_, admission, err := session.Admit(t.Context(), w.Tenants, s.ID, session.Token(made["token"].(string)))
	require.NoError(t, err)
	require.Equal(t, made["staffId"], admission.Staff.String())
	require.Empty(t, w.Read(t, own)["staff"], "invited is not there")
	w.InTx(t, func(ctx context.Context, tx *tenant.Tx) error {
		_, err := session.Join(ctx, tx, s.ID, s.Epoch, admission.Staff, apitest.Moment())
		return err
	})
	there := w.Read(t, own)["staff"].([]any)
	require.Len(t, there, 1)
	require.Equal(t, []any{made["staffId"], "Eve", "takeover", nil}, []any{apitest.At(there[0], "staffId"), apitest.At(there[0], "name"), apitest.At(there[0], "mode"), apitest.At(there[0], "leftAt")})

	apitest.RequireError(t, w.CallAs(t, "createStaffToken", own, w.Acme.New, map[string]any{"staffName": "Eve", "mode": "hide"}), http.StatusBadRequest, "invalid_request", "body.mode")
	require.Equal(t, "not_live", apitest.Reason(t, w.CallAs(t, "createStaffToken", w.Minted(t, nil), w.Acme.New, body), "path.id"))
	require.Equal(t, http.StatusOK, w.CallAs(t, "endSession", own, w.Acme.New, nil).Status)
	apitest.RequireError(t, w.CallAs(t, "createStaffToken", own, w.Acme.New, body), http.StatusConflict, "session_ended", "path.id")
	require.NotNil(t, apitest.At(w.Read(t, own)["staff"].([]any)[0], "leftAt"))
}

func testRatings(t *testing.T, w *apitest.World) {
	s := w.Talk(t, nil)
	own := s.ID.String()
	o := w.Operation(t, "rateSession")
	rate := func(token any, body map[string]any) apitest.Answer {
		return w.Call(t, o, apitest.Request{Path: apitest.WithID(o, own), Body: body, Header: map[string]string{"X-Session-Token": token.(string)}})
	}
	mine := string(w.Tokens[s.ID.Bare()])
	good := map[string]any{"score": 4, "scale": 5, "comment": "well done"}
	staff := w.CallAs(t, "createStaffToken", own, w.Acme.New, map[string]any{"staffName": "Eve", "mode": "speak"}).Data(t)["token"]
	other := w.Ticket(t, nil)
	for _, token := range []any{"", "x", staff, other["token"], mine + "x", string(w.Acme.New)} {
		apitest.RequireError(t, rate(token, good), http.StatusNotFound, "not_found", "path.id")
	}
	apitest.RequireError(t, rate(mine, map[string]any{"score": 3, "scale": 2}), http.StatusBadRequest, "invalid_request", "body.score")
	apitest.RequireError(t, rate(mine, map[string]any{"score": 0, "scale": 2}), http.StatusBadRequest, "invalid_request", "body.score")
	apitest.RequireError(t, rate(mine, map[string]any{"score": 3, "scale": 3}), http.StatusBadRequest, "invalid_request", "body.scale")
	require.Nil(t, w.Read(t, own)["rating"])
	waiting := w.Call(t, o, apitest.Request{
		Path: apitest.WithID(o, apitest.At(other, "session", "id").(string)), Body: good, Header: map[string]string{"X-Session-Token": other["token"].(string)},
	})
	require.Equal(t, "not_begun", apitest.Reason(t, waiting, "path.id"))

	require.Equal(t, map[string]any{"score": 2.0, "scale": 2.0}, rate(mine, map[string]any{"score": 2, "scale": 2}).Data(t))
	require.Equal(t, http.StatusOK, w.CallAs(t, "endSession", own, w.Acme.New, nil).Status)
	require.Equal(t, http.StatusOK, rate(mine, good).Status, "for a day after the end")
	require.Equal(t, map[string]any{"score": 4.0, "scale": 5.0}, w.Read(t, own)["rating"], "the later one")
	told := w.Events(t, w.Acme.New, "order=asc&type=conversation.rated&includeConversation=true")
	require.Len(t, told, 2)
	data := told[1].(map[string]any)["data"].(map[string]any)
	require.Equal(t, []any{own, 4.0, 5.0, "visitor", "well done"}, []any{data["sessionId"], data["rating"], data["scale"], data["ratedBy"], data["comment"]})
	require.Nil(t, apitest.At(w.Events(t, w.Acme.New, "type=conversation.rated&includeConversation=false")[0], "data", "comment"))

	exec(t, w, `UPDATE session_token SET expires_at = now() - INTERVAL '1 second' WHERE org_id = $1`)
	apitest.RequireError(t, rate(mine, good), http.StatusNotFound, "not_found", "path.id")
}
