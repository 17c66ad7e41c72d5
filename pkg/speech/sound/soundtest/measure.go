// Package soundtest measures speech: how high, how bright, how loud it is.
package soundtest

import (
	"math"
	"math/cmplx"
	"slices"
)

// Figures are what is measured of a recording.
type Figures struct {
	// Seconds is its length, and Silence the share of it that is silent.
	Seconds, Silence float64
	// Pitch is the median of the voice's pitch, in Hz; Range how far it goes from the
	// 10th to the 90th percentile, in semitones.
	Pitch, Range float64
	// Centroid is the middle of the spectrum, in Hz.
	Centroid float64
	// Level is that of what is not silent, and Top the highest sample, in decibels of
	// full scale.
	Level, Top float64
	// Clipped is how many samples are at full scale.
	Clipped int
}

const window = 1024

// Measure measures mono samples.
func Measure(rate int, samples []int16) Figures {
	f := Figures{Seconds: float64(len(samples)) / float64(rate)}
	var pitches []float64
	var energy, centroid, weight float64
	var frames, silent, loud, top int
	for at := 0; at+window <= len(samples); at += window / 2 {
		x := make([]float64, window)
		power := 0.0
		for i := range x {
			s := int(samples[at+i])
			top = max(top, s, -s)
			if s >= 32767 || s <= -32767 {
				f.Clipped++
			}
			x[i] = float64(s) / 32768
			power += x[i] * x[i] / window
		}
		frames++
		if power < 1e-5 {
			silent++
			continue
		}
		loud++
		energy += power
		if pitch := pitchOf(float64(rate), x); pitch > 0 {
			pitches = append(pitches, pitch)
		}
		c, w := centroidOf(float64(rate), x)
		centroid, weight = centroid+c, weight+w
	}
	if loud == 0 {
		f.Silence, f.Level, f.Top = 1, math.Inf(-1), math.Inf(-1)
		return f
	}
	f.Silence = float64(silent) / float64(frames)
	f.Level = 10 * math.Log10(energy/float64(loud))
	f.Top = 20 * math.Log10(float64(top)/32768)
	f.Centroid = centroid / weight
	if len(pitches) > 0 {
		slices.Sort(pitches)
		f.Pitch = pitches[len(pitches)/2]
		f.Range = 12 * math.Log2(pitches[len(pitches)*9/10]/pitches[len(pitches)/10])
	}
	return f
}

// pitchOf is the pitch of a frame by its autocorrelation; 0 where it has none.
func pitchOf(rate float64, x []float64) float64 {
	best, at := 0.0, 0
	var own float64
	for _, v := range x[:window/2] {
		own += v * v
	}
	var scores []float64
	shortest, longest := int(rate/400), min(int(rate/65), window/2)
	for lag := shortest; lag < longest; lag++ {
		var sum, other float64
		for i := range window / 2 {
			sum += x[i] * x[i+lag]
			other += x[i+lag] * x[i+lag]
		}
		score := sum / math.Sqrt(own*other+1e-12)
		scores = append(scores, score)
		if score > best {
			best, at = score, lag
		}
	}
	if best < 0.6 {
		return 0
	}
	// The shortest period that is nearly as good is the pitch, not a multiple of it.
	for i := 1; i+1 < len(scores); i++ {
		if scores[i] > 0.9*best && scores[i] >= scores[i-1] && scores[i] >= scores[i+1] {
			at = shortest + i
			break
		}
	}
	return rate / float64(at)
}

// centroidOf is the middle of a frame's spectrum, times its weight, and its weight.
func centroidOf(rate float64, x []float64) (center, weight float64) {
	spectrum := make([]complex128, window)
	for i, v := range x {
		spectrum[i] = complex(v*(0.5-0.5*math.Cos(2*math.Pi*float64(i)/window)), 0)
	}
	transform(spectrum)
	for i := 1; i < window/2; i++ {
		magnitude := cmplx.Abs(spectrum[i])
		center += magnitude * float64(i) * rate / window
		weight += magnitude
	}
	return center, weight
}

// transform is the Fourier transform of as many values as a power of two.
func transform(x []complex128) {
	if len(x) == 1 {
		return
	}
	even, odd := make([]complex128, len(x)/2), make([]complex128, len(x)/2)
	for i := range even {
		even[i], odd[i] = x[2*i], x[2*i+1]
	}
	transform(even)
	transform(odd)
	for i := range even {
		turned := cmplx.Rect(1, -2*math.Pi*float64(i)/float64(len(x))) * odd[i]
		x[i], x[i+len(x)/2] = even[i]+turned, even[i]-turned
	}
}
