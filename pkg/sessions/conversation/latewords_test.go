package conversation

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/sessions/session"
)

// Words that come too late answer no other question. They are kept, and leave a doubt.
func TestLateWordsAnswerNothing(t *testing.T) {
	t.Run("typed, by a client that says to what", func(t *testing.T) {
		play(t, typing(5, 0, 0), func(s *stage) {
			s.begins()
			s.wait(5*time.Second + grace)
			s.expect(timeIsUp, askOven, "final")
			s.wait(time.Minute)
			s.send(ClientMessage{Type: UserText, Text: "It has rye", Question: "bread"})
			s.expect("user: It has rye", "notice: late_words")
			require.Empty(t, s.journal.values)
			require.Equal(t, []session.Doubt{session.LateWords}, s.clockOf("bread").Doubts)
			s.send(ClientMessage{Type: UserText, Text: "It burns wood", Question: "oven"})
			s.expect("user: It burns wood", noted, lastOne, "final")
			require.Equal(t, map[string]string{oven: "It burns wood"}, s.journal.values)
		})
	})
	t.Run("typed, by another", func(t *testing.T) {
		play(t, typing(5, 0, 0), func(s *stage) {
			s.begins()
			s.wait(5*time.Second + grace + time.Second)
			s.expect(timeIsUp, askOven, "final")
			s.types("It has rye")
			s.expect("user: It has rye", "notice: late_words", "bot: Could you say that again, please?", "final")
			require.Empty(t, s.journal.values)
		})
	})
	t.Run("but what is typed to a question that is being asked is its answer", func(t *testing.T) {
		play(t, talking(5, 0, 0), func(s *stage) {
			s.askedAloud()
			s.wait(5*time.Second + grace)
			s.expect(timeIsUp, askOven, "final")
			require.Equal(t, []string{"oven", TimePaused}, []string{*s.time().Question, s.time().State})
			s.send(ClientMessage{Type: UserText, Text: "It burns wood", Question: "oven"})
			s.wait(5 * time.Second)
			s.expect("user: It burns wood", noted, lastOne, "final")
			require.Equal(t, map[string]string{oven: "It burns wood"}, s.journal.values)
			require.Empty(t, s.clockOf("bread").Doubts)
		})
	})
	t.Run("understood by the client", func(t *testing.T) {
		play(t, talking(5, 0, 0), func(s *stage) {
			s.askedAloud()
			s.wait(4 * time.Second)
			s.send(ClientMessage{Type: UserStartedSpeaking})
			s.send(ClientMessage{Type: UserTranscript, Text: "It has"})
			s.wait(time.Second + grace)
			s.heard()
			s.send(ClientMessage{Type: UserTranscript, Text: "It has rye", Final: true})
			s.wait(8 * time.Second)
			require.Equal(t, map[string]string{bread: "It has"}, s.journal.values)
			require.Equal(t, []session.Doubt{session.LateWords}, s.clockOf("bread").Doubts)
			require.Empty(t, s.clockOf("oven").Came)
		})
	})
	t.Run("understood by the server", func(t *testing.T) {
		play(t, talking(5, 0, 0), func(s *stage) {
			s.askedAloud()
			s.wait(4 * time.Second)
			s.c.Hear(Heard{Kind: VoiceBegan, Segment: 1})
			s.c.Hear(Heard{Kind: WordsHeard, Segment: 1, Text: "It has"})
			s.wait(time.Second + grace)
			require.Equal(t, "It has", s.journal.values[bread])
			require.Equal(t, []session.Doubt{session.NotUnderstood}, s.clockOf("bread").Doubts, "until all words are there")
			s.c.Hear(Heard{Kind: WordsHeard, Segment: 1, Text: "It has rye", Whole: true})
			s.wait(time.Second)
			require.Equal(t, []session.Doubt{session.LateWords}, s.clockOf("bread").Doubts)
			require.Equal(t, map[string]string{bread: "It has"}, s.journal.values)
		})
	})
	t.Run("that add nothing", func(t *testing.T) {
		play(t, talking(5, 0, 0), func(s *stage) {
			s.askedAloud()
			s.wait(4 * time.Second)
			s.c.Hear(Heard{Kind: VoiceBegan, Segment: 1})
			s.c.Hear(Heard{Kind: WordsHeard, Segment: 1, Text: "It has rye"})
			s.wait(time.Second + grace)
			s.c.Hear(Heard{Kind: WordsHeard, Segment: 1, Text: "It has rye.", Whole: true})
			s.wait(30 * time.Second)
			require.Empty(t, s.clockOf("bread").Doubts)
		})
	})
	t.Run("that never come", func(t *testing.T) {
		play(t, talking(5, 0, 0), func(s *stage) {
			s.askedAloud()
			s.wait(4 * time.Second)
			s.c.Hear(Heard{Kind: VoiceBegan, Segment: 1})
			s.wait(time.Second + grace + wordsWithin + time.Second)
			require.Equal(t, session.Clock{LimitS: 5, UsedMs: 5000, Came: session.NoAnswer, Doubts: []session.Doubt{session.NotUnderstood}}, s.clockOf("bread"))
		})
	})
	t.Run("begun before the next question was heard", func(t *testing.T) {
		play(t, talking(5, 0, 0), func(s *stage) {
			s.askedAloud()
			s.wait(5*time.Second + grace)
			s.heard()
			s.wait(500 * time.Millisecond)
			s.c.Hear(Heard{Kind: VoiceBegan, Segment: 1})
			s.c.Hear(Heard{Kind: WordsHeard, Segment: 1, Text: "It has rye, and I like it very much"})
			s.wait(8 * time.Second)
			s.c.Hear(Heard{Kind: VoiceEnded, Segment: 1})
			s.c.Hear(Heard{Kind: WordsHeard, Segment: 1, Text: "It has rye, and I like it very much", Whole: true})
			s.wait(2 * time.Second)
			s.expect("user: It has rye, and I like it very much", "notice: late_words", "bot: Could you say that again, please?", "final")
			require.Empty(t, s.journal.values)
		})
	})
}

func TestAFailedRecognitionLeavesADoubt(t *testing.T) {
	play(t, talking(60, 0, 0), func(s *stage) {
		s.askedAloud()
		s.c.Hear(Heard{Kind: VoiceBegan, Segment: 1})
		s.c.Hear(Heard{Kind: VoiceEnded, Segment: 1})
		s.c.Hear(Heard{Kind: WordsHeard, Segment: 1, Whole: true, Failed: true})
		s.wait(time.Second)
		s.types("It has rye")
		require.Equal(t, session.InTime, s.clockOf("bread").Came)
		require.Equal(t, []session.Doubt{session.NotUnderstood}, s.clockOf("bread").Doubts)
	})
}

// A rule that ends the conversation does so for words that come late as well.
func TestRulesHoldForLateWords(t *testing.T) {
	play(t, func(c *Config) {
		typing(5, 0, 0)(c)
		c.Persona.Guardrails = []persona.Guardrail{{Key: "poison", Rule: `"poison"`, Action: actEnd, Message: new("Not that.")}}
	}, func(s *stage) {
		s.begins()
		s.wait(5*time.Second + grace)
		s.heard()
		s.send(ClientMessage{Type: UserText, Text: "It has poison in it", Question: "bread"})
		s.expect("user: It has poison in it", "notice: late_words", "bot: Not that.", "final")
		require.Equal(t, []string{EndedRule}, s.over())
	})
}
