package picture

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	green = color.NRGBA{20, 200, 40, 255}
	skin  = color.NRGBA{220, 170, 140, 255}
)

// disc is a portrait as far as this package can tell: a disc on a plain background.
func disc(w, h int) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			c := green
			if dx, dy := x-w/2, y-h/2; dx*dx+dy*dy < min(w, h)*min(w, h)/9 {
				c = skin
			}
			img.SetNRGBA(x, y, c)
		}
	}
	return img
}

func asPNG(t testing.TB, img image.Image) []byte {
	var out bytes.Buffer
	require.NoError(t, (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&out, img))
	return out.Bytes()
}

func asJPEG(t testing.TB, img image.Image) []byte {
	var out bytes.Buffer
	require.NoError(t, jpeg.Encode(&out, img, &jpeg.Options{Quality: 95}))
	return out.Bytes()
}

// asWebP is a lossless WebP of one colour: five Huffman trees of one symbol,
// after which the pixels themselves take no bits.
func asWebP(w, h int, c color.NRGBA) []byte {
	var bits []byte // one a byte, least significant first
	put := func(n, value int) {
		for i := range n {
			bits = append(bits, byte(value>>i&1))
		}
	}
	put(8, 0x2f)
	put(14, w-1)
	put(14, h-1)
	put(1, 1) // it says that alpha is used
	put(3, 0) // version
	put(3, 0) // no transform, no colour cache, one group of trees
	for _, symbol := range []uint8{c.G, c.R, c.B, c.A, 0} {
		put(3, 1|0<<1|1<<2) // simple, one symbol, of eight bits
		put(8, int(symbol))
	}
	var data []byte
	for i, b := range bits {
		if i%8 == 0 {
			data = append(data, 0)
		}
		data[i/8] |= b << (i % 8)
	}
	if len(data)%2 == 1 {
		data = append(data, 0)
	}
	file := []byte("RIFF\x00\x00\x00\x00WEBPVP8L")
	file = binary.LittleEndian.AppendUint32(file, uint32(len(data)))
	file = append(file, data...)
	binary.LittleEndian.PutUint32(file[4:], uint32(len(file)-8))
	return file
}

// header is a PNG that ends after claiming a size.
func header(w, h uint32) []byte {
	file := []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\x0d")
	chunk := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32([]byte("IHDR"), w), h)
	chunk = append(chunk, 8, 6, 0, 0, 0)
	return binary.BigEndian.AppendUint32(append(file, chunk...), crc(chunk))
}

func requireNear(t *testing.T, want, got color.NRGBA, what ...any) {
	t.Helper()
	for i, c := range [][2]uint8{{want.R, got.R}, {want.G, got.G}, {want.B, got.B}, {want.A, got.A}} {
		require.InDelta(t, c[0], c[1], 12, append(what, "channel", i)...)
	}
}

func TestDecode(t *testing.T) {
	for name, c := range map[string]struct {
		file []byte
		edge color.NRGBA
		kept string
	}{
		"PNG":  {asPNG(t, disc(600, 520)), green, "image/png"},
		"JPEG": {asJPEG(t, disc(600, 520)), green, "image/jpeg"},
		"WebP": {asWebP(600, 520, skin), skin, "image/png"},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := Decode(c.file)
			require.NoError(t, err)
			require.Equal(t, image.Rect(0, 0, 600, 520), p.Image.Bounds())
			requireNear(t, c.edge, p.Image.NRGBAAt(3, 3))
			requireNear(t, skin, p.Image.NRGBAAt(300, 260))

			contentType, data, err := p.Encode()
			require.NoError(t, err)
			require.Equal(t, c.kept, contentType)
			again, err := Decode(data)
			require.NoError(t, err)
			requireNear(t, skin, again.Image.NRGBAAt(300, 260))
		})
	}
}

