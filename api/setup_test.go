package api_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/pkg/base/id"
)

func TestAPlanBecomesAPortal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.accepted(t, "createSetupPlan", "", planBody(1))
	require.Equal(t, "planning", made["state"])
	require.Nil(t, made["proposal"])
	requireError(t, w.do(t, "applySetupPlan", made["id"].(string), w.Acme.New, nil), http.StatusConflict, "conflict", "")
	w.setUp(t)

	ready := w.ok(t, w.Acme, "getSetupPlan", made["id"].(string), http.StatusOK, nil)
	require.Equal(t, "ready", ready["state"])
	require.Equal(t, false, ready["aiGenerated"], "no model is connected")
	require.Equal(t, 2.0, ready["version"])
	require.Equal(t, "The museum", at(ready, "proposal", "name"))
	require.Equal(t, []any{"en", "de"}, at(ready, "proposal", "languages"))

	changed := w.ok(t, w.Acme, "updateSetupPlan", made["id"].(string), http.StatusOK, planChange(1))
	require.Equal(t, 3.0, changed["version"])
	require.Equal(t, "Hello (auf Deutsch)", at(changed, "proposal", "persona", "greeting", "de"))
	require.Equal(t, at(ready, "proposal", "warnings"), at(changed, "proposal", "warnings"))

	started := w.accepted(t, "applySetupPlan", made["id"].(string), castBody(0))
	require.Equal(t, "portal_fill", started["kind"])
	requireError(t, w.do(t, "applySetupPlan", made["id"].(string), w.Acme.New, nil), http.StatusConflict, "conflict", "")
	requireError(t, w.do(t, "deleteSetupPlan", made["id"].(string), w.Acme.New, nil), http.StatusConflict, "conflict", "")
	w.setUp(t)

	ended := w.ok(t, w.Acme, "getJob", started["id"].(string), http.StatusOK, nil)
	require.Equal(t, "succeeded", ended["state"], "%v", ended["error"])
	require.Equal(t, map[string]any{"portals": 1.0, "subjects": 1.0, "documents": 1.0}, at(ended, "result", "counts"))
	applied := w.ok(t, w.Acme, "getSetupPlan", made["id"].(string), http.StatusOK, nil)
	require.Equal(t, "applied", applied["state"])
	require.Equal(t, ended["portalId"], applied["portalId"])
	built := w.ok(t, w.Acme, "getPortal", applied["portalId"].(string), http.StatusOK, nil)
	require.Equal(t, "draft", built["state"])
	require.Equal(t, "Museum 1", built["name"])
	require.Len(t, built["subjectIds"], 1)
	require.Len(t, built["knowledgeBaseIds"], 1)
	speaker := w.ok(t, w.Acme, "getPersona", built["personaId"].(string), http.StatusOK, nil)
	require.Equal(t, "The museum's guide", speaker["role"])
	requireError(t, w.do(t, "updateSetupPlan", made["id"].(string), w.Acme.New, planChange(2)), http.StatusConflict, "conflict", "")

	require.Equal(t, true, w.ok(t, w.Acme, "deleteSetupPlan", made["id"].(string), http.StatusOK, nil)["deleted"])
	require.Equal(t, http.StatusOK, w.do(t, "getPortal", applied["portalId"].(string), w.Acme.New, nil).Status, "the portal stays")
}

func TestBadPlans(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for param, body := range map[string]map[string]any{
		"body.brief":          {},
		"body.url":            {"url": "http://10.0.0.1/"},
		"body.documentIds[0]": {"documentIds": []any{"x"}},
		"body.templateKey":    {"brief": "A shop", "templateKey": "nonsense"},
		"body.languages[1]":   {"brief": "A shop", "languages": []any{"en", "klingonese"}},
		"body.audience":       {"brief": "A shop", "audience": "cats"},
	} {
		requireError(t, w.do(t, "createSetupPlan", "", w.Acme.New, body), http.StatusBadRequest, "invalid_request", param)
	}
	p := w.readyPlan(t, w.Acme)
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
		requireError(t, w.do(t, "updateSetupPlan", p, w.Acme.New, map[string]any{"proposal": change}), http.StatusBadRequest, "invalid_request", param)
	}
	for param, body := range map[string]map[string]any{
		"body.personaId": {"personaId": id.NewPersona().String()},
		"body.avatarId":  {"avatarId": id.NewAvatar().String()},
		"body.voiceId":   {"voiceId": id.NewVoice().String()},
	} {
		requireError(t, w.do(t, "applySetupPlan", p, w.Acme.New, body), http.StatusBadRequest, "invalid_request", param)
	}
}

