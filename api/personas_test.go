package api_test

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

// minimal is the least that a persona is made of.
func minimal() map[string]any {
	return map[string]any{"name": "Mira", "avatarId": libraryFace, "voiceId": studioVoice}
}

// at reads a value deep in an answer.
func at(v any, path ...string) any {
	for _, name := range path {
		v = v.(map[string]any)[name]
	}
	return v
}

func TestPersonaDefaults(t *testing.T) {
	w := newWorld(t)
	answer := w.do(t, "createPersona", "", w.Acme.New, minimal())
	require.Equal(t, http.StatusCreated, answer.Status, "%s", answer.Raw)
	require.Equal(t, `"1"`, answer.Header.Get("ETag"))
	made := answer.Data(t)
	require.Equal(t, "ready", made["status"], "a library face is always ready")
	require.Nil(t, made["faceReadyAt"])
	require.Equal(t, "en", at(made, "settings", "language"))
	require.Equal(t, "premier", at(made, "settings", "engine"))
	require.Equal(t, "Hello! How can I help you?", at(made, "greeting", "text", "en"))
	require.Contains(t, at(made, "disclosure", "text", "en"), "artificial intelligence")
	require.Equal(t, "strict", at(made, "knowledge", "mode"))
	read := w.do(t, "getPersona", made["id"].(string), w.Acme.New, nil)
	require.Equal(t, made, read.Data(t))
	require.Equal(t, `"1"`, read.Header.Get("ETag"))
	require.Equal(t, "persona.created", w.last(t)["action"])
	require.Equal(t, map[string]any{"personas": 1.0, "duos": 0.0}, w.do(t, "getAvatar", libraryFace, w.Acme.New, nil).Data(t)["usedBy"])
}

func TestPersonasAreMerged(t *testing.T) {
	w := newWorld(t)
	made := w.make(t, w.Acme, "createPersona")
	change := map[string]any{
		"role": nil, "conversation": map[string]any{"endpointMs": 900, "patience": nil}, "goals": []any{map[string]any{"key": "only", "prompt": "Why?"}},
		"closing": map[string]any{"de": nil, "French": "Au revoir !"}, "settings": map[string]any{"accent": nil, "language": "deutsch"},
	}
	changed := w.do(t, "updatePersona", made["id"].(string), w.Acme.New, change)
	require.Equal(t, `"2"`, changed.Header.Get("ETag"), "%s", changed.Raw)
	now := changed.Data(t)
	require.Nil(t, now["role"])
	require.Equal(t, 900.0, at(now, "conversation", "endpointMs"))
	require.Equal(t, "high", at(now, "conversation", "patience"), "what cannot be null stays")
	require.Equal(t, at(made, "conversation", "maxTurnS"), at(now, "conversation", "maxTurnS"))
	require.Len(t, now["goals"], 1)
	require.Equal(t, map[string]any{"fr": "Au revoir !"}, now["closing"])
	require.Equal(t, "de", at(now, "settings", "language"))
	require.Contains(t, at(now, "greeting", "text"), "de", "it greets in its own language")
	require.Equal(t, at(made, "greeting", "text", "en"), at(now, "greeting", "text", "en"))
	require.Equal(t, "persona.updated", w.last(t)["action"])

	entry := w.last(t)
	again := w.do(t, "updatePersona", made["id"].(string), w.Acme.New, change)
	require.Equal(t, `"2"`, again.Header.Get("ETag"), "a change of nothing makes no version")
	require.Equal(t, now, again.Data(t))
	require.Equal(t, entry, w.last(t), "and is no news")
}

