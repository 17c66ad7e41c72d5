package apitest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/portals/portal/portaltest"
)

// OpenPortal enters a published portal of an organization.
func (w *World) OpenPortal(t testing.TB, org *Org, changes ...func(*portal.Portal)) portal.Portal {
	t.Helper()
	speaker, err := id.ParsePersona(w.Shown(t, org))
	require.NoError(t, err)
	return portaltest.Portal(t, w.Tenants, org.ID, speaker, changes...)
}

// On mints a session of which a portal or a subject says who speaks.
func (w *World) On(t *testing.T, body map[string]any) Answer {
	t.Helper()
	return w.CallAs(t, "createSessionToken", "", w.Acme.New, body)
}
