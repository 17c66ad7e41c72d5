package page

import (
	"fmt"
	"math"
	"strconv"
)

// colour is a colour of sRGB, its channels from 0 to 1.
type colour [3]float64

var (
	black = colour{}
	white = colour{1, 1, 1}
	// paper and night are the lightest and the darkest that accents are written on
	// (assets/page.css).
	paper = colour{0xf6 / 255.0, 0xf6 / 255.0, 0xf4 / 255.0}
	night = colour{0x22 / 255.0, 0x25 / 255.0, 0x2b / 255.0}
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

// legibleOn is the colour nearest to c, towards another one, that can be read on a
// background.
func legibleOn(c, background, towards colour) colour {
	for part := 0.0; part < 1; part += 0.02 {
		if mixed := c.mix(towards, part); contrast(mixed, background) >= readable {
			return mixed
		}
	}
	return towards
}