func TestBadPersonas(t *testing.T) {
	w := newWorld(t)
	foreign := w.make(t, w.Globex, "createAvatar")["id"].(string)
	deleted := w.make(t, w.Acme, "createAvatar")["id"].(string)
	require.Equal(t, http.StatusOK, w.do(t, "deleteAvatar", deleted, w.Acme.New, nil).Status)
	own := w.make(t, w.Acme, "createPersona")["id"].(string)
	for name, c := range map[string]struct {
		change map[string]any
		param  string
	}{
		"no such face":           {map[string]any{"avatarId": id.NewAvatar().String()}, "body.avatarId"},
		"another's face":         {map[string]any{"avatarId": foreign}, "body.avatarId"},
		"a deleted face":         {map[string]any{"avatarId": deleted}, "body.avatarId"},
		"a voice as a face":      {map[string]any{"avatarId": studioVoice}, "body.avatarId"},
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
			requireError(t, w.do(t, "updatePersona", own, w.Acme.New, c.change), http.StatusBadRequest, "invalid_request", c.param)
			body := minimal()
			maps.Copy(body, c.change)
			requireError(t, w.do(t, "createPersona", "", w.Acme.New, body), http.StatusBadRequest, "invalid_request", c.param)
		})
	}
	require.Equal(t, 1.0, w.do(t, "getPersona", own, w.Acme.New, nil).Data(t)["version"], "nothing of it was kept")
}

// On 2026-07-08 the engine could be chosen; it is the voice's all the same.
func TestEngineOfOlderContract(t *testing.T) {
	w := newWorld(t)
	body := minimal()
	body["settings"] = map[string]any{"engine": "premier", "globalVoice": false}
	answer := w.do(t, "createPersona", "", w.OldNamed, body)
	require.Equal(t, http.StatusCreated, answer.Status, "%s", answer.Raw)
	own := answer.Data(t)["id"].(string)
	requireError(t, w.do(t, "createPersona", "", w.Acme.New, body), http.StatusBadRequest, "invalid_request", "body.settings.engine")
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
		answer := w.do(t, "updatePersona", own, w.OldNamed, map[string]any{"settings": write.settings})
		require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Raw)
		newer, older := w.do(t, "getPersona", own, w.Acme.New, nil).Data(t), w.do(t, "getPersona", own, w.OldNamed, nil).Data(t)
		for _, shown := range []map[string]any{answer.Data(t), newer, older} {
			require.Equal(t, []any{write.engine, write.engine == "global"}, []any{at(shown, "settings", "engine"), at(shown, "settings", "globalVoice")})
			require.Equal(t, newer["voiceId"], shown["voiceId"], "both contracts show what holds")
			require.Equal(t, gender(first), gender(shown["voiceId"]))
		}
	}
	requireError(t, w.do(t, "updatePersona", own, w.OldNamed, map[string]any{"settings": map[string]any{"engine": "premier", "globalVoice": true}}),
		http.StatusBadRequest, "invalid_request", "body.settings.globalVoice")
	requireError(t, w.do(t, "updatePersona", own, w.Acme.New, map[string]any{"settings": map[string]any{"globalVoice": true}}),
		http.StatusBadRequest, "invalid_request", "body.settings.globalVoice")
	moved := w.do(t, "updatePersona", own, w.OldNamed, map[string]any{"voiceId": globalVoice, "settings": map[string]any{"engine": "global", "globalVoice": true}})
	require.Equal(t, http.StatusOK, moved.Status, "the new voice decides: %s", moved.Raw)
	require.Equal(t, "global", at(moved.Data(t), "settings", "engine"))
}

