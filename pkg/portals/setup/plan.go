package setup

import (
	"time"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/golive"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/language"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/portals/subject"
)

// State is where a plan stands.
type State string

// The states.
const (
	Planning  State = "planning"
	Ready     State = "ready"
	Applying  State = "applying"
	Applied   State = "applied"
	Failed    State = "failed"
	Discarded State = "discarded"
)

// Input is what a plan is worked out from. It is kept as JSON in the form that the
// API shows; the tags bound it there.
type Input struct {
	URL         *string       `json:"url" maxLength:"2048" doc:"A public https address; it and what it links to is read."`
	Brief       *string       `json:"brief" maxLength:"8000" doc:"What the portal is for, in plain words."`
	DocumentIDs []id.Document `json:"documentIds" maxItems:"20" doc:"Documents of knowledge packs that were read."`
	TemplateKey *string       `json:"templateKey" maxLength:"40" doc:"What to build it from; the one that fits best unless given."`
	Audience    string        `json:"audience" enum:"visitors,learners,customers,candidates,mixed" doc:"Whom the portal is for."`
	Languages   []string      `json:"languages" maxItems:"20" doc:"By code or name; the language of the sources unless given."`
	Goals       []string      `json:"goals" maxItems:"10" doc:"What people should be able to do or to know."`
}

// Empty says whether there is nothing to work from.
func (i *Input) Empty() bool { return i.URL == nil && i.Brief == nil && len(i.DocumentIDs) == 0 }

// fetching says whether gathering it gets pages of a site.
func (i *Input) fetching() job.Fetching { return job.Fetching{Fetches: i.URL != nil} }

// Proposal is a portal as a plan proposes it. It can be changed until it is applied.
type Proposal struct {
	TemplateKey string           `json:"templateKey" maxLength:"40" doc:"The template to build it from."`
	Name        string           `json:"name" minLength:"1" maxLength:"120" doc:"What the portal is to be called."`
	Languages   []string         `json:"languages" minItems:"1" maxItems:"20" doc:"Its languages, by code or name; the first is its default."`
	Persona     ProposedPersona  `json:"persona" doc:"Who is to speak."`
	Subjects    []ProposedPart   `json:"subjects" maxItems:"20" doc:"What it is to teach or ask."`
	Knowledge   []ProposedSource `json:"knowledge" maxItems:"20" doc:"What the portal will answer from, besides its subjects."`
	Warnings    []golive.Finding `json:"warnings" readOnly:"true" doc:"What to look at before the plan is applied; nothing of it stops that."`
}

// ProposedPersona is who will speak. What is empty is as the template has it.
type ProposedPersona struct {
	Role     string         `json:"role" maxLength:"200" doc:"What the persona is, in a line."`
	Greeting language.Words `json:"greeting" doc:"What the persona says first, by language."`
	// Instructions leave room for the template's.
	Instructions string `json:"instructions" maxLength:"8000" doc:"They come after the template's own."`
}

// Bounds of texts that are not written by people, in bytes.
const (
	maxName         = 120
	maxTitle        = 200
	maxGreeting     = 1000
	maxInstructions = 8000
	maxLine         = 500
	maxQuestion     = 2000
	// maxListed bounds lists of them.
	maxListed = 12
	// maxSources and maxParts bound a proposal's knowledge and subjects.
	maxSources = 20
	maxParts   = 20
)

// ProposedPart is a subject as it is proposed.
type ProposedPart struct {
	Title      string              `json:"title" given:"always" minLength:"1" maxLength:"200" doc:"What the subject is called."`
	Kind       subject.Kind        `json:"kind" enum:"course,topic,practice,assessment,screening,faq,guide" doc:"What the subject is for."`
	Objectives []subject.Objective `json:"objectives" maxItems:"50" doc:"What people are to be able to do afterwards."`
	Content    Lesson              `json:"content" doc:"What the subject says."`
}

// Lesson is a subject's content before there is a subject.
type Lesson subject.Content

// ProposedSource is an address to read, or a document that was read.
type ProposedSource struct {
	Title      string       `json:"title" maxLength:"200" doc:"What it is called."`
	URL        *string      `json:"url" maxLength:"2048" doc:"An address to read; null for a document."`
	DocumentID *id.Document `json:"documentId" nullable:"true" doc:"A document that was read already; null for an address."`
}

// Plan is one plan.
type Plan struct {
	ID id.SetupPlan
	// Portal is what it was made into; the zero id before.
	Portal id.Portal
	State  State
	Input  Input
	// Proposal is nil while it is worked out.
	Proposal *Proposal
	// Edition grows with each change of the proposal.
	Edition int64
	// Job works it out or applies it.
	Job id.Job
	// Written says whether a model wrote the proposal.
	Written              bool
	CreatedBy            string
	CreatedAt, UpdatedAt time.Time
	ExpiresAt            time.Time
	// JobState and JobError say where Job stands; empty once it is forgotten.
	JobState job.State
	JobError string
}

// Standing is where the plan stands, with what became of its job: one that could
// not be applied can be applied again.
func (p *Plan) Standing() State {
	broken := p.JobState == job.Failed || p.JobState == job.Cancelled
	switch {
	case p.State == Planning && broken:
		return Failed
	case p.State == Applying && broken:
		return Ready
	}
	return p.State
}

// Lifetime is how long a plan that nobody changes is kept.
const Lifetime = 30 * 24 * time.Hour

// Noun is what errors call a plan.
const Noun errdefs.Noun = "plan"

// NotReady says that a plan does not stand where something can be done.
func NotReady() error {
	return &errdefs.Conflict{
		Noun: Noun, Reason: "plan_state", Message: "The plan does not stand where this can be done: it must be ready.",
	}
}
