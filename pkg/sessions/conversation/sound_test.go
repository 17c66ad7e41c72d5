package conversation

import (
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"visavis.dev/pkg/base/id"
)

// recorder is a Sound that says nothing until the script does.
type recorder struct {
	mu      sync.Mutex
	stage   *stage
	deaf    bool
	said    []Sentence
	stopped []id.Turn
	whole   []id.Turn
	// told is how many of what was said were told of, and ended where the last ended.
	told  int
	ended time.Duration
}

func (r *recorder) Audible() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.deaf
}

func (r *recorder) Say(s Sentence) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.said = append(r.said, s)
}

func (r *recorder) Finish(turn id.Turn) { r.whole = append(r.whole, turn) }

func (r *recorder) Stop(turn id.Turn) {
	r.stopped = append(r.stopped, turn)
	r.stage.mu.Lock()
	defer r.stage.mu.Unlock()
	for _, m := range r.stage.messages {
		if d, ok := m.Data.(Interrupted); ok && d.Turn == turn {
			r.stage.broken = append(r.stage.broken, "interrupted before the sound was stopped")
		}
	}
}

// sound tells of a sentence that every word of takes 400 ms, after a silence of 100 ms.
func (r *recorder) sound(n int, begin time.Duration) (end time.Duration) {
	r.mu.Lock()
	s := r.said[n]
	r.mu.Unlock()
	told := Sounded{Turn: s.Turn, Number: s.Number, Begin: begin, Whole: true}
	at := begin + 100*time.Millisecond
	for _, w := range spokenWords(s.Text) {
		told.Marks = append(told.Marks, Mark{At: at, Lasts: 400 * time.Millisecond, From: w.from, To: w.to})
		at += 400 * time.Millisecond
	}
	told.End = at
	r.stage.c.Sounded(told)
	synctest.Wait()
	return at
}

// catchUp tells, or does not tell yet, of some of the sentences that were given.
func (r *recorder) catchUp(t *rapid.T) {
	r.mu.Lock()
	r.deaf = rapid.IntRange(0, 9).Draw(t, "deaf") == 0
	count := len(r.said)
	r.mu.Unlock()
	for ; r.told < count && rapid.Bool().Draw(t, "told"); r.told++ {
		if r.told == 0 || r.said[r.told].Turn != r.said[r.told-1].Turn {
			r.ended = 0
		}
		switch s := r.said[r.told]; rapid.IntRange(0, 3).Draw(t, "outcome") {
		case 0:
			r.stage.c.Sounded(Sounded{Turn: s.Turn, Number: s.Number, Begin: r.ended, End: r.ended, Whole: true, Failed: true})
		default:
			r.ended = r.sound(r.told, r.ended)
		}
	}
}

// playAloud plays a script to a client that plays sound.
func playAloud(t *testing.T, script func(*stage, *recorder)) {
	t.Helper()
	r := &recorder{}
	play(t, func(c *Config) { c.Sound = r }, func(s *stage) {
		r.stage = s
		s.ready()
		script(s, r)
	})
}

// words are what the client was told of the words' times.
func (s *stage) words() []Word {
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Word
	for _, m := range s.messages {
		if d, ok := m.Data.(Words); ok {
			out = append(out, d.Items...)
		}
	}
	return out
}

func TestTrueTimesOfWords(t *testing.T) {
	playAloud(t, func(s *stage, r *recorder) {
		s.c.Say(Say{Text: "One two. Three four.", Record: true, Interruptible: true})
		s.expect("bot: One two.", "bot: Three four.", "final")
		require.Empty(t, s.words(), "nothing is known of them yet")
		require.Equal(t, []string{"One two.", "Three four."}, []string{r.said[0].Text, r.said[1].Text})
		require.Equal(t, r.said[0].Turn, r.whole[0])
		next := r.sound(0, 0)
		r.sound(1, next+250*time.Millisecond)
		require.Equal(t, []Word{{100, 400, "One"}, {500, 400, "two."}, {1250, 400, "Three"}, {1650, 400, "four."}}, s.words())
		s.wait(2 * time.Second)
		require.Equal(t, "speaking", s.state())
		s.wait(200 * time.Millisecond)
		require.Equal(t, "listening", s.state())
		require.Equal(t, "One two. Three four.", s.lastTurn().Spoken)
	})
}

