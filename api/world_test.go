package api_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"k8s.io/utils/clock"

	"visavis.dev/api/apitest"
	"visavis.dev/api/route"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/speech/espeak"
	"visavis.dev/pkg/speech/espeak/espeaktest"
	"visavis.dev/pkg/store/apikey"
)

// settingPath names a setting by its key, which is the same for every organization.
const settingPath = "/settings/{id}"

// kinds make one thing of the kind a path names, and answer its id. An
// operation on another kind of path needs another maker here.
var kinds = map[string]func(testing.TB, *world, *apitest.Org) string{
	"/avatars/{id}": func(t testing.TB, w *world, org *apitest.Org) string {
		return w.make(t, org, "createAvatar")["id"].(string)
	},
	// One of the library.
	"/avatars/{id}/layers": func(testing.TB, *world, *apitest.Org) string {
		return id.NamedAvatar("amara").String()
	},
	"/case-links/{id}": func(t testing.TB, w *world, org *apitest.Org) string {
		return w.onPortal(t, org, "createCaseLink")
	},
	"/connections/{id}": func(t testing.TB, w *world, org *apitest.Org) string {
		made := w.make(t, org, "createConnection")["id"].(string)
		test := w.operation(t, "testConnection") // which is a call that it made
		require.Equal(t, http.StatusOK, w.call(t, test, apitest.Request{Path: withID(test, made), Key: org.New}).Status)
		return made
	},
	// It takes the events of one kind of connection alone.
	"/connections/{id}/webhook": func(t testing.TB, w *world, org *apitest.Org) string {
		return w.mediaServer(t, org, mediaKey).String()
	},
	"/consents/{id}": func(t testing.TB, w *world, org *apitest.Org) string {
		return w.make(t, org, "createAvatar")["consent"].(map[string]any)["id"].(string)
	},
	"/escalations/{id}": func(t testing.TB, w *world, org *apitest.Org) string {
		return w.onPortal(t, org, "createEscalation")
	},
	"/events/{id}": func(t testing.TB, w *world, org *apitest.Org) string {
		return w.deliver(t, org)["eventId"].(string)
	},
	"/jobs/{id}": func(t testing.TB, w *world, org *apitest.Org) string {
		o := w.operation(t, "recoverWebhook")
		answer := w.call(t, o, apitest.Request{
			Path: withID(o, w.make(t, org, "createWebhook")["id"].(string)), Key: org.New, Body: w.body(t, o),
		})
		require.Equal(t, http.StatusAccepted, answer.Status, "%s", answer.Raw)
		return answer.Data(t)["id"].(string)
	},
	// One that is over, and that a file came of.
	"/jobs/{id}/download": func(t testing.TB, w *world, org *apitest.Org) string {
		return w.imported(t, org)
	},
	"/duos/{id}": func(t testing.TB, w *world, org *apitest.Org) string {
		made := w.make(t, org, "createDuo")["id"].(string)
		o := w.operation(t, "goLiveDuo")
		answer := w.call(t, o, apitest.Request{Path: withID(o, made), Key: org.New})
		require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Raw)
		return made
	},
	"/keys/{id}": func(t testing.TB, w *world, org *apitest.Org) string {
		return w.make(t, org, "createKey")["id"].(string)
	},
	"/memberships/{id}": func(t testing.TB, w *world, org *apitest.Org) string {
		return w.member(t, org)["membershipId"].(string)
	},
	"/people/{id}": func(t testing.TB, w *world, org *apitest.Org) string {
		return w.member(t, org)["id"].(string)
	},
	"/subjects/{id}": func(t testing.TB, w *world, org *apitest.Org) string {
		return w.subject(t, org)
	},
	"/persona-tests/{id}": func(t testing.TB, w *world, org *apitest.Org) string {
		return w.addTest(t, org, w.make(t, org, "createPersona")["id"].(string), personaTestBody(w.n))["id"].(string)
	},
	// Of several versions, and with several memories and tests, to list.
	"/personas/{id}": func(t testing.TB, w *world, org *apitest.Org) string {
		made := w.make(t, org, "createPersona")["id"].(string)
		o := w.operation(t, "updatePersona")
		for range 2 {
			w.n++
			answer := w.call(t, o, apitest.Request{Path: withID(o, made), Key: org.New, Body: map[string]any{"name": fmt.Sprint("Mira ", w.n)}})
			require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Raw)
		}
		for range 3 {
			w.remember(t, org, made, id.NewPerson())
			w.addTest(t, org, made, personaTestBody(w.n))
		}
		return made
	},
	// Of several published versions, subjects and links to cases, to list, and changed
	// since. It can be published, and its doors are open.
	"/portals/{id}": func(t testing.TB, w *world, org *apitest.Org) string {
		return w.entrance(t, org)
	},
	"/portals/templates/{id}/thumbnail": func(testing.TB, *world, *apitest.Org) string { return "blank" },
	"/knowledge/bases/{id}": func(t testing.TB, w *world, org *apitest.Org) string {
		b := w.make(t, org, "createKnowledgeBase")["id"].(string)
		for range 3 {
			w.addDocument(t, org, b)
		}
		return b
	},
	"/knowledge/documents/{id}": func(t testing.TB, w *world, org *apitest.Org) string {
		d := w.addDocument(t, org, w.make(t, org, "createKnowledgeBase")["id"].(string))
		w.readDocuments(t)
		return d
	},
	"/knowledge/gaps/{id}": func(t testing.TB, w *world, org *apitest.Org) string {
		return w.recordGap(t, org)
	},
	"/sessions/{id}": func(t testing.TB, w *world, org *apitest.Org) string {
		return w.converse(t, org).String()
	},
	// One that is ready.
	"/setup/plans/{id}": func(t testing.TB, w *world, org *apitest.Org) string {
		return w.readyPlan(t, org)
	},
	settingPath: func(testing.TB, *world, *apitest.Org) string { return "memory.enabled" },
	"/units/{id}": func(t testing.TB, w *world, org *apitest.Org) string {
		return w.unit(t, org)
	},
	"/voices/{id}": func(t testing.TB, w *world, org *apitest.Org) string {
		return w.cloneVoice(t, org)
	},
	// Ones that can be heard.
	"/voices/{id}/preview": func(t testing.TB, w *world, org *apitest.Org) string {
		return w.trainedVoice(t, org)
	},
	"/voices/{id}/speak": func(t testing.TB, w *world, org *apitest.Org) string {
		return w.trainedVoice(t, org)
	},
	"/webhooks/{id}": func(t testing.TB, w *world, org *apitest.Org) string {
		return w.make(t, org, "createWebhook")["id"].(string)
	},
	"/webhooks/deliveries/{id}": func(t testing.TB, w *world, org *apitest.Org) string {
		return w.deliver(t, org)["id"].(string)
	},
	"/widgets/{id}": func(t testing.TB, w *world, org *apitest.Org) string {
		return w.widget(t, org)["id"].(string)
	},
	"/widgets/{id}/picture": func(t testing.TB, w *world, org *apitest.Org) string {
		return w.pictured(t, org)
	},
}

