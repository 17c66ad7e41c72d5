package badge

import (
	"bytes"
	"encoding/binary"
	"encoding/xml"
	"hash/crc32"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"math"
	"strconv"
	"sync"

	"golang.org/x/image/vector"
)

// keyword is what a badge in a PNG is found by (Open Badges 3.0, Baking).
const keyword = "openbadgecredential"

// PNG is the badge's picture with a credential in it: JSON, or a token.
func PNG(credential []byte) ([]byte, error) {
	blank, err := picture()
	if err != nil {
		return nil, err
	}
	// Behind the signature and the header: 8 bytes and 4 + 4 + 13 + 4.
	const behind = 33
	chunk := append([]byte("iTXt"+keyword), 0, 0, 0, 0, 0) // not compressed, in no language
	chunk = append(chunk, credential...)
	out := bytes.NewBuffer(append([]byte{}, blank[:behind]...))
	for _, part := range [][]byte{
		binary.BigEndian.AppendUint32(nil, uint32(len(chunk)-4)), chunk, binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE(chunk)),
		blank[behind:],
	} {
		out.Write(part)
	}
	return out.Bytes(), nil
}

// SVG is the badge's picture with a credential in it: JSON, or a token where token says so.
func SVG(credential []byte, token bool) []byte {
	var escaped bytes.Buffer
	_ = xml.EscapeText(&escaped, credential) // a buffer takes everything
	held := `<openbadges:credential>` + escaped.String() + `</openbadges:credential>`
	if token {
		held = `<openbadges:credential verify="` + escaped.String() + `"/>`
	}
	var out bytes.Buffer
	out.WriteString(`<svg xmlns="http://www.w3.org/2000/svg" xmlns:openbadges="https://purl.imsglobal.org/ob/v3p0" viewBox="0 0 400 400">` + held)
	for _, s := range shapes() {
		out.WriteString(`<path fill="` + s.hex + `" d="`)
		for i, p := range s.points {
			op := "L"
			if i == 0 {
				op = "M"
			}
			writePoint(&out, op, p)
		}
		out.WriteString(`Z"/>`)
	}
	out.WriteString("</svg>\n")
	return out.Bytes()
}

// point is a place in the picture, which has 400 by 400.
type point struct{ x, y float64 }

// shape is a filled outline.
type shape struct {
	points []point
	fill   color.RGBA
	hex    string
}

const side = 400

var (
	navy  = color.RGBA{0x17, 0x21, 0x3d, 0xff}
	gold  = color.RGBA{0xa8, 0x85, 0x38, 0xff}
	cream = color.RGBA{0xfd, 0xfb, 0xf4, 0xff}
)

// shapes are what the picture is made of, the lowest first: a rosette, two rings and a star.
func shapes() []shape {
	return []shape{
		{star(190, 170, 28), gold, "#a88538"}, {star(150, 150, 60), cream, "#fdfbf4"}, {star(142, 142, 60), navy, "#17213d"},
		{star(92, 38, 5), cream, "#fdfbf4"},
	}
}

// star is an outline with points outward; with the two radii alike it is round.
func star(outer, inner float64, points int) (path []point) {
	for i := range 2 * points {
		r := outer
		if i%2 == 1 {
			r = inner
		}
		turn := -math.Pi/2 + float64(i)*math.Pi/float64(points)
		path = append(path, point{side/2 + r*math.Cos(turn), side/2 + r*math.Sin(turn)})
	}
	return path
}

func writePoint(out *bytes.Buffer, op string, p point) {
	out.WriteString(op)
	out.WriteString(short(p.x))
	out.WriteByte(' ')
	out.WriteString(short(p.y))
}

// picture is the badge's picture, drawn once.
var picture = sync.OnceValues(func() ([]byte, error) {
	img := image.NewRGBA(image.Rect(0, 0, side, side))
	for _, s := range shapes() {
		r := vector.NewRasterizer(side, side)
		for i, p := range s.points {
			if i == 0 {
				r.MoveTo(float32(p.x), float32(p.y))
				continue
			}
			r.LineTo(float32(p.x), float32(p.y))
		}
		r.ClosePath()
		r.DrawOp = draw.Over
		r.Draw(img, img.Bounds(), image.NewUniform(s.fill), image.Point{})
	}
	var out bytes.Buffer
	err := png.Encode(&out, img)
	return out.Bytes(), err
})

// short is a number with one digit behind its point.
func short(x float64) string { return strconv.FormatFloat(x, 'f', 1, 64) }
