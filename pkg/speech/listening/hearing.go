package listening

import (
	"time"

	"visavis.dev/pkg/speech/recognition"
	"visavis.dev/pkg/speech/vad"
)

// hearing is what the listener's goroutine knows.
type hearing struct {
	*Listener
	ear      recognition.Ear
	detector *vad.Detector
	pause    time.Duration
	// began is when the first sound could come, and came how much of it did.
	began  time.Time
	came   time.Duration
	cameAt time.Time
	// rest are samples that make no whole frame yet, and past those before speech.
	rest, past []int16

	// speaking is while there is a voice. open is while the segment takes sound: it has
	// lasted so long, and been silent for so long.
	speaking, open, pressed bool
	segment                 int
	lasted, silent          time.Duration
	// spoken is how much was recognized, and spent says that no more is.
	spoken time.Duration
	spent  bool
	// over says that the segment began while the avatar spoke, who waits for its words.
	over bool
}

func (h *hearing) take(what any) {
	switch what := what.(type) {
	case press:
		h.press()
	case release:
		h.release()
	case []int16:
		h.hear(what)
	}
}

func (h *hearing) hear(samples []int16) {
	now := h.o.Clock.Now()
	took := time.Duration(len(samples)) * time.Second / SampleRate
	// Who pauses has not saved anything up.
	h.came = max(h.came, now.Sub(h.began)-ahead)
	if h.came+took > now.Sub(h.began)+ahead {
		return
	}
	h.came, h.cameAt = h.came+took, now
	h.rest = append(h.rest, samples...)
	for len(h.rest) >= vad.FrameSamples {
		h.frame(h.rest[:vad.FrameSamples])
		h.rest = h.rest[vad.FrameSamples:]
	}
}

// frame takes the next whole frame.
func (h *hearing) frame(samples []int16) {
	if h.o.Pressed {
		if h.pressed {
			h.write(samples)
		}
		return
	}
	playing := 0.0
	if h.o.Playing != nil {
		playing = h.o.Playing()
	}
	change := h.detector.Push(samples, playing)
	if change == vad.Started {
		h.start(h.detector.Lead(), playing > 0)
	}
	if h.open {
		h.write(samples)
	} else {
		h.remember(samples)
	}
	h.silent += vad.Frame
	if change == vad.Stopped && h.speaking {
		h.speaking, h.silent = false, vad.Hangover
		h.told(Event{Kind: Ended, Segment: h.segment, Ago: vad.Hangover})
	}
	switch {
	case !h.open:
	case !h.speaking && (h.silent >= h.pause || h.over):
		h.end()
	case h.lasted >= longest:
		h.goOn()
	}
}

// goOn ends a segment that is as long as any may be; where somebody is speaking, what they
// go on to say is another one, which is told as such: words of unknown ones are nobody's.
func (h *hearing) goOn() {
	h.end()
	if !h.speaking {
		return
	}
	before := h.segment
	if h.begin(); h.spent {
		h.speaking, h.pressed = false, false
		h.told(Event{Kind: Ended, Segment: before})
		return
	}
	h.told(Event{Kind: Began, Segment: h.segment})
}

// remember keeps the little before speech that belongs to it.
func (h *hearing) remember(samples []int16) {
	h.past = append(h.past, samples...)
	if most := int(preroll * SampleRate / time.Second); len(h.past) > 2*most {
		h.past = append(h.past[:0], h.past[len(h.past)-most:]...)
	}
}

// start notes that somebody begins to speak, so long ago.
func (h *hearing) start(ago time.Duration, over bool) {
	if h.spent {
		return
	}
	if !h.open {
		h.begin()
		if h.spent {
			return
		}
		h.over = over
		from := max(0, len(h.past)-int(preroll*SampleRate/time.Second))
		h.write(h.past[from:])
		h.past = h.past[:0]
	}
	h.speaking, h.silent = true, 0
	h.told(Event{Kind: Began, Segment: h.segment, Ago: ago})
}

// begin begins a segment, unless too many were.
func (h *hearing) begin() {
	if h.o.Most > 0 && h.spoken >= h.o.Most {
		if !h.spent {
			h.told(Event{Kind: Failed, Err: ErrTooMuch})
		}
		h.spent = true
		return
	}
	h.segment++
	h.open, h.lasted, h.silent = true, 0, 0
}

func (h *hearing) write(samples []int16) {
	took := time.Duration(len(samples)) * time.Second / SampleRate
	if h.lasted == 0 {
		h.ear.Begin(h.segment, h.o.Language())
	}
	h.lasted, h.spoken = h.lasted+took, h.spoken+took
	h.ear.Write(samples)
	if h.o.Pressed && h.lasted >= longest {
		h.goOn()
	}
}

func (h *hearing) end() {
	switch {
	case !h.open:
	case h.lasted == 0:
		h.told(Event{Kind: Words, Segment: h.segment, Whole: true}) // of nothing there are no words
	default:
		h.ear.End()
	}
	h.open = false
}

func (h *hearing) press() {
	if !h.o.Pressed || h.pressed {
		return
	}
	if h.begin(); h.spent {
		return
	}
	h.pressed, h.speaking = true, true
	h.told(Event{Kind: Began, Segment: h.segment})
}

// release ends what is being said.
func (h *hearing) release() {
	if h.speaking {
		h.told(Event{Kind: Ended, Segment: h.segment})
	}
	h.end()
	h.speaking, h.pressed = false, false
	h.rest, h.past = h.rest[:0], h.past[:0]
	h.detector.Hush()
}
