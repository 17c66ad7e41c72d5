package turns

import (
	"context"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/speech/espeak"
	"visavis.dev/pkg/speech/listening"
	"visavis.dev/pkg/speech/playout"
	"visavis.dev/pkg/speech/sound/soundtest"
	"visavis.dev/pkg/speech/speaker"
)

// line is something said, synthesized before time begins to pass.
type line struct {
	text   string
	chunks []speaker.Chunk
	// samples are at the microphone's rate, and words when each was said whole.
	samples []int16
	words   []spokenWord
	level   float64
}

// spokenWord is a word, from the first sample of its line.
type spokenWord struct {
	text       string
	begin, end time.Duration
}

// spoken are the words as the engine takes them: it says some as one.
func (l *line) spoken() string {
	var texts []string
	for _, w := range l.words {
		texts = append(texts, w.text)
	}
	return strings.Join(texts, " ")
}

// studio synthesizes lines once.
type studio struct {
	t     *testing.T
	pool  *espeak.Pool
	lines map[string]*line
}

func (s *studio) line(voice, language, text string) *line {
	s.t.Helper()
	key := voice + language + text
	if l, ok := s.lines[key]; ok {
		return l
	}
	l := &line{text: text}
	var all []int16
	require.NoError(s.t, s.pool.Speak(context.Background(), speaker.Request{Text: text, Language: language, Voice: voice}, func(c speaker.Chunk) error {
		c.Samples = append([]int16(nil), c.Samples...)
		l.chunks = append(l.chunks, c)
		all = append(all, c.Samples...)
		for _, w := range c.Words {
			begin := time.Duration(w.AtMs) * time.Millisecond
			l.words = append(l.words, spokenWord{text[w.From:w.To], begin, begin + time.Duration(w.LastsMs)*time.Millisecond})
		}
		return nil
	}))
	l.samples = soundtest.Downsample(nil, all)
	l.level = rms(l.samples)
	s.lines[key] = l
	return l
}

// rms is the level of what is not silent.
func rms(samples []int16) float64 {
	sum, n := 0.0, 1
	for _, v := range samples {
		if v > 100 || v < -100 {
			sum += float64(v) * float64(v)
			n++
		}
	}
	return math.Sqrt(sum / float64(n))
}

// replay is a speaker that says what was synthesized.
type replay map[string]*line

func (replay) Speaks(string) bool { return true }

func (r replay) Speak(_ context.Context, q speaker.Request, heard func(speaker.Chunk) error) error {
	l := r[q.Text]
	if l == nil {
		l = r[""] // any answer sounds alike
	}
	for _, c := range l.chunks {
		if err := heard(c); err != nil {
			return err
		}
	}
	return nil
}

const (
	// cushion is how long a client waits before it plays, and travels how long a message
	// or a frame is on its way.
	cushion = 120 * time.Millisecond
	travels = 20 * time.Millisecond
	// comesBack is how late the loudspeaker is in the microphone.
	comesBack = 90 * time.Millisecond
	// softly is how loud a ducked turn is played.
	softly = 0.15
	// visitorLevel is that of the visitor in the microphone, in dB of full scale.
	visitorLevel = -26.0
)

// heardWord is one that sounded in the room at a moment.
type heardWord struct {
	spokenWord
	at time.Time
}

// room is where a visitor sits: a loudspeaker, a microphone, and noise.
type room struct {
	mu    sync.Mutex
	began time.Time
	// speaker is what the loudspeaker plays, at the microphone's rate, from when time began.
	speaker []float64
	// stream is what is played now, from origin on.
	stream  uint16
	turn    id.Turn
	origin  time.Time
	ducked  bool
	stopped map[uint16]bool
	// visitor is what the visitor says, and theirs their words.
	visitor []float64
	theirs  []heardWord
	// echo and noise are the levels in the microphone, in dB of full scale; 0 for none.
	echo, noise, played float64
	random              *rand.Rand
	// silentAt is when the loudspeaker was made to stop, and softAt to play softly.
	silentAt, softAt time.Time
}

