package settings

import (
	"context"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/store/setting"
	"visavis.dev/pkg/store/tenant"
)

// UpdateInput is the request to set a setting.
type UpdateInput struct {
	Path
	Body SettingChange
}

// SettingChange is what to set, and where.
type SettingChange struct {
	Value     route.Opt[route.Scalar] `json:"value,omitzero" doc:"What to set; of the setting's type."`
	ScopeKind route.Opt[string]       `json:"scopeKind,omitzero" enum:"organization,portal,unit" doc:"organization unless given."`
	ScopeID   route.Opt[string]       `json:"scopeId,omitzero" maxLength:"80" doc:"The portal's or the unit's id."`
}

func (a *API) update(ctx context.Context, c *route.Call, in *UpdateInput) (Setting, error) {
	d, err := in.setting()
	if err != nil {
		return Setting{}, err
	}
	b := in.Body
	at, err := readScope(c, "body", b.ScopeKind.Value, b.ScopeID.Value)
	if err != nil {
		return Setting{}, err
	}
	if err := settable(d, at, "body"); err != nil {
		return Setting{}, err
	}
	if !b.Value.Set {
		return a.get(ctx, c, &GetInput{in.Path, ScopeQuery{b.ScopeKind.Value, b.ScopeID.Value}})
	}
	value, err := d.Parse(b.Value.Value.Text)
	if err != nil {
		return Setting{}, problem.Invalid("body.value", "Of %s, %v.", d.Key, err)
	}
	if err := a.unlocked(c, d, d.Lock(viewer(c))); err != nil {
		return Setting{}, err
	}
	return change(ctx, c, at, "body", func(ctx context.Context, tx *tenant.Tx) (setting.Change, error) {
		return setting.Put(ctx, tx, d, at, value, viewer(c), c.Actor())
	})
}

func (a *API) reset(ctx context.Context, c *route.Call, in *GetInput) (Setting, error) {
	d, err := in.setting()
	if err != nil {
		return Setting{}, err
	}
	at, err := in.scopeOf(c, d)
	if err != nil {
		return Setting{}, err
	}
	// What the plan lacks by now can still be given up.
	if d.RequiresOwner && !viewer(c).Owner {
		return Setting{}, needsOwner(d)
	}
	return change(ctx, c, at, "query", func(ctx context.Context, tx *tenant.Tx) (setting.Change, error) {
		return setting.Clear(ctx, tx, d, at, viewer(c), c.Actor())
	})
}

// unlocked refuses a caller who cannot change a setting.
func (a *API) unlocked(c *route.Call, d setting.Definition, by setting.Lock) error {
	switch by {
	case setting.ByPlan:
		return a.Plans.FeatureMissing(c.Principal.Terms, d.Feature).WithDetail("reason", "plan_required")
	case setting.ByRegion:
		return problem.Conflicting("region_locked", "The law of the region %s fixes %s.", c.Principal.Org.Region, d.Key).WithDetail("setting", d.Key)
	case setting.ByTheOwner:
		return needsOwner(d)
	}
	return nil
}

func needsOwner(d setting.Definition) error {
	return problem.New(problem.Forbidden, "This key lacks the scope %s, by which an owner lets a key change %s.", scope.KeysManage, d.Key)
}

// change makes a change of a setting, and tells it where another value holds now. in is
// where its scope was named.
func change(ctx context.Context, c *route.Call, at setting.Scope, in string, make func(context.Context, *tenant.Tx) (setting.Change, error)) (Setting, error) {
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (Setting, error) {
		// One change at a time: each says what was before.
		if err := event.LockLog(ctx, tx); err != nil {
			return Setting{}, err
		}
		made, err := make(ctx, tx)
		if err == nil && made.Told() {
			s := made.After
			event.Emit(tx, event.Draft{Type: event.SettingChanged, At: c.Now(), Fields: map[string]any{
				"key": s.Definition.Key, "scopeKind": s.At.Kind, "scopeId": s.At.Named(c.Org()), "value": s.Value, "previousValue": made.Before.Value,
				"changedBy": c.Principal.Key.ID.String(), "changedAt": c.Now(),
			}})
		}
		return show(c)(made.After), asProblem(err, at, in)
	})
}
