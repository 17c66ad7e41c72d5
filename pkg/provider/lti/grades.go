package lti

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/uuid"

	"visavis.dev/pkg/provider/upstream"
)

// assertionFor is how long an assertion is good.
const assertionFor = 5 * time.Minute

// Assertion are the claims by which the tool shows a platform's token endpoint who it is, to be
// signed by the tool (Security Framework 1.0, section 4.1.1; RFC 7523, section 3).
func (p *Platform) Assertion(now time.Time) jwt.Claims {
	audience := p.TokenAudience
	if audience == "" {
		audience = p.TokenURL
	}
	return jwt.MapClaims{
		"iss": p.ClientID, "sub": p.ClientID, "aud": audience, "iat": now.Unix(), "exp": now.Add(assertionFor).Unix(), "jti": uuid.NewString(),
	}
}

// Token is an access token.
type Token struct {
	Value     string
	ExpiresAt time.Time
}

// Usable says whether the token is good for a request now.
func (t Token) Usable(now time.Time) bool { return t.Value != "" && now.Before(t.ExpiresAt) }

const (
	// usually is how long a token is good whose platform does not say, and longestToken how long
	// one is used at most; early is how long before its end it is let go.
	usually, longestToken, early = 5 * time.Minute, time.Hour, 30 * time.Second
	// longestValue is in bytes.
	longestValue = 16 << 10
)

// Redeem gets an access token for a scope by a signed assertion. The error is an upstream.Error or
// context.Canceled.
func (p *Platform) Redeem(ctx context.Context, client *http.Client, assertion, scope string, now time.Time) (Token, error) {
	form := url.Values{
		"grant_type": {"client_credentials"}, "scope": {scope},
		"client_assertion_type": {"urn:ietf:params:oauth:client-assertion-type:jwt-bearer"}, "client_assertion": {assertion},
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.TokenURL, strings.NewReader(form.Encode()))
	if err != nil {
		return Token{}, &upstream.Error{Code: upstream.AddressRefused, Err: err}
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Accept", "application/json")
	var given struct {
		Value   string  `json:"access_token"`
		Type    string  `json:"token_type"`
		Expires float64 `json:"expires_in"`
	}
	if err := upstream.ExchangeJSON(client, req, &given); err != nil {
		return Token{}, err
	}
	if given.Value == "" || len(given.Value) > longestValue || strings.ContainsAny(given.Value, " \r\n") || !strings.EqualFold(given.Type, "Bearer") {
		return Token{}, &upstream.Error{Code: upstream.Malformed, Err: errors.New("there is no bearer token")}
	}
	good := usually
	if given.Expires > 0 {
		good = time.Duration(min(given.Expires, longestToken.Seconds())) * time.Second
	}
	return Token{given.Value, now.Add(good - early)}, nil
}

// The progress of somebody with what they do, and of its grading (AGS 2.0, sections 3.4.7 and 3.4.8).
const (
	Initialized = "Initialized"
	Completed   = "Completed"
	NotReady    = "NotReady"
	FullyGraded = "FullyGraded"
)

// Score is what a platform's gradebook is to have of somebody (AGS 2.0, section 3.4). A score
// that is nil takes back what it has.
type Score struct {
	User      string    `json:"userId"`
	Given     *float64  `json:"scoreGiven,omitempty"`
	Maximum   *float64  `json:"scoreMaximum,omitempty"`
	Activity  string    `json:"activityProgress"`
	Grading   string    `json:"gradingProgress"`
	Timestamp time.Time `json:"timestamp"`
}

// timestampForm has three decimals: some platforms take no more.
const timestampForm = "2006-01-02T15:04:05.000Z07:00"

// scoresOf is where scores of a line item go (AGS 2.0, section 3.3.2): every byte of its address stays as the platform
// wrote it, so that a slash which is part of a name is not read as another.
func scoresOf(lineItem string) string {
	at, _, _ := strings.Cut(lineItem, "#")
	path, query, asks := strings.Cut(at, "?")
	at = strings.TrimSuffix(path, "/") + "/scores"
	if asks {
		at += "?" + query
	}
	return at
}

// Send gives a score to a line item. A platform keeps what it has where that is of the same moment
// or a later one, and may say so by a conflict. The error is an upstream.Error or
// context.Canceled.
func (s Score) Send(ctx context.Context, client *http.Client, token Token, lineItem string) error {
	type plain Score
	body, err := json.Marshal(struct {
		plain
		Timestamp string `json:"timestamp"`
	}{plain(s), s.Timestamp.UTC().Format(timestampForm)})
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, scoresOf(lineItem), bytes.NewReader(body))
	if err != nil {
		return &upstream.Error{Code: upstream.AddressRefused, Err: err}
	}
	req.Header.Set("Authorization", "Bearer "+token.Value)
	req.Header.Set("Content-Type", "application/vnd.ims.lis.v1.score+json")
	_, err = upstream.Exchange(client, req)
	return err
}
