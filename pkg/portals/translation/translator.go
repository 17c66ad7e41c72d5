package translation

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"k8s.io/utils/clock"

	"visavis.dev/pkg/base/egress"
	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/portals/subject"
	"visavis.dev/pkg/provider/model"
	"visavis.dev/pkg/provider/upstream"
	"visavis.dev/pkg/store/tenant"
)

// Translator makes the jobs of the kind translate.
type Translator struct {
	Tenants *tenant.Tenants
	Opener  *connection.Opener
	Report  *connection.Reporter
	Egress  *egress.Guard
	Clock   clock.PassiveClock
}

// Work is what to run the jobs with.
func (t *Translator) Work() job.Work { return job.Work{Prepare: t.prepare} }

const (
	// maxTries is how often a model is asked for a batch before the job fails, and
	// firstWait how long after the first try; each further wait is four times as long.
	maxTries  = 4
	firstWait = 30 * time.Second
	// firstPiece and wholeAnswer bound how long a model may take.
	firstPiece  = 30 * time.Second
	wholeAnswer = 3 * time.Minute
)

// The codes of jobs that failed, besides those of package upstream.
const (
	codeMalformed    = string(upstream.Malformed)
	codeNoConnection = "no_connection"
)

// task is what a job is to do.
type task struct {
	Subject id.Subject `json:"subject"`
	Pieces  []Piece    `json:"pieces"`
}

// state is how far a job got.
type state struct {
	// Texts are the translations of the first pieces.
	Texts []string `json:"texts"`
	// Failed counts the tries in a row at the next batch that failed.
	Failed int64 `json:"failed"`
}

// Insert queues the job that translates pieces of a subject into languages.
func Insert(ctx context.Context, tx *tenant.Tx, s id.Subject, languages []string, pieces []Piece, who subject.Author) (job.Job, error) {
	j, err := job.Insert(ctx, tx, job.Job{
		ID: id.NewJob(), Kind: job.Translate, ResourceKind: "subject", ResourceID: s.String(), Subject: s, Scope: scope.ContentWrite,
		CreatedBy: who.By, CreatedAt: who.At,
	}, task{s, pieces})
	if err != nil {
		return j, err
	}
	who.Log(tx, "subject.translation_ordered", "subject", s, map[string]any{"languages": languages, "jobId": j.ID})
	return j, nil
}

// prepare asks for the next batch, and answers the step that keeps it.
func (t *Translator) prepare(ctx context.Context, j job.Job) (job.Step, error) {
	var (
		what task
		so   state
	)
	if err := errors.Join(json.Unmarshal(j.Input, &what), json.Unmarshal(j.Progress, &so)); err != nil {
		return nil, err
	}
	s, err := subject.Get(ctx, t.Tenants, j.Org, what.Subject)
	switch {
	case errdefs.IsNotFound(err, subject.Noun), err == nil && s.State == subject.Archived:
		return cancelled, nil
	case err != nil:
		return nil, err
	case len(so.Texts) == len(what.Pieces):
		return finished(what, so), nil
	}
	asked := batch(what.Pieces, len(so.Texts))
	said, err := t.translate(ctx, j.Org, s, asked)
	if err != nil {
		return t.failed(ctx, so, err)
	}
	so = state{Texts: append(so.Texts, said...)}
	if len(so.Texts) == len(what.Pieces) {
		return finished(what, so), nil
	}
	return kept(what, so), nil
}

// translate asks the subject's model, and once more where its answer makes no sense.
func (t *Translator) translate(ctx context.Context, org id.Org, s subject.Subject, asked []Piece) ([]string, error) {
	chosen, err := Choose(ctx, t.Tenants, org, s)
	if err != nil {
		return nil, err
	}
	opened, err := t.Opener.Open(ctx, org, chosen.Connection)
	if err != nil {
		return nil, err
	}
	m := opened.Model(t.Egress, chosen.Name, model.Timeouts{First: firstPiece, Between: firstPiece, Whole: wholeAnswer})
	var said []string
	for range 2 {
		began := t.Clock.Now()
		said, err = ask(ctx, m, asked)
		if !errors.Is(err, errMalformed) {
			t.Report.Report(org, opened.ID, connection.OutcomeOf("translate", began, t.Clock.Now(), err))
			break
		}
	}
	return said, err
}

// failed is the step after a model could not be asked: to try again, or to give up.
// What is not the model's fault is answered.
func (t *Translator) failed(ctx context.Context, so state, err error) (job.Step, error) {
	switch code := upstream.CodeOf(err); {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, errMalformed):
		return ended(codeMalformed), nil
	case errors.Is(err, ErrNoModel), errdefs.IsAbsent(err, connection.Noun), errors.Is(err, connection.ErrDisabled):
		return ended(codeNoConnection), nil
	case code == "":
		return nil, err
	case so.Failed+1 < maxTries && slices.Contains([]upstream.Code{upstream.Timeout, upstream.Truncated, upstream.RateLimited, upstream.Unavailable}, code):
		so.Failed++
		return later(so), nil
	default:
		return ended(string(code)), nil
	}
}

// kept is the step that keeps what was translated so far.
func kept(what task, so state) job.Step {
	return func(_ context.Context, _ *tenant.Tx, j *job.Job, _ time.Time) (wait time.Duration, err error) {
		j.Done, j.Total = int64(len(so.Texts)), int64(len(what.Pieces))
		j.Progress, err = json.Marshal(so)
		return 0, err
	}
}

// later is the step of a job that tries again.
func later(so state) job.Step {
	return func(_ context.Context, _ *tenant.Tx, j *job.Job, _ time.Time) (wait time.Duration, err error) {
		j.Progress, err = json.Marshal(so)
		wait = firstWait
		for range so.Failed - 1 {
			wait *= 4
		}
		return wait, err
	}
}

// ended is the step that gives the job up. Nothing of it was saved.
func ended(code string) job.Step {
	return func(_ context.Context, _ *tenant.Tx, j *job.Job, _ time.Time) (time.Duration, error) {
		j.State, j.ErrorCode = job.Failed, code
		return 0, nil
	}
}

func cancelled(_ context.Context, _ *tenant.Tx, j *job.Job, _ time.Time) (time.Duration, error) {
	j.State = job.Cancelled
	return 0, nil
}

// finished is the step that saves the translations in the newest draft.
func finished(what task, so state) job.Step {
	return func(ctx context.Context, tx *tenant.Tx, j *job.Job, now time.Time) (time.Duration, error) {
		j.Done, j.Total = int64(len(what.Pieces)), int64(len(what.Pieces))
		s, err := subject.Lock(ctx, tx, what.Subject)
		if errdefs.IsNotFound(err, subject.Noun) || errdefs.IsArchived(err, subject.Noun) {
			j.State = job.Cancelled
			return 0, nil
		}
		if err != nil {
			return 0, err
		}
		newest, err := subject.FindVersion(ctx, tx, s.ID, s.DraftVersion)
		if err != nil {
			return 0, err
		}
		content := Apply(newest.Content, what.Pieces, so.Texts)
		_, _, err = subject.Save(ctx, tx, s, content, &s.DraftVersion, subject.Author{By: j.CreatedBy, At: now}.Unlogged(), new("Translated by a model."))
		if errors.Is(err, subject.ErrTooLarge) {
			j.State, j.ErrorCode = job.Failed, "too_large"
			return 0, nil
		}
		if err != nil {
			return 0, err
		}
		j.State = job.Succeeded
		return 0, nil
	}
}
