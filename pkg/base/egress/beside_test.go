package egress_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/egress"
)

// names resolve as they are given.
type names map[string]string

func (n names) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	addr, err := netip.ParseAddr(n[host])
	return []netip.Addr{addr}, err
}

// A service beside this one is reached over http by an address that the operator lists,
// and nothing else is.
func TestBeside(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "beside") }))
	t.Cleanup(s.Close)
	port := s.URL[strings.LastIndexByte(s.URL, ':'):]
	guard := egress.New(egress.Options{
		Allow:    []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")},
		Resolver: names{"models.internal": "127.0.0.1", "public.example": "8.8.8.8", "other.internal": "10.0.0.1"},
	})
	for _, address := range []string{s.URL, "http://models.internal" + port} {
		require.NoError(t, guard.Beside().CheckAddress(t.Context(), address), address)
		resp, err := guard.Beside().Client().Get(address)
		require.NoError(t, err, address)
		body, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		require.Equal(t, "beside", string(body))

		var invalid *egress.InvalidURLError
		_, err = guard.Client().Get(address)
		require.ErrorAs(t, err, &invalid, "the guard itself takes none")
		require.ErrorAs(t, guard.CheckAddress(t.Context(), address), &invalid)
		require.ErrorAs(t, egress.New(egress.Options{}).Beside().CheckAddress(t.Context(), address), &invalid, "nothing is listed")
	}
	for _, address := range []string{"http://8.8.8.8/", "http://public.example/", "http://other.internal/", "http://10.0.0.1/", "http://127.0.0.2/", "http://[::1]/", "https://10.0.0.1/"} {
		var refused *egress.RefusedError
		require.ErrorAs(t, guard.Beside().CheckAddress(t.Context(), address), &refused, address)
		_, err := guard.Beside().Client().Get(address)
		require.ErrorAs(t, err, &refused, address)
	}
	var unknown *egress.InvalidURLError
	require.ErrorAs(t, guard.Beside().CheckAddress(t.Context(), "http://nowhere.internal/"), &unknown)
	require.NoError(t, guard.Beside().CheckAddress(t.Context(), "https://nowhere.internal/"))
	require.NoError(t, guard.Beside().CheckHost(t.Context(), &url.URL{Scheme: "https", Host: "public.example"}))
	var invalid *egress.InvalidURLError
	require.ErrorAs(t, guard.Beside().CheckAddress(t.Context(), "ftp://127.0.0.1/"), &invalid)
}
