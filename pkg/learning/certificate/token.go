package certificate

import (
	"context"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"errors"
	"math/big"

	"github.com/golang-jwt/jwt/v5"

	"visavis.dev/pkg/base/id"
)

// errKeyGone says that a key cannot sign any more.
var errKeyGone = errors.New("the key signs no more")

// KeySet are the keys by which others check the tokens that SignToken makes for an organization
// (RFC 7517). Where it has none, one is made.
func (r *Registry) KeySet(ctx context.Context, org id.Org) ([]byte, error) {
	found, err := r.keys(ctx, org, true)
	if err != nil {
		return nil, err
	}
	b64 := base64.RawURLEncoding.EncodeToString
	keys := make([]map[string]string, len(found))
	for i := range found {
		k, err := found[i].shown()
		if err != nil {
			return nil, err
		}
		keys[i] = map[string]string{
			"kty": "RSA", "use": "sig", "alg": jwt.SigningMethodRS256.Alg(), "kid": k.ID,
			"n": b64(k.TokenPublic.N.Bytes()), "e": b64(big.NewInt(int64(k.TokenPublic.E)).Bytes()),
		}
	}
	return json.Marshal(map[string]any{"keys": keys})
}

// SignToken signs a token of an organization's with RS256, by a key of its KeySet. The claims
// say whom it is for: a badge has none of those.
func (r *Registry) SignToken(ctx context.Context, org id.Org, claims jwt.Claims) (string, error) {
	which, private, err := r.tokenSigner(ctx, org)
	if err != nil {
		return "", err
	}
	t := jwt.NewWithClaims(jwt.SigningMethodRS256, claims)
	t.Header["kid"] = which
	return t.SignedString(private)
}

func (r *Registry) tokenSigner(ctx context.Context, org id.Org) (string, *rsa.PrivateKey, error) {
	keys, err := r.keys(ctx, org, true)
	if err != nil {
		return "", nil, err
	}
	k, err := r.signer(ctx, org, keys)
	if err == nil && k.TokenPrivate == nil {
		err = errKeyGone
	}
	return k.ID, k.TokenPrivate, err
}
