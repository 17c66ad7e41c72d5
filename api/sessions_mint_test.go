package api_test

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

func testTicket(t *testing.T, w *world) {
	own := w.shown(t, w.Acme)
	base := w.pack(t, w.Acme)
	body := w.sessionBody(t, w.Acme)
	body["knowledgeBaseIds"] = []any{base}
	ticket := w.ticket(t, body)
	require.Regexp(t, `^vst_[0-9A-Za-z]{60,}$`, ticket["token"])
	require.Equal(t, ticket["connectBy"], ticket["tokenExpiresAt"])
	s := ticket["session"].(map[string]any)
	created, err := time.Parse(time.RFC3339Nano, s["createdAt"].(string))
	require.NoError(t, err)
	connectBy, err := time.Parse(time.RFC3339Nano, ticket["connectBy"].(string))
	require.NoError(t, err)
	require.Equal(t, time.Minute, connectBy.Sub(created))
	require.Equal(t, "websocket", at(ticket, "transport", "kind"))
	require.Regexp(t, `^wss?://.+/live/v1/`+s["id"].(string)+`$`, at(ticket, "transport", "url"))
	require.Equal(t, libraryFace, at(ticket, "face", "avatarId"))
	require.Equal(t, w.URL+"/avatars/"+libraryFace+"/face", at(ticket, "face", "assetsUrl"))
	require.Equal(t, map[string]any{"maxDurationS": 600.0, "idleTimeoutS": 60.0, "activeSessions": 1.0, "maxConcurrentSessions": nil}, ticket["limits"])
	for name, want := range map[string]any{
		"state": "created", "kind": "conversation", "source": "api", "personaId": own, "personaVersion": 1.0, "voiceId": studioVoice,
		"engine": "premier", "language": "en", "channel": "chat", "sandbox": false, "externalId": body["externalId"], "metadata": body["metadata"],
		"startedAt": nil, "endedAt": nil, "endReason": nil, "durationS": nil, "billedS": nil, "rating": nil, "turnCount": 0.0,
		"transcriptAvailable": false, "conversationWithheld": nil, "summary": nil, "collected": map[string]any{},
	} {
		require.Equal(t, want, s[name], name)
	}
	require.Equal(t, s, w.read(t, s["id"].(string)))
	require.Equal(t, 1, w.places(t))
	entry := w.last(t)
	require.Equal(t, []any{"session.created", s["id"]}, []any{entry["action"], entry["targetId"]})
	o := w.operation(t, "createSessionToken")
	require.Equal(t, []any{"live", true}, []any{string(o.Class), o.FailsClosed})

	least := w.ticket(t, map[string]any{"personaId": own})
	require.Equal(t, []any{600.0, 300.0}, []any{at(least, "limits", "maxDurationS"), at(least, "limits", "idleTimeoutS")}, "the persona's and the default")
	require.Equal(t, []any{"video", map[string]any{}, nil}, []any{at(least, "session", "channel"), at(least, "session", "metadata"), at(least, "session", "externalId")})
}

// What keeps a session from starting, and leaves no trace of the attempt.
func testMintRefusals(t *testing.T, w *world) {
	body := map[string]any{"personaId": w.make(t, w.Acme, "createPersona")["id"]}
	poor := w.apart(t)
	requireError(t, poor.mint(t, poor.Acme.New, nil), http.StatusPaymentRequired, "insufficient_minutes", "")

	w.limit(t, plan.Limits{plan.MonthlyCapMinutes: new(int64(0))})
	requireError(t, w.mint(t, w.Acme.New, body), http.StatusPaymentRequired, "insufficient_minutes", "")
	w.limit(t, plan.Limits{})

	ctx := context.Background()
	require.NoError(t, w.Directory.Pause(ctx, w.Acme.ID, "unpaid"))
	w.limit(t, plan.Limits{})
	requireError(t, w.mint(t, w.Acme.New, body), http.StatusForbidden, "account_paused", "")
	require.NoError(t, w.Directory.Resume(ctx, w.Acme.ID))
	w.limit(t, plan.Limits{})

	before := w.last(t)["id"]
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
		requireError(t, w.mint(t, w.Acme.New, properties), http.StatusBadRequest, "invalid_request", param)
	}
	for origin, good := range map[string]bool{
		"https://www.example.com": true, "https://example.com:8443": true, "http://localhost:3000": true, "http://127.0.0.1": true,
		"http://www.example.com": false, "https://": false, "https://a@example.com": false, "https://example.com?": false, "https://example.com#": false,
		"HTTPS://example.com": false, "*": false, "null": false, "": false,
	} {
		answer := w.mint(t, w.Acme.New, map[string]any{"allowedOrigins": []any{origin}})
		require.Equal(t, good, answer.Status == http.StatusCreated, "%s: %s", origin, answer.Raw)
		if good {
			w.do(t, "endSession", at(answer.Data(t), "session", "id").(string), w.Acme.New, nil)
		}
	}
	requireError(t, w.mint(t, w.scoped(contract.Latest, scope.SessionsRead), body), http.StatusForbidden, "forbidden", "")
	require.NotEqual(t, before, w.last(t)["id"], "of the good origins")
	require.Zero(t, w.places(t))
}

