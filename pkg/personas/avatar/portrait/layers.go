package portrait

import (
	"bytes"
	"image"
	"image/png"
	"math"
)

// Layer is where one part of a face that moves by itself lies: in the sheet of
// layers, in pixels, and in the picture, in design units.
type Layer struct {
	X      int     `json:"x"`
	Y      int     `json:"y"`
	Width  int     `json:"width"`
	Height int     `json:"height"`
	Left   float64 `json:"left"`
	Top    float64 `json:"top"`
}

// Layers is a face in parts for code that moves it: laid over each other at
// rest, with the eyes and the mouth drawn by its [Rig], they are its picture.
type Layers struct {
	Sheet *image.NRGBA
	// Scale is how many pixels of the sheet a design unit has.
	Scale float64
	Parts map[string]Layer
}

// PNG is the sheet as a file.
func (l *Layers) PNG() ([]byte, error) {
	var out bytes.Buffer
	if err := png.Encode(&out, l.Sheet); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// halves says which part of the picture a layer keeps, where it is cut in two.
type halves int

const (
	whole halves = iota
	leftHalf
	rightHalf
)

// layerOf is how one layer is drawn. Names that end in Left and Right are the
// two halves of one drawing.
type layerOf struct {
	name string
	draw func(*portrait)
	pair bool
}

// layersInOrder are the layers from back to front. The mouth and the eyes, which
// change their shape, have no layers but for what does not.
var layersInOrder = []layerOf{
	{name: "behind", draw: func(p *portrait) { p.layer(hairdos[p.look.Hair.Style].behind) }},
	{name: "body", draw: func(p *portrait) {
		p.drawNeck()
		p.drawClothing()
	}},
	{name: "between", draw: func(p *portrait) { p.layer(hairdos[p.look.Hair.Style].between) }},
	{name: "ears", draw: func(p *portrait) {
		if !hairdos[p.look.Hair.Style].hidesEars {
			p.drawEars()
		}
	}},
	{name: "earring", pair: true, draw: func(p *portrait) {
		if !hairdos[p.look.Hair.Style].hidesEars {
			p.drawEarrings()
		}
	}},
	{name: "face", draw: func(p *portrait) {
		p.drawFace()
		p.drawSockets()
		p.drawAge()
		p.drawFreckles()
		p.drawAroundMouth(p.look.lips(p.anatomy))
	}},
	{name: "smile", draw: (*portrait).drawSmiling},
	{name: "nose", draw: (*portrait).drawNose},
	{name: "beard", draw: (*portrait).drawBeard},
	{name: "iris", draw: func(p *portrait) { p.drawIris(p.canvas, p.anatomy.gaze()) }},
	{name: "catchlight", draw: func(p *portrait) { p.drawCatchlight(p.anatomy.gaze()) }},
	{name: "lowerLids", draw: func(p *portrait) { p.onBothEyes((*portrait).drawLowerLid) }},
	{name: "folds", draw: func(p *portrait) { p.onBothEyes((*portrait).drawFold) }},
	{name: "brow", pair: true, draw: (*portrait).drawBrows},
	{name: "front", draw: func(p *portrait) { p.layer(hairdos[p.look.Hair.Style].front) }},
	{name: "glasses", draw: (*portrait).drawGlasses},
}

// DrawLayers draws the look in layers, where the whole picture would be size by
// size pixels; size must be positive. The same look and size always give the same
// bytes.
func DrawLayers(look Look, size int) Layers {
	p := &portrait{look: look, anatomy: look.anatomy(), skin: look.Skin.complexion(), hair: look.Hair.tones()}
	out := Layers{Scale: float64(size) / frameSide, Parts: map[string]Layer{}}
	var cuts []cut
	reached := false
	for _, l := range layersInOrder {
		p.canvas = newCanvas(size)
		p.alpha = make([]float32, size*size)
		reached = reached || l.name == "face"
		if p.face = nil; reached {
			p.face = p.within(p.cover(shape{p.anatomy.outline()}))
		}
		l.draw(p)
		if l.pair {
			cuts = append(cuts, p.cut(l.name+"Left", leftHalf), p.cut(l.name+"Right", rightHalf))
		} else {
			cuts = append(cuts, p.cut(l.name, whole))
		}
	}
	out.pack(cuts, size)
	return out
}

// onBothEyes draws a part of both eyes.
func (p *portrait) onBothEyes(draw func(*portrait, lids)) {
	right := p.look.lids(p.anatomy)
	draw(p, right)
	draw(p, lids{mirror(right.upper), mirror(right.lower)})
}

// drawSmiling paints what a broad smile adds: the folds beside nose and mouth,
// and cheeks that round in the light.
func (p *portrait) drawSmiling() {
	p.look.Mouth.Smile = 1
	defer func(l Look) { p.look.Mouth.Smile = l.Mouth.Smile }(p.look)
	a, s := p.anatomy, p.skin
	p.drawSmileFolds(0.25)
	apple := func(side float64, opacity float32) {
		at := pt(middle+side*a.cheek*0.56, a.nose-14)
		p.face.soft(shape{ellipse(at, 40, 26)}, 44, flat(s.blush, opacity*0.8))
		p.face.soft(shape{ellipse(at.plus(pt(-4, -14)), 26, 12)}, 26, flat(s.light, opacity))
	}
	apple(-1, 0.5)
	apple(1, 0.38)
}

// cut is what a layer covers of its canvas, as a picture of its own.
type cut struct {
	name  string
	image *image.NRGBA // its bounds are where it lies on the canvas
}

// cut takes what was drawn, or one half of it, out of the canvas.
func (c *canvas) cut(name string, h halves) cut {
	from, to := 0, c.size
	switch h {
	case leftHalf:
		to = c.size / 2
	case rightHalf:
		from = c.size / 2
	}
	b := image.Rectangle{}
	for y := range c.size {
		for x := from; x < to; x++ {
			if c.alpha[y*c.size+x] >= faintest {
				b = b.Union(image.Rect(x, y, x+1, y+1))
			}
		}
	}
	out := image.NewNRGBA(b)
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			i := y*c.size + x
			if a := c.alpha[i]; a >= faintest {
				at, p := out.PixOffset(x, y), c.pixels[i]
				out.Pix[at], out.Pix[at+1], out.Pix[at+2], out.Pix[at+3] = channel(p.r/a), channel(p.g/a), channel(p.b/a), channel(a)
			}
		}
	}
	return cut{name, out}
}

