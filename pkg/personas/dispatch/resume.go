package dispatch

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/store/tenant"
)

// Stopped takes up some of what is not told any more of a connection, and says whether there may be more.
type Stopped func(ctx context.Context, tx *tenant.Tx, c id.Connection, now time.Time) (more bool, err error)

// Each takes up some of each, one after another.
func Each(all ...Stopped) Stopped {
	return func(ctx context.Context, tx *tenant.Tx, c id.Connection, now time.Time) (bool, error) {
		for _, take := range all {
			if more, err := take(ctx, tx, c, now); err != nil || more {
				return more, err
			}
		}
		return false, nil
	}
}

// Resumer goes on with what waits for a connection once it is mended, by what takes up what is stopped of
// its provider.
type Resumer map[connection.Provider]Stopped

// Background is what workers do to go on.
func (r Resumer) Background() job.Background {
	return job.Background{Steps: map[job.Kind]job.Step{job.ConnectionResume: r.step}}
}

// apart is how long a job stays that went on with what waits: a connection that works and fails by turns has it
// told no more often.
const apart = time.Minute

// step recalls some of the jobs that wait, each once, then takes up some of what is stopped, and stays for the rest of
// a minute. Where the connection recovers meanwhile it begins anew after that (connection.Record).
func (r Resumer) step(ctx context.Context, tx *tenant.Tx, j *job.Job, now time.Time) (time.Duration, error) {
	var (
		in connection.Resuming
		at struct {
			After    id.Job `json:"after,omitzero"`
			Recalled bool   `json:"recalled,omitempty"`
			// Since is when it began, and Done says that nothing is left.
			Since time.Time `json:"since,omitzero"`
			Done  bool      `json:"done,omitempty"`
		}
	)
	if err := errors.Join(json.Unmarshal(j.Input, &in), json.Unmarshal(j.Progress, &at)); err != nil {
		return 0, err
	}
	if at.Done && !now.Before(at.Since.Add(apart)) {
		j.State = job.Succeeded
		return 0, nil
	}
	if at.Since.IsZero() {
		at.Since = now
	}
	c, err := connection.Find(ctx, tx, in.Connection)
	if errdefs.IsAbsent(err, connection.Noun) {
		j.State = job.Succeeded
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	wait := time.Duration(0)
	switch {
	case at.Done:
		wait = at.Since.Add(apart).Sub(now)
	case !at.Recalled:
		of, err := connection.Predecessors(ctx, tx, c)
		if err != nil {
			return 0, err
		}
		if at.After, err = job.RecallOf(ctx, tx, of, at.After, now); err != nil {
			return 0, err
		}
		at.Recalled = at.After.IsZero()
	default:
		more := false
		if take := r[c.Provider]; take != nil {
			if more, err = take(ctx, tx, c.ID, now); err != nil {
				return 0, err
			}
		}
		if at.Done = !more; at.Done {
			wait = max(at.Since.Add(apart).Sub(now), 0)
		}
	}
	j.Progress, err = json.Marshal(at)
	return wait, err
}
