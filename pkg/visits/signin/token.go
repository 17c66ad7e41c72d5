package signin

import (
	"context"
	"errors"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/uuid"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/vault"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/store/tenant"
)

// purpose is what a token is for. One of a purpose opens nothing else.
type purpose string

const (
	forEmbed    purpose = "embed"
	forCustomer purpose = "customer"
)

// audience is whom a token is for.
func (p purpose) audience(at id.Portal) string { return at.String() + "/" + string(p) }

// claims are what a token says.
type claims struct {
	jwt.RegisteredClaims
	// Membership is of a person, who is the token's subject.
	Membership *id.Membership `json:"membership,omitempty"`
	Details    Details        `json:"details"`
}

// algorithm is the one that tokens are signed with, whatever a token says of it.
var algorithm = jwt.SigningMethodHS256

// Issued is a token that was just made. It is shown once.
type Issued struct {
	Token     string
	ExpiresAt time.Time
}

// issue makes a token, good for some time.
func issue(ctx context.Context, tx *tenant.Tx, v *vault.Vault, p id.Portal, why purpose, c claims, goodFor time.Duration, now time.Time) (Issued, error) {
	k, err := signingKey(ctx, tx, v, now)
	if err != nil {
		return Issued{}, err
	}
	// Claims have whole seconds.
	expires := now.Add(min(goodFor, longestToken)).Truncate(time.Second)
	c.Issuer, c.Audience, c.ID = tx.Org.String(), jwt.ClaimStrings{why.audience(p)}, uuid.NewString()
	c.IssuedAt, c.NotBefore, c.ExpiresAt = jwt.NewNumericDate(now), jwt.NewNumericDate(now.Add(-clockSkew)), jwt.NewNumericDate(expires)
	t := jwt.NewWithClaims(algorithm, c)
	t.Header["kid"] = k.ID.String()
	signed, err := t.SignedString(k.Secret)
	return Issued{signed, expires}, err
}

// clockSkew is how far the clocks of two processes may be apart.
const clockSkew = time.Minute

// read checks a token and answers what it says. The error can be a Refusal; of a token
// that was made for the portal but has expired, it answers what it says all the same,
// and nothing of any other.
func read(ctx context.Context, tx *tenant.Tx, v *vault.Vault, p id.Portal, why purpose, token string, now time.Time) (claims, error) {
	var (
		said   claims
		failed error
	)
	_, err := jwt.ParseWithClaims(token, &said, func(t *jwt.Token) (any, error) {
		kid, _ := t.Header["kid"].(string)
		k, err := id.ParseSigningKey(kid)
		if err != nil {
			return nil, err
		}
		secret, err := secretOf(ctx, tx, v, k)
		if err != nil {
			failed = err
			return nil, err
		}
		if len(secret) == 0 {
			return nil, jwt.ErrTokenUnverifiable
		}
		return secret, nil
	}, jwt.WithValidMethods([]string{algorithm.Alg()}), jwt.WithIssuer(tx.Org.String()), jwt.WithAudience(why.audience(p)),
		jwt.WithExpirationRequired(), jwt.WithNotBeforeRequired(), jwt.WithTimeFunc(func() time.Time { return now }))
	switch {
	case failed != nil:
		return claims{}, failed
	case err == nil && said.ID != "":
		return said, nil
	case errors.Is(err, jwt.ErrTokenInvalidAudience), errors.Is(err, jwt.ErrTokenInvalidIssuer):
		return claims{}, refuse(TokenElsewhere)
	case errors.Is(err, jwt.ErrTokenExpired): // claims are looked at once the signature holds
		return said, refuse(TokenExpired)
	}
	return claims{}, refuse(TokenInvalid)
}

// place is the place of the person that a token is of.
func (c *claims) place(ctx context.Context, tx *tenant.Tx) (person.Membership, error) {
	if c.Membership == nil {
		return person.Membership{}, refuse(TokenInvalid)
	}
	return person.FindMembership(ctx, tx, *c.Membership)
}

// spend uses a token up. The error is a Refusal for one that was used before.
func spend(ctx context.Context, tx *tenant.Tx, c claims) error {
	token, err := uuid.Parse(c.ID)
	if err != nil {
		return refuse(TokenInvalid)
	}
	return spendOnce(ctx, tx, token, c.ExpiresAt.Time)
}

// spendOnce uses up what is good until a moment.
func spendOnce(ctx context.Context, tx *tenant.Tx, token uuid.UUID, until time.Time) error {
	tx.Touch("used_token", token)
	tag, err := tx.Exec(ctx, `
		INSERT INTO used_token (org_id, id, expires_at) VALUES ($1, $2, $3) ON CONFLICT (org_id, id) DO NOTHING`, tx.Org, token, until)
	if err == nil && tag.RowsAffected() == 0 {
		err = refuse(TokenUsed)
	}
	return err
}
