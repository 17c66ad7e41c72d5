package recognition

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"visavis.dev/pkg/provider/transcription"
	"visavis.dev/pkg/provider/upstream"
	"visavis.dev/pkg/speech/sound"
)

// Recordings recognizes segment by segment, once each is over.
type Recordings struct {
	Client transcription.Client
	// Timeout bounds one request.
	Timeout time.Duration
	Calls   upstream.Calls
	Clock   clock.PassiveClock
}

// Open implements Recognizer.
func (r *Recordings) Open(told func(Result)) Ear {
	ctx, cancel := context.WithCancel(context.Background())
	return &recorder{of: r, told: told, ctx: ctx, cancel: cancel}
}

// atOnce bounds the requests of one visitor that are under way.
const atOnce = 4

// recorder is an Ear that gathers a segment and then sends it.
type recorder struct {
	of       *Recordings
	told     func(Result)
	ctx      context.Context
	cancel   context.CancelFunc
	requests sync.WaitGroup

	segment  int
	language string
	samples  []int16

	mu     sync.Mutex // of told, and what is below
	asking int
}

// Begin implements Ear.
func (e *recorder) Begin(segment int, language string) {
	e.segment, e.language, e.samples = segment, language, nil
}

// Write implements Ear.
func (e *recorder) Write(samples []int16) { e.samples = append(e.samples, samples...) }

// End implements Ear.
func (e *recorder) End() {
	segment, language, samples := e.segment, e.language, e.samples
	e.samples = nil
	if lasts(len(samples)) < shortest {
		e.requests.Go(func() { e.tell(Result{Segment: segment, Whole: true}) })
		return
	}
	var report func(error, time.Duration)
	ok := e.mayAsk()
	if ok {
		if report, ok = e.of.Calls.Allow(); !ok {
			e.asked()
		}
	}
	if !ok {
		e.requests.Go(func() { e.tell(Result{Segment: segment, Whole: true, Err: ErrLeftAlone}) })
		return
	}
	e.requests.Go(func() {
		defer e.asked()
		ctx, cancel := context.WithTimeout(e.ctx, e.of.Timeout)
		defer cancel()
		began := e.of.Clock.Now()
		text, err := e.of.Client.Transcribe(ctx, sound.WAV(SampleRate, samples), primary(language))
		if refusesRecording(err) {
			report(context.Canceled, e.of.Clock.Since(began))
		} else {
			report(err, e.of.Clock.Since(began))
		}
		if err != nil {
			err = failure(err)
		}
		e.tell(Result{Segment: segment, Text: bounded(text), Whole: true, Err: err})
	})
}

// shortest is the shortest recording that a service is asked about: there is no word in less,
// and services refuse it.
const shortest = 250 * time.Millisecond

// refusesRecording says that a service works, and would not have this recording: a visitor's
// noise is not to switch it off for everybody.
func refusesRecording(err error) bool {
	switch upstream.StatusOf(err) {
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
		return true
	}
	return false
}

func (e *recorder) mayAsk() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.asking >= atOnce {
		return false
	}
	e.asking++
	return true
}

func (e *recorder) asked() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.asking--
}

func (e *recorder) tell(r Result) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.ctx.Err() == nil {
		e.told(r)
	}
}

// Close implements Ear.
func (e *recorder) Close() {
	e.cancel()
	e.requests.Wait()
}

// primary is a language without region and script: "pt" of "pt-BR".
func primary(language string) string {
	code, _, _ := strings.Cut(language, "-")
	return strings.ToLower(code)
}
