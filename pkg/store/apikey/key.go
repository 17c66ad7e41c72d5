// Package apikey is about the keys that open the API: their secrets, what is
// kept of each, who a request's bearer turns out to be, and how keys are made,
// narrowed, rotated and revoked (spec, Authentication).
//
// Keys live in the directory, because a request must be known before its
// shard is. What happens to them is recorded on the organization's shard; the
// two are tied by package directory's outbox.
package apikey

import (
	"net/netip"
	"time"

	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/scope"
)

// Key is what is kept of a key.
type Key struct {
	ID         id.Key           `json:"id"`
	Org        id.Org           `json:"orgId"`
	Name       string           `json:"name"`
	Last4      string           `json:"last4"`
	Scopes     []scope.Scope    `json:"scopes"`
	FullAccess bool             `json:"fullAccess"`
	Contract   contract.Version `json:"apiVersion"`
	// Environment is live or test.
	Environment Environment `json:"environment"`
	// AllowedAddresses are the ranges (CIDR) the key may be used from; none means anywhere.
	AllowedAddresses []string   `json:"allowedAddresses"`
	CreatedBy        string     `json:"createdBy"`
	CreatedAt        time.Time  `json:"createdAt"`
	UpdatedAt        time.Time  `json:"updatedAt"`
	LastUsedAt       *time.Time `json:"lastUsedAt"`
	ExpiresAt        *time.Time `json:"expiresAt"`
	RevokedAt        *time.Time `json:"revokedAt"`
}

// Grant is what the key may do.
func (k *Key) Grant() scope.Grant {
	return scope.Grant{Contract: k.Contract, FullAccess: k.FullAccess, Scopes: k.Scopes}
}

// Usable says whether the key opens anything at a moment.
func (k *Key) Usable(now time.Time) bool {
	return k.RevokedAt == nil && (k.ExpiresAt == nil || now.Before(*k.ExpiresAt))
}

// AllowedFrom says whether the key may be used from an address.
func (k *Key) AllowedFrom(a netip.Addr) bool {
	for _, text := range k.AllowedAddresses {
		if p, err := netip.ParsePrefix(text); err == nil && p.Contains(a) {
			return true
		}
	}
	return len(k.AllowedAddresses) == 0
}
