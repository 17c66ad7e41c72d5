package job

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/utils/clock"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/hint"
	"visavis.dev/pkg/store/pershard"
	"visavis.dev/pkg/store/tenant"
)

const (
	// lease is how long a claimed step is nobody else's.
	lease = 30 * time.Second
	// look is how often an idle runner looks for due steps.
	look = 50 * time.Millisecond
	// claimWithin bounds a look for due steps and the claiming of one, and writeWithin
	// what is written of a job beside its steps.
	claimWithin = 5 * time.Second
	writeWithin = 10 * time.Second
	// quickAtOnce bounds the quick steps that run side by side on a shard.
	quickAtOnce = 4
	// computingAtOnce bounds the steps of a process that compute, and so the memory they
	// take; askingAtOnce bounds those that mostly wait for other servers, fetchingAtOnce those
	// that wait for sites, tellingAtOnce those that tell customers' systems, listingAtOnce those that
	// read lists there, and documentsAtOnce those that read what is here. An organization has no more than its share of each, so that
	// slow servers of a few do not hold everybody up, nor slow sites its own documents.
	computingAtOnce, computingOfOne = 2, 1
	askingAtOnce, askingOfOne       = 16, 2
	tellingAtOnce, tellingOfOne     = 16, 2
	listingAtOnce, listingOfOne     = 8, 2
	fetchingAtOnce, fetchingOfOne   = 16, 2
	documentsAtOnce, documentsOfOne = 8, 2
	// maxFailures is how many steps in a row may fail before the job does.
	maxFailures = 10
)

// Runner makes the steps of every shard's jobs until it is stopped. Each shard has lines
// of its own: one that does not answer holds nobody else's jobs up.
type Runner struct {
	Tenants *tenant.Tenants
	// Share is which jobs it makes.
	Share Share
	// Steps are what the quick kinds do, and Works the heavy ones.
	Steps map[Kind]Step
	Works map[Kind]Work
	// Shards lists the shards; it is asked again now and then.
	Shards func(context.Context) ([]string, error)
	Clock  clock.WithTicker
	Log    *slog.Logger
	// Metrics counts what failed for a shard, and tells how long jobs wait; nil for nowhere.
	Metrics prometheus.Registerer
	// Hints are of due jobs; nil for a runner that gets none, and looks all the time.
	Hints *hint.Hub
	// Rarely is how often a runner with hints looks without one; hint.Rarely unless given.
	Rarely time.Duration

	// unwatch ends the hints.
	unwatch func()
	cancel  context.CancelFunc
	loops   []*pershard.Loop
	// heavy are the heavy steps under way.
	heavy sync.WaitGroup
	// stopping is closed when the runner stops; nil before it is started.
	stopping <-chan struct{}
	// failures counts the failures in a row of a job's steps, by its id.
	failures sync.Map
}

// Start begins.
func (r *Runner) Start() {
	ctx, cancel := context.WithCancel(context.Background())
	r.cancel, r.stopping = cancel, ctx.Done()
	var lines []line
	if l := r.quick(); len(l.kinds) > 0 {
		lines = append(lines, l)
		r.loops = append(r.loops, r.newLoop("advance quick jobs", func(ctx context.Context, shard string) (pershard.Next, error) {
			return r.advanceQuick(ctx, shard, l)
		}))
	}
	for _, q := range r.heavyQueues() {
		lines = append(lines, q.line)
		r.loops = append(r.loops, r.newQueueLoop(q))
	}
	r.loops = append(r.loops, r.scout(lines, r.loops), r.watch())
	for _, l := range r.loops {
		l.Start()
	}
}

func (r *Runner) quick() line { return line{kinds: r.Share.of(quick)} }

