package portrait

import "math"

// Hair worn short.
const (
	SidePart  HairStyle = "side part"
	Curtains  HairStyle = "curtains"
	Quiff     HairStyle = "quiff"
	SweptBack HairStyle = "swept back"
	Crop      HairStyle = "crop"
	Pixie     HairStyle = "pixie"
	Buzz      HairStyle = "buzz cut"
	Receding  HairStyle = "receding"
	Bald      HairStyle = "bald"
)

// drawScalp paints hair cut close to the head.
func drawScalp(p *portrait) { p.paintScalp(0.030, 0, 0.94) }

// skull is the outline of hair that stands off the skull by lift, down to the
// sideburns.
func (p *portrait) skull(lift float64) line {
	return symmetric(p.guide(
		pt(0, -lift*1.1), pt(0.30, 0.010-lift*1.1), pt(0.56, 0.047-lift), pt(0.83, 0.152-lift*0.7),
		pt(0.965+lift*0.8, 0.28), pt(1.0+lift*0.7, 0.42), pt(1.0+lift*0.2, 0.52), pt(1.0, 0.64),
	))
}

// growth is the area where hair grows, well beyond the skull on the outside and
// along the hairline on the inside. Recede is how far the temples are bare.
func (p *portrait) growth(recede float64) line {
	h := p.hairlineAt(0)
	return symmetric(joined(
		p.guide(pt(0, -0.3), pt(0.9, -0.2), pt(1.3, 0.1), pt(1.3, 0.52)),
		p.guide(
			pt(0.985, 0.56), pt(0.935, 0.49), pt(0.912, 0.42), pt(0.875-recede*0.07, 0.35-recede*0.06),
			pt(0.70-recede*0.07, h+0.075-recede*0.12), pt(0.42, h+0.012-recede*0.05), pt(0, h),
		),
	))
}

// paintScalp paints hair cut close to the head. Its outer edge is sharp, but
// along the hairline it fades into the skin.
func (p *portrait) paintScalp(lift, recede float64, opacity float32) {
	skull := shape{p.skull(lift)}
	inside := p.within(p.cover(skull))
	growth := p.growth(recede)
	p.face.soft(shape{moved(growth, 0, 6)}, 22, flat(p.skin.deep, 0.36*opacity))
	tone := p.hair.base
	if p.look.Hair.Grey > 0.3 {
		tone = tone.mix(p.hair.grey, float32(0.75*p.look.Hair.Grey))
	}
	dark, light := tone.toned(0.66, 0.9), tone.mix(rgb{1, 0.95, 0.9}, 0.14)
	inside.soft(shape{growth}, 11, flat(tone.mix(dark, 0.35), opacity))
	// Beyond the skin there is nothing that could show through thin hair.
	rim := p.cover(skull).without(p.cover(shape{p.anatomy.outline()}))
	p.within(rim).soft(shape{growth}, 11, flat(tone.mix(dark, 0.35).mix(p.skin.shade, 1-opacity), 1))
	hair := inside.within(p.blurred(shape{growth}, 11))
	hair.soft(shape{ellipse(p.anatomy.head(-0.30, 0.03), 80, 24)}, 50, flat(light, 0.55*opacity))
	hair.soft(both(stroke(p.guide(pt(1.0, 0.20), pt(1.05, 0.36), pt(1.0, 0.6)), even(46))), 34, flat(dark, 0.55*opacity))
	p.drawStubs(hair, dark, light, opacity)
}

// drawStubs paints short hairs all over close-cut hair.
func (p *portrait) drawStubs(inside *canvas, dark, light rgb, opacity float32) {
	random := p.random("stubs")
	var shadows, lights shape
	crown := p.anatomy.head(0, 0.02)
	for i := range 900 {
		on := p.anatomy.head(2.1*random.Float64()-1.05, 0.62*random.Float64()-0.05)
		away := on.minus(crown).unit()
		lean := pt(away.x+0.25*random.NormFloat64(), away.y+0.35+0.25*random.NormFloat64()).unit()
		hair := stroke(line{on, on.plus(lean.times(4)), on.plus(lean.times(9))}, thinning(1.6))
		if i%3 == 0 {
			lights = append(lights, hair)
		} else {
			shadows = append(shadows, hair)
		}
	}
	inside.fill(shadows, flat(dark, 0.50*opacity))
	inside.fill(lights, flat(light, 0.42*opacity))
}

// drawBuzz paints hair clipped so short that the skin shows through.
func drawBuzz(p *portrait) { p.paintScalp(0.016, 0.1, 0.80) }

