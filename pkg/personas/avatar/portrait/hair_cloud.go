package portrait

import (
	"math"
	"math/rand/v2"
)

// Hair whose curls hide the single strands.
const (
	Afro      HairStyle = "afro"
	ShortAfro HairStyle = "short afro"
	CurlyTop  HairStyle = "curly top"
)

// cloud is hair whose curls hide the single strands: a body with a bumpy edge,
// covered with curls.
type cloud struct {
	body line
	curl float64 // size of one curl
	gap  float64 // distance between curls
}

// drawCloud paints a cloud of curls lit from the upper left.
func (p *portrait) drawCloud(c cloud, name string) {
	random := p.random(name)
	area := shape{c.body}
	rim := append(append(line{}, c.body...), c.body[0])
	edge := resampled(rim, int(rim.length()/(c.curl*1.1)))
	for _, at := range edge {
		r := c.curl * (0.75 + 0.5*random.Float64())
		area = append(area, ellipse(at.plus(pt(random.NormFloat64(), random.NormFloat64()).times(c.curl*0.15)), r, r))
	}
	if p.face != nil {
		p.face.soft(shape{moved(c.body, 2, 12)}, 24, flat(p.skin.deep, 0.60))
	}
	p.fill(area, flat(p.hair.shaded(-0.75), 1))
	p.drawCurls(p.within(p.cover(area)), c, random)
}

// curlLevels is how many tones the curls of a cloud are painted in.
const curlLevels = 7

// drawCurls covers the area with curls, darker ones first.
func (p *portrait) drawCurls(inside *canvas, c cloud, random *rand.Rand) {
	low, high := extremes(c.body)
	var levels [curlLevels]shape
	for y := low.y - c.gap; y < high.y+c.gap; y += c.gap {
		for x := low.x - c.gap; x < high.x+c.gap; x += c.gap {
			at := pt(x+random.NormFloat64()*c.gap*0.35, y+random.NormFloat64()*c.gap*0.35)
			across, down := (at.x-low.x)/(high.x-low.x), (at.y-low.y)/(high.y-low.y)
			lit := 0.92 - 0.42*across - 0.55*down + 0.22*random.NormFloat64()
			level := int(math.Min(math.Max(lit, 0), 0.999) * curlLevels)
			levels[level] = append(levels[level], curl(at, c.curl, random))
		}
	}
	for i, curls := range levels {
		v := -0.62 + 1.25*float64(i)/(curlLevels-1)
		inside.fill(curls, flat(p.curlTone(v, i), 0.90))
	}
}

// curlTone is the tone of a curl; in greying hair some levels are grey.
func (p *portrait) curlTone(v float64, level int) rgb {
	tone := p.hair.shaded(v)
	if share := p.look.Hair.Grey; share > 0 {
		share = math.Min(1, share*(0.6+0.8*float64(level*3%curlLevels)/curlLevels))
		tone = tone.mix(p.hair.grey.toned(0.86+0.18*v, 1), float32(0.85*share))
	}
	return tone
}

// curl is one crescent of hair.
func curl(at point, size float64, random *rand.Rand) line {
	start := random.Float64() * 2 * math.Pi
	turn := 2.6 + 1.6*random.Float64()
	r := size * (0.50 + 0.35*random.Float64())
	arc := make(line, 9)
	for i := range arc {
		t := float64(i) / float64(len(arc)-1)
		sin, cos := math.Sincos(start + turn*t)
		arc[i] = at.plus(pt(cos, sin).times(r * (1 - 0.25*t)))
	}
	return stroke(arc, tapered(size*0.42))
}

// extremes are the corners of the box around a line.
func extremes(l line) (low, high point) {
	low, high = l[0], l[0]
	for _, p := range l {
		low = pt(math.Min(low.x, p.x), math.Min(low.y, p.y))
		high = pt(math.Max(high.x, p.x), math.Max(high.y, p.y))
	}
	return low, high
}

// drawAfroBehind paints the round body of an afro behind the head.
func drawAfroBehind(p *portrait) {
	v := 0.08 * p.look.Hair.Volume
	body := symmetricLoop(
		p.anatomy.head(0, -0.20-v), p.anatomy.head(0.78, -0.13-v), p.anatomy.head(1.32+v, 0.12),
		p.anatomy.head(1.45+v, 0.42), p.anatomy.head(1.28+v, 0.70), p.anatomy.head(0.85, 0.84), p.anatomy.head(0, 0.80),
	)
	p.drawCloud(cloud{body: body, curl: 13, gap: 9}, "afro behind")
}

// drawAfro paints the front of an afro.
func drawAfro(p *portrait) {
	v, h := 0.08*p.look.Hair.Volume, p.hairlineAt(0)
	body := symmetricLoop(
		p.anatomy.head(0, -0.19-v), p.anatomy.head(0.70, -0.12-v), p.anatomy.head(1.22, 0.12),
		p.anatomy.head(1.36, 0.36), p.anatomy.head(1.22, 0.58), p.anatomy.head(1.02, 0.60), p.anatomy.head(0.95, 0.46),
		p.anatomy.head(0.86, 0.33), p.anatomy.head(0.62, h+0.07), p.anatomy.head(0.30, h+0.01), p.anatomy.head(0, h),
	)
	p.drawCloud(cloud{body: body, curl: 13, gap: 9}, "afro")
}

// drawShortAfro paints coily hair cut close at the sides.
func drawShortAfro(p *portrait) {
	p.paintScalp(0.022, 0, 0.94)
	v, h := 0.03*p.look.Hair.Volume, p.hairlineAt(0)
	body := symmetricLoop(
		p.anatomy.head(0, -0.075-v), p.anatomy.head(0.50, -0.045-v), p.anatomy.head(0.84, 0.06-v), p.anatomy.head(0.98, 0.20),
		p.anatomy.head(0.92, 0.27), p.anatomy.head(0.78, 0.245), p.anatomy.head(
			0.66, h+0.055,
		), p.anatomy.head(0.34, h+0.008), p.anatomy.head(0, h),
	)
	p.drawCloud(cloud{body: body, curl: 8, gap: 5.6}, "short afro")
}

// drawCurlyTop paints loose curls on top of short sides.
func drawCurlyTop(p *portrait) {
	drawScalp(p)
	v, h := 0.04*p.look.Hair.Volume, p.hairlineAt(0)
	lean := 0.08 * p.look.Hair.Parting
	body := loop(
		p.anatomy.head(0, -0.125-v), p.anatomy.head(0.52, -0.095-v), p.anatomy.head(0.92, 0.04), p.anatomy.head(1.02, 0.20),
		p.anatomy.head(0.82, 0.25), p.anatomy.head(
			0.48+lean, h+0.055,
		), p.anatomy.head(0.05+lean, h+0.035), p.anatomy.head(-0.42+lean, h+0.06), p.anatomy.head(-0.82, 0.25),
		p.anatomy.head(-1.02, 0.20), p.anatomy.head(-0.92, 0.04), p.anatomy.head(-0.52, -0.095-v),
	)
	p.drawCloud(cloud{body: body, curl: 19, gap: 11}, "curly top")
}
