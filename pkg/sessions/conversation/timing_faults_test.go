package conversation

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/sessions/session"
)

const askMail = "bot: What is your e-mail address?"

// withMail has the persona ask for an address after the questions.
func withMail(setup func(*Config)) func(*Config) {
	return func(c *Config) {
		setup(c)
		c.Persona.Goals = append(c.Persona.Goals, goal("mail", "What is your e-mail address?", "email"))
	}
}

// A conversation ends once the persona's own goals are met as well.
func TestItEndsAfterThePersonasGoals(t *testing.T) {
	play(t, withMail(typing(60, 0, 0)), func(s *stage) {
		s.begins()
		s.types("It has rye")
		s.types("It burns wood")
		s.expect("user: It has rye", noted, askOven, "final", "user: It burns wood", noted, askMail, "final")
		s.wait(10 * time.Second)
		s.expect()
		s.types("kim@example.com")
		s.expect("user: kim@example.com", noted, lastOne, "final")
		require.Equal(t, []string{EndedByUser}, s.over())
	})
	ended := noon.Add(-time.Minute)
	turn := func(i int64, by session.Speaker, text string) session.Turn {
		return session.Turn{ID: id.NewTurn(), Index: i, Speaker: by, Text: text, Spoken: text, Language: "en", StartedAt: ended, EndedAt: &ended}
	}
	play(t, withMail(func(c *Config) {
		typing(0, 0, 0)(c)
		c.Session.Collected = map[string]string{bread: "It has rye", oven: "It burns wood"}
		c.Turns = []session.Turn{turn(0, session.User, "It burns wood"), turn(1, session.Avatar, "Thank you, I have noted that. What is your e-mail address?")}
	}), func(s *stage) {
		s.ready()
		s.wait(time.Minute)
		require.Empty(t, s.ended)
		require.NotContains(t, s.heard(), lastOne)
	})
}

// Nothing is said to end it while the avatar is to be mute.
func TestItDoesNotEndWhileItIsMute(t *testing.T) {
	play(t, func(c *Config) {
		typing(0, 0, 0)(c)
		c.Session.Mute, c.Session.Collected = true, map[string]string{bread: "It has rye", oven: "It burns wood"}
		ended := noon.Add(-time.Minute)
		c.Turns = []session.Turn{{ID: id.NewTurn(), Speaker: session.Avatar, Text: "Hello.", Spoken: "Hello.", Language: "en", StartedAt: ended, EndedAt: &ended}}
	}, func(s *stage) {
		s.ready()
		s.wait(time.Minute)
		s.expect()
		require.Empty(t, s.ended)
	})
}

// The last words that wait while a time has run out are the answer, whatever ends the waiting.
func TestTheLastWordsAreKeptWhateverHappens(t *testing.T) {
	colleague := Staff{ID: id.NewStaff(), Name: "Jo", Mode: StaffSpeaks}
	for name, happens := range map[string]func(*stage){
		"the session ends":             func(s *stage) { s.c.Finish("") },
		"the session ends with a word": func(s *stage) { s.c.Finish("That is all.") },
		"the client wants silence":     func(s *stage) { s.send(ClientMessage{Type: Interrupt}) },
		"the owner wants silence":      func(s *stage) { s.c.Steer(Steer{Interrupt: true}) },
		"a team member says something": func(s *stage) { s.c.StaffJoined(colleague); s.c.StaffSaid(colleague.ID, "Hello") },
		"the owner says something":     func(s *stage) { s.c.Say(Say{Text: "Attention.", Interrupt: true, Record: true}) },
	} {
		t.Run(name, func(t *testing.T) {
			play(t, typing(5, 0, 0), func(s *stage) {
				s.begins()
				s.wait(5 * time.Second)
				s.types("It has rye")
				happens(s)
				s.wait(grace + time.Second)
				require.Equal(t, map[string]string{bread: "It has rye"}, s.journal.values)
				require.Equal(t, session.RanOut, s.clockOf("bread").Came)
			})
		})
	}
}

// Words that were not understood when the session ended leave a doubt.
func TestWordsNotUnderstoodAtTheEndLeaveADoubt(t *testing.T) {
	play(t, talking(60, 0, 0), func(s *stage) {
		s.askedAloud()
		s.c.Hear(Heard{Kind: VoiceBegan, Segment: 1})
		s.c.Hear(Heard{Kind: VoiceEnded, Segment: 1})
		s.c.Finish("")
		s.over()
		require.Equal(t, []session.Doubt{session.NotUnderstood}, s.clockOf("bread").Doubts)
	})
}

// Nobody knows since when a client that went away was not heard.
func TestWhoWasAwayMayNotHaveBeenHeard(t *testing.T) {
	lost := []session.Doubt{session.WordsLost}
	play(t, typing(60, 60, 0), func(s *stage) {
		s.begins()
		s.wait(2 * time.Second)
		s.types("It has rye")
		s.wait(10 * time.Second)
		s.c.Present(false)
		s.c.Present(true)
		s.wait(time.Second)
		require.Equal(t, lost, s.clockOf("bread").Doubts)
		require.Equal(t, lost, s.clockOf("oven").Doubts)
	})
	play(t, typing(5, 60, 0), func(s *stage) {
		s.begins()
		s.wait(5*time.Second + grace + unheardFor + time.Second)
		s.c.Present(false)
		s.wait(time.Second)
		require.Empty(t, s.clockOf("bread").Doubts)
		require.Equal(t, lost, s.clockOf("oven").Doubts)
	})
}

