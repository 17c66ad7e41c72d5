// Package portal is the places that organizations open to people: what they say,
// who speaks there, who may come in, and the versions that were published (spec,
// Portals).
package portal

import (
	"time"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/managed"
)

// Kind is what a portal is for.
type Kind string

// The kinds.
const (
	Learning  Kind = "learning"
	Support   Kind = "support"
	Sales     Kind = "sales"
	Hiring    Kind = "hiring"
	Reception Kind = "reception"
	Custom    Kind = "custom"
)

// State is where a portal stands.
type State string

// The states. What is archived cannot be changed any more.
const (
	Draft       State = "draft"
	Published   State = "published"
	Unpublished State = "unpublished"
	Archived    State = "archived"
)

// Portal is one portal, with its draft.
type Portal struct {
	ID   id.Portal
	Name string
	// Slug is where its page is, unique among all portals of a deployment; Host is a
	// host of the customer's own, or empty.
	Slug, Host  string
	Kind        Kind
	TemplateKey string
	State       State
	Persona     id.Persona
	Definition  Definition
	// DraftVersion counts from one, and PublishedVersion is the one that visitors
	// see; nil before the first.
	DraftVersion     int64
	PublishedVersion *int64
	PublishedAt      *time.Time
	// PageStamp grows with everything that changes what visitors see.
	PageStamp int64
	// ManagedBy is what declares the portal.
	ManagedBy            managed.By
	CreatedAt, UpdatedAt time.Time
	ArchivedAt           *time.Time
	// HostProvenAt is since when Host is proven to be the customer's (Prover); nil
	// before, when no page is there, and without a host.
	HostProvenAt *time.Time
	// HostRound is how often the portal has lost a host; what proves one follows from it.
	// HostLost is why it has lost Host: Lapsed or Overtaken; empty where it has not.
	HostRound int64
	HostLost  string
	// HostMissedAt is since when the proof of Host is not found; nil where it is.
	HostMissedAt *time.Time
}

// Version is a portal as it was published. It never changes.
type Version struct {
	Version     int64
	Name        string
	Persona     id.Persona
	Definition  Definition
	PublishedAt time.Time
	PublishedBy string
	ChangeNote  *string
}

// Noun is what errors call a portal, and VersionNoun a version that was published.
const (
	Noun        errdefs.Noun = "portal"
	VersionNoun errdefs.Noun = "version of the portal"
)

// Changed says whether the draft differs from what visitors see.
func (p *Portal) Changed() bool {
	return p.PublishedVersion == nil || *p.PublishedVersion != p.DraftVersion
}