// What is not the organization's own is not found, whatever it is.
func testMintNames(t *testing.T, w *world) {
	foreign := w.apart(t)
	foreign.use(t, foreign.Acme)
	deleted := w.make(t, w.Acme, "createPersona")["id"].(string)
	require.Equal(t, http.StatusOK, w.do(t, "deletePersona", deleted, w.Acme.New, nil).Status)
	before := w.places(t)
	for name, c := range map[string]struct{ field, other, unknown string }{
		"persona": {"personaId", foreign.shown(t, foreign.Acme), deleted},
		"face":    {"avatarId", foreign.make(t, foreign.Acme, "createAvatar")["id"].(string), id.NewAvatar().String()},
		"voice":   {"voiceId", kinds["/voices/{id}"](t, foreign, foreign.Acme), id.NewVoice().String()},
		"session": {"supersedes", foreign.minted(t, nil), id.NewSession().String()},
	} {
		t.Run(name, func(t *testing.T) {
			for _, value := range []string{c.other, c.unknown, id.NewKey().String(), "x"} {
				requireError(t, w.mint(t, w.Acme.New, map[string]any{c.field: value}), http.StatusNotFound, "not_found", "body."+c.field)
			}
		})
	}
	for _, base := range []string{foreign.pack(t, foreign.Acme), id.NewKnowledgeBase().String(), "x"} {
		answer := w.mint(t, w.Acme.New, map[string]any{"knowledgeBaseIds": []any{w.pack(t, w.Acme), base}})
		requireError(t, answer, http.StatusNotFound, "not_found", "body.knowledgeBaseIds")
	}
	require.Equal(t, before, w.places(t))
	require.Empty(t, w.list(t, w.operation(t, "listSessions"), w.Acme.New, nil).JSON(t)["data"], "a refusal leaves nothing")
	require.Equal(t, 1, foreign.places(t), "and ends nothing of another's")
}

func testMintOverrides(t *testing.T, w *world) {
	other := id.NamedAvatar("jisoo").String()
	s := w.ticket(t, map[string]any{"avatarId": other, "voiceId": globalVoice, "language": "zh-Hans"})["session"].(map[string]any)
	require.Equal(t, []any{other, globalVoice, "global", "zh-Hans"}, []any{s["avatarId"], s["voiceId"], s["engine"], s["language"]})
	requireError(t, w.mint(t, w.Acme.New, map[string]any{"language": unspoken(t)}), http.StatusBadRequest, "invalid_request", "body.language")

	// An own face is prepared when a persona puts it on, not before.
	face := w.make(t, w.Acme, "createAvatar")
	override := map[string]any{"avatarId": face["id"]}
	require.Equal(t, "face_not_prepared", reason(t, w.mint(t, w.Acme.New, override), "body.avatarId"))
	wearer := w.make(t, w.Acme, "createPersona")["id"].(string)
	require.Equal(t, http.StatusOK, w.do(t, "updatePersona", wearer, w.Acme.New, override).Status)
	for param, properties := range map[string]map[string]any{"body.avatarId": override, "": {"personaId": wearer}} {
		answer := w.mint(t, w.Acme.New, properties)
		e := requireError(t, answer, http.StatusConflict, "face_not_ready", param)
		require.InDelta(t, 60, at(e, "details", "etaS"), 5)
		require.NotEmpty(t, answer.Header.Get("Retry-After"))
	}
	require.Equal(t, http.StatusOK, w.do(t, "withdrawAvatarConsent", face["id"].(string), w.Acme.New, nil).Status)
	for param, properties := range map[string]map[string]any{"body.avatarId": override, "": {"personaId": wearer}} {
		require.Equal(t, "consent_withdrawn", reason(t, w.mint(t, w.Acme.New, properties), param))
	}

	voice := kinds["/voices/{id}"](t, w, w.Acme)
	speaker := w.make(t, w.Acme, "createPersona")["id"].(string)
	spoken := map[string]any{"voiceId": voice}
	require.Equal(t, "voice_not_ready", reason(t, w.mint(t, w.Acme.New, spoken), "body.voiceId"))
	w.exec(t, `UPDATE voice SET status = 'ready' WHERE org_id = $1`)
	require.Equal(t, http.StatusOK, w.do(t, "updatePersona", speaker, w.Acme.New, spoken).Status)
	require.Equal(t, voice, at(w.ticket(t, spoken), "session", "voiceId"))
	consent := w.do(t, "getVoice", voice, w.Acme.New, nil).Data(t)["consentId"].(string)
	require.Equal(t, http.StatusOK, w.do(t, "withdrawConsent", consent, w.Acme.New, nil).Status)
	for param, properties := range map[string]map[string]any{"body.voiceId": spoken, "": {"personaId": speaker}} {
		require.Equal(t, "consent_withdrawn", reason(t, w.mint(t, w.Acme.New, properties), param))
	}
}

