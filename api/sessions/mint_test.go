package sessions_test

import (
	"context"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/api/route"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/language"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/store/apikey"
	"visavis.dev/pkg/store/tenant"
)

func testTicket(t *testing.T, w *apitest.World) {
	own := w.Shown(t, w.Acme)
	base := w.Pack(t, w.Acme)
	body := w.SessionBody(t, w.Acme)
	body["knowledgeBaseIds"] = []any{base}
	ticket := w.Ticket(t, body)
	require.Regexp(t, `^vst_[0-9A-Za-z]{60,}$`, ticket["token"])
	require.Equal(t, ticket["connectBy"], ticket["tokenExpiresAt"])
	s := ticket["session"].(map[string]any)
	created, err := time.Parse(time.RFC3339Nano, s["createdAt"].(string))
	require.NoError(t, err)
	connectBy, err := time.Parse(time.RFC3339Nano, ticket["connectBy"].(string))
	require.NoError(t, err)
	require.Equal(t, time.Minute, connectBy.Sub(created))
	require.Equal(t, "websocket", apitest.At(ticket, "transport", "kind"))
	require.Regexp(t, `^wss?://.+/live/v1/`+s["id"].(string)+`$`, apitest.At(ticket, "transport", "url"))
	require.Equal(t, apitest.LibraryFace, apitest.At(ticket, "face", "avatarId"))
	require.Equal(t, w.URL+"/avatars/"+apitest.LibraryFace+"/face", apitest.At(ticket, "face", "assetsUrl"))
	require.Equal(t, map[string]any{"maxDurationS": 600.0, "idleTimeoutS": 60.0, "activeSessions": 1.0, "maxConcurrentSessions": nil}, ticket["limits"])
	for name, want := range map[string]any{
		"state": "created", "kind": "conversation", "source": "api", "personaId": own, "personaVersion": 1.0, "voiceId": apitest.StudioVoice,
		"engine": "premier", "language": "en", "channel": "chat", "sandbox": false, "externalId": body["externalId"], "metadata": body["metadata"],
		"startedAt": nil, "endedAt": nil, "endReason": nil, "durationS": nil, "billedS": nil, "rating": nil, "turnCount": 0.0,
		"transcriptAvailable": false, "conversationWithheld": nil, "summary": nil, "collected": map[string]any{},
	} {
		require.Equal(t, want, s[name], name)
	}
	require.Equal(t, s, w.Read(t, s["id"].(string)))
	require.Equal(t, 1, places(t, w))
	entry := w.Last(t)
	require.Equal(t, []any{"session.created", s["id"]}, []any{entry["action"], entry["targetId"]})
	o := w.Operation(t, "createSessionToken")
	require.Equal(t, []any{"live", true}, []any{string(o.Class), o.FailsClosed})

	least := w.Ticket(t, map[string]any{"personaId": own})
	require.Equal(t, []any{600.0, 300.0}, []any{apitest.At(least, "limits", "maxDurationS"), apitest.At(least, "limits", "idleTimeoutS")}, "the persona's and the default")
	require.Equal(t, []any{"video", map[string]any{}, nil}, []any{apitest.At(least, "session", "channel"), apitest.At(least, "session", "metadata"), apitest.At(least, "session", "externalId")})
}

