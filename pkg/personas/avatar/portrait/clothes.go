package portrait

// ClothingStyle names an outfit.
type ClothingStyle string

// The outfits.
const (
	Tee        ClothingStyle = "tee"
	Crew       ClothingStyle = "crew sweater"
	Scoop      ClothingStyle = "scoop top"
	Turtleneck ClothingStyle = "turtleneck"
	VNeck      ClothingStyle = "v-neck over shirt"
	Cardigan   ClothingStyle = "cardigan"
	Hoodie     ClothingStyle = "hoodie"
	Shirt      ClothingStyle = "open shirt"
	Kurta      ClothingStyle = "kurta"
	Blouse     ClothingStyle = "v blouse"
	Blazer     ClothingStyle = "blazer"
	BlazerTee  ClothingStyle = "blazer over tee"
	BlazerRoll ClothingStyle = "blazer over turtleneck"
	Suit       ClothingStyle = "suit and tie"
)

// outfits draws each style, from the innermost garment outward.
var outfits = map[ClothingStyle]func(*portrait, fabric, fabric){
	Tee:        func(p *portrait, main, _ fabric) { p.drawKnit(main, crewNeck, 17) },
	Crew:       func(p *portrait, main, _ fabric) { p.drawKnit(main, crewNeck, 26) },
	Scoop:      func(p *portrait, main, _ fabric) { p.drawKnit(main, scoopNeck, 9) },
	Turtleneck: func(p *portrait, main, _ fabric) { p.drawTurtleneck(main) },
	VNeck:      (*portrait).drawVNeck,
	Cardigan:   (*portrait).drawCardigan,
	Hoodie:     (*portrait).drawHoodie,
	Shirt:      func(p *portrait, main, _ fabric) { p.drawShirt(main, true) },
	Kurta:      (*portrait).drawKurta,
	Blouse:     func(p *portrait, main, _ fabric) { p.drawBlouse(main) },
	Blazer:     (*portrait).drawBlazerOverBlouse,
	BlazerTee:  (*portrait).drawBlazerOverTee,
	BlazerRoll: (*portrait).drawBlazerOverRoll,
	Suit:       (*portrait).drawSuit,
}

func (p *portrait) drawClothing() {
	c := p.look.Clothing
	if draw := outfits[c.Style]; draw != nil {
		draw(p, newFabric(c.Main), newFabric(c.Under))
	}
}

// fabric is the set of tones one garment is painted with.
type fabric struct{ light, base, shade, deep rgb }

func newFabric(c Colour) fabric {
	base := c.rgb()
	return fabric{
		light: base.mix(rgb{1, 0.98, 0.95}, 0.16),
		base:  base,
		shade: base.toned(0.86, 1.03),
		deep:  base.toned(0.66, 1.0),
	}
}

// collarBase is where clothes meet the right side of the neck.
func (p *portrait) collarBase() point {
	a := p.anatomy
	return pt(middle+a.neck*1.10, a.chin+78)
}

// shoulderLine is the edge of the clothed body from the right side of the neck
// down to the bottom of the picture. Layer is how much stands between it and
// the skin.
func (p *portrait) shoulderLine(layer float64) line {
	a, n := p.anatomy, p.collarBase()
	return curve(
		pt(n.x, n.y-layer*0.3),
		pt(n.x+a.shoulder*0.14, n.y+30-layer*0.6),
		pt(middle+a.shoulder*0.74, n.y+66-layer),
		pt(middle+a.shoulder*0.95+layer, n.y+95-layer*0.6),
		pt(middle+a.shoulder*1.09+layer, n.y+150),
		pt(middle+a.shoulder*1.17+layer, extent+20),
	)
}

// garment is the closed area of a garment that ends at the neckline, a line
// from the left side of the neck to the right. A wide neckline leaves the first
// part of the shoulders bare.
func (p *portrait) garment(neckline line, layer float64) line {
	right := p.shoulderLine(layer)
	end := neckline[len(neckline)-1]
	for len(right) > 1 && right[0].x < end.x {
		right = right[1:]
	}
	return joined(neckline, right, reversed(mirror(right)))
}

// drawGarment paints cloth with the shadow it throws, and models the body
// below it. The canvas it returns is clipped to the cloth.
func (p *portrait) drawGarment(area line, f fabric) *canvas {
	a, n := p.anatomy, p.collarBase()
	p.fill(shape{area}, fade(pt(middle-160, n.y), pt(middle+200, extent+80), f.base.mix(f.light, 0.5), f.shade))
	cloth := p.within(p.cover(shape{area}))
	arm := p.shoulderLine(0)
	cloth.soft(shape{stroke(arm, even(70))}, 64, flat(f.deep, 0.50))
	cloth.soft(shape{mirror(stroke(arm, even(44)))}, 50, flat(f.deep, 0.30))
	cloth.soft(shape{ellipse(pt(middle-a.shoulder*0.62, n.y+86), 90, 18)}, 52, flat(f.light, 0.75))
	cloth.soft(shape{ellipse(pt(middle+a.shoulder*0.50, n.y+82), 62, 12)}, 46, flat(f.light, 0.40))
	for _, side := range []float64{-1, 1} {
		pit := pt(middle+side*a.shoulder*0.80, extent+10)
		fold := curve(pit, pt(middle+side*a.shoulder*0.77, n.y+170), pt(middle+side*a.shoulder*0.83, n.y+118))
		cloth.soft(shape{stroke(fold, thinning(20))}, 14, flat(f.deep, 0.65))
		crease := curve(pit, pt(middle+side*a.shoulder*0.60, n.y+185), pt(middle+side*a.shoulder*0.44, n.y+172))
		cloth.soft(shape{stroke(crease, thinning(16))}, 14, flat(f.deep, 0.32))
	}
	return cloth
}

// shadowed paints cloth on top of other cloth, with the shadow it throws there.
func (p *portrait) shadowed(under *canvas, area line, f fabric) *canvas {
	under.soft(shape{moved(area, 4, 9)}, 18, flat(rgb{0.05, 0.04, 0.06}, 0.30))
	under.soft(shape{moved(area, 1, 3)}, 6, flat(rgb{0.05, 0.04, 0.06}, 0.26))
	top := area[0].y
	p.fill(shape{area}, fade(pt(middle-120, top), pt(middle+160, top+220), f.base.mix(f.light, 0.6), f.base.mix(f.shade, 0.5)))
	return p.within(p.cover(shape{area}))
}

// seam paints a stitched line.
func (c *canvas) seam(l line, f fabric) {
	c.soft(shape{stroke(l, even(2))}, 2, flat(f.deep, 0.60))
	c.soft(shape{stroke(moved(l, -2.5, 0), even(2))}, 3, flat(f.light, 0.40))
}

// button paints a small button.
func (c *canvas) button(at point, f fabric) {
	c.soft(shape{ellipse(pt(at.x+1, at.y+2), 7, 7)}, 4, flat(f.deep.toned(0.6, 1), 0.55))
	c.fill(shape{ellipse(at, 6, 6)}, fade(pt(at.x-5, at.y-5), pt(at.x+5, at.y+5), f.light.mix(rgb{1, 1, 1}, 0.3), f.shade))
	c.fill(shape{ellipse(pt(at.x-1.8, at.y), 0.9, 0.9), ellipse(pt(at.x+1.8, at.y), 0.9, 0.9)}, flat(f.deep, 0.9))
}
