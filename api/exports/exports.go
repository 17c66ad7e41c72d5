// Package exports declares the operation that writes records into files (spec, Jobs).
package exports

import (
	"context"
	_ "embed"
	"net/http"
	"slices"
	"time"

	"visavis.dev/api/jobs"
	"visavis.dev/api/route"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/figures/export"
	"visavis.dev/pkg/hiring/role"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/portals/subject"
	"visavis.dev/pkg/portals/unit"
	"visavis.dev/pkg/store/tenant"
)

// examples are bodies of requests, by operation.
//
//go:embed examples.json
var examples []byte

// API is what the operation works with.
type API struct{}

// Register declares the operation.
func (a *API) Register(s *route.Service) {
	s.Examples(examples)
	route.Handle(s, route.Operation{
		ID: "createExport", Group: "Jobs", Method: http.MethodPost, Path: "/exports", Class: "heavy", Since: contract.V20261001,
		Status: http.StatusAccepted, Idempotent: true, Items: contract.JobItem, Errors: []problem.Code{problem.NotFound},
		Summary: "Write records into a file",
		Description: "The key needs the scope that reads the records: results:read, sessions:read, inbox:read for leads, people:read, candidates:read or consents:read. " +
			"The file has what the key may read: scores of released results alone, what visitors said with transcripts:read, who candidates are with candidates:data. " +
			"No words of sessions are in it, and nobody who was erased. GET /jobs/{id}/download answers it once the job has ended, to keys that may read as much. " +
			"A file has at most 500,000 records, and goes when the job does, and when somebody is erased who may be in it.",
	}, a.create)
}

// Input is the request for an export.
type Input struct{ Body ExportOrder }

// ExportOrder says which records are written.
type ExportOrder struct {
	Kind    string         `json:"kind" enum:"results,sessions,leads,people,candidates,consents" doc:"Which records."`
	From    time.Time      `json:"from" doc:"Records that were made at or after this moment."`
	To      time.Time      `json:"to" doc:"Records that were made before this moment."`
	Format  string         `json:"format,omitempty" enum:"csv,jsonl" doc:"A table, or a JSON object a line; csv unless given. In a table, a text that a spreadsheet would compute has an apostrophe before it."`
	Filters *ExportFilters `json:"filters,omitempty" doc:"Only some of the records; all unless given."`
}

// ExportFilters narrow an export. Each is of some kinds of records.
type ExportFilters struct {
	PortalID  string `json:"portalId,omitempty" maxLength:"80" nullable:"true" doc:"Only records of this portal: results, sessions and leads."`
	UnitID    string `json:"unitId,omitempty" maxLength:"80" nullable:"true" doc:"Only records of this unit: results."`
	SubjectID string `json:"subjectId,omitempty" maxLength:"80" nullable:"true" doc:"Only records of this subject: results and sessions."`
	RoleID    string `json:"roleId,omitempty" maxLength:"80" nullable:"true" doc:"Only candidates of this role."`
	State     string `json:"state,omitempty" maxLength:"40" nullable:"true" doc:"Only records in this state, as their own operations name it."`
}

func (a *API) create(ctx context.Context, c *route.Call, in *Input) (jobs.Job, error) {
	o, err := in.Body.order()
	if err != nil {
		return jobs.Job{}, err
	}
	grant := c.Principal.Key.Grant()
	if needed := o.Kind.Scope(); !grant.Holds(needed) {
		return jobs.Job{}, problem.New(problem.Forbidden, "This key lacks the scope %s.", needed)
	}
	o.Words, o.Personal, o.Contract = grant.Holds(scope.TranscriptsRead), grant.Holds(scope.CandidatesData), c.Contract
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (jobs.Job, error) {
		if err := o.Check(); err != nil {
			return jobs.Job{}, err
		}
		if err := there(ctx, tx, o); err != nil {
			return jobs.Job{}, err
		}
		j, err := export.Begin(ctx, tx, o, c.Actor())
		return jobs.Show(j), err
	})
}

// firstYear and lastYear are those in which records can lie.
const (
	firstYear = 2000
	lastYear  = 2200
)

// order reads what is asked for.
func (b *ExportOrder) order() (o export.Order, err error) {
	o = export.Order{Kind: export.Kind(b.Kind), Format: export.CSV, From: b.From.UTC(), To: b.To.UTC()}
	for name, at := range map[string]time.Time{"from": o.From, "to": o.To} {
		if at.Year() < firstYear || at.Year() > lastYear {
			return o, problem.Invalid("body."+name, "%s must lie between the years %d and %d.", name, firstYear, lastYear)
		}
	}
	if b.Format != "" {
		o.Format = export.Format(b.Format)
	}
	if !slices.Contains(export.Kinds(), o.Kind) {
		return o, problem.Invalid("body.kind", "kind is none of those that are exported.")
	}
	if b.Filters == nil {
		return o, nil
	}
	f := b.Filters
	o.State = f.State
	if o.Portal, err = parse(id.ParsePortal, "portal", "portalId", f.PortalID); err != nil {
		return o, err
	}
	if o.Unit, err = parse(id.ParseUnit, "unit", "unitId", f.UnitID); err != nil {
		return o, err
	}
	if o.Subject, err = parse(id.ParseSubject, "subject", "subjectId", f.SubjectID); err != nil {
		return o, err
	}
	o.Role, err = parse(id.ParseRole, "role", "roleId", f.RoleID)
	return o, err
}

// there refuses filters that name what is not there.
func there(ctx context.Context, tx *tenant.Tx, o export.Order) (err error) {
	param := ""
	if !o.Portal.IsZero() {
		param = "portalId"
		_, err = portal.Find(ctx, tx, o.Portal)
	}
	if err == nil && !o.Unit.IsZero() {
		param = "unitId"
		_, err = unit.Find(ctx, tx, o.Unit)
	}
	if err == nil && !o.Subject.IsZero() {
		param = "subjectId"
		_, err = subject.Find(ctx, tx, o.Subject)
	}
	if err == nil && !o.Role.IsZero() {
		param = "roleId"
		_, err = role.Find(ctx, tx, o.Role)
	}
	return route.At(err, "body.filters."+param)
}

func parse[T any](read func(string) (T, error), what, name, text string) (v T, err error) {
	if text == "" {
		return v, nil
	}
	if v, err = read(text); err != nil {
		return v, problem.Missing(what).WithParam("body.filters." + name)
	}
	return v, nil
}