func TestAPlanIsChangedAsItWasSeen(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.readyPlan(t, w.Acme)
	o := w.operation(t, "updateSetupPlan")
	change := func(tag string, body any) apitest.Answer {
		return w.call(t, o, apitest.Request{Path: withID(o, p), Key: w.Acme.New, Body: body, Header: map[string]string{"If-Match": tag}})
	}
	require.Equal(t, http.StatusOK, change(`"2"`, planChange(1)).Status)
	requireError(t, change(`"2"`, planChange(2)), http.StatusConflict, "version_conflict", "header.If-Match")
	o = w.operation(t, "applySetupPlan")
	requireError(t, change(`"2"`, nil), http.StatusConflict, "version_conflict", "header.If-Match")
	require.Equal(t, http.StatusAccepted, change(`"3"`, nil).Status)
}

// A plan whose job was cancelled, or cannot be made true, waits to be changed.
func TestAPlanThatIsNotApplied(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	free := w.NewOrg("Small", "shard-1", "free")
	p := w.readyPlan(t, free)
	first := w.ok(t, free, "applySetupPlan", p, http.StatusAccepted, nil)
	require.Equal(t, "cancelled", w.ok(t, free, "cancelJob", first["id"].(string), http.StatusOK, nil)["state"])
	w.setUp(t)
	require.Equal(t, "ready", w.ok(t, free, "getSetupPlan", p, http.StatusOK, nil)["state"])
	require.Empty(t, w.listed(t, free, "listPortals"), "what was cancelled changed nothing")

	w.ok(t, free, "applySetupPlan", p, http.StatusAccepted, nil)
	w.setUp(t)
	require.Len(t, w.listed(t, free, "listPortals"), 1)
	personas := len(w.listed(t, free, "listPersonas"))
	another := w.readyPlan(t, free)
	failed := w.ok(t, free, "applySetupPlan", another, http.StatusAccepted, nil)
	w.setUp(t)
	full := w.ok(t, free, "getJob", failed["id"].(string), http.StatusOK, nil)
	require.Equal(t, "portals_full", at(full, "error", "code"))
	require.NotEmpty(t, at(full, "error", "message"))
	require.Equal(t, false, full["retryable"])
	now := w.ok(t, free, "getSetupPlan", another, http.StatusOK, nil)
	require.Equal(t, "ready", now["state"])
	require.Equal(t, "portals_full", at(now, "error", "code"))
	require.Len(t, w.listed(t, free, "listPersonas"), personas, "nothing is left of it")

	planning := w.ok(t, free, "createSetupPlan", "", http.StatusAccepted, planBody(3))
	w.ok(t, free, "cancelJob", planning["jobId"].(string), http.StatusOK, nil)
	require.Equal(t, "failed", w.ok(t, free, "getSetupPlan", planning["id"].(string), http.StatusOK, nil)["state"])
}

func TestAPortalIsFilled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.make(t, w.Acme, "createPortal")["id"].(string)
	before := w.ok(t, w.Acme, "getPortal", p, http.StatusOK, nil)
	requireError(t, w.do(t, "fillPortal", p, w.Acme.New, map[string]any{"sections": []any{"knowledge"}}), http.StatusBadRequest, "invalid_request", "body.source")
	e := requireError(t, w.do(t, "fillPortal", p, w.Acme.New, map[string]any{"sections": []any{"texts", "questions"}}), http.StatusConflict, "conflict", "")
	require.Equal(t, "no_model", at(e, "details", "reason"))

	first := w.accepted(t, "fillPortal", p, fillBody(1))
	require.Equal(t, p, first["portalId"])
	w.setUp(t)
	ended := w.ok(t, w.Acme, "getJob", first["id"].(string), http.StatusOK, nil)
	require.Equal(t, "succeeded", ended["state"], "%v", ended["error"])
	require.Equal(t, map[string]any{"subjects": 1.0, "documents": 1.0, "texts": 0.0, "questions": 0.0}, at(ended, "result", "counts"))
	after := w.ok(t, w.Acme, "getPortal", p, http.StatusOK, nil)
	require.Len(t, after["subjectIds"], len(before["subjectIds"].([]any))+1)
	require.Equal(t, before["publishedVersion"], after["publishedVersion"], "visitors see none of it")

	again := w.accepted(t, "fillPortal", p, fillBody(1))
	w.setUp(t)
	ended = w.ok(t, w.Acme, "getJob", again["id"].(string), http.StatusOK, nil)
	require.Equal(t, map[string]any{"subjects": 0.0, "documents": 0.0, "texts": 0.0, "questions": 0.0}, at(ended, "result", "counts"))
	require.Equal(t, after["draftVersion"], w.ok(t, w.Acme, "getPortal", p, http.StatusOK, nil)["draftVersion"])

	w.ok(t, w.Acme, "archivePortal", p, http.StatusOK, nil)
	requireError(t, w.do(t, "fillPortal", p, w.Acme.New, fillBody(1)), http.StatusConflict, "conflict", "path.id")
}

