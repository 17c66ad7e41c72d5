package portrait

// drawEars paints both ears; the head is drawn over their roots.
func (p *portrait) drawEars() {
	ear := p.ear()
	s := p.skin
	p.fill(both(ear), flat(s.base.mix(s.blush, 0.22), 1))
	inside := p.within(p.cover(both(ear)))
	inside.soft(both(ring(ear, 12)), 14, flat(s.shade, 0.55))
	inside.soft(shape{moved(ear, 14, 6)}, 22, flat(s.deep, 0.26))
	p.drawConcha(inside)
}

// ear is the outline of the right ear.
func (p *portrait) ear() line {
	a := p.anatomy
	out := 27 + 5*p.look.Head.EarSize
	low := a.nose - 6 + 7*p.look.Head.EarSize
	return loop(
		pt(middle+a.cheek*0.94, a.eye-20),
		pt(middle+a.cheek+out*0.52, a.eye-36),
		pt(middle+a.cheek+out, a.eye-16),
		pt(middle+a.cheek+out*0.92, a.eye+30),
		pt(middle+a.cheek+out*0.52, low-26),
		pt(middle+a.cheek+out*0.34, low-6),
		pt(middle+a.cheek+out*0.08, low),
		pt(middle+a.cheek*0.95, low-14),
		pt(middle+a.cheek*0.90, a.eye+30),
	)
}

// lobe is where an earring hangs from the right ear.
func (p *portrait) lobe() point {
	ear := p.look.Head.EarSize
	return pt(middle+p.anatomy.cheek+8+ear, p.anatomy.nose-8+6*ear)
}

// drawConcha paints the hollow of the ear and the rim that folds over it.
func (p *portrait) drawConcha(inside *canvas) {
	a, s := p.anatomy, p.skin
	out := 27 + 5*p.look.Head.EarSize
	fold := curve(
		pt(middle+a.cheek+2, a.eye-14),
		pt(middle+a.cheek+out*0.52, a.eye-22),
		pt(middle+a.cheek+out*0.72, a.eye-4),
		pt(middle+a.cheek+out*0.62, a.eye+32),
		pt(middle+a.cheek+out*0.36, a.nose-42),
	)
	inside.soft(both(stroke(fold, tapered(6))), 5, flat(s.deep, 0.72))
	hollow := ellipse(pt(middle+a.cheek+out*0.22, a.eye+38), 8, 24)
	inside.soft(both(hollow), 11, flat(s.deep.mix(s.line, 0.25), 0.62))
	rim := stroke(moved(fold, 5, -3), tapered(5))
	inside.soft(both(rim), 6, flat(s.light, 0.42))
}
