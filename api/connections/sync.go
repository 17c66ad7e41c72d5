package connections

import (
	"context"
	"net/http"
	"time"

	"visavis.dev/api/jobs"
	"visavis.dev/api/route"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/sessions/exchange"
	"visavis.dev/pkg/store/tenant"
)

func (a *API) registerSync(s *route.Service) {
	route.Handle(s, route.Operation{
		ID: "syncConnection", Group: "Connections", Scope: scope.ConnectionsWrite, AndScope: scope.InboxRead, Class: "heavy", Since: contract.V20261001,
		Method: http.MethodPost, Path: "/connections/{id}/sync", Status: http.StatusAccepted, Idempotent: true, Items: contract.JobItem,
		Errors:  []problem.Code{problem.Gone, problem.Conflict},
		Summary: "Have the inbox and a CRM or a helpdesk be alike",
		Description: "Of kind crm leads and bookings become contacts, one for each mail address, and items of visitors who were forgotten are let go. " +
			"What was written before is written again where it changed, unless it was deleted there. With takesBack, of the kinds crm and helpdesk, what people changed there is " +
			"taken back, for which the key needs inbox:write. result.counts of the job tells written, unchanged, contested, taken, gone, skipped, refused, unmapped, unlinked and failed. " +
			"All of that happens without this call too; it is for what was there before, and after an outage.",
	}, a.sync)
}

// SyncInput is the request for a sync.
type SyncInput struct {
	Path
	Body ConnectionSync
}

// ConnectionSync says what a sync is to do.
type ConnectionSync struct {
	DryRun bool       `json:"dryRun,omitempty" doc:"Count what would be done, and do nothing; false unless given."`
	Since  *time.Time `json:"since,omitempty" nullable:"true" doc:"Only items that were left at or after this moment; all unless given."`
}

func (a *API) sync(ctx context.Context, c *route.Call, in *SyncInput) (jobs.Job, error) {
	if err := a.checkPlan(c); err != nil {
		return jobs.Job{}, err
	}
	which, err := in.connection()
	if err != nil {
		return jobs.Job{}, err
	}
	o := exchange.Order{Connection: which, DryRun: in.Body.DryRun}
	if since := in.Body.Since; since != nil {
		if err := route.CheckTime("body.since", *since); err != nil {
			return jobs.Job{}, err
		}
		o.Since = since.UTC()
	}
	if !o.DryRun {
		of, err := connection.Get(ctx, a.Tenants, c.Org(), which)
		if err != nil {
			return jobs.Job{}, err
		}
		if err := checkConfigScopes(c, of.Config); err != nil {
			return jobs.Job{}, err
		}
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (jobs.Job, error) {
		j, err := exchange.Begin(ctx, tx, o, c.Actor())
		return jobs.Show(j), err
	})
}
