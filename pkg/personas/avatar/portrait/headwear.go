package portrait

import "math"

// Cloth worn instead of showing the hair; the colour of the hair is that of the
// cloth.
const (
	Hijab  HairStyle = "hijab"
	Turban HairStyle = "turban"
)

// drawHijab paints a scarf around head and neck, laid over the shoulders.
func drawHijab(p *portrait) {
	at := p.anatomy.head
	f := newFabric(p.look.Hair.Colour)
	scarf := symmetricLoop(
		at(0, -0.085), at(0.62, -0.030), at(1.02, 0.17), at(1.18, 0.48), at(1.13, 0.78),
		at(1.13, 1.02), at(1.46, 1.22), at(1.70, 1.42), at(1.66, 1.62), at(0, 1.68),
	)
	opening := symmetricLoop(
		at(0, 0.118), at(0.50, 0.152), at(0.83, 0.30), at(0.95, 0.48),
		at(0.92, 0.66), at(0.76, 0.84), at(0.43, 0.965), at(0, 1.004),
	)
	p.face.soft(shape{moved(ring(opening, 26), 3, 10)}, 24, flat(p.skin.deep, 0.75))
	p.fill(shape{ring(opening, 20)}, flat(f.deep.toned(0.9, 1), 1))
	cloth := p.within(p.cover(shape{scarf}).without(p.cover(shape{opening})))
	cloth.fill(shape{scarf}, fade(at(-0.8, 0), at(1.0, 1.5), f.base.mix(f.light, 0.6), f.shade))
	cloth.soft(shape{stroke(p.guide(pt(1.1, 0.1), pt(1.2, 0.5), pt(1.12, 1.0)), even(60))}, 56, flat(f.deep, 0.60))
	cloth.soft(shape{stroke(p.guide(pt(-1.1, 0.1), pt(-1.2, 0.5), pt(-1.12, 1.0)), even(30))}, 40, flat(f.deep, 0.35))
	cloth.soft(shape{moved(p.anatomy.outline(), 6, 36)}, 34, flat(f.deep, 0.55))
	cloth.soft(shape{ellipse(at(-0.46, 0.045), 64, 20)}, 46, flat(f.light, 0.9))
	p.drawScarfFolds(cloth, f)
	cloth.soft(shape{ring(opening, 9)}, 6, flat(f.light, 0.45))
}

// drawScarfFolds paints the folds of a scarf: around the face, and from below
// the chin to the shoulder it is thrown over.
func (p *portrait) drawScarfFolds(cloth *canvas, f fabric) {
	fold := func(l line, w float64, depth float32) {
		cloth.soft(shape{stroke(l, tapered(w))}, w*0.8, flat(f.deep, depth))
		cloth.soft(shape{stroke(moved(l, -w*0.15, -w*0.75), tapered(w*0.7))}, w*0.7, flat(f.light, depth*0.9))
	}
	for i := range 3 {
		k := float64(i)
		fold(
			p.guide(pt(-0.10+0.1*k, -0.04+0.03*k), pt(0.66+0.02*k, 0.06+0.05*k), pt(0.99+0.015*k, 0.36), pt(1.01-0.01*k, 0.72)),
			13, 0.42,
		)
		fold(p.guide(pt(0.06-0.1*k, -0.05+0.035*k), pt(-0.68, 0.07+0.05*k), pt(-1.0-0.012*k, 0.38), pt(-1.0, 0.74)), 12, 0.32)
	}
	for i := range 5 {
		k := float64(i) * 0.072
		fold(
			p.guide(pt(1.02, 0.66+k*0.6), pt(0.78, 0.955+k), pt(0.20, 1.095+k*1.2), pt(-0.50, 1.13+k*1.5), pt(-1.26, 1.20+k*1.6)),
			20, 0.50,
		)
	}
	fold(p.guide(pt(-1.02, 0.66), pt(-0.90, 0.90), pt(-0.62, 1.06)), 18, 0.45)
	fold(p.guide(pt(1.0, 1.06), pt(0.86, 1.24), pt(0.90, 1.5)), 20, 0.45)
}

// drawTurban paints a turban whose wraps meet in a point above the brow.
func drawTurban(p *portrait) {
	f := newFabric(p.look.Hair.Colour)
	// The right half is laid over the left one.
	p.drawWraps(f, -1, 0)
	p.drawWraps(f, 1, -0.10)
}

// drawWraps paints the wraps of one side, from the middle to the ear.
func (p *portrait) drawWraps(f fabric, side, start float64) {
	at := func(x, y float64) point { return pt(side*x, y) }
	s := sheet{guides: []line{
		p.guide(at(start, 0.135), at(0.46, 0.215), at(0.84, 0.30), at(1.00, 0.42)),
		p.guide(at(start, 0.00), at(0.52, 0.065), at(0.96, 0.20), at(1.06, 0.37)),
		p.guide(at(start, -0.12), at(0.56, -0.06), at(1.04, 0.10), at(1.12, 0.32)),
		p.guide(at(start, -0.200), at(0.50, -0.168), at(1.02, 0.0), at(1.16, 0.26)),
	}}
	n := newNoise(p.random("wraps"))
	g := s.grid(n)
	edge := g.outline()
	p.face.soft(shape{moved(edge, 2, 8)}, 20, flat(p.skin.deep, 0.65))
	p.soft(shape{edge}, 5, flat(f.deep, 0.5))
	p.lay(p.cover(shape{edge}), p.weave(g, pleats(f, n, side)))
}

// pleats is the texture of cloth laid in parallel folds, each lit on its upper
// edge and shading the next one.
func pleats(f fabric, n noise, side float64) texture {
	return func(u, t, _ float64) rgb {
		at := u*6.5 + 0.35*n.at(u*4, t*1.5)
		in := at - math.Floor(at)
		v := 0.85*smooth(in*1.3) - 0.75*smooth((in-0.86)*7) - 0.30
		v -= 0.35*side*t + 0.5*smooth((t-0.72)*3)
		v += 0.25 * math.Exp(-(t-0.35)/0.2*((t-0.35)/0.2))
		if v < 0 {
			return f.base.mix(f.deep, float32(math.Min(-v, 1.1)))
		}
		return f.base.mix(f.light, float32(math.Min(v*1.4, 1.2)))
	}
}
