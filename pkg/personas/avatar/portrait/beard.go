package portrait

import "math"

// BeardStyle names a way to wear facial hair.
type BeardStyle string

// The ways to wear facial hair.
const (
	CleanShaven BeardStyle = ""
	Stubble     BeardStyle = "stubble"
	ShortBeard  BeardStyle = "short beard"
	FullBeard   BeardStyle = "full beard"
	Goatee      BeardStyle = "goatee"
	Moustache   BeardStyle = "moustache"
)

// beard says which areas carry hair, how thick it is and how far it stands off
// the chin.
type beard struct {
	jaw, chin, lip bool
	density        float32
	reach          float64
	hairs          int
	long           float64 // length of a hair
	edge           float64 // how gradually the beard begins
}

var beards = map[BeardStyle]beard{
	Stubble:    {jaw: true, lip: true, density: 0.30, hairs: 1500, long: 2.6, edge: 16},
	ShortBeard: {jaw: true, lip: true, density: 0.84, reach: 5, hairs: 1000, long: 7, edge: 13},
	FullBeard:  {jaw: true, lip: true, density: 0.95, reach: 22, hairs: 1400, long: 13, edge: 13},
	Goatee:     {chin: true, lip: true, density: 0.86, reach: 5, hairs: 500, long: 7, edge: 9},
	Moustache:  {lip: true, density: 0.90, hairs: 700, long: 8, edge: 7},
}

// drawBeard paints facial hair: a soft bed, then single hairs that grow down
// and outward.
func (p *portrait) drawBeard() {
	b, worn := beards[p.look.Beard.Style]
	if !worn {
		return
	}
	area := p.beardArea(b)
	on := p.face
	if b.reach > 0 {
		on = p.within(p.cover(shape{p.beardLimit(b.reach)}))
		on.soft(shape{moved(area[0], 0, 8)}, 14, flat(p.skin.deep, 0.30))
	}
	tone := p.beardTone()
	bed := p.blurred(area, b.edge).without(p.blurred(shape{p.beardGap()}, 4))
	on.lay(bed, flat(tone.toned(0.86, 0.9).mix(p.skin.deep, 0.12), b.density*0.92))
	p.drawBeardHairs(on.within(bed), b, tone)
	p.drawLipHalo()
}

// beardTone is the colour of the beard as a whole.
func (p *portrait) beardTone() rgb {
	tone := p.hair.base
	if c := p.look.Beard.Colour; c != 0 {
		tone = c.rgb()
	}
	return tone.mix(p.hair.grey, float32(0.78*p.look.Beard.Grey))
}

// beardLimit is the outline of the head with its beard.
func (p *portrait) beardLimit(reach float64) line {
	head := p.anatomy.outline()
	low := make(line, len(head))
	centre := p.anatomy.head(0, 0.62)
	for i, q := range head {
		out := q.minus(centre).unit()
		share := smooth((q.y - centre.y) / 90)
		low[i] = q.plus(pt(out.x*0.55, out.y).times(reach * share))
	}
	return low
}

// beardArea is where hair grows.
func (p *portrait) beardArea(b beard) shape {
	a := p.anatomy
	lip := p.look.lips(a)
	var s shape
	if b.jaw {
		s = append(s, symmetric(joined(
			p.guide(pt(0, 1.25), pt(0.8, 1.2), pt(1.3, 0.9), pt(1.12, 0.50)),
			p.guide(pt(0.935, 0.50), pt(0.90, 0.62), pt(0.80, 0.735), pt(0.60, 0.80), pt(0.44, 0.815)),
			line{pt(lip.corner.x+6, lip.corner.y+6), pt(middle, a.mouth+10)},
		)))
	}
	if b.chin {
		s = append(s, symmetricLoop(
			pt(middle, a.mouth+10),
			pt(lip.corner.x+2, a.mouth+4),
			pt(lip.corner.x+6, a.mouth+40),
			pt(middle+a.chinWidth*0.8, a.chin+4),
			pt(middle, a.chin+30),
		))
	}
	if b.lip {
		s = append(s, symmetricLoop(
			pt(middle, a.nose+17),
			pt(middle+28, a.nose+15),
			pt(lip.corner.x-6, a.mouth-22),
			pt(lip.corner.x+9, a.mouth-4),
			pt(lip.corner.x+7, lip.corner.y+10),
			pt(lip.corner.x-12, lip.corner.y-2),
			pt(middle+22, a.mouth-12),
			pt(middle, a.mouth-10),
		))
	}
	return s
}

// beardGap is what stays bare: the lips, and the skin just below them.
func (p *portrait) beardGap() line {
	l := p.look.lips(p.anatomy)
	return joined(moved(l.upper, 0, 2), reversed(moved(l.lower, 0, 3)))
}

// drawBeardHairs paints single hairs over the bed.
func (p *portrait) drawBeardHairs(on *canvas, b beard, tone rgb) {
	random := p.random("beard")
	low := p.anatomy.head(0, 0.50)
	var dark, light, grey shape
	for i := range b.hairs {
		at := pt(middle+p.anatomy.cheek*1.1*(2*random.Float64()-1), low.y+random.Float64()*(p.anatomy.chin+30-low.y))
		lean := pt((at.x-middle)/p.anatomy.cheek*0.55+0.22*random.NormFloat64(), 1).unit()
		if onLip := math.Abs(at.x-middle) < p.anatomy.mouthHalf+12; onLip && at.y < p.anatomy.mouth {
			lean = pt((at.x-middle)/40, 0.8+0.2*random.NormFloat64()).unit()
		}
		long := b.long * (0.7 + 0.6*random.Float64())
		hair := stroke(line{at, at.plus(lean.times(long * 0.5)), at.plus(lean.times(long))}, thinning(1.4))
		switch {
		case random.Float64() < p.look.Beard.Grey:
			grey = append(grey, hair)
		case i%3 == 0:
			light = append(light, hair)
		default:
			dark = append(dark, hair)
		}
	}
	on.fill(dark, flat(tone.toned(0.70, 0.9), 0.55))
	on.fill(light, flat(tone.mix(rgb{1, 0.92, 0.82}, 0.22), 0.50))
	on.fill(grey, flat(p.hair.grey.toned(1.06, 1), 0.42))
}

// drawLipHalo separates the lower lip from the hair below it.
func (p *portrait) drawLipHalo() {
	l := p.look.lips(p.anatomy)
	p.soft(shape{stroke(part(moved(l.lower, 0, 3), 0.15, 0.85), tapered(5))}, 6, flat(p.skin.deep, 0.35))
}