// bodies make good bodies, by operation, with every property there is; each n
// makes another. An operation with a body needs one here.
var bodies = map[string]func(n int) map[string]any{
	"createAvatar": func(n int) map[string]any {
		return map[string]any{
			"name": fmt.Sprint("Kim ", n), "picture": portrait(), "gender": "female", "ageBand": "30s", "heritage": "mixed",
			"removeBackground": false, "landmarks": landmarks(), "metadata": map[string]any{"source": "tests"},
			"consent": map[string]any{
				"statement": "own_likeness", "policyVersion": "2026-07-01", "personName": "Kim", "personEmail": "kim@example.com",
				"signedAt": "2026-07-02T09:00:00Z", "evidence": "data:application/pdf;base64,JVBERi0xLjQK",
			},
		}
	},
	"updateAvatar": func(n int) map[string]any {
		return map[string]any{"name": fmt.Sprint("Lee ", n), "landmarks": landmarks()}
	},
	"createConnection": func(n int) map[string]any {
		body := connectionBody(n)
		body["kind"], body["provider"] = "model", "openai_compatible"
		return body
	},
	"updateConnection": func(n int) map[string]any {
		body := connectionBody(n)
		body["enabled"] = true
		return body
	},
	"rotateConnectionSecret": func(n int) map[string]any {
		return map[string]any{"secret": fmt.Sprint("sk-tests-of-every-operation-", n), "graceS": n + 1}
	},
	"createPortal":        portalBody,
	"publishPortal":       func(n int) map[string]any { return map[string]any{"changeNote": fmt.Sprint("change ", n)} },
	"putPortalPersona":    speakerBody,
	"restorePortal":       func(int) map[string]any { return map[string]any{"version": 2} },
	"updatePortal":        portalChange,
	"createCaseLink":      caseLinkBody,
	"createCustomerToken": customerTokenBody,
	"createEmbedToken":    embedTokenBody,
	"createEscalation":    escalationBody,
	"setCustomersDoor":    doorBody,
	"setEmbedDoor":        doorBody,
	"setJoinCodeDoor":     doorBody,
	"setMembersLinkDoor":  doorBody,
	"setSSODoor":          ssoBody,
	"setStaffDoor":        doorBody,
	"setVisitorsDoor":     doorBody,

	"createDuo": duoBody,
	"updateDuo": duoBody,

	"recordGuardianConsent": guardianBody,

	"createStaffToken": func(n int) map[string]any {
		return map[string]any{"staffName": fmt.Sprint("Kim ", n), "mode": "speak"}
	},
	"endIdleSessions": func(n int) map[string]any {
		return map[string]any{"olderThanS": 3600 + n, "personaId": id.Persona{1}.String(), "externalId": "nobody's", "dryRun": true}
	},
	"endSession": func(n int) map[string]any { return map[string]any{"reason": fmt.Sprint("test ", n), "message": ""} },
	"rateSession": func(n int) map[string]any {
		return map[string]any{"score": n%5 + 1, "scale": 5, "comment": "good"}
	},
	"respondSession": func(n int) map[string]any { return map[string]any{"text": fmt.Sprint("When is it open? ", n)} },
	"saySession": func(n int) map[string]any {
		return map[string]any{
			"text": fmt.Sprint("Hello ", n), "interrupt": true, "interruptible": false, "language": "English", "record": true,
		}
	},
	"updateSession": func(n int) map[string]any {
		return map[string]any{
			"context": fmt.Sprint("context ", n), "instructions": "Be brief.", "language": "en", "voiceId": id.NamedVoice("nora").String(),
			"listening": true, "mute": false, "interrupt": true, "goal": "name", "variables": map[string]any{"name": "Kim"},
			"maxDurationS": 600, "metadata": map[string]any{"n": fmt.Sprint(n)},
		}
	},
	"createKey": keyBody,
	"updateKey": keyChange,
	"rotateKey": func(n int) map[string]any { return map[string]any{"graceS": n + 1} },

	"createPersona": personaBody,
	"updatePersona": personaBody,
	"askPersona": func(n int) map[string]any {
		return map[string]any{"question": fmt.Sprint("When is it open? ", n), "language": "English", "explain": n%2 == 0}
	},
	"duplicatePersona": func(n int) map[string]any { return map[string]any{"name": fmt.Sprint("Mira ", n)} },
	"restorePersona":   func(int) map[string]any { return map[string]any{"version": 1} },
	"simulatePersona":  simulationBody,
	"runPersonaTests":  func(n int) map[string]any { return map[string]any{"version": n%3 + 1} },

	"createPersonaTest": personaTestBody,
	"updatePersonaTest": personaTestBody,

	"updateWidget": func(n int) map[string]any {
		body := widgetBody(n, "")
		delete(body, "personaId")
		return body
	},
	"createWidgetSession": visitBody,
	"createKnowledgeBase": knowledgeBody,
	"updateKnowledgeBase": knowledgeBody,
	"searchKnowledgeBase": func(n int) map[string]any {
		return map[string]any{
			"query": fmt.Sprint("museum ", n), "limit": 3, "language": "en", "documentLanguage": "English", "tags": []any{"visit"}, "minScore": 0.1,
			"explain": n%2 == 0,
		}
	},
	"addKnowledgeDocument": func(n int) map[string]any {
		return map[string]any{
			"kind": "url", "url": fmt.Sprint("https://127.0.0.1:9/page/", n), "text": nil, "title": fmt.Sprint("Page ", n),
			"tags": []any{"visit"}, "refresh": "daily", "crawl": map[string]any{"depth": 1, "maxPages": 10},
		}
	},
	"updateKnowledgeDocument": func(n int) map[string]any {
		return map[string]any{"title": fmt.Sprint("Page ", n), "tags": []any{"visit", "all"}, "refresh": "weekly"}
	},
	"updateKnowledgeGap": func(n int) map[string]any {
		return map[string]any{"state": []string{"open", "answered", "dismissed"}[n%3], "suggestedDocumentId": nil}
	},
	"createSubject": subjectBody,
	"updateSubject": func(n int) map[string]any {
		body := subjectBody(n)
		delete(body, "kind")
		delete(body, "content")
		body["order"] = n % 3
		return body
	},
	"updateSubjectContent": func(n int) map[string]any {
		body := contentBody(n)
		body["changeNote"] = fmt.Sprint("change ", n)
		return body
	},
	"restoreSubject": func(int) map[string]any { return map[string]any{"version": 1} },
	"publishSubject": func(n int) map[string]any { return map[string]any{"changeNote": fmt.Sprint("change ", n)} },
	"translateSubjectQuestions": func(n int) map[string]any {
		return map[string]any{"languages": []any{"fr", "Italian"}, "questionKeys": []any{"loop"}, "overwrite": n%2 == 0}
	},
	"createVoice": func(n int) map[string]any {
		return map[string]any{
			"name": fmt.Sprint("Kim ", n), "description": "tests", "gender": "female", "languages": []any{"en", "German"},
			"samples": []any{recording, recording}, "consent": map[string]any{
				"statement": "own_likeness", "policyVersion": "2026-07-01", "personName": "Kim", "personEmail": "kim@example.com",
				"signedAt": "2026-07-02T09:00:00Z", "evidence": "data:application/pdf;base64,JVBERi0xLjQK",
			},
		}
	},
	"updateVoice": func(n int) map[string]any {
		return map[string]any{
			"name": fmt.Sprint("Lee ", n), "description": "changed",
			"pronunciations": []any{map[string]any{"text": "SQL", "say": "sequel", "language": "English"}},
		}
	},

	"speakVoice": func(n int) map[string]any {
		return map[string]any{"text": fmt.Sprint("Hello, number ", n, "."), "language": "English", "speed": 1.1}
	},

	"updateSetting": func(n int) map[string]any {
		return map[string]any{"value": n%2 == 0, "scopeKind": "organization", "scopeId": ""}
	},

	"createSetupPlan": planBody,
	"updateSetupPlan": planChange,
	"applySetupPlan":  castBody,
	"fillPortal":      fillBody,

	"createWebhook": webhookBody,
	"updateWebhook": func(n int) map[string]any {
		body := webhookBody(n)
		body["active"], body["apiVersion"] = true, "2026-07-08"
		return body
	},
	"recoverWebhook": func(n int) map[string]any {
		return map[string]any{
			"from": "2026-07-08T00:00:00Z", "to": fmt.Sprintf("2026-08-01T00:00:%02dZ", n%60), "states": []any{"failed"}, "missed": false,
		}
	},
	"rotateWebhookSecret": func(n int) map[string]any { return map[string]any{"graceS": n + 1} },
}

