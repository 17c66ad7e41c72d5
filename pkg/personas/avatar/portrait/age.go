package portrait

import "math"

// ageing is 0 up to about thirty years and reaches 1 in the late sixties.
func (l Look) ageing() float64 {
	return math.Min(math.Max((float64(l.Years)-28)/40, 0), 1)
}

// drawAge paints the lines time leaves: first beside the mouth, then around the
// eyes, last across the brow.
func (p *portrait) drawAge() {
	age := p.look.ageing()
	p.drawSmileFolds(age)
	p.drawEyeBags(age)
	p.drawCrowsFeet(math.Max(0, age-0.15))
	p.drawBrowLines(math.Max(0, age-0.30))
	p.drawJowls(math.Max(0, age-0.35))
}

// crease paints a fold on both sides of the face: a fine dark line with a soft
// valley around it and a lit ridge beside it.
func (p *portrait) crease(l line, w float64, ridge point, strength float64) {
	s := p.skin
	p.face.soft(both(stroke(l, tapered(w*3.2))), w*3.4, flat(s.deep, float32(0.50*strength)))
	p.face.soft(both(stroke(l, tapered(w))), w*0.9+0.8, flat(s.deep.mix(s.line, 0.30), float32(0.80*strength)))
	lit := moved(l, ridge.x, ridge.y)
	p.face.soft(both(stroke(lit, tapered(w*2))), w*3, flat(s.light, float32(0.35*strength)))
}

// drawSmileFolds paints the folds from the nose to the corners of the mouth,
// which a smile shows even on young faces.
func (p *portrait) drawSmileFolds(age float64) {
	a := p.anatomy
	fold := curve(
		pt(middle+a.noseHalf*1.08, a.nose-20),
		pt(middle+a.noseHalf*1.42, a.nose+4),
		pt(middle+a.mouthHalf*1.16, a.mouth-18),
		pt(middle+a.mouthHalf*1.24, a.mouth+4+8*age),
	)
	p.crease(fold, 2.4+1.0*age, pt(6, -2), 0.03+0.13*p.look.Mouth.Smile+0.55*age)
	if age > 0.5 {
		from := p.look.lips(a).corner
		fold := curve(from.plus(pt(3, 6)), from.plus(pt(8, 20)), from.plus(pt(6, 36)))
		p.crease(fold, 2.2, pt(5, 0), age-0.45)
	}
}

// drawEyeBags paints the fold below the lower lid.
func (p *portrait) drawEyeBags(age float64) {
	a := p.anatomy
	at := func(x, y float64) point { return pt(middle+a.eyeX+x*a.eyeHalf, a.eye+a.lower+y) }
	bag := curve(at(-1.02, 4), at(-0.60, 12), at(0, 17), at(0.55, 14))
	p.crease(bag, 2.4, pt(-1, 6), 0.05+0.55*age)
	if age > 0.6 {
		lower := curve(at(-0.75, 18), at(-0.2, 27), at(0.45, 27))
		p.crease(lower, 1.8, pt(0, 4), 0.8*(age-0.5))
	}
}

// drawCrowsFeet paints the small lines that fan out from the outer corners of
// the eyes.
func (p *portrait) drawCrowsFeet(age float64) {
	a := p.anatomy
	from := pt(middle+a.eyeX+a.eyeHalf+9, a.eye+2)
	for i, rise := range []float64{-15, -3, 9, 20} {
		long := 26 - 3*math.Abs(float64(i)-1.2)
		fan := curve(from.plus(pt(0, rise*0.32)), from.plus(pt(long*0.5, rise*0.62)), from.plus(pt(long, rise*1.05+2)))
		p.crease(fan, 1.5, pt(0, 3), 0.75*age)
	}
}

// drawBrowLines paints the lines across the forehead and between the brows.
func (p *portrait) drawBrowLines(age float64) {
	a := p.anatomy
	room := a.brow - a.hairline
	for i, share := range []float64{0.66, 0.46, 0.27} {
		y := a.hairline + room*share
		furrow := across(pt(middle, y+1.5), pt(middle+38, y-2), pt(middle+84, y-1), pt(middle+104-10*float64(i), y+5))
		s := p.skin
		p.face.soft(shape{stroke(furrow, tapered(6))}, 7, flat(s.deep, float32(0.42*age)))
		p.face.soft(shape{stroke(furrow, tapered(2))}, 2.4, flat(s.deep, float32(0.70*age)))
		p.face.soft(shape{stroke(moved(furrow, 0, 5), tapered(4))}, 5, flat(s.light, float32(0.36*age)))
	}
	frown := curve(pt(middle+10, a.brow-8), pt(middle+12, a.brow+6), pt(middle+9, a.brow+20))
	p.crease(frown, 1.8, pt(4, 0), 0.34*age)
}

// drawJowls softens the edge of the jaw.
func (p *portrait) drawJowls(age float64) {
	a := p.anatomy
	jowl := curve(
		pt(middle+a.mouthHalf*1.30, a.mouth+30),
		pt(middle+a.mouthHalf*1.42, a.mouth+52),
		pt(middle+a.mouthHalf*1.28, a.chin-28),
	)
	p.face.soft(both(stroke(jowl, tapered(15))), 18, flat(p.skin.deep, float32(0.55*age)))
}