func newRoom(echo, noise, played float64) *room {
	return &room{began: time.Now(), stopped: map[uint16]bool{}, echo: echo, noise: noise, played: played, random: rand.New(rand.NewPCG(7, 7))}
}

func at(d time.Duration) int { return int(d * listening.SampleRate / time.Second) }

// says has the visitor say a line at a moment.
func (r *room) says(l *line, when time.Duration) (ends time.Duration) {
	gain := 32768 * math.Pow(10, visitorLevel/20) / l.level
	r.visitor = put(r.visitor, at(when), l.samples, gain)
	for _, w := range l.words {
		r.theirs = append(r.theirs, heardWord{w, r.began.Add(when + w.begin)})
	}
	last := l.words[len(l.words)-1]
	return when + last.end
}

func put(to []float64, from int, samples []int16, gain float64) []float64 {
	if grow := from + len(samples) - len(to); grow > 0 {
		to = append(to, make([]float64, grow)...)
	}
	for i, s := range samples {
		to[from+i] = gain * float64(s)
	}
	return to
}

// Announce implements playout.Client.
func (r *room) Announce(turn id.Turn, stream uint16) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stream, r.turn, r.origin = stream, turn, time.Time{}
}

// Visemes implements playout.Client.
func (r *room) Visemes(id.Turn, []speaker.Viseme) {}

// Backlog implements playout.Client.
func (r *room) Backlog() int { return 0 }

// Frame implements playout.Client: the loudspeaker has it a little later.
func (r *room) Frame(frame []byte, _ playout.Format, _ *atomic.Bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	stream := binary.BigEndian.Uint16(frame[2:])
	t := time.Duration(binary.BigEndian.Uint32(frame[4:])) * time.Millisecond
	if r.stopped[stream] || stream != r.stream {
		return
	}
	if r.origin.IsZero() {
		r.origin = time.Now().Add(travels + cushion - t)
	}
	payload := frame[playout.HeaderBytes:]
	samples := make([]int16, len(payload)/2)
	for i := range samples {
		samples[i] = int16(binary.LittleEndian.Uint16(payload[2*i:]))
	}
	r.speaker = put(r.speaker, at(r.origin.Add(t).Sub(r.began)), soundtest.Downsample(nil, samples), 1)
}

// stop has the loudspeaker be quiet.
func (r *room) stop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stopped[r.stream] = true
	r.silentAt = time.Now().Add(travels)
	if n := at(r.silentAt.Sub(r.began)); n < len(r.speaker) {
		r.speaker = r.speaker[:n]
	}
	r.ducked = false
}

func (r *room) duck(on bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ducked = on
	if on && r.softAt.IsZero() {
		r.softAt = time.Now().Add(travels)
	}
}

// position is how far the turn was played.
func (r *room) position() (turn id.Turn, at time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.origin.IsZero() || r.stopped[r.stream] {
		return turn, 0
	}
	return r.turn, max(0, time.Since(r.origin))
}

// frame is what the microphone hears in the 20 ms until now.
func (r *room) frame() []int16 {
	r.mu.Lock()
	defer r.mu.Unlock()
	const count = listening.SampleRate / 50
	from := at(time.Since(r.began)) - count
	out := make([]int16, count)
	echo := 0.0
	if r.echo != 0 {
		echo = 32768 * math.Pow(10, r.echo/20) / r.played
	}
	if r.ducked {
		echo *= softly
	}
	hiss := 0.0
	if r.noise != 0 {
		hiss = 32768 * math.Pow(10, r.noise/20)
	}
	for i := range out {
		v := hiss * r.random.NormFloat64()
		if n := from + i; n >= 0 && n < len(r.visitor) {
			v += r.visitor[n]
		}
		if n := from + i - at(comesBack); n >= 0 && n < len(r.speaker) {
			v += echo * r.speaker[n]
		}
		out[i] = int16(max(min(v, 32767), -32768))
	}
	return out
}

func join(words []heardWord, until time.Time) string {
	var texts []string
	for _, w := range words {
		if !w.at.Add(w.end - w.begin).After(until) {
			texts = append(texts, w.text)
		}
	}
	return strings.Join(texts, " ")
}
