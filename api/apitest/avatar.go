package apitest

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/color"
	"image/png"
)

// Picture is a PNG of a plain background with a disc on it, as a data: URI.
func Picture(side int) string {
	img := image.NewNRGBA(image.Rect(0, 0, side, side))
	for y := range side {
		for x := range side {
			c := color.NRGBA{R: 20, G: 200, B: 40, A: 255}
			if dx, dy := x-side/2, y-side/2; dx*dx+dy*dy < side*side/9 {
				c = color.NRGBA{R: 220, G: 170, B: 140, A: 255}
			}
			img.SetNRGBA(x, y, c)
		}
	}
	var out bytes.Buffer
	if err := png.Encode(&out, img); err != nil {
		panic(err)
	}
	return "data:image/png;base64," + base64.StdEncoding.EncodeToString(out.Bytes())
}

// AvatarInput is a good body for POST /avatars.
func AvatarInput() map[string]any {
	return map[string]any{
		"name": "Kim", "picture": Picture(512),
		"consent": map[string]any{
			"statement": "own_likeness", "policyVersion": "2026-07-01", "personName": "Kim", "signedAt": "2026-10-01T09:00:00Z",
		},
	}
}
