package portrait

import "math"

// neckline gives the edge of a garment at the neck, from left to right.
type neckline func(p *portrait) line

func crewNeck(p *portrait) line {
	n := p.collarBase()
	w := n.x - middle
	return across(pt(middle, n.y+50), pt(middle+w*0.45, n.y+41), pt(middle+w*0.86, n.y+14), pt(n.x, n.y-3))
}

func scoopNeck(p *portrait) line {
	n := p.collarBase()
	w := n.x - middle
	end := p.shoulderLine(0)[curveSteps*2/3]
	return across(pt(middle, n.y+116), pt(middle+w*0.60, n.y+100), pt(middle+w*1.08, n.y+62), end)
}

func vNeck(p *portrait) line {
	n := p.collarBase()
	right := curve(pt(middle, n.y+132), pt(middle+(n.x-middle)*0.55, n.y+64), pt(n.x, n.y-2))
	return append(reversed(mirror(right)), right[1:]...)
}

// drawKnit paints a knitted top with a band of the given width around the neck.
func (p *portrait) drawKnit(f fabric, neck neckline, band float64) *canvas {
	edge := neck(p)
	p.drawOnNeck(edge)
	cloth := p.drawGarment(p.garment(edge, 0), f)
	p.drawBand(cloth, edge, band, f)
	return cloth
}

// drawOnNeck paints the shadow a neckline throws on the skin beside it.
func (p *portrait) drawOnNeck(edge line) {
	p.soft(shape{stroke(edge, even(9))}, 12, flat(p.skin.deep, 0.65))
}

// drawBand paints the ribbed band along a neckline.
func (p *portrait) drawBand(cloth *canvas, edge line, w float64, f fabric) {
	lower := moved(edge, 0, w*0.55)
	cloth.soft(shape{stroke(moved(lower, 1, w*0.5), even(6))}, 8, flat(f.deep, 0.65))
	cloth.fill(shape{stroke(lower, even(w))}, flat(f.base.mix(f.light, 0.35), 1))
	cloth.soft(shape{stroke(moved(edge, 0, w*0.95), even(w*0.3))}, w*0.3, flat(f.shade, 0.8))
	var ribs shape
	fine := resampled(lower, 70)
	for i := 1; i < len(fine)-1; i++ {
		along := direction(fine, i).left().times(w * 0.42)
		ribs = append(ribs, stroke(line{fine[i].minus(along), fine[i], fine[i].plus(along)}, even(1.3)))
	}
	cloth.fill(ribs, flat(f.deep, 0.30))
}

// drawTurtleneck paints a top with a high folded collar.
func (p *portrait) drawTurtleneck(f fabric) *canvas {
	a, n := p.anatomy, p.collarBase()
	cloth := p.drawKnit(f, crewNeck, 4)
	w := a.neck * 1.10
	roll := symmetric(joined(
		curve(pt(middle, a.chin+34), pt(middle+w*0.60, a.chin+28), pt(middle+w*0.99, a.chin+12)),
		curve(pt(middle+w*1.05, a.chin+40), pt(middle+w*1.16, n.y+10), pt(middle+w*1.04, n.y+30)),
		curve(pt(middle+w*0.62, n.y+50), pt(middle, n.y+60)),
	))
	p.soft(shape{moved(roll, 0, -5)}, 8, flat(p.skin.deep, 0.55))
	collar := p.shadowed(cloth, roll, f)
	collar.soft(shape{moved(p.anatomy.outline(), 6, 30)}, 34, flat(f.deep, 0.75))
	collar.soft(
		both(stroke(line{pt(middle+w, a.chin), pt(middle+w*1.1, n.y), pt(middle+w*1.1, n.y+50)}, even(50))),
		40, flat(f.deep, 0.45),
	)
	var ribs shape
	for i := -16; i <= 16; i++ {
		x := math.Sin(float64(i) / 16 * 1.25)
		ribs = append(
			ribs,
			stroke(curve(pt(middle+x*w, a.chin+10), pt(middle+x*w*1.08, n.y), pt(middle+x*w*1.10, n.y+62)), even(1.8)),
		)
	}
	collar.soft(ribs, 2, flat(f.deep, 0.35))
	return cloth
}

// drawVNeck paints a sweater over a shirt.
func (p *portrait) drawVNeck(main, under fabric) {
	p.drawShirt(under, true)
	edge := vNeck(p)
	area := p.garment(moved(edge, 0, 18), 4)
	p.soft(shape{moved(area, 0, -3)}, 9, flat(under.deep, 0.7))
	cloth := p.drawGarment(area, main)
	p.drawBand(cloth, moved(edge, 0, 18), 20, main)
	p.drawCollar(p.canvas, under, true)
}

// drawCardigan paints an open cardigan over a top.
func (p *portrait) drawCardigan(main, under fabric) {
	top := p.drawKnit(under, scoopNeck, 7)
	n := p.collarBase()
	shoulder := p.shoulderLine(6)[curveSteps/3:]
	edge := curve(shoulder[0], pt(n.x+13, n.y+64), pt(middle+78, n.y+150), pt(middle+58, extent+20))
	side := joined(edge, reversed(shoulder))
	for _, half := range []line{side, mirror(side)} {
		top.soft(shape{moved(half, 2, 4)}, 20, flat(under.deep, 0.8))
	}
	for i, half := range []line{side, mirror(side)} {
		cloth := p.drawGarment(half, main)
		border := edge
		if i == 1 {
			border = mirror(edge)
		}
		cloth.fill(shape{stroke(border, even(44))}, flat(main.base.mix(main.light, 0.45), 1))
		inset := 22.0
		if i == 1 {
			inset = -22
		}
		cloth.seam(moved(border, inset, 0), main)
	}
}

// drawHoodie paints a hooded sweatshirt over a tee.
func (p *portrait) drawHoodie(main, under fabric) {
	p.drawKnit(under, crewNeck, 14)
	n := p.collarBase()
	edge := across(pt(middle, n.y+104), pt(middle+52, n.y+78), pt(n.x-8, n.y+30), pt(n.x+8, n.y-14))
	p.soft(shape{stroke(edge, even(16))}, 16, flat(under.deep, 0.8))
	cloth := p.drawGarment(p.garment(edge, 8), main)
	hood := joined(
		curve(pt(middle+6, n.y+112), pt(middle+60, n.y+74), pt(n.x-6, n.y+22), pt(n.x-4, n.y-34)),
		curve(pt(n.x+40, n.y-2), pt(n.x+58, n.y+44), pt(middle+92, n.y+116), pt(middle+20, n.y+146)),
	)
	for _, half := range []line{hood, mirror(hood)} {
		fold := p.shadowed(cloth, half, main)
		fold.soft(shape{stroke(half[len(half)/2:], even(24))}, 22, flat(main.deep, 0.6))
		fold.soft(shape{stroke(half[:len(half)/2], even(10))}, 10, flat(main.light, 0.6))
	}
	for _, x := range []float64{-26, 24} {
		cord := curve(pt(middle+x, n.y+112), pt(middle+x*1.25, n.y+150), pt(middle+x*1.15, n.y+196))
		cloth.soft(shape{stroke(moved(cord, 3, 3), even(7))}, 5, flat(main.deep, 0.7))
		p.fill(shape{stroke(cord, even(6))}, flat(under.base.mix(under.light, 0.5), 1))
	}
}
