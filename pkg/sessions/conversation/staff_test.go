package conversation

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/provider/model/modeltest"
	"visavis.dev/pkg/sessions/inbox"
	"visavis.dev/pkg/sessions/session"
)

// Whoever takes over silences the avatar at once, also the answer that it was saying, and what
// its owner has it say waits.
func TestATakeoverSilences(t *testing.T) {
	play(t, nil, func(s *stage) {
		s.ready()
		s.says("When does the bakery open?")
		s.expect("user: When does the bakery open?", builtinHours, "final Opening hours")
		kim := Staff{ID: id.NewStaff(), Name: "Kim", Mode: StaffTakeover}
		s.c.StaffJoined(kim)
		s.expect("interrupted: ", "notice: staff_joined")
		require.Equal(t, Idle, s.state())
		s.c.Say(Say{ID: id.NewTurn(), Text: "The shop closes soon.", Interruptible: true, Record: true})
		s.types("What does delivery cost?")
		s.wait(30 * time.Second)
		s.expect("user: What does delivery cost?")

		kim.Mode = StaffSpeaks
		s.c.StaffJoined(kim)
		s.expect("notice: staff_mode", "bot: The shop closes soon.", "final")
		s.wait(10 * time.Second)
		s.expect("bot: Delivery costs 4.90 euros.", "final Delivery")
		kim.Mode = StaffListens
		s.c.StaffJoined(kim)
		s.c.StaffJoined(kim) // again, which is no news
		s.expect("notice: staff_mode")
	})
}

// A goodbye that is under way is no end where somebody takes over.
func TestATakeoverGoesOnAfterAGoodbye(t *testing.T) {
	play(t, func(c *Config) {
		c.Persona.Tools = []persona.Tool{{Kind: "end_session", Enabled: true}}
		c.Persona.Closing = map[string]string{"en": "Goodbye, and thank you for coming to our little bakery today."}
	}, func(s *stage) {
		s.ready()
		s.says("Goodbye!")
		s.expect("user: Goodbye!", "tool: end_session completed", "bot: Goodbye, and thank you for coming to our little bakery today.", "final")
		s.c.StaffJoined(Staff{ID: id.NewStaff(), Name: "Kim", Mode: StaffTakeover})
		s.expect("interrupted: ", "notice: staff_joined")
		s.types("Oh, hello")
		s.expect("user: Oh, hello")
		require.Empty(t, s.ended)
	})
}

// The answer that a model is still writing is never heard.
func TestATakeoverSilencesAnAnswerInTheMaking(t *testing.T) {
	open := make(chan struct{})
	config, _ := served(t, modeltest.Pause("We open at seven [1]. And ", open, "on Sundays we rest [1]. ", "Come soon."), nil)
	var r Rehearsal
	var c *Conversation
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	var said []string
	config.Session.Channel, config.Journal = Chat, &notebook{&r}
	config.Send = func(m Message) {
		switch d := m.Data.(type) {
		case BotText:
			if said = append(said, d.Text); len(said) == 1 {
				c.StaffJoined(Staff{ID: id.NewStaff(), Name: "Kim", Mode: StaffTakeover})
			}
		case Notice:
			if d.Kind == StaffJoined {
				close(open) // the model goes on writing now
				time.AfterFunc(500*time.Millisecond, cancel)
			}
		}
	}
	c = New(config)
	require.True(t, c.Receive(ClientMessage{Type: ClientReady}))
	require.True(t, c.Respond(id.NewTurn(), asksHours))
	c.Run(ctx)
	require.Equal(t, []string{"We open at seven."}, said)
}

// patient is a persona that asks for people, and waits for them.
func patient(config map[string]any, change func(*Config)) func(*Config) {
	return func(c *Config) {
		chat(c)
		c.Session.Reachable = true
		c.Persona.Tools = []persona.Tool{{Kind: "handoff", Enabled: true, Config: config}}
		if change != nil {
			change(c)
		}
	}
}

var handedOff = []string{
	"user: Can I speak to a human please?", "tool: handoff requested", "notice: handoff_requested",
	"bot: I am asking a person to join us.", "bot: One moment, please.", "final",
}

// A visitor for whom nobody comes is told so and asked how they are reached, and the hand-off has it.
func TestNobodyComes(t *testing.T) {
	play(t, patient(nil, nil), func(s *stage) {
		s.ready()
		s.types("Can I speak to a human please?")
		s.expect(handedOff...)
		s.wait(59 * time.Second)
		s.expect()
		s.wait(2 * time.Second)
		book := bookOf("en")
		s.expect("tool: handoff failed", "bot: "+book.nobody, "bot: "+book.contact, "bot: How can my colleagues reach you?",
			"bot: An e-mail address or a telephone number will do.", "final")
		s.types("kim@example.com")
		s.expect("user: kim@example.com", "bot: "+book.noted, "final")
		left := s.journal.left[len(s.journal.left)-1]
		require.Equal(t, inbox.Handoff, left.Kind)
		require.Equal(t, "kim@example.com", *left.Contact.Email)
		require.Equal(t, book.contact, *left.Contact.Consent.Text)
		require.Empty(t, left.RequestedBy)

		// Asked again, they are not asked for what is known.
		s.types("Can I speak to a human please?")
		s.expect(handedOff...)
		s.wait(61 * time.Second)
		s.expect("tool: handoff failed", "bot: "+book.nobody, "bot: "+book.reached, "final")
	})
}

