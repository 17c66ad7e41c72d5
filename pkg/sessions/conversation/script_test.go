package conversation

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/sessions/session"
)

func chat(c *Config) { c.Session.Channel = Chat }

func TestAnswerInAChat(t *testing.T) {
	play(t, chat, func(s *stage) {
		s.ready()
		s.types("When does the bakery open?")
		s.expect("user: When does the bakery open?",
			"bot: The bakery opens at 7 in the morning from Monday to Saturday.", "final Opening hours")
		turns := s.turns()
		require.Len(t, turns, 2)
		require.Equal(t, turns[1].Text, turns[1].Spoken)
		require.True(t, *turns[1].Grounded)
		require.Len(t, turns[1].Sources, 1)
		require.EqualValues(t, 0, turns[1].Timing.ResponseMs)

		s.types("Who invented the telephone?")
		s.expect("user: Who invented the telephone?", "bot: I am sorry, I do not know that.", "final")
		require.Equal(t, []string{"Who invented the telephone?"}, s.journal.gaps)
		require.False(t, *s.lastTurn().Grounded)
		require.Equal(t, Listening, s.state())
	})
}

// Who comes again, as after a page is loaded again, is told how it stands, though nothing has changed.
func TestWhoComesAgainIsToldTheState(t *testing.T) {
	play(t, chat, func(s *stage) {
		s.ready()
		require.Equal(t, Listening, s.state())
		s.mu.Lock()
		s.messages, s.told = nil, 0
		s.mu.Unlock()
		s.send(ClientMessage{Type: ClientReady})
		require.Equal(t, Listening, s.state())
	})
}

func TestGreeting(t *testing.T) {
	hello := map[string]string{"en": "Hello {{ guest }}!", "pt": "Olá {{guest}}!"}
	own := "Ahoy."
	for name, test := range map[string]struct {
		greeting persona.Greeting
		language string
		session  *string
		want     []string
	}{
		"fixed":             {persona.Greeting{Mode: "fixed", Text: hello}, "en", nil, []string{"bot: Hello Ada!", "final"}},
		"base language":     {persona.Greeting{Mode: "fixed", Text: hello}, "pt-BR", nil, []string{"bot: Olá Ada!", "final"}},
		"english otherwise": {persona.Greeting{Mode: "fixed", Text: hello}, "de", nil, []string{"bot: Hello Ada!", "final"}},
		"generated, built in": {persona.Greeting{Mode: "generated"}, "de", nil,
			[]string{"bot: Guten Tag, ich bin Mia.", "bot: Wie kann ich Ihnen helfen?", "final"}},
		"none":          {persona.Greeting{Mode: "none"}, "en", nil, nil},
		"the session's": {persona.Greeting{Mode: "fixed", Text: hello}, "en", &own, []string{"bot: Ahoy.", "final"}},
	} {
		t.Run(name, func(t *testing.T) {
			play(t, func(c *Config) {
				chat(c)
				c.Persona.Greeting, c.Session.Language, c.Session.Greeting = test.greeting, test.language, test.session
				c.Session.Variables = map[string]string{"guest": "Ada"}
			}, func(s *stage) {
				s.send(ClientMessage{Type: ClientReady, Audio: []string{"pcm"}})
				s.expect(append([]string{"notice: ai_notice"}, test.want...)...)
				s.send(ClientMessage{Type: ClientReady, Audio: []string{"pcm"}})
				s.expect() // once
			})
		})
	}
}

// A session that is opened without a greeting goes on to its questions all the same.
func TestQuestionsAreAskedWithoutAGreeting(t *testing.T) {
	for name, own := range map[string]string{"empty": "", "of nothing": "{{nobody}}"} {
		t.Run(name, func(t *testing.T) {
			play(t, func(c *Config) {
				chat(c)
				c.Persona.Goals = []persona.Goal{goal("bread", "Tell me about the bread.", "bread")}
				c.Persona.Greeting, c.Session.Greeting = persona.Greeting{Mode: "generated"}, &own
			}, func(s *stage) {
				s.send(ClientMessage{Type: ClientReady, Audio: []string{"pcm"}})
				s.expect("notice: ai_notice")
				s.wait(10 * time.Second)
				s.expect("bot: Tell me about the bread.", "final")
			})
		})
	}
}

