package signin_test

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/egress"
	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/portals/door"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/visits/admission/admissiontest"
	"visavis.dev/pkg/visits/identity"
	"visavis.dev/pkg/visits/identity/identitytest"
	"visavis.dev/pkg/visits/signin"
)

const callback = "https://portal.example.com/p/harbour/sso/callback"

// provided is a world with an identity provider that its portal lets people in by.
type provided struct {
	*world
	*identitytest.Provider
	connection id.Connection
}

func newProvided(t *testing.T, changes ...func(map[string]any)) *provided {
	t.Helper()
	p := &provided{world: newWorld(t), Provider: identitytest.New(t)}
	p.Clock = p.clock.Now
	p.gate.Asker = identity.New(egress.New(egress.Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, RootCAs: p.Roots()}), p.clock)
	p.gate.Connections = connection.NewOpener(p.tenants, p.gate.Vault, p.clock)
	config := p.Config()
	for _, change := range changes {
		change(config)
	}
	p.connection = p.connect(config)
	p.use(p.connection)
	return p
}

// connect enters a connection to a provider.
func (p *provided) connect(config map[string]any) id.Connection {
	offer, ok := connection.FindOffer(connection.Identity, connection.OIDC)
	require.True(p.T, ok)
	require.NoError(p.T, offer.Check(config))
	c := connection.New(offer, "Staff", config, identitytest.Secret, p.clock.Now())
	c.TimeoutMs, c.Fallback = 5000, connection.FallbackFail
	require.NoError(p.T, p.inTx(func(ctx context.Context, tx *tenant.Tx) error {
		return connection.Create(ctx, tx, p.gate.Vault, c, identitytest.Secret, activity.Actor{By: "test", At: c.CreatedAt})
	}))
	return c.ID
}

func (p *provided) use(c id.Connection) {
	p.set(door.SSO, door.Change{Open: true, Requires: []string{}, Connection: c})
}

func (p *provided) begin() signin.Question {
	q, err := p.gate.AskProvider(p.Context(), p.one, p.portal.ID, callback)
	require.NoError(p.T, err)
	return q
}

func (p *provided) finish(q signin.Question, given url.Values) (signin.Entered, error) {
	return p.gate.BySSO(p.Context(), p.one, p.portal.ID, q.Cookie, given)
}

// come goes the whole way.
func (p *provided) come() (signin.Entered, error) {
	q := p.begin()
	return p.finish(q, p.Answer(q.URL))
}

func TestAnIdentityProviderLetsItsPeopleIn(t *testing.T) {
	p := newProvided(t)
	m := p.member("kim@example.com")
	q := p.begin()
	asked, err := url.Parse(q.URL)
	require.NoError(t, err)
	for name, want := range map[string]string{
		"response_type": "code", "client_id": "visavis", "redirect_uri": callback, "scope": "openid profile email", "code_challenge_method": "S256",
	} {
		require.Equal(t, want, asked.Query().Get(name), name)
	}
	require.NotContains(t, q.Cookie, asked.Query().Get("state"), "it is sealed")
	given := p.Answer(q.URL)
	in, err := p.finish(q, given)
	require.NoError(t, err)
	require.Equal(t, []any{"sso", m.Person}, []any{in.Door, in.Person})
	events, err := event.List(t.Context(), p.tenants, p.one, event.Filter{Types: []event.Type{event.LearnerSignedIn}}, event.Position{}, 10)
	require.NoError(t, err)
	require.Len(t, events, 1)
	require.Contains(t, string(events[0].Structure), `"sso"`)

	_, err = p.finish(q, given)
	p.refused(signin.AnswerRefused, err)

	// From now on the provider's name for them counts, whatever their address.
	p.Claims = func(c jwt.MapClaims) { c["email"], c["email_verified"] = "kim.lee@example.com", false }
	again, err := p.come()
	require.NoError(t, err)
	require.Equal(t, m.Person, again.Person)

	// Somebody new who is given the address is not who had it.
	p.Claims = func(c jwt.MapClaims) { c["sub"] = "another kim" }
	_, err = p.come()
	p.refused(signin.AccountUnknown, err)

	// However the client is to show its secret.
	p.Params, p.Claims = true, nil
	p.Metadata = func(d map[string]any) { d["token_endpoint_auth_methods_supported"] = []string{"client_secret_post"} }
	p.clock.SetTime(p.clock.Now().Add(time.Hour))
	_, err = p.come()
	require.NoError(t, err)

	// What another provider calls by the same name is somebody else.
	other := "https://login.example.com"
	err = p.inTx(func(ctx context.Context, tx *tenant.Tx) error {
		_, err := person.ByIdentity(ctx, tx, person.At{Connection: p.connection, Issuer: other, Subject: "kim"})
		return err
	})
	require.ErrorIs(t, err, errdefs.NotFound{Noun: person.Noun})
}