// What keeps a session from starting, and leaves no trace of the attempt.
func testMintRefusals(t *testing.T, w *apitest.World) {
	body := map[string]any{"personaId": w.Make(t, w.Acme, "createPersona")["id"]}
	poor := w.Apart(t)
	apitest.RequireError(t, poor.Mint(t, poor.Acme.New, nil), http.StatusPaymentRequired, "insufficient_minutes", "")

	w.Limit(t, plan.Limits{plan.MonthlyCapMinutes: new(int64(0))})
	apitest.RequireError(t, w.Mint(t, w.Acme.New, body), http.StatusPaymentRequired, "insufficient_minutes", "")
	w.Limit(t, plan.Limits{})

	ctx := context.Background()
	require.NoError(t, w.Directory.Pause(ctx, w.Acme.ID, "unpaid"))
	w.Limit(t, plan.Limits{})
	apitest.RequireError(t, w.Mint(t, w.Acme.New, body), http.StatusForbidden, "account_paused", "")
	require.NoError(t, w.Directory.Resume(ctx, w.Acme.ID))
	w.Limit(t, plan.Limits{})

	before := w.Last(t)["id"]
	for param, properties := range map[string]map[string]any{
		"body.language":       {"language": "Klingon"},
		"body.variables":      {"variables": map[string]any{"1st": "x"}},
		"body.metadata":       {"metadata": map[string]any{"": "x"}},
		"body.documentTags":   {"documentTags": []any{""}},
		"body.allowedOrigins": {"allowedOrigins": []any{"https://www.example.com/"}},
		"body.maxDurationS":   {"maxDurationS": 29},
		"body.idleTimeoutS":   {"idleTimeoutS": 1801},
		"body.kind":           {"kind": "screening"},
		"body.transport":      {"transport": "smoke"},
	} {
		apitest.RequireError(t, w.Mint(t, w.Acme.New, properties), http.StatusBadRequest, "invalid_request", param)
	}
	for origin, good := range map[string]bool{
		"https://www.example.com": true, "https://example.com:8443": true, "http://localhost:3000": true, "http://127.0.0.1": true,
		"http://www.example.com": false, "https://": false, "https://a@example.com": false, "https://example.com?": false, "https://example.com#": false,
		"HTTPS://example.com": false, "*": false, "null": false, "": false,
	} {
		answer := w.Mint(t, w.Acme.New, map[string]any{"allowedOrigins": []any{origin}})
		require.Equal(t, good, answer.Status == http.StatusCreated, "%s: %s", origin, answer.Raw)
		if good {
			w.CallAs(t, "endSession", apitest.At(answer.Data(t), "session", "id").(string), w.Acme.New, nil)
		}
	}
	apitest.RequireError(t, w.Mint(t, w.Scoped(contract.Latest, scope.SessionsRead), body), http.StatusForbidden, "forbidden", "")
	require.NotEqual(t, before, w.Last(t)["id"], "of the good origins")
	require.Zero(t, places(t, w))
}

// What is not the organization's own is not found, whatever it is.
func testMintNames(t *testing.T, w *apitest.World) {
	foreign := w.Apart(t)
	foreign.Use(t, foreign.Acme)
	deleted := w.Make(t, w.Acme, "createPersona")["id"].(string)
	require.Equal(t, http.StatusOK, w.CallAs(t, "deletePersona", deleted, w.Acme.New, nil).Status)
	before := places(t, w)
	for name, c := range map[string]struct{ field, other, unknown string }{
		"persona": {"personaId", foreign.Shown(t, foreign.Acme), deleted},
		"face":    {"avatarId", foreign.Make(t, foreign.Acme, "createAvatar")["id"].(string), id.NewAvatar().String()},
		"voice":   {"voiceId", apitest.Kinds["/voices/{id}"](t, foreign, foreign.Acme), id.NewVoice().String()},
		"session": {"supersedes", foreign.Minted(t, nil), id.NewSession().String()},
	} {
		t.Run(name, func(t *testing.T) {
			for _, value := range []string{c.other, c.unknown, id.NewKey().String(), "x"} {
				apitest.RequireError(t, w.Mint(t, w.Acme.New, map[string]any{c.field: value}), http.StatusNotFound, "not_found", "body."+c.field)
			}
		})
	}
	for _, base := range []string{foreign.Pack(t, foreign.Acme), id.NewKnowledgeBase().String(), "x"} {
		answer := w.Mint(t, w.Acme.New, map[string]any{"knowledgeBaseIds": []any{w.Pack(t, w.Acme), base}})
		apitest.RequireError(t, answer, http.StatusNotFound, "not_found", "body.knowledgeBaseIds")
	}
	require.Equal(t, before, places(t, w))
	require.Empty(t, w.List(t, w.Operation(t, "listSessions"), w.Acme.New, nil).JSON(t)["data"], "a refusal leaves nothing")
	require.Equal(t, 1, places(t, foreign), "and ends nothing of another's")
}

