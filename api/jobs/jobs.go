// Package jobs declares the operations on work that outlasts a request.
package jobs

import (
	"context"
	"net/http"
	"slices"
	"time"

	"k8s.io/utils/clock"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/personas/face"
	"visavis.dev/pkg/personas/knowledge"
	"visavis.dev/pkg/portals/setup"
	"visavis.dev/pkg/store/file"
	"visavis.dev/pkg/store/tenant"
)

// API is what the operations work with.
type API struct {
	Tenants *tenant.Tenants
	// Files keeps what came of jobs.
	Files *file.Store
	// Clock times what is waited for.
	Clock clock.Clock
}

// Register declares the operations. A key sees the jobs of what it may manage;
// one with portals:read sees every job, unless it has full access and is older than 2026-10-01 (visible).
func (a *API) Register(s *route.Service) {
	one := route.Operation{Group: "Jobs", Since: contract.V20261001, Items: contract.JobItem}

	list := one
	list.ID, list.Method, list.Path, list.Class = "listJobs", http.MethodGet, "/jobs", "read"
	list.Summary, list.Items = "The jobs the key may see, newest first", contract.JobItem
	route.List(s, list, a.list)

	get := one
	get.ID, get.Method, get.Path, get.Class = "getJob", http.MethodGet, "/jobs/{id}", "read"
	get.Summary, get.Items = "One job and how far it got", contract.JobItem
	get.Description = "With waitS the answer comes when the job has ended, and after so many seconds at the latest."
	route.Handle(s, get, a.get)

	cancel := one
	cancel.ID, cancel.Method, cancel.Path, cancel.Class = "cancelJob", http.MethodPost, "/jobs/{id}/cancel", "write"
	cancel.Summary, cancel.Errors = "End a job early; what it did stays done", []problem.Code{problem.Conflict}
	cancel.Items = contract.JobItem
	route.Handle(s, cancel, a.cancel)

	download := one
	download.ID, download.Method, download.Path, download.Class = "downloadJob", http.MethodGet, "/jobs/{id}/download", "read"
	download.Summary, download.Items, download.Produces = "The file that came of a job", "", []string{asTable, asJSON, asLines}
	download.Errors = []problem.Code{problem.Conflict}
	download.Description = "Of people_import, the lines that were refused, with what is wrong with each; of simulate, as JSON, " +
		"the transcript of a script, the results of tests, or what a persona cannot answer of its packs; of export, the records. It is gone once somebody was erased who may be in it. The key needs the scope that such a job is begun with. It is there as long as the job."
	route.File(s, download, a.download)
}

// Job is a piece of work.
type Job struct {
	ID           id.Job                `json:"id" doc:"Id of the job, with the prefix job_."`
	Kind         job.Kind              `json:"kind" doc:"What kind of work it is."`
	State        job.State             `json:"state" enum:"queued,running,succeeded,failed,cancelled" doc:"How far it has come; the last three are final."`
	Progress     *int64                `json:"progress" minimum:"0" maximum:"100" doc:"Per cent; null while the whole is not known."`
	Done         int64                 `json:"done" doc:"How many parts are done."`
	Total        *int64                `json:"total" doc:"Of how many; null while that is not known."`
	ResourceKind string                `json:"resourceKind" doc:"What it works on."`
	ResourceID   string                `json:"resourceId" doc:"Id of the thing that it works on."`
	PortalID     *id.Portal            `json:"portalId" nullable:"true" doc:"The portal that it works on; null for none."`
	SubjectID    *id.Subject           `json:"subjectId" nullable:"true" doc:"The subject that it works on; null for none."`
	Result       JobResult             `json:"result" doc:"What has come of it so far."`
	Error        route.OrNull[Failure] `json:"error" doc:"Why it failed; null unless it did."`
	Retryable    bool                  `json:"retryable" doc:"Whether what failed may work when it is asked for once more."`
	Attempts     int64                 `json:"attempts" doc:"How many steps were begun."`
	CreatedBy    string                `json:"createdBy" doc:"Who asked for it: a key's id, a person's, or system."`
	CreatedAt    time.Time             `json:"createdAt" doc:"When the job was asked for, in UTC."`
	StartedAt    *time.Time            `json:"startedAt" doc:"When work on it began, in UTC; null before."`
	FinishedAt   *time.Time            `json:"finishedAt" doc:"When it was over, in UTC; null before."`
	ExpiresAt    *time.Time            `json:"expiresAt" doc:"Until when an ended job can be read."`
}

