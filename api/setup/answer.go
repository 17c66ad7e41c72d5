package setup

import (
	"time"

	"visavis.dev/api/jobs"
	"visavis.dev/api/route"
	"visavis.dev/pkg/base/golive"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/language"
	"visavis.dev/pkg/portals/setup"
	"visavis.dev/pkg/portals/subject"
)

// PortalPlan is one plan.
type PortalPlan struct {
	ID          id.SetupPlan               `json:"id" doc:"Id of the plan, with the prefix plan_."`
	PortalID    *id.Portal                 `json:"portalId" nullable:"true" doc:"What it was made into."`
	State       setup.State                `json:"state" enum:"planning,ready,applying,applied,failed,discarded" doc:"planning until there is a proposal, ready, and what became of it."`
	Input       setup.Input                `json:"input" doc:"What it is worked out from."`
	Proposal    route.OrNull[PlanProposal] `json:"proposal" doc:"null while it is worked out."`
	JobID       id.Job                     `json:"jobId" doc:"What works it out, or applies it."`
	Error       route.OrNull[jobs.Failure] `json:"error" doc:"Why it could not be worked out or applied."`
	AIGenerated bool                       `json:"aiGenerated" doc:"Whether a model wrote the proposal."`
	Version     int64                      `json:"version" doc:"How many times it was changed, from 1; what baseVersion and If-Match are held against."`
	CreatedBy   string                     `json:"createdBy" doc:"Who asked for it: a key's id or a person's."`
	CreatedAt   time.Time                  `json:"createdAt" doc:"When the plan was asked for, in UTC."`
	UpdatedAt   time.Time                  `json:"updatedAt" doc:"When it was last changed, in UTC."`
	ExpiresAt   time.Time                  `json:"expiresAt" doc:"Until when it is kept unless it is changed."`
}

func show(p setup.Plan) PortalPlan {
	shown := PortalPlan{
		ID: p.ID, State: p.Standing(), Input: p.Input, JobID: p.Job, AIGenerated: p.Written, Version: p.Edition, CreatedBy: p.CreatedBy,
		CreatedAt: p.CreatedAt.UTC(), UpdatedAt: p.UpdatedAt.UTC(), ExpiresAt: p.ExpiresAt.UTC(),
	}
	if !p.Portal.IsZero() {
		shown.PortalID = &p.Portal
	}
	shown.Proposal.Value = showProposal(p.Proposal)
	shown.Error.Value = jobs.FailureOf(p.JobError)
	return shown
}

// PlanProposal is a portal as a plan proposes it.
type PlanProposal struct {
	TemplateKey string                 `json:"templateKey" doc:"The template to build it from."`
	Name        string                 `json:"name" doc:"What the portal is to be called."`
	Languages   []string               `json:"languages" doc:"The one that is spoken otherwise first."`
	Persona     setup.ProposedPersona  `json:"persona" doc:"Who is to speak."`
	Subjects    []PlanSubject          `json:"subjects" doc:"What it is to teach or ask."`
	Knowledge   []setup.ProposedSource `json:"knowledge" doc:"What the portal will answer from, besides its subjects."`
	Warnings    []golive.Finding       `json:"warnings" doc:"What to look at before the plan is applied; nothing of it stops that."`
}

// PlanSubject is a subject as it is proposed.
type PlanSubject struct {
	Title      string              `json:"title" doc:"What the subject is called."`
	Kind       subject.Kind        `json:"kind" doc:"What the subject is for."`
	Objectives []subject.Objective `json:"objectives" doc:"What people are to be able to do afterwards."`
	Content    PlanContent         `json:"content" doc:"What the subject says."`
}

// PlanContent is what a proposed subject says.
type PlanContent struct {
	Title     language.Words                 `json:"title" doc:"What it is called, by language."`
	Intro     language.Words                 `json:"intro" doc:"What comes first, by language."`
	Sections  []subject.Section              `json:"sections" doc:"What is taught, in order."`
	Questions []subject.Question             `json:"questions" doc:"What the avatar asks."`
	Scenario  route.OrNull[subject.Scenario] `json:"scenario" doc:"A situation to practice in; null for none."`
	Rules     subject.Rules                  `json:"rules" doc:"How the questions are asked."`
	Ending    subject.Ending                 `json:"ending" doc:"What comes last."`
}

// showProposal shows a proposal; nil none.
func showProposal(p *setup.Proposal) *PlanProposal {
	if p == nil {
		return nil
	}
	shown := PlanProposal{
		TemplateKey: p.TemplateKey, Name: p.Name, Languages: p.Languages, Persona: p.Persona, Subjects: make([]PlanSubject, len(p.Subjects)),
		Knowledge: p.Knowledge, Warnings: p.Warnings,
	}
	for i, s := range p.Subjects {
		shown.Subjects[i] = PlanSubject{Title: s.Title, Kind: s.Kind, Objectives: s.Objectives, Content: PlanContent{
			Title: s.Content.Title, Intro: s.Content.Intro, Sections: s.Content.Sections, Questions: s.Content.Questions, Rules: s.Content.Rules, Ending: s.Content.Ending,
		}}
		shown.Subjects[i].Content.Scenario.Value = s.Content.Scenario
	}
	return &shown
}
