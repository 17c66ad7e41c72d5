package portrait

// drawNose models the nose from the shadow it throws up to the light on its
// bridge. A nose seen from the front has hardly any lines of its own.
func (p *portrait) drawNose() {
	p.drawBridge()
	p.drawNoseShadow()
	p.drawWings()
	p.drawNoseLights()
}

// drawBridge shades the sides of the bridge, more on the side away from the
// light.
func (p *portrait) drawBridge() {
	a, n := p.anatomy, p.look.Nose
	thin := 1 - 0.12*n.Bridge + 0.10*n.Width
	side := curve(
		pt(middle+36, a.brow+10),
		pt(middle+23*thin, a.eye-8),
		pt(middle+19*thin, a.eye+28),
		pt(middle+23*thin, a.nose-52),
		pt(middle+a.noseHalf*0.80, a.nose-30),
	)
	depth := float32(0.42 + 0.12*n.Bridge)
	band := stroke(side, swelling(22, 13))
	p.face.soft(shape{band}, 17, flat(p.skin.deep, depth))
	p.face.soft(shape{mirror(band)}, 17, flat(p.skin.deep, depth*0.48))
}

// drawNoseShadow paints the shadow below the nose and the groove of the lip.
func (p *portrait) drawNoseShadow() {
	a, s := p.anatomy, p.skin
	cast := loop(
		pt(middle-a.noseHalf*0.72, a.nose-4),
		pt(middle+4, a.nose+4),
		pt(middle+a.noseHalf*0.86, a.nose-5),
		pt(middle+a.noseHalf*0.62, a.nose+9),
		pt(middle+6, a.nose+15),
		pt(middle-a.noseHalf*0.46, a.nose+8),
	)
	p.face.soft(shape{cast}, 15, flat(s.deep, 0.60))
	groove := line{pt(middle+6, a.nose+10), pt(middle+7.5, a.nose+20), pt(middle+10, a.mouth-20)}
	p.face.soft(shape{stroke(groove, tapered(7))}, 7, flat(s.deep, 0.30))
	p.face.soft(shape{mirror(stroke(groove, tapered(6)))}, 7, flat(s.deep, 0.20))
}

// drawWings paints the nostrils and the wings around them.
func (p *portrait) drawWings() {
	a, s := p.anatomy, p.skin
	w := a.noseHalf
	wing := curve(
		pt(middle+w*0.80, a.nose-31),
		pt(middle+w*1.00, a.nose-20),
		pt(middle+w*1.02, a.nose-8),
		pt(middle+w*0.84, a.nose+1),
		pt(middle+w*0.62, a.nose-2),
	)
	p.face.soft(shape{stroke(moved(wing, 3, 1), tapered(12))}, 9, flat(s.deep, 0.55))
	p.face.soft(shape{mirror(stroke(moved(wing, 3, 1), tapered(10)))}, 9, flat(s.deep, 0.36))
	p.face.soft(both(stroke(part(wing, 0.15, 0.95), tapered(3.4))), 3, flat(s.deep.mix(s.line, 0.35), 0.62))
	nostril := loop(
		pt(middle+w*0.24, a.nose-1),
		pt(middle+w*0.36, a.nose-7.5),
		pt(middle+w*0.58, a.nose-7),
		pt(middle+w*0.64, a.nose-2.5),
		pt(middle+w*0.44, a.nose-0.5),
	)
	p.face.soft(both(nostril), 3, flat(s.line, 0.80))
	base := curve(
		pt(middle-w*0.30, a.nose-1),
		pt(middle-w*0.10, a.nose+4.5),
		pt(middle+w*0.10, a.nose+4.5),
		pt(middle+w*0.30, a.nose-1),
	)
	p.face.soft(shape{stroke(base, tapered(4.5))}, 4, flat(s.deep.mix(s.line, 0.3), 0.60))
}

// drawNoseLights paints the light on bridge, tip and wing, and the ball of the
// tip that they round.
func (p *portrait) drawNoseLights() {
	a, s, n := p.anatomy, p.skin, p.look.Nose
	w := a.noseHalf
	tip := ellipse(pt(middle, a.nose-20), w*(0.50+0.06*n.Tip), 18)
	p.face.soft(shape{moved(ring(tip, 9), 4, 4)}, 13, flat(s.deep, 0.22))
	p.face.soft(shape{tip}, 24, flat(s.blush, 0.22))
	bridge := curve(pt(middle-5, a.eye-20), pt(middle-5, a.eye+30), pt(middle-3, a.nose-34))
	p.face.soft(shape{stroke(bridge, swelling(13, 16))}, 15, flat(s.light, float32(0.52+0.12*n.Bridge)))
	p.face.soft(shape{ellipse(pt(middle-6, a.nose-25), 11+2*n.Tip, 8)}, 11, flat(s.light, 0.70))
	p.face.soft(shape{ellipse(pt(middle-w*0.80, a.nose-17), 5, 6)}, 8, flat(s.light, 0.36))
	p.face.soft(shape{ellipse(pt(middle+w*0.76, a.nose-18), 4, 5)}, 8, flat(s.light, 0.22))
}
