package connection

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"visavis.dev/pkg/provider/upstream"
)

// discover asks an identity provider for where its parts are (OpenID Connect
// Discovery, 4), and for its keys.
func discover(ctx context.Context, client *http.Client, issuer string) error {
	var document struct {
		Issuer string `json:"issuer"`
		Asks   string `json:"authorization_endpoint"`
		Tokens string `json:"token_endpoint"`
		Keys   string `json:"jwks_uri"`
	}
	if err := get(ctx, client, strings.TrimSuffix(issuer, "/")+"/.well-known/openid-configuration", &document); err != nil {
		return err
	}
	if document.Issuer != issuer || !strings.HasPrefix(document.Asks, "https://") || !strings.HasPrefix(document.Tokens, "https://") {
		return &upstream.Error{Code: upstream.Malformed}
	}
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := get(ctx, client, document.Keys, &set); err != nil {
		return err
	}
	if len(set.Keys) == 0 {
		return &upstream.Error{Code: upstream.Malformed}
	}
	return nil
}

func get(ctx context.Context, client *http.Client, address string, answer any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return &upstream.Error{Code: upstream.AddressRefused, Err: err}
	}
	return upstream.ExchangeJSON(client, req, answer)
}
