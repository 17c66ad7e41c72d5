// Package ltitest is a learning platform on loopback, for tests of what launches and grades. It is
// written from the standards alone (1EdTech Security Framework 1.0, LTI Core 1.3, Deep Linking
// 2.0, Assignment and Grade Services 2.0, Names and Role Provisioning Services 2.0), and shares nothing with the tool that it tests.
package ltitest

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/egress"
)

// The tool as the platform knows it.
const (
	ClientID   = "tool-1"
	Deployment = "deployment-1"
	scoreScope = "https://purl.imsglobal.org/spec/lti-ags/scope/score"
	spec       = "https://purl.imsglobal.org/spec/lti/claim/"
)

// Score is what a gradebook has of somebody (AGS 2.0, section 3.4.1).
type Score struct {
	User        string   `json:"userId"`
	Given       *float64 `json:"scoreGiven"`
	Maximum     *float64 `json:"scoreMaximum"`
	Activity    string   `json:"activityProgress"`
	Grading     string   `json:"gradingProgress"`
	Timestamp   string   `json:"timestamp"`
	LineItem    string   `json:"-"`
	Status      int      `json:"-"`
	ContentType string   `json:"-"`
	timestampOf time.Time
}

// Platform is a learning platform. It vouches for whomever Claims says.
type Platform struct {
	*httptest.Server
	// Claims change those of the launches that are made.
	Claims func(jwt.MapClaims)
	// Sign makes the token of a launch; nil signs it as it should be.
	Sign func(jwt.MapClaims) string
	// Clock is the platform's.
	Clock func() time.Time
	Key   *rsa.PrivateKey
	// ToolKeys answers the key set of the tool, as its address would.
	ToolKeys func() []byte
	// KeysAway has the keys not be shown; it may wait.
	KeysAway func() bool
	// Published are the names of the keys that are shown; Key is the only one of them.
	Published []string

	t  testing.TB
	mu sync.Mutex
	// tokens are the scopes of the access tokens.
	tokens  map[string]string
	used    map[string]bool
	scores  []Score
	behaves []int
	// conflicts counts the scores that were of no later second than what is known.
	conflicts int
	KeyReads  int
	Tokens    int
	courses   map[string]*course
}

// New starts a platform.
func New(t testing.TB) *Platform {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	p := &Platform{t: t, Key: key, Clock: time.Now, Published: []string{"1"}, tokens: map[string]string{}, courses: map[string]*course{}, used: map[string]bool{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /keys", p.keys)
	mux.HandleFunc("POST /token", p.token)
	mux.HandleFunc("POST /items/{item}/scores", p.score)
	mux.HandleFunc("GET /courses/{course}/members", p.members)
	p.Server = httptest.NewTLSServer(mux)
	t.Cleanup(p.Close)
	return p
}

// Roots trust the platform.
func (p *Platform) Roots() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(p.Certificate())
	return pool
}

// Guard reaches the platform.
func (p *Platform) Guard() *egress.Guard {
	return egress.New(egress.Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, RootCAs: p.Roots()})
}

// Config is that of a connection to the platform.
func (p *Platform) Config(portal string) map[string]any {
	return map[string]any{
		"issuer": p.URL, "clientId": ClientID, "deploymentIds": []any{Deployment}, "authorizationUrl": p.URL + "/authorize?tenant=1",
		"tokenUrl": p.URL + "/token", "jwksUrl": p.URL + "/keys", "portalId": portal,
	}
}

// Hint is what the platform begins a launch with.
func (p *Platform) Hint() url.Values {
	return url.Values{
		"iss": {p.URL}, "login_hint": {"user-1"}, "target_link_uri": {"https://tool.example.com/"}, "lti_message_hint": {"m-1"},
		"client_id": {ClientID}, "lti_deployment_id": {Deployment},
	}
}

// Launch is what the platform says of somebody who opens a link.
func (p *Platform) Launch(nonce string) jwt.MapClaims {
	now := p.Clock()
	return jwt.MapClaims{
		"iss": p.URL, "aud": ClientID, "sub": "user-1", "nonce": nonce, "iat": now.Unix(), "exp": now.Add(5 * time.Minute).Unix(),
		"name": "Kim Lee", "email": "kim@example.com",
		spec + "message_type": "LtiResourceLinkRequest", spec + "version": "1.3.0", spec + "deployment_id": Deployment,
		spec + "target_link_uri": "https://tool.example.com/", spec + "resource_link": map[string]any{"id": "link-1"},
		spec + "roles":   []string{"http://purl.imsglobal.org/vocab/lis/v2/membership#Learner"},
		spec + "context": map[string]any{"id": "course-1"},
	}
}

