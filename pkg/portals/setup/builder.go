package setup

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/language"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/personas/avatar"
	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/portals/portal/build"
	"visavis.dev/pkg/portals/portal/template"
	"visavis.dev/pkg/portals/subject"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
)

// Builder makes plans true and fills portals: it is what the jobs of the kind
// portal_fill do.
type Builder struct {
	Sources   Sources
	Scribe    *ModelWriter
	Gallery   *template.Gallery
	Library   *avatar.Library
	Addresses *portal.Addresses
	// Terms are what an organization may have.
	Terms func(ctx context.Context, org id.Org) (plan.Terms, error)
}

// Work is what the jobs do.
func (b *Builder) Work() job.Work { return job.Work{Prepare: b.prepare} }

func (b *Builder) prepare(ctx context.Context, j job.Job) (job.Step, error) {
	var what task
	if err := json.Unmarshal(j.Input, &what); err != nil {
		return nil, err
	}
	if what.Fill != nil {
		return b.prepareFill(ctx, j, what)
	}
	found, err := Get(ctx, b.Sources.Tenants, j.Org, what.Plan)
	if errdefs.IsNotFound(err, Noun) || err == nil && !found.worksFor(j, Applying) {
		return obsolete, nil
	}
	if err != nil {
		return nil, err
	}
	terms, err := b.Terms(ctx, j.Org)
	if err != nil {
		return nil, err
	}
	draft, err := b.draft(found.Proposal, what, terms)
	if err != nil {
		return nil, err
	}
	from, err := stocked(ctx, b.Sources.Tenants, j.Org, found.Proposal.Knowledge)
	if err != nil {
		return nil, err
	}
	if err := b.claim(ctx, j.Org, &draft); err != nil {
		return nil, err
	}
	return func(ctx context.Context, tx *tenant.Tx, j *job.Job, now time.Time) (time.Duration, error) {
		return 0, b.apply(ctx, tx, j, applying{what.Plan, draft, from, terms}, now)
	}, nil
}

// draft is the portal that a proposal describes.
func (b *Builder) draft(p *Proposal, what task, terms plan.Terms) (build.Draft, error) {
	t, ok := b.Gallery.Filled(p.TemplateKey, nil)
	if !ok || t.PlanFeature != nil && !terms.Has(*t.PlanFeature) {
		return build.Draft{}, &job.Refusal{Code: CodeTemplateGone}
	}
	d := build.New(t, p.Name, p.Languages)
	d.Portal.ID, d.Portal.Slug = what.Portal, what.Slug
	what.Cast.play(&d, b.Library)
	d.Tune = p.Persona.tune
	d.Lessons = make([]template.Lesson, len(p.Subjects))
	for i, part := range p.Subjects {
		d.Lessons[i] = part.lesson()
	}
	return d, nil
}

// lesson is the subject as it is entered.
func (p *ProposedPart) lesson() template.Lesson {
	return template.Lesson{
		Subject: subject.Subject{Title: p.Title, Kind: p.Kind, Definition: subject.Definition{Objectives: p.Objectives}}, Content: subject.Content(p.Content),
	}
}

// tune lets what is proposed take the place of what the template says.
func (p *ProposedPersona) tune(d *persona.Definition) {
	if p.Role != "" {
		d.Role = &p.Role
	}
	if p.Instructions != "" {
		d.Instructions = strings.TrimSpace(d.Instructions + "\n\n" + p.Instructions)
	}
	if len(p.Greeting) == 0 {
		return
	}
	said := language.Words{}
	maps.Copy(said, d.Greeting.Text)
	maps.Copy(said, p.Greeting)
	d.Greeting.Text = said
	if _, own := said[d.Settings.Language]; own {
		d.Greeting.Mode = persona.GreetFixed
	}
}

// claim claims the address that the job names; should somebody have taken it
// before the first try, another.
func (b *Builder) claim(ctx context.Context, org id.Org, d *build.Draft) error {
	_, err := d.Claim(ctx, b.Addresses, org)
	if errors.Is(err, portal.ErrTaken) {
		d.Portal.Slug = ""
		_, err = d.Claim(ctx, b.Addresses, org)
	}
	return err
}

// applying is a plan that is made true.
type applying struct {
	plan  id.SetupPlan
	draft build.Draft
	from  stock
	terms plan.Terms
}

// apply builds the portal and notes it in the plan, all in one commit. The error
// is a job.Refusal where that cannot be done.
func (b *Builder) apply(ctx context.Context, tx *tenant.Tx, j *job.Job, a applying, now time.Time) error {
	found, err := Lock(ctx, tx, a.plan)
	if errdefs.IsNotFound(err, Noun) || err == nil && !found.worksFor(*j, Applying) {
		j.State = job.Cancelled
		return nil
	}
	if err != nil {
		return err
	}
	d := a.draft
	base, documents, err := a.from.fill(ctx, tx, id.KnowledgeBase{}, d.Portal.Name, a.terms, actor(*j, now).Unlogged())
	if err != nil {
		return err
	}
	packs := slices.Clone(a.from.packs)
	if !base.IsZero() {
		packs = append(packs, base)
	}
	d.Portal.Definition.KnowledgeBaseIDs = packs
	built, err := d.Build(ctx, tx, b.Library, a.terms, actor(*j, now))
	if code := whyNot(err); code != "" {
		return &job.Refusal{Code: code}
	}
	if err != nil {
		return err
	}
	found.State, found.Portal = Applied, built.Portal.ID
	if err := found.save(ctx, tx, now); err != nil {
		return err
	}
	j.State, j.Done, j.Total, j.Portal = job.Succeeded, 1, 1, built.Portal.ID
	j.Counts = map[string]int64{"portals": 1, "subjects": int64(len(built.Subjects)), "documents": documents}
	return nil
}

// actor is who asked for what a job does.
func actor(j job.Job, now time.Time) activity.Actor {
	return activity.Actor{By: j.CreatedBy, At: now, Job: j.ID}
}
