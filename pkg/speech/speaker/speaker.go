// Package speaker is the seam between what is to be said and what can say it: a
// Speaker gives the sound of a sentence as it is made, with the mouth's shapes and the
// words' times. What speaks is in the packages beside it.
package speaker

import (
	"context"
	"errors"
)

// SampleRate is that of all sound, in samples a second: mono, signed 16 bits.
const SampleRate = 24000

// MaxText is the longest text that is spoken at once, in characters.
const MaxText = 2000

// Errors of speakers.
var (
	// ErrUnavailable says that nothing here can speak: nothing is installed.
	ErrUnavailable = errors.New("no speech engine is installed")
	// ErrLanguage says that the language is not spoken.
	ErrLanguage = errors.New("the language is not spoken")
	// ErrBusy says that nothing can speak right now: too much is being spoken already, or
	// what speaks cannot be started.
	ErrBusy = errors.New("nothing can speak right now")
	// ErrFailed says that the sound broke off, or did not come in time.
	ErrFailed = errors.New("the speech engine failed")
)

// Request is a sentence to say.
type Request struct {
	// Text is at most MaxText characters, as people read it.
	Text string
	// Language is a code of the catalogue.
	Language string
	// Voice is the key of a studio voice; one that is not known has the sound of
	// its Gender ("female" or "male").
	Voice, Gender string
	// Accent is the key of an accent that the voice's English has; empty for none.
	Accent string
	// Speed is a factor of the voice's natural pace; 0 is 1.
	Speed float64
	// Pronunciations are how particular words are said in this language.
	Pronunciations []Pronunciation
}

// Pronunciation says how something is said, spelled as it sounds.
type Pronunciation struct{ Text, Say string }

// Chunk is the next piece of a sentence's sound, and what happens in it.
type Chunk struct {
	// Samples are at SampleRate.
	Samples []int16
	Visemes []Viseme
	Words   []Word
}

// Viseme is a shape of the mouth, held until the next one.
type Viseme struct {
	// AtMs is in milliseconds from the first sample of the sentence.
	AtMs int64
	// Shape is one of the Oculus-15, and Weight how far it is made: 0 to 1.
	Shape  string
	Weight float64
}

// Word is something that was spoken as one.
type Word struct {
	// AtMs is in milliseconds from the first sample of the sentence, and LastsMs
	// how long it sounds.
	AtMs, LastsMs int64
	// From and To are what it is of the request's text, in bytes.
	From, To int
}

// Speaker says sentences.
type Speaker interface {
	// Speaks says whether it knows a language.
	Speaks(language string) bool
	// Speak gives the sound to heard, piece by piece, in order; a word is told when
	// it has ended. heard must not wait for anybody. It is called by the caller's
	// goroutine, and its error ends the speech.
	Speak(ctx context.Context, r Request, heard func(Chunk) error) error
}
