// Package tape records a conversation as it was heard: what the avatar said, as far as it
// was played, and what the user said, mixed into one track of Opus; and beside it what
// the face did, as a track of messages with their times.
//
// A Recorder is told of both sides when they come, holds some seconds of them, and gives
// them on in pieces. Its memory does not grow with the conversation.
package tape

import (
	"encoding/json"
	"log/slog"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/speech/sound"
	"visavis.dev/pkg/speech/speaker"
)

const (
	// rate is that of the mixed sound, in Hz.
	rate = speaker.SampleRate
	// UserRate is that of the user's sound, in Hz.
	UserRate = 16000
	// packet is how many samples a packet has.
	packet = rate * PacketMs / 1000
	// window is what is held: what is not recorded yet, and what is played soon.
	window = 8 * rate
	// behind is how long sound may be late before it is recorded without it.
	behind = 500 * time.Millisecond
	// ahead is how much sound may come before its time.
	ahead = 5 * time.Second
	// gap is a jump in time that is heard; less is taken for jitter.
	gap = 200 * time.Millisecond
	// often is how often what is behind is recorded.
	often = 250 * time.Millisecond
	// pieceLasts is how long a piece is, and so what is lost with a process.
	pieceLasts = 5 * time.Second
	// mostTrack bounds the track of a piece, in bytes.
	mostTrack = 32 << 10
	// fades is how many silent packets are encoded before the last of them is repeated.
	fades = 10
)

// Options are what a recorder works with.
type Options struct {
	// Zero is when the conversation began, from which all times are.
	Zero time.Time
	// Keep takes a piece. It must not wait.
	Keep  func(Piece)
	Clock clock.WithTickerAndDelayedExecution
	Log   *slog.Logger
}

// Recorder records a conversation until it is closed. Its methods never wait.
type Recorder struct {
	o    Options
	done chan struct{}
	once sync.Once
	ran  sync.WaitGroup

	mu sync.Mutex
	// head is the first sample that is not recorded, from zero.
	head         int64
	avatar, user side
	// turn is the avatar's that is played; from is where its sample 0 stands.
	turn   id.Turn
	from   time.Duration
	rising *sound.Resampler
	piece  Piece
	closed bool

	// The rest is the goroutine's.
	encoder *sound.Opus
	mixed   []int16
	silent  int
	hush    []byte
}

// side is what one side says: a ring of samples around the head, and where the next goes.
type side struct {
	ring []int16
	next int64
}

// New begins a recording.
func New(o Options) (*Recorder, error) {
	encoder, err := sound.NewOpus(rate)
	if err != nil {
		return nil, err
	}
	r := &Recorder{
		o: o, done: make(chan struct{}), encoder: encoder, mixed: make([]int16, packet), rising: sound.NewResampler(UserRate, rate),
		avatar: side{ring: make([]int16, window)}, user: side{ring: make([]int16, window)},
	}
	r.head = r.now() / packet * packet
	r.piece.At = lasts(r.head)
	ticks := o.Clock.NewTicker(often)
	r.ran.Go(func() {
		defer ticks.Stop()
		for {
			select {
			case <-ticks.C():
				r.record(r.now() - samples(behind))
			case <-r.done:
				return
			}
		}
	})
	return r, nil
}

// Close ends the recording and gives the last piece on. It waits for no more than a
// moment's work.
func (r *Recorder) Close() {
	r.once.Do(func() {
		close(r.done)
		r.ran.Wait()
		r.record(max(r.now(), r.least()))
		r.mu.Lock()
		defer r.mu.Unlock()
		r.closed = true
		r.flush()
	})
}

// least is until when the last piece goes at least: what the face did is kept with some sound.
func (r *Recorder) least() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.piece.Packets) == 0 && len(r.piece.Track) > 0 {
		return r.head + packet
	}
	return 0
}

// now is the sample of this moment.
func (r *Recorder) now() int64 { return max(0, samples(r.o.Clock.Since(r.o.Zero))) }

func samples(d time.Duration) int64 { return int64(d) * rate / int64(time.Second) }

func lasts(samples int64) time.Duration { return time.Duration(samples) * time.Second / rate }

