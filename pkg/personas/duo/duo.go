// Package duo is two-person avatars (spec, Duos): two hosts, each with a face
// and a voice, that talk with people and with each other. A duo has a persona,
// which holds what they know and how they behave.
package duo

import (
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/language"
	"visavis.dev/pkg/personas/persona"
)

// Status is where a duo stands.
type Status string

// The states of a duo. Checking is kept nowhere: it is a draft of which a face
// is being prepared.
const (
	Draft    Status = "draft"
	Checking Status = "checking"
	Live     Status = "live"
	Paused   Status = "paused"
)

// Duo is one duo.
type Duo struct {
	ID        id.Duo
	Name      string
	Status    Status
	Hosts     []persona.Host
	Languages []string
	Interplay persona.Interplay
	Persona   id.Persona
	// LiveAt is since when it is live, or was before it was paused.
	LiveAt               *time.Time
	CreatedAt, UpdatedAt time.Time
	DeletedAt            *time.Time
}

// Defaults is the interplay of a duo whose maker says nothing.
func Defaults() persona.Interplay {
	return persona.Interplay{Style: "co_host", Handover: "natural", Balance: 0.5}
}

// The seats and roles of hosts. Each is taken once.
const (
	Left    = "left"
	Right   = "right"
	Lead    = "lead"
	Partner = "partner"
)

// Noun is what errors call a duo.
const Noun errdefs.Noun = "duo"

// HostError says what is wrong with a host.
type HostError struct {
	Index int
	// Err is one of avatar.Wear or voice.Find.
	Err error
}

func (e *HostError) Error() string { return fmt.Sprintf("host %d: %v", e.Index, e.Err) }

// Unwrap is what is wrong.
func (e *HostError) Unwrap() error { return e.Err }

// host is the host with a role.
func (d *Duo) host(role string) persona.Host {
	return d.Hosts[slices.IndexFunc(d.Hosts, func(h persona.Host) bool { return h.Role == role })]
}

// wears is the faces of the hosts, each once.
func (d *Duo) wears() []id.Avatar {
	var faces []id.Avatar
	for _, h := range d.Hosts {
		if !slices.Contains(faces, h.Avatar) {
			faces = append(faces, h.Avatar)
		}
	}
	return faces
}

// maxName bounds a host's name, in characters.
const maxName = 80

// Normalize answers the duo as it is kept, with its languages by code. The error
// is an errdefs.Invalid.
func (d *Duo) Normalize() (Duo, error) {
	normalized := *d
	if len(d.Hosts) != 2 {
		return normalized, invalid("hosts", "must be two")
	}
	for i, h := range d.Hosts {
		if n := utf8.RuneCountInString(h.Name); n == 0 || n > maxName {
			return normalized, invalid(fmt.Sprintf("hosts[%d].name", i), "must have 1 to %d characters", maxName)
		}
	}
	if d.Hosts[0].Seat == d.Hosts[1].Seat {
		return normalized, invalid("hosts[1].seat", "is taken: one host sits left, the other right")
	}
	if d.Hosts[0].Role == d.Hosts[1].Role {
		return normalized, invalid("hosts[1].role", "is taken: one host leads, the other is the partner")
	}
	codes, err := spoken(d.Languages)
	normalized.Languages = codes
	return normalized, err
}

// spoken answers languages by code, each once.
func spoken(languages []string) ([]string, error) {
	if len(languages) == 0 {
		return nil, invalid("languages", "must hold at least one")
	}
	codes := []string{}
	for i, asked := range languages {
		found, ok := language.Lookup(asked)
		if !ok || !found.Duo {
			return nil, invalid(fmt.Sprintf("languages[%d]", i), "is not a language that duos speak; GET /languages flags them")
		}
		if !slices.Contains(codes, found.Code) {
			codes = append(codes, found.Code)
		}
	}
	return codes, nil
}

func invalid(field, format string, args ...any) error {
	return errdefs.InvalidField(field, format, args...)
}
