package soundtest

// Downsample brings speech from 24 kHz, the speakers' rate, to 16 kHz, at which it is
// recognized, and appends it: what the lower rate cannot hold is filtered out first.
func Downsample(to, samples []int16) []int16 {
	const taps = len(lowpass)
	for at := 0; at+1 < len(samples); at += 3 {
		to = append(to, filtered(samples, at, taps), between(samples, at+1, taps))
	}
	return to
}

// lowpass passes what is below 7 kHz at 24 kHz.
var lowpass = [...]float64{-0.0104, -0.0268, 0.0226, 0.0716, -0.0338, -0.0303, 0.2906, 0.4330, 0.2906, -0.0303, -0.0338, 0.0716, 0.0226, -0.0268, -0.0104}

func filtered(samples []int16, at, taps int) int16 {
	sum := 0.0
	for k := range taps {
		if n := at + k - taps/2; n >= 0 && n < len(samples) {
			sum += lowpass[k] * float64(samples[n])
		}
	}
	return int16(max(min(sum, 32767), -32768))
}

// between is halfway between two samples.
func between(samples []int16, at, taps int) int16 {
	return int16((int(filtered(samples, at, taps)) + int(filtered(samples, at+1, taps))) / 2)
}
