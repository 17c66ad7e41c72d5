package subjects

import (
	"visavis.dev/api/route"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/language"
	"visavis.dev/pkg/portals/subject"
)

// Features are the parts of a subject, besides its content, that may be sent.
type Features struct {
	Objectives          route.Part[[]subject.Objective] `json:"objectives,omitzero" maxItems:"50" doc:"What people can do afterwards."`
	PersonaID           route.OptNull[id.Persona]       `json:"personaId,omitzero" doc:"Who speaks in place of the portal's persona; null for that one."`
	KnowledgeBaseIDs    route.Opt[[]id.KnowledgeBase]   `json:"knowledgeBaseIds,omitzero" maxItems:"20" doc:"Packs to answer from, besides the portal's."`
	DurationS           route.OptNull[int64]            `json:"durationS,omitzero" minimum:"30" maximum:"7200" doc:"How long it is meant to take. An assessment is over then."`
	Assessed            route.Opt[bool]                 `json:"assessed,omitzero" doc:"Whether answers are scored."`
	PassPercent         route.OptNull[int64]            `json:"passPercent,omitzero" minimum:"0" maximum:"100" doc:"The share of points to pass with, in percent; null where nobody can fail."`
	AttemptsAllowed     route.OptNull[int64]            `json:"attemptsAllowed,omitzero" minimum:"1" maximum:"100" doc:"null for any number."`
	CertificateTemplate route.OptNull[string]           `json:"certificateTemplate,omitzero" maxLength:"80" doc:"What the certificate looks like that who passes gets: plain, or else classic; null for none."`
	ValidMonths         route.OptNull[int64]            `json:"validMonths,omitzero" minimum:"1" maximum:"120" doc:"How long having passed holds; null for good."`
	Prerequisites       route.Opt[[]id.Subject]         `json:"prerequisites,omitzero" maxItems:"20" doc:"Subjects of the same portal that come first."`
}

// Sections are the parts of a content that may be sent, whole or in part.
type Sections struct {
	Title     route.Part[language.Words]       `json:"title,omitzero" doc:"What people read, by language; the subject's own title where it says nothing."`
	Intro     route.Part[language.Words]       `json:"intro,omitzero" doc:"By language, as every text is."`
	Sections  route.Part[[]subject.Section]    `json:"sections,omitzero" maxItems:"100" doc:"What is taught, in order; the list takes the place of the one before."`
	Questions route.Part[[]subject.Question]   `json:"questions,omitzero" maxItems:"200" doc:"What the avatar asks, in order; the list takes the place of the one before."`
	Scenario  route.PartNull[subject.Scenario] `json:"scenario,omitzero" doc:"What is played, of a practice."`
	Rules     route.Part[subject.Rules]        `json:"rules,omitzero" doc:"How the questions are asked; what is left out stays."`
	Ending    route.Part[subject.Ending]       `json:"ending,omitzero" doc:"What comes last; what is left out stays."`
}

// Input is the request for a new subject.
type Input struct {
	PortalPath
	Body SubjectInput
}

// SubjectInput is a subject to be made.
type SubjectInput struct {
	Title string `json:"title" minLength:"1" maxLength:"200" doc:"What to call the subject, for people."`
	Kind  string `json:"kind" enum:"course,topic,practice,assessment,screening,faq,guide" doc:"What the subject is for."`
	Features
	Content route.Part[subject.Content] `json:"content,omitzero" doc:"Version 1 of what it says; empty unless given."`
}

// UpdateInput is the request for a change of a subject.
type UpdateInput struct {
	Path
	route.Edition
	Body SubjectChange
}

// SubjectChange is what to change of a subject.
type SubjectChange struct {
	Title route.Opt[string] `json:"title,omitzero" minLength:"1" maxLength:"200" doc:"A new title, for people."`
	State route.Opt[string] `json:"state,omitzero" enum:"archived" doc:"Takes the subject off the portal for good."`
	Order route.Opt[int64]  `json:"order,omitzero" minimum:"0" maximum:"100000" doc:"Its new place; one beyond the last is the last."`
	Features
}

// ContentInput is the request for a change of a content.
type ContentInput struct {
	Path
	route.Edition
	Body ContentChange
}

// ContentChange is what to change of a content.
type ContentChange struct {
	BaseVersion route.Opt[int64]      `json:"baseVersion,omitzero" minimum:"1" doc:"The version to change, as If-Match says it. Without either, the last save wins."`
	ChangeNote  route.OptNull[string] `json:"changeNote,omitzero" maxLength:"500" doc:"What was changed, in the words of who did."`
	Sections
}
