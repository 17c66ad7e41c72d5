package sessions_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/portals/portal/portaltest"
	"visavis.dev/pkg/portals/subject"
	"visavis.dev/pkg/visits/admission/admissiontest"
)

func testMintOnAPortal(t *testing.T, w *apitest.World) {
	p := w.OpenPortal(t, w.Acme)
	taught := portaltest.Subject(t, w.Tenants, w.Acme.ID, p.ID, func(s *subject.Subject, _ *subject.Content) { s.Kind = subject.Practice })
	who := admissiontest.Person(t, w.Tenants, w.Acme.ID, func(p *person.Person) { p.AgeBand = person.From13 })
	place := admissiontest.Membership(t, w.Tenants, w.Acme.ID, who.ID, p.ID)

	answer := w.On(t, map[string]any{"subjectId": taught.ID.String(), "personId": who.ID.String()})
	require.Equal(t, http.StatusCreated, answer.Status, "%s", answer.Raw)
	s := answer.Data(t)["session"].(map[string]any)
	for name, want := range map[string]any{
		"personaId": p.Persona.String(), "portalId": p.ID.String(), "subjectId": taught.ID.String(), "personId": who.ID.String(),
		"membershipId": place.ID.String(), "escalationId": nil, "caseLinkId": nil, "kind": "practice", "source": "api", "language": "en",
		"conversationWithheld": "learner_conversation",
	} {
		require.Equal(t, want, s[name], name)
	}
	own := s["id"].(string)
	require.Equal(t, s, w.Read(t, own))
	apitest.RequireError(t, w.CallAs(t, "getTranscript", own, w.Acme.New, nil), http.StatusForbidden, "learner_conversation", "path.id")
	require.Equal(t, p.ID.Bare(), w.CallAs(t, "getSession", own, w.OldNamed, nil).Data(t)["portalId"], "bare, as it was")

	started, err := id.ParseSession(own)
	require.NoError(t, err)
	w.Run(t, started)
	practice := apitest.At(w.Told(t, "practice.started")[0].(map[string]any), "data").(map[string]any)
	require.Equal(t, []any{p.ID.String(), taught.ID.String(), who.ID.String(), place.ID.String(), nil},
		[]any{practice["portalId"], practice["subjectId"], practice["personId"], practice["membershipId"], practice["unitId"]})
	require.Empty(t, w.Told(t, "session.started"))

	other := w.Minted(t, nil)
	for query, want := range map[string][]string{
		"portalId=" + p.ID.String(): {own}, "personId=" + who.ID.Bare(): {own}, "portalId=" + id.NewPortal().String(): {},
		"personId=" + who.ID.String() + "&subjectId=" + id.NewSubject().String(): {},
	} {
		require.Equal(t, want, apitest.IDs(w.Get(w.Acme.New, "/sessions?"+query).JSON(t)["data"].([]any)), query)
	}
	require.NotEqual(t, own, other)
}

// Each way to say who speaks excludes the others, and what is not there is named.
func testMintPlaceRefusals(t *testing.T, w *apitest.World) {
	p := w.OpenPortal(t, w.Acme)
	foreign := w.Apart(t)
	persona, theirs := w.Shown(t, w.Acme), foreign.OpenPortal(t, foreign.Acme)
	taught := portaltest.Subject(t, foreign.Tenants, foreign.Acme.ID, theirs.ID)
	archived := w.OpenPortal(t, w.Acme, func(p *portal.Portal) { p.State = portal.Archived })
	for _, c := range []struct {
		body        map[string]any
		status      int
		code, param string
	}{
		{map[string]any{}, http.StatusBadRequest, "invalid_request", "body.personaId"},
		{map[string]any{"personaId": persona, "portalId": p.ID.String()}, http.StatusBadRequest, "invalid_request", "body.portalId"},
		{map[string]any{"portalId": p.ID.String(), "subjectId": taught.ID.String()}, http.StatusBadRequest, "invalid_request", "body.subjectId"},
		{map[string]any{"portalId": theirs.ID.String()}, http.StatusNotFound, "not_found", "body.portalId"},
		{map[string]any{"portalId": "x"}, http.StatusNotFound, "not_found", "body.portalId"},
		{map[string]any{"portalId": archived.ID.String()}, http.StatusGone, "gone", "body.portalId"},
		{map[string]any{"subjectId": taught.ID.String()}, http.StatusNotFound, "not_found", "body.subjectId"},
		{map[string]any{"subjectId": "x"}, http.StatusNotFound, "not_found", "body.subjectId"},
		{map[string]any{"portalId": p.ID.String(), "personId": "x"}, http.StatusNotFound, "not_found", "body.personId"},
		{map[string]any{"portalId": p.ID.String(), "personId": admissiontest.Person(t, w.Tenants, foreign.Acme.ID).ID.String()}, http.StatusNotFound, "not_found", "body.personId"},
	} {
		apitest.RequireError(t, w.On(t, c.body), c.status, c.code, c.param)
	}
	draft := w.OpenPortal(t, w.Acme, func(p *portal.Portal) { p.State, p.PublishedVersion = portal.Draft, nil })
	require.Equal(t, "not_published", apitest.Reason(t, w.On(t, map[string]any{"portalId": draft.ID.String()}), "body.portalId"))
	stranger := admissiontest.Person(t, w.Tenants, w.Acme.ID)
	require.Equal(t, "no_membership", apitest.Reason(t, w.On(t, map[string]any{"portalId": p.ID.String(), "personId": stranger.ID.String()}), "body.personId"))
	require.Zero(t, places(t, w))
}