// world is the API with what it takes to call any operation.
type world struct {
	*apitest.API
	documents map[contract.Version]*document
	// OldNamed is Acme's key of the older contract with every scope by name:
	// full access of that age never reaches some of them.
	OldNamed apikey.Secret

	made map[string]string
	n    int
	// tokens are the sessions' by their bare ids.
	tokens map[string]session.Token
	// publicKeys are the widgets' by their bare ids.
	publicKeys map[string]string
	// mediaOf is whose the media servers are, by their bare ids.
	mediaOf map[string]id.Org
}

// newWorld runs the API without limits in the way, with something of every
// kind in both organizations.
func newWorld(t testing.TB, options ...apitest.Option) *world {
	t.Helper()
	pool := espeaktest.Open(t, espeak.Options{Processes: 1})
	speaking := func(o *apitest.Options) { o.Speaker = pool }
	a := apitest.New(t, append([]apitest.Option{apitest.Unlimited, speaking}, options...)...)
	w := &world{API: a, documents: map[contract.Version]*document{}, made: map[string]string{}, publicKeys: map[string]string{}, tokens: map[string]session.Token{}, mediaOf: map[string]id.Org{}}
	for _, v := range contract.Versions() {
		w.documents[v] = readDocument(t, v)
	}
	w.OldNamed = a.Key(a.Acme, scope.Grant{Contract: contract.V20260708, Scopes: scope.All()})
	for _, org := range []*apitest.Org{a.Acme, a.Globex} {
		w.unlimit(t, org)
		w.connect(t, org)
		w.use(t, org)
	}
	return w
}