// What was taken for words to the question before may have been the answer.
func TestWordsTakenForLateOnesLeaveADoubt(t *testing.T) {
	late := []session.Doubt{session.LateWords}
	t.Run("typed, by a client that does not say to what", func(t *testing.T) {
		play(t, typing(5, 10, 0), func(s *stage) {
			s.begins()
			s.wait(5*time.Second + grace + time.Second)
			s.heard()
			s.types("It burns wood")
			s.expect("user: It burns wood", "notice: late_words", "bot: Could you say that again, please?", "final")
			s.wait(10*time.Second + grace)
			require.Equal(t, session.NoAnswer, s.clockOf("oven").Came)
			require.Equal(t, late, s.clockOf("oven").Doubts)
		})
	})
	t.Run("but not where the client says it", func(t *testing.T) {
		play(t, typing(5, 10, 0), func(s *stage) {
			s.begins()
			s.wait(5*time.Second + grace + time.Second)
			s.send(ClientMessage{Type: UserText, Text: "It has rye", Question: "bread"})
			s.wait(10*time.Second + grace)
			require.Empty(t, s.clockOf("oven").Doubts)
		})
	})
	t.Run("spoken, while the question was asked", func(t *testing.T) {
		play(t, talking(5, 10, 0), func(s *stage) {
			s.askedAloud()
			s.wait(5*time.Second + grace + time.Second)
			s.c.Hear(Heard{Kind: VoiceBegan, Segment: 1})
			s.c.Hear(Heard{Kind: VoiceEnded, Segment: 1})
			s.c.Hear(Heard{Kind: WordsHeard, Segment: 1, Text: "It burns wood", Whole: true})
			s.wait(20 * time.Second)
			require.Equal(t, session.NoAnswer, s.clockOf("oven").Came)
			require.Equal(t, late, s.clockOf("oven").Doubts)
		})
	})
	t.Run("spoken, to what the client says", func(t *testing.T) {
		play(t, talking(5, 10, 0), func(s *stage) {
			s.askedAloud()
			s.wait(5*time.Second + grace + time.Second)
			s.send(ClientMessage{Type: UserTranscript, Text: "It has rye", Final: true, Question: "bread"})
			s.wait(20 * time.Second)
			require.Equal(t, late, s.clockOf("bread").Doubts)
			require.Empty(t, s.clockOf("oven").Doubts)
		})
	})
}

// What is written while a question is still asked is its answer, also where the time of all of them runs out over that.
func TestTheTimeOfAllRunsOutOverAQuestionThatIsBeingAsked(t *testing.T) {
	play(t, talking(5, 0, 8), func(s *stage) {
		s.askedAloud()
		s.wait(5*time.Second + grace + 100*time.Millisecond)
		s.heard()
		require.Equal(t, Speaking, s.state())
		s.send(ClientMessage{Type: UserText, Text: "It burns wood", Question: "oven"})
		for range 100 {
			if s.clockOf("oven").Came != "" {
				break
			}
			s.wait(50 * time.Millisecond)
		}
		require.Equal(t, session.RanOut, s.clockOf("oven").Came)
		require.Equal(t, map[string]string{oven: "It burns wood"}, s.journal.values)
		require.Equal(t, []session.Doubt{session.TooShort}, s.clockOf("oven").Doubts)
	})
}

// Where nothing has a limit, who says that the time is up closes no question.
func TestSayingThatTheTimeIsUpClosesNothing(t *testing.T) {
	ended := noon.Add(-time.Minute)
	turn := func(i int64, by session.Speaker, text string) session.Turn {
		return session.Turn{ID: id.NewTurn(), Index: i, Speaker: by, Text: text, Spoken: text, Language: "en", StartedAt: ended, EndedAt: &ended}
	}
	play(t, func(c *Config) {
		typing(0, 0, 0)(c)
		c.Turns = []session.Turn{
			turn(0, session.Avatar, "Tell me about the bread."), turn(1, session.Avatar, "The time is up."), turn(2, session.User, "It has rye"),
		}
	}, func(s *stage) {
		s.send(ClientMessage{Type: ClientReady, Audio: []string{"pcm"}})
		s.wait(time.Second)
		require.Equal(t, map[string]string{bread: "It has rye"}, s.journal.values)
	})
}

// A question that a process of before has an answer to is not asked again, though the clock says that it was open.
func TestAQuestionThatIsAnsweredIsNotReopened(t *testing.T) {
	play(t, func(c *Config) {
		typing(30, 30, 0)(c)
		c.Session.Clocks.Open, c.Session.Collected = "bread", map[string]string{bread: "It has rye"}
		ended := noon.Add(-time.Minute)
		c.Turns = []session.Turn{{ID: id.NewTurn(), Speaker: session.Avatar, Text: "Hello.", Spoken: "Hello.", Language: "en", StartedAt: ended, EndedAt: &ended}}
	}, func(s *stage) {
		require.Equal(t, "oven", s.c.goals.current().Key)
		require.Empty(t, s.c.timing.put)
	})
}
