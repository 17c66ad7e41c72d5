package settings

import (
	"slices"

	"github.com/google/uuid"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/store/setting"
)

// ScopeQuery names a scope in a query.
type ScopeQuery struct {
	ScopeKind string `query:"scopeKind" enum:"organization,portal,unit" doc:"organization unless given."`
	ScopeID   string `query:"scopeId" maxLength:"80" doc:"The portal's or the unit's id."`
}

func (q ScopeQuery) scope(c *route.Call) (setting.Scope, error) {
	return readScope(c, "query", q.ScopeKind, q.ScopeID)
}

// scopeOf is the scope, of a setting that can be set there.
func (q ScopeQuery) scopeOf(c *route.Call, d setting.Definition) (setting.Scope, error) {
	at, err := q.scope(c)
	if err != nil {
		return at, err
	}
	return at, settable(d, at, "query")
}

// readScope reads a scope's kind and id, which are of the query or the body.
func readScope(c *route.Call, in, kind, text string) (setting.Scope, error) {
	var (
		at  = setting.Organization
		err error
	)
	switch setting.ScopeKind(kind) {
	case setting.OfPortal:
		var p id.Portal
		p, err = id.ParsePortal(text)
		at = setting.Portal(p)
	case setting.OfUnit:
		var u id.Unit
		u, err = id.ParseUnit(text)
		at = setting.Unit(u)
	default:
		if own, err := id.ParseOrg(text); text != "" && (err != nil || own != c.Org()) {
			return at, problem.Invalid(in+".scopeId", "scopeId goes with the scopeKind portal or unit.")
		}
		return at, nil
	}
	switch {
	case text == "":
		return at, problem.Invalid(in+".scopeId", "Name the %s by its id.", kind)
	case err != nil, at.ID == uuid.Nil:
		return at, problem.Missing(kind).WithParam(in + ".scopeId")
	}
	return at, nil
}

// settable refuses a scope where a setting cannot be set.
func settable(d setting.Definition, at setting.Scope, in string) error {
	if slices.Contains(d.At, at.Kind) {
		return nil
	}
	return problem.Invalid(in+".scopeKind", "%s is set for %s.", d.Key, problem.Or(d.At))
}
