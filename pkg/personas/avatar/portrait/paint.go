package portrait

import "math"

// paint gives the colour and opacity at a place in design units.
type paint func(x, y float64) (rgb, float32)

// flat is one colour everywhere.
func flat(c rgb, opacity float32) paint {
	return func(_, _ float64) (rgb, float32) { return c, opacity }
}

// fade runs from one colour at a to another at b, and stays even beyond them.
func fade(a, b point, from, to rgb) paint {
	along := b.minus(a)
	along = along.times(1 / (along.x*along.x + along.y*along.y))
	return func(x, y float64) (rgb, float32) {
		return from.mix(to, float32(smooth((x-a.x)*along.x+(y-a.y)*along.y))), 1
	}
}

// glow runs from one colour at the centre to another at the rim of an ellipse.
func glow(centre point, rx, ry float64, inner, outer rgb) paint {
	return func(x, y float64) (rgb, float32) {
		d := math.Hypot((x-centre.x)/rx, (y-centre.y)/ry)
		return inner.mix(outer, float32(smooth(d))), 1
	}
}

// smooth eases t from 0 to 1 without a visible start or end.
func smooth(t float64) float64 {
	t = math.Min(math.Max(t, 0), 1)
	return t * t * (3 - 2*t)
}
