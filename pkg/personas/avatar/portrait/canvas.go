package portrait

import (
	"image"
	"math"

	"golang.org/x/image/vector"
)

// The picture shows the part of the design plane that starts at frameLeft and
// frameTop and is frameSide wide and high.
const (
	frameLeft = 45.0
	frameTop  = 50.0
	frameSide = 910.0
)

// framed is where a design point lies in the picture, still in design units.
func framed(p point) point { return pt(p.x-frameLeft, p.y-frameTop) }

// canvas is an opaque square picture in the making. Paint is laid over what is
// there, so the order of the calls is the order of the layers.
type canvas struct {
	size   int
	scale  float64   // pixels per design unit
	pixels []rgb     // row by row
	alpha  []float32 // how opaque each pixel of a layer is; nil for a picture, which is opaque
	clip   *mask     // where paint may land; nil means everywhere
	raster *vector.Rasterizer
}

func newCanvas(size int) *canvas {
	return &canvas{
		size:   size,
		scale:  float64(size) / frameSide,
		pixels: make([]rgb, size*size),
		raster: vector.NewRasterizer(size, size),
	}
}

// within is the same picture, but paint lands only inside m, and only where it
// could land on c.
func (c *canvas) within(m *mask) *canvas {
	inner := *c
	inner.clip = m
	if c.clip != nil {
		inner.clip = m.and(c.clip)
	}
	return &inner
}

// fill paints the shape with a sharp, antialiased edge.
func (c *canvas) fill(s shape, p paint) { c.lay(c.cover(s), p) }

// soft paints the shape with an edge blurred over about the given distance.
// Shadows, blush and highlights are all soft shapes.
func (c *canvas) soft(s shape, blur float64, p paint) { c.lay(c.blurred(s, blur), p) }

// lay paints through the mask.
func (c *canvas) lay(m *mask, p paint) {
	b := m.bounds
	if c.clip != nil {
		b = b.Intersect(c.clip.bounds)
	}
	unit := 1 / c.scale
	for y := b.Min.Y; y < b.Max.Y; y++ {
		row := c.pixels[y*c.size : (y+1)*c.size]
		for x := b.Min.X; x < b.Max.X; x++ {
			covered := float32(m.at(x, y)) / 255
			if covered == 0 {
				continue
			}
			if c.clip != nil {
				covered *= float32(c.clip.at(x, y)) / 255
			}
			colour, opacity := p(frameLeft+(float64(x)+0.5)*unit, frameTop+(float64(y)+0.5)*unit)
			row[x] = row[x].mix(colour, covered*opacity)
			if c.alpha != nil {
				a := &c.alpha[y*c.size+x]
				*a += (1 - *a) * covered * opacity
			}
		}
	}
}

// image is the picture as 8-bit colour.
func (c *canvas) image() *image.NRGBA {
	out := image.NewNRGBA(image.Rect(0, 0, c.size, c.size))
	for i, p := range c.pixels {
		out.Pix[4*i] = channel(p.r)
		out.Pix[4*i+1] = channel(p.g)
		out.Pix[4*i+2] = channel(p.b)
		out.Pix[4*i+3] = 255
	}
	return out
}

// channel rounds a colour channel to 8 bits.
func channel(v float32) uint8 {
	return uint8(math.Round(float64(min(max(v, 0), 1)) * 255))
}
