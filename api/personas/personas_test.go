package personas_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/apikey"
	"visavis.dev/pkg/store/tenant"
)

func TestPersonaDefaults(t *testing.T) {
	w := apitest.NewWorld(t)
	answer := w.CallAs(t, "createPersona", "", w.Acme.New, apitest.Minimal())
	require.Equal(t, http.StatusCreated, answer.Status, "%s", answer.Raw)
	require.Equal(t, `"1"`, answer.Header.Get("ETag"))
	made := answer.Data(t)
	require.Equal(t, "ready", made["status"], "a library face is always ready")
	require.Nil(t, made["faceReadyAt"])
	require.Equal(t, "en", apitest.At(made, "settings", "language"))
	require.Equal(t, "premier", apitest.At(made, "settings", "engine"))
	require.Equal(t, "Hello! How can I help you?", apitest.At(made, "greeting", "text", "en"))
	require.Contains(t, apitest.At(made, "disclosure", "text", "en"), "artificial intelligence")
	require.Equal(t, "strict", apitest.At(made, "knowledge", "mode"))
	read := w.CallAs(t, "getPersona", made["id"].(string), w.Acme.New, nil)
	require.Equal(t, made, read.Data(t))
	require.Equal(t, `"1"`, read.Header.Get("ETag"))
	require.Equal(t, "persona.created", w.Last(t)["action"])
	require.Equal(t, map[string]any{"personas": 1.0, "duos": 0.0}, w.CallAs(t, "getAvatar", apitest.LibraryFace, w.Acme.New, nil).Data(t)["usedBy"])
}

func TestPersonasAreMerged(t *testing.T) {
	w := apitest.NewWorld(t)
	made := w.Make(t, w.Acme, "createPersona")
	change := map[string]any{
		"role": nil, "conversation": map[string]any{"endpointMs": 900, "patience": nil}, "goals": []any{map[string]any{"key": "only", "prompt": "Why?"}},
		"closing": map[string]any{"de": nil, "French": "Au revoir !"}, "settings": map[string]any{"accent": nil, "language": "deutsch"},
	}
	changed := w.CallAs(t, "updatePersona", made["id"].(string), w.Acme.New, change)
	require.Equal(t, `"2"`, changed.Header.Get("ETag"), "%s", changed.Raw)
	now := changed.Data(t)
	require.Nil(t, now["role"])
	require.Equal(t, 900.0, apitest.At(now, "conversation", "endpointMs"))
	require.Equal(t, "high", apitest.At(now, "conversation", "patience"), "what cannot be null stays")
	require.Equal(t, apitest.At(made, "conversation", "maxTurnS"), apitest.At(now, "conversation", "maxTurnS"))
	require.Len(t, now["goals"], 1)
	require.Equal(t, map[string]any{"fr": "Au revoir !"}, now["closing"])
	require.Equal(t, "de", apitest.At(now, "settings", "language"))
	require.Contains(t, apitest.At(now, "greeting", "text"), "de", "it greets in its own language")
	require.Equal(t, apitest.At(made, "greeting", "text", "en"), apitest.At(now, "greeting", "text", "en"))
	require.Equal(t, "persona.updated", w.Last(t)["action"])

	entry := w.Last(t)
	again := w.CallAs(t, "updatePersona", made["id"].(string), w.Acme.New, change)
	require.Equal(t, `"2"`, again.Header.Get("ETag"), "a change of nothing makes no version")
	require.Equal(t, now, again.Data(t))
	require.Equal(t, entry, w.Last(t), "and is no news")
}

