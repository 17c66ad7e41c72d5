package subjects

import (
	"errors"
	"time"

	"visavis.dev/api/golive"
	"visavis.dev/api/route"
	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/language"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/portals/subject"
)

// Subject is one subject without its content.
type Subject struct {
	ID                    id.Subject `json:"id" doc:"Id of the subject, with the prefix sub_."`
	PortalID              id.Portal  `json:"portalId" doc:"The portal that it belongs to."`
	Title                 string     `json:"title" doc:"What the subject is called, for people."`
	Kind                  string     `json:"kind" enum:"course,topic,practice,assessment,screening,faq,guide" doc:"What the subject is for."`
	State                 string     `json:"state" enum:"draft,published,archived" doc:"draft until it is first published; an archived one is gone for people and stays readable."`
	Languages             []string   `json:"languages" doc:"The portal's."`
	DefaultLanguage       string     `json:"defaultLanguage" doc:"The portal's."`
	Version               *int64     `json:"version" doc:"The version that people see; null before the first."`
	DraftVersion          int64      `json:"draftVersion" doc:"The version that was saved last."`
	HasUnpublishedChanges bool       `json:"hasUnpublishedChanges" doc:"Whether its content was saved since it was published."`
	subject.Definition
	Order          int64                  `json:"order" doc:"Its place among the portal's subjects; they are in ascending order."`
	QuestionCount  int64                  `json:"questionCount" doc:"Those of the draft."`
	Edition        int64                  `json:"edition" doc:"Grows with each change of what is shown here, as the ETag does."`
	CreatedAt      time.Time              `json:"createdAt" doc:"When the subject was made, in UTC."`
	UpdatedAt      time.Time              `json:"updatedAt" doc:"When it was last changed, in UTC."`
	PublishedAt    *time.Time             `json:"publishedAt" doc:"When it was last published, in UTC; null for never."`
	ArchivedAt     *time.Time             `json:"archivedAt" doc:"When it was archived, in UTC; null while it was not."`
	PublishRefused *golive.PublishRefusal `json:"publishRefused,omitempty" doc:"Only of an answer on 2026-07-08 to a request to publish that was refused."`
}

func show(s subject.Summary) Subject {
	return Subject{
		ID: s.ID, PortalID: s.Portal, Title: s.Title, Kind: string(s.Kind), State: string(s.State),
		Languages: s.Languages, DefaultLanguage: s.DefaultLanguage,
		Version: s.PublishedVersion, DraftVersion: s.DraftVersion, HasUnpublishedChanges: s.Changed(), Definition: s.Definition,
		Order: s.Place, QuestionCount: s.Questions, Edition: s.Edition, CreatedAt: s.CreatedAt.UTC(), UpdatedAt: s.UpdatedAt.UTC(),
		PublishedAt: route.UTC(s.PublishedAt), ArchivedAt: route.UTC(s.ArchivedAt),
	}
}

// SubjectContent is what a subject says, as it was saved.
type SubjectContent struct {
	SubjectID       id.Subject                     `json:"subjectId" doc:"The subject whose content it is."`
	Version         int64                          `json:"version" doc:"The version's number, from 1; what baseVersion and If-Match are held against."`
	BaseVersion     int64                          `json:"baseVersion" doc:"The version that it was made from; 0 of the first."`
	State           string                         `json:"state" enum:"draft,published,superseded" doc:"draft, published, or superseded by a later one."`
	Languages       []string                       `json:"languages" doc:"Those that it has texts in."`
	Title           language.Words                 `json:"title" doc:"What people read; the subject's own title where it says nothing."`
	Intro           language.Words                 `json:"intro" doc:"What comes first, by language."`
	Sections        []subject.Section              `json:"sections" doc:"What is taught, in order."`
	Questions       []subject.Question             `json:"questions" doc:"What the avatar asks."`
	Scenario        route.OrNull[subject.Scenario] `json:"scenario" doc:"A situation to practice in; null for none."`
	Rules           subject.Rules                  `json:"rules" doc:"How the questions are asked."`
	Ending          subject.Ending                 `json:"ending" doc:"What comes last."`
	ChangedSections []string                       `json:"changedSections" doc:"What differs from the version that it was made from."`
	ChangeNote      *string                        `json:"changeNote" doc:"What was said of the version; null for nothing."`
	SavedAt         time.Time                      `json:"savedAt" doc:"When the version was saved, in UTC."`
	SavedBy         string                         `json:"savedBy" doc:"Who saved it: a key's id or a person's."`
}

func showContent(s subject.Subject, v subject.Version) SubjectContent {
	content := v.Content
	return SubjectContent{
		SubjectID: s.ID, Version: v.Version, BaseVersion: v.BaseVersion, State: state(s, v), Languages: content.Languages(),
		Title: content.Title, Intro: content.Intro, Sections: content.Sections, Questions: content.Questions,
		Scenario: route.OrNull[subject.Scenario]{Value: content.Scenario}, Rules: content.Rules, Ending: content.Ending,
		ChangedSections: v.ChangedSections, ChangeNote: v.ChangeNote, SavedAt: v.SavedAt.UTC(), SavedBy: v.SavedBy,
	}
}

// state is what a version is to the subject now.
func state(s subject.Subject, v subject.Version) string {
	switch {
	case s.PublishedVersion != nil && *s.PublishedVersion == v.Version:
		return "published"
	case s.DraftVersion == v.Version:
		return "draft"
	}
	return "superseded"
}

// SubjectVersion is a version of a subject's content without the content.
type SubjectVersion struct {
	Version         int64      `json:"version" doc:"The version's number, from 1."`
	BaseVersion     int64      `json:"baseVersion" doc:"The version that it was made from."`
	State           string     `json:"state" enum:"draft,published,superseded" doc:"draft, published, or superseded by a later one."`
	ChangedSections []string   `json:"changedSections" doc:"Keys of the parts that differ from the version before."`
	ChangeNote      *string    `json:"changeNote" doc:"What was said of it; null for nothing."`
	SavedAt         time.Time  `json:"savedAt" doc:"When it was saved, in UTC."`
	SavedBy         string     `json:"savedBy" doc:"Who saved it: a key's id or a person's."`
	PublishedAt     *time.Time `json:"publishedAt" doc:"When it was published, in UTC; null for never."`
	PublishedBy     *string    `json:"publishedBy" doc:"Who published it: a key's id or a person's; null for nobody."`
}

func showVersion(s subject.Subject) func(subject.Version) SubjectVersion {
	return func(v subject.Version) SubjectVersion {
		return SubjectVersion{
			Version: v.Version, BaseVersion: v.BaseVersion, State: state(s, v), ChangedSections: v.ChangedSections, ChangeNote: v.ChangeNote,
			SavedAt: v.SavedAt.UTC(), SavedBy: v.SavedBy, PublishedAt: route.UTC(v.PublishedAt), PublishedBy: v.PublishedBy,
		}
	}
}

// asProblem says what cannot be written any more, or at all.
func asProblem(err error) error {
	if archived, ok := errors.AsType[errdefs.Archived](err); ok {
		return problem.Conflicting("archived", "The %s is archived and cannot be changed any more.", archived.Noun)
	}
	if errors.Is(err, subject.ErrTooLarge) {
		return problem.New(problem.TooLarge, "The content may have at most %d bytes, all its texts together.", subject.MaxContent).WithParam("body")
	}
	return err
}