func TestPersonaVersions(t *testing.T) {
	w := newWorld(t)
	made := w.make(t, w.Acme, "createPersona")
	own := made["id"].(string)
	patch := func(header string, body map[string]any) apitest.Answer {
		o := w.operation(t, "updatePersona")
		return w.call(t, o, apitest.Request{Path: withID(o, own), Key: w.Acme.New, Body: body, Header: map[string]string{"If-Match": header}})
	}
	for version, header := range []string{`"1"`, `*`, `"7", "3"`} {
		require.Equal(t, fmt.Sprintf(`"%d"`, version+2), patch(header, map[string]any{"role": "Role of " + header}).Header.Get("ETag"))
	}
	for param, answer := range map[string]apitest.Answer{
		"header.If-Match": patch(`"1"`, map[string]any{"role": "x"}), "body.baseVersion": patch("", map[string]any{"role": "x", "baseVersion": 1}),
	} {
		e := requireError(t, answer, http.StatusConflict, "version_conflict", param)
		require.Equal(t, map[string]any{"currentVersion": 4.0}, e["details"])
	}
	requireError(t, patch("4", map[string]any{"role": "x"}), http.StatusBadRequest, "invalid_request", "header.If-Match")
	restored := w.do(t, "restorePersona", own, w.Acme.New, map[string]any{"version": 1})
	require.Equal(t, `"5"`, restored.Header.Get("ETag"))
	require.Equal(t, made["role"], restored.Data(t)["role"])
	require.Equal(t, "persona.restored", w.last(t)["action"])
	requireError(t, w.do(t, "restorePersona", own, w.Acme.New, map[string]any{"version": 9}), http.StatusBadRequest, "invalid_request", "body.version")

	o := w.operation(t, "listPersonaVersions")
	versions := w.call(t, o, apitest.Request{Path: withID(o, own), Key: w.Acme.New}).JSON(t)["data"].([]any)
	require.Len(t, versions, 5)
	require.Equal(t, 5.0, at(versions[0], "version"))
	require.Equal(t, at(versions[4], "role"), at(versions[0], "role"))

	copied := w.do(t, "duplicatePersona", own, w.Acme.New, map[string]any{}).Data(t)
	require.Equal(t, made["name"].(string)+" (copy)", copied["name"])
	require.Equal(t, 1.0, copied["version"])
	require.Equal(t, made["goals"], copied["goals"])
}

// Of many who change the same version one succeeds, each time.
func TestConcurrentChanges(t *testing.T) {
	w := newWorld(t)
	own := w.make(t, w.Acme, "createPersona")["id"].(string)
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
	require.Equal(t, 4.0, w.do(t, "getPersona", own, w.Acme.New, nil).Data(t)["version"])
}

func TestPersonasInUse(t *testing.T) {
	w := newWorld(t)
	widget := w.widget(t, w.Acme)
	own := widget["personaId"].(string)
	require.Equal(t, []any{widget["id"]}, w.do(t, "getPersona", own, w.Acme.New, nil).Data(t)["widgetIds"])
	e := requireError(t, w.do(t, "deletePersona", own, w.Acme.New, nil), http.StatusConflict, "conflict", "path.id")
	require.Equal(t, "in_use", at(e, "details", "reason"))
	require.Equal(t, http.StatusOK, w.do(t, "deleteWidget", widget["id"].(string), w.Acme.New, nil).Status)
	require.Equal(t, true, w.do(t, "deletePersona", own, w.Acme.New, nil).Data(t)["deleted"])
	for _, operation := range []string{"getPersona", "updatePersona", "deletePersona", "duplicatePersona", "restorePersona", "listPersonaVersions"} {
		requireError(t, w.do(t, operation, own, w.Acme.New, w.body(t, w.operation(t, operation))), http.StatusGone, "gone", "path.id")
	}
	requireError(t, w.do(t, "createWidget", "", w.Acme.New, map[string]any{"name": "x", "personaId": own}), http.StatusBadRequest, "invalid_request", "body.personaId")
	require.Equal(t, map[string]any{"personas": 0.0, "duos": 0.0}, w.do(t, "getAvatar", libraryFace, w.Acme.New, nil).Data(t)["usedBy"])
	require.NotContains(t, string(w.Get(w.Acme.New, "/personas").Raw), own)
}

func TestPersonasOfKnowledge(t *testing.T) {
	w := newWorld(t)
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
	body := minimal()
	body["knowledge"] = map[string]any{"baseIds": []any{base.Bare(), base.String()}}
	made := w.do(t, "createPersona", "", w.Acme.New, body).Data(t)
	require.Equal(t, []any{base.String()}, at(made, "knowledge", "baseIds"))
	require.Equal(t, 1, uses())
	requireError(t, w.do(t, "createPersona", "", w.Globex.New, body), http.StatusBadRequest, "invalid_request", "body.knowledge.baseIds[0]")
	own := made["id"].(string)
	w.do(t, "updatePersona", own, w.Acme.New, map[string]any{"knowledge": map[string]any{"baseIds": []any{}}})
	require.Zero(t, uses())
	w.do(t, "restorePersona", own, w.Acme.New, map[string]any{"version": 1})
	require.Equal(t, 1, uses())
	w.do(t, "deletePersona", own, w.Acme.New, nil)
	require.Zero(t, uses())
}

