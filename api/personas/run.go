package personas

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"visavis.dev/api/jobs"
	"visavis.dev/api/route"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/sessions/rehearsal"
	"visavis.dev/pkg/store/tenant"
)

func (a *API) registerRun(s *route.Service, o route.Operation) {
	o.ID, o.Method, o.Path, o.Class = "runPersonaTests", http.MethodPost, "/personas/{id}/tests/run", "heavy"
	o.Status, o.Idempotent = http.StatusAccepted, true
	o.Errors = append(o.Errors, problem.NotFound, problem.AccountPaused)
	o.Summary = "Ask a persona the questions of its tests"
	o.Description = "Each is asked as POST /personas/{id}/ask does. The job counts total, passed and failed, and as error those to which the " +
		"persona's model gave no answer and nobody may in its place. GET /jobs/{id}/download answers every test with its result and what is other " +
		"than in the run before. One run of a persona's tests goes on at a time: another is refused as already_running, which names the job."
	route.Handle(s, o, a.runTests)
}

// RunInput is the request to run tests.
type RunInput struct {
	Path
	Body *TestRun
}

// TestRun says which tests to run.
type TestRun struct {
	TestIDs []string `json:"testIds,omitempty" minItems:"1" maxItems:"200" doc:"All that are enabled, unless given."`
	Version int64    `json:"version,omitempty" minimum:"1" doc:"A version of the persona; the current one unless given."`
}

func (a *API) runTests(ctx context.Context, c *route.Call, in *RunInput) (jobs.Job, error) {
	if in.Body == nil {
		in.Body = &TestRun{}
	}
	of, v, err := a.castOf(ctx, c, in.Path, in.Body.Version)
	if err != nil {
		return jobs.Job{}, err
	}
	all, err := rehearsal.List(ctx, a.Tenants, c.Org(), of, id.PersonaTest{}, rehearsal.MaxTests)
	if err != nil {
		return jobs.Job{}, err
	}
	chosen, err := in.Body.choose(all)
	if err != nil {
		return jobs.Job{}, err
	}
	source, err := rehearsal.Put(ctx, a.Files, c.Org(), chosen)
	if err != nil {
		return jobs.Job{}, err
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (jobs.Job, error) {
		j, err := rehearsal.BeginTests(ctx, tx, a.Files, of, v.Version, source, len(chosen), c.Actor())
		return jobs.Show(j), err
	})
}

// choose is the tests to run of all that the persona has, in the order in which they
// were made or asked for.
func (r *TestRun) choose(all []rehearsal.Test) ([]rehearsal.Test, error) {
	var chosen []rehearsal.Test
	for i, text := range r.TestIDs {
		wanted, err := id.ParsePersonaTest(text)
		at := slices.IndexFunc(all, func(t rehearsal.Test) bool { return t.ID == wanted })
		if err != nil || at < 0 {
			return nil, problem.Missing("persona test").WithParam(fmt.Sprintf("body.testIds[%d]", i))
		}
		if !slices.ContainsFunc(chosen, func(t rehearsal.Test) bool { return t.ID == wanted }) {
			chosen = append(chosen, all[at])
		}
	}
	if r.TestIDs != nil {
		return chosen, nil
	}
	for _, t := range slices.Backward(all) {
		if t.Enabled {
			chosen = append(chosen, t)
		}
	}
	if len(chosen) == 0 {
		return nil, problem.Conflicting("no_tests", "The persona has no test that is enabled.").WithParam("path.id")
	}
	return chosen, nil
}