// apart is the same API with another organization for Acme, which has nothing yet.
func (w *world) apart(t testing.TB) *world {
	t.Helper()
	a, other := *w.API, *w
	a.Acme = w.NewOrg("Acme "+uuid.NewString(), "shard-1", "business")
	other.API, other.made = &a, map[string]string{}
	other.OldNamed = a.Key(a.Acme, scope.Grant{Contract: contract.V20260708, Scopes: scope.All()})
	other.unlimit(t, a.Acme)
	other.connect(t, a.Acme)
	return &other
}

// unlimit lets an organization make as much as the tests like.
func (w *world) unlimit(t testing.TB, org *apitest.Org) {
	t.Helper()
	o := plan.Overrides{Limits: plan.Limits{
		plan.ClonedVoices: nil, plan.CustomAvatars: nil, plan.DocumentsPerBase: nil, plan.MaxConcurrentSessions: nil, plan.KnowledgeBases: nil,
		plan.Members: nil, plan.Portals: nil, plan.Webhooks: nil,
	}}
	require.NoError(t, w.Directory.SetOverrides(context.Background(), org.ID, o))
}

// operation finds an operation.
func (w *world) operation(t testing.TB, id string) *route.Operation {
	t.Helper()
	for _, o := range w.Service.Operations() {
		if o.ID == id {
			return o
		}
	}
	require.Fail(t, "no such operation", id)
	return nil
}

