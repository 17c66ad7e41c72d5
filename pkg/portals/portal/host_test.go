package portal_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/portals/portal"
)

func TestTheServicesOwnHostsAreNobodys(t *testing.T) {
	own := []string{"https://portals.example.com", "wss://live.example.com:8443", "https://API.example.com/v1", "", "://"}
	for host, want := range map[string]bool{
		"portals.example.com": true, "live.example.com": true, "api.example.com": true, "example.com": false, "learn.example.org": false,
	} {
		require.Equal(t, want, portal.IsHostOf(host, own...), host)
	}
}