// Plays records what the client plays of a turn: samples of it, from some moment of it on,
// that are heard at a time.
func (r *Recorder) Plays(turn id.Turn, from time.Duration, when time.Time, heard []int16) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return
	}
	begin := samples(when.Sub(r.o.Zero))
	late := r.avatar.next - begin
	if max(late, -late) < samples(gap) || turn != r.turn && late > 0 && late < samples(ahead) {
		begin = r.avatar.next // it follows what was played before
	}
	r.avatar.next = r.put(r.avatar.ring, begin, heard)
	if zero := lasts(begin) - from; turn != r.turn || (zero-r.from).Abs() > PacketMs*time.Millisecond {
		r.turn, r.from = turn, zero
		r.note(lasts(begin), "plays", mustJSON(map[string]any{"turnId": turn, "from": from.Milliseconds()}))
	}
}

// Stops ends a turn: what was to be played after a time was not.
func (r *Recorder) Stops(turn id.Turn, when time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if turn != r.turn {
		return
	}
	end := max(r.head, samples(when.Sub(r.o.Zero)))
	for at := end; at < r.avatar.next; at++ {
		r.avatar.ring[at%window] = 0
	}
	r.avatar.next = min(r.avatar.next, end)
	r.turn = id.Turn{}
	r.note(lasts(end), "stops", mustJSON(map[string]any{"turnId": turn}))
}

// Hear records what the user says, samples at UserRate, as it comes.
func (r *Recorder) Hear(said []int16) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return
	}
	now := r.now()
	begin := r.user.next
	switch {
	case begin < now-samples(gap):
		begin = now // they were silent
	case begin > now+samples(ahead)-int64(len(said))*rate/UserRate:
		return // it comes faster than time
	}
	floats := make([]float32, len(said))
	for i, s := range said {
		floats[i] = float32(s)
	}
	raised := r.rising.Push(nil, floats)
	out := make([]int16, len(raised))
	for i, s := range raised {
		out[i] = clip(int32(s))
	}
	r.user.next = r.put(r.user.ring, begin, out)
}

// Message notes a message of the conversation's in the face's track. What is too much is left out.
func (r *Recorder) Message(kind string, data json.RawMessage) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.closed {
		r.note(r.o.Clock.Since(r.o.Zero), kind, data)
	}
}

// put lays samples into a ring and answers where the next go. What is too late or too early
// is left out.
func (r *Recorder) put(ring []int16, begin int64, heard []int16) int64 {
	for i, s := range heard {
		if at := begin + int64(i); at >= r.head && at < r.head+window {
			ring[at%window] = s
		}
	}
	return begin + int64(len(heard))
}

// note adds an item to the track; the lock is held.
func (r *Recorder) note(at time.Duration, kind string, data json.RawMessage) {
	item := mustJSON(struct {
		T    int64           `json:"t"`
		Type string          `json:"type"`
		Data json.RawMessage `json:"data"`
	}{at.Milliseconds(), kind, data})
	if len(r.piece.Track)+len(item) < mostTrack {
		r.piece.Track = append(append(r.piece.Track, item...), '\n')
	}
}

// mustJSON writes what is always JSON.
func mustJSON(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		return []byte("null")
	}
	return text
}

// record records what was heard before a sample.
func (r *Recorder) record(until int64) {
	for r.mix(until) {
		packet, err := r.encode()
		r.mu.Lock()
		if err != nil {
			r.o.Log.Error("failed to encode what was heard", "error", err)
		}
		r.piece.Packets = append(r.piece.Packets, packet)
		if r.piece.Lasts() >= pieceLasts {
			r.flush()
		}
		r.mu.Unlock()
	}
}

// mix takes the next packet's samples of both sides; false where they are not heard yet.
func (r *Recorder) mix(until int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.head+packet > until {
		return false
	}
	for i := range r.mixed {
		at := (r.head + int64(i)) % window
		r.mixed[i] = clip(int32(r.avatar.ring[at]) + int32(r.user.ring[at]))
		r.avatar.ring[at], r.user.ring[at] = 0, 0
	}
	r.head += packet
	return true
}

func clip(s int32) int16 { return int16(max(-32768, min(32767, s))) }

// encode makes a packet of what was mixed. Silence that goes on costs nothing.
func (r *Recorder) encode() ([]byte, error) {
	quiet := true
	for _, s := range r.mixed {
		if s != 0 {
			quiet = false
			break
		}
	}
	if !quiet {
		r.silent = 0
	} else if r.silent++; r.silent > fades && r.hush != nil {
		return r.hush, nil
	}
	packet, err := r.encoder.Encode(r.mixed)
	if quiet && r.silent == fades {
		r.hush = packet
	}
	return packet, err
}

// flush gives the piece on; the lock is held.
func (r *Recorder) flush() {
	if len(r.piece.Packets) > 0 {
		r.o.Keep(r.piece)
	}
	r.piece = Piece{At: lasts(r.head)}
}
