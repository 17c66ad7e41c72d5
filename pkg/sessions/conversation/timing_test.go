package conversation

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/sessions/session"
)

const (
	bread, oven = session.AnswerTo + "bread", session.AnswerTo + "oven"
	askBread    = "bot: Tell me about the bread."
	askOven     = "bot: And the oven?"
	timeIsUp    = "bot: The time is up."
	noted       = "bot: Thank you, I have noted that."
	lastOne     = "bot: That was the last question."
)

// talking is a conversation that asks about the bread and the oven, and ends then. limits are in seconds, zero for none.
func talking(breadS, ovenS, allS int64) func(*Config) {
	return func(c *Config) {
		c.Persona.Goals = []persona.Goal{goal("bread", "Tell me about the bread.", bread), goal("oven", "And the oven?", oven)}
		c.Session.Ends, c.Knowledge = true, nil
		c.Session.Clocks = &session.Clocks{DurationS: allS, Questions: map[string]session.Clock{}}
		for key, limit := range map[string]int64{"bread": breadS, "oven": ovenS} {
			if limit > 0 {
				c.Session.Clocks.Questions[key] = session.Clock{LimitS: limit}
			}
		}
	}
}

// typing is talking in a chat.
func typing(breadS, ovenS, allS int64) func(*Config) {
	return func(c *Config) { chat(c); talking(breadS, ovenS, allS)(c) }
}

func (s *stage) begins() {
	s.send(ClientMessage{Type: ClientReady, Audio: []string{"pcm"}})
	s.expect("notice: ai_notice")
	s.wait(goalPause)
	s.expect(askBread, "final")
}

// askedAloud brings a client in that is asked the first question, to its end.
func (s *stage) askedAloud() {
	s.begins()
	for s.state() != Listening {
		s.wait(50 * time.Millisecond)
	}
}

func (s *stage) clockOf(key string) session.Clock {
	synctest.Wait()
	s.journal.mu.Lock()
	defer s.journal.mu.Unlock()
	return s.journal.clocks.Questions[key]
}

// time is what the client was told last of the time.
func (s *stage) time() AnswerTime {
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	var last AnswerTime
	for _, m := range s.messages {
		if a, ok := m.Data.(*AnswerTime); ok {
			last = *a
		}
	}
	return last
}

func TestWhatIsSaidByTheEndIsTheAnswer(t *testing.T) {
	play(t, talking(10, 0, 0), func(s *stage) {
		s.askedAloud()
		require.Equal(t, TimeRunning, s.time().State)
		require.Equal(t, []int64{10, 10_000}, []int64{*s.time().LimitS, *s.time().LeftMs})
		s.wait(7 * time.Second)
		s.send(ClientMessage{Type: UserStartedSpeaking})
		s.send(ClientMessage{Type: UserTranscript, Text: "It has rye", Final: true})
		s.wait(3 * time.Second)
		require.Equal(t, TimeUp, s.time().State)
		s.send(ClientMessage{Type: UserTranscript, Text: "and some salt"})
		s.expect()
		s.wait(grace)
		s.expect("user: It has rye and some salt", timeIsUp, askOven, "final")
		require.Equal(t, map[string]string{bread: "It has rye and some salt"}, s.journal.values)
		require.Equal(t, session.Clock{LimitS: 10, UsedMs: 10_000, Came: session.RanOut}, s.clockOf("bread"))
	})
}

func TestNothingSaidIsNoAnswer(t *testing.T) {
	play(t, typing(5, 5, 0), func(s *stage) {
		s.begins()
		s.wait(5*time.Second + grace)
		s.expect(timeIsUp, askOven, "final")
		require.Equal(t, session.NoAnswer, s.clockOf("bread").Came)
		s.wait(5*time.Second + grace)
		s.expect(timeIsUp, lastOne, "final")
		require.Equal(t, []string{EndedByUser}, s.over())
		require.Equal(t, session.Clock{LimitS: 5, UsedMs: 5000, Came: session.NoAnswer}, s.clockOf("oven"))
		require.Empty(t, s.journal.values)
	})
}

// A draft that a client sends when the time is up is the answer.
func TestWhatIsTypedByTheEndIsTheAnswer(t *testing.T) {
	play(t, typing(5, 0, 0), func(s *stage) {
		s.begins()
		s.wait(5 * time.Second)
		s.send(ClientMessage{Type: UserText, Text: "It has rye", Question: "bread"})
		s.wait(grace)
		s.expect("user: It has rye", timeIsUp, askOven, "final")
		require.Equal(t, map[string]string{bread: "It has rye"}, s.journal.values)
		require.Equal(t, session.RanOut, s.clockOf("bread").Came)
		s.send(ClientMessage{Type: UserText, Text: "It burns wood", Question: "oven"})
		s.expect("user: It burns wood", noted, lastOne, "final")
	})
}