func TestDuosNeedTheFeature(t *testing.T) {
	w := newWorld(t)
	starter := w.NewOrg("Small", "shard-1", "starter")
	require.Equal(t, http.StatusCreated, w.do(t, "createPersona", "", starter.New, minimal()).Status)
	e := requireError(t, w.do(t, "createDuo", "", starter.New, duoBody(1)), http.StatusForbidden, "upgrade_required", "")
	require.Equal(t, map[string]any{"feature": "duos", "plan": "team"}, e["details"])
}

// An own face is prepared before it can be worn.
func TestFacePreparation(t *testing.T) {
	w := newWorld(t)
	face := w.make(t, w.Acme, "createAvatar")["id"].(string)
	unworn := w.do(t, "getAvatarFace", face, w.Acme.New, nil).Data(t)
	require.Equal(t, "unworn", unworn["state"])
	sized := func(key apikey.Secret, size string) apitest.Answer {
		o := w.operation(t, "getAvatarPreview")
		return w.call(t, o, apitest.Request{Path: withID(o, face) + "?size=" + size, Key: key})
	}
	requireError(t, sized(w.Acme.New, "256"), http.StatusNotFound, "not_found", "query.size")

	own := w.do(t, "createPersona", "", w.Acme.New, minimal()).Data(t)["id"].(string)
	changed := w.do(t, "updatePersona", own, w.Acme.New, map[string]any{"avatarId": face}).Data(t)
	require.Equal(t, "preparing", changed["status"])
	require.NotNil(t, changed["faceReadyAt"])
	require.Contains(t, string(w.Get(w.Acme.New, "/personas?status=preparing").Raw), own)
	e := requireError(t, sized(w.Acme.New, "256"), http.StatusConflict, "face_not_ready", "path.id")
	require.InDelta(t, 60, at(e, "details", "etaS"), 5)
	require.NotEmpty(t, sized(w.Acme.New, "256").Header.Get("Retry-After"))
	requireError(t, w.do(t, "deleteAvatar", face, w.Acme.New, nil), http.StatusConflict, "conflict", "path.id")

	worker := w.Worker()
	worker.Start()
	t.Cleanup(worker.Stop)
	require.Eventually(t, func() bool {
		return w.do(t, "getPersona", own, w.Acme.New, nil).Data(t)["status"] == "ready"
	}, 20*time.Second, 20*time.Millisecond)
	ready := w.do(t, "getAvatarFace", face, w.Acme.New, nil).Data(t)
	require.Equal(t, "ready", ready["state"])
	images := ready["images"].([]any)
	require.Len(t, images, 2, "a picture of 512 pixels is not made larger")
	require.Equal(t, 256.0, at(images[0], "height"))
	require.Equal(t, "image/png", http.DetectContentType(sized(w.Acme.New, "256").Raw))
	requireError(t, w.do(t, "getAvatarFace", face, w.Globex.New, nil), http.StatusNotFound, "not_found", "path.id")
	public := w.do(t, "getAvatarFace", libraryFace, "", nil).Data(t)
	require.Equal(t, "ready", public["state"])
	require.Len(t, public["images"], 3)

	require.Equal(t, http.StatusOK, w.do(t, "withdrawAvatarConsent", face, w.Acme.New, nil).Status)
	paused := w.do(t, "getPersona", own, w.Acme.New, nil).Data(t)
	require.Equal(t, []any{"paused", "consent_withdrawn"}, []any{paused["status"], paused["statusReason"]})
	body := minimal()
	body["avatarId"] = face
	e = requireError(t, w.do(t, "createPersona", "", w.Acme.New, body), http.StatusConflict, "conflict", "body.avatarId")
	require.Equal(t, "consent_withdrawn", at(e, "details", "reason"))

	require.Equal(t, http.StatusOK, w.do(t, "deletePersona", own, w.Acme.New, nil).Status)
	require.Equal(t, http.StatusOK, w.do(t, "deleteAvatar", face, w.Acme.New, nil).Status, "with what was prepared of it")
}