func TestWhoIsNotToldThatNobodyComes(t *testing.T) {
	book := bookOf("en")
	for name, test := range map[string]struct {
		setup func(*Config)
		do    func(*stage)
		want  []string
	}{
		"whom somebody joined": {patient(nil, nil), func(s *stage) {
			s.c.StaffJoined(Staff{ID: id.NewStaff(), Name: "Kim", Mode: StaffListens})
			s.expect("notice: staff_joined")
		}, nil},
		"but whom somebody only hears": {patient(nil, nil), func(s *stage) {
			s.c.StaffJoined(Staff{ID: id.NewStaff(), Name: "Kim", Mode: StaffListens, OnlyListens: true})
			s.expect("notice: staff_joined")
		}, []string{"tool: handoff failed", "bot: " + book.nobody}},
		"where it is switched off":     {patient(map[string]any{"waitS": 0.0}, nil), nil, nil},
		"while the avatar is muted":    {patient(nil, nil), func(s *stage) { yes := true; s.c.Steer(Steer{Mute: &yes}) }, nil},
		"sooner, where it is set":      {patient(map[string]any{"waitS": 10.0}, nil), nil, []string{"tool: handoff failed", "bot: " + book.nobody}},
		"and who cannot be reached is": {patient(nil, func(c *Config) { c.Session.Reachable = false }), nil, []string{"tool: handoff failed", "bot: " + book.nobody, "final"}},
	} {
		t.Run(name, func(t *testing.T) {
			play(t, test.setup, func(s *stage) {
				s.ready()
				s.types("Can I speak to a human please?")
				s.expect(handedOff...)
				if test.do != nil {
					test.do(s)
				}
				s.wait(75 * time.Second)
				got := s.heard()
				require.GreaterOrEqual(t, len(got), len(test.want))
				if test.want == nil {
					require.Empty(t, got)
				}
				require.Equal(t, append([]string{}, test.want...), append([]string{}, got[:len(test.want)]...))
			})
		})
	}
}

// emptyHouse is a journal of a team of whom nobody is there.
type emptyHouse struct{ Journal }

func (emptyHouse) Nobody(context.Context) (bool, error) { return true, nil }

// brokenHouse cannot say who is there.
type brokenHouse struct{ Journal }

func (brokenHouse) Nobody(context.Context) (bool, error) {
	return true, errors.New("the database is away")
}

// A visitor is told at once that nobody is free where that is known, however long they would wait else; where nobody knows they wait.
func TestNobodyIsThere(t *testing.T) {
	book := bookOf("en")
	for name, test := range map[string]struct {
		config map[string]any
		of     func(Journal) Journal
		after  time.Duration
		told   bool
	}{
		"nobody is there":     {map[string]any{"waitS": 600.0}, func(j Journal) Journal { return emptyHouse{j} }, 3 * time.Second, true},
		"nobody knows":        {map[string]any{"waitS": 600.0}, func(j Journal) Journal { return brokenHouse{j} }, 3 * time.Second, false},
		"nobody knows, later": {nil, func(j Journal) Journal { return brokenHouse{j} }, 61 * time.Second, true},
		"never":               {map[string]any{"waitS": 0.0}, func(j Journal) Journal { return emptyHouse{j} }, 75 * time.Second, false},
	} {
		t.Run(name, func(t *testing.T) {
			play(t, patient(test.config, func(c *Config) { c.Journal = test.of(c.Journal) }), func(s *stage) {
				s.ready()
				s.types("Can I speak to a human please?")
				s.expect(handedOff...)
				s.wait(test.after)
				if !test.told {
					s.expect()
					return
				}
				s.expect("tool: handoff failed", "bot: "+book.nobody, "bot: "+book.contact, "bot: How can my colleagues reach you?",
					"bot: An e-mail address or a telephone number will do.", "final")
			})
		})
	}
}

// A process that goes on waits for as long as was left.
func TestNobodyComesAfterACrash(t *testing.T) {
	asked := session.Turn{
		ID: id.NewTurn(), Speaker: session.Avatar, Text: "One moment.", Spoken: "One moment.", Language: "en", Origin: session.Tool,
		StartedAt: noon.Add(-50 * time.Second), EndedAt: new(noon), ToolCalls: []session.ToolCall{{Name: "handoff", Status: "requested"}},
	}
	came := session.Turn{ID: id.NewTurn(), Index: 1, Speaker: session.Staff, Name: "Kim", Text: "Hi", Spoken: "Hi", Language: "en", StartedAt: noon, EndedAt: new(noon)}
	for name, test := range map[string]struct {
		turns []session.Turn
		told  bool
	}{"waiting": {[]session.Turn{asked}, true}, "met": {[]session.Turn{asked, came}, false}} {
		t.Run(name, func(t *testing.T) {
			play(t, patient(nil, func(c *Config) { c.Turns, c.Session.Outcome = test.turns, "handoff" }), func(s *stage) {
				s.ready()
				s.wait(11 * time.Second)
				require.Equal(t, test.told, len(s.heard()) > 0)
			})
		})
	}
}

// Who had taken over has still, in the process that goes on.
func TestATakeoverOutlastsACrash(t *testing.T) {
	kim := Staff{ID: id.NewStaff(), Name: "Kim", Mode: StaffTakeover}
	asked := session.Turn{ID: id.NewTurn(), Speaker: session.User, Text: asksHours, Spoken: asksHours, Language: "en", StartedAt: noon, EndedAt: new(noon)}
	play(t, func(c *Config) { chat(c); c.Staff, c.Turns = []Staff{kim}, []session.Turn{asked} }, func(s *stage) {
		s.ready()
		s.types("What does delivery cost?")
		s.expect("user: What does delivery cost?")
		s.c.StaffLeft(kim.ID)
		s.expect("notice: staff_left", "bot: Delivery costs 4.90 euros.", "final Delivery")
	})
}