// heavyQueues are those of the heavy kinds in the runner's share.
func (r *Runner) heavyQueues() []*queue {
	var all []*queue
	for _, q := range []*queue{
		newQueue("computing", heavyLine(r.Share.of(computing)), computingAtOnce, computingOfOne),
		newQueue("asking", heavyLine(r.Share.of(asking)).fetching(false), askingAtOnce, askingOfOne),
		newQueue("telling", heavyLine(r.Share.of(telling)), tellingAtOnce, tellingOfOne),
		newQueue("listing", heavyLine(r.Share.of(listing)), listingAtOnce, listingOfOne),
		newQueue("document", heavyLine(r.Share.of(documents)).fetching(false), documentsAtOnce, documentsOfOne),
		newQueue("fetching", heavyLine(r.Share.of(reading)).fetching(true), fetchingAtOnce, fetchingOfOne),
	} {
		if len(q.kinds) > 0 {
			all = append(all, q)
		}
	}
	return all
}

// newLoop makes a loop that advances a line where it is woken. Each shard has one of its own,
// so that none waits for another's.
func (r *Runner) newLoop(work string, run func(ctx context.Context, shard string) (pershard.Next, error)) *pershard.Loop {
	return pershard.New(pershard.Options{
		Work: work, Shards: r.Shards, Every: hour, Retry: look, Run: run, Clock: clock.RealClock{}, Log: r.Log, Metrics: r.Metrics,
	})
}

// hour is how often a line advances that nobody wakes: what is due is the scout's to find.
const hour = time.Hour

// newQueueLoop makes the loop of a queue. A step that ends makes room for another of its
// organization.
func (r *Runner) newQueueLoop(q *queue) (l *pershard.Loop) {
	l = r.newLoop("begin "+q.name+" jobs", func(ctx context.Context, shard string) (pershard.Next, error) {
		return r.begin(ctx, shard, q, func() {
			if !r.ending() {
				l.Wake(shard)
			}
		})
	})
	return l
}

// ending says that the runner stops: what it gives back is not its own to begin again.
func (r *Runner) ending() bool {
	select {
	case <-r.stopping: // never, of one that was not started
		return true
	default:
		return false
	}
}

// Stop lets the steps under way end, gives back those that are only prepared,
// and begins no more.
func (r *Runner) Stop() {
	r.cancel()
	r.unwatch()
	var group sync.WaitGroup
	for _, l := range r.loops {
		group.Go(l.Stop)
	}
	group.Wait()
	r.heavy.Wait()
}

// Advance makes steps that are due on a shard, a few quick ones and a heavy one of
// each line, and answers how many it made.
func (r *Runner) Advance(ctx context.Context, shard string) (made int, err error) {
	if made, err = r.advance(ctx, shard, r.quick(), quickAtOnce); err != nil {
		return made, err
	}
	for _, q := range r.heavyQueues() {
		n, err := r.advance(ctx, shard, q.line, 1)
		if made += n; err != nil {
			return made, err
		}
	}
	return made, nil
}

// advanceQuick makes quick steps until none is due.
func (r *Runner) advanceQuick(ctx context.Context, shard string, l line) (next pershard.Next, err error) {
	jobs, waiting, err := r.claimFirst(ctx, shard, l, quickAtOnce)
	r.makeAll(ctx, jobs)
	next.More = len(jobs) > 0
	if waiting && !next.More {
		next.At = time.Now().Add(look) // whoever holds their rows may leave some
	}
	return next, err
}

// advance claims steps that are due and makes them.
func (r *Runner) advance(ctx context.Context, shard string, l line, atOnce int) (int, error) {
	jobs, _, err := r.claimFirst(ctx, shard, l, atOnce)
	r.makeAll(ctx, jobs)
	return len(jobs), err
}

// makeAll makes claimed steps side by side.
func (r *Runner) makeAll(ctx context.Context, jobs []claimed) {
	// A step that began is not interrupted by the end.
	work := context.WithoutCancel(ctx)
	var group sync.WaitGroup
	for _, c := range jobs {
		group.Go(func() { r.make(work, c) })
	}
	group.Wait()
}

