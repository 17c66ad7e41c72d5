// Package playout plays what a speaker says to one client: sentence after sentence of a
// turn as one track, in the format that the client plays, a little ahead of its playing and
// no more, so that what is interrupted is not on its way any more.
//
// A Player has two goroutines while somebody listens: one has sentences spoken and tells
// of the words' times (make.go), one sends the frames (send.go). Its methods never wait.
package playout

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/utils/clock"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/speech/sound"
	"visavis.dev/pkg/speech/speaker"
)

// Format is what frames hold.
type Format string

// The formats: packets of 20 ms that decode to 48 kHz, and samples of 16 bits,
// little-endian, at 24 kHz. Both are mono. Track is Opus as a track of WebRTC has it: each
// packet in its time, since a browser plays what comes when it comes. Remote is PCM for somebody who plays it to the client
// and may be lost with what it has not played (Rewind). None is that of a client
// that only reads.
const (
	None  Format = ""
	Opus  Format = "opus"
	PCM   Format = "pcm"
	Track Format = "track"

	Remote Format = "remote"
)

// Rate is the sample rate of a format, in Hz.
func (f Format) Rate() int {
	if f.packed() {
		return 48000
	}
	return speaker.SampleRate
}

// packed says whether frames hold packets of Opus.
func (f Format) packed() bool { return f == Opus || f == Track }

// Choose is the first of a client's formats that is known, or None.
func Choose(preferred []string) Format {
	for _, name := range preferred {
		if f := Format(name); f == Opus || f == PCM {
			return f
		}
	}
	return None
}

// Sentence is the next one of a turn.
type Sentence struct {
	Turn           id.Turn
	Number         int
	Text, Language string
	// Host is who of several says it (Options.Hosts); empty for the only one.
	Host  string
	Speed float64
}

// Progress is what became of a sentence so far. Times are from the turn's first sample.
type Progress struct {
	Turn       id.Turn
	Number     int
	Begin, End time.Duration
	// Words are those that are new, with AtMs from the turn's first sample.
	Words []speaker.Word
	// Whole says that nothing more comes, and Failed that something is missing.
	Whole, Failed bool
}

// Client is who listens. Its methods are called one at a time and must not wait, nor call
// the player.
type Client interface {
	// Announce says which turn the frames of a stream are of.
	Announce(turn id.Turn, stream uint16)
	// Visemes are told before the sound that they go with; AtMs is from the turn's
	// first sample.
	Visemes(turn id.Turn, items []speaker.Viseme)
	// Frame sends a frame (Header) of a format, unless stopped is set by the time it can be
	// sent.
	Frame(frame []byte, of Format, stopped *atomic.Bool)
	// Backlog is how many frames wait to be sent.
	Backlog() int
}

// Heard is told what the client plays, and when, as far as that is known. Its methods are
// called one at a time and must not wait, nor call the player.
type Heard interface {
	// Plays is told of samples of a turn, from some moment of it on, that are played at a time.
	Plays(turn id.Turn, from time.Duration, at time.Time, samples []int16)
	// Stops is told that no more of a turn is played from a time on.
	Stops(turn id.Turn, at time.Time)
}

// Voice is who speaks, and what a request to it has besides the sentence.
type Voice struct {
	Speaker speaker.Speaker
	In      func(language string) speaker.Request
	// Pace is a speed within what the voice can do; nil where any is.
	Pace func(speed float64) float64
}

// Options are what a player works with.
type Options struct {
	Speaker speaker.Speaker
	// Voice is what a request has besides the sentence: its Text, Language and Speed
	// are filled in.
	Voice func(language string) speaker.Request
	// Hosts say the sentences of theirs; Speaker and Voice all others.
	Hosts  map[string]Voice
	Client Client
	// Heard is who else hears what is played; nil for nobody.
	Heard Heard
	// Progress hears what became of sentences, in order. It must not wait.
	Progress func(Progress)
	Clock    clock.WithDelayedExecution
	Log      *slog.Logger
}

// Player plays to one client, who may go and come back.
type Player struct {
	o Options

	start, stop sync.Once
	running     sync.WaitGroup
	ctx         context.Context
	cancel      context.CancelFunc
	// toMake and toSend wake the goroutines.
	toMake, toSend chan struct{}

	mu      sync.Mutex
	format  Format
	encoder *sound.Opus
	streams uint16
	turn    *turn
	// before is the turn before, and endedAt when it was dropped: it may still be heard.
	before  *turn
	endedAt time.Time
	queue   []Sentence
	// breakOff ends the sentence that is being spoken.
	breakOff context.CancelFunc
}