// faintest is the least opacity that eight bits can show.
const faintest = 0.5 / 255

// gap keeps the edges of one layer out of its neighbour when they are scaled.
const gap = 2

// pack lays the cuts out in rows, in the order they come.
func (l *Layers) pack(cuts []cut, width int) {
	x, y, row := 0, 0, 0
	for _, c := range cuts {
		size := c.image.Bounds().Size()
		if size.X == 0 {
			continue
		}
		if x+size.X > width {
			x, y, row = 0, y+row+gap, 0
		}
		b := c.image.Bounds().Min
		l.Parts[c.name] = Layer{
			X: x, Y: y, Width: size.X, Height: size.Y,
			Left: rounded(frameLeft + float64(b.X)/l.Scale), Top: rounded(frameTop + float64(b.Y)/l.Scale),
		}
		x, row = x+size.X+gap, max(row, size.Y)
	}
	l.Sheet = image.NewNRGBA(image.Rect(0, 0, width, y+row))
	for _, c := range cuts {
		at, ok := l.Parts[c.name]
		for line := 0; ok && line < at.Height; line++ {
			copy(l.Sheet.Pix[l.Sheet.PixOffset(at.X, at.Y+line):], c.image.Pix[line*c.image.Stride:(line+1)*c.image.Stride])
		}
	}
}

// rounded is a number of design units as it is written down.
func rounded(v float64) float64 { return math.Round(v*100) / 100 }
