package portrait

import "math"

// drawBrows paints each eyebrow as a soft shadow of the whole with single hairs
// on top, which rise at the inner end and lie flat toward the temple.
func (p *portrait) drawBrows() {
	spine, thick := p.browSpine()
	colour := p.look.Brows.Colour.rgb()
	bed := stroke(spine, func(t float64) float64 { return thick(t) * 0.86 })
	p.soft(both(bed), 6, flat(colour.mix(p.skin.deep, 0.20), 0.78))
	random := p.random("brows")
	var dark, light shape
	for side := range 2 {
		for i := range 150 {
			hair := browHair(spine, thick, random.Float64(), random.Float64(), random.NormFloat64())
			if side == 1 {
				hair = mirror(hair)
			}
			if i%4 == 0 {
				light = append(light, hair)
			} else {
				dark = append(dark, hair)
			}
		}
	}
	p.fill(dark, flat(colour.toned(0.85, 1), 0.62))
	p.fill(light, flat(colour.toned(1.25, 1), 0.55))
}

// browSpine is the middle line of the right eyebrow and how thick it is there.
func (p *portrait) browSpine() (line, width) {
	a, b := p.anatomy, p.look.Brows
	at := func(x, y float64) point { return pt(middle+a.eyeX+x*a.eyeHalf, a.brow+y) }
	arch, tilt := 4.5*b.Arch, 3*b.Tilt
	spine := curve(
		at(-1.05, 8+tilt),
		at(-0.50, 0.5+tilt*0.6-arch*0.2),
		at(0.10, -5.5-arch*0.7),
		at(0.62, -7-arch),
		at(1.0, -2.5-arch*0.6-tilt*0.4),
		at(1.34, 7-tilt*0.6),
	)
	full := 15.5 + 5.2*b.Thickness + 1.5*p.look.Build
	return spine, func(t float64) float64 {
		return full * math.Min(1, 0.62+1.6*t) * math.Pow(1-0.93*t*t*t, 0.8)
	}
}

// browHair is one hair rooted at t along the brow and at across its thickness.
func browHair(spine line, thick width, t, across, bend float64) line {
	i := int(t * float64(len(spine)-1))
	along := direction(spine, i)
	up := along.left()
	half := thick(t) * 0.5
	root := spine[i].plus(up.times((across*1.7 - 1.0) * half))
	// Hairs above the spine comb down, those below comb up, so the brow closes
	// to a tidy edge.
	rise := 0.62 - 0.66*math.Min(1, t*1.6) - 0.9*(across-0.4)*math.Min(1, t*2)
	heading := along.plus(up.times(rise + 0.10*bend)).unit()
	long := half * (1.05 + 0.30*across)
	tip := root.plus(heading.times(long + 3))
	mid := root.toward(tip, 0.5).plus(up.times(0.8))
	return stroke(curve(root, mid, tip), thinning(1.7))
}
