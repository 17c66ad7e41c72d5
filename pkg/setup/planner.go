package setup

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"visavis.dev/pkg/golive"
	"visavis.dev/pkg/id"
	"visavis.dev/pkg/job"
	"visavis.dev/pkg/knowledge"
	"visavis.dev/pkg/model"
	"visavis.dev/pkg/portal/template"
	"visavis.dev/pkg/tenant"
)

// Planner works plans out: it is what the jobs of the kind portal_plan do.
type Planner struct {
	Tenants *tenant.Tenants
	Gallery *template.Gallery
	// Fetch reads websites.
	Fetch knowledge.Fetch
	// Model is what an organisation's plans are written by; nil where it connected
	// none that works.
	Model func(ctx context.Context, org id.Org) (model.Model, error)
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
	plan, err := Get(ctx, p.Tenants, j.Org, what.Plan)
	if errors.Is(err, ErrUnknown) {
		return done, nil
	}
	if err != nil {
		return nil, err
	}
	w, err := p.work(ctx, j.Org, plan.Input)
	if because, ok := errors.AsType[*failed](err); ok {
		return fail(because.code), nil
	}
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, tx *tenant.Tx, j *job.Job, now time.Time) (time.Duration, error) {
		return 0, keep(ctx, tx, what.Plan, j, w, now)
	}, nil
}

// done ends a job whose plan is no more.
func done(_ context.Context, _ *tenant.Tx, j *job.Job, _ time.Time) (time.Duration, error) {
	j.State = job.Cancelled
	return 0, nil
}

// fail ends a job that cannot be done.
func fail(code string) job.Step {
	return func(_ context.Context, _ *tenant.Tx, j *job.Job, _ time.Time) (time.Duration, error) {
		j.State, j.ErrorCode = job.Failed, code
		return 0, nil
	}
}

// work works a proposal out.
func (p *Planner) work(ctx context.Context, org id.Org, in Input) (worked, error) {
	found, warnings, err := p.gather(ctx, org, in)
	if err != nil {
		return worked{}, err
	}
	templates := p.Gallery.Templates()
	w := worked{proposal: outline(in, found, templates), sources: len(found)}
	m, err := p.Model(ctx, org)
	if err != nil {
		return w, err
	}
	if m != nil {
		better, err := write(ctx, m, in, found, w.proposal, p.Gallery)
		switch {
		case err == nil:
			w.proposal, w.written = better, true
		case ctx.Err() != nil:
			return w, err
		default:
			warnings = append(warnings, golive.Finding{
				Field: "subjects", Message: "The connected model could not write a proposal, so this one is put together from the sources alone.",
			})
		}
	}
	w.proposal.Warnings = append(warnings, w.proposal.Warnings...)
	return w, nil
}

// keep enters a proposal. Whoever discarded the plan meanwhile does not get it back.
func keep(ctx context.Context, tx *tenant.Tx, which id.SetupPlan, j *job.Job, w worked, now time.Time) error {
	plan, err := Lock(ctx, tx, which)
	if errors.Is(err, ErrUnknown) || err == nil && plan.State != Planning {
		j.State = job.Cancelled
		return nil
	}
	if err != nil {
		return err
	}
	plan.State, plan.Proposal, plan.Written, plan.Edition = Ready, &w.proposal, w.written, plan.Edition+1
	j.State, j.Done, j.Total = job.Succeeded, 1, 1
	j.Counts = map[string]int64{"sources": int64(w.sources), "subjects": int64(len(w.proposal.Subjects))}
	return plan.save(ctx, tx, now)
}
