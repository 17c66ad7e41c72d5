package setup

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/portals/portal/template"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
)

const selectPlan = `
	SELECT p.id, p.portal_id, p.state, p.input, p.proposal, p.edition, p.job_id, p.written, p.created_by, p.created_at, p.updated_at, p.expires_at,
		COALESCE(j.state, ''), COALESCE(j.error_code, '')
	FROM setup_plan p LEFT JOIN job j ON j.org_id = p.org_id AND j.id = p.job_id
	WHERE p.org_id = $1 `

func scan(row pgx.CollectableRow) (Plan, error) { return pgx.RowToStructByPos[Plan](row) }

// Get finds a plan. The error is errdefs.NotFound.
func Get(ctx context.Context, t *tenant.Tenants, org id.Org, which id.SetupPlan) (Plan, error) {
	return tenant.One(ctx, t, org, scan, Noun.NotFound(which), selectPlan+`AND p.id = $2`, org, which)
}

// Lock finds a plan in a transaction that will change it: nobody else does until
// the commit. The error is errdefs.NotFound.
func Lock(ctx context.Context, tx *tenant.Tx, which id.SetupPlan) (Plan, error) {
	// The row is waited for by itself: what is read beside it would be as old as
	// the wait.
	if _, err := tx.Exec(ctx, `SELECT 1 FROM setup_plan WHERE org_id = $1 AND id = $2 FOR UPDATE`, tx.Org, which); err != nil {
		return Plan{}, err
	}
	return tenant.OneIn(ctx, tx, scan, Noun.NotFound(which), selectPlan+`AND p.id = $2`, tx.Org, which)
}

// List is a page of the plans, newest first, after one of them; the zero id for the
// first page. It rides setup_plan_pkey.
func List(ctx context.Context, t *tenant.Tenants, org id.Org, after id.SetupPlan, limit int) ([]Plan, error) {
	return tenant.All(ctx, t, org, scan, selectPlan+`AND ($2::UUID IS NULL OR p.id < $2) AND p.state <> 'discarded' ORDER BY p.id DESC LIMIT $3`, org, after, limit)
}

// task is what a job of this package is to do.
type task struct {
	// Plan is worked out or made true; zero where Fill is asked for.
	Plan id.SetupPlan `json:"plan,omitzero"`
	// Portal is the one to be built, at Slug and with Cast, or to be filled. That it
	// is named here makes every try build the same.
	Portal id.Portal `json:"portal,omitzero"`
	Slug   string    `json:"slug,omitempty"`
	Cast   Cast      `json:"cast,omitzero"`
	Fill   *Request  `json:"fill,omitempty"`
	job.Fetching
}

// propose queues a job of a plan.
func propose(ctx context.Context, tx *tenant.Tx, kind job.Kind, what task, by string, at time.Time) (job.Job, error) {
	return job.Insert(ctx, tx, job.Job{
		ID: id.NewJob(), Kind: kind, ResourceKind: "setup_plan", ResourceID: what.Plan.String(), Scope: scope.PortalsWrite, CreatedBy: by, CreatedAt: at,
	}, what)
}

// Begin enters a plan, with the job that works it out.
func Begin(ctx context.Context, tx *tenant.Tx, in Input, who activity.Actor) (Plan, error) {
	p := Plan{
		ID: id.NewSetupPlan(), State: Planning, Input: in, Edition: 1, CreatedBy: who.By, CreatedAt: who.At, UpdatedAt: who.At,
		ExpiresAt: who.At.Add(Lifetime),
		JobState:  job.Queued,
	}
	j, err := propose(ctx, tx, job.PortalPlan, task{Plan: p.ID, Fetching: in.fetching()}, who.By, who.At)
	if err != nil {
		return p, err
	}
	p.Job = j.ID
	tx.Touch("setup_plan", p.ID)
	if _, err := tx.Exec(ctx, `
		INSERT INTO setup_plan (org_id, id, state, input, edition, job_id, written, created_by, created_at, updated_at, expires_at)
		VALUES ($1, $2, $3, $4, $5, $6, false, $7, $8, $8, $9)`,
		tx.Org, p.ID, p.State, p.Input, p.Edition, p.Job, p.CreatedBy, p.CreatedAt, p.ExpiresAt); err != nil {
		return p, err
	}
	who.Log(tx, "setup_plan.created", "setup_plan", p.ID, nil)
	return p, nil
}