func TestSpokenDisclosureComesFirst(t *testing.T) {
	play(t, func(c *Config) {
		chat(c)
		c.Persona.Disclosure = persona.Disclosure{Spoken: true, Text: map[string]string{"en": "{{persona}} is an AI."}}
		c.Persona.Greeting = persona.Greeting{Mode: "fixed", Text: map[string]string{"en": "Hello."}}
	}, func(s *stage) {
		s.send(ClientMessage{Type: ClientReady, Audio: []string{"pcm"}})
		s.expect("notice: ai_notice", "bot: Mia is an AI.", "final", "bot: Hello.", "final")
	})
}

func TestSpokenTurnEndsWhenPlayed(t *testing.T) {
	play(t, nil, func(s *stage) {
		s.ready()
		s.says("When does the bakery open?")
		s.expect("user: When does the bakery open?",
			"bot: The bakery opens at 7 in the morning from Monday to Saturday.", "final Opening hours")
		require.Equal(t, Speaking, s.state())
		require.Nil(t, s.lastTurn().EndedAt)
		require.True(t, s.c.Snapshot().Speaking)
		s.wait(6 * time.Second)
		require.NotNil(t, s.lastTurn().EndedAt)
		require.False(t, s.lastTurn().Interrupted)
		require.Equal(t, Listening, s.state())
		require.Equal(t, Activity{LastAt: *s.lastTurn().EndedAt, Turns: 2, Language: "en", State: Listening}, s.c.Snapshot())
	})
}

func TestInterruptionKeepsWhatWasHeard(t *testing.T) {
	play(t, nil, func(s *stage) {
		s.ready()
		s.says("When does the bakery open?")
		s.heard()
		s.wait(time.Second)
		s.send(ClientMessage{Type: Interrupt})
		s.expect("interrupted: The bakery")
		turn := s.lastTurn()
		require.True(t, turn.Interrupted)
		require.Equal(t, "The bakery", turn.Spoken)
		require.Contains(t, turn.Text, "Saturday.")

		// The client's own count comes late, and wins.
		s.send(ClientMessage{Type: Playback, Turn: turn.ID, PlayedMs: 1400})
		require.Equal(t, "The bakery opens", s.lastTurn().Spoken)
		s.send(ClientMessage{Type: Playback, Turn: id.NewTurn(), PlayedMs: 1})
		s.expect()
	})
}

func TestPlaybackReportsWin(t *testing.T) {
	play(t, nil, func(s *stage) {
		s.ready()
		s.says("When does the bakery open?")
		s.heard()
		turn := s.lastTurn().ID
		s.send(ClientMessage{Type: Playback, Turn: turn, PlayedMs: 500})
		s.wait(3 * time.Second)
		s.types("stop")
		require.Equal(t, "The", s.turns()[1].Spoken)

		s.says("When does the bakery open?")
		s.send(ClientMessage{Type: Playback, Turn: s.lastTurn().ID, PlayedMs: 60_000})
		s.wait(50 * time.Millisecond)
		require.NotNil(t, s.lastTurn().EndedAt, "all of it was played")
	})
}

func TestSpeakingOver(t *testing.T) {
	start := ClientMessage{Type: UserStartedSpeaking}
	for name, test := range map[string]struct {
		level    string
		words    int64
		act      func(*stage)
		silenced bool
	}{
		"high: a moment's sound": {"high", 0, func(s *stage) { s.send(start); s.wait(250 * time.Millisecond) }, true},
		"medium: not yet":        {"medium", 0, func(s *stage) { s.send(start); s.wait(400 * time.Millisecond) }, false},
		"medium: half a second":  {"medium", 0, func(s *stage) { s.send(start); s.wait(550 * time.Millisecond) }, true},
		"low: a word":            {"low", 0, func(s *stage) { s.send(start); s.send(ClientMessage{Type: UserTranscript, Text: "wait"}) }, true},
		"low: too few words":     {"low", 2, func(s *stage) { s.send(start); s.send(ClientMessage{Type: UserTranscript, Text: "why"}) }, false},
		"low: enough words":      {"low", 2, func(s *stage) { s.send(start); s.send(ClientMessage{Type: UserTranscript, Text: "why that"}) }, true},
		"low: to stop":           {"low", 5, func(s *stage) { s.send(start); s.send(ClientMessage{Type: UserTranscript, Text: "wait"}) }, true},
		"high: assent":           {"high", 0, func(s *stage) { s.send(ClientMessage{Type: UserTranscript, Text: "yeah, okay"}) }, false},
		"off: words": {"off", 0, func(s *stage) {
			s.send(start)
			s.send(ClientMessage{Type: UserTranscript, Text: "wait a moment", Final: true})
		}, false},
		"off: typed words":          {"off", 0, func(s *stage) { s.types("wait") }, false},
		"low: typed words":          {"low", 5, func(s *stage) { s.types("wait") }, true},
		"off: the client's command": {"off", 0, func(s *stage) { s.send(ClientMessage{Type: Interrupt}) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			play(t, func(c *Config) {
				c.Persona.Conversation.Interruptible, c.Persona.Conversation.MinInterruptWords = test.level, test.words
			}, func(s *stage) {
				s.ready()
				s.says("When does the bakery open?")
				test.act(s)
				require.Equal(t, test.silenced, s.turns()[1].Interrupted)
			})
		})
	}
}

