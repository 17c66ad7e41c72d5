package roster

import (
	"context"
	"encoding/json"
	"time"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/lru"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/store/file"
	"visavis.dev/pkg/store/tenant"
)

// batch is how many lines a step adds.
const batch = 50

// Importer does the jobs that Begin queues.
type Importer struct {
	tenants *tenant.Tenants
	files   *file.Store
	terms   Terms
	// sheets are those that were read last: a job's steps all read the same.
	sheets lru.Cache[id.File, *sheet]
}

// Terms are what an organization may have.
type Terms func(ctx context.Context, org id.Org) (plan.Terms, error)

// sheetsAtOnce is as many as there are jobs side by side.
const sheetsAtOnce = 2

// NewImporter makes an Importer.
func NewImporter(t *tenant.Tenants, f *file.Store, terms Terms) *Importer {
	sheets, err := lru.New[id.File, *sheet](sheetsAtOnce)
	if err != nil {
		panic(err) // of a size that is no size
	}
	return &Importer{t, f, terms, sheets}
}

// Work is what the jobs do.
func (i *Importer) Work() job.Work { return job.Work{Prepare: i.prepare} }

// progress is how far a job got.
type progress struct {
	// Next is where the sheet is read on; zero before the first line.
	Next mark `json:"next"`
	// Step counts those that were made.
	Step int64 `json:"step"`
	// Added counts the people who are new.
	Added int64 `json:"added"`
	// Refused counts the lines that were refused.
	Refused int64 `json:"refused"`
}

// note is what one step leaves for later ones.
type note struct {
	Refused []job.RefusedLine `json:"refused,omitempty"`
	// Keys are those of the people whom a dry run would have added; a later line
	// with one of them is about the same person.
	Keys []key `json:"keys,omitempty"`
}

func (i *Importer) prepare(ctx context.Context, j job.Job) (job.Step, error) {
	var (
		what order
		at   progress
	)
	if err := json.Unmarshal(j.Input, &what); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(j.Progress, &at); err != nil {
		return nil, err
	}
	s, err := i.sheet(ctx, j)
	if err != nil {
		return nil, err
	}
	if at.Next == (mark{}) {
		at.Next = s.start
	}
	lines, next, err := s.read(at.Next, batch)
	if err != nil {
		return nil, err
	}
	if len(lines) == 0 {
		return i.prepareEnd(ctx, j, s, at)
	}
	terms, err := i.terms(ctx, j.Org)
	if err != nil {
		return nil, err
	}
	b := adding{sheet: s, lines: lines, dryRun: what.DryRun, terms: terms}
	if what.DryRun {
		if err := i.foresee(ctx, j, &b, at); err != nil {
			return nil, err
		}
	}
	return func(ctx context.Context, tx *tenant.Tx, j *job.Job, now time.Time) (time.Duration, error) {
		at := at // a step can be made again
		j.Total = what.People
		if err := b.step(ctx, tx, j, &at, now); err != nil {
			return 0, err
		}
		at.Next, at.Step = next, at.Step+1
		var err error
		j.Progress, err = json.Marshal(at)
		return 0, err
	}, nil
}

// sheet is the one that a job reads.
func (i *Importer) sheet(ctx context.Context, j job.Job) (*sheet, error) {
	if s, ok := i.sheets.Get(j.Source); ok {
		return s, nil
	}
	data, err := i.files.Read(ctx, j.Org, j.Source)
	if err != nil {
		return nil, err
	}
	s, err := open(data)
	if err == nil {
		i.sheets.Add(j.Source, s)
	}
	return s, err
}

// foresee makes what a dry run did in earlier steps count, though nothing of it
// stayed: who would be there by now, and how many.
func (i *Importer) foresee(ctx context.Context, j job.Job, b *adding, at progress) error {
	if limit, limited := b.terms.Limit(plan.Members); limited {
		b.terms = b.terms.AtMost(plan.Members, limit-at.Added)
	}
	notes, err := job.Notes[note](ctx, i.tenants, j)
	b.seen = map[key]bool{}
	for _, n := range notes {
		for _, k := range n.Keys {
			b.seen[k] = true
		}
	}
	return err
}

// prepareEnd makes the step that ends a job, with the file of the lines that were
// refused.
func (i *Importer) prepareEnd(ctx context.Context, j job.Job, s *sheet, at progress) (job.Step, error) {
	var refused []job.RefusedLine
	if at.Refused > 0 {
		notes, err := job.Notes[note](ctx, i.tenants, j)
		if err != nil {
			return nil, err
		}
		for _, n := range notes {
			refused = append(refused, n.Refused...)
		}
	}
	var rejects id.File
	if len(refused) > 0 {
		data, err := s.rejects(refused)
		if err != nil {
			return nil, err
		}
		if rejects, err = i.files.Put(ctx, j.Org, "text/csv", data); err != nil {
			return nil, err
		}
	}
	return func(ctx context.Context, tx *tenant.Tx, j *job.Job, _ time.Time) (time.Duration, error) {
		if !rejects.IsZero() {
			if err := i.files.Keep(ctx, tx, rejects); err != nil {
				return 0, err
			}
		}
		i.sheets.Remove(j.Source)
		j.State, j.File, j.Refused = job.Succeeded, rejects, append([]job.RefusedLine{}, refused[:min(len(refused), job.MaxRefused)]...)
		return 0, nil
	}, nil
}
