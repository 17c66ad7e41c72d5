package keys

import (
	"context"
	"net/netip"
	"slices"
	"time"

	"visavis.dev/api/route"
	"visavis.dev/pkg/activity"
	"visavis.dev/pkg/apikey"
	"visavis.dev/pkg/contract"
	"visavis.dev/pkg/id"
	"visavis.dev/pkg/problem"
	"visavis.dev/pkg/scope"
	"visavis.dev/pkg/tenant"
)

// CreateInput is the request for a new key.
type CreateInput struct{ Body NewKey }

// NewKey is a key to be made.
type NewKey struct {
	Name             string        `json:"name" minLength:"1" maxLength:"80" doc:"What to call the key, for people."`
	Scopes           []scope.Scope `json:"scopes" minItems:"1" maxItems:"100" doc:"Scopes the calling key holds itself."`
	ExpiresAt        *time.Time    `json:"expiresAt,omitempty" doc:"From when the key is to be refused; it lasts until revoked when left out."`
	AllowedAddresses []string      `json:"allowedAddresses,omitempty" maxItems:"50" doc:"Ranges (CIDR) the key may be used from."`
}

func (a *API) create(ctx context.Context, c *route.Call, in *CreateInput) (KeyWithSecret, error) {
	now := c.Now()
	k := apikey.Key{
		ID: id.NewKey(), Org: c.Org(), Name: in.Body.Name, Scopes: in.Body.Scopes, Contract: contract.Latest,
		Environment: c.Principal.Key.Environment, AllowedAddresses: in.Body.AllowedAddresses,
		CreatedBy: c.Principal.Key.ID.String(), CreatedAt: now, UpdatedAt: now, ExpiresAt: in.Body.ExpiresAt,
	}
	if err := check(c, k); err != nil {
		return KeyWithSecret{}, err
	}
	if !c.Principal.Key.Grant().Covers(k.Grant()) {
		return KeyWithSecret{}, problem.New(problem.Forbidden, "A key cannot give scopes it lacks: %v.",
			beyond(c.Principal.Key, k.Scopes)).WithParam("body.scopes")
	}
	secret := apikey.NewSecret(k.Environment)
	hash := secret.Hash()
	k.Last4 = secret.Last4()
	return commit(ctx, a, c, apikey.Change{Insert: &apikey.Insertion{Key: k, Hash: hash[:]}}, "key.created", k.ID,
		map[string]any{"name": k.Name, "scopes": k.Scopes, "expiresAt": k.ExpiresAt},
		KeyWithSecret{Show(k, now), secret})
}

// check refuses scopes and addresses that do not exist, and an expiry that is past.
func check(c *route.Call, k apikey.Key) error {
	for _, s := range k.Scopes {
		if !scope.Known(s) {
			return problem.Invalid("body.scopes", "There is no scope %q.", s)
		}
	}
	for _, text := range k.AllowedAddresses {
		if _, err := netip.ParsePrefix(text); err != nil {
			return problem.Invalid("body.allowedAddresses", "%q is not a range in CIDR form, such as 203.0.113.0/24.", text)
		}
	}
	if k.ExpiresAt == nil {
		return nil
	}
	if !k.ExpiresAt.After(c.Now()) {
		return problem.Invalid("body.expiresAt", "expiresAt must lie in the future.")
	}
	return route.CheckTime("body.expiresAt", *k.ExpiresAt)
}

func beyond(caller apikey.Key, scopes []scope.Scope) []scope.Scope {
	return slices.DeleteFunc(slices.Clone(scopes), func(s scope.Scope) bool { return caller.Grant().Holds(s) })
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
	ExpiresAt        route.OptNull[time.Time] `json:"expiresAt,omitzero" doc:"null for never"`
	AllowedAddresses route.Opt[[]string]      `json:"allowedAddresses,omitzero" maxItems:"50" doc:"An empty list for anywhere."`
}