func TestBackchannelIsKeptAndNotAnswered(t *testing.T) {
	play(t, func(c *Config) {
		c.Persona.Conversation.Interruptible, c.Persona.Conversation.MinInterruptWords = "low", 2
	}, func(s *stage) {
		s.ready()
		s.says("When does the bakery open?")
		s.heard()
		s.says("yeah")
		s.expect("user: yeah")
		s.wait(10 * time.Second)
		s.expect()
		require.Len(t, s.turns(), 3)
		require.False(t, s.turns()[1].Interrupted)
	})
}

func TestUninterruptedIsAnsweredAfter(t *testing.T) {
	play(t, func(c *Config) { c.Persona.Conversation.Interruptible = "off" }, func(s *stage) {
		s.ready()
		s.says("When does the bakery open?")
		s.heard()
		s.says("What does delivery cost?")
		s.expect("user: What does delivery cost?")
		s.wait(5 * time.Second)
		s.expect("bot: Delivery costs 4.90 euros.", "final Delivery")
	})
}

func TestFinalsWithinThePauseAreOneTurn(t *testing.T) {
	play(t, nil, func(s *stage) {
		s.ready()
		s.send(ClientMessage{Type: UserTranscript, Text: "What does", Final: true})
		s.wait(400 * time.Millisecond)
		s.send(ClientMessage{Type: UserTranscript, Text: "delivery", Final: false})
		s.wait(400 * time.Millisecond)
		s.send(ClientMessage{Type: UserTranscript, Text: "delivery cost?", Final: true})
		s.wait(500 * time.Millisecond)
		s.expect()
		s.wait(100 * time.Millisecond)
		s.expect("user: What does delivery cost?", "bot: Delivery costs 4.90 euros.", "final Delivery")
	})
}

func TestNoiseIsNoTurn(t *testing.T) {
	play(t, nil, func(s *stage) {
		s.ready()
		s.send(ClientMessage{Type: UserStartedSpeaking})
		require.True(t, s.c.Snapshot().Hearing)
		s.send(ClientMessage{Type: UserStoppedSpeaking})
		s.wait(2 * time.Second)
		s.expect()
		require.Empty(t, s.turns())
	})
}

func TestPushToTalk(t *testing.T) {
	play(t, func(c *Config) { c.Persona.Conversation.PushToTalk = true }, func(s *stage) {
		s.ready()
		s.send(ClientMessage{Type: UserTranscript, Text: "somebody else", Final: true})
		s.wait(2 * time.Second)
		s.expect()
		s.send(ClientMessage{Type: UserStartedSpeaking})
		s.send(ClientMessage{Type: UserTranscript, Text: "What does delivery", Final: true})
		s.wait(3 * time.Second)
		s.expect()
		s.send(ClientMessage{Type: UserStoppedSpeaking})
		s.send(ClientMessage{Type: UserTranscript, Text: "cost?", Final: true})
		s.wait(600 * time.Millisecond)
		s.expect("user: What does delivery cost?", "bot: Delivery costs 4.90 euros.", "final Delivery")
	})
}

func TestAUserWhoNeverPauses(t *testing.T) {
	play(t, func(c *Config) { c.Persona.Conversation.MaxTurnS = 5 }, func(s *stage) {
		s.ready()
		s.send(ClientMessage{Type: UserStartedSpeaking})
		s.send(ClientMessage{Type: UserTranscript, Text: "What does delivery cost"})
		s.wait(5 * time.Second)
		s.expect("user: What does delivery cost", "bot: Delivery costs 4.90 euros.", "final Delivery")
	})
}

