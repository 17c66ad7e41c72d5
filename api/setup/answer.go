package setup

import (
	"time"

	"visavis.dev/api/jobs"
	"visavis.dev/api/route"
	"visavis.dev/pkg/golive"
	"visavis.dev/pkg/id"
	"visavis.dev/pkg/language"
	"visavis.dev/pkg/setup"
	"visavis.dev/pkg/subject"
)

// PortalPlan is one plan.
type PortalPlan struct {
	ID          id.SetupPlan               `json:"id"`
	PortalID    *id.Portal                 `json:"portalId" nullable:"true" doc:"What it was made into."`
	State       setup.State                `json:"state" enum:"planning,ready,applying,applied,failed,discarded"`
	Input       setup.Input                `json:"input"`
	Proposal    route.OrNull[PlanProposal] `json:"proposal" doc:"null while it is worked out."`
	JobID       id.Job                     `json:"jobId" doc:"What works it out, or applies it."`
	Error       route.OrNull[jobs.Failure] `json:"error" doc:"Why it could not be worked out or applied."`
	AIGenerated bool                       `json:"aiGenerated" doc:"Whether a model wrote the proposal."`
	Version     int64                      `json:"version"`
	CreatedBy   string                     `json:"createdBy"`
	CreatedAt   time.Time                  `json:"createdAt"`
	UpdatedAt   time.Time                  `json:"updatedAt"`
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
	TemplateKey string                 `json:"templateKey"`
	Name        string                 `json:"name"`
	Languages   []string               `json:"languages" doc:"The one that is spoken otherwise first."`
	Persona     setup.ProposedPersona  `json:"persona"`
	Subjects    []PlanSubject          `json:"subjects"`
	Knowledge   []setup.ProposedSource `json:"knowledge" doc:"What the portal will answer from, besides its subjects."`
	Warnings    []golive.Finding       `json:"warnings"`
}

// PlanSubject is a subject as it is proposed.
type PlanSubject struct {
	Title      string              `json:"title"`
	Kind       subject.Kind        `json:"kind"`
	Objectives []subject.Objective `json:"objectives"`
	Content    PlanContent         `json:"content"`
}

// PlanContent is what a proposed subject says.
type PlanContent struct {
	Title     language.Words                 `json:"title"`
	Intro     language.Words                 `json:"intro"`
	Sections  []subject.Section              `json:"sections"`
	Questions []subject.Question             `json:"questions"`
	Scenario  route.OrNull[subject.Scenario] `json:"scenario"`
	Rules     subject.Rules                  `json:"rules"`
	Ending    subject.Ending                 `json:"ending"`
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