// claimFirst claims the steps of a line that are due first, and says whether any were.
func (r *Runner) claimFirst(ctx context.Context, shard string, l line, n int) (jobs []claimed, due bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, claimWithin)
	defer cancel()
	orgs, err := waiting(ctx, r.Tenants, shard, l, nil, r.now(), n)
	if err != nil || len(orgs) == 0 {
		return nil, false, err
	}
	jobs, err = claim(ctx, r.Tenants, shard, l, orgs, r.now(), n)
	return jobs, true, err
}

// begin begins a heavy step of a shard where one is due, as soon as the queue has a place.
// Nothing is claimed before, and a shard that does not answer takes no place. ended is
// called once the step has ended.
func (r *Runner) begin(ctx context.Context, shard string, q *queue, ended func()) (next pershard.Next, err error) {
	org, found, err := r.whoseTurn(ctx, shard, q)
	if err != nil || !found || r.ending() {
		return next, err
	}
	select {
	case q.places <- struct{}{}:
	case <-ctx.Done():
		return next, ctx.Err()
	}
	claiming, cancel := context.WithTimeout(ctx, claimWithin)
	defer cancel()
	jobs, err := claim(claiming, r.Tenants, shard, q.line, []id.Org{org}, r.now(), 1)
	if err != nil || len(jobs) == 0 {
		<-q.places
		q.pass(shard, org) // another process was there first, or holds the row
		next.At = time.Now().Add(look)
		return next, err
	}
	q.enter(shard, org)
	work := context.WithoutCancel(ctx)
	r.heavy.Go(func() {
		defer ended()
		defer q.leave(org)
		r.make(work, jobs[0])
	})
	next.More = true
	return next, nil
}

// whoseTurn is the organization of the job of a queue that is begun next on a shard: the
// first that had no turn in this round and has less than its share under way.
func (r *Runner) whoseTurn(ctx context.Context, shard string, q *queue) (org id.Org, found bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, claimWithin)
	defer cancel()
	for {
		full, served := q.but(shard)
		due, err := waiting(ctx, r.Tenants, shard, q.line, append(full, served...), r.now(), 1)
		switch {
		case err != nil:
			return org, false, err
		case len(due) > 0:
			return due[0], true, nil
		case len(served) == 0:
			return org, false, nil
		}
		q.newRound(shard)
	}
}

func (r *Runner) now() time.Time { return r.Clock.Now().UTC().Truncate(time.Microsecond) }

// make makes one step of a job.
func (r *Runner) make(ctx context.Context, c claimed) {
	err := r.step(ctx, c)
	var refused *Refusal
	switch {
	case err == nil:
		r.failures.Delete(c.ID)
	case errors.Is(err, errLost): // whoever has it now goes on
		r.uncount(ctx, c)
	case errors.Is(err, errStopping):
		ctx, cancel := context.WithTimeout(ctx, writeWithin)
		defer cancel()
		if err := c.giveBack(ctx, r.Tenants, r.now()); err != nil {
			r.Log.WarnContext(ctx, "failed to give a job back; its lease runs out", "job", c.ID.String(), "error", err)
		}
	case errors.As(err, &refused):
		if err := r.fail(ctx, c, refused.Code, nil); err != nil {
			r.Log.WarnContext(ctx, "a job that cannot be done waits for its lease to end", "job", c.ID.String(), "error", err)
		}
	default:
		r.Log.WarnContext(ctx, "a job's step failed", "job", c.ID.String(), "error", err)
		r.uncount(ctx, c)
		r.failed(ctx, c, err)
	}
}

func (r *Runner) step(ctx context.Context, c claimed) error {
	step, err := r.ready(ctx, c)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, lease)
	defer cancel()
	return r.Tenants.InTx(ctx, c.Org, func(ctx context.Context, tx *tenant.Tx) error {
		j, err := c.lock(ctx, tx)
		if err != nil {
			return err
		}
		now := r.now()
		j.run(now)
		wait, err := safely(func() (time.Duration, error) { return step(ctx, tx, &j, now) })
		if err != nil {
			return err
		}
		return j.save(ctx, tx, now, now.Add(wait))
	})
}

