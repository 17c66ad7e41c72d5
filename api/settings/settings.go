// Package settings declares the operations on an organization's settings (spec,
// Settings).
package settings

import (
	"context"
	_ "embed"
	"errors"
	"net/http"
	"time"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/store/setting"
	"visavis.dev/pkg/store/tenant"
)

// examples are bodies of requests, by operation.
//
//go:embed examples.json
var examples []byte

// API is what the operations work with.
type API struct {
	Tenants *tenant.Tenants
	Plans   *plan.Catalogue
}

// Register declares the operations.
func (a *API) Register(s *route.Service) {
	s.Examples(examples)
	read := route.Operation{Group: "Settings", Class: "read", Scope: scope.SettingsRead, Items: contract.SettingItem}
	write := route.Operation{
		Group: "Settings", Class: "write", Scope: scope.SettingsWrite, Items: contract.SettingItem, Errors: []problem.Code{problem.Conflict},
	}

	list := read
	list.ID, list.Method, list.Path = "listSettings", http.MethodGet, "/settings"
	list.Errors = []problem.Code{problem.NotFound} // of a scopeId that is none
	list.Summary = "Every setting, as it stands for the organization, a portal or a unit"
	list.Description = "What is set nearest holds: at the unit, then at the units above it, at its portal, at the organization; else the default. " +
		"Settings that cannot be set at a kind of scope are not listed for it."
	route.List(s, list, a.list)

	get := read
	get.ID, get.Method, get.Path, get.Summary = "getSetting", http.MethodGet, "/settings/{id}", "One setting, by its key"
	route.Handle(s, get, a.get)

	update := write
	update.ID, update.Method, update.Path = "updateSetting", http.MethodPatch, "/settings/{id}"
	update.Summary = "Set a setting for the organization, a portal or a unit"
	update.Description = "A setting that requiresOwner takes a key that also holds keys:manage. One that the plan lacks answers 403 upgrade_required with the reason " +
		"plan_required; one that the region's law fixes, 409 with the reason region_locked. What needs a switch that is off answers 409 with the " +
		"reason switched_off and the key in details.setting."
	route.Handle(s, update, a.update)

	reset := write
	reset.ID, reset.Method, reset.Path = "resetSetting", http.MethodDelete, "/settings/{id}"
	reset.Summary = "Have the organization, a portal or a unit inherit a setting again; answers how it stands then"
	route.Handle(s, reset, a.reset)
}

// Setting is a setting at a scope.
type Setting struct {
	Key     setting.Key   `json:"key" doc:"The setting's name, as paths take it."`
	Label   string        `json:"label" doc:"What the setting is called, for people."`
	Group   setting.Group `json:"group" enum:"privacy,sessions,portals,widgets,hiring,learning,security,notifications" doc:"What the setting has to do with."`
	Type    setting.Type  `json:"type" enum:"boolean,enum,integer,string" doc:"What form its values have."`
	Value   Value         `json:"value" doc:"What holds there; null for no bound."`
	Default Value         `json:"default" doc:"What it is where nobody has set it; null for none."`
	Allowed *[]string     `json:"allowed" nullable:"true" doc:"Of an enum, its values."`
	Minimum *int64        `json:"minimum" doc:"Of an integer."`
	Maximum *int64        `json:"maximum" doc:"Of an integer."`

	ScopeKind setting.ScopeKind `json:"scopeKind" enum:"organization,portal,unit" doc:"What kind of scope it was asked for."`
	ScopeID   string            `json:"scopeId" doc:"The organization's, the portal's or the unit's id."`
	Inherited bool              `json:"inherited" doc:"Nothing is set at the scope itself."`
	Editable  bool              `json:"editable" doc:"Whether the calling key's plan, region and scopes let it be changed, given settings:write."`
	LockedBy  *setting.Lock     `json:"lockedBy" enum:"plan,region,owner" nullable:"true" doc:"What keeps the calling key from changing it."`

	PlanFeature   *string    `json:"planFeature" doc:"What the plan must include."`
	RequiresOwner bool       `json:"requiresOwner" doc:"A key that changes it also holds keys:manage, which an owner gives by name."`
	ChangedAt     *time.Time `json:"changedAt" doc:"Of what holds; null for a default."`
	ChangedBy     *string    `json:"changedBy" doc:"Who set it at the scope that it comes from: a key's id or a person's; null where nobody has."`
}