// exec runs a statement on Acme's rows.
func (w *world) exec(t *testing.T, sql string, args ...any) {
	t.Helper()
	w.inTx(t, func(ctx context.Context, tx *tenant.Tx) error {
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

func testMintDuo(t *testing.T, w *world) {
	duo := w.make(t, w.Acme, "createDuo")
	body := map[string]any{"personaId": duo["personaId"]}
	requireError(t, w.mint(t, w.Acme.New, body), http.StatusConflict, "duo_not_live", "")
	require.Equal(t, http.StatusOK, w.do(t, "goLiveDuo", duo["id"].(string), w.Acme.New, nil).Status)
	s := w.ticket(t, body)["session"].(map[string]any)
	require.Equal(t, duo["id"], s["duoId"])
	for param, properties := range map[string]map[string]any{
		"body.avatarId": {"avatarId": id.NamedAvatar("sofia").String()}, "body.voiceId": {"voiceId": id.NamedVoice("theo").String()}, "body.language": {"language": "fr"},
	} {
		properties["personaId"] = duo["personaId"]
		requireError(t, w.mint(t, w.Acme.New, properties), http.StatusBadRequest, "invalid_request", param)
	}
	require.Equal(t, "de", at(w.ticket(t, map[string]any{"personaId": duo["personaId"], "language": "German"}), "session", "language"))

	_, err := w.Directory.DB.Exec(context.Background(), `UPDATE organization SET plan = 'starter' WHERE id = $1`, w.Acme.ID)
	require.NoError(t, err)
	w.limit(t, plan.Limits{})
	e := requireError(t, w.mint(t, w.Acme.New, body), http.StatusForbidden, "feature_not_in_plan", "")
	require.Equal(t, "duos", at(e, "details", "feature"))
}

func testMintPlaces(t *testing.T, w *world) {
	own := w.make(t, w.Acme, "createPersona")["id"].(string)
	w.limit(t, plan.Limits{plan.MaxConcurrentSessions: new(int64(1))})
	body := map[string]any{"personaId": own}
	first := w.ticket(t, body)
	require.Equal(t, []any{1.0, 1.0}, []any{at(first, "limits", "activeSessions"), at(first, "limits", "maxConcurrentSessions")})
	refused := w.mint(t, w.Acme.New, body)
	requireError(t, refused, http.StatusTooManyRequests, "concurrency_limit", "")
	require.NotEmpty(t, refused.Header.Get("Retry-After"))
	require.Equal(t, false, w.do(t, "getConcurrency", "", w.Acme.New, nil).Data(t)["canStart"])

	old := at(first, "session", "id").(string)
	second := w.ticket(t, map[string]any{"personaId": own, "supersedes": old})
	require.Equal(t, 1.0, at(second, "limits", "activeSessions"))
	require.Equal(t, []any{"expired", "superseded"}, []any{w.read(t, old)["state"], w.read(t, old)["endReason"]})
	requireError(t, w.mint(t, w.Acme.New, map[string]any{"personaId": own, "supersedes": old}), http.StatusTooManyRequests, "concurrency_limit", "")
	require.Equal(t, 1, w.places(t))

	// Refused for another reason, it ends nothing.
	successor := at(second, "session", "id").(string)
	w.exec(t, `UPDATE minute_grant SET remaining_s = 0 WHERE org_id = $1`)
	requireError(t, w.mint(t, w.Acme.New, map[string]any{"personaId": own, "supersedes": successor}), http.StatusPaymentRequired, "insufficient_minutes", "")
	require.Equal(t, "created", w.read(t, successor)["state"])
	require.Equal(t, 1, w.places(t))

	daily := minimal()
	daily["limits"] = map[string]any{"dailySessions": 1}
	busy := w.do(t, "createPersona", "", w.Acme.New, daily).Data(t)["id"]
	w.limit(t, plan.Limits{plan.MaxConcurrentSessions: nil})
	w.exec(t, `UPDATE minute_grant SET remaining_s = 600 WHERE org_id = $1`)
	w.talk(t, map[string]any{"personaId": busy})
	require.Equal(t, "daily_sessions", reason(t, w.mint(t, w.Acme.New, map[string]any{"personaId": busy}), ""))
	require.Equal(t, 2, w.places(t))
}

func testMintSandbox(t *testing.T, w *world) {
	w.exec(t, `UPDATE minute_grant SET remaining_s = 0 WHERE org_id = $1`)
	requireError(t, w.mint(t, w.Acme.New, nil), http.StatusPaymentRequired, "insufficient_minutes", "")
	trial := apikey.NewSecret(apikey.Test)
	require.NoError(t, w.Keys.Insert(t.Context(), apikey.Key{
		ID: id.NewKey(), Org: w.Acme.ID, Name: "test", Last4: trial.Last4(), FullAccess: true, Contract: contract.Latest,
		Environment: apikey.Test, CreatedBy: "test", CreatedAt: moment(),
	}, trial.Hash()))
	for name, c := range map[string]struct {
		key  apikey.Secret
		body map[string]any
	}{
		"flag":     {w.Acme.New, map[string]any{"sandbox": true, "maxDurationS": 600}},
		"test key": {trial, map[string]any{"sandbox": false}},
	} {
		answer := w.mint(t, c.key, c.body)
		require.Equal(t, http.StatusCreated, answer.Status, "%s: %s", name, answer.Raw)
		require.Equal(t, []any{true, 60.0}, []any{at(answer.Data(t), "session", "sandbox"), at(answer.Data(t), "limits", "maxDurationS")})
		which, err := id.ParseSession(at(answer.Data(t), "session", "id").(string))
		require.NoError(t, err)
		w.run(t, which)
		ended := w.do(t, "endSession", which.String(), w.Acme.New, nil).Data(t)
		require.Equal(t, []any{"ended", 0.0}, []any{ended["state"], ended["billedS"]})
	}
}

func testMintBounds(t *testing.T, w *world) {
	free := w.do(t, "createPersona", "", w.Acme.New, minimal()).Data(t)["id"]
	lasts := func(persona any, asked int) any {
		t.Helper()
		body := map[string]any{"personaId": persona}
		if asked > 0 {
			body["maxDurationS"] = asked
		}
		return at(w.ticket(t, body), "limits", "maxDurationS")
	}
	require.Equal(t, 7200.0, lasts(free, 0))
	require.Equal(t, 600.0, lasts(w.shown(t, w.Acme), 3600), "the persona's")
	require.Equal(t, 45.0, lasts(w.shown(t, w.Acme), 45))
	w.limit(t, plan.Limits{plan.MaxSessionS: new(int64(300))})
	require.Equal(t, 300.0, lasts(free, 0), "the plan's")
	require.Equal(t, 300.0, lasts(w.shown(t, w.Acme), 3600))
}

// A request that is sent again has the same token, and one place.
func testMintReplay(t *testing.T, w *world) {
	o := w.operation(t, "createSessionToken")
	request := apitest.Request{
		Path: o.Path, Key: w.Acme.New, Body: map[string]any{"personaId": w.shown(t, w.Acme)}, Header: map[string]string{route.IdempotencyHeader: "one"},
	}
	first, second := w.call(t, o, request), w.call(t, o, request)
	require.Equal(t, http.StatusCreated, first.Status, "%s", first.Raw)
	require.Equal(t, string(first.Raw), string(second.Raw))
	require.NotEmpty(t, second.Data(t)["token"])
	require.Equal(t, 1, w.places(t))
	for _, key := range []apikey.Secret{w.Acme.New, w.OldNamed} {
		for _, answer := range []apitest.Answer{w.Get(key, "/sessions"), w.do(t, "listActivity", "", w.Acme.New, nil)} {
			require.NotContains(t, string(answer.Raw), first.Data(t)["token"])
		}
	}
}
