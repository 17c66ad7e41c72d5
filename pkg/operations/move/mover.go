package move

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/uuid"
	"golang.org/x/time/rate"
	"k8s.io/utils/clock"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/database"
	"visavis.dev/pkg/store/directory"
	"visavis.dev/pkg/store/tenant"
)

// Options shape a Mover. Zero values mean the defaults.
type Options struct {
	Directory *directory.Directory
	Tenants   *tenant.Tenants
	Clock     clock.PassiveClock
	Log       *slog.Logger
	// RowsPerSecond bounds what one process reads from shards that are in use, and
	// deletes there; 5,000 unless given.
	RowsPerSecond int
	// Small is the largest number of rows that are copied behind the fence; 50,000 unless
	// given, none where it is below zero.
	Small int
	// Keep is how long what a move left on its old shard is kept; 6 hours unless given,
	// not at all where it is below zero.
	Keep time.Duration
	// Lease is how long a move stays a process's own after it fell silent; 4 s unless given.
	// An organization whose mover died behind the fence waits so long for another.
	Lease time.Duration
	// Hold is how long the fence is up at most; 5 s unless given.
	Hold time.Duration
	// AnswerTimeout is how long a move waits for a shard that does not answer before it is tried
	// again later, and another goes on in its place; 45 s unless given, which is more than a
	// statement may take.
	AnswerTimeout time.Duration
	// Page is how many rows are read at once; 1,000 unless given.
	Page int
}

// Mover carries moves out.
type Mover struct {
	Options
	limiter *rate.Limiter
}

// New makes a mover.
func New(o Options) *Mover {
	defaults(&o.RowsPerSecond, 5000)
	defaults(&o.Small, 50_000)
	defaults(&o.Keep, 6*time.Hour)
	defaults(&o.Lease, 4*time.Second)
	defaults(&o.Hold, 5*time.Second)
	defaults(&o.AnswerTimeout, 45*time.Second)
	defaults(&o.Page, 1000)
	return &Mover{Options: o, limiter: rate.NewLimiter(rate.Limit(o.RowsPerSecond), max(o.Page, o.RowsPerSecond))}
}

func defaults[T comparable](value *T, fallback T) {
	var zero T
	if *value == zero {
		*value = fallback
	}
}

// Advance takes a move that has something to be done and goes on with it until it has to
// wait, fails or is over. found is false where there is none.
func (m *Mover) Advance(ctx context.Context) (found bool, err error) {
	owner := uuid.New()
	claimed, found, err := m.Directory.ClaimMove(ctx, owner, m.Lease)
	if err != nil || !found {
		return false, err
	}
	r := &run{Mover: m, owner: owner, move: claimed}
	if err := json.Unmarshal(claimed.Cursor, &r.at); err != nil {
		return true, fmt.Errorf("move of %s: %w", claimed.Org, err)
	}
	held, stop := m.keepClaim(ctx, claimed.Org, owner)
	defer stop()
	if err := r.advance(held); err != nil {
		return true, fmt.Errorf("move of %s, %s: %w", claimed.Org, r.move.Phase, err)
	}
	return true, nil
}

// keepClaim renews a claim. The context ends before the lease does where it cannot.
func (m *Mover) keepClaim(ctx context.Context, org id.Org, owner uuid.UUID) (held context.Context, stop func()) {
	held, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		ticker := time.NewTicker(m.Lease / 4)
		defer ticker.Stop()
		until := time.Now().Add(m.Lease)
		for {
			select {
			case <-ticker.C:
			case <-held.Done():
				return
			}
			asked := time.Now()
			trip, end := context.WithDeadline(held, until.Add(-m.Lease/4))
			_, err := m.Directory.KeepMove(trip, org, owner, m.Lease)
			end()
			if err == nil {
				until = asked.Add(m.Lease)
			}
			if errors.Is(err, directory.ErrMoveLost) || time.Now().After(until.Add(-m.Lease/4)) {
				cancel()
				return
			}
		}
	}()
	return held, func() { cancel(); <-done }
}

