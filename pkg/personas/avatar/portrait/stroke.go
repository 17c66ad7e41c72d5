package portrait

import "math"

// width tells how wide a stroke is at t, from 0 at its start to 1 at its end.
type width func(t float64) float64

// even is a stroke of one width.
func even(w float64) width { return func(float64) float64 { return w } }

// tapered is widest in the middle and ends in points, as a pen line does.
func tapered(w float64) width {
	return func(t float64) float64 { return w * math.Sqrt(math.Max(0, math.Sin(math.Pi*t))) }
}

// thinning starts at full width and ends in a point, as a hair does.
func thinning(w float64) width {
	return func(t float64) float64 { return w * math.Pow(1-t, 0.7) }
}

// swelling runs from one width to another.
func swelling(from, to float64) width {
	return func(t float64) float64 { return from + (to-from)*t }
}

// stroke is the area a pen of changing width covers along the line.
func stroke(l line, w width) line {
	n := len(l)
	out := make(line, 2*n)
	for i, p := range l {
		half := direction(l, i).left().times(w(float64(i)/float64(n-1)) / 2)
		out[i] = p.plus(half)
		out[2*n-1-i] = p.minus(half)
	}
	return out
}

// direction is the unit direction the line runs in at point i.
func direction(l line, i int) point {
	from, to := max(i-1, 0), min(i+1, len(l)-1)
	return l[to].minus(l[from]).unit()
}

// ring is the area a pen of even width covers along a closed line.
func ring(l line, w float64) line {
	return stroke(append(append(line{}, l...), l[0], l[1]), even(w))
}

// part is the piece of l between the fractions from and to of its points.
func part(l line, from, to float64) line {
	last := float64(len(l) - 1)
	return l[int(from*last) : int(math.Ceil(to*last))+1]
}

// resampled is l as n+1 points at even distances along it.
func resampled(l line, n int) line {
	total := l.length()
	out := make(line, 0, n+1)
	out = append(out, l[0])
	walked, at := 0.0, 1
	for i := 1; i < n; i++ {
		goal := total * float64(i) / float64(n)
		step := l[at].minus(l[at-1]).length()
		for walked+step < goal && at+1 < len(l) {
			walked += step
			at++
			step = l[at].minus(l[at-1]).length()
		}
		out = append(out, l[at-1].toward(l[at], (goal-walked)/math.Max(step, 1e-9)))
	}
	return append(out, l[len(l)-1])
}
