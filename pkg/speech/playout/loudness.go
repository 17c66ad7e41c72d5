package playout

import (
	"math"
	"time"

	"visavis.dev/pkg/speech/sound"
)

// What a microphone beside the client hears of a turn is later than it was sent: by what
// waits in the client, its loudspeaker, and the way back. Between these, around what is
// played by the clock, is what it may hear.
const (
	heardBefore = 1000 * time.Millisecond
	heardAfter  = 300 * time.Millisecond
)

// Loudness is how loud what the client plays is right now at most, as it was sent, of 1; 0
// for silence.
func (p *Player) Loudness() float64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.o.Clock.Now()
	loudest := 0.0
	if p.turn != nil {
		loudest = p.turn.loudness(now, now)
	}
	if p.before != nil && now.Sub(p.endedAt) < heardBefore {
		loudest = max(loudest, p.before.loudness(now, p.endedAt))
	}
	return loudest
}

// note keeps how loud samples are that are sent.
func (t *turn) note(samples []int16) {
	for ; len(samples) >= packet; samples = samples[packet:] {
		sum := 0.0
		for _, s := range samples[:packet] {
			sum += float64(s) * float64(s)
		}
		t.levels = append(t.levels, float32(math.Sqrt(sum/packet)/32768))
	}
}

// loudness is the loudest that may be heard now of a turn that played until a moment.
func (t *turn) loudness(now, until time.Time) (loudest float64) {
	if t.zero.IsZero() {
		return 0
	}
	const each = sound.OpusMs * time.Millisecond
	if until.After(now) {
		until = now
	}
	begin, end := now.Sub(t.zero)-heardBefore, until.Sub(t.zero)+heardAfter
	for n := max(0, int(begin/each)); n < min(int(end/each)+1, len(t.levels)); n++ {
		loudest = max(loudest, float64(t.levels[n]))
	}
	return loudest
}
