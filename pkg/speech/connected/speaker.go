// Package connected speaks by a service that an organization connected, while its sound
// comes. Where the service is slow, fails or answers no sound, what is built in says the
// sentence, or the rest of it.
//
// A service that does not tell when it says what is followed by its sound (follow.go): how
// the words of the sentence are to each other is known of what is built in (plan.go).
package connected

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
	"unicode/utf8"

	"k8s.io/utils/clock"

	"visavis.dev/pkg/provider/model"
	"visavis.dev/pkg/provider/synthesis"
	"visavis.dev/pkg/provider/upstream"
	"visavis.dev/pkg/speech/speaker"
	"visavis.dev/pkg/speech/spoken"
)

// ErrLeftAlone says that the service failed and is left alone for a while.
var ErrLeftAlone = errors.New("the service is left alone for a while")

// Service says a text.
type Service interface {
	// Speak gives the sound to heard while it comes, in the caller's goroutine, and ends with
	// heard's error. The errors are upstream's otherwise, or context.Canceled.
	Speak(ctx context.Context, r synthesis.Request, heard func(synthesis.Piece) error) error
}

// By is what spoke.
type By string

// What speaks.
const (
	Builtin    By = "builtin"
	Connection By = "connection"
)

const (
	// SoonEnough is how long somebody who listens waits for the first sound of a sentence.
	SoonEnough = 2 * time.Second
	// behind is how far the sound may be behind its playing before the service has stalled.
	behind = 1500 * time.Millisecond
	// patience is how often a conversation waits in vain before it leaves the service alone.
	patience = 1
)

// Options are what a speaker works with.
type Options struct {
	Service Service
	// Voice is the voice's name at the service.
	Voice string
	// Languages are those that the service speaks, as codes of the catalogue; nil for any.
	Languages []string
	// Builtin speaks where the service does not; nil for nobody.
	Builtin speaker.Speaker
	// Only says that nobody speaks in the service's place.
	Only bool
	// First is how long is waited for the first sound.
	First time.Duration
	Calls upstream.Calls
	Clock clock.WithDelayedExecution
}

// Speaker implements speaker.Speaker, for one conversation or one request.
type Speaker struct {
	o        Options
	patience *model.Breaker

	mu sync.Mutex
	// pace is how much faster the service speaks than what is built in; 0 before it is known.
	pace float64
}

// New makes a speaker.
func New(o Options) *Speaker {
	s := &Speaker{o: o}
	if !o.Only {
		s.patience = model.NewBreaker(patience, o.Clock)
	}
	return s
}

// Speaks implements speaker.Speaker.
func (s *Speaker) Speaks(language string) bool { return s.asks(language) || s.knows(language) }

// asks says whether the service is asked for a language.
func (s *Speaker) asks(language string) bool {
	return s.o.Languages == nil || slices.Contains(s.o.Languages, language)
}

// knows says whether what is built in speaks a language.
func (s *Speaker) knows(language string) bool {
	return s.o.Builtin != nil && s.o.Builtin.Speaks(language)
}

// Speak implements speaker.Speaker.
func (s *Speaker) Speak(ctx context.Context, r speaker.Request, heard func(speaker.Chunk) error) error {
	_, err := s.Say(ctx, r, heard)
	return err
}

// Say is Speak, and answers what spoke last.
func (s *Speaker) Say(ctx context.Context, r speaker.Request, heard func(speaker.Chunk) error) (By, error) {
	if utf8.RuneCountInString(r.Text) > speaker.MaxText {
		return Connection, fmt.Errorf("%w: a sentence has more than %d characters", speaker.ErrFailed, speaker.MaxText)
	}
	if !s.asks(r.Language) {
		if !s.knows(r.Language) {
			return Builtin, speaker.ErrLanguage
		}
		return Builtin, s.o.Builtin.Speak(ctx, r, heard)
	}
	text := spoken.Of(r.Text, r.Language, r.Pronunciations)
	if text.Said == "" {
		return Connection, nil
	}
	report, ok := s.allow()
	if !ok {
		return s.instead(ctx, r, heard, ErrLeftAlone)
	}
	u := s.begin(ctx, r, text, heard)
	took, err := u.ask(ctx)
	report(err, took)
	if err == nil || u.refused != nil || ctx.Err() != nil {
		return Connection, err
	}
	return u.rest(ctx, err)
}

// allow says whether the service may be asked now, in this conversation and in any.
func (s *Speaker) allow() (report func(error, time.Duration), ok bool) {
	call, ok := s.patience.Allow()
	if !ok {
		return nil, false
	}
	told, ok := s.o.Calls.Allow()
	if !ok {
		call.Abandon()
		return nil, false
	}
	return func(err error, took time.Duration) {
		if err != nil && upstream.CodeOf(err) == "" {
			err = context.Canceled // nobody listens any more
			call.Abandon()
		} else {
			call.Report(err)
		}
		told(err, took)
	}, true
}

// instead has what is built in say a text, after the service did not.
func (s *Speaker) instead(ctx context.Context, r speaker.Request, heard func(speaker.Chunk) error, why error) (By, error) {
	if s.o.Only || !s.knows(r.Language) {
		return Connection, fmt.Errorf("%w: %w", speaker.ErrFailed, why)
	}
	return Builtin, s.o.Builtin.Speak(ctx, r, heard)
}

// learn takes how much faster than planned a sentence was said.
func (s *Speaker) learn(pace float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pace > 0 {
		pace = (s.pace + pace) / 2
	}
	s.pace = min(max(pace, slowestPace), fastestPace)
}

func (s *Speaker) paced() float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return cmp.Or(s.pace, 1)
}

// The paces that are believed of a service, as factors of what is built in.
const (
	slowestPace = 0.5
	fastestPace = 2
)
