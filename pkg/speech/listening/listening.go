// Package listening listens to one visitor: it finds where they speak in the sound that
// comes, has that recognized, and tells of both. No sound is kept longer than it takes to
// be recognized.
package listening

import (
	"errors"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"visavis.dev/pkg/speech/queue"
	"visavis.dev/pkg/speech/recognition"
	"visavis.dev/pkg/speech/vad"
)

// SampleRate is that of the sound, in samples a second: mono, signed 16 bits.
const SampleRate = recognition.SampleRate

// ErrTooMuch says that more was spoken than a session may have recognized.
var ErrTooMuch = errors.New("the session has spoken for as long as any may")

const (
	// preroll is how much of what came before speech was found is recognized with it.
	preroll = 400 * time.Millisecond
	// longest is how long a segment is at most: services take no longer ones well.
	longest = 28 * time.Second
	// waiting bounds the frames that wait to be judged: two seconds of them.
	waiting = 100
	// ahead is how much faster than time sound may come: a client that was held up sends
	// what it has at once.
	ahead = 4 * time.Second
	// silentFor is how long a microphone that was heard may send nothing before what it
	// said is over.
	silentFor = 600 * time.Millisecond
)

// Kind is what an event tells.
type Kind int

// The kinds. Began and Ended are of the voice; Words are what was understood of a segment,
// which may be more than one stretch of voice; Failed says that nothing more is understood.
// A voice that outlasts a segment Began again in the next one, without having Ended.
const (
	Began Kind = iota
	Ended
	Words
	Failed
)

// Event is something that was heard.
type Event struct {
	Kind Kind
	// Segment is the one that the voice or the words are of.
	Segment int
	// Ago is how long ago the voice began or ended.
	Ago time.Duration
	// Text are the words of the segment so far; Whole says that no more come, and Err why
	// something is missing, or why it Failed.
	Text  string
	Whole bool
	Err   error
}

// Options are what a listener works with.
type Options struct {
	Recognizer recognition.Recognizer
	// Language is a code of the catalogue; it is asked for each segment.
	Language func() string
	// Playing is how loud what the avatar says is where the visitor is, of 1, and 0 while
	// it says nothing; nil where that is not known.
	Playing func() float64
	// Told hears what happens, in order. It must not wait.
	Told func(Event)
	// Pressed says that speech is what comes between Press and Release, rather than what
	// sounds like it.
	Pressed bool
	// Pause is how long a silence ends a segment; vad.Hangover where it is less, and where
	// it was spoken over the avatar.
	Pause time.Duration
	// Most is how much speech is recognized in all; 0 for any.
	Most  time.Duration
	Clock clock.WithTicker
}

// Listener listens to one visitor. Its methods never wait, but for Close.
type Listener struct {
	o       Options
	in      *queue.Queue[any]
	stop    chan struct{}
	closing sync.Once
	running sync.WaitGroup
	tell    sync.Mutex
}

type (
	press   struct{}
	release struct{}
)

// New makes a listener. It must be closed.
func New(o Options) *Listener {
	l := &Listener{o: o, in: queue.New[any](waiting), stop: make(chan struct{})}
	l.running.Go(l.run)
	return l
}

// Hear takes the next samples. What comes faster than it can be judged is left out.
func (l *Listener) Hear(samples []int16) { l.in.Sound(samples) }

// Press says that what comes is speech, where Options.Pressed.
func (l *Listener) Press() { l.in.Order(press{}) }

// Release says that nothing more comes for now: what was said is over.
func (l *Listener) Release() { l.in.Order(release{}) }

// Stop has nothing more told, but for what is being told. Close ends the listener then.
func (l *Listener) Stop() { l.closing.Do(func() { close(l.stop) }) }

// Close ends the listener, and waits for its recognizer; nothing is told any more once it
// returns.
func (l *Listener) Close() {
	l.Stop()
	l.running.Wait()
}

func (l *Listener) told(e Event) {
	l.tell.Lock()
	defer l.tell.Unlock()
	select {
	case <-l.stop:
	default:
		l.o.Told(e)
	}
}

// run owns all that is heard.
func (l *Listener) run() {
	ear := l.o.Recognizer.Open(func(r recognition.Result) {
		l.told(Event{Kind: Words, Segment: r.Segment, Text: r.Text, Whole: r.Whole, Err: r.Err})
	})
	defer ear.Close()
	h := &hearing{Listener: l, ear: ear, detector: vad.New(), began: l.o.Clock.Now()}
	h.pause = max(l.o.Pause, vad.Hangover)
	tick := l.o.Clock.NewTicker(silentFor / 2)
	defer tick.Stop()
	for {
		select {
		case <-l.in.Wake():
			if what, ok := l.in.Take(); ok {
				h.take(what)
			}
		case <-tick.C():
			if (h.speaking || h.open) && !l.o.Pressed && l.o.Clock.Since(h.cameAt) > silentFor {
				h.release()
			}
		case <-l.stop:
			return
		}
	}
}
