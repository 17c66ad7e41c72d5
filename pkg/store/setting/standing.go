package setting

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/store/tenant"
)

// Lock is why a setting cannot be changed.
type Lock string

// The locks, in the order in which they count.
const (
	Open       Lock = ""
	ByPlan     Lock = "plan"
	ByRegion   Lock = "region"
	ByTheOwner Lock = "owner"
)

// Viewer is who looks at a setting.
type Viewer struct {
	Terms  plan.Terms
	Region string
	// Owner says that an owner trusts the viewer with what requires one.
	Owner bool
}

// Lock is why a viewer cannot change a setting.
func (d Definition) Lock(by Viewer) Lock {
	_, fixed := d.Fixed[by.Region]
	switch {
	case d.Feature != "" && !by.Terms.Has(d.Feature):
		return ByPlan
	case fixed:
		return ByRegion
	case d.RequiresOwner && !by.Owner:
		return ByTheOwner
	}
	return Open
}

// Standing is how a setting stands at a scope.
type Standing struct {
	Definition Definition
	At         Scope
	// Value is what holds there.
	Value Value
	// Inherited says that nothing is set at the scope itself.
	Inherited bool
	LockedBy  Lock
	// ChangedAt and ChangedBy are of what holds; zero for a default.
	ChangedAt time.Time
	ChangedBy string
}

// stand works out how a setting stands. The rows are those of the scope's chain,
// the nearest first.
func (d Definition) stand(at Scope, rows []row, by Viewer) (Standing, error) {
	s := Standing{Definition: d, At: at, Value: d.Default, Inherited: true, LockedBy: d.Lock(by)}
	if i := slices.IndexFunc(rows, func(r row) bool { return r.Key == d.Key }); i >= 0 {
		var err error
		if s.Value, err = d.stored(rows[i].Value); err != nil {
			return s, err
		}
		s.Inherited, s.ChangedAt, s.ChangedBy = rows[i].scope() != at, rows[i].ChangedAt, rows[i].ChangedBy
	}
	if fixed, ok := d.Fixed[by.Region]; ok {
		s.Value = fixed
	}
	// What is there for everybody is not for a plan that lacks it. What somebody
	// switched on, as that nothing is kept, outlasts the plan.
	if s.LockedBy == ByPlan && d.Default == true {
		s.Value = false
	}
	return s, nil
}

// settable says whether a setting can be set at a kind of scope.
func (d Definition) settable(at ScopeKind) bool { return slices.Contains(d.At, at) }

// List is how every setting stands that can be set at a scope, as a viewer sees
// it. The error is ErrNoScope.
func List(ctx context.Context, t *tenant.Tenants, org id.Org, at Scope, by Viewer) ([]Standing, error) {
	var (
		rows  []row
		found bool
	)
	err := t.Read(ctx, org, func(r *tenant.Reads) {
		sql, args := at.place().statement(org)
		r.Query(func(all pgx.Rows) (err error) {
			rows, err = collect(all)
			return err
		}, sql, args...)
		exists, args := at.exists(org)
		r.QueryRow(&found, []any{new(bool)}, exists, args...)
	})
	if err == nil && !found {
		err = ErrNoScope
	}
	if err != nil {
		return nil, err
	}
	var standings []Standing
	for _, d := range catalogue {
		if !d.settable(at.Kind) {
			continue
		}
		s, err := d.stand(at, rows, by)
		if err != nil {
			return nil, err
		}
		standings = append(standings, s)
	}
	return standings, nil
}

// exists finds the scope. It rides portal_pkey or unit_pkey.
func (s Scope) exists(org id.Org) (sql string, args []any) {
	switch s.Kind {
	case OfPortal:
		return `SELECT true FROM portal WHERE org_id = $1 AND id = $2 AND archived_at IS NULL`, []any{org, s.ID}
	case OfUnit:
		return `SELECT true FROM unit WHERE org_id = $1 AND id = $2`, []any{org, s.ID}
	}
	return `SELECT true`, nil
}
