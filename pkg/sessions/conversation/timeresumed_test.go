package conversation

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/sessions/session"
)

// Another process goes on with the time that is left.
func TestTheTimeGoesOnElsewhere(t *testing.T) {
	var first *stage
	play(t, typing(20, 20, 100), func(s *stage) {
		first = s
		s.begins()
		s.wait(12 * time.Second)
	})
	again := func(c *Config) {
		typing(20, 20, 100)(c)
		c.Session.Clocks, c.Session.Collected, c.Turns = first.journal.clocks, first.journal.values, first.turnsKept()
	}
	play(t, again, func(s *stage) {
		s.wait(time.Hour)
		s.send(ClientMessage{Type: ClientReady, Audio: []string{"pcm"}})
		s.expect("notice: ai_notice")
		require.Equal(t, []int64{20, 8000}, []int64{*s.time().LimitS, *s.time().LeftMs})
		require.InDelta(t, 88_000, s.time().All.LeftMs, 1)
		s.wait(8*time.Second + grace)
		s.expect(timeIsUp, askOven, "final")
		require.Equal(t, session.Clock{LimitS: 20, UsedMs: 20_000, Came: session.NoAnswer, Doubts: []session.Doubt{session.Handed}}, s.clockOf("bread"))
	})
}

// turnsKept are the turns of a play that is over.
func (s *stage) turnsKept() (out []session.Turn) {
	for i := range int64(len(s.journal.kept)) {
		out = append(out, s.journal.kept[i])
	}
	return out
}

// Where a process dies after the last question, the next one ends.
func TestItEndsElsewhereAfterTheLastQuestion(t *testing.T) {
	ended := noon.Add(-time.Minute)
	turn := func(i int64, by session.Speaker, text string) session.Turn {
		return session.Turn{ID: id.NewTurn(), Index: i, Speaker: by, Text: text, Spoken: text, Language: "en", StartedAt: ended, EndedAt: &ended}
	}
	for name, c := range map[string]struct {
		clocks session.Clocks
		values map[string]string
		turns  []session.Turn
		reason string
	}{
		"answered": {
			session.Clocks{Questions: map[string]session.Clock{"bread": {LimitS: 5, Came: session.NoAnswer}, "oven": {LimitS: 5, Came: session.InTime}}},
			map[string]string{oven: "It burns wood"},
			[]session.Turn{turn(0, session.Avatar, "And the oven?"), turn(1, session.User, "It burns wood"), turn(2, session.Avatar, "Thank you, I have noted that.")}, EndedByUser,
		},
		"run out": {
			session.Clocks{Questions: map[string]session.Clock{"bread": {LimitS: 5, Came: session.NoAnswer}, "oven": {LimitS: 5, Came: session.RanOut}}},
			map[string]string{oven: "It burns"},
			[]session.Turn{turn(0, session.Avatar, "And the oven?"), turn(1, session.User, "It burns")}, EndedByUser,
		},
		"all time is over": {
			session.Clocks{DurationS: 30, UsedMs: 30_000, Over: true, Open: "bread", Questions: map[string]session.Clock{}}, map[string]string{},
			[]session.Turn{turn(0, session.Avatar, "Tell me about the bread."), turn(1, session.User, "It has rye")}, EndedTime,
		},
	} {
		t.Run(name, func(t *testing.T) {
			play(t, func(config *Config) {
				typing(0, 0, 0)(config)
				config.Session.Clocks, config.Session.Collected, config.Turns = &c.clocks, c.values, c.turns
			}, func(s *stage) {
				s.send(ClientMessage{Type: ClientReady, Audio: []string{"pcm"}})
				s.wait(grace)
				require.Contains(t, strings.Join(s.heard(), "\n"), lastOne)
				require.Equal(t, []string{c.reason}, s.over())
				if c.reason == EndedTime {
					require.Equal(t, map[string]string{bread: "It has rye"}, s.journal.values)
				}
			})
		})
	}
}

// A process that ends in order leaves exactly the time that is left.
func TestAProcessThatEndsNotesTheTime(t *testing.T) {
	var first *stage
	play(t, talking(60, 0, 0), func(s *stage) {
		first = s
		s.askedAloud()
		s.wait(2500 * time.Millisecond)
	})
	require.Equal(t, session.Clock{LimitS: 60, UsedMs: 2500}, first.journal.clocks.Questions["bread"])
	require.Equal(t, "bread", first.journal.clocks.Open)
}

// What was said to a question that was cut off before a word of it was heard is no answer to the one before,
// whose answer was taken.
func TestWhatIsSaidToAQuestionThatWasCutOff(t *testing.T) {
	ended := noon.Add(-time.Minute)
	turn := func(i int64, by session.Speaker, text, spoken string) session.Turn {
		return session.Turn{
			ID: id.NewTurn(), Index: i, Speaker: by, Text: text, Spoken: spoken, Language: "en", StartedAt: ended, EndedAt: &ended, Interrupted: text != spoken,
		}
	}
	for open, want := range map[string]map[string]string{
		"oven": {bread: "It has rye", oven: "It burns wood"},
		"":     {bread: "It has rye"}, // it was not noted that it was put
	} {
		t.Run(open, func(t *testing.T) {
			play(t, func(config *Config) {
				typing(20, 20, 0)(config)
				config.Session.Clocks = &session.Clocks{Open: open, Questions: map[string]session.Clock{
					"bread": {LimitS: 20, UsedMs: 5000, Came: session.InTime}, "oven": {LimitS: 20},
				}}
				config.Session.Collected = map[string]string{bread: "It has rye"}
				config.Turns = []session.Turn{
					turn(0, session.Avatar, "Tell me about the bread.", "Tell me about the bread."), turn(1, session.User, "It has rye", "It has rye"),
					turn(2, session.Avatar, "Thank you, I have noted that. And the oven?", ""), turn(3, session.User, "It burns wood", "It burns wood"),
				}
			}, func(s *stage) {
				s.send(ClientMessage{Type: ClientReady, Audio: []string{"pcm"}})
				s.wait(grace)
				for key, value := range want {
					require.Equal(t, value, s.journal.values[key])
				}
				require.NotContains(t, s.journal.values[bread], "wood")
			})
		})
	}
}
