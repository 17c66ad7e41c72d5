package rehearsal

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync/atomic"
	"time"

	"k8s.io/utils/clock"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/sessions/conversation"
	"visavis.dev/pkg/store/file"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/text/search"
)

// Rehearser does the jobs that Begin, BeginTests and BeginCoverage queue.
type Rehearser struct {
	Tenants *tenant.Tenants
	Files   *file.Store
	Minds   conversation.Minds
	Clock   clock.WithDelayedExecution
	Log     *slog.Logger
}

// Work is what the jobs do.
func (r *Rehearser) Work() job.Work { return job.Work{Prepare: r.prepare} }

// The codes of jobs that failed.
const (
	// codePersonaGone: the persona was deleted meanwhile.
	codePersonaGone = "persona_gone"
	// codeNoConnection: the connection of its model is switched off, and nobody may
	// answer in its place; codeUnavailable: it stopped to answer.
	codeNoConnection = "no_connection"
	codeUnavailable  = "unavailable"
	// codeTimeout: the conversation took longer than one may.
	codeTimeout = "timeout"
)

func (r *Rehearser) prepare(ctx context.Context, j job.Job) (job.Step, error) {
	var o order
	if err := json.Unmarshal(j.Input, &o); err != nil {
		return nil, err
	}
	_, err := persona.Get(ctx, r.Tenants, j.Org, o.Persona)
	if errdefs.IsGone(err, persona.Noun) || errdefs.IsNotFound(err, persona.Noun) {
		return nil, &job.Refusal{Code: codePersonaGone}
	}
	if err != nil {
		return nil, err
	}
	v, err := persona.GetVersion(ctx, r.Tenants, j.Org, o.Persona, o.Version)
	if err != nil {
		return nil, err
	}
	switch o.What {
	case ofScript:
		return r.play(ctx, j, o, v)
	case ofCoverage:
		return r.cover(ctx, j, o, v)
	}
	return r.run(ctx, j, o, v)
}

// read reads what a job works from.
func (r *Rehearser) read(ctx context.Context, j job.Job, source any) error {
	data, err := r.Files.Read(ctx, j.Org, j.Source)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, source)
}

// Config is what a conversation is made of that no session holds: everything of the
// persona's, and nothing of a visitor's. Its language is a code; without one it is
// the persona's, or the question's where the persona detects it.
func Config(minds conversation.Minds, c clock.WithDelayedExecution, org id.Org, name string, d persona.Definition, language string) conversation.Config {
	config := conversation.Config{
		Session: conversation.Facts{Channel: conversation.Chat, Language: language}, Persona: d, PersonaName: name,
		Bases: d.Knowledge.BaseIDs, Knowledge: minds.Knowledge(org), Clock: c,
	}
	if language == "" {
		config.Detect = search.Detect
	}
	return config
}

// config is Config for a job, with the persona's model. The error is
// conversation.ErrNoModel where nobody may answer.
func (r *Rehearser) config(ctx context.Context, org id.Org, v persona.Version, language string) (conversation.Config, *packs, error) {
	c := Config(r.Minds, r.Clock, org, v.Name, v.Definition, language)
	p := &packs{Knowledge: c.Knowledge}
	c.Knowledge, c.Log = p, r.Log
	return c, p, r.Minds.Furnish(ctx, org, &c)
}

// packs notice when they could not be searched: an answer without them would be
// held against the persona, so the job tries again.
type packs struct {
	conversation.Knowledge
	failed atomic.Pointer[error]
}

// Search implements conversation.Knowledge.
func (p *packs) Search(ctx context.Context, q conversation.Query) ([]conversation.Passage, error) {
	found, err := p.Knowledge.Search(ctx, q)
	if err != nil {
		p.failed.Store(&err)
	}
	return found, err
}

// Headings implements conversation.Outline.
func (p *packs) Headings(ctx context.Context, bases []id.KnowledgeBase, tags []string, language string) ([]string, error) {
	outline, ok := p.Knowledge.(conversation.Outline)
	if !ok {
		return nil, nil
	}
	found, err := outline.Headings(ctx, bases, tags, language)
	if err != nil {
		p.failed.Store(&err)
	}
	return found, err
}

// err is why they could not be searched last; nil when they could.
func (p *packs) err() error {
	if failed := p.failed.Load(); failed != nil {
		return *failed
	}
	return nil
}

// last is the step that ends a job with a file made of v. It succeeds, unless finish
// says that it did not, though something came of it.
func (r *Rehearser) last(ctx context.Context, j job.Job, v any, finish func(*job.Job)) (job.Step, error) {
	made, err := put(ctx, r.Files, j.Org, v)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, tx *tenant.Tx, j *job.Job, _ time.Time) (time.Duration, error) {
		j.State, j.File = job.Succeeded, made
		finish(j)
		return 0, r.Files.Keep(ctx, tx, made)
	}, nil
}
