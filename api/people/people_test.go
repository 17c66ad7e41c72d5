package people_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/portals/portal/portaltest"
)

// toldSince lists the types of the organization's events that come after some.
func toldSince(t *testing.T, w *apitest.World, skip int) (types []string) {
	t.Helper()
	answer := w.Get(w.Acme.New, "/events?order=asc&limit=200")
	require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Raw)
	for _, e := range answer.JSON(t)["data"].([]any)[skip:] {
		types = append(types, e.(map[string]any)["type"].(string))
	}
	return types
}

// Every way in which people and units change is told, and nothing else.
func TestEventsOfPeople(t *testing.T) {
	w := apitest.NewWorld(t).Apart(t)
	in := w.Unit(t, w.Acme)
	kim := w.Member(t, w.Acme)
	which := kim["membershipId"].(string)
	for _, step := range []struct {
		what, operation, id string
		body                map[string]any
		status              int
		told                []string
	}{
		{"found again", "createPerson", "", map[string]any{
			"name": "Kim", "externalId": kim["externalId"], "membership": map[string]any{"portalId": w.Campus(t, w.Acme), "role": "learner"},
		}, 200, nil},
		{"into the unit", "updateMembership", which, map[string]any{"unitId": in, "role": "teacher"}, 200, []string{"member.updated"}},
		{"no change", "updateMembership", which, map[string]any{"unitId": in}, 200, nil},
		{"the unit off and renamed", "updateUnit", in, map[string]any{"enabled": false, "name": "Other", "code": "x"}, 200,
			[]string{"unit.renamed", "unit.updated", "unit.disabled", "member.disabled"}},
		{"its own switch too", "updateMembership", which, map[string]any{"enabled": false}, 200, []string{"member.updated"}},
		{"the unit on", "updateUnit", in, map[string]any{"enabled": true}, 200, []string{"unit.enabled"}},
		{"on again", "updateMembership", which, map[string]any{"enabled": true}, 200, []string{"member.enabled"}},
		{"the person off", "updatePerson", kim["id"].(string), map[string]any{"state": "disabled"}, 200, []string{"member.disabled"}},
		{"and on", "updatePerson", kim["id"].(string), map[string]any{"state": "active", "name": "Kimberly"}, 200, []string{"member.enabled"}},
		{"another place", "createMembership", kim["id"].(string), map[string]any{"portalId": w.Campus(t, w.Acme), "role": "learner"}, 201, []string{"member.added"}},
		{"consent", "recordGuardianConsent", which, apitest.GuardianBody(1), 201, []string{"consent.recorded"}},
		{"taken away", "deleteMembership", which, nil, 200, []string{"member.removed"}},
		{"a unit", "createUnit", "", w.UnitBody(t, w.Acme), 201, []string{"unit.created"}},
	} {
		before := len(toldSince(t, w, 0))
		o := w.Operation(t, step.operation)
		r := apitest.Request{Path: apitest.WithID(o, step.id), Key: w.Acme.New}
		if step.body != nil {
			r.Body = step.body
		}
		answer := w.Call(t, o, r)
		require.Equal(t, step.status, answer.Status, "%s: %s", step.what, answer.Raw)
		require.Equal(t, step.told, toldSince(t, w, before), step.what)
	}
	for operation, body := range map[string]any{
		"getMembership": nil, "updateMembership": map[string]any{"role": "learner"}, "deleteMembership": nil, "recordGuardianConsent": apitest.GuardianBody(2),
	} {
		apitest.RequireError(t, w.CallAs(t, operation, which, w.Acme.New, body), http.StatusGone, "gone", "path.id")
	}
}

func TestConflictsOfPeople(t *testing.T) {
	w := apitest.NewWorld(t)
	kim, lee := w.Member(t, w.Acme), w.Member(t, w.Acme)
	create := w.Operation(t, "createPerson")
	body := w.PersonBody(t, w.Acme)
	body["externalId"], body["email"] = kim["externalId"], lee["email"]
	answer := w.Call(t, create, apitest.Request{Path: create.Path, Key: w.Acme.New, Body: body})
	require.Equal(t, "email_taken", apitest.At(apitest.RequireError(t, answer, http.StatusConflict, "conflict", "body.email"), "details", "reason"))
	answer = w.CallAs(t, "updatePerson", kim["id"].(string), w.Acme.New, map[string]any{"externalId": lee["externalId"]})
	require.Equal(t, "external_id_taken", apitest.At(apitest.RequireError(t, answer, http.StatusConflict, "conflict", "body.externalId"), "details", "reason"))

	place := map[string]any{"portalId": w.Campus(t, w.Acme), "role": "teacher"}
	answer = w.CallAs(t, "createMembership", kim["id"].(string), w.Acme.New, place)
	require.Equal(t, map[string]any{"reason": "already_member", "membershipId": kim["membershipId"]},
		apitest.RequireError(t, answer, http.StatusConflict, "conflict", "")["details"])

	place["portalId"] = w.Campus(t, w.Globex)
	apitest.RequireError(t, w.CallAs(t, "createMembership", kim["id"].(string), w.Acme.New, place), http.StatusNotFound, "not_found", "body.portalId")
	place["portalId"], place["unitId"] = w.Campus(t, w.Acme), w.Shared(t, w.Globex)
	apitest.RequireError(t, w.CallAs(t, "createMembership", kim["id"].(string), w.Acme.New, place), http.StatusNotFound, "not_found", "body.unitId")
	apitest.RequireError(t, w.CallAs(t, "updateUnit", w.Shared(t, w.Acme), w.Acme.New, map[string]any{"managerIds": []any{kim["id"]}}),
		http.StatusBadRequest, "invalid_request", "body.managerIds")
	apitest.RequireError(t, w.CallAs(t, "updateUnit", w.Shared(t, w.Acme), w.Acme.New, map[string]any{"parentId": w.Shared(t, w.Acme)}),
		http.StatusBadRequest, "invalid_request", "body.parentId")

	for operation, id := range map[string]string{
		"updatePerson": kim["id"].(string), "updateMembership": kim["membershipId"].(string), "updateUnit": w.Shared(t, w.Acme),
	} {
		o := w.Operation(t, operation)
		change := func(tag string) apitest.Answer {
			return w.Call(t, o, apitest.Request{
				Path: apitest.WithID(o, id), Key: w.Acme.New, Body: map[string]any{"externalId": "by " + tag}, Header: map[string]string{"If-Match": tag},
			})
		}
		apitest.RequireError(t, change(`"77"`), http.StatusConflict, "version_conflict", "header.If-Match")
		first := change("*")
		require.Equal(t, http.StatusOK, first.Status, "%s", first.Raw)
		require.Equal(t, http.StatusOK, change(first.Header.Get("ETag")).Status, operation)
	}
}

