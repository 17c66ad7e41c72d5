package page

import (
	"fmt"
	"math"
	"slices"
	"strconv"
)

// colour is a colour of sRGB, its channels from 0 to 1.
type colour [3]float64

var (
	black = colour{}
	white = colour{1, 1, 1}
	// What stands under texts in light and in dark (assets/page.css: paper, sheet).
	lightPaper = colour{0xf6 / 255.0, 0xf6 / 255.0, 0xf4 / 255.0}
	darkPaper  = colour{0x15 / 255.0, 0x17 / 255.0, 0x1b / 255.0}
	darkSheet  = colour{0x22 / 255.0, 0x25 / 255.0, 0x2b / 255.0}
	// house is the accent of a portal that has none.
	house = colour{0x17 / 255.0, 0x5e / 255.0, 0x9e / 255.0}
)

// parseColour reads #1a2b3c.
func parseColour(s string) (colour, bool) {
	if len(s) != 7 || s[0] != '#' {
		return colour{}, false
	}
	n, err := strconv.ParseUint(s[1:], 16, 24)
	return colour{float64(n>>16) / 255, float64(n>>8&0xff) / 255, float64(n&0xff) / 255}, err == nil
}

func (c colour) String() string {
	return fmt.Sprintf("#%02x%02x%02x", round(c[0]), round(c[1]), round(c[2]))
}

func round(channel float64) int { return int(math.Round(channel * 255)) }

// luminance is the relative luminance (WCAG 2.2).
func (c colour) luminance() float64 {
	linear := func(v float64) float64 {
		if v <= 0.04045 {
			return v / 12.92
		}
		return math.Pow((v+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(c[0]) + 0.7152*linear(c[1]) + 0.0722*linear(c[2])
}

// contrast is the ratio between two colours, from 1 to 21 (WCAG 2.2).
func contrast(a, b colour) float64 {
	x, y := a.luminance(), b.luminance()
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// mix is a colour with a part, from 0 to 1, of another.
func (c colour) mix(other colour, part float64) colour {
	for i := range c {
		c[i] += (other[i] - c[i]) * part
	}
	return c
}

// readable is the contrast that text needs (WCAG 2.2, AA), and what rounding to
// whole channels may take from it.
const readable = 4.5 + 0.05

// textOn is black or white, whichever reads better on a colour.
func textOn(c colour) colour {
	if contrast(c, white) >= contrast(c, black) {
		return white
	}
	return black
}

// legible is the colour nearest to c, towards another one, that can be read on all
// the backgrounds.
func legible(c, towards colour, backgrounds ...colour) colour {
	for part := 0.0; part < 1; part += 0.02 {
		mixed := c.mix(towards, part)
		if !slices.ContainsFunc(backgrounds, func(b colour) bool { return contrast(mixed, b) < readable }) {
			return mixed
		}
	}
	return towards
}

// lightBackgrounds and darkBackgrounds are what an accent is written on: papers,
// and its own tint under its own glow (assets/page.css: tint, glow).
func lightBackgrounds(accent colour) []colour {
	return []colour{white, lightPaper, lightPaper.mix(accent, 0.07).mix(accent, 0.10)}
}

func darkBackgrounds(accent colour) []colour {
	return []colour{darkPaper, darkSheet, darkPaper.mix(accent, 0.10).mix(accent, 0.12)}
}
