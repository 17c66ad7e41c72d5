// Package jobs declares the operations on work that outlasts a request.
package jobs

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"visavis.dev/api/route"
	"visavis.dev/pkg/activity"
	"visavis.dev/pkg/contract"
	"visavis.dev/pkg/face"
	"visavis.dev/pkg/id"
	"visavis.dev/pkg/job"
	"visavis.dev/pkg/problem"
	"visavis.dev/pkg/scope"
	"visavis.dev/pkg/tenant"
)

// API is what the operations work with.
type API struct{ Tenants *tenant.Tenants }

// Register declares the operations. A key sees the jobs of what it may manage;
// one with portals:read sees every job.
func (a *API) Register(s *route.Service) {
	one := route.Operation{Group: "Jobs", Since: contract.V20261001}

	list := one
	list.ID, list.Method, list.Path, list.Class = "listJobs", http.MethodGet, "/jobs", "read"
	list.Summary = "The jobs the key may see, newest first"
	route.List(s, list, a.list)

	get := one
	get.ID, get.Method, get.Path, get.Class = "getJob", http.MethodGet, "/jobs/{id}", "read"
	get.Summary = "One job and how far it got"
	route.Handle(s, get, a.get)

	cancel := one
	cancel.ID, cancel.Method, cancel.Path, cancel.Class = "cancelJob", http.MethodPost, "/jobs/{id}/cancel", "write"
	cancel.Summary, cancel.Errors = "End a job early; what it did stays done", []problem.Code{problem.Conflict}
	route.Handle(s, cancel, a.cancel)
}

// Job is a piece of work.
type Job struct {
	ID           id.Job                `json:"id"`
	Kind         job.Kind              `json:"kind"`
	State        job.State             `json:"state" enum:"queued,running,succeeded,failed,cancelled"`
	Progress     *int64                `json:"progress" minimum:"0" maximum:"100" doc:"Per cent; null while the whole is not known."`
	Done         int64                 `json:"done" doc:"How many parts are done."`
	Total        *int64                `json:"total" doc:"Of how many; null while that is not known."`
	ResourceKind string                `json:"resourceKind" doc:"What it works on."`
	ResourceID   string                `json:"resourceId"`
	Error        route.OrNull[Failure] `json:"error"`
	Attempts     int64                 `json:"attempts" doc:"How many steps were begun."`
	CreatedBy    string                `json:"createdBy"`
	CreatedAt    time.Time             `json:"createdAt"`
	StartedAt    *time.Time            `json:"startedAt"`
	FinishedAt   *time.Time            `json:"finishedAt"`
	ExpiresAt    *time.Time            `json:"expiresAt" doc:"Until when an ended job can be read."`
}

// Failure is why a job failed.
type Failure struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// messages explain the codes.
var messages = map[string]string{
	"address_refused":      "The address is not public.",
	face.AvatarDeleted:     "The face was deleted meanwhile.",
	"blocked":              "The site does not let its pages be read.",
	"consent_withdrawn":    "The consent was withdrawn.",
	"empty":                "There is no text in it.",
	"fetch_failed":         "The address could not be fetched.",
	"internal_error":       "Something went wrong on our side.",
	"malformed":            "The answer of the connected service makes no sense.",
	"no_connection":        "The connection was deleted or switched off.",
	face.PictureBroken:     "The picture cannot be decoded.",
	face.PictureUnreadable: "The picture could not be read.",
	"refused":              "The connected service does not take the secret.",
	"rejected":             "The connected service does not take the request.",
	"timeout":              "The address did not answer in time.",
	"too_large":            "It is too large.",
	"unavailable":          "The connected service could not be reached.",
	"unreadable":           "It could not be read.",
	"unsupported":          "It is of a kind that cannot be read.",
	"webhook_inactive":     "The webhook was paused, switched off or deleted meanwhile.",
}

