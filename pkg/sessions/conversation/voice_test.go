package conversation

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// voice speaks as the server hears it: a segment for each call.
type voice struct {
	*stage
	segment int
}

// hears plays a script where the server listens, and the avatar tells a story in sound.
func hears(t *testing.T, setup func(*Config), script func(*voice, *recorder)) {
	t.Helper()
	r := &recorder{}
	play(t, func(c *Config) {
		c.Sound = r
		c.Persona.Conversation.Interruptible, c.Persona.Conversation.MinInterruptWords = "medium", 2
		if setup != nil {
			setup(c)
		}
	}, func(s *stage) {
		r.stage = s
		s.ready()
		script(&voice{stage: s}, r)
	})
}

func (v *voice) hear(h Heard) {
	v.c.Hear(h)
	synctest.Wait()
}

func (v *voice) begins() {
	v.segment++
	v.hear(Heard{Kind: VoiceBegan, Segment: v.segment, Ago: 100 * time.Millisecond})
}

func (v *voice) ends() {
	v.hear(Heard{Kind: VoiceEnded, Segment: v.segment, Ago: 240 * time.Millisecond})
}

func (v *voice) understood(text string, whole bool) {
	v.hear(Heard{Kind: WordsHeard, Segment: v.segment, Text: text, Whole: whole})
}

// utters speaks for a while, whose words are there a little after it.
func (v *voice) utters(text string, lasts time.Duration) {
	v.begins()
	v.wait(lasts)
	v.ends()
	v.wait(200 * time.Millisecond)
	v.understood(text, true)
}

const tale = "The orangery was built in spring by two sisters who had brought lemon trees from the south."

// tells has the avatar say something of which a second was heard.
func (v *voice) tells(r *recorder) {
	v.c.Say(Say{Text: tale, Record: true, Interruptible: true})
	synctest.Wait()
	r.sound(len(r.said)-1, 0)
	v.heard()
	v.wait(time.Second)
}

// ducks is whether the client was told last to play softly.
func (v *voice) ducks() (softly bool) {
	synctest.Wait()
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, m := range v.messages {
		if d, ok := m.Data.(Duck); ok {
			softly = d.On
		}
	}
	return softly
}

func (v *voice) interrupted() bool {
	for _, l := range v.heard() {
		if len(l) > 11 && l[:11] == "interrupted" {
			return true
		}
	}
	return false
}

// The words come after the voice, and the turn is taken once both are over and long enough
// silent.
func TestTurnIsTakenWhenItsWordsAreThere(t *testing.T) {
	hears(t, nil, func(v *voice, _ *recorder) {
		v.begins()
		v.wait(time.Second)
		v.ends()
		v.wait(2 * time.Second)
		v.expect()
		require.True(t, v.c.Snapshot().Hearing)
		v.understood("When does the bakery open?", true)
		v.wait(10 * time.Millisecond)
		v.expect("user: When does the bakery open?", builtinHours, "final Opening hours")
		require.InDelta(t, 100, noon.Add(10*time.Millisecond).Sub(v.turns()[0].StartedAt).Milliseconds(), 20)
	})
	hears(t, nil, func(v *voice, _ *recorder) {
		v.begins()
		v.wait(time.Second)
		v.understood("When does the bakery open?", false)
		v.ends()
		v.understood("When does the bakery open?", true)
		v.wait(300 * time.Millisecond)
		v.expect()
		v.wait(100 * time.Millisecond) // 240 ms were silent before
		v.expect("user: When does the bakery open?", builtinHours, "final Opening hours")
	})
}