// Value is a setting's value in an answer.
type Value = route.OrNull[route.Scalar]

func valueOf(v setting.Value) Value {
	if v == nil {
		return Value{}
	}
	return Value{Value: &route.Scalar{Value: v}}
}

func show(c *route.Call) func(setting.Standing) Setting {
	return func(s setting.Standing) Setting {
		d := s.Definition
		shown := Setting{
			Key: d.Key, Label: d.Label, Group: d.Group, Type: d.Type, Value: valueOf(s.Value), Default: valueOf(d.Default),
			ScopeKind: s.At.Kind, ScopeID: s.At.Named(c.Org()), Inherited: s.Inherited, Editable: s.LockedBy == setting.Open,
			RequiresOwner: d.RequiresOwner,
		}
		if d.Type == setting.Integer {
			shown.Minimum, shown.Maximum = &d.Min, &d.Max
		}
		if s.LockedBy != setting.Open {
			shown.LockedBy = &s.LockedBy
		}
		if d.Feature != "" {
			shown.PlanFeature = &d.Feature
		}
		if !s.ChangedAt.IsZero() {
			shown.ChangedAt, shown.ChangedBy = route.UTC(&s.ChangedAt), &s.ChangedBy
		}
		return shown
	}
}

// viewer is the caller, to settings.
func viewer(c *route.Call) setting.Viewer {
	p := c.Principal
	return setting.Viewer{Terms: p.Terms, Region: p.Org.Region, Owner: p.Key.Grant().Holds(scope.KeysManage)}
}

// Path names a setting.
type Path struct {
	ID string `path:"id" doc:"The setting's key."`
}

func (p Path) setting() (setting.Definition, error) {
	d, ok := setting.Find(setting.Key(p.ID))
	if !ok {
		return d, problem.Missing("setting").WithParam("path.id")
	}
	return d, nil
}

// Query names a scope and pages through its settings.
type Query struct {
	route.Paging
	ScopeQuery
	Group string `query:"group" enum:"privacy,sessions,portals,widgets,hiring,learning,security,notifications" doc:"Only settings that have to do with this."`
}

func (a *API) list(ctx context.Context, c *route.Call, q *Query) (route.Page[Setting], error) {
	return route.Listed(c, q.Paging, func(after setting.Key, limit int) ([]setting.Standing, error) {
		at, err := q.scope(c)
		if err != nil {
			return nil, err
		}
		standings, err := setting.List(ctx, a.Tenants, c.Org(), at, viewer(c))
		if err != nil {
			return nil, asProblem(err, at, "query")
		}
		return page(standings, setting.Group(q.Group), after, limit), nil
	}, func(s setting.Standing) setting.Key { return s.Definition.Key }, show(c))
}

// page is the part of the settings that comes after one of them.
func page(all []setting.Standing, group setting.Group, after setting.Key, limit int) []setting.Standing {
	var found []setting.Standing
	passed := after == ""
	for _, s := range all {
		if passed && (group == "" || s.Definition.Group == group) && len(found) < limit {
			found = append(found, s)
		}
		passed = passed || s.Definition.Key == after
	}
	return found
}

// GetInput names a setting at a scope.
type GetInput struct {
	Path
	ScopeQuery
}

func (a *API) get(ctx context.Context, c *route.Call, in *GetInput) (Setting, error) {
	d, err := in.setting()
	if err != nil {
		return Setting{}, err
	}
	at, err := in.scopeOf(c, d)
	if err != nil {
		return Setting{}, err
	}
	standings, err := setting.List(ctx, a.Tenants, c.Org(), at, viewer(c))
	if err != nil {
		return Setting{}, asProblem(err, at, "query")
	}
	for _, s := range standings {
		if s.Definition.Key == d.Key {
			return show(c)(s), nil
		}
	}
	return Setting{}, problem.Missing("setting").WithParam("path.id")
}

// asProblem says what the errors of package setting are to a caller. in is where
// the scope was named.
func asProblem(err error, at setting.Scope, in string) error {
	if errors.Is(err, setting.ErrNoScope) {
		return problem.Missing(string(at.Kind)).WithParam(in + ".scopeId")
	}
	return err
}
