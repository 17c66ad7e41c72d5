package conversation

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/provider/model/modeltest"
	"visavis.dev/pkg/sessions/session"
)

// pair is a duo of Ada, who leads and sits on the left, and Ben.
func pair(style, handover string, balance float64) *persona.Cast {
	return &persona.Cast{
		Hosts: []persona.Host{
			{Seat: "left", Name: "Ada", Role: "lead"}, {Seat: "right", Name: "Ben", Role: "partner"},
		},
		Interplay: persona.Interplay{Style: style, Handover: handover, Balance: balance},
	}
}

// duo has two speak instead of one, who read it out.
func duo(style, handover string, balance float64) func(*Config) {
	return func(c *Config) {
		c.Duo, c.Session.Channel = pair(style, handover, balance), Chat
		c.Knowledge = anyWords{passage("Visiting", "The museum opens at nine. It closes at six. The museum is closed on Mondays.")}
	}
}

// byHost are the avatar's turns, each with the host's name and seat.
func (s *stage) byHost() (lines []string) {
	for _, t := range s.turns() {
		if t.Speaker == session.Avatar {
			lines = append(lines, t.Host+" "+t.Name+": "+t.Text)
		}
	}
	return lines
}

func TestTheLeadGreetsAndHandsOver(t *testing.T) {
	for style, want := range map[string][]string{
		"co_host natural":   {"left Ada: Hello, I am Ada.", "right Ben: How can I help you?"},
		"co_host strict":    {"left Ada: Hello, I am Ada. How can I help you?"},
		"interview natural": {"left Ada: Hello, I am Ada. How can I help you?"},
		"teach natural":     {"left Ada: Hello, I am Ada.", "right Ben: How can I help you?"},
	} {
		t.Run(style, func(t *testing.T) {
			name, handover, _ := strings.Cut(style, " ")
			play(t, func(c *Config) {
				duo(name, handover, 0.5)(c)
				c.Persona.Greeting.Mode = "fixed"
			}, func(s *stage) {
				s.send(ClientMessage{Type: ClientReady})
				require.Equal(t, want, s.byHost())
				for i, t := range s.turns() {
					require.Equal(s.t, i > 0, t.Timing.Continues, "what the other host adds is no answer of its own")
				}
			})
		})
	}
}

// A greeting says itself who says what of it; without names, it is the lead's.
func TestGreetingWithNames(t *testing.T) {
	for text, want := range map[string][]string{
		"Ada: Welcome. I am Ada. Ben: And I am Ben. Ask us!": {"left Ada: Welcome. I am Ada.", "right Ben: And I am Ben. Ask us!"},
		"Ben: Hi.":                    {"right Ben: Hi."},
		"Welcome. I am Ada. Ask us!":  {"left Ada: Welcome. I am Ada. Ask us!"},
		"Note: we close soon. Hurry!": {"left Ada: Note: we close soon. Hurry!"},
	} {
		play(t, func(c *Config) {
			duo("co_host", "strict", 0.5)(c)
			c.Persona.Greeting = persona.Greeting{Mode: "fixed", Text: map[string]string{"en": text}}
		}, func(s *stage) {
			s.send(ClientMessage{Type: ClientReady})
			require.Equal(t, want, s.byHost())
		})
	}
}

func TestAnAnswerIsDivided(t *testing.T) {
	const asks = "When does the museum open, and when does it close?"
	play(t, duo("debate", "natural", 0.5), func(s *stage) {
		s.ready()
		s.types(asks)
		lines := s.byHost()
		require.Greater(t, len(lines), 1, "each says a part")
		for i, l := range lines {
			require.False(t, i > 0 && lines[i-1][:5] == l[:5], "the next turn is the other's: %v", lines)
		}
		for _, turn := range s.turns()[1:] {
			require.NotEmpty(t, turn.Sources, "every part says what it rests on")
			require.True(t, *turn.Grounded)
		}
		var told []string
		for _, m := range s.messages {
			if said, ok := m.Data.(BotText); ok && said.Text != "" {
				told = append(told, said.Host+" "+said.Name+": "+said.Text)
			}
		}
		require.Equal(t, []string{"left Ada: The museum opens at nine.", "right Ben: It closes at six.", "right Ben: The museum is closed on Mondays."}, told)
	})
	play(t, duo("teach", "strict", 0.5), func(s *stage) {
		s.ready()
		s.types(asks)
		lines := s.byHost()
		require.Len(t, lines, 1)
		require.Contains(t, lines[0], "left Ada: ")
	})
}

// Who is called answers, and says their own name.
func TestWhoIsCalledAnswers(t *testing.T) {
	for _, name := range []string{"Ada", "Ben"} {
		play(t, duo("interview", "natural", 0.5), func(s *stage) {
			s.ready()
			s.types(name + ", when does the museum open, and when does it close?")
			s.types(name + ", who are you?")
			s.types("Can you repeat that?")
			for _, l := range s.byHost() {
				require.Contains(t, l, " "+name+": ")
			}
			require.Contains(t, s.byHost()[1], "I am "+name, "who is called speaks of themselves")
			require.Len(t, s.byHost(), 3)
		})
	}
}