func TestBadPersonas(t *testing.T) {
	w := apitest.NewWorld(t)
	foreign := w.Make(t, w.Globex, "createAvatar")["id"].(string)
	deleted := w.Make(t, w.Acme, "createAvatar")["id"].(string)
	require.Equal(t, http.StatusOK, w.CallAs(t, "deleteAvatar", deleted, w.Acme.New, nil).Status)
	own := w.Make(t, w.Acme, "createPersona")["id"].(string)
	for name, c := range map[string]struct {
		change map[string]any
		param  string
	}{
		"no such face":           {map[string]any{"avatarId": id.NewAvatar().String()}, "body.avatarId"},
		"another's face":         {map[string]any{"avatarId": foreign}, "body.avatarId"},
		"a deleted face":         {map[string]any{"avatarId": deleted}, "body.avatarId"},
		"a voice as a face":      {map[string]any{"avatarId": apitest.StudioVoice}, "body.avatarId"},
		"no such voice":          {map[string]any{"voiceId": id.NewVoice().String()}, "body.voiceId"},
		"no such language":       {map[string]any{"settings": map[string]any{"language": "Klingon"}}, "body.settings.language"},
		"a language of others":   {map[string]any{"settings": map[string]any{"language": "Thai"}}, "body.settings.language"},
		"no such accent":         {map[string]any{"settings": map[string]any{"accent": "martian"}}, "body.settings.accent"},
		"an engine":              {map[string]any{"settings": map[string]any{"engine": "premier"}}, "body.settings.engine"},
		"a global voice":         {map[string]any{"settings": map[string]any{"globalVoice": false}}, "body.settings.globalVoice"},
		"out of bounds":          {map[string]any{"conversation": map[string]any{"endpointMs": 1}}, "body.conversation.endpointMs"},
		"silence before a nudge": {map[string]any{"conversation": map[string]any{"idlePromptS": 60, "endAfterSilenceS": 30}}, "body.conversation.endAfterSilenceS"},
		"no such pack":           {map[string]any{"knowledge": map[string]any{"baseIds": []any{id.NewKnowledgeBase().String()}}}, "body.knowledge.baseIds[0]"},
		"no such model":          {map[string]any{"model": map[string]any{"connectionId": id.NewConnection().String()}}, "body.model.connectionId"},
		"no such tool":           {map[string]any{"tools": []any{map[string]any{"kind": "mcp", "connectionId": id.NewConnection().String()}}}, "body.tools[0].connectionId"},
		"a goal twice":           {map[string]any{"goals": []any{map[string]any{"key": "a", "prompt": "A"}, map[string]any{"key": "a", "prompt": "B"}}}, "body.goals[1].key"},
		"empty words":            {map[string]any{"closing": map[string]any{"en": " "}}, "body.closing.en"},
		"words in no language":   {map[string]any{"closing": map[string]any{"xx": "x"}}, "body.closing"},
	} {
		t.Run(name, func(t *testing.T) {
			apitest.RequireError(t, w.CallAs(t, "updatePersona", own, w.Acme.New, c.change), http.StatusBadRequest, "invalid_request", c.param)
			body := apitest.Minimal()
			maps.Copy(body, c.change)
			apitest.RequireError(t, w.CallAs(t, "createPersona", "", w.Acme.New, body), http.StatusBadRequest, "invalid_request", c.param)
		})
	}
	require.Equal(t, 1.0, w.CallAs(t, "getPersona", own, w.Acme.New, nil).Data(t)["version"], "nothing of it was kept")
}

// On 2026-07-08 the engine could be chosen; it is the voice's all the same.
func TestEngineOfOlderContract(t *testing.T) {
	w := apitest.NewWorld(t)
	body := apitest.Minimal()
	body["settings"] = map[string]any{"engine": "premier", "globalVoice": false}
	answer := w.CallAs(t, "createPersona", "", w.OldNamed, body)
	require.Equal(t, http.StatusCreated, answer.Status, "%s", answer.Raw)
	own := answer.Data(t)["id"].(string)
	apitest.RequireError(t, w.CallAs(t, "createPersona", "", w.Acme.New, body), http.StatusBadRequest, "invalid_request", "body.settings.engine")
	first := answer.Data(t)["voiceId"]
	gender := func(voice any) any {
		for _, v := range w.Get(w.Acme.New, "/voices?limit=200").JSON(t)["data"].([]any) {
			if v := v.(map[string]any); v["id"] == voice {
				return v["gender"]
			}
		}
		return nil
	}
	for _, write := range []struct {
		settings map[string]any
		engine   string
	}{
		{map[string]any{"engine": "global"}, "global"}, {map[string]any{"engine": "premier"}, "premier"},
		{map[string]any{"globalVoice": true}, "global"}, {map[string]any{"globalVoice": false, "engine": "premier"}, "premier"},
	} {
		answer := w.CallAs(t, "updatePersona", own, w.OldNamed, map[string]any{"settings": write.settings})
		require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Raw)
		newer, older := w.CallAs(t, "getPersona", own, w.Acme.New, nil).Data(t), w.CallAs(t, "getPersona", own, w.OldNamed, nil).Data(t)
		for _, shown := range []map[string]any{answer.Data(t), newer, older} {
			require.Equal(t, []any{write.engine, write.engine == "global"}, []any{apitest.At(shown, "settings", "engine"), apitest.At(shown, "settings", "globalVoice")})
			require.Equal(t, newer["voiceId"], shown["voiceId"], "both contracts show what holds")
			require.Equal(t, gender(first), gender(shown["voiceId"]))
		}
	}
	apitest.RequireError(t, w.CallAs(t, "updatePersona", own, w.OldNamed, map[string]any{"settings": map[string]any{"engine": "premier", "globalVoice": true}}),
		http.StatusBadRequest, "invalid_request", "body.settings.globalVoice")
	apitest.RequireError(t, w.CallAs(t, "updatePersona", own, w.Acme.New, map[string]any{"settings": map[string]any{"globalVoice": true}}),
		http.StatusBadRequest, "invalid_request", "body.settings.globalVoice")
	moved := w.CallAs(t, "updatePersona", own, w.OldNamed, map[string]any{"voiceId": apitest.GlobalVoice, "settings": map[string]any{"engine": "global", "globalVoice": true}})
	require.Equal(t, http.StatusOK, moved.Status, "the new voice decides: %s", moved.Raw)
	require.Equal(t, "global", apitest.At(moved.Data(t), "settings", "engine"))
}

