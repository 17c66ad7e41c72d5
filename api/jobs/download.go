package jobs

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"io"
	"strings"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/figures/export"
)

// The types of the files that come of jobs.
const (
	asTable = "text/csv"
	asJSON  = "application/json"
	asLines = "application/x-ndjson"
)

// fileType is the type of the file that comes of a job, and how its name ends.
func fileType(j job.Job) (contentType, ending string) {
	switch {
	case j.Kind == job.Simulate:
		return asJSON, ".json"
	case j.Kind == job.Export && exported(j).Format == export.JSONL:
		return asLines, ".jsonl"
	}
	return asTable, ".csv"
}

// fileName is the name of the file that came of a job.
func fileName(j job.Job) string {
	_, ending := fileType(j)
	return strings.ReplaceAll(string(j.Kind), "_", "-") + "-" + j.ID.Bare() + ending
}

// download needs what it takes to begin such a job: the file can hold what the
// job's own fields do not tell.
func (a *API) download(ctx context.Context, c *route.Call, p *Path) (route.Blob, error) {
	j, err := a.find(ctx, c, p)
	if err != nil {
		return route.Blob{}, err
	}
	if err := mayManage(c, j); err != nil {
		return route.Blob{}, err
	}
	if err := mayRead(c, j); err != nil {
		return route.Blob{}, err
	}
	switch {
	case !j.State.Ended():
		return route.Blob{}, problem.Conflicting("not_ended", "The job has not ended yet.").WithParam("path.id")
	case j.File.IsZero():
		return route.Blob{}, problem.Missing("file of the job").WithParam("path.id")
	}
	contentType, _ := fileType(j)
	return route.Blob{
		ContentType: contentType, ETag: `"` + hex.EncodeToString(j.File[:]) + `"`, CacheControl: "private, no-cache", Download: fileName(j),
		Open: func(ctx context.Context) (io.ReadCloser, int64, error) { return a.Files.Open(ctx, c.Org(), j.File) },
	}, nil
}

// exported is what an export was to write.
func exported(j job.Job) (o export.Order) {
	_ = json.Unmarshal(j.Input, &o) // which this program wrote
	return o
}

// mayRead needs for the file of an export what reads everything in it.
func mayRead(c *route.Call, j job.Job) error {
	if j.Kind != job.Export {
		return nil
	}
	for _, needed := range exported(j).Needs() {
		if !c.Principal.Key.Grant().Holds(needed) {
			return problem.New(problem.Forbidden, "What is in the file needs the scope %s.", needed).WithParam("path.id")
		}
	}
	return nil
}