// A goal's question is asked by who asks.
func TestWhoOfTheTwoAsks(t *testing.T) {
	for style, want := range map[string]string{"interview": "left Ada: ", "teach": "right Ben: "} {
		play(t, func(c *Config) {
			duo(style, "natural", 0.5)(c)
			c.Persona.Goals = []persona.Goal{goal("name", "What is your name?", "name")}
			c.Persona.Greeting = persona.Greeting{Mode: "fixed", Text: map[string]string{"en": "Welcome."}}
		}, func(s *stage) {
			s.send(ClientMessage{Type: ClientReady})
			s.wait(2 * time.Second)
			require.Equal(t, []string{"left Ada: Welcome.", want + "What is your name?"}, s.byHost())
		})
	}
}

// The hosts' sentences are said one turn after the other, each by its host's voice. What one of them is interrupted in is the
// end of both.
func TestHostsAreHeardInTurn(t *testing.T) {
	r := &recorder{}
	play(t, func(c *Config) {
		duo("co_host", "natural", 0.5)(c)
		c.Session.Channel, c.Sound = Voice, r
	}, func(s *stage) {
		r.stage = s
		s.ready()
		s.c.Say(Say{Text: "Ada: We open at nine. Ben: And we close at six.", Interruptible: true, Record: true})
		synctest.Wait()
		require.Len(t, r.said, 1)
		require.Equal(t, []string{"left", "We open at nine."}, []string{r.said[0].Host, r.said[0].Text})
		s.wait(r.sound(0, 0) + time.Second)
		require.Len(t, r.said, 2, "once the first was heard")
		require.Equal(t, []string{"right", "And we close at six."}, []string{r.said[1].Host, r.said[1].Text})
		require.NotEqual(t, r.said[0].Turn, r.said[1].Turn)
		s.wait(r.sound(1, 0) + time.Second)

		s.c.Say(Say{Text: "Ada: We open at nine. Ben: And we close at six.", Interruptible: true, Record: true})
		synctest.Wait()
		s.send(ClientMessage{Type: Interrupt})
		s.wait(10 * time.Second)
		require.Len(t, r.said, 3, "the partner does not speak after the lead was interrupted")
		require.Len(t, s.byHost(), 3)
	})
}

// What ends the conversation ends it once both have spoken, and also where the owner wants quiet before that.
func TestTheEndComesAfterBothHosts(t *testing.T) {
	for _, hushed := range []bool{false, true} {
		r := &recorder{}
		play(t, func(c *Config) {
			duo("co_host", "natural", 0.5)(c)
			c.Session.Channel, c.Sound = Voice, r
			c.Persona.Closing = map[string]string{"en": "Ada: Goodbye. Ben: See you soon."}
			c.Persona.Tools = []persona.Tool{{Kind: "end_session", Enabled: true}}
		}, func(s *stage) {
			r.stage = s
			s.ready()
			s.types("Goodbye!")
			require.Len(t, r.said, 1)
			if hushed {
				s.c.Steer(Steer{Interrupt: true})
			} else {
				s.wait(r.sound(0, 0) + time.Second)
				require.Len(t, r.said, 2)
				s.wait(r.sound(1, 0) + time.Second)
			}
			require.Equal(t, []string{EndedByUser}, s.over())
		})
	}
}

// A goodbye of both is no end where a person takes over, nor where the process ends before both have spoken.
func TestAGoodbyeOfBothIsBrokenOff(t *testing.T) {
	for name, breaks := range map[string]func(*stage){
		"a person takes over": func(s *stage) { s.c.StaffJoined(Staff{ID: member, Name: "Jo", Mode: StaffTakeover}) },
		"the process ends":    func(s *stage) { s.cancel() },
	} {
		t.Run(name, func(t *testing.T) {
			r := &recorder{}
			play(t, func(c *Config) {
				duo("co_host", "natural", 0.5)(c)
				c.Session.Channel, c.Sound = Voice, r
				c.Persona.Closing = map[string]string{"en": "Ada: Goodbye. Ben: See you soon."}
				c.Persona.Tools = []persona.Tool{{Kind: "end_session", Enabled: true}}
			}, func(s *stage) {
				r.stage = s
				s.ready()
				s.types("Goodbye!")
				require.Len(t, r.said, 1)
				breaks(s)
				s.wait(10 * time.Second)
				require.Len(t, r.said, 1, "the partner says nothing any more")
				require.Empty(t, s.ended)
			})
		})
	}
}