// run is a move that this process carries out.
type run struct {
	*Mover
	// owner is this claim of the move.
	owner uuid.UUID
	move  directory.Move
	at    cursor
	// fence is the source's, as this process left it.
	fence tenant.Fence
	// layout and the databases are known once both were asked.
	layout   layout
	from, to *database.DB
	pages    pages
	// noted are keys of the table that is being compared that writers noted.
	noted map[string]bool
	// watchdog ends a phase of which no shard answers.
	watchdog *watchdog
}

func (r *run) now() time.Time { return r.Clock.Now().UTC().Truncate(time.Microsecond) }

// advance does phase after phase. What a phase failed with is written down and tried again
// later, unless the move is another's by now.
func (r *run) advance(ctx context.Context) error {
	err := r.watched(ctx, (*run).resume)
	for err == nil && !r.move.Phase.Over() && !r.move.DueAt.After(r.now()) {
		if err = r.watched(ctx, phases[r.move.Phase]); err != nil {
			break
		}
		r.at.Failures, r.move.Problem = 0, r.at.Refusal
		err = r.save(ctx)
	}
	if err == nil || errors.Is(err, directory.ErrMoveLost) {
		return errors.Join(err, r.leave(ctx))
	}
	if _, refused := errors.AsType[*Refusal](err); refused && !flipped(r.move.Phase) {
		r.Log.WarnContext(ctx, "a move cannot be", "organization", r.move.Org.String(), "reason", err)
		return errors.Join(r.refused(ctx, err), r.leave(ctx))
	}
	if ctx.Err() == nil { // or the lease is over, or the process ends
		err = errors.Join(err, r.recordFailure(ctx, err))
	}
	return errors.Join(err, r.leave(ctx))
}

// watched does something for as long as the shards answer.
func (r *run) watched(ctx context.Context, do func(*run, context.Context) error) error {
	ctx, r.watchdog = watch(ctx, r.AnswerTimeout)
	defer r.watchdog.stop()
	err := do(r, ctx)
	if err != nil && ctx.Err() != nil {
		err = errors.Join(context.Cause(ctx), err)
	}
	return err
}

// save writes the move down. One that was cancelled meanwhile is undone next, and one
// whose organization lives on its new shard keeps nothing of the old one.
func (r *run) save(ctx context.Context) error {
	r.move.ProgressAt = r.now()
	if err := r.pack(); err != nil {
		return err
	}
	cancelled, err := r.Directory.SaveMove(ctx, r.move, r.owner)
	if err != nil || !cancelled || r.move.Phase.Over() {
		return err
	}
	r.cancel()
	return nil
}

// cancel ends the move: before the switch by undoing it, afterwards by not waiting any more.
func (r *run) cancel() {
	switch {
	case !flipped(r.move.Phase) && r.move.Phase != phaseUndo:
		r.enter(phaseUndo)
	case r.move.Phase == phaseKeep:
		r.move.DueAt = new(r.now())
	}
}

// recordFailure writes down what a phase failed with, for the next to try again.
func (r *run) recordFailure(ctx context.Context, failure error) error {
	r.at.Failures++
	r.move.Problem = failure.Error()
	r.move.DueAt = new(r.now().Add(backoff(r.at.Failures)))
	if err := r.pack(); err != nil {
		return err
	}
	_, err := r.Directory.SaveMove(ctx, r.move, r.owner)
	return err
}

// refused ends a move that cannot be; what was done of it is undone first.
func (r *run) refused(ctx context.Context, why error) error {
	r.at.Refusal = why.Error()
	if r.move.Phase == directory.FirstPhase {
		r.end(directory.Refused)
	} else {
		r.enter(phaseUndo)
	}
	return r.save(ctx)
}

// end ends the move.
func (r *run) end(p directory.Phase) {
	r.enter(p)
	r.move.DueAt, r.move.Problem = nil, r.at.Refusal
}

// leave lets the next have the move.
func (r *run) leave(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	return r.Directory.LeaveMove(ctx, r.move.Org, r.owner)
}
