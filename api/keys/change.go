package keys

import (
	"context"
	"net/netip"
	"time"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/store/apikey"
)

// CreateInput is the request for a new key.
type CreateInput struct{ Body NewKey }

// NewKey is a key to be made.
type NewKey struct {
	Name             string             `json:"name" minLength:"1" maxLength:"80" doc:"What to call the key, for people."`
	Scopes           []scope.Scope      `json:"scopes" minItems:"1" maxItems:"100" doc:"Scopes the calling key holds itself."`
	Environment      apikey.Environment `json:"environment,omitempty" enum:"live,test" doc:"That of the calling key unless given; a test key makes test keys alone. What a test key starts are sandbox sessions, which cost no minutes."`
	ExpiresAt        *time.Time         `json:"expiresAt,omitempty" doc:"When the calling key expires, unless given, and never later."`
	AllowedAddresses []string           `json:"allowedAddresses,omitempty" maxItems:"50" doc:"Ranges (CIDR) the key may be used from, within those of the calling key; the same unless given."`
}

func (a *API) create(ctx context.Context, c *route.Call, in *CreateInput) (KeyWithSecret, error) {
	now, b := c.Now(), in.Body
	if err := check(c, b.Scopes, b.AllowedAddresses, b.ExpiresAt); err != nil {
		return KeyWithSecret{}, err
	}
	return commit(ctx, a, c, "", func(caller, _ apikey.Key) (change[KeyWithSecret], error) {
		k, err := caller.Make(apikey.Wanted{
			Name: b.Name, Scopes: b.Scopes, Environment: b.Environment, AllowedAddresses: b.AllowedAddresses, ExpiresAt: b.ExpiresAt,
		}, now)
		if err != nil {
			return change[KeyWithSecret]{}, err
		}
		k.ID = id.NewKey()
		secret := apikey.NewSecret(k.Environment)
		hash := secret.Hash()
		k.Last4 = secret.Last4()
		return change[KeyWithSecret]{
			Change: apikey.Change{Insert: &apikey.Insertion{Key: k, Hash: hash[:]}},
			changes: map[string]any{
				"name": k.Name, "scopes": k.Scopes, "environment": k.Environment, "allowedAddresses": k.AllowedAddresses, "expiresAt": k.ExpiresAt,
			},
			answer: KeyWithSecret{Show(k, now), secret},
		}, nil
	})
}

// check refuses scopes and addresses that do not exist, and an expiry that is past.
func check(c *route.Call, scopes []scope.Scope, addresses []string, expiresAt *time.Time) error {
	for _, s := range scopes {
		if !scope.Known(s) {
			return problem.Invalid("body.scopes", "There is no scope %q.", s)
		}
	}
	for _, text := range addresses {
		if _, err := netip.ParsePrefix(text); err != nil {
			return problem.Invalid("body.allowedAddresses", "%q is not a range in CIDR form, such as 203.0.113.0/24.", text)
		}
	}
	if expiresAt == nil {
		return nil
	}
	if !expiresAt.After(c.Now()) {
		return problem.Invalid("body.expiresAt", "expiresAt must lie in the future.")
	}
	return route.CheckTime("body.expiresAt", *expiresAt)
}

// UpdateInput is the request for a change of a key.
type UpdateInput struct {
	Path
	Body KeyChange
}

// KeyChange is what to change of a key.
type KeyChange struct {
	Name             route.Opt[string]        `json:"name,omitzero" minLength:"1" maxLength:"80" doc:"A new name, for people."`
	Scopes           route.Opt[[]scope.Scope] `json:"scopes,omitzero" minItems:"1" maxItems:"100" doc:"Fewer scopes than the key has."`
	ExpiresAt        route.OptNull[time.Time] `json:"expiresAt,omitzero" doc:"Null for never, as far as the calling key expires never itself. A key that has expired stays so."`
	AllowedAddresses route.Opt[[]string]      `json:"allowedAddresses,omitzero" maxItems:"50" doc:"Within those of the calling key; an empty list for anywhere."`
}

