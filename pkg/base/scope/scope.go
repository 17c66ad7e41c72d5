// Package scope knows the rights a key can hold: their names, how the older
// contract folds them into broader ones, and what full access leaves out
// (spec, Authentication).
package scope

import (
	"slices"

	"visavis.dev/pkg/base/contract"
)

// Scope is one right, such as "avatars:read".
type Scope string

// The scopes (Authentication, 3).
const (
	AssignmentsRead  Scope = "assignments:read"
	AssignmentsWrite Scope = "assignments:write"
	AvatarsRead      Scope = "avatars:read"
	AvatarsWrite     Scope = "avatars:write"
	CandidatesData   Scope = "candidates:data"
	CandidatesRead   Scope = "candidates:read"
	CandidatesWrite  Scope = "candidates:write"
	ConnectionsRead  Scope = "connections:read"
	ConnectionsWrite Scope = "connections:write"
	ConsentsRead     Scope = "consents:read"
	ConsentsWrite    Scope = "consents:write"
	ContentRead      Scope = "content:read"
	ContentWrite     Scope = "content:write"
	DashboardsRead   Scope = "dashboards:read"
	DuosRead         Scope = "duos:read"
	DuosWrite        Scope = "duos:write"
	EmbedWrite       Scope = "embed:write"
	EventsRead       Scope = "events:read"
	InboxRead        Scope = "inbox:read"
	InboxWrite       Scope = "inbox:write"
	KeysManage       Scope = "keys:manage"
	KnowledgeRead    Scope = "knowledge:read"
	KnowledgeWrite   Scope = "knowledge:write"
	PeopleRead       Scope = "people:read"
	PeopleWrite      Scope = "people:write"
	PersonasRead     Scope = "personas:read"
	PersonasWrite    Scope = "personas:write"
	PortalsPublish   Scope = "portals:publish"
	PortalsRead      Scope = "portals:read"
	PortalsWrite     Scope = "portals:write"
	ResultsRead      Scope = "results:read"
	ResultsWrite     Scope = "results:write"
	SessionsRead     Scope = "sessions:read"
	SessionsWrite    Scope = "sessions:write"
	SettingsRead     Scope = "settings:read"
	SettingsWrite    Scope = "settings:write"
	TranscriptsRead  Scope = "transcripts:read"
	UsageRead        Scope = "usage:read"
	VoicesRead       Scope = "voices:read"
	VoicesWrite      Scope = "voices:write"
	WebhooksManage   Scope = "webhooks:manage"
	WidgetsRead      Scope = "widgets:read"
	WidgetsWrite     Scope = "widgets:write"
)

var all = []Scope{
	AssignmentsRead, AssignmentsWrite, AvatarsRead, AvatarsWrite, CandidatesData, CandidatesRead,
	CandidatesWrite, ConnectionsRead, ConnectionsWrite, ConsentsRead, ConsentsWrite, ContentRead,
	ContentWrite, DashboardsRead, DuosRead, DuosWrite, EmbedWrite, EventsRead, InboxRead, InboxWrite,
	KeysManage, KnowledgeRead, KnowledgeWrite, PeopleRead, PeopleWrite, PersonasRead, PersonasWrite,
	PortalsPublish, PortalsRead, PortalsWrite, ResultsRead, ResultsWrite, SessionsRead, SessionsWrite,
	SettingsRead, SettingsWrite, TranscriptsRead, UsageRead, VoicesRead, VoicesWrite, WebhooksManage,
	WidgetsRead, WidgetsWrite,
}

// All lists every scope in alphabetical order.
func All() []Scope { return slices.Clone(all) }

// Known says whether a scope exists.
func Known(s Scope) bool { return slices.Contains(all, s) }

// folded: on 2026-07-08 the broad scope includes the narrow ones
// (Authentication, 4). From 2026-10-01 each is its own.
var folded = map[Scope][]Scope{
	PersonasRead:   {DuosRead, WidgetsRead},
	PersonasWrite:  {DuosWrite, WidgetsWrite},
	PortalsWrite:   {ContentRead, ContentWrite, EmbedWrite, PortalsPublish},
	SessionsRead:   {TranscriptsRead},
	WebhooksManage: {EventsRead},
}

// byName are never part of full access: an owner adds each by its name
// (Authentication, 5). Managing keys is among them, or any leaked full-access
// key could outlive its own revocation.
var byName = []Scope{CandidatesData, ConsentsRead, ConsentsWrite, KeysManage}

// closedToOld can not be reached at all by a full-access key made before
// 2026-10-01, named or not (Authentication, 5).
var closedToOld = []Scope{
	CandidatesData, CandidatesRead, CandidatesWrite, ConsentsRead, ConsentsWrite,
	InboxRead, InboxWrite, PeopleRead, PeopleWrite,
}

// Grant is what a key was given.
type Grant struct {
	// Contract is the one the key is pinned to: the current one when it was made.
	Contract   contract.Version
	FullAccess bool
	// Scopes are the scopes given by name.
	Scopes []Scope
}

// Closed lists the scopes that the grant can never reach, so that what another scope shows of them is closed to it as well
// (Authentication, 5). It is empty but of full access made before 2026-10-01. The list is the caller's own.
func (g Grant) Closed() []Scope {
	if g.FullAccess && g.Contract.Before(contract.V20261001) {
		return slices.Clone(closedToOld)
	}
	return nil
}

// Holds says whether the grant reaches a scope.
func (g Grant) Holds(s Scope) bool {
	if g.FullAccess {
		return !slices.Contains(g.Closed(), s) && (!slices.Contains(byName, s) || slices.Contains(g.Scopes, s))
	}
	if slices.Contains(g.Scopes, s) {
		return true
	}
	if !g.Contract.Before(contract.V20261001) {
		return false
	}
	return slices.ContainsFunc(g.Scopes, func(broad Scope) bool {
		return slices.Contains(folded[broad], s)
	})
}

// Effective lists every scope the grant reaches, in alphabetical order.
func (g Grant) Effective() []Scope {
	return slices.DeleteFunc(All(), func(s Scope) bool { return !g.Holds(s) })
}

// Covers says whether everything other reaches is within this grant.
func (g Grant) Covers(other Grant) bool {
	return !slices.ContainsFunc(other.Effective(), func(s Scope) bool { return !g.Holds(s) })
}
