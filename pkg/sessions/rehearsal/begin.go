package rehearsal

import (
	"context"
	"encoding/json"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/store/file"
	"visavis.dev/pkg/store/tenant"
)

// order is what a job is to do with its source: a Script, the tests to run, or questions.
type order struct {
	What    what       `json:"what"`
	Persona id.Persona `json:"personaId"`
	Version int64      `json:"version"`
}

type what string

const (
	ofScript what = "script"
	ofTests  what = "tests"
	// ofCoverage asks what was made of the packs.
	ofCoverage what = "coverage"
)

// Script is a conversation to be held with a visitor who says one thing after the
// other.
type Script struct {
	Turns []string `json:"turns"`
	// Language is a code; empty for the persona's.
	Language  string            `json:"language"`
	Variables map[string]string `json:"variables"`
	Context   string            `json:"context"`
	// Goals are the keys of those that must be met.
	Goals []string `json:"goals"`
}

// ReasonRunning is that of the conflict of tests while a run of them, details.jobId, has
// not ended.
const ReasonRunning = "already_running"

// Begin queues the job that plays a script with a persona, in one of its versions.
// Source is what Put made of the script. The error can be errdefs.NotFound or
// errdefs.Gone.
func Begin(ctx context.Context, tx *tenant.Tx, files *file.Store, p id.Persona, version int64, source id.File, who persona.Author) (job.Job, error) {
	if _, err := persona.Find(ctx, tx, p); err != nil {
		return job.Job{}, err
	}
	j, err := insert(ctx, tx, files, order{ofScript, p, version}, source, who)
	if err != nil {
		return j, err
	}
	who.Log(tx, "persona.simulated", "persona", p, map[string]any{"jobId": j.ID, "version": version})
	return j, nil
}

// BeginTests queues the job that runs tests of a persona against one of its
// versions. Source is what Put made of them, and tests how many they are. What a run changed is seen against the
// run before, so there is one at a time: the error can be an errdefs.Conflict
// (ReasonRunning), errdefs.NotFound or errdefs.Gone.
func BeginTests(
	ctx context.Context, tx *tenant.Tx, files *file.Store, p id.Persona, version int64, source id.File, tests int, who persona.Author,
) (job.Job, error) {
	if _, err := persona.Lock(ctx, tx, p); err != nil {
		return job.Job{}, err
	}
	if err := alone(ctx, tx, p, ofTests, "The persona's tests are being run. Wait for that job, or cancel it."); err != nil {
		return job.Job{}, err
	}
	j, err := insert(ctx, tx, files, order{ofTests, p, version}, source, who)
	if err != nil {
		return j, err
	}
	who.Log(tx, "persona.tests_run", "persona", p, map[string]any{"jobId": j.ID, "version": version, "tests": tests})
	return j, nil
}

func insert(ctx context.Context, tx *tenant.Tx, files *file.Store, o order, source id.File, who persona.Author) (job.Job, error) {
	if err := files.Keep(ctx, tx, source); err != nil {
		return job.Job{}, err
	}
	return job.Insert(ctx, tx, job.Job{
		ID: id.NewJob(), Kind: job.Simulate, ResourceKind: "persona", ResourceID: o.Persona.String(), Scope: scope.PersonasWrite,
		CreatedBy: who.By, CreatedAt: who.At, Source: source,
	}, o)
}

// contentType is that of a job's source, and of the file that comes of it.
const contentType = "application/json"

// Put writes what a job works from: a Script, or tests. Nothing refers to it yet.
func Put[T Script | []Test](ctx context.Context, files *file.Store, org id.Org, source T) (id.File, error) {
	return put(ctx, files, org, source)
}

func put(ctx context.Context, files *file.Store, org id.Org, v any) (id.File, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return id.File{}, err
	}
	return files.Put(ctx, org, contentType, data)
}
