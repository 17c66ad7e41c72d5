// Package identity asks an organization's own identity provider who somebody is, by
// OpenID Connect: the authorization code flow with PKCE (RFC 7636), state and nonce.
// Who comes in by the answer is package signin's.
package identity

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
	"k8s.io/utils/clock"

	"visavis.dev/pkg/base/egress"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/readthrough"
	"visavis.dev/pkg/personas/connection"
)

const (
	// asked is how long a question may take, and longest the answer, in bytes.
	asked   = 10 * time.Second
	longest = 1 << 20
	// known is how long it is believed where a provider's parts are.
	known = 5 * time.Minute
	// AttemptFor is how long somebody may take at the provider.
	AttemptFor = 10 * time.Minute
)

// Errors of asking. All but ErrUnreachable mean that the answer is not believed.
var (
	ErrUnreachable = errors.New("the identity provider cannot be asked")
	ErrDenied      = errors.New("the identity provider let nobody in")
	ErrAnswer      = errors.New("the identity provider's answer is not good")
)

// Attempt is what a browser keeps, sealed, while somebody is at the provider.
type Attempt struct {
	// ID is spent with the answer.
	ID         id.Request    `json:"id"`
	Connection id.Connection `json:"connection"`
	// State and Nonce tie the answer to the browser, and the token to the answer.
	State    string `json:"state"`
	Nonce    string `json:"nonce"`
	Verifier string `json:"verifier"`
	// Redirect is where the answer comes to, exactly.
	Redirect  string    `json:"redirect"`
	ExpiresAt time.Time `json:"expiresAt"`
}

// Who is whom a provider vouches for.
type Who struct {
	// Issuer and Subject together never change, and are never another's.
	Issuer, Subject string
	// Email is empty where the provider does not say that it is theirs.
	Email string
	// ExternalID is the claim that the connection maps; empty for none.
	ExternalID string
}

// Asker asks providers. It is safe for concurrent use.
type Asker struct {
	http      *http.Client
	clock     clock.PassiveClock
	providers *readthrough.Cache[string, *oidc.Provider]
}

// maxProviders bounds the providers that are remembered.
const maxProviders = 1000

// New makes an asker that reaches providers through the guard.
func New(g *egress.Guard, c clock.PassiveClock) *Asker {
	a := &Asker{http: g.ClientWithin(asked, longest), clock: c}
	a.providers = readthrough.New(readthrough.Options[string, *oidc.Provider]{
		Size: maxProviders, Fresh: known, Outage: func(error) bool { return false }, Clock: c,
		Name: func(issuer string) string { return issuer }, Load: a.discover,
	})
	return a
}

// discover reads where a provider's parts are. That the document is of the issuer
// that was asked, the library checks.
func (a *Asker) discover(ctx context.Context, issuer string) (*oidc.Provider, error) {
	return oidc.NewProvider(oidc.ClientContext(ctx, a.http), issuer)
}

// Begin is where a browser goes to be asked, and what it keeps meanwhile. The error
// is ErrUnreachable.
func (a *Asker) Begin(ctx context.Context, c connection.Opened, redirect string) (Attempt, string, error) {
	ctx, cancel := context.WithTimeout(ctx, c.Timeout())
	defer cancel()
	p, err := a.providers.Get(ctx, c.Config.Text("issuer"))
	if err != nil {
		return Attempt{}, "", fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	if at, err := url.Parse(p.Endpoint().AuthURL); err != nil || at.Scheme != "https" || at.Host == "" {
		return Attempt{}, "", fmt.Errorf("%w: where it asks is no https address", ErrUnreachable)
	}
	made := Attempt{
		ID: id.NewRequest(), Connection: c.ID, State: rand.Text(), Nonce: rand.Text(), Verifier: oauth2.GenerateVerifier(), Redirect: redirect,
		ExpiresAt: a.clock.Now().UTC().Add(AttemptFor),
	}
	to := client(c, p, "", redirect).AuthCodeURL(made.State, oidc.Nonce(made.Nonce), oauth2.S256ChallengeOption(made.Verifier))
	return made, to, nil
}

// client is this platform as the provider knows it.
func client(c connection.Opened, p *oidc.Provider, secret, redirect string) *oauth2.Config {
	scopes := c.Config.Texts("scopes")
	if len(scopes) == 0 {
		scopes = []string{"profile", "email"}
	}
	return &oauth2.Config{
		ClientID: c.Config.Text("clientId"), ClientSecret: secret, Endpoint: endpoint(p), RedirectURL: redirect,
		Scopes: append([]string{oidc.ScopeOpenID}, scopes...),
	}
}

// endpoint is where a provider asks and answers, with how the client shows who it is.
// Left to find that out, the library would redeem a code twice, which spoils it.
func endpoint(p *oidc.Provider) oauth2.Endpoint {
	e := p.Endpoint()
	e.AuthStyle = oauth2.AuthStyleInHeader // where nothing is said (OpenID Connect Discovery, 3)
	var says struct {
		Methods []string `json:"token_endpoint_auth_methods_supported"`
	}
	if err := p.Claims(&says); err == nil && len(says.Methods) > 0 && !slices.Contains(says.Methods, "client_secret_basic") {
		e.AuthStyle = oauth2.AuthStyleInParams
	}
	return e
}
