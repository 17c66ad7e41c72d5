// Package dispatch has jobs tell connected systems what these are to know, each until the system takes it: the
// sending side of a transactional outbox. The job is queued with the commit that makes something so; a
// call that failed is made again as long as there is patience with the system.
package dispatch

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"k8s.io/utils/clock"

	"visavis.dev/pkg/base/egress"
	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/provider/upstream"
	"visavis.dev/pkg/store/tenant"
)

// Patience is how much there is with a system, by the sum of the waits between the calls of one job in
// a row, each as far as it was waited. Faults of ours use up none of it: they are logged and waited for, however long they last.
type Patience struct {
	// Away is for a system that does not answer, or asks for patience.
	Away time.Duration
	// Unready is for one that people have to do something about: it does not take the secret, answers
	// something else, or its connection is switched off or gone.
	Unready time.Duration
	// Longest bounds a wait that the system did not ask for.
	Longest time.Duration
}

// Message is what a job tells a system next.
type Message struct {
	To id.Connection
	// Pace is how far apart the calls of the system are to be that this process makes; nil for as they come.
	Pace func(to *connection.Opened) time.Duration
	// Tell calls the system. An error that is no upstream.Error is a fault of ours.
	Tell func(ctx context.Context, to *connection.Opened) error
	// Keep notes what came of it in the transaction of the job's step, and ends the job where
	// nothing is left to tell. What it answers is a wait of its own.
	Keep func(ctx context.Context, tx *tenant.Tx, j *job.Job, now time.Time, o Outcome) (time.Duration, error)
}

// Outcome is what came of telling a system. Where there is a wait it is told again after it.
type Outcome struct {
	// Code is why the system did not take it; empty where it did.
	Code string
	Wait time.Duration
}

// Acknowledged says that the system took it.
func (o Outcome) Acknowledged() bool { return o.Code == "" }

// Abandoned says that it is told no more.
func (o Outcome) Abandoned() bool { return o.Code != "" && o.Wait == 0 }

// NoConnection is the code where there is no connection any more, or it is switched off.
const NoConnection = "no_connection"

// Dispatcher tells systems. It is safe for concurrent use.
type Dispatcher struct {
	opener   *connection.Opener
	clock    clock.PassiveClock
	patience Patience
	rests    *Rests
}

// New makes a dispatcher.
func New(o *connection.Opener, c clock.PassiveClock, p Patience) *Dispatcher {
	return &Dispatcher{o, c, p, NewRests()}
}

// Connection is a connection as it is used. The error can be errdefs.NotFound, errdefs.Gone or connection.ErrDisabled.
func (d *Dispatcher) Connection(ctx context.Context, org id.Org, which id.Connection) (connection.Connection, error) {
	opened, err := d.opener.Open(ctx, org, which)
	return opened.Connection, err
}

// Waited is how long a job waited for its system in a row, and after how many calls. The zero one
// did not.
type Waited struct {
	Calls int           `json:"calls"`
	For   time.Duration `json:"for"`
	// Settled is when the connection was settled that it waited for: another one is waited for anew.
	Settled time.Time `json:"settled,omitzero"`
	// Since is when it began to wait last, and Next how long it is to; zero where it does not wait for the system.
	Since time.Time     `json:"since,omitzero"`
	Next  time.Duration `json:"next,omitempty"`
	// Turn is when it may call a system that takes only so many calls; zero for at once.
	Turn time.Time `json:"turn,omitzero"`
}

// key is where a job's progress has it; the rest of the progress is the message's.
const key = "waited"

// Work is what jobs of a kind do: next says what there is to tell; nil for nothing more, which ends the job.
func (d *Dispatcher) Work(next func(ctx context.Context, j job.Job) (*Message, error)) job.Work {
	return job.Work{Failures: job.Endless, Prepare: func(ctx context.Context, j job.Job) (job.Step, error) {
		var p struct {
			Waited Waited `json:"waited"`
		}
		if err := json.Unmarshal(j.Progress, &p); err != nil {
			return nil, err
		}
		m, err := next(ctx, j)
		if err != nil {
			return nil, err
		}
		if m == nil {
			return end, nil
		}
		o, w, err := d.tell(ctx, j.Org, m, p.Waited)
		if err != nil {
			return nil, err
		}
		return m.step(o, w), nil
	}}
}

// step is the step that keeps what came of telling a system, and how long it was waited for. What a connection
// that was mended meanwhile said before says nothing of it.
func (m *Message) step(o Outcome, w Waited) job.Step {
	return func(ctx context.Context, tx *tenant.Tx, j *job.Job, now time.Time) (time.Duration, error) {
		o, w := o, w // a transaction can be made again
		if !o.Acknowledged() && !w.Settled.IsZero() {
			stands, err := connection.Hold(ctx, tx, m.To, w.Settled)
			if err != nil {
				return 0, err
			}
			if !stands {
				o, w = Outcome{o.Code, AMoment}, Waited{}
			}
		}
		wait, err := m.Keep(ctx, tx, j, now, o)
		if err != nil {
			return 0, err
		}
		if o.Wait == 0 {
			w = Waited{}
		}
		return max(wait, o.Wait), w.note(j)
	}
}

