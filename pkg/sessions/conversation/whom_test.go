package conversation

import (
	"strings"
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

// Who wishes to talk to somebody about something is handed off at once, whatever the packs say of it;
// two capitals and an address of a page are nobody to turn to.
func TestSomebodyToTalkToAboutAThing(t *testing.T) {
	house := anyWords{passage("Passes", "The Silver Pass costs 120 euros. Buy the Silver Pass at https://house.example/pass today.")}
	set := func(config *Config) {
		config.Knowledge, config.Persona.Tools = house, []persona.Tool{{Kind: handoff, Enabled: true}}
	}
	for _, text := range []string{"Can I talk to someone about the Silver Pass?", "Who can I talk to about the Silver Pass?"} {
		r, err := asked(t, text, set)
		require.NoError(t, err)
		require.Equal(t, ActHandoff, r.Act, text)
		require.NotContains(t, r.Text, "120", text)
		play(t, func(c *Config) { chat(c); set(c) }, func(s *stage) {
			s.ready()
			s.types(text)
			s.wait(time.Second)
			s.expect("user: "+text, "tool: handoff requested", "notice: handoff_requested", "bot: I am asking a person to join us.", "bot: One moment, please.", "final")
		})
	}
}

// The wish for somebody to turn to is not lost where the packs cannot be searched, or not in time.
func TestWhomToTalkToIsNotLost(t *testing.T) {
	const text = "Who can I talk to about data protection?"
	for _, err := range []error{errBroken, nil} {
		play(t, func(c *Config) {
			chat(c)
			c.Knowledge, c.Persona.Tools = failing{err}, []persona.Tool{{Kind: handoff, Enabled: true}}
		}, func(s *stage) {
			s.ready()
			s.types(text)
			s.wait(20 * time.Second)
			s.expect("user: "+text, "tool: handoff requested", "notice: handoff_requested", "bot: I am asking a person to join us.", "bot: One moment, please.", "final")
			require.Empty(t, s.c.unanswered)
			require.Equal(t, Listening, s.state())
		})
		play(t, func(c *Config) { chat(c); c.Knowledge = failing{err} }, func(s *stage) { // and nobody can be asked to join
			s.ready()
			s.types(text)
			s.wait(40 * time.Second)
			s.expect("user: "+text, "bot: "+bookOf("en").dontKnow, "final")
			require.Empty(t, s.c.unanswered)
		})
	}
	r, err := asked(t, text, func(c *Config) {
		c.Knowledge, c.Persona.Tools = failing{errBroken}, []persona.Tool{{Kind: handoff, Enabled: true}}
	})
	require.NoError(t, err)
	require.Equal(t, ActHandoff, r.Act)
}

// Who goes on talking while it is looked for is answered all that was said.
func TestWhomToTalkToWhileTheVisitorGoesOn(t *testing.T) {
	play(t, func(c *Config) {
		c.Knowledge, c.Persona.Tools = failing{nil}, []persona.Tool{{Kind: handoff, Enabled: true}}
	}, func(s *stage) {
		s.ready()
		s.says("Who can I talk to about data protection?")
		require.NotNil(t, s.c.thought)
		require.Len(t, s.c.unanswered, 1)
		s.says("It is about my own data.")
		require.Len(t, s.c.unanswered, 2)
		s.wait(20 * time.Second)
		require.Empty(t, s.c.unanswered)
		require.NotEmpty(t, s.heard())
	})
}

// Who is hurt is told where first aid is, after whom to call.
func TestFirstAidIsTold(t *testing.T) {
	for language, c := range map[string]struct{ text, kit, call string }{
		"en": {"I cut my hand and it is bleeding", "The first aid kit is at the front desk.", "In an emergency call 112."},
		"de": {"meine Tochter hat sich verbrannt", "Der Verbandkasten hängt am Empfang.", "Im Notfall 112 anrufen."},
		"fr": {"il est tombé et il saigne", "La trousse de secours est à l'accueil.", "En cas d'urgence, appelez le 112."},
		"pl": {"skaleczyłem się w rękę", "Apteczka jest w recepcji.", "Numer alarmowy: 112."},
	} {
		b := builtinBrain(anyWords{passage("Services", c.kit+" "+c.call)})
		text, _ := answered(t, b, Question{Text: c.text, Language: language, danger: true})
		at, alarm, aid := strings.Index(text, c.call), strings.Index(text, answer.Say(language, "emergency")), strings.Index(text, c.kit)
		require.Zero(t, at, text)
		require.Positive(t, alarm, text)
		require.Greater(t, aid, alarm, text)
	}
	b := builtinBrain(anyWords{passage("Services", "The first aid kit is at the front desk. Towels cost 4 euros.")})
	text, _ := answered(t, b, Question{Text: "I cut my hand", Language: "en", danger: true})
	require.Contains(t, text, "first aid kit is at the front desk")
	require.NotContains(t, text, "Towels")
}

// Who is in danger of another kind is told whom to call, and nothing of first aid before it; nor is
// a sentence with a word of injury, or plaster on a ceiling, first aid.
func TestFirstAidIsNoAnswerToEveryDanger(t *testing.T) {
	for _, c := range []struct{ language, text, aid string }{
		{"en", "I want to kill myself", "The first aid kit is at the front desk."},
		{"en", "there is a fire", "The first aid station is on the first floor."},
		{"en", "there is a man with a gun", "First aiders are on site every day."},
		{"en", "he collapsed and does not respond", "First aid training costs 40 euros."},
		{"en", "I cut my hand and it is bleeding", "The plaster on the ceiling dates from 1890."},
		{"de", "ich will mich umbringen", "Der Verbandkasten hängt am Empfang."},
		{"de", "es brennt im Keller", "Sanitäter sind vor Ort."},
		{"de", "mein Mann ist bewusstlos", "Ersthelfer ist Jens Vogt."},
		{"de", "meine Tochter hat sich verbrannt", "Verletzungen durch Dritte sind mitversichert."},
		{"fr", "je veux me suicider", "La trousse de secours est à l'accueil."},
		{"fr", "il y a le feu dans la cuisine", "L'infirmerie est au rez-de-chaussée."},
		{"es", "quiero suicidarme", "El botiquín está en recepción."},
		{"es", "un hombre con una pistola", "La enfermería está en la planta baja."},
		{"it", "c'è un incendio", "La cassetta di pronto soccorso è alla reception."},
		{"nl", "hij is bewusteloos", "De verbanddoos hangt bij de balie."},
		{"pl", "chcę się zabić", "Apteczka jest w recepcji."},
		{"pt", "há um incêndio", "A caixa de primeiros socorros está na receção."},
		{"tr", "yangın var", "İlk yardım çantası resepsiyonda."},
		{"zh", "着火了", "急救箱在前台。"},
		{"ja", "火事です", "救急箱は受付にあります。"},
		{"ar", "هناك حريق", "حقيبة الإسعافات الأولية في الاستقبال."},
	} {
		b := builtinBrain(anyWords{passage("House", c.aid), passage("Pool", "The pool is open from 9 to 19.")})
		text, _ := answered(t, b, Question{Text: c.text, Language: c.language, danger: true})
		require.Equal(t, answer.Say(c.language, "emergency"), text, c.text)
	}
	b := builtinBrain(anyWords{passage("House", "First aiders and emergencies: 0123 456 7890."), passage("Pool", "The pool is open from 9 to 19.")})
	text, _ := answered(t, b, Question{Text: "he collapsed and does not respond", Language: "en", danger: true})
	require.Equal(t, answer.Say("en", "emergency")+" First aiders and emergencies: 0123 456 7890.", text)
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
