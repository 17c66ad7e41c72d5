package export

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"io"
	"time"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/store/file"
	"visavis.dev/pkg/store/tenant"
)

const (
	// pageRows is how many records a part has, and most how many an export.
	pageRows = 1000
	most     = 500_000
)

// TooLarge is the code of an export of more records than a file takes.
const TooLarge = "too_large"

// Exporter does the jobs that Begin queues.
type Exporter struct {
	Tenants *tenant.Tenants
	Files   *file.Store
}

// Background is what workers do for exports.
func (e *Exporter) Background() job.Background {
	return job.Background{Works: map[job.Kind]job.Work{job.Export: {Prepare: e.prepare, GiveUp: e.giveUp}}}
}

// prepare reads the next records into a part, or joins the parts.
func (e *Exporter) prepare(ctx context.Context, j job.Job) (job.Step, error) {
	var (
		o  Order
		so job.Exported
	)
	if err := json.Unmarshal(j.Input, &o); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(j.Progress, &so); err != nil {
		return nil, err
	}
	if so.Read {
		return e.join(ctx, j, o, so)
	}
	rows, last, err := page(ctx, e.Tenants, j.Org, o, so.After, pageRows)
	if err != nil {
		return nil, err
	}
	data, err := write(o.Format, o.columns(), o.older(rows), len(so.Parts) == 0)
	if err != nil {
		return nil, err
	}
	part, err := e.Files.Put(ctx, j.Org, o.Format.ContentType(), data)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, tx *tenant.Tx, j *job.Job, _ time.Time) (time.Duration, error) {
		if j.Done+int64(len(rows)) > most {
			j.State, j.ErrorCode = job.Failed, TooLarge
			return 0, e.discard(ctx, tx, j, so.Parts)
		}
		if err := e.Files.Keep(ctx, tx, part); err != nil {
			return 0, err
		}
		next := job.Exported{Parts: append(append([]id.File{}, so.Parts...), part), After: last, Read: len(rows) < pageRows}
		if len(rows) == 0 {
			next.After = so.After
		}
		j.Done += int64(len(rows))
		j.Counts = map[string]int64{"rows": j.Done}
		return 0, note(j, next)
	}, nil
}

// join makes one file of the parts.
func (e *Exporter) join(ctx context.Context, j job.Job, o Order, so job.Exported) (job.Step, error) {
	sum := sha256.New()
	size, err := io.Copy(sum, &parts{ctx: ctx, files: e.Files, org: j.Org, left: so.Parts})
	if err != nil {
		return nil, err
	}
	whole := file.Content{
		Type: o.Format.ContentType(), Size: size, SHA256: [sha256.Size]byte(sum.Sum(nil)),
		Data: &parts{ctx: ctx, files: e.Files, org: j.Org, left: so.Parts},
	}
	f, err := e.Files.PutFrom(ctx, j.Org, whole)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, tx *tenant.Tx, j *job.Job, _ time.Time) (time.Duration, error) {
		if err := e.Files.Keep(ctx, tx, f); err != nil {
			return 0, err
		}
		j.State, j.File, j.Total = job.Succeeded, f, j.Done
		return 0, e.discard(ctx, tx, j, so.Parts)
	}, nil
}

// discard lets go of the parts.
func (e *Exporter) discard(ctx context.Context, tx *tenant.Tx, j *job.Job, all []id.File) error {
	if len(all) > 0 {
		if err := e.Files.Discard(ctx, tx, all...); err != nil {
			return err
		}
	}
	return note(j, job.Exported{})
}

// giveUp lets go of the parts of an export that fails.
func (e *Exporter) giveUp(ctx context.Context, tx *tenant.Tx, j *job.Job, _ time.Time) error {
	var so job.Exported
	if err := json.Unmarshal(j.Progress, &so); err != nil {
		return err
	}
	return e.discard(ctx, tx, j, so.Parts)
}

func note(j *job.Job, so job.Exported) (err error) {
	j.Progress, err = json.Marshal(so)
	return err
}

// parts reads files one after the other.
type parts struct {
	ctx   context.Context
	files *file.Store
	org   id.Org
	left  []id.File
	now   bytes.Reader
}

// Read implements io.Reader.
func (p *parts) Read(b []byte) (int, error) {
	for p.now.Len() == 0 {
		if len(p.left) == 0 {
			return 0, io.EOF
		}
		data, err := p.files.Read(p.ctx, p.org, p.left[0])
		if err != nil {
			return 0, err
		}
		p.left = p.left[1:]
		p.now.Reset(data)
	}
	return p.now.Read(b)
}