// Who pauses in the middle of a thought is waited for, in their language, and what follows is
// the same turn.
func TestMiddleOfAThoughtIsWaitedFor(t *testing.T) {
	for _, half := range []string{"What does delivery cost if", "What does delivery cost and", "I would like to know um"} {
		hears(t, nil, func(v *voice, _ *recorder) {
			v.utters(half, time.Second)
			v.wait(900 * time.Millisecond)
			v.expect()
			v.utters("delivery cost", time.Second)
			v.wait(time.Second)
			v.expect("user: "+half+" delivery cost", "bot: Delivery costs 4.90 euros.", "final Delivery")
		})
	}
	for language, texts := range map[string][2]string{
		"de": {"Ich möchte wissen, ob", "Ich möchte wissen, ob es regnet."},
		"fr": {"Je voudrais savoir si", "Je voudrais savoir le prix."},
		"es": {"Quiero saber si", "Quiero saber el precio."},
		"zh": {"我想知道因为", "我想知道价格"},
		"ja": {"営業時間は", "営業時間を教えてください"},
	} {
		require.True(t, isUnfinished(language, texts[0]), texts[0])
		require.False(t, isUnfinished(language, texts[1]), texts[1])
	}
	require.False(t, isUnfinished("en", "Which way is the garden in?"))
}

// Who pauses for long within what they say is waited for longer.
func TestLongPausesAreLearned(t *testing.T) {
	hears(t, nil, func(v *voice, _ *recorder) {
		require.Equal(t, 600*time.Millisecond, v.c.endpointAfter("the price"))
		for range 3 {
			v.begins()
			v.wait(500 * time.Millisecond)
			v.ends()
			v.wait(500 * time.Millisecond)
		}
		for n := 1; n <= v.segment; n++ {
			v.hear(Heard{Kind: WordsHeard, Segment: n, Text: "delivery", Whole: true})
		}
		require.Greater(t, v.c.endpointAfter("the price"), 700*time.Millisecond)
		require.LessOrEqual(t, v.c.endpointAfter("the price"), 1200*time.Millisecond)
		v.wait(2 * time.Second)
		v.heard()
	})
}

// What shows that somebody listens does not interrupt: the avatar speaks softly until it is
// understood, and goes on.
func TestListeningSoundsDoNotInterrupt(t *testing.T) {
	for _, said := range []string{"mhm", "Mm-hmm, okay.", "Yeah, right.", "okay", "I see", "oh really"} {
		hears(t, nil, func(v *voice, r *recorder) {
			v.tells(r)
			v.begins()
			require.True(t, v.ducks(), "at once")
			v.wait(500 * time.Millisecond)
			v.ends()
			v.wait(200 * time.Millisecond)
			v.understood(said, true)
			require.False(t, v.ducks())
			v.wait(10 * time.Second)
			require.Equal(t, []string{"user: " + said}, v.heard(), "it is kept, and not answered")
			require.False(t, v.turns()[0].Interrupted)
		})
	}
}

// One that lasts, of which nothing else is understood, does not either.
func TestLongListeningSounds(t *testing.T) {
	hears(t, nil, func(v *voice, r *recorder) {
		v.tells(r)
		v.begins()
		v.wait(300 * time.Millisecond)
		v.understood("yeah yeah", false)
		require.False(t, v.ducks())
		v.wait(1200 * time.Millisecond)
		require.False(t, v.interrupted())
	})
}

// Who speaks for long sees at their pauses that they are listened to; who says a word does not, and nobody where the
// persona does not do so.
func TestTheAvatarNodsAtPauses(t *testing.T) {
	nods := func(s *stage) (n int) {
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, m := range s.messages {
			if g, ok := m.Data.(Gesture); ok && g.Name == GestureNod {
				n++
			}
		}
		return n
	}
	for _, does := range []bool{true, false} {
		hears(t, func(c *Config) { c.Persona.Conversation.Backchannels = does }, func(v *voice, _ *recorder) {
			v.begins()
			v.wait(time.Second)
			v.ends()
			require.Zero(t, nods(v.stage))
			v.begins()
			v.wait(4 * time.Second)
			v.ends()
			v.begins()
			v.wait(time.Second)
			v.ends()
			want := 0
			if does {
				want = 1
			}
			require.Equal(t, want, nods(v.stage))
		})
	}
}