// JobResult is what came of a job.
type JobResult struct {
	Counts  map[string]int64 `json:"counts" doc:"How many of what, such as documents."`
	Refused []RefusedLine    `json:"refused" doc:"The first hundred lines of a file that were refused."`
	File    *string          `json:"file" doc:"The name of the file that GET /jobs/{id}/download answers; null where nothing came of the job but what is here."`
}

// RefusedLine is a line of a file that was refused.
type RefusedLine struct {
	Line    int64   `json:"line" minimum:"1" doc:"Counted from one, with the header."`
	Column  *string `json:"column" doc:"Null for the whole line."`
	Message string  `json:"message" doc:"Why the line was refused, for people."`
}

// resultOf is what came of a job.
func resultOf(j job.Job) JobResult {
	r := JobResult{Counts: j.Counts, Refused: make([]RefusedLine, len(j.Refused))}
	for i, l := range j.Refused {
		r.Refused[i] = RefusedLine{Line: l.Line, Message: l.Message}
		if l.Column != "" {
			r.Refused[i].Column = &l.Column
		}
	}
	if !j.File.IsZero() {
		r.File = new(fileName(j))
	}
	return r
}

// Failure is why a job failed.
type Failure struct {
	Code    string `json:"code" doc:"Why it failed, to branch on."`
	Message string `json:"message" doc:"Why it failed, for people."`
}

// FailureOf is the failure of a code; nil of none.
func FailureOf(code string) *Failure {
	if code == "" {
		return nil
	}
	return &Failure{code, messages[code]}
}

// passing are the codes of what may pass by itself.
var passing = []string{"fetch_failed", "internal_error", "malformed", "rate_limited", "timeout", "truncated", "unavailable"}

// messages explain the codes.
var messages = map[string]string{
	"address_refused":       "The address is not public.",
	setup.CodeFaceGone:      "The face was deleted meanwhile, or its consent withdrawn.",
	face.AvatarDeleted:      "The face was deleted meanwhile.",
	"blocked":               "The site does not let its pages be read.",
	"consent_withdrawn":     "The consent was withdrawn.",
	setup.CodeDocumentGone:  "A document was deleted meanwhile.",
	setup.CodeDocumentsFull: "The pack takes no more documents: what the plan allows is in it, or it is full.",
	"empty":                 "There is no text in it.",
	"fetch_failed":          "The address could not be fetched.",
	"internal_error":        "Something went wrong on our side.",
	setup.CodePacksFull:     "The plan allows no more knowledge packs.",
	"malformed":             "The answer of the connected service makes no sense.",
	"no_connection":         "The connection was deleted or switched off.",
	setup.CodePersonaGone:   "The persona was deleted meanwhile.",
	face.PictureBroken:      "The picture cannot be decoded.",
	face.PictureUnreadable:  "The picture could not be read.",
	setup.CodePortalsFull:   "The plan allows no more portals.",
	"pack_full":             knowledge.PackFull.Message(),
	"rate_limited":          "The connected service was asked too often.",
	"refused":               "The connected service does not take the secret.",
	"rejected":              "The connected service does not take the request.",
	setup.CodeSubjectsFull:  "The portal has as many subjects as one can have.",
	setup.CodeTemplateGone:  "The template is not there any more, or the plan does not include it.",
	"timeout":               "The address or the connected service did not answer in time.",
	"too_complex":           "It has more parts or levels than are read.",
	"too_large":             "It is too large.",
	"truncated":             "The answer of the connected service broke off.",
	"unavailable":           "The connected service could not be reached.",
	"unreadable":            "It could not be read.",
	"unsupported":           "It is of a kind that cannot be read.",
	setup.CodeVoiceUnfit:    "The voice was deleted meanwhile, or does not speak the portal's language.",
	"webhook_inactive":      "The webhook was paused, switched off or deleted meanwhile.",
}

