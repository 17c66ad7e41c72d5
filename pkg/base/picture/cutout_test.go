package picture

import (
	"hash/crc32"
	"image"
	"image/color"
	"testing"

	"github.com/stretchr/testify/require"
)

func crc(b []byte) uint32 { return crc32.ChecksumIEEE(b) }

func portraitOf(img *image.NRGBA) *Portrait { return &Portrait{Image: img} }

func TestCutOut(t *testing.T) {
	img := disc(512, 512)
	// A brooch of the background's colour, inside the disc.
	for y := 250; y < 262; y++ {
		for x := 250; x < 262; x++ {
			img.SetNRGBA(x, y, green)
		}
	}
	p := portraitOf(img)
	require.True(t, p.CutOut())
	transparent, opaque := 0, 0
	for y := range 512 {
		for x := range 512 {
			dx, dy := x-256, y-256
			inside := dx*dx+dy*dy < 512*512/9
			alpha := p.Image.NRGBAAt(x, y).A
			if inside {
				require.EqualValues(t, 255, alpha, "%d,%d is of the person", x, y)
				opaque++
			} else {
				require.EqualValues(t, 0, alpha, "%d,%d is of the background", x, y)
				transparent++
			}
		}
	}
	require.NotZero(t, transparent)
	require.NotZero(t, opaque)
	contentType, _, err := p.Encode()
	require.NoError(t, err)
	require.Equal(t, "image/png", contentType)
}

func TestCutOutOfAPhoto(t *testing.T) {
	p, err := Decode(asJPEG(t, disc(512, 512)))
	require.NoError(t, err)
	require.True(t, p.CutOut())
	require.EqualValues(t, 0, p.Image.NRGBAAt(2, 2).A)
	require.EqualValues(t, 0, p.Image.NRGBAAt(509, 509).A, "below the shoulders' height too")
	require.EqualValues(t, 255, p.Image.NRGBAAt(256, 256).A)
	contentType, data, err := p.Encode()
	require.NoError(t, err)
	require.Equal(t, "image/png", contentType, "JPEG knows no transparency")
	again, err := Decode(data)
	require.NoError(t, err)
	require.EqualValues(t, 0, again.Image.NRGBAAt(2, 2).A)
}

func TestCutOutFadesEdges(t *testing.T) {
	img := disc(512, 512)
	// A colour between the background and the person, as at the edge of hair.
	between := color.NRGBA{20 + 60, 200, 40, 255}
	img.SetNRGBA(100, 0, between)
	p := portraitOf(img)
	require.True(t, p.CutOut())
	alpha := p.Image.NRGBAAt(100, 0).A
	require.Greater(t, alpha, uint8(0))
	require.Less(t, alpha, uint8(255))
}

func TestNoPlainBackground(t *testing.T) {
	striped := disc(512, 512)
	for y := range 512 {
		for x := range 512 {
			if x/64%2 == 0 && striped.NRGBAAt(x, y) == green {
				striped.SetNRGBA(x, y, color.NRGBA{200, 20, 220, 255})
			}
		}
	}
	seeThrough := disc(512, 512)
	seeThrough.SetNRGBA(0, 0, color.NRGBA{20, 200, 40, 0})
	for name, img := range map[string]*image.NRGBA{"stripes": striped, "transparent already": seeThrough} {
		p := portraitOf(img)
		before := append([]uint8(nil), img.Pix...)
		require.False(t, p.CutOut(), name)
		require.Equal(t, before, p.Image.Pix, "%s: left as it is", name)
	}
}

func TestShouldersReachTheLowerBorder(t *testing.T) {
	img := disc(512, 512)
	for y := 400; y < 512; y++ {
		for x := 60; x < 452; x++ {
			img.SetNRGBA(x, y, green) // a shirt of the background's colour, with no border to it
		}
		for _, x := range []int{58, 59, 452, 453} {
			img.SetNRGBA(x, y, skin)
		}
	}
	for x := 58; x < 454; x++ {
		img.SetNRGBA(x, 398, skin)
		img.SetNRGBA(x, 399, skin)
	}
	p := portraitOf(img)
	require.True(t, p.CutOut())
	require.EqualValues(t, 255, p.Image.NRGBAAt(256, 500).A, "the shirt stays: nothing comes in from below")
	require.EqualValues(t, 0, p.Image.NRGBAAt(20, 500).A)
}