func TestPersonaVersions(t *testing.T) {
	w := apitest.NewWorld(t)
	made := w.Make(t, w.Acme, "createPersona")
	own := made["id"].(string)
	patch := func(header string, body map[string]any) apitest.Answer {
		o := w.Operation(t, "updatePersona")
		return w.Call(t, o, apitest.Request{Path: apitest.WithID(o, own), Key: w.Acme.New, Body: body, Header: map[string]string{"If-Match": header}})
	}
	for version, header := range []string{`"1"`, `*`, `"7", "3"`} {
		require.Equal(t, fmt.Sprintf(`"%d"`, version+2), patch(header, map[string]any{"role": "Role of " + header}).Header.Get("ETag"))
	}
	for param, answer := range map[string]apitest.Answer{
		"header.If-Match": patch(`"1"`, map[string]any{"role": "x"}), "body.baseVersion": patch("", map[string]any{"role": "x", "baseVersion": 1}),
	} {
		e := apitest.RequireError(t, answer, http.StatusConflict, "version_conflict", param)
		require.Equal(t, map[string]any{"currentVersion": 4.0}, e["details"])
	}
	apitest.RequireError(t, patch("4", map[string]any{"role": "x"}), http.StatusBadRequest, "invalid_request", "header.If-Match")
	restored := w.CallAs(t, "restorePersona", own, w.Acme.New, map[string]any{"version": 1})
	require.Equal(t, `"5"`, restored.Header.Get("ETag"))
	require.Equal(t, made["role"], restored.Data(t)["role"])
	require.Equal(t, "persona.restored", w.Last(t)["action"])
	apitest.RequireError(t, w.CallAs(t, "restorePersona", own, w.Acme.New, map[string]any{"version": 9}), http.StatusBadRequest, "invalid_request", "body.version")

	o := w.Operation(t, "listPersonaVersions")
	versions := w.Call(t, o, apitest.Request{Path: apitest.WithID(o, own), Key: w.Acme.New}).JSON(t)["data"].([]any)
	require.Len(t, versions, 5)
	require.Equal(t, 5.0, apitest.At(versions[0], "version"))
	require.Equal(t, apitest.At(versions[4], "role"), apitest.At(versions[0], "role"))

	copied := w.CallAs(t, "duplicatePersona", own, w.Acme.New, map[string]any{}).Data(t)
	require.Equal(t, made["name"].(string)+" (copy)", copied["name"])
	require.Equal(t, 1.0, copied["version"])
	require.Equal(t, made["goals"], copied["goals"])
}