// Show makes the answer's form of a job.
func Show(j job.Job) Job {
	shown := Job{
		ID: j.ID, Kind: j.Kind, State: j.State, Done: j.Done, ResourceKind: j.ResourceKind, ResourceID: j.ResourceID,
		Result: resultOf(j), Attempts: j.Attempts, CreatedBy: j.CreatedBy, CreatedAt: j.CreatedAt.UTC(), StartedAt: route.UTC(j.StartedAt), FinishedAt: route.UTC(j.FinishedAt),
	}
	if !j.Portal.IsZero() {
		shown.PortalID = &j.Portal
	}
	if !j.Subject.IsZero() {
		shown.SubjectID = &j.Subject
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
	shown.Error.Value, shown.Retryable = FailureOf(j.ErrorCode), slices.Contains(passing, j.ErrorCode)
	if j.FinishedAt != nil {
		expires := j.FinishedAt.Add(job.Retention).UTC()
		shown.ExpiresAt = &expires
	}
	return shown
}

// Query filters and pages the jobs.
type Query struct {
	route.Paging
	Kind  string `query:"kind" maxLength:"200" doc:"One or more of avatar_prepare, candidate_erase, connection_sync, erase, export, knowledge_sync, people_import, portal_fill, portal_plan, simulate, subject_sync, translate, unit_switch, voice_clone, voice_remove, webhook_recover, separated by commas."`
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

// visible lists the scopes whose jobs the key sees; nil when it sees all. Of what is closed to it, it sees no job.
func visible(c *route.Call) []scope.Scope {
	grant := c.Principal.Key.Grant()
	if grant.Holds(scope.PortalsRead) && len(grant.Closed()) == 0 {
		return nil
	}
	return append([]scope.Scope{}, grant.Effective()...)
}

// Path names a job.
type Path struct {
	ID string `path:"id" doc:"The job's id, with or without job_."`
}

// GetInput names a job, and says how long its end may be waited for.
type GetInput struct {
	Path
	WaitS int64 `query:"waitS" minimum:"0" maximum:"25" doc:"Wait up to so many seconds for the job to end."`
}

func (a *API) get(ctx context.Context, c *route.Call, in *GetInput) (Job, error) {
	j, err := a.find(ctx, c, &in.Path)
	if err == nil && in.WaitS > 0 && !j.State.Ended() {
		j, err = job.Await(ctx, a.Tenants, a.Clock, c.Org(), j.ID, time.Duration(in.WaitS)*time.Second)
	}
	return Show(j), err
}

func (a *API) find(ctx context.Context, c *route.Call, p *Path) (job.Job, error) {
	wanted, err := route.Lookup(id.ParseJob, p.ID, "job")
	if err != nil {
		return job.Job{}, err
	}
	j, err := job.Get(ctx, a.Tenants, c.Org(), wanted)
	if seen := visible(c); err == nil && seen != nil && !slices.Contains(seen, j.Scope) {
		err = job.Noun.NotFound(wanted)
	}
	return j, err
}

// cancel needs what it takes to begin such a job, which seeing it does not.
func (a *API) cancel(ctx context.Context, c *route.Call, p *Path) (Job, error) {
	found, err := a.find(ctx, c, p)
	if err != nil {
		return Job{}, err
	}
	if err := mayManage(c, found); err != nil {
		return Job{}, err
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (Job, error) {
		j, err := job.Cancel(ctx, tx, found.ID, c.Actor())
		return Show(j), err
	})
}

// mayManage refuses a key that may see a job but not begin one such.
func mayManage(c *route.Call, j job.Job) error {
	if !c.Principal.Key.Grant().Holds(j.Scope) {
		return problem.New(problem.Forbidden, "This needs the scope %s.", j.Scope)
	}
	return nil
}