func TestWhomAnIdentityProviderDoesNotLetIn(t *testing.T) {
	for name, c := range map[string]struct {
		config func(map[string]any)
		claims func(jwt.MapClaims)
		world  func(*provided, person.Membership)
		want   signin.Code
	}{
		"an address that is not vouched for": {claims: func(c jwt.MapClaims) { c["email_verified"] = false }, want: signin.AccountUnknown},
		"nothing is said of the address":     {claims: func(c jwt.MapClaims) { delete(c, "email_verified") }, want: signin.AccountUnknown},
		"the address is no truth":            {claims: func(c jwt.MapClaims) { c["email_verified"] = 1 }, want: signin.AccountUnknown},
		"a stranger":                         {claims: func(c jwt.MapClaims) { c["email"] = "eve@example.com" }, want: signin.AccountUnknown},
		"another domain":                     {config: func(c map[string]any) { c["emailDomains"] = []any{"example.org"} }, want: signin.DomainRefused},
		"a domain without an address": {
			config: func(c map[string]any) { c["emailDomains"] = []any{"example.com"} }, claims: func(c jwt.MapClaims) { c["email_verified"] = false }, want: signin.DomainRefused,
		},
		"no place": {world: func(p *provided, m person.Membership) {
			p.exec(`UPDATE membership SET removed_at = now() WHERE org_id = $1 AND id = $2`, p.one, m.ID)
		}, want: "no_membership"},
		"switched off": {world: func(p *provided, m person.Membership) {
			p.exec(`UPDATE person SET state = 'disabled' WHERE org_id = $1 AND id = $2`, p.one, m.Person)
		}, want: "person_disabled"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProvided(t, func(config map[string]any) {
				if c.config != nil {
					c.config(config)
				}
			})
			m := p.member("kim@example.com")
			p.Claims = c.claims
			if c.world != nil {
				c.world(p, m)
			}
			_, err := p.come()
			p.refused(c.want, err)
			require.Zero(t, p.count(`SELECT count(*) FROM person_identity WHERE org_id = $1`, p.one))
		})
	}
	p := newProvided(t, func(c map[string]any) {
		c["emailDomains"], c["externalIdClaim"] = []any{"Example.com"}, "employee"
	})
	number := "e-7"
	who := admissiontest.Person(t, p.tenants, p.one, func(p *person.Person) { p.ExternalID = &number })
	admissiontest.Membership(t, p.tenants, p.one, who.ID, p.portal.ID)
	p.Claims = func(c jwt.MapClaims) { c["employee"], c["email_verified"] = number, "true" }
	in, err := p.come()
	require.NoError(t, err)
	require.Equal(t, who.ID, in.Person)
}

// Whoever tampers with an answer, or brings another's, does not come in.
func TestAttacksOnAnswers(t *testing.T) {
	stranger, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	for name, attack := range map[string]func(*provided){
		"another audience": func(p *provided) { p.Claims = func(c jwt.MapClaims) { c["aud"] = "another" } },
		"many audiences": func(p *provided) {
			p.Claims = func(c jwt.MapClaims) { c["aud"] = []string{"another", identitytest.ClientID} }
		},
		"another party":  func(p *provided) { p.Claims = func(c jwt.MapClaims) { c["azp"] = "another" } },
		"another issuer": func(p *provided) { p.Claims = func(c jwt.MapClaims) { c["iss"] = "https://login.example.com" } },
		"another nonce":  func(p *provided) { p.Claims = func(c jwt.MapClaims) { c["nonce"] = "another" } },
		"no nonce":       func(p *provided) { p.Claims = func(c jwt.MapClaims) { delete(c, "nonce") } },
		"no subject":     func(p *provided) { p.Claims = func(c jwt.MapClaims) { delete(c, "sub") } },
		"a token that is over": func(p *provided) {
			p.Claims = func(c jwt.MapClaims) { c["exp"] = p.clock.Now().Add(-time.Minute).Unix() }
		},
		"another's key": func(p *provided) {
			p.Sign = func(c jwt.MapClaims) string { return p.Signed(jwt.SigningMethodRS256, stranger, c) }
		},
		"no signature": func(p *provided) {
			p.Sign = func(c jwt.MapClaims) string {
				return p.Signed(jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, c)
			}
		},
		"the public key as a secret": func(p *provided) {
			p.Sign = func(c jwt.MapClaims) string {
				return p.Signed(jwt.SigningMethodHS256, x509.MarshalPKCS1PublicKey(&p.Key.PublicKey), c)
			}
		},
		"the client's secret as a key": func(p *provided) {
			p.Sign = func(c jwt.MapClaims) string { return p.Signed(jwt.SigningMethodHS256, []byte(identitytest.Secret), c) }
		},
		"another body under the signature": func(p *provided) {
			p.Sign = func(c jwt.MapClaims) string {
				good := strings.Split(p.Signed(jwt.SigningMethodRS256, p.Key, c), ".")
				c["email"] = "admin@example.com"
				return good[0] + "." + strings.Split(p.Signed(jwt.SigningMethodRS256, p.Key, c), ".")[1] + "." + good[2]
			}
		},
		"no token": func(p *provided) { p.Sign = func(jwt.MapClaims) string { return "" } },
	} {
		t.Run(name, func(t *testing.T) {
			p := newProvided(t)
			p.member("kim@example.com")
			attack(p)
			_, err := p.come()
			p.refused(signin.AnswerRefused, err)
			require.Zero(t, p.count(`SELECT count(*) FROM portal_visit WHERE org_id = $1`, p.one))
		})
	}
}

