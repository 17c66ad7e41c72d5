package googlecalendar

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"visavis.dev/pkg/provider/upstream"
)

// Token is what an authorization server gives for a refresh token (RFC 6749, 6).
type Token struct {
	Access string
	// Refresh is the one that holds from now on; empty where the old one does.
	Refresh string
	// ExpiresIn is for how long the access token is taken.
	ExpiresIn time.Duration
}

// Grant is what a token is asked for with.
type Grant struct{ ClientID, ClientSecret, Refresh string }

// ErrInvalidGrant is the cause of the failure of a refresh token that is not taken any more: it expired, was withdrawn,
// or was used before.
var ErrInvalidGrant = errors.New("the refresh token is not taken any more")

const (
	// longestToken is in bytes.
	longestToken = 8 << 10
	shortestLife = time.Minute
	longestLife  = 24 * time.Hour
)

// Redeem has an access token given. The error is an upstream.Error, also of ErrInvalidGrant, or context.Canceled.
func (g Grant) Redeem(ctx context.Context, client *http.Client, address string) (Token, error) {
	form := url.Values{"grant_type": {"refresh_token"}, "refresh_token": {g.Refresh}, "client_id": {g.ClientID}, "client_secret": {g.ClientSecret}}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader(form.Encode()))
	if err != nil {
		return Token{}, &upstream.Error{Code: upstream.AddressRefused, Err: err}
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Accept", "application/json")
	resp, err := client.Do(req)
	if err != nil {
		return Token{}, upstream.FromRequest(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return Token{}, upstream.FromBody(err)
	}
	if err := upstream.CheckStatus(resp); err != nil {
		var refused struct {
			Error string `json:"error"`
		}
		if json.Unmarshal(body, &refused) == nil && refused.Error == "invalid_grant" {
			return Token{}, &upstream.Error{Code: upstream.Refused, Status: resp.StatusCode, Err: ErrInvalidGrant}
		}
		if refused.Error == "invalid_client" || refused.Error == "unauthorized_client" {
			return Token{}, &upstream.Error{Code: upstream.Refused, Status: resp.StatusCode}
		}
		return Token{}, err
	}
	var given struct {
		Access  string `json:"access_token"`
		Refresh string `json:"refresh_token"`
		Expires int64  `json:"expires_in"`
	}
	if err := json.Unmarshal(body, &given); err != nil || !usable(given.Access) || given.Refresh != "" && !usable(given.Refresh) {
		return Token{}, &upstream.Error{Code: upstream.Malformed, Err: err}
	}
	life := min(max(time.Duration(min(given.Expires, int64(longestLife/time.Second)))*time.Second, shortestLife), longestLife)
	return Token{given.Access, given.Refresh, life}, nil
}

// usable says whether a token can be sent.
func usable(token string) bool {
	return token != "" && len(token) <= longestToken && !strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' })
}