func TestSilence(t *testing.T) {
	play(t, func(c *Config) {
		c.Persona.Conversation.IdlePromptS, c.Persona.Conversation.EndAfterSilenceS = 10, 30
	}, func(s *stage) {
		s.ready()
		s.wait(10 * time.Second)
		s.expect("bot: Are you still there?", "final")
		s.wait(9 * time.Second)
		s.expect()
		s.wait(time.Second)
		s.expect("notice: idle_warning")
		s.send(ClientMessage{Type: UserStartedSpeaking}) // a sign of life
		s.send(ClientMessage{Type: UserStoppedSpeaking})
		s.wait(20 * time.Second)
		s.expect("bot: Are you still there?", "final", "notice: idle_warning")
		s.wait(10 * time.Second)
		require.Equal(t, []string{EndedIdle}, s.over())
	})
}

func TestGoodbyeEnds(t *testing.T) {
	play(t, func(c *Config) {
		c.Persona.Tools = []persona.Tool{{Kind: "end_session", Enabled: true}}
		c.Persona.Closing = map[string]string{"en": "See you, {{guest}}."}
		c.Session.Variables = map[string]string{"guest": "Ada"}
	}, func(s *stage) {
		s.ready()
		s.says("Okay, goodbye!")
		s.expect("user: Okay, goodbye!", "tool: end_session completed", "bot: See you, Ada.", "final")
		require.Empty(t, s.ended)
		s.send(ClientMessage{Type: Interrupt}) // the last words stand
		s.wait(3 * time.Second)
		require.Equal(t, []string{EndedByUser}, s.over())
		require.Equal(t, session.Tool, s.lastTurn().Origin)
		require.False(t, s.lastTurn().Interrupted)
		require.False(t, s.c.Say(Say{Text: "too late"}))
	})
}

func TestARoleIsSaidWithTheName(t *testing.T) {
	for role, want := range map[string][]string{
		"guide of the bakery":      {"bot: I am Mia, guide of the bakery."},
		"I sell bread.":            {"bot: I am Mia.", "bot: I sell bread."},
		"{{persona}}'s assistant ": {"bot: I am Mia, Mia's assistant."},
		" ":                        {"bot: I am Mia."},
		"a human of our team":      {"bot: I am Mia."},
	} {
		play(t, func(c *Config) { chat(c); c.Persona.Role = &role }, func(s *stage) {
			s.ready()
			s.types("Who are you?")
			s.expect(append(append([]string{"user: Who are you?", "bot: I am an AI assistant, not a human."}, want...), "final")...)
		})
	}
}

func TestSmallTalk(t *testing.T) {
	role := "I look after the guests of the bakery."
	play(t, func(c *Config) { chat(c); c.Persona.Role = &role }, func(s *stage) {
		s.ready()
		for _, talk := range [][]string{
			{"Hi there", "bot: Hello!", "bot: How can I help you?"},
			{"thank you so much", "bot: You are welcome."},
			{"Who are you?", "bot: I am an AI assistant, not a human.", "bot: I am Mia.", "bot: I look after the guests of the bakery."},
			{"Could you repeat that?", "bot: I am an AI assistant, not a human.", "bot: I am Mia.", "bot: I look after the guests of the bakery."},
			{"ok", "bot: Is there anything else you would like to know?"},
		} {
			s.types(talk[0])
			s.expect(append(append([]string{"user: " + talk[0]}, talk[1:]...), "final")...)
		}
		require.Empty(t, s.journal.gaps)
	})
}

func TestSay(t *testing.T) {
	play(t, nil, func(s *stage) {
		s.ready()
		turn := id.NewTurn()
		s.c.Say(Say{ID: turn, Text: "We close in ten minutes. Please finish.", Record: true})
		s.expect("bot: We close in ten minutes.", "bot: Please finish.", "final")
		require.Equal(t, turn, s.lastTurn().ID)
		require.Equal(t, session.Say, s.lastTurn().Origin)

		s.c.Say(Say{Text: "Then this.", Record: true, Interruptible: true})
		s.expect() // waits its turn
		s.c.Say(Say{Text: "At once!", Interrupt: true, Record: true, Interruptible: true})
		s.expect() // the first may not be interrupted
		s.send(ClientMessage{Type: Interrupt})
		s.expect()
		s.wait(5 * time.Second)
		s.expect("bot: At once!", "final", "bot: Then this.", "final")
		s.c.Say(Say{Text: unrecorded[0], Interrupt: true, Interruptible: true})
		s.expect("bot: "+unrecorded[0], "final")
		require.True(t, s.lastTurn().Unrecorded)
		require.Empty(t, s.lastTurn().Text)
	})
}

