package setting

import (
	"errors"

	"github.com/google/uuid"

	"visavis.dev/pkg/base/id"
)

// ScopeKind is where something is set.
type ScopeKind string

// The kinds of scopes.
const (
	OfOrganization ScopeKind = "organization"
	OfPortal       ScopeKind = "portal"
	OfUnit         ScopeKind = "unit"
)

// Scope is one organization, portal or unit. ID is zero for the organization.
type Scope struct {
	Kind ScopeKind
	ID   uuid.UUID
}

// Organization is the scope of the whole organization.
var Organization = Scope{Kind: OfOrganization}

// Portal is a portal's scope.
func Portal(p id.Portal) Scope { return Scope{OfPortal, uuid.UUID(p)} }

// Unit is a unit's scope.
func Unit(u id.Unit) Scope { return Scope{OfUnit, uuid.UUID(u)} }

// text is the scope's id as it is kept.
func (s Scope) text() string {
	if s.Kind == OfOrganization {
		return ""
	}
	return s.ID.String()
}

// Named is the id of what the scope is, in an organization.
func (s Scope) Named(org id.Org) string {
	switch s.Kind {
	case OfPortal:
		return id.Portal(s.ID).String()
	case OfUnit:
		return id.Unit(s.ID).String()
	}
	return org.String()
}

// place is where the scope's chain begins.
func (s Scope) place() Place {
	switch s.Kind {
	case OfPortal:
		return Place{Portal: id.Portal(s.ID)}
	case OfUnit:
		return Place{Unit: id.Unit(s.ID)}
	}
	return Place{}
}

// ErrNoScope says that the organization has no such portal or unit.
var ErrNoScope = errors.New("there is no such scope")

// Place is where somebody is, from which the scopes that hold there follow: the
// unit and those above it, the portal, and the organization, which alone holds
// for the zero Place.
type Place struct {
	// Portal may be zero with a Unit, which is in one.
	Portal id.Portal
	Unit   id.Unit
	// Membership, without a Unit, stands for its unit.
	Membership id.Membership
	// Person, without either, stands for the unit of their oldest place in the portal.
	Person id.Person
}
