package conversation

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"visavis.dev/pkg/base/id"
)

// Whatever the interleaving, the stage's own checks hold: indexes are dense, at
// most one turn is open, what was heard is the beginning of what was said, and
// nothing was sent that was not kept before.
func TestInvariants(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		bubble(t, func() {
			t := r
			level := rapid.SampledFrom([]string{"off", "low", "medium", "high"}).Draw(t, "interruptible")
			channel := rapid.SampledFrom([]Channel{Chat, Voice}).Draw(t, "channel")
			words := rapid.Int64Range(0, 3).Draw(t, "words")
			lose := rapid.IntRange(0, 40).Draw(t, "loseAt")
			talkative := rapid.Bool().Draw(t, "model")
			var sound *recorder
			if rapid.Bool().Draw(t, "sound") {
				sound = &recorder{}
			}
			perform(t, func(c *Config) {
				c.Session.Channel = channel
				if sound != nil {
					c.Sound = sound
				}
				c.Persona.Greeting.Mode = "generated"
				c.Persona.Conversation.Interruptible, c.Persona.Conversation.MinInterruptWords = level, words
				c.Persona.Conversation.IdlePromptS = 5
				c.Journal.(*memoryJournal).loseAt = lose
				if talkative {
					c.Model = writes("We open at se", "ven [1]. And then we ", "close at six. ", "That is all")
				}
			}, func(s *stage) {
				if sound != nil {
					sound.stage = s
				}
				s.send(ClientMessage{Type: ClientReady, Audio: []string{"pcm"}})
				for range rapid.IntRange(1, 25).Draw(t, "steps") {
					disturb(t, s)
					if sound != nil {
						sound.catchUp(t)
					}
				}
			})
		})
	})
}

var (
	utterances = []string{"When does the bakery open?", "yes", "What does delivery cost?", "bye", "stop that now"}
	member     = id.NewStaff()
)

// bubble runs a function where time stands still, and lets what it panics with
// out, by which rapid finds the shortest example.
func bubble(t *testing.T, do func()) {
	var failure any
	synctest.Test(t, func(*testing.T) {
		defer func() { failure = recover() }()
		do()
	})
	// rapid takes failures of one place for the same, so that its own signal for
	// an example that ends too early is to come from another.
	switch {
	case failure == nil:
	case fmt.Sprintf("%T", failure) == "rapid.invalidData":
		panic(failure)
	default:
		panic(failure)
	}
}

// disturb does one of all the things that can happen.
func disturb(t *rapid.T, s *stage) {
	text := rapid.SampledFrom(utterances).Draw(t, "text")
	flag := rapid.Bool().Draw(t, "flag")
	switch rapid.IntRange(0, 13).Draw(t, "act") {
	case 0:
		s.types(text)
	case 1:
		s.send(ClientMessage{Type: UserStartedSpeaking})
	case 2:
		s.send(ClientMessage{Type: UserStoppedSpeaking})
	case 3:
		s.send(ClientMessage{Type: UserTranscript, Text: text, Final: flag})
	case 4:
		s.send(ClientMessage{Type: Interrupt})
	case 5:
		if turns := s.turns(); len(turns) > 0 {
			turn := rapid.SampledFrom(turns).Draw(t, "turn")
			s.send(ClientMessage{Type: Playback, Turn: turn.ID, PlayedMs: rapid.Int64Range(0, 6000).Draw(t, "played")})
		}
	case 6:
		s.c.Say(Say{Text: text + " Indeed.", Interrupt: flag, Interruptible: rapid.Bool().Draw(t, "yields"), Record: true})
	case 7:
		s.c.Steer(Steer{Interrupt: flag, Mute: &flag})
	case 8:
		s.c.StaffJoined(Staff{ID: member, Name: "Jo", Mode: rapid.SampledFrom([]StaffMode{StaffListens, StaffSpeaks, StaffTakeover}).Draw(t, "mode")})
	case 9:
		s.c.StaffSaid(member, text)
	case 10:
		s.c.StaffLeft(member)
	case 11:
		s.c.Hear(Heard{
			Kind: HeardKind(rapid.IntRange(0, 2).Draw(t, "heard")), Segment: rapid.IntRange(1, 4).Draw(t, "segment"),
			Ago: time.Duration(rapid.IntRange(0, 5).Draw(t, "ago")) * 100 * time.Millisecond, Text: text, Whole: flag,
		})
	default:
		s.wait(time.Duration(rapid.IntRange(1, 40).Draw(t, "time")) * 50 * time.Millisecond)
	}
	synctest.Wait()
}

func TestInterruptionAtEveryWord(t *testing.T) {
	for at := time.Duration(0); at < 6*time.Second; at += 150 * time.Millisecond {
		play(t, nil, func(s *stage) {
			s.ready()
			s.says("When does the bakery open?")
			s.wait(at)
			s.send(ClientMessage{Type: Interrupt})
		})
	}
}
