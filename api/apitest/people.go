package apitest

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/portals/person/roster"
	"visavis.dev/pkg/portals/portal/portaltest"
)

// Campus is the portal of an organization that its people are in.
func (w *World) Campus(t testing.TB, org *Org) string {
	t.Helper()
	k := "portal" + org.ID.String()
	if _, ok := w.Made[k]; !ok {
		w.Made[k] = portaltest.Portal(t, w.Tenants, org.ID, id.NewPersona()).ID.String()
	}
	return w.Made[k]
}

// PeopleBody is a good body of an operation on the people of an organization;
// nil of any other.
func (w *World) PeopleBody(t testing.TB, o *route.Operation, org *Org) any {
	t.Helper()
	switch o.ID {
	case "createAssignment":
		return w.AssignmentBody(t, org)
	case "updateAssignment":
		return w.assignmentChange(t, org)
	case "grantAttempts", "excuseFromAssignment":
		return w.ofAssignee(t, o, org)
	case "createAttestation":
		return w.AttestationBody(t, org)
	case "createCertificate":
		return w.certificateBody(t, org)
	case "createReport":
		return w.reportBody(t, org)
	case "createCompletion":
		return w.completionBody(t, org)
	case "createMembership":
		return w.placeBody(t, org)
	case "createPerson":
		return w.PersonBody(t, org)
	case "createUnit":
		return w.UnitBody(t, org)
	case "importPeople":
		return w.importBody(t, org)
	case "updateMembership":
		return w.placeChange(t, org)
	case "updatePerson":
		return w.personChange()
	case "updateUnit":
		return w.unitChange(t, org)
	}
	return w.hiringBody(t, o, org)
}

// Once are the operations that have their effect once, and what the second
// request conflicts with.
var Once = map[string]string{"applySetupPlan": "plan_state", "createMembership": "already_member", "runPersonaTests": "already_running", "checkPersonaCoverage": "already_running"}

// post makes something with a body as the organization's newest key.
func (w *World) post(t testing.TB, org *Org, operation, path string, body any) map[string]any {
	t.Helper()
	answer := w.Call(t, w.Operation(t, operation), Request{Path: path, Key: org.New, Body: body})
	require.Equal(t, http.StatusCreated, answer.Status, "%s", answer.Raw)
	return answer.Data(t)
}

// Member makes a person with a place outside any unit.
func (w *World) Member(t testing.TB, org *Org) map[string]any {
	t.Helper()
	w.n++
	body := w.PersonBody(t, org)
	place := maps.Clone(body["membership"].(map[string]any))
	place["unitId"] = nil
	body["membership"] = place
	return w.post(t, org, "createPerson", "/people", body)
}

// manager is somebody who can manage the units of an organization's portal.
func (w *World) manager(t testing.TB, org *Org) string {
	t.Helper()
	k := "manager" + org.ID.String()
	if _, ok := w.Made[k]; !ok {
		w.Made[k] = w.post(t, org, "createPerson", "/people", map[string]any{
			"name": "Mo", "membership": map[string]any{"portalId": w.Campus(t, org), "role": "manager"},
		})["id"].(string)
	}
	return w.Made[k]
}

// Unit makes a unit at the top.
func (w *World) Unit(t testing.TB, org *Org) string {
	t.Helper()
	w.n++
	return w.post(t, org, "createUnit", "/units", map[string]any{
		"portalId": w.Campus(t, org), "kind": "class", "name": fmt.Sprint("Class ", w.n),
	})["id"].(string)
}

// Shared is a unit of an organization's portal that others lie in.
func (w *World) Shared(t testing.TB, org *Org) string {
	t.Helper()
	k := "unit" + org.ID.String()
	if _, ok := w.Made[k]; !ok {
		w.Made[k] = w.Unit(t, org)
	}
	return w.Made[k]
}