// ready is the step to make; of a heavy kind it is prepared first.
func (r *Runner) ready(ctx context.Context, c claimed) (Step, error) {
	if work, ok := r.Works[c.Kind]; ok {
		return r.prepare(ctx, c, work)
	}
	if step, ok := r.Steps[c.Kind]; ok {
		return step, nil
	}
	return nil, fmt.Errorf("nothing here makes a job of kind %q", c.Kind)
}

// errPanic says that a step, or what prepares it, panicked.
var errPanic = errors.New("panic")

// safely makes an error of a panic.
func safely[T any](fn func() (T, error)) (value T, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v", errPanic, p)
		}
	}()
	return fn()
}

// uncount takes a step of a heavy job that failed out of its Attempts: what is left there
// are those whose process ended. While the shard does not answer, it is tried again.
func (r *Runner) uncount(ctx context.Context, c claimed) {
	if _, heavy := r.Works[c.Kind]; !heavy || r.uncountOnce(ctx, c) == nil {
		return
	}
	r.heavy.Go(func() {
		for {
			select {
			case <-r.Clock.After(lease):
			case <-r.stopping:
				return
			}
			if r.uncountOnce(ctx, c) == nil {
				return
			}
		}
	})
}

func (r *Runner) uncountOnce(ctx context.Context, c claimed) error {
	ctx, cancel := context.WithTimeout(ctx, writeWithin)
	defer cancel()
	err := c.uncount(ctx, r.Tenants)
	if err != nil && !tenant.Unavailable(err) {
		r.Log.WarnContext(ctx, "failed to uncount a job's step", "job", c.ID.String(), "error", err)
		return nil
	}
	return err
}

// failed leaves a job whose step failed to its lease's end, or gives it up
// after several in a row. What is endless waits longer each time.
func (r *Runner) failed(ctx context.Context, c claimed, why error) {
	own := r.Works[c.Kind].Failures
	count, _ := r.failures.LoadOrStore(c.ID, new(int))
	n, most := count.(*int), maxFailures
	if own == Endless {
		*n++
		r.postpone(ctx, c, min(lease<<min(*n-1, 7), longestPause))
		return
	}
	if own > 0 && !errors.Is(why, errPanic) {
		most = own
	}
	if *n++; *n < most {
		return
	}
	if err := r.fail(ctx, c, "internal_error", r.Works[c.Kind].GiveUp); err != nil {
		r.Log.WarnContext(ctx, "a job cannot be given up yet", "job", c.ID.String(), "error", err)
	}
}

// longestPause bounds the wait between the failures in a row of endless work.
const longestPause = time.Hour

// postpone leaves a claimed job alone for a while. Where that cannot be noted, it is its lease.
func (r *Runner) postpone(ctx context.Context, c claimed, wait time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, writeWithin)
	defer cancel()
	if err := c.postpone(ctx, r.Tenants, r.now().Add(wait)); err != nil && !errors.Is(err, errLost) {
		r.Log.WarnContext(ctx, "failed to postpone a job that fails; its lease runs out", "job", c.ID.String(), "error", err)
	}
}

// fail ends a job for good.
func (r *Runner) fail(ctx context.Context, c claimed, code string, last func(context.Context, *tenant.Tx, *Job, time.Time) error) error {
	ctx, cancel := context.WithTimeout(ctx, writeWithin)
	defer cancel()
	err := r.Tenants.InTx(ctx, c.Org, func(ctx context.Context, tx *tenant.Tx) error {
		j, err := c.lock(ctx, tx)
		if err != nil {
			return err
		}
		now := r.now()
		j.run(now)
		j.State, j.ErrorCode = Failed, code
		if last != nil {
			if err := last(ctx, tx, &j, now); err != nil {
				return err
			}
		}
		return j.save(ctx, tx, now, now)
	})
	if errors.Is(err, errLost) { // and so whoever has it now is to end it
		err = nil
	}
	if err == nil {
		r.failures.Delete(c.ID)
	}
	return err
}
