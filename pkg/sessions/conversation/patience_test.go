package conversation

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/provider/model"
	"visavis.dev/pkg/text/answer"
)

const moment = "bot: One moment, please."

func hang(ctx context.Context, _ func(string) error) error { <-ctx.Done(); return ctx.Err() }

// late is a model that writes an answer after a while of the stage's.
func late(s **stage, after time.Duration, pieces ...string) *scribe {
	return &scribe{stream: func(ctx context.Context, each func(string) error) error {
		timer := (*s).clock.NewTimer(after)
		defer timer.Stop()
		select {
		case <-timer.C():
		case <-ctx.Done():
			return ctx.Err()
		}
		return writes(pieces...).stream(ctx, each)
	}}
}

func spoken(m *scribe) func(*Config) {
	return func(c *Config) { c.Model, c.Persona.Model.TimeoutMs = m, 2500 }
}

// A model that hangs costs a visitor two and a half seconds once, and not in silence: then
// the built-in engine answers, and at once for a while.
func TestAModelThatHangsIsOvertaken(t *testing.T) {
	const question = "When does the bakery open?"
	m := &scribe{stream: hang}
	play(t, spoken(m), func(s *stage) {
		s.ready()
		s.types(question)
		s.expect("user: " + question)
		s.wait(950 * time.Millisecond)
		s.expect()
		s.wait(50 * time.Millisecond)
		s.expect(moment)
		require.Equal(t, Speaking, s.state())
		s.wait(1450 * time.Millisecond)
		s.expect()
		s.wait(50 * time.Millisecond)
		s.expect(builtinHours, "final Opening hours")
		require.Equal(t, "One moment, please. "+builtinHours[len("bot: "):], s.lastTurn().Text, "it is one turn")
		require.EqualValues(t, 2500, s.lastTurn().Timing.ResponseMs, "one moment is no answer")
		require.Len(t, s.turns(), 2)
		s.wait(8 * time.Second)
		s.heard()

		s.types("What does delivery cost?")
		s.expect("user: What does delivery cost?", "bot: Delivery costs 4.90 euros.", "final Delivery")
		require.Len(t, m.asked, 1, "it is left alone for a while")
		s.wait(10 * time.Second)
		s.heard()

		m.stream = writes("We open at seven [1].").stream
		s.types(question)
		s.expect("user: "+question, "bot: We open at seven.", "final Opening hours")
		require.Len(t, m.asked, 2, "and then tried again")
	})
}

func TestOneMomentIsAskedForInTheVisitorsLanguage(t *testing.T) {
	for _, language := range answer.Languages() {
		play(t, func(c *Config) { spoken(&scribe{stream: hang})(c); c.Session.Language = language }, func(s *stage) {
			s.ready()
			s.types("Sauerteig, sourdough 5000")
			s.wait(time.Second)
			heard := s.heard()
			require.Equal(t, "bot: "+bookOf(language).moment, heard[len(heard)-1], language)
		})
	}
}

func TestOneMomentIsAskedForWhereItIsNeeded(t *testing.T) {
	const question = "When does the bakery open?"
	for name, c := range map[string]struct {
		after  time.Duration
		change func(*Config)
		want   []string
	}{
		"in time":   {900 * time.Millisecond, nil, []string{"bot: We open at seven.", "final Opening hours"}},
		"late":      {1500 * time.Millisecond, nil, []string{moment, "bot: We open at seven.", "final Opening hours"}},
		"in a chat": {1500 * time.Millisecond, chat, []string{"bot: We open at seven.", "final Opening hours"}},
		"a greeting": {1500 * time.Millisecond, func(c *Config) { c.Persona.Greeting = persona.Greeting{Mode: "generated"} },
			[]string{moment, "bot: We open at seven.", "final Opening hours"}},
		"nobody else may answer": {time.Hour, func(c *Config) { c.ModelOnly = true }, []string{moment, "error: upstream_error", "interrupted: One moment, please."}},
	} {
		t.Run(name, func(t *testing.T) {
			var on *stage
			play(t, func(config *Config) {
				spoken(late(&on, c.after, "We open at seven [1]."))(config)
				if c.change != nil {
					c.change(config)
				}
			}, func(s *stage) {
				on = s
				s.types(question)
				s.send(ClientMessage{Type: ClientReady, Audio: []string{"pcm"}})
				s.wait(2500 * time.Millisecond)
				s.expect(append([]string{"notice: ai_notice", "user: " + question}, c.want...)...)
			})
		})
	}
}

// Asking for one moment answers nothing: who speaks up meanwhile adds to the question, and
// neither the model nor who asks to hear it again is told of it.
func TestOneMomentIsNoAnswer(t *testing.T) {
	var on *stage
	m := late(&on, 1500*time.Millisecond, "We open at seven [1].")
	play(t, spoken(m), func(s *stage) {
		on = s
		s.ready()
		s.types("When does the bakery open?")
		s.wait(1200 * time.Millisecond)
		s.expect("user: When does the bakery open?", moment)
		s.types("On Saturdays, I mean.")
		s.expect("interrupted: ", "user: On Saturdays, I mean.")
		s.wait(2 * time.Second)
		s.expect(moment, "bot: We open at seven.", "final Opening hours")
		asked := m.asked[1].Messages
		require.Equal(t, "When does the bakery open? On Saturdays, I mean.", asked[len(asked)-1].Content)
		for _, message := range asked {
			require.NotContains(t, message.Content, "One moment")
		}
		s.wait(10 * time.Second)
		s.heard()
		s.types("Can you repeat that?")
		s.expect("user: Can you repeat that?", "bot: We open at seven.", "final")
	})
}

// The conversations of a connection learn from one another that its model is away.
func TestAModelThatIsAwayIsLeftAloneByAll(t *testing.T) {
	var breaker *model.Breaker
	for n := range 4 {
		m := &scribe{stream: func(context.Context, func(string) error) error { return model.ErrUnavailable }}
		play(t, func(c *Config) {
			withModel(m)(c)
			if breaker == nil {
				breaker = model.NewBreaker(3, c.Clock)
			}
			c.ModelBreaker = breaker
		}, func(s *stage) {
			s.ready()
			s.types("When does the bakery open?")
			s.expect("user: When does the bakery open?", builtinHours, "final Opening hours")
		})
		require.Len(t, m.asked, map[bool]int{true: 1}[n < 3], "conversation %d", n)
	}
}
