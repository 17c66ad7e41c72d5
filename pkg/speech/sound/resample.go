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
	// reach is the filter's, in samples of the source. band is how much of the source's
	// band is left: what a lower rate cannot hold is filtered out.
	reach int
	band  float64
}

// NewResampler makes one that goes from a rate to another.
func NewResampler(from, to float64) *Resampler {
	r := &Resampler{step: from / to, reach: reach, band: 1}
	if r.step > alike {
		r.band = 1 / r.step
		r.reach = int(math.Ceil(reach * r.step))
	}
	r.at, r.past = float64(r.reach), make([]float32, r.reach, 4096)
	return r
}

// alike is how much lower a rate may be that nothing is filtered out for: the kernel leaves
// that much out already.
const alike = 1.25

// Push takes the next samples and appends those that they allow to be made.
func (r *Resampler) Push(to, samples []float32) []float32 {
	r.past = append(r.past, samples...)
	for int(r.at)+r.reach < len(r.past) {
		to = append(to, r.sample())
		r.at += r.step
	}
	if drop := int(r.at) - r.reach; drop > 0 {
		r.past = append(r.past[:0], r.past[drop:]...)
		r.at -= float64(drop)
	}
	return to
}

// Flush appends what is left at the end of the stream.
func (r *Resampler) Flush(to []float32) []float32 { return r.Push(to, make([]float32, r.reach)) }

func (r *Resampler) sample() float32 {
	base := int(r.at)
	rest := r.at - float64(base)
	var sum float32
	step := phases * r.band
	left, right := rest*step, (1-rest)*step
	for k := range r.reach {
		sum += r.past[base-k] * weight(left+float64(k)*step)
		sum += r.past[base+1+k] * weight(right+float64(k)*step)
	}
	return sum * float32(r.band)
}

func weight(at float64) float32 {
	i := int(at)
	if i >= reach*phases {
		return 0
	}
	rest := float32(at - float64(i))
	return kernel[i] + rest*(kernel[i+1]-kernel[i])
}
