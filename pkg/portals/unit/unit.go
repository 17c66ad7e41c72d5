// Package unit is the classes, teams and groups of a portal, which form trees
// (spec, People). Who is in them is package person's.
//
// Whoever changes the tree of a portal, or a switch in it, holds the portal's
// row, so two changes never meet halfway: neither do two moves that would make
// a ring, nor a switch and somebody who joins below it.
package unit

import (
	"errors"
	"maps"
	"time"
	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/store/activity"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/event"
)

// Kind is what a unit is.
type Kind string

// The kinds.
const (
	Class      Kind = "class"
	Team       Kind = "team"
	Group      Kind = "group"
	Department Kind = "department"
	Site       Kind = "site"
)

// MaxDepth is how many units can lie one in another.
const MaxDepth = 8

// Unit is one class, team or group.
type Unit struct {
	ID     id.Unit
	Portal id.Portal
	// Parent is the unit that it lies in; the zero id at the top.
	Parent id.Unit
	Kind   Kind
	Name   string
	Code   *string
	// Enabled is its own switch; those of the units above it count beside it.
	Enabled bool
	// Managers are people who manage or teach in the portal.
	Managers             []id.Person
	ExternalID           *string
	Metadata             map[string]string
	Edition              int64
	CreatedAt, UpdatedAt time.Time
	// Members counts the places in it, without those in the units below.
	Members int64
}

// Author is who changes a unit, and when.
type Author = activity.Actor

// The nouns that errors of this package are about, besides portals: OfPortal is a unit
// that something of a portal should lie in.
const (
	Noun     errdefs.Noun = "unit"
	OfPortal errdefs.Noun = "unit of the portal"
)

// Errors of this package, besides those of package errdefs.
var (
	// ErrRing says that a unit would lie in itself.
	ErrRing = errors.New("the unit would lie in itself")
	// ErrTooDeep says that more than MaxDepth units would lie one in another.
	ErrTooDeep = errors.New("the units would lie too deep")
	// ErrNoManager says that one of the managers does not manage or teach in the portal.
	ErrNoManager = errors.New("no manager of the portal")
)

// draft is an event of the unit; more are the fields that only its type has.
func (u Unit) draft(t event.Type, who Author, more map[string]any) event.Draft {
	fields := map[string]any{"unitId": u.ID, "portalId": u.Portal, "kind": u.Kind, "name": u.Name, "changedBy": who.By}
	if !u.Parent.IsZero() {
		fields["parentUnitId"] = u.Parent
	}
	maps.Copy(fields, more)
	return event.Draft{Type: t, At: who.At, Fields: fields}
}
