package setup_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/pkg/base/id"
)

func TestAPlanBecomesAPortal(t *testing.T) {
	t.Parallel()
	w := apitest.NewWorld(t)
	made := accepted(t, w, "createSetupPlan", "", apitest.PlanBody(1))
	require.Equal(t, "planning", made["state"])
	require.Nil(t, made["proposal"])
	apitest.RequireError(t, w.CallAs(t, "applySetupPlan", made["id"].(string), w.Acme.New, nil), http.StatusConflict, "conflict", "")
	w.SetUp(t)

	ready := w.Require(t, w.Acme, "getSetupPlan", made["id"].(string), http.StatusOK, nil)
	require.Equal(t, "ready", ready["state"])
	require.Equal(t, false, ready["aiGenerated"], "no model is connected")
	require.Equal(t, 2.0, ready["version"])
	require.Equal(t, "The museum", apitest.At(ready, "proposal", "name"))
	require.Equal(t, []any{"en", "de"}, apitest.At(ready, "proposal", "languages"))

	changed := w.Require(t, w.Acme, "updateSetupPlan", made["id"].(string), http.StatusOK, apitest.PlanChange(1))
	require.Equal(t, 3.0, changed["version"])
	require.Equal(t, "Hello (auf Deutsch)", apitest.At(changed, "proposal", "persona", "greeting", "de"))
	require.Equal(t, apitest.At(ready, "proposal", "warnings"), apitest.At(changed, "proposal", "warnings"))

	started := accepted(t, w, "applySetupPlan", made["id"].(string), apitest.CastBody(0))
	require.Equal(t, "portal_fill", started["kind"])
	apitest.RequireError(t, w.CallAs(t, "applySetupPlan", made["id"].(string), w.Acme.New, nil), http.StatusConflict, "conflict", "")
	apitest.RequireError(t, w.CallAs(t, "deleteSetupPlan", made["id"].(string), w.Acme.New, nil), http.StatusConflict, "conflict", "")
	w.SetUp(t)

	ended := w.Require(t, w.Acme, "getJob", started["id"].(string), http.StatusOK, nil)
	require.Equal(t, "succeeded", ended["state"], "%v", ended["error"])
	require.Equal(t, map[string]any{"portals": 1.0, "subjects": 1.0, "documents": 1.0}, apitest.At(ended, "result", "counts"))
	applied := w.Require(t, w.Acme, "getSetupPlan", made["id"].(string), http.StatusOK, nil)
	require.Equal(t, "applied", applied["state"])
	require.Equal(t, ended["portalId"], applied["portalId"])
	built := w.Require(t, w.Acme, "getPortal", applied["portalId"].(string), http.StatusOK, nil)
	require.Equal(t, "draft", built["state"])
	require.Equal(t, "Museum 1", built["name"])
	require.Len(t, built["subjectIds"], 1)
	require.Len(t, built["knowledgeBaseIds"], 1)
	speaker := w.Require(t, w.Acme, "getPersona", built["personaId"].(string), http.StatusOK, nil)
	require.Equal(t, "The museum's guide", speaker["role"])
	apitest.RequireError(t, w.CallAs(t, "updateSetupPlan", made["id"].(string), w.Acme.New, apitest.PlanChange(2)), http.StatusConflict, "conflict", "")

	require.Equal(t, true, w.Require(t, w.Acme, "deleteSetupPlan", made["id"].(string), http.StatusOK, nil)["deleted"])
	require.Equal(t, http.StatusOK, w.CallAs(t, "getPortal", applied["portalId"].(string), w.Acme.New, nil).Status, "the portal stays")
}

func TestBadPlans(t *testing.T) {
	t.Parallel()
	w := apitest.NewWorld(t)
	for param, body := range map[string]map[string]any{
		"body.brief":          {},
		"body.url":            {"url": "http://10.0.0.1/"},
		"body.documentIds[0]": {"documentIds": []any{"x"}},
		"body.templateKey":    {"brief": "A shop", "templateKey": "nonsense"},
		"body.languages[1]":   {"brief": "A shop", "languages": []any{"en", "klingonese"}},
		"body.audience":       {"brief": "A shop", "audience": "cats"},
	} {
		apitest.RequireError(t, w.CallAs(t, "createSetupPlan", "", w.Acme.New, body), http.StatusBadRequest, "invalid_request", param)
	}
	p := w.ReadyPlan(t, w.Acme)
	for param, change := range map[string]map[string]any{
		"body.proposal.name":                                {"name": " "},
		"body.proposal.templateKey":                         {"templateKey": "nonsense"},
		"body.proposal.languages":                           {"languages": []any{}},
		"body.proposal.knowledge[0]":                        {"knowledge": []any{map[string]any{"title": "Nothing"}}},
		"body.proposal.knowledge[0].url":                    {"knowledge": []any{map[string]any{"url": "https://10.0.0.1/"}}},
		"body.proposal.persona.greeting":                    {"persona": map[string]any{"greeting": map[string]any{"klingonese": "Qapla"}}},
		"body.proposal.subjects[0].title":                   {"subjects": []any{map[string]any{"title": " "}}},
		"body.proposal.subjects[0].content.sections[1].key": {"subjects": []any{map[string]any{"title": "Knots", "content": map[string]any{"sections": []any{map[string]any{"key": "a"}, map[string]any{"key": "a"}}}}}},
	} {
		apitest.RequireError(t, w.CallAs(t, "updateSetupPlan", p, w.Acme.New, map[string]any{"proposal": change}), http.StatusBadRequest, "invalid_request", param)
	}
	for param, body := range map[string]map[string]any{
		"body.personaId": {"personaId": id.NewPersona().String()},
		"body.avatarId":  {"avatarId": id.NewAvatar().String()},
		"body.voiceId":   {"voiceId": id.NewVoice().String()},
	} {
		apitest.RequireError(t, w.CallAs(t, "applySetupPlan", p, w.Acme.New, body), http.StatusBadRequest, "invalid_request", param)
	}
}