// Of many who change the same version one succeeds, each time.
func TestConcurrentChanges(t *testing.T) {
	w := apitest.NewWorld(t)
	own := w.Make(t, w.Acme, "createPersona")["id"].(string)
	for round := range 3 {
		var won, lost atomic.Int64
		var group sync.WaitGroup
		for n := range 100 {
			group.Go(func() {
				answer := w.Do(apitest.Request{
					Method: http.MethodPatch, Path: "/personas/" + own, Key: w.Acme.New, Header: map[string]string{"If-Match": fmt.Sprintf(`"%d"`, round+1)},
					Body: map[string]any{"instructions": fmt.Sprint(round, " ", n)},
				})
				switch answer.Status {
				case http.StatusOK:
					won.Add(1)
				case http.StatusConflict:
					lost.Add(1)
				}
			})
		}
		group.Wait()
		require.EqualValues(t, 1, won.Load())
		require.EqualValues(t, 99, lost.Load())
	}
	require.Equal(t, 4.0, w.CallAs(t, "getPersona", own, w.Acme.New, nil).Data(t)["version"])
}

func TestPersonasInUse(t *testing.T) {
	w := apitest.NewWorld(t)
	widget := w.Widget(t, w.Acme)
	own := widget["personaId"].(string)
	require.Equal(t, []any{widget["id"]}, w.CallAs(t, "getPersona", own, w.Acme.New, nil).Data(t)["widgetIds"])
	e := apitest.RequireError(t, w.CallAs(t, "deletePersona", own, w.Acme.New, nil), http.StatusConflict, "conflict", "path.id")
	require.Equal(t, "in_use", apitest.At(e, "details", "reason"))
	require.Equal(t, http.StatusOK, w.CallAs(t, "deleteWidget", widget["id"].(string), w.Acme.New, nil).Status)
	require.Equal(t, true, w.CallAs(t, "deletePersona", own, w.Acme.New, nil).Data(t)["deleted"])
	for _, operation := range []string{"getPersona", "updatePersona", "deletePersona", "duplicatePersona", "restorePersona", "listPersonaVersions"} {
		apitest.RequireError(t, w.CallAs(t, operation, own, w.Acme.New, w.Body(t, w.Operation(t, operation))), http.StatusGone, "gone", "path.id")
	}
	apitest.RequireError(t, w.CallAs(t, "createWidget", "", w.Acme.New, map[string]any{"name": "x", "personaId": own}), http.StatusBadRequest, "invalid_request", "body.personaId")
	require.Equal(t, map[string]any{"personas": 0.0, "duos": 0.0}, w.CallAs(t, "getAvatar", apitest.LibraryFace, w.Acme.New, nil).Data(t)["usedBy"])
	require.NotContains(t, string(w.Get(w.Acme.New, "/personas").Raw), own)
}

func TestPersonasOfKnowledge(t *testing.T) {
	w := apitest.NewWorld(t)
	base := id.NewKnowledgeBase()
	in := func(sql string, args ...any) {
		require.NoError(t, w.Tenants.InTx(context.Background(), w.Acme.ID, func(ctx context.Context, tx *tenant.Tx) error {
			_, err := tx.Exec(ctx, sql, args...)
			return err
		}))
	}
	in(`INSERT INTO knowledge_base (org_id, id, name, documents, ready, failed, bytes, chunks, revision, created_at, updated_at)
		VALUES ($1, $2, 'Pack', 0, 0, 0, 0, 0, 0, $3, $3)`, w.Acme.ID, base, time.Now())
	uses := func() (n int) {
		require.NoError(t, w.Tenants.InTx(context.Background(), w.Acme.ID, func(ctx context.Context, tx *tenant.Tx) error {
			return tx.QueryRow(ctx, `SELECT count(*) FROM knowledge_use WHERE org_id = $1 AND base_id = $2 AND user_kind = 'persona'`, w.Acme.ID, base).Scan(&n)
		}))
		return n
	}
	body := apitest.Minimal()
	body["knowledge"] = map[string]any{"baseIds": []any{base.Bare(), base.String()}}
	made := w.CallAs(t, "createPersona", "", w.Acme.New, body).Data(t)
	require.Equal(t, []any{base.String()}, apitest.At(made, "knowledge", "baseIds"))
	require.Equal(t, 1, uses())
	apitest.RequireError(t, w.CallAs(t, "createPersona", "", w.Globex.New, body), http.StatusBadRequest, "invalid_request", "body.knowledge.baseIds[0]")
	own := made["id"].(string)
	w.CallAs(t, "updatePersona", own, w.Acme.New, map[string]any{"knowledge": map[string]any{"baseIds": []any{}}})
	require.Zero(t, uses())
	w.CallAs(t, "restorePersona", own, w.Acme.New, map[string]any{"version": 1})
	require.Equal(t, 1, uses())
	w.CallAs(t, "deletePersona", own, w.Acme.New, nil)
	require.Zero(t, uses())
}

