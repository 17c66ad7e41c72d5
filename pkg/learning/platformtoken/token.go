// Package platformtoken has the access tokens by which learning platforms are asked (1EdTech
// Security Framework 1.0, section 4.1): what a platform gave is used again until it ends or is not
// taken any more.
package platformtoken

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"k8s.io/utils/clock"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/lru"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/provider/lti"
	"visavis.dev/pkg/provider/upstream"
)

// Sign signs a token of an organization's by a key of the set that it shows.
type Sign func(ctx context.Context, org id.Org, claims jwt.Claims) (string, error)

// Tokens are those of all platforms for one scope. It is safe for concurrent use.
type Tokens struct {
	sign  Sign
	clock clock.PassiveClock
	scope string
	known lru.Cache[of, lti.Token]
}

// of names the token of a connection as it was settled last.
type of struct {
	org     id.Org
	of      id.Connection
	settled time.Time
}

// most bounds the tokens that are remembered.
const most = 1000

// New remembers none.
func New(sign Sign, c clock.PassiveClock, scope string) *Tokens {
	known, err := lru.New[of, lti.Token](most)
	if err != nil {
		panic(err) // the size is good
	}
	return &Tokens{sign, c, scope, known}
}

// GrantError says that the platform gave no token.
type GrantError struct{ Err error }

func (e *GrantError) Error() string { return "no token was given: " + e.Err.Error() }

// Unwrap gives the reason, which can be an upstream.Error.
func (e *GrantError) Unwrap() error { return e.Err }

// With does something with a token of a connection's platform. One that is not taken any more is replaced once. The
// error is do's, or a GrantError.
func (t *Tokens) With(ctx context.Context, o *connection.Opened, client *http.Client, do func(lti.Token) error) (err error) {
	key := of{o.Org, o.ID, o.SettledAt}
	for range 2 {
		var token lti.Token
		if token, err = t.token(ctx, o, client, key); err != nil {
			return &GrantError{err}
		}
		if err = do(token); !errors.Is(err, upstream.ErrRefused) {
			return err
		}
		t.known.Remove(key)
	}
	return err
}

func (t *Tokens) token(ctx context.Context, o *connection.Opened, client *http.Client, key of) (lti.Token, error) {
	now := t.clock.Now()
	if token, ok := t.known.Get(key); ok && token.Usable(now) {
		return token, nil
	}
	p := o.Platform()
	assertion, err := t.sign(ctx, o.Org, p.Assertion(now))
	if err != nil {
		return lti.Token{}, err
	}
	token, err := p.Redeem(ctx, client, assertion, t.scope, now)
	if err == nil {
		t.known.Add(key, token)
	}
	return token, err
}
