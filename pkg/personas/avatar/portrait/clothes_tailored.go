package portrait

// drawShirt paints a buttoned shirt, with the top button open or closed.
func (p *portrait) drawShirt(f fabric, open bool) *canvas {
	n := p.collarBase()
	depth := 20.0
	if open {
		depth = 92
	}
	right := curve(pt(middle, n.y+depth), pt(middle+(n.x-middle)*0.52, n.y+depth*0.50), pt(n.x, n.y-2))
	edge := append(reversed(mirror(right)), right[1:]...)
	p.drawOnNeck(edge)
	cloth := p.drawGarment(p.garment(edge, 0), f)
	placket := line{pt(middle+16, n.y+depth-20), pt(middle+16, extent)}
	cloth.seam(placket, f)
	cloth.soft(shape{stroke(line{pt(middle-15, n.y+depth-10), pt(middle-15, extent)}, even(4))}, 5, flat(f.deep, 0.40))
	for y := n.y + depth + 32; y < extent; y += 78 {
		cloth.button(pt(middle, y), f)
	}
	p.drawCollar(cloth, f, open)
	return cloth
}

// drawCollar paints the two leaves of a shirt collar over the cloth below.
func (p *portrait) drawCollar(under *canvas, f fabric, open bool) {
	a, n := p.anatomy, p.collarBase()
	front := pt(middle+3, n.y+26)
	tip := pt(middle+52, n.y+92)
	if open {
		front, tip = pt(middle+22, n.y+66), pt(middle+78, n.y+112)
	}
	side := pt(middle+a.neck*1.03, n.y-44)
	leaf := joined(
		curve(side, pt(middle+a.neck*0.84, n.y-4), front),
		curve(front, front.toward(tip, 0.5).plus(pt(-4, 2)), tip),
		curve(tip, pt(n.x-8, n.y+52), pt(n.x+22, n.y+2), pt(n.x+4, n.y-34), side),
	)
	for _, half := range []line{leaf, mirror(leaf)} {
		p.soft(shape{moved(half, 0, -3)}, 8, flat(p.skin.deep, 0.35))
		collar := p.shadowed(under, half, f)
		collar.soft(shape{ring(half, 5)}, 5, flat(f.shade, 0.75))
		collar.soft(shape{moved(p.anatomy.outline(), 4, 34)}, 30, flat(f.deep, 0.50))
	}
}

// drawKurta paints a tunic with a standing collar and a buttoned slit.
func (p *portrait) drawKurta(main, under fabric) {
	a, n := p.anatomy, p.collarBase()
	cloth := p.drawKnit(main, crewNeck, 4)
	slit := line{pt(middle, n.y+30), pt(middle, extent)}
	band := joined(slit, line{pt(middle+26, extent), pt(middle+26, n.y+30)})
	p.shadowed(cloth, band, main)
	stand := joined(
		curve(pt(middle+7, n.y+12), pt(middle+a.neck*0.62, n.y-8), pt(middle+a.neck*1.03, n.y-40)),
		curve(pt(n.x+4, n.y-10), pt(middle+a.neck*0.76, n.y+36), pt(middle+7, n.y+56)),
	)
	for _, half := range []line{stand, mirror(stand)} {
		p.soft(shape{moved(half, 0, -4)}, 9, flat(p.skin.deep, 0.5))
		collar := p.shadowed(cloth, half, main)
		collar.soft(shape{ring(half, 4)}, 3, flat(under.base, 0.75))
	}
	for y := n.y + 84; y < extent; y += 62 {
		cloth.button(pt(middle+13, y), under)
	}
}

