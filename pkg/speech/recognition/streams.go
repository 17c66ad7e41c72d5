package recognition

import (
	"context"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"visavis.dev/pkg/provider/deepgram"
	"visavis.dev/pkg/provider/upstream"
	"visavis.dev/pkg/speech/queue"
	"visavis.dev/pkg/speech/sound"
)

// Streams recognizes while somebody speaks, over one stream that is opened with the first
// segment and kept while they go on.
type Streams struct {
	Client deepgram.Client
	// Timeout bounds the opening of a stream, and the wait for what is left of a segment
	// that is over.
	Timeout time.Duration
	Calls   upstream.Calls
	Clock   clock.WithTicker
}

const (
	// keepAliveEvery is how often a stream without sound is kept open, and idleFor how
	// long that is done.
	keepAliveEvery = 4 * time.Second
	idleFor        = time.Minute
	// sendWithin is how long a service may take for some sound.
	sendWithin = 3 * time.Second
	// restWithin is how long is waited for the rest of a segment of which something was
	// understood: a service need not answer where nothing is left.
	restWithin = 1200 * time.Millisecond
	// commands bounds what waits for a service that is slow: two seconds of sound.
	commands = 128
)

// Open implements Recognizer.
func (s *Streams) Open(told func(Result)) Ear {
	ctx, cancel := context.WithCancel(context.Background())
	e := &streamer{of: s, told: told, ctx: ctx, cancel: cancel, do: queue.New[func()](commands), heard: make(chan reading, 16)}
	e.running.Go(e.run)
	return e
}

// reading is what a stream said.
type reading struct {
	of     *deepgram.Stream
	result deepgram.Result
	err    error
}

// stretch is a segment of which something is still to come.
type stretch struct {
	segment int
	// begin is where it begins in the stream, and end where it ends, once ended.
	begin time.Duration
	end   time.Duration
	// heard says that the service told something while it was awaited, if only that there
	// are no words.
	heard   bool
	ended   bool
	by      time.Time // when no more is waited for it
	endedAt time.Time
	finals  string
	interim string
	report  func(error, time.Duration)
}

func (s *stretch) text() string { return bounded(joined(s.finals, s.interim)) }

// streamer is an Ear with a goroutine that owns all but do.
type streamer struct {
	of      *Streams
	told    func(Result)
	ctx     context.Context
	cancel  context.CancelFunc
	running sync.WaitGroup
	do      *queue.Queue[func()]
	heard   chan reading

	stream  *deepgram.Stream
	sent    int // samples since the stream was opened
	pending []*stretch
	// open says that the last of pending takes sound.
	open   bool
	usedAt time.Time
	// mute says that the service told nothing of the last segment.
	mute bool
}

// Begin implements Ear.
func (e *streamer) Begin(segment int, language string) {
	e.do.Order(func() { e.begin(segment, language) })
}

// Write implements Ear.
func (e *streamer) Write(samples []int16) {
	samples = append([]int16(nil), samples...)
	e.do.Sound(func() { e.write(samples) }) // unless it is too slow for this sound
}

// End implements Ear.
func (e *streamer) End() { e.do.Order(e.end) }

// Close implements Ear.
func (e *streamer) Close() {
	e.cancel()
	e.running.Wait()
}

func (e *streamer) run() {
	tick := e.of.Clock.NewTicker(restWithin / 4)
	defer tick.Stop()
	defer e.drop()
	var keptAt time.Time
	for {
		select {
		case <-e.do.Wake():
			if fn, ok := e.do.Take(); ok {
				fn()
			}
		case r := <-e.heard:
			e.take(r)
		case <-tick.C():
			e.expire()
			if now := e.of.Clock.Now(); e.stream != nil && !e.open && now.Sub(keptAt) >= keepAliveEvery {
				keptAt = now
				e.keep(now)
			}
		case <-e.ctx.Done():
			for _, s := range e.pending {
				s.report(context.Canceled, 0)
			}
			return
		}
	}
}

func (e *streamer) begin(segment int, language string) {
	e.end() // where that came too late
	s := &stretch{segment: segment}
	var ok bool
	if s.report, ok = e.of.Calls.Allow(); !ok {
		e.tell(Result{Segment: segment, Whole: true, Err: ErrLeftAlone})
		return
	}
	e.usedAt = e.of.Clock.Now()
	if e.stream == nil {
		if err := e.connect(language); err != nil {
			s.report(err, e.of.Clock.Since(e.usedAt))
			e.tell(Result{Segment: segment, Whole: true, Err: failure(err)})
			return
		}
	}
	s.begin = lasts(e.sent)
	e.pending, e.open = append(e.pending, s), true
}

