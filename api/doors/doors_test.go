package doors_test

import (
	"context"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/portals/portal/portaltest"
	"visavis.dev/pkg/sessions/caselink"
	"visavis.dev/pkg/sessions/escalation"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/apikey"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/visits/admission/admissiontest"
)

func TestDoors(t *testing.T) {
	w := apitest.NewWorld(t)
	for name, test := range map[string]func(*testing.T, *apitest.World){
		"doors":           testDoors,
		"embed tokens":    testEmbedTokens,
		"customer tokens": testCustomerTokens,
		"escalations":     testEscalations,
		"case links":      testCaseLinks,
		"mails":           testMails,
		"sso":             testSSO,
	} {
		t.Run(name, func(t *testing.T) {
			own := w.Apart(t)
			own.Use(t, own.Acme)
			test(t, own)
		})
	}
}

func testDoors(t *testing.T, w *apitest.World) {
	p := w.OpenPortal(t, w.Acme)
	own := p.ID.String()
	doors := func() map[string]map[string]any {
		all := map[string]map[string]any{}
		for _, d := range w.CallAs(t, "listDoors", own, w.Acme.New, nil).JSON(t)["data"].([]any) {
			all[d.(map[string]any)["key"].(string)] = d.(map[string]any)
		}
		return all
	}
	before := doors()
	require.Len(t, before, 8)
	require.Equal(t, true, before["visitors"]["open"])
	require.Regexp(t, `/p/`+p.Slug+`$`, before["visitors"]["url"])
	for key, feature := range map[string]any{"candidates": "hiring", "embed": nil} {
		require.Equal(t, []any{false, feature, nil}, []any{before[key]["open"], before[key]["planFeature"], before[key]["url"]}, key)
	}
	opened := w.CallAs(t, "setJoinCodeDoor", own, w.Acme.New, map[string]any{"open": true, "requires": []any{"name"}, "message": "Hello"})
	require.Equal(t, http.StatusOK, opened.Status, "%s", opened.Raw)
	require.Equal(t, opened.Data(t), doors()["join_code"])
	require.Regexp(t, `^\w{4}-\w{4}$`, opened.Data(t)["code"])
	told := apitest.At(w.Told(t, "portal.updated")[0].(map[string]any), "data").(map[string]any)
	require.Equal(t, []any{own, []any{"doors"}, "published"}, []any{told["portalId"], told["changedFields"], told["state"]})
	require.Equal(t, "portal.door_changed", w.Last(t)["action"])
	now, err := portal.Get(t.Context(), w.Tenants, w.Acme.ID, p.ID)
	require.NoError(t, err)
	require.Equal(t, p.PageStamp+1, now.PageStamp)
	closed := w.CallAs(t, "setVisitorsDoor", own, w.Acme.New, map[string]any{"open": false}).Data(t)
	require.Equal(t, []any{false, []any{}, nil}, []any{closed["open"], closed["requires"], closed["message"]})

	apitest.RequireError(t, w.CallAs(t, "setEmbedDoor", own, w.Acme.New, map[string]any{"open": true, "requires": []any{"sso"}}), http.StatusBadRequest, "invalid_request", "body.requires[0]")
	archived := w.OpenPortal(t, w.Acme, func(p *portal.Portal) { p.State = portal.Archived })
	apitest.RequireError(t, w.CallAs(t, "setEmbedDoor", archived.ID.String(), w.Acme.New, map[string]any{"open": true}), http.StatusGone, "gone", "path.id")
}

// opens takes a url apart: the page, and the token behind the #.
func opens(t *testing.T, text any, p portal.Portal, kind string) string {
	t.Helper()
	u, err := url.Parse(text.(string))
	require.NoError(t, err)
	require.Empty(t, u.RawQuery, "no log has the token")
	require.True(t, strings.HasSuffix(u.Path, "/p/"+p.Slug+"/enter"), u.Path)
	token, ok := strings.CutPrefix(u.Fragment, kind+"=")
	require.True(t, ok, u.Fragment)
	return token
}

