package duos_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/pkg/base/id"
)

// host is one of a duo's two in a body.
func host(body map[string]any, i int) map[string]any {
	return body["hosts"].([]any)[i].(map[string]any)
}

func TestDuos(t *testing.T) {
	w := apitest.NewWorld(t)
	made := w.Make(t, w.Acme, "createDuo")
	own, worn := made["id"].(string), made["personaId"].(string)
	require.Equal(t, "draft", made["status"])
	require.Equal(t, []any{"en", "de"}, made["languages"])
	persona := w.CallAs(t, "getPersona", worn, w.Acme.New, nil).Data(t)
	require.Equal(t, []any{"duo", own, apitest.LibraryFace, apitest.StudioVoice}, []any{persona["kind"], persona["duoId"], persona["avatarId"], persona["voiceId"]})

	t.Run("its persona", func(t *testing.T) {
		for field, value := range map[string]any{"avatarId": apitest.LibraryFace, "voiceId": apitest.StudioVoice} {
			e := apitest.RequireError(t, w.CallAs(t, "updatePersona", worn, w.Acme.New, map[string]any{field: value}), http.StatusConflict, "conflict", "")
			require.Equal(t, "duo_studio_only", apitest.At(e, "details", "reason"))
		}
		require.Equal(t, http.StatusOK, w.CallAs(t, "updatePersona", worn, w.Acme.New, map[string]any{"instructions": "Be kind."}).Status)
		apitest.RequireError(t, w.CallAs(t, "duplicatePersona", worn, w.Acme.New, map[string]any{}), http.StatusConflict, "conflict", "")
		e := apitest.RequireError(t, w.CallAs(t, "deletePersona", worn, w.Acme.New, nil), http.StatusConflict, "conflict", "path.id")
		require.Equal(t, map[string]any{"reason": "in_use", "duoId": own}, e["details"])
	})

	require.Equal(t, map[string]any{"ready": true, "problems": []any{}}, w.CallAs(t, "checkDuo", own, w.Acme.New, nil).Data(t))
	e := apitest.RequireError(t, w.CallAs(t, "pauseDuo", own, w.Acme.New, nil), http.StatusConflict, "conflict", "")
	require.Equal(t, "not_live", apitest.At(e, "details", "reason"))
	live := w.CallAs(t, "goLiveDuo", own, w.Acme.New, nil).Data(t)
	require.Equal(t, "live", live["status"])
	require.Equal(t, live, w.CallAs(t, "goLiveDuo", own, w.Acme.New, nil).Data(t))
	require.Equal(t, "live", w.CallAs(t, "updateDuo", own, w.Acme.New, map[string]any{"name": "Others"}).Data(t)["status"])
	require.Equal(t, "paused", w.CallAs(t, "pauseDuo", own, w.Acme.New, nil).Data(t)["status"])
	require.Equal(t, live["liveAt"], w.CallAs(t, "pauseDuo", own, w.Acme.New, nil).Data(t)["liveAt"])
	require.Contains(t, string(w.Get(w.Acme.New, "/duos?status=paused").Raw), own)

	body := apitest.DuoBody(1)
	host(body, 0)["role"], host(body, 1)["role"] = "partner", "lead"
	swapped := w.CallAs(t, "updateDuo", own, w.Acme.New, map[string]any{"hosts": body["hosts"], "interplay": map[string]any{"balance": 0.1}}).Data(t)
	require.Equal(t, "draft", swapped["status"], "other hosts must be checked anew")
	require.Nil(t, swapped["liveAt"])
	require.Equal(t, map[string]any{"style": "debate", "handover": "strict", "balance": 0.1}, swapped["interplay"])
	require.Equal(t, apitest.GlobalVoice, w.CallAs(t, "getPersona", worn, w.Acme.New, nil).Data(t)["voiceId"], "the lead's")

	require.Equal(t, http.StatusOK, w.CallAs(t, "deleteDuo", own, w.Acme.New, nil).Status)
	for _, operation := range []string{"getDuo", "updateDuo", "deleteDuo", "checkDuo", "goLiveDuo", "pauseDuo"} {
		apitest.RequireError(t, w.CallAs(t, operation, own, w.Acme.New, w.Body(t, w.Operation(t, operation))), http.StatusGone, "gone", "path.id")
	}
	apitest.RequireError(t, w.CallAs(t, "getPersona", worn, w.Acme.New, nil), http.StatusGone, "gone", "path.id")
	require.Equal(t, map[string]any{"personas": 0.0, "duos": 0.0}, w.CallAs(t, "getAvatar", apitest.LibraryFace, w.Acme.New, nil).Data(t)["usedBy"])
	require.Equal(t, "duo.deleted", w.Last(t)["action"])
}