// Instructor makes a launch that of somebody who teaches.
func Instructor(c jwt.MapClaims) {
	c[spec+"roles"] = []string{"http://purl.imsglobal.org/vocab/lis/v2/membership#Instructor"}
}

// Of makes a launch lead to something, by a custom parameter.
func Of(c jwt.MapClaims, subject string) {
	c[spec+"custom"] = map[string]any{"subject": subject}
}

// Set changes a claim of LTI's.
func Set(c jwt.MapClaims, name string, value any) { c[spec+name] = value }

// Graded makes a launch one whose score goes to a line item, with what the tool may do there.
func (p *Platform) Graded(c jwt.MapClaims, item string, scopes ...string) {
	if scopes == nil {
		scopes = []string{scoreScope}
	}
	c["https://purl.imsglobal.org/spec/lti-ags/claim/endpoint"] = map[string]any{"scope": scopes, "lineitem": p.URL + "/items/" + item + "?type=1", "lineitems": p.URL + "/items"}
}

// Linking makes a launch one by which somebody chooses a link.
func (p *Platform) Linking(c jwt.MapClaims) {
	delete(c, spec+"resource_link")
	c[spec+"message_type"] = "LtiDeepLinkingRequest"
	c["https://purl.imsglobal.org/spec/lti-dl/claim/deep_linking_settings"] = map[string]any{
		"deep_link_return_url": p.URL + "/chosen", "accept_types": []string{"link", "ltiResourceLink"}, "accept_presentation_document_targets": []string{"iframe"}, "data": "d-1",
	}
}

// Signed signs claims, as the platform does.
func (p *Platform) Signed(c jwt.MapClaims) string {
	t := jwt.NewWithClaims(jwt.SigningMethodRS256, c)
	t.Header["kid"] = "1"
	signed, err := t.SignedString(p.Key)
	require.NoError(p.t, err)
	return signed
}

// Answer is what the platform has a browser post that came to an address.
func (p *Platform) Answer(to string) url.Values {
	p.t.Helper()
	at, err := url.Parse(to)
	require.NoError(p.t, err)
	asked := at.Query()
	require.Equal(p.t, p.URL+"/authorize", at.Scheme+"://"+at.Host+at.Path)
	for name, want := range map[string]string{
		"tenant": "1", "scope": "openid", "response_type": "id_token", "response_mode": "form_post", "prompt": "none",
		"client_id": ClientID, "login_hint": "user-1", "lti_message_hint": "m-1",
	} {
		require.Equal(p.t, want, asked.Get(name), name)
	}
	require.NotEmpty(p.t, asked.Get("nonce"))
	claims := p.Launch(asked.Get("nonce"))
	if p.Claims != nil {
		p.Claims(claims)
	}
	sign := p.Signed
	if p.Sign != nil {
		sign = p.Sign
	}
	return url.Values{"state": {asked.Get("state")}, "id_token": {sign(claims)}}
}

func (p *Platform) keys(w http.ResponseWriter, _ *http.Request) {
	p.mu.Lock()
	p.KeyReads++
	named := p.Published
	p.mu.Unlock()
	if p.KeysAway != nil && p.KeysAway() {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	keys := []any{map[string]any{"kty": "EC", "kid": "ec", "crv": "P-256", "x": "AA", "y": "AA"}}
	for _, name := range named {
		keys = append(keys, JWK(name, &p.Key.PublicKey))
	}
	answer(w, http.StatusOK, map[string]any{"keys": keys})
}

// JWK is a public key in a set.
func JWK(name string, k *rsa.PublicKey) map[string]any {
	b64 := base64.RawURLEncoding.EncodeToString
	return map[string]any{"kty": "RSA", "kid": name, "alg": "RS256", "use": "sig", "n": b64(k.N.Bytes()), "e": b64(big.NewInt(int64(k.E)).Bytes())}
}

// Reads counts how often the keys were read.
func (p *Platform) Reads() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.KeyReads
}

// Given counts the access tokens that were given.
func (p *Platform) Given() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.Tokens
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

// clocksDiffer is how far the tool's clock may be from the platform's.
const clocksDiffer = 15 * time.Minute

