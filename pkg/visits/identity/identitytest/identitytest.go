// Package identitytest is an identity provider on loopback, for tests of who comes in
// by one.
package identitytest

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/require"
)

// The platform as the provider knows it.
const (
	ClientID = "visavis"
	Secret   = "of the client"
)

// Provider is an OpenID Connect provider. It vouches for whomever Claims says.
type Provider struct {
	*httptest.Server
	// Claims change those of the tokens that are made.
	Claims func(jwt.MapClaims)
	// Sign makes the token; nil signs it as it should be.
	Sign func(jwt.MapClaims) string
	// Metadata changes the document of where everything is.
	Metadata func(map[string]any)
	// Params says that the client shows its secret in the body.
	Params bool
	// Clock is the provider's; nil for that of the machine.
	Clock func() time.Time
	Key   *rsa.PrivateKey

	t     testing.TB
	mu    sync.Mutex
	codes map[string]url.Values
}

// New starts a provider.
func New(t testing.TB) *Provider {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	p := &Provider{t: t, Key: key, codes: map[string]url.Values{}, Clock: time.Now}
	mux := http.NewServeMux()
	mux.HandleFunc("/.well-known/openid-configuration", p.document)
	mux.HandleFunc("/keys", p.keys)
	mux.HandleFunc("/authorize", p.authorize)
	mux.HandleFunc("/token", p.token)
	p.Server = httptest.NewTLSServer(mux)
	t.Cleanup(p.Close)
	return p
}

// Roots trust the provider.
func (p *Provider) Roots() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(p.Certificate())
	return pool
}

// Config is that of a connection to the provider.
func (p *Provider) Config() map[string]any {
	return map[string]any{"issuer": p.URL, "clientId": ClientID}
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

func (p *Provider) document(w http.ResponseWriter, _ *http.Request) {
	d := map[string]any{
		"issuer": p.URL, "authorization_endpoint": p.URL + "/authorize", "token_endpoint": p.URL + "/token", "jwks_uri": p.URL + "/keys",
		"id_token_signing_alg_values_supported": []string{"RS256", "none", "HS256"}, "response_types_supported": []string{"code"},
	}
	if p.Metadata != nil {
		p.Metadata(d)
	}
	answer(w, http.StatusOK, d)
}

func (p *Provider) keys(w http.ResponseWriter, _ *http.Request) {
	b64 := base64.RawURLEncoding.EncodeToString
	answer(w, http.StatusOK, map[string]any{"keys": []any{map[string]any{
		"kty": "RSA", "kid": "1", "alg": "RS256", "use": "sig", "n": b64(p.Key.N.Bytes()), "e": b64(big.NewInt(int64(p.Key.E)).Bytes()),
	}}})
}

// authorize lets everybody in at once.
func (p *Provider) authorize(w http.ResponseWriter, r *http.Request) {
	code := rand.Text()
	asked := r.URL.Query()
	p.mu.Lock()
	p.codes[code] = asked
	p.mu.Unlock()
	to, err := url.Parse(asked.Get("redirect_uri"))
	if err != nil || asked.Get("client_id") != ClientID || asked.Get("code_challenge_method") != "S256" {
		http.Error(w, "bad question", http.StatusBadRequest)
		return
	}
	to.RawQuery = url.Values{"code": {code}, "state": {asked.Get("state")}}.Encode()
	http.Redirect(w, r, to.String(), http.StatusFound)
}

// Answer is what a browser comes back with from an address that it was sent to.
func (p *Provider) Answer(to string) url.Values {
	p.t.Helper()
	r, err := http.NewRequestWithContext(p.t.Context(), http.MethodGet, to, http.NoBody)
	require.NoError(p.t, err)
	response, err := p.Client().Transport.RoundTrip(r)
	require.NoError(p.t, err)
	require.NoError(p.t, response.Body.Close())
	require.Equal(p.t, http.StatusFound, response.StatusCode)
	at, err := response.Location()
	require.NoError(p.t, err)
	return at.Query()
}

// token gives a token for a code, once, to who asked for the code.
func (p *Provider) token(w http.ResponseWriter, r *http.Request) {
	name, secret, ok := r.BasicAuth()
	if !ok {
		name, secret, ok = r.PostFormValue("client_id"), url.QueryEscape(r.PostFormValue("client_secret")), p.Params
	}
	if !ok || name != ClientID || secret != url.QueryEscape(Secret) {
		answer(w, http.StatusUnauthorized, map[string]string{"error": "invalid_client"})
		return
	}
	p.mu.Lock()
	asked, known := p.codes[r.PostFormValue("code")]
	delete(p.codes, r.PostFormValue("code"))
	p.mu.Unlock()
	sum := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
	if !known || asked.Get("code_challenge") != base64.RawURLEncoding.EncodeToString(sum[:]) || asked.Get("redirect_uri") != r.PostFormValue("redirect_uri") {
		answer(w, http.StatusBadRequest, map[string]string{"error": "invalid_grant"})
		return
	}
	now := p.Clock()
	claims := jwt.MapClaims{
		"iss": p.URL, "aud": ClientID, "sub": "kim", "nonce": asked.Get("nonce"), "iat": now.Unix(), "exp": now.Add(time.Minute).Unix(),
		"email": "kim@example.com", "email_verified": true,
	}
	if p.Claims != nil {
		p.Claims(claims)
	}
	sign := p.Sign
	if sign == nil {
		sign = func(c jwt.MapClaims) string { return p.Signed(jwt.SigningMethodRS256, p.Key, c) }
	}
	answer(w, http.StatusOK, map[string]any{"access_token": "a", "token_type": "Bearer", "id_token": sign(claims)})
}

// Signed is a token that is signed in some way.
func (p *Provider) Signed(m jwt.SigningMethod, key any, c jwt.MapClaims) string {
	t := jwt.NewWithClaims(m, c)
	t.Header["kid"] = "1"
	signed, err := t.SignedString(key)
	require.NoError(p.t, err)
	return signed
}
