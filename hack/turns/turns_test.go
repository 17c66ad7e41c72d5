package turns

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/speech/espeak"
	"visavis.dev/pkg/speech/espeak/espeaktest"
	"visavis.dev/pkg/speech/listening"
)

func TestMain(m *testing.M) { os.Exit(espeaktest.Tests{M: m}.Run()) }

// script is what is said in a language.
type script struct {
	tale, stops, listening, interrupts, questions []string
	// halves are thoughts with a pause in their middle.
	halves [][2]string
}

var scripts = map[string]script{
	"en": {
		tale: []string{
			"The orangery was built in eighteen ninety by two sisters who had brought lemon trees from the south.",
			"Every winter the whole town came to carry those trees inside before the first snow fell on the garden.",
		},
		stops:      []string{"Stop.", "Wait.", "Hold on, please.", "Okay, stop.", "Excuse me."},
		listening:  []string{"Mhm.", "Yeah.", "Okay.", "I see.", "Right, okay.", "Oh really."},
		interrupts: []string{"But what does a ticket cost?", "When do you close today?"},
		questions:  []string{"When does the museum open?", "What does a ticket cost?", "Yes.", "Is there a café in the garden?"},
		halves: [][2]string{
			{"I would like to know if", "you are open on Sundays."}, {"Can I come with", "my dog?"}, {"We are four people and", "two of them are children."},
		},
	},
	"de": {
		tale: []string{
			"Die Orangerie wurde von zwei Schwestern gebaut, die Zitronenbäume aus dem Süden mitgebracht hatten.",
			"Jeden Winter kam die ganze Stadt, um die Bäume vor dem ersten Schnee hineinzutragen.",
		},
		stops:      []string{"Stopp.", "Warte mal.", "Moment, bitte.", "Halt."},
		listening:  []string{"Mhm.", "Ja.", "Genau.", "Ach so.", "Okay, gut."},
		interrupts: []string{"Aber was kostet der Eintritt?", "Wann schließen Sie heute?"},
		questions:  []string{"Wann öffnet das Museum?", "Was kostet der Eintritt?", "Gibt es ein Café?"},
		halves: [][2]string{
			{"Ich möchte gern wissen, ob", "Sie am Sonntag offen haben."}, {"Kann ich mit", "meinem Hund kommen?"},
		},
	},
}

// figures are what is measured.
type figures struct {
	yields, softens, ends                        []time.Duration
	stops, obeyed, falseInterruptions, listening int
	early, missed, turns, halves                 int
	echoes, echoAnswered, echoInterrupted        int
	loudEchoes, loudEchoAnswered                 int
	wrong                                        []string
}

func (f *figures) note(format string, args ...any) {
	f.wrong = append(f.wrong, fmt.Sprintf(format, args...))
}

const quiet, loud = -62.0, -44.0

// TestTurns holds the product against its aims: every "stop" is obeyed, nothing that shows
// that somebody listens is, and the avatar never answers its own echo 20 dB below the visitor.
func TestTurns(t *testing.T) {
	pool := espeaktest.Open(t, espeak.Options{})
	s := &studio{t, pool, map[string]*line{}}
	for _, streams := range []bool{true, false} {
		f := &figures{}
		for language, script := range scripts {
			c := casting{t: t, studio: s, f: f, language: language, script: script, streams: streams}
			for _, noise := range []float64{quiet, loud} {
				c.noise = noise
				c.interrupting(0)
				c.asking()
				c.pausing()
			}
			c.noise = quiet
			c.interrupting(visitorLevel - 20)
			for _, down := range []float64{40, 30, 20, 10, 3} {
				c.echoing(down)
			}
		}
		name := map[bool]string{true: "streaming", false: "recordings"}[streams]
		f.print(name)
		for _, w := range f.wrong {
			t.Log(name + ": " + w)
		}
		require.Equal(t, f.stops, f.obeyed, "%s: every stop is obeyed", name)
		require.Zero(t, f.falseInterruptions, "%s: nothing that shows that somebody listens interrupts", name)
		require.Zero(t, f.echoAnswered, "%s: the avatar does not answer its echo at −20 dB", name)
		require.Zero(t, f.echoInterrupted, "%s: nor does it interrupt the avatar", name)
		require.LessOrEqual(t, percentile(f.softens, 95), 250*time.Millisecond, "%s: the avatar speaks softly at once", name)
		require.Zero(t, f.early, "%s: nobody is cut off in the middle of a thought", name)
		require.Zero(t, f.missed, "%s: every turn is taken", name)
		limit := map[bool]time.Duration{true: 1200 * time.Millisecond, false: 2500 * time.Millisecond}[streams]
		require.LessOrEqual(t, percentile(f.yields, 95), limit, "%s", name)
	}
}