// turn is one that is being said.
type turn struct {
	id        id.Turn
	stream    uint16
	announced bool
	// unsent are the samples that wait, sent counts those before them, and visemes are
	// all of the turn.
	unsent  []int16
	sent    int64
	visemes []speaker.Viseme
	// kept are the last samples that were sent to somebody who may be lost.
	kept []int16
	// levels are how loud the packets were that were sent, of 1.
	levels []float32
	// open is how many sentences were given and are not made; whole says that no more come.
	open  int
	whole bool
	// over says that the last frame was sent; stopped that it is not to be heard any more.
	over    bool
	stopped atomic.Bool
	// zero is when the first sample was played, by the clock; zero before that.
	zero time.Time
	// report is how far the client said that it played, at reported.
	report   time.Duration
	reported time.Time
}

// New makes a player. It costs next to nothing before somebody listens.
func New(o Options) *Player {
	p := &Player{o: o, toMake: make(chan struct{}, 1), toSend: make(chan struct{}, 1)}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	return p
}

// Close ends the player. What is being played breaks off.
func (p *Player) Close() {
	p.stop.Do(func() {
		p.cancel()
		p.mu.Lock()
		p.drop()
		p.format = None
		p.mu.Unlock()
		p.running.Wait()
	})
}

// Connect notes that a client listens, or that one that only reads is there. A turn that
// is being played goes on for it.
func (p *Player) Connect(f Format) error {
	encoder, err := encoderFor(f)
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.connect(f, encoder)
	return nil
}

// encoderFor is what makes packets in a format; nil where it has none.
func encoderFor(f Format) (*sound.Opus, error) {
	if !f.packed() {
		return nil, nil
	}
	return sound.NewOpus(speaker.SampleRate)
}

// connect has sound come in a format; the lock is held.
func (p *Player) connect(f Format, encoder *sound.Opus) {
	if p.ctx.Err() != nil || f == p.format {
		return
	}
	p.format, p.encoder, p.streams = f, encoder, 0
	if p.turn != nil {
		p.turn.announced = false
	}
	if f != None {
		p.start.Do(func() {
			p.running.Go(p.makeSound)
			p.running.Go(p.sendFrames)
		})
		wake(p.toSend)
	}
}

// Audible says whether somebody listens.
func (p *Player) Audible() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.format != None
}

// Say has a sentence said after those before it. One of another turn ends the turn before.
func (p *Player) Say(s Sentence) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ctx.Err() != nil {
		return
	}
	if p.turn == nil || p.turn.id != s.Turn {
		p.drop()
		p.turn = &turn{id: s.Turn}
	}
	p.turn.open++
	p.queue = append(p.queue, s)
	wake(p.toMake)
}

// Finish says that no more sentences of a turn come.
func (p *Player) Finish(which id.Turn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.turn != nil && p.turn.id == which {
		p.turn.whole = true
		wake(p.toSend)
	}
}

// Stop ends a turn at once: no frame of it is sent any more.
func (p *Player) Stop(which id.Turn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.turn != nil && p.turn.id == which {
		p.turn.stopped.Store(true)
		if p.o.Heard != nil {
			p.o.Heard.Stops(which, p.o.Clock.Now())
		}
		p.drop()
	}
}

// drop forgets the turn; the lock is held.
func (p *Player) drop() {
	if p.turn != nil {
		p.before, p.endedAt = p.turn, p.o.Clock.Now()
	}
	p.turn, p.queue = nil, nil
	if p.breakOff != nil {
		p.breakOff()
	}
}

// Played takes the client's word for how far it played a turn.
func (p *Player) Played(which id.Turn, at time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if t := p.turn; t != nil && t.id == which {
		t.report, t.reported = at, p.o.Clock.Now()
		wake(p.toSend)
	}
}

// Rewind is Connect where who was to play what was sent (Remote) is gone: what was sent of a turn after a moment of it is sent again in the
// format, as much of it as is kept, and none of it to who is gone.
func (p *Player) Rewind(which id.Turn, to time.Duration, f Format) error {
	encoder, err := encoderFor(f)
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.connect(f, encoder)
	t := p.turn
	if t == nil || t.id != which || t.stopped.Load() {
		return nil
	}
	back := min(t.sent-int64(to)*speaker.SampleRate/int64(time.Second), int64(len(t.kept)))
	back -= back % packet
	if back > 0 {
		t.unsent = append(slices.Clone(t.kept[int64(len(t.kept))-back:]), t.unsent...)
		t.sent -= back
		t.levels = t.levels[:min(int64(len(t.levels)), t.sent/packet)]
		t.over = false
	}
	t.kept, t.zero, t.reported = nil, p.o.Clock.Now().Add(-lasts(t.sent)), time.Time{}
	wake(p.toSend)
	return nil
}

func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// lasts is how long so many samples are.
func lasts(samples int64) time.Duration {
	return time.Duration(samples) * time.Second / speaker.SampleRate
}