func TestAttacksOnQuestions(t *testing.T) {
	p := newProvided(t)
	p.member("kim@example.com")
	mine, theirs := p.begin(), p.begin()
	given := p.Answer(theirs.URL)
	_, err := p.finish(mine, given)
	p.refused(signin.AnswerRefused, err)
	for _, cookie := range []string{"", "x", "=", theirs.Cookie[:len(theirs.Cookie)-4] + "AAAA"} {
		_, err := p.finish(signin.Question{Cookie: cookie}, given)
		p.refused(signin.AnswerRefused, err)
	}
	elsewhere := newProvided(t)
	elsewhere.gate.Vault = p.gate.Vault
	_, err = elsewhere.finish(theirs, given)
	elsewhere.refused(signin.AnswerRefused, err)

	with := func(change func(url.Values)) url.Values {
		v := url.Values{"code": given["code"], "state": given["state"]}
		change(v)
		return v
	}
	_, err = p.finish(theirs, with(func(v url.Values) { v.Del("code") }))
	p.refused(signin.AnswerRefused, err)
	_, err = p.finish(theirs, with(func(v url.Values) { v.Set("iss", "https://evil.example.com") }))
	p.refused(signin.AnswerRefused, err)
	_, err = p.finish(theirs, with(func(v url.Values) { v.Set("error", "access_denied") }))
	p.refused(signin.ProviderDenied, err)
	_, err = p.finish(theirs, given)
	require.NoError(t, err)

	// A code is of one question, by its verifier.
	first, second := p.begin(), p.begin()
	code := p.Answer(first.URL).Get("code")
	answer := p.Answer(second.URL)
	answer.Set("code", code)
	_, err = p.finish(second, answer)
	p.refused(signin.AnswerRefused, err)

	slow := p.begin()
	given = p.Answer(slow.URL)
	p.clock.SetTime(p.clock.Now().Add(identity.AttemptFor))
	_, err = p.finish(slow, given)
	p.refused(signin.AnswerRefused, err)

	// The answer to one connection does not come in by another.
	asked := p.begin()
	given = p.Answer(asked.URL)
	p.use(p.connect(p.Config()))
	_, err = p.finish(asked, given)
	p.refused(signin.AnswerRefused, err)

	p.set(door.SSO, door.Change{Requires: []string{}})
	_, err = p.gate.AskProvider(t.Context(), p.one, p.portal.ID, callback)
	p.refused(signin.DoorClosed, err)
}

func TestAProviderThatCannotBeAsked(t *testing.T) {
	for name, change := range map[string]func(*provided){
		"it is of another issuer": func(p *provided) { p.Metadata = func(d map[string]any) { d["issuer"] = "https://login.example.com" } },
		"it asks by a script": func(p *provided) {
			p.Metadata = func(d map[string]any) { d["authorization_endpoint"] = "javascript:alert(1)" }
		},
		"it asks in clear": func(p *provided) {
			p.Metadata = func(d map[string]any) { d["authorization_endpoint"] = "http://login.example.com" }
		},
		"it is gone":                     func(p *provided) { p.Close() },
		"its connection is switched off": func(p *provided) { p.exec(`UPDATE connection SET state = 'disabled' WHERE org_id = $1`, p.one) },
	} {
		t.Run(name, func(t *testing.T) {
			p := newProvided(t)
			change(p)
			_, err := p.gate.AskProvider(t.Context(), p.one, p.portal.ID, callback)
			p.refused(signin.ProviderAway, err)
		})
	}
	p := newProvided(t)
	p.Metadata = func(d map[string]any) { d["token_endpoint"] = "https://169.254.169.254/token" }
	p.member("kim@example.com")
	_, err := p.come()
	p.refused(signin.ProviderAway, err)
	q := newProvided(t)
	q.Metadata = func(d map[string]any) { d["authorization_response_iss_parameter_supported"] = true }
	_, err = q.come()
	q.refused(signin.AnswerRefused, err)
}
