package conversation

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/text/answer"
)

// Who asks whom to talk to about a matter is told whom the packs name, and handed off only where
// they name nobody.
func TestWhomToTalkTo(t *testing.T) {
	house := anyWords{
		passage("Privacy", "Our data protection officer is Tom Quirke, privacy@ledger.example."),
		passage("Billing", "Bills are sent on the first of the month."),
	}
	set := func(config *Config) {
		config.Knowledge, config.Persona.Tools = house, []persona.Tool{{Kind: handoff, Enabled: true}}
	}
	r, err := asked(t, "Who can I talk to about data protection?", set)
	require.NoError(t, err)
	require.Contains(t, r.Text, "Tom Quirke")
	require.Equal(t, ActAnswer, r.Act)

	for _, text := range []string{"Can I talk to someone about the weather?", "Can I speak to a human?"} {
		r, err = asked(t, text, set)
		require.NoError(t, err)
		require.Equal(t, ActHandoff, r.Act, text)
		require.Contains(t, r.Text, bookOf("en").handoff, text)
	}
}

// Who is hurt is told where first aid is, besides whom to call.
func TestFirstAidIsTold(t *testing.T) {
	b := builtinBrain(anyWords{
		passage("Services", "The first aid kit is at the front desk. Towels cost 4 euros."),
		passage("Pool", "The pool is open from 9 to 19."),
	})
	text, _ := answered(t, b, Question{Text: "I cut my hand", Language: "en", danger: true})
	require.Contains(t, text, "first aid kit is at the front desk")
	require.Contains(t, text, answer.Say("en", "emergency"))
	require.NotContains(t, text, "Towels")
}

// What others pay is no answer to what somebody of an age pays, and a sentence of several ages says
// that of the thing that is asked about.
func TestAgesInAnswers(t *testing.T) {
	now := time.Date(2026, 11, 18, 10, 30, 0, 0, time.UTC)
	b := builtinBrain(anyWords{passage("Prices", "Children under 3 stay free of charge. From 3 to 11 years an extra bed costs 18 euros a night. Dogs cost 6 euros a day.")})
	text, gap := answered(t, b, Question{Text: "How much for my 7-year-old?", Language: "en", Now: now})
	require.False(t, gap, text)
	require.Contains(t, text, "18 euros")
	require.NotContains(t, text, "free of charge")

	b = builtinBrain(anyWords{passage("Cards", "From 12 years on they get a cash card; from 16 years on, a debit card.")})
	text, _ = answered(t, b, Question{Text: "Can my 14-year-old son get a debit card?", Language: "en", Now: now})
	require.Contains(t, text, answer.Say("en", "no"))
}

// The hours of the day that is asked about answer when it closes, not the day that is closed.
func TestWhenItClosesOnADay(t *testing.T) {
	b := builtinBrain(anyWords{{Title: "Yard", Heading: "Opening hours", Text: "Day: Monday; Hours: closed\nDay: Tuesday to Thursday; Hours: 3 pm – 11 pm\nDay: Friday; Hours: 3 pm – 1 am"}})
	text, gap := answered(t, b, Question{Text: "what time do you close today?", Language: "en", Now: time.Date(2026, 11, 18, 16, 30, 0, 0, time.UTC)})
	require.False(t, gap, text)
	require.Contains(t, text, "11 pm")
	require.NotContains(t, text, "Monday")
}
