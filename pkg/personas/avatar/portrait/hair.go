package portrait

import (
	"math"
	"strconv"
)

// HairStyle names a way to wear the hair.
type HairStyle string

// hairdo draws a style in three layers: what hangs behind the neck, what lies on
// the shoulders behind the head, and what lies on the head.
type hairdo struct {
	behind, between, front parts
	hidesEars              bool
}

// parts is a layer of a hairdo.
type parts []func(*portrait)

// layer draws the parts of one layer.
func (p *portrait) layer(l parts) {
	for _, draw := range l {
		draw(p)
	}
}

// hairTones is the set of tones one head of hair is painted with.
type hairTones struct {
	dark, base, light, grey rgb
}

func (h Hair) tones() hairTones {
	base := h.Colour.rgb()
	grey := rgb{0.80, 0.79, 0.77}
	base = base.mix(grey, float32(0.45*h.Grey*h.Grey))
	// Black hair needs a stronger light to show its form than fair hair does.
	lift := float32(0.16 + 0.22*base.lightness())
	return hairTones{
		dark:  base.toned(0.58, 0.80),
		base:  base,
		light: base.mix(rgb{1, 0.93, 0.84}, lift),
		grey:  grey,
	}
}

// shaded is the tone at v, from -1 the darkest to 1 the lightest.
func (h hairTones) shaded(v float64) rgb {
	if v < 0 {
		return h.base.mix(h.dark, float32(math.Min(-v, 1.3)))
	}
	return h.base.mix(h.light, float32(math.Min(v, 1.2)))
}

// head names a place relative to the head: x in half widths of the face from
// its middle, y from 0 at the crown to 1 at the chin. Hair is laid out in it,
// so that one style fits every head.
func (a anatomy) head(x, y float64) point {
	return pt(middle+x*a.cheek, a.crown+y*(a.chin-a.crown))
}

// guide is a strand through places relative to the head.
func (p *portrait) guide(places ...point) line {
	through := make(line, len(places))
	for i, q := range places {
		through[i] = p.anatomy.head(q.x, q.y)
	}
	return curve(through...)
}

// drawSheet paints a sheet with the shadow it throws on the face, and lets a few
// single hairs stray from its edges.
func (p *portrait) drawSheet(s sheet) {
	p.sheets++
	n := newNoise(p.random("sheet " + strconv.Itoa(p.sheets)))
	g := s.grid(n)
	edge := g.outline()
	if p.face != nil {
		p.face.soft(shape{moved(edge, 3, 9)}, 24, flat(p.skin.deep, 0.55))
		p.face.soft(shape{moved(edge, 1, 3)}, 7, flat(p.skin.deep.mix(p.skin.line, 0.3), 0.45))
	}
	p.lay(p.cover(shape{edge}), p.weave(g, p.strands(s, n)))
	p.drawStrays(g)
}

// strands is the texture of combed hair: fine light and dark strands gathered
// in locks, with a band of light where the hair turns toward it.
func (p *portrait) strands(s sheet, n noise) texture {
	locks := s.locks
	if locks == 0 {
		locks = 9
	}
	tones, greyShare := p.hair, p.look.Hair.Grey
	dim, bright := tones.grey.toned(0.63, 1), tones.grey.toned(1.20, 1)
	return func(u, t, grain float64) rgb {
		broad := n.at(u*locks, t*1.6) - 0.5
		middling := (n.at(u*locks*3.1+17, t*2.2) - 0.5) * keep(locks*3.1, grain)
		fine := (n.at(u*locks*9+41, t*3) - 0.5) * keep(locks*9, grain)
		v := 0.75*broad + 0.55*middling + 0.50*fine
		away := (t - s.sheen - 0.10*broad) / 0.15
		v += s.gloss * math.Exp(-away*away) * (0.75 + 0.9*middling + 0.5*fine)
		if s.shade != nil {
			v -= s.shade(u, t)
		}
		colour := tones.shaded(v)
		if greyShare > 0 {
			strand := n.at(u*locks*6+91, t*0.8)
			single := smooth((greyShare - strand + 0.15) / 0.3)
			share := greyShare + (single-greyShare)*keep(locks*6, grain)
			colour = colour.mix(dim.mix(bright, float32((math.Max(v, -1.2)+1.2)/2.2)), float32((0.50+0.32*greyShare)*share))
		}
		return colour
	}
}

// drawStrays paints single hairs along both edges of a sheet.
func (p *portrait) drawStrays(g *grid) {
	random := p.random("strays")
	var hairs shape
	for i := range 10 {
		u := 0.06 * random.Float64()
		if i%2 == 1 {
			u = 1 - u
		}
		from := 0.45 * random.Float64()
		hair := part(g.strand(u), from, from+0.30+0.25*random.Float64())
		drift := pt(random.NormFloat64()*3, random.NormFloat64()*2.5)
		loose := make(line, len(hair))
		for j, q := range hair {
			t := float64(j) / float64(len(hair)-1)
			loose[j] = q.plus(drift.times(math.Sin(math.Pi * t)))
		}
		hairs = append(hairs, stroke(loose, tapered(1.5)))
	}
	p.fill(hairs, flat(p.hair.shaded(-0.1), 0.45))
}
