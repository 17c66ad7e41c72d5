package playout

import (
	"encoding/binary"
	"time"

	"visavis.dev/pkg/speech/sound"
	"visavis.dev/pkg/speech/speaker"
)

const (
	// ahead is how much the client may have that it has not played.
	ahead = 2 * time.Second
	// trackAhead is the same for a track: enough that a timer which is late makes no gap.
	trackAhead = 60 * time.Millisecond
	// trusted is how long a client's report of what it played counts, and between how
	// far its playing may have come since.
	trusted = 2 * time.Second
	between = 300 * time.Millisecond
	// backlog is how many frames may wait for a slow connection, and look how soon it
	// is looked again.
	backlog = 100
	look    = 20 * time.Millisecond
	// packets is how many packets' samples a frame of PCM holds at most: 60 ms.
	packets = 3
)

// keptFor is how much of what was sent to somebody who may be lost is kept.
const keptFor = 12 * speaker.SampleRate

// HeaderBytes is how long a frame's header is.
const HeaderBytes = 8

// botAudio is the kind of frames, and last the flag of a turn's last one.
const (
	botAudio = 1
	last     = 1
)

// header begins a frame: its kind, its flags, the stream, and the milliseconds from the
// turn's first sample to the frame's, all big-endian.
func header(stream uint16, at time.Duration, isLast bool) []byte {
	flags := byte(0)
	if isLast {
		flags = last
	}
	to := append(make([]byte, 0, HeaderBytes+256), botAudio, flags)
	to = binary.BigEndian.AppendUint16(to, stream)
	return binary.BigEndian.AppendUint32(to, uint32(at.Milliseconds()))
}

// sendFrames sends the frames in time.
func (p *Player) sendFrames() {
	for {
		var timer <-chan time.Time
		if wait, some := p.sendNext(); some {
			if wait <= 0 {
				continue
			}
			t := p.o.Clock.NewTimer(wait)
			timer = t.C()
			select {
			case <-timer:
			case <-p.toSend:
				t.Stop()
			case <-p.ctx.Done():
				t.Stop()
				return
			}
			continue
		}
		select {
		case <-p.toSend:
		case <-p.ctx.Done():
			return
		}
	}
}

// sendNext sends the next frame, if there is one and it is time, or tells how long to wait
// for that. There is nothing to wait for where some is false.
func (p *Player) sendNext() (wait time.Duration, some bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.turn
	if t == nil || t.over || p.ctx.Err() != nil {
		return 0, false
	}
	if len(t.unsent) < packet {
		if t.whole && t.open == 0 && t.made() > 0 {
			p.frame(t, nil, true)
		}
		return 0, false
	}
	if wait := t.early(p.o.Clock.Now(), p.format); wait > 0 {
		return wait, true
	}
	if p.format != None && p.o.Client.Backlog() > backlog {
		return look, true
	}
	count := packet
	if !p.format.packed() {
		count = min(packets, len(t.unsent)/packet) * packet
	}
	samples := t.unsent[:count]
	p.frame(t, samples, t.whole && t.open == 0 && len(t.unsent)-count < packet)
	t.unsent = t.unsent[count:]
	t.sent += int64(count)
	if len(p.queue) > 0 {
		wake(p.toMake)
	}
	return 0, true
}

// early is how long the next frame is to wait: the client is to have no more than is
// played soon.
func (t *turn) early(now time.Time, f Format) time.Duration {
	sent := lasts(t.sent)
	if t.zero.IsZero() || now.Sub(t.zero) > sent {
		t.zero = now.Add(-sent) // it has run dry
	}
	played := now.Sub(t.zero)
	if f == Track { // nothing holds up what comes in its time
		return min(sent-played-trackAhead+sound.OpusMs*time.Millisecond, look*50)
	}
	if !t.reported.IsZero() && now.Sub(t.reported) < trusted {
		played = min(played, t.report+between)
	}
	return min(sent-played-ahead+sound.OpusMs*time.Millisecond, look*50)
}

// frame sends samples, or the end of the turn; the lock is held.
func (p *Player) frame(t *turn, samples []int16, isLast bool) {
	t.over = isLast
	if p.format == None {
		return
	}
	t.note(samples)
	if p.format == Remote {
		t.kept = append(t.kept[max(0, len(t.kept)+len(samples)-keptFor):], samples...)
	}
	if p.o.Heard != nil && len(samples) > 0 {
		p.o.Heard.Plays(t.id, lasts(t.sent), t.zero.Add(lasts(t.sent)), samples)
	}
	p.announce(t)
	out := header(t.stream, lasts(t.sent), isLast)
	switch {
	case len(samples) == 0:
	case p.format.packed():
		packet, err := p.encoder.Encode(samples)
		if err != nil {
			p.o.Log.Error("failed to encode speech", "turn", t.id.String(), "error", err)
		}
		out = append(out, packet...)
	default:
		out = append(out, sound.PCM(samples)...)
	}
	p.o.Client.Frame(out, p.format, &t.stopped)
}

// announce tells the client of the turn before anything else of it. Who came in the middle
// of it is told the shapes that are still to come. The lock is held.
func (p *Player) announce(t *turn) {
	if t.announced || p.format == None {
		return
	}
	p.streams++
	t.announced, t.stream = true, p.streams
	p.o.Client.Announce(t.id, t.stream)
	for i, v := range t.visemes {
		if v.AtMs >= lasts(t.sent).Milliseconds() {
			p.o.Client.Visemes(t.id, t.visemes[i:])
			return
		}
	}
}
