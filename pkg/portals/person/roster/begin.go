package roster

import (
	"context"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/store/file"
	"visavis.dev/pkg/store/tenant"
)

// order is what a job of this package is to do with its source.
type order struct {
	// People is how many there are in the file.
	People int64 `json:"people"`
	// DryRun finds out what would come of it, and adds nobody.
	DryRun bool `json:"dryRun"`
}

// Begin queues the job that adds the people of a file, which Check has looked
// through and which nothing refers to yet.
func Begin(ctx context.Context, tx *tenant.Tx, files *file.Store, source id.File, people int64, dryRun bool, who person.Author) (job.Job, error) {
	if err := files.Keep(ctx, tx, source); err != nil {
		return job.Job{}, err
	}
	j, err := job.Insert(ctx, tx, job.Job{
		ID: id.NewJob(), Kind: job.PeopleImport, ResourceKind: "organization", ResourceID: tx.Org.String(), Scope: scope.PeopleWrite,
		CreatedBy: who.By, CreatedAt: who.At, Source: source,
	}, order{people, dryRun})
	if err != nil || dryRun {
		return j, err
	}
	who.Log(tx, "people.imported", "job", j.ID, map[string]any{"people": people})
	return j, nil
}