// each runs a subtest for every operation.
func (w *world) each(t *testing.T, f func(t *testing.T, o *route.Operation)) {
	t.Helper()
	require.NotEmpty(t, w.Service.Operations())
	for _, o := range w.Service.Operations() {
		t.Run(o.ID, func(t *testing.T) { f(t, o) })
	}
}

// make makes something by an operation that creates, as the organization's
// newest key, and answers its data.
func (w *world) make(t testing.TB, org *apitest.Org, operation string) map[string]any {
	t.Helper()
	o := w.operation(t, operation)
	answer := w.call(t, o, apitest.Request{Path: o.Path, Key: org.New, Body: w.body(t, o)})
	require.Equal(t, http.StatusCreated, answer.Status, "%s", answer.Raw)
	return answer.Data(t)
}

// runJobs makes every step of the kinds that is due.
func (w *world) runJobs(t testing.TB, works map[job.Kind]job.Work) {
	t.Helper()
	runner := &job.Runner{Tenants: w.Tenants, Works: works, Clock: clock.RealClock{}, Log: slog.New(slog.DiscardHandler)}
	for _, shard := range []string{"shard-1", "shard-2"} {
		for made := 1; made > 0; {
			var err error
			made, err = runner.Advance(context.Background(), shard)
			require.NoError(t, err)
		}
	}
}

