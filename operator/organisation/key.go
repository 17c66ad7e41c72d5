package organisation

import (
	"context"
	"encoding/hex"
	"errors"
	"slices"
	"time"

	"visavis.dev/operator/apis/v1alpha1"
	"visavis.dev/operator/resource"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/apikey"
	"visavis.dev/pkg/store/tenant"
)

// keyName is what the key is called in lists of keys.
const keyName = "Made by the operator"

// keepKey keeps the key and its Secret as the spec has them. The Secret is written
// first and the key is entered with what it holds, so a crash between the two loses
// nothing: the next run enters the same key. Its id follows from the secret, so that a
// Secret that somebody changed can name no other key. What the resource made before is
// revoked with the commit that enters another.
func (r *Rules) keepKey(ctx context.Context, o *v1alpha1.Organisation, org id.Org) error {
	if o.Spec.APIKey == nil {
		return r.dropKey(ctx, o, org)
	}
	wanted, err := wantedKey(o, org)
	if err != nil {
		return err
	}
	secret, err := r.secret(ctx, o, org)
	if err != nil {
		return err
	}
	text, ok := apikey.ParseSecret(string(secret.Data[keyEntry]))
	if ok {
		ok, err = r.usable(ctx, org, text)
	}
	if err != nil {
		return err
	}
	if !ok {
		text = apikey.NewSecret(apikey.Live)
	}
	wanted.ID, wanted.Last4 = keyID(org, text), text.Last4()
	if err := r.write(ctx, o, secret, text, wanted); err != nil {
		return err
	}
	if err := r.enter(ctx, wanted, text); err != nil {
		return err
	}
	if err := r.forgetSecret(ctx, o, secret.Name); err != nil {
		return err
	}
	o.Status.APIKey = &v1alpha1.KeyStatus{ID: wanted.ID.String(), SecretName: secret.Name, Last4: wanted.Last4}
	return nil
}

// wantedKey is the key as the spec has it, but for its secret.
func wantedKey(o *v1alpha1.Organisation, org id.Org) (apikey.Key, error) {
	spec := o.Spec.APIKey
	k := apikey.Key{
		Org: org, Name: keyName, Scopes: []scope.Scope{}, FullAccess: spec.FullAccess, Environment: apikey.Live, CreatedBy: maker(o),
	}
	for _, text := range spec.Scopes {
		s := scope.Scope(text)
		if !scope.Known(s) {
			return k, resource.Invalid("There is no scope %q; one is %s.", text, scope.WebhooksManage)
		}
		k.Scopes = append(k.Scopes, s)
	}
	if len(k.Scopes) == 0 && !k.FullAccess {
		return k, resource.Invalid("spec.apiKey has neither scopes nor fullAccess: true.")
	}
	version, ok := contract.Parse(spec.APIVersion)
	if !ok {
		return k, resource.Invalid("There is no contract %q; the contracts are %v.", spec.APIVersion, contract.Versions())
	}
	k.Contract = version
	return k, nil
}

// maker is who made the key, as lists of keys say.
func maker(o *v1alpha1.Organisation) string { return resource.Managing(Kind, o).String() }

// keyID follows from the organization and not from the resource: the Secret that was
// kept of a lost cluster holds the same key.
func keyID(org id.Org, text apikey.Secret) id.Key {
	hash := text.Hash()
	return id.NamedKey(org.Bare() + "/" + hex.EncodeToString(hash[:]))
}

// usable says whether a secret is to be the key's: it is, or nobody entered it yet. One
// that was revoked, rotated or has expired opens nothing any more.
func (r *Rules) usable(ctx context.Context, org id.Org, text apikey.Secret) (bool, error) {
	which := keyID(org, text)
	changes := &apikey.Changes{Store: r.Keys, Tenants: r.Tenants}
	k, err := r.Keys.Get(ctx, org, which)
	if errors.Is(err, apikey.ErrUnknown) {
		// A run that broke off may have proposed it.
		if err = changes.Apply(ctx, org); err == nil {
			k, err = r.Keys.Get(ctx, org, which)
		}
	}
	if errors.Is(err, apikey.ErrUnknown) {
		return true, nil
	}
	if err != nil || !k.Usable(r.now()) {
		return false, err
	}
	return r.Keys.Opens(ctx, which, text.Hash())
}