// Show makes the answer's form of a job.
func Show(j job.Job) Job {
	shown := Job{
		ID: j.ID, Kind: j.Kind, State: j.State, Done: j.Done, ResourceKind: j.ResourceKind, ResourceID: j.ResourceID,
		Attempts: j.Attempts, CreatedBy: j.CreatedBy, CreatedAt: j.CreatedAt.UTC(), StartedAt: route.UTC(j.StartedAt), FinishedAt: route.UTC(j.FinishedAt),
	}
	if j.Counted() {
		// More can come while it runs; the whole is never less than what is done.
		total := max(j.Total, j.Done)
		percent := int64(100)
		if total > 0 && j.State != job.Succeeded {
			percent = j.Done * 100 / total
		}
		shown.Total, shown.Progress = &total, &percent
	}
	if j.ErrorCode != "" {
		shown.Error.Value = &Failure{j.ErrorCode, messages[j.ErrorCode]}
	}
	if j.FinishedAt != nil {
		expires := j.FinishedAt.Add(job.Retention).UTC()
		shown.ExpiresAt = &expires
	}
	return shown
}

// Query filters and pages the jobs.
type Query struct {
	route.Paging
	Kind  string `query:"kind" maxLength:"200" doc:"One or more of avatar_prepare, erase, knowledge_sync, unit_switch, voice_clone, voice_remove, webhook_recover, separated by commas."`
	State string `query:"state" maxLength:"80" doc:"One or more of queued, running, succeeded, failed, cancelled, separated by commas."`
}

func (a *API) list(ctx context.Context, c *route.Call, q *Query) (route.Page[Job], error) {
	return route.Listed(c, q.Paging, func(after id.Job, limit int) ([]job.Job, error) {
		var err error
		filter := job.Filter{Scopes: visible(c)}
		if filter.Kinds, err = route.Several("kind", q.Kind, job.Kinds()); err != nil {
			return nil, err
		}
		if filter.States, err = route.Several("state", q.State, job.States()); err != nil {
			return nil, err
		}
		return job.List(ctx, a.Tenants, c.Org(), filter, after, limit)
	}, func(j job.Job) id.Job { return j.ID }, Show)
}

// visible lists the scopes whose jobs the key sees; nil when it sees all.
func visible(c *route.Call) []scope.Scope {
	grant := c.Principal.Key.Grant()
	if grant.Holds(scope.PortalsRead) {
		return nil
	}
	return append([]scope.Scope{}, grant.Effective()...)
}

// Path names a job.
type Path struct {
	ID string `path:"id" doc:"The job's id, with or without job_."`
}

func (a *API) get(ctx context.Context, c *route.Call, p *Path) (Job, error) {
	j, err := a.find(ctx, c, p)
	return Show(j), err
}

func (a *API) find(ctx context.Context, c *route.Call, p *Path) (job.Job, error) {
	wanted, err := route.Lookup(id.ParseJob, p.ID, "job")
	if err != nil {
		return job.Job{}, err
	}
	j, err := job.Get(ctx, a.Tenants, c.Org(), wanted)
	if seen := visible(c); err == nil && seen != nil && !slices.Contains(seen, j.Scope) {
		err = job.ErrUnknown
	}
	return j, asProblem(err)
}

// cancel needs what it takes to begin such a job, which seeing it does not.
func (a *API) cancel(ctx context.Context, c *route.Call, p *Path) (Job, error) {
	found, err := a.find(ctx, c, p)
	if err != nil {
		return Job{}, err
	}
	if !c.Principal.Key.Grant().Holds(found.Scope) {
		return Job{}, problem.New(problem.Forbidden, "This needs the scope %s.", found.Scope)
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (Job, error) {
		j, err := job.Cancel(ctx, tx, found.ID, c.Now())
		if err != nil {
			return Job{}, asProblem(err)
		}
		if found.State.Ended() {
			return Show(j), nil
		}
		return Show(j), activity.Record(ctx, tx, c.Did("job.cancelled", "job", j.ID.String(), nil))
	})
}

func asProblem(err error) error {
	switch {
	case errors.Is(err, job.ErrUnknown):
		return problem.Missing("job").WithParam("path.id")
	case errors.Is(err, job.ErrNotCancellable):
		return problem.Conflicting("not_cancellable", "A job of this kind runs to its end. Delete what it works on instead.")
	}
	return err
}