// Whoever asks the avatar to stop is obeyed with the first word, and not answered.
func TestStop(t *testing.T) {
	for _, said := range []string{"Stop", "wait", "Hold on a second please", "okay stop", "no no wait", "Excuse me"} {
		hears(t, func(c *Config) {
			c.Persona.Conversation.Interruptible, c.Persona.Conversation.MinInterruptWords = "low", 5
		}, func(v *voice, r *recorder) {
			v.tells(r)
			v.begins()
			v.wait(300 * time.Millisecond)
			v.understood(said, false)
			require.True(t, v.interrupted(), said)
			require.Equal(t, "The orangery was", v.turns()[0].Spoken, "what was heard is kept")
			v.ends()
			v.understood(said, true)
			v.wait(5 * time.Second)
			got := v.heard()
			require.Equal(t, "user: "+said, got[0])
			if onlyStops("en", said) {
				require.Len(t, got, 1, "%s is not answered", said)
			}
		})
	}
	require.True(t, onlyStops("de", "Moment mal, bitte!"))
	require.True(t, onlyStops("en", "Stop, please."))
	require.False(t, onlyStops("en", "Wait, what does it cost?"))
	require.False(t, saysStop("en", "Where is the bus stop at the garden?"))
}

// A voice of which nothing is understood takes the floor after a while, by the persona.
func TestVoiceTakesTheFloor(t *testing.T) {
	for level, after := range map[string]time.Duration{"high": 700 * time.Millisecond, "medium": 900 * time.Millisecond, "low": 1500 * time.Millisecond} {
		hears(t, func(c *Config) { c.Persona.Conversation.Interruptible = level }, func(v *voice, r *recorder) {
			v.tells(r)
			v.begins()
			v.wait(after - 150*time.Millisecond)
			require.False(t, v.interrupted(), level)
			v.wait(100 * time.Millisecond)
			require.True(t, v.interrupted(), level)
		})
	}
	hears(t, func(c *Config) { c.Persona.Conversation.Interruptible = "off" }, func(v *voice, r *recorder) {
		v.tells(r)
		v.begins()
		require.False(t, v.ducks())
		v.wait(2 * time.Second)
		require.False(t, v.interrupted())
	})
}

// The avatar's own words are not the user's, also where they are understood a little
// otherwise or after their end; what the user says is.
func TestOwnEchoIsNotHeard(t *testing.T) {
	for said, echo := range map[string]bool{
		"the orangery was built":      true,
		"orangery was build in":       true,
		"orangery":                    true,
		"what does delivery cost":     false,
		"who built the orangery then": false,
		"the orangery was built stop": false,
		"when was that":               false,
	} {
		hears(t, nil, func(v *voice, r *recorder) {
			v.tells(r)
			v.wait(500 * time.Millisecond)
			v.begins()
			v.wait(300 * time.Millisecond)
			v.understood(said, false)
			require.Equal(t, !echo, v.interrupted(), said)
			if !echo {
				return
			}
			require.False(t, v.ducks())
			v.wait(800 * time.Millisecond)
			v.ends()
			v.understood(said, true)
			v.wait(20 * time.Second)
			require.Empty(t, v.heard(), said)
			require.Len(t, v.turns(), 1)
		})
	}
	// Its last words are understood when it is silent already.
	hears(t, nil, func(v *voice, r *recorder) {
		v.tells(r)
		v.wait(5400 * time.Millisecond)
		v.begins()
		v.wait(time.Second)
		require.Equal(t, Listening, v.state())
		v.ends()
		v.wait(time.Second)
		v.understood("trees from the south", true)
		v.wait(2 * time.Second)
		require.Empty(t, v.heard())
		// Who says the same later means it.
		v.utters("from the south", 500*time.Millisecond)
		v.wait(3 * time.Second)
		require.Contains(t, v.heard(), "user: from the south")
	})
}

