// Package voice is the voices a persona can speak with: the studio's, which
// ship with the product and belong to everybody, and the organizations' own,
// cloned by a service they connected (spec, Voices).
package voice

import (
	"time"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/language"
)

// Kind tells studio voices from an organization's own.
type Kind string

// The kinds.
const (
	Builtin Kind = "builtin"
	Custom  Kind = "custom"
)

// The values of Voice.Gender.
const (
	Female = "female"
	Male   = "male"
)

// Status is whether a voice can be used.
type Status string

// The states of a voice. A studio voice is always ready.
const (
	Training Status = "training"
	Ready    Status = "ready"
	Failed   Status = "failed"
	// Withdrawn: its consent was, and it starts no new sessions.
	Withdrawn Status = "withdrawn"
)

// Voice is one voice.
type Voice struct {
	ID   id.Voice
	Kind Kind
	// Key names a studio voice for good, in lower-case ASCII. Ids and files are
	// made from it, so it outlives a change of Name.
	Key string
	// Name is, of a studio voice, a first name of the kind speakers of
	// PrimaryLanguage bear.
	Name string
	// Gender is Female or Male.
	Gender string
	// Engine is the key of the engine it runs on, and so decides the engine of
	// any persona that uses it ("Languages").
	Engine string
	// Languages are the codes of all languages it speaks: of a studio voice those
	// of its engine, since "any voice speaks any language in its languages".
	Languages []string
	// PrimaryLanguage is the code of the language it sounds native in.
	PrimaryLanguage string
	// Accent is the key of the accent its English has, or "" for none.
	Accent string
	// Style is its manner in one word; empty for an own one.
	Style string
	// Description is, of a studio voice, one plain sentence for the gallery.
	Description string
	// SpeedMin, SpeedMax and SpeedDefault are factors of its natural pace, which
	// is 1.
	SpeedMin, SpeedMax, SpeedDefault float64
	Uses                             Uses
	CreatedAt, UpdatedAt             time.Time

	// The rest is of own voices alone.

	// Made is what became of its making: Training, Ready or Failed. Reason says
	// why it failed.
	Made   Status
	Reason string
	// Connection speaks it, and ServiceVoice is its name there.
	Connection     id.Connection
	ServiceVoice   string
	Consent        Consent
	Samples        []id.File
	Pronunciations []Pronunciation
	DeletedAt      *time.Time
}

// Consent is what an own voice's consent amounts to now.
type Consent struct {
	ID    id.Consent
	State string
}

// Uses counts who speaks with a voice in the asking organization.
type Uses struct{ Personas, Duos int64 }

// Pronunciation says how to say something.
type Pronunciation struct {
	Text     string `json:"text"`
	Say      string `json:"say"`
	Language string `json:"language"`
}

// Status is whether the voice can start new sessions.
func (v *Voice) Status() Status {
	switch {
	case v.Kind == Builtin:
		return Ready
	case v.Consent.State == string(Withdrawn):
		return Withdrawn
	}
	return v.Made
}

// Noun is what errors call a voice.
const Noun errdefs.Noun = "voice"

// ofStudio says that a voice is everybody's.
func ofStudio(v id.Voice) error {
	return &errdefs.Conflict{Noun: Noun, ID: v.String(), Reason: "library", Message: "Studio voices cannot be changed or deleted."}
}

// CloneEngine is the engine that own voices run on.
const CloneEngine = language.Premier
