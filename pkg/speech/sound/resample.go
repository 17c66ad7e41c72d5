// Package sound works on speech as samples: it brings it to another rate, shapes its
// timbre and level, and packs it for a file or for the wire.
package sound

import "math"

// The reach of the resampler's filter to each side, in samples of the source, and how
// finely it is tabulated between two of them.
const (
	reach  = 12
	phases = 512
)

// kernel is a windowed sinc at distances of 0 to reach, in steps of 1/phases.
var kernel = func() []float32 {
	table := make([]float32, reach*phases+2)
	for i := range table {
		x := float64(i) / phases
		if x >= reach {
			continue
		}
		// What lies above 94 % of the band is left out: it would fold back.
		const band = 0.94
		sinc := band
		if x > 0 {
			sinc = math.Sin(math.Pi*x*band) / (math.Pi * x)
		}
		window := 0.42 + 0.5*math.Cos(math.Pi*x/reach) + 0.08*math.Cos(2*math.Pi*x/reach)
		table[i] = float32(sinc * window)
	}
	return table
}()

// Resampler brings a stream of samples to another rate.
type Resampler struct {
	step float64 // samples of the source to one that is made
	at   float64 // of the next one that is made, in the buffer
	past []float32
}

// NewResampler makes one that goes from a rate to another. It is for rates that are
// alike, or that rise: what is above the new band is not filtered out.
func NewResampler(from, to float64) *Resampler {
	return &Resampler{step: from / to, at: reach, past: make([]float32, reach, 4096)}
}

// Push takes the next samples and appends those that they allow to be made.
func (r *Resampler) Push(to, samples []float32) []float32 {
	r.past = append(r.past, samples...)
	for int(r.at)+reach < len(r.past) {
		to = append(to, r.sample())
		r.at += r.step
	}
	if drop := int(r.at) - reach; drop > 0 {
		r.past = append(r.past[:0], r.past[drop:]...)
		r.at -= float64(drop)
	}
	return to
}

// Flush appends what is left at the end of the stream.
func (r *Resampler) Flush(to []float32) []float32 { return r.Push(to, make([]float32, reach)) }

func (r *Resampler) sample() float32 {
	base := int(r.at)
	rest := r.at - float64(base)
	var sum float32
	left, right := rest*phases, (1-rest)*phases
	for k := range reach {
		sum += r.past[base-k] * weight(left+float64(k*phases))
		sum += r.past[base+1+k] * weight(right+float64(k*phases))
	}
	return sum
}

func weight(at float64) float32 {
	i := int(at)
	if i >= reach*phases {
		return 0
	}
	rest := float32(at - float64(i))
	return kernel[i] + rest*(kernel[i+1]-kernel[i])
}
