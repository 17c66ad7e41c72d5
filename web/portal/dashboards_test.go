package portal_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/utils/clock"

	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/store/apikey"
)

// A link shows a dashboard until the key that asked for it is revoked.
func TestADashboardIsShownByItsLink(t *testing.T) {
	v := visit(t, clock.RealClock{})
	var made struct{ URL string }
	v.call(http.MethodPost, "/dashboards/embed-tokens", map[string]any{"key": "overview", "portalId": strings.TrimPrefix(v.portal, "/portals/")}, &made)
	code, body := v.gets(made.URL, "")
	require.Equal(t, http.StatusOK, code, body)
	require.Contains(t, body, "Sessions that ended")
	require.NotContains(t, body, "<script")
	code, _ = v.gets(made.URL[:len(made.URL)-2], "")
	require.Equal(t, http.StatusNotFound, code)

	// A key that is not to be used any more, or may read less, shows nothing.
	keys, err := v.made.Keys.List(t.Context(), v.org, nil, 10)
	require.NoError(t, err)
	change := func(u apikey.Update) {
		t.Helper()
		u.At = time.Now()
		for _, k := range keys {
			require.NoError(t, v.made.Keys.Update(t.Context(), v.org, k.ID, u))
		}
	}
	shown := func() int {
		code, _ := v.gets(made.URL, "")
		return code
	}
	for _, without := range []scope.Scope{scope.DashboardsRead, scope.EmbedWrite, scope.SessionsRead} {
		held := slices.DeleteFunc([]scope.Scope{scope.DashboardsRead, scope.EmbedWrite, scope.SessionsRead}, func(s scope.Scope) bool { return s == without })
		change(apikey.Update{FullAccess: new(false), Scopes: &held})
		require.Equal(t, http.StatusNotFound, shown(), without)
	}
	change(apikey.Update{Scopes: &[]scope.Scope{scope.DashboardsRead, scope.EmbedWrite, scope.SessionsRead}})
	require.Equal(t, http.StatusOK, shown(), "it may read this one")
	change(apikey.Update{SetExpiry: true, ExpiresAt: new(time.Now().Add(-time.Minute))})
	require.Equal(t, http.StatusNotFound, shown(), "the key expired")
	change(apikey.Update{SetExpiry: true})
	require.Equal(t, http.StatusOK, shown())
	for _, k := range keys {
		require.NoError(t, v.made.Keys.Revoke(t.Context(), v.org, k.ID, time.Now()))
	}
	code, _ = v.gets(made.URL, "")
	require.Equal(t, http.StatusNotFound, code)
}