func TestAnAnswerInTime(t *testing.T) {
	play(t, typing(5, 5, 0), func(s *stage) {
		s.begins()
		s.wait(2 * time.Second)
		s.types("It has rye")
		s.expect("user: It has rye", noted, askOven, "final")
		require.Equal(t, session.Clock{LimitS: 5, UsedMs: 2000, Came: session.InTime}, s.clockOf("bread"))
		require.Equal(t, "oven", *s.time().Question)
		require.Equal(t, int64(5000), *s.time().LeftMs)
	})
}

// The clock stands still while nobody could answer.
func TestTheClockStandsStill(t *testing.T) {
	colleague := Staff{ID: id.NewStaff(), Name: "Jo", Mode: StaffTakeover}
	for name, c := range map[string]struct{ stop, start func(*stage) }{
		"without a client":                   {func(s *stage) { s.c.Present(false) }, func(s *stage) { s.c.Present(true) }},
		"while nobody listens":               {func(s *stage) { s.c.Steer(Steer{Listening: new(false)}) }, func(s *stage) { s.c.Steer(Steer{Listening: new(true)}) }},
		"while the avatar is mute":           {func(s *stage) { s.c.Steer(Steer{Mute: new(true)}) }, func(s *stage) { s.c.Steer(Steer{Mute: new(false)}) }},
		"while a person speaks in its place": {func(s *stage) { s.c.StaffJoined(colleague) }, func(s *stage) { s.c.StaffLeft(colleague.ID) }},
	} {
		t.Run(name, func(t *testing.T) {
			play(t, func(config *Config) {
				typing(5, 0, 0)(config)
				config.Persona.Conversation.EndAfterSilenceS, config.Persona.Conversation.IdlePromptS = 60, 30
			}, func(s *stage) {
				s.begins()
				s.wait(3 * time.Second)
				c.stop(s)
				synctest.Wait()
				s.wait(10 * time.Minute)
				require.True(t, s.c.Snapshot().Held, "nobody is idle")
				if name != "while a person speaks in its place" {
					require.Equal(t, TimePaused, s.time().State)
				}
				s.heard()
				c.start(s)
				synctest.Wait()
				s.wait(900 * time.Millisecond)
				s.heard() // asked again, where a person was there
				require.Equal(t, TimeRunning, s.time().State)
				left := *s.time().LeftMs
				require.Equal(t, int64(2000), left)
				s.wait(time.Second)
				require.NotEqual(t, TimeUp, s.time().State)
				s.wait(time.Second)
				require.Contains(t, []string{TimeUp, TimeClosed}, s.time().State)
			})
		})
	}
}

// Who thinks in silence is not idle while there is time, and not asked whether they are there.
func TestWhoThinksIsNotIdle(t *testing.T) {
	play(t, func(c *Config) {
		typing(300, 0, 0)(c)
		c.Persona.Conversation.EndAfterSilenceS, c.Persona.Conversation.IdlePromptS = 60, 20
	}, func(s *stage) {
		s.begins()
		s.wait(4 * time.Minute)
		s.expect()
		require.True(t, s.c.Snapshot().Held)
		s.types("It has rye")
		s.expect("user: It has rye", noted, askOven, "final")
		s.wait(time.Minute)
		require.Contains(t, s.heard(), "notice: idle_warning", "without a limit, they are")
	})
}

// Who asks to hear it again has no new time, and the clock stands still while it is said.
func TestARepetitionGivesNoNewTime(t *testing.T) {
	play(t, talking(10, 0, 0), func(s *stage) {
		s.askedAloud()
		s.wait(4 * time.Second)
		s.says("Could you repeat that?")
		s.expect("user: Could you repeat that?", askBread, "final")
		require.Equal(t, TimePaused, s.time().State)
		left := *s.time().LeftMs
		require.InDelta(t, 5400, left, 200)
		s.wait(time.Second)
		for s.state() != Listening {
			s.wait(50 * time.Millisecond)
		}
		require.Equal(t, TimeRunning, s.time().State)
		require.Equal(t, left, *s.time().LeftMs)
	})
}

// A further question shares the time of the first, and none is asked where next to none is left.
func TestAFollowUpSharesTheTime(t *testing.T) {
	examined := func(c *Config) {
		typing(20, 0, 0)(c)
		c.Examiner = thin{"rye", ""}
	}
	play(t, examined, func(s *stage) {
		s.begins()
		s.wait(8 * time.Second)
		s.types("It is dark")
		s.expect("user: It is dark", "bot: Can you say more about that?", "final")
		require.Equal(t, int64(12_000), *s.c.Snapshot().Time.LeftMs)
		s.wait(12*time.Second + grace)
		s.expect(timeIsUp, askOven, "final")
		require.Equal(t, "It is dark", s.journal.values[bread])
		require.Equal(t, session.RanOut, s.clockOf("bread").Came)
	})
	play(t, examined, func(s *stage) {
		s.begins()
		s.wait(16 * time.Second)
		s.types("It is dark")
		s.expect("user: It is dark", noted, askOven, "final")
	})
}