func testMintOverrides(t *testing.T, w *apitest.World) {
	other := id.NamedAvatar("jisoo").String()
	s := w.Ticket(t, map[string]any{"avatarId": other, "voiceId": apitest.GlobalVoice, "language": "zh-Hans"})["session"].(map[string]any)
	require.Equal(t, []any{other, apitest.GlobalVoice, "global", "zh-Hans"}, []any{s["avatarId"], s["voiceId"], s["engine"], s["language"]})
	apitest.RequireError(t, w.Mint(t, w.Acme.New, map[string]any{"language": unspoken(t)}), http.StatusBadRequest, "invalid_request", "body.language")

	// An own face is prepared when a persona puts it on, not before.
	face := w.Make(t, w.Acme, "createAvatar")
	override := map[string]any{"avatarId": face["id"]}
	require.Equal(t, "face_not_prepared", apitest.Reason(t, w.Mint(t, w.Acme.New, override), "body.avatarId"))
	wearer := w.Make(t, w.Acme, "createPersona")["id"].(string)
	require.Equal(t, http.StatusOK, w.CallAs(t, "updatePersona", wearer, w.Acme.New, override).Status)
	for param, properties := range map[string]map[string]any{"body.avatarId": override, "": {"personaId": wearer}} {
		answer := w.Mint(t, w.Acme.New, properties)
		e := apitest.RequireError(t, answer, http.StatusConflict, "face_not_ready", param)
		require.InDelta(t, 60, apitest.At(e, "details", "etaS"), 5)
		require.NotEmpty(t, answer.Header.Get("Retry-After"))
	}
	require.Equal(t, http.StatusOK, w.CallAs(t, "withdrawAvatarConsent", face["id"].(string), w.Acme.New, nil).Status)
	for param, properties := range map[string]map[string]any{"body.avatarId": override, "": {"personaId": wearer}} {
		require.Equal(t, "consent_withdrawn", apitest.Reason(t, w.Mint(t, w.Acme.New, properties), param))
	}

	voice := apitest.Kinds["/voices/{id}"](t, w, w.Acme)
	speaker := w.Make(t, w.Acme, "createPersona")["id"].(string)
	spoken := map[string]any{"voiceId": voice}
	require.Equal(t, "voice_not_ready", apitest.Reason(t, w.Mint(t, w.Acme.New, spoken), "body.voiceId"))
	exec(t, w, `UPDATE voice SET status = 'ready' WHERE org_id = $1`)
	require.Equal(t, http.StatusOK, w.CallAs(t, "updatePersona", speaker, w.Acme.New, spoken).Status)
	require.Equal(t, voice, apitest.At(w.Ticket(t, spoken), "session", "voiceId"))
	consent := w.CallAs(t, "getVoice", voice, w.Acme.New, nil).Data(t)["consentId"].(string)
	require.Equal(t, http.StatusOK, w.CallAs(t, "withdrawConsent", consent, w.Acme.New, nil).Status)
	for param, properties := range map[string]map[string]any{"body.voiceId": spoken, "": {"personaId": speaker}} {
		require.Equal(t, "consent_withdrawn", apitest.Reason(t, w.Mint(t, w.Acme.New, properties), param))
	}
}

// exec runs a statement on Acme's rows.
func exec(t *testing.T, w *apitest.World, sql string, args ...any) {
	t.Helper()
	w.InTx(t, func(ctx context.Context, tx *tenant.Tx) error {
		_, err := tx.Exec(ctx, sql, append([]any{tx.Org}, args...)...)
		return err
	})
}

// unspoken is a language that the persona's voice does not speak.
func unspoken(t *testing.T) string {
	t.Helper()
	others := slices.DeleteFunc(slices.Clone(language.EngineLanguages(language.Global)), func(code string) bool {
		return slices.Contains(language.EngineLanguages(language.Premier), code)
	})
	require.NotEmpty(t, others)
	return others[0]
}