// The shares go on after another process takes the conversation over.
func TestSharesAreResumed(t *testing.T) {
	before := session.Turn{Speaker: session.Avatar, Host: "right", Name: "Ben", Text: strings.Repeat("Ben talks and talks. ", 50), Language: "en", StartedAt: noon, EndedAt: &noon}
	play(t, func(c *Config) {
		duo("co_host", "natural", 0.5)(c)
		c.Turns = []session.Turn{before}
	}, func(s *stage) {
		s.send(ClientMessage{Type: ClientReady})
		s.types("When does the museum open, and when does it close?")
		for _, l := range s.byHost()[1:] {
			require.Contains(t, l, "left Ada: ")
		}
	})
}

// A model is told that two speak, and its sentences are divided like any others.
func TestAModelWritesForTwo(t *testing.T) {
	m := writes("Ada: We are open ", "all day. It is a lovely place. ", "Ben: Do come.")
	play(t, func(c *Config) {
		withModel(m)(c)
		duo("co_host", "natural", 0.5)(c)
		c.Persona.Knowledge.Mode = "open"
	}, func(s *stage) {
		s.ready()
		s.types("Tell me about yourselves and the house.")
		require.Equal(t, []string{"left Ada: We are open all day. It is a lovely place.", "right Ben: Do come."}, s.byHost())
	})
	require.Contains(t, m.asked[0].Messages[0].Content, "You are Ada and Ben, two hosts")
}

// An answer that is late, so that one host asked for a moment, is given once by the other one.
func TestALateAnswerOfTwoIsGivenOnce(t *testing.T) {
	var s *stage
	m := late(&s, 1500*time.Millisecond, "We are open all day. ", "Do come.")
	play(t, func(c *Config) {
		spoken(m)(c)
		duo("debate", "natural", 0.5)(c)
		c.Session.Channel, c.Persona.Knowledge.Mode = Voice, "open"
	}, func(st *stage) {
		s = st
		s.ready()
		s.types("Tell me about the house.")
		s.wait(time.Second)
		require.Len(t, s.byHost(), 1)
		require.Contains(t, s.byHost()[0], "One moment, please.")
		s.wait(time.Minute)
		require.Len(t, m.asked, 1)
		require.Equal(t, 1, strings.Count(strings.Join(s.byHost(), " "), "Do come."))
		last := s.turns()
		require.GreaterOrEqual(t, last[2].Timing.ResponseMs, int64(1500), "one moment is no answer")
		s.types("And what does it cost?")
		require.Len(t, m.asked, 2, "what is asked next is another question")
	})
}

// Who says what a tool would do asks for leave as well, and the visitor's yes is an answer to that.
func TestADuoAsksForLeave(t *testing.T) {
	for _, style := range []string{"co_host", "debate", "interview", "teach"} {
		config, _ := served(t, modeltest.InTurn(asking("weather", `{"place":"Bern"}`), modeltest.Stream("Here you go.")), weather(map[string]any{"confirm": "visitor"}))
		config.Duo = pair(style, "natural", 0.5)
		k := hold(t, config, answersWith(`"sun"`), "What is the weather in Bern?", "yes please")
		require.Equal(t, "avatar: Look up the weather: place Bern. Is that right?", k.said()[1], style)
		require.Equal(t, []string{"weather completed"}, k.used(), style)
	}
}

// What documents say is said as it stands there, though it looks like a host's name before what they say.
func TestADocumentDoesNotDirectTheHosts(t *testing.T) {
	play(t, func(c *Config) {
		duo("teach", "natural", 0.9)(c)
		c.Knowledge = anyWords{passage("Telephone", "Ben: extension 12.")}
	}, func(s *stage) {
		s.ready()
		s.types("What is the extension of Ben's office?")
		require.Contains(t, strings.Join(s.byHost(), "\n"), "Ben: extension 12")
	})
}

// What was said last is all of it, each part by who said it.
func TestADuoRepeatsWhatBothSaid(t *testing.T) {
	play(t, duo("debate", "natural", 0.5), func(s *stage) {
		s.ready()
		s.types("When does the museum open, and when does it close?")
		said := s.byHost()
		s.types("Can you repeat that?")
		require.Equal(t, said, s.byHost()[len(said):])
	})
}

// Whatever happens, a turn has one host, and every turn of the avatar's has one.
func TestHostsWhateverHappens(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		style := rapid.SampledFrom([]string{"interview", "debate", "co_host", "teach"}).Draw(rt, "style")
		handover := rapid.SampledFrom([]string{"natural", "strict"}).Draw(rt, "handover")
		r := &recorder{}
		bubble(t, func() {
			perform(rt, func(c *Config) {
				c.Duo, c.Sound = pair(style, handover, rapid.Float64Range(0, 1).Draw(rt, "balance")), r
			}, func(s *stage) {
				r.stage = s
				s.send(ClientMessage{Type: ClientReady, Audio: []string{"pcm"}})
				for range rapid.IntRange(1, 12).Draw(rt, "events") {
					disturb(rt, s)
					r.catchUp(rt)
				}
				for _, turn := range s.turns() {
					require.Equal(rt, turn.Speaker == session.Avatar, turn.Host != "", "%+v", turn)
				}
			})
		})
	})
}