func testEmbedTokens(t *testing.T, w *apitest.World) {
	own, err := id.ParsePortal(w.Entrance(t, w.Acme))
	require.NoError(t, err)
	p, err := portal.Get(t.Context(), w.Tenants, w.Acme.ID, own)
	require.NoError(t, err)
	embed := func(properties map[string]any) map[string]any {
		body := apitest.EmbedTokenBody(0)
		maps.Copy(body, properties)
		return body
	}
	subject := portaltest.Subject(t, w.Tenants, w.Acme.ID, own)
	answer := w.CallAs(t, "createEmbedToken", own.String(), w.Acme.New, embed(map[string]any{"subjectId": subject.ID.String()}))
	require.Equal(t, http.StatusCreated, answer.Status, "%s", answer.Raw)
	made := answer.Data(t)
	require.Equal(t, made["token"], opens(t, made["url"], p, "embed"))
	require.Equal(t, apitest.Pupil.String(), made["personId"])
	in, err := w.Gate.ByEmbedToken(t.Context(), w.Acme.ID, own, made["token"].(string))
	require.NoError(t, err)
	require.Equal(t, []any{made["membershipId"], subject.ID, "https://lms.example.com/back"}, []any{in.Membership.String(), *in.Details.Subject, in.Details.ReturnURL})

	foreign := w.Apart(t)
	theirs := admissiontest.Person(t, w.Tenants, foreign.Acme.ID)
	disabled := admissiontest.Person(t, w.Tenants, w.Acme.ID, func(p *person.Person) { p.State = person.Disabled })
	admissiontest.Membership(t, w.Tenants, w.Acme.ID, disabled.ID, own)
	for _, c := range []struct {
		properties  map[string]any
		status      int
		code, param string
	}{
		{map[string]any{"personId": ""}, http.StatusBadRequest, "invalid_request", "body.personId"},
		{map[string]any{"externalId": "x"}, http.StatusBadRequest, "invalid_request", "body.externalId"},
		{map[string]any{"personId": "", "externalId": "x", "name": ""}, http.StatusBadRequest, "invalid_request", "body.name"},
		{map[string]any{"personId": "x"}, http.StatusNotFound, "not_found", "body.personId"},
		{map[string]any{"personId": theirs.ID.String()}, http.StatusNotFound, "not_found", "body.personId"},
		{map[string]any{"unitId": "x"}, http.StatusNotFound, "not_found", "body.unitId"},
		{map[string]any{"subjectId": "x"}, http.StatusNotFound, "not_found", "body.subjectId"},
		{map[string]any{"subjectId": id.NewSubject().String()}, http.StatusNotFound, "not_found", "body.subjectId"},
		{map[string]any{"allowedOrigins": []any{"https://a.example.com/"}}, http.StatusBadRequest, "invalid_request", "body.allowedOrigins"},
		{map[string]any{"returnUrl": "javascript:alert(1)"}, http.StatusBadRequest, "invalid_request", "body.returnUrl"},
		{map[string]any{"expiresInS": 59}, http.StatusBadRequest, "invalid_request", "body.expiresInS"},
	} {
		apitest.RequireError(t, w.CallAs(t, "createEmbedToken", own.String(), w.Acme.New, embed(c.properties)), c.status, c.code, c.param)
	}
	require.Equal(t, "person_disabled", apitest.Reason(t, w.CallAs(t, "createEmbedToken", own.String(), w.Acme.New, embed(map[string]any{"personId": disabled.ID.String()})), "body.personId"))
	w.CallAs(t, "setEmbedDoor", own.String(), w.Acme.New, map[string]any{"open": false})
	require.Equal(t, "door_closed", apitest.Reason(t, w.CallAs(t, "createEmbedToken", own.String(), w.Acme.New, embed(nil)), "path.id"))
	draft := w.OpenPortal(t, w.Acme, func(p *portal.Portal) { p.State, p.PublishedVersion = portal.Draft, nil })
	require.Equal(t, "not_published", apitest.Reason(t, w.CallAs(t, "createEmbedToken", draft.ID.String(), w.Acme.New, embed(nil)), "path.id"))
}

func testCustomerTokens(t *testing.T, w *apitest.World) {
	own, err := id.ParsePortal(w.Entrance(t, w.Acme))
	require.NoError(t, err)
	made := w.CallAs(t, "createCustomerToken", own.String(), w.Acme.New, apitest.CustomerTokenBody(7)).Data(t)
	require.Equal(t, "c-7", made["customerRef"])
	in, err := w.Gate.ByCustomerToken(t.Context(), w.Acme.ID, own, made["token"].(string))
	require.NoError(t, err)
	require.Equal(t, []any{"c-7", true, "gold"}, []any{in.Details.Ref, in.Details.Verified, in.Details.Attributes["tier"]})
	body := apitest.CustomerTokenBody(8)
	body["attributes"] = map[string]any{"": "x"}
	apitest.RequireError(t, w.CallAs(t, "createCustomerToken", own.String(), w.Acme.New, body), http.StatusBadRequest, "invalid_request", "body.attributes")
}

// converseOn holds a conversation for whoever came in.
func converseOn(t *testing.T, w *apitest.World, own id.Portal, change func(*session.Session)) session.Session {
	t.Helper()
	s, err := id.ParseSession(apitest.At(w.On(t, map[string]any{"portalId": own.String()}).Data(t), "session", "id").(string))
	require.NoError(t, err)
	var kept session.Session
	change(&kept)
	w.SetSession(t, s.String(), `escalation_id = $3, case_link_id = $4, outcome = $5`, kept.Escalation, kept.CaseLink, kept.Outcome)
	return w.Run(t, s)
}

