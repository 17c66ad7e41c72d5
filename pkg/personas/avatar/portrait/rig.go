package portrait

import "fmt"

// Rig is what code that moves a face must know of it beside its layers, in design
// units: where the parts that change their shape lie at rest, and the tones they
// are painted with. Lines are for the right side of the picture, or run from left
// to right; the face is symmetric about Middle.
type Rig struct {
	Frame  Frame   `json:"frame"`
	Middle float64 `json:"middle"`
	// Heights of the face's parts.
	Brow  float64 `json:"brow"`
	Eye   float64 `json:"eye"`
	Nose  float64 `json:"nose"`
	Mouth float64 `json:"mouth"`
	Chin  float64 `json:"chin"`
	// UpperLid and LowerLid run from the inner to the outer corner of the eye.
	UpperLid    []Place `json:"upperLid"`
	LowerLid    []Place `json:"lowerLid"`
	Gaze        Place   `json:"gaze"`
	IrisSize    float64 `json:"irisSize"`
	Lashes      float64 `json:"lashes"`
	UpperLip    []Place `json:"upperLip"`
	BetweenLips []Place `json:"betweenLips"`
	LowerLip    []Place `json:"lowerLip"`
	// Lobe is where an earring hangs.
	Lobe  Place `json:"lobe"`
	Tones Tones `json:"tones"`
}

// Frame is the part of the design plane that the picture shows.
type Frame struct {
	Left float64 `json:"left"`
	Top  float64 `json:"top"`
	Side float64 `json:"side"`
}

// Place is a point in design units.
type Place [2]float64

// Tones are colours as CSS writes them.
type Tones struct {
	Wall      [2]string `json:"wall"` // behind the head, and in the corners
	White     string    `json:"white"`
	Skin      string    `json:"skin"`
	Shade     string    `json:"shade"`
	Deep      string    `json:"deep"`
	Line      string    `json:"line"`
	Light     string    `json:"light"`
	Blush     string    `json:"blush"`
	Lid       string    `json:"lid"`
	Lash      string    `json:"lash"`
	LipTop    [2]string `json:"lipTop"` // from the edge to where the lips meet
	LipBottom [2]string `json:"lipBottom"`
	LipShine  string    `json:"lipShine"`
	LipRim    string    `json:"lipRim"`
	LipSeam   string    `json:"lipSeam"`
}

// Rig is the rig of the face as DrawLayers draws it.
func (l Look) Rig() Rig {
	p := &portrait{look: l, anatomy: l.anatomy(), skin: l.Skin.complexion()}
	a, eye, lip := p.anatomy, l.lids(p.anatomy), l.lips(p.anatomy)
	return Rig{
		Frame: Frame{frameLeft, frameTop, frameSide}, Middle: middle,
		Brow: rounded(a.brow), Eye: rounded(a.eye), Nose: rounded(a.nose), Mouth: rounded(a.mouth), Chin: rounded(a.chin),
		UpperLid: places(eye.upper), LowerLid: places(eye.lower), Gaze: place(a.gaze()), IrisSize: rounded(a.irisSize), Lashes: l.Eyes.Lashes,
		UpperLip: places(lip.upper), BetweenLips: places(lip.between), LowerLip: places(lip.lower),
		Lobe: place(p.lobe()), Tones: p.tones(),
	}
}

// tones are what the parts without layers are painted with.
func (p *portrait) tones() Tones {
	s, lip := p.skin, p.lipTone()
	lid := s.base.mix(s.deep, 0.30)
	if shadow := p.look.Eyes.Shadow; shadow != 0 {
		lid = lid.mix(shadow.rgb(), 0.5)
	}
	return Tones{
		Wall:  [2]string{css(p.look.Backdrop.Inner.rgb()), css(p.look.Backdrop.Outer.rgb())},
		White: css(rgb{0.955, 0.94, 0.925}.mix(s.base, 0.09)),
		Skin:  css(s.base), Shade: css(s.shade), Deep: css(s.deep), Line: css(s.line), Light: css(s.light), Blush: css(s.blush),
		Lid: css(lid), Lash: css(p.lashTone()),
		LipTop:    [2]string{css(lip.toned(0.95, 1.02)), css(lip.toned(0.78, 1.05))},
		LipBottom: [2]string{css(lip.toned(0.96, 1.06)), css(lip.toned(1.04, 0.96))},
		LipShine:  css(lip.mix(rgb{1, 0.93, 0.90}, 0.62)), LipRim: css(lip.mix(s.base, 0.35)), LipSeam: css(lip.toned(0.42, 0.9)),
	}
}

// css is a colour as CSS writes it.
func css(c rgb) string { return fmt.Sprintf("#%02x%02x%02x", channel(c.r), channel(c.g), channel(c.b)) }

func place(p point) Place { return Place{rounded(p.x), rounded(p.y)} }

// linePoints is how many places say how a line runs.
const linePoints = 24

// places is a line as a few places at even distances.
func places(l line) []Place {
	out := make([]Place, 0, linePoints+1)
	for _, p := range resampled(l, linePoints) {
		out = append(out, place(p))
	}
	return out
}