func (w *World) placeBody(t testing.TB, org *Org) map[string]any {
	return map[string]any{
		"portalId": w.Campus(t, org), "unitId": w.Shared(t, org), "role": "learner", "startsAt": "2026-07-01T00:00:00Z",
		"endsAt": "2099-07-01T00:00:00Z", "externalId": fmt.Sprint("place-", w.n), "metadata": map[string]any{"source": "tests"},
	}
}

func (w *World) PersonBody(t testing.TB, org *Org) map[string]any {
	return map[string]any{
		"name": fmt.Sprint("Kim ", w.n), "givenName": "Kim", "familyName": "Lee", "email": fmt.Sprintf("kim.%d@example.com", w.n),
		"phone": "+49 30 123456", "externalId": fmt.Sprint("kim-", w.n), "language": "German", "timezone": "Europe/Berlin",
		"ageBand": "13_15", "metadata": map[string]any{"source": "tests"}, "membership": w.placeBody(t, org), "sendInvite": false,
	}
}

func (w *World) placeChange(t testing.TB, org *Org) map[string]any {
	body := w.placeBody(t, org)
	delete(body, "portalId")
	body["enabled"] = w.n%2 == 0
	return body
}

func (w *World) personChange() map[string]any {
	return map[string]any{
		"name": fmt.Sprint("Lee ", w.n), "givenName": "Lee", "familyName": "Kim", "email": fmt.Sprintf("lee.%d@example.com", w.n),
		"phone": "+1 (415) 555-0100", "externalId": fmt.Sprint("lee-", w.n), "language": "en", "timezone": "America/New_York",
		"ageBand": "adult", "state": "disabled", "metadata": map[string]any{"n": fmt.Sprint(w.n)},
	}
}

func (w *World) UnitBody(t testing.TB, org *Org) map[string]any {
	return map[string]any{
		"portalId": w.Campus(t, org), "parentId": w.Shared(t, org), "kind": "team", "name": fmt.Sprint("Team ", w.n), "code": "T",
		"managerIds": []any{w.manager(t, org)}, "externalId": fmt.Sprint("team-", w.n), "metadata": map[string]any{"source": "tests"},
	}
}

func (w *World) unitChange(t testing.TB, org *Org) map[string]any {
	body := w.UnitBody(t, org)
	delete(body, "portalId")
	body["enabled"] = w.n%2 == 0
	return body
}

// GuardianBody is a good body with every property of a guardian's consent.
func GuardianBody(n int) map[string]any {
	return map[string]any{
		"guardianName": fmt.Sprint("Sam ", n), "guardianEmail": "sam@example.com", "relationship": "father", "method": "signed_form",
		"policyVersion": "2026-1", "givenAt": "2026-07-02T09:00:00Z", "expiresAt": "2099-07-02T09:00:00Z",
		"evidence": "data:application/pdf;base64,JVBERi0xLjQK", "scopes": []any{"conversation", "memory"},
	}
}

// importBody is a file of two people, of whom one is refused.
func (w *World) importBody(t testing.TB, org *Org) map[string]any {
	return map[string]any{
		"csv":    fmt.Sprintf("name,externalId,portalId,role\nKim,imported-%d,%s,learner\nLee,,%[2]s,boss\n", w.n, w.Campus(t, org)),
		"dryRun": w.n%2 == 0,
	}
}

// imported is a job that added the people of a file, at its end.
func (w *World) imported(t testing.TB, org *Org) string {
	t.Helper()
	w.n++
	o := w.Operation(t, "importPeople")
	answer := w.Call(t, o, Request{Path: o.Path, Key: org.New, Body: w.importBody(t, org)})
	require.Equal(t, http.StatusAccepted, answer.Status, "%s", answer.Raw)
	w.RunImports(t)
	return answer.Data(t)["id"].(string)
}

// RunImports adds the people of every file that waits for it.
func (w *World) RunImports(t testing.TB) {
	t.Helper()
	unlimited := func(context.Context, id.Org) (plan.Terms, error) { return plan.Terms{}, nil }
	w.runJobs(t, map[job.Kind]job.Work{job.PeopleImport: roster.NewImporter(w.Tenants, w.Files, unlimited).Work()})
}
