package portrait

import "math"

// Hair worn long, parted and falling to both sides.
const (
	Long       HairStyle = "long"
	LongWavy   HairStyle = "long wavy"
	Shoulder   HairStyle = "shoulder"
	Bob        HairStyle = "bob"
	BobFringe  HairStyle = "bob with fringe"
	LongFringe HairStyle = "long with fringe"
)

// fall describes hair that falls from a parting to both sides.
type fall struct {
	length float64 // where the tips end, in head units
	flare  float64 // how far the tips stand away from the head
	wave   wave
	fray   float64
	inward float64 // how far the tips curl under toward the neck
}

var falls = map[HairStyle]fall{
	Long:       {length: 1.54, flare: 0.02, fray: 0.06},
	LongWavy:   {length: 1.50, flare: 0.12, fray: 0.09, wave: wave{height: 13, count: 2.6, from: 0.30, drift: 0.3}},
	Shoulder:   {length: 1.22, flare: 0.10, fray: 0.05, wave: wave{height: 8, count: 1.6, from: 0.40, drift: 0.2}},
	Bob:        {length: 0.98, flare: 0.05, fray: 0.04, inward: 0.16},
	BobFringe:  {length: 0.98, flare: 0.05, fray: 0.04, inward: 0.16},
	Curly:      {length: 1.26, flare: 0.26},
	Braids:     {length: 1.50, flare: 0.04},
	LongFringe: {length: 1.54, flare: 0.00, fray: 0.06},
}

// drawFallBehind paints the hair behind the neck, which the head keeps from the
// light.
func drawFallBehind(p *portrait) {
	f := falls[p.look.Hair.Style]
	low := math.Min(f.length, 1.42)
	var guides []line
	for _, x := range []float64{-1, -0.6, 0, 0.6, 1} {
		guides = append(guides, p.guide(
			pt(x*0.60, 0.10),
			pt(x*1.10, 0.45),
			pt(x*1.13, 0.75),
			pt(x*(1.10+f.flare), low-0.16),
			pt(x*(0.98+f.flare-f.inward), low-0.04*x*x),
		))
	}
	p.drawSheet(sheet{
		guides: guides, locks: 12, fray: 0.02,
		shade: func(u, _ float64) float64 {
			side := math.Abs(2*u - 1)
			return 0.85 - 0.30*side*side
		},
	})
}

// drawFall paints the two sides of parted hair.
func drawFall(p *portrait) {
	f := falls[p.look.Hair.Style]
	parting := 0.34 * p.look.Hair.Parting
	p.drawSheet(p.fallSide(f, parting, -1))
	p.drawSheet(p.fallSide(f, parting, 1))
}

// fallSide is the hair on one side of the parting; side is -1 for left.
func (p *portrait) fallSide(f fall, parting, side float64) sheet {
	volume := 0.10 + 0.035*p.look.Hair.Volume
	hairline := p.hairlineAt(0)
	at := func(x, y float64) point { return pt(side*x, y) }
	root := side * parting
	end := f.length
	inner := p.guide(
		at(root, hairline),
		at(root+(0.60-root)*0.55, hairline+0.045),
		at(0.80, 0.33),
		at(0.945, 0.53),
		at(0.95, 0.74),
		at(0.88-f.inward*0.5, math.Min(0.95, end-0.04)),
		at(0.74+f.flare*0.4-f.inward*1.0, end),
	)
	outer := p.guide(
		at(root, -volume*0.62),
		at(root+(0.85-root)*0.35, -volume*0.66),
		at(0.74, 0.045-volume*0.4),
		at(1.04, 0.225),
		at(1.19+volume*0.5, 0.48),
		at(1.22+volume*0.6+f.flare*0.5, 0.74),
		at(1.22+volume*0.5+f.flare, math.Min(0.95, end-0.05)),
		at(1.17+f.flare*1.3-f.inward, end),
	)
	return sheet{
		guides: []line{inner, outer}, wave: f.wave, fray: f.fray,
		sheen: 0.30, gloss: 0.75, locks: 7,
		shade: func(u, t float64) float64 {
			return 0.55*math.Exp(-u*7)*smooth(t*3) + 0.30*smooth((t-0.75)*3) + 0.25*smooth((u-0.8)*4) +
				0.65*math.Exp(-t*14)
		},
	}
}

// drawFringe paints hair cut straight across the brow.
func drawFringe(p *portrait) {
	drawFall(p)
	var guides []line
	for _, x := range []float64{-1, -0.5, 0, 0.5, 1} {
		guides = append(guides, p.guide(
			pt(x*0.34, -0.02+0.03*x*x),
			pt(x*0.56, 0.13+0.03*x*x),
			pt(x*0.75, 0.28+0.04*x*x),
			pt(x*0.84, 0.405+0.075*x*x),
		))
	}
	p.drawSheet(sheet{
		guides: guides, fray: 0.07, sheen: 0.42, gloss: 0.85, locks: 12,
		shade: func(_, t float64) float64 {
			return 0.35*smooth((t-0.75)*4) + 0.5*math.Exp(-t*9)
		},
	})
}

// hairlineAt is the height of the hairline in head units, x half widths from
// the middle.
func (p *portrait) hairlineAt(x float64) float64 {
	a := p.anatomy
	return (a.hairline-a.crown)/(a.chin-a.crown) + 0.10*x*x
}