func TestSteer(t *testing.T) {
	play(t, chat, func(s *stage) {
		s.ready()
		german, no, yes := "de", false, true
		s.c.Steer(Steer{Language: &german})
		s.types("Hallo")
		s.expect("user: Hallo", "bot: Guten Tag!", "bot: Wie kann ich Ihnen helfen?", "final")
		s.c.Steer(Steer{Mute: &yes})
		s.types("Hallo")
		s.expect("user: Hallo")
		require.Equal(t, Idle, s.state())
		s.c.Steer(Steer{Mute: &no, Listening: &no})
		s.expect("bot: Guten Tag!", "bot: Wie kann ich Ihnen helfen?", "final")
		s.says("Hallo")
		s.expect()
	})
}

func TestLanguageFollowsTheUser(t *testing.T) {
	polyglot := func(c *Config) {
		chat(c)
		c.Persona.Settings.AutoDetectLanguage, c.Persona.Settings.Languages = true, []string{"de"}
		c.Detect = func(text string) string {
			switch {
			case strings.Contains(text, "Morgen"):
				return "de"
			case strings.Contains(text, "Bonjour"):
				return "fr"
			}
			return ""
		}
	}
	play(t, polyglot, func(s *stage) {
		s.ready()
		s.types("Bonjour tout le monde")
		require.Equal(t, "en", s.lastTurn().Language, "French is not allowed")
		s.heard()
		s.types("Guten Morgen")
		s.expect("user: Guten Morgen", "bot: Guten Tag!", "bot: Wie kann ich Ihnen helfen?", "final")
		require.Equal(t, "de", s.lastTurn().Language)
	})
	play(t, func(c *Config) {
		polyglot(c)
		c.Turns = []session.Turn{{ID: id.NewTurn(), Speaker: session.User, Text: "Guten Morgen", Language: "de", EndedAt: &noon}}
	}, func(s *stage) {
		s.send(ClientMessage{Type: ClientReady})
		s.expect("notice: ai_notice", "bot: Guten Tag!", "bot: Wie kann ich Ihnen helfen?", "final") // who takes over goes on as it was
	})
	play(t, func(c *Config) { polyglot(c); c.Examiner = thin{} }, func(s *stage) {
		s.ready()
		s.types("Guten Morgen")
		require.Equal(t, "en", s.lastTurn().Language, "an answer to a question in English")
	})
}

func TestStaff(t *testing.T) {
	play(t, chat, func(s *stage) {
		s.ready()
		who := id.NewStaff()
		s.c.StaffJoined(Staff{ID: who, Name: "Jo", Mode: StaffListens})
		s.c.StaffSaid(who, "Can I be heard?")
		s.expect("notice: staff_joined")
		s.c.StaffJoined(Staff{ID: who, Name: "Jo", Mode: StaffTakeover})
		s.expect("notice: staff_mode")
		s.types("When does the bakery open?")
		s.expect("user: When does the bakery open?")
		s.c.StaffSaid(who, "I will see.")
		s.expect("staff: I will see.")
		require.Equal(t, session.Staff, s.lastTurn().Speaker)
		require.Equal(t, "Jo", s.lastTurn().Name)
		s.c.StaffLeft(who)
		s.expect("notice: staff_left")
		s.types("What does delivery cost?")
		s.expect("user: What does delivery cost?", "bot: Delivery costs 4.90 euros.", "final Delivery")
	})
}

