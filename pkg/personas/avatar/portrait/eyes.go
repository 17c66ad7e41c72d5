package portrait

import "math"

// lids are the edges of one eye, here the one on the right of the picture, from
// its inner to its outer corner.
type lids struct{ upper, lower line }

// opening is the visible eye between the lids.
func (l lids) opening() line { return joined(l.upper, reversed(l.lower)) }

func (l Look) lids(a anatomy) lids {
	fold, tilt := l.Eyes.Fold, 3.2*l.Eyes.Tilt
	age := 2.5 * l.ageing()
	at := func(x, y float64) point { return pt(middle+a.eyeX+x*a.eyeHalf, a.eye+y) }
	inner, outer := at(-1.0, 4.5+tilt*0.6), at(1.0, -0.5-tilt+age*0.5)
	return lids{
		upper: curve(inner,
			at(-0.84, -1.5-a.upper*(0.14-0.12*fold)),
			at(-0.48, -a.upper*(0.76-0.10*fold)),
			at(0.04, -a.upper),
			at(0.52, -a.upper*(0.84+0.04*fold)-tilt*0.4+age*0.6),
			at(0.85, -a.upper*0.40-tilt*0.8+age),
			outer),
		lower: curve(inner,
			at(-0.72, a.lower*0.52+2),
			at(-0.25, a.lower*0.94),
			at(0.25, a.lower),
			at(0.68, a.lower*0.66-tilt*0.5),
			outer),
	}
}

// gaze is the centre of the iris of the eye on the right of the picture. It
// lies a little above the middle of the opening, so both lids touch the iris
// and the look is calm.
func (a anatomy) gaze() point {
	return pt(middle+a.eyeX-1, a.eye-(a.upper-a.lower)*0.5)
}

// drawSockets models the hollows the eyes lie in.
func (p *portrait) drawSockets() {
	a, s := p.anatomy, p.skin
	hollow := curve(
		pt(middle+a.eyeX-a.eyeHalf*1.18, a.eye+6),
		pt(middle+a.eyeX-a.eyeHalf*0.85, a.eye-24),
		pt(middle+a.eyeX, a.eye-30),
		pt(middle+a.eyeX+a.eyeHalf*0.9, a.eye-22),
		pt(middle+a.eyeX+a.eyeHalf*1.22, a.eye),
	)
	depth := float32(0.40 + 0.06*p.look.Build - 0.14*p.look.Eyes.Fold)
	p.face.soft(both(stroke(hollow, tapered(36))), 26, flat(s.deep, depth))
	below := moved(p.look.lids(a).lower, 0, 12)
	p.face.soft(both(stroke(below, tapered(15))), 14, flat(s.deep, 0.16))
	if shadow := p.look.Eyes.Shadow; shadow != 0 {
		lid := joined(p.look.lids(a).upper, reversed(moved(p.look.lids(a).upper, 3, -13)))
		p.face.soft(both(lid), 13, flat(shadow.rgb(), 0.50))
	}
}

// drawEyes paints both eyes. Only the outlines are mirrored: the light comes
// from the same side for both.
func (p *portrait) drawEyes() {
	right := p.look.lids(p.anatomy)
	gaze := p.anatomy.gaze()
	p.drawEye(right, gaze)
	p.drawEye(lids{mirror(right.upper), mirror(right.lower)}, pt(extent-gaze.x, gaze.y))
}

func (p *portrait) drawEye(l lids, gaze point) {
	opening := shape{l.opening()}
	white := rgb{0.955, 0.94, 0.925}.mix(p.skin.base, 0.09)
	p.fill(opening, flat(white, 1))
	inside := p.within(p.cover(opening))
	inner := l.upper[0]
	inside.soft(shape{ellipse(inner, 9, 7)}, 6, flat(p.skin.blush, 0.75))
	inside.soft(shape{stroke(moved(l.lower, 0, 1), even(5))}, 6, flat(p.skin.deep, 0.28))
	p.drawIris(inside, gaze)
	lash := l.upper
	inside.soft(shape{stroke(moved(lash, 0, 2), even(9))}, 9, flat(p.skin.line, 0.50))
	p.drawLids(l)
	p.drawCatchlight(gaze)
}

// drawIris paints iris and pupil: a dark rim, a body lit from below, where
// light that came in from above leaves the eye again, and fine rays.
func (p *portrait) drawIris(inside *canvas, c point) {
	r := p.anatomy.irisSize
	body := p.look.Eyes.Iris.rgb()
	rim, lit := body.toned(0.48, 0.8), body.toned(1.30, 1.15)
	inside.fill(shape{ellipse(c, r, r)}, flat(rim, 1))
	inside.soft(shape{ellipse(c, r*0.80, r*0.80)}, 4, flat(body, 1))
	inside.soft(shape{ellipse(pt(c.x, c.y+r*0.42), r*0.52, r*0.36)}, 7, flat(lit, 0.85))
	var rays shape
	for i := range 28 {
		sin, cos := math.Sincos(2 * math.Pi * (float64(i) + 0.3*math.Sin(float64(i*i))) / 28)
		from, to := pt(c.x+cos*r*0.42, c.y+sin*r*0.42), pt(c.x+cos*r*0.86, c.y+sin*r*0.86)
		rays = append(rays, stroke(line{from, from.toward(to, 0.5), to}, tapered(0.9)))
	}
	inside.fill(rays, flat(rim, 0.40))
	inside.fill(shape{ellipse(c, r*0.42, r*0.42)}, flat(rgb{0.035, 0.03, 0.035}, 1))
}