func (a *API) update(ctx context.Context, c *route.Call, in *UpdateInput) (Key, error) {
	if _, err := a.find(ctx, c, in.ID); err != nil {
		return Key{}, err
	}
	b := in.Body
	if err := check(c, b.Scopes.Value, b.AllowedAddresses.Value, b.ExpiresAt.Value); err != nil {
		return Key{}, err
	}
	return commit(ctx, a, c, in.ID, func(caller, k apikey.Key) (change[Key], error) {
		update, changes := b.update(after(c.Now(), k.UpdatedAt))
		changed, err := caller.Change(k, update, c.Now())
		return change[Key]{
			Change:  apikey.Change{Update: &apikey.Alteration{Key: k.ID, Update: update}},
			changes: changes, answer: Show(changed, c.Now()),
		}, err
	})
}

// update is the change as the store takes it, and as the activity log tells it.
func (b *KeyChange) update(at time.Time) (u apikey.Update, changes map[string]any) {
	u, changes = apikey.Update{At: at}, map[string]any{}
	if b.Name.Set {
		u.Name, changes["name"] = &b.Name.Value, b.Name.Value
	}
	if b.Scopes.Set {
		u.Scopes, u.FullAccess, changes["scopes"] = &b.Scopes.Value, new(bool), b.Scopes.Value
	}
	if b.ExpiresAt.Set {
		u.SetExpiry, u.ExpiresAt, changes["expiresAt"] = true, b.ExpiresAt.Value, b.ExpiresAt.Value
	}
	if b.AllowedAddresses.Set {
		u.AllowedAddresses, changes["allowedAddresses"] = &b.AllowedAddresses.Value, b.AllowedAddresses.Value
	}
	return u, changes
}

// after is a moment later than an earlier one, also where this pod's clock is
// behind the one that made that: a late repeat of a change is told by its time.
func after(now, earlier time.Time) time.Time {
	if now.After(earlier) {
		return now
	}
	return earlier.Add(time.Microsecond)
}

// RotateInput is the request for another secret.
type RotateInput struct {
	Path
	Body *KeyRotation
}

// KeyRotation says how a key is rotated.
type KeyRotation struct {
	GraceS int64 `json:"graceS,omitempty" minimum:"0" maximum:"604800" doc:"How many seconds the old secret works on; 0 unless given."`
}

func (a *API) rotate(ctx context.Context, c *route.Call, in *RotateInput) (KeyWithSecret, error) {
	var grace time.Duration
	if in.Body != nil {
		grace = time.Duration(in.Body.GraceS) * time.Second
	}
	return commit(ctx, a, c, in.ID, func(caller, k apikey.Key) (change[KeyWithSecret], error) {
		// The new secret is as strong as the key; whoever asks must be too.
		if err := caller.MayChange(&k, c.Now()); err != nil {
			return change[KeyWithSecret]{}, err
		}
		now := after(c.Now(), k.UpdatedAt)
		secret := apikey.NewSecret(k.Environment)
		hash := secret.Hash()
		k.Last4 = secret.Last4()
		return change[KeyWithSecret]{
			Change: apikey.Change{Rotate: &apikey.Rotation{
				Key: k.ID, Hash: hash[:], Last4: k.Last4, At: now, OldUntil: now.Add(grace),
			}},
			changes: map[string]any{"graceS": int64(grace.Seconds())}, answer: KeyWithSecret{Show(k, now), secret},
		}, nil
	})
}

func (a *API) revoke(ctx context.Context, c *route.Call, p *Path) (route.Deleted, error) {
	return commit(ctx, a, c, p.ID, func(caller, k apikey.Key) (change[route.Deleted], error) {
		if k.ID == caller.ID {
			return change[route.Deleted]{}, problem.Conflicting("own_key", "A key cannot revoke itself.")
		}
		if err := caller.Covers(&k); err != nil {
			return change[route.Deleted]{}, err
		}
		made := change[route.Deleted]{answer: route.Deleted{Deleted: true, ID: k.ID.String()}}
		if k.RevokedAt == nil {
			made.Change = apikey.Change{Revoke: &apikey.Revocation{Key: k.ID, At: c.Now()}}
		}
		return made, nil
	})
}
