package jobs

import (
	"context"
	"encoding/hex"
	"strings"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/eventing/job"
)

// The types of the files that come of jobs.
const (
	asTable = "text/csv"
	asJSON  = "application/json"
)

// fileType is the type of the file that comes of jobs of a kind, and how its name ends.
func fileType(k job.Kind) (contentType, ending string) {
	if k == job.Simulate {
		return asJSON, ".json"
	}
	return asTable, ".csv"
}

// fileName is the name of the file that came of a job.
func fileName(j job.Job) string {
	_, ending := fileType(j.Kind)
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
	switch {
	case !j.State.Ended():
		return route.Blob{}, problem.Conflicting("not_ended", "The job has not ended yet.").WithParam("path.id")
	case j.File.IsZero():
		return route.Blob{}, problem.Missing("file of the job").WithParam("path.id")
	}
	contentType, _ := fileType(j.Kind)
	return route.Blob{
		ContentType: contentType, ETag: `"` + hex.EncodeToString(j.File[:]) + `"`, CacheControl: "private, no-cache", Download: fileName(j),
		Data: func(ctx context.Context) ([]byte, error) { return a.Files.Read(ctx, c.Org(), j.File) },
	}, nil
}
