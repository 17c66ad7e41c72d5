package conversation

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/sessions/inbox"
)

func goal(key, prompt string, outputs ...string) persona.Goal {
	return persona.Goal{Key: key, Prompt: prompt, Outputs: outputs, Confirm: "auto", Required: true}
}

func TestGoalsAreAskedForAndFilled(t *testing.T) {
	play(t, func(c *Config) {
		chat(c)
		c.Persona.Greeting = persona.Greeting{Mode: "fixed", Text: map[string]string{"en": "Hello."}}
		mail := goal("mail", "What is your e-mail address?", "email")
		mail.Confirm = "manual"
		c.Persona.Goals = []persona.Goal{goal("name", "What is your name?", "name"), mail}
		c.Persona.Tools = []persona.Tool{{Kind: "lead", Enabled: true}}
	}, func(s *stage) {
		s.send(ClientMessage{Type: ClientReady, Audio: []string{"pcm"}})
		s.expect("notice: ai_notice", "bot: Hello.", "final")
		s.wait(time.Second)
		s.expect("bot: What is your name?", "final")
		s.wait(time.Minute)
		s.expect() // not twice in a row

		s.types("When does the bakery open?") // not an answer
		s.expect("user: When does the bakery open?", builtinHours, "final Opening hours")
		s.wait(time.Second)
		s.expect("bot: What is your name?", "final")

		s.types("I'm Ada Lovelace, nice to meet you")
		s.expect("user: I'm Ada Lovelace, nice to meet you", "bot: Thank you, I have noted that.", "bot: "+bookOf("en").contact,
			"bot: What is your e-mail address?", "final")
		require.Equal(t, map[string]string{"name": "Ada Lovelace"}, s.journal.values)
		require.Empty(t, s.journal.outcome)
		require.Empty(t, s.journal.left)

		s.types("ada@exmaple.com")
		s.expect("user: ada@exmaple.com", "bot: ada@exmaple.com.", "bot: Is that right?", "final")
		s.types("No")
		s.expect("user: No", "bot: What is your e-mail address?", "final")
		s.types("It is ada@example.com.")
		s.expect("user: It is ada@example.com.", "bot: ada@example.com.", "bot: Is that right?", "final")
		require.NotContains(t, s.journal.values, "email")
		s.types("Yes")
		s.expect("user: Yes", "tool: lead completed", "bot: Thank you, I have noted that.", "final")
		require.Equal(t, map[string]string{"name": "Ada Lovelace", "email": "ada@example.com"}, s.journal.values)
		require.Equal(t, "lead", s.journal.outcome)
		require.Len(t, s.lastTurn().ToolCalls, 1)
		require.Len(t, s.journal.left, 1)
		left := s.journal.left[0]
		require.Equal(t, []any{inbox.Lead, "Ada Lovelace", "ada@example.com"}, []any{left.Kind, *left.Contact.Name, *left.Contact.Email})
		require.Equal(t, []any{true, bookOf("en").contact}, []any{left.Contact.Consent.Given, *left.Contact.Consent.Text}, "what they were told before")
		s.wait(time.Minute)
		s.expect()
	})
}

// Who asks something has not told their name, however few their words.
func TestAQuestionIsNobodysName(t *testing.T) {
	play(t, func(c *Config) {
		chat(c)
		c.Persona.Goals = []persona.Goal{goal("name", "What is your name?", "name")}
	}, func(s *stage) {
		s.ready()
		s.types("When does the bakery open?")
		s.wait(time.Second)
		s.heard()
		s.types("Who owns it?")
		s.wait(time.Second)
		require.Empty(t, s.journal.values)
		s.types("Ada")
		require.Equal(t, map[string]string{"name": "Ada"}, s.journal.values)
	})
}

func TestGoalOrder(t *testing.T) {
	third := "c"
	first := goal("a", "A?", "a")
	first.Next = &third
	g := newGoals([]persona.Goal{first, goal("b", "B?", "b"), goal("c", "C?", "c")})
	g.wasAsked()
	require.Nil(t, g.due())
	g.accept(map[string]string{"a": "1"})
	require.Equal(t, "c", g.due().Key)
	g.pursue("b")
	require.Equal(t, "b", g.due().Key)
	g.accept(map[string]string{"b": "1"})
	require.Equal(t, "c", g.due().Key)
	g.accept(map[string]string{"c": "1"})
	require.Nil(t, g.due())

	g = newGoals([]persona.Goal{goal("a", "A?", "a"), goal("b", "B?", "b")})
	g.learn(map[string]string{"a": "1"})
	require.Equal(t, "b", g.due().Key)

	g = newGoals([]persona.Goal{goal("a", "A?", "a"), goal("b", "B?", "b"), goal("c", "C?", "c")})
	g.pursue("b")
	g.learn(map[string]string{"b": "1"})
	require.Equal(t, "c", g.due().Key, "one that was asked for is not asked for again once it is met")

	optional := goal("a", "A?", "a")
	optional.Required = false
	g = newGoals([]persona.Goal{optional})
	g.wasAsked()
	g.asked = false
	require.Nil(t, g.due(), "what is not required is asked for once")

	g = newGoals([]persona.Goal{optional, goal("b", "B?", "b")})
	g.wasAsked()
	g.asked = false
	require.Equal(t, "b", g.due().Key, "and does not keep the next from being asked for")
	g.accept(map[string]string{"b": "1"})
	require.Nil(t, g.due())
	g.pursue("a")
	require.Equal(t, "a", g.due().Key)
}

