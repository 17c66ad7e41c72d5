package conversation

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"

	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/sessions/session"
)

// counter is a persona at the bakery's counter, whose clock stands still.
func counter(change func(*Config)) Config {
	message := "Of that I do not speak."
	c := Config{
		Session: Facts{Language: "en"}, PersonaName: "Mia", Knowledge: bakery, Clock: clocktesting.NewFakeClock(noon),
		Persona: persona.Definition{
			Greeting:   persona.Greeting{Mode: "fixed", Text: map[string]string{"en": "Hello, {{guest}}."}},
			Knowledge:  persona.Knowledge{Mode: "strict", Cite: true},
			Model:      persona.Model{MaxTokens: 300, TimeoutMs: 3000},
			Settings:   persona.Settings{Language: "en", Speed: 1},
			Goals:      []persona.Goal{goal("name", "What is your name?", "name"), goal("mail", "What is your e-mail address?", "email")},
			Tools:      []persona.Tool{{Kind: "lead", Enabled: true}, {Kind: "end_session", Enabled: true}},
			Guardrails: []persona.Guardrail{{Key: "law", Rule: `"lawsuit"`, Action: "refuse", Message: &message}},
		},
	}
	c.Session.Variables = map[string]string{"guest": "Ada"}
	if change != nil {
		change(&c)
	}
	return c
}

// said are the turns as a script writes them.
func said(r Rehearsal) (lines []string) {
	for _, t := range r.Turns {
		lines = append(lines, string(t.Speaker)+": "+t.Text)
	}
	return lines
}

// A rehearsal says what a session would, and waits for nobody.
func TestRehearse(t *testing.T) {
	r := Rehearse(t.Context(), counter(nil), []string{
		"When does the bakery open?", "Can I file a lawsuit?", "Who invented the telephone?", "I'm Ada Lovelace", "ada@example.com", "Goodbye!", "Too late",
	})
	require.Equal(t, []string{
		"avatar: Hello, Ada.",
		"avatar: What is your name?",
		"user: When does the bakery open?",
		"avatar: The bakery opens at 7 in the morning from Monday to Saturday.",
		"avatar: What is your name?",
		"user: Can I file a lawsuit?",
		"avatar: Of that I do not speak.",
		"user: Who invented the telephone?",
		"avatar: " + bookOf("en").dontKnow,
		"avatar: What is your name?",
		"user: I'm Ada Lovelace",
		"avatar: Thank you, I have noted that. " + bookOf("en").contact + " What is your e-mail address?",
		"user: ada@example.com",
		"avatar: Thank you, I have noted that.",
		"user: Goodbye!",
		"avatar: " + bookOf("en").closing,
	}, said(r))
	for i, turn := range r.Turns {
		require.EqualValues(t, i, turn.Index)
		require.NotNil(t, turn.EndedAt)
		require.False(t, turn.Interrupted)
	}
	require.True(t, *r.Turns[3].Grounded)
	require.Equal(t, session.Greeting, r.Turns[0].Origin)
	require.Equal(t, map[string]bool{"name": true, "mail": true}, r.Met)
	require.Equal(t, map[string]string{"name": "Ada Lovelace", "email": "ada@example.com"}, r.Values)
	require.Equal(t, []ToolUse{{"lead", "completed"}, {"end_session", "completed"}}, r.Tools)
	require.Equal(t, []RuleKept{{"law", "refuse", 6}}, r.Rules)
	require.Equal(t, []any{int64(1), "lead", EndedByUser, "en"}, []any{r.Gaps, r.Outcome, r.EndReason, r.Language})
}

// What a session asks in its own time is said in a rehearsal too, in the same order.
func TestARehearsalIsASession(t *testing.T) {
	lines := []string{"When does the bakery open?", "I'm Ada", "Can I file a lawsuit?", "ada@example.com", "Thanks"}
	var live []string
	play(t, func(c *Config) {
		journal, send, end, clock := c.Journal, c.Send, c.End, c.Clock
		*c = counter(nil)
		c.Journal, c.Send, c.End, c.Clock, c.Session.Channel = journal, send, end, clock, Chat
	}, func(s *stage) {
		s.send(ClientMessage{Type: ClientReady})
		s.wait(time.Second)
		for _, line := range lines {
			s.types(line)
			s.wait(time.Second)
		}
		for _, turn := range s.turns() {
			live = append(live, string(turn.Speaker)+": "+turn.Text)
		}
	})
	require.Equal(t, live, said(Rehearse(t.Context(), counter(nil), lines)))
}

func TestRehearseWithAModel(t *testing.T) {
	plain := func(c *Config) { c.Persona.Goals, c.Persona.Greeting = nil, persona.Greeting{Mode: "none"} }
	r := Rehearse(t.Context(), counter(func(c *Config) {
		plain(c)
		c.Model = writes("At seven [1]. ", "File a lawsuit! ", "Never said.")
	}), []string{"When does the bakery open?"})
	require.Equal(t, []string{"user: When does the bakery open?", "avatar: At seven.", "avatar: Of that I do not speak."}, said(r))
	require.Equal(t, []RuleKept{{"law", "refuse", 2}}, r.Rules, "which the model broke")

	r = Rehearse(t.Context(), counter(func(c *Config) {
		plain(c)
		c.Model = &scribe{stream: func(context.Context, func(string) error) error { return errBroken }}
		c.ModelOnly = true
	}), []string{"When does the bakery open?", "Hello?"})
	require.Equal(t, []string{"user: When does the bakery open?"}, said(r))
	require.Equal(t, EndedModel, r.EndReason)
}

// A model that says nothing is waited for as long as the persona allows, once, and no
// rehearsal outlives its context.
func TestARehearsalIsBounded(t *testing.T) {
	silent := func(c *Config) {
		c.Persona.Goals, c.Clock = nil, clock.RealClock{}
		c.Model = &scribe{stream: func(ctx context.Context, _ func(string) error) error {
			<-ctx.Done()
			return ctx.Err()
		}}
	}
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		r := Rehearse(t.Context(), counter(silent), []string{"When does the bakery open?", "When does the bakery open?"})
		require.Equal(t, 3*time.Second, time.Since(began))
		require.Len(t, r.Turns, 5, "the built-in brain answers")

		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		began = time.Now()
		r = Rehearse(ctx, counter(silent), []string{"When does the bakery open?", "When does the bakery open?"})
		require.Equal(t, 2*time.Second, time.Since(began))
		require.Len(t, r.Turns, 2, "what was said until then")
		require.Empty(t, r.EndReason)
	})
}
