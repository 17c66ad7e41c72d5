package portrait

import "math"

// Hair worn tied.
const (
	Bun      HairStyle = "bun"
	Chignon  HairStyle = "chignon"
	Ponytail HairStyle = "ponytail"
)

// drawBun paints the knot on top of the head, behind it.
func drawBun(p *portrait) { p.drawKnot(pt(0, -0.105), 0.40, 0.10, 0) }

// drawNapeKnot paints what shows of a knot at the nape.
func drawNapeKnot(p *portrait) { p.drawKnot(pt(0, 0.975), 0.67, 0.115, 0.6) }

// drawKnot paints hair wound into a flat ball; dim is how much darker it is for
// lying in the shadow.
func (p *portrait) drawKnot(centre point, w, h, dim float64) {
	var guides []line
	for _, k := range []float64{-1, -0.4, 0.2, 0.7, 1} {
		half := w * math.Sqrt(1.08-k*k)
		y := centre.y - h*k
		guides = append(guides, p.guide(
			pt(centre.x-half, y+0.012), pt(centre.x-half*0.5, y-0.012*k), pt(centre.x+half*0.1, y-0.016*k),
			pt(centre.x+half*0.6, y-0.008*k), pt(centre.x+half, y+0.016),
		))
	}
	p.drawSheet(sheet{
		guides: guides, sheen: 0.36, gloss: 0.8, locks: 6,
		shade: func(u, t float64) float64 { return dim + 0.7*math.Exp(-u*4) + 0.35*smooth((t-0.6)*2.5) },
	})
}

// drawCombedUp paints hair combed back from the whole hairline.
func drawCombedUp(p *portrait) {
	h, volume := p.hairlineAt(0), 0.055+0.025*p.look.Hair.Volume
	var right []line
	roots := []point{pt(0, h), pt(0.36, h+0.012), pt(0.64, h+0.06), pt(0.84, 0.32), pt(0.91, 0.44), pt(0.93, 0.56)}
	tips := []point{pt(0, -volume), pt(0.30, -volume*0.9), pt(0.66, 0.035), pt(0.98, 0.17), pt(1.075, 0.34), pt(1.05, 0.53)}
	for i, root := range roots {
		tip := tips[i]
		mid := root.toward(tip, 0.5)
		right = append(right, p.guide(root, pt(mid.x*1.02, mid.y-0.004), tip))
	}
	guides := make([]line, 0, 2*len(right))
	for i := len(right) - 1; i > 0; i-- {
		guides = append(guides, mirror(right[i]))
	}
	guides = append(guides, right...)
	p.drawSheet(sheet{
		guides: guides, sheen: 0.55, gloss: 0.75, locks: 20,
		shade: func(u, t float64) float64 {
			side := math.Abs(2*u - 1)
			return 0.35*side*side + 0.30*math.Exp(-t*8) + 0.45*smooth((t-0.75)*4)
		},
	})
}

// drawTucked paints parted hair drawn back behind the ears.
func drawTucked(p *portrait) {
	volume, h := 0.08+0.03*p.look.Hair.Volume, p.hairlineAt(0)
	parting := 0.34 * p.look.Hair.Parting
	for _, side := range []float64{-1, 1} {
		root := side * parting
		at := func(x, y float64) point { return pt(side*x, y) }
		p.drawSheet(sheet{
			guides: []line{
				p.guide(at(root, h), at(root+(0.60-root)*0.50, h+0.03), at(0.82, 0.32), at(0.98, 0.47), at(1.05, 0.57)),
				p.guide(
					at(root, -volume*0.70), at(root+(0.85-root)*0.40, -volume*0.74), at(0.80, 0.04-volume*0.3),
					at(1.06, 0.24), at(1.13, 0.42), at(1.08, 0.58),
				),
			},
			sheen: 0.40, gloss: 0.8, locks: 9,
			shade: func(u, t float64) float64 {
				return 0.35*math.Exp(-u*6)*smooth(t*3) + 0.50*smooth((t-0.7)*3) + 0.65*math.Exp(-t*14)
			},
		})
	}
}

// drawTail paints a ponytail laid over the right shoulder.
func drawTail(p *portrait) {
	p.drawSheet(sheet{
		guides: []line{
			p.guide(pt(0.30, 0.92), pt(0.60, 1.10), pt(0.66, 1.30), pt(0.60, 1.56)),
			p.guide(pt(0.50, 0.86), pt(0.84, 1.02), pt(0.96, 1.26), pt(0.84, 1.56)),
			p.guide(pt(0.66, 0.80), pt(1.02, 0.98), pt(1.18, 1.24), pt(1.00, 1.56)),
		},
		wave: wave{height: 6, count: 1.2, from: 0.2, drift: 0.2},
		fray: 0.10, sheen: 0.45, gloss: 0.7, locks: 8,
		shade: func(_, t float64) float64 { return 0.9 * math.Exp(-t*5) },
	})
}