func TestValues(t *testing.T) {
	for _, test := range []struct{ output, utterance, want string }{
		{"email", "my address is Ada.L+x@example.co.uk, thanks", "Ada.L+x@example.co.uk"},
		{"work_email", "I have none", ""},
		{"phone", "call +49 (40) 123-456 78 tomorrow", "+49 (40) 123-456 78"},
		{"phone", "42", ""},
		{"date", "on 2026-10-05 please", "2026-10-05"},
		{"date", "am 5. Oktober", "5. Oktober"},
		{"appointment_date", "10月5日", "10月5日"},
		{"number_of_guests", "we are 12", "12"},
		{"name", "My name is Ada Lovelace and I ask", "Ada Lovelace"},
		{"name", "ich heiße Änne Öz", "Änne Öz"},
		{"name", "Ada.", "Ada"},
		{"name", "I would like to know your opening hours", ""},
		{"company", "I work at Analytical Engines", "Analytical Engines"},
	} {
		got, found := valueOf(test.output, test.utterance, true)
		require.Equal(t, test.want, got, test.utterance)
		require.Equal(t, test.want != "", found, test.utterance)
	}
}

func TestHandoff(t *testing.T) {
	play(t, func(c *Config) {
		chat(c)
		c.Persona.Tools = []persona.Tool{{Kind: "handoff", Enabled: true}}
	}, func(s *stage) {
		s.ready()
		s.types("Can I speak to a human please?")
		s.expect("user: Can I speak to a human please?", "tool: handoff requested", "notice: handoff_requested",
			"bot: I am asking a person to join us.", "bot: One moment, please.", "final")
		require.Equal(t, "handoff", s.journal.outcome)
		require.Empty(t, s.ended)
	})
}

func TestGuardrails(t *testing.T) {
	own := "We never speak of money."
	for name, test := range map[string]struct {
		rule   persona.Guardrail
		said   string
		want   []string
		reason []string
	}{
		"refuse by a phrase": {persona.Guardrail{Rule: `"politics" or "the elections"`, Action: "refuse"}, "What of THE ELECTION?",
			[]string{"bot: I am sorry, I cannot talk about that.", "final"}, nil},
		"whole words only": {persona.Guardrail{Rule: `"rye"`, Action: "refuse"}, "What is a fryer?",
			[]string{"bot: I am sorry, I do not know that.", "final"}, nil},
		"all words of the matter": {persona.Guardrail{Rule: "Never talk about salaries of employees", Action: "refuse", Message: &own}, "What salary do your employees get?",
			[]string{"bot: We never speak of money.", "final"}, nil},
		"not only some": {persona.Guardrail{Rule: "Never talk about opening accounts", Action: "refuse"}, "When does the bakery open?",
			[]string{builtinHours, "final Opening hours"}, nil},
		"redirect": {persona.Guardrail{Rule: `"politics"`, Action: "redirect"}, "politics!",
			[]string{"bot: I am sorry, I cannot talk about that.", "bot: What is your name?", "final"}, nil},
		"handoff": {persona.Guardrail{Rule: `"lawyer"`, Action: "handoff"}, "My lawyer says",
			[]string{"tool: handoff requested", "notice: handoff_requested", "bot: I am asking a person to join us.", "bot: One moment, please.", "final"}, nil},
		"end": {persona.Guardrail{Rule: `"bomb"`, Action: "end"}, "a bomb",
			[]string{"bot: I am sorry, I cannot talk about that.", "final"}, []string{EndedRule}},
	} {
		t.Run(name, func(t *testing.T) {
			play(t, func(c *Config) {
				chat(c)
				c.Persona.Guardrails = []persona.Guardrail{test.rule}
				c.Persona.Goals = []persona.Goal{goal("name", "What is your name?", "name")}
			}, func(s *stage) {
				s.ready()
				s.types(test.said)
				s.expect(append([]string{"user: " + test.said}, test.want...)...)
				if test.reason != nil {
					require.Equal(t, test.reason, s.over())
				}
			})
		})
	}
}

func TestTheNameOfAnOutputTellsItsKind(t *testing.T) {
	for output, kind := range map[string]string{
		"email": "email", "workEmail": "email", "e_mail": "email", "phone": "phone", "tel": "phone", "Telefonnummer": "phone", "age": "number", "child_age": "number",
		"date": "date", "birthday": "date", "arrivalDay": "date", "Geburtsdatum": "date", "lastName": "name", "partySize": "number",
		"message": "", "language": "", "hotel": "", "package": "", "details": "",
	} {
		require.Equal(t, kind, patternOf(output), output)
	}
}

func TestAYesThatIsTakenBackIsNone(t *testing.T) {
	for said, language := range map[string]string{
		"absolutely not": "en", "yes?": "en", "genau nicht": "de", "oui jamais": "fr", "evet mi": "tr", "对吗": "zh", "not yes": "en",
		"yes, but don't": "en", "yes, without the address": "en", "ano, ale ne": "cs",
	} {
		require.True(t, doubts(language, said), said)
	}
	for said, language := range map[string]string{
		"yes": "en", "yes that is my address": "en", "ja, genau": "de", "oui c'est ça": "fr", "evet": "tr", "对": "zh", "sì certo": "it", "no problem, yes": "en",
	} {
		require.False(t, doubts(language, said), said)
	}
}
