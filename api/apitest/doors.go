package apitest

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/visits/admission/admissiontest"
)

func doorBody(n int) map[string]any {
	return map[string]any{"open": true, "requires": []any{"name", "consent"}, "message": fmt.Sprint("Welcome ", n)}
}

// ssoBody closes the door: what opens it is a connection of the organization's.
func ssoBody(n int) map[string]any {
	return map[string]any{"open": false, "connectionId": "", "message": fmt.Sprint("Welcome ", n)}
}

func CustomerTokenBody(n int) map[string]any {
	return map[string]any{
		"customerRef": fmt.Sprint("c-", n), "name": "Kim", "email": "kim@example.com", "phone": "+49 30 1234", "verified": true,
		"attributes": map[string]any{"tier": "gold"}, "expiresInS": 600,
	}
}

func escalationBody(n int) map[string]any {
	return map[string]any{
		"externalChatId": fmt.Sprint("chat-", n), "channel": "web", "customerRef": "c-1", "reason": "asked for it", "language": "German", "expiresInS": 600,
		"context": map[string]any{
			"transcript": []any{map[string]any{"speaker": "customer", "text": "My door is stuck.", "at": "2026-10-01T14:00:00+02:00"}}, "summary": "A door is stuck.",
		},
		"externalId": fmt.Sprint("ticket-", n), "metadata": map[string]any{"source": "tests"},
	}
}

func CaseLinkBody(n int) map[string]any {
	return map[string]any{
		"caseRef": fmt.Sprint("case-", n), "customerRef": "c-1", "title": "A door", "caseSummary": "It is stuck.", "language": "German", "channel": "link",
		"contact": map[string]any{"name": "Kim", "email": "kim@example.com", "phone": "+49 30 1234"}, "expiresInS": 600, "maxOpens": 5,
		"externalId": fmt.Sprint("ticket-", n), "metadata": map[string]any{"source": "tests"},
	}
}

// EmbedTokenBody is a good body for an embed token.
func EmbedTokenBody(n int) map[string]any {
	return map[string]any{
		"personId": Pupil.String(), "externalId": "", "name": "Kim", "email": "kim@example.com", "unitId": "", "role": "learner",
		"subjectId": "", "expiresInS": 600 + n%1000, "allowedOrigins": []any{"https://lms.example.com"}, "returnUrl": "https://lms.example.com/back",
	}
}

// Pupil is a person of every organization, with a place on each of its portals.
var Pupil = id.Person{7}

// Enrol gives the pupil a place on a portal.
func (w *World) Enrol(t testing.TB, org *Org, on id.Portal) {
	t.Helper()
	if k := "pupil" + org.ID.String(); w.Made[k] == "" {
		w.Made[k] = admissiontest.Person(t, w.Tenants, org.ID, func(p *person.Person) { p.ID = Pupil }).ID.String()
	}
	admissiontest.Membership(t, w.Tenants, org.ID, Pupil, on)
}

// Entrance is a published portal whose doors are open, with a place for the pupil and
// links to cases.
func (w *World) Entrance(t testing.TB, org *Org) string {
	t.Helper()
	made := w.School(t, org)
	p, err := id.ParsePortal(made)
	require.NoError(t, err)
	w.Enrol(t, org, p)
	for _, operation := range []string{"setVisitorsDoor", "setEmbedDoor", "setStaffDoor", "setJoinCodeDoor", "setCustomersDoor"} {
		w.At(t, org, operation, made, http.StatusOK)
	}
	for range 3 {
		w.At(t, org, "createCaseLink", made, http.StatusCreated)
	}
	return made
}

// At does an operation on a portal with a good body.
func (w *World) At(t testing.TB, org *Org, operation, portal string, status int) map[string]any {
	t.Helper()
	o := w.Operation(t, operation)
	answer := w.Call(t, o, Request{Path: WithID(o, portal), Key: org.New, Body: w.Body(t, o)})
	require.Equal(t, status, answer.Status, "%s", answer.Raw)
	return answer.Data(t)
}

// onPortal makes something on a portal of its own, and answers its id.
func (w *World) onPortal(t testing.TB, org *Org, operation string) string {
	t.Helper()
	return w.At(t, org, operation, w.Entrance(t, org), http.StatusCreated)["id"].(string)
}
