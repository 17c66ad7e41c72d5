// Package subject is what portals teach, ask and let people practise: drafts that
// are worked on, and versions that were published (spec, Subjects).
package subject

import (
	"errors"
	"time"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/language"
)

// Kind is what a subject is.
type Kind string

// The kinds.
const (
	Course     Kind = "course"
	Topic      Kind = "topic"
	Practice   Kind = "practice"
	Assessment Kind = "assessment"
	Screening  Kind = "screening"
	FAQ        Kind = "faq"
	Guide      Kind = "guide"
)

// Kinds lists every kind.
func Kinds() []Kind { return []Kind{Course, Topic, Practice, Assessment, Screening, FAQ, Guide} }

// State is where a subject stands.
type State string

// The states.
const (
	Draft     State = "draft"
	Published State = "published"
	Archived  State = "archived"
)

// Definition is what a subject is, besides its content. It is kept as JSON in the
// form that the API shows; the tags bound it there.
type Definition struct {
	Objectives []Objective `json:"objectives" maxItems:"50" doc:"What people are to be able to do afterwards."`
	// PersonaID speaks in the place of the portal's; null for that one.
	PersonaID           *id.Persona        `json:"personaId" nullable:"true" doc:"A persona to speak in place of the portal's; null for that one."`
	KnowledgeBaseIDs    []id.KnowledgeBase `json:"knowledgeBaseIds" maxItems:"20" doc:"Packs to answer from, besides the portal's."`
	DurationS           *int64             `json:"durationS" minimum:"30" maximum:"7200" doc:"How long it is meant to take. An assessment is over then."`
	Assessed            bool               `json:"assessed" doc:"Whether answers are scored."`
	PassPercent         *int64             `json:"passPercent" minimum:"0" maximum:"100" doc:"The share of points to pass with, in percent; null where nobody can fail."`
	AttemptsAllowed     *int64             `json:"attemptsAllowed" minimum:"1" maximum:"100" doc:"How many times somebody may try; null for any number."`
	CertificateTemplate *string            `json:"certificateTemplate" maxLength:"80" doc:"What the certificate looks like that who passes gets: plain, or else classic; null for none."`
	ValidMonths         *int64             `json:"validMonths" minimum:"1" maximum:"120" doc:"For how many months a completion and its certificate count; null for ever."`
	Prerequisites       []id.Subject       `json:"prerequisites" maxItems:"20" doc:"Subjects to have completed before."`
}

// Objective is something to be able to do afterwards.
type Objective struct {
	Key  string         `json:"key" given:"always" pattern:"^[a-z][a-z0-9_]{0,39}$" doc:"The objective's name, which no other of the subject has."`
	Text language.Words `json:"text" doc:"What to be able to do, by language."`
}

// Subject is one subject.
type Subject struct {
	ID     id.Subject
	Portal id.Portal
	Title  string
	Kind   Kind
	State  State
	// Place is where it stands among the portal's subjects, from zero.
	Place      int64
	Definition Definition
	// Edition grows with each change of all but the content.
	Edition int64
	// DraftVersion is the last version that was saved, and PublishedVersion the one
	// that people are taught from; nil before the first.
	DraftVersion         int64
	PublishedVersion     *int64
	PublishedAt          *time.Time
	CreatedAt, UpdatedAt time.Time
	ArchivedAt           *time.Time
}

// Version is a content that was saved. It never changes.
type Version struct {
	Version int64
	// BaseVersion is the one it was made from; zero for the first.
	BaseVersion     int64
	Content         Content
	ChangedSections []string
	ChangeNote      *string
	SavedAt         time.Time
	SavedBy         string
	PublishedAt     *time.Time
	PublishedBy     *string
}

// The nouns that errors of this package are about, besides portals.
const (
	Noun        errdefs.Noun = "subject"
	VersionNoun errdefs.Noun = "version of the subject"
)

// ErrTooLarge says that a content has more than MaxContent bytes.
var ErrTooLarge = errors.New("the content is too large")

// ReasonFull is that of the conflict of a portal with MaxPerPortal subjects.
const ReasonFull = "full"

// TitleIn is what the subject is called in a language.
func (s *Subject) TitleIn(c Content, code string) string {
	if title, ok := c.Title[code]; ok {
		return title
	}
	return s.Title
}

// Changed says whether the draft differs from what people are taught from.
func (s *Subject) Changed() bool {
	return s.PublishedVersion == nil || *s.PublishedVersion != s.DraftVersion
}
