// Package recognition is the seam between what visitors say and what writes it down: a
// Recognizer is asked for the words of one stretch of speech after another, here called
// segments. Recordings asks a service that takes a recording at a time, Streams one that
// listens while somebody speaks.
package recognition

import (
	"errors"
	"time"

	"visavis.dev/pkg/provider/upstream"
	"visavis.dev/pkg/speech/vad"
)

// SampleRate is that of all sound, in samples a second: mono, signed 16 bits.
const SampleRate = vad.SampleRate

// ErrLeftAlone says that the service failed again and again and is left alone for a while.
var ErrLeftAlone = errors.New("the recognition is left alone for a while")

// Recognizer writes down what is said.
type Recognizer interface {
	// Open makes what hears one visitor. told takes what was understood; it is called by
	// one goroutine at a time, and must neither wait nor call the ear.
	Open(told func(Result)) Ear
}

// Ear hears one visitor. Its methods are called by one goroutine and never wait.
type Ear interface {
	// Begin begins a segment; the one before has ended. The language is a code of the
	// catalogue, or empty where it is not known.
	Begin(segment int, language string)
	// Write gives the next samples of the segment.
	Write(samples []int16)
	// End ends the segment. A whole Result of it follows, whatever becomes of it.
	End()
	// Close ends all, without another result.
	Close()
}

// Result is what was understood of a segment so far.
type Result struct {
	Segment int
	// Text is all of the segment's words.
	Text string
	// Whole says that this is the last of the segment, and Err why something is missing
	// of it: an upstream.Error or ErrLeftAlone.
	Whole bool
	Err   error
}

// maxText bounds the words of a segment, in characters: more than a minute's of the fastest
// speaker. What a service says beyond is left out.
const maxText = 4000

func bounded(text string) string {
	if len(text) <= maxText {
		return text
	}
	characters := 0
	for at := range text {
		if characters++; characters > maxText {
			return text[:at]
		}
	}
	return text
}

func lasts(samples int) time.Duration { return time.Duration(samples) * time.Second / SampleRate }

// failure is an error as it is told: one of the service.
func failure(err error) error {
	if upstream.CodeOf(err) == "" {
		return &upstream.Error{Code: upstream.Unavailable, Err: err}
	}
	return err
}
