package picture

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/color"
	"image/png"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// exif is an APP1 payload that says which way is up.
func exif(order binary.AppendByteOrder, orientation uint16) []byte {
	mark := "MM"
	if order == binary.AppendByteOrder(binary.LittleEndian) {
		mark = "II"
	}
	tiff := append([]byte("Exif\x00\x00"), mark...)
	tiff = order.AppendUint16(tiff, 42)
	tiff = order.AppendUint32(tiff, 8) // where the directory is
	tiff = order.AppendUint16(tiff, 2) // how many entries it has
	for _, entry := range [][4]uint16{{0x0110, 3, 1, 7}, {0x0112, 3, 1, orientation}} {
		tiff = order.AppendUint16(tiff, entry[0])
		tiff = order.AppendUint16(tiff, entry[1])
		tiff = order.AppendUint32(tiff, uint32(entry[2]))
		tiff = order.AppendUint16(tiff, entry[3])
		tiff = order.AppendUint16(tiff, 0)
	}
	return append(order.AppendUint32(tiff, 0), "secret place 52.5N 13.4E"...)
}

// withSegment puts an APP1 segment where cameras put it: first.
func withSegment(jpeg, payload []byte) []byte {
	segment := binary.BigEndian.AppendUint16([]byte{0xff, 0xe1}, uint16(len(payload)+2))
	return slices.Concat(jpeg[:2], segment, payload, jpeg[2:])
}

var red, blue, white = color.NRGBA{230, 20, 20, 255}, color.NRGBA{20, 20, 230, 255}, color.NRGBA{250, 250, 250, 255}

// stored are the corners of a picture as a camera stores it under each
// orientation: upper left, upper right, lower left and lower right. Upright
// they are red, blue, green and white.
var stored = map[uint16][4]color.NRGBA{
	1: {red, blue, green, white},
	2: {blue, red, white, green},
	3: {white, green, blue, red},
	4: {green, white, red, blue},
	5: {red, green, blue, white},
	6: {blue, white, red, green},
	7: {white, blue, green, red},
	8: {green, red, white, blue},
}

// fourCorners is a picture of four quarters.
func fourCorners(w, h int, c [4]color.NRGBA) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			at := 0
			if x >= w/2 {
				at++
			}
			if y >= h/2 {
				at += 2
			}
			img.SetNRGBA(x, y, c[at])
		}
	}
	return img
}

func TestOrientations(t *testing.T) {
	for orientation, as := range stored {
		for _, order := range []binary.AppendByteOrder{binary.BigEndian, binary.LittleEndian} {
			w, h := 640, 512
			if orientation >= 5 {
				w, h = h, w
			}
			p, err := Decode(withSegment(asJPEG(t, fourCorners(w, h, as)), exif(order, orientation)))
			require.NoError(t, err)
			require.Equal(t, image.Rect(0, 0, 640, 512), p.Image.Bounds(), "orientation %d", orientation)
			for i, want := range []color.NRGBA{red, blue, green, white} {
				got := p.Image.NRGBAAt(10+i%2*620, 10+i/2*490)
				requireNear(t, want, got, "orientation", orientation, "corner", i)
			}
		}
	}
}

func TestNoOrientation(t *testing.T) {
	plain := asJPEG(t, fourCorners(640, 512, stored[1]))
	good := exif(binary.BigEndian, 6)
	tooFar := bytes.Clone(good)
	binary.BigEndian.PutUint32(tooFar[6+4:], 1<<31)
	many := bytes.Clone(good)
	binary.BigEndian.PutUint16(many[6+8:], 0xffff)
	many[6+10+12+1] = 0x99 // the orientation has another tag
	for name, payload := range map[string][]byte{
		"nothing of it":             []byte("Exif\x00\x00MM\x00\x2a\x00\x00\x00\x08\x00\x00"),
		"orientation 0":             exif(binary.BigEndian, 0),
		"orientation 9":             exif(binary.BigEndian, 9),
		"a directory out of reach":  tooFar,
		"entries that do not exist": many,
		"cut off in the header":     good[:12],
		"cut off at the directory":  good[:15],
		"cut off in an entry":       good[:30],
		"other metadata":            []byte("http://ns.adobe.com/xap/1.0/\x00<x:xmpmeta/>"),
		"empty":                     {},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := Decode(withSegment(plain, payload))
			require.NoError(t, err)
			require.Equal(t, image.Rect(0, 0, 640, 512), p.Image.Bounds())
			requireNear(t, red, p.Image.NRGBAAt(10, 10))
		})
	}
}

func TestOrientationOfAnything(t *testing.T) {
	whole := withSegment(asJPEG(t, disc(512, 512))[:40], exif(binary.LittleEndian, 8))
	require.Equal(t, 8, orientation(whole))
	for n := range whole {
		_ = orientation(whole[:n]) // it must not reach beyond the end
	}
}

func TestMetadataIsGone(t *testing.T) {
	const secret = "secret place"
	photo := withSegment(asJPEG(t, disc(512, 512)), exif(binary.BigEndian, 1))
	require.Contains(t, string(photo), secret)

	drawing := asPNG(t, disc(512, 512))
	chunk := []byte("tEXtComment\x00" + secret)
	text := binary.BigEndian.AppendUint32(nil, uint32(len(chunk)-4))
	text = binary.BigEndian.AppendUint32(append(text, chunk...), crc(chunk))
	const afterHeader = 8 + 25
	drawing = slices.Concat(drawing[:afterHeader], text, drawing[afterHeader:])
	_, err := png.Decode(bytes.NewReader(drawing))
	require.NoError(t, err)

	for name, file := range map[string][]byte{
		"JPEG": photo, "PNG": drawing, "behind the end": append(asPNG(t, disc(512, 512)), secret...),
	} {
		p, err := Decode(file)
		require.NoError(t, err, name)
		for _, kept := range []*Portrait{p, p.Thumbnail()} {
			_, data, err := kept.Encode()
			require.NoError(t, err)
			require.NotContains(t, string(data), secret, name)
			require.NotContains(t, string(data), "Exif", name)
		}
	}
}