func testEscalations(t *testing.T, w *apitest.World) {
	own, err := id.ParsePortal(w.Entrance(t, w.Acme))
	require.NoError(t, err)
	p, err := portal.Get(t.Context(), w.Tenants, w.Acme.ID, own)
	require.NoError(t, err)
	made := w.At(t, w.Acme, "createEscalation", own.String(), http.StatusCreated)
	token := opens(t, made["url"], p, "escalation")
	require.Equal(t, made["token"], token)
	require.Equal(t, []any{"waiting", "de", "A door is stuck."}, []any{made["state"], made["language"], apitest.At(made, "context", "summary")})
	in, err := w.Gate.ByEscalation(t.Context(), w.Acme.ID, own, escalation.Token(token))
	require.NoError(t, err)

	get := func(key apikey.Secret) map[string]any {
		return w.CallAs(t, "getEscalation", made["id"].(string), key, nil).Data(t)
	}
	read := get(w.Acme.New)
	require.Equal(t, []any{nil, nil, made["context"]}, []any{read["url"], read["token"], read["context"]}, "secrets are shown once")
	wordless := get(w.Scoped(contract.Latest, scope.PortalsRead))
	require.Equal(t, []any{map[string]any{"transcript": []any{}, "summary": nil}, nil}, []any{wordless["context"], wordless["reason"]})
	require.Equal(t, own.Bare(), get(w.OldNamed)["portalId"])

	s := converseOn(t, w, own, func(s *session.Session) { s.Escalation, s.Outcome = in.Escalation, new("resolved") })
	live := get(w.Acme.New)
	require.Equal(t, []any{"live", s.ID.String()}, []any{live["state"], live["sessionId"]})
	require.Equal(t, "not_waiting", apitest.Reason(t, w.CallAs(t, "declineEscalation", made["id"].(string), w.Acme.New, nil), "path.id"))
	w.CallAs(t, "endSession", s.ID.String(), w.Acme.New, nil)
	done := get(w.Acme.New)
	require.Equal(t, []any{"completed", "resolved", true}, []any{done["state"], done["outcome"], done["resolved"]})
	told := w.Told(t, "escalation.completed")
	require.Len(t, told, 1)
	data := apitest.At(told[0].(map[string]any), "data").(map[string]any)
	require.Equal(t, []any{made["id"], own.String(), s.ID.String(), made["externalChatId"], "resolved", true},
		[]any{data["escalationId"], data["portalId"], data["sessionId"], data["externalChatId"], data["outcome"], data["resolved"]})

	other := w.At(t, w.Acme, "createEscalation", own.String(), http.StatusCreated)["id"].(string)
	for range 2 {
		require.Equal(t, "declined", w.CallAs(t, "declineEscalation", other, w.Acme.New, nil).Data(t)["state"])
	}
}

func testCaseLinks(t *testing.T, w *apitest.World) {
	own, err := id.ParsePortal(w.Entrance(t, w.Acme))
	require.NoError(t, err)
	p, err := portal.Get(t.Context(), w.Tenants, w.Acme.ID, own)
	require.NoError(t, err)
	made := w.At(t, w.Acme, "createCaseLink", own.String(), http.StatusCreated)
	token := caselink.Token(opens(t, made["url"], p, "case"))
	get := func(key apikey.Secret) map[string]any {
		return w.CallAs(t, "getCaseLink", made["id"].(string), key, nil).Data(t)
	}
	require.Equal(t, []any{"created", nil, "It is stuck."}, []any{get(w.Acme.New)["state"], get(w.Acme.New)["url"], get(w.Acme.New)["caseSummary"]})
	require.Nil(t, get(w.Scoped(contract.Latest, scope.PortalsRead))["caseSummary"])
	require.Equal(t, own.Bare(), get(w.OldNamed)["portalId"])

	in, err := w.Gate.ByCaseLink(t.Context(), w.Acme.ID, own, token)
	require.NoError(t, err)
	require.Equal(t, []any{"opened", 1.0}, []any{get(w.Acme.New)["state"], get(w.Acme.New)["openCount"]})
	told := w.Told(t, "case_link.opened")
	require.Len(t, told, 1)
	s := converseOn(t, w, own, func(s *session.Session) { s.CaseLink = in.CaseLink })
	require.Equal(t, []any{"used", s.ID.String()}, []any{get(w.Acme.New)["state"], get(w.Acme.New)["sessionId"]})
	require.Equal(t, "revoked", w.CallAs(t, "revokeCaseLink", made["id"].(string), w.Acme.New, nil).Data(t)["state"])
	require.Equal(t, made["id"], apitest.IDs(w.Get(w.Acme.New, "/portals/"+own.String()+"/case-links").JSON(t)["data"].([]any))[0], "newest first")
	w.InTx(t, func(ctx context.Context, tx *tenant.Tx) error {
		_, err := tx.Exec(ctx, `DELETE FROM case_link WHERE org_id = $1`, tx.Org)
		return err
	})
	require.Empty(t, w.Told(t, "case_link.opened"), "of what is gone nothing is told")
}
