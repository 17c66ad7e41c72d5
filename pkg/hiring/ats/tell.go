package ats

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"k8s.io/utils/clock"

	"visavis.dev/pkg/base/egress"
	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/hiring/candidate"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/provider/upstream"
	"visavis.dev/pkg/store/tenant"
)

// Teller does the jobs that tell systems where candidates stand.
type Teller struct {
	Tenants *tenant.Tenants
	Opener  *connection.Opener
	Report  *connection.Reporter
	Egress  *egress.Guard
	Clock   clock.PassiveClock
}

// Background is what workers do for systems.
func (t *Teller) Background() job.Background {
	return job.Background{Works: map[job.Kind]job.Work{job.ATSTell: {Prepare: t.tell, GiveUp: giveUp}}}
}

const (
	// longestWait bounds the wait between two tries to tell the same.
	longestWait = time.Hour
	// triedFor is for how long it is tried: as long as Greenhouse asks for a status.
	triedFor = 8 * 7 * 24 * time.Hour
)

// waits is how often in a row a system could not be told.
type waits struct {
	Waits int `json:"waits,omitempty"`
}

// tell tells where somebody stands now. Standings in between that could not be told are left out. A
// crash after it tells the same again, which the system knows by its moment.
func (t *Teller) tell(ctx context.Context, j job.Job) (job.Step, error) {
	var (
		in candidate.Telling
		p  waits
	)
	if err := errors.Join(json.Unmarshal(j.Input, &in), json.Unmarshal(j.Progress, &p)); err != nil {
		return nil, err
	}
	a, err := candidate.ReadApplication(ctx, t.Tenants, j.Org, in.Application)
	if errdefs.IsNotFound(err, candidate.ApplicationNoun) {
		return done, nil // the candidate was erased
	}
	if err != nil {
		return nil, err
	}
	wait := time.Duration(0)
	if a.Told < a.Edition {
		wait, err = t.try(ctx, j, &a, p.Waits)
	}
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, tx *tenant.Tx, j *job.Job, now time.Time) (time.Duration, error) {
		if wait > 0 && now.Sub(a.StandingAt) < triedFor {
			progress, err := json.Marshal(waits{p.Waits + 1})
			j.Progress = progress
			return wait, err
		}
		j.Progress = json.RawMessage("{}")
		return 0, heard(ctx, tx, j, in, a.Edition)
	}, nil
}

func done(_ context.Context, _ *tenant.Tx, j *job.Job, _ time.Time) (time.Duration, error) {
	j.State = job.Succeeded
	return 0, nil
}

// heard notes that a system knows a standing, or cannot be told it, and ends the job unless another one came
// meanwhile.
func heard(ctx context.Context, tx *tenant.Tx, j *job.Job, in candidate.Telling, edition int64) error {
	a, err := candidate.FindApplication(ctx, tx, in.Application)
	if errdefs.IsNotFound(err, candidate.ApplicationNoun) {
		j.State = job.Succeeded
		return nil
	}
	if err != nil {
		return err
	}
	if err := a.Heard(ctx, tx, edition); err != nil {
		return err
	}
	if a.Told >= a.Edition {
		j.State = job.Succeeded
	}
	return nil
}

// giveUp leaves a standing untold after many faults of the program; the next one is told again.
func giveUp(ctx context.Context, tx *tenant.Tx, j *job.Job, _ time.Time) error {
	var in candidate.Telling
	if err := json.Unmarshal(j.Input, &in); err != nil {
		return err
	}
	a, err := candidate.FindApplication(ctx, tx, in.Application)
	if errdefs.IsNotFound(err, candidate.ApplicationNoun) {
		return nil
	}
	if err != nil {
		return err
	}
	return a.Heard(ctx, tx, a.Edition)
}

// try tells once, and answers how long to wait where that is to be done again: as the system asks for, or longer
// each time. It is tried for long also where the key is refused, since people have to give another one.
func (t *Teller) try(ctx context.Context, j job.Job, a *candidate.Application, before int) (time.Duration, error) {
	opened, err := t.Opener.Open(ctx, j.Org, a.Connection)
	switch {
	case errdefs.IsAbsent(err, connection.Noun):
		return 0, nil
	case errors.Is(err, connection.ErrDisabled):
		return longestWait, nil
	case err != nil:
		return 0, err
	}
	say := t.saying(&opened, a)
	if say == nil {
		return 0, nil
	}
	began := t.Clock.Now()
	err = opened.WithSecret(func(secret string) error { return say(ctx, secret) })
	t.Report.Report(j.Org, opened.ID, connection.OutcomeOf("ats.update", began, t.Clock.Now(), err))
	failed, ok := errors.AsType[*upstream.Error](err)
	if !ok {
		return 0, err
	}
	wait := time.Second
	switch {
	case elsewhere(failed):
		wait = time.Minute
	case failed.Code == upstream.Rejected: // it does not know the application any more, or does not take what it is told
		return 0, nil
	case failed.Code == upstream.Refused || failed.Code == upstream.AddressRefused || failed.Code == upstream.Malformed:
		wait = time.Minute
	}
	return max(failed.RetryAfter, min(wait<<min(before, 12), longestWait)), nil
}

// elsewhere says whether a failure is of the address or the moment, and none of what was told: a
// redirect, as to a page of maintenance, or the same being told just now.
func elsewhere(e *upstream.Error) bool {
	return errors.Is(e.Err, egress.ErrRedirect) || e.Status == http.StatusConflict || e.Status == http.StatusTooEarly
}

// saying is how a system is told; nil where there is nothing to tell it. Greenhouse asks for the rest.
func (t *Teller) saying(by *connection.Opened, a *candidate.Application) func(ctx context.Context, secret string) error {
	switch {
	case by.Provider == connection.Ashby:
		update := AshbyUpdate(*by, *a)
		return func(ctx context.Context, secret string) error {
			return by.Ashby(t.Egress, secret).Tell(ctx, update, fmt.Sprintf("%s-%d", UUID(a.ID), a.Edition))
		}
	case by.Provider == connection.Greenhouse && a.Standing == candidate.StandsComplete && a.Callback != nil && Calls(*by, *a.Callback):
		return func(ctx context.Context, secret string) error {
			return by.Greenhouse(t.Egress, secret).Complete(ctx, *a.Callback)
		}
	}
	return nil
}