// Portals are named without their prefix to keys of the older contract.
func TestPeopleInTheOlderContract(t *testing.T) {
	w := apitest.NewWorld(t)
	bare := w.Campus(t, w.Acme)[len("portal_"):]
	kim := w.Member(t, w.Acme)
	old := w.CallAs(t, "getPerson", kim["id"].(string), w.OldNamed, nil).Data(t)
	require.Equal(t, bare, apitest.At(old["memberships"].([]any)[0].(map[string]any), "portalId"))
	require.Equal(t, bare, w.CallAs(t, "getMembership", kim["membershipId"].(string), w.OldNamed, nil).Data(t)["portalId"])
	require.Equal(t, bare, w.CallAs(t, "getUnit", w.Shared(t, w.Acme), w.OldNamed, nil).Data(t)["portalId"])
	for _, path := range []string{"/people", "/units"} {
		apitest.RequireError(t, w.Get(w.Acme.Old, path), http.StatusForbidden, "forbidden", "")
	}
}

// A guardian's consent counts until it is withdrawn.
func TestGuardianConsents(t *testing.T) {
	w := apitest.NewWorld(t)
	under := int64(16)
	w.Made["portal"+w.Acme.ID.String()] = portaltest.Portal(t, w.Tenants, w.Acme.ID, id.NewPersona(), func(p *portal.Portal) {
		p.Definition.GuardianConsentUnder = &under
	}).ID.String()
	which := w.Member(t, w.Acme)["membershipId"].(string)
	guardian := func() map[string]any {
		return w.CallAs(t, "getMembership", which, w.Acme.New, nil).Data(t)["guardianConsent"].(map[string]any)
	}
	require.Equal(t, map[string]any{"required": true, "state": "missing", "scopes": []any{}, "consentId": nil, "expiresAt": nil}, guardian())
	given := w.CallAs(t, "recordGuardianConsent", which, w.Acme.New, apitest.GuardianBody(1)).Data(t)
	require.Equal(t, "given", guardian()["state"])
	require.Equal(t, given["id"], guardian()["consentId"])
	body := apitest.GuardianBody(1)
	body["scopes"] = []any{"report", "recording"}
	more := w.CallAs(t, "recordGuardianConsent", which, w.Acme.New, body).Data(t)["id"].(string)
	require.Equal(t, []any{"conversation", "memory", "recording", "report"}, guardian()["scopes"])
	require.Equal(t, more, guardian()["consentId"])
	require.Equal(t, []any{"conversation", "memory", "recording", "report"},
		apitest.At(w.CallAs(t, "getMembership", which, w.OldNamed, nil).Data(t), "guardianConsent", "scopes"), "in the older contract too")
	require.Equal(t, http.StatusOK, w.CallAs(t, "withdrawConsent", more, w.Acme.New, nil).Status)
	require.Equal(t, []any{"conversation", "memory"}, guardian()["scopes"])
	require.Equal(t, given["id"], guardian()["consentId"])

	listed := w.Get(w.Acme.New, "/consents?kind=guardian&membershipId="+which).JSON(t)["data"].([]any)
	require.Len(t, listed, 2)
	require.Equal(t, which, apitest.At(listed[0].(map[string]any), "subject", "membershipId"))
	require.Equal(t, "signed_form", apitest.At(listed[0].(map[string]any), "method"))
	require.Equal(t, http.StatusOK, w.CallAs(t, "withdrawConsent", given["id"].(string), w.Acme.New, nil).Status)
	require.Equal(t, []any{"withdrawn", []any{}}, []any{guardian()["state"], guardian()["scopes"]})

	bad := apitest.GuardianBody(2)
	bad["guardianEmail"] = "sam"
	apitest.RequireError(t, w.CallAs(t, "recordGuardianConsent", which, w.Acme.New, bad), http.StatusBadRequest, "invalid_request", "body.guardianEmail")
}

// Who was erased is gone at once.
func TestErasePerson(t *testing.T) {
	w := apitest.NewWorld(t)
	kim := w.Member(t, w.Acme)["id"].(string)
	j := w.CallAs(t, "erasePerson", kim, w.Acme.New, nil)
	require.Equal(t, http.StatusAccepted, j.Status, "%s", j.Raw)
	require.Equal(t, "erase", j.Data(t)["kind"])
	for _, operation := range []string{"getPerson", "erasePerson"} {
		apitest.RequireError(t, w.CallAs(t, operation, kim, w.Acme.New, nil), http.StatusGone, "gone", "path.id")
	}
	require.NotContains(t, string(w.Get(w.Acme.New, "/people?limit=200").Raw), kim)
}