func TestDecodeRefuses(t *testing.T) {
	goodPNG, goodJPEG, goodWebP := asPNG(t, disc(512, 512)), asJPEG(t, disc(512, 512)), asWebP(512, 512, skin)
	flipped := bytes.Clone(goodPNG)
	flipped[len(flipped)/2] ^= 0xff
	for name, c := range map[string]struct {
		file []byte
		want error
	}{
		"nothing":                {nil, ErrUnsupported},
		"text":                   {[]byte("hello"), ErrUnsupported},
		"a GIF":                  {[]byte("GIF89a\x00\x02\x00\x02\x00\x00\x00;"), ErrUnsupported},
		"SVG":                    {[]byte(`<svg xmlns="http://www.w3.org/2000/svg"/>`), ErrUnsupported},
		"another RIFF":           {[]byte("RIFF\x00\x00\x00\x00WAVEfmt "), ErrUnsupported},
		"a PNG's magic alone":    {goodPNG[:8], ErrBroken},
		"a PNG's header alone":   {header(600, 600), ErrBroken},
		"half a PNG":             {goodPNG[:len(goodPNG)/2], ErrBroken},
		"a PNG without its end":  {goodPNG[:len(goodPNG)-12], ErrBroken},
		"a PNG with a wrong bit": {flipped, ErrBroken},
		"a JPEG's magic alone":   {goodJPEG[:4], ErrBroken},
		"half a JPEG":            {goodJPEG[:len(goodJPEG)/2], ErrBroken},
		"half a WebP":            {goodWebP[:len(goodWebP)/2], ErrBroken},
		"a WebP's magic alone":   {goodWebP[:13], ErrBroken},
		"too narrow":             {asPNG(t, disc(511, 600)), ErrTooSmall},
		"too low":                {asJPEG(t, disc(600, 511)), ErrTooSmall},
		// A size alone, without pixels: it is refused before they are looked for.
		"a bomb":               {header(60000, 60000), ErrTooManyPixels},
		"a bomb on its side":   {header(24_000_001/512+1, 512), ErrTooManyPixels},
		"the largest there is": {header(1<<31-1, 1<<31-1), ErrBroken},
		"a WebP bomb":          {asWebP(16000, 16000, skin), ErrTooManyPixels},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := Decode(c.file)
			require.ErrorIs(t, err, c.want)
			require.Nil(t, p)
		})
	}
}

func TestLargePicturesAreScaledDown(t *testing.T) {
	p, err := Decode(asPNG(t, disc(3000, 1000)))
	require.NoError(t, err)
	require.Equal(t, image.Rect(0, 0, 2048, 682), p.Image.Bounds())
	requireNear(t, skin, p.Image.NRGBAAt(1024, 341))
	requireNear(t, green, p.Image.NRGBAAt(2, 2))
	require.True(t, p.Image.Opaque(), "no edge fades")
}

func TestThumbnail(t *testing.T) {
	for _, c := range []struct{ w, h, tw, th int }{{512, 512, 256, 256}, {1024, 512, 256, 128}, {512, 1024, 128, 256}} {
		p, err := Decode(asJPEG(t, disc(c.w, c.h)))
		require.NoError(t, err)
		small := p.Thumbnail()
		require.Equal(t, image.Rect(0, 0, c.tw, c.th), small.Image.Bounds())
		requireNear(t, skin, small.Image.NRGBAAt(c.tw/2, c.th/2))
		contentType, _, err := small.Encode()
		require.NoError(t, err)
		require.Equal(t, "image/jpeg", contentType)
		require.Equal(t, c.w, p.Image.Bounds().Dx(), "the picture stays as it is")
	}
}

func TestTransparencyIsKept(t *testing.T) {
	img := disc(512, 512)
	img.SetNRGBA(5, 5, color.NRGBA{10, 20, 30, 0})
	img.SetNRGBA(6, 6, color.NRGBA{10, 20, 30, 128})
	p, err := Decode(asPNG(t, img))
	require.NoError(t, err)
	require.EqualValues(t, 0, p.Image.NRGBAAt(5, 5).A)
	require.EqualValues(t, 128, p.Image.NRGBAAt(6, 6).A)
}

func FuzzDecode(f *testing.F) {
	f.Add(asPNG(f, disc(512, 512)))
	f.Add(asJPEG(f, disc(512, 512)))
	f.Add(asWebP(512, 512, skin))
	f.Add(header(60000, 60000))
	f.Add(withSegment(asJPEG(f, disc(512, 512)), exif(binary.BigEndian, 6)))
	f.Fuzz(func(t *testing.T, file []byte) {
		if c, _, err := image.DecodeConfig(bytes.NewReader(file)); err == nil && c.Width*c.Height > 1<<20 {
			t.Skip("allowed, but too slow to try many")
		}
		p, err := Decode(file)
		if err != nil {
			return
		}
		b := p.Image.Bounds()
		require.LessOrEqual(t, max(b.Dx(), b.Dy()), keptSide)
		p.CutOut()
		_, data, err := p.Encode()
		require.NoError(t, err)
		_, err = png.DecodeConfig(bytes.NewReader(data))
		if _, jpegErr := jpeg.DecodeConfig(bytes.NewReader(data)); err != nil {
			require.NoError(t, jpegErr)
		}
	})
}
