package people

import (
	"context"
	"errors"
	"strings"
	"unicode/utf8"

	"visavis.dev/api/jobs"
	"visavis.dev/api/route"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/portals/person/roster"
	"visavis.dev/pkg/store/tenant"
)

// ImportInput is the request to add the people of a file.
type ImportInput struct{ Body ImportBody }

// ImportBody is a file of people.
type ImportBody struct {
	CSV    *string `json:"csv,omitempty" nullable:"true" doc:"The file's text. A file itself comes as multipart/form-data."`
	DryRun bool    `json:"dryRun,omitempty" doc:"Find out what would come of it, and add nobody."`
}

// importUpload is how a file is sent.
func importUpload() *route.Upload {
	return &route.Upload{Field: "file", Flags: []string{"dryRun"}, MaxBytes: func(*route.Call) int64 { return roster.MaxBytes }}
}

// maxImport holds a text of the largest size, written as JSON, and the rest.
const maxImport = 2*roster.MaxBytes + 64<<10

const importDescription = "The file is a CSV in UTF-8 with commas, semicolons or tabs, of 10 MB and 50,000 people at most. Its first line names the " +
	"columns: name, portalId and role, which every line fills, and as you like givenName, familyName, email, phone, externalId, language, " +
	"timezone, ageBand, unitId or unitCode, startsAt, endsAt, membership.externalId, metadata.… and membership.metadata.…. " +
	"Each line adds or finds a person as createPerson does. A line that is refused leaves the others be: the job's result counts " +
	"people who were added and found, places that are new and lines that were refused, and lists the first hundred of those; " +
	"GET /jobs/{id}/download answers all of them as a file with a column that says what is wrong, to be corrected and sent again."

func (a *API) importPeople(ctx context.Context, c *route.Call, in *ImportInput) (jobs.Job, error) {
	data, param, err := a.table(ctx, c, in.Body)
	if err != nil {
		return jobs.Job{}, err
	}
	people, err := roster.Check(data)
	if wrong, ok := errors.AsType[*roster.SheetError](err); ok {
		return jobs.Job{}, problem.Invalid(param, "%s", wrong.Error())
	} else if err != nil {
		return jobs.Job{}, err
	}
	source, err := a.Files.Put(ctx, c.Org(), "text/csv", data)
	if err != nil {
		return jobs.Job{}, err
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (jobs.Job, error) {
		j, err := roster.Begin(ctx, tx, a.Files, source, people, in.Body.DryRun, c.Actor())
		return jobs.Show(j), err
	})
}

// table is what was sent, and the parameter that it was sent in.
func (a *API) table(ctx context.Context, c *route.Call, b ImportBody) (data []byte, param string, err error) {
	sent := c.Uploaded()
	if sent == nil && b.CSV == nil {
		return nil, "", problem.Invalid("body.csv", "Send a file as multipart/form-data, or its text as body.csv.")
	}
	select {
	case a.reading <- struct{}{}:
		defer func() { <-a.reading }()
	case <-ctx.Done():
		return nil, "", ctx.Err()
	}
	if sent != nil {
		data, err = sent.Bytes()
		return data, "body.file", err
	}
	text := *b.CSV
	if long, ok := route.Detached(ctx, text); ok {
		if _, err := route.Reserve(ctx, 2*long.Size()); err != nil {
			return nil, "", err
		}
		if text, err = long.String(); err != nil || !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
			return nil, "", problem.Invalid("body.csv", "body.csv must be text in UTF-8 without NUL characters.").WithCause(err)
		}
	}
	return []byte(text), "body.csv", nil
}