// ToolToken reads a token that the tool signed, by the keys that it shows.
func (p *Platform) ToolToken(token string) (jwt.MapClaims, error) {
	claims := jwt.MapClaims{}
	_, err := jwt.ParseWithClaims(token, claims, func(t *jwt.Token) (any, error) {
		var set struct {
			Keys []struct{ Kty, Kid, N, E, Alg, Use string }
		}
		if err := json.Unmarshal(p.ToolKeys(), &set); err != nil {
			return nil, err
		}
		for _, k := range set.Keys {
			if k.Kid != t.Header["kid"] || k.Kty != "RSA" || k.Alg != "RS256" || k.Use != "sig" {
				continue
			}
			n, err := base64.RawURLEncoding.DecodeString(k.N)
			if err != nil {
				return nil, err
			}
			e, err := base64.RawURLEncoding.DecodeString(k.E)
			return &rsa.PublicKey{N: new(big.Int).SetBytes(n), E: int(new(big.Int).SetBytes(e).Int64())}, err
		}
		return nil, fmt.Errorf("there is no key %v", t.Header["kid"])
	}, jwt.WithValidMethods([]string{"RS256"}), jwt.WithTimeFunc(p.Clock), jwt.WithLeeway(clocksDiffer), jwt.WithExpirationRequired(), jwt.WithIssuedAt())
	return claims, err
}

// token gives an access token for an assertion that the tool signed (Security Framework 1.0,
// section 4.1; RFC 7523).
func (p *Platform) token(w http.ResponseWriter, r *http.Request) {
	refuse := func(why string) {
		answer(w, http.StatusBadRequest, map[string]any{"error": "invalid_client", "error_description": why})
	}
	if r.FormValue("grant_type") != "client_credentials" || r.FormValue("client_assertion_type") != "urn:ietf:params:oauth:client-assertion-type:jwt-bearer" {
		refuse("grant")
		return
	}
	claims, err := p.ToolToken(r.FormValue("client_assertion"))
	if err != nil {
		refuse(err.Error())
		return
	}
	jti, _ := claims["jti"].(string)
	audience, _ := claims.GetAudience()
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case claims["iss"] != ClientID, claims["sub"] != ClientID, len(audience) != 1, audience[0] != p.URL+"/token", jti == "", p.used[jti]:
		refuse("claims")
		return
	case r.FormValue("scope") != scoreScope && r.FormValue("scope") != membersScope:
		answer(w, http.StatusBadRequest, map[string]any{"error": "invalid_scope"})
		return
	}
	p.used[jti] = true
	token := rand.Text()
	p.tokens[token] = r.FormValue("scope")
	p.Tokens++
	answer(w, http.StatusOK, map[string]any{"access_token": token, "token_type": "Bearer", "expires_in": 3600, "scope": r.FormValue("scope")})
}

// Forget has the platform know no access token any more.
func (p *Platform) Forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tokens = map[string]string{}
}

// Behave has the next scores answered with these statuses, one each.
func (p *Platform) Behave(statuses ...int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.behaves = append(p.behaves, statuses...)
}

// score takes a score, unless one of the same second or a later one is known (AGS 2.0, section 3.4.9).
func (p *Platform) score(w http.ResponseWriter, r *http.Request) {
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	body, err := io.ReadAll(r.Body)
	s := Score{LineItem: r.PathValue("item"), ContentType: r.Header.Get("Content-Type")}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.tokens[token] != scoreScope {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	if len(p.behaves) > 0 {
		status := p.behaves[0]
		p.behaves = p.behaves[1:]
		w.WriteHeader(status)
		return
	}
	if err == nil {
		err = json.Unmarshal(body, &s)
	}
	if err == nil {
		s.timestampOf, err = time.Parse(time.RFC3339Nano, s.Timestamp)
	}
	known := map[string]bool{"Initialized": true, "Started": true, "InProgress": true, "Submitted": true, "Completed": true}[s.Activity] &&
		map[string]bool{"FullyGraded": true, "Pending": true, "PendingManual": true, "Failed": true, "NotReady": true}[s.Grading]
	if err != nil || s.User == "" || !known || (s.Given != nil) != (s.Maximum != nil) || r.URL.Query().Get("type") != "1" ||
		s.ContentType != "application/vnd.ims.lis.v1.score+json" {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	for _, had := range p.scores {
		if had.LineItem == s.LineItem && had.User == s.User && !s.timestampOf.Truncate(time.Second).After(had.timestampOf.Truncate(time.Second)) {
			p.conflicts++
			w.WriteHeader(http.StatusConflict)
			return
		}
	}
	p.scores = append(p.scores, s)
	w.WriteHeader(http.StatusNoContent)
}

// Conflicts counts the scores that came too late to count.
func (p *Platform) Conflicts() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.conflicts
}

// Scores are those that came, in their order.
func (p *Platform) Scores() []Score {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]Score{}, p.scores...)
}
