// Package published is what visitors see of portals: the published version, the
// published subjects, the open doors and who speaks. A Store finds it by slug or
// host, and every process notices a change within two seconds.
package published

import (
	"errors"
	"time"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/language"
	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/portals/portal/artwork"
	"visavis.dev/pkg/portals/subject"
)

// Site is a portal as visitors see it. It is shared and never changes.
type Site struct {
	Org    id.Org
	Portal id.Portal
	Kind   portal.Kind
	// Slug and Host are where it is; Host is empty without one. FormerSlugs lead here.
	Slug, Host  string
	FormerSlugs []string
	// Stamp differs between any two states of the site.
	Stamp Stamp
	Name  string
	// Definition is as it was published, but that its AINotice is also the
	// organization's.
	Definition  portal.Definition
	PublishedAt time.Time
	// SubjectBase is the pack of what the subjects teach; nil before the first was published.
	SubjectBase *id.KnowledgeBase
	Speaker     Speaker
	// Doors are the open ones, by key.
	Doors map[string]Door
	// Subjects are in their order.
	Subjects []Subject
	// Pictures are the copies that there are of the pictures of the site.
	Pictures artwork.ByURL
}

// Stamp tells whether what is known of a site still holds.
type Stamp struct {
	// Page grows with everything that changes the page, Persona with who speaks.
	Page, Persona int64
	// AINotice says that the organization has all its visitors told of the AI.
	AINotice bool
	// Agents says that the organization lets AI assistants ask.
	Agents bool
}

// Speaker is who speaks.
type Speaker struct {
	Name    string
	Persona id.Persona
	Avatar  id.Avatar
	// Hosts are the two of a duo; there are none where one alone speaks.
	Hosts []persona.Host
	// Disclosure says that it is an AI, by language.
	Disclosure language.Words
}

// Door is an open way in.
type Door struct {
	Key string
	// Requires are name, email, consent, age_check or sso.
	Requires []string
	// Message is shown beside it, or empty.
	Message string
}

// Subject is a published subject.
type Subject struct {
	ID         id.Subject
	Title      string
	Kind       subject.Kind
	Definition subject.Definition
	Content    subject.Content
}

// Subject finds a subject.
func (s *Site) Subject(wanted id.Subject) (*Subject, bool) {
	for i := range s.Subjects {
		if s.Subjects[i].ID == wanted {
			return &s.Subjects[i], true
		}
	}
	return nil, false
}

// Errors of this package.
var (
	// ErrNone says that nothing is published under a name.
	ErrNone = errors.New("no portal is published here")
	// ErrGone says that a portal was here and is archived.
	ErrGone = errors.New("the portal was archived")
)