// drawBald paints the shadow of shaved hair and the light on the crown.
func drawBald(p *portrait) {
	p.face.soft(shape{p.growth(0.6)}, 26, flat(p.hair.base.mix(p.skin.deep, 0.6), 0.16))
	p.face.soft(shape{ellipse(p.anatomy.head(-0.28, 0.115), 50, 17)}, 34, flat(p.skin.light, 0.75))
	p.face.soft(shape{ellipse(p.anatomy.head(0.30, 0.09), 32, 10)}, 28, flat(p.skin.light, 0.30))
}

// partingSide is -1 if the hair is parted on the left, 1 if on the right.
func (p *portrait) partingSide() float64 {
	if p.look.Hair.Parting > 0 {
		return 1
	}
	return -1
}

// drawSidePart paints short hair combed over from a parting.
func drawSidePart(p *portrait) {
	drawScalp(p)
	side := p.partingSide()
	volume, h := 0.085+0.035*p.look.Hair.Volume, p.hairlineAt(0)
	at := func(x, y float64) point { return pt(side*x, y) }
	p.drawSheet(sheet{
		guides: []line{
			p.guide(at(0.52, h+0.035), at(0.74, 0.245), at(0.89, 0.37), at(0.935, 0.52)),
			p.guide(at(0.50, h-0.07), at(0.80, 0.13), at(0.99, 0.28), at(1.02, 0.50)),
			p.guide(at(0.52, -volume*0.32), at(0.82, 0.062-volume*0.16), at(1.04, 0.23), at(1.05, 0.50)),
		},
		sheen: 0.40, gloss: 0.4, locks: 8, fray: 0.06,
		shade: func(_, t float64) float64 { return 0.35 + 0.35*smooth((t-0.5)*2) },
	})
	p.drawSheet(sheet{
		guides: []line{
			p.guide(at(0.53, h+0.035), at(0.22, h-0.004), at(-0.28, h+0.004), at(-0.68, 0.235), at(-0.875, 0.36), at(-0.93, 0.52)),
			p.guide(
				at(0.54, h-0.05), at(0.18, h-0.13-volume*0.5), at(-0.36, h-0.10-volume*0.3), at(-0.82, 0.165),
				at(-0.98, 0.33), at(-0.985, 0.51),
			),
			p.guide(
				at(0.60, -0.005), at(0.30, -volume*0.86), at(-0.30, -volume*0.92), at(-0.84, 0.03),
				at(-1.08, 0.25), at(-1.05, 0.50),
			),
		},
		sheen: 0.34, gloss: 0.8, locks: 8, fray: 0.05,
		shade: func(_, t float64) float64 { return 0.55*smooth((t-0.55)*2.4) + 0.6*math.Exp(-t*16) },
	})
}

// drawCurtains paints hair of medium length that falls to both sides of the
// forehead over short sides.
func drawCurtains(p *portrait) {
	drawScalp(p)
	volume, h := 0.10+0.035*p.look.Hair.Volume, p.hairlineAt(0)
	parting := 0.34 * p.look.Hair.Parting
	for _, side := range []float64{-1, 1} {
		root := side * parting
		at := func(x, y float64) point { return pt(side*x, y) }
		p.drawSheet(sheet{
			guides: []line{
				p.guide(at(root, h-0.01), at(root+0.20, h+0.015), at(0.60, 0.28), at(0.84, 0.40)),
				p.guide(at(root, h-0.07), at(root+0.30, h-0.08), at(0.84, 0.22), at(0.965, 0.43)),
				p.guide(at(root, -volume*0.72), at(root+(0.8-root)*0.42, -volume*0.74), at(0.92, 0.09), at(1.07, 0.27), at(1.035, 0.45)),
			},
			sheen: 0.42, gloss: 0.85, locks: 8, fray: 0.07,
			shade: func(_, t float64) float64 { return 0.45*smooth((t-0.7)*3) + 0.7*math.Exp(-t*13) },
		})
	}
}

// crest describes hair combed up and back from the forehead.
type crest struct {
	height float64 // how far it stands above the crown
	recede float64 // how far the temples are bare
	lean   float64 // how far it is combed to one side
}

