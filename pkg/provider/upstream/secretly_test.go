package upstream_test

import (
	"context"
	"crypto/x509"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/egress"
	"visavis.dev/pkg/provider/upstream"
)

// No error of a request to a secret address tells it.
func TestSecretAddresses(t *testing.T) {
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Redirect(w, httptest.NewRequest(http.MethodGet, "/", http.NoBody), "https://elsewhere.example/", http.StatusFound)
	}))
	t.Cleanup(s.Close)
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	client := egress.New(egress.Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, RootCAs: roots}).Client()
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for name, tt := range map[string]struct {
		ctx     context.Context
		address string
		want    error
	}{
		"a redirect":  {t.Context(), s.URL + "/services/secret", egress.ErrRedirect},
		"cancelled":   {cancelled, s.URL + "/services/secret", context.Canceled},
		"refused":     {t.Context(), "https://10.0.0.1/services/secret", upstream.ErrAddressRefused},
		"no address":  {t.Context(), "https://exa mple/services/secret", upstream.ErrAddressRefused},
		"no such one": {t.Context(), "https://127.0.0.1:1/services/secret", upstream.ErrUnavailable},
	} {
		_, _, err := upstream.PostSecretly(tt.ctx, client, tt.address, []byte("{}"))
		require.ErrorIs(t, err, tt.want, name)
		for ; err != nil; err = unwrap(err) {
			require.NotContains(t, err.Error(), "secret/", name)
			require.NotContains(t, err.Error(), "/services", name)
		}
	}
}

func unwrap(err error) error {
	if u, ok := err.(interface{ Unwrap() error }); ok {
		return u.Unwrap()
	}
	return nil
}
