package portrait

import (
	"bytes"
	"hash/fnv"
	"image"
	"image/png"
	"math/rand/v2"
)

// Draw draws the look as a square picture of size by size pixels; size must be
// positive. The same look and size always give the same bytes.
func Draw(look Look, size int) *image.NRGBA {
	p := &portrait{
		canvas:  newCanvas(size),
		look:    look,
		anatomy: look.anatomy(),
		skin:    look.Skin.complexion(),
		hair:    look.Hair.tones(),
	}
	do := hairdos[look.Hair.Style]
	p.drawBackdrop()
	p.layer(do.behind)
	p.drawNeck()
	p.drawClothing()
	p.layer(do.between)
	p.drawHead()
	p.layer(do.front)
	p.drawGlasses()
	return p.image()
}

// PNG is Draw encoded as a PNG file.
func PNG(look Look, size int) ([]byte, error) {
	var out bytes.Buffer
	if err := png.Encode(&out, Draw(look, size)); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// portrait is one picture in the making.
type portrait struct {
	*canvas
	look    Look
	anatomy anatomy
	skin    complexion
	hair    hairTones
	face    *canvas // the canvas clipped to the face, once that is drawn
	sheets  int     // how many sheets of hair are drawn
}

// drawHead draws the bare head with its features, from the ears forward.
func (p *portrait) drawHead() {
	if !hairdos[p.look.Hair.Style].hidesEars {
		p.drawEars()
		p.drawEarrings()
	}
	p.drawFace()
	p.drawSockets()
	p.drawAge()
	p.drawFreckles()
	p.drawNose()
	p.drawMouth()
	p.drawBeard()
	p.drawEyes()
	p.drawBrows()
}

// random is the source of the small irregularities of one part. Each part has
// its own, so that changing one part leaves the others as they were.
func (p *portrait) random(part string) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(part))
	return rand.New(rand.NewPCG(p.look.Seed, h.Sum64()))
}
