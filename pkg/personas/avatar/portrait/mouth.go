package portrait

// lips are the outlines of a closed mouth: the edges of the lips and the line
// between them, each from the left corner to the right.
type lips struct {
	upper, between, lower line
	corner, top, bottom   point // the right corner, and the middle of both edges
}

func (l Look) lips(a anatomy) lips {
	m := l.Mouth
	lift := 10 * m.Smile
	up := 16.0 + 4.5*m.Upper - 1.5*l.Build - 3*l.ageing()
	low := 22.5 + 4.5*m.Lower - 1.5*l.Build - 3*l.ageing()
	at := func(x, y float64) point { return pt(middle+x*a.mouthHalf, a.mouth+y) }
	corner := at(1, -lift)
	upper := across(at(0, -up*0.80), at(0.17, -up), at(0.34, -up*0.86), at(0.70, -up*0.36-lift*0.45), corner)
	between := across(at(0, 3.2+lift*0.1), at(0.20, 1.6), at(0.42, 1.8-lift*0.05), at(0.74, 0.2-lift*0.46), corner)
	lower := across(at(0, low), at(0.26, low*0.96), at(0.54, low*0.70-lift*0.1), at(0.82, low*0.26-lift*0.6), corner)
	return lips{
		upper: upper, between: between, lower: lower,
		corner: corner, top: at(0, -up*0.80), bottom: at(0, low),
	}
}

// drawMouth paints the lips: the upper one faces down and is darker, the lower
// one catches the light.
func (p *portrait) drawMouth() {
	l, s := p.look.lips(p.anatomy), p.skin
	tone := p.lipTone()
	p.drawAroundMouth(l)
	upper := joined(l.upper, reversed(l.between))
	lower := joined(l.between, reversed(l.lower))
	p.soft(shape{upper, lower}, 4, flat(tone.mix(s.base, 0.35), 0.55))
	p.soft(shape{upper}, 1.8, fade(l.top, pt(middle, p.anatomy.mouth+4), tone.toned(0.95, 1.02), tone.toned(0.78, 1.05)))
	p.soft(shape{lower}, 1.8, fade(pt(middle, p.anatomy.mouth), l.bottom, tone.toned(0.96, 1.06), tone.toned(1.04, 0.96)))
	p.drawLipLights(l, tone)
	seam := stroke(part(l.between, 0.02, 0.98), tapered(3.6))
	p.soft(shape{seam}, 1.6, flat(tone.toned(0.42, 0.9), 0.90))
	for _, corner := range []point{l.corner, pt(extent-l.corner.x, l.corner.y)} {
		p.face.soft(shape{ellipse(corner, 4, 3)}, 5, flat(s.deep.mix(s.line, 0.5), 0.40))
	}
}

// lipTone is the colour of the lips: make-up if there is any, otherwise skin
// tinted more or less by the blood below it.
func (p *portrait) lipTone() rgb {
	if p.look.Mouth.Lipstick != 0 {
		return p.look.Mouth.Lipstick.rgb().mix(p.skin.lip, 0.25)
	}
	return p.skin.lip.mix(p.skin.deep, float32(0.22+0.24*p.look.Build))
}

// drawAroundMouth models what the lips cast shadow on: the dip below the lower
// lip and the cheeks at the corners.
func (p *portrait) drawAroundMouth(l lips) {
	s, m := p.skin, p.look.Mouth
	dip := ellipse(pt(middle+2, l.bottom.y+9), 34, 6)
	p.face.soft(shape{dip}, 14, flat(s.deep, 0.62))
	dimple := curve(
		l.corner.plus(pt(5, -7)),
		l.corner.plus(pt(8, 0)),
		l.corner.plus(pt(5, 9)),
	)
	p.face.soft(both(stroke(dimple, tapered(7))), 9, flat(s.deep, float32(0.14+0.30*m.Smile)))
	edge := moved(part(l.upper, 0.2, 0.8), 0, -4)
	p.face.soft(shape{stroke(edge, tapered(4))}, 5, flat(s.light, 0.34))
}

// drawLipLights paints the shine on the lower lip and, fainter, the upper.
func (p *portrait) drawLipLights(l lips, tone rgb) {
	shine := tone.mix(rgb{1, 0.93, 0.90}, 0.62)
	full := l.bottom.y - p.anatomy.mouth
	p.soft(shape{ellipse(pt(middle-6, p.anatomy.mouth+full*0.52), p.anatomy.mouthHalf*0.34, full*0.15)}, 8, flat(shine, 0.62))
	p.soft(shape{ellipse(pt(middle-9, l.top.y+5), 10, 2.2)}, 5, flat(shine, 0.28))
	p.soft(shape{stroke(part(l.lower, 0.1, 0.9), tapered(5))}, 6, flat(tone.toned(0.72, 1), 0.30))
}