func TestAPlanIsChangedAsItWasSeen(t *testing.T) {
	t.Parallel()
	w := apitest.NewWorld(t)
	p := w.ReadyPlan(t, w.Acme)
	o := w.Operation(t, "updateSetupPlan")
	change := func(tag string, body any) apitest.Answer {
		return w.Call(t, o, apitest.Request{Path: apitest.WithID(o, p), Key: w.Acme.New, Body: body, Header: map[string]string{"If-Match": tag}})
	}
	require.Equal(t, http.StatusOK, change(`"2"`, apitest.PlanChange(1)).Status)
	apitest.RequireError(t, change(`"2"`, apitest.PlanChange(2)), http.StatusConflict, "version_conflict", "header.If-Match")
	o = w.Operation(t, "applySetupPlan")
	apitest.RequireError(t, change(`"2"`, nil), http.StatusConflict, "version_conflict", "header.If-Match")
	require.Equal(t, http.StatusAccepted, change(`"3"`, nil).Status)
}

// A plan whose job was cancelled, or cannot be made true, waits to be changed.
func TestAPlanThatIsNotApplied(t *testing.T) {
	t.Parallel()
	w := apitest.NewWorld(t)
	free := w.NewOrg("Small", "shard-1", "free")
	p := w.ReadyPlan(t, free)
	first := w.Require(t, free, "applySetupPlan", p, http.StatusAccepted, nil)
	require.Equal(t, "cancelled", w.Require(t, free, "cancelJob", first["id"].(string), http.StatusOK, nil)["state"])
	w.SetUp(t)
	require.Equal(t, "ready", w.Require(t, free, "getSetupPlan", p, http.StatusOK, nil)["state"])
	require.Empty(t, listed(t, w, free, "listPortals"), "what was cancelled changed nothing")

	w.Require(t, free, "applySetupPlan", p, http.StatusAccepted, nil)
	w.SetUp(t)
	require.Len(t, listed(t, w, free, "listPortals"), 1)
	personas := len(listed(t, w, free, "listPersonas"))
	another := w.ReadyPlan(t, free)
	failed := w.Require(t, free, "applySetupPlan", another, http.StatusAccepted, nil)
	w.SetUp(t)
	full := w.Require(t, free, "getJob", failed["id"].(string), http.StatusOK, nil)
	require.Equal(t, "portals_full", apitest.At(full, "error", "code"))
	require.NotEmpty(t, apitest.At(full, "error", "message"))
	require.Equal(t, false, full["retryable"])
	now := w.Require(t, free, "getSetupPlan", another, http.StatusOK, nil)
	require.Equal(t, "ready", now["state"])
	require.Equal(t, "portals_full", apitest.At(now, "error", "code"))
	require.Len(t, listed(t, w, free, "listPersonas"), personas, "nothing is left of it")

	planning := w.Require(t, free, "createSetupPlan", "", http.StatusAccepted, apitest.PlanBody(3))
	w.Require(t, free, "cancelJob", planning["jobId"].(string), http.StatusOK, nil)
	require.Equal(t, "failed", w.Require(t, free, "getSetupPlan", planning["id"].(string), http.StatusOK, nil)["state"])
}