// An interrupted turn keeps exactly what was heard, wherever it is interrupted: by the
// clock, and by what the client says that it played.
func TestInterruptionKeepsTheWordsThatWereHeard(t *testing.T) {
	text := "One two three four five six."
	for at := time.Duration(0); at < 3*time.Second; at += 250 * time.Millisecond {
		for _, reports := range []bool{false, true} {
			playAloud(t, func(s *stage, r *recorder) {
				s.c.Say(Say{Text: text, Record: true, Interruptible: true})
				synctest.Wait()
				s.wait(300 * time.Millisecond) // nothing is heard before the sound is there
				r.sound(0, 0)
				heard := at
				s.wait(at)
				if reports { // its playing is behind
					heard = max(at-210*time.Millisecond, 0)
					s.send(ClientMessage{Type: Playback, Turn: r.said[0].Turn, PlayedMs: heard.Milliseconds()})
				}
				count := max(0, min(6, int((heard-100*time.Millisecond)/(400*time.Millisecond))))
				want := strings.Join(strings.Fields(text)[:count], " ")
				s.send(ClientMessage{Type: Interrupt})
				if at > 2400*time.Millisecond {
					require.Equal(t, text, s.lastTurn().Spoken, "it had been played to the end")
					return
				}
				require.Equal(t, want, s.lastTurn().Spoken, "at %s", at)
				require.Equal(t, []id.Turn{r.said[0].Turn}, r.stopped)
				// What it played until it heard of that counts too.
				s.send(ClientMessage{Type: Playback, Turn: r.said[0].Turn, PlayedMs: 1300})
				require.Equal(t, "One two three", s.lastTurn().Spoken)
			})
		}
	}
}

func TestWhatWasNotSoundedWasNotHeard(t *testing.T) {
	playAloud(t, func(s *stage, r *recorder) {
		s.c.Say(Say{Text: "One two three. Four five six.", Record: true, Interruptible: true})
		synctest.Wait()
		r.sound(0, 0)
		s.wait(10 * time.Second)
		require.Equal(t, "speaking", s.state(), "the second sentence is still on its way")
		s.send(ClientMessage{Type: Interrupt})
		require.Equal(t, "One two three.", s.lastTurn().Spoken)
	})
}

// A sentence whose sound comes late is played from then on.
func TestLateSound(t *testing.T) {
	playAloud(t, func(s *stage, r *recorder) {
		s.c.Say(Say{Text: "One two. Three four.", Record: true, Interruptible: true})
		synctest.Wait()
		next := r.sound(0, 0)
		s.wait(5 * time.Second)
		r.sound(1, next)
		s.wait(600 * time.Millisecond)
		s.send(ClientMessage{Type: Interrupt})
		require.Equal(t, "One two. Three", s.lastTurn().Spoken)
	})
}

func TestSentenceWithoutSound(t *testing.T) {
	playAloud(t, func(s *stage, r *recorder) {
		s.c.Say(Say{Text: "One two. Three four.", Record: true, Interruptible: true})
		synctest.Wait()
		next := r.sound(0, 0)
		s.c.Sounded(Sounded{Turn: r.said[1].Turn, Number: 1, Begin: next, End: next, Whole: true, Failed: true})
		require.Len(t, s.words(), 4, "estimates take the place of what did not come")
		require.Equal(t, "Three", s.words()[2].Text)
		s.wait(5 * time.Second)
		require.Equal(t, "listening", s.state())
		require.Equal(t, "One two. Three four.", s.lastTurn().Spoken)
	})
}

// Sound that never comes does not hold the conversation up for ever.
func TestSoundThatNeverComes(t *testing.T) {
	playAloud(t, func(s *stage, _ *recorder) {
		s.c.Say(Say{Text: "One two.", Record: true, Interruptible: true})
		s.wait(20 * time.Second)
		require.Equal(t, "listening", s.state())
	})
}

// Who only reads is told what they always were.
func TestSoundForNobody(t *testing.T) {
	silent := func(*Config) {}
	deaf := func(c *Config) { c.Sound = &recorder{deaf: true} }
	var told [][]Word
	for _, setup := range []func(*Config){silent, deaf} {
		play(t, setup, func(s *stage) {
			s.ready()
			s.c.Say(Say{Text: "One two. Three four.", Record: true, Interruptible: true})
			s.wait(300 * time.Millisecond)
			told = append(told, s.words())
			s.wait(3 * time.Second)
			require.Equal(t, "listening", s.state())
		})
	}
	require.Equal(t, told[0], told[1])
	require.Len(t, told[0], 4)
}

// A word that is spoken as several, several that are spoken as one, and one that is not
// spoken at all.
func TestWordsSpokenOtherwise(t *testing.T) {
	playAloud(t, func(s *stage, r *recorder) {
		s.c.Say(Say{Text: "At 7:30 – in New York.", Record: true, Interruptible: true})
		synctest.Wait()
		ms := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
		s.c.Sounded(Sounded{Turn: r.said[0].Turn, End: ms(2000), Whole: true, Marks: []Mark{
			{ms(0), ms(200), 0, 2}, {ms(200), ms(200), 3, 4}, {ms(400), ms(300), 5, 7}, {ms(900), ms(100), 12, 14}, {ms(1000), ms(900), 15, 23},
		}})
		require.Equal(t, []Word{
			{0, 200, "At"}, {200, 500, "7:30"}, {900, 0, "–"}, {900, 100, "in"}, {1000, 900, "New"}, {2000, 0, "York."},
		}, s.words())
	})
}