// drawCatchlight paints the reflections of the window and of the floor.
func (p *portrait) drawCatchlight(c point) {
	r := p.anatomy.irisSize
	white := rgb{1, 1, 1}
	p.soft(shape{ellipse(pt(c.x-r*0.32, c.y-r*0.34), r*0.23, r*0.24)}, 1.1, flat(white, 1))
	p.soft(shape{ellipse(pt(c.x+r*0.36, c.y+r*0.40), r*0.15, r*0.12)}, 2.5, flat(white, 0.40))
}

// drawLids paints the edges of the lids, the fold above and the lashes.
func (p *portrait) drawLids(l lids) {
	p.drawLowerLid(l)
	p.drawLashLine(l)
	p.drawFold(l)
	if p.look.Eyes.Lashes > 0 {
		p.drawLashes(l, p.lashTone())
	}
}

// lashTone is the colour of the lashes.
func (p *portrait) lashTone() rgb { return p.skin.line.mix(rgb{0.07, 0.045, 0.04}, 0.72) }

// drawLowerLid paints the wet edge of the lower lid and its lashes.
func (p *portrait) drawLowerLid(l lids) {
	s := p.skin
	p.soft(shape{stroke(moved(l.lower, 0, 1.5), tapered(3))}, 2, flat(s.deep, 0.75))
	p.soft(shape{stroke(part(moved(l.lower, 0, 3.4), 0.15, 0.85), tapered(2.4))}, 2.4, flat(s.light, 0.40))
	p.fill(shape{stroke(part(l.lower, 0.35, 1), tapered(1.1+0.9*p.look.Eyes.Lashes))}, flat(p.lashTone(), 0.65))
}

// drawLashLine paints the roots of the upper lashes.
func (p *portrait) drawLashLine(l lids) {
	e := p.look.Eyes
	lash := swelling(2.2+0.6*e.Lashes, 4.0+2.0*e.Lashes)
	p.fill(shape{stroke(l.upper, func(t float64) float64 {
		return lash(t) * math.Min(1, 0.35+3*t) * math.Min(1, 0.45+4*(1-t))
	})}, flat(p.lashTone(), 0.95))
}

// drawFold paints the crease of the upper lid. A folded lid shows it low and
// faint, and it runs into the inner corner.
func (p *portrait) drawFold(l lids) {
	s, e := p.skin, p.look.Eyes
	lift := 8.5 + 2.5*e.Crease - 4.0*e.Fold
	out := 1.0
	if l.upper[0].x < l.upper[len(l.upper)-1].x {
		out = -1
	}
	fold := make(line, 0, len(l.upper))
	for i, q := range l.upper {
		t := float64(i) / float64(len(l.upper)-1)
		rise := lift * (0.62 + 0.38*math.Sin(math.Pi*math.Min(1, t*1.1)))
		fold = append(fold, pt(q.x-out*2.5*t, q.y-rise*(1-0.25*t*t)))
	}
	fold = part(fold, 0.06+0.10*(1-e.Fold), 0.97)
	strength := float32(0.95 - 0.25*e.Fold)
	p.soft(shape{stroke(fold, tapered(3.8))}, 2.4, flat(s.deep.mix(s.line, 0.45), strength))
	lit := part(moved(l.upper, 0, -lift*0.5), 0.25, 0.8)
	p.soft(shape{stroke(lit, tapered(lift*0.45))}, 4, flat(s.light, 0.34*(1-0.5*float32(e.Fold))))
}

// drawLashes paints single lashes along the outer half of the upper lid, and
// the little wing they make at the corner.
func (p *portrait) drawLashes(l lids, dark rgb) {
	side := 1.0
	n := len(l.upper)
	if l.upper[n-1].x < l.upper[0].x {
		side = -1
	}
	var lashes shape
	for i := range 13 {
		t := 0.30 + 0.70*float64(i)/12
		root := l.upper[int(t*float64(n-1))]
		long := (4 + 7.5*t*t) * p.look.Eyes.Lashes
		reach := pt(side*(0.10+0.85*t*t), -1+0.30*t*t).unit().times(long)
		bend := root.plus(pt(reach.x*0.62, reach.y*0.36))
		lashes = append(lashes, stroke(curve(root, bend, root.plus(reach)), thinning(2.2)))
	}
	p.fill(lashes, flat(dark, 0.92))
}