func (a *API) update(ctx context.Context, c *route.Call, in *UpdateInput) (Key, error) {
	k, err := a.find(ctx, c, in.ID)
	if err != nil {
		return Key{}, err
	}
	if k.RevokedAt != nil {
		return Key{}, problem.Conflicting("revoked", "The key is revoked.")
	}
	before, update, changes := k, apikey.Update{At: after(c.Now(), k.UpdatedAt)}, map[string]any{}
	if in.Body.Name.Set {
		k.Name = in.Body.Name.Value
		update.Name, changes["name"] = &k.Name, k.Name
	}
	if in.Body.Scopes.Set {
		k.Scopes, k.FullAccess = in.Body.Scopes.Value, false
		update.Scopes, update.FullAccess, changes["scopes"] = &k.Scopes, &k.FullAccess, k.Scopes
	}
	if in.Body.ExpiresAt.Set {
		k.ExpiresAt = in.Body.ExpiresAt.Value
		update.SetExpiry, update.ExpiresAt, changes["expiresAt"] = true, k.ExpiresAt, k.ExpiresAt
	}
	if in.Body.AllowedAddresses.Set {
		k.AllowedAddresses = in.Body.AllowedAddresses.Value
		update.AllowedAddresses, changes["allowedAddresses"] = &k.AllowedAddresses, k.AllowedAddresses
	}
	if err := check(c, k); err != nil {
		return Key{}, err
	}
	if !before.Grant().Covers(k.Grant()) {
		return Key{}, problem.Invalid("body.scopes", "A key's scopes can only become fewer; it lacks %v.", beyond(before, k.Scopes))
	}
	return commit(ctx, a, c, apikey.Change{Update: &apikey.Alteration{Key: k.ID, Update: update}},
		"key.updated", k.ID, changes, Show(k, c.Now()))
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
	k, err := a.find(ctx, c, in.ID)
	if err != nil {
		return KeyWithSecret{}, err
	}
	if k.RevokedAt != nil {
		return KeyWithSecret{}, problem.Conflicting("revoked", "The key is revoked.")
	}
	// The new secret is as strong as the key; whoever asks must be too.
	if !c.Principal.Key.Grant().Covers(k.Grant()) {
		return KeyWithSecret{}, problem.New(problem.Forbidden, "A key cannot rotate one with scopes it lacks: %v.",
			beyond(c.Principal.Key, k.Grant().Effective()))
	}
	var grace time.Duration
	if in.Body != nil {
		grace = time.Duration(in.Body.GraceS) * time.Second
	}
	now := after(c.Now(), k.UpdatedAt)
	secret := apikey.NewSecret(k.Environment)
	hash := secret.Hash()
	k.Last4 = secret.Last4()
	return commit(ctx, a, c, apikey.Change{Rotate: &apikey.Rotation{
		Key: k.ID, Hash: hash[:], Last4: k.Last4, At: now, OldUntil: now.Add(grace),
	}}, "key.rotated", k.ID, map[string]any{"graceS": int64(grace.Seconds())}, KeyWithSecret{Show(k, now), secret})
}

func (a *API) revoke(ctx context.Context, c *route.Call, p *Path) (route.Deleted, error) {
	k, err := a.find(ctx, c, p.ID)
	if err != nil {
		return route.Deleted{}, err
	}
	if k.ID == c.Principal.Key.ID {
		return route.Deleted{}, problem.Conflicting("own_key", "A key cannot revoke itself.")
	}
	deleted := route.Deleted{Deleted: true, ID: k.ID.String()}
	if k.RevokedAt != nil {
		return deleted, nil
	}
	return commit(ctx, a, c, apikey.Change{Revoke: &apikey.Revocation{Key: k.ID, At: c.Now()}},
		"key.revoked", k.ID, nil, deleted)
}

func (a *API) propose(ctx context.Context, c *route.Call, tx *tenant.Tx, change apikey.Change, action string, key id.Key, changes map[string]any) error {
	if err := a.Changes.Propose(ctx, tx, change, c.Now()); err != nil {
		return err
	}
	return activity.Record(ctx, tx, c.Did(action, "key", key.String(), changes))
}
