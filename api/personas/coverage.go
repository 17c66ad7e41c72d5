package personas

import (
	"context"
	"fmt"
	"net/http"

	"visavis.dev/api/jobs"
	"visavis.dev/api/route"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/sessions/rehearsal"
	"visavis.dev/pkg/store/tenant"
)

func (a *API) registerCoverage(s *route.Service, o route.Operation) {
	o.ID, o.Method, o.Path, o.Class = "checkPersonaCoverage", http.MethodPost, "/personas/{id}/coverage", "heavy"
	o.Since, o.Status, o.Idempotent, o.Items = contract.V20261001, http.StatusAccepted, true, ""
	o.Errors = []problem.Code{problem.Gone, problem.Conflict, problem.AccountPaused}
	o.Summary = "Find out what a persona cannot answer of its own packs"
	o.Description = fmt.Sprintf("Questions are made of the packs: of headings, of the figures in lists and tables, and of everyday concepts in "+
		"headings, in a word that the document does not have. The built-in engine is asked each, whatever model the persona has, and the answer must "+
		"rest on the passage that the question was made of, or state its figures. At most %d are asked, evenly of all that the 20 newest documents of "+
		"each pack and the first 100 passages of each give. The job counts made, asked, answered and failing. GET /jobs/{id}/download lists what fails: the question, "+
		"what it was made of (heading, fact or concept), where the answer stands, what was answered instead, and the reason: not_answered, "+
		"not_looked_up (taken for talk, or caught by a guardrail), other_passage or figure_missing. One runs at a time for a persona: another is refused as "+
		"already_running, which names the job. Of packs without headings, lists and tables none are made, and none asked.", rehearsal.MaxProbes)
	route.Handle(s, o, a.coverage)
}

// CoverageInput is the request for a report of what can be answered.
type CoverageInput struct {
	Path
	Body *CoverageCheck
}

// CoverageCheck says of what to report.
type CoverageCheck struct {
	Version int64 `json:"version,omitempty" minimum:"1" doc:"A version of the persona; the current one unless given."`
}

func (a *API) coverage(ctx context.Context, c *route.Call, in *CoverageInput) (jobs.Job, error) {
	if in.Body == nil {
		in.Body = &CoverageCheck{}
	}
	of, v, err := a.castOf(ctx, c, in.Path, in.Body.Version)
	if err != nil {
		return jobs.Job{}, err
	}
	probes, made, err := rehearsal.Probes(ctx, a.Tenants, c.Org(), v.Definition.Knowledge.BaseIDs, v.Definition.Settings.Language)
	if err != nil {
		return jobs.Job{}, err
	}
	source, err := rehearsal.PutProbes(ctx, a.Files, c.Org(), probes, made)
	if err != nil {
		return jobs.Job{}, err
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (jobs.Job, error) {
		j, err := rehearsal.BeginCoverage(ctx, tx, a.Files, of, v.Version, source, len(probes), c.Actor())
		return jobs.Show(j), err
	})
}