func TestAPortalIsFilled(t *testing.T) {
	t.Parallel()
	w := apitest.NewWorld(t)
	p := w.Make(t, w.Acme, "createPortal")["id"].(string)
	before := w.Require(t, w.Acme, "getPortal", p, http.StatusOK, nil)
	apitest.RequireError(t, w.CallAs(t, "fillPortal", p, w.Acme.New, map[string]any{"sections": []any{"knowledge"}}), http.StatusBadRequest, "invalid_request", "body.source")
	e := apitest.RequireError(t, w.CallAs(t, "fillPortal", p, w.Acme.New, map[string]any{"sections": []any{"texts", "questions"}}), http.StatusConflict, "conflict", "")
	require.Equal(t, "no_model", apitest.At(e, "details", "reason"))

	first := accepted(t, w, "fillPortal", p, apitest.FillBody(1))
	require.Equal(t, p, first["portalId"])
	w.SetUp(t)
	ended := w.Require(t, w.Acme, "getJob", first["id"].(string), http.StatusOK, nil)
	require.Equal(t, "succeeded", ended["state"], "%v", ended["error"])
	require.Equal(t, map[string]any{"subjects": 1.0, "documents": 1.0, "texts": 0.0, "questions": 0.0}, apitest.At(ended, "result", "counts"))
	after := w.Require(t, w.Acme, "getPortal", p, http.StatusOK, nil)
	require.Len(t, after["subjectIds"], len(before["subjectIds"].([]any))+1)
	require.Equal(t, before["publishedVersion"], after["publishedVersion"], "visitors see none of it")

	again := accepted(t, w, "fillPortal", p, apitest.FillBody(1))
	w.SetUp(t)
	ended = w.Require(t, w.Acme, "getJob", again["id"].(string), http.StatusOK, nil)
	require.Equal(t, map[string]any{"subjects": 0.0, "documents": 0.0, "texts": 0.0, "questions": 0.0}, apitest.At(ended, "result", "counts"))
	require.Equal(t, after["draftVersion"], w.Require(t, w.Acme, "getPortal", p, http.StatusOK, nil)["draftVersion"])

	w.Require(t, w.Acme, "archivePortal", p, http.StatusOK, nil)
	apitest.RequireError(t, w.CallAs(t, "fillPortal", p, w.Acme.New, apitest.FillBody(1)), http.StatusConflict, "conflict", "path.id")
}

// What was read before is planned from, and answered from where it is.
func TestAPlanOfDocuments(t *testing.T) {
	t.Parallel()
	w := apitest.NewWorld(t)
	pack := w.Make(t, w.Acme, "createKnowledgeBase")["id"].(string)
	document := w.AddDocument(t, w.Acme, pack)
	w.ReadDocuments(t)
	made := accepted(t, w, "createSetupPlan", "", map[string]any{"documentIds": []any{document}})["id"].(string)
	w.SetUp(t)
	ready := w.Require(t, w.Acme, "getSetupPlan", made, http.StatusOK, nil)
	require.Equal(t, "ready", ready["state"], "%v", ready["error"])
	require.Equal(t, document, apitest.At(ready, "proposal", "knowledge").([]any)[0].(map[string]any)["documentId"])
	require.Len(t, apitest.At(ready, "proposal", "subjects"), 1)
	accepted(t, w, "applySetupPlan", made, nil)
	w.SetUp(t)
	applied := w.Require(t, w.Acme, "getSetupPlan", made, http.StatusOK, nil)
	built := w.Require(t, w.Acme, "getPortal", applied["portalId"].(string), http.StatusOK, nil)
	require.Equal(t, []any{pack}, built["knowledgeBaseIds"])

	p := w.Make(t, w.Acme, "createPortal")["id"].(string)
	accepted(t, w, "fillPortal", p, map[string]any{"sections": []any{"knowledge"}, "source": map[string]any{"documentIds": []any{document}}})
	w.SetUp(t)
	require.Equal(t, []any{pack}, w.Require(t, w.Acme, "getPortal", p, http.StatusOK, nil)["knowledgeBaseIds"])

	unread := accepted(t, w, "createSetupPlan", "", map[string]any{"documentIds": []any{w.AddDocument(t, w.Acme, pack)}})
	w.SetUp(t)
	failed := w.Require(t, w.Acme, "getSetupPlan", unread["id"].(string), http.StatusOK, nil)
	require.Equal(t, "failed", failed["state"])
	require.Equal(t, "empty", apitest.At(failed, "error", "code"))
}

func TestTheChecklistSaysWhatThereIs(t *testing.T) {
	t.Parallel()
	w := apitest.NewWorld(t)
	org := w.NewOrg("New", "shard-1", "business")
	done := func() map[string]any {
		list := w.Require(t, org, "getSetupChecklist", "", http.StatusOK, nil)
		found := map[string]any{}
		for _, item := range list["items"].([]any) {
			found[apitest.At(item, "key").(string)] = apitest.At(item, "done")
		}
		require.Equal(t, float64(len(found)), list["total"])
		return found
	}
	nothing := map[string]any{"persona": false, "knowledge": false, "portal": false, "publish": false, "door": false, "webhook": false, "model": false}
	require.Equal(t, nothing, done())
	w.Require(t, org, "createPersona", "", http.StatusCreated, apitest.PersonaBody(1))
	w.Require(t, org, "createWebhook", "", http.StatusCreated, apitest.WebhookBody(1))
	some := done()
	require.Equal(t, true, some["persona"])
	require.Equal(t, true, some["webhook"])
	require.Equal(t, false, some["portal"])
	p := w.Make(t, org, "createPortal")["id"].(string)
	w.Require(t, org, "updatePortal", p, http.StatusOK, apitest.PortalChange(1))
	w.Require(t, org, "publishPortal", p, http.StatusOK, map[string]any{})
	w.Require(t, org, "setVisitorsDoor", p, http.StatusOK, map[string]any{"open": true})
	some = done()
	for _, key := range []string{"portal", "publish", "door"} {
		require.Equal(t, true, some[key], key)
	}
	w.Require(t, org, "unpublishPortal", p, http.StatusOK, map[string]any{})
	require.Equal(t, false, done()["publish"])
	require.Equal(t, false, done()["door"])
}