// save writes what changed of a plan that Lock found.
func (p *Plan) save(ctx context.Context, tx *tenant.Tx, at time.Time) error {
	p.UpdatedAt, p.ExpiresAt = at, at.Add(Lifetime)
	tx.Touch("setup_plan", p.ID)
	_, err := tx.Exec(ctx, `
		UPDATE setup_plan SET portal_id = $3, state = $4, proposal = $5, edition = $6, job_id = $7, written = $8, updated_at = $9, expires_at = $10
		WHERE org_id = $1 AND id = $2`,
		tx.Org, p.ID, p.Portal, p.State, p.Proposal, p.Edition, p.Job, p.Written, p.UpdatedAt, p.ExpiresAt)
	return err
}

// Change makes a plan's proposal another. The error is an errdefs.Conflict, or an errdefs.Invalid.
// templates are those that can be chosen.
func Change(ctx context.Context, tx *tenant.Tx, templates []template.Template, p Plan, to Proposal, who activity.Actor) (Plan, error) {
	if p.Standing() != Ready {
		return p, NotReady()
	}
	normalized, err := to.Normalize(templates)
	if err != nil {
		return p, err
	}
	normalized.Warnings = p.Proposal.Warnings // which are what was found when it was worked out
	p.State, p.Proposal, p.Edition = Ready, &normalized, p.Edition+1
	if err := p.save(ctx, tx, who.At); err != nil {
		return p, err
	}
	who.Log(tx, "setup_plan.updated", "setup_plan", p.ID, nil)
	return p, nil
}

// Apply queues the job that makes a plan true. The error is an errdefs.Conflict.
func Apply(ctx context.Context, tx *tenant.Tx, p Plan, c Cast, who activity.Actor) (job.Job, error) {
	if p.Standing() != Ready {
		return job.Job{}, NotReady()
	}
	what := task{Plan: p.ID, Portal: id.NewPortal(), Slug: portal.NewSlug(p.Proposal.Name), Cast: c}
	j, err := propose(ctx, tx, job.PortalFill, what, who.By, who.At)
	if err != nil {
		return j, err
	}
	p.State, p.Job, p.JobState = Applying, j.ID, j.State
	if err := p.save(ctx, tx, who.At); err != nil {
		return j, err
	}
	who.Log(tx, "setup_plan.applied", "setup_plan", p.ID, nil)
	return j, nil
}

// Discard puts a plan away. What it was made into stays; a plan that is being
// applied is an errdefs.Conflict.
func Discard(ctx context.Context, tx *tenant.Tx, p Plan, who activity.Actor) error {
	if p.Standing() == Applying {
		return NotReady()
	}
	p.State = Discarded
	if err := p.save(ctx, tx, who.At); err != nil {
		return err
	}
	who.Log(tx, "setup_plan.deleted", "setup_plan", p.ID, nil)
	return nil
}

// SweepBatch is how many plans are forgotten at once.
const SweepBatch = 1000

// Sweep forgets plans of a shard that nobody changed for a long time.
func Sweep(ctx context.Context, t *tenant.Tenants, shard string, now time.Time) (int, error) {
	return t.SweepRows(ctx, shard, `
		DELETE FROM setup_plan WHERE (org_id, id) IN (
			SELECT p.org_id, p.id FROM setup_plan p JOIN org_fence f ON f.org_id = p.org_id AND f.state = 'open'
			WHERE p.expires_at <= $1 LIMIT $2)`, now, SweepBatch)
}
