package webhook_test

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/egress"
	"visavis.dev/pkg/eventing/webhook"
)

// names are the hosts that can be looked up.
type names map[string]string

func (n names) LookupNetIP(ctx context.Context, _, host string) ([]netip.Addr, error) {
	switch address, known := n[host]; {
	case !known:
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	case address == "":
		<-ctx.Done()
		return nil, ctx.Err()
	default:
		return []netip.Addr{netip.MustParseAddr(address)}, nil
	}
}

func TestCheckURL(t *testing.T) {
	guard := egress.New(egress.Options{Resolver: names{"public.example": "1.1.1.1", "private.example": "10.0.0.1", "slow.example": ""}})
	for address, good := range map[string]bool{
		"https://public.example/hook?token=1":    true,
		"https://unknown.example/hook":           true, // it may be there tomorrow
		"https://slow.example/hook":              true,
		"https://1.1.1.1:8443/hook":              true,
		"https://private.example/hook":           false,
		"https://10.0.0.1/hook":                  false,
		"https://[::1]/hook":                     false,
		"https://0x7f.1/hook":                    false,
		"http://public.example/hook":             false,
		"https://user:pass@public.example":       false,
		"https://":                               false,
		"":                                       false,
		longURL("https://public.example/", 2048): true,
		longURL("https://public.example/", 2049): false,
	} {
		err := webhook.CheckURL(t.Context(), guard, address)
		if good {
			require.NoError(t, err, address)
			continue
		}
		var (
			invalid *egress.InvalidURLError
			refused *egress.RefusedError
		)
		require.True(t, errors.As(err, &invalid) || errors.As(err, &refused), "%s: %v", address, err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, webhook.CheckURL(gone, guard, "https://slow.example/"), context.Canceled)
}

func longURL(start string, length int) string { return start + strings.Repeat("x", length-len(start)) }

func TestPlace(t *testing.T) {
	for address, want := range map[string]string{
		"https://example.com/hook?token=1":     "https://example.com",
		"https://example.com:8443/secret#part": "https://example.com:8443",
		"https://user:pass@example.com/":       "https://example.com",
		"https://[::1":                         "",
	} {
		require.Equal(t, want, webhook.Place(address))
	}
}