func TestResumption(t *testing.T) {
	turn := func(index int64, who session.Speaker, text string) session.Turn {
		ended := noon.Add(-time.Minute)
		return session.Turn{ID: id.NewTurn(), Index: index, Speaker: who, Text: text, Spoken: text, StartedAt: ended, EndedAt: &ended}
	}
	greeting := func(c *Config) {
		c.Persona.Greeting = persona.Greeting{Mode: "fixed", Text: map[string]string{"en": "Hello."}}
	}
	t.Run("no second greeting, and what was open is closed", func(t *testing.T) {
		play(t, func(c *Config) {
			greeting(c)
			open := turn(2, session.Avatar, "We are open. Until")
			open.EndedAt, open.Spoken = nil, "We are"
			c.Turns = []session.Turn{turn(0, session.Avatar, "Hello."), turn(1, session.User, "Open?"), open}
		}, func(s *stage) {
			s.ready()
			require.True(t, s.turns()[2].Interrupted)
			require.Equal(t, "We are", s.turns()[2].Spoken)
			s.types("thanks")
			require.EqualValues(t, 4, s.lastTurn().Index)
		})
	})
	t.Run("a question without its answer gets one", func(t *testing.T) {
		play(t, func(c *Config) {
			greeting(c)
			c.Turns = []session.Turn{turn(0, session.User, "What does delivery cost?")}
		}, func(s *stage) {
			s.send(ClientMessage{Type: ClientReady, Audio: []string{"pcm"}})
			s.expect("notice: ai_notice", "bot: Delivery costs 4.90 euros.", "final Delivery")
		})
	})
}

func TestLostSession(t *testing.T) {
	for calls := 1; calls <= 8; calls++ {
		play(t, func(c *Config) {
			c.Persona.Greeting = persona.Greeting{Mode: "generated"}
			c.Journal.(*memoryJournal).loseAt = calls
		}, func(s *stage) {
			s.send(ClientMessage{Type: ClientReady, Audio: []string{"pcm"}})
			s.wait(10 * time.Second)
			s.says("What does delivery cost?")
			s.wait(5 * time.Second)
			s.types("Who invented the telephone?")
			s.wait(5 * time.Second)
			require.Empty(t, s.over())
		})
	}
}

func TestJournalThatFails(t *testing.T) {
	play(t, func(c *Config) { c.Journal.(*memoryJournal).fails = errBroken }, func(s *stage) {
		s.ready()
		s.types("Hello")
		require.Equal(t, []string{EndedError}, s.over())
		s.expect("error: engine_error")
	})
}

// failing is knowledge that is out of order: it fails, or never comes back.
type failing struct{ err error }

func (f failing) Search(ctx context.Context, _ Query) ([]Passage, error) {
	if f.err == nil {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return nil, f.err
}

func TestKnowledgeOutOfOrder(t *testing.T) {
	for _, err := range []error{errBroken, nil} {
		play(t, func(c *Config) { chat(c); c.Knowledge = failing{err} }, func(s *stage) {
			s.ready()
			s.types("When does the bakery open?")
			s.wait(20 * time.Second)
			s.expect("user: When does the bakery open?", "bot: I am sorry, I do not know that.", "final")
			require.Empty(t, s.journal.gaps, "the packs were not asked")
			require.Equal(t, Listening, s.state())
		})
	}
}

func TestFinish(t *testing.T) {
	play(t, nil, func(s *stage) {
		s.ready()
		s.says("When does the bakery open?")
		s.heard()
		s.c.Finish("Your time is over.")
		s.expect("interrupted: ", "bot: Your time is over.", "final")
		s.types("No!")
		s.expect("user: No!")
		s.wait(3 * time.Second)
		require.Empty(t, s.over(), "the owner ended it, and need not be asked")
	})
	play(t, nil, func(s *stage) {
		s.c.Finish("")
		require.Empty(t, s.over())
	})
}

func TestWordsUnderWayAreKeptAtTheEnd(t *testing.T) {
	play(t, nil, func(s *stage) {
		s.ready()
		s.send(ClientMessage{Type: UserStartedSpeaking})
		s.send(ClientMessage{Type: UserTranscript, Text: "I only wanted to", Final: true})
		s.cancel()
		s.over()
		require.Equal(t, "I only wanted to", s.lastTurn().Text)
	})
}

func TestFloodOfMessages(t *testing.T) {
	play(t, nil, func(s *stage) {
		s.ready()
		s.journal.mu.Lock() // the conversation is held up
		s.c.Receive(ClientMessage{Type: UserText, Text: "Hello"})
		for range 500 {
			s.c.Receive(ClientMessage{Type: Ping})
		}
		s.journal.mu.Unlock()
		synctest.Wait()
		heard := s.heard()
		require.Contains(t, heard, "error: too_many_messages")
		require.Less(t, len(heard), 80)
	})
}
