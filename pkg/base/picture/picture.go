// Package picture turns what a customer sends as a portrait into a picture
// that is safe to keep and to show: really decoded, upright, bounded in size,
// free of metadata, and on request cut out of a plain background.
package picture

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"

	"golang.org/x/image/draw"
	"golang.org/x/image/webp"
)

const (
	// MinSide is the least width and height, in pixels.
	MinSide = 512
	// maxPixels bounds what decoding may cost: 4 bytes each in memory.
	maxPixels = 24_000_000
	// keptSide is the longest side that is kept.
	keptSide = 2048
	// ThumbnailSide is the longest side of a thumbnail.
	ThumbnailSide = 256
)

// Errors of Decode.
var (
	ErrUnsupported   = errors.New("not a PNG, JPEG or WebP picture")
	ErrBroken        = errors.New("the picture cannot be decoded")
	ErrTooSmall      = fmt.Errorf("the picture is smaller than %d×%d pixels", MinSide, MinSide)
	ErrTooManyPixels = fmt.Errorf("the picture has more than %d pixels", maxPixels)
)

// format is a kind of picture file.
type format struct {
	contentType string
	magic       func([]byte) bool
	config      func(b *bytes.Reader) (image.Config, error)
	decode      func(b *bytes.Reader) (image.Image, error)
}

var formats = []format{
	{
		"image/png", func(b []byte) bool { return bytes.HasPrefix(b, []byte("\x89PNG\r\n\x1a\n")) },
		func(b *bytes.Reader) (image.Config, error) { return png.DecodeConfig(b) },
		func(b *bytes.Reader) (image.Image, error) { return png.Decode(b) },
	},
	{
		"image/jpeg", func(b []byte) bool { return bytes.HasPrefix(b, []byte("\xff\xd8\xff")) },
		func(b *bytes.Reader) (image.Config, error) { return jpeg.DecodeConfig(b) },
		func(b *bytes.Reader) (image.Image, error) { return jpeg.Decode(b) },
	},
	{
		"image/webp", func(b []byte) bool { return len(b) > 12 && string(b[:4]) == "RIFF" && string(b[8:12]) == "WEBP" },
		func(b *bytes.Reader) (image.Config, error) { return webp.DecodeConfig(b) },
		func(b *bytes.Reader) (image.Image, error) { return webp.Decode(b) },
	},
}

// Portrait is a decoded picture.
type Portrait struct {
	Image *image.NRGBA
	// Lossy says that the source was, so that keeping it need not be lossless.
	lossy bool
}

// Decode reads a portrait by what the bytes are, whatever they were called.
func Decode(data []byte) (*Portrait, error) { return decode(data, MinSide, keptSide) }

// DecodeGraphic is Decode for a logo or an illustration: of any shape, scaled so that
// no side is longer than side, in pixels.
func DecodeGraphic(data []byte, side int) (*Portrait, error) { return decode(data, 1, side) }

// decode reads a picture whose sides have at least so many pixels, and keeps so many at
// most.
func decode(data []byte, least, most int) (*Portrait, error) {
	for _, f := range formats {
		if f.magic(data) {
			return f.read(data, least, most)
		}
	}
	return nil, ErrUnsupported
}

func (f format) read(data []byte, least, most int) (*Portrait, error) {
	config, err := f.config(bytes.NewReader(data))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrBroken, err)
	case config.Width < least || config.Height < least:
		return nil, ErrTooSmall
	case config.Width*config.Height > maxPixels:
		return nil, ErrTooManyPixels
	}
	img, err := f.decode(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBroken, err)
	}
	scaled := scale(img, most)
	// A strip is small however long it is.
	if b := scaled.Bounds(); min(b.Dx(), b.Dy()) < least {
		return nil, ErrTooSmall
	}
	if f.contentType == "image/jpeg" {
		return &Portrait{upright(scaled, orientation(data)), true}, nil
	}
	return &Portrait{scaled, false}, nil
}

// scale copies an image so that no side is longer than a bound.
func scale(img image.Image, side int) *image.NRGBA {
	b := img.Bounds()
	w, h := b.Dx(), b.Dy()
	if longest := max(w, h); longest > side {
		w, h = max(w*side/longest, 1), max(h*side/longest, 1)
	}
	return resize(img, w, h)
}

// resize copies an image in a size.
func resize(img image.Image, w, h int) *image.NRGBA {
	b := img.Bounds()
	out := image.NewNRGBA(image.Rect(0, 0, w, h))
	if w == b.Dx() && h == b.Dy() {
		draw.Draw(out, out.Bounds(), img, b.Min, draw.Src)
	} else {
		draw.CatmullRom.Scale(out, out.Bounds(), img, b, draw.Src, nil)
	}
	return out
}

// Thumbnail is a small copy.
func (p *Portrait) Thumbnail() *Portrait {
	return &Portrait{scale(p.Image, ThumbnailSide), p.lossy}
}

// High is a copy of a height, in pixels; a picture that is lower stays as it is.
func (p *Portrait) High(height int) *Portrait {
	b := p.Image.Bounds()
	if b.Dy() <= height {
		return p
	}
	return &Portrait{resize(p.Image, max(b.Dx()*height/b.Dy(), 1), height), p.lossy}
}

// Encode writes the picture without any metadata: JPEG for what came as JPEG
// and has no transparency, PNG for the rest.
func (p *Portrait) Encode() (contentType string, data []byte, err error) {
	var out bytes.Buffer
	if p.lossy && p.Image.Opaque() {
		err = jpeg.Encode(&out, p.Image, &jpeg.Options{Quality: 92})
		return "image/jpeg", out.Bytes(), err
	}
	err = (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&out, p.Image)
	return "image/png", out.Bytes(), err
}
