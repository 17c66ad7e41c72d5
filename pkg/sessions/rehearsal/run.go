package rehearsal

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/sessions/conversation"
	"visavis.dev/pkg/store/tenant"
)

const (
	// batch is how many tests a step runs, and stepFor how long it goes on beginning
	// others, so that a run with a slow model can be watched and cancelled.
	batch   = 20
	stepFor = 20 * time.Second
)

// Run is what came of tests: the file of their job.
type Run struct {
	PersonaID      id.Persona `json:"personaId"`
	PersonaVersion int64      `json:"personaVersion"`
	Tests          []Outcome  `json:"tests"`
	AIGenerated    bool       `json:"aiGenerated"`
}

// Outcome is what came of one test.
type Outcome struct {
	ID       id.PersonaTest `json:"id"`
	Name     string         `json:"name"`
	Question string         `json:"question"`
	Expect   Expectation    `json:"expect"`
	Result   Result         `json:"result"`
	// Change is what is other than in the run before: newly_failing or newly_passing;
	// nil where nothing is, or where there is nothing to compare with.
	Change *string `json:"change"`
}

// progress is how far a job got.
type progress struct {
	// Next is the first test that was not run.
	Next int `json:"next"`
}

// answered is a test, and what the persona answered.
type answered struct {
	Test
	reply conversation.Reply
	// silent says that a model failed that nobody may stand in for.
	silent bool
}

// run runs the next tests, and the last time writes the file of all.
func (r *Rehearser) run(ctx context.Context, j job.Job, o order, v persona.Version) (job.Step, error) {
	var (
		tests []Test
		at    progress
	)
	if err := errors.Join(json.Unmarshal(j.Progress, &at), r.read(ctx, j, &tests)); err != nil {
		return nil, err
	}
	if at.Next >= len(tests) {
		notes, err := job.Notes[[]Outcome](ctx, r.Tenants, j)
		if err != nil {
			return nil, err
		}
		run := Run{o.Persona, o.Version, []Outcome{}, true}
		for _, outcomes := range notes {
			run.Tests = append(run.Tests, outcomes...)
		}
		return r.last(ctx, j, run, func(*job.Job) {})
	}
	var done []answered
	for until := r.Clock.Now().Add(stepFor); at.Next+len(done) < len(tests) && len(done) < batch; {
		if len(done) > 0 && !r.Clock.Now().Before(until) {
			break
		}
		a, err := r.ask(ctx, j.Org, v, tests[at.Next+len(done)])
		if err != nil {
			return nil, err
		}
		done = append(done, a)
	}
	return func(ctx context.Context, tx *tenant.Tx, j *job.Job, now time.Time) (time.Duration, error) {
		j.Total = int64(len(tests))
		return 0, note(ctx, tx, j, o, at.Next, done, now)
	}, nil
}

// ask asks a persona the question of a test, as POST /personas/{id}/ask does.
func (r *Rehearser) ask(ctx context.Context, org id.Org, v persona.Version, t Test) (answered, error) {
	language := ""
	if t.Language != nil {
		language = *t.Language
	}
	config, packs, err := r.config(ctx, org, v, language)
	var reply conversation.Reply
	if err == nil {
		reply, err = conversation.Ask(ctx, config, t.Question)
	}
	switch {
	case ctx.Err() != nil:
		return answered{}, ctx.Err()
	case errors.Is(err, conversation.ErrNoModel):
		return answered{Test: t, silent: true}, nil
	case err == nil:
		err = packs.err()
	}
	return answered{Test: t, reply: reply}, err
}

// note judges the answers to tests, the first of which is number from, and keeps
// what came of each with the job and with the test.
func note(ctx context.Context, tx *tenant.Tx, j *job.Job, o order, from int, done []answered, now time.Time) (err error) {
	outcomes := make([]Outcome, len(done))
	counts := map[string]int64{"passed": 0, "failed": 0, "error": 0}
	maps.Copy(counts, j.Counts)
	for i, a := range done {
		gone, err := a.Expect.deleted(ctx, tx)
		if err != nil {
			return err
		}
		result, of := a.Expect.Judge(a.reply, gone), "failed"
		switch {
		case a.silent:
			result, of = a.Expect.unanswered(gone), "error"
		case result.Passed:
			of = "passed"
		}
		counts[of]++
		outcomes[i] = Outcome{ID: a.ID, Name: a.Name, Question: a.Question, Expect: a.Expect, Result: result}
		if a.silent {
			continue
		}
		if outcomes[i].Change, err = remember(ctx, tx, a.Test, LastRun{now, j.ID, o.Version, result}); err != nil {
			return err
		}
	}
	counts["total"] = j.Total
	j.Counts, j.Done = counts, int64(from+len(done))
	if j.Progress, err = json.Marshal(progress{from + len(done)}); err != nil {
		return err
	}
	return j.Note(ctx, tx, int64(from), outcomes)
}

// remember notes with a test what came of it, and answers what that changed. A test
// that was changed or deleted since the run began is left alone.
func remember(ctx context.Context, tx *tenant.Tx, t Test, run LastRun) (change *string, err error) {
	before, err := tenant.OneIn(ctx, tx, pgx.RowTo[*LastRun], Noun.NotFound(t.ID), `
		SELECT last_run FROM persona_test WHERE org_id = $1 AND id = $2 AND updated_at = $3 FOR UPDATE`, tx.Org, t.ID, t.UpdatedAt)
	if errdefs.IsNotFound(err, Noun) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if err := t.answered(ctx, tx, run.Result, run.At); err != nil {
		return nil, err
	}
	tx.Touch("persona_test", t.ID)
	_, err = tx.Exec(ctx, `UPDATE persona_test SET last_run = $3 WHERE org_id = $1 AND id = $2`, tx.Org, t.ID, run)
	switch {
	case before == nil || before.Passed == run.Passed:
		return nil, err
	case run.Passed:
		return orNil("newly_passing"), err
	default:
		return orNil("newly_failing"), err
	}
}