func (e *streamer) connect(language string) error {
	ctx, cancel := context.WithTimeout(e.ctx, e.of.Timeout)
	defer cancel()
	if language == "" {
		language = "multi" // any of those that the service knows at once
	}
	stream, err := e.of.Client.Open(ctx, deepgram.Sound{SampleRate: SampleRate, Language: language})
	if err != nil {
		return err
	}
	e.stream, e.sent = stream, 0
	e.running.Go(func() {
		for {
			r, err := stream.Read(e.ctx)
			select {
			case e.heard <- reading{stream, r, err}:
			case <-e.ctx.Done():
				return
			}
			if err != nil {
				return
			}
		}
	})
	return nil
}

func (e *streamer) write(samples []int16) {
	if !e.open {
		return
	}
	e.sent += len(samples)
	if err := e.within(func(ctx context.Context) error { return e.stream.Send(ctx, sound.PCM(samples)) }); err != nil {
		e.fail(err)
	}
}

func (e *streamer) end() {
	if !e.open {
		return
	}
	e.open = false
	now := e.of.Clock.Now()
	s := e.pending[len(e.pending)-1]
	s.ended, s.end, s.endedAt, s.by, e.usedAt = true, lasts(e.sent), now, now.Add(e.of.Timeout), now
	if s.heard {
		s.by = now.Add(min(restWithin, e.of.Timeout))
	}
	if err := e.within(e.stream.Finalize); err != nil {
		e.fail(err)
	}
}

// take takes what a stream said.
func (e *streamer) take(r reading) {
	if r.of != e.stream {
		return // of one that was given up
	}
	if r.err != nil {
		e.fail(r.err)
		return
	}
	if len(e.pending) > 1 && e.pending[0].ended && r.result.Begin+rounding >= e.pending[0].end {
		e.whole(e.pending[0], nil) // the service said no more of it
	}
	if len(e.pending) == 0 {
		return
	}
	s := e.pending[0]
	if r.result.End <= s.begin+rounding {
		return // late, and of a segment that is over
	}
	s.heard, e.mute = true, false
	if r.result.Final {
		s.finals, s.interim = bounded(joined(s.finals, r.result.Text)), ""
	} else {
		s.interim = bounded(r.result.Text)
	}
	if s.ended && (r.result.Finalized || r.result.Final && r.result.End >= s.end) {
		e.whole(s, nil)
		return
	}
	e.tell(Result{Segment: s.segment, Text: s.text()})
}

// rounding is how roughly a service tells where words are.
const rounding = 10 * time.Millisecond

// unanswered is how long a segment is at most of which a service that works may tell nothing:
// it tells something each second, and need not answer a Finalize that finds nothing left.
const unanswered = time.Second

// expire gives up what is not waited for any more. A service that told nothing at all has
// failed, unless there may have been nothing to tell; not twice in a row.
func (e *streamer) expire() {
	now := e.of.Clock.Now()
	for len(e.pending) > 0 && e.pending[0].ended && !now.Before(e.pending[0].by) {
		s := e.pending[0]
		if !s.heard {
			if e.mute || s.end-s.begin >= unanswered {
				e.fail(upstream.ErrTimeout)
				return
			}
			e.mute = true
			s.report(context.Canceled, 0)
			s.report = func(error, time.Duration) {}
		}
		e.whole(s, nil)
	}
}

// keep keeps a stream open on which nothing is said, for a while.
func (e *streamer) keep(now time.Time) {
	if now.Sub(e.usedAt) > idleFor {
		e.drop()
		return
	}
	if err := e.within(e.stream.KeepAlive); err != nil {
		e.drop() // the next segment opens another one
	}
}

// fail gives up a stream, and all that was still to come of it.
func (e *streamer) fail(err error) {
	e.drop()
	e.open = false
	for len(e.pending) > 0 {
		e.whole(e.pending[0], failure(err))
	}
}

// whole ends the first stretch.
func (e *streamer) whole(s *stretch, err error) {
	e.pending = e.pending[1:]
	took := time.Duration(0)
	if s.ended {
		took = e.of.Clock.Since(s.endedAt)
	}
	s.report(err, took)
	e.tell(Result{Segment: s.segment, Text: s.text(), Whole: true, Err: err})
}

func (e *streamer) drop() {
	if e.stream != nil {
		e.stream.Close()
		e.stream = nil
	}
}

func (e *streamer) tell(r Result) {
	if e.ctx.Err() == nil {
		e.told(r)
	}
}

func (e *streamer) within(fn func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(e.ctx, sendWithin)
	defer cancel()
	return fn(ctx)
}

func joined(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + " " + b
}
