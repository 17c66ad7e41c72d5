package report

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"k8s.io/utils/clock"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/learning/assignment"
	"visavis.dev/pkg/learning/result"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/portals/subject"
	"visavis.dev/pkg/portals/unit"
	"visavis.dev/pkg/sessions/printed"
	"visavis.dev/pkg/store/file"
	"visavis.dev/pkg/store/tenant"
)

// Builder does the jobs that make reports.
type Builder struct {
	Tenants *tenant.Tenants
	Files   *file.Store
	Clock   clock.PassiveClock
}

// MaxBytes bounds a report: what is larger cannot be made.
const MaxBytes = 8 << 20

// prepare writes the file of a report. What it leaves when it is killed is swept.
func (b *Builder) prepare(ctx context.Context, j job.Job) (job.Step, error) {
	var in input
	if err := json.Unmarshal(j.Input, &in); err != nil {
		return nil, err
	}
	r, err := printed.Get(ctx, b.Tenants, j.Org, in.Report)
	if errdefs.IsNotFound(err, printed.Noun) || err == nil && r.State != printed.Building {
		return done, nil
	}
	if err != nil {
		return nil, err
	}
	if r.Kind != printed.OfResult {
		return b.prepareGroup(ctx, j.Org, r)
	}
	all, err := gather(ctx, b.Tenants, j.Org, r, b.Clock.Now().UTC().Truncate(time.Microsecond))
	if errdefs.IsNotFound(err, result.Noun) || errdefs.IsNotFound(err, printed.Noun) || err == nil && !all.of.Shown() {
		return b.finish(in.Report, all, id.File{}, 0), nil
	}
	if err != nil {
		return nil, err
	}
	data, err := write(ctx, &all.content, r.Format)
	if err != nil {
		return nil, err
	}
	if len(data) > MaxBytes {
		return b.finish(in.Report, all, id.File{}, 0), nil
	}
	f, err := b.Files.Put(ctx, j.Org, r.Format.ContentType(), data)
	if err != nil {
		return nil, err
	}
	return b.finish(in.Report, all, f, int64(len(data))), nil
}

// prepareGroup writes the file of a report of people together.
func (b *Builder) prepareGroup(ctx context.Context, org id.Org, r printed.Report) (job.Step, error) {
	c, err := gatherGroup(ctx, b.Tenants, org, r, b.Clock.Now().UTC().Truncate(time.Microsecond))
	for _, noun := range []errdefs.Noun{portal.Noun, subject.Noun, assignment.Noun, unit.Noun} {
		if errdefs.IsAbsent(err, noun) {
			return b.finishGroup(r.ID, id.File{}, 0), nil
		}
	}
	if err != nil {
		return nil, err
	}
	data, err := write(ctx, &c, r.Format)
	if err != nil {
		return nil, err
	}
	if len(data) > MaxBytes {
		return b.finishGroup(r.ID, id.File{}, 0), nil
	}
	f, err := b.Files.Put(ctx, org, r.Format.ContentType(), data)
	if err != nil {
		return nil, err
	}
	return b.finishGroup(r.ID, f, int64(len(data))), nil
}

// writable is what a report says.
type writable interface {
	html() ([]byte, error)
	pdf(ctx context.Context) ([]byte, error)
}

// write makes the file.
func write(ctx context.Context, c writable, f printed.Format) ([]byte, error) {
	switch f {
	case printed.JSON:
		return json.MarshalIndent(c, "", "  ")
	case printed.HTML:
		return c.html()
	case printed.PDF:
		return c.pdf(ctx)
	}
	return nil, fmt.Errorf("report: there is no format %q", f)
}

// finish is the step that keeps the file, unless the report was deleted meanwhile. Where the
// result was changed since it was read, the report is made anew.
func (b *Builder) finish(which id.Report, all told, f id.File, bytes int64) job.Step {
	return func(ctx context.Context, tx *tenant.Tx, j *job.Job, now time.Time) (time.Duration, error) {
		var unused []id.File
		if !f.IsZero() {
			unused = append(unused, f)
		}
		// Before the report, as whoever voids a result locks them.
		of, err := result.Lock(ctx, tx, all.of.ID)
		there := !errdefs.IsNotFound(err, result.Noun)
		if there && err != nil {
			return 0, err
		}
		r, err := printed.Lock(ctx, tx, which)
		switch {
		case errdefs.IsNotFound(err, printed.Noun) || err == nil && r.State != printed.Building:
			return drop(ctx, tx, j, now, unused)
		case err != nil:
			return 0, err
		case there && of.Edition != all.of.Edition:
			return again, file.Drop(ctx, tx, unused...)
		}
		r.Words = all.words
		if there && !f.IsZero() {
			agreed, err := guardianAgrees(ctx, tx, of, now)
			if err != nil {
				return 0, err
			}
			if !agreed {
				f, bytes = id.File{}, 0 // it fails, and what was written is swept
			}
		}
		if err := printed.Finish(ctx, tx, &r, f, bytes, now); err != nil {
			return 0, err
		}
		if f.IsZero() {
			return done(ctx, tx, j, now)
		}
		if err := b.Files.Keep(ctx, tx, f); err != nil {
			return 0, err
		}
		event.Emit(tx, produced(r, of, now))
		return done(ctx, tx, j, now)
	}
}

// again is how soon a report of a result that was changed is made anew.
const again = 100 * time.Millisecond

// drop ends a job whose report is not there any more.
func drop(ctx context.Context, tx *tenant.Tx, j *job.Job, now time.Time, unused []id.File) (time.Duration, error) {
	if err := file.Drop(ctx, tx, unused...); err != nil {
		return 0, err
	}
	return done(ctx, tx, j, now)
}

// done is the step of a job with nothing left to do.
func done(_ context.Context, _ *tenant.Tx, j *job.Job, _ time.Time) (time.Duration, error) {
	j.State = job.Succeeded
	return 0, nil
}

// giveUp is for what could not be made in many tries.
func giveUp(ctx context.Context, tx *tenant.Tx, j *job.Job, now time.Time) error {
	var in input
	if err := json.Unmarshal(j.Input, &in); err != nil {
		return err
	}
	r, err := printed.Lock(ctx, tx, in.Report)
	if errdefs.IsNotFound(err, printed.Noun) || err == nil && r.State != printed.Building {
		return nil
	}
	if err != nil {
		return err
	}
	return printed.Finish(ctx, tx, &r, id.File{}, 0, now)
}