func testMintDuo(t *testing.T, w *apitest.World) {
	duo := w.Make(t, w.Acme, "createDuo")
	body := map[string]any{"personaId": duo["personaId"]}
	apitest.RequireError(t, w.Mint(t, w.Acme.New, body), http.StatusConflict, "duo_not_live", "")
	require.Equal(t, http.StatusOK, w.CallAs(t, "goLiveDuo", duo["id"].(string), w.Acme.New, nil).Status)
	s := w.Ticket(t, body)["session"].(map[string]any)
	require.Equal(t, duo["id"], s["duoId"])
	for param, properties := range map[string]map[string]any{
		"body.avatarId": {"avatarId": id.NamedAvatar("sofia").String()}, "body.voiceId": {"voiceId": id.NamedVoice("theo").String()}, "body.language": {"language": "fr"},
	} {
		properties["personaId"] = duo["personaId"]
		apitest.RequireError(t, w.Mint(t, w.Acme.New, properties), http.StatusBadRequest, "invalid_request", param)
	}
	require.Equal(t, "de", apitest.At(w.Ticket(t, map[string]any{"personaId": duo["personaId"], "language": "German"}), "session", "language"))

	_, err := w.Directory.DB.Exec(context.Background(), `UPDATE organization SET plan = 'starter' WHERE id = $1`, w.Acme.ID)
	require.NoError(t, err)
	w.Limit(t, plan.Limits{})
	e := apitest.RequireError(t, w.Mint(t, w.Acme.New, body), http.StatusForbidden, "feature_not_in_plan", "")
	require.Equal(t, "duos", apitest.At(e, "details", "feature"))
}

func testMintPlaces(t *testing.T, w *apitest.World) {
	own := w.Make(t, w.Acme, "createPersona")["id"].(string)
	w.Limit(t, plan.Limits{plan.MaxConcurrentSessions: new(int64(1))})
	body := map[string]any{"personaId": own}
	first := w.Ticket(t, body)
	require.Equal(t, []any{1.0, 1.0}, []any{apitest.At(first, "limits", "activeSessions"), apitest.At(first, "limits", "maxConcurrentSessions")})
	refused := w.Mint(t, w.Acme.New, body)
	apitest.RequireError(t, refused, http.StatusTooManyRequests, "concurrency_limit", "")
	require.NotEmpty(t, refused.Header.Get("Retry-After"))
	require.Equal(t, false, w.CallAs(t, "getConcurrency", "", w.Acme.New, nil).Data(t)["canStart"])

	old := apitest.At(first, "session", "id").(string)
	second := w.Ticket(t, map[string]any{"personaId": own, "supersedes": old})
	require.Equal(t, 1.0, apitest.At(second, "limits", "activeSessions"))
	require.Equal(t, []any{"expired", "superseded"}, []any{w.Read(t, old)["state"], w.Read(t, old)["endReason"]})
	apitest.RequireError(t, w.Mint(t, w.Acme.New, map[string]any{"personaId": own, "supersedes": old}), http.StatusTooManyRequests, "concurrency_limit", "")
	require.Equal(t, 1, places(t, w))

	// Refused for another reason, it ends nothing.
	successor := apitest.At(second, "session", "id").(string)
	exec(t, w, `UPDATE minute_grant SET remaining_s = 0 WHERE org_id = $1`)
	apitest.RequireError(t, w.Mint(t, w.Acme.New, map[string]any{"personaId": own, "supersedes": successor}), http.StatusPaymentRequired, "insufficient_minutes", "")
	require.Equal(t, "created", w.Read(t, successor)["state"])
	require.Equal(t, 1, places(t, w))

	daily := apitest.Minimal()
	daily["limits"] = map[string]any{"dailySessions": 1}
	busy := w.CallAs(t, "createPersona", "", w.Acme.New, daily).Data(t)["id"]
	w.Limit(t, plan.Limits{plan.MaxConcurrentSessions: nil})
	exec(t, w, `UPDATE minute_grant SET remaining_s = 600 WHERE org_id = $1`)
	w.Talk(t, map[string]any{"personaId": busy})
	require.Equal(t, "daily_sessions", apitest.Reason(t, w.Mint(t, w.Acme.New, map[string]any{"personaId": busy}), ""))
	require.Equal(t, 2, places(t, w))
}