// drawBlouse paints a soft top with a crossed front.
func (p *portrait) drawBlouse(f fabric) *canvas {
	edge := vNeck(p)
	p.drawOnNeck(edge)
	cloth := p.drawGarment(p.garment(edge, 0), f)
	n := p.collarBase()
	wrap := curve(pt(middle+2, n.y+130), pt(middle-50, n.y+184), pt(middle-120, extent+10))
	cloth.soft(shape{stroke(moved(wrap, 3, 4), even(6))}, 8, flat(f.deep, 0.60))
	border := stroke(moved(edge, 0, 6), even(11))
	cloth.soft(shape{moved(border, 0, 7)}, 8, flat(f.deep, 0.45))
	cloth.fill(shape{border}, flat(f.base.mix(f.light, 0.6), 1))
	for i := range 3 {
		x := 34 + 30*float64(i)
		drape := curve(pt(middle+x*0.9, n.y+96-20*float64(i)), pt(middle+x*0.7, n.y+150), pt(middle+x*0.1, n.y+220))
		cloth.soft(both(stroke(drape, tapered(10))), 10, flat(f.deep, 0.30))
	}
	return cloth
}

func (p *portrait) drawBlazerOverBlouse(main, under fabric) {
	p.drawJacket(p.drawBlouse(under), main)
}

func (p *portrait) drawBlazerOverTee(main, under fabric) {
	p.drawJacket(p.drawKnit(under, crewNeck, 15), main)
}

func (p *portrait) drawBlazerOverRoll(main, under fabric) {
	cloth := p.drawTurtleneck(under)
	p.drawJacket(cloth, main)
}

// drawSuit paints a jacket over a white shirt; the tie has the under colour.
func (p *portrait) drawSuit(main, under fabric) {
	shirt := newFabric(0xF3F4F6)
	cloth := p.drawShirt(shirt, false)
	p.drawTie(cloth, under)
	p.drawCollar(cloth, shirt, false)
	p.drawJacket(cloth, main)
}

// drawTie paints a knotted tie.
func (p *portrait) drawTie(cloth *canvas, f fabric) {
	n := p.collarBase()
	blade := line{pt(middle-13, n.y+66), pt(middle+13, n.y+66), pt(middle+34, extent+10), pt(middle-34, extent+10)}
	knot := line{pt(middle-23, n.y+24), pt(middle+23, n.y+24), pt(middle+14, n.y+70), pt(middle-14, n.y+70)}
	p.shadowed(cloth, blade, f)
	inside := p.shadowed(cloth, knot, f)
	inside.soft(shape{ring(knot, 7)}, 6, flat(f.deep, 0.6))
	cloth.soft(
		shape{stroke(line{pt(middle-13, n.y+73), pt(middle, n.y+75), pt(middle+13, n.y+73)}, even(6))},
		6, flat(f.deep, 0.8),
	)
}

// drawJacket paints an open jacket with notched lapels over what is worn below.
func (p *portrait) drawJacket(under *canvas, f fabric) {
	n := p.collarBase()
	edge := curve(pt(n.x-6, n.y-22), pt(n.x-10, n.y+40), pt(middle+74, n.y+132), pt(middle+4, extent+16))
	side := joined(edge, reversed(p.shoulderLine(12)))
	for _, half := range []line{side, mirror(side)} {
		under.soft(shape{moved(half, 0, 5)}, 22, flat(rgb{0.04, 0.03, 0.05}, 0.45))
	}
	for i, half := range []line{mirror(side), side} {
		cloth := p.drawGarment(half, f)
		leaf := p.lapel(edge)
		if i == 0 {
			leaf = mirror(leaf)
		}
		collar := p.shadowed(cloth, leaf, f)
		collar.soft(shape{ring(leaf, 3)}, 2.5, flat(f.light, 0.55))
		notch := line{pt(n.x-4, n.y+62), pt(n.x+20, n.y+70), pt(n.x+46, n.y+74)}
		if i == 0 {
			notch = mirror(notch)
		}
		collar.seam(notch, f)
	}
}

// lapel is the right lapel with its collar, folded over along the edge.
func (p *portrait) lapel(edge line) line {
	n := p.collarBase()
	return joined(
		edge,
		reversed(curve(pt(n.x+88, n.y+88), pt(middle+152, n.y+150), pt(middle+20, extent+16))),
		line{pt(n.x+46, n.y+74), pt(n.x+64, n.y+56)},
		curve(pt(n.x+62, n.y+54), pt(n.x+34, n.y+8), pt(n.x+12, n.y-32)),
	)
}
