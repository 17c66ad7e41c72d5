// Package vad finds speech in a microphone's sound: voice activity detection by energy and
// spectrum, against a noise floor that follows the room and the echo of what is played
// there. It has no model, and keeps no sound.
package vad

import (
	"math"
	"slices"
	"time"
)

// SampleRate is that of the sound, in samples a second: mono, signed 16 bits.
const SampleRate = 16000

// Frame is how long the sound is that is judged at once, and FrameSamples how much that is.
const (
	Frame        = 20 * time.Millisecond
	FrameSamples = SampleRate / 50
)

const (
	// Speech begins where within of its frames were voiced of the last among, and ends
	// after Hangover without one.
	within, among = 4, 6
	// Hangover is the silence after which speech is taken to have stopped.
	Hangover = 240 * time.Millisecond
	// rises and stays are how far, in dB, speech is above the floor in its best bands: to
	// begin, and to go on.
	rises, stays = 10.0, 7.0
	// quietest is the level of a whole frame below which nothing is speech, in dB of full
	// scale.
	quietest = -58.0
)

// Change is what a frame changes.
type Change int

// The changes.
const (
	None Change = iota
	Started
	Stopped
)

// Detector finds speech in one microphone's sound. It is for one goroutine.
type Detector struct {
	spectrum spectrum
	floor    floor
	echo     echo
	// voiced are the last frames, the newest first.
	voiced   [among]bool
	speaking bool
	// since counts the frames since the last voiced one.
	since int
	level float64
}

// New makes a detector that knows nothing of the room.
func New() *Detector { return &Detector{since: math.MaxInt32} }

// Push takes the next frame of FrameSamples. playing is how loud what the avatar says is
// right now where the microphone stands, as far as is known: the level of the sound that
// was sent, of 1; 0 while nothing is played.
func (d *Detector) Push(frame []int16, playing float64) Change {
	level := rms(frame)
	d.level = level
	bands := d.spectrum.of(frame)
	needed := stays
	if !d.speaking {
		needed = rises
	}
	is := decibels(level) > quietest && d.floor.above(&bands) > needed && !d.echo.explains(level, playing, d.speaking)
	d.floor.learn(&bands)
	copy(d.voiced[1:], d.voiced[:among-1])
	d.voiced[0] = is
	d.since++
	if is {
		d.since = 0
	}
	switch {
	case !d.speaking && d.votes() >= within:
		d.speaking = true
		return Started
	case d.speaking && time.Duration(d.since)*Frame >= Hangover:
		d.speaking = false
		d.voiced = [among]bool{}
		return Stopped
	}
	return None
}

func (d *Detector) votes() int {
	n := 0
	for _, v := range d.voiced {
		if v {
			n++
		}
	}
	return n
}

// Speaking says whether somebody speaks.
func (d *Detector) Speaking() bool { return d.speaking }

// Lead is how long ago the speech began that Push found just now.
func (d *Detector) Lead() time.Duration {
	for i := among - 1; i >= 0; i-- {
		if d.voiced[i] {
			return time.Duration(i+1) * Frame
		}
	}
	return 0
}

// Level is that of the last frame, of 1.
func (d *Detector) Level() float64 { return d.level }

// floor is how loud the room is in each band, in dB: the quietest moments of the last
// seconds.
type floor struct {
	smooth  [bandCount]float64
	minima  [windows][bandCount]float64
	frames  int
	learned bool
}

const (
	// windows of windowFrames each are looked back at: two seconds.
	windows, windowFrames = 5, 20
	// smoothing is of the bands' levels in time; the minimum of what is left of their
	// wavering lies bias below the noise's middle.
	smoothing = 0.3
	bias      = 3.0
	// silent is a level below which a room is not quieter, in dB of full scale in a band.
	silent = -72.0
	// most is how far above the floor a band counts, and best how many bands count.
	most = 24.0
	best = 3
)

// learn takes a frame's bands.
func (f *floor) learn(bands *[bandCount]float64) {
	if !f.learned {
		f.learned = true
		f.smooth = *bands
		for i := range f.minima {
			f.minima[i] = *bands
		}
	}
	f.frames++
	if f.frames%windowFrames == 0 {
		copy(f.minima[1:], f.minima[:windows-1])
		f.minima[0] = f.smooth
	}
	for b, v := range bands {
		f.smooth[b] += smoothing * (v - f.smooth[b])
		f.minima[0][b] = min(f.minima[0][b], f.smooth[b])
	}
}

// above is how far a frame is above the floor in its best bands, in dB.
func (f *floor) above(bands *[bandCount]float64) float64 {
	if !f.learned {
		return 0
	}
	var over [bandCount]float64
	for b, v := range bands {
		lowest := v
		for i := range f.minima {
			lowest = min(lowest, f.minima[i][b])
		}
		over[b] = min(max(v-max(lowest+bias, silent), 0), most)
	}
	slices.Sort(over[:])
	sum := 0.0
	for _, v := range over[bandCount-best:] {
		sum += v
	}
	return sum / best
}

// echo knows how loud the microphone hears what is played beside it.
type echo struct {
	// coupling is how loud that is as a share of what is played; learned as it goes.
	coupling float64
}

const (
	// assumed is the coupling before anything is known of it.
	assumed = 0.04
	// margin is how much louder than the echo a voice must be that speaks over it.
	margin = 2.0
	// upward and downward are how fast the coupling is learned, a frame; speech that is
	// just beginning must not be taken for echo.
	upward, downward = 1.03, 0.997
)

// explains says whether a frame is no louder than the echo of what is played.
func (e *echo) explains(level, playing float64, speaking bool) bool {
	if playing <= 0 {
		return false
	}
	if e.coupling == 0 {
		e.coupling = assumed
	}
	heard := level / playing
	explained := heard <= e.coupling*margin
	switch {
	case speaking:
	case heard > e.coupling:
		e.coupling = min(e.coupling*upward, heard)
	default:
		e.coupling = max(e.coupling*downward, heard)
	}
	return explained
}

func rms(frame []int16) float64 {
	sum := 0.0
	for _, s := range frame {
		v := float64(s) / 32768
		sum += v * v
	}
	return math.Sqrt(sum / float64(max(len(frame), 1)))
}

func decibels(amplitude float64) float64 { return 20 * math.Log10(amplitude+1e-9) }

// Hush ends speech at once, as where the microphone was turned off. What is known of the
// room stays.
func (d *Detector) Hush() {
	d.speaking, d.voiced = false, [among]bool{}
}
