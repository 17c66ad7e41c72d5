package result

import (
	"context"
	"log/slog"
	"time"

	"k8s.io/utils/clock"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/learning/rubric"
	"visavis.dev/pkg/learning/scoring"
	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/portals/subject"
	"visavis.dev/pkg/sessions/conversation"
	"visavis.dev/pkg/sessions/session"
)

// longestReading is how long models may take for all answers of a result together. What is
// left then is scored by its words.
const longestReading = 3 * time.Minute

// reader scores answers: by the model of the persona that asked, where it has one and that
// helps, else by their words.
type reader struct {
	config  conversation.Config
	until   time.Time
	session id.Session
	clock   clock.PassiveClock
	log     *slog.Logger
}

// reader is what scores the answers of a session.
func (w *Scorer) reader(ctx context.Context, org id.Org, s session.Session) (*reader, error) {
	r := &reader{session: s.ID, clock: w.Clock, log: w.Log}
	if w.Minds == nil {
		return r, nil
	}
	r.until = w.Clock.Now().Add(longestReading)
	found, err := persona.Versions(ctx, w.Tenants, org, s.Persona, s.PersonaVersion+1, 1)
	if err != nil || len(found) == 0 || found[0].Version != s.PersonaVersion {
		return r, err
	}
	r.config.Persona = found[0].Definition
	if err := w.Minds.Furnish(ctx, org, &r.config); err != nil {
		r.without(ctx, err)
	}
	return r, nil
}

// without has all that is left scored by its words.
func (r *reader) without(ctx context.Context, err error) {
	r.config.Model = nil
	r.log.InfoContext(ctx, "answers are scored without a model", "session", r.session.String(), "error", err)
}

// score scores an answer, and says by the model of which connection; nil for none.
func (r *reader) score(ctx context.Context, code string, q subject.Question, a rubric.Answer, in rubric.Text) ([]rubric.Score, *id.Connection) {
	if r.config.Model == nil || !scoring.Reads(q, a) || !r.clock.Now().Before(r.until) {
		return rubric.Judge(code, q, a, in), nil
	}
	began := r.clock.Now()
	scores, err := scoring.Score(ctx, r.config.Model, code, q, a, in)
	if r.config.ModelOutcome != nil {
		r.config.ModelOutcome(err, r.clock.Since(began))
	}
	if err != nil {
		r.without(ctx, err)
		return rubric.Judge(code, q, a, in), nil
	}
	return scores, r.config.Persona.Model.ConnectionID
}