// stock makes something of every kind.
func (w *world) stock(t testing.TB, org *apitest.Org) {
	t.Helper()
	for _, make := range kinds {
		make(t, w, org)
	}
}

// body is a good body, another each time; nil where the operation takes none.
func (w *world) body(t testing.TB, o *route.Operation) any {
	t.Helper()
	if !w.documents[contract.Latest].hasBody(o) {
		return nil
	}
	w.n++
	switch o.ID {
	case "createWidget":
		return widgetBody(w.n, w.shown(t, w.Acme))
	case "createSessionToken":
		return w.sessionBody(t, w.Acme)
	}
	if body := w.peopleBody(t, o, w.Acme); body != nil {
		return body
	}
	require.Contains(t, bodies, o.ID, "give the operation a good body")
	return bodies[o.ID](w.n)
}

// kind is the path up to its id; empty where there is none.
func kind(t testing.TB, o *route.Operation) string {
	t.Helper()
	if !strings.Contains(o.Path, "{") {
		return ""
	}
	if _, own := kinds[o.Path]; own {
		return o.Path
	}
	before, after, _ := strings.Cut(o.Path, "}")
	require.NotContains(t, after, "{", "these tests know paths with one id")
	require.Contains(t, kinds, before+"}", "give this kind of path a maker")
	return before + "}"
}

// noun is the path of the thing whose id a path has.
func noun(path string) string {
	before, _, _ := strings.Cut(path, "}")
	return before
}

// path is the operation's path with the id of something that is not used up;
// it is the same each time.
func (w *world) path(t testing.TB, o *route.Operation, org *apitest.Org) string {
	t.Helper()
	k := kind(t, o)
	if k == "" {
		return o.Path
	}
	if _, ok := w.made[k+org.ID.String()]; !ok {
		w.made[k+org.ID.String()] = kinds[k](t, w, org)
	}
	return withID(o, w.made[k+org.ID.String()])
}

// freshPath is the operation's path with the id of something new.
func (w *world) freshPath(t testing.TB, o *route.Operation, org *apitest.Org) string {
	t.Helper()
	if k := kind(t, o); k != "" {
		return withID(o, kinds[k](t, w, org))
	}
	return o.Path
}

func withID(o *route.Operation, id string) string { return strings.Replace(o.Path, "{id}", id, 1) }

// call makes a request of an operation and checks what holds for every answer.
func (w *world) call(t testing.TB, o *route.Operation, r apitest.Request) apitest.Answer {
	t.Helper()
	r.Method = o.Method
	r = w.signed(t, o, w.rate(o, w.visit(r)))
	answer := w.Do(r)
	w.check(t, o, answer)
	return answer
}

// check checks what holds for every answer of an operation.
func (w *world) check(t testing.TB, o *route.Operation, answer apitest.Answer) {
	t.Helper()
	checkHeaders(t, answer)
	checkEnvelope(t, answer, w.documents[contract.Latest].isList(o))
	w.documents[contract.Version(answer.Header.Get(contract.Header))].check(t, o, answer)
}