// enter makes the key what is wanted, and the only one that the resource made.
func (r *Rules) enter(ctx context.Context, wanted apikey.Key, text apikey.Secret) error {
	made, err := r.Keys.MadeBy(ctx, wanted.Org, wanted.CreatedBy)
	if err != nil {
		return err
	}
	var steps []change
	now := r.now()
	at := slices.IndexFunc(made, func(k apikey.Key) bool { return k.ID == wanted.ID })
	for i, k := range made {
		if i != at {
			steps = append(steps, change{apikey.Change{Revoke: &apikey.Revocation{Key: k.ID, At: now}}, nil})
		}
	}
	switch {
	case at < 0:
		hash := text.Hash()
		wanted.CreatedAt, wanted.UpdatedAt = now, now
		steps = append(steps, change{apikey.Change{Insert: &apikey.Insertion{Key: wanted, Hash: hash[:]}}, granted(wanted)})
	case !same(made[at], wanted):
		steps = append(steps, change{apikey.Change{Update: &apikey.Alteration{Key: wanted.ID, Update: apikey.Update{
			Scopes: &wanted.Scopes, FullAccess: &wanted.FullAccess, Contract: &wanted.Contract, At: later(now, made[at]),
		}}}, granted(wanted)})
	}
	return r.commit(ctx, wanted.Org, wanted.CreatedBy, steps)
}

func granted(k apikey.Key) map[string]any {
	return map[string]any{"name": k.Name, "scopes": k.Scopes, "fullAccess": k.FullAccess, "apiVersion": k.Contract}
}

func same(a, b apikey.Key) bool {
	return a.FullAccess == b.FullAccess && a.Contract == b.Contract && slices.Equal(a.Scopes, b.Scopes)
}

// later is a moment after the key's last change, also where this clock is behind the
// one that made that: a late repeat of a change is told by its time.
func later(now time.Time, k apikey.Key) time.Time {
	if now.After(k.UpdatedAt) {
		return now
	}
	return k.UpdatedAt.Add(time.Microsecond)
}

// change is what happens to a key, with what the activity log has of it.
type change struct {
	change  apikey.Change
	changes map[string]any
}

// commit proposes changes in one transaction and makes them effective in their order.
func (r *Rules) commit(ctx context.Context, org id.Org, actor string, steps []change) error {
	if len(steps) == 0 {
		return nil
	}
	all := &apikey.Changes{Store: r.Keys, Tenants: r.Tenants}
	if err := r.Tenants.InTx(ctx, org, func(ctx context.Context, tx *tenant.Tx) error {
		for _, s := range steps {
			if err := all.Propose(ctx, tx, s.change, s.changes, activity.Actor{By: actor, At: r.now()}); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		return err
	}
	return all.Apply(ctx, org)
}

// dropKey revokes the key that the spec has no more, and deletes its Secret.
func (r *Rules) dropKey(ctx context.Context, o *v1alpha1.Organisation, org id.Org) error {
	if err := r.revoke(ctx, org, maker(o)); err != nil {
		return err
	}
	if err := r.forgetSecret(ctx, o, ""); err != nil {
		return err
	}
	o.Status.APIKey = nil
	return nil
}

// revoke revokes every key that somebody made.
func (r *Rules) revoke(ctx context.Context, org id.Org, maker string) error {
	made, err := r.Keys.MadeBy(ctx, org, maker)
	if err != nil {
		return err
	}
	var steps []change
	for _, k := range made {
		steps = append(steps, change{apikey.Change{Revoke: &apikey.Revocation{Key: k.ID, At: r.now()}}, nil})
	}
	return r.commit(ctx, org, maker, steps)
}