func TestDuosNeedTheFeature(t *testing.T) {
	w := apitest.NewWorld(t)
	starter := w.NewOrg("Small", "shard-1", "starter")
	require.Equal(t, http.StatusCreated, w.CallAs(t, "createPersona", "", starter.New, apitest.Minimal()).Status)
	e := apitest.RequireError(t, w.CallAs(t, "createDuo", "", starter.New, apitest.DuoBody(1)), http.StatusForbidden, "upgrade_required", "")
	require.Equal(t, map[string]any{"feature": "duos", "plan": "team"}, e["details"])
}

// An own face is prepared before it can be worn.
func TestFacePreparation(t *testing.T) {
	w := apitest.NewWorld(t)
	face := w.Make(t, w.Acme, "createAvatar")["id"].(string)
	unworn := w.CallAs(t, "getAvatarFace", face, w.Acme.New, nil).Data(t)
	require.Equal(t, "unworn", unworn["state"])
	sized := func(key apikey.Secret, size string) apitest.Answer {
		o := w.Operation(t, "getAvatarPreview")
		return w.Call(t, o, apitest.Request{Path: apitest.WithID(o, face) + "?size=" + size, Key: key})
	}
	apitest.RequireError(t, sized(w.Acme.New, "256"), http.StatusNotFound, "not_found", "query.size")

	own := w.CallAs(t, "createPersona", "", w.Acme.New, apitest.Minimal()).Data(t)["id"].(string)
	changed := w.CallAs(t, "updatePersona", own, w.Acme.New, map[string]any{"avatarId": face}).Data(t)
	require.Equal(t, "preparing", changed["status"])
	require.NotNil(t, changed["faceReadyAt"])
	require.Contains(t, string(w.Get(w.Acme.New, "/personas?status=preparing").Raw), own)
	e := apitest.RequireError(t, sized(w.Acme.New, "256"), http.StatusConflict, "face_not_ready", "path.id")
	require.InDelta(t, 60, apitest.At(e, "details", "etaS"), 5)
	require.NotEmpty(t, sized(w.Acme.New, "256").Header.Get("Retry-After"))
	apitest.RequireError(t, w.CallAs(t, "deleteAvatar", face, w.Acme.New, nil), http.StatusConflict, "conflict", "path.id")

	worker := w.Worker()
	worker.Start()
	t.Cleanup(worker.Stop)
	require.Eventually(t, func() bool {
		return w.CallAs(t, "getPersona", own, w.Acme.New, nil).Data(t)["status"] == "ready"
	}, 20*time.Second, 20*time.Millisecond)
	ready := w.CallAs(t, "getAvatarFace", face, w.Acme.New, nil).Data(t)
	require.Equal(t, "ready", ready["state"])
	images := ready["images"].([]any)
	require.Len(t, images, 2, "a picture of 512 pixels is not made larger")
	require.Equal(t, 256.0, apitest.At(images[0], "height"))
	require.Equal(t, "image/png", http.DetectContentType(sized(w.Acme.New, "256").Raw))
	apitest.RequireError(t, w.CallAs(t, "getAvatarFace", face, w.Globex.New, nil), http.StatusNotFound, "not_found", "path.id")
	public := w.CallAs(t, "getAvatarFace", apitest.LibraryFace, "", nil).Data(t)
	require.Equal(t, "ready", public["state"])
	require.Len(t, public["images"], 3)

	require.Equal(t, http.StatusOK, w.CallAs(t, "withdrawAvatarConsent", face, w.Acme.New, nil).Status)
	paused := w.CallAs(t, "getPersona", own, w.Acme.New, nil).Data(t)
	require.Equal(t, []any{"paused", "consent_withdrawn"}, []any{paused["status"], paused["statusReason"]})
	body := apitest.Minimal()
	body["avatarId"] = face
	e = apitest.RequireError(t, w.CallAs(t, "createPersona", "", w.Acme.New, body), http.StatusConflict, "conflict", "body.avatarId")
	require.Equal(t, "consent_withdrawn", apitest.At(e, "details", "reason"))

	require.Equal(t, http.StatusOK, w.CallAs(t, "deletePersona", own, w.Acme.New, nil).Status)
	require.Equal(t, http.StatusOK, w.CallAs(t, "deleteAvatar", face, w.Acme.New, nil).Status, "with what was prepared of it")
}
