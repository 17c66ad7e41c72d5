package portrait

import (
	"image"
	"math"

	"golang.org/x/image/vector"
)

// mask says how much of each pixel inside its bounds is covered.
type mask struct {
	bounds image.Rectangle
	alpha  []uint8 // row by row inside bounds
}

func newMask(b image.Rectangle) *mask {
	return &mask{bounds: b, alpha: make([]uint8, b.Dx()*b.Dy())}
}

// at is the coverage of a pixel inside the bounds.
func (m *mask) at(x, y int) uint8 {
	return m.alpha[(y-m.bounds.Min.Y)*m.bounds.Dx()+x-m.bounds.Min.X]
}

// cover is the antialiased mask of a shape.
func (c *canvas) cover(s shape) *mask {
	b := pixelBounds(s, c.scale, 1).Intersect(image.Rect(0, 0, c.size, c.size))
	m := newMask(b)
	rasterize(c.raster, s, c.scale, m)
	return m
}

// and is the part of m that the other mask covers too.
func (m *mask) and(other *mask) *mask {
	out := newMask(m.bounds.Intersect(other.bounds))
	i := 0
	for y := out.bounds.Min.Y; y < out.bounds.Max.Y; y++ {
		for x := out.bounds.Min.X; x < out.bounds.Max.X; x++ {
			out.alpha[i] = uint8(uint16(m.at(x, y)) * uint16(other.at(x, y)) / 255)
			i++
		}
	}
	return out
}

// without is the part of m that the other mask leaves free.
func (m *mask) without(other *mask) *mask {
	out := &mask{bounds: m.bounds, alpha: append([]uint8(nil), m.alpha...)}
	b := m.bounds.Intersect(other.bounds)
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			i := (y-m.bounds.Min.Y)*m.bounds.Dx() + x - m.bounds.Min.X
			out.alpha[i] = uint8(uint16(out.alpha[i]) * uint16(255-other.at(x, y)) / 255)
		}
	}
	return out
}

// boxReach is how far each of the three box blurs reaches on the coarse grid,
// and boxSigma the standard deviation the three have together.
const (
	boxReach = 3
	boxSigma = 3.4641
)

// blurred is the mask of a shape with a Gaussian-like soft edge. It is drawn on
// a grid just coarse enough that one fixed small blur has the right reach, then
// enlarged: the cost stays low however soft the edge is.
func (c *canvas) blurred(s shape, blur float64) *mask {
	scale := math.Min(boxSigma/(blur/2), 2*c.scale)
	grid := newMask(pixelBounds(s, scale, 3*boxReach+2))
	rasterize(c.raster, s, scale, grid)
	w, h := grid.bounds.Dx(), grid.bounds.Dy()
	field := make([]float32, w*h)
	for i, a := range grid.alpha {
		field[i] = float32(a)
	}
	for range 3 {
		boxBlur(field, w, h)
	}
	return c.enlarge(field, grid.bounds, c.scale/scale)
}

// boxBlur averages each value with its neighbours along the rows, then along
// the columns. Values beyond the border are zero.
func boxBlur(field []float32, w, h int) {
	spare := make([]float32, max(w, h))
	for y := range h {
		boxRun(field[y*w:], spare[:w], 1)
	}
	for x := range w {
		boxRun(field[x:], spare[:h], w)
	}
}

// boxRun averages one row or column, whose values lie stride apart.
func boxRun(field, spare []float32, stride int) {
	n := len(spare)
	sum := float32(0)
	for i := range n {
		spare[i] = field[i*stride]
	}
	for i := range min(boxReach, n) {
		sum += spare[i]
	}
	for i := range n {
		if i+boxReach < n {
			sum += spare[i+boxReach]
		}
		if i > boxReach {
			sum -= spare[i-boxReach-1]
		}
		field[i*stride] = sum / (2*boxReach + 1)
	}
}

// enlarge turns a coarse field into a mask of the picture, by linear
// interpolation; zoom is how many pixels one cell is wide.
func (c *canvas) enlarge(field []float32, grid image.Rectangle, zoom float64) *mask {
	w, h := grid.Dx(), grid.Dy()
	b := image.Rect(
		int(float64(grid.Min.X)*zoom), int(float64(grid.Min.Y)*zoom),
		int(math.Ceil(float64(grid.Max.X)*zoom)), int(math.Ceil(float64(grid.Max.Y)*zoom)),
	).Intersect(image.Rect(0, 0, c.size, c.size))
	m := newMask(b)
	columns := make([]cell, b.Dx())
	for i := range columns {
		columns[i] = locate(b.Min.X+i, grid.Min.X, w, zoom)
	}
	for y := b.Min.Y; y < b.Max.Y; y++ {
		v := locate(y, grid.Min.Y, h, zoom)
		top, bottom := field[v.first*w:], field[v.second*w:]
		out := m.alpha[(y-b.Min.Y)*b.Dx():]
		for i, u := range columns {
			a := top[u.first] + (top[u.second]-top[u.first])*u.share
			z := bottom[u.first] + (bottom[u.second]-bottom[u.first])*u.share
			out[i] = uint8(min(max(a+(z-a)*v.share, 0), 255) + 0.5)
		}
	}
	return m
}

// cell names the two grid cells a pixel lies between, and its share of the
// second one.
type cell struct {
	first, second int
	share         float32
}

func locate(pixel, gridMin, cells int, zoom float64) cell {
	at := (float64(pixel)+0.5)/zoom - float64(gridMin) - 0.5
	first := math.Floor(at)
	keep := func(i int) int { return min(max(i, 0), cells-1) }
	return cell{keep(int(first)), keep(int(first) + 1), float32(at - first)}
}

// pixelBounds is the box of whole pixels around a shape, with a margin.
func pixelBounds(s shape, scale float64, margin int) image.Rectangle {
	minX, minY := math.Inf(1), math.Inf(1)
	maxX, maxY := math.Inf(-1), math.Inf(-1)
	for _, l := range s {
		for _, p := range l {
			p = framed(p)
			minX, maxX = math.Min(minX, p.x), math.Max(maxX, p.x)
			minY, maxY = math.Min(minY, p.y), math.Max(maxY, p.y)
		}
	}
	if minX > maxX {
		return image.Rectangle{}
	}
	return image.Rect(
		int(math.Floor(minX*scale)), int(math.Floor(minY*scale)),
		int(math.Ceil(maxX*scale)), int(math.Ceil(maxY*scale)),
	).Inset(-margin)
}

// rasterize draws the shape's coverage into m. Every area is wound the same way
// first: the rasterizer adds up winding, so areas that overlap unite instead of
// cutting holes into each other.
func rasterize(r *vector.Rasterizer, s shape, scale float64, m *mask) {
	w, h := m.bounds.Dx(), m.bounds.Dy()
	if w <= 0 || h <= 0 {
		return
	}
	r.Reset(w, h)
	place := func(p point) (float32, float32) {
		p = framed(p)
		return float32(p.x*scale) - float32(m.bounds.Min.X), float32(p.y*scale) - float32(m.bounds.Min.Y)
	}
	for _, l := range s {
		if len(l) < 3 {
			continue
		}
		if l.area() < 0 {
			l = reversed(l)
		}
		r.MoveTo(place(l[0]))
		for _, p := range l[1:] {
			r.LineTo(place(p))
		}
		r.ClosePath()
	}
	target := &image.Alpha{Pix: m.alpha, Stride: w, Rect: image.Rect(0, 0, w, h)}
	r.Draw(target, target.Rect, image.Opaque, image.Point{})
}
