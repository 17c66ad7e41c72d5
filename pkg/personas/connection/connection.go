// Package connection is an organization's connections to services of its own:
// models, speech, recognition, media servers and systems to act on (design, Connections). It keeps
// them with their secrets sealed, opens them for those who use them, tries them
// out, and follows how well they work.
package connection

import (
	"errors"
	"slices"
	"time"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/provider/upstream"
)

// Kind is what a connection is for.
type Kind string

// The kinds.
const (
	// Model writes answers.
	Model Kind = "model"
	// Speech speaks them.
	Speech Kind = "speech"
	// Recognition writes down what was said.
	Recognition Kind = "recognition"
	// Media carries voices and faces.
	Media Kind = "media"
	// Avatar renders faces as videos, in the rooms of a media server.
	Avatar Kind = "avatar"
	// Embedding finds passages by what they mean.
	Embedding Kind = "embedding"
	// Identity says who people are.
	Identity Kind = "identity"
	// HTTP does what a model asks for, by requests.
	HTTP Kind = "http"
	// CRM keeps the customers that an organization has.
	CRM Kind = "crm"
	// ATS sends candidates, and is told what came of them.
	ATS Kind = "ats"
	// LMS is where an organization's people learn.
	LMS Kind = "lms"
	// Helpdesk has tickets, and Chat is where an organization's people talk: both are told what visitors leave.
	Helpdesk Kind = "helpdesk"
	Chat     Kind = "chat"
	// Calendar is where an organization's people have their appointments.
	Calendar Kind = "calendar"
	// MCP does what a model asks for, by the Model Context Protocol.
	MCP Kind = "mcp"
)

// State is whether a connection can be used.
type State string

// The states.
const (
	// Unverified: no call worked since its config or secret changed, and none has shown that it fails.
	Unverified State = "unverified"
	Active     State = "active"
	// Failing: it failed several times in a row, or was refused.
	Failing State = "failing"
	// Disabled: it was switched off.
	Disabled State = "disabled"
)

// What happens where a connection fails.
const (
	// FallbackBuiltin goes on with what is built in.
	FallbackBuiltin = "builtin"
	// FallbackFail lets the conversation fail.
	FallbackFail = "fail"
)

// Fallbacks are what may happen where a connection of the kind fails, the usual one first. Answers, voices and
// faces are built in, and passages are found by their words; for everything else nothing here takes its place.
func (k Kind) Fallbacks() []string {
	switch k {
	case Model, Speech:
		return []string{FallbackBuiltin, FallbackFail}
	case Embedding, Avatar:
		return []string{FallbackBuiltin}
	}
	return []string{FallbackFail}
}

// Connection is one connection without its secret.
type Connection struct {
	ID       id.Connection
	Kind     Kind
	Provider Provider
	Name     string
	State    State
	// Config is of the provider's form.
	Config Config
	// TimeoutMs bounds a call.
	TimeoutMs int64
	Fallback  string
	// SecretSet says that there is a secret; SecretLast4 is the end of one that
	// is long enough to show it, and otherwise empty.
	SecretSet   bool
	SecretLast4 string
	Health      Health
	// Discovered are the tools that its server had when it was last tested, of kind MCP.
	Discovered []Discovered
	// SettledAt is when config or secret last changed: what was seen before
	// says nothing of the connection as it is.
	SettledAt            time.Time
	CreatedAt, UpdatedAt time.Time
	DeletedAt            *time.Time
	// Successor goes on with what a deleted one did; zero where nobody named one.
	Successor id.Connection
	UsedBy    Uses
}

// FallsBackTo is what happens where the connection fails. Before kinds had fallbacks of their
// own, others than can happen were kept.
func (c Connection) FallsBackTo() string {
	if can := c.Kind.Fallbacks(); !slices.Contains(can, c.Fallback) {
		return can[0]
	}
	return c.Fallback
}

// Health is how well a connection works.
type Health struct {
	OKAt, ErrorAt *time.Time
	// ErrorCode is that of the last failed call, until one succeeds.
	ErrorCode upstream.Code
	// Failures counts the failed calls since the last good one.
	Failures int64
	// P95Ms is how long 95 of a hundred of the kept calls took at most;
	// negative while there are none.
	P95Ms int64
}

// Uses are who uses a connection.
type Uses struct {
	Personas []id.Persona
	Voices   []id.Voice
	// Portals let people in by it.
	Portals []id.Portal
	// Schedules keep their appointments there too.
	Schedules []id.Schedule
	// Bases have the vectors of their passages made by it.
	Bases []id.KnowledgeBase
	// Sessions counts those that take place by it and are not over.
	Sessions int64
}

func (u Uses) any() bool {
	return len(u.Personas)+len(u.Voices)+len(u.Portals)+len(u.Schedules)+len(u.Bases) > 0 || u.Sessions > 0
}

// refusal says who still uses a connection.
func (u Uses) refusal(which id.Connection) error {
	return Noun.InUse(which, "The connection is used by %d personas, %d voices, %d portals, %d schedules, %d knowledge packs and %d live sessions.",
		len(u.Personas), len(u.Voices), len(u.Portals), len(u.Schedules), len(u.Bases), u.Sessions)
}

// Noun is what errors call a connection.
const Noun errdefs.Noun = "connection"

// Errors of this package, besides those of package errdefs.
var (
	// ErrDisabled says that a connection is switched off.
	ErrDisabled = errors.New("the connection is switched off")
	// ErrSecretNeeded says that the secret must be given anew: it was given
	// for another address.
	ErrSecretNeeded = errors.New("the secret was given for another address")
)

// Address is where the service is, without a path: what a secret is given for.
func (c Connection) Address() string { return origin(c.Config.BaseURL(c.Provider)) }

// secretGoesTo are the addresses, without paths, that the secret is shown to, by the names of the config's values.
func (c Connection) secretGoesTo() map[string]string {
	to := map[string]string{c.Provider.AddressField(): c.Address()}
	if c.Provider == GoogleCalendar {
		to["tokenUrl"] = origin(c.Config.tokenURL())
	}
	return to
}
