package connected

import (
	"time"

	"visavis.dev/pkg/speech/speaker"
)

// gap is how long nothing is said before the mouth closes.
const gap = 90 * time.Millisecond

// track gathers the words and the mouth's shapes of a sentence as they are found in its
// sound.
type track struct {
	visemes []speaker.Viseme // not handed on yet
	waiting []speaker.Word   // that have not ended in what was handed on
	shape   string           // the last, and handed the last that was handed on
	handed  string
	lastAt  int64 // of a viseme
	// begun and until are when the last word does and ends.
	begun, until time.Duration
	// told is where the last word ends that was handed on, in bytes of the text.
	told int
}

// place notes that a word sounds from one moment to another.
func (t *track) place(w *planned, from, to time.Duration) {
	from = max(from, t.begun)
	to = max(to, from)
	if t.until > 0 && from-t.until > gap {
		t.close(t.until)
	}
	for _, v := range w.shapes {
		if w.lasts > 0 {
			v.AtMs = (from + time.Duration(float64(ms(v.AtMs))*float64(to-from)/float64(w.lasts))).Milliseconds()
		}
		t.push(v)
	}
	t.waiting = append(t.waiting, speaker.Word{AtMs: from.Milliseconds(), LastsMs: (to - from).Milliseconds(), From: w.from, To: w.to})
	t.begun, t.until = from, to
}

// close shuts the mouth.
func (t *track) close(at time.Duration) {
	if t.shape != silence {
		t.push(speaker.Viseme{AtMs: at.Milliseconds(), Shape: silence, Weight: 1})
	}
}

func (t *track) push(v speaker.Viseme) {
	v.AtMs = max(v.AtMs, t.lastAt)
	t.lastAt, t.shape = v.AtMs, v.Shape
	t.visemes = append(t.visemes, v)
}

// chunk is what is to be handed on with sound that ends at a moment: the words that have
// ended by then and the shapes that were begun, or all of them at the end of the sentence.
func (t *track) chunk(until time.Duration, end bool) speaker.Chunk {
	if end {
		t.close(until)
	}
	c := speaker.Chunk{Visemes: t.shapes(until.Milliseconds(), end)}
	for len(t.waiting) > 0 {
		w := t.waiting[0]
		if over := w.AtMs + w.LastsMs - until.Milliseconds(); over > 0 {
			if !end {
				break
			}
			w.AtMs = min(w.AtMs, until.Milliseconds())
			w.LastsMs = until.Milliseconds() - w.AtMs
		}
		t.waiting = t.waiting[1:]
		t.told = max(t.told, w.To)
		c.Words = append(c.Words, w)
	}
	return c
}

// shapes are those that are to be handed on, until a moment.
func (t *track) shapes(until int64, end bool) []speaker.Viseme {
	n := 0
	for n < len(t.visemes) && (end || t.visemes[n].AtMs <= until) {
		t.visemes[n].AtMs = min(t.visemes[n].AtMs, until)
		t.handed = t.visemes[n].Shape
		n++
	}
	out := t.visemes[:n:n]
	t.visemes = t.visemes[n:]
	return out
}

// broken is what is to be handed on where the sound breaks off at a moment: what was to come
// does not.
func (t *track) broken(until time.Duration) speaker.Chunk {
	c := t.chunk(until, false)
	t.waiting, t.visemes = nil, nil
	if t.handed != silence {
		c.Visemes = append(c.Visemes, speaker.Viseme{AtMs: until.Milliseconds(), Shape: silence, Weight: 1})
	}
	return c
}
