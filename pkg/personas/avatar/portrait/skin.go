package portrait

// drawNeck paints the neck and what of the chest the clothes leave open.
func (p *portrait) drawNeck() {
	a, s := p.anatomy, p.skin
	half := curve(
		pt(middle+a.neck*0.98, a.mouth),
		pt(middle+a.neck*0.97, a.chin+30),
		pt(middle+a.neck*1.06, a.chin+74),
		pt(middle+a.neck*1.55, a.chin+118),
		pt(middle+a.shoulder*0.86, a.chin+168),
		pt(middle+a.shoulder*1.02, extent+20),
	)
	body := symmetric(half)
	p.fill(shape{body}, flat(s.base.mix(s.shade, 0.35), 1))
	inside := p.within(p.cover(shape{body}))
	sides := part(half, 0, 0.55)
	inside.soft(both(stroke(sides, even(56))), 44, flat(s.deep, 0.42))
	inside.soft(shape{moved(stroke(sides, even(70)), -16, 0)}, 60, flat(s.deep, 0.30))
	p.drawChinShadow(inside)
	p.drawThroat(inside)
}

// drawChinShadow darkens the neck below the jaw, which the head keeps from the
// light; it is what separates face and neck.
func (p *portrait) drawChinShadow(inside *canvas) {
	face := p.anatomy.outline()
	inside.soft(shape{moved(face, 10, 52)}, 46, flat(p.skin.deep, 0.55))
	inside.soft(shape{moved(face, 4, 20)}, 22, flat(p.skin.deep, 0.50))
}

// drawThroat hints at the neck muscles and the collar bones.
func (p *portrait) drawThroat(inside *canvas) {
	a, s := p.anatomy, p.skin
	muscle := curve(
		pt(middle+a.neck*0.80, a.chin+30),
		pt(middle+a.neck*0.52, a.chin+80),
		pt(middle+20, a.chin+134),
	)
	inside.soft(both(stroke(muscle, tapered(16))), 16, flat(s.deep, 0.24))
	bone := curve(
		pt(middle+26, a.chin+142),
		pt(middle+a.neck*0.95, a.chin+132),
		pt(middle+a.neck*1.9, a.chin+122),
	)
	inside.soft(both(stroke(bone, tapered(15))), 14, flat(s.deep, 0.26))
	inside.soft(both(stroke(moved(bone, 0, -12), tapered(13))), 14, flat(s.light, 0.30))
	inside.soft(shape{ellipse(pt(middle, a.chin+136), 14, 16)}, 18, flat(s.deep, 0.25))
}

// drawFace paints the head's skin and the broad light on it.
func (p *portrait) drawFace() {
	a, s := p.anatomy, p.skin
	face := a.outline()
	p.fill(shape{face}, flat(s.base, 1))
	inside := p.within(p.cover(shape{face}))
	p.face = inside
	inside.soft(shape{ring(face, 60)}, 62, flat(s.shade, 0.62))
	inside.soft(shape{moved(ring(face, 96), 16, 8)}, 90, flat(s.shade, 0.42))
	jaw := stroke(part(face, 0.33, 0.5), even(54))
	inside.soft(shape{jaw}, 44, flat(s.deep, 0.30))
	inside.soft(shape{mirror(jaw)}, 44, flat(s.deep, 0.12))
	p.drawCheeks()
	p.drawLights()
}

// drawCheeks paints blush and the modelling below the cheek bones.
func (p *portrait) drawCheeks() {
	a, s := p.anatomy, p.skin
	blush := ellipse(pt(middle+a.cheek*0.60, a.nose-22), 46, 30)
	p.face.soft(both(blush), 58, flat(s.blush, float32(0.42+0.20*p.look.Skin.Blush)))
	hollow := curve(
		pt(middle+a.cheek*0.96, a.nose-40),
		pt(middle+a.cheek*0.76, a.nose+8),
		pt(middle+a.cheek*0.60, a.mouth-4),
	)
	depth := float32(0.24 - 0.12*p.look.Head.Cheeks + 0.05*p.look.Build)
	p.face.soft(shape{stroke(hollow, tapered(46))}, 44, flat(s.deep, depth))
	p.face.soft(shape{mirror(stroke(hollow, tapered(42)))}, 44, flat(s.deep, depth*0.6))
}

// drawLights paints where the light from the upper left catches the face.
func (p *portrait) drawLights() {
	a, s := p.anatomy, p.skin
	light := func(x, y, rx, ry, blur float64, opacity float32) {
		p.face.soft(shape{ellipse(pt(x, y), rx, ry)}, blur, flat(s.light, opacity))
	}
	light(middle-34, (a.hairline+a.brow)/2+4, 92, 36, 84, 0.60)
	light(middle-a.cheek*0.52, a.eye+58, 42, 20, 46, 0.60)
	light(middle+a.cheek*0.50, a.eye+58, 38, 18, 46, 0.38)
	light(middle-6, a.chin-30, 28, 15, 32, 0.44)
	light(middle, a.mouth-26, 40, 10, 30, 0.14)
	light(middle-a.cheek*0.66, a.mouth-6, 20, 30, 50, 0.22)
}

// drawFreckles scatters freckles over nose and cheeks.
func (p *portrait) drawFreckles() {
	count := int(90 * p.look.Skin.Freckles)
	random := p.random("freckles")
	var spots shape
	for range count {
		x := random.NormFloat64() * 62
		y := p.anatomy.eye + 68 + random.NormFloat64()*22 + 0.0006*x*x
		r := 1.0 + 1.1*random.Float64()
		spots = append(spots, ellipse(pt(middle+x, y), r*1.15, r))
	}
	p.face.fill(spots, flat(p.skin.deep.mix(p.skin.blush, 0.3), 0.30))
}
