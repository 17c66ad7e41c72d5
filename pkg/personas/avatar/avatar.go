// Package avatar holds the faces: the library's, which ship with the product
// and belong to everybody, and the organizations' own (spec, Avatars).
package avatar

import (
	"time"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/personas/avatar/landmark"
	"visavis.dev/pkg/personas/avatar/portrait"
)

// Kind tells library faces from an organization's own.
type Kind string

// The kinds.
const (
	Builtin Kind = "builtin"
	Custom  Kind = "custom"
)

// The states of an avatar.
const (
	Ready     = "ready"
	Withdrawn = "withdrawn"
)

// Avatar is one face.
type Avatar struct {
	ID   id.Avatar
	Kind Kind
	Name string
	// Gender, AgeBand and Heritage are empty where a customer did not say.
	Gender, AgeBand, Heritage string
	Width, Height             int
	// Landmarks are nil where no face was found, and before anybody looked.
	Landmarks *portrait.Landmarks
	// Marked says where Landmarks are from, or that they were looked for in vain.
	Marked               landmark.Source
	Consent              *Consent
	Metadata             map[string]string
	Uses                 Uses
	CreatedAt, UpdatedAt time.Time
	DeletedAt            *time.Time

	// Picture and Thumbnail are an own face's files.
	Picture, Thumbnail id.File
}

// Consent is what the face's consent amounts to now.
type Consent struct {
	ID            id.Consent
	State         string
	PolicyVersion string
	RecordedAt    time.Time
}

// Uses counts who wears the face in the asking organization.
type Uses struct{ Personas, Duos int64 }

// Status is whether the face can start new sessions.
func (a *Avatar) Status() string {
	if a.Consent != nil && a.Consent.State == Withdrawn {
		return Withdrawn
	}
	return Ready
}

// Landscape says whether the picture is wider than high.
func (a *Avatar) Landscape() bool { return a.Width > a.Height }

// Noun is what errors call a face.
const Noun errdefs.Noun = "avatar"

// ReasonLibrary is that of conflicts of faces that every organization sees, and
// ReasonConsent that of those whose consent was withdrawn.
const (
	ReasonLibrary = "library"
	ReasonConsent = "consent_withdrawn"
)

// OfLibrary says that a face is everybody's.
func OfLibrary(avatar id.Avatar) error {
	return &errdefs.Conflict{Noun: Noun, ID: avatar.String(), Reason: ReasonLibrary, Message: "Library faces cannot be changed or deleted."}
}