// casting plays the scenes of a language.
type casting struct {
	t        *testing.T
	studio   *studio
	f        *figures
	language string
	script   script
	streams  bool
	noise    float64
}

func (c *casting) visitor(text string) *line { return c.studio.line("owen", c.language, text) }

func (c *casting) tale() (lines []*line) {
	for _, text := range c.script.tale {
		lines = append(lines, c.studio.line("nora", c.language, text))
	}
	return lines
}

func (c *casting) answer() *line {
	return c.studio.line("nora", "en", "I am sorry, I do not know that.")
}

// onset is when a line is first heard, no more than 20 dB below its level: it begins with a
// little silence, and some with a breath.
func onset(l *line) time.Duration {
	const step = listening.SampleRate / 100
	for n := 0; n+step <= len(l.samples); n += step {
		if rms(l.samples[n:n+step]) > l.level/10 {
			return time.Duration(n) * time.Second / listening.SampleRate
		}
	}
	return 0
}

// asks is when the first word is said that asks for the floor: an assent before it does not.
func asks(l *line) time.Duration {
	if len(l.words) > 1 && l.words[0].text == "Okay" {
		return l.words[1].begin
	}
	return onset(l)
}

// interrupting has the visitor speak while the avatar does.
func (c *casting) interrupting(echo float64) {
	during := func(text string, at time.Duration) (outcome, time.Duration) {
		l := c.visitor(text)
		o := play(c.t, scene{
			language: c.language, answers: c.answer(), tells: c.tale(), says: []*line{l}, at: []time.Duration{at}, streams: c.streams, echo: echo, noise: c.noise, lasts: 14 * time.Second,
		})
		if o.soft >= 0 {
			c.f.softens = append(c.f.softens, o.soft-at-onset(l))
		}
		return o, at + asks(l)
	}
	for i, text := range c.script.stops {
		o, from := during(text, time.Duration(1500+700*i)*time.Millisecond)
		c.f.stops++
		if o.interrupted < 0 {
			c.f.note("%q was not obeyed (echo %v, noise %v): %q", text, echo, c.noise, o.turns)
			continue
		}
		c.f.obeyed++
		c.f.yields = append(c.f.yields, o.interrupted-from)
		if took := o.interrupted - from; took > 2*time.Second {
			c.f.note("%q was obeyed after %v (echo %v, noise %v)", text, took, echo, c.noise)
		}
		if o.answered > 0 {
			c.f.note("%q was answered", text)
		}
	}
	for i, text := range c.script.interrupts {
		o, from := during(text, time.Duration(2000+900*i)*time.Millisecond)
		if o.interrupted < 0 {
			c.f.missed++
			c.f.note("%q did not interrupt", text)
			continue
		}
		c.f.yields = append(c.f.yields, o.interrupted-from)
	}
	for i, text := range c.script.listening {
		o, _ := during(text, time.Duration(1500+600*i)*time.Millisecond)
		c.f.listening++
		if o.interrupted >= 0 || o.answered > 0 {
			c.f.falseInterruptions++
			c.f.note("%q interrupted after %v (echo %v, noise %v): %q", text, o.interrupted, echo, c.noise, o.turns)
		}
	}
}

