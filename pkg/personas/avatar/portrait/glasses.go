package portrait

// GlassesStyle names a frame.
type GlassesStyle string

// The frames.
const (
	NoGlasses GlassesStyle = ""
	Round     GlassesStyle = "round"
	Square    GlassesStyle = "square"
	CatEye    GlassesStyle = "cat eye"
	ThinMetal GlassesStyle = "thin metal"
)

// frame is the right rim of a pair of glasses and how heavy it is.
type frame struct {
	corners []point // in half eye widths from the centre of the eye
	weight  float64
}

var frames = map[GlassesStyle]frame{
	Round: {
		corners: []point{
			{0, -0.98}, {0.78, -0.74}, {1.20, 0}, {0.86, 0.82},
			{0, 1.18}, {-0.84, 0.82}, {-1.16, 0}, {-0.78, -0.74},
		},
		weight: 5.5,
	},
	Square: {
		corners: []point{
			{0, -0.86}, {1.05, -0.82}, {1.36, -0.58}, {1.30, 0.42}, {1.02, 0.88},
			{0, 0.98}, {-0.92, 0.86}, {-1.18, 0.36}, {-1.24, -0.52}, {-1.0, -0.80},
		},
		weight: 8,
	},
	CatEye: {
		corners: []point{
			{0, -0.80}, {0.96, -0.98}, {1.46, -0.98}, {1.24, 0.20}, {0.80, 0.84},
			{0, 0.98}, {-0.80, 0.80}, {-1.16, 0.20}, {-1.14, -0.46}, {-0.80, -0.72},
		},
		weight: 7,
	},
	ThinMetal: {
		corners: []point{
			{0, -0.74}, {1.0, -0.70}, {1.28, -0.40}, {1.20, 0.40}, {0.86, 0.80},
			{0, 0.88}, {-0.86, 0.78}, {-1.14, 0.34}, {-1.16, -0.40}, {-0.96, -0.68},
		},
		weight: 3.2,
	},
}

// drawGlasses paints the frame with its shadow, and reflections on the glass.
func (p *portrait) drawGlasses() {
	f, worn := frames[p.look.Glasses.Style]
	if !worn {
		return
	}
	a := p.anatomy
	points := make([]point, len(f.corners))
	for i, c := range f.corners {
		points[i] = pt(middle+a.eyeX+c.x*a.eyeHalf, a.eye+2+c.y*a.eyeHalf)
	}
	rim := loop(points...)
	p.drawGlass(rim)
	inner, _ := extremes(rim)
	bridge := across(pt(middle, a.eye-16), pt(middle+10, a.eye-14), pt(inner.x+3, a.eye-5))
	metal := append(both(ring(rim, f.weight)), stroke(bridge, even(f.weight*0.95)))
	metal = append(metal, both(p.temple(rim, f.weight))...)
	p.drawFrame(metal, f.weight)
}

// temple is the right arm of the frame, from the rim to the ear.
func (p *portrait) temple(rim line, weight float64) line {
	_, outer := extremes(rim)
	a := p.anatomy
	return stroke(
		curve(pt(outer.x-3, a.eye-18), pt(middle+a.cheek*0.96, a.eye-22), pt(middle+a.cheek+4, a.eye-20)),
		even(weight),
	)
}

// drawFrame paints the shadow of the frame on the face, then the frame.
func (p *portrait) drawFrame(metal shape, weight float64) {
	colour := p.look.Glasses.Frame.rgb()
	shadow := make(shape, len(metal))
	light := make(shape, len(metal))
	for i, l := range metal {
		shadow[i], light[i] = moved(l, 2.5, 7), moved(l, -0.22*weight, -0.26*weight)
	}
	p.face.soft(shadow, 7, flat(p.skin.deep, 0.50))
	p.fill(metal, flat(colour, 1))
	inside := p.within(p.cover(metal))
	inside.soft(light, weight*0.5, flat(colour.mix(rgb{1, 1, 1}, 0.20), 0.55))
}

// drawGlass paints the light the lenses throw back.
func (p *portrait) drawGlass(rim line) {
	low, high := extremes(rim)
	w, h := high.x-low.x, high.y-low.y
	for _, lens := range both(rim) {
		inside := p.within(p.cover(shape{lens}))
		left, _ := extremes(lens)
		inside.fill(shape{lens}, flat(rgb{1, 1, 1}, 0.035))
		band := line{
			pt(left.x+w*0.60, low.y), pt(left.x+w*0.84, low.y),
			pt(left.x+w*0.40, low.y+h), pt(left.x+w*0.16, low.y+h),
		}
		inside.soft(shape{band}, 10, flat(rgb{1, 1, 1}, 0.075))
	}
}
