package picture

import "image"

const (
	// plainEnough is how far, in squared RGB distance, a border's pixels may
	// lie from their mean for the background to count as plain.
	plainEnough = 40 * 40
	// same and soft bound a background pixel: nearer than same it vanishes,
	// between the two it fades, which keeps hair from looking cut with scissors.
	same, soft = 48 * 48, 84 * 84
)

// CutOut makes a plain background transparent, from the upper border and the
// sides inwards, so that a shirt of the same colour stays. It says whether
// there was a plain background; a picture without one is left as it is.
func (p *Portrait) CutOut() bool {
	background, plain := p.background()
	if !plain {
		return false
	}
	img := p.Image
	w, h := img.Bounds().Dx(), img.Bounds().Dy()
	seen := make([]bool, w*h)
	var queue []image.Point
	visit := func(x, y int) {
		if x < 0 || y < 0 || x >= w || y >= h || seen[y*w+x] {
			return
		}
		seen[y*w+x] = true
		at := img.PixOffset(x, y)
		d := background.distance(img.Pix[at:])
		switch {
		case d < same:
			img.Pix[at+3] = 0
			queue = append(queue, image.Pt(x, y))
		case d < soft:
			img.Pix[at+3] = uint8(255 * (d - same) / (soft - same))
		}
	}
	for x := range w {
		visit(x, 0)
	}
	for y := range h {
		visit(0, y)
		visit(w-1, y)
	}
	for len(queue) > 0 {
		at := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		visit(at.X-1, at.Y)
		visit(at.X+1, at.Y)
		visit(at.X, at.Y-1)
		visit(at.X, at.Y+1)
	}
	return true
}

type colour struct{ r, g, b int }

func (c colour) distance(pix []uint8) int {
	r, g, b := int(pix[0])-c.r, int(pix[1])-c.g, int(pix[2])-c.b
	return r*r + g*g + b*b
}

// background is the mean colour of the upper border and the upper half of the
// sides (the shoulders leave the picture below), and whether nearly all of it
// is of that colour.
func (p *Portrait) background() (colour, bool) {
	border := p.border()
	var sum colour
	for _, at := range border {
		sum.r += int(p.Image.Pix[at])
		sum.g += int(p.Image.Pix[at+1])
		sum.b += int(p.Image.Pix[at+2])
	}
	n := len(border)
	mean := colour{sum.r / n, sum.g / n, sum.b / n}
	odd := 0
	for _, at := range border {
		if mean.distance(p.Image.Pix[at:]) > plainEnough {
			odd++
		}
	}
	return mean, p.Image.Opaque() && odd*20 < n
}

func (p *Portrait) border() []int {
	w, h := p.Image.Bounds().Dx(), p.Image.Bounds().Dy()
	var at []int
	for x := range w {
		at = append(at, p.Image.PixOffset(x, 0))
	}
	for y := range h / 2 {
		at = append(at, p.Image.PixOffset(0, y), p.Image.PixOffset(w-1, y))
	}
	return at
}