// crestSheet is the hair combed back, as strands across the head from left to
// right.
func (p *portrait) crestSheet(c crest) sheet {
	h := p.hairlineAt(0)
	roots := []point{
		pt(0, h), pt(0.38, h+0.012-0.05*c.recede), pt(0.66-0.06*c.recede, h+0.065-0.11*c.recede),
		pt(0.865-0.05*c.recede, 0.33-0.05*c.recede),
	}
	tips := []point{pt(0, -c.height), pt(0.42, 0.022-c.height*0.93), pt(0.79, 0.090-c.height*0.66), pt(0.950, 0.250)}
	strand := func(i int, side float64) line {
		root, tip := roots[i], tips[i]
		low, high := root.toward(tip, 0.30), root.toward(tip, 0.68)
		return p.guide(
			pt(side*root.x, root.y),
			pt(side*low.x*0.98+c.lean*0.20, low.y-0.012),
			pt(side*high.x*1.01+c.lean*0.35, high.y-0.012),
			pt(side*tip.x+c.lean*0.15, tip.y),
		)
	}
	var guides []line
	for i := len(roots) - 1; i > 0; i-- {
		guides = append(guides, strand(i, -1))
	}
	for i := range roots {
		guides = append(guides, strand(i, 1))
	}
	return sheet{
		guides: guides, sheen: 0.48, gloss: 0.8, locks: 15, fray: 0.03,
		shade: func(u, t float64) float64 {
			side := math.Abs(2*u - 1)
			return 0.40*side*side*side + 0.45*math.Exp(-t*9) + 0.40*smooth((t-0.8)*5)
		},
	}
}

func drawQuiff(p *portrait) {
	drawScalp(p)
	p.drawSheet(p.crestSheet(crest{height: 0.108 + 0.035*p.look.Hair.Volume, lean: 0.16 * p.look.Hair.Parting}))
}

func drawSweptBack(p *portrait) {
	drawScalp(p)
	p.drawSheet(p.crestSheet(crest{height: 0.075 + 0.03*p.look.Hair.Volume, recede: 0.4, lean: 0.10 * p.look.Hair.Parting}))
}

func drawReceding(p *portrait) {
	p.paintScalp(0.03, 1, 0.80)
	p.drawSheet(p.crestSheet(crest{height: 0.05 + 0.03*p.look.Hair.Volume, recede: 1, lean: 0.12 * p.look.Hair.Parting}))
}

// drawCrop paints short hair combed forward into a textured fringe.
func drawCrop(p *portrait) {
	drawScalp(p)
	h, volume := p.hairlineAt(0), 0.075+0.03*p.look.Hair.Volume
	lean := 0.20 * p.look.Hair.Parting
	var guides []line
	for _, x := range []float64{-1, -0.6, -0.2, 0.2, 0.6, 1} {
		drop := x * x
		guides = append(guides, p.guide(
			pt(x*0.66, -volume+0.085*drop*drop),
			pt(x*0.92-lean*0.3, 0.025+0.10*drop),
			pt(x*0.945+lean*0.3, h-0.01+0.09*drop),
			pt(x*0.83+lean, h+0.085+0.075*drop),
		))
	}
	p.drawSheet(sheet{
		guides: guides, fray: 0.24, sheen: 0.36, gloss: 0.75, locks: 13,
		shade: func(_, t float64) float64 { return 0.35*smooth((t-0.75)*4) + 0.3*math.Exp(-t*8) },
	})
}

// drawPixie paints a short soft cut with a long fringe swept to the side.
func drawPixie(p *portrait) {
	drawScalp(p)
	side := p.partingSide()
	volume, h := 0.10+0.035*p.look.Hair.Volume, p.hairlineAt(0)
	at := func(x, y float64) point { return pt(side*x, y) }
	p.drawSheet(sheet{
		guides: []line{
			p.guide(at(0.45, h+0.02), at(0.76, 0.25), at(0.91, 0.40), at(0.93, 0.58)),
			p.guide(at(0.45, h-0.09), at(0.82, 0.14), at(1.02, 0.32), at(1.03, 0.57)),
			p.guide(at(0.46, -volume*0.46), at(0.82, 0.055-volume*0.20), at(1.08, 0.25), at(1.11, 0.55)),
		},
		sheen: 0.38, gloss: 0.6, locks: 7, fray: 0.16,
		shade: func(_, t float64) float64 { return 0.15 + 0.45*smooth((t-0.5)*2) },
	})
	p.drawSheet(sheet{
		guides: []line{
			p.guide(at(0.46, h+0.01), at(0.10, h+0.02), at(-0.42, 0.27), at(-0.80, 0.40), at(-0.93, 0.57)),
			p.guide(at(0.46, h-0.06), at(0.04, h-0.09), at(-0.52, 0.13), at(-0.94, 0.33), at(-1.03, 0.56)),
			p.guide(
				at(0.54, -volume*0.30), at(0.22, -volume*0.95), at(-0.38, -volume*0.86), at(-0.90, 0.05),
				at(-1.13, 0.28), at(-1.11, 0.55),
			),
		},
		sheen: 0.36, gloss: 0.8, locks: 8, fray: 0.14,
		shade: func(_, t float64) float64 { return 0.40*smooth((t-0.65)*3) + 0.6*math.Exp(-t*14) },
	})
}
