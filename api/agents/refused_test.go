package agents_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/store/tenant"
)

// requireRefused expects a slug to be answered as one that nobody has.
func requireRefused(t *testing.T, w *apitest.World, slug string) {
	t.Helper()
	require.Eventually(t, func() bool { return get(t, w, "getAgent", slug).Status == http.StatusNotFound }, 20*time.Second, 100*time.Millisecond,
		"a change is seen within two seconds")
	require.Equal(t, map[string]any{"code": "not_found", "param": "path.id"}, picked(get(t, w, "getAgent", slug).Error(t)))
	require.Equal(t, map[string]any{"code": "not_found", "param": "path.id"}, picked(ask(t, w, slug, map[string]any{"question": "Hello?"}).Error(t)))
	require.Equal(t, http.StatusNotFound, get(t, w, "getAgentText", slug).Status)
}

func picked(failed map[string]any) map[string]any {
	return map[string]any{"code": failed["code"], "param": failed["param"]}
}

func requireAsked(t *testing.T, w *apitest.World, slug string) {
	t.Helper()
	require.Eventually(t, func() bool { return get(t, w, "getAgent", slug).Status == http.StatusOK }, 20*time.Second, 100*time.Millisecond)
	require.Equal(t, http.StatusOK, ask(t, w, slug, map[string]any{"question": "Hello?"}).Status)
}

// portalOf is the portal of a slug.
func portalOf(t *testing.T, w *apitest.World, org *apitest.Org, slug string) string {
	t.Helper()
	var found id.Portal
	inTx(t, w, org, func(ctx context.Context, tx *tenant.Tx) error {
		return tx.QueryRow(ctx, `SELECT id FROM portal WHERE org_id = $1 AND slug = $2`, org.ID, slug).Scan(&found)
	})
	return found.String()
}

func inTx(t *testing.T, w *apitest.World, org *apitest.Org, fn func(context.Context, *tenant.Tx) error) {
	t.Helper()
	require.NoError(t, w.Tenants.InTx(context.Background(), org.ID, fn))
}

func change(t *testing.T, w *apitest.World, operation, of string, body map[string]any) {
	t.Helper()
	answer := w.CallAs(t, operation, of, w.Acme.New, body)
	require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Raw)
}

// An assistant answers for nobody: a portal that must know who comes, or how old they are,
// is no agent, and is one again once it asks for nothing of that kind.
func TestPortalsThatMustKnowWhoComes(t *testing.T) {
	w := apitest.NewWorld(t)
	slug := w.Agent(t, w.Acme)
	of := portalOf(t, w, w.Acme, slug)
	visitors := func(open bool, requires ...any) {
		change(t, w, "setVisitorsDoor", of, map[string]any{"open": open, "requires": append([]any{}, requires...)})
	}
	// What the API does not set yet, a row can hold.
	requires := func(what []string) {
		p, err := id.ParsePortal(of)
		require.NoError(t, err)
		inTx(t, w, w.Acme, func(ctx context.Context, tx *tenant.Tx) error {
			tx.Touch("portal_door", p)
			if _, err := tx.Exec(ctx, `UPDATE portal_door SET requires = $3 WHERE org_id = $1 AND portal_id = $2 AND key = 'visitors'`, tx.Org, p, what); err != nil {
				return err
			}
			return portal.Refresh(ctx, tx, p)
		})
	}
	draft := func(changes map[string]any) {
		change(t, w, "updatePortal", of, changes)
		change(t, w, "publishPortal", of, map[string]any{})
	}
	visitors(true, "name", "email", "consent")
	requireAsked(t, w, slug)
	for name, c := range map[string]struct{ shut, open func() }{
		"sso":                  {func() { requires([]string{"name", "sso"}) }, func() { requires([]string{}) }},
		"something new":        {func() { requires([]string{"fingerprint"}) }, func() { requires([]string{}) }},
		"age_check":            {func() { visitors(true, "consent", "age_check") }, func() { visitors(true) }},
		"minAge":               {func() { draft(map[string]any{"minAge": 16}) }, func() { draft(map[string]any{"minAge": nil}) }},
		"guardianConsentUnder": {func() { draft(map[string]any{"guardianConsentUnder": 12}) }, func() { draft(map[string]any{"guardianConsentUnder": nil}) }},
		"only signed in":       {func() { visitors(false) }, func() { visitors(true) }},
		"candidates": {
			func() { change(t, w, "setCandidatesDoor", of, map[string]any{"open": true}) },
			func() { change(t, w, "setCandidatesDoor", of, map[string]any{"open": false}) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			c.shut()
			requireRefused(t, w, slug)
			c.open()
			requireAsked(t, w, slug)
		})
	}
}

// A portal for hiring is no agent, whatever its doors.
func TestAPortalForHiring(t *testing.T) {
	w := apitest.NewWorld(t)
	slug := w.Agent(t, w.Acme)
	requireAsked(t, w, slug)
	p, err := id.ParsePortal(portalOf(t, w, w.Acme, slug))
	require.NoError(t, err)
	inTx(t, w, w.Acme, func(ctx context.Context, tx *tenant.Tx) error {
		tx.Touch("portal", p)
		if _, err := tx.Exec(ctx, `UPDATE portal SET kind = $3 WHERE org_id = $1 AND id = $2`, tx.Org, p, portal.Hiring); err != nil {
			return err
		}
		return portal.Refresh(ctx, tx, p)
	})
	requireRefused(t, w, slug)
}