func testMintSandbox(t *testing.T, w *apitest.World) {
	exec(t, w, `UPDATE minute_grant SET remaining_s = 0 WHERE org_id = $1`)
	apitest.RequireError(t, w.Mint(t, w.Acme.New, nil), http.StatusPaymentRequired, "insufficient_minutes", "")
	trial := apikey.NewSecret(apikey.Test)
	require.NoError(t, w.Keys.Insert(t.Context(), apikey.Key{
		ID: id.NewKey(), Org: w.Acme.ID, Name: "test", Last4: trial.Last4(), FullAccess: true, Contract: contract.Latest,
		Environment: apikey.Test, CreatedBy: "test", CreatedAt: apitest.Moment(),
	}, trial.Hash()))
	for name, c := range map[string]struct {
		key  apikey.Secret
		body map[string]any
	}{
		"flag":     {w.Acme.New, map[string]any{"sandbox": true, "maxDurationS": 600}},
		"test key": {trial, map[string]any{"sandbox": false}},
	} {
		answer := w.Mint(t, c.key, c.body)
		require.Equal(t, http.StatusCreated, answer.Status, "%s: %s", name, answer.Raw)
		require.Equal(t, []any{true, 60.0}, []any{apitest.At(answer.Data(t), "session", "sandbox"), apitest.At(answer.Data(t), "limits", "maxDurationS")})
		which, err := id.ParseSession(apitest.At(answer.Data(t), "session", "id").(string))
		require.NoError(t, err)
		w.Run(t, which)
		ended := w.CallAs(t, "endSession", which.String(), w.Acme.New, nil).Data(t)
		require.Equal(t, []any{"ended", 0.0}, []any{ended["state"], ended["billedS"]})
	}
}

func testMintBounds(t *testing.T, w *apitest.World) {
	free := w.CallAs(t, "createPersona", "", w.Acme.New, apitest.Minimal()).Data(t)["id"]
	lasts := func(persona any, asked int) any {
		t.Helper()
		body := map[string]any{"personaId": persona}
		if asked > 0 {
			body["maxDurationS"] = asked
		}
		return apitest.At(w.Ticket(t, body), "limits", "maxDurationS")
	}
	require.Equal(t, 7200.0, lasts(free, 0))
	require.Equal(t, 600.0, lasts(w.Shown(t, w.Acme), 3600), "the persona's")
	require.Equal(t, 45.0, lasts(w.Shown(t, w.Acme), 45))
	w.Limit(t, plan.Limits{plan.MaxSessionS: new(int64(300))})
	require.Equal(t, 300.0, lasts(free, 0), "the plan's")
	require.Equal(t, 300.0, lasts(w.Shown(t, w.Acme), 3600))
}

// A request that is sent again has the same token, and one place.
func testMintReplay(t *testing.T, w *apitest.World) {
	o := w.Operation(t, "createSessionToken")
	request := apitest.Request{
		Path: o.Path, Key: w.Acme.New, Body: map[string]any{"personaId": w.Shown(t, w.Acme)}, Header: map[string]string{route.IdempotencyHeader: "one"},
	}
	first, second := w.Call(t, o, request), w.Call(t, o, request)
	require.Equal(t, http.StatusCreated, first.Status, "%s", first.Raw)
	require.Equal(t, string(first.Raw), string(second.Raw))
	require.NotEmpty(t, second.Data(t)["token"])
	require.Equal(t, 1, places(t, w))
	for _, key := range []apikey.Secret{w.Acme.New, w.OldNamed} {
		for _, answer := range []apitest.Answer{w.Get(key, "/sessions"), w.CallAs(t, "listActivity", "", w.Acme.New, nil)} {
			require.NotContains(t, string(answer.Raw), first.Data(t)["token"])
		}
	}
}
