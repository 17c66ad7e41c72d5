package portrait

// EarringStyle names a pair of earrings.
type EarringStyle string

// The earrings.
const (
	NoEarrings EarringStyle = ""
	Studs      EarringStyle = "studs"
	Hoops      EarringStyle = "hoops"
	Drops      EarringStyle = "drops"
)

// drawEarrings paints the pair. Hair that hides the ears hides them too, so it
// is drawn over them.
func (p *portrait) drawEarrings() {
	metal := p.look.Earrings.Metal.rgb()
	right := p.lobe()
	for _, at := range []point{right, pt(extent-right.x, right.y)} {
		switch p.look.Earrings.Style {
		case Studs:
			p.drawPearl(at, 6.5, metal)
		case Hoops:
			hoop := ring(ellipse(pt(at.x, at.y+24), 19, 24), 5)
			p.soft(shape{moved(hoop, 3, 4)}, 6, flat(p.skin.deep, 0.4))
			p.fill(shape{hoop}, fade(pt(at.x-20, at.y), pt(at.x+20, at.y+50), metal.mix(rgb{1, 1, 1}, 0.35), metal.toned(0.72, 1)))
		case Drops:
			p.drawPearl(at, 4.5, metal)
			p.fill(shape{stroke(line{at, pt(at.x, at.y+10), pt(at.x, at.y+22)}, even(2))}, flat(metal.toned(0.8, 1), 1))
			p.drawPearl(pt(at.x, at.y+30), 8.5, metal)
		}
	}
}

// drawPearl paints a small shining ball.
func (p *portrait) drawPearl(at point, r float64, metal rgb) {
	p.soft(shape{ellipse(pt(at.x+2, at.y+3), r, r)}, 5, flat(p.skin.deep, 0.55))
	p.fill(
		shape{ellipse(at, r, r)},
		glow(pt(at.x-r*0.3, at.y-r*0.35), r*1.5, r*1.5, metal.mix(rgb{1, 1, 1}, 0.6), metal.toned(0.66, 1)),
	)
}
