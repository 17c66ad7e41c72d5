package turns

import (
	"sync"
	"time"

	"visavis.dev/pkg/speech/recognition"
)

const (
	// understandsAfter is how late a recognition understands a word that it is told of
	// while it is said, and finishesAfter how long it takes for the rest at the end.
	understandsAfter = 250 * time.Millisecond
	finishesAfter    = 300 * time.Millisecond
	// recordingAfter is how long one takes for a whole recording.
	recordingAfter = 700 * time.Millisecond
	// tells is how often words are told of.
	tells = 100 * time.Millisecond
	// before is how much of the sound before its beginning a segment has.
	before = 500 * time.Millisecond
)

// knowing is a recognition that knows what was said when: the visitor's words, and where
// they said nothing, what the avatar's echo says.
type knowing struct {
	streams bool
	// heard are all words that sounded in the room between two moments.
	heard func(from, to time.Time) []heardWord

	mu     sync.Mutex
	told   func(recognition.Result)
	closed chan struct{}
	all    sync.WaitGroup
	began  map[int]time.Time
	ended  map[int]chan struct{}
	last   int
}

// Open implements recognition.Recognizer.
func (k *knowing) Open(told func(recognition.Result)) recognition.Ear {
	k.told, k.closed = told, make(chan struct{})
	k.began, k.ended = map[int]time.Time{}, map[int]chan struct{}{}
	return k
}

// Begin implements recognition.Ear.
func (k *knowing) Begin(segment int, _ string) {
	began, ended := time.Now().Add(-before), make(chan struct{})
	k.mu.Lock()
	k.last, k.ended[segment] = segment, ended
	k.mu.Unlock()
	k.all.Go(func() {
		for said := ""; k.streams; {
			select {
			case <-time.After(tells):
			case <-ended:
				k.finish(segment, began, finishesAfter)
				return
			case <-k.closed:
				return
			}
			now := time.Now()
			if text := join(k.heard(began, now), now.Add(-understandsAfter)); text != said {
				said = text
				k.tell(recognition.Result{Segment: segment, Text: text})
			}
		}
		select {
		case <-ended:
			k.finish(segment, began, recordingAfter)
		case <-k.closed:
		}
	})
}

func (k *knowing) finish(segment int, began time.Time, takes time.Duration) {
	now := time.Now()
	text := join(k.heard(began, now), now)
	select {
	case <-time.After(takes):
		k.tell(recognition.Result{Segment: segment, Text: text, Whole: true})
	case <-k.closed:
	}
}

func (k *knowing) tell(r recognition.Result) {
	k.mu.Lock()
	defer k.mu.Unlock()
	select {
	case <-k.closed:
	default:
		k.told(r)
	}
}

// Write implements recognition.Ear.
func (k *knowing) Write([]int16) {}

// End implements recognition.Ear.
func (k *knowing) End() {
	k.mu.Lock()
	defer k.mu.Unlock()
	close(k.ended[k.last])
}

// Close implements recognition.Ear.
func (k *knowing) Close() {
	close(k.closed)
	k.all.Wait()
}
