package portrait

import (
	"math"
	"math/rand/v2"
)

// Hair that falls in ringlets or is braided.
const (
	Curly  HairStyle = "curly"
	Braids HairStyle = "braids"
)

// drawCurly paints ringlets falling on both sides of the face.
func drawCurly(p *portrait) {
	parting := 0.34 * p.look.Hair.Parting
	random := p.random("ringlets")
	n := newNoise(random)
	for _, side := range []float64{-1, 1} {
		body := p.fallSide(falls[Curly], parting, side)
		body.fray = 0.14
		g := body.grid(n)
		p.face.soft(shape{moved(g.outline(), 2, 8)}, 20, flat(p.skin.deep, 0.60))
		p.fill(shape{g.outline()}, flat(p.hair.shaded(-0.8), 1))
		const ringlets = 190
		for i := range ringlets {
			// From the tips up, so that higher ringlets cover lower ones.
			from := 0.80 * math.Pow(1-float64(i)/ringlets, 1.5)
			u := random.Float64()
			p.drawRinglet(g.strand(u), from, 0.30*random.NormFloat64()-0.25*from-0.20*math.Exp(-u*6)+0.1, random)
		}
	}
}

// drawRinglet paints one ringlet along a strand, from the given share of it.
func (p *portrait) drawRinglet(strand line, from, tone float64, random *rand.Rand) {
	piece := resampled(part(strand, from, math.Min(1, from+0.22+0.10*random.Float64())), 40)
	swing := (9 + 4*random.Float64()) * (0.45 + 0.55*math.Min(1, from*5))
	turns, phase := 2.2+1.2*random.Float64(), 2*math.Pi*random.Float64()
	lit := make(line, len(piece))
	spine := make(line, len(piece))
	for i, q := range piece {
		t := float64(i) / float64(len(piece)-1)
		side := direction(piece, i).left()
		spine[i] = q.plus(side.times(swing * math.Sin(phase+2*math.Pi*turns*t)))
		lit[i] = spine[i].plus(pt(-1.8, -2.2))
	}
	p.fill(shape{stroke(spine, tapered(19))}, flat(p.hair.shaded(-1), 0.55))
	p.fill(shape{stroke(spine, tapered(15))}, flat(p.curlTone(tone, int(90*random.Float64())), 1))
	p.fill(shape{stroke(lit, tapered(5))}, flat(p.curlTone(tone+0.55, int(90*random.Float64())), 0.55))
}

// drawBraids paints many thin braids falling from a parting.
func drawBraids(p *portrait) {
	parting := 0.34 * p.look.Hair.Parting
	f := falls[Braids]
	n := newNoise(p.random("braids"))
	for _, side := range []float64{-1, 1} {
		s := p.fallSide(f, parting, side)
		g := s.grid(n)
		p.face.soft(shape{moved(g.outline(), 2, 8)}, 20, flat(p.skin.deep, 0.60))
		p.fill(shape{g.outline()}, flat(p.hair.shaded(-1), 1))
		for i := range 11 {
			u := (float64(i) + 0.5) / 11
			p.drawBraid(g.strand(u), 0.15*math.Sin(float64(i)*2.4)-0.25*u)
		}
	}
}

// drawBraid paints one braid as the row of its crossings.
func (p *portrait) drawBraid(spine line, tone float64) {
	knots := resampled(spine, int(spine.length()/9.5))
	var dark, body, light shape
	for i, at := range knots {
		along := direction(knots, i)
		out := along.left().times(2.8 * float64(1-2*(i%2)))
		heading := along.plus(out.times(-0.18)).unit()
		bump := func(size, shift float64) line {
			c := at.plus(out).plus(pt(-shift, -shift))
			reach := heading.times(7 * size)
			return stroke(resampled(line{c.minus(reach), c.plus(reach)}, 6), tapered(9*size))
		}
		dark, body, light = append(dark, bump(1.2, 0)), append(body, bump(1, 0)), append(light, bump(0.5, 1))
	}
	p.fill(dark, flat(p.hair.shaded(-1.1), 0.9))
	p.fill(body, flat(p.hair.shaded(tone), 1))
	p.fill(light, flat(p.hair.shaded(tone+0.55), 0.75))
}
