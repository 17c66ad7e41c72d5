package apikey

import (
	"net/netip"
	"slices"
	"time"

	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/base/scope"
)

// A key that manages keys acts on what lies within itself alone: on keys that can do
// no more than it can, and so that they can do no more afterwards.

// Excess is the first thing in which another key goes beyond a key, as the name of the
// key's field; empty where it goes beyond in nothing.
type Excess string

// Kinds of excess.
const (
	NoExcess          Excess = ""
	ExcessScopes      Excess = "scopes"
	ExcessFullAccess  Excess = "fullAccess"
	ExcessEnvironment Excess = "environment"
	ExcessAddresses   Excess = "allowedAddresses"
	ExcessExpiry      Excess = "expiresAt"
)

// Excess says in what another key can do more than this one: by its scopes now or, with
// full access, by those to come; where it works, from where, and for how long.
func (k *Key) Excess(other *Key) Excess {
	switch {
	case !k.Grant().Covers(other.Grant()):
		return ExcessScopes
	case other.FullAccess && !k.FullAccess:
		return ExcessFullAccess
	case k.Environment == Test && other.Environment != Test:
		return ExcessEnvironment
	case !rangesWithin(k.AllowedAddresses, other.AllowedAddresses):
		return ExcessAddresses
	case k.ExpiresAt != nil && (other.ExpiresAt == nil || other.ExpiresAt.After(*k.ExpiresAt)):
		return ExcessExpiry
	}
	return NoExcess
}

// rangesWithin says whether each inner range lies in one of the outer ones. No ranges
// are every address.
func rangesWithin(outer, inner []string) bool {
	if len(outer) == 0 {
		return true
	}
	if len(inner) == 0 {
		return false
	}
	return !slices.ContainsFunc(inner, func(text string) bool {
		in, err := netip.ParsePrefix(text)
		return err != nil || !slices.ContainsFunc(outer, func(text string) bool {
			out, err := netip.ParsePrefix(text)
			return err == nil && out.Bits() <= in.Bits() && out.Contains(in.Addr())
		})
	})
}

// Wanted is a key that a key is asked to make.
type Wanted struct {
	Name   string
	Scopes []scope.Scope
	// Environment, AllowedAddresses and ExpiresAt are the maker's own unless given.
	Environment      Environment
	AllowedAddresses []string
	ExpiresAt        *time.Time
}

// Make is the key that this one makes. The error is a problem.
func (k *Key) Make(w Wanted, now time.Time) (Key, error) {
	made := Key{
		Org: k.Org, Name: w.Name, Scopes: w.Scopes, Contract: contract.Latest, Environment: w.Environment,
		AllowedAddresses: w.AllowedAddresses, CreatedBy: k.ID.String(), CreatedAt: now, UpdatedAt: now, ExpiresAt: w.ExpiresAt,
	}
	if made.Environment == "" {
		made.Environment = k.Environment
	}
	if len(made.AllowedAddresses) == 0 {
		made.AllowedAddresses = k.AllowedAddresses
	}
	if made.ExpiresAt == nil {
		made.ExpiresAt = k.ExpiresAt
	}
	if e := k.Excess(&made); e != NoExcess {
		return Key{}, k.beyond(e, &made).WithParam("body." + string(e))
	}
	return made, nil
}

// MayChange says whether this key may change another in any way. What is revoked or
// expired is so for good. The error is a problem.
func (k *Key) MayChange(target *Key, now time.Time) error {
	switch {
	case target.RevokedAt != nil:
		return problem.Conflicting("revoked", "The key is revoked, which is final. Make another one.")
	case !target.Usable(now):
		return problem.Conflicting("expired", "The key has expired, which is final. Make another one.")
	}
	return k.Covers(target)
}

// Covers says whether another key can do nothing that this one cannot. The error is a
// problem.
func (k *Key) Covers(target *Key) error {
	if e := k.Excess(target); e != NoExcess {
		return k.beyond(e, target)
	}
	return nil
}

// Change is what another key becomes by an update that this one makes. Its scopes only
// become fewer; its addresses and its expiry stay within those of this one, which could
// make such a key as well. The error is a problem.
func (k *Key) Change(target Key, u Update, now time.Time) (Key, error) {
	if err := k.MayChange(&target, now); err != nil {
		return Key{}, err
	}
	changed := target
	if u.Name != nil {
		changed.Name = *u.Name
	}
	if u.Scopes != nil {
		changed.Scopes, changed.FullAccess = *u.Scopes, false
	}
	if u.SetExpiry {
		changed.ExpiresAt = u.ExpiresAt
	}
	if u.AllowedAddresses != nil {
		changed.AllowedAddresses = *u.AllowedAddresses
	}
	if !target.Grant().Covers(changed.Grant()) {
		return Key{}, problem.Invalid("body.scopes", "A key's scopes can only become fewer; it lacks %s.", lacking(&target, changed.Scopes))
	}
	if e := k.Excess(&changed); e != NoExcess {
		return Key{}, k.beyond(e, &changed).WithParam("body." + string(e))
	}
	return changed, nil
}

// beyond explains an excess.
func (k *Key) beyond(e Excess, other *Key) *problem.Problem {
	const lead = "A key can only make and change keys that can do no more than itself: "
	switch e {
	case ExcessScopes:
		return problem.New(problem.Forbidden, lead+"this one lacks %s.", lacking(k, other.Grant().Effective()))
	case ExcessFullAccess:
		return problem.New(problem.Forbidden, lead+"this one has no full access.")
	case ExcessEnvironment:
		return problem.New(problem.Forbidden, lead+"this one is a test key.")
	case ExcessAddresses:
		return problem.New(problem.Forbidden, lead+"this one may be used from %s alone.", problem.And(k.AllowedAddresses))
	}
	return problem.New(problem.Forbidden, lead+"this one expires at %s.", k.ExpiresAt.UTC().Format(time.RFC3339))
}

// lacking lists the scopes that a key does not hold.
func lacking(k *Key, scopes []scope.Scope) string {
	var missing []string
	for _, s := range scopes {
		if !k.Grant().Holds(s) {
			missing = append(missing, string(s))
		}
	}
	return problem.And(missing)
}