func TestBadDuos(t *testing.T) {
	w := apitest.NewWorld(t)
	foreign := w.Make(t, w.Globex, "createAvatar")["id"].(string)
	for name, c := range map[string]struct {
		change func(body map[string]any)
		param  string
	}{
		"one host":          {func(b map[string]any) { b["hosts"] = b["hosts"].([]any)[:1] }, "body.hosts"},
		"a seat twice":      {func(b map[string]any) { host(b, 1)["seat"] = "left" }, "body.hosts[1].seat"},
		"two leads":         {func(b map[string]any) { host(b, 1)["role"] = "lead" }, "body.hosts[1].role"},
		"another's face":    {func(b map[string]any) { host(b, 1)["avatarId"] = foreign }, "body.hosts[1].avatarId"},
		"no face":           {func(b map[string]any) { host(b, 0)["avatarId"] = "x" }, "body.hosts[0].avatarId"},
		"no such voice":     {func(b map[string]any) { host(b, 0)["voiceId"] = id.NewVoice().String() }, "body.hosts[0].voiceId"},
		"none of the ten":   {func(b map[string]any) { b["languages"] = []any{"en", "Thai"} }, "body.languages[1]"},
		"no language":       {func(b map[string]any) { b["languages"] = []any{} }, "body.languages"},
		"a style of others": {func(b map[string]any) { b["interplay"] = map[string]any{"style": "brawl"} }, "body.interplay.style"},
	} {
		t.Run(name, func(t *testing.T) {
			body := apitest.DuoBody(1)
			c.change(body)
			apitest.RequireError(t, w.CallAs(t, "createDuo", "", w.Acme.New, body), http.StatusBadRequest, "invalid_request", c.param)
		})
	}
	require.Empty(t, w.Get(w.Acme.New, "/duos").JSON(t)["data"])
	require.Empty(t, w.Get(w.Acme.New, "/personas").JSON(t)["data"], "nor is there a persona of one")
}

// A duo of an own face goes live when the face is ready, and its consent stands.
func TestDuoGoesLiveWithAnOwnFace(t *testing.T) {
	w := apitest.NewWorld(t)
	body := apitest.DuoBody(1)
	face := w.Make(t, w.Acme, "createAvatar")["id"].(string)
	host(body, 1)["avatarId"] = face
	made := w.CallAs(t, "createDuo", "", w.Acme.New, body).Data(t)
	own := made["id"].(string)
	require.Equal(t, "checking", made["status"])
	require.Equal(t, "preparing", w.CallAs(t, "getPersona", made["personaId"].(string), w.Acme.New, nil).Data(t)["status"])
	refused := func() []any {
		e := apitest.RequireError(t, w.CallAs(t, "goLiveDuo", own, w.Acme.New, nil), http.StatusUnprocessableEntity, "go_live_refused", "")
		return apitest.At(e, "details", "problems").([]any)
	}
	require.Equal(t, "hosts[1].avatarId", apitest.At(refused()[0], "field"))
	e := apitest.RequireError(t, w.CallAs(t, "deleteAvatar", face, w.Acme.New, nil), http.StatusConflict, "conflict", "path.id")
	require.Equal(t, "in_use", apitest.At(e, "details", "reason"))

	worker := w.Worker()
	worker.Start()
	t.Cleanup(worker.Stop)
	require.Eventually(t, func() bool { return w.CallAs(t, "getDuo", own, w.Acme.New, nil).Data(t)["status"] == "draft" }, 20*time.Second, 20*time.Millisecond)
	require.Equal(t, http.StatusOK, w.CallAs(t, "goLiveDuo", own, w.Acme.New, nil).Status)
	require.Equal(t, http.StatusOK, w.CallAs(t, "pauseDuo", own, w.Acme.New, nil).Status)
	require.Equal(t, http.StatusOK, w.CallAs(t, "withdrawAvatarConsent", face, w.Acme.New, nil).Status)
	require.Contains(t, apitest.At(refused()[0], "message"), "withdrawn")
	require.Equal(t, http.StatusOK, w.CallAs(t, "deleteDuo", own, w.Acme.New, nil).Status)
	require.Equal(t, http.StatusOK, w.CallAs(t, "deleteAvatar", face, w.Acme.New, nil).Status)
}
