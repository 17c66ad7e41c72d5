package memory

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"k8s.io/utils/clock"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/sessions/conversation"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/tenant"
)

// Writer does the jobs that remember what was said in sessions.
type Writer struct {
	Tenants *tenant.Tenants
	// Minds give a persona its model, which notes better than rules do.
	Minds conversation.Minds
	Clock clock.PassiveClock
	Log   *slog.Logger
}

// Work is what the jobs of kind memory_write do.
func (w *Writer) Work() job.Work { return job.Work{Prepare: w.prepare} }

// maxTurns bounds the turns of a session that are looked at.
const maxTurns = 2000

// prepare works out what is to be remembered.
func (w *Writer) prepare(ctx context.Context, j job.Job) (job.Step, error) {
	var in session.ToRemember
	if err := json.Unmarshal(j.Input, &in); err != nil {
		return nil, err
	}
	s, err := session.Get(ctx, w.Tenants, j.Org, in.Session)
	if errdefs.IsNotFound(err, session.Noun) || err == nil && !s.MayBeRemembered() {
		return done, nil
	}
	if err != nil {
		return nil, err
	}
	turns, err := session.Turns(ctx, w.Tenants, j.Org, s.ID, 0, maxTurns)
	if err != nil {
		return nil, err
	}
	return commit(s.ID, w.note(ctx, j.Org, s, turns)), nil
}

// note is what the person said of themselves, as the persona's model notes it, or
// by rules where it has none or the model does not help.
func (w *Writer) note(ctx context.Context, org id.Org, s session.Session, turns []session.Turn) []string {
	found, err := persona.Versions(ctx, w.Tenants, org, s.Persona, s.PersonaVersion+1, 1)
	if err == nil && len(found) > 0 && found[0].Version == s.PersonaVersion {
		c := conversation.Config{Persona: found[0].Definition}
		if err = w.Minds.Furnish(ctx, org, &c); err == nil && c.Model != nil {
			began := w.Clock.Now()
			var facts []string
			facts, err = ask(ctx, c.Model, turns)
			if c.ModelOutcome != nil {
				c.ModelOutcome(err, w.Clock.Since(began))
			}
			if err == nil {
				return facts
			}
		}
	}
	if err != nil {
		w.Log.InfoContext(ctx, "a memory is written by rules alone", "session", s.ID.String(), "error", err)
	}
	return said(turns)
}

// done is the step of a job with nothing to do.
func done(_ context.Context, _ *tenant.Tx, j *job.Job, _ time.Time) (time.Duration, error) {
	j.State = job.Succeeded
	return 0, nil
}

// commit is the step that remembers what was collected in a session and what the
// person said of themselves, unless the session was held, or its words were
// deleted, meanwhile.
func commit(which id.Session, said []string) job.Step {
	return func(ctx context.Context, tx *tenant.Tx, j *job.Job, now time.Time) (time.Duration, error) {
		s, err := session.Lock(ctx, tx, which)
		if errdefs.IsNotFound(err, session.Noun) || err == nil && !s.MayBeRemembered() {
			return done(ctx, tx, j, now)
		}
		if err != nil {
			return 0, err
		}
		heard := collected(s)
		if kept, err := s.Heard(ctx, tx); err != nil {
			return 0, err
		} else if kept {
			for _, text := range said {
				heard = append(heard, Item{Text: text, Session: s.ID, At: *s.EndedAt})
			}
		}
		if err := Write(ctx, tx, s, heard, now); err != nil {
			return 0, err
		}
		return done(ctx, tx, j, now)
	}
}