// What breaks a rule is no answer either where the time ran out over it.
func TestRulesHoldForWhatTheTimeRanOutOver(t *testing.T) {
	for action, want := range map[string][]string{
		"refuse": {"bot: Not that.", "final", timeIsUp, askOven, "final"},
		"end":    {"bot: Not that.", "final"},
	} {
		t.Run(action, func(t *testing.T) {
			play(t, func(c *Config) {
				typing(5, 0, 0)(c)
				c.Persona.Guardrails = []persona.Guardrail{{Key: "poison", Rule: `"poison"`, Action: action, Message: new("Not that.")}}
			}, func(s *stage) {
				s.begins()
				s.wait(5 * time.Second)
				s.types("It has poison in it")
				s.wait(grace)
				s.expect(append([]string{"user: It has poison in it"}, want...)...)
				require.Empty(t, s.journal.values)
				require.Equal(t, session.NoAnswer, s.clockOf("bread").Came)
				require.Equal(t, []session.Doubt{session.Forbidden}, s.clockOf("bread").Doubts)
			})
		})
	}
}

// When the time of all questions has run out, what is said is kept, and the conversation ends.
func TestTheTimeOfAllQuestions(t *testing.T) {
	play(t, typing(0, 0, 30), func(s *stage) {
		s.begins()
		require.Equal(t, AllTime{LimitS: 30, LeftMs: 30_000, Running: true}, *s.time().All)
		s.wait(30 * time.Second)
		require.Equal(t, TimeUp, s.time().State)
		s.types("It has rye")
		s.wait(grace)
		s.expect("user: It has rye", timeIsUp, lastOne, "final")
		require.Equal(t, []string{EndedTime}, s.over())
		require.Equal(t, map[string]string{bread: "It has rye"}, s.journal.values)
		require.Equal(t, session.RanOut, s.clockOf("bread").Came)
		require.Equal(t, session.NeverPut, s.clockOf("oven").Came)
		require.True(t, s.journal.clocks.Over)
	})
}

// What is said when the session ends over a question is its answer.
func TestWhatIsSaidWhenTheSessionEndsIsKept(t *testing.T) {
	play(t, talking(60, 0, 0), func(s *stage) {
		s.askedAloud()
		s.send(ClientMessage{Type: UserTranscript, Text: "It has rye"})
		s.c.Finish("")
		s.over()
		require.Equal(t, map[string]string{bread: "It has rye"}, s.journal.values)
		require.Equal(t, session.InTime, s.clockOf("bread").Came)
	})
}

// A question that the user could not hear is asked again before its time counts.
func TestAQuestionThatWasMissedIsAskedAgain(t *testing.T) {
	play(t, talking(10, 0, 0), func(s *stage) {
		s.begins()
		s.wait(200 * time.Millisecond)
		s.c.Present(false)
		s.wait(20 * time.Second)
		require.NotEqual(t, TimeRunning, s.time().State)
		s.c.Present(true)
		s.wait(time.Second)
		s.expect(askBread, "final")
		for s.state() != Listening {
			s.wait(50 * time.Millisecond)
		}
		require.Equal(t, int64(10_000), *s.time().LeftMs)
	})
}

func TestNothingIsToldWhereNothingHasALimit(t *testing.T) {
	play(t, func(c *Config) { typing(0, 0, 0)(c); c.Session.Clocks = nil }, func(s *stage) {
		s.begins()
		s.types("It has rye")
		s.heard()
		require.Equal(t, AnswerTime{}, s.time())
		require.Nil(t, s.journal.clocks)
		require.Nil(t, s.c.Snapshot().AnswerTime(noon))
	})
}

func TestEveryLanguageSaysThatTheTimeIsUp(t *testing.T) {
	seen := map[string]bool{}
	for code, book := range phrases {
		require.NotEmpty(t, book.timeUp, code)
		require.False(t, seen[book.timeUp], code)
		seen[book.timeUp] = true
	}
}

// What interrupts a question and is not the user has it asked again, before its time counts.
func TestAQuestionThatOthersInterruptIsAskedAgain(t *testing.T) {
	colleague := Staff{ID: id.NewStaff(), Name: "Jo", Mode: StaffSpeaks}
	for name, interrupt := range map[string]func(*stage){
		"the owner's word":       func(s *stage) { s.c.Say(Say{Text: "Attention.", Interrupt: true, Record: true}) },
		"the owner's wish":       func(s *stage) { s.c.Steer(Steer{Interrupt: true}) },
		"a team member's word":   func(s *stage) { s.c.StaffJoined(colleague); s.c.StaffSaid(colleague.ID, "Hello") },
		"a mute, and not so any": func(s *stage) { s.c.Steer(Steer{Mute: new(true)}); s.c.Steer(Steer{Mute: new(false)}) },
	} {
		t.Run(name, func(t *testing.T) {
			play(t, talking(10, 0, 0), func(s *stage) {
				s.begins()
				s.wait(200 * time.Millisecond)
				interrupt(s)
				synctest.Wait()
				s.heard()
				s.wait(4 * time.Second)
				require.Contains(t, s.heard(), askBread)
				for s.state() != Listening {
					s.wait(50 * time.Millisecond)
				}
				require.Equal(t, TimeRunning, s.time().State)
				require.Equal(t, int64(10_000), *s.time().LeftMs)
			})
		})
	}
}