// asking has the visitor ask when nobody speaks.
func (c *casting) asking() {
	for _, text := range c.script.questions {
		l := c.visitor(text)
		o := play(c.t, scene{language: c.language, answers: c.answer(), says: []*line{l}, at: []time.Duration{1500 * time.Millisecond}, streams: c.streams, noise: c.noise, lasts: 8 * time.Second})
		c.taken(o, l.spoken())
	}
}

// pausing has the visitor pause in the middle of a thought.
func (c *casting) pausing() {
	for _, half := range c.script.halves {
		for _, pause := range []time.Duration{500 * time.Millisecond, 800 * time.Millisecond, 1100 * time.Millisecond} {
			first, second := c.visitor(half[0]), c.visitor(half[1])
			begin := 1500 * time.Millisecond
			again := begin + first.words[len(first.words)-1].end + pause - onset(second)
			o := play(c.t, scene{
				language: c.language, answers: c.answer(), says: []*line{first, second}, at: []time.Duration{begin, again}, streams: c.streams, noise: c.noise, lasts: 13 * time.Second,
			})
			c.f.halves++
			c.taken(o, first.spoken()+" "+second.spoken())
		}
	}
}

// taken judges how a turn was taken: once, as a whole, and soon.
func (c *casting) taken(o outcome, text string) {
	c.f.turns++
	switch {
	case len(o.turns) == 0:
		c.f.missed++
		c.f.note("%q was missed (noise %v)", text, c.noise)
	case len(o.turns) > 1:
		c.f.early++
		c.f.note("%q was cut into %q (noise %v)", text, o.turns, c.noise)
	case plain(o.turns[0]) != plain(text):
		c.f.note("%q was taken as %q", text, o.turns[0])
		c.f.missed++
	default:
		c.f.ends = append(c.f.ends, o.taken[0]-o.ended[len(o.ended)-1])
	}
}

func plain(text string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return strings.ContainsRune(" .,?!", r) }), " ")
}

// echoing has the avatar speak to somebody who is silent, so many dB above its echo.
func (c *casting) echoing(down float64) {
	o := play(c.t, scene{language: c.language, answers: c.answer(), tells: c.tale(), streams: c.streams, echo: visitorLevel - down, noise: c.noise, lasts: 15 * time.Second})
	answered := len(o.turns) + o.answered
	if down < 20 {
		c.f.loudEchoes++
		if answered > 0 || o.interrupted >= 0 {
			c.f.loudEchoAnswered++
			c.f.note("its echo at −%v dB was taken for %q", down, o.turns)
		}
		return
	}
	c.f.echoes++
	if answered > 0 {
		c.f.echoAnswered++
		c.f.note("its echo at −%v dB was taken for %q", down, o.turns)
	}
	if o.interrupted >= 0 {
		c.f.echoInterrupted++
	}
}

func percentile(all []time.Duration, p int) time.Duration {
	if len(all) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(all))
	return sorted[min(len(sorted)-1, len(sorted)*p/100)]
}

// print prints the figures as benchstat reads them.
func (f *figures) print(name string) {
	ms := func(d time.Duration) int64 { return d.Milliseconds() }
	fmt.Printf("BenchmarkTurnTaking/%s 1 %d time_to_yield_p50_ms %d time_to_yield_p95_ms %d time_to_soften_p50_ms %d time_to_soften_p95_ms %d false_interruption_count %d/%d stops_obeyed "+
		"%d early_ends %d missed_ends %d end_of_turn_p50_ms %d end_of_turn_p95_ms %d echo_answers %d/%d loud_echo_taken\n",
		name, ms(percentile(f.yields, 50)), ms(percentile(f.yields, 95)), ms(percentile(f.softens, 50)), ms(percentile(f.softens, 95)), f.falseInterruptions, f.obeyed, f.stops,
		f.early, f.missed, ms(percentile(f.ends, 50)), ms(percentile(f.ends, 95)), f.echoAnswered, f.loudEchoAnswered, f.loudEchoes)
}
