package certificate

import (
	"context"
	"errors"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/readthrough"
	"visavis.dev/pkg/base/vault"
	"visavis.dev/pkg/store/directory"
	"visavis.dev/pkg/store/tenant"
)

// Registry finds certificates by what anybody may ask with.
type Registry struct {
	Directory *directory.Directory
	Tenants   *tenant.Tenants
	// Name is what an organization is called. The error is directory.ErrUnknown.
	Name  func(context.Context, id.Org) (string, error)
	Clock clock.PassiveClock
	// Vault seals the keys that sign badges.
	Vault *vault.Vault
	Links Links

	once    sync.Once
	lists   *readthrough.Cache[statusList, []byte]
	signers *readthrough.Cache[id.Org, signer]
}

// Verified is what anybody may know of a certificate whose number they have. Of one that was
// revoked, nobody learns whose it was.
type Verified struct {
	Number Number
	// State is valid, expired or revoked.
	State State
	// Issuer is the organization that issued it. What it calls itself, Organization, anybody may.
	Issuer id.Org
	// Recipient is who it was issued to and Title what for; both are empty once it was revoked.
	Organization, Recipient, Title string
	IssuedAt                       time.Time
	ExpiresAt, RevokedAt           *time.Time
	CheckedAt                      time.Time
}

// Verify says whether the certificate with a number counts. The number tells the organization,
// so that no shard but its own is asked. The error is errdefs.NotFound.
func (r *Registry) Verify(ctx context.Context, n Number) (Verified, error) {
	orgs, err := r.organizations(ctx, n.Code())
	if err != nil {
		return Verified{}, err
	}
	for _, org := range orgs {
		c, err := ByNumber(ctx, r.Tenants, org, n)
		if errdefs.IsNotFound(err, Noun) || errors.Is(err, directory.ErrUnknown) { // or was deleted
			continue
		}
		if err != nil {
			return Verified{}, err
		}
		name, err := r.Name(ctx, org)
		return c.verified(org, name, r.Clock.Now().UTC().Truncate(time.Second)), err
	}
	return Verified{}, Noun.NotFound(n)
}

// organizations are those with a code: none, or mostly one.
func (r *Registry) organizations(ctx context.Context, code string) ([]id.Org, error) {
	tail, ok := TailOf(code)
	if !ok {
		return nil, nil
	}
	return r.Directory.OrganizationsEnding(ctx, tail)
}

func (c *Certificate) verified(issuer id.Org, organization string, now time.Time) Verified {
	v := Verified{
		Number: c.Number, State: c.State(now), Issuer: issuer, Organization: organization, Recipient: c.Recipient, Title: c.Title, IssuedAt: c.IssuedAt,
		ExpiresAt: c.ExpiresAt, RevokedAt: c.RevokedAt, CheckedAt: now,
	}
	switch v.State {
	case Expiring:
		v.State = Valid
	case Revoked:
		v.Recipient, v.Title = "", ""
	case Valid, Expired:
	}
	return v
}
