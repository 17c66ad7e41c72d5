package sound

import "math"

// Filter is a biquad: one band of an equalizer.
type Filter struct {
	b0, b1, b2, a1, a2 float32
	z1, z2             float32
}

// The bands follow the "Audio EQ Cookbook"; frequencies are in Hz and gains in decibels.

// LowShelf raises or lowers what is below a frequency.
func LowShelf(rate, frequency, gain float64) *Filter { return shelf(rate, frequency, gain, 1) }

// HighShelf raises or lowers what is above a frequency.
func HighShelf(rate, frequency, gain float64) *Filter { return shelf(rate, frequency, gain, -1) }

func shelf(rate, frequency, gain float64, side float64) *Filter {
	a := math.Pow(10, gain/40)
	sin, cos := math.Sincos(2 * math.Pi * frequency / rate)
	slope := sin / math.Sqrt2 * 2 * math.Sqrt(a)
	cos *= side
	return filter(
		a*((a+1)-(a-1)*cos+slope), side*2*a*((a-1)-(a+1)*cos), a*((a+1)-(a-1)*cos-slope),
		(a+1)+(a-1)*cos+slope, -side*2*((a-1)+(a+1)*cos), (a+1)+(a-1)*cos-slope)
}

// Peak raises or lowers what is around a frequency.
func Peak(rate, frequency, width, gain float64) *Filter {
	a := math.Pow(10, gain/40)
	sin, cos := math.Sincos(2 * math.Pi * frequency / rate)
	alpha := sin / (2 * width)
	return filter(1+alpha*a, -2*cos, 1-alpha*a, 1+alpha/a, -2*cos, 1-alpha/a)
}

// HighPass leaves out what is below a frequency.
func HighPass(rate, frequency float64) *Filter {
	sin, cos := math.Sincos(2 * math.Pi * frequency / rate)
	alpha := sin / math.Sqrt2
	return filter((1+cos)/2, -(1 + cos), (1+cos)/2, 1+alpha, -2*cos, 1-alpha)
}

func filter(b0, b1, b2, a0, a1, a2 float64) *Filter {
	return &Filter{b0: float32(b0 / a0), b1: float32(b1 / a0), b2: float32(b2 / a0), a1: float32(a1 / a0), a2: float32(a2 / a0)}
}

// Apply filters samples in place.
func (f *Filter) Apply(samples []float32) {
	for i, x := range samples {
		y := f.b0*x + f.z1
		f.z1 = f.b1*x - f.a1*y + f.z2
		f.z2 = f.b2*x - f.a2*y
		samples[i] = y
	}
}

// Room adds the first reflections of a small, soft room.
type Room struct {
	past []float32
	at   int
	taps []tap
}

type tap struct {
	delay int
	gain  float32
}

// NewRoom makes a room; level is that of the nearest wall's reflection, 0 to 1.
func NewRoom(rate, level float64) *Room {
	r := &Room{past: make([]float32, int(rate/20))}
	for _, wall := range []struct{ ms, level float64 }{{7.3, 1}, {11.9, 0.72}, {17.1, 0.5}, {26.3, 0.33}} {
		r.taps = append(r.taps, tap{int(wall.ms * rate / 1000), float32(level * wall.level)})
	}
	return r
}

// Apply adds the reflections in place.
func (r *Room) Apply(samples []float32) {
	for i, x := range samples {
		r.past[r.at] = x
		for _, t := range r.taps {
			from := r.at - t.delay
			if from < 0 {
				from += len(r.past)
			}
			x += t.gain * r.past[from]
		}
		r.at = (r.at + 1) % len(r.past)
		samples[i] = x
	}
}

// knee is the level above which Limit bends samples, of full scale.
const knee = 0.7

// Limit keeps samples within full scale without a hard edge.
func Limit(samples []float32) {
	for i, x := range samples {
		level := float32(math.Abs(float64(x)))
		if level <= knee {
			continue
		}
		bent := knee + (0.97-knee)*float32(math.Tanh(float64(level-knee)/(0.97-knee)))
		samples[i] = float32(math.Copysign(float64(bent), float64(x)))
	}
}
