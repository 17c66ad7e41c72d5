// Package landmark finds where the eyes, mouth and chin are in a picture of a person,
// so that the picture can be moved like a face.
//
// The eyes and the mouth are found by cascades of decision trees (PICO), which are part
// of the program: nothing is loaded, and nobody is recognized. No cascade finds a chin, so
// that is looked for below the mouth.
package landmark

import (
	"embed"
	"image"
	"math"
	"sync"

	pigo "github.com/esimov/pigo/core"
	"golang.org/x/image/draw"

	"visavis.dev/pkg/personas/avatar/portrait"
)

// Source is where landmarks are from.
type Source string

// The sources.
const (
	// Given by whoever made the face.
	Given Source = "given"
	// Found in the picture: the eyes and the mouth were.
	Found Source = "found"
	// Estimated from where a face is: its eyes or its mouth were not found.
	Estimated Source = "estimated"
	// None were found: there is no face.
	None Source = "none"
)

const (
	// side is the longest side of what is searched, in pixels: more finds no more.
	side = 640
	// sure is the least score of a face. Those of portraits have more than a hundred,
	// and what only looks like one by chance has less than ten.
	sure = 20
	// perturbed is how often a place is looked for from nearby; the median counts.
	perturbed = 63
)

// cascades are as esimov/pigo ships them (MIT; their license stands beside them).
//
//go:embed cascades
var cascades embed.FS

type detectors struct {
	face                          *pigo.Pigo
	pupil, lipTop, lipEnd, lipLow *pigo.PuplocCascade
}

// load reads the cascades when the first picture is searched.
var load = sync.OnceValue(func() detectors {
	read := func(name string) []byte {
		data, err := cascades.ReadFile("cascades/" + name)
		if err != nil {
			panic(err) // it is part of the program
		}
		return data
	}
	point := func(name string) *pigo.PuplocCascade {
		c, err := pigo.NewPuplocCascade().UnpackCascade(read(name))
		if err != nil {
			panic(err)
		}
		return c
	}
	face, err := pigo.NewPigo().Unpack(read("facefinder"))
	if err != nil {
		panic(err)
	}
	return detectors{face: face, pupil: point("puploc"), lipTop: point("lp81"), lipEnd: point("lp84"), lipLow: point("lp82")}
})

// Find finds the largest face of a picture, of any size. It answers false where there is
// none that is seen from the front and stands about upright.
func Find(img image.Image) (portrait.Landmarks, Source, bool) {
	gray := grayOf(img)
	if gray == nil {
		return portrait.Landmarks{}, "", false
	}
	d := load()
	box, ok := d.largest(gray)
	if !ok {
		return portrait.Landmarks{}, "", false
	}
	source := Found
	eyes, ok := d.eyes(gray, box)
	if !ok {
		eyes, source = estimatedEyes(box), Estimated
	}
	lips, ok := d.lips(gray, eyes)
	if !ok {
		lips, source = estimatedLips(eyes), Estimated
	}
	chin := chinBelow(gray, eyes, lips)
	w, h := float64(gray.Cols), float64(gray.Rows)
	at := func(p point) portrait.Point { return portrait.Point{share(p.x, w), share(p.y, h)} }
	return portrait.Landmarks{
		LeftEye: at(eyes.left), RightEye: at(eyes.right), MouthLeft: at(lips.left), MouthRight: at(lips.right),
		MouthTop: at(lips.top), MouthBottom: at(lips.low), Chin: at(chin),
	}, source, true
}

// share is a place as a share of a side, with as many digits as mean something.
func share(v, side float64) float64 {
	return math.Round(min(max(v/side, 0), 1)*1e5) / 1e5
}

// grayOf is a picture in shades of gray, small enough to be searched, on a gray ground
// where it is transparent; nil for one too narrow to show a face.
func grayOf(img image.Image) *pigo.ImageParams {
	b := img.Bounds()
	w, h := b.Dx(), b.Dy()
	if longest := max(w, h); longest > side {
		w, h = w*side/longest, h*side/longest
	}
	if min(w, h) < leastFace {
		return nil
	}
	flat := image.NewRGBA(image.Rect(0, 0, w, h))
	draw.Draw(flat, flat.Bounds(), image.NewUniform(ground), image.Point{}, draw.Src)
	draw.ApproxBiLinear.Scale(flat, flat.Bounds(), img, b, draw.Over, nil)
	return &pigo.ImageParams{Pixels: pigo.RgbToGrayscale(flat), Rows: h, Cols: w, Dim: w}
}

// largest finds the largest face.
func (d detectors) largest(gray *pigo.ImageParams) (pigo.Detection, bool) {
	short := min(gray.Rows, gray.Cols)
	found := d.face.ClusterDetections(d.face.RunCascade(pigo.CascadeParams{
		MinSize: max(short/6, leastFace), MaxSize: short, ShiftFactor: 0.06, ScaleFactor: 1.06, ImageParams: *gray,
	}, 0), 0.2)
	var largest pigo.Detection
	for _, f := range found {
		if f.Q >= sure && f.Scale > largest.Scale {
			largest = f
		}
	}
	return largest, largest.Scale > 0
}

func (d detectors) eyes(gray *pigo.ImageParams, box pigo.Detection) (pair, bool) {
	scale := float32(box.Scale)
	look := func(right float32) point {
		found := d.pupil.RunDetector(pigo.Puploc{
			Row: box.Row - int(0.075*scale), Col: box.Col + int(right*scale), Scale: 0.25 * scale, Perturbs: perturbed,
		}, *gray, 0, false)
		return point{float64(found.Col), float64(found.Row)}
	}
	eyes := pair{look(-0.175), look(0.185)}
	wanted := estimatedEyes(box)
	near := 0.14 * float64(box.Scale)
	return eyes, eyes.left.to(wanted.left) < near && eyes.right.to(wanted.right) < near && eyes.apart() > 0.24*float64(box.Scale)
}

func (d detectors) lips(gray *pigo.ImageParams, eyes pair) (mouth, bool) {
	l, r := eyes.left.puploc(), eyes.right.puploc()
	look := func(c *pigo.PuplocCascade, flip bool) point {
		found := c.GetLandmarkPoint(l, r, *gray, perturbed, flip)
		return point{float64(found.Col), float64(found.Row)}
	}
	// What lies in the middle is looked for from both sides.
	m := mouth{
		left: look(d.lipEnd, false), right: look(d.lipEnd, true),
		top: look(d.lipTop, false).between(look(d.lipTop, true), 0.5),
		low: look(d.lipLow, false).between(look(d.lipLow, true), 0.5),
	}
	return m, m.plausible(eyes)
}