// AMoment is longer than an opened connection is believed.
const AMoment = 2 * time.Second

// Later is the step of a job that waits with a progress for a system, whose connection was opened: for a moment alone
// where it was mended meanwhile.
func Later(to *connection.Opened, progress any, wait time.Duration) job.Step {
	return func(ctx context.Context, tx *tenant.Tx, j *job.Job, _ time.Time) (time.Duration, error) {
		stands, err := connection.Hold(ctx, tx, to.ID, to.SettledAt)
		if err != nil {
			return 0, err
		}
		if !stands {
			wait = min(wait, AMoment)
		}
		j.Progress, err = json.Marshal(progress)
		return wait, err
	}
}

func end(_ context.Context, _ *tenant.Tx, j *job.Job, _ time.Time) (time.Duration, error) {
	j.State = job.Succeeded
	return 0, nil
}

// note writes it into a job's progress.
func (w Waited) note(j *job.Job) error {
	all := map[string]any{}
	if err := json.Unmarshal(j.Progress, &all); err != nil {
		return err
	}
	if delete(all, key); w != (Waited{}) {
		all[key] = w
	}
	var err error
	j.Progress, err = json.Marshal(all)
	return err
}

// tell tells once. Its error is a fault of ours.
func (d *Dispatcher) tell(ctx context.Context, org id.Org, m *Message, w Waited) (Outcome, Waited, error) {
	to, err := d.opener.Open(ctx, org, m.To)
	closed := errdefs.IsAbsent(err, connection.Noun) || errors.Is(err, connection.ErrDisabled)
	if err != nil && !closed {
		return Outcome{}, w, err
	}
	if !w.Settled.Equal(to.SettledAt) {
		w = Waited{Settled: to.SettledAt}
	}
	began := d.clock.Now()
	w = w.elapsed(began)
	if closed {
		o, w := w.wait(NoConnection, d.patience.Longest, d.patience.Unready, began)
		return o, w, nil
	}
	if rest := d.rests.Left(&to, began); rest > 0 {
		o, again := w.wait(string(upstream.Unavailable), rest, d.patience.Away, began)
		again.Calls = w.Calls
		return o, again, nil
	}
	if m.Pace != nil {
		if turn := d.rests.Turn(&to, began, m.Pace(&to), w.Turn); turn.After(began) {
			w.Turn = turn
			return Outcome{string(upstream.RateLimited), turn.Sub(began)}, w, nil
		}
	}
	err = m.Tell(ctx, &to)
	d.rests.After(&to, began, d.clock.Now(), err)
	failed, ok := errors.AsType[*upstream.Error](err)
	if !ok {
		return Outcome{}, Waited{}, err
	}
	o, w := d.patience.After(failed, w, d.clock.Now())
	return o, w, nil
}

// After is what comes of a call that failed at a moment, by a job that waited for its system.
func (p Patience) After(e *upstream.Error, w Waited, now time.Time) (Outcome, Waited) {
	first, patience := p.with(e)
	w = w.elapsed(now)
	return w.wait(string(e.Code), max(e.RetryAfter, min(first<<min(w.Calls, mostDoubled), p.Longest)), patience, now)
}

// mostDoubled bounds how often a wait is doubled.
const mostDoubled = 12

// elapsed is it once its last wait is over, of which no more counts than was waited: a job can be recalled.
func (w Waited) elapsed(now time.Time) Waited {
	if !w.Since.IsZero() {
		w.For += max(min(w.Next, now.Sub(w.Since)), 0)
	}
	w.Since, w.Next = time.Time{}, 0
	return w
}

// wait is what comes of a wait that begins now, and of none where the patience is over.
func (w Waited) wait(code string, wait, patience time.Duration, now time.Time) (Outcome, Waited) {
	if w.For >= patience {
		return Outcome{Code: code}, Waited{Settled: w.Settled}
	}
	return Outcome{code, wait}, Waited{Calls: w.Calls + 1, For: w.For, Settled: w.Settled, Since: now.UTC(), Next: wait}
}

// with is the first wait after a failure, and how much patience there is with it; none where a further
// call changes nothing.
func (p Patience) with(e *upstream.Error) (first, patience time.Duration) {
	switch {
	case errors.Is(e.Err, egress.ErrRedirect): // as to a page of maintenance
		return time.Minute, p.Away
	case e.Status == http.StatusConflict, e.Status == http.StatusLocked, e.Status == http.StatusTooEarly: // something else is under way
		return time.Second, p.Away
	case e.Code == upstream.RateLimited, e.Code == upstream.Timeout, e.Code == upstream.Unavailable, e.Code == upstream.Truncated:
		return time.Second, p.Away
	case e.Code == upstream.Refused, e.Code == upstream.AddressRefused, e.Code == upstream.Malformed:
		return time.Minute, p.Unready
	}
	return 0, 0
}