// What was read before is planned from, and answered from where it is.
func TestAPlanOfDocuments(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	pack := w.make(t, w.Acme, "createKnowledgeBase")["id"].(string)
	document := w.addDocument(t, w.Acme, pack)
	w.readDocuments(t)
	made := w.accepted(t, "createSetupPlan", "", map[string]any{"documentIds": []any{document}})["id"].(string)
	w.setUp(t)
	ready := w.ok(t, w.Acme, "getSetupPlan", made, http.StatusOK, nil)
	require.Equal(t, "ready", ready["state"], "%v", ready["error"])
	require.Equal(t, document, at(ready, "proposal", "knowledge").([]any)[0].(map[string]any)["documentId"])
	require.Len(t, at(ready, "proposal", "subjects"), 1)
	w.accepted(t, "applySetupPlan", made, nil)
	w.setUp(t)
	applied := w.ok(t, w.Acme, "getSetupPlan", made, http.StatusOK, nil)
	built := w.ok(t, w.Acme, "getPortal", applied["portalId"].(string), http.StatusOK, nil)
	require.Equal(t, []any{pack}, built["knowledgeBaseIds"])

	p := w.make(t, w.Acme, "createPortal")["id"].(string)
	w.accepted(t, "fillPortal", p, map[string]any{"sections": []any{"knowledge"}, "source": map[string]any{"documentIds": []any{document}}})
	w.setUp(t)
	require.Equal(t, []any{pack}, w.ok(t, w.Acme, "getPortal", p, http.StatusOK, nil)["knowledgeBaseIds"])

	unread := w.accepted(t, "createSetupPlan", "", map[string]any{"documentIds": []any{w.addDocument(t, w.Acme, pack)}})
	w.setUp(t)
	failed := w.ok(t, w.Acme, "getSetupPlan", unread["id"].(string), http.StatusOK, nil)
	require.Equal(t, "failed", failed["state"])
	require.Equal(t, "empty", at(failed, "error", "code"))
}

func TestTheChecklistSaysWhatThereIs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	org := w.NewOrg("New", "shard-1", "business")
	done := func() map[string]any {
		list := w.ok(t, org, "getSetupChecklist", "", http.StatusOK, nil)
		found := map[string]any{}
		for _, item := range list["items"].([]any) {
			found[at(item, "key").(string)] = at(item, "done")
		}
		require.Equal(t, float64(len(found)), list["total"])
		return found
	}
	nothing := map[string]any{"persona": false, "knowledge": false, "portal": false, "publish": false, "door": false, "webhook": false, "model": false}
	require.Equal(t, nothing, done())
	w.ok(t, org, "createPersona", "", http.StatusCreated, personaBody(1))
	w.ok(t, org, "createWebhook", "", http.StatusCreated, webhookBody(1))
	some := done()
	require.Equal(t, true, some["persona"])
	require.Equal(t, true, some["webhook"])
	require.Equal(t, false, some["portal"])
	p := w.make(t, org, "createPortal")["id"].(string)
	w.ok(t, org, "updatePortal", p, http.StatusOK, portalChange(1))
	w.ok(t, org, "publishPortal", p, http.StatusOK, map[string]any{})
	w.ok(t, org, "setVisitorsDoor", p, http.StatusOK, map[string]any{"open": true})
	some = done()
	for _, key := range []string{"portal", "publish", "door"} {
		require.Equal(t, true, some[key], key)
	}
	w.ok(t, org, "unpublishPortal", p, http.StatusOK, map[string]any{})
	require.Equal(t, false, done()["publish"])
	require.Equal(t, false, done()["door"])
}
