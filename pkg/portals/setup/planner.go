package setup

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/golive"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/portals/portal/template"
	"visavis.dev/pkg/store/tenant"
)

// Planner works plans out: it is what the jobs of the kind portal_plan do.
type Planner struct {
	Sources Sources
	Scribe  *ModelWriter
	Gallery *template.Gallery
	// Terms are what an organization may have.
	Terms func(ctx context.Context, org id.Org) (plan.Terms, error)
}

// Work is what the jobs do.
func (p *Planner) Work() job.Work { return job.Work{Prepare: p.prepare} }

// worked is a proposal, and who wrote it.
type worked struct {
	proposal Proposal
	written  bool
	sources  int
}

func (p *Planner) prepare(ctx context.Context, j job.Job) (job.Step, error) {
	var what task
	if err := json.Unmarshal(j.Input, &what); err != nil {
		return nil, err
	}
	found, err := Get(ctx, p.Sources.Tenants, j.Org, what.Plan)
	if errdefs.IsNotFound(err, Noun) || err == nil && !found.worksFor(j, Planning) {
		return obsolete, nil
	}
	if err != nil {
		return nil, err
	}
	w, err := p.work(ctx, j.Org, found.Input)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, tx *tenant.Tx, j *job.Job, now time.Time) (time.Duration, error) {
		return 0, keep(ctx, tx, what.Plan, j, w, now)
	}, nil
}

// worksFor says whether the plan waits for a job to bring it on from a state.
func (p *Plan) worksFor(j job.Job, from State) bool { return p.State == from && p.Job == j.ID }

// obsolete ends a job that nobody waits for any more.
func obsolete(_ context.Context, _ *tenant.Tx, j *job.Job, _ time.Time) (time.Duration, error) {
	j.State = job.Cancelled
	return 0, nil
}

// work works a proposal out.
func (p *Planner) work(ctx context.Context, org id.Org, in Input) (worked, error) {
	terms, err := p.Terms(ctx, org)
	if err != nil {
		return worked{}, err
	}
	found, warnings, err := p.Sources.gather(ctx, org, in)
	if err != nil {
		return worked{}, err
	}
	templates := Allowed(p.Gallery, terms)
	draft := outline(in, found, templates)
	w := worked{sources: len(found)}
	if w.proposal, err = draft.Normalize(templates); err != nil {
		return w, err
	}
	better, err := p.written(ctx, org, in, found, w.proposal, templates)
	switch {
	case err == nil:
		w.proposal, w.written = better, true
	case errors.Is(err, ErrNoModel):
	case ctx.Err() != nil || refusal(err) == "":
		return w, err
	default:
		warnings = append(warnings, golive.Finding{
			Field: "subjects", Message: "The connected model could not write a proposal, so this one is put together from the sources alone.",
		})
	}
	w.proposal.Warnings = append(warnings, w.proposal.Warnings...)
	return w, nil
}

// written is the proposal as the organization's model writes it. The error is
// ErrNoModel where it has none.
func (p *Planner) written(ctx context.Context, org id.Org, in Input, found []source, draft Proposal, templates []template.Template) (Proposal, error) {
	m, err := p.Scribe.open(ctx, org)
	if err != nil {
		return draft, err
	}
	return m.write(ctx, in, found, draft, templates)
}

// keep enters a proposal. Whoever discarded the plan meanwhile does not get it back.
func keep(ctx context.Context, tx *tenant.Tx, which id.SetupPlan, j *job.Job, w worked, now time.Time) error {
	found, err := Lock(ctx, tx, which)
	if errdefs.IsNotFound(err, Noun) || err == nil && !found.worksFor(*j, Planning) {
		j.State = job.Cancelled
		return nil
	}
	if err != nil {
		return err
	}
	found.State, found.Proposal, found.Written, found.Edition = Ready, &w.proposal, w.written, found.Edition+1
	j.State, j.Done, j.Total = job.Succeeded, 1, 1
	j.Counts = map[string]int64{"sources": int64(w.sources), "subjects": int64(len(w.proposal.Subjects))}
	return found.save(ctx, tx, now)
}