// "Yes" to what the avatar says last is an answer; in the middle it shows that one listens.
func TestAssentAtTheEndIsAnAnswer(t *testing.T) {
	for at, answered := range map[time.Duration]bool{0: false, 5200 * time.Millisecond: true} {
		hears(t, nil, func(v *voice, r *recorder) {
			v.tells(r)
			v.wait(at)
			v.utters("yes", 400*time.Millisecond)
			v.wait(10 * time.Second)
			require.Equal(t, answered, len(v.heard()) > 1, "after %v", at)
		})
	}
}

func TestNoiseWithoutWordsIsNoTurn(t *testing.T) {
	hears(t, nil, func(v *voice, r *recorder) {
		v.tells(r)
		v.utters("", 300*time.Millisecond)
		require.False(t, v.ducks())
		require.False(t, v.c.Snapshot().Hearing)
		v.wait(20 * time.Second)
		require.Empty(t, v.heard())
	})
}

// Where the client understands speech itself, it may understand the avatar.
func TestEchoOfAClientThatUnderstands(t *testing.T) {
	hears(t, nil, func(v *voice, r *recorder) {
		v.tells(r)
		v.wait(500 * time.Millisecond)
		v.send(ClientMessage{Type: UserTranscript, Text: "the orangery was"})
		v.send(ClientMessage{Type: UserTranscript, Text: "the orangery was built", Final: true})
		v.wait(10 * time.Second)
		require.Empty(t, v.heard())
		v.send(ClientMessage{Type: UserTranscript, Text: "who built the orangery then", Final: true})
		v.wait(time.Second)
		require.Equal(t, "user: who built the orangery then", v.heard()[0])
	})
}

// A voice that outlasts a segment is one utterance, in all its segments.
func TestVoiceThatOutlastsASegment(t *testing.T) {
	hears(t, nil, func(v *voice, _ *recorder) {
		v.begins()
		v.wait(28 * time.Second)
		v.begins()
		v.wait(time.Second)
		v.hear(Heard{Kind: WordsHeard, Segment: 1, Text: "When does", Whole: true})
		v.wait(3 * time.Second)
		v.expect()
		v.ends()
		v.understood("the bakery open?", true)
		v.wait(time.Second)
		v.expect("user: When does the bakery open?", builtinHours, "final Opening hours")
	})
}

// A client that understands speech itself tells what was said while a button was held a little
// later, where the server got no sound.
func TestButtonOfAClientThatUnderstandsItself(t *testing.T) {
	hears(t, func(c *Config) { c.Persona.Conversation.PushToTalk = true }, func(v *voice, _ *recorder) {
		v.segment++
		v.hear(Heard{Kind: VoiceBegan, Segment: v.segment, Pressed: true})
		v.wait(2 * time.Second)
		v.hear(Heard{Kind: VoiceEnded, Segment: v.segment})
		v.understood("", true)
		v.wait(600 * time.Millisecond)
		v.send(ClientMessage{Type: UserTranscript, Text: "When does the bakery open?", Final: true})
		v.wait(time.Second)
		v.expect("user: When does the bakery open?", builtinHours, "final Opening hours")
		v.wait(10 * time.Second)
		v.heard()
		v.send(ClientMessage{Type: UserTranscript, Text: "When does the bakery open?", Final: true})
		v.wait(2 * time.Second)
		v.expect()
	})
}

// What the server and the client both understand was said once.
func TestSpeechOfTwoSourcesIsHeardOnce(t *testing.T) {
	for _, clientAt := range []time.Duration{0, 300 * time.Millisecond, 1500 * time.Millisecond} {
		hears(t, nil, func(v *voice, _ *recorder) {
			transcript := ClientMessage{Type: UserTranscript, Text: "When does the bakery open", Final: true}
			v.begins()
			v.wait(time.Second)
			if clientAt == 0 {
				v.send(transcript)
			}
			v.ends()
			v.understood("When does the bakery open?", true)
			if clientAt > 0 {
				v.wait(clientAt)
				v.send(transcript)
			}
			v.wait(2 * time.Second)
			v.expect("user: When does the bakery open?", builtinHours, "final Opening hours")
		})
	}
}
