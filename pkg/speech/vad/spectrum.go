package vad

import (
	"math"
	"math/bits"
	"math/cmplx"
)

// size is how many samples a spectrum is made of: a frame, and what came before it.
const size = 512

// edges are between the bands, in Hz. What is lower is wind and hum of the mains.
var edges = [...]int{100, 250, 500, 1000, 2000, 3000, 4500, 7500}

const bandCount = len(edges) - 1

// spectrum makes the levels of the bands.
type spectrum struct{ past [size]float64 }

var (
	window = func() (w [size]float64) {
		for i := range w {
			w[i] = 0.5 - 0.5*math.Cos(2*math.Pi*float64(i)/size)
		}
		return w
	}()
	twiddles = func() (w [size / 2]complex128) {
		for i := range w {
			w[i] = cmplx.Rect(1, -2*math.Pi*float64(i)/size)
		}
		return w
	}()
	// firstBins are where the bands begin, and the last of them ends.
	firstBins = func() (b [len(edges)]int) {
		for i, hz := range edges {
			b[i] = hz * size / SampleRate
		}
		return b
	}()
)

// of are the levels of a frame's bands, in dB of full scale.
func (s *spectrum) of(frame []int16) (bands [bandCount]float64) {
	count := min(len(frame), size)
	copy(s.past[:], s.past[count:])
	for i, v := range frame[len(frame)-count:] {
		s.past[size-count+i] = float64(v) / 32768
	}
	var x [size]complex128
	for i, v := range s.past {
		x[bits.Reverse16(uint16(i))>>(16-9)] = complex(v*window[i], 0)
	}
	transform(&x)
	for b := range bands {
		sum := 0.0
		for i := firstBins[b]; i < firstBins[b+1]; i++ {
			sum += real(x[i])*real(x[i]) + imag(x[i])*imag(x[i])
		}
		bands[b] = 10 * math.Log10(sum/(size*size/8)+1e-10)
	}
	return bands
}

// transform is the Fourier transform of what is in bit-reversed order.
func transform(x *[size]complex128) {
	for half := 1; half < size; half *= 2 {
		step := size / (2 * half)
		for begin := 0; begin < size; begin += 2 * half {
			for i := range half {
				a, b := x[begin+i], x[begin+i+half]*twiddles[i*step]
				x[begin+i], x[begin+i+half] = a+b, a-b
			}
		}
	}
}
